"""HalfSpace and Brick: every corner that is below the plane, as deep as it is below; law CORNER, area 0.

All corners count, so that the force has no jump where the brick turns from one face to another.
"""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare
from ..access import CORNER, DIMENSIONS, Pair, narrow_phase, orientation, origin, put_point, three_of


@narrow_phase
def half_space_brick(model: Any, pair: Pair) -> int:
    """A point for each corner that is below the plane."""
    h, s, lane = pair
    n = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    R, middle = orientation(model, s, lane), origin(model, s, lane)
    a, b, c = three_of(model, s, DIMENSIONS, lane)
    height = vec3.dot(n, vec3.sub(middle, origin(model, h, lane)))
    d = mat33.transpose_mul_vec(R, n)
    x, y, z = a * d[0], b * d[1], c * d[2]
    if bare(height) >= abs(bare(x)) + abs(bare(y)) + abs(bare(z)):
        return 0
    count = 0
    for corner in range(8):
        i = 1.0 if corner & 1 == 1 else -1.0
        j = 1.0 if corner & 2 == 2 else -1.0
        k = 1.0 if corner & 4 == 4 else -1.0
        depth = -(height + i * x + j * y + k * z)
        if depth > 0.0:
            place = vec3.add(middle, mat33.mul_vec(R, (i * a, j * b, k * c)))
            point = vec3.add_scaled(place, 0.5 * depth, n)
            put_point(model, pair, count, point, n, depth, CORNER, 0.0, 0.0, corner)
            count += 1
    return count
