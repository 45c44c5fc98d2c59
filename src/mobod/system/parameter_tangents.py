"""Derivatives of the equations of motion by numbers of the model, exact for every compiled kind of part: eight a pass in O(n).

Records whose parameters are Duals too carry them from the number on, of a mass, a frame, an element, through the kernels that
realize a state, to residual and errors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import TANGENTS
from ..tree import realize as _realize
from ..tree import residual_tangents
from . import tangents

if TYPE_CHECKING:
    from ..state.state import State


class Seed(NamedTuple):
    """How entries of a field change with one number: ``rates`` at ``rows`` and ``columns``."""

    field: str
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    rates: Array


class ByParameters(NamedTuple):
    """Derivatives, a column a number: of residual and errors at u_dot and multipliers held, errors by the kernels' rows.

    ``known`` are those of the udot that compiled motions prescribe.
    """

    residual: Array
    known: Array
    errors: Array
    q_dot: Array
    z_dot: Array
    particle_forces: Array


def of_seeds(
    system: Any, state: State, seeds: Sequence[Sequence[Seed]], observe: Callable[[Any, int], None] | None = None
) -> ByParameters:
    """Derivatives along these changes of the model, each a number's; *observe* as of `tangents`. Needs ACCELERATION."""
    tree, n = state.tree, len(seeds)
    sizes = tree.nu, tree.nu, tree.counts["num_rows"], tree.nq, tree.nz, tree.counts["particle_size"]
    found = ByParameters(*(np.zeros((rows, n)) for rows in sizes))
    constrained = tree.counts["nc"] > 0
    address = _realize.advance.address(with_tangents=True, own_parameters=True)
    routine = residual_tangents.calc_residual.address(with_tangents=True, own_parameters=True)
    with tangents.record_at(state, own_parameters=True) as record:
        record.u_dot[: tree.nu, 0] = state.u_dot_view[: tree.nu]
        if constrained:
            record.multiplier[:] = state.record.multiplier
        for first in range(0, n, TANGENTS):
            here = seeds[first : first + TANGENTS]
            count = len(here)
            columns = slice(first, first + count)
            with sown(record, here):
                status = _realize.realize(record, routine, address, int(constrained))
                if status:
                    system.explain(state, status)
                if observe is not None:
                    observe(record, count)
                found.residual[:, columns] = record.work_u.tangents[: tree.nu, 0, :count]
                found.known[:, columns] = record.known_u_dot.tangents[: tree.nu, 0, :count]
                found.q_dot[:, columns] = record.q_dot.tangents[: tree.nq, 0, :count]
                found.z_dot[:, columns] = record.z_dot.tangents[: tree.nz, 0, :count]
                found.particle_forces[:, columns] = record.particle_forces.tangents[:, 0, :count]
                if constrained:
                    found.errors[:, columns] = record.row_work.tangents[:, 0, :count]
    return found


def of_errors(system: Any, state: State, seeds: Sequence[Sequence[Seed]]) -> tuple[Array, Array]:
    """Derivatives of position and velocity errors along changes of the model, by the kernels' rows ``(rows, n)``."""
    n = len(seeds)
    of_positions, of_velocities = np.zeros((2, state.tree.counts["num_rows"], n))
    address = _realize.advance.address(with_tangents=True, own_parameters=True)
    routine = residual_tangents.calc_errors.address(with_tangents=True, own_parameters=True)
    with tangents.record_at(state, own_parameters=True) as record:
        for first in range(0, n, TANGENTS):
            here = seeds[first : first + TANGENTS]
            with sown(record, here):
                status = _realize.realize(record, routine, address, 0)
                if status:
                    system.explain(state, status)
                columns = slice(first, first + len(here))
                of_positions[:, columns] = record.position_error.tangents[:, 0, : len(here)]
                of_velocities[:, columns] = record.row_work.tangents[:, 0, : len(here)]
    return of_positions, of_velocities


@contextlib.contextmanager
def sown(record: Any, seeds: Sequence[Sequence[Seed]]) -> Iterator[None]:
    """A record with the tangents of these changes, for the time of this context."""
    for k, one in enumerate(seeds):
        for field, rows, places, rates in one:
            getattr(record, field).tangents[rows, places, k] = rates
    yield
    for k, one in enumerate(seeds):
        for field, rows, places, _ in one:
            getattr(record, field).tangents[rows, places, k] = 0.0


__all__ = ["ByParameters", "Seed", "of_errors", "of_seeds", "sown"]
