"""Gaps and rows of constraints, whether these are enabled or not: their kinds write them as they do for enabled ones."""

from __future__ import annotations

import math
from typing import Any

from ..algebra.pointers import numbers1
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load
from ..compiling import compiled, generic
from ..constraint.line_on_line_contact import overhang
from ..constraint.protocol import POSITIONS, THROUGH_COORDINATES, VELOCITIES
from ..tree import constraints
from ..tree.constraint_operators import put_rows
from ..tree.prescribed_mobilities import SOLVED

#: What `constraints.constrain` asks of mobilizers before a kind computes its velocities.
_BEFORE_VELOCITIES = 2
# columns of the table of contacts: the constraint whose rows a contact has, its number of rows, the sign of its error, and
# whether what touches may be beside
CONSTRAINT, SIZE, SIGN, BESIDE = range(4)
# of a contact's own numbers, and what `find_contacts` gathers of each: the coefficient at the present slip, too, and the gap's
# rate
RESTITUTION, CAPTURE_SPEED, STATIC, FRICTION, RATE = range(5)
LAWS = 5
_DYNAMIC, _VISCOUS, _TRANSITION_SPEED = 3, 4, 5
#: Rates below that part of the largest are none.
NO_RATE = 1e-9


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
def find_contacts(block: Any, table: Any, numbers: int, which: Any, starts: Any, J: Any, gaps: Any, laws: Any) -> None:
    """Gaps of the contacts *which* of a table, infinite of what is beside, their rows from *starts* on, and coefficients.

    *numbers* is the address of a block of the contacts' own numbers. Needs velocities.
    """
    model = attach(block)
    for at in range(which.shape[0]):
        k = which[at]
        c, first, sign, own = table[k, CONSTRAINT], starts[at], float(table[k, SIGN]), numbers1(numbers, k)
        write_positions(model, c)
        put_rows(model, c, J, first)
        gaps[at] = sign * load(model.position_error, model.first_row[c], 0)
        for i in range(FRICTION):
            laws[at, i] = own[i]
        laws[at, FRICTION] = 0.0
        rate = a = b = 0.0
        for i in range(model.nu):
            J[first, i] *= sign
            rate += J[first, i] * load(model.u, i, 0)
            if table[k, SIZE] == 3:
                a += J[first + 1, i] * load(model.u, i, 0)
                b += J[first + 2, i] * load(model.u, i, 0)
        laws[at, RATE] = rate
        if table[k, BESIDE] != 0 and overhang(model, c) > 0.0:
            gaps[at] = math.inf
        elif table[k, SIZE] == 3:
            speed = math.sqrt(a * a + b * b)
            slow = speed <= own[_TRANSITION_SPEED]
            laws[at, FRICTION] = own[STATIC] if slow else own[_DYNAMIC] + own[_VISCOUS] * speed


@compiled
def find_touching(block: Any, starts: Any, J: Any, gaps: Any, laws: Any, closed: Any, wide: Any, moved: Any, kept: Any) -> int:
    """Keep, in front, what `find_contacts` has found of contacts that are *closed*, or whose gaps are; their number.

    Those are whose gaps are no wider than ``wide[0]`` times their rate and ``wide[1]`` times the largest coordinate, or 1, are;
    ``wide[2]`` is the part of distances by which something is moved. *kept* becomes their numbers, and
    *starts* theirs. Below zero where one approaches that nothing free has a part in: -1 less its number, its rate in *wide*.
    """
    model, n = attach(block), gaps.shape[0]
    find_moved(block, J, starts[:n], wide[2], moved)
    fastest = largest = 1.0
    for i in range(model.nq):
        largest = max(largest, abs(load(model.q, i, 0)))
    for k in range(n):
        fastest = max(fastest, abs(laws[k, RATE]))
    count = end = 0
    for k in range(n):
        first, size, rate = starts[k], starts[k + 1] - starts[k], laws[k, RATE]
        if not (gaps[k] < math.inf and (closed[k] or gaps[k] <= wide[0] * abs(rate) + wide[1] * largest)):
            continue
        if moved[k] == 0.0:
            if rate < -NO_RATE * fastest:
                wide[0] = rate
                return -1 - k
            continue
        for i in range(size):
            for j in range(model.nu):
                J[end + i, j] = J[first + i, j]
        for i in range(LAWS):
            laws[count, i] = laws[k, i]
        gaps[count], kept[count], starts[count] = gaps[k], k, end
        count, end = count + 1, end + size
    starts[count] = end
    return count


@compiled
def find_moved(block: Any, rows: Any, first: Any, least: float, moved: Any) -> None:
    """Of the rows at *first*, whether what is free has a part in them, by more than the *least* part of distances."""
    model, reach = attach(block), 1.0
    for b in range(model.nb):
        for i in range(3):
            reach = max(reach, abs(load(model.p_GB, b, i)))
    for k in range(first.shape[0]):
        moved[k] = 0.0
        for b in range(1, model.nb):
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                size = abs(rows[first[k], i])
                reach = max(reach, size)
                if model.prescribed[b] == SOLVED:
                    moved[k] = max(moved[k], size)
    for k in range(first.shape[0]):
        moved[k] = 1.0 if moved[k] > least * reach else 0.0


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
