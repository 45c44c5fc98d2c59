"""Capsule and Capsule: the nearest points of the segments in their middles; law HERTZ.

    |a + s u - b - t v| least,  -h <= s, t <= h   (Ericson 2005, Real-Time Collision Detection, section 5.1.9)

Parallel capsules touch in the middle of what they share. The curvatures are those of two spheres, of a sphere and a cylinder,
or of two cylinders, by which of the points are ends; near to its ends a side goes over to them, see `_curvature`.
"""

from typing import Any

from ...algebra import sym33, vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import generic
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, orientation, origin, put_point, three_of
from ._curvature import of_capsule, relative

#: The square of the sine between axes that count as parallel.
_PARALLEL = 1e-22
#: The distance of axes that count as crossing, by the length of all.
_CROSSING = 1e-12


@generic
def _within(x: Any, low: Any, high: Any) -> Any:
    if x < low:
        return low
    if x > high:
        return high
    return x


@narrow_phase
def capsule_capsule(model: Any, pair: Pair) -> int:
    """One point where the segments are nearer than the sum of the radii; those that cross are pushed apart square to both."""
    i, j, lane = pair
    r1, h1, _ = three_of(model, i, DIMENSIONS, lane)
    r2, h2, _ = three_of(model, j, DIMENSIONS, lane)
    R1, R2, a = orientation(model, i, lane), orientation(model, j, lane), origin(model, i, lane)
    u, v = (R1[2], R1[5], R1[8]), (R2[2], R2[5], R2[8])
    apart, zero = vec3.sub(origin(model, j, lane), a), 0.0 * a[0]
    reach = r1 + r2
    far = bare(reach + h1 + h2)
    if bare(vec3.dot(apart, apart)) >= far * far:
        return 0
    along, beside, cosine = vec3.dot(apart, u), vec3.dot(apart, v), vec3.dot(u, v)
    h1, h2 = h1 + zero, h2 + zero
    # the sine, and the way along the first axis, by cross products: the differences of cosines would be rounding
    c = vec3.cross(u, v)
    square = vec3.dot(c, c)
    if square > _PARALLEL:
        s = _within(vec3.dot(vec3.cross(apart, v), c) / square, -h1, h1)
    else:
        low, high = _within(along - h2, -h1, h1), _within(along + h2, -h1, h1)
        s = 0.5 * (low + high)
    t = s * cosine - beside
    if t < -h2 or t > h2:
        t = _within(t, -h2, h2)
        s = _within(along + t * cosine, -h1, h1)
    p = vec3.add_scaled(a, s, u)
    d = vec3.add_scaled(vec3.sub(vec3.add(a, apart), p), t, v)
    distance_square = vec3.dot(d, d)
    if distance_square >= reach * reach:
        return 0
    # axes that cross are apart by rounding, in any direction
    least = _CROSSING * far
    if distance_square > least * least:
        distance = sqrt(distance_square)
        n = vec3.scale(1.0 / distance, d)
    elif square > _PARALLEL:
        distance = zero
        n = vec3.scale(1.0 / sqrt(square), c)
    else:
        distance = zero
        n = (R1[0], R1[3], R1[6])
    depth = reach - distance
    greater, smaller = relative(sym33.add(of_capsule(1.0 / r1, u, n, s, h1), of_capsule(1.0 / r2, v, n, t, h2)))
    put_point(model, pair, 0, vec3.add_scaled(p, r1 - 0.5 * depth, n), n, depth, HERTZ, greater, smaller, 0)
    return 1
