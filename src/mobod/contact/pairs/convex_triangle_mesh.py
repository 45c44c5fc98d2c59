"""TriangleMesh with a half-space, a convex shape or a torus: a spring at the centroid of each face that is inside.

With s the centroid, p the point of the other surface that is nearest, n the outward normal there: depth is |p - s|, and the
row has the face's area and the cosine -n_face . n. A face that looks away from the surface has no spring.
"""

from collections.abc import Callable
from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare, load_lane, sqrt, store_lane
from ...compiling import Routine, generic
from ..access import DIMENSIONS, FACE, PART, SIDE, Pair, narrow_phase, orientation, origin, put_point, three_of
from ..mesh_tree import AREA, CENTROID, NORMAL, constant3, numbers_of_face, users_number, walking
from . import _inside
from ._core import bare3


@generic
def put_face(
    model: Any, pair: Pair, row: int, side: int, s: Any, n: Any, depth: Any, area: Any, cosine: Any, feature: int
) -> None:
    """Write the row of a face: s, in Ground, its centroid, and n the other surface's outward normal."""
    point = vec3.add_scaled(s, 0.5 * depth, n)
    if side == 0:
        n = vec3.neg(n)
    put_point(model, pair, row, point, n, depth, FACE, 0.0 * depth + area, cosine, feature)
    store_lane(model.contact_point, row, SIDE, pair[2], 0.0 * depth + float(side))


@generic
def box_in(R: Any, p: Any, center: Any, half: Any) -> Any:
    """The box, in a frame A, around a box in a frame B: of R_AB, p_AB; values only."""
    a, b, c, d, e, f, g, h, i = R
    c_A = vec3.add(bare3(p), bare3(mat33.mul_vec(R, center)))
    x = abs(bare(a)) * half[0] + abs(bare(b)) * half[1] + abs(bare(c)) * half[2]
    y = abs(bare(d)) * half[0] + abs(bare(e)) * half[1] + abs(bare(f)) * half[2]
    z = abs(bare(g)) * half[0] + abs(bare(h)) * half[1] + abs(bare(i)) * half[2]
    return c_A, (x, y, z)


@generic
def apart(c: Any, h: Any, its_c: Any, its_h: Any) -> bool:
    """True if two boxes along the same axes do not overlap."""
    if abs(c[0] - its_c[0]) > h[0] + its_h[0] or abs(c[1] - its_c[1]) > h[1] + its_h[1]:
        return True
    return abs(c[2] - its_c[2]) > h[2] + its_h[2]


def _with_mesh(of: str, nearest: Callable[..., Any], box: Callable[..., Any] = _inside.bounded) -> Routine:
    """The routine of one kind, by its functions of `_inside`."""

    @generic
    def outside(model: Any, m: int, center: Any, half: Any, size: int, count: int, k: Any) -> bool:
        return apart(center, half, k[0], k[1])

    @generic
    def visit(model: Any, m: int, f: int, count: int, k: Any) -> int:
        _, _, pair, R_SM, p_SM, R_GS, p_GS = k
        i, s = numbers_of_face(model, m, f), pair[0]
        centroid = vec3.add(p_SM, mat33.mul_vec(R_SM, constant3(model, i + CENTROID)))
        depth, g = nearest(model, s, pair[2], centroid)
        if depth <= 0.0:
            return count
        length = sqrt(vec3.dot(g, g))
        n = vec3.scale(1.0 / length, g)
        cosine = -vec3.dot(n, mat33.mul_vec(R_SM, constant3(model, i + NORMAL)))
        if cosine <= 0.0:
            return count
        area = bare(load_lane(model.contact_constants, i + AREA, 0, 0))
        at = vec3.add(p_GS, mat33.mul_vec(R_GS, centroid))
        put_face(model, pair, count, 1, at, mat33.mul_vec(R_GS, n), depth, area * length, cosine, users_number(model, m, f))
        store_lane(model.contact_point, count, PART, pair[2], 1.0 / length)
        return count + 1

    walk = walking(outside, visit)

    def convex_triangle_mesh(model: Any, pair: Pair) -> int:
        s, m, lane = pair
        R_GS, p_GS, R_GM, p_GM = (
            orientation(model, s, lane),
            origin(model, s, lane),
            orientation(model, m, lane),
            origin(model, m, lane),
        )
        R_SM = mat33.mul(mat33.transpose(R_GS), R_GM)
        p_SM = mat33.transpose_mul_vec(R_GS, vec3.sub(p_GM, p_GS))
        R_MS, p_MS = mat33.transpose(R_SM), vec3.neg(mat33.transpose_mul_vec(R_SM, p_SM))
        center, half = box(model, s, lane)
        around, reach = box_in(R_MS, p_MS, center, half)
        return walk(model, m, 0, (around, reach, pair, R_SM, p_SM, R_GS, p_GS))

    convex_triangle_mesh.__qualname__ = f"{of}_triangle_mesh"  # by which it is pickled
    return narrow_phase(convex_triangle_mesh)


@generic
def _above(model: Any, m: int, center: Any, half: Any, size: int, count: int, k: Any) -> bool:
    """True if a box is above the plane whose normal and distance from the origin are k[0] and k[1]."""
    n = k[0]
    reach = abs(n[0]) * half[0] + abs(n[1]) * half[1] + abs(n[2]) * half[2]
    return vec3.dot(n, center) - reach >= k[1]


@generic
def _below(model: Any, m: int, f: int, count: int, k: Any) -> int:
    """A face in the mesh's frame: with n and the plane's distance in that frame, and the normal in Ground."""
    _, _, pair, n, distance, n_G, R_GM, p_GM = k
    i = numbers_of_face(model, m, f)
    centroid = constant3(model, i + CENTROID)
    depth = distance - vec3.dot(n, centroid)
    if depth <= 0.0:
        return count
    cosine = -vec3.dot(n, constant3(model, i + NORMAL))
    if cosine <= 0.0:
        return count
    at = vec3.add(p_GM, mat33.mul_vec(R_GM, centroid))
    area = bare(load_lane(model.contact_constants, i + AREA, 0, 0))
    put_face(model, pair, count, 1, at, n_G, depth, area, cosine, users_number(model, m, f))
    return count + 1


_walk_below = walking(_above, _below)


@narrow_phase
def half_space_triangle_mesh(model: Any, pair: Pair) -> int:
    """Faces below the plane, in the mesh's frame; boxes above it are left out."""
    h, m, lane = pair
    n_G = mat33.mul_vec(orientation(model, h, lane), three_of(model, h, DIMENSIONS, lane))
    R_GM, p_GM = orientation(model, m, lane), origin(model, m, lane)
    n = mat33.transpose_mul_vec(R_GM, n_G)
    distance = vec3.dot(n_G, vec3.sub(origin(model, h, lane), p_GM))
    return _walk_below(model, m, 0, (bare3(n), bare(distance), pair, n, distance, n_G, R_GM, p_GM))


sphere_triangle_mesh = _with_mesh("sphere", _inside.sphere)
capsule_triangle_mesh = _with_mesh("capsule", _inside.capsule)
cylinder_triangle_mesh = _with_mesh("cylinder", _inside.cylinder, _inside.box_of_cylinder)
brick_triangle_mesh = _with_mesh("brick", _inside.brick)
ellipsoid_triangle_mesh = _with_mesh("ellipsoid", _inside.ellipsoid)
torus_triangle_mesh = _with_mesh("torus", _inside.torus)
convex_hull_triangle_mesh = _with_mesh("convex_hull", _inside.hull)
