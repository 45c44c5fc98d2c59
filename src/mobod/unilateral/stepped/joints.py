"""Springs, dampers and stops of joints, and actuators, implicit in the speeds: how stiff they are does not bound the step.

With the derivatives -C and -K of these forces by their own speeds and coordinates where the step begins, both diagonal,

    (M + D) (u_1 - u_0) = h (M udot_0 - h K u_0) + J^T gamma     D = h C + h^2 K
    u* = u_0 + h udot_0 + (M + D)^-1 p     p = -h (D udot_0 + h K u_0)

which is Euler's linearly implicit method, of first order whatever C and K are. Where one would be negative it counts as none,
so that M + D is positive. Where speeds are prescribed there is neither. Source: Hairer and Wanner 1996, IV.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...algebra.order import larger, smaller
from ...algebra.scalar import load, store, where, zero
from ...compiling import generic
from ...force import actuator as motor, slopes as slopes
from ...force.one_coordinate import coordinate, coordinate_rate
from ...force.pools import number
from ...force.transmission.coordinates import Coordinates
from ...mobilizer import q_rates
from ...tree.prescribed_mobilities import SOLVED
from ...tree.project import any_positive
from . import space as names

#: Beside the kinds of `force.slopes`: an actuator without a variable, and one with.
_ACTUATOR, _FILTERED = 101, 102


def joints_of(forces: Sequence[Any], tree: Any) -> npt.NDArray[np.int64]:
    """The forces on single mobilities with slopes, a row each as in `force.slopes`; enabled or not."""
    rows: list[list[int]] = []
    for force in forces:
        if force.element < tree.counts["ng"]:
            continue
        own = slopes.row_of(force, tree)
        if own is None and isinstance(force, motor.Actuator):
            own = _row_of_actuator(force, tree)
        rows += own or []
    return np.array(rows, np.int64).reshape(-1, 5)


def _row_of_actuator(force: Any, tree: Any) -> list[list[int]]:
    """Of one on a single coordinate, whose rate is its speed."""
    dynamics, count, *place = force.default_integers
    if not isinstance(force.get_transmission(), Coordinates) or count != 1 or tree.fields["rates"][place[0]] != q_rates.SAME:
        return []
    kind = _ACTUATOR if dynamics == motor.NONE else _FILTERED
    return [[kind, tree.first_u[place[0]] + place[1], force.element, force.span[0], force.span[2]]]


@generic
def _slopes_of_actuator(model: Any, table: Any, row: int) -> Any:
    """By q and u, while no range holds the force."""
    i, x = table[row, slopes.INTEGERS], table[row, slopes.NUMBERS]
    ratio = number(model, x + motor.RATIO) * number(model, x + motor.RATIO + 1)
    length, speed = ratio * coordinate(model, i + 2), ratio * coordinate_rate(model, i + 2)
    a = motor.control(model, x)
    if table[row, slopes.KIND] == _FILTERED:
        a = load(model.z, model.force_first_z[table[row, slopes.ELEMENT]], 0)
    f = motor.law(model, x, a, length, speed)
    low = larger(number(model, x + motor.FORCE_RANGE), number(model, x + motor.APPLIED_RANGE))
    high = smaller(number(model, x + motor.FORCE_RANGE + 1), number(model, x + motor.APPLIED_RANGE + 1))
    o = zero(f)
    free = where(low < f, where(f < high, o + 1.0, o), o)
    a = motor.nearest(model, x, a, length)
    g, b = x + motor.GAIN, x + motor.BIAS
    by_length = number(model, g + 1) * a + number(model, b + 1)
    by_speed = number(model, g + 2) * a + number(model, b + 2)
    return where(free > 0.0, ratio * ratio * by_length, o), where(free > 0.0, ratio * ratio * by_speed, o)


@generic
def _find_slopes(model: Any, table: Any, place: Any, out: Any, first: int) -> bool:
    """C and K, in the order of *place*, into two rows of *out*, the *first* and the next; whether there are any."""
    C, K = first, first + 1
    none = zero(load(out, C, 0))
    for i in range(model.nu):
        store(out, C, i, none)
        store(out, K, i, none)
    for row in range(table.shape[0]):
        kind = table[row, slopes.KIND]
        if model.force_enabled[table[row, slopes.ELEMENT]] != 1:
            continue
        if kind in (_ACTUATOR, _FILTERED):
            by_q, by_u = _slopes_of_actuator(model, table, row)
        else:
            by_q, by_u = slopes.slopes_of(model, table, row)
        start = last = table[row, slopes.MOBILITY]
        if kind == slopes.ALL_DAMPED:
            start, last = 0, model.nu - 1
        for i in range(start, last + 1):
            store(out, C, place[i], load(out, C, place[i]) - by_u)
            store(out, K, place[i], load(out, K, place[i]) - by_q)
    found = False
    for b in range(1, model.nb):
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            k = place[i]
            c, s = larger(load(out, C, k), none), larger(load(out, K, k), none)
            if model.prescribed[b] != SOLVED:
                c, s = none, none
            store(out, C, k, c)
            store(out, K, k, s)
            found = found or any_positive(c + s)
    return found


@generic
def find_pushes(model: Any, space: Any, h: Any) -> bool:
    """D and p of a step in their rows, and which trees need their masses for that; whether any do."""
    for t in range(space.weighed.shape[0]):
        space.weighed[t] = 0
    if space.joints.shape[0] == 0:
        return False
    place, vectors = space.place_of_speed, space.vectors
    found = _find_slopes(model, space.joints, place, vectors, names.ADDED)
    for b in range(1, model.nb):
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            k = place[i]
            hK = h * load(vectors, names.PUSH, k)
            added = h * (load(vectors, names.ADDED, k) + hK)
            store(vectors, names.ADDED, k, added)
            store(vectors, names.PUSH, k, -h * (added * load(model.u_dot, i, 0) + hK * load(model.u, i, 0)))
            if any_positive(added):
                space.weighed[space.tree_of_body[b]] = 1
    return found
