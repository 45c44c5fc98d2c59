"""Gaps and rows of constraints, whether these are enabled or not: their kinds write them as they do for enabled ones."""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load
from ..compiling import compiled, generic
from ..constraint.line_on_line_contact import overhang
from ..constraint.protocol import POSITIONS, THROUGH_COORDINATES, VELOCITIES
from ..tree import constraints
from ..tree.constraint_operators import put_rows

#: What `constraints.constrain` asks of mobilizers before a kind computes its velocities.
_BEFORE_VELOCITIES = 2


@generic
def write_positions(model: Any, c: int) -> None:
    """The position errors of constraint c, and its rows."""
    call_routine(model.constraint_routine[c], model, c, POSITIONS)
    constraints.complete(model, c, POSITIONS)


@generic
def _write_velocities(model: Any, c: int) -> None:
    if model.num_mobilizers[c] > 0:
        call_routine(model.constrain[THROUGH_COORDINATES], model, c, _BEFORE_VELOCITIES)
    call_routine(model.constraint_routine[c], model, c, VELOCITIES)
    constraints.complete(model, c, VELOCITIES)


@compiled
def find_rows(block: Any, which: Any, starts: Any, J: Any, gaps: Any) -> None:
    """Position errors of the constraints *which*, and their rows of G from *starts* on. Needs positions."""
    model = attach(block)
    for at in range(which.shape[0]):
        c = which[at]
        write_positions(model, c)
        gaps[at] = 0.0
        if model.num_p[c] > 0:
            gaps[at] = load(model.position_error, model.first_row[c], 0)
        put_rows(model, c, J, starts[at])


@compiled
def find_error(block: Any, c: int) -> float:
    """The position error of constraint c. Needs positions."""
    model = attach(block)
    write_positions(model, c)
    return load(model.position_error, model.first_row[c], 0)


@compiled
def find_overhang(block: Any, c: int) -> float:
    """`line_on_line_contact.overhang`. Needs positions."""
    return overhang(attach(block), c)


@compiled
def find_rates(block: Any, c: int, rates: Any) -> None:
    """G u of the rows of constraint c. Needs velocities."""
    model = attach(block)
    write_positions(model, c)
    for k in range(constraints.num_rows(model, c)):
        rates[k] = constraints.row_times(model, c, k, model.V_GB, model.u)


@compiled
def find_second_rates(block: Any, which: Any, starts: Any, rates: Any) -> None:
    """The rates of the rates of the rows of constraints *which*, from *starts* on. Needs accelerations."""
    model = attach(block)
    for at in range(which.shape[0]):
        c = which[at]
        write_positions(model, c)
        _write_velocities(model, c)
        for k in range(constraints.num_rows(model, c)):
            offset = load(model.acceleration_offset, model.first_row[c] + k, 0)  # bodies' accelerations have the rest of it
            rates[starts[at] + k] = constraints.row_times(model, c, k, model.A_GB, model.u_dot) + offset
