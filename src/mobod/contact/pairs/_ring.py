"""A torus and a shape whose nearest point is known: the ring of balls that is the tube, and where along it the shape is near.

A torus is not convex, and touches in several places. With c(t) the circle in the tube, f(t) the distance of c from the shape
and n the normal there, minima of f are roots of

    g(t) = n . dc/dt,   from below to above zero

which lie between some of SAMPLES places around the circle: two minima nearer to each other than a thirtieth of the circle
can be taken for one. Each is a point of the contact; and so are, if they are inside the shape, the places a quarter, a half and
three quarters of the circle from the deepest one, where no minimum is near: a ring that lies flat, or is around a rod that
fills it, is as deep everywhere. Tangents of t are those of the root: dt = -dg / g'. Where g jumps instead, because the circle
itself is inside a polyhedron, or deep in an ellipsoid, the tangents of a minimum are those of a fixed t, an approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra import mat33, sym33, vec3
from ...algebra.scalar import bare, load, scratch, sincos, store
from ...compiling import Routine, generic
from ..access import DIMENSIONS, Pair, narrow_phase, orientation, origin, three_of
from . import _curvature
from ._ball import put_ball
from ._core import bare3, bare9
from .half_space_torus import ring_curvature

SAMPLES = 64
_MOST = 16
_STEP, _TURN, _QUARTER = 0.09817477042468103, 6.283185307179586, 1.5707963267948966


@generic
def _around(ring: Any, R: Any, p: Any, t: Any) -> Any:
    """The circle's point at angle t, in the frame in which the torus is at R, p, and its derivative."""
    s, c = sincos(t)
    at = vec3.add(p, mat33.mul_vec(R, (ring * c, ring * s, 0.0 * s)))
    return at, mat33.mul_vec(R, (-ring * s, ring * c, 0.0 * s))


@generic
def _middle(bracket: Any, steps: int) -> float:
    """Where to look next for the root in a bracket (x, y, g(x), g(y), side that moved last)."""
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
def _places_besides(found: Any, num: int, deepest: float) -> int:
    """Add the quarters of the circle from the deepest place that no minimum is near; how many places there are then."""
    least = num
    for k in range(4):
        t = deepest + k * _QUARTER
        new = True
        for i in range(least):
            apart = abs(t - load(found, i, 0)) % _TURN
            new = new and 0.5 * _QUARTER < apart < _TURN - 0.5 * _QUARTER
        if new:
            store(found, num, 0, t)
            num += 1
    return num


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


def torus_with(
    near: Callable[..., Any], name: str, torus_first: bool, is_far: Callable[[Any, int, Any, float], bool] = _never
) -> Routine:
    """The routine of a torus and a shape by ``near(model, s, x, lane)``, as in `_nearest`.

    ``is_far(model, s, x, reach)`` says cheaply that the shape is farther than *reach* from x, where it can.
    """

    @generic
    def look(model: Any, s: int, lane: int, ring: float, R: Any, p: Any, t: Any) -> Any:
        """Distance, its derivative along the circle, and the normal."""
        at, rate = _around(ring, R, p, t)
        distance, n, _ = near(model, s, at, lane)
        return distance, vec3.dot(n, rate), n

    @generic
    def sample(model: Any, s: int, lane: int, ring: float, tube: float, R: Any, p: Any, t: float) -> Any:
        """As `look`, of values; far away where the tube touches nothing within a step of t."""
        at, _ = _around(ring, R, p, t)
        if is_far(model, s, at, tube + _STEP * ring):
            return 1e30, 0.0
        f, g, _ = look(model, s, lane, ring, R, p, t)
        return f, g

    def run(model: Any, pair: Pair) -> int:
        first, second, lane = pair
        b, s = (first, second) if torus_first else (second, first)
        ring, tube, _ = bare3(three_of(model, b, DIMENSIONS, lane))
        Rb, Rs, ps = orientation(model, b, lane), orientation(model, s, lane), origin(model, s, lane)
        R = mat33.mul(mat33.transpose(Rs), Rb)
        p = mat33.transpose_mul_vec(Rs, vec3.sub(origin(model, b, lane), ps))
        A, q = bare9(R), bare3(p)
        found = scratch(_MOST, 1)
        num, low, where_low = 0, 1e300, 0.0
        t0 = -_STEP
        f0, g0 = sample(model, s, lane, ring, tube, A, q, t0)
        for i in range(SAMPLES):
            t1 = i * _STEP
            f1, g1 = sample(model, s, lane, ring, tube, A, q, t1)
            if f1 < low:
                low, where_low = f1, t1
            if g0 < -1e-9 * ring and g1 >= 0.0 and min(f0, f1) < tube + 0.5 * _STEP * ring and num < _MOST - 4:
                bracket, middle = (t0, t1, g0, g1, 0), t1
                for steps in range(90):
                    if bracket[1] - bracket[0] < 1e-14 or bracket[3] == 0.0:
                        break
                    middle = _middle(bracket, steps)
                    _, g, _ = look(model, s, lane, ring, A, q, middle)
                    if abs(g) < 1e-15 * ring:
                        break
                    bracket = _narrow(bracket, middle, g)
                f, g, _ = look(model, s, lane, ring, A, q, middle)
                store(found, num, 0, middle)
                num += 1
                if f < low:
                    low, where_low = f, middle
            t0, f0, g0 = t1, f1, g1
        if low >= tube:
            return 0
        least, num = num, _places_besides(found, num, where_low)
        count, shift = 0, 0.0 * p[0]
        for i in range(num):
            t = load(found, i, 0)
            angle = t + shift  # the places besides go with the deepest one
            if i < least:
                angle = t + 0.0 * p[0]
                _, after, _ = look(model, s, lane, ring, A, q, t + 1e-6)
                _, before, _ = look(model, s, lane, ring, A, q, t - 1e-6)
                if after - before > 1e-10 * ring:
                    # a step gives first derivatives, and the next ones second ones: g' is a difference, of a few digits
                    for _ in range(3):
                        _, g, _ = look(model, s, lane, ring, R, p, angle)
                        angle = angle - (g - bare(g)) * (2e-6 / (after - before))
                if t == where_low:
                    shift = angle - t
            center, rate = _around(ring, R, p, angle)
            seen = near(model, s, center, lane)
            n = mat33.mul_vec(Rs, seen[1])
            along = mat33.mul_vec(Rs, vec3.scale(1.0 / ring, rate))
            S = _curvatures(ring, tube, (Rb[2], Rb[5], Rb[8]), n, along, seen[2])
            place = vec3.add(ps, mat33.mul_vec(Rs, center))
            count = put_ball(model, pair, count, place, tube + 0.0 * p[0], S, Rs, seen, torus_first, i)
        return count

    run.__name__ = run.__qualname__ = name
    run.__module__ = near.__module__  # where the routine is, by which it is pickled
    return narrow_phase(run)
