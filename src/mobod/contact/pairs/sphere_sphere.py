"""Sphere and Sphere: along the line between the centers; the relative curvatures are 1 / r1 + 1 / r2."""

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import sqrt
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, number_of, origin, put_point


@narrow_phase
def sphere_sphere(model: Any, pair: Pair) -> int:
    """One point where the centers are nearer than the sum of the radii; spheres with one center are pushed apart along z."""
    a, b, lane = pair
    r1, r2 = number_of(model, a, DIMENSIONS, lane), number_of(model, b, DIMENSIONS, lane)
    c1 = origin(model, a, lane)
    r = vec3.sub(origin(model, b, lane), c1)
    square, reach = vec3.dot(r, r), r1 + r2
    if square >= reach * reach:
        return 0
    if square > 0.0:
        distance = sqrt(square)
        n = vec3.scale(1.0 / distance, r)
    else:
        distance = 0.0 * reach
        n = (distance, distance, distance + 1.0)
    depth = reach - distance
    point = vec3.add_scaled(c1, r1 - 0.5 * depth, n)
    curvature = 1.0 / r1 + 1.0 / r2
    put_point(model, pair, 0, point, n, depth, HERTZ, curvature, curvature, 0)
    return 1
