"""Derivatives through samples of controllers: of efforts and memories by what laws are given, exactly.

    d(efforts, memory) = dE/d(inputs) d(inputs)

What laws are given, M, bias, gravity, Jacobians, poses and references among it, is gathered on a record of Duals; laws take the
tangents on as plain functions of NumPy, see `DualArray`. Efforts at their limits do not change.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.dual_array import DualArray, NotDifferentiable
from ..tree import sampling
from .jvp import jvp, kinematics

if TYPE_CHECKING:
    from ..state.state import State
    from .jvp import Seed

#: What a law depends on by itself.
VARIABLES = ("q", "u", "z", "control_memory")


def of_samples(
    state: State, controllers: Sequence[Any], changes: Mapping[str, Array], seeds: Sequence[Sequence[Seed]] = ()
) -> tuple[Array, dict[Any, str]]:
    """Changes of `control_memory` ``(size, n)`` by a sample of some controllers at a state at VELOCITY.

    Parameters
    ----------
    state : State
    controllers : sequence of Custom
        Of a system without parts in Python.
    changes : mapping of str to (rows, n) array
        Of each of `VARIABLES`.
    seeds : sequence of n sequences of Seed
        Changes of the model beside these, a column each; none, or as many as there are columns.

    Returns
    -------
    The changes; and the controllers whose laws could not be differentiated, and why: those rows are not changed.
    """
    n, size = changes["control_memory"].shape[1], len(state.record.control_work)
    works = [DualArray(np.zeros(size), np.zeros((n, size))) for _ in controllers]
    remembered = state.record.control_memory

    def evaluate(record: Any, kind: Mapping[str, Any]) -> int:
        record.control_memory.values[:] = remembered  # sensors that are late write to it
        return kinematics(record, kind)

    def gather(record: Any, columns: slice) -> None:
        for force, work in zip(controllers, works, strict=True):
            sampling.gather_of(record.block, force.element)
            work.value[:] = record.control_work.values[:, 0]
            work.tangents[columns] = record.control_work.tangents[:, 0, : columns.stop - columns.start].T

    outputs = {"control_memory": len(remembered)}
    found = jvp(state, changes, evaluate, outputs, of_model=seeds, observe=gather)["control_memory"]
    failed = {}
    for force, work in zip(controllers, works, strict=True):
        at = force.first_memory + sampling.EFFORTS
        try:
            efforts, memory = force.sample_with_tangents(state, work)
        except NotDifferentiable as error:
            failed[force] = str(error)
            continue
        held = np.hstack([efforts.tangents, memory.tangents]).T
        found[at : at + len(held)] = held
    return found, failed


def note(failed: Mapping[Any, str]) -> None:
    """Warn that laws are differentiated by differences."""
    for force, why in failed.items():
        warnings.warn(
            f"derivatives through the law of {force.name!r} are differences, exact to about 1e-8: {why}. Exact are those of "
            "laws of NumPy's arithmetic, elementary functions, sums, products and linear algebra",
            UserWarning,
            stacklevel=3,
        )


__all__ = ["VARIABLES", "note", "of_samples"]
