"""The smooth course of a path over surfaces: between two points a taut line over those of its surfaces that lie between.

Integers of a path are as `_stops` says, those of a surface as of `_rounds`: of these the kind, the body and the first point of
its range count here, and, in place of the method, 1 where it has a hint; surfaces are in the order of the path. Of the numbers
of a surface the hint is behind the sizes.
In `function_value`, behind the stops, is what `_taut` has of the surfaces that a line goes over, `WIDE` numbers each.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, load, load_lane, num_lanes, order_of_tangents, scratch, store_lane, zero
from ...compiling import apart, generic
from ._geodesic import TOLERANCE, form_of, made_tangent, normal, projected
from ._rounds import _frame, _is_there, _link, _number
from ._segments import NOWHERE, get3_of_lane, put3_of_lane
from ._stops import (
    ALONG,
    HEAD,
    LENGTH,
    OF_POINT,
    OF_SURFACE,
    OVER,
    PLACE,
    PULL,
    STOPS,
    THERE,
    WIDTH,
    direction,
    place_points,
    row,
)
from ._taut import (
    COLUMNS,
    ENDS,
    FRAME,
    HINTED,
    KIND,
    OF_ALL,
    OF_ROWS,
    OWN,
    SHAPE,
    SIZES,
    T0,
    TOUCHED,
    UNSOLVED,
    WIDE,
    X0,
    L,
    back_substitute,
    evaluate,
    evaluate_f,
    get,
    is_second,
    lifted,
    move,
    move_ends,
    put,
    put_three,
    solve,
    three,
    three_and_one,
    touched,
)

#: The length where there is no solution.
NOT_A_NUMBER = float("nan")


@generic
def first_of_taut(n: int, m: int) -> int:
    """The place in `function_value` of the numbers of taut lines: in units of `WIDE`, so that `_taut` finds them."""
    return (STOPS + WIDTH * (n + 2 * m)) // WIDE + 1


@generic
def tauten(model: Any, f: int) -> None:
    """The stops of path f."""
    place_points(model, f)
    for lane in range(num_lanes(load(model.time, 0, 0))):
        _tauten_lane(model, f, lane)


@apart
def _tauten_lane(model: Any, f: int, lane: int) -> None:
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    for k in range(n + 2 * m):
        for c in range(3):
            store_lane(model.function_value, row(k) + PULL + c, 0, lane, 0.0)
            store_lane(model.function_value, row(k) + ALONG + c, 0, lane, 0.0)
        if k >= n:
            store_lane(model.function_value, WIDE * (first_of_taut(n, m) + (k - n) // 2) + TOUCHED, 0, lane, 0.0)
            store_lane(model.function_value, row(k) + THERE, 0, lane, 0.0)
            for c in range(3):
                store_lane(model.function_value, row(k) + PLACE + c, 0, lane, 0.0)
    own, matrix = scratch(OF_ALL, 1), scratch(OF_ROWS, COLUMNS)
    total = zero(load_lane(model.time, 0, 0, lane))
    last, worst = NOWHERE, 0.0
    for k in range(n):
        if _is_there(model, k, lane):
            if last != NOWHERE:
                count = _collect(model, f, own, last, k, lane)
                a, c = get3_of_lane(model, row(last) + PLACE, lane), get3_of_lane(model, row(k) + PLACE, lane)
                at_a, at_c = (bare(a[0]), bare(a[1]), bare(a[2])), (bare(c[0]), bare(c[1]), bare(c[2]))
                p, q = lifted(own, count, at_a), lifted(own, count, at_c)
                worst = max(worst, solve(own, matrix, count, p, q, order_of_tangents(total) > 0))
                a, c = vec3.add(a, vec3.sub(p, at_a)), vec3.add(c, vec3.sub(q, at_c))
                total = total + _leave(model, f, own, matrix, count, (last, a), (k, c), lane)
            last = k
    if last != NOWHERE:
        _link(model, last, NOWHERE, lane)
    if not worst <= UNSOLVED:  # there is no such line, and no length: `Path.why_not_finite` says so
        total = total + NOT_A_NUMBER
        for k in range(n + 2 * m):  # a law may take a length that is none for a slack one
            store_lane(model.function_value, row(k) + PULL, 0, lane, NOT_A_NUMBER)
    store_lane(model.function_value, LENGTH, 0, lane, total)


@generic
def _collect(model: Any, f: int, own: Any, last: int, k: int, lane: int) -> int:
    """The surfaces between two points of the path; how many."""
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    count = 0
    for w in range(m):
        j = i + HEAD + OF_POINT * n + OF_SURFACE * w
        at = model.function_integers[j + 5]
        if at >= last and at < k:
            put(own, count, OWN, 1.0 * w)
            put(own, count, KIND, 1.0 * model.function_integers[j])
            put(own, count, TOUCHED, 0.0)
            put(own, count, HINTED, 1.0 * model.function_integers[j + 4])
            if not is_second(own, count):  # which has the rest once it is touched
                R, p = _frame(model, f, j, lane)
                for c in range(9):
                    put(own, count, FRAME + c, bare(R[c]))
                for c in range(3):
                    put(own, count, FRAME + 9 + c, bare(p[c]))
                x = model.function_first_number[f] + model.function_integers[j + 9] + 12
                for c in range(6):
                    put(own, count, SIZES + c, bare(_number(model, x + c, lane)))
                put_three(own, count, SHAPE, form_of(model.function_integers[j], three(own, count, SIZES)))
            count += 1
    return count


@generic
def _leave(model: Any, f: int, own: Any, matrix: Any, count: int, start: Any, end: Any, lane: int) -> Any:
    """Leave the stops of a line from one point to another, each a stop and its place; its length."""
    (last, a), (k, c) = start, end
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    rows, first = model.function_value, first_of_taut(n, m)
    o = zero(a[0])
    for s in range(count):
        w = int(get(own, s, OWN))
        for at in range(L if is_second(own, s) and not touched(own, s) else WIDE):
            store_lane(rows, WIDE * (first + w) + at, 0, lane, get(own, s, at))
    if order_of_tangents(o) > 0 and count > 0:
        _differentiate(model, f, own, matrix, count, a, c)
    total, x, stop = o, a, last
    for s in range(count):
        if touched(own, s):
            w = int(get(own, s, OWN))
            at = WIDE * (first + w)
            touch, leave = n + 2 * w, n + 2 * w + 1
            first_point, last_point = get3_of_lane(model, at + ENDS, lane), get3_of_lane(model, at + ENDS + 12, lane)
            over = load_lane(rows, at + L, 0, lane)
            total = total + over + _join(model, stop, touch, x, first_point, lane)
            _link(model, touch, leave, lane)
            store_lane(rows, row(leave) + OVER, 0, lane, over)
            for part in range(2):
                store_lane(rows, row(touch + part) + THERE, 0, lane, 1.0)
            put3_of_lane(model, row(touch) + PLACE, lane, first_point)
            put3_of_lane(model, row(leave) + PLACE, lane, last_point)
            x, stop = last_point, leave
    return total + _join(model, stop, k, x, c, lane)


@generic
def _join(model: Any, stop: int, after: int, a: Any, b: Any, lane: int) -> Any:
    """A straight line from a stop to another: how it pulls them; its length."""
    length, e = direction(a, b)
    for column in (PULL, ALONG):
        put3_of_lane(model, row(stop) + column, lane, vec3.add(get3_of_lane(model, row(stop) + column, lane), e))
        put3_of_lane(model, row(after) + column, lane, vec3.sub(get3_of_lane(model, row(after) + column, lane), e))
    _link(model, stop, after, lane)
    return length


@generic
def _differentiate(model: Any, f: int, own: Any, matrix: Any, count: int, a: Any, c: Any) -> None:
    """The ends of all geodesics with their tangents: as many steps of Newton's method as there are orders.

    Of the last, only what it does to first and last points is taken, which is linear.
    """
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    rows, first = model.function_value, first_of_taut(n, m)
    begin = first + int(get(own, 0, OWN))
    end = first + int(get(own, count - 1, OWN)) + 1
    for s in range(count):
        if touched(own, s):
            j = i + HEAD + OF_POINT * n + OF_SURFACE * int(get(own, s, OWN))
            R, p = _frame(model, f, j, 0)
            x = model.function_first_number[f] + model.function_integers[j + 9] + 12
            at = first + int(get(own, s, OWN))
            put_three(rows, at, FRAME, (R[0], R[1], R[2]))
            put_three(rows, at, FRAME + 3, (R[3], R[4], R[5]))
            put_three(rows, at, FRAME + 6, (R[6], R[7], R[8]))
            put_three(rows, at, FRAME + 9, p)
            sizes = _number(model, x, 0), _number(model, x + 1, 0), _number(model, x + 2, 0)
            put_three(rows, at, SHAPE, form_of(_kind(rows, at), vec3.add(sizes, (zero(a[0]), zero(a[0]), zero(a[0])))))
    order = order_of_tangents(a[0])
    for turn in range(order):
        for s in range(begin, end):
            if touched(rows, s):
                kind, form = _kind(rows, s), three(rows, s, SHAPE)
                put_three(rows, s, X0, projected(kind, form, three(rows, s, X0)))
                n_of, _ = normal(kind, form, three(rows, s, X0))
                put_three(rows, s, T0, made_tangent(three(rows, s, T0), n_of))
                evaluate(rows, s, TOLERANCE)
        for s in range(begin, end):
            if touched(rows, s):
                evaluate_f(rows, s, begin, end, a, c)
        back_substitute(rows, matrix, begin, end)
        for s in range(begin, end):
            if touched(rows, s):
                if turn == order - 1:
                    move_ends(rows, s)
                    shift, _, _, sigma = three_and_one(rows, s)
                    put(rows, s, L, get(rows, s, L) + sigma - shift)
                else:
                    move(rows, s)


@generic
def _kind(rows: Any, s: int) -> int:
    return int(bare(get(rows, s, KIND)))
