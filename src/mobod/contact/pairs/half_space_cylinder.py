"""HalfSpace and Cylinder: four points of either rim, as far as they are below the plane; law CORNER, area 0.

They are the lowest point of the rim, the highest, and those half way between:

    p = center -+ half_length axis + radius (cos(k pi/2) t + sin(k pi/2) axis x t),   t along the part of -n square to the axis

Standing, the four of one end bear alike, lying the lowest of both ends. Forces are continuous everywhere: where the cylinder
stands upright t has no direction, but the four bear the same whichever it is. They are also the derivatives of their energy:
lowest and highest do not move to first order, and the two others, at the height of the rim's center, balance each other.
"""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import sqrt
from ..access import CORNER, DIMENSIONS, Pair, narrow_phase, orientation, origin, put_point, three_of

#: Upright, within this of the square of the axis' slope.
_UPRIGHT = 1e-24


@narrow_phase
def half_space_cylinder(model: Any, pair: Pair) -> int:
    """Points of both rims that are below the plane."""
    h, s, lane = pair
    n = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    R, middle = orientation(model, s, lane), origin(model, s, lane)
    radius, half, _ = three_of(model, s, DIMENSIONS, lane)
    height = vec3.dot(n, vec3.sub(middle, origin(model, h, lane)))
    d = mat33.transpose_mul_vec(R, n)
    slope = d[0] * d[0] + d[1] * d[1]
    t, u = 0.0 * radius + 1.0, 0.0 * radius
    if slope > _UPRIGHT:
        k = -1.0 / sqrt(slope)
        t, u = k * d[0], k * d[1]
    count = 0
    for i in range(8):
        side = half if i < 4 else -half
        c = (radius, 0.0 * radius, -radius, 0.0 * radius)[i % 4]
        e = (0.0 * radius, radius, 0.0 * radius, -radius)[i % 4]
        v = (c * t - e * u, c * u + e * t, side)
        depth = -(height + vec3.dot(v, d))
        if depth > 0.0:
            point = vec3.add_scaled(vec3.add(middle, mat33.mul_vec(R, v)), 0.5 * depth, n)
            put_point(model, pair, count, point, n, depth, CORNER, 0.0, 0.0, i)
            count += 1
    return count
