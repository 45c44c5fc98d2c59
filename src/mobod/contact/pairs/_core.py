"""Support functions of convex shapes, what is farthest in a direction, in numbers without tangents, in the surface's frame.

A shape is a core and a margin, all points within *r* of the core: of a sphere its center, of a capsule a segment, of others
themselves. A core is the tuple (kind, first integer, first constant, x, y, z, r): a brick of half lengths (x, y, z), some of
which are 0 for spheres and capsules; a cylinder of radius x and half length z; an ellipsoid of radii (x, y, z); a hull.

Near a direction d the surface of a core is one of three features:

| | what | numbers |
| --- | --- | --- |
| POINT | b + D^2 d / |D d|, D diagonal: a corner (D = 0), a cylinder's rim (D = (x, x, 0)), an ellipsoid | b, D^2 |
| EDGE | a line along e through b; a cylinder's side is its axis, and has the margin x | b, e |
| FACE | a plane with the outward normal e through b | b, e |

A feature is the tuple (class, b, e or D^2, r, which): *which* is the number of a vertex, or of a face.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import generic
from ..access import BOX, DIMENSIONS, number_of, orientation, origin, three_of
from ..convex_hull import CELLS, FEW
from ..mesh_tree import constant3
from ..shape import BRICK, CAPSULE, CONVEX_HULL, CYLINDER, ELLIPSOID, SPHERE

POINT, EDGE, FACE = 0, 1, 2
#: The least number whose inverse square root is no trouble: |D d| of a corner.
_TINY = 1e-300


@generic
def bare3(v: Any) -> Any:
    """Three numbers without their tangents."""
    return bare(v[0]), bare(v[1]), bare(v[2])


@generic
def bare9(A: Any) -> Any:
    """Nine numbers without their tangents."""
    return bare(A[0]), bare(A[1]), bare(A[2]), bare(A[3]), bare(A[4]), bare(A[5]), bare(A[6]), bare(A[7]), bare(A[8])


@generic
def core_of(model: Any, s: int, other: int, lane: int) -> Any:
    """The core of surface *s*; of an endless cylinder a piece that is long for the *other*."""
    x, y, z = bare3(three_of(model, s, DIMENSIONS, lane))
    kind, i, c, r = model.surface_kind[s], model.surface_first_integer[s], model.surface_first_constant[s], 0.0
    if kind == SPHERE:
        kind, x, y, z, r = BRICK, 0.0, 0.0, 0.0, x
    elif kind == CAPSULE:
        kind, x, y, z, r = BRICK, 0.0, 0.0, y, x
    elif kind == CYLINDER:
        z = y
        if bare(number_of(model, s, DIMENSIONS + 2, lane)) == 1.0:
            h = bare3(three_of(model, other, BOX + 3, lane))
            z = 4.0 * (x + sqrt(vec3.dot(h, h)))
        y = x
    return kind, i, c, x, y, z, r


@generic
def frame_of(model: Any, s: int, other: int, lane: int) -> Any:
    """R_GS and p_GS; of an endless cylinder the origin is moved along its axis to where the *other* is."""
    R, p = orientation(model, s, lane), origin(model, s, lane)
    if model.surface_kind[s] == CYLINDER and bare(number_of(model, s, DIMENSIONS + 2, lane)) == 1.0:
        R_O, axis = orientation(model, other, lane), (R[2], R[5], R[8])
        c = three_of(model, other, BOX, lane)
        apart = vec3.sub(vec3.add(mat33.mul_vec(R_O, c), origin(model, other, lane)), p)
        p = vec3.add_scaled(p, bare(vec3.dot(axis, apart)), axis)
    return R, p


@generic
def size_of(model: Any, core: Any, s: int, lane: int) -> float:
    """A length not below half the diameter of a core about its frame's origin."""
    kind, _, _, x, y, z, _ = core
    if kind == CONVEX_HULL:
        c, h = bare3(three_of(model, s, BOX, lane)), bare3(three_of(model, s, BOX + 3, lane))
        return sqrt(vec3.dot(c, c)) + sqrt(vec3.dot(h, h))
    return sqrt(x * x + y * y + z * z)


@generic
def vertex(model: Any, core: Any, v: int) -> Any:
    """A hull's vertex."""
    return constant3(model, core[2] + 3 * v)


@generic
def face_normal(model: Any, core: Any, f: int) -> Any:
    """The outward normal of a hull's face."""
    return constant3(model, core[2] + 3 * model.contact_integers[core[1]] + 4 * f)


@generic
def list_of(model: Any, core: Any, which: int, i: int) -> Any:
    """The run in contact_integers of list *i* of a hull's list of lists *which*: see `ConvexHull.integers`."""
    start = core[1] + model.contact_integers[core[1] + which] + i
    return core[1] + model.contact_integers[start], core[1] + model.contact_integers[start + 1]


NEIGHBOURS, FACES_AROUND, CORNERS, CELLS_OF = 2, 3, 4, 5


@generic
def cell(d: Any) -> int:
    """The number of the cell of a cube that a direction goes through, see `convex_hull.cells`."""
    a, b, c = abs(d[0]), abs(d[1]), abs(d[2])
    axis, x, y, z = 2, d[2], d[0], d[1]
    if a >= b and a >= c:
        axis, x, y, z = 0, d[0], d[1], d[2]
    elif b >= c:
        axis, x, y, z = 1, d[1], d[2], d[0]
    scale = 0.5 * CELLS / (abs(x) + _TINY)
    row, column = _within_side(scale * y + 0.5 * CELLS), _within_side(scale * z + 0.5 * CELLS)
    return CELLS * (CELLS * (2 * axis + int(x > 0.0)) + row) + column


@generic
def _within_side(x: float) -> int:
    """The row or column of a place; of NaN 0."""
    if x > 0.0:
        return int(x) if x < CELLS else CELLS - 1
    return 0


@generic
def signed(x: float, like: float) -> float:
    """X, with the sign of *like*."""
    return x if like >= 0.0 else -x


@generic
def support(model: Any, core: Any, d: Any, v: int) -> Any:
    """The point of a core that is farthest along d, and of a hull its vertex, found from vertex *v* on."""
    kind, i, _, x, y, z, _ = core
    if kind == CONVEX_HULL:
        n = model.contact_integers[i]
        best = vertex(model, core, v)
        most = vec3.dot(best, d)
        if n <= FEW:
            for k in range(n):
                one = vertex(model, core, k)
                here = vec3.dot(one, d)
                if here > most:
                    v, best, most = k, one, here
            return best, v
        start = model.contact_integers[i + model.contact_integers[i + CELLS_OF] + cell(d)]
        one = vertex(model, core, start)
        here = vec3.dot(one, d)
        if here > most:
            v, best, most = start, one, here
        found = True
        while found:
            found = False
            begin, end = list_of(model, core, NEIGHBOURS, v)
            for at in range(begin, end):
                k = model.contact_integers[at]
                one = vertex(model, core, k)
                here = vec3.dot(one, d)
                if here > most:
                    v, best, most, found = k, one, here, True
        return best, v
    if kind == CYLINDER:
        across = sqrt(d[0] * d[0] + d[1] * d[1] + _TINY)
        return (x * d[0] / across, x * d[1] / across, signed(z, d[2])), v
    if kind == ELLIPSOID:
        a, b, c = x * x * d[0], y * y * d[1], z * z * d[2]
        length = sqrt(a * d[0] + b * d[1] + c * d[2] + _TINY)
        return (a / length, b / length, c / length), v
    return (signed(x, d[0]), signed(y, d[1]), signed(z, d[2])), v


@generic
def is_smooth(core: Any) -> bool:
    """True if a core is no polyhedron."""
    return core[0] == CYLINDER or core[0] == ELLIPSOID


@generic
def is_polyhedron(core: Any) -> bool:
    """True of a brick or a hull without a margin."""
    return core[6] == 0.0 and not is_smooth(core)


@generic
def point_feature(model: Any, core: Any, d: Any, v: int) -> Any:
    """The support point along d as a POINT; *v* is a hull's vertex there."""
    kind, _, _, x, y, z, r = core
    o = (0.0, 0.0, 0.0)
    if kind == ELLIPSOID:
        return POINT, o, (x * x, y * y, z * z), r, 0
    if kind == CYLINDER:
        return POINT, (0.0, 0.0, signed(z, d[2])), (x * x, x * x, 0.0), r, int(d[2] >= 0.0)
    if kind == CONVEX_HULL:
        return POINT, vertex(model, core, v), o, r, v
    which = int(d[0] >= 0.0) + 2 * int(d[1] >= 0.0) + 4 * int(d[2] >= 0.0)
    return POINT, (signed(x, d[0]), signed(y, d[1]), signed(z, d[2])), o, r, which


@generic
def edge_feature(model: Any, core: Any, d: Any, v: int, near: float, second: bool) -> Any:
    """The edge that is most nearly square to d at what is farthest along it, or the second one; a POINT if it is not *near*."""
    kind, _, _, x, y, z, r = core
    if kind == CYLINDER:
        if abs(d[2]) < near:
            return EDGE, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), x, 0
    elif kind == CONVEX_HULL:
        begin, end = list_of(model, core, NEIGHBOURS, v)
        here, least, best = vertex(model, core, v), near, (0.0, 0.0, 0.0)
        which, above = 0, -1.0
        for _ in range(2 if second else 1):
            least = near
            for at in range(begin, end):
                k = model.contact_integers[at]
                e = vec3.sub(vertex(model, core, k), here)
                length = sqrt(vec3.dot(e, e))
                slope = abs(vec3.dot(e, d)) / length
                if above < slope < least:
                    least, best, which = slope, vec3.scale(1.0 / length, e), 4096 * min(k, v) + max(k, v)
            above = least
        if least < near:
            return EDGE, here, best, 0.0, which
    elif kind == BRICK:
        a, b, c = abs(d[0]), abs(d[1]), abs(d[2])
        if x == 0.0:
            a = 2.0
        if y == 0.0:
            b = 2.0
        if z == 0.0:
            c = 2.0
        if second:
            if a <= b and a <= c:
                a = 2.0
            elif b <= c:
                b = 2.0
            else:
                c = 2.0
        corner = (signed(x, d[0]), signed(y, d[1]), signed(z, d[2]))
        if a < near and a <= b and a <= c:
            which = 1 + 4 * int(d[1] >= 0.0) + 8 * int(d[2] >= 0.0)
            return EDGE, (0.0, corner[1], corner[2]), (1.0, 0.0, 0.0), r, which
        if b < near and b <= c:
            which = 2 + 4 * int(d[2] >= 0.0) + 8 * int(d[0] >= 0.0)
            return EDGE, (corner[0], 0.0, corner[2]), (0.0, 1.0, 0.0), r, which
        if c < near:
            which = 3 + 4 * int(d[0] >= 0.0) + 8 * int(d[1] >= 0.0)
            return EDGE, (corner[0], corner[1], 0.0), (0.0, 0.0, 1.0), r, which
    return point_feature(model, core, d, v)


@generic
def num_edges(model: Any, core: Any, v: int) -> int:
    """At a vertex of a polyhedron."""
    if core[0] == CONVEX_HULL:
        begin, end = list_of(model, core, NEIGHBOURS, v)
        return end - begin
    return 3


@generic
def edge_at(model: Any, core: Any, v: int, k: int) -> Any:
    """Edge k at a vertex of a polyhedron: an EDGE away from there."""
    if core[0] == CONVEX_HULL:
        begin, _ = list_of(model, core, NEIGHBOURS, v)
        return _edge_to(model, core, v, model.contact_integers[begin + k])
    up = v % 2, v // 2 % 2, v // 4 % 2
    i, j = (1, 2, 0)[k], (2, 0, 1)[k]
    b = (core[3] if up[0] else -core[3], core[4] if up[1] else -core[4], core[5] if up[2] else -core[5])
    o, away = 0.0, -1.0 if up[k] else 1.0
    which = k + 1 + 4 * up[i] + 8 * up[j]
    if k == 0:
        return EDGE, (o, b[1], b[2]), (away, o, o), o, which
    if k == 1:
        return EDGE, (b[0], o, b[2]), (o, away, o), o, which
    return EDGE, (b[0], b[1], o), (o, o, away), o, which


@generic
def _edge_to(model: Any, core: Any, v: int, other: int) -> Any:
    """The edge of a hull from a vertex to another one."""
    here = vertex(model, core, v)
    e = vec3.sub(vertex(model, core, other), here)
    return EDGE, here, vec3.scale(1.0 / sqrt(vec3.dot(e, e)), e), 0.0, 4096 * min(other, v) + max(other, v)


@generic
def edge_between(model: Any, core: Any, v: int, other: int) -> Any:
    """The edge of a polyhedron between two vertices: an EDGE away from the first."""
    if core[0] == CONVEX_HULL:
        return _edge_to(model, core, v, other)
    differs = v + other - 2 * (v & other)
    return edge_at(model, core, v, 0 if differs == 1 else 1 if differs == 2 else 2)


@generic
def faces_at(model: Any, core: Any, edge: Any, d: Any) -> Any:
    """Both faces of a polyhedron at an edge: first the one whose normal is nearest to d."""
    o, e, which, other = 0.0, edge[2], 0, 0
    if core[0] == CONVEX_HULL:
        v, most, least = edge[4] % 4096, -2.0, 2.0
        begin, end = list_of(model, core, FACES_AROUND, v)
        for at in range(begin, end):
            f = model.contact_integers[at]
            m = face_normal(model, core, f)
            if abs(vec3.dot(m, e)) < 1e-6:
                here = vec3.dot(m, d)
                if here > most:
                    most, which = here, f
                if here < least:
                    least, other = here, f
        b = vertex(model, core, v)
        return (FACE, b, face_normal(model, core, which), o, which), (FACE, b, face_normal(model, core, other), o, other)
    b, k = edge[1], 0 if e[0] != 0.0 else 1 if e[1] != 0.0 else 2
    i, j = (1, 2, 0)[k], (2, 0, 1)[k]
    if signed(d[i], b[i]) < signed(d[j], b[j]):
        i, j = j, i
    return _face_of_brick(b, i), _face_of_brick(b, j)


@generic
def _face_of_brick(b: Any, i: int) -> Any:
    """The face across axis i on which b is."""
    o = 0.0
    normal = (signed(1.0, b[0]) if i == 0 else o, signed(1.0, b[1]) if i == 1 else o, signed(1.0, b[2]) if i == 2 else o)
    middle = (b[0] if i == 0 else o, b[1] if i == 1 else o, b[2] if i == 2 else o)
    return FACE, middle, normal, o, 2 * i + int(b[i] > 0.0)


@generic
def end_of(model: Any, core: Any, edge: Any, i: int) -> Any:
    """Either end of an edge of a polyhedron."""
    if core[0] == CONVEX_HULL:
        return vertex(model, core, edge[4] // 4096 if i == 0 else edge[4] % 4096)
    half = abs(edge[2][0]) * core[3] + abs(edge[2][1]) * core[4] + abs(edge[2][2]) * core[5]
    return vec3.add_scaled(edge[1], half if i == 0 else -half, edge[2])


@generic
def corner_number(core: Any, edge: Any, i: int) -> int:
    """The number of a corner, which is an end of an edge of a polyhedron."""
    if core[0] == CONVEX_HULL:
        return edge[4] // 4096 if i == 0 else edge[4] % 4096
    b, e = edge[1], edge[2]
    up = 1.0 if i == 0 else -1.0
    return int(b[0] + up * e[0] > 0.0) + 2 * int(b[1] + up * e[1] > 0.0) + 4 * int(b[2] + up * e[2] > 0.0)


@generic
def face_feature(model: Any, core: Any, d: Any, v: int) -> Any:
    """The face whose normal is nearest to d at what is farthest along it; a POINT where there are no faces."""
    kind, _, _, x, y, z, _ = core
    o = 0.0
    if kind == CONVEX_HULL:
        begin, end = list_of(model, core, FACES_AROUND, v)
        most, which, best = -2.0, 0, (o, o, o)
        for at in range(begin, end):
            f = model.contact_integers[at]
            m = face_normal(model, core, f)
            here = vec3.dot(m, d)
            if here > most:
                most, which, best = here, f, m
        return FACE, vertex(model, core, v), best, o, which
    up = signed(1.0, d[2])
    if kind == CYLINDER:
        return FACE, (o, o, signed(z, d[2])), (o, o, up), o, 4 + int(d[2] >= 0.0)
    if kind == BRICK and x * y * z > 0.0:
        if abs(d[0]) >= abs(d[1]) and abs(d[0]) >= abs(d[2]):
            return FACE, (signed(x, d[0]), o, o), (signed(1.0, d[0]), o, o), o, int(d[0] >= 0.0)
        if abs(d[1]) >= abs(d[2]):
            return FACE, (o, signed(y, d[1]), o), (o, signed(1.0, d[1]), o), o, 2 + int(d[1] >= 0.0)
        return FACE, (o, o, signed(z, d[2])), (o, o, up), o, 4 + int(d[2] >= 0.0)
    return point_feature(model, core, d, v)
