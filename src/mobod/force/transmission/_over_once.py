"""OpenSim's path over one surface, all of whose points are part of it: no chain of stops, and no second round.

The rules are those of `_rounds`. Without choices that other surfaces have left, all lanes look at the same segments in the same
order, and differ only in which of them, if any, bends.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.masks import both, in_any, no, pick3
from ...algebra.scalar import bare, load, store, where, zero
from ...compiling import apart, generic
from ...mobilizer.access import vector9
from ._over_cylinder import INSIDE, MANDATORY
from ._segments import FAR, NOWHERE, SIZES, distance, over, seen_from, straight
from ._stops import ALONG, BODY, COLUMN, HEAD, LENGTH, NEXT, OF_POINT, OVER, PLACE, PULL, THERE, get3, put3, row


@apart
def go_once(model: Any, f: int, x: int) -> None:
    """The stops of path f, whose points and surface, the numbers of which are at x, are placed."""
    n, rows = model.function_integers[model.function_first_integer[f]], model.function_value
    best, _, touch, leave, length = walk(model, f, x, *range_of(model, f))
    k, on = zero(best), best >= 0.0
    for stop in range(n):
        after = k + (stop + 1 if stop + 1 < n else NOWHERE)
        store(rows, row(stop) + NEXT, 0, where(best == 1.0 * stop, k + n, after))
    store(rows, row(n) + NEXT, 0, k + (n + 1))
    store(rows, row(n + 1) + NEXT, 0, best + 1.0)
    for stop in range(n, n + 2):
        store(rows, row(stop) + THERE, 0, where(on, k + 1.0, k))
    store(rows, row(n + 1) + OVER, 0, length)
    if in_any(on):
        put3(model, row(n) + PLACE, touch)
        put3(model, row(n + 1) + PLACE, leave)
    _measure(model, f, best, touch, leave, length)


@generic
def stays(model: Any, f: int) -> bool:
    """True if all points of path f, which has one surface, are fixed."""
    i = model.function_first_integer[f]
    return model.function_integers[i + 1] == 1 and model.function_integers[i + 2] == 0


@generic
def range_of(model: Any, f: int) -> Any:
    """The first and the last point between which the path may bend; the same where it may not."""
    i = model.function_first_integer[f]
    n = model.function_integers[i]
    j = i + HEAD + OF_POINT * n
    first, last = model.function_integers[j + 5], min(n - 1, model.function_integers[j + 6])
    return first, last if model.function_integers[j + 8] != 0 else first


@generic
def walk(model: Any, f: int, x: int, first: int, last: int) -> Any:
    """Behind which point the path bends, below 0 where it does not, how much longer it is then; from where to where over what.

    *first* and *last* are the points between which it is looked at. What is over the surface is a length.
    """
    i = model.function_first_integer[f]
    n = model.function_integers[i]
    j = i + HEAD + OF_POINT * n
    R, p = vector9(model.function_value, x), get3(model, x + 9)
    o = zero(p[0])
    none = zero(bare(o)) + NOWHERE
    nothing = o, o, o
    best, least, touch, leave, length = none, o + FAR, nothing, nothing, o
    if first < last:
        walking = none < 0.0
        a = seen_from(R, p, get3(model, row(first) + PLACE))
        for k in range(first, last):
            if not in_any(walking):
                break
            b = seen_from(R, p, get3(model, row(k + 1) + PLACE))
            found, t1, t2, along = over(model, f, j, x + SIZES, walking, a, b)
            goes = both(walking, found > INSIDE)
            if in_any(goes):
                start, end = vec3.add(p, mat33.mul_vec(R, t1)), vec3.add(p, mat33.mul_vec(R, t2))
                longer = o - FAR
                if in_any(both(goes, found < MANDATORY)):
                    here, there = get3(model, row(k) + PLACE), get3(model, row(k + 1) + PLACE)
                    longer = distance(here, start) + along + distance(end, there) - distance(here, there)
                    longer = where(found == MANDATORY, o - FAR, longer)
                better = both(goes, longer < least)
                best, least, length = (
                    where(better, zero(none) + k, best),
                    where(better, longer, least),
                    where(better, along, length),
                )
                touch, leave, length = pick3(better, start, touch), pick3(better, end, leave), where(better, along, length)
                walking = both(walking, no(both(goes, found == MANDATORY)))
            a = b
    return best, least, touch, leave, length


@generic
def _measure(model: Any, f: int, best: Any, touch: Any, leave: Any, length: Any) -> None:
    """The length of the path, and of all its stops how a unit of tension pulls."""
    # between fixed points of one body nothing pulls, and how far they are apart is known
    i, rows, knows = model.function_first_integer[f], model.function_value, stays(model, f)
    n, counts_all = model.function_integers[i], model.function_integers[i + COLUMN] == ALONG
    here, body, of_surface = get3(model, row(0) + PLACE), bare(load(rows, row(0) + BODY, 0)), bare(load(rows, row(n) + BODY, 0))
    total = zero(here[0])
    nothing = total, total, total
    before, before_along = nothing, nothing
    at_touch, along_touch, at_leave, along_leave = nothing, nothing, nothing, nothing
    for k in range(n - 1):
        there, other = get3(model, row(k + 1) + PLACE), bare(load(rows, row(k + 1) + BODY, 0))
        bends, alike = best == 1.0 * k, body == other
        longer, along, out, goes_on, out_on = total, nothing, nothing, nothing, nothing
        goes = no(bends)
        if knows:
            longer, goes = total + load(rows, row(k) + OVER, 0), both(goes, no(alike))
        if in_any(goes):
            size, along = straight(here, there)
            longer, out = where(goes, total + size, longer), pick3(alike, nothing, along)
            goes_on, out_on = along, out
        if in_any(bends):
            to, to_touch = straight(here, touch)
            back, from_leave = straight(leave, there)
            pull_to, pull_from = pick3(body == of_surface, nothing, to_touch), pick3(of_surface == other, nothing, from_leave)
            longer = where(bends, total + to + length + back, longer)
            along, out = pick3(bends, to_touch, along), pick3(bends, pull_to, out)
            goes_on, out_on = pick3(bends, from_leave, goes_on), pick3(bends, pull_from, out_on)
            at_touch, at_leave = pick3(bends, vec3.sub(nothing, pull_to), at_touch), pick3(bends, pull_from, at_leave)
            if counts_all:
                on_surface = straight(touch, leave)[1]
                along_touch = pick3(bends, vec3.sub(on_surface, to_touch), along_touch)
                along_leave = pick3(bends, vec3.sub(from_leave, on_surface), along_leave)
        put3(model, row(k) + PULL, vec3.sub(out, before))
        if counts_all:
            put3(model, row(k) + ALONG, vec3.sub(along, before_along))
        total, before, before_along, here, body = longer, out_on, goes_on, there, other
    put3(model, row(n - 1) + PULL, vec3.neg(before))
    put3(model, row(n) + PULL, at_touch)
    put3(model, row(n + 1) + PULL, at_leave)
    if counts_all:
        put3(model, row(n - 1) + ALONG, vec3.neg(before_along))
        put3(model, row(n) + ALONG, along_touch)
        put3(model, row(n + 1) + ALONG, along_leave)
    store(rows, LENGTH, 0, total)
