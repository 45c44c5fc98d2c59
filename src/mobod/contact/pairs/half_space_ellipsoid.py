"""HalfSpace and Ellipsoid: the ellipsoid's lowest point, at which it has the plane's normal; law HERTZ.

    d = R^T n   p = center - R D^2 d / |D d|   depth = |D d| - height of the center   S = |D d| P D^-2 P, P = 1 - d d^T

with D the radii; the relative curvatures are those of the ellipsoid, eigenvalues of S.
"""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import sqrt
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, orientation, origin, put_point, three_of
from ._curvature import of_ellipsoid, relative


@narrow_phase
def half_space_ellipsoid(model: Any, pair: Pair) -> int:
    """One point where the ellipsoid is below the plane."""
    h, s, lane = pair
    n = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    R, middle = orientation(model, s, lane), origin(model, s, lane)
    a, b, c = three_of(model, s, DIMENSIONS, lane)
    height = vec3.dot(n, vec3.sub(middle, origin(model, h, lane)))
    d, squares = mat33.transpose_mul_vec(R, n), (a * a, b * b, c * c)
    below = (squares[0] * d[0], squares[1] * d[1], squares[2] * d[2])
    reach = sqrt(vec3.dot(below, d))
    depth = reach - height
    if depth <= 0.0:
        return 0
    lowest = vec3.add_scaled(middle, -1.0 / reach, mat33.mul_vec(R, below))
    greater, smaller = relative(of_ellipsoid(squares, R, n))
    put_point(model, pair, 0, vec3.add_scaled(lowest, 0.5 * depth, n), n, depth, HERTZ, greater, smaller, 0)
    return 1
