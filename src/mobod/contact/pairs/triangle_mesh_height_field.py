"""TriangleMesh and HeightField: a spring at the centroid of each face below the surface, as in `convex_triangle_mesh`."""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare, load_lane
from ...compiling import generic
from ..access import Pair, narrow_phase, orientation, origin
from ..height_surface import highest
from ..mesh_tree import AREA, CENTROID, NORMAL, constant3, numbers_of_face, users_number, walking
from ._height_field import below, pose_in_field
from .convex_triangle_mesh import box_in, put_face


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
    """Faces below the surface."""
    m, f, lane = pair
    R, p = pose_in_field(model, pair, m)
    return _walk(model, m, 0, (pair, R, p, orientation(model, f, lane), origin(model, f, lane)))
