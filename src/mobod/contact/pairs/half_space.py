"""A HalfSpace and another shape: what of that is below the plane."""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import Routine, generic
from ..access import CORNER, DIMENSIONS, HERTZ, Pair, narrow_phase, number_of, orientation, origin, put_point, three_of
from ..mesh_tree import constant3
from ..shape import BRICK, CAPSULE, CONVEX_HULL, CYLINDER, ELLIPSOID, HALF_SPACE, SPHERE, TORUS
from ._curvature import of_ellipsoid, relative

#: Upright, within this of the square of the axis' slope.
_UPRIGHT = 1e-24


@generic
def _above(model: Any, pair: Pair) -> Any:
    """The plane's outward normal, the orientation and the origin of the other shape, and the height of that."""
    h, s, lane = pair
    n = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    R, middle = orientation(model, s, lane), origin(model, s, lane)
    return n, R, middle, vec3.dot(n, vec3.sub(middle, origin(model, h, lane)))


@generic
def _lowest_way(d: Any, zero: Any) -> Any:
    """The unit vector (t, u) square to a shape's axis along which it falls most, for d the normal in its frame."""
    slope = d[0] * d[0] + d[1] * d[1]
    t, u = zero + 1.0, zero
    if slope > _UPRIGHT:
        k = -1.0 / sqrt(slope)
        t, u = k * d[0], k * d[1]
    return t, u


@narrow_phase
def half_space_sphere(model: Any, pair: Pair) -> int:
    """HalfSpace and Sphere: depth is the radius less the height of the center; the relative curvatures are 1 / radius.

    One point where the sphere is below the plane.
    """
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


@narrow_phase
def half_space_capsule(model: Any, pair: Pair) -> int:
    """HalfSpace and Capsule: the spheres at both ends, each as far as it is below the plane; lying flat, both bear.

    depth = radius - height of the end's center, relative curvatures 1 / radius

    A point for each end that is below the plane.
    """
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


@narrow_phase
def half_space_cylinder(model: Any, pair: Pair) -> int:
    """HalfSpace and Cylinder: four points of either rim, as far as they are below the plane; law CORNER, area 0.

    They are the lowest point of the rim, the highest, and those half way between:

        p = center -+ half_length axis + radius (cos(k pi/2) t + sin(k pi/2) axis x t)

    with t along the part of -n square to the axis. Standing, the four of one end bear alike, lying the lowest of both ends.
    Forces are continuous everywhere: where the cylinder stands upright t has no direction, but the four bear the same whichever
    it is. They are also the derivatives of their energy: lowest and highest do not move to first order, and the two others, at
    the height of the rim's center, balance each other.

    Points of both rims that are below the plane.
    """
    _, s, lane = pair
    n, R, middle, height = _above(model, pair)
    radius, half, _ = three_of(model, s, DIMENSIONS, lane)
    d = mat33.transpose_mul_vec(R, n)
    t, u = _lowest_way(d, 0.0 * radius)
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


@narrow_phase
def half_space_brick(model: Any, pair: Pair) -> int:
    """HalfSpace and Brick: every corner that is below the plane, as deep as it is below; law CORNER, area 0.

    All corners count, so that the force has no jump where the brick turns from one face to another.

    A point for each corner that is below the plane.
    """
    _, s, lane = pair
    n, R, middle, height = _above(model, pair)
    a, b, c = three_of(model, s, DIMENSIONS, lane)
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


@narrow_phase
def half_space_ellipsoid(model: Any, pair: Pair) -> int:
    """HalfSpace and Ellipsoid: the ellipsoid's lowest point, at which it has the plane's normal; law HERTZ.

        d = R^T n   p = center - R D^2 d / |D d|   depth = |D d| - height of the center   S = |D d| P D^-2 P, P = 1 - d d^T

    with D the radii; the relative curvatures are those of the ellipsoid, eigenvalues of S.

    One point where the ellipsoid is below the plane.
    """
    _, s, lane = pair
    n, R, middle, height = _above(model, pair)
    a, b, c = three_of(model, s, DIMENSIONS, lane)
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


@generic
def ring_curvature(ring: Any, tube: Any, outward: Any) -> Any:
    """Along a torus' circle, where the normal has the component *outward* along the circle's radius."""
    k = outward / (ring + tube * outward)
    least = 0.1 / (ring + tube) + 0.0 * outward
    return k if k > least else least


@narrow_phase
def half_space_torus(model: Any, pair: Pair) -> int:
    """HalfSpace and Torus: four places of the tube, as far as they are below the plane; law HERTZ.

    They are where the circle in the tube is lowest, highest, and half way between. The tube is taken for the balls of its
    radius r about these centers: at the lowest and the highest, where n is square to the circle, that is what it is, and half
    way between too as long as the ring lies nearly flat, which is when these are below.

        depth = r - height of the center        curvatures 1 / r and cos(a) / (R + r cos(a))

    with a from the circle's outward radius to the torus' normal -n, and the second one a tenth of 1 / (R + r) at least: a ring
    that lies flat touches all around. Continuity and energy are as of the rim of a cylinder, see `half_space_cylinder`.

    Places of the tube that are below the plane.
    """
    _, s, lane = pair
    n, R, middle, height = _above(model, pair)
    ring, tube, _ = three_of(model, s, DIMENSIONS, lane)
    d = mat33.transpose_mul_vec(R, n)
    zero = 0.0 * ring
    t, u = _lowest_way(d, zero)
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


@narrow_phase
def half_space_convex_hull(model: Any, pair: Pair) -> int:
    """HalfSpace and ConvexHull: every vertex that is below the plane, as deep as it is below; law CORNER, area 0.

    There is a row for each vertex of the hull, so none is left out.

    A point for each vertex that is below the plane.
    """
    s = pair[1]
    n, R, middle, height = _above(model, pair)
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


OF_HALF_SPACES: dict[tuple[int, int], Routine] = {
    (HALF_SPACE, SPHERE): half_space_sphere,
    (HALF_SPACE, CAPSULE): half_space_capsule,
    (HALF_SPACE, CYLINDER): half_space_cylinder,
    (HALF_SPACE, BRICK): half_space_brick,
    (HALF_SPACE, ELLIPSOID): half_space_ellipsoid,
    (HALF_SPACE, TORUS): half_space_torus,
    (HALF_SPACE, CONVEX_HULL): half_space_convex_hull,
}
