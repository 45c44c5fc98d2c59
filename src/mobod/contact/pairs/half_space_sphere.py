"""HalfSpace and Sphere: depth is the radius less the height of the center; the relative curvatures are 1 / radius."""

from typing import Any

from ...algebra import mat33, vec3
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, number_of, orientation, origin, put_point, three_of


@narrow_phase
def half_space_sphere(model: Any, pair: Pair) -> int:
    """One point where the sphere is below the plane."""
    h, s, lane = pair
    n = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    radius, center = number_of(model, s, DIMENSIONS, lane), origin(model, s, lane)
    height = vec3.dot(n, vec3.sub(center, origin(model, h, lane)))
    depth = radius - height
    if depth <= 0.0:
        return 0
    point = vec3.add_scaled(center, -(radius - 0.5 * depth), n)
    put_point(model, pair, 0, point, n, depth, HERTZ, 1.0 / radius, 1.0 / radius, 0)
    return 1
