"""OpenSim's path over several surfaces: one surface after the other, until the length settles.

Each surface is offered every segment within its range. It takes the first one that goes through it, else the one that becomes
least longer; the two points of touch then join the path, for the surfaces after it. OpenSim 4.6 keeps the place in Ground at
which it has first seen a point of touch, and measures distances and directions from there, though the point moves on when its
surface has another turn: paths over two surfaces are up to 1 % off, and are so here. Forces act at the points, along these
directions; between two stops of one body there is none, while the path's speed counts all pieces. Source: OpenSim 4.6,
GeometryPath, Point.

Integers of a surface: its kind, its body, axis and sign of its side, the method, first and last point of its range, its number,
1 where it is active, the first of its numbers: its frame in its body, and three sizes. Of the points of touch, THERE is 1 once
they have been seen. Each lane has choices of its own; spheres and cylinders take all lanes at once, other surfaces one by one.

Eight paths of one form, of one state, are lanes too: each is placed by itself, and what that leaves in `function_value` is all
that the rounds read, and what they leave there is all that is wanted of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...algebra import mat33, vec3
from ...algebra.beside import lanes_at
from ...algebra.masks import both, either, in_any, load_at, no, pick3, store_at
from ...algebra.memory import load3, load9
from ...algebra.scalar import bare, floor, load, load_lane, one, store, store_lane, where, zero
from ...compiling import apart, generic
from ...mobilizer.access import vector3, vector9
from ._over_cylinder import INSIDE, MANDATORY, NONE
from ._over_once import go_once, stays
from ._segments import (
    FAR,
    MAIL,
    NOWHERE,
    OF_PLACED,
    SIZES,
    distance,
    get3_of_lane,
    over as over_surface,
    put3_of_lane,
    seen_from,
    straight,
)
from ._stops import (
    ALONG,
    BODY,
    HEAD,
    LENGTH,
    NEXT,
    OF_POINT,
    OF_SURFACE,
    OVER,
    PLACE,
    PULL,
    SEEN,
    SURFACE,
    THERE,
    WIDTH,
    body_of,
    get3,
    is_pulled,
    place_points,
    placed,
    put3,
    row,
    to_next,
)

#: How often all surfaces take their turn, and the change of length, in metres, that ends it.
ROUNDS, SETTLED = 8, 0.0005
#: The most numbers of a path that is one of eight, and which paths these are, before they are placed.
MOST_BESIDE, PATH = 384, 0


@generic
def number_of_rows(n: int, m: int) -> int:
    """The size of a path of n points and m surfaces in `function_value`."""
    return row(n + 2 * m) + MAIL + OF_PLACED * m


@generic
def wind(model: Any, f: int) -> None:
    """The stops of path f."""
    place(model, f)
    _go(model, f)


class _Beside(NamedTuple):
    """The fields of a record that `_go` reads, of eight paths."""

    function_value: Any
    function_integers: Any
    function_first_integer: Any


@generic
def wind_one_or_eight(model: Any, f: int, address: int) -> None:
    """The stops of path f, or of those of its form whose numbers are in the first of the rows of lanes at an address.

    Where there are fewer than eight, the others' numbers are below 0. Of one state of float64.
    """
    if address == 0:
        wind(model, f)
    else:
        rows = lanes_at(address, MOST_BESIDE)
        beside = _Beside(rows, model.function_integers, model.function_first_integer)
        for lane in range(8):
            path = int(load_lane(rows, PATH, 0, lane))
            if path >= 0:
                _place_beside(model, path, beside, lane)
            else:
                _follow(beside, f, lane)
        _go(beside, f)


@generic
def placed_at(n: int, m: int, w: int) -> int:
    """The first of the numbers of a surface that is placed."""
    return row(n + 2 * m) + MAIL + OF_PLACED * w


@generic
def place(model: Any, f: int) -> None:
    """The places of surfaces and of all points but still ones, and the bodies of all stops."""
    place_points(model, f)
    i, rows = model.function_first_integer[f], model.function_value
    n, m = model.function_integers[i], model.function_integers[i + 1]
    for stop in range(n + 2 * m):
        store(rows, row(stop) + BODY, 0, 1.0 * body_of(model, f, stop))
        if stop < n and stays(model, f):
            store(rows, row(stop) + OVER, 0, to_next(model, f, stop))
    for w in range(m):
        j, at = i + HEAD + OF_POINT * n + OF_SURFACE * w, placed_at(n, m, w)
        x, (R, p) = model.function_first_number[f] + model.function_integers[j + 9], _frame_in_ground(model, f, j)
        put3(model, at, (R[0], R[1], R[2]))
        put3(model, at + 3, (R[3], R[4], R[5]))
        put3(model, at + 6, (R[6], R[7], R[8]))
        put3(model, at + 9, p)
        put3(model, at + SIZES, vector3(model.function_numbers, x + 12))


@generic
def _place_beside(model: Any, f: int, beside: Any, lane: int) -> None:
    """The same of a path that is one of eight."""
    i, rows = model.function_first_integer[f], beside.function_value
    n, m = model.function_integers[i], model.function_integers[i + 1]
    for k in range(n):
        if is_pulled(model, f, k):
            p, there = placed(model, f, k)
            put3_of_lane(beside, row(k) + PLACE, lane, p)
            store_lane(rows, row(k) + THERE, 0, lane, there)
    for stop in range(n + 2 * m):
        store_lane(rows, row(stop) + BODY, 0, lane, 1.0 * body_of(model, f, stop))
        if stop < n and stays(model, f):
            store_lane(rows, row(stop) + OVER, 0, lane, to_next(model, f, stop))
    for w in range(m):
        j, at = i + HEAD + OF_POINT * n + OF_SURFACE * w, placed_at(n, m, w)
        x, (R, p) = model.function_first_number[f] + model.function_integers[j + 9], _frame_in_ground(model, f, j)
        put3_of_lane(beside, at, lane, (R[0], R[1], R[2]))
        put3_of_lane(beside, at + 3, lane, (R[3], R[4], R[5]))
        put3_of_lane(beside, at + 6, lane, (R[6], R[7], R[8]))
        put3_of_lane(beside, at + 9, lane, p)
        put3_of_lane(beside, at + SIZES, lane, vector3(model.function_numbers, x + 12))


@generic
def _follow(beside: Any, f: int, lane: int) -> None:
    """Let a lane without a path go the way of the one before."""
    i, rows = beside.function_first_integer[f], beside.function_value
    n, m = beside.function_integers[i], beside.function_integers[i + 1]
    for stop in range(n + 2 * m):
        store_lane(rows, row(stop) + BODY, 0, lane, load_lane(rows, row(stop) + BODY, 0, lane - 1))
        if stop < n:
            store_lane(rows, row(stop) + OVER, 0, lane, load_lane(rows, row(stop) + OVER, 0, lane - 1))
            store_lane(rows, row(stop) + THERE, 0, lane, load_lane(rows, row(stop) + THERE, 0, lane - 1))
            put3_of_lane(beside, row(stop) + PLACE, lane, get3_of_lane(beside, row(stop) + PLACE, lane - 1))
    for at in range(placed_at(n, m, 0), placed_at(n, m, m)):
        store_lane(rows, at, 0, lane, load_lane(rows, at, 0, lane - 1))


@apart
def _go(model: Any, f: int) -> None:
    """The stops of path f, whose points and surfaces are placed."""
    i = model.function_first_integer[f]
    n, m, comes_and_goes = model.function_integers[i], model.function_integers[i + 1], model.function_integers[i + 2]
    if m == 1 and comes_and_goes != 1:
        go_once(model, f, placed_at(n, m, 0))
    else:
        start, there = _begin(model, f, n, m)
        if in_any(there):
            k = one(start)
            going, swapped, before = there, no(k > 0.0), FAR * k
            for turn in range(1 if m < 2 else ROUNDS):
                going, before, swapped = _round(model, f, turn, start, going, swapped, before)
                if not in_any(going):
                    break
            _measure(model, f, start, there, True)


@apart
def _round(model: Any, f: int, turn: int, start: Any, going: Any, swapped: Any, before: Any) -> Any:
    """Each surface's turn. Where it goes on, the length, and where the first two surfaces have changed places."""
    i = model.function_first_integer[f]
    m = model.function_integers[i + 1]
    of_first, of_second = zero(start), zero(start)
    moved = no(going)
    for place in range(m):
        for other in range(2 if place < 2 and m > 1 else 1):
            w = place if other == 0 else 1 - place
            turns = both(going, swapped) if other == 1 else going
            if other == 0 and place < 2:
                turns = both(going, no(swapped))
            if in_any(turns):
                contact, ended, changed = _offer(model, f, turn, w, turns, zero(start))
                going = both(going, no(both(turns, ended)))
                if place == 0:
                    of_first = where(turns, contact, of_first)
                else:
                    moved = either(moved, both(turns, changed))
                    if place == 1:
                        of_second = where(turns, contact, of_second)
    if m > 1:
        length = bare(_measure(model, f, start, going, False))
        rests = both(length - before < SETTLED, before - length < SETTLED)
        swaps = no(going)
        if turn == 0:
            # the second has a point inside that the first may take away
            swaps = both(both(going, no(rests)), both(of_first == NONE, of_second == INSIDE))
            _take_off(model, f, 0, swaps)
            swapped = either(swapped, swaps)
        # what no later surface has changed, the next round would find again
        going = both(both(going, no(rests)), either(moved, swaps))
        before = where(going, length, before)
    return going, before, swapped


# ---------------------------------------------------------------------------------------------- numbers of stops


@generic
def _link(model: Any, stop: int, after: int, lane: int) -> None:
    store_lane(model.function_value, row(stop) + NEXT, 0, lane, 1.0 * after)


@generic
def _is_there(model: Any, stop: int, lane: int) -> bool:
    return bare(load_lane(model.function_value, row(stop) + THERE, 0, lane)) > 0.5


@generic
def _three_at(model: Any, column: int, stop: Any) -> Any:
    """Three numbers of stops, in each lane of its own."""
    at, rows = row(0) + column, model.function_value
    return load_at(rows, at, WIDTH * stop), load_at(rows, at + 1, WIDTH * stop), load_at(rows, at + 2, WIDTH * stop)


@generic
def _one_at(model: Any, column: int, stop: Any) -> Any:
    """A number of stops that depends on nothing."""
    return bare(load_at(model.function_value, row(0) + column, WIDTH * stop))


@generic
def _store_three_at(model: Any, column: int, stop: Any, there: Any, v: Any) -> None:
    for c in range(3):
        store_at(model.function_value, row(0) + column + c, WIDTH * stop, there, v[c])


# ---------------------------------------------------------------------------------------------- the chain


@generic
def _begin(model: Any, f: int, n: int, m: int) -> Any:
    """Chain the points that are there; the first, and where there are others."""
    rows, i = model.function_value, model.function_first_integer[f]
    count = bare(zero(load(rows, row(0) + PLACE, 0)))
    after, whole = count + NOWHERE, one(count)
    for stop in range(n + 2 * m):
        at = row(stop)
        # of points of touch places, too: what memory holds there, NaN or not, meets pulls of zero
        for c in range(PULL if stop < n else PLACE, THERE if stop < n else BODY):
            store(rows, at + c, 0, 0.0)
        own = NOWHERE
        if stop >= n:
            own = model.function_integers[i + HEAD + OF_POINT * n + OF_SURFACE * ((stop - n) // 2) + 7]
        else:
            put3(model, at + SEEN, get3(model, at + PLACE))
        store(rows, at + SURFACE, 0, 1.0 * own)
    for back in range(n):
        k = n - 1 - back
        there = bare(load(rows, row(k) + THERE, 0)) > 0.5
        store(rows, row(k) + NEXT, 0, after)
        after, count = where(there, k * whole, after), where(there, count + 1.0, count)
    store(rows, LENGTH, 0, 0.0)
    return where(count > 1.5, after, zero(after)), count > 1.5


@generic
def _take_off(model: Any, f: int, w: int, takes: Any) -> Any:
    """Take the points of touch of surface w out of the path; where they were part of it."""
    i, rows = model.function_first_integer[f], model.function_value
    n, m = model.function_integers[i], model.function_integers[i + 1]
    touch, was = n + 2 * w, both(takes, no(takes))
    beyond = bare(load(rows, row(touch + 1) + NEXT, 0))
    for stop in range(n + 2 * m):
        after = bare(load(rows, row(stop) + NEXT, 0))
        hit = both(takes, after == touch)
        store(rows, row(stop) + NEXT, 0, where(hit, beyond, after))
        was = either(was, hit)
    return was


@generic
def _range(model: Any, j: int, n: int, k: Any) -> Any:
    """The first and the last point between which a path may wrap, and where there are any."""
    first, last = k + NOWHERE, k + NOWHERE
    for stop in range(model.function_integers[j + 5], min(n, model.function_integers[j + 6] + 1)):
        there = bare(load(model.function_value, row(stop) + THERE, 0)) > 0.5
        last = where(there, stop + k, last)
        first = where(both(there, first < 0.0), stop + k, first)
    some = first >= 0.0
    return where(some, first, k), where(some, last, k), some


@generic
def _offer(model: Any, f: int, turn: int, w: int, turns: Any, k: Any) -> Any:
    """Surface w's turn: what became of the last segment tried, where it has none to try, and where the path is another then."""
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    j = i + HEAD + OF_POINT * n + OF_SURFACE * w
    none = k > 0.0
    contact, ended, changed = k + NONE, none, none
    if turn > 0:
        changed = _take_off(model, f, w, turns)
    if model.function_integers[j + 8] != 0:
        begin, end, some = _range(model, j, n, k)
        ended = no(some)
        contact, best, touch, leave, over = _walk(model, f, j, placed_at(n, m, w), begin, end, both(turns, some))
        changed = _put_on(model, n, w, best, touch, leave, over, changed)
    return contact, ended, changed


@generic
def _walk(model: Any, f: int, j: int, x: int, begin: Any, end: Any, walking: Any) -> Any:
    """Offer a surface, whose numbers are at x, the segments.

    What became of the last one tried; behind which stop the best is, from where to where, and how far over the surface.
    """
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    R, p = vector9(model.function_value, x), get3(model, x + 9)
    o = zero(p[0])
    nothing, stop = (o, o, o), begin
    best, least, touch, leave, over = zero(begin) + NOWHERE, o + FAR, nothing, nothing, o
    contact = zero(begin) + NONE
    walking = both(walking, stop != end)
    a = seen_from(R, p, _three_at(model, PLACE, stop))
    for _ in range(n + 2 * m):
        if not in_any(walking):
            break
        after = where(walking, _one_at(model, NEXT, stop), stop)
        b = seen_from(R, p, _three_at(model, PLACE, after))
        takes = walking
        if m > 1:  # no surface takes what lies over one
            on = _one_at(model, SURFACE, stop)
            takes = both(takes, no(both(on > NOWHERE + 0.5, on == _one_at(model, SURFACE, after))))
        found, t1, t2, length = over_surface(model, f, j, x + SIZES, takes, a, b)
        contact = where(takes, found, contact)
        goes = both(takes, found > INSIDE)
        if in_any(goes):
            first, last = vec3.add(p, mat33.mul_vec(R, t1)), vec3.add(p, mat33.mul_vec(R, t2))
            longer = o - FAR
            if in_any(both(goes, found < MANDATORY)):
                from_a, to_b = _three_at(model, SEEN, stop), _three_at(model, SEEN, after)
                longer = distance(from_a, first) + length + distance(last, to_b) - distance(from_a, to_b)
                longer = where(found == MANDATORY, o - FAR, longer)
            better = both(goes, longer < least)
            best, least, over = where(better, stop, best), where(better, longer, least), where(better, length, over)
            touch, leave = pick3(better, first, touch), pick3(better, last, leave)
        a, stop = b, after
        walking = both(walking, both(stop != end, contact != MANDATORY))
    return contact, best, touch, leave, over


@generic
def _put_on(model: Any, n: int, w: int, best: Any, touch: Any, leave: Any, over: Any, was: Any) -> Any:
    """Wrap the path over surface w behind a stop, where it has not gone before."""
    rows, k = model.function_value, zero(best)
    at, behind = row(n + 2 * w), row(n + 2 * w + 1)
    on = best >= 0.0
    changed = either(on, was)
    if in_any(on):
        old, old_leave = get3(model, at + PLACE), get3(model, behind + PLACE)
        stays = both(both(on, was), both(_equal(old, touch), _equal(old_leave, leave)))
        changed = both(changed, no(stays))
        touch, leave = pick3(on, touch, old), pick3(on, leave, old_leave)
        put3(model, at + PLACE, touch)
        put3(model, behind + PLACE, leave)
        store(rows, behind + OVER, 0, where(on, over, load(rows, behind + OVER, 0)))
        there = bare(load(rows, at + THERE, 0)) > 0.5
        put3(model, at + SEEN, pick3(there, get3(model, at + SEEN), touch))
        put3(model, behind + SEEN, pick3(there, get3(model, behind + SEEN), leave))
        for here in (at, behind):
            store(rows, here + THERE, 0, where(on, k + 1.0, bare(load(rows, here + THERE, 0))))
        stop = where(on, best, k)
        store(rows, behind + NEXT, 0, where(on, _one_at(model, NEXT, stop), bare(load(rows, behind + NEXT, 0))))
        store(rows, at + NEXT, 0, k + (n + 2 * w + 1))
        store_at(rows, row(0) + NEXT, WIDTH * stop, on, k + (n + 2 * w))
    return changed


@generic
def _equal(a: Any, b: Any) -> Any:
    return both(both(bare(a[0]) == bare(b[0]), bare(a[1]) == bare(b[1])), bare(a[2]) == bare(b[2]))


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
def _frame_in_ground(model: Any, f: int, j: int) -> Any:
    """The frame of a surface in Ground, of all lanes."""
    b, x = model.function_integers[j + 1], model.function_first_number[f] + model.function_integers[j + 9]
    R_GB = load9(model.R_GB, b, 0)
    R, p = vector9(model.function_numbers, x), vector3(model.function_numbers, x + 9)
    return mat33.mul(R_GB, R), vec3.add(load3(model.p_GB, b, 0), mat33.mul_vec(R_GB, p))


@apart
def _measure(model: Any, f: int, start: Any, walking: Any, pulls: bool) -> Any:
    """The length of the path; of all its stops how a unit of tension pulls, where that is asked for."""
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    stop, begun = start, walking
    a, body = _three_at(model, SEEN, stop), _one_at(model, BODY, stop)
    total = zero(a[0])
    nothing = total, total, total
    before, before_along = nothing, nothing
    for _ in range(n + 2 * m):
        after = _one_at(model, NEXT, stop)
        walking = both(walking, after >= 0.0)
        if not in_any(walking):
            break
        after = where(walking, after, stop)
        b, other = _three_at(model, SEEN, after), _one_at(model, BODY, after)
        length, along = straight(a, b)
        touch = 0.5 * (stop - n)
        bends = both(both(touch >= 0.0, floor(touch) == touch), after == stop + 1.0)
        straight_or_bent = where(bends, load_at(model.function_value, row(0) + OVER, WIDTH * after), length)
        total = where(walking, total + straight_or_bent, total)
        if pulls:
            e = pick3(body == other, nothing, along)
            _store_three_at(model, PULL, stop, walking, vec3.sub(e, before))
            _store_three_at(model, ALONG, stop, walking, vec3.sub(along, before_along))
            before, before_along = pick3(walking, e, before), pick3(walking, along, before_along)
        a, body, stop = pick3(walking, b, a), where(walking, other, body), after
    if pulls:
        _store_three_at(model, PULL, stop, begun, vec3.neg(before))
        _store_three_at(model, ALONG, stop, begun, vec3.neg(before_along))
        store(model.function_value, LENGTH, 0, where(begun, total, zero(total)))
    return total
