"""Broad phase: pairs of surfaces whose boxes along Ground's axes overlap, sorted along the axis on which they are spread most.

The order along each axis is kept between evaluations, and an insertion sort restores it in a time that grows with what has
changed. Equal positions are ordered by the surface's number, so the order, and with it the sequence in which forces
are added up, depends on the state alone and not on its past.
(Baraff 1992, Dynamic Simulation of Non-Penetrating Rigid Bodies, section 2.4.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra import mat33, vec3
from ...algebra.memory import load3, load9, store3, store9
from ...algebra.scalar import bare, load, load_lane, one, store_lane, where, zero
from ...compiling import generic
from ...contact.access import BOX, DIMENSIONS, load3_lane, orientation, origin, three_of
from ...contact.shape import BRICK, CAPSULE, HALF_SPACE, SPHERE
from ..pools import numbers3, numbers9

#: Integers of an element, see `element`.
(
    FIRST_SURFACE, NUM_SURFACES, UNBOUNDED, BOUNDED, PAIRED, MAY_TOUCH, LAW_ROUTINE, TRACKED, LAW_KIND, SEARCHED, RESISTS,
    FORMULAS
) = range(12)  # fmt: skip
#: Kinds of law: `law.compliant`, which `at_once` knows too; `law.sticking`; `law.hunt_crossley`.
SIMPLE, STICKING, OF_HERTZ = 1, 2, 3
#: What derivatives in closed form there are of, see `derivative.contacts`: planes with what is simple; of all pairs.
OF_PLANES, OF_ALL = 1, 2
#: Columns of surface_frame.
_CENTER, _HALF = 12, 15
#: Columns of surface_sorted after where a box begins and ends along the axis of the sort, and the other two: its surface,
#: and the place of that among the bounded ones.
_WHICH, _NUMBER = 6, 7
#: Of sums of what is subtracted, what rounding may be; and of how many surfaces each two are looked at, of all lanes at once.
_UNSURE, _FEW = 1e-9, 16


@generic
def place_surfaces(model: Any, first: int, end: int) -> None:
    """R_GS, p_GS and the box of each surface, of all lanes at once."""
    for s in range(first, end):
        b, x = model.surface_body[s], model.surface_first_number[s]
        R_GB = load9(model.R_GB, b, 0)
        R = mat33.mul(R_GB, numbers9(model, x))
        p = vec3.add(load3(model.p_GB, b, 0), mat33.mul_vec(R_GB, numbers3(model, x + 9)))
        c, h = numbers3(model, x + BOX), numbers3(model, x + BOX + 3)
        store9(model.surface_frame, s, 0, R)
        store3(model.surface_frame, s, 9, p)
        store3(model.surface_frame, s, _CENTER, vec3.add(p, mat33.mul_vec(R, c)))
        store3(model.surface_frame, s, _HALF, (_reach(R, 0, h), _reach(R, 3, h), _reach(R, 6, h)))


@generic
def _reach(R: Any, i: int, h: Any) -> Any:
    """Half the length of a box along an axis of Ground, of which R has the row from i on."""
    return _size(R[i]) * h[0] + _size(R[i + 1]) * h[1] + _size(R[i + 2]) * h[2]


@generic
def _size(x: Any) -> Any:
    return where(x < 0.0, -x, x)


def searching(visit: Callable[..., Any], *, leaves_simple: bool = False) -> Callable[..., Any]:
    """A search of an element's surfaces that calls ``visit(model, integers, a, b, lane, k)`` for each two that are near.

    With *leaves_simple* it leaves out those that `at_once` has done.
    """

    @generic
    def search(model: Any, integers: int, lane: int, k: Any) -> None:
        fixed, first = model.force_integers, model.force_integers[integers + FIRST_SURFACE]
        unbounded, bounded, paired = fixed[integers + UNBOUNDED], fixed[integers + BOUNDED], fixed[integers + PAIRED]
        nu, nb, many = model.contact_integers[unbounded], model.contact_integers[bounded], model.contact_integers[paired]
        leaves = leaves_simple and fixed[integers + LAW_KIND] == SIMPLE
        rows, flat, t = model.surface_sorted, False, load_lane(model.time, 0, 0, lane)
        n = p = (t, t, t)  # of the right type, until there is a plane
        end = low2 = high2 = low3 = high3 = 0.0
        if many > 0:
            _sort(model, first, paired, _widest(model, first, paired, lane), lane)
        # what reaches without end with all, then the others along an axis: in one loop, where the visit stands once
        for i in range(nu + many):
            wide, at = i < nu, first + i - nu
            if wide:
                a, count = first + model.contact_integers[unbounded + 1 + i], nu - i - 1 + nb
                flat = model.surface_kind[a] == HALF_SPACE
                n, p = _plane(model, a, lane)
            else:
                a, count = first + int(_kept(rows, at, _WHICH, lane)), nu + many - i - 1
                end = _kept(rows, at, 1, lane)
                low2, high2 = _kept(rows, at, 2, lane), _kept(rows, at, 3, lane)
                low3, high3 = _kept(rows, at, 4, lane), _kept(rows, at, 5, lane)
            for j in range(count):
                if not wide:
                    row = at + 1 + j
                    if _kept(rows, row, 0, lane) > end:
                        break
                    b = first + int(_kept(rows, row, _WHICH, lane))
                    near = (
                        _kept(rows, row, 2, lane) <= high2
                        and _kept(rows, row, 3, lane) >= low2
                        and _kept(rows, row, 4, lane) <= high3
                        and _kept(rows, row, 5, lane) >= low3
                    )
                elif j < nu - i - 1:
                    b, near = first + model.contact_integers[unbounded + 2 + i + j], True
                else:
                    b = first + model.contact_integers[bounded + 2 + j - nu + i]
                    kind = model.surface_kind[b]
                    done = leaves and flat and (kind == SPHERE or kind == CAPSULE or kind == BRICK)
                    near = not done and (not flat or _reaches(model, b, n, p, lane))
                if near:
                    visit(model, integers, a, b, lane, k)

    return search


@generic
def may_meet(model: Any, integers: int) -> Any:
    """1 in states in which `searching`, as *leaves_simple*, may find two surfaces that may touch; 0 where all are far apart.

    Of all lanes at once. What is near to rounding counts as near, as does what it takes a search of many to tell.
    """
    fixed, first, lists = model.force_integers, model.force_integers[integers + FIRST_SURFACE], model.contact_integers
    unbounded, bounded, paired = fixed[integers + UNBOUNDED], fixed[integers + BOUNDED], fixed[integers + PAIRED]
    table, n, leaves = fixed[integers + MAY_TOUCH], fixed[integers + NUM_SURFACES], fixed[integers + LAW_KIND] == SIMPLE
    near, many = zero(load(model.time, 0, 0)), lists[paired]
    some = one(near)
    if many > _FEW:
        return some
    for i in range(lists[unbounded]):
        a = lists[unbounded + 1 + i]
        for j in range(i):
            if lists[table + a * n + lists[unbounded + 1 + j]] >= 0:
                near = some
        flat, x = model.surface_kind[first + a] == HALF_SPACE, model.surface_first_number[first + a]
        up = mat33.mul_vec(load9(model.surface_frame, first + a, 0), numbers3(model, x + DIMENSIONS))
        p = load3(model.surface_frame, first + a, 9)
        for j in range(lists[bounded]):
            b = lists[bounded + 1 + j]
            kind = model.surface_kind[first + b]
            done = leaves and flat and (kind == SPHERE or kind == CAPSULE or kind == BRICK)
            if done or lists[table + a * n + b] < 0:
                continue
            c, h = load3(model.surface_frame, first + b, _CENTER), load3(model.surface_frame, first + b, _HALF)
            reach = _size(up[0]) * h[0] + _size(up[1]) * h[1] + _size(up[2]) * h[2]
            left = vec3.dot(up, vec3.sub(c, p)) - reach
            near = where(left > _UNSURE * (_sum(c) + _sum(p) + reach), near, some) if flat else some
    for i in range(many):
        a = lists[paired + 1 + i]
        for j in range(i):
            b = lists[paired + 1 + j]
            if lists[table + a * n + b] >= 0:
                near = _unless_apart(model, first + a, first + b, near, some)
    return near


@generic
def _unless_apart(model: Any, a: int, b: int, near: Any, some: Any) -> Any:
    """*near* where the boxes of two surfaces are apart, *some* where they are not."""
    meet = some
    for axis in range(3):
        c1, c2 = load(model.surface_frame, a, _CENTER + axis), load(model.surface_frame, b, _CENTER + axis)
        reach = load(model.surface_frame, a, _HALF + axis) + load(model.surface_frame, b, _HALF + axis)
        left = _size(c1 - c2) - reach
        meet = where(left > _UNSURE * (_size(c1) + _size(c2) + reach), near, meet)
    return meet


@generic
def _sum(v: Any) -> Any:
    return _size(v[0]) + _size(v[1]) + _size(v[2])


@generic
def _plane(model: Any, s: int, lane: int) -> Any:
    """A half-space's normal and a point of its plane; of other kinds something of the same type."""
    n = mat33.mul_vec(orientation(model, s, lane), three_of(model, s, DIMENSIONS, lane))
    return n, origin(model, s, lane)


@generic
def _reaches(model: Any, s: int, n: Any, p: Any, lane: int) -> bool:
    """True if the box of surface *s* reaches behind a plane."""
    c, h = load3_lane(model.surface_frame, s, _CENTER, lane), load3_lane(model.surface_frame, s, _HALF, lane)
    reach = _size(n[0]) * h[0] + _size(n[1]) * h[1] + _size(n[2]) * h[2]
    return vec3.dot(n, vec3.sub(c, p)) < reach


@generic
def _center(model: Any, s: int, axis: int, lane: int) -> float:
    return bare(load_lane(model.surface_frame, s, _CENTER + axis, lane))


@generic
def _half(model: Any, s: int, axis: int, lane: int) -> float:
    return bare(load_lane(model.surface_frame, s, _HALF + axis, lane))


@generic
def _kept(rows: Any, row: int, column: int, lane: int) -> float:
    return bare(load_lane(rows, row, column, lane))


@generic
def _widest(model: Any, first: int, paired: int, lane: int) -> int:
    """The axis along which the centers of the paired surfaces are spread most."""
    n = model.contact_integers[paired]
    best, most = 0, -1.0
    for axis in range(3):
        total, squares = 0.0, 0.0
        for j in range(n):
            x = _center(model, first + model.contact_integers[paired + 1 + j], axis, lane)
            total = total + x
            squares = squares + x * x
        spread = squares * n - total * total
        if spread > most:
            best, most = axis, spread
    return best


@generic
def _sort(model: Any, first: int, paired: int, axis: int, lane: int) -> None:
    """Write the boxes by where they begin along an axis, then by their number, from row *first* on, and keep the order."""
    n = model.contact_integers[paired]
    rows = model.surface_sorted
    second = axis + 1 if axis < 2 else 0
    third = 3 - axis - second
    for i in range(n):
        place = i
        which = model.contact_integers[paired + 1 + i + int(_kept(model.surface_order, first + i, axis, lane))]
        begin = _center(model, first + which, axis, lane) - _half(model, first + which, axis, lane)
        while place > 0:
            its = _kept(rows, first + place - 1, 0, lane)
            other = _kept(rows, first + place - 1, _WHICH, lane)
            if its < begin or (its == begin and other < which) or its != its or begin != begin:
                break
            store_lane(rows, first + place, 0, lane, its)
            store_lane(rows, first + place, _WHICH, lane, other)
            store_lane(rows, first + place, _NUMBER, lane, _kept(rows, first + place - 1, _NUMBER, lane))
            place = place - 1
        store_lane(rows, first + place, 0, lane, begin)
        store_lane(rows, first + place, _WHICH, lane, float(which))
        store_lane(rows, first + place, _NUMBER, lane, i + _kept(model.surface_order, first + i, axis, lane))
    for i in range(n):
        s = first + int(_kept(rows, first + i, _WHICH, lane))
        store_lane(model.surface_order, first + i, axis, lane, _kept(rows, first + i, _NUMBER, lane) - i)
        store_lane(rows, first + i, 1, lane, _center(model, s, axis, lane) + _half(model, s, axis, lane))
        c, h = _center(model, s, second, lane), _half(model, s, second, lane)
        store_lane(rows, first + i, 2, lane, c - h)
        store_lane(rows, first + i, 3, lane, c + h)
        c, h = _center(model, s, third, lane), _half(model, s, third, lane)
        store_lane(rows, first + i, 4, lane, c - h)
        store_lane(rows, first + i, 5, lane, c + h)
