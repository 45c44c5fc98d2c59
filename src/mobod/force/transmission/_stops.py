"""Stops of a path: its points, and the points of touch of its surfaces, and how a unit of tension pulls at each.

Of stop s with its place p, and e the directions to and from it, l is the sum of the straight pieces and of those over surfaces:

    dl/dp = -(e_out - e_in)        a tension T pulls the stop with T (e_out - e_in)

Points of touch count as fixed to their surface's body: l is stationary as they slide. All stops of a path stay in
`function_value`, behind its first number: the length, then of each stop `WIDTH` numbers.

Integers of a path: points, surfaces, 1 where points come and go, its form, the column of the pulls that its speed counts, the
rows that `path.list_pulls` needs at most; of each point its body, its kind, the first of its numbers and of its further
integers; of each surface what `_rounds` reads. A fixed point has a fourth number: how far it is from the next, where both are
of one body. At a still point, whose neighbours are of its own body, nothing pulls; it is placed for pictures alone. Paths of
one form, a number other than 0, differ in bodies and numbers alone, and `_rounds` can take eight of them at a time. Further
integers of a conditional point: body and number of its coordinate; of a moving one thrice body, number, function, the first of
two numbers between which the coordinate counts, 1 where rates and forces are as OpenSim has them (`OF_MOVE`). A path whose
length is a function of coordinates has no stops: behind `HEAD` integers it has the number of these, and body and number of
each; its slopes stand where stops would.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.memory import load3, load9
from ...algebra.scalar import load, one, sqrt, store, where, zero
from ...compiling import generic
from ...function import routines
from ...mobilizer import access
from ...mobilizer.access import vector3, vector9
from .. import one_coordinate

#: Kinds of points.
FIXED, CONDITIONAL, MOVING, STILL = 0, 1, 2, 3
#: In place of 1 where points come and go; the second of paths without surfaces that are joined by `_rounds` all the same, the
#: last of others with moving points.
OF_FUNCTION, WOUND, MOVES = 2, 3, 4
#: Where the form, the column and the rows are; integers before those of points; of a point; of a surface.
FORM, COLUMN, ROWS, HEAD, OF_POINT, OF_SURFACE = 3, 4, 5, 6, 4, 10
#: Where the distance to the next point of the body is, among a point's numbers.
TO_NEXT = 3
#: Further integers of each of the three coordinates of a moving point, and the last of them.
OF_MOVE, AS_OPENSIM = 5, 4
#: The length, and the first stop, in `function_value`.
LENGTH, STOPS = 1, 2
#: Numbers of a stop: its place; where it is for lengths; how a unit of tension pulls at it; over surfaces minus the rate of the
#: length by its velocity, all in Ground; the length over the surface from the stop before, or, of points of paths over one
#: surface, what `to_next` gives; the next stop; 1 where it is part of the path; its body, and the number of its surface.
PLACE, SEEN, PULL, ALONG, OVER, NEXT, THERE, BODY, SURFACE, WIDTH = 0, 3, 6, 9, 12, 13, 14, 15, 16, 17
#: What is added to a range of a conditional point, as by OpenSim.
SLACK = 1e-5


@generic
def row(stop: int) -> int:
    """The first place of a stop's numbers."""
    return STOPS + WIDTH * stop


@generic
def body_of(model: Any, f: int, stop: int) -> int:
    """The body of a stop."""
    i = model.function_first_integer[f]
    n = model.function_integers[i]
    j = i + HEAD + OF_POINT * stop
    if stop >= n:
        j = i + HEAD + OF_POINT * n + OF_SURFACE * ((stop - n) // 2) + 1
    return model.function_integers[j]


@generic
def is_pulled(model: Any, f: int, stop: int) -> bool:
    """False where a stop is a still point."""
    i = model.function_first_integer[f]
    return stop >= model.function_integers[i] or model.function_integers[i + HEAD + OF_POINT * stop + 1] != STILL


@generic
def to_next(model: Any, f: int, k: int) -> Any:
    """The distance of fixed point k from the next one, where both are of one body."""
    x = model.function_first_number[f] + model.function_integers[model.function_first_integer[f] + HEAD + OF_POINT * k + 2]
    return load(model.function_numbers, x + TO_NEXT, 0)


@generic
def get3(model: Any, at: int) -> Any:
    """Three numbers of a stop."""
    return vector3(model.function_value, at)


@generic
def put3(model: Any, at: int, v: Any) -> None:
    """Three numbers of a stop."""
    access.put3(model.function_value, at, v)


@generic
def station(model: Any, f: int, k: int) -> Any:
    """Point k in its body, and 1 where it is part of the path, else 0."""
    first, x = model.function_first_integer[f], model.function_first_number[f]
    i = first + HEAD + OF_POINT * k
    x += model.function_integers[i + 2]
    s = vector3(model.function_numbers, x)
    there = one(s[0]) + zero(load(model.time, 0, 0))
    if model.function_integers[i + 1] == CONDITIONAL:
        e = first + model.function_integers[i + 3]
        q = one_coordinate.value_of(model, model.function_integers[e], model.function_integers[e + 1])
        low, high = load(model.function_numbers, x + 3, 0), load(model.function_numbers, x + 4, 0)
        there = where(q < low - SLACK, zero(there), where(q > high + SLACK, zero(there), there))
    elif model.function_integers[i + 1] == MOVING:
        e = first + model.function_integers[i + 3]
        own = jet_of(model, f, e)[0], jet_of(model, f, e + OF_MOVE)[0], jet_of(model, f, e + 2 * OF_MOVE)[0]
        s = vec3.add(vector3(model.function_numbers, x + 9), mat33.mul_vec(vector9(model.function_numbers, x), own))
    return s, there


@generic
def jet_of(model: Any, f: int, e: int) -> Any:
    """One number of a moving point, which stands still beyond the coordinate's range, and its slope by the coordinate."""
    q = one_coordinate.value_of(model, model.function_integers[e], model.function_integers[e + 1])
    x = model.function_first_number[f] + model.function_integers[e + 3]
    low, high = load(model.function_numbers, x, 0) + zero(q), load(model.function_numbers, x + 1, 0) + zero(q)
    value, slope, _ = routines.jet(model, f + model.function_integers[e + 2], where(q < low, low, where(q > high, high, q)))
    if model.function_integers[e + AS_OPENSIM] != 0:  # whose slope goes on
        _, slope, _ = routines.jet(model, f + model.function_integers[e + 2], q)
    else:
        slope = where(q < low, zero(q), where(q > high, zero(q), slope))
    return value, slope


@generic
def place_points(model: Any, f: int) -> None:
    """The places of all points but still ones."""
    for k in range(model.function_integers[model.function_first_integer[f]]):
        if is_pulled(model, f, k):
            p, there = placed(model, f, k)
            put3(model, row(k) + PLACE, p)
            store(model.function_value, row(k) + THERE, 0, there)
        else:
            store(model.function_value, row(k) + THERE, 0, 1.0)


@generic
def placed(model: Any, f: int, k: int) -> Any:
    """The place of point k, and 1 where it is part of the path, else 0."""
    s, there = station(model, f, k)
    b = model.function_integers[model.function_first_integer[f] + HEAD + OF_POINT * k]
    p = vec3.add(load3(model.p_GB, b, 0), mat33.mul_vec(load9(model.R_GB, b, 0), s))
    return p, there + zero(p[0])


@generic
def direction(a: Any, b: Any) -> Any:
    """From a to b: the distance, and a vector of length one; zero where they coincide."""
    r = vec3.sub(b, a)
    square = vec3.dot(r, r)
    some = square > 1e-300
    square = where(some, square, one(square))
    length = sqrt(square)
    # neither the root nor the quotient waits for the other
    return where(some, length, zero(square)), vec3.scale(length * (1.0 / square), r)


@generic
def join_all(model: Any, f: int) -> None:
    """Straight from each point to the next. Pieces of one body pull at nothing, unless points move in it."""
    i = model.function_first_integer[f]
    n, moves = model.function_integers[i], model.function_integers[i + 2] == MOVES
    p = get3(model, row(0) + PLACE)
    total = zero(p[0])
    nothing = total, total, total
    before = nothing
    for k in range(1, n):
        q, j = get3(model, row(k) + PLACE), i + HEAD + OF_POINT * (k - 1)
        if moves or model.function_integers[j] != model.function_integers[j + OF_POINT]:
            length, e = direction(p, q)
            total = total + length
        else:
            e, total = nothing, total + to_next(model, f, k - 1)
        put3(model, row(k - 1) + PULL, vec3.sub(e, before))
        p, before = q, e
    put3(model, row(n - 1) + PULL, vec3.neg(before))
    store(model.function_value, LENGTH, 0, total)


@generic
def join_those_there(model: Any, n: int) -> None:
    """Straight from each point that is part of the path to the next such."""
    p = get3(model, row(0) + PLACE)
    total, some = zero(p[0]), load(model.function_value, row(0) + THERE, 0)
    put3(model, row(0) + PULL, (total, total, total))
    for k in range(1, n):  # what leads to each
        q, there = get3(model, row(k) + PLACE), load(model.function_value, row(k) + THERE, 0)
        length, e = direction(p, q)
        leads = some * there
        total = total + leads * length
        put3(model, row(k) + PULL, vec3.scale(-leads, e))
        p = _either(there, q, p)
        some = where(there > 0.5, there, some)
    q, some = get3(model, row(n - 1) + PLACE), load(model.function_value, row(n - 1) + THERE, 0)
    for j in range(1, n):  # what leads from each
        k = n - 1 - j
        p, there = get3(model, row(k) + PLACE), load(model.function_value, row(k) + THERE, 0)
        _, e = direction(p, q)
        put3(model, row(k) + PULL, vec3.add(get3(model, row(k) + PULL), vec3.scale(some * there, e)))
        q = _either(there, p, q)
        some = where(there > 0.5, there, some)
    store(model.function_value, LENGTH, 0, total)


@generic
def _either(there: Any, a: Any, b: Any) -> Any:
    return where(there > 0.5, a[0], b[0]), where(there > 0.5, a[1], b[1]), where(there > 0.5, a[2], b[2])
