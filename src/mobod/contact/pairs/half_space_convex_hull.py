"""HalfSpace and ConvexHull: every vertex that is below the plane, as deep as it is below; law CORNER, area 0.

There is a row for each vertex of the hull, so none is left out.
"""

from typing import Any

from ...algebra import mat33, vec3
from ..access import CORNER, DIMENSIONS, Pair, narrow_phase, orientation, origin, put_point, three_of
from ._core import constant3


@narrow_phase
def half_space_convex_hull(model: Any, pair: Pair) -> int:
    """A point for each vertex that is below the plane."""
    h, s, lane = pair
    n = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    R, middle = orientation(model, s, lane), origin(model, s, lane)
    height = vec3.dot(n, vec3.sub(middle, origin(model, h, lane)))
    d = mat33.transpose_mul_vec(R, n)
    first, count = model.surface_first_constant[s], 0
    for i in range(model.contact_integers[model.surface_first_integer[s]]):
        v = constant3(model, first + 3 * i)
        depth = -(height + vec3.dot(v, d))
        if depth > 0.0:
            point = vec3.add_scaled(vec3.add(middle, mat33.mul_vec(R, v)), 0.5 * depth, n)
            put_point(model, pair, count, point, n, depth, CORNER, 0.0, 0.0, i)
            count += 1
    return count
