"""Equations of constraints among the rows of what touches, unilateral contacts, and friction of known normal force.

The equations of a constraint are rows in pairs, as of a friction without bound: their impulse is whatever leaves G u as it is
without contact, where it fulfils them. Their columns are those of the speeds of one path from Ground, or of two, whose common
part is in the first: wrenches that depend on poses in Ground need not cancel there. `find_ties` says which, and of which
constraints there are more.

A unilateral contact whose gap would close within the step takes part in it, with a cone or a normal alone: v_n is no less than
-gap / h, or where it is violated than a part of that, as the speed stays. Where it would be struck another solver takes the
step. Friction of known normal force has a disk of the radius h mu N.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...algebra import vec3
from ...algebra.memory import load3, load_spatial, store3
from ...algebra.order import larger, size_of
from ...algebra.pointers import numbers1
from ...algebra.record import call_routine
from ...algebra.scalar import load, sqrt, store, where, zero
from ...compiling import apart, generic
from ...constraint.line_on_line_contact import overhang
from ...constraint.protocol import POSITIONS
from ...tree import constraints
from ...tree.prescribed_mobilities import SOLVED
from ..base import TRANSITION_SPEED
from . import space as names
from .rows import inboard_of_both, put_columns

#: A bound that no impulse comes to.
UNBOUNDED = 1e100
#: The part of a violated gap that a step takes back: it is to be small, as the speed stays.
GAP_RECOVERY = 0.1
#: A depth, of positions of size 1, that is rounding: between two walls neither side could be driven out of it.
NO_DEPTH = 1e-11
#: Coefficients of speeds that are rounding, as a part of the wrench that they are of.
ROUNDING = 1e-13
#: What `find_closing` returns: nothing more takes part; something does; it is struck, for another solver.
NONE, SOME, STRUCK = range(3)


def find_ties(fields: Any) -> npt.NDArray[np.int64]:
    """Of each constraint the last bodies of the one or two paths on which its bodies and mobilizers are, ``(nc, 3)``.

    The first is 0 where there is one path; the last column is 1, or 0 where there are more paths, or mobilizers on both.
    """
    parents = fields["parent"]
    found = np.zeros((len(fields["num_constrained_bodies"]), 3), np.int64)

    def inboard(b: int) -> set[int]:
        return {b, *inboard(int(parents[b]))} if b else set()

    for c in range(len(found)):
        first, own = fields["first_constrained_body"][c], fields["first_mobilizer"][c]
        bodies = fields["constrained_bodies"][first : first + fields["num_constrained_bodies"][c]]
        mobilizers = set(fields["constrained_mobilizers"][own : own + fields["num_mobilizers"][c]].tolist())
        involved = {b for b in bodies.tolist() if b} | mobilizers
        tips = sorted(involved - {a for b in involved for a in inboard(b) - {b}})
        shared = inboard(tips[0]) & inboard(tips[1]) if len(tips) == 2 else set()
        found[c] = *[0, 0, *tips][-2:], len(tips) <= 2 and not mobilizers & shared
    return found


@generic
def _coefficient(model: Any, c: int, k: int, b: int, i: int) -> Any:
    """The coefficient of speed i, of body b, in row k of constraint c."""
    n = model.num_constrained_bodies[c]
    w, v = load_spatial(model.H, i)
    total = zero(w[0])
    for j in range(n):
        one = model.constrained_bodies[model.first_constrained_body[c] + j]
        outboard = one
        while outboard > b:
            outboard = model.parent[outboard]
        if outboard == b:
            torque, force = load_spatial(model.wrenches, model.first_wrench[c] + k * n + j)
            r = vec3.sub(load3(model.p_GB, one, 0), load3(model.p_GB, b, 0))
            total = total + vec3.dot(torque, w) + vec3.dot(force, vec3.add(v, vec3.cross(w, r)))
    at = model.first_speed[c] + k * model.num_speeds[c]
    for place in range(model.first_mobilizer[c], model.first_mobilizer[c] + model.num_mobilizers[c]):
        m = model.constrained_mobilizers[place]
        if m == b:
            total = total + load(model.speed_coefficients, at + i - model.first_u[b], 0)
        at += model.num_u[m]
    return total


@generic
def _parting(model: Any, space: Any, c: int) -> int:
    """The body at which the two paths of a constraint part; Ground where there is one."""
    if space.ties[c, 0] == 0:
        return 0
    body: int = inboard_of_both(model, space.ties[c, 0], space.ties[c, 1])
    return body


@generic
def _put_columns(model: Any, space: Any, i: int, b: int, stop: int, begin: int) -> int:
    """The columns of the speeds outboard of *stop*, up to a body's, from place *begin* on; the place after them.

    Of equations the velocities count from those without contact; of the others prescribed speeds, which have no column, add.
    """
    points, J, pairs = space.points, space.coefficients, space.pairs
    c, k, end, out = pairs[i, names.FIRST], pairs[i, names.SECOND], begin, b
    while out != stop:
        if model.prescribed[out] == SOLVED:
            end += model.num_u[out]
        out = model.parent[out]
    if end > space.columns.shape[0]:
        return end
    at, rows = end, constraints.num_rows(model, c)
    by_change, has_normal = pairs[i, names.KIND] == names.EQUATIONS, pairs[i, names.KIND] == names.GAP
    first = k + 1 if has_normal else k
    while b != stop:
        solved = model.prescribed[b] == SOLVED
        for s in range(model.first_u[b] + model.num_u[b] - 1, model.first_u[b] - 1, -1):
            place = space.place_of_speed[s]
            none = zero(load(space.vectors, names.FREE, place))
            n, t1, t2 = none, none, none
            if has_normal:
                n = load(points, i, names.SIGN_OF_GAP) * _coefficient(model, c, k, b, s)
            if first < rows:
                t1 = _coefficient(model, c, first, b, s)
            if first + 1 < rows:
                t2 = _coefficient(model, c, first + 1, b, s)
            if solved:
                at -= 1
                space.columns[at] = place
                store(J, 0, at, n)
                store(J, 1, at, t1)
                store(J, 2, at, t2)
            if solved == by_change:
                part = load(space.vectors, names.FREE, place)
                if by_change:
                    part = -part
                moved = vec3.scale(part, (n, t1, t2))
                store3(points, i, names.DRIFT, vec3.add(load3(points, i, names.DRIFT), moved))
        b = model.parent[b]
    return end


@generic
def put_rows(model: Any, space: Any, i: int, begin: int) -> int:
    """The columns of rows of a constraint, from place *begin* on; the place after them."""
    pairs, c = space.pairs, space.pairs[i, names.FIRST]
    stop = _parting(model, space, c)
    pairs[i, names.BEGIN] = begin
    at = begin
    if space.ties[c, 0] > 0:
        at = _put_columns(model, space, i, space.ties[c, 0], 0, at)
    pairs[i, names.MIDDLE] = at
    pairs[i, names.END] = _put_columns(model, space, i, space.ties[c, 1], stop, at)
    end: int = pairs[i, names.END]
    if pairs[i, names.KIND] == names.EQUATIONS and end <= space.columns.shape[0]:
        _leave_out_rounding(model, space, i)
    return end


@generic
def _leave_out_rounding(model: Any, space: Any, i: int) -> None:
    """Make rows of a constraint zeros that only rounding has a part in, as all on its paths is locked or driven."""
    points, J, pairs = space.points, space.coefficients, space.pairs
    c, k = pairs[i, names.FIRST], pairs[i, names.SECOND]
    n = model.num_constrained_bodies[c]
    for row in range(1, 3):
        if k + row > constraints.num_rows(model, c):
            continue
        most = size = zero(load(points, i, names.DRIFT))
        for j in range(pairs[i, names.BEGIN], pairs[i, names.END]):
            most = larger(size_of(load(J, row, j)), most)
        for j in range(6 * n):
            size = larger(size_of(load(model.wrenches, model.first_wrench[c] + (k + row - 1) * n + j // 6, j % 6)), size)
        left_out = where(most <= ROUNDING * size, most + 1.0, zero(most))
        for j in range(pairs[i, names.BEGIN], pairs[i, names.END]):
            store(J, row, j, where(left_out > 0.0, zero(most), load(J, row, j)))
        store(points, i, names.DRIFT + row, where(left_out > 0.0, zero(most), load(points, i, names.DRIFT + row)))


@generic
def find_rows(model: Any, space: Any, whole: bool) -> None:
    """The columns of all points, after the speeds without contact; how many says ``counts[COLUMNS]``. *whole* as above."""
    at, pairs = 0, space.pairs
    for i in range(space.counts[names.POINTS]):
        if pairs[i, names.KIND] >= names.EQUATIONS:
            at = put_rows(model, space, i, at)
            continue
        b1, b2 = model.surface_body[pairs[i, names.FIRST]], model.surface_body[pairs[i, names.SECOND]]
        stop = inboard_of_both(model, b1, b2)
        pairs[i, names.BEGIN] = at
        at = put_columns(model, space, i, b1, stop, -1.0, at, whole)
        pairs[i, names.MIDDLE] = at
        at = put_columns(model, space, i, b2, stop, 1.0, at, whole)
        pairs[i, names.END] = at
    space.counts[names.COLUMNS] = at


@generic
def _add(space: Any, c: int, k: int, kind: int) -> int:
    """Add a row of a constraint to the points: its place, or -1 where there is no room."""
    counts, points, pairs = space.counts, space.points, space.pairs
    i = counts[names.POINTS]
    counts[names.POINTS] = i + 1
    if i >= space.keys.shape[0]:
        return -1
    for j in range(names.WIDTH):
        points[i, j] = 0.0
    for j in range(3):
        points[i, names.FRAME + 4 * j] = 1.0
    points[i, names.LENGTH] = 1.0
    pairs[i, names.FIRST], pairs[i, names.SECOND] = c, k
    pairs[i, names.TREE_1] = space.tree_of_body[space.ties[c, 0]]
    pairs[i, names.TREE_2] = space.tree_of_body[space.ties[c, 1]]
    pairs[i, names.ELEMENT], pairs[i, names.KIND], pairs[i, names.OF] = -1, kind, i
    space.keys[i] = -2 * (1024 * c + k) - 2  # those of points are above zero
    return i


@generic
def add_equations(model: Any, space: Any) -> None:
    """Add the equations of all constraints to the points, as far as there is room."""
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            if space.ties[c, 1] == 0:  # of Ground alone
                continue
            for k in range(0, constraints.num_rows(model, c), 2):
                i = _add(space, c, k, names.EQUATIONS)
                if i >= 0:
                    space.points[i, names.LIMIT], space.points[i, names.COMPLIANCE] = UNBOUNDED, 1.0


@generic
def add_gaps(model: Any, space: Any, h: float) -> None:
    """Add the unilateral contacts that take part in a step of size h, and friction of known normal force, to the points."""
    points = space.points
    for at in range(space.gaps.shape[0]):
        if space.gaps[at, names.TAKES_PART] == 0:
            continue
        c = space.gaps[at, names.ROWS]
        _write(model, c)
        i = _add(space, c, 0, names.GAP)
        if i < 0:
            continue
        sign, numbers = float(space.gaps[at, names.SIGN]), numbers1(space.gaps[at, names.NUMBERS], 0)
        gap = sign * load(model.position_error, model.first_row[c], 0)
        if constraints.num_rows(model, c) > 1:
            slip = _speed(model, space, c, 1)
            points[i, names.FRICTION] = numbers[2]
            if slip > numbers[5]:
                points[i, names.FRICTION] = numbers[3] + numbers[4] * slip
        points[i, names.LIMIT], points[i, names.SIGN_OF_GAP] = -1.0, sign
        points[i, names.TARGET] = -gap / h
        if gap < 0.0:
            points[i, names.TARGET] = GAP_RECOVERY * max(0.0, -gap - NO_DEPTH) / h
    for at in range(space.sticks.shape[0]):
        add_stick(space, at, slip_of_stick(model, space, at), h)


@generic
def slip_of_stick(model: Any, space: Any, at: int) -> Any:
    """The speed of slip where friction of known normal force acts, whose rows are written."""
    _write(model, space.sticks[at])
    return _speed(model, space, space.sticks[at], 0)


@generic
def add_stick(space: Any, at: int, slip: float, h: float) -> None:
    """Add friction of known normal force to the points of one state, as far as there is room."""
    points, i = space.points, _add(space, space.sticks[at], 0, names.STICK)
    if i >= 0:
        mu = space.stick_numbers[at, 1]
        if slip > TRANSITION_SPEED:
            mu = space.stick_numbers[at, 2] + space.stick_numbers[at, 3] * slip
        points[i, names.LIMIT], points[i, names.COMPLIANCE] = h * mu * space.stick_numbers[at, 0], 1.0


@generic
def stop_at_end(space: Any, first: int) -> bool:
    """Let gaps that have closed with the step, beside friction, and have no restitution, stop there; whether there are such.

    Those are points from *first* on. In two steps friction would have two parts of an impact, one after the other, as large as
    these happen to be, and slip between them.
    """
    points, i, stops, rubs = space.points, first, False, False
    for at in range(space.gaps.shape[0]):
        if space.gaps[at, names.TAKES_PART] == 1:
            numbers = numbers1(space.gaps[at, names.NUMBERS], 0)
            if numbers[0] == 0.0 and points[i, names.IMPULSE] > 0.0 and points[i, names.V] < -numbers[1]:
                points[i, names.TARGET], stops = 0.0, True
            i += 1
    for k in range(i):
        rubs = rubs or (points[k, names.LIMIT] < 0.0 and points[k, names.FRICTION] > 0.0 and points[k, names.IMPULSE] > 0.0)
    return stops and rubs


@generic
def _write(model: Any, c: int) -> None:
    """Let a constraint write its position error, if it has one, and its rows."""
    call_routine(model.constraint_routine[c], model, c, POSITIONS)
    constraints.complete(model, c, POSITIONS)


@generic
def _speed(model: Any, space: Any, c: int, k: int) -> Any:
    """The length of the velocity of row k of a constraint, and the next, if there is one, where the step begins."""
    a = _rate(model, space, c, k, names.SPEED)
    b = zero(a)
    if k + 1 < constraints.num_rows(model, c):
        b = _rate(model, space, c, k + 1, names.SPEED)
    return sqrt(a * a + b * b)


@generic
def _rate(model: Any, space: Any, c: int, k: int, row: int) -> Any:
    """Row k of a constraint times a row of ``vectors``, prescribed speeds among them."""
    stop, total = _parting(model, space, c), zero(load(space.vectors, names.FREE, 0))
    for which in range(2):
        b = space.ties[c, which]
        while b != stop and b != 0:
            for s in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                total = total + _coefficient(model, c, k, b, s) * load(space.vectors, row, space.place_of_speed[s])
            b = model.parent[b]
    return total


@generic
def _closes(model: Any, space: Any, at: int, h: Any, row: int) -> Any:
    """1 where a gap would close within a step of size h at the speeds that there are, or at those in a row of ``vectors``."""
    c, sign, o = space.gaps[at, names.CLOSED_BY], float(space.gaps[at, names.SIGN]), zero(h)
    _write(model, c)
    gap = sign * load(model.position_error, model.first_row[c], 0)
    before, after = sign * _rate(model, space, c, 0, names.SPEED), sign * _rate(model, space, c, 0, row)
    closes = where(gap + h * where(before < after, before, after) <= 0.0, o + 1.0, o)
    if space.gaps[at, names.BESIDE] == 1:
        closes = where(overhang(model, c) > 0.0, o, closes)
    return closes


@apart
def closing(model: Any, space: Any, h: Any, row: int) -> Any:
    """Above zero where any gap would close within a step of size h."""
    found = zero(h)
    for at in range(space.gaps.shape[0]):
        found = found + _closes(model, space, at, h, row)
    return found


@generic
def _is_fixed(model: Any, space: Any, at: int) -> bool:
    """True if no speed that is free changes a gap, but for rounding: of a wrench along what both bodies do with each other."""
    c, b = space.gaps[at, names.CLOSED_BY], 0
    most = size = 0.0
    for which in range(2):
        b = space.ties[c, which]
        while b != 0:
            for s in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                if model.prescribed[b] == SOLVED:
                    most = max(most, abs(_coefficient(model, c, 0, b, s)))
            b = model.parent[b]
    for n in range(6 * model.num_constrained_bodies[c]):
        size = max(size, abs(load(model.wrenches, model.first_wrench[c] + n // 6, n % 6)))
    return most <= ROUNDING * size


@apart
def find_closing(model: Any, space: Any, h: float, row: int) -> int:
    """Let gaps that would close take part, beside those that do: NONE, SOME, or STRUCK where one bounces."""
    found = NONE
    for at in range(space.gaps.shape[0]):
        if space.gaps[at, names.TAKES_PART] == 1 or _closes(model, space, at, h, row) == 0.0 or _is_fixed(model, space, at):
            continue
        space.gaps[at, names.TAKES_PART], found = 1, max(found, SOME)
        c, numbers = space.gaps[at, names.CLOSED_BY], numbers1(space.gaps[at, names.NUMBERS], 0)
        sign = float(space.gaps[at, names.SIGN])
        gap, rate = sign * load(model.position_error, model.first_row[c], 0), sign * _rate(model, space, c, 0, names.SPEED)
        if numbers[0] > 0.0 and rate < -numbers[1] and gap + h * rate <= 0.0:
            found = STRUCK
    return found
