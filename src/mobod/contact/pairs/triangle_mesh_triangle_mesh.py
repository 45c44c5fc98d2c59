"""TriangleMesh and TriangleMesh: a spring at the centroid of each face of either that is inside the other.

As `convex_triangle_mesh`; p is the nearest point of the other mesh, which its tree of boxes finds, and whether s is inside
tells the normal there. A box of faces, a ball around it, that is farther outside than its radius is left out whole.
"""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare, load_lane
from ...compiling import generic
from ..access import Pair, narrow_phase, orientation, origin
from ..mesh_tree import (
    AREA,
    CENTROID,
    NORMAL,
    box,
    constant3,
    nearest_face,
    nearest_on_mesh,
    num_faces,
    numbers_of_face,
    users_number,
    walking,
)
from ._core import bare3
from .convex_triangle_mesh import apart, box_in, put_face

#: Boxes of fewer faces are not asked for their distance: it costs as much as that of a face.
_FEW = 16
#: Of a walk's state that are the number of rows; more faces two meshes do not have.
_BITS = 31


@generic
def _outside(model: Any, m: int, center: Any, half: Any, size: int, state: int, k: Any) -> bool:
    around, reach, other, _, _, R, p = k[:7]
    if apart(center, half, around, reach):
        return True
    if size < _FEW:
        return False
    x = bare3(vec3.add(p, mat33.mul_vec(R, center)))
    depth, _ = nearest_on_mesh(model, other, x, nearest_face(model, other, x, state >> _BITS))
    return depth < 0.0 and depth * depth > vec3.dot(half, half)


@generic
def _visit(model: Any, m: int, f: int, state: int, k: Any) -> int:
    """Face f of mesh m, with R and p of its frame in the other's.

    The state is the number of rows, and above it the face of the other mesh that was nearest before: so will that be which
    is nearest now, or one beside it.
    """
    _, _, other, pair, side, R, p, R_G, p_G = k
    i = numbers_of_face(model, m, f)
    s = vec3.add(p, mat33.mul_vec(R, constant3(model, i + CENTROID)))
    normal = mat33.mul_vec(R, constant3(model, i + NORMAL))
    face = nearest_face(model, other, bare3(s), state >> _BITS)
    depth, n = nearest_on_mesh(model, other, s, face)
    count = state & ((1 << _BITS) - 1)
    state = (face << _BITS) | count
    if depth <= 0.0:
        return state
    cosine = -vec3.dot(n, normal)
    if cosine <= 0.0:
        return state
    at, n_G = vec3.add(p_G, mat33.mul_vec(R_G, s)), mat33.mul_vec(R_G, n)
    feature = users_number(model, m, f)
    if side == 1:
        feature = feature + num_faces(model, other)
    put_face(
        model, pair, count, side, at, n_G, depth, bare(load_lane(model.contact_constants, i + AREA, 0, 0)), cosine, feature
    )
    return state + 1


_walk = walking(_outside, _visit)


@generic
def _faces_inside(model: Any, pair: Pair, m: int, other: int, side: int, count: int) -> int:
    """Rows of the faces of mesh m inside the other one."""
    _, _, lane = pair
    R_GM, p_GM = orientation(model, m, lane), origin(model, m, lane)
    R_GO, p_GO = orientation(model, other, lane), origin(model, other, lane)
    R = mat33.mul(mat33.transpose(R_GO), R_GM)
    p = mat33.transpose_mul_vec(R_GO, vec3.sub(p_GM, p_GO))
    center, half = box(model, other, 1)
    around, reach = box_in(mat33.transpose(R), vec3.neg(mat33.transpose_mul_vec(R, p)), center, half)
    state = _walk(model, m, count, (around, reach, other, pair, side, R, p, R_GO, p_GO))
    return state & ((1 << _BITS) - 1)


@narrow_phase
def triangle_mesh_triangle_mesh(model: Any, pair: Pair) -> int:
    """The faces of the first, then those of the second."""
    a, b, _ = pair
    count = 0
    for side in range(2):
        m, other = a, b
        if side == 1:
            m, other = b, a
        count = _faces_inside(model, pair, m, other, side, count)
    return count
