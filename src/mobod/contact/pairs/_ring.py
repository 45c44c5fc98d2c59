"""A torus and a shape whose nearest point is known: the ring of balls that is the tube, and where along it the shape is near.

A torus is not convex, and touches in several places. With c(t) the circle in the tube, f(t) the distance of c from the shape
and n the normal there, minima of f are roots of

    g(t) = n . dc/dt,   from below to above zero

which lie between places around the circle where the shape is near, of which a cubic says if g dips below or above zero between
them. Each is a point of the contact. Two minima become one where the greatest f between them is theirs: with d_1 and d_2 the
depths there and b the one between them, where it is above 0, all have the energy

    U(d_1) + U(d_2) - U(b),   U of Hertz, about d^(5/2)

so that a minimum comes and goes with no force. What is taken off is so from either one by how near the other is to it:

    (d_2 - b) / (d_1 + d_2 - 2 b) of it from the first.

Depths count from that of the place where all is least deep, if the whole ring is deep. Places a quarter, a half and three
quarters of the circle from the deepest one are points, too, if they are inside the shape, the more the farther minima are: a
ring that lies flat, or around a rod that fills it, is as deep everywhere. The deepest place itself is one where it is no
minimum. Tangents of t are those of the root, dt = -dg / g'. Where g jumps instead, because the circle itself is inside a
polyhedron, or deep in an ellipsoid, the tangents of a minimum are those of a fixed t, an approximation.

Of two tori both circles have the same minima, but neither what is between them nor the further places: a ring around a rod
that is bent to a ring touches all around the one, at one place of the other. The energy is the mean of both circles', so that
neither order of the surfaces is another contact; a place that both have is one point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra import mat33, sym33, vec3
from ...algebra.scalar import bare, load, load_lane, scratch, sincos, sqrt, store, store_lane
from ...compiling import Routine, generic
from ..access import DIMENSIONS, PART, POINT, SHAPE, Pair, load3_lane, narrow_phase, orientation, origin, three_of
from . import _curvature
from ._ball import put_ball
from ._clip import NO_SHARE
from ._core import bare3, bare9
from .half_space import ring_curvature

SAMPLES, _FINE = 64, 4
_MOST, _NODES = 36, 264
_STEP, _TURN, _QUARTER = 0.09817477042468103, 6.283185307179586, 1.5707963267948966
#: Of the circle's radius, what is told from none in g.
_LEVEL = 1e-9
#: Angles that differ by less are one place.
_ALIKE = 1e-3
#: Of the circle's radius, how far from each other points of both circles are one; what the others' names are more.
_SAME, _OTHERS = 1e-7, 64
#: Columns of contact_point for the depth of a place where f is least or greatest, its angle, and a point's share.
_DEEP, _ANGLE, _SHARE = 30, 31, 29
#: What stands for the distance of what is far.
_FAR = 1e30


@generic
def _around(ring: Any, R: Any, p: Any, t: Any) -> Any:
    """The circle's point at angle t, in the frame in which the torus is at R, p, and its derivative."""
    s, c = sincos(t)
    at = vec3.add(p, mat33.mul_vec(R, (ring * c, ring * s, 0.0 * s)))
    return at, mat33.mul_vec(R, (-ring * s, ring * c, 0.0 * s))


@generic
def _middle(bracket: Any, steps: int) -> float:
    """The next guess of the root in a bracket (x, y, g(x), g(y), side that moved last)."""
    x, y, gx, gy, _ = bracket
    if steps % 3 == 2:  # the Illinois method, and by halves now and then: g jumps where n does
        return 0.5 * (x + y)
    return (x * gy - y * gx) / (gy - gx)


@generic
def _narrow(bracket: Any, t: float, g: float) -> Any:
    """The bracket with t for the end of g's sign; of an end that stays twice, g counts half."""
    x, y, gx, gy, side = bracket
    if g < 0.0:
        return t, y, g, (0.5 * gy if side < 0 else gy), -1
    return x, t, (0.5 * gx if side > 0 else gx), g, 1


@generic
def _dip(a: Any, b: Any) -> float:
    """Between two places (t, f, g), where g of the cubic between them is nearest to zero; 0.0 if it does not get there."""
    h, (t, f0, g0), (_, f1, g1) = b[0] - a[0], a, b
    # g = g0 + s (p + s q), s from 0 to 1
    m = 6.0 * (f1 - f0) / h
    p, q = m - 4.0 * g0 - 2.0 * g1, 3.0 * (g0 + g1) - m
    if q == 0.0:
        return 0.0
    s = -0.5 * p / q
    if s <= 0.0 or s >= 1.0 or (g0 + 0.5 * s * p) * g0 > 0.0:
        return 0.0
    return t + s * h


@generic
def _node(nodes: Any, k: int) -> Any:
    return load(nodes, k, 0), load(nodes, k, 1), load(nodes, k, 2)


@generic
def _shares(model: Any, lane: int, found: Any, num: int, k: int, least: Any) -> Any:
    """Of force and energy at the minimum k, what is not another's: see above. *least* is the depth from which all count.

    *found* are minima, and maxima, told by their sign, around the circle.
    """
    rows = model.contact_point
    d = load_lane(rows, k, _DEEP, lane) - least
    force, energy = 0.0 * d + 1.0, 0.0 * d + 1.0
    for side in range(2):
        step = 1 if side == 0 else num - 1
        i, j = (k + step) % num, (k + 2 * step) % num
        if load(found, i, 1) > 0.0 and load(found, j, 1) < 0.0 and j != k:
            b = load_lane(rows, i, _DEEP, lane) - least
            other = load_lane(rows, j, _DEEP, lane) - least
            if bare(b) > 0.0 and bare(d) > bare(b) and bare(other) > bare(b):
                r = b / d
                taken = r * sqrt(r) * (other - b) / (d + other - 2.0 * b)
                force, energy = force - taken, energy - taken * r
    if force <= 0.0:
        return 0.0 * d, 0.0 * d + 1.0
    return force, energy / force


@generic
def _beside(model: Any, lane: int, found: Any, num: int, t: Any) -> Any:
    """The share of a place that is no minimum: 0 where one is near, see `_shares`."""
    share = 0.0 * t + 1.0
    for i in range(num):
        if load(found, i, 1) < 0.0:
            apart = load_lane(model.contact_point, i, _ANGLE, lane) - t
            apart = apart - _TURN * round(bare(apart) / _TURN)
            if apart < 0.0:
                apart = -apart
            away = _curvature.goes_over(apart / (0.5 * _QUARTER) - 1.0)
            share = share * (1.0 - load(found, i, 2) * (1.0 - away))
    return share


@generic
def _is_found(model: Any, lane: int, found: Any, num: int, t: float) -> bool:
    """True if there is a minimum at the angle t, but for rounding."""
    for i in range(num):
        apart = bare(load_lane(model.contact_point, i, _ANGLE, lane)) - t
        if load(found, i, 1) < 0.0 and abs(apart - _TURN * round(apart / _TURN)) < _ALIKE:
            return True
    return False


@generic
def _curvatures(ring: float, tube: float, axis: Any, n: Any, along: Any, other: Any) -> Any:
    """Curvatures of the torus where its normal is -n; along the ring those of the circle if the *other* shape is flat."""
    outward = vec3.dot(n, vec3.cross(axis, along))  # axis x along is the inward radius
    bent = outward / (ring + tube * outward)
    if bare(other[0] + other[1] + other[2]) == 0.0:
        bent = ring_curvature(ring, tube, outward)
    return sym33.add(_curvature.of_line(1.0 / tube, vec3.cross(n, along)), _curvature.of_line(bent, along))


@generic
def _never(model: Any, s: int, x: Any, reach: float) -> bool:
    return False


def _looking(near: Callable[..., Any]) -> Callable[..., Any]:
    """The function that says of a place on the circle how far it is, how that changes along the circle, and the normal."""

    @generic
    def look(model: Any, s: int, lane: int, ring: float, R: Any, p: Any, t: Any) -> Any:
        """Distance, its derivative along the circle, and the normal."""
        at, rate = _around(ring, R, p, t)
        distance, n, _ = near(model, s, at, lane)
        return distance, vec3.dot(n, rate), n

    return look


def _walking(look: Callable[..., Any], is_far: Callable[..., bool]) -> Callable[..., int]:
    """The function that puts places (t, f, g) around the circle into rows, close to each other where the shape is near."""
    exact = is_far is _never
    parts = _FINE if exact else 1  # hills are smooth, and cost most

    @generic
    def walk(model: Any, s: int, lane: int, ring: float, tube: float, R: Any, p: Any, nodes: Any) -> int:
        reach, n, far = 1.5 * _STEP * ring, 0, -1.0
        near, t0, f0 = tube + 0.5 * _STEP * ring, 0.0, _FAR
        for i in range(SAMPLES + 1):
            t1, f1, g1 = i * _STEP, _FAR, 0.0
            if t1 >= far:
                at, _ = _around(ring, R, p, t1)
                if not is_far(model, s, at, tube + _STEP * ring):
                    f1, g1, _ = look(model, s, lane, ring, R, p, t1)
                    if exact and f1 - tube > reach:  # a distance changes by no more than the way
                        far, f1, g1 = t1 + (f1 - tube - reach) / ring, _FAR, 0.0
            if max(f0, f1) < _FAR and min(f0, f1) < near:
                for k in range(1, parts):
                    t = t0 + k * (_STEP / parts)
                    f, g, _ = look(model, s, lane, ring, R, p, t)
                    store(nodes, n, 0, t)
                    store(nodes, n, 1, f)
                    store(nodes, n, 2, g)
                    n += 1
            store(nodes, n, 0, t1)
            store(nodes, n, 1, f1)
            store(nodes, n, 2, g1)
            n, t0, f0 = n + 1, t1, f1
        return n

    return walk


def _finding(look: Callable[..., Any]) -> Callable[..., Any]:
    """The function that puts where f is least, or greatest, into rows: the angle, and -1.0 or 1.0."""

    @generic
    def find(model: Any, s: int, lane: int, ring: float, tube: float, R: Any, p: Any, nodes: Any, n: int, found: Any) -> Any:
        num, low, where_low, lowest_away = 0, _FAR, 0.0, -_FAR
        for k in range(1, n):
            a, b = _node(nodes, k - 1), _node(nodes, k)
            lowest_away = max(lowest_away, b[1])
            if b[1] < low:
                low, where_low = b[1], b[0]
            if max(a[1], b[1]) >= _FAR or min(a[1], b[1]) >= tube + 0.5 * _STEP * ring:
                continue
            between, parts = b, 1
            if a[2] * b[2] > 0.0:
                t = _dip(a, b)
                if t > 0.0:
                    f, g, _ = look(model, s, lane, ring, R, p, t)
                    if g * b[2] < 0.0:
                        between, parts = (t, f, g), 2
            for part in range(parts):
                x, y = (a, between) if part == 0 else (between, b)
                side = -1.0 if x[2] < 0.0 else 1.0
                level = _LEVEL * ring  # where g is 0 but for that belongs to what ends there
                if x[2] * side <= level or y[2] * side > level or num >= min(_MOST, model.contact_points_size) - 4:
                    continue
                bracket, middle, f = (x[0], y[0], -side * x[2], -side * y[2], 0), y[0], y[1]
                for steps in range(90):
                    middle = _middle(bracket, steps)
                    f, g, _ = look(model, s, lane, ring, R, p, middle)
                    bracket = _narrow(bracket, middle, -side * g)
                    if abs(g) < 1e-15 * ring or bracket[1] - bracket[0] < 1e-14:
                        break
                store(found, num, 0, middle)
                store(found, num, 1, side)
                num += 1
                if f < low:
                    low, where_low = f, middle
        return num, low, where_low, lowest_away

    return find


def _settling(look: Callable[..., Any]) -> Callable[..., Any]:
    """The function that gives the angle of a minimum or a maximum its tangents."""

    @generic
    def settle(model: Any, s: int, lane: int, ring: float, R: Any, p: Any, t: float) -> Any:
        """The angle t of a minimum or a maximum with its tangents."""
        A, q, angle = bare9(R), bare3(p), t + 0.0 * p[0]
        _, after, _ = look(model, s, lane, ring, A, q, t + 1e-6)
        _, before, _ = look(model, s, lane, ring, A, q, t - 1e-6)
        if abs(after - before) > 1e-10 * ring:
            # a step gives first derivatives, and the next ones second ones: g' is a difference, of a few digits
            for _ in range(3):
                _, g, _ = look(model, s, lane, ring, R, p, angle)
                angle = angle - (g - bare(g)) * (2e-6 / (after - before))
        return angle

    return settle


@generic
def _put_share(model: Any, lane: int, row: int, share: Any, part: Any) -> None:
    """Give a point its share of Hertz's force, which goes with the root of the radius, and of the energy, *part* of that."""
    rows = model.contact_point
    for column in range(SHAPE, SHAPE + 2):
        store_lane(rows, row, column, lane, load_lane(rows, row, column, lane) / (share * share))
    store_lane(rows, row, PART, lane, part)
    store_lane(rows, row, _SHARE, lane, share)


@generic
def _join(model: Any, lane: int, begin: int, row: int, apart: float) -> int:
    """The end of the rows: a last one at the place of one before *begin*, less than *apart* from it, becomes part of that."""
    rows, x = model.contact_point, bare3(load3_lane(model.contact_point, row, POINT, lane))
    for k in range(begin):
        d = vec3.sub(bare3(load3_lane(rows, k, POINT, lane)), x)
        if vec3.dot(d, d) < apart * apart:
            one, two = load_lane(rows, k, _SHARE, lane), load_lane(rows, row, _SHARE, lane)
            energy = one * load_lane(rows, k, PART, lane) + two * load_lane(rows, row, PART, lane)
            _put_share(model, lane, k, (one + two) / one, energy / (one + two))
            store_lane(rows, k, _SHARE, lane, one + two)
            return row
    return row + 1


def _putting(near: Callable[..., Any], is_far: Callable[..., bool]) -> Callable[..., int]:
    """The function that puts points of a torus and another shape into rows."""
    look = _looking(near)
    walk, find, settle = _walking(look, is_far), _finding(look), _settling(look)

    @generic
    def put_ring(model: Any, pair: Pair, b: int, s: int, torus_first: bool, count: int, weight: float) -> int:
        """Rows from *count* on of the torus b near the other shape, with the *weight* times the force."""
        lane, begin = pair[2], count
        ring, tube, _ = bare3(three_of(model, b, DIMENSIONS, lane))
        Rb, Rs, ps = orientation(model, b, lane), orientation(model, s, lane), origin(model, s, lane)
        R = mat33.mul(mat33.transpose(Rs), Rb)
        p = mat33.transpose_mul_vec(Rs, vec3.sub(origin(model, b, lane), ps))
        nodes, found, rows = scratch(_NODES, 3), scratch(_MOST, 3), model.contact_point
        n = walk(model, s, lane, ring, tube, bare9(R), bare3(p), nodes)
        num, low, where_low, most = find(model, s, lane, ring, tube, bare9(R), bare3(p), nodes, n, found)
        if low >= tube:
            return count
        zero = 0.0 * p[0]
        least, shift = zero, zero
        for i in range(num):
            angle = settle(model, s, lane, ring, R, p, load(found, i, 0))
            f, _, _ = look(model, s, lane, ring, R, p, angle)
            store_lane(rows, i, _DEEP, lane, tube - f)
            store_lane(rows, i, _ANGLE, lane, angle)
            if load(found, i, 0) == where_low:
                shift = angle - where_low
            if most < tube and load(found, i, 1) > 0.0 and (bare(least) == 0.0 or tube - bare(f) < bare(least)):
                least = tube - f
        for i in range(num + 4):
            share, part, angle = zero + 1.0, zero + 1.0, where_low + (i - num) * _QUARTER + shift
            if i < num:
                if load(found, i, 1) > 0.0:
                    continue
                angle = load_lane(rows, i, _ANGLE, lane)
                share, part = _shares(model, lane, found, num, i, least)
                store(found, i, 2, bare(share))
            elif i > num or not _is_found(model, lane, found, num, where_low):
                share = _beside(model, lane, found, num, angle)
            else:  # what others take of the deepest minimum is not given back: it would go over to the next deepest at once
                continue
            if share <= NO_SHARE or count >= model.contact_points_size:
                continue
            center, rate = _around(ring, R, p, angle)
            seen = near(model, s, center, lane)
            n_G, along = mat33.mul_vec(Rs, seen[1]), mat33.mul_vec(Rs, vec3.scale(1.0 / ring, rate))
            S = _curvatures(ring, tube, (Rb[2], Rb[5], Rb[8]), n_G, along, seen[2])
            place, name = vec3.add(ps, mat33.mul_vec(Rs, center)), i + (_OTHERS if begin > 0 else 0)
            row, count = count, put_ball(model, pair, count, place, tube + zero, S, Rs, seen, torus_first, name)
            if count > row:
                _put_share(model, lane, row, weight * share, part)
                if begin > 0:
                    count = _join(model, lane, begin, row, _SAME * ring)
        return count

    return put_ring


def torus_with(
    near: Callable[..., Any],
    name: str,
    torus_first: bool,
    is_far: Callable[[Any, int, Any, float], bool] = _never,
    both: bool = False,
) -> Routine:
    """The routine of a torus and a shape by ``near(model, s, x, lane)``, as in `_nearest`.

    ``is_far(model, s, x, reach)`` says cheaply that the shape is farther than *reach* from x, where it can. *both* says that
    the shape is a torus, too: both circles count.
    """
    put_ring = _putting(near, is_far)

    if both:

        def run(model: Any, pair: Pair) -> int:
            first, second, _ = pair
            count = put_ring(model, pair, first, second, True, 0, 0.5)
            if count > 0:  # else the circles are too far from each other
                count = put_ring(model, pair, second, first, False, count, 0.5)
            return count
    else:

        def run(model: Any, pair: Pair) -> int:
            first, second, _ = pair
            b, s = (first, second) if torus_first else (second, first)
            return put_ring(model, pair, b, s, torus_first, 0, 1.0)

    run.__name__ = run.__qualname__ = name
    run.__module__ = near.__module__  # where the routine is, by which it is pickled
    return narrow_phase(run)
