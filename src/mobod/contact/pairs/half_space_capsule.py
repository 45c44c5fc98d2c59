"""HalfSpace and Capsule: the spheres at both ends, each as far as it is below the plane; lying flat, both bear.

depth = radius - height of the end's center, relative curvatures 1 / radius
"""

from typing import Any

from ...algebra import mat33, vec3
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, orientation, origin, put_point, three_of


@narrow_phase
def half_space_capsule(model: Any, pair: Pair) -> int:
    """A point for each end that is below the plane."""
    h, s, lane = pair
    n = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    R, (radius, half, _) = orientation(model, s, lane), three_of(model, s, DIMENSIONS, lane)
    middle, along = origin(model, s, lane), (R[2], R[5], R[8])
    height = vec3.dot(n, vec3.sub(middle, origin(model, h, lane)))
    rise, count = half * vec3.dot(n, along), 0
    for end in range(2):
        side = 1.0 if end == 0 else -1.0
        depth = radius - (height + side * rise)
        if depth > 0.0:
            center = vec3.add_scaled(middle, side * half, along)
            point = vec3.add_scaled(center, -(radius - 0.5 * depth), n)
            put_point(model, pair, count, point, n, depth, HERTZ, 1.0 / radius, 1.0 / radius, end)
            count += 1
    return count
