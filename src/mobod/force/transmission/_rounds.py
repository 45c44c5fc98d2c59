"""OpenSim's path over several surfaces: one surface after the other, until the length settles.

Each surface is offered every segment within its range. It takes the first one that goes through it, else the one that becomes
least longer; the two points of touch then join the path, for the surfaces after it. OpenSim 4.6 keeps the place in Ground at
which it has first seen a point of touch, and measures distances and directions from there, though the point moves on when its
surface has another turn: paths over two surfaces are up to 1 % off, and are so here. Forces act at the points, along these
directions; between two stops of one body there is none, while the path's speed counts all pieces. Source: OpenSim 4.6,
GeometryPath, Point.

Integers of a surface: its kind, its body, axis and sign of its side, the method, first and last point of its range, its number,
1 where it is active, the first of its numbers: its frame in its body, and three sizes. Of the points of touch, THERE is 1 once
they have been seen. All is of one lane, whose choices are its own.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare, load, load_lane, num_lanes, store_lane, zero
from ...compiling import apart, generic
from ._lines import norm
from ._over_cylinder import INSIDE, MANDATORY, NONE, over_cylinder
from ._over_ellipsoid import over_ellipsoid
from ._over_sphere import over_sphere
from ._over_torus import over_torus
from ._stops import (
    ALONG,
    HEAD,
    LENGTH,
    NEXT,
    OF_POINT,
    OF_SURFACE,
    OVER,
    PLACE,
    PULL,
    SEEN,
    THERE,
    WIDTH,
    body_of,
    place_points,
    row,
)

SPHERE, CYLINDER, ELLIPSOID, TORUS = 0, 1, 2, 3
#: How often all surfaces take their turn, and the change of length, in metres, that ends it.
ROUNDS, SETTLED = 8, 0.0005
#: No length, and no stop.
FAR, NOWHERE = 1e300, -1


@generic
def wind(model: Any, f: int) -> None:
    """The stops of path f."""
    place_points(model, f)
    for lane in range(num_lanes(load(model.time, 0, 0))):
        _wind_lane(model, f, lane)


@apart
def _wind_lane(model: Any, f: int, lane: int) -> None:
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    start = _begin(model, n, m, lane)
    if start != NOWHERE:
        before, swapped = FAR, False
        for turn in range(1 if m < 2 else ROUNDS):
            of_first, of_second, ended = NONE, NONE, False
            for place in range(m):
                w = 1 - place if swapped and place < 2 else place
                _take_off(model, start, n, w, lane)
                j = i + HEAD + OF_POINT * n + OF_SURFACE * w
                if model.function_integers[j + 8] == 0:
                    continue
                first, last = _range(model, j, n, lane)
                if first == NOWHERE:
                    ended = True
                    break
                contact = _offer(model, f, j, w, first, last, lane)
                if place == 0:
                    of_first = contact
                elif place == 1:
                    of_second = contact
            if ended:
                break
            length = bare(_measure(model, f, start, lane, False))
            if length - before < SETTLED and before - length < SETTLED:
                break
            before = length
            if turn == 0 and m > 1 and of_first == NONE and of_second == INSIDE:
                swapped = True  # the second has a point inside that the first may take away
                _take_off(model, start, n, 0, lane)
        _measure(model, f, start, lane, True)


# ---------------------------------------------------------------------------------------------- numbers of stops


@generic
def _get3(model: Any, at: int, lane: int) -> Any:
    rows = model.function_value
    return load_lane(rows, at, 0, lane), load_lane(rows, at + 1, 0, lane), load_lane(rows, at + 2, 0, lane)


@generic
def _put3(model: Any, at: int, lane: int, v: Any) -> None:
    store_lane(model.function_value, at, 0, lane, v[0])
    store_lane(model.function_value, at + 1, 0, lane, v[1])
    store_lane(model.function_value, at + 2, 0, lane, v[2])


@generic
def _next(model: Any, stop: int, lane: int) -> int:
    return int(bare(load_lane(model.function_value, row(stop) + NEXT, 0, lane)))


@generic
def _link(model: Any, stop: int, after: int, lane: int) -> None:
    store_lane(model.function_value, row(stop) + NEXT, 0, lane, 1.0 * after)


@generic
def _is_there(model: Any, stop: int, lane: int) -> bool:
    return bare(load_lane(model.function_value, row(stop) + THERE, 0, lane)) > 0.5


@generic
def _seen(model: Any, stop: int, n: int, lane: int) -> Any:
    """Where a stop is for lengths."""
    at = row(stop) + PLACE
    if stop >= n:
        at = row(stop) + SEEN
        if not _is_there(model, stop, lane):
            _put3(model, at, lane, _get3(model, row(stop) + PLACE, lane))
            store_lane(model.function_value, row(stop) + THERE, 0, lane, 1.0)
    return _get3(model, at, lane)


@generic
def _surface(model: Any, f: int, stop: int) -> int:
    """The number of a point of touch's surface; NOWHERE of other stops."""
    i = model.function_first_integer[f]
    n = model.function_integers[i]
    found = NOWHERE
    if stop >= n:
        found = model.function_integers[i + HEAD + OF_POINT * n + OF_SURFACE * ((stop - n) // 2) + 7]
    return found


# ---------------------------------------------------------------------------------------------- the chain


@generic
def _begin(model: Any, n: int, m: int, lane: int) -> int:
    """Chain the points that are there; the first, NOWHERE if it is the only one."""
    start, last, count = NOWHERE, NOWHERE, 0
    for k in range(n):
        if _is_there(model, k, lane):
            if last == NOWHERE:
                start = k
            else:
                _link(model, last, k, lane)
            last, count = k, count + 1
    if last != NOWHERE:
        _link(model, last, NOWHERE, lane)
    for k in range(n, n + 2 * m):
        for c in range(WIDTH):
            store_lane(model.function_value, row(k) + c, 0, lane, 0.0)
    for k in range(n):
        for c in range(3):
            store_lane(model.function_value, row(k) + PULL + c, 0, lane, 0.0)
            store_lane(model.function_value, row(k) + ALONG + c, 0, lane, 0.0)
    store_lane(model.function_value, LENGTH, 0, lane, 0.0)
    return start if count > 1 else NOWHERE


@generic
def _take_off(model: Any, start: int, n: int, w: int, lane: int) -> None:
    """Take the points of touch of surface w out of the path."""
    stop = start
    while stop != NOWHERE:
        after = _next(model, stop, lane)
        if after == n + 2 * w:
            _link(model, stop, _next(model, after + 1, lane), lane)
            after = NOWHERE
        stop = after


@generic
def _range(model: Any, j: int, n: int, lane: int) -> Any:
    """The first and the last point between which a path may wrap; NOWHERE if there are none."""
    first, last = NOWHERE, NOWHERE
    for k in range(model.function_integers[j + 5], min(n, model.function_integers[j + 6] + 1)):
        if _is_there(model, k, lane):
            if first == NOWHERE:
                first = k
            last = k
    return first, last


@generic
def _offer(model: Any, f: int, j: int, w: int, begin: int, end: int, lane: int) -> int:
    """Offer a surface the segments; the path then goes over it, if it takes one. What became of the last segment tried."""
    i = model.function_first_integer[f]
    n, own = model.function_integers[i], model.function_integers[j + 7]
    R, p = _frame(model, f, j, lane)
    o = zero(p[0])
    nothing = o, o, o
    best, least, touch, leave, over = NOWHERE, o + FAR, nothing, nothing, o
    contact, stop = NONE, begin
    while stop != end and contact != MANDATORY:
        after = _next(model, stop, lane)
        if not (_surface(model, f, stop) == own and _surface(model, f, after) == own):
            a = mat33.transpose_mul_vec(R, vec3.sub(_get3(model, row(stop) + PLACE, lane), p))
            b = mat33.transpose_mul_vec(R, vec3.sub(_get3(model, row(after) + PLACE, lane), p))
            contact, t1, t2, length = _over(model, f, j, a, b, lane)
            if contact > INSIDE:
                first, last = vec3.add(p, mat33.mul_vec(R, t1)), vec3.add(p, mat33.mul_vec(R, t2))
                longer = -FAR + o
                if contact != MANDATORY:
                    from_a, to_b = _seen(model, stop, n, lane), _seen(model, after, n, lane)
                    longer = norm(vec3.sub(first, from_a)) + length + norm(vec3.sub(to_b, last))
                    longer = longer - norm(vec3.sub(to_b, from_a))
                if longer < least:
                    best, least, touch, leave, over = stop, longer, first, last, length
        stop = after
    if best != NOWHERE:
        first_touch = n + 2 * w
        _put3(model, row(first_touch) + PLACE, lane, touch)
        _put3(model, row(first_touch + 1) + PLACE, lane, leave)
        store_lane(model.function_value, row(first_touch + 1) + OVER, 0, lane, over)
        _link(model, first_touch + 1, _next(model, best, lane), lane)
        _link(model, first_touch, first_touch + 1, lane)
        _link(model, best, first_touch, lane)
    return contact


@generic
def _number(model: Any, x: int, lane: int) -> Any:
    return load_lane(model.function_numbers, x, 0, lane)


@generic
def _nine(rows: Any, at: int, column: int, down: int, across: int, lane: int) -> Any:
    return (
        load_lane(rows, at, column, lane),
        load_lane(rows, at + down, column + across, lane),
        load_lane(rows, at + 2 * down, column + 2 * across, lane),
        load_lane(rows, at + 3 * down, column + 3 * across, lane),
        load_lane(rows, at + 4 * down, column + 4 * across, lane),
        load_lane(rows, at + 5 * down, column + 5 * across, lane),
        load_lane(rows, at + 6 * down, column + 6 * across, lane),
        load_lane(rows, at + 7 * down, column + 7 * across, lane),
        load_lane(rows, at + 8 * down, column + 8 * across, lane),
    )


@generic
def _frame(model: Any, f: int, j: int, lane: int) -> Any:
    """The frame of a surface in Ground."""
    b, x = model.function_integers[j + 1], model.function_first_number[f] + model.function_integers[j + 9]
    R_GB = _nine(model.R_GB, b, 0, 0, 1, lane)
    R = mat33.mul(R_GB, _nine(model.function_numbers, x, 0, 1, 0, lane))
    place = _number(model, x + 9, lane), _number(model, x + 10, lane), _number(model, x + 11, lane)
    origin = load_lane(model.p_GB, b, 0, lane), load_lane(model.p_GB, b, 1, lane), load_lane(model.p_GB, b, 2, lane)
    return R, vec3.add(origin, mat33.mul_vec(R_GB, place))


@generic
def _over(model: Any, f: int, j: int, a: Any, b: Any, lane: int) -> Any:
    """One segment, its ends in the frame of the surface."""
    kind, axis, sign = model.function_integers[j], model.function_integers[j + 2], model.function_integers[j + 3]
    x = model.function_first_number[f] + model.function_integers[j + 9] + 12
    o = zero(a[0])
    sizes = o + _number(model, x, lane), o + _number(model, x + 1, lane), o + _number(model, x + 2, lane)
    alone = model.function_integers[model.function_first_integer[f] + 1] == 1
    if kind == SPHERE:
        found = over_sphere(a, b, sizes[0], axis, sign)
    elif kind == CYLINDER:
        found = over_cylinder(a, b, sizes[0], sizes[1], axis, sign, alone)
    elif kind == ELLIPSOID:
        found = over_ellipsoid(a, b, sizes, axis, sign, model.function_integers[j + 4])
    else:
        found = over_torus(a, b, sizes[0], sizes[1], axis, sign, alone)
    return found


@generic
def _measure(model: Any, f: int, start: int, lane: int, pulls: bool) -> Any:
    """The length of the path; of all its stops how a unit of tension pulls, where that is asked for."""
    n = model.function_integers[model.function_first_integer[f]]
    a = _seen(model, start, n, lane)
    total = zero(a[0])
    nothing = total, total, total
    before, before_along = nothing, nothing
    stop, after = start, _next(model, start, lane)
    while after != NOWHERE:
        b = _seen(model, after, n, lane)
        r = vec3.sub(b, a)
        length = norm(r)
        e, along = nothing, nothing
        if length > 1e-150:
            along = vec3.scale(1.0 / length, r)
        own = _surface(model, f, stop)
        if own != NOWHERE and own == _surface(model, f, after) and (after - n) % 2 == 1:
            total = total + load_lane(model.function_value, row(after) + OVER, 0, lane)
        else:
            total = total + length
        if pulls:
            if body_of(model, f, stop) != body_of(model, f, after):
                e = along
            _put3(model, row(stop) + PULL, lane, vec3.sub(e, before))
            _put3(model, row(stop) + ALONG, lane, vec3.sub(along, before_along))
        a, before, before_along, stop, after = b, e, along, after, _next(model, after, lane)
    if pulls:
        _put3(model, row(stop) + PULL, lane, vec3.neg(before))
        _put3(model, row(stop) + ALONG, lane, vec3.neg(before_along))
        store_lane(model.function_value, LENGTH, 0, lane, total)
    return total
