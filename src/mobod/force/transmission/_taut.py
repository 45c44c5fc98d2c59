"""A taut line from point to point over surfaces in a fixed order: geodesics on these, straight lines that touch them between.

Of each surface that the line touches, x and t are the first point and direction, l the length over it. With e the directions of
the straight lines before and behind, n the normals and b = t x n, both lines touch, and go on as the geodesic does, where

    F = (e.n, e.b) at the first point, and at the last, of all surfaces, is zero.

While the lines touch, e.n = 0, the length has the gradient (e.b - a e.b', -r e.b') by beta and theta, with e.b' at the last
point; these are the rows that stand for e.b, and the length is least where its second variation is positive.

F is solved by Newton's method for changes of each geodesic: s and sigma along it at its ends, beta across it, theta of its
direction, whose effect at the last point is that of its Jacobi fields. What is next to it alone matters, so the matrix is
block tridiagonal. A surface on which l becomes negative lifts off; one that a straight line goes through is touched, a torus
in two places where need be: on its other side too, or at both ends of a geodesic whose middle is hollow. All begins anew in
every state, so the result is a function of the coordinates alone. Source: Scholz and others 2016, see `_geodesic`; the
elimination, the choice of surfaces and the beginning are our own.

All is of one lane, in float64; tangents of Duals follow at the end, by steps of Newton's method with the same inverse.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, load, load_lane, scratch, sqrt, store, store_lane
from ...compiling import apart, generic
from ._first_guess import BOTH, guess
from ._geodesic import (
    FIELDS,
    FORM,
    OVER,
    POINT,
    TOLERANCE,
    WAY,
    WHOSE,
    bending,
    gradient,
    made_tangent,
    normal,
    projected,
    shoot,
    shoot_beside,
)
from ._lines import norm
from ._segments import CAPSULE, ELLIPSOID, TORUS

#: Most surfaces between two points; of each, its numbers: its own number, its kind, where it is touched one more than how
#: often it has lifted off, else less that, 1 where its hint counts and -1 where it is the one before once more, which has all
#: else only once it is touched; length, first point and direction in its frame; the frame, three sizes, the hint, the form that
#: `form_of` makes of these; then in Ground at both ends x, t, n, b, then curvatures (along, mixed, across) at both, the Jacobi
#: fields, F, the lengths of the lines before and behind.
MOST, WIDE, OF_ALL, OF_ROWS = 32, 72, 32 * 72, 4 * 32
OWN, KIND, TOUCHED, HINTED, L, X0, T0, FRAME, SIZES, HINT, SHAPE, ENDS, CURVED, JACOBI, RESIDUAL, LINES = (
    *(0, 1, 2, 3, 4, 5, 8, 11, 23, 26, 29, 32, 56, 62, 66, 70),
)
#: Of the matrix: four rows a surface, each with what the surface before adds, itself, the one behind.
BEFORE, ITSELF, BEHIND, COLUMNS = 0, 4, 8, 12
#: How far off a surface an end is taken to be that is on it, over its distance from the middle.
ON = 1e-10
#: Where the ends of the line that a guess was for are kept meanwhile: of the first end's frame.
GUESSED = ENDS + 3
#: Up to which part of the distance between them the ends of a line may have moved since the guess for it.
ALIKE = 0.03
#: How often surfaces are chosen, and guessed at first; steps of Newton's method; its end, and when there was none; a longest
#: step, in radians; how often it is made convex; which part of its curvature a line along a convex surface turns by at least.
CHOICES, SWEEPS, STEPS, SMALL, STILL, UNSOLVED, LONGEST, STIFFENED, LEAST = 12, 3, 60, 1e-13, 1e-9, 1e-6, 0.6, 10, 0.2
#: From which F on the inverse is kept for a step more; a surface lifts off, and how many times F its turn is below zero then;
#: which part of the greatest curvature there might be along a line.
NEAR, SURE, CLEAR, LESS_FLAT, ROUGH = 1e-4, 1e-2, 3.0, 0.3, 1e-4
#: Which part of a geodesic whose middle is hollow is left at either end; from which part of what makes it so it is looked at.
PART, HOLLOW = 0.25, 0.999


@generic
def get(own: Any, i: int, at: int) -> Any:
    """A number of surface i."""
    return load_lane(own, WIDE * i + at, 0, 0)


@generic
def put(own: Any, i: int, at: int, x: Any) -> None:
    """Keep one."""
    store_lane(own, WIDE * i + at, 0, 0, x)


@generic
def three(own: Any, i: int, at: int) -> Any:
    """A vector of surface i."""
    return get(own, i, at), get(own, i, at + 1), get(own, i, at + 2)


@generic
def put_three(own: Any, i: int, at: int, v: Any) -> None:
    """Keep one."""
    put(own, i, at, v[0])
    put(own, i, at + 1, v[1])
    put(own, i, at + 2, v[2])


@generic
def turned(own: Any, i: int, v: Any) -> Any:
    """A direction of surface i, in Ground."""
    a, b, c = three(own, i, FRAME), three(own, i, FRAME + 3), three(own, i, FRAME + 6)
    return vec3.dot(a, v), vec3.dot(b, v), vec3.dot(c, v)


@generic
def into(own: Any, i: int, p: Any) -> Any:
    """A point of Ground, in the frame of surface i."""
    return turned_back(own, i, vec3.sub(p, three(own, i, FRAME + 9)))


@generic
def turned_back(own: Any, i: int, v: Any) -> Any:
    """A direction of Ground, in the frame of surface i."""
    a, b, c = three(own, i, FRAME), three(own, i, FRAME + 3), three(own, i, FRAME + 6)
    return vec3.add(vec3.add(vec3.scale(v[0], a), vec3.scale(v[1], b)), vec3.scale(v[2], c))


@generic
def touched(own: Any, i: int) -> bool:
    """True if surface i is touched."""
    return bare(get(own, i, TOUCHED)) > 0.5


@generic
def neighbour(own: Any, i: int, first: int, end: int, step: int) -> int:
    """The next surface that is touched, forth or back, of those from *first* to before *end*; -1 where there is none."""
    k = i + step
    while k >= first and k < end and not touched(own, k):
        k += step
    return k if k >= first and k < end else -1


@generic
def lifted(own: Any, count: int, p: Any) -> Any:
    """A point of Ground; where it is on one of the surfaces, as far as roundings go, next to that, outside."""
    for i in range(count):
        if not is_second(own, i):
            x = into(own, i, p)
            f, g = gradient(int(get(own, i, KIND)), three(own, i, SHAPE), x)
            square, room = vec3.dot(g, g), ON * ON * vec3.dot(x, x)
            if f * f < room * square:
                p = vec3.add(p, turned(own, i, vec3.scale((sqrt(room) - f / sqrt(square)) / sqrt(square), g)))
    return p


@generic
def solve(own: Any, matrix: Any, count: int, a: Any, c: Any, exact: bool) -> Any:
    """Find the line from a to c over *count* surfaces; the greatest number of F."""
    worst = 0.0
    lifted = True
    for choice in range(CHOICES):
        found = _touch(own, count, a, c, choice == 0)
        if not (found or lifted):
            break
        worst = _newton(own, matrix, count, a, c, exact, True)
        lifted = False
        if worst > UNSOLVED:  # no way past the hints: the short one, where there is one
            for i in range(count):
                if touched(own, i) and get(own, i, HINTED) > 0.5:
                    put(own, i, TOUCHED, 0.0)
                    put(own, i, HINTED, 0.0)
                    lifted = True
            for i in range(count - 1):
                lifted = _touch_twice(own, count, a, c, i) or lifted
            if lifted:
                continue
            break
        for i in range(count):
            if touched(own, i) and get(own, i, L) < 0.0:
                put(own, i, TOUCHED, -get(own, i, TOUCHED))
                lifted = True
            elif touched(own, i) and get(own, i, HINTED) > 0.5 and get(own, i, JACOBI + 2) <= 0.0:
                put(own, i, TOUCHED, 0.0)  # past the hint is no shortest way
                put(own, i, HINTED, 0.0)
                lifted = True
    if lifted:  # the line over those that are left
        worst = _newton(own, matrix, count, a, c, exact, False)
    return worst


@generic
def _touch(own: Any, count: int, a: Any, c: Any, begin: bool) -> bool:
    """Touch what straight lines go through; at the beginning all surfaces, thrice, from one end to the other.

    One that has lifted off twice, where the guess is not good enough to know better, is left alone.
    """
    changed = False
    for sweep in range(SWEEPS if begin and count > 1 else 1):
        for i in range(count):
            if is_second(own, i):
                continue
            if not begin and i + 1 < count and is_second(own, i + 1) and (touched(own, i) or touched(own, i + 1)):
                changed = _touch_elsewhere(own, count, a, c, i) or changed
                continue
            lifts = 0.0 if begin else -get(own, i, TOUCHED)
            if lifts < 0.0 or lifts > 1.5:
                continue
            _, behind, p, q = around(own, i, 0, count, a, c)
            if begin and behind < 0 and sweep == 0:
                for k in range(count - 1, i, -1):  # where those behind will be, as far as is known
                    if get(own, k, HINTED) > 0.5:
                        q = vec3.add(three(own, k, FRAME + 9), turned(own, k, three(own, k, HINT)))
            if begin:
                if sweep > 0 and _are_near(own, i, p, q):
                    continue
                put_three(own, i, GUESSED, p)
                put_three(own, i, GUESSED + 3, q)
            sizes, hint = three(own, i, SIZES), three(own, i, HINT)
            kind, hinted = int(get(own, i, KIND)), get(own, i, HINTED) > 0.5
            here, x, t, length, end = guess(kind, sizes, into(own, i, p), into(own, i, q), hint, hinted, BOTH)
            put(own, i, TOUCHED, 1.0 + lifts if here else -lifts)
            if here:
                changed = True
                _lay(own, i, x, t, length, end)
    return changed


@generic
def _lay(own: Any, i: int, x: Any, t: Any, length: Any, end: Any) -> None:
    """Keep a guess at a geodesic, of its frame."""
    put(own, i, L, length)
    put_three(own, i, X0, x)
    put_three(own, i, T0, t)
    if is_second(own, i):
        for k in range(FRAME, ENDS):
            put(own, i, k, get(own, i - 1, k))
    place = three(own, i, FRAME + 9)
    put_three(own, i, ENDS, vec3.add(place, turned(own, i, x)))
    put_three(own, i, ENDS + 12, vec3.add(place, turned(own, i, end)))


@generic
def is_second(own: Any, i: int) -> bool:
    """True if surface i is the one before once more, a torus that is touched in two places."""
    return bare(get(own, i, HINTED)) < -0.5


@generic
def _touch_elsewhere(own: Any, count: int, a: Any, c: Any, i: int) -> bool:
    """Touch a torus in a second place: where a line to or from the first goes through its other side, or the first is hollow.

    No line from the outer half of its tube goes through it.
    """
    changed = False
    if touched(own, i) != touched(own, i + 1):
        at = i if touched(own, i) else i + 1
        other = 2 * i + 1 - at
        _, _, p, q = around(own, at, 0, count, a, c)
        kind, sizes, hint = int(get(own, i, KIND)), three(own, i, SIZES), three(own, i, HINT)
        free, inner = get(own, other, TOUCHED) > -1.5, sizes[1] * sizes[1]
        middle = vec3.scale(0.5, vec3.add(into(own, i, three(own, at, ENDS)), into(own, i, three(own, at, ENDS + 12))))
        for last in range(2):
            x = into(own, i, three(own, at, ENDS + 12 * last))
            if free and not changed and x[0] * x[0] + x[1] * x[1] < inner:
                start, goal = (into(own, i, p), x) if last == 0 else (x, into(own, i, q))
                here, first, t, length, end = guess(kind, sizes, start, goal, hint, False, last)
                if here:
                    changed = True
                    if other != i + last:
                        _exchange(own, i)
                    put(own, i + last, TOUCHED, 1.0 - get(own, i + last, TOUCHED))
                    _lay(own, i + last, first, t, length, end)
        # by Clairaut's theorem c, x cross t along the axis, stays; it is hollow where c^2 R is above the cube of the distance
        x, t, hole = three(own, at, X0), three(own, at, T0), max(sizes[1] - sizes[0], 0.0)
        may_be = (x[0] * t[1] - x[1] * t[0]) ** 2 * sizes[1] > HOLLOW * hole * hole * hole
        if free and not changed and may_be and middle[0] * middle[0] + middle[1] * middle[1] < inner:
            form, over = three(own, at, SHAPE), get(own, at, L)
            x, t, _ = shoot(kind, form, three(own, at, X0), three(own, at, T0), 0.5 * over, TOLERANCE)
            if bending(kind, form, x, t, t) < 0.0:
                changed = True
                if at != i:
                    _exchange(own, i)
                put(own, i + 1, TOUCHED, 1.0 - get(own, i + 1, TOUCHED))
                end = into(own, i, three(own, i, ENDS + 12))
                x, t, _ = shoot(kind, form, three(own, i, X0), three(own, i, T0), (1.0 - PART) * over, TOLERANCE)
                _lay(own, i + 1, x, t, PART * over, end)
                x, t = three(own, i, X0), three(own, i, T0)
                _lay(own, i, x, t, PART * over, shoot(kind, form, x, t, PART * over, TOLERANCE)[0])
    return changed


@generic
def _exchange(own: Any, i: int) -> None:
    """Exchange the two places in which a torus is touched; the second may not have been touched yet."""
    for k in range(WIDE):
        if k == TOUCHED or (L <= k and k < FRAME) or ENDS <= k:
            x = get(own, i, k)
            put(own, i, k, get(own, i + 1, k))
            put(own, i + 1, k, x)
        elif k >= FRAME:
            put(own, i + 1, k, get(own, i, k))


@generic
def _touch_twice(own: Any, count: int, a: Any, c: Any, i: int) -> bool:
    """Touch a torus on both sides, where a line goes through both and there is none that touches one."""
    changed = False
    if is_second(own, i + 1) and touched(own, i) != touched(own, i + 1):
        at = i if touched(own, i) else i + 1
        if get(own, 2 * i + 1 - at, TOUCHED) > -0.5:
            _, _, p, q = around(own, at, 0, count, a, c)
            kind, sizes, hint = int(get(own, i, KIND)), three(own, i, SIZES), three(own, i, HINT)
            p, q = into(own, i, p), into(own, i, q)
            one, x, t, length, end = guess(kind, sizes, p, q, hint, False, 0)
            other, y, u, further, last = guess(kind, sizes, p, q, hint, False, 1)
            if one and other:
                changed = True
                put(own, i, TOUCHED, 1.0)
                put(own, i + 1, TOUCHED, 1.0)
                _lay(own, i, x, t, length, end)
                _lay(own, i + 1, y, u, further, last)
                one, x, t, length, end = guess(kind, sizes, p, into(own, i, three(own, i + 1, ENDS)), hint, False, 0)
                if one:
                    _lay(own, i, x, t, length, end)
                one, x, t, length, end = guess(kind, sizes, into(own, i, three(own, i, ENDS + 12)), q, hint, False, 1)
                if one:
                    _lay(own, i + 1, x, t, length, end)
    return changed


@generic
def _are_near(own: Any, i: int, p: Any, q: Any) -> bool:
    """True if the last guess at surface i was from about p to about q: another one would be no better."""
    off, back, whole = vec3.sub(three(own, i, GUESSED), p), vec3.sub(three(own, i, GUESSED + 3), q), vec3.sub(q, p)
    return bool(vec3.dot(off, off) + vec3.dot(back, back) <= ALIKE * ALIKE * vec3.dot(whole, whole))


@apart
def _newton(own: Any, matrix: Any, count: int, a: Any, c: Any, exact: bool, lifts: bool) -> Any:
    """Solve F = 0 for the surfaces that are touched; the greatest number of F. Where *exact*, leave the inverse at the end.

    Where it *lifts*, it ends as soon as the length over a surface is sure to be below zero, and gives zero.
    A last step is not evaluated again: Newton's method leaves q^2 F of F, and with the inverse of the step before 2 q F, where
    that step has left q of it.
    """
    worst, last, longest, least = 1e300, 1e300, LONGEST, 1e300
    for _ in range(STEPS):
        tolerance = max(TOLERANCE, min(1e-2 * last * last, ROUGH))
        evaluate_all(own, count, tolerance)
        left = 1e300
        if last < NEAR:
            worst = 0.0
            for i in range(count):
                if touched(own, i):
                    worst = max(worst, evaluate_f(own, i, 0, count, a, c))
            left = 2.0 * worst * worst / last
        if left > SMALL:
            worst, merit = _linearize(own, matrix, count, a, c)
            left = worst * (worst / last) ** 2
            longest = 0.4 * longest if worst > last and merit > least else min(2.0 * longest, LONGEST)
            least = merit
        ends = (left < SMALL and tolerance <= TOLERANCE) or worst < SMALL or (0.5 * last < worst < STILL and last < STILL)
        last = worst
        if ends and worst < SMALL:
            break
        _step(own, matrix, count, longest)
        if ends:
            worst = min(worst, left)
            break
        if lifts and worst < SURE and _is_below(own, count, worst):
            return 0.0
    if exact:
        evaluate_all(own, count, TOLERANCE)
        worst, _ = _linearize(own, matrix, count, a, c)
    return worst


@generic
def _is_below(own: Any, count: int, worst: float) -> bool:
    """True if the length over a surface is below zero, however the rest of F turns out."""
    found = False
    for i in range(count):
        along = max(abs(get(own, i, CURVED)), abs(get(own, i, CURVED + 3)))
        found = found or (touched(own, i) and get(own, i, L) * along < -CLEAR * worst)
    return found


@apart
def _linearize(own: Any, matrix: Any, count: int, a: Any, c: Any) -> Any:
    """F of all surfaces, and the inverse of the matrix, by blocks; the greatest number of F, and the merit."""
    worst, merit = 0.0, 0.0
    for i in range(count):
        if touched(own, i):
            one, other = assemble(own, matrix, i, count, a, c)
            worst, merit = max(worst, one), merit + other
            _eliminate(own, matrix, i, neighbour(own, i, 0, count, -1))
    return worst, merit


@apart
def evaluate(own: Any, i: int, tolerance: float) -> None:
    """The ends of a geodesic in Ground, how the surface is curved there, the Jacobi fields."""
    kind = int(bare(get(own, i, KIND)))
    _keep(own, i, shoot(kind, three(own, i, SHAPE), three(own, i, X0), three(own, i, T0), get(own, i, L), tolerance))


@apart
def evaluate_all(own: Any, count: int, tolerance: float) -> None:
    """The same of all surfaces that are touched: those whose geodesics are series side by side, where there are several."""
    held = scratch(14, 8)
    for i in range(count):
        if touched(own, i):
            many = _put_beside(own, held, i, count)
            if many == 1:
                evaluate(own, i, tolerance)
            elif many > 1:
                shoot_beside(int(get(own, i, KIND)), held, tolerance)
                for k in range(many):
                    fields = *_three_of(held, FIELDS, k), load(held, FIELDS + 3, k)
                    _keep(own, int(load(held, WHOSE, k)), (_three_of(held, POINT, k), _three_of(held, WAY, k), fields))


@generic
def _three_of(held: Any, row: int, k: int) -> Any:
    return load(held, row, k), load(held, row + 1, k), load(held, row + 2, k)


@generic
def _put_beside(own: Any, held: Any, i: int, count: int) -> int:
    """Put the geodesics of surface i and others of its kind side by side; how many, 0 where they were with one before."""
    kind, many, before = int(get(own, i, KIND)), 1, 0
    if kind == ELLIPSOID or kind == TORUS:
        many = 0
        for s in range(count):
            if touched(own, s) and int(get(own, s, KIND)) == kind:
                if s < i:
                    before += 1
                elif many < 8 and before % 8 == 0:
                    _put_one(own, held, s, many)
                    many += 1
    return many


@generic
def _put_one(own: Any, held: Any, s: int, k: int) -> None:
    """Put one at place k; the first at all, as those without a geodesic have it."""
    form, x, t = three(own, s, SHAPE), three(own, s, X0), three(own, s, T0)
    for lane in range(k, 8 if k == 0 else k + 1):
        for c in range(3):
            store(held, FORM + c, lane, form[c])
            store(held, POINT + c, lane, x[c])
            store(held, WAY + c, lane, t[c])
        store(held, OVER, lane, get(own, s, L))
    store(held, WHOSE, k, 1.0 * s)


@apart
def _keep(own: Any, i: int, found: Any) -> None:
    """Keep what `evaluate` finds, from the point, the direction and the Jacobi fields at the end."""
    end, way, jacobi = found
    kind = int(bare(get(own, i, KIND)))
    form = three(own, i, SHAPE)
    x, t = three(own, i, X0), three(own, i, T0)
    for k in range(4):
        put(own, i, JACOBI + k, jacobi[k])
    place = three(own, i, FRAME + 9)
    for last in range(2):
        if last == 1:
            x, t = end, way
        n, size = normal(kind, form, x)
        b = vec3.cross(t, n)
        at = ENDS + 12 * last
        put_three(own, i, at, vec3.add(place, turned(own, i, x)))
        put_three(own, i, at + 3, turned(own, i, t))
        put_three(own, i, at + 6, turned(own, i, n))
        put_three(own, i, at + 9, turned(own, i, b))
        over = 1.0 / size
        put(own, i, CURVED + 3 * last, over * bending(kind, form, x, t, t))
        put(own, i, CURVED + 3 * last + 1, over * bending(kind, form, x, t, b))
        put(own, i, CURVED + 3 * last + 2, over * bending(kind, form, x, b, b))


@generic
def around(own: Any, i: int, first: int, end: int, a: Any, c: Any) -> Any:
    """The surfaces before and behind, -1 for none, and where the lines to this one come from and go to."""
    before, behind = neighbour(own, i, first, end, -1), neighbour(own, i, first, end, 1)
    p, q = a, c
    if before >= 0:
        p = three(own, before, ENDS + 12)
    if behind >= 0:
        q = three(own, behind, ENDS)
    return before, behind, p, q


@generic
def line(x: Any, p: Any, q: Any, last: int) -> Any:
    """Length and direction of the straight line to a first point, from p, or from a last one, to q."""
    d = vec3.sub(x, p)
    if last == 1:
        d = vec3.sub(q, x)
    length = norm(d) + 1e-300
    return length, vec3.scale(1.0 / length, d)


@generic
def evaluate_f(own: Any, i: int, first: int, end: int, a: Any, c: Any) -> Any:
    """F of a surface; the greatest number of it, at least 1 where a line goes back."""
    _, _, p, q = around(own, i, first, end, a, c)
    worst = 0.0
    for last in range(2):
        at = ENDS + 12 * last
        _, e = line(three(own, i, at), p, q, last)
        on_n, on_b = vec3.dot(e, three(own, i, at + 6)), vec3.dot(e, three(own, i, at + 9))
        put(own, i, RESIDUAL + 2 * last, on_n)
        put(own, i, RESIDUAL + 2 * last + 1, on_b)
        forward = bare(vec3.dot(e, three(own, i, at + 3))) > 0.0
        worst = max(worst, abs(bare(on_n)), abs(bare(on_b)), 0.0 if forward else 1.0)
    return worst


@generic
def assemble(own: Any, matrix: Any, i: int, count: int, a: Any, c: Any) -> Any:
    """F of a surface and its rows of the matrix; the greatest of F, at least 1 where a line goes back; its share of a merit.

    The merit is the length, and what it may lack while lines do not touch.
    """
    row = 4 * i
    for k in range(4):
        for m in range(12):
            store(matrix, row + k, m, 0.0)
    before, behind, p, q = around(own, i, 0, count, a, c)
    worst, merit = 0.0, get(own, i, L)
    for last in range(2):
        at, k = ENDS + 12 * last, row + 2 * last
        x, t, n, b = three(own, i, at), three(own, i, at + 3), three(own, i, at + 6), three(own, i, at + 9)
        along, mixed, across = three(own, i, CURVED + 3 * last)
        length, e = line(x, p, q, last)
        put(own, i, LINES + last, length)
        on_n, on_b, on_t = vec3.dot(e, n), vec3.dot(e, b), vec3.dot(e, t)
        way = 1.0 / length if last == 0 else -1.0 / length
        by_n, by_b = vec3.scale(way, vec3.add_scaled(n, -on_n, e)), vec3.scale(way, vec3.add_scaled(b, -on_b, e))
        put(own, i, RESIDUAL + 2 * last, on_n)
        put(own, i, RESIDUAL + 2 * last + 1, on_b)
        worst = max(worst, abs(on_n), abs(on_b), 0.0 if on_t > 0.0 else 1.0)
        merit += on_n * on_n / (abs(along) + abs(across))
        if last == 0 or behind < 0:
            merit += length
        # by a motion along the geodesic, by one across it, by its turning
        slid = vec3.dot(by_n, t) + along * on_t + mixed * on_b, vec3.dot(by_b, t) - mixed * on_n
        aside = vec3.dot(by_n, b) + mixed * on_t + across * on_b, vec3.dot(by_b, b) - across * on_n
        y, y_dot, z, z_dot = 1.0, 0.0, 0.0, 1.0
        if last == 1:
            y, y_dot = get(own, i, JACOBI), get(own, i, JACOBI + 1)
            z, z_dot = get(own, i, JACOBI + 2), get(own, i, JACOBI + 3)
        place = ITSELF + 3 * last
        slides, kind = slid[0], int(get(own, i, KIND))
        if kind == CAPSULE or kind == TORUS:  # where it is flat or hollow the line's turning outdoes it
            slides = abs(slides)
        else:  # a convex one is outdone where the line is far from touching alone
            slides = max(slides, LEAST * along)
        store(matrix, k, place, slides)
        store(matrix, k + 1, place, slid[1])
        store(matrix, k, ITSELF + 1, aside[0] * y)
        store(matrix, k, ITSELF + 2, aside[0] * z)
        store(matrix, k + 1, ITSELF + 1, aside[1] * y - on_t * y_dot)
        store(matrix, k + 1, ITSELF + 2, aside[1] * z - on_t * z_dot)
        other = before if last == 0 else behind
        if other >= 0:  # whose last, or first, point moves
            at = ENDS + 12 * (1 - last)
            t, b = three(own, other, at + 3), three(own, other, at + 9)
            y, z = 1.0, 0.0
            if last == 0:
                y, z = get(own, other, JACOBI), get(own, other, JACOBI + 2)
            first = BEFORE + 3 if last == 0 else BEHIND
            begin = BEFORE if last == 0 else BEHIND
            store(matrix, k, first, -vec3.dot(by_n, t))
            store(matrix, k + 1, first, -vec3.dot(by_b, t))
            store(matrix, k, begin + 1, -vec3.dot(by_n, b) * y)
            store(matrix, k, begin + 2, -vec3.dot(by_n, b) * z)
            store(matrix, k + 1, begin + 1, -vec3.dot(by_b, b) * y)
            store(matrix, k + 1, begin + 2, -vec3.dot(by_b, b) * z)
    a_field = get(own, i, JACOBI)
    for m in range(12):
        x = load(matrix, row + 3, m)
        store(matrix, row + 1, m, load(matrix, row + 1, m) - a_field * x)
        store(matrix, row + 3, m, -x)
    return worst, merit


@generic
def _eliminate(own: Any, matrix: Any, i: int, before: int) -> None:
    """Take the surface before out of the rows of surface i; its own block's inverse, and that times what is behind.

    Places: the inverse in ITSELF; the product in BEHIND; BEFORE stays.
    """
    row = 4 * i
    if before >= 0:  # its last point moves the line to the first one, and with it rows 0 and 1 by s and beta
        for k in range(2):
            for m in range(1, 4):
                factor = load(matrix, row + k, BEFORE + m)
                for r in range(2):
                    value = load(matrix, row + k, ITSELF + r) - factor * load(matrix, 4 * before + m, BEHIND + r)
                    store(matrix, row + k, ITSELF + r, value)
    _invert_convex(own, matrix, i)
    for m in range(2):
        u0, u1 = load(matrix, row, BEHIND + m), load(matrix, row + 1, BEHIND + m)
        u2, u3 = load(matrix, row + 2, BEHIND + m), load(matrix, row + 3, BEHIND + m)
        for k in range(4):
            store(matrix, row + k, BEHIND + m, dot4(matrix, row + k, u0, u1, u2, u3))


@generic
def _invert_convex(own: Any, matrix: Any, i: int) -> None:
    """Invert the block of a surface, once the second variation of the length by beta and theta is positive, if need be made so.

    Rows of normal errors have s alone of s and sigma, or sigma alone: taken out of those of the gradient, they leave the second
    variation by beta and theta with the normal errors at zero.
    """
    row, at = 4 * i, ITSELF
    a01, a02 = load(matrix, row, at + 1), load(matrix, row, at + 2)
    a10, a13, a33 = load(matrix, row + 1, at), load(matrix, row + 1, at + 3), load(matrix, row + 3, at + 3)
    a21, a22 = load(matrix, row + 2, at + 1), load(matrix, row + 2, at + 2)
    p, q = _over(load(matrix, row, at)), _over(load(matrix, row + 2, at + 3))
    b0, b2, d2 = a10 * p, a13 * q, a33 * q
    s00 = load(matrix, row + 1, at + 1) - b0 * a01 - b2 * a21
    s01 = load(matrix, row + 1, at + 2) - b0 * a02 - b2 * a22
    s10 = load(matrix, row + 3, at + 1) - d2 * a21
    s11 = load(matrix, row + 3, at + 2) - d2 * a22
    curved, stiffness = 1e-300, 0.0
    for k in range(2):
        along, _, across = three(own, i, CURVED + 3 * k)
        curved = max(curved, abs(along), abs(across))
    for k in range(STIFFENED):
        if (s00 > 0.0 and s11 > 0.0 and s00 * s11 > s01 * s10) or k == STIFFENED - 1:
            break
        more = max(3.0 * stiffness, 0.05 * curved)
        stiffness, s00, s11 = stiffness + more, s00 + more, s11 + more * abs(get(own, i, JACOBI + 2))
    over = _over(s00 * s11 - s01 * s10)
    beta, theta = (s11 * over, -s01 * over), (-s10 * over, s00 * over)
    for k in range(2):
        by_beta, by_theta, far = (a01, a02, p) if k == 0 else (a21, a22, q)
        other = 3 * k  # the row of s, or of sigma
        for m in range(4):
            store(matrix, row + other, at + m, 0.0)
        store(matrix, row + other, at + 2 * k, far)
        for m in range(2):
            value = far * (by_beta * beta[m] + by_theta * theta[m])
            store(matrix, row + other, at + 1 + 2 * m, -value)
        # by the normal errors, which change the gradient through s and sigma
        x = load(matrix, row + other, at)
        one, two = load(matrix, row + other, at + 1), load(matrix, row + other, at + 3)
        store(matrix, row + other, at, x - b0 * one)
        x = load(matrix, row + other, at + 2)
        store(matrix, row + other, at + 2, x - b2 * one - d2 * two)
    for k in range(2):
        one, two = beta if k == 0 else theta
        store(matrix, row + 1 + k, at, -b0 * one)
        store(matrix, row + 1 + k, at + 1, one)
        store(matrix, row + 1 + k, at + 2, -b2 * one - d2 * two)
        store(matrix, row + 1 + k, at + 3, two)


@generic
def _over(x: Any) -> Any:
    return 1.0 / x if abs(x) > 1e-200 else 0.0


@generic
def dot4(matrix: Any, row: int, u0: Any, u1: Any, u2: Any, u3: Any) -> Any:
    """A row of the inverse times four numbers."""
    first = load(matrix, row, ITSELF) * u0 + load(matrix, row, ITSELF + 1) * u1
    return first + load(matrix, row, ITSELF + 2) * u2 + load(matrix, row, ITSELF + 3) * u3


@generic
def back_substitute(own: Any, matrix: Any, first: int, end: int) -> None:
    """Turn F of all surfaces into the changes that undo it, in its place."""
    for i in range(first, end):
        if touched(own, i):
            before = neighbour(own, i, first, end, -1)
            u0, u1, u2, u3 = _less(own, matrix, i, first, before)
            for k in range(4):
                put(own, i, RESIDUAL + k, dot4(matrix, 4 * (i - first) + k, u0, u1, u2, u3))
    for step in range(end - first):
        i = end - 1 - step
        if touched(own, i):
            behind = neighbour(own, i, first, end, 1)
            if behind >= 0:
                for k in range(4):
                    value = get(own, i, RESIDUAL + k)
                    for m in range(4):
                        value = value - load(matrix, 4 * (i - first) + k, BEHIND + m) * get(own, behind, RESIDUAL + m)
                    put(own, i, RESIDUAL + k, value)


@generic
def _less(own: Any, matrix: Any, i: int, first: int, before: int) -> Any:
    u0, u2, u3 = -get(own, i, RESIDUAL), -get(own, i, RESIDUAL + 2), get(own, i, RESIDUAL + 3)
    u1 = get(own, i, JACOBI) * u3 - get(own, i, RESIDUAL + 1)
    if before >= 0:
        for m in range(4):
            y = get(own, before, RESIDUAL + m)
            u0 = u0 - load(matrix, 4 * (i - first), BEFORE + m) * y
            u1 = u1 - load(matrix, 4 * (i - first) + 1, BEFORE + m) * y
            u2 = u2 - load(matrix, 4 * (i - first) + 2, BEFORE + m) * y
            u3 = u3 - load(matrix, 4 * (i - first) + 3, BEFORE + m) * y
    return u0, u1, u2, u3


@generic
def _step(own: Any, matrix: Any, count: int, longest: float) -> None:
    """Change all geodesics by a step of Newton's method, shortened where it is too long."""
    back_substitute(own, matrix, 0, count)
    part, before = 1.0, 0.0
    for i in range(count):
        if touched(own, i):
            s, beta, theta, sigma = three_and_one(own, i)
            turn = abs(theta)
            # no line may become shorter than by half: behind an end next to its surface is another solution, that goes back
            if 2.0 * part * (before - s) > get(own, i, LINES):
                part = 0.5 * get(own, i, LINES) / (before - s)
            before = sigma
            for k in range(2):  # by which the normal turns, or might where the surface is less flat
                along, mixed, across = three(own, i, CURVED + 3 * k)
                slid, aside = abs(s if k == 0 else sigma), abs(beta)
                curved = max(abs(along), abs(across))
                turn = max(turn, slid * max(abs(along), abs(mixed), LESS_FLAT * curved), aside * curved)
            part = min(part, longest / (turn + 1e-300))
            if neighbour(own, i, 0, count, 1) < 0 and 2.0 * part * sigma > get(own, i, LINES + 1):
                part = 0.5 * get(own, i, LINES + 1) / sigma
    for i in range(count):
        if touched(own, i):
            for k in range(4):
                put(own, i, RESIDUAL + k, part * get(own, i, RESIDUAL + k))
            move(own, i)
            move_ends(own, i)


@generic
def move(own: Any, i: int) -> None:
    """Change a geodesic, whose ends in Ground are as `evaluate` has left them."""
    s, beta, theta, sigma = three_and_one(own, i)
    kind, form, t = int(bare(get(own, i, KIND))), three(own, i, SHAPE), three(own, i, T0)
    b = turned_back(own, i, three(own, i, ENDS + 9))
    x = projected(kind, form, vec3.add_scaled(vec3.add_scaled(three(own, i, X0), s, t), beta, b))
    put_three(own, i, X0, x)
    put_three(own, i, T0, made_tangent(vec3.add_scaled(t, theta, b), gradient(kind, form, x)[1]))
    put(own, i, L, get(own, i, L) + sigma - s)


@generic
def move_ends(own: Any, i: int) -> None:
    """Move a geodesic's first and last points by its change, as far as they are linear in it."""
    s, beta, theta, sigma = three_and_one(own, i)
    y = get(own, i, JACOBI) * beta + get(own, i, JACOBI + 2) * theta
    for last in range(2):
        at = ENDS + 12 * last
        along, aside = (s, beta) if last == 0 else (sigma, y)
        x = vec3.add_scaled(three(own, i, at), along, three(own, i, at + 3))
        put_three(own, i, at, vec3.add_scaled(x, aside, three(own, i, at + 9)))


@generic
def three_and_one(own: Any, i: int) -> Any:
    """The changes of a geodesic."""
    s, beta, theta = three(own, i, RESIDUAL)
    return s, beta, theta, get(own, i, RESIDUAL + 3)
