"""The direction of least overlap of two convex shapes, from features near a first guess; and its derivatives.

The overlap along a unit vector n, from A to B, is h(n) = n . (a(n) - b(-n)) with the points of both that are farthest. Its
least value, of all n, is at a face of one, at an edge of each, or where the surfaces are curved: there a - b is along n,
which Newton's method solves, among all n or among those square to an edge,

    t . (a - b) = 0,   J = t . (H_A + H_B) t - h,   H = da/dn = (D^2 - s s^T) / |D d| for s = D^2 d / |D d|

where d is n in the frame of an ellipsoid with semi-axes D; a rim and a corner have one or three that are zero. Two last steps
in Duals from the solution make the tangents, and theirs, those of the implicit function.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import apart, generic
from ..shape import CYLINDER, ELLIPSOID
from ._clip import corner, num_corners
from ._core import (
    _TINY,
    EDGE,
    FACE,
    POINT,
    bare3,
    bare9,
    edge_feature,
    end_of,
    face_feature,
    is_polyhedron,
    is_smooth,
    point_feature,
)
from ._curvature import goes_over
from ._nearest import on_segment
from ._rivals import ALIKE, WINDOW, is_alike, note
from ._search import difference

#: What decides n: a face, two edges, an edge and what is curved, curves alone, or none of these.
FACE_A, FACE_B, EDGES, EDGE_A, EDGE_B, CURVES, NOTHING = range(7)
#: An edge has to overlap by so much less than a face of nearly the same normal, or the face is taken.
_FACE_FIRST, _SAME = 0.95, 0.99
_STEPS = 12
#: Of curved shapes the cosine between a first guess and what is found from it, and where by this nothing is found.
_BESIDE, _ANY = 0.99, 0.5
#: Of the size of both shapes, what is told from none: of two overlaps, and of a feature's support from the shape's.
_ROUNDING, _BEYOND = 1e-9, 1e-7
#: The cosine between two directions that are equal.
_EQUAL = 1.0 - 1e-12


@generic
def unit(v: Any) -> Any:
    """V over its length."""
    return vec3.scale(1.0 / sqrt(vec3.dot(v, v)), v)


@generic
def _semi_axes(feature: Any) -> Any:
    return feature[2] if feature[0] == POINT else (0.0, 0.0, 0.0)


@generic
def farthest(feature: Any, R: Any, p: Any, n: Any) -> Any:
    """The point of a feature that is farthest along n, without the margin; of an edge or a face any of it."""
    D, d = _semi_axes(feature), mat33.transpose_mul_vec(R, n)
    s = (D[0] * d[0], D[1] * d[1], D[2] * d[2])
    k = 1.0 / sqrt(vec3.dot(s, d) + _TINY)
    return vec3.add(p, mat33.mul_vec(R, vec3.add(feature[1], vec3.scale(k, s))))


@generic
def _bending(feature: Any, R: Any, n: Any, t: Any, u: Any) -> float:
    """T . H u."""
    D, d = _semi_axes(feature), mat33.transpose_mul_vec(R, n)
    a, b = mat33.transpose_mul_vec(R, t), mat33.transpose_mul_vec(R, u)
    s = (D[0] * d[0], D[1] * d[1], D[2] * d[2])
    square = vec3.dot(s, d) + _TINY
    straight = D[0] * a[0] * b[0] + D[1] * a[1] * b[1] + D[2] * a[2] * b[2]
    return (straight - vec3.dot(s, a) * vec3.dot(s, b) / square) / sqrt(square)


@generic
def across(n: Any) -> Any:
    """Two unit vectors square to n and to each other."""
    t = unit((0.0, -n[2], n[1])) if abs(n[0]) < 0.6 else unit((n[2], 0.0, -n[0]))
    return t, vec3.cross(n, t)


@generic
def newton(what: int, f: Any, g: Any, Ra: Any, pa: Any, Rb: Any, pb: Any, n: Any, e: Any) -> Any:
    """A step of Newton's method for n, in numbers of any kind, and its size; a negative size where there is no minimum near.

    *f* and *g* are the features, *e* the edge that n is square to, if *what* says that there is one.
    """
    if what != CURVES:
        n = unit(vec3.add_scaled(n, -vec3.dot(n, e), e))
    minus = vec3.neg(n)
    apart = vec3.sub(farthest(f, Ra, pa, n), farthest(g, Rb, pb, minus))
    A, B, at = bare9(Ra), bare9(Rb), bare3(n)
    overlap = bare(vec3.dot(n, apart))
    if what != CURVES:
        t = vec3.cross(e, n)
        u = bare3(t)
        J = _bending(f, A, at, u, u) + _bending(g, B, vec3.neg(at), u, u) - overlap
        if J <= 0.0:
            return n, -1.0
        x = vec3.dot(t, apart) * (-1.0 / J)
        return unit(vec3.add_scaled(n, x, t)), abs(bare(x))
    t, u = across(at)
    opposite = vec3.neg(at)
    tt = _bending(f, A, at, t, t) + _bending(g, B, opposite, t, t) - overlap
    uu = _bending(f, A, at, u, u) + _bending(g, B, opposite, u, u) - overlap
    tu = _bending(f, A, at, t, u) + _bending(g, B, opposite, t, u)
    det = tt * uu - tu * tu
    if det <= 0.0 or tt <= 0.0:
        return n, -1.0
    apart = vec3.add_scaled(apart, -vec3.dot(n, apart), n)  # t and u are across the value of n alone
    along, beside = vec3.dot(t, apart), vec3.dot(u, apart)
    x, y = (tu * beside - uu * along) * (1.0 / det), (tu * along - tt * beside) * (1.0 / det)
    return unit(vec3.add_scaled(vec3.add_scaled(n, x, t), y, u)), abs(bare(x)) + abs(bare(y))


@generic
def refine(
    model: Any, A: Any, B: Any, R: Any, p: Any, n: Any, i: int, j: int, size: float, rivals: Any, count: int, is_guess: bool
) -> Any:
    """The n of least overlap near a first one, in A's frame: what decides it, both features, n and the overlap of the cores.

    If the first n of curved shapes *is_guess*, all that is found near it is put down in *rivals*, after *count* rows, whose
    number is last in the answer: there can be several, and which of them the guess was for is not known.
    """
    one, o = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    smooth = is_smooth(A) or is_smooth(B)
    # what is round bears alike on a face and on its edge; of others a face has a manifold, and an edge one point
    round_one = A[6] + B[6] > 0.0 or A[0] == ELLIPSOID or B[0] == ELLIPSOID
    near, level, rounds = 1e-4, ALIKE, 1
    if smooth:
        near, level, rounds = 0.1, _BESIDE if is_guess or round_one else ALIKE, 3
    nothing = (POINT, o, o, 0.0, 0)
    what, best, least, m, f, g = NOTHING, n, 0.0, n, nothing, nothing
    face_a, face_b, edge_a, edge_b, point_a, point_b = nothing, nothing, nothing, nothing, nothing, nothing
    any_found, last = False, 3 if is_polyhedron(A) and is_polyhedron(B) else 6  # of polyhedra no minimum is on one edge alone
    for turn in range(rounds):
        if turn == 2 and not any_found:
            level = _ANY
        what, m = NOTHING, best
        # the overlap along m comes first, in the same place as the others: to find it is most of the code
        for c in range(-1, last):
            fc, gc, e, trial, found = point_a, point_b, o, m, True
            if c == FACE_A:
                fc, trial = face_a, face_a[2]
                found = face_a[0] == FACE and vec3.dot(trial, m) > level
            elif c == FACE_B:
                gc, trial = face_b, vec3.neg(mat33.mul_vec(R, face_b[2]))
                found = face_b[0] == FACE and vec3.dot(trial, m) > level
            elif c == EDGES:
                fc, gc = edge_a, edge_b
                found = edge_a[0] == EDGE and edge_b[0] == EDGE
                if found:
                    trial = vec3.cross(edge_a[2], mat33.mul_vec(R, edge_b[2]))
                    square = vec3.dot(trial, trial)
                    found = square > 1e-12
                    if found:
                        trial = vec3.scale((1.0 if vec3.dot(trial, m) > 0.0 else -1.0) / sqrt(square), trial)
            elif c >= EDGE_A:
                if c == EDGE_A:
                    fc, e, found = edge_a, edge_a[2], edge_a[0] == EDGE
                elif c == EDGE_B:
                    gc, e, found = edge_b, mat33.mul_vec(R, edge_b[2]), edge_b[0] == EDGE
                if found:
                    moved, steps = 1.0, 0
                    while moved > 1e-13 and steps < _STEPS:
                        trial, moved = newton(c, fc, gc, one, o, R, p, trial, e)
                        steps += 1
                    found = moved >= 0.0 and vec3.dot(trial, m) > level
            if found:
                w, k, h = difference(model, A, B, R, p, trial, i, j)
                overlap = vec3.dot(trial, w)
                wanted = least
                if what != NOTHING:
                    wanted = least - _ROUNDING * size
                is_edge = c == EDGES or (c > EDGES and not round_one)
                if (what == FACE_A or what == FACE_B) and is_edge and vec3.dot(trial, best) > _SAME and least > 0.0:
                    wanted = _FACE_FIRST * least
                if is_guess and c >= 0 and not is_alike(rivals, count, trial, _EQUAL):
                    way = overlap
                    if c >= EDGES:
                        way = least_way(model, A, B, fc, gc, one, o, R, p, trial)
                    if way > overlap - _BEYOND * size:  # these features are what is farthest
                        count = note(rivals, count, trial, way, k, h)
                if c < 0:
                    i, j = k, h
                    # of curved shapes the first n is a guess: an edge may be the wrong one
                    second, d = turn == 1, mat33.transpose_mul_vec(R, vec3.neg(m))
                    face_a, face_b = face_feature(model, A, m, i), face_feature(model, B, d, j)
                    edge_a = edge_feature(model, A, m, i, near, second)
                    edge_b = edge_feature(model, B, d, j, near, second)
                    point_a, point_b = point_feature(model, A, m, i), point_feature(model, B, d, j)
                    f, g, least = point_a, point_b, overlap + _ROUNDING * size
                elif overlap < wanted:
                    if c == FACE_A:  # what is farthest along its normal need not be so along m
                        gc = point_feature(model, B, mat33.transpose_mul_vec(R, vec3.neg(trial)), h)
                    elif c == FACE_B:
                        fc = point_feature(model, A, trial, k)
                    what, f, g, best, least, any_found = c, fc, gc, trial, overlap, True
    return what, f, g, best, least, count


@apart
def least_way(model: Any, A: Any, B: Any, f: Any, g: Any, Ra: Any, pa: Any, Rb: Any, pb: Any, n: Any) -> Any:
    """The overlap h of two features along n; of two polyhedra, or a cylinder's side that crosses an edge, or a rim, a way.

    It is that which parts both: h where points a and b of both are h n apart. Beyond the ends of the side n bends on as its
    rim's, beyond those of the edge as a corner's, and there this n counts no more: where a or b is s past an end the way is
    (h^2 + s^2)^(1/2), so that it leaves the window, see `_rivals`, without a jump, as it gets longer than that of the others.
    So it does where a least overlap of what is curved is about to end in none, as J gets less than h / 2. Of polyhedra s is the
    distance of the corner from the face, or of the edges, seen along n: the way is the distance to that face of the difference
    of both. `search` finds all that are within the window by this, and of others some, by the order of both.
    """
    b = farthest(g, Rb, pb, vec3.neg(n))
    apart = vec3.sub(farthest(f, Ra, pa, n), b)
    h = vec3.dot(n, apart) + f[3] + g[3]
    if h > 0.0 and f[0] != FACE and g[0] != FACE and (f[0] == POINT or g[0] == POINT):
        h = h * sqrt(1.0 + 2.0 * WINDOW * (1.0 - goes_over(2.0 * _least_bending(f, g, Ra, Rb, n, vec3.dot(n, apart)) / h)))
    if f[0] == FACE and is_polyhedron(A) and is_polyhedron(B):
        return sqrt(h * h + _past_face(model, A, f, Ra, pa, b)) if h > 0.0 else h
    if g[0] == FACE and is_polyhedron(A) and is_polyhedron(B):
        return sqrt(h * h + _past_face(model, B, g, Rb, pb, vec3.add(b, apart))) if h > 0.0 else h
    side_a, side_b = A[0] == CYLINDER and f[0] == EDGE, B[0] == CYLINDER and g[0] == EDGE
    edges = f[0] == EDGE and g[0] == EDGE and is_polyhedron(A) and is_polyhedron(B)
    if not edges and not ((side_a or side_b) and (f[0] == EDGE or A[0] == CYLINDER) and (g[0] == EDGE or B[0] == CYLINDER)):
        return h
    e, u = vec3.cross(n, n), vec3.cross(n, n)
    if f[0] == EDGE:
        e = mat33.mul_vec(Ra, f[2])
    if g[0] == EDGE:
        u = mat33.mul_vec(Rb, g[2])
    if f[0] != EDGE:
        e = vec3.cross(n, u)
    if g[0] != EDGE:
        u = vec3.cross(n, e)
    # apart + s e - t u is along n
    k = -1.0 / vec3.dot(vec3.cross(e, u), n)
    square = h * h
    s, t = k * vec3.dot(vec3.cross(u, n), apart), k * vec3.dot(vec3.cross(e, n), apart)
    if edges:
        square = square + _past_edges(_past(model, A, f, s), _past(model, B, g, t), vec3.dot(e, u))
    elif f[0] == EDGE:
        x = _past(model, A, f, s)[0]
        square = square + x * x
    if not edges and g[0] == EDGE:
        x = _past(model, B, g, t)[0]
        square = square + x * x
    return sqrt(square) if h > 0.0 else h


@generic
def _least_bending(f: Any, g: Any, Ra: Any, Rb: Any, n: Any, overlap: Any) -> Any:
    """J of two features, one of them curved; without an edge the smaller one of two."""
    minus = vec3.neg(n)
    if f[0] == EDGE or g[0] == EDGE:
        t = vec3.cross(mat33.mul_vec(Ra, f[2]) if f[0] == EDGE else mat33.mul_vec(Rb, g[2]), n)
        return _bending(f, Ra, n, t, t) + _bending(g, Rb, minus, t, t) - overlap
    t, u = across(bare3(n))
    tt = _bending(f, Ra, n, t, t) + _bending(g, Rb, minus, t, t)
    uu = _bending(f, Ra, n, u, u) + _bending(g, Rb, minus, u, u)
    tu, half = _bending(f, Ra, n, t, u) + _bending(g, Rb, minus, t, u), 0.5 * (tt - uu)
    return 0.5 * (tt + uu) - sqrt(half * half + tu * tu + _TINY) - overlap


@generic
def _past(model: Any, core: Any, edge: Any, s: Any) -> Any:
    """Past the ends of an edge, what is s along it from its point: past the nearer one or 0; past the first; past the last."""
    low, high = -core[5], core[5]
    if core[0] != CYLINDER:
        x = vec3.dot(vec3.sub(end_of(model, core, edge, 0), edge[1]), edge[2])
        y = vec3.dot(vec3.sub(end_of(model, core, edge, 1), edge[1]), edge[2])
        low, high = min(x, y), max(x, y)
    if s > high:
        return s - high, s - low, s - high
    if s < low:
        return s - low, s - low, s - high
    return 0.0 * s, s - low, s - high


@generic
def _past_edges(s: Any, t: Any, c: Any) -> Any:
    """The square of the distance between two crossed edges, seen along their normal, from `_past` of both and their cosine.

    Of all x e - y u from the crossing, x and y within both edges, that is the least square of the length.
    """
    least = 0.0 * c
    if s[0] != 0.0:
        x, y = s[0], _between(c * s[0], t[2], t[1])
        least = x * x + y * y - 2.0 * c * x * y
    if t[0] != 0.0:
        y, x = t[0], _between(c * t[0], s[2], s[1])
        square = x * x + y * y - 2.0 * c * x * y
        if s[0] == 0.0 or square < least:
            least = square
    return least


@generic
def _between(x: Any, low: Any, high: Any) -> Any:
    return low if x < low else high if x > high else x


@generic
def _past_face(model: Any, core: Any, face: Any, R: Any, p: Any, x: Any) -> Any:
    """The square of the distance between a point and a face, seen along its normal: 0 above it."""
    x = mat33.transpose_mul_vec(R, vec3.sub(x, p))
    m, flat, n = face[2], (1.0, 0.0), num_corners(model, core, face[4])
    x = vec3.add_scaled(x, -vec3.dot(m, vec3.sub(x, face[1])), m)
    least, beyond = 0.0 * x[0], False
    a = corner(model, core, face[4], n - 1, flat)
    for i in range(n):
        b = corner(model, core, face[4], i, flat)
        if vec3.dot(vec3.cross(vec3.sub(b, a), m), vec3.sub(x, a)) > 0.0:
            apart = vec3.sub(x, on_segment(x, a, b))
            square = vec3.dot(apart, apart)
            if not beyond or square < least:
                least, beyond = square, True
        a = b
    return least
