"""Derivatives of the equations of motion by numbers of the model, exact for every compiled kind of part: eight a pass in O(n).

Records whose parameters are Duals too carry them from the number on, of a mass, a frame, an element, through the kernels that
realize a state, to residual and errors.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Derivatives, a column a number: of residual and errors at u_dot and multipliers held, errors by the kernels' rows."""

    residual: Array
    errors: Array
    q_dot: Array
    z_dot: Array


def of_seeds(system: Any, state: State, seeds: Sequence[Sequence[Seed]]) -> ByParameters:
    """Derivatives along these changes of the model, each a number's. Needs ACCELERATION."""
    tree, n = state.tree, len(seeds)
    found = ByParameters(*(np.zeros((rows, n)) for rows in (tree.nu, tree.counts["num_rows"], tree.nq, tree.nz)))
    constrained = tree.counts["nc"] > 0
    address = _realize.advance.address(with_tangents=True, own_parameters=True)
    with tangents.record_at(state, own_parameters=True) as record:
        record.u_dot[: tree.nu, 0] = state.u_dot_view[: tree.nu]
        if constrained:
            record.multiplier[:] = state.record.multiplier
        for first in range(0, n, TANGENTS):
            columns = slice(first, min(first + TANGENTS, n))
            here = list(enumerate(seeds[columns]))
            for k, one in here:
                for field, rows, places, rates in one:
                    getattr(record, field).tangents[rows, places, k] = rates
            status = residual_tangents.calc_residual(record, address, constrained)
            if status:
                system.explain(state, status)
            count = len(here)
            found.residual[:, columns] = record.work_u.tangents[: tree.nu, 0, :count]
            found.q_dot[:, columns] = record.q_dot.tangents[: tree.nq, 0, :count]
            found.z_dot[:, columns] = record.z_dot.tangents[: tree.nz, 0, :count]
            if constrained:
                found.errors[:, columns] = record.row_work.tangents[:, 0, :count]
            for k, one in here:
                for field, rows, places, _ in one:
                    getattr(record, field).tangents[rows, places, k] = 0.0
    return found


__all__ = ["ByParameters", "Seed", "of_seeds"]
