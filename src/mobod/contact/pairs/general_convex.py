"""Any two convex shapes: the direction of least overlap by GJK and EPA, of bricks by their axes; the points where they touch.

Where a face of one decides, the contact has the points at which it bears a face or an edge of the other, cut along its own
edges, see `_clip`; elsewhere it has one point. The law is HERTZ where both surfaces are smooth: the relative curvature of two
spheres, cylinders' sides, capsules, ellipsoids, and of each of these on a flat face, whose own is 0; a capsule that lies on a
face bears on both its ends, each a sphere. A sphere, a capsule, as one of its ends, or an ellipsoid on an edge, a corner or a
rim is pressed as by a face there, so that forces do not jump where it gets from one to the other. Elsewhere, at corners, edges
and the rims of cylinders, it is CORNER, with area 0: of the corner's own stiffness. Cylinders, and a capsule and a cylinder,
side by side touch along a line, see `_side_by_side`.

Where one thing takes over from another its share does so smoothly, over lengths and angles of the shapes, beside which depths
are small, or by energies alone, see `_leave`: so forces stay the slope of their energy. Of polyhedra and cylinders the
directions that overlap nearly as little as the best one have a share each, see `_rivals`.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, sym33, vec3, where
from ...algebra.scalar import bare, load, load_lane, scratch, sqrt, store_lane
from ...compiling import apart, generic
from ..access import (
    BOX,
    CORNER,
    DEPTH,
    FEATURE,
    HERTZ,
    LAW,
    PART,
    POINT as PLACE,
    SHAPE,
    Pair,
    load3_lane,
    narrow_phase,
    orientation,
    origin,
    put_point,
    three_of,
)
from ..shape import BRICK, CYLINDER, ELLIPSOID
from . import _curvature
from ._axes import are_bricks, find_axes
from ._clip import NO_SHARE, bear_edge, bearing, corner, cut_edge, num_corners, vertex_of
from ._core import (
    EDGE,
    FACE,
    POINT,
    bare3,
    bare9,
    core_of,
    edge_at,
    edge_between,
    face_feature,
    faces_at,
    frame_of,
    is_polyhedron,
    num_edges,
    point_feature,
    size_of,
)
from ._curvature import goes_over
from ._refine import EDGE_A, EDGE_B, EDGES, FACE_A, FACE_B, NOTHING, farthest, least_way, newton, refine, unit
from ._rivals import ALIKE, ALIKE_FOUND, COLUMNS, ROWS, SHARE, choose, direction, find_shares, note
from ._search import guessed, search
from ._side_by_side import side_by_side

#: Where a capsule lies across the edge of a face it bears on that, in part from the first cosine between their normals on and
#: whole from the second, and what is over the face bears as much as the edge would: its cut there is the edge's contact.
_FLAT, _FLATTER = 0.9965, 0.9985
#: The least cosine between the common normal of two edges, which decides, and a face that still bears in part.
_TILTED = 0.995
#: Of energies, the window in which rows of a face take over from the one deepest place: see `_leave`.
_UP_TO_ONE, _ABOUT_ONE = 0.05, 0.1
#: The sine between n and the plane across a cylinder's axis over which its rim goes over from its side.
_LEANING = 0.3
#: Of edges at a vertex that lead away from a face, the least ratio of their slopes by which both bear; and what is added to
#: these, for one that is level.
_NEARLY, _LEVEL = 0.8, 1e-6
#: The slope of an edge from which on no other vertex is as deep as the deepest one.
_TIED = 1e-4
#: The cosine from which on it is worth a look if faces lie on each other.
_PARALLEL = 1.0 - 1e-8
#: The slope up to which an edge bears at both its ends; from twice that on its deepest vertex does so alone.
_LIES = 0.05
#: Of the size of both shapes, the least depth below a face that is told from none.
_LEAST = 1e-7
#: Of 1 - t of a face, in `_faces`, what is told from none: a normal less than a millionth away.
_LEAST_LOST = 1e-22
#: What the deepest place adds to the number of its point, beside those of a face; its part by a corner's law adds it twice.
_DEEPEST = 2.0**46
#: ... and a further direction, where its place is another's.
_FURTHER = 2.0**51


@narrow_phase
def general_convex(model: Any, pair: Pair) -> int:
    """The points of two convex shapes that overlap."""
    s, t, lane = pair
    A, B = core_of(model, s, t, lane), core_of(model, t, s, lane)
    Ra, pa = frame_of(model, s, t, lane)
    Rb, pb = frame_of(model, t, s, lane)
    count, part = 0, 0.0 * pa[0] + 1.0
    if B[0] == CYLINDER and (A[0] == CYLINDER or (A[6] > 0.0 and A[5] > 0.0)):
        count, along = side_by_side(model, pair, A, B, Ra, pa, Rb, pb)
        part = part - along
        if part <= NO_SHARE:
            return count
    # of the second surface's frame in the first's, without tangents
    R0 = bare9(Ra)
    R = mat33.mul(mat33.transpose(R0), bare9(Rb))
    p = mat33.transpose_mul_vec(R0, bare3(vec3.sub(pb, pa)))
    margin = A[6] + B[6]
    a, b = size_of(model, A, s, lane), size_of(model, B, t, lane)
    size = a + b + margin
    guesses, rivals = scratch(ROWS, COLUMNS), scratch(ROWS, COLUMNS)
    if A[0] == BRICK and B[0] == BRICK and are_bricks(A, B):
        total = find_axes(A, B, R, p, guesses)
    else:
        total = search(model, A, B, R, p, margin, size, min(a, b) + margin, guesses)
    # beside what is curved the directions are guesses: all that is found near them comes first, then the overlaps of these
    curved, few, table = guessed(A, B), 0, guesses
    if not curved:
        total = choose(guesses, total, ALIKE)
    first, m = total, direction(guesses, 0)
    what, f, g, overlap = NOTHING, point_feature(model, A, m, 0), point_feature(model, B, m, 0), 0.0
    for turn in range(0 if curved else 1, 3):
        if turn == 1 and total == 1:
            continue
        if turn == 2 and total > 1:
            find_shares(model, lane, total)
        for k in range(total):
            d, i, j = direction(table, k), int(load(table, k, 4)), int(load(table, k, 5))
            if turn == 0 or not curved or first > 1 or total > 1 or vec3.dot(d, m) <= ALIKE:  # else it is known
                what, f, g, m, overlap, few = refine(model, A, B, R, p, d, i, j, size, rivals, few, turn == 0)
            if turn == 0:
                if few == 0:
                    few = note(rivals, few, m, overlap, i, j)
                continue
            n, share = _exact(what, f, g, Ra, pa, Rb, pb, mat33.mul_vec(R0, m)), part
            if turn == 1:
                store_lane(model.contact_point, k, SHARE, lane, least_way(model, A, B, f, g, Ra, pa, Rb, pb, n))
                continue
            if total > 1:
                share = part * load_lane(model.contact_point, k, SHARE, lane)
            if overlap + margin > 0.0 and share > NO_SHARE and (k == 0 or 2 * count <= model.contact_points_size):
                seen, begin = (what, f, g, size), count
                lying, up, flat = seen, n, 0.0 * share
                if what == EDGES and margin == 0.0:
                    lying, up, flat = _lying(model, A, B, Ra, pa, Rb, pb, seen, n)
                for rest in range(0 if flat > 0.0 else 1, 2):  # one call: two would be compiled twice
                    its = share * flat if rest == 0 else share * (1.0 - flat)
                    if rest == 0 or (its > NO_SHARE and (count == begin or 2 * count <= model.contact_points_size)):
                        decides, toward = (lying, up) if rest == 0 else (seen, n)
                        count = points(model, pair, A, B, Ra, pa, Rb, pb, decides, toward, count, its)
                if k > 0:
                    _tell_apart(model, begin, count, lane, k * _FURTHER)
        if turn == 0:
            total, table = choose(rivals, few, ALIKE_FOUND), rivals
    return count


@apart
def _lying(model: Any, A: Any, B: Any, Ra: Any, pa: Any, Rb: Any, pb: Any, seen: Any, n: Any) -> Any:
    """Of faces that lie on each other, between which edges cross: what decides, the direction, and the part that is theirs."""
    _, f, g, size = seen
    v, w, minus, none = f[4] % 4096, g[4] % 4096, vec3.neg(n), 0.0 * n[0]
    one = face_feature(model, A, bare3(mat33.transpose_mul_vec(Ra, n)), v)
    two = face_feature(model, B, bare3(mat33.transpose_mul_vec(Rb, minus)), w)
    up, down = mat33.mul_vec(Ra, one[2]), mat33.mul_vec(Rb, two[2])
    if not (is_polyhedron(A) and is_polyhedron(B)) or vec3.dot(up, n) < _PARALLEL or vec3.dot(down, minus) < _PARALLEL:
        return seen, n, none
    d, e = mat33.transpose_mul_vec(Rb, vec3.neg(up)), mat33.transpose_mul_vec(Ra, vec3.neg(down))
    a, b = point_feature(model, A, bare3(e), v), point_feature(model, B, bare3(d), w)
    if _height(Ra, pa, Rb, pb, one, b) <= _height(Rb, pb, Ra, pa, two, a):
        lying, part = (FACE_A, one, b, size), _tie(model, B, two, d, size)[1]
    else:
        lying, up, part = (FACE_B, a, two, size), vec3.neg(down), _tie(model, A, one, e, size)[1]
    return lying, up, part if part > NO_SHARE else none


@generic
def _tell_apart(model: Any, begin: int, end: int, lane: int, more: float) -> None:
    """Numbers of their own to rows of a further direction that bears at a place where another does."""
    rows = model.contact_point
    for row in range(begin, end):
        for other in range(row):
            if bare(load_lane(rows, row, FEATURE, lane)) == bare(load_lane(rows, other, FEATURE, lane)):
                store_lane(rows, row, FEATURE, lane, load_lane(rows, row, FEATURE, lane) + more)


@generic
def points(
    model: Any, pair: Pair, A: Any, B: Any, Ra: Any, pa: Any, Rb: Any, pb: Any, seen: Any, n: Any, begin: int, rest: Any
) -> int:
    """Rows from *begin* on, the part *rest* of the contact, of features that decide n, in Ground; here all have tangents.

    *seen* is what decides, both features, and the size of both shapes.
    """
    what, f, g, _ = seen
    lane, start, whole = pair[2], begin, rest
    begin, rest = _faces(model, pair, A, B, Ra, pa, Rb, pb, seen, n, begin, rest)
    if rest <= NO_SHARE:
        return begin
    a = vec3.add_scaled(farthest(f, Ra, pa, n), f[3], n)
    b = vec3.add_scaled(farthest(g, Rb, pb, vec3.neg(n)), -g[3], n)
    depth = vec3.dot(n, vec3.sub(a, b))
    if depth <= 0.0:
        return begin
    place = _half_way(what, f, g, Ra, Rb, n, a, b, depth)
    if what == EDGES and begin > start and (A[0] == CYLINDER or B[0] == CYLINDER):
        place = vec3.add_scaled(place, 1.0 - rest / whole, vec3.sub(_middle(model, start, begin, lane), place))
    if (what == FACE_A or what == FACE_B) and is_polyhedron(A) and is_polyhedron(B):
        place = _spread(model, A, B, Ra, pa, Rb, pb, seen, n, place)
    point = vec3.scale(0.0, place)
    for turn in range(2):  # of parallel edges a and b can be any points; in either order, so that both shapes count alike
        x = _within(model, pair[1 - turn], B if turn == 0 else A, n, place, lane)
        point = vec3.add_scaled(point, 0.5, _within(model, pair[turn], A if turn == 0 else B, n, x, lane))
    name = 8192 * (3 * (8192 * f[0] + f[4] % 8192) + g[0]) + g[4] % 8192
    S, round_part = _relative_curvature(A, B, Ra, pa, Rb, pb, f, g, n, point)
    greater, smaller, count = 0.0 * round_part, 0.0 * round_part, begin
    if round_part > 0.0:
        greater, smaller = _curvature.relative(S)
    for law in range(2):
        share = rest * (round_part if law == 0 else 1.0 - round_part)
        if share > NO_SHARE:
            # Hertz's force goes with the root of the radius, a corner's with its share
            bent = 1.0 / (share * share)
            one, two, its = bent * greater, bent * smaller, HERTZ
            if law == 1:
                one, two, its = 0.0 * share, share, CORNER
            put_point(model, pair, count, point, n, depth, its, one, two, name)
            store_lane(model.contact_point, count, FEATURE, lane, name + (law + 1) * _DEEPEST)
            count += 1
    return count


@generic
def _middle(model: Any, begin: int, end: int, lane: int) -> Any:
    """The middle of rows by their energies: of a cylinder's side that is level neither cut is the deepest place."""
    rows = model.contact_point
    x = load3_lane(rows, begin, PLACE, lane)
    total, middle = 0.0 * x[0], vec3.scale(0.0, x)
    for row in range(begin, end):
        depth = load_lane(rows, row, DEPTH, lane)
        u = load_lane(rows, row, SHAPE + 1, lane) * depth * depth
        total, middle = total + u, vec3.add_scaled(middle, u, load3_lane(rows, row, PLACE, lane))
    return vec3.scale(1.0 / total, middle)


@generic
def _faces(
    model: Any, pair: Pair, A: Any, B: Any, Ra: Any, pa: Any, Rb: Any, pb: Any, seen: Any, n: Any, begin: int, rest: Any
) -> Any:
    """Rows of the faces that bear, and the share of the one deepest place beside them; all as in `points`.

    That is the face that decides; where edges cross it is all faces at these edges, each the more the nearer its normal is to
    n, alone where it is n:  y_i = t_i^2 / (1 - t_i)^2, a part y_i / sum y of 1 - product of (1 - t_i).
    """
    what, f, g, _ = seen
    across, zero = _crosses(A, B, what), 0.0 * pa[0]
    below, face = _face_below(model, A, B, Ra, Rb, what, f, g, bare3(n))
    faces, parts, alone, crossing = (face, face, face, face), (zero + 1.0, zero, zero, zero), zero, zero
    if across:
        minus = vec3.neg(n)
        one = _faces_at(model, A, f, mat33.transpose_mul_vec(bare9(Ra), bare3(n)))
        two = _faces_at(model, B, g, mat33.transpose_mul_vec(bare9(Rb), bare3(minus)))
        lost = _away(one[0], Ra, n), _away(one[1], Ra, n), _away(two[0], Rb, minus), _away(two[1], Rb, minus)
        alone = lost[0] * lost[1] * lost[2] * lost[3]
        y = _preference(lost[0]), _preference(lost[1]), _preference(lost[2]), _preference(lost[3])
        total = y[0] + y[1] + y[2] + y[3]
        if total > 0.0:
            k = (1.0 - alone) / total
            faces, parts = (one[0], one[1], two[0], two[1]), (k * y[0], k * y[1], k * y[2], k * y[3])
            below = what
    if below == NOTHING:
        return begin, rest
    decides = not across and below == what
    if not decides:
        crossing = vec3.dot(n, vec3.sub(farthest(f, Ra, pa, n), farthest(g, Rb, pb, vec3.neg(n)))) + f[3] + g[3]
    left = rest * alone
    for i in range(4 if across else 1):
        part = rest * parts[i]
        if parts[i] > NO_SHARE and (begin == 0 or 2 * begin <= model.contact_points_size):
            its = faces[i], i < 2 if across else below == FACE_A, across, decides, crossing
            begin, part = _on_face(model, pair, A, B, Ra, pa, Rb, pb, seen, n, its, begin, part)
        left = left + part
    return begin, left


@generic
def _away(face: Any, R: Any, n: Any) -> Any:
    """1 - t of a face, in `_faces`: exact where n is nearly its normal."""
    if face[0] != FACE:
        return 0.0 * n[0] + 1.0
    x = vec3.sub(n, mat33.mul_vec(R, face[2]))
    return goes_over(0.5 * vec3.dot(x, x) / (1.0 - _TILTED))


@generic
def _preference(lost: Any) -> Any:
    """y of a face, in `_faces`."""
    y = (1.0 - lost) / (lost + _LEAST_LOST)
    return y * y


@generic
def _faces_at(model: Any, core: Any, f: Any, d: Any) -> Any:
    """Of the edge f, that crosses another one, both faces; f itself where there is none. Of a cylinder's rim it is its end."""
    if core[0] != CYLINDER:
        return faces_at(model, core, f, d)
    if f[0] == POINT:
        return face_feature(model, core, d, 0), f
    return f, f


@generic
def _on_face(
    model: Any,
    pair: Pair,
    A: Any,
    B: Any,
    Ra: Any,
    pa: Any,
    Rb: Any,
    pb: Any,
    seen: Any,
    n: Any,
    its: Any,
    begin: int,
    rest: Any,
) -> Any:
    """Rows of a face that bears the part *rest*, and the share of the one deepest place beside it.

    *its* is the face, whether it is the first shape's, if edges cross, if it decides, and how deep edges are that decide.
    """
    (_, f, g, size), (face, first, across, decides, h) = seen, its
    lane = pair[2]
    Q, q = _relative(Ra if first else Rb, pa if first else pb, Rb if first else Ra, pb if first else pa)
    R, p, edge = Ra if first else Rb, pa if first else pb, g if first else f
    core, other, sign = A if first else B, B if first else A, 1.0 if first else -1.0
    near = edge[4] % 4096 if across else edge[4]
    flat = rest
    if not across and not decides:
        flat = rest * goes_over((sign * vec3.dot(n, mat33.mul_vec(R, face[2])) - _FLAT) / (_FLATTER - _FLAT))
        if flat <= NO_SHARE:
            return begin, rest
    count = bearing(model, pair, face, R, p, core, other, Q, q, sign, near, (begin, flat))
    window = _ABOUT_ONE if across else _UP_TO_ONE
    if decides and other[6] > 0.0 and core[0] != CYLINDER:
        if count > begin:  # the cut itself is the edge's contact
            return count, 0.0 * rest
    elif decides and other[0] != ELLIPSOID and (other[6] == 0.0 or other[5] > 0.0):  # no ball
        h = _height(R, p, Rb if first else Ra, pb if first else pa, face, edge)
        if count > begin and bare(h) < _LEAST * size:  # which face is the nearest is rounding
            return count, 0.0 * rest
    if h <= 0.0:
        return begin, rest
    r = _energy(model, begin, count, lane, h, other[6]) / rest
    if other[6] > 0.0 or other[0] == CYLINDER or r >= 2.0 * (0.95 + window):
        return _leave(model, begin, count, lane, r, rest, window)
    return _beside(model, pair, face, R, p, core, other, Q, q, sign, edge, (across, h, r, window, size, begin, count, rest))


@apart
def _beside(
    model: Any, pair: Pair, face: Any, R: Any, p: Any, core: Any, other: Any, Q: Any, q: Any, sign: float, edge: Any, k: Any
) -> Any:
    """Rows of the edges of a polyhedron beside those of a face, and the share of what is deepest.

    That is the edge that crosses another, or all at the deepest vertex that lead away from the face by nearly as little as the
    one that does so least: each has a part by the ratio of both slopes. An edge bears at both its ends, or cuts, once its
    energy is that of what is deepest, see `_leave`; for that of all edges the face's rows are left. Where further vertices are
    as deep, their edges have a part, too; and where faces lie on each other, those of both.
    """
    across, h, r, window, size, begin, count, rest = k
    zero, near, num, sides, tied, its = 0.0 * h, edge[4], 1, 1, 1, face
    one = face, R, p, core, other, Q, q, sign, near, zero + _LEVEL, zero, zero + 1.0
    two = one
    if not across:
        d = vec3.neg(mat33.transpose_mul_vec(Q, face[2]))
        near = point_feature(model, other, bare3(d), near)[4]
        num, least, top, half = num_edges(model, other, near), _least_slope(model, other, near, d), zero, zero
        if least >= 2.0 * _LIES:
            return _leave(model, begin, count, pair[2], r, rest, window)
        if least < _TIED:
            its = face_feature(model, other, bare3(d), near)
            tied, half = _tie(model, other, its, d, size)
        if tied > 1:
            num, top = num_corners(model, other, its[4]), _deepest(model, other, its, d)[1]
        if half > NO_SHARE and is_polyhedron(core):
            sides, half, e = 2, 0.5 * half, vec3.neg(mat33.mul_vec(Q, its[2]))
            v, deep = _deepest(model, core, face, e)
            S, s = mat33.mul(R, Q), vec3.add(p, mat33.mul_vec(R, q))
            T, t = mat33.transpose(Q), vec3.neg(mat33.transpose_mul_vec(Q, q))
            two = its, S, s, other, core, T, t, -sign, v, _least_slope(model, core, v, e), deep, half
        else:
            half = zero
        one = face, R, p, core, other, Q, q, sign, near, least, top, 1.0 - half
    total, gain, several = zero, zero, 0
    square, cut, left = zero, ((q, q), (zero, zero), zero, (q, q), (zero, zero, zero, zero), (zero, zero)), rest
    for turn in range(2):
        if turn == 1:
            begin, rest = _leave(model, begin, count, pair[2], r / (1.0 + gain / total), rest, window)
            if rest <= NO_SHARE:
                return begin, rest
            left = rest
        alone = turn == 1 and several == 1
        for side in range(sides):
            on, S, s, own, body, T, t, way, v, least, top, half = one if side == 0 else two
            e = vec3.neg(mat33.transpose_mul_vec(T, on[2]))
            for i in range(num if side == 0 else num_corners(model, body, face[4])):
                slope, weight = least, half
                if tied > 1:
                    edge, deep = _tied_edge(model, body, its if side == 0 else face, i, e, top, size)
                    weight = half * deep
                elif not across:
                    edge = edge_at(model, body, v, i)
                if not across:
                    slope = _slope(edge, e)
                part = weight * goes_over((least / slope - _NEARLY) / (1.0 - _NEARLY))
                if part <= NO_SHARE:
                    continue
                if not alone:
                    square, cut = cut_edge(model, pair, on, own, body, T, t, edge)
                takes, bears, vertex = _takes_over(square / (h * h), _UP_TO_ONE)
                lies = part * (1.0 - goes_over(slope / _LIES - 1.0))
                if turn == 0:
                    several, total, gain = several + 1, total + part, gain + lies * (takes - 1.0)
                else:
                    lies = rest * lies / total
                    left = left + lies * (vertex - 1.0)
                    # a corner with no share counts for one
                    if lies * bears > NO_SHARE and begin + 3 <= model.contact_points_size:
                        begin = bear_edge(model, pair, on, S, s, own, body, way, edge, cut, (begin, lies * bears))
    return begin, left


@generic
def _least_slope(model: Any, core: Any, v: int, d: Any) -> Any:
    """Of the edges at a vertex, see `_slope`."""
    least = 0.0 * d[0] + 2.0
    for i in range(num_edges(model, core, v)):
        slope = _slope(edge_at(model, core, v, i), d)
        if slope < least:
            least = slope
    return least


@generic
def _slope(edge: Any, d: Any) -> Any:
    """Of an edge away from what is farthest along d, and a little for one that is level."""
    slope = vec3.dot(d, edge[2])
    return (slope if slope > 0.0 else -slope) + _LEVEL


@generic
def _as_deep(drop: Any, size: float) -> Any:
    """The part of what is by a *drop* less deep than the deepest: 1 of that itself, and soon 0."""
    return goes_over((_LEVEL / ((drop if drop > 0.0 else 0.0 * drop) / size + _LEVEL) - _NEARLY) / (1.0 - _NEARLY))


@generic
def _place(model: Any, core: Any, face: Any, i: int, d: Any) -> Any:
    """Corner i of a face, as far as d has tangents, and how far along d it is."""
    zero = 0.0 * d[0]
    x = corner(model, core, face[4], i % num_corners(model, core, face[4]), (1.0 + zero, zero))
    return x, vec3.dot(d, x)


@apart
def _deepest(model: Any, core: Any, face: Any, d: Any) -> Any:
    """Of the corners of a face the vertex that is farthest along d, and how far."""
    most, v = _place(model, core, face, 0, d)[1], vertex_of(model, core, face[4], 0)
    for i in range(1, num_corners(model, core, face[4])):
        here = _place(model, core, face, i, d)[1]
        if here > most:
            most, v = here, vertex_of(model, core, face[4], i)
    return v, most


@generic
def _tie(model: Any, core: Any, face: Any, d: Any, size: float) -> Any:
    """The number of corners of a face that are as deep along d as the deepest one, and the part by which all are."""
    _, top = _deepest(model, core, face, d)
    tied, all_of_them = 0, 0.0 * top + 1.0
    for i in range(num_corners(model, core, face[4])):
        part = _as_deep(top - _place(model, core, face, i, d)[1], size)
        tied += 1 if part > 0.0 else 0
        if part < all_of_them:
            all_of_them = part
    return tied, all_of_them


@generic
def _tied_edge(model: Any, core: Any, face: Any, i: int, d: Any, top: Any, size: float) -> Any:
    """Edge i of a face, and the part by which its deeper end is as deep as the *top*."""
    a, b = _place(model, core, face, i, d)[1], _place(model, core, face, i + 1, d)[1]
    edge = edge_between(
        model,
        core,
        vertex_of(model, core, face[4], i),
        vertex_of(model, core, face[4], (i + 1) % num_corners(model, core, face[4])),
    )
    return edge, _as_deep(top - (a if a > b else b), size)


@apart
def _spread(model: Any, A: Any, B: Any, Ra: Any, pa: Any, Rb: Any, pb: Any, seen: Any, n: Any, place: Any) -> Any:
    """The deepest place below a face, amid vertices that are as deep; where faces lie on each other, amid those of both."""
    what, f, g, size = seen
    first, zero = what == FACE_A, 0.0 * n[0]
    core, R, p, near = (B, Rb, pb, g[4]) if first else (A, Ra, pa, f[4])
    d = mat33.transpose_mul_vec(R, vec3.neg(n) if first else n)
    face = face_feature(model, core, bare3(d), near)
    tied, flat = _tie(model, core, face, d, size)
    if tied < 2:
        return place
    middle = _amid(model, core, face, R, p, d, size)
    if flat > NO_SHARE:
        own, S, s, its = (A, Ra, pa, f) if first else (B, Rb, pb, g)
        m = face[2]
        e = mat33.transpose_mul_vec(S, mat33.mul_vec(R, (zero - m[0], zero - m[1], zero - m[2])))
        middle = vec3.add_scaled(middle, 0.5 * flat, vec3.sub(_amid(model, own, its, S, s, e, size), middle))
    aside = vec3.sub(middle, place)
    return vec3.add(place, vec3.add_scaled(aside, -vec3.dot(n, aside), n))


@generic
def _amid(model: Any, core: Any, face: Any, R: Any, p: Any, d: Any, size: float) -> Any:
    """The mean of the corners of a face that are as deep along d as the deepest one."""
    _, top = _deepest(model, core, face, d)
    total, x = 0.0 * top, vec3.scale(0.0, d)
    for i in range(num_corners(model, core, face[4])):
        v, here = _place(model, core, face, i, d)
        part = _as_deep(top - here, size)
        total, x = total + part, vec3.add_scaled(x, part, v)
    return vec3.add(p, mat33.mul_vec(R, vec3.scale(1.0 / total, x)))


@generic
def _exact(what: int, f: Any, g: Any, Ra: Any, pa: Any, Rb: Any, pb: Any, n: Any) -> Any:
    """The direction that features decide, in Ground, with tangents, near a first one; that one where nothing decides."""
    if what == FACE_A:
        return mat33.mul_vec(Ra, f[2])
    if what == FACE_B:
        return vec3.neg(mat33.mul_vec(Rb, g[2]))
    if what == EDGES:
        crossing = unit(vec3.cross(mat33.mul_vec(Ra, f[2]), mat33.mul_vec(Rb, g[2])))
        return crossing if vec3.dot(crossing, n) > 0.0 else vec3.neg(crossing)
    zero = 0.0 * pa[0]
    n = n[0] + zero, n[1] + zero, n[2] + zero
    if what != NOTHING:
        e = n
        if what == EDGE_A:
            e = mat33.mul_vec(Ra, f[2])
        elif what == EDGE_B:
            e = mat33.mul_vec(Rb, g[2])
        for _ in range(2):  # from values alone, a step gives first derivatives, and the next one second ones
            n, _ = newton(what, f, g, Ra, pa, Rb, pb, n, e)
    return n


@generic
def _half_way(what: int, f: Any, g: Any, Ra: Any, Rb: Any, n: Any, a: Any, b: Any, depth: Any) -> Any:
    """The point half way between the surfaces, from the one whose point, a or b, is known."""
    if what == FACE_A or what == EDGE_A:
        return vec3.add_scaled(b, 0.5 * depth, n)
    if what == FACE_B or what == EDGE_B:
        return vec3.add_scaled(a, -0.5 * depth, n)
    if what == EDGES:
        ea, eb = mat33.mul_vec(Ra, f[2]), mat33.mul_vec(Rb, g[2])
        c = vec3.cross(ea, eb)
        along = vec3.dot(vec3.cross(vec3.sub(b, a), eb), c) / vec3.dot(c, c)
        return vec3.add_scaled(vec3.add_scaled(a, along, ea), -0.5 * depth, n)
    return vec3.scale(0.5, vec3.add(a, b))


@generic
def _relative_curvature(A: Any, B: Any, Ra: Any, pa: Any, Rb: Any, pb: Any, f: Any, g: Any, n: Any, point: Any) -> Any:
    """The sum of both shape operators, and the part of the law that is Hertz's, the rest being a corner's."""
    one, o = 0.0 * n[0] + 1.0, 0.0 * n[0]
    rim_a, rim_b = A[0] == CYLINDER and f[0] == POINT, B[0] == CYLINDER and g[0] == POINT
    if rim_a and rim_b:
        return sym33.add(_rim(A, Ra, n), _rim(B, Rb, n)), (1.0 - _leaning(Ra, n)) * (1.0 - _leaning(Rb, n))
    if rim_b and _is_curved(f) and f[0] != FACE:
        return _on_rim(A, f, Ra, pa, B, Rb, n, point)
    if rim_a and _is_curved(g) and g[0] != FACE:
        return _on_rim(B, g, Rb, pb, A, Ra, n, point)
    if f[0] == FACE and _is_round(B, g):
        return _rounded(g, Rb, n), one
    if g[0] == FACE and _is_round(A, f):
        return _rounded(f, Ra, n), one
    if (f[0] == FACE and g[0] == EDGE) or (g[0] == FACE and f[0] == EDGE):
        return (o, o, o, o, o, o), o  # a cylinder's side bears on a face by corners
    if _is_curved(f) and _is_curved(g):
        return sym33.add(_curved(A, f, Ra, pa, n, point), _curved(B, g, Rb, pb, n, point)), one
    if _is_round(A, f):
        return _rounded(f, Ra, n), one
    if _is_round(B, g):
        return _rounded(g, Rb, n), one
    return (o, o, o, o, o, o), o


@generic
def _on_rim(core: Any, f: Any, R: Any, p: Any, its: Any, Q: Any, n: Any, point: Any) -> Any:
    """Of what is curved on the rim of a cylinder, *its* core at Q: as on its side where n is across its axis.

    What is round bears on the rest of it as on a face. Of another cylinder's side Hertz's part goes over to a corner's.
    """
    over, rim, S = _leaning(Q, n), _rim(its, Q, n), _curved(core, f, R, p, n, point)
    if not _is_round(core, f):
        return sym33.add(rim, S), 1.0 - over
    return sym33.add(rim, sym33.add(_times(1.0 - over, S), _times(over, _rounded(f, R, n)))), 0.0 * over + 1.0


@generic
def _rim(core: Any, R: Any, n: Any) -> Any:
    """The shape operator of a cylinder's rim."""
    return _curvature.of_rim(1.0 / core[3] + 0.0 * n[0], (R[2], R[5], R[8]), n)


@generic
def _leaning(R: Any, n: Any) -> Any:
    """The part by which n has left a cylinder's side: 0 across its axis, 1 where it leans by `_LEANING`."""
    lean = R[2] * n[0] + R[5] * n[1] + R[8] * n[2]
    return goes_over((lean if lean > 0.0 else -lean) / _LEANING)


@generic
def _times(k: Any, S: Any) -> Any:
    return k * S[0], k * S[1], k * S[2], k * S[3], k * S[4], k * S[5]


@generic
def _height(R: Any, p: Any, S: Any, s: Any, face: Any, its: Any) -> Any:
    """The depth of the feature *its*, at S, s, below a face at R, p."""
    m = mat33.mul_vec(R, face[2])
    deepest = farthest(its, S, s, vec3.neg(m))
    return vec3.dot(m, vec3.sub(vec3.add(p, mat33.mul_vec(R, face[1])), deepest)) + its[3]


@generic
def _energy(model: Any, begin: int, end: int, lane: int, h: Any, radius: float) -> Any:
    """The energy of rows over that of a corner at the depth h, or of spheres of that *radius*, where it is not 0."""
    r, rows = 0.0 * h, model.contact_point
    for row in range(begin, end):
        x = load_lane(rows, row, DEPTH, lane) / h
        if load_lane(rows, row, LAW, lane) == HERTZ:
            r = r + x * x * sqrt(x / (radius * load_lane(rows, row, SHAPE, lane)))
        else:
            r = r + load_lane(rows, row, PART, lane) * load_lane(rows, row, SHAPE + 1, lane) * x * x
    return r


@generic
def _leave(model: Any, begin: int, end: int, lane: int, r: Any, part: Any, window: float) -> Any:
    """The end of a face's rows then, and the share of what is deepest below it, of the *part* that all count for.

    With U the energy of a corner, a sphere or an edge that is deepest, and r U that of the rows, both together have, with a
    *window* w,

        E = U (0.95 + w/2 + (r - 0.95)^2 / (2 w))   from r = 0.95 to 0.95 + w, as at its ends below, and r U above

    and the forces are its gradient, a share of each: what lies over a face's edge, so that little of it is left within, is
    borne by its deepest place. E is of first order in both energies, whose sum by shares it is.
    """
    rows = model.contact_point
    _, its, others = _takes_over(r, window)
    if others <= 0.0:
        return end, 0.0 * r
    if its < NO_SHARE:
        return begin, others * part
    for row in range(begin, end):
        if load_lane(rows, row, LAW, lane) == HERTZ:
            bent = load_lane(rows, row, SHAPE, lane) / (its * its)
            store_lane(rows, row, SHAPE, lane, bent)
            store_lane(rows, row, SHAPE + 1, lane, bent)
        else:
            store_lane(rows, row, SHAPE + 1, lane, its * load_lane(rows, row, SHAPE + 1, lane))
    return end, part * others


@generic
def _takes_over(r: Any, window: float) -> Any:
    """E over U as in `_leave`, then the share of the rows, and that of what is deepest."""
    o = 0.0 * r
    if r >= 0.95 + window:
        return r, o + 1.0, o
    if r <= 0.95:
        return o + 0.95 + 0.5 * window, o, o + 0.95 + 0.5 * window
    x, all_else = (r - 0.95) / window, 0.95 + 0.5 * window
    return all_else + 0.5 * window * x * x, x, all_else + (0.9025 - r * r) / (2.0 * window)


@generic
def _crosses(A: Any, B: Any, what: int) -> bool:
    """True if edges cross, or an edge and a cylinder's rim, of what is not round."""
    return (
        A[6] + B[6] == 0.0 and A[0] != ELLIPSOID and B[0] != ELLIPSOID and (what == EDGES or what == EDGE_A or what == EDGE_B)
    )


@generic
def _face_below(model: Any, A: Any, B: Any, Ra: Any, Rb: Any, what: int, f: Any, g: Any, n: Any) -> Any:
    """FACE_A or FACE_B, and the face, if one decides, or something lies nearly flat on it, across its edge, which decides."""
    found, face = NOTHING, f
    if what == FACE_A:
        found = what
    elif what == FACE_B:
        found, face = what, g
    elif what != NOTHING and A[6] * A[5] > 0.0 and B[6] == 0.0:
        d = vec3.neg(mat33.transpose_mul_vec(bare9(Rb), n))
        face = face_feature(model, B, d, g[4] % 4096)
        if face[0] == FACE and vec3.dot(face[2], d) > _FLAT:
            found = FACE_B
    elif what != NOTHING and B[6] * B[5] > 0.0 and A[6] == 0.0:
        d = mat33.transpose_mul_vec(bare9(Ra), n)
        face = face_feature(model, A, d, f[4] % 4096)
        if face[0] == FACE and vec3.dot(face[2], d) > _FLAT:
            found = FACE_A
    return found, face


@generic
def _within(model: Any, s: int, core: Any, n: Any, point: Any, lane: int) -> Any:
    """The point of a surface's box, of a capsule's side or end, that is nearest to a point: as a rule that point."""
    R, p = orientation(model, s, lane), origin(model, s, lane)
    c, (i, j, k), zero = three_of(model, s, BOX, lane), three_of(model, s, BOX + 3, lane), 0.0 * n[0]
    h = i + zero, j + zero, k + zero
    if core[6] > 0.0 and core[5] > 0.0:
        steep = mat33.transpose_mul_vec(R, n)[2]
        h = h[0], h[1], core[5] + core[6] * where(steep < 0.0, -steep, steep)
    x = vec3.sub(mat33.transpose_mul_vec(R, vec3.sub(point, p)), c)
    out = x[0] - _clamped(x[0], h[0]), x[1] - _clamped(x[1], h[1]), x[2] - _clamped(x[2], h[2])
    if vec3.dot(h, h) == 0.0 or vec3.dot(out, out) == 0.0:  # endless, or inside
        return point
    return vec3.sub(point, mat33.mul_vec(R, out))


@generic
def _clamped(x: Any, half: Any) -> Any:
    if x > half:
        return half
    if x < -half:
        return -half
    return x


@generic
def _relative(Ra: Any, pa: Any, Rb: Any, pb: Any) -> Any:
    """The second frame in the first."""
    return mat33.mul(mat33.transpose(Ra), Rb), mat33.transpose_mul_vec(Ra, vec3.sub(pb, pa))


@generic
def _is_curved(f: Any) -> bool:
    """True if a feature is smooth, or flat: no corner, edge or rim."""
    return f[0] == FACE or f[3] > 0.0 or (f[0] == POINT and f[2][0] * f[2][1] * f[2][2] > 0.0)


@generic
def _is_round(core: Any, f: Any) -> bool:
    """True if a feature is of a sphere, a capsule or an ellipsoid, which lie on a face at one point or at both ends."""
    return _is_curved(f) and (core[6] > 0.0 or core[0] == ELLIPSOID)


@generic
def _rounded(f: Any, R: Any, n: Any) -> Any:
    """The shape operator of a round feature on what has none; of a capsule's side that of its ends, which bear on faces."""
    if f[3] > 0.0:
        return _curvature.of_sphere(1.0 / f[3], n)
    return _curvature.of_ellipsoid(f[2], R, n)


@generic
def _curved(core: Any, f: Any, R: Any, p: Any, n: Any, point: Any) -> Any:
    """The shape operator of a feature of a core at R, p, at a point of the contact."""
    if f[0] == FACE:
        o = 0.0 * n[0]
        return o, o, o, o, o, o
    if f[0] == EDGE and core[6] > 0.0:
        axis = R[2], R[5], R[8]
        z = vec3.dot(axis, vec3.sub(point, p))
        return _curvature.of_capsule(1.0 / f[3] + 0.0 * z, axis, n, z, core[5] + 0.0 * z)
    if f[0] == EDGE:
        return _curvature.of_line(1.0 / f[3], vec3.cross(mat33.mul_vec(R, f[2]), n))
    if f[3] > 0.0:
        return _curvature.of_sphere(1.0 / f[3], n)
    return _curvature.of_ellipsoid(f[2], R, n)
