"""A shape and a HeightField: part of `PAIRS`. Cylinders and ellipsoids have files of their own."""

from typing import Any

from ...algebra import mat33, sym33, vec3
from ...algebra.scalar import bare, load_lane
from ...compiling import Routine, apart, generic
from ..access import DIMENSIONS, Pair, narrow_phase, number_of, orientation, origin, three_of
from ..height_surface import foot, highest, normal, settle, surface
from ..mesh_tree import AREA, CENTROID, NORMAL, constant3, numbers_of_face, users_number, walking
from ..shape import BRICK, CAPSULE, CONVEX_HULL, CYLINDER, ELLIPSOID, HEIGHT_FIELD, SPHERE, TORUS, TRIANGLE_MESH
from ._core import bare3
from ._height_field import ball, below, corner, pose_in_field, side
from ._ring import torus_with
from .convex_triangle_mesh import box_in, put_face
from .cylinder_height_field import cylinder_height_field
from .ellipsoid_height_field import ellipsoid_height_field

#: A distance beyond all.
_FAR = 1e30


@narrow_phase
def sphere_height_field(model: Any, pair: Pair) -> int:
    """Sphere and HeightField: where the surface is locally nearest to the center, in a hollow at several places.

    With p the point of the surface and n its normal there, n.(c - p) = |c - p|, depth is the radius less that. The relative
    curvatures are the eigenvalues of 1/radius less the surface's own, z_ij / sqrt(1 + |grad z|^2) in its metric.

    A row each place.
    """
    s, _, lane = pair
    _, c = pose_in_field(model, pair, s)
    return ball(model, pair, 0, c, number_of(model, s, DIMENSIONS, lane), 0)


@narrow_phase
def capsule_height_field(model: Any, pair: Pair) -> int:
    """Capsule and HeightField: the spheres at both ends, and the side where it lies on a rise between them.

    Rows of the ends, then of the side.
    """
    s, _, lane = pair
    radius, half = number_of(model, s, DIMENSIONS, lane), number_of(model, s, DIMENSIONS + 1, lane)
    R, c = pose_in_field(model, pair, s)
    axis, count = (R[2], R[5], R[8]), 0
    for end in range(2):
        reach = half
        if end == 1:
            reach = -half
        count = ball(model, pair, count, vec3.add_scaled(c, reach, axis), radius, 16 * end)
    return side(model, pair, count, c, axis, radius, half, 32)


@narrow_phase
def brick_height_field(model: Any, pair: Pair) -> int:
    """The corners that are below the surface, each along the normal where that is nearest."""
    s, _, lane = pair
    R, p = pose_in_field(model, pair, s)
    h, count = three_of(model, s, DIMENSIONS, lane), 0
    for i in range(8):
        x = h[0] if i & 1 == 1 else -h[0]
        y = h[1] if i & 2 == 2 else -h[1]
        z = h[2] if i & 4 == 4 else -h[2]
        count = corner(model, pair, count, vec3.add(p, mat33.mul_vec(R, (x, y, z))), i)
    return count


@narrow_phase
def convex_hull_height_field(model: Any, pair: Pair) -> int:
    """The vertices, which come first in the constants, likewise."""
    s, _, _ = pair
    R, p = pose_in_field(model, pair, s)
    first, count = model.surface_first_constant[s], 0
    for i in range(model.contact_integers[model.surface_first_integer[s]]):
        at = vec3.add(p, mat33.mul_vec(R, constant3(model, first + 3 * i)))
        count = corner(model, pair, count, at, i)
    return count


@apart
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    """Distance, normal and shape operator as in `_nearest`; far away where the nearest point is on the border, or beyond."""
    o, at, none = 0.0 * x[0], bare3(x), (0.0, 0.0, 0.0)
    u, v, found = foot(model, s, at, none, (at[0], at[1]))
    if not found:
        return o + _FAR, (o, o, o + 1.0), (o, o, o, o, o, o)
    p, q = settle(model, s, x, none, u, v)
    z, z_x, z_y, z_xx, z_xy, z_yy = surface(model, s, p, q)
    n, w = normal(z_x, z_y)
    # with P = 1 - n n^T and the Hessian H of z(x, y), S = -P H P / w
    bent = sym33.rotate(_projector(n), (-z_xx / w, -z_yy / w, o, -z_xy / w, o, o))
    return vec3.dot(n, vec3.sub(x, (p, q, z))), n, bent


@generic
def _projector(n: Any) -> Any:
    xy, xz, yz = -n[0] * n[1], -n[0] * n[2], -n[1] * n[2]
    return 1.0 - n[0] * n[0], xy, xz, xy, 1.0 - n[1] * n[1], yz, xz, yz, 1.0 - n[2] * n[2]


@generic
def _is_far(model: Any, s: int, x: Any, reach: float) -> bool:
    return x[2] - reach > highest(model, s, x[0], x[1], reach, reach)[0]


# the surface's nearest point, and the ring of balls that is the tube, with the curvatures of both; of each place along the
# circle one nearest point is looked for, from below it: a hollow narrower than the tube touches it on one side
torus_height_field = torus_with(_near, "torus_height_field", True, _is_far)


@generic
def _above(model: Any, m: int, center: Any, half: Any, size: int, count: int, k: Any) -> bool:
    """True if a box is above all of the surface under it."""
    pair, R, p = k[:3]
    c, h = box_in(R, p, center, half)
    return c[2] - h[2] > highest(model, pair[1], c[0], c[1], h[0], h[1])[0]


@generic
def _visit(model: Any, m: int, f: int, count: int, k: Any) -> int:
    pair, R, p, R_GF, p_GF = k
    i = numbers_of_face(model, m, f)
    s = vec3.add(p, mat33.mul_vec(R, constant3(model, i + CENTROID)))
    depth, n = below(model, pair[1], s)
    if depth <= 0.0:
        return count
    cosine = -vec3.dot(n, mat33.mul_vec(R, constant3(model, i + NORMAL)))
    if cosine <= 0.0:
        return count
    at, n_G = vec3.add(p_GF, mat33.mul_vec(R_GF, s)), mat33.mul_vec(R_GF, n)
    area = bare(load_lane(model.contact_constants, i + AREA, 0, 0))
    put_face(model, pair, count, 0, at, n_G, depth, area, cosine, users_number(model, m, f))
    return count + 1


_walk = walking(_above, _visit)


@narrow_phase
def triangle_mesh_height_field(model: Any, pair: Pair) -> int:
    """TriangleMesh and HeightField: a spring at the centroid of each face below the surface, as in `convex_triangle_mesh`.

    Faces below the surface.
    """
    m, f, lane = pair
    R, p = pose_in_field(model, pair, m)
    return _walk(model, m, 0, (pair, R, p, orientation(model, f, lane), origin(model, f, lane)))


OF_HEIGHT_FIELDS: dict[tuple[int, int], Routine] = {
    (SPHERE, HEIGHT_FIELD): sphere_height_field,
    (CAPSULE, HEIGHT_FIELD): capsule_height_field,
    (CYLINDER, HEIGHT_FIELD): cylinder_height_field,
    (BRICK, HEIGHT_FIELD): brick_height_field,
    (ELLIPSOID, HEIGHT_FIELD): ellipsoid_height_field,
    (TORUS, HEIGHT_FIELD): torus_height_field,
    (CONVEX_HULL, HEIGHT_FIELD): convex_hull_height_field,
    (TRIANGLE_MESH, HEIGHT_FIELD): triangle_mesh_height_field,
}
