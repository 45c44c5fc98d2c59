"""Derivatives through samples of controllers: of efforts and memories by what laws are given, exactly.

    d(efforts, memory) = dE/d(inputs) d(inputs)

What laws are given, M, bias, gravity, Jacobians, poses and references among it, is gathered on a record of Duals; laws take the
tangents on as plain functions of NumPy, see `DualArray`. Of a law that does what has no rule, differences are taken: of that
law alone, along each change of its inputs. Efforts at their limits do not change.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.dual_array import DualArray, NotDifferentiable
from ..state.state import State
from ..tree import sampling
from .differences import along
from .jvp import Seed, jvp, kinematics

#: What a law depends on by itself.
VARIABLES = ("q", "u", "z", "control_memory")


def of_samples(
    state: State, controllers: Sequence[Any], changes: Mapping[str, Array], seeds: Sequence[Sequence[Seed]] = ()
) -> tuple[Array, dict[Any, str], dict[Any, str]]:
    """Changes of `control_memory` ``(size, n)`` by a sample of some controllers at a state at VELOCITY.

    Parameters
    ----------
    state : State
    controllers : sequence of Custom
        Of a system without parts in Python.
    changes : mapping of str to (rows, n) array
        Of each of `VARIABLES`.
    seeds : sequence of sequences of Seed
        Changes of the model, a column each behind those.

    Returns
    -------
    The changes; the controllers of whose laws they are differences, and why; and those whose laws could not be differentiated
    at all: those rows are not changed.
    """
    changes = {name: np.hstack([of, np.zeros((len(of), len(seeds)))]) for name, of in changes.items()}
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
    without_rule, failed = {}, {}
    for force, work in zip(controllers, works, strict=True):
        at = force.first_memory + sampling.EFFORTS
        try:
            efforts, memory = force.sample_with_tangents(state, work)
            held = np.hstack([efforts.tangents, memory.tangents]).T
        except NotDifferentiable as error:
            differences, why = _differences(force, state, work)
            if differences is None:
                failed[force] = f"{error}{why}"
                continue
            held, without_rule[force] = differences, str(error)
        found[at : at + len(held)] = held
    return found, without_rule, failed


def _differences(force: Any, state: State, work: DualArray) -> tuple[Array | None, str]:
    """Changes of efforts and memory ``(numbers, n)`` along each change of a law's inputs, by calls of that law alone.

    None where it cannot be called so, or gives other numbers than a sample, with what the law has raised.
    """
    if force.nominal is not None:
        return None, ""
    try:
        sampled = state.copy()
        force.sample(sampled)
        expected = np.concatenate([force.get_efforts(sampled), force.get_memory(sampled)])
        if not np.allclose(force.sample_at(state, work.value), expected, rtol=1e-9, atol=1e-9):
            return None, ""
        found = np.zeros((len(expected), len(work.tangents)))
        for k, change in enumerate(work.tangents):
            size = np.abs(change).max(initial=0.0)
            if size != 0.0:  # NaN, too
                unit = change / max(1.0, size)
                step = along(lambda h, unit=unit: force.sample_at(state, work.value + h * unit))  # type: ignore[misc]
                found[:, k] = max(1.0, size) * step
    except Exception as error:  # of a user's law
        return None, f"; called with NumPy's arrays it raises {type(error).__name__}: {error}"
    return (found if np.isfinite(found).all() else None), ""


def note(failed: Mapping[Any, str]) -> None:
    """Warn that laws are differentiated by differences."""
    for force, why in failed.items():
        warnings.warn(
            f"derivatives through the law of {force.name!r} are differences, exact to about 1e-8: {why}. Exact are those of "
            "laws of NumPy's arithmetic, elementary functions, sums, products and linear algebra",
            UserWarning,
            stacklevel=3,
        )
