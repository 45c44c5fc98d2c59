"""HalfSpace and Torus: four places of the tube, as far as they are below the plane; law HERTZ.

They are where the circle in the tube is lowest, highest, and half way between. The tube is taken for the balls of its
radius r about these centers: at the lowest and the highest, where n is square to the circle, that is what it is, and half way
between too as long as the ring lies nearly flat, which is when these are below.

    depth = r - height of the center        curvatures 1 / r and cos(a) / (R + r cos(a))

with a from the circle's outward radius to the torus' normal -n, and the second one a tenth of 1 / (R + r) at least: a ring that
lies flat touches all around. Continuity and energy are as of the rim of a cylinder, see `half_space_cylinder`.
"""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import sqrt
from ...compiling import generic
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, orientation, origin, put_point, three_of

_UPRIGHT = 1e-24


@generic
def ring_curvature(ring: Any, tube: Any, outward: Any) -> Any:
    """Along a torus' circle, where the normal has the component *outward* along the circle's radius."""
    k = outward / (ring + tube * outward)
    least = 0.1 / (ring + tube) + 0.0 * outward
    return k if k > least else least


@narrow_phase
def half_space_torus(model: Any, pair: Pair) -> int:
    """Places of the tube that are below the plane."""
    h, s, lane = pair
    n = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    R, middle = orientation(model, s, lane), origin(model, s, lane)
    ring, tube, _ = three_of(model, s, DIMENSIONS, lane)
    height = vec3.dot(n, vec3.sub(middle, origin(model, h, lane)))
    d = mat33.transpose_mul_vec(R, n)
    slope = d[0] * d[0] + d[1] * d[1]
    zero = 0.0 * ring
    t, u = zero + 1.0, zero
    if slope > _UPRIGHT:
        k = -1.0 / sqrt(slope)
        t, u = k * d[0], k * d[1]
    count = 0
    for i in range(4):
        c = (1.0, 0.0, -1.0, 0.0)[i]
        e = (0.0, 1.0, 0.0, -1.0)[i]
        radial = (c * t - e * u, c * u + e * t, zero)
        depth = tube - (height + ring * vec3.dot(radial, d))
        if depth > 0.0:
            center = vec3.add(middle, mat33.mul_vec(R, vec3.scale(ring, radial)))
            point = vec3.add_scaled(center, 0.5 * depth - tube, n)
            outward = -vec3.dot(radial, d)
            put_point(model, pair, count, point, n, depth, HERTZ, 1.0 / tube, ring_curvature(ring, tube, outward), i)
            count += 1
    return count
