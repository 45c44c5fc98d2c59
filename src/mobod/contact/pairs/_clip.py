"""The points at which a flat face of one shape bears another: the other's face, or edge, cut along the edges of the first.

All is in the frame of the face's surface. A polygon lies in the columns from FORCE on of contact_point, which its law fills in
later: a corner a row, three coordinates and a number that identifies it; clipping by an edge moves it from one set of four
columns to another (Sutherland and Hodgman 1974). A point's number is that of a corner of the other face, or of the two edges
that cross there.

Corners of a polygon come and go as faces turn on each other, and as one slides off the other. Together they are as stiff as

    4 sqrt(A / A_0) corners, a corner's share being half of both its edges over the polygon's circumference

with A the polygon's area and A_0 that of the smaller face: a corner that splits into two shares its part, what slides off ends
with no force, and a brick lies on a brick as it lies on a plane. Where by this a corner of either whole face would count for
more than one, as in a triangle, all count for less by as much: what lies on a corner alone bears as on a corner, whichever of
the faces about it is nearest. The stiffness of a flat punch grows with the root of its area,
too (Johnson 1985, Contact Mechanics, section 3.8).

A segment bears at both ends, or where it is cut. With U_1 and U_2 the energies of spheres, or corners, as deep as these, and l
the part of its length that is left, the energy is

    E = (U_1^p + U_2^p)^(1/p),   2^(1/p) = 1 + S(l),   S(x) = x^2 (3 - 2 x)

so that a whole segment bears as two, one of which nothing is left as one, where both cuts meet, and where one end is not deep
the other bears as if it were alone. Forces are the gradient of E by depths, and by l, which pushes what is deep off the face:

    f_i = (U_i / E)^(p-1) dU_i/dx_i,   dE/dl o / |o . (e2 - e1)| at the cuts, of sharp edges with f_i dx_i/dl beside

with o the edge's outward normal in the face, e1 and e2 the ends: the normal of a cut leans by that much. Without it a capsule
that lies across an edge would gain energy as it slides to and fro, and tremble without end.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import exp, load_lane, log, sincos, sqrt, store_lane
from ...compiling import apart, generic
from ..access import CORNER, FEATURE, FORCE, HERTZ, PART, Pair, load3_lane, put_point, store3_lane
from ..shape import BRICK, CONVEX_HULL, CYLINDER
from ._core import CORNERS, bare3, corner_number, end_of, face_feature, list_of, vertex
from ._curvature import goes_over

#: A corner that is beyond an edge by less than this part of the edge's length is not cut: faces that are flush would have
#: points that come and go with rounding.
_FLUSH = 1e-6
#: Corners of the polygon that stands for the end of a cylinder.
_ENDS = 16
#: A cylinder whose axis has less than the first cosine with a face's normal bears on a line of its side, with more than the
#: second on its end; between them on both, in part.
_STEEP, _LEVEL = 0.9, 0.99
#: The most by which a force leans to the side, of that of an end: a segment along the edge gets over it at once.
MOST_LEAN = 0.1
#: The part of a sharp edge that is within another, from which on it is cut there, and beyond it, from which on it is so just
#: there: at first it is pushed off by nothing.
_BEGUN = 0.05
#: The least part of a segment that is told from none, by S.
_LEAST_LEFT = 1e-3
#: The share of a cut that bears nothing.
NO_SHARE = 1e-9
#: What a crossing with each further edge adds to the number of a corner, and one of the second shape's faces to all.
_SIDE, _SECOND = 2.0**28, 2.0**45
#: ... and each face that bears, to tell its points from those of another that bears beside it.
_BY = 2.0**47
#: ... and those of an edge beside its polygon.
_EDGE = 2.0**44


@generic
def num_corners(model: Any, core: Any, which: int) -> int:
    """Of a face."""
    if core[0] == CONVEX_HULL:
        begin, end = list_of(model, core, CORNERS, which)
        return end - begin
    return _ENDS if core[0] == CYLINDER else 4


@generic
def corner(model: Any, core: Any, which: int, i: int, along: Any) -> Any:
    """Corner i of a face, counter-clockwise from outside; a cylinder's first one is *along* that unit vector of two numbers."""
    kind, _, _, x, y, z, _ = core
    zero = 0.0 * along[0]
    if kind == CONVEX_HULL:
        begin, _ = list_of(model, core, CORNERS, which)
        v = vertex(model, core, model.contact_integers[begin + i])
        return v[0] + zero, v[1] + zero, v[2] + zero
    if which % 2 == 0:
        i = num_corners(model, core, which) - 1 - i
    up = 1.0 if which % 2 == 1 else -1.0
    if kind == CYLINDER:
        s, c = sincos(6.283185307179586 / _ENDS * i)
        return x * (c * along[0] - s * along[1]), x * (c * along[1] + s * along[0]), up * z + zero
    a, b = (1.0, -1.0, -1.0, 1.0)[i], (1.0, 1.0, -1.0, -1.0)[i]
    if which < 2:
        return up * x + zero, a * y + zero, b * z + zero
    if which < 4:
        return b * x + zero, up * y + zero, a * z + zero
    return a * x + zero, b * y + zero, up * z + zero


@generic
def vertex_of(model: Any, core: Any, which: int, i: int) -> int:
    """The number of the vertex that is corner i of a polyhedron's face."""
    if core[0] == CONVEX_HULL:
        begin, _ = list_of(model, core, CORNERS, which)
        return model.contact_integers[begin + i]
    x = corner(model, core, which, i, (1.0, 0.0))
    return int(x[0] > 0.0) + 2 * int(x[1] > 0.0) + 4 * int(x[2] > 0.0)


@generic
def most_share(model: Any, core: Any, which: int) -> float:
    """The greatest share of a corner of a whole face by its edges, and 1 at least."""
    if core[0] != CONVEX_HULL:
        return 1.0
    n, flat = num_corners(model, core, which), (1.0, 0.0)
    a, around, most = corner(model, core, which, n - 1, flat), 0.0, 0.0
    a, last = corner(model, core, which, 0, flat), length(vec3.sub(corner(model, core, which, 0, flat), a))
    for i in range(n):
        b = corner(model, core, which, (i + 1) % n, flat)
        edge = length(vec3.sub(b, a))
        around, most = around + edge, max(most, last + edge)
        a, last = b, edge
    return max(1.0, 2.0 * most / around)


@generic
def downhill(d: Any) -> Any:
    """The direction across z in which d leads, a unit vector of two numbers; x where d is along z."""
    square = d[0] * d[0] + d[1] * d[1]
    if square > 1e-24:
        k = 1.0 / sqrt(square)
        return k * d[0], k * d[1]
    return 0.0 * d[0] + 1.0, 0.0 * d[1]


@generic
def clip_polygon(model: Any, core: Any, which: int, n: int, lane: int) -> Any:
    """Cut the polygon of n corners along a face's edges: its columns then, how many corners it has, and the face's area."""
    rows, flat = model.contact_point, (1.0, 0.0)
    here, there = FORCE, FORCE + 4
    sides = num_corners(model, core, which)
    start = corner(model, core, which, 0, flat)
    second = corner(model, core, which, 1, flat)
    third = corner(model, core, which, 2, flat)
    m = vec3.cross(vec3.sub(second, start), vec3.sub(third, start))
    a = corner(model, core, which, sides - 1, flat)
    area = 0.0 * vec3.dot(m, m)
    for side in range(sides):
        b = corner(model, core, which, side, flat)
        area = area + vec3.dot(m, vec3.cross(vec3.sub(a, start), vec3.sub(b, start)))
        out = vec3.cross(vec3.sub(b, a), m)
        length = sqrt(vec3.dot(out, out))
        out = vec3.scale(1.0 / length, out)
        ab = vec3.sub(b, a)
        allowed = _FLUSH * sqrt(vec3.dot(ab, ab))
        kept = 0
        x, name = load3_lane(rows, max(n - 1, 0), here, lane), load_lane(rows, max(n - 1, 0), here + 3, lane)
        dx = vec3.dot(out, vec3.sub(x, a))
        for i in range(n):
            y, its = load3_lane(rows, i, here, lane), load_lane(rows, i, here + 3, lane)
            dy = vec3.dot(out, vec3.sub(y, a))
            if (dx < -allowed and dy > allowed) or (dx > allowed and dy < -allowed):
                t = dx / (dx - dy)
                store3_lane(rows, kept, there, lane, vec3.add_scaled(x, t, vec3.sub(y, x)))
                inside = its if dx > 0.0 else name
                store_lane(rows, kept, there + 3, lane, inside + _SIDE * (side + 1) + (2.0 if dx > 0.0 else 1.0))
                kept += 1
            if dy <= allowed:
                store3_lane(rows, kept, there, lane, y)
                store_lane(rows, kept, there + 3, lane, its)
                kept += 1
            x, name, dx = y, its, dy
        here, there, n = there, here, kept
        a = b
    return here, n, 0.5 * area / sqrt(vec3.dot(m, m))


@generic
def area_of(model: Any, n: int, here: int, lane: int) -> Any:
    """The area of the polygon of n corners in some columns, and its circumference."""
    rows = model.contact_point
    start = load3_lane(rows, 0, here, lane)
    x, total, around = load3_lane(rows, n - 1, here, lane), (0.0 * start[0], 0.0 * start[0], 0.0 * start[0]), 0.0 * start[0]
    for i in range(n):
        y = load3_lane(rows, i, here, lane)
        total = vec3.add(total, vec3.cross(vec3.sub(x, start), vec3.sub(y, start)))
        around = around + length(vec3.sub(y, x))
        x = y
    return 0.5 * length(total), around


@generic
def length(v: Any) -> Any:
    """Of a vector; of none 0, with tangents that are 0."""
    square = vec3.dot(v, v)
    if square > 0.0:
        return sqrt(square)
    return 0.0 * square


@generic
def _further(part: Any, off: Any, beyond: Any, run: Any, out: Any, begun: float) -> Any:
    """The part of a segment that is cut off by all edges so far, and what a way takes from it, with one more.

    The end is *beyond* that edge by so much, of the *run* by which the segment goes out through it: the greater of both parts,
    over which one goes over to the other where they differ by less than *begun*.
    """
    if beyond >= (part + begun) * run:
        return beyond / run, vec3.scale(1.0 / run, out)
    if beyond <= (part - begun) * run:
        return part, off
    more = beyond / run - part + begun
    rate = more / (2.0 * begun)
    return part + 0.5 * rate * more, vec3.add_scaled(vec3.scale(1.0 - rate, off), rate / run, out)


@generic
def clip_segment(model: Any, core: Any, which: int, lane: int, begun: float) -> Any:
    """Cut the segment between the first two corners as well: how many points are left, and which part of its length.

    Then, for either end, by what a way of the segment takes from that part; and where the edges themselves cut it. An end is
    cut from *begun* on, see `_further`.
    """
    rows, flat = model.contact_point, (1.0, 0.0)
    sides = num_corners(model, core, which)
    start = corner(model, core, which, 0, flat)
    second = corner(model, core, which, 1, flat)
    third = corner(model, core, which, 2, flat)
    m = vec3.cross(vec3.sub(second, start), vec3.sub(third, start))
    x, y = load3_lane(rows, 0, FORCE, lane), load3_lane(rows, 1, FORCE, lane)
    o = 0.0 * x[0]
    low, high = o, o
    first, last = o, o
    off_low, off_high = (o, o, o), (o, o, o)
    along = vec3.sub(y, x)
    a = corner(model, core, which, sides - 1, flat)
    for side in range(sides):
        b = corner(model, core, which, side, flat)
        out = vec3.cross(vec3.sub(b, a), m)
        dx, dy = vec3.dot(out, vec3.sub(x, a)), vec3.dot(out, vec3.sub(y, a))
        if dx > 0.0 and dy > 0.0:
            return 0, o, off_low, off_high, (o, o)
        if dx > dy:
            low, off_low = _further(low, off_low, dx, dx - dy, out, begun)
            if dx > first * (dx - dy):
                first = dx / (dx - dy)
        elif dy > dx:
            high, off_high = _further(high, off_high, dy, dy - dx, out, begun)
            if dy > last * (dy - dx):
                last = dy / (dy - dx)
        a = b
    high = 1.0 - high
    if low > high:
        return 0, o, off_low, off_high, (o, o)
    store3_lane(rows, 0, FORCE, lane, vec3.add_scaled(x, low, along))
    store3_lane(rows, 1, FORCE, lane, vec3.add_scaled(x, high, along))
    return 2, high - low, off_low, off_high, (first, 1.0 - last)


@generic
def ends_shares(a: Any, b: Any, left: Any, power: float) -> Any:
    """Of a segment whose ends are a and b deep: the shares of both, and of each dE/dl over the force of an end alone.

    *power* is that of the depth in the energy.
    """
    o = 0.0 * (a + b)
    if a <= 0.0 or b <= 0.0:
        return o + 1.0, o + 1.0, o, o
    s = left * left * (3.0 - 2.0 * left)
    if s < _LEAST_LEFT:
        s = o + _LEAST_LEFT
    more = log(1.0 + s)
    p = 0.6931471805599453 / more
    deep, ratio = (a, b / a) if a >= b else (b, a / b)
    x = power * log(ratio)  # of the energies, its logarithm
    y = exp(p * x)
    total = log(1.0 + y)
    first = exp((1.0 / p - 1.0) * total)
    second = first * exp((p - 1.0) * x)
    slope = (total / p - y * x / (1.0 + y)) / ((1.0 + s) * more) * 6.0 * left * (1.0 - left)
    rise = exp(total / p) * slope * deep / power
    other = rise * exp(-x) * ratio
    if a >= b:
        return first, second, rise, other
    return second, first, other, rise


@generic
def lean(m: Any, part: Any, off: Any, most: float) -> Any:
    """The vector of a cut's force, over the force of an end alone: its share along m, and to the side at most *most*."""
    return vec3.add_scaled(vec3.scale(part, m), 1.0 / sqrt(1.0 + vec3.dot(off, off) / (most * most)), off)


@generic
def bearing(
    model: Any, pair: Pair, face: Any, R: Any, p: Any, core: Any, other: Any, Q: Any, q: Any, sign: float, near: int, k: Any
) -> int:
    """Rows of all points where another shape is behind a face, and where they end: none where it has neither face nor edge.

    *core* with the *face* is at R, p in Ground; the *other* one at Q, q in the frame of the first; *sign* is -1 where
    the face is the second shape's, and so points along minus n; *near* is the vertex of a hull that is deepest. k: where the
    rows begin, and the part of the contact that they are.
    """
    if other[0] != CYLINDER:
        segment = other[0] == BRICK and other[3] * other[4] == 0.0 and other[5] > 0.0
        return _bearing(model, pair, face, R, p, core, other, Q, q, sign, near, k, segment)
    row, weight = k
    steep = mat33.transpose_mul_vec(Q, face[2])[2]
    flat = goes_over(((steep if steep > 0.0 else -steep) - _STEEP) / (_LEVEL - _STEEP))
    for part in range(2):
        share = flat if part == 0 else 1.0 - flat
        if share > NO_SHARE:
            row = _bearing(model, pair, face, R, p, core, other, Q, q, sign, near, (row, share * weight), part == 1)
    return row


@apart
def _bearing(
    model: Any, pair: Pair, face: Any, R: Any, p: Any, core: Any, other: Any, Q: Any, q: Any, sign: float, near: int, k: Any,
    segment: bool,
) -> int:  # fmt: skip
    """As `bearing`; of a cylinder those of its side, or those of its end."""
    m, which, lane = face[2], face[4], pair[2]
    kind, _, _, x, y, z, r = other
    rows, (begin, weight) = model.contact_point, k
    # the other's direction towards the face
    d = vec3.neg(mat33.transpose_mul_vec(Q, m))
    along = downhill(d)
    # of a polygon, twice what a corner's edges count for
    share = 0.0 * along[0]
    left, off_first, off_second = share, d, d
    if segment:
        for i in range(2):
            v = (x * along[0], x * along[1], along[0] * 0.0 + (z if i == 0 else -z))
            store3_lane(rows, i, FORCE, lane, vec3.add(q, mat33.mul_vec(Q, v)))
            store_lane(rows, i, FORCE + 3, lane, 4.0 * i)
        here = FORCE
        n, left, off_first, off_second, _ = clip_segment(model, core, which, lane, 0.0)
    elif kind == CONVEX_HULL or kind == CYLINDER or (kind == BRICK and x * y * z > 0.0):
        its = face_feature(model, other, bare3(d), near)[4]
        n = num_corners(model, other, its)
        for i in range(n):
            v = corner(model, other, its, i, along)
            store3_lane(rows, i, FORCE, lane, vec3.add(q, mat33.mul_vec(Q, v)))
            store_lane(rows, i, FORCE + 3, lane, 4.0 * (i + 4096 * its))
        whole, _ = area_of(model, n, FORCE, lane)
        here, n, area = clip_polygon(model, core, which, n, lane)
        if n < 3:
            return begin
        if area < whole:
            whole = area + 0.0 * whole  # with tangents, where polygons have them
        area, around = area_of(model, n, here, lane)
        if area <= 0.0:
            return begin
        share = 2.0 * sqrt(area / whole) / (around * max(most_share(model, core, which), most_share(model, other, its)))
    else:
        return begin
    level = vec3.dot(m, face[1])
    normal = vec3.scale(sign, mat33.mul_vec(R, m))
    if segment:
        x1, x2 = load3_lane(rows, 0, FORCE, lane), load3_lane(rows, 1, FORCE, lane)
        if n == 0:
            return begin
        names = (0.0, 4.0) if sign > 0.0 else (8.0, 12.0)
        a, b = level - vec3.dot(m, x1) + r, level - vec3.dot(m, x2) + r
        cut = (x1, x2), (a, b), left, (off_first, off_second), ends_shares(a, b, left, 2.5 if r > 0.0 else 2.0), (a, b)
        return _bear_segment(model, pair, R, p, m, sign, r, cut, k, names, (False, MOST_LEAN))
    count, edge = begin, share
    if n > 0:
        edge = length(vec3.sub(load3_lane(rows, 0, here, lane), load3_lane(rows, n - 1, here, lane)))
    for i in range(n):
        before = edge
        v = load3_lane(rows, i, here, lane)
        edge = length(vec3.sub(load3_lane(rows, i + 1 if i + 1 < n else 0, here, lane), v))
        depth = level - vec3.dot(m, v) + r
        if depth > 0.0:
            name = load_lane(rows, i, here + 3, lane)
            point = vec3.add(p, mat33.mul_vec(R, vec3.add_scaled(v, 0.5 * depth - r, m)))
            put_point(model, pair, count, point, normal, depth, CORNER, 0.0, weight * share * (before + edge), 0)
            store_lane(rows, count, FEATURE, lane, name + (0.0 if sign > 0.0 else _SECOND) + (which % 32) * _BY)
            count += 1
    return count


@apart
def cut_edge(model: Any, pair: Pair, face: Any, core: Any, other: Any, Q: Any, q: Any, edge: Any) -> Any:
    """Cut an edge of a polyhedron, the *other*, along a face: twice its energy by a corner's stiffness, and the cut.

    The first is below zero where nothing is left, or deep; the cut are its ends, their depths, the part that is left, what a
    way takes from it, as in `clip_segment`, and `ends_shares`, with tangents where these are. *edge* is a feature, all else
    as in `bearing`.
    """
    m, lane, rows, o = face[2], pair[2], model.contact_point, 0.0 * q[0]
    for i in range(2):
        v = end_of(model, other, edge, i)
        store3_lane(rows, i, FORCE, lane, vec3.add(q, mat33.mul_vec(Q, (v[0] + o, v[1] + o, v[2] + o))))
    level, x, y = vec3.dot(m, face[1]), load3_lane(rows, 0, FORCE, lane), load3_lane(rows, 1, FORCE, lane)
    n, left, off_first, off_second, at = clip_segment(model, core, face[4], lane, _BEGUN)
    ends = load3_lane(rows, 0, FORCE, lane), load3_lane(rows, 1, FORCE, lane)
    a, b = level - vec3.dot(m, ends[0]), level - vec3.dot(m, ends[1])
    # what begins to be cut is so a little further within: as deep it is told to be as the edges leave it
    rise = vec3.dot(m, vec3.sub(x, y))
    told_a, told_b = level - vec3.dot(m, x) + at[0] * rise, level - vec3.dot(m, x) + at[1] * rise
    told = told_a if told_a > a else a, told_b if told_b > b else b
    square, shares = o - 1.0, (o, o, o, o)
    if n > 0 and (a > 0.0 or b > 0.0):
        shares = ends_shares(a, b, left, 2.0)
        square = (shares[0] * a * a if a > 0.0 else o) + (shares[1] * b * b if b > 0.0 else o)
    return square, (ends, (a, b), left, (off_first, off_second), shares, told)


@apart
def bear_edge(
    model: Any, pair: Pair, face: Any, R: Any, p: Any, core: Any, other: Any, sign: float, edge: Any, cut: Any, k: Any
) -> int:
    """Rows of the ends of an edge that `cut_edge` has cut; a corner has one number, whichever of its edges bears."""
    off = cut[3]
    first, second = corner_number(other, edge, 0), corner_number(other, edge, 1)
    if vec3.dot(off[0], off[0]) > 0.0:
        first = 8192 * (edge[4] + 1)
    if vec3.dot(off[1], off[1]) > 0.0:
        second = 8192 * (edge[4] + 1) + 1
    base = _EDGE + (0.0 if sign > 0.0 else _SECOND) + (face[4] % 32) * _BY
    names = base + first, base + second
    most = MOST_LEAN if core[0] == CYLINDER else 1.0
    return _bear_segment(model, pair, R, p, face[2], sign, 0.0, cut, k, names, (True, most))


@generic
def _bear_segment(
    model: Any, pair: Pair, R: Any, p: Any, m: Any, sign: float, r: float, cut: Any, k: Any, names: Any, leans: Any
) -> int:
    """Rows of a segment's two ends, or cuts: spheres of radius *r* by HERTZ, corners where that is 0.

    *leans* says if a cut goes along an edge, so that its depth changes, and the most by which its force leans.
    """
    sharp, most = leans
    ends, (a, b), left, off, (part_a, part_b, rise_a, rise_b), told = cut
    slope = 0.0 * a
    if sharp and left > _LEAST_LEFT:  # what is round goes off an edge instead
        slope = (a - b) / left
    count, weight = k
    for i in range(2):
        v, depth, deep, part, way, rise = ends[0], a, told[0], part_a, off[0], rise_a + part_a * slope
        if i == 1:
            v, depth, deep, part, way, rise = ends[1], b, told[1], part_b, off[1], rise_b - part_b * slope
        if depth > 0.0 and part > NO_SHARE:
            g = lean(m, part, vec3.scale(rise, way), most)
            size = sqrt(vec3.dot(g, g))
            n = vec3.scale(sign / size, mat33.mul_vec(R, g))
            point = vec3.add(p, mat33.mul_vec(R, vec3.add_scaled(v, 0.5 * depth - r, m)))
            force = weight * size
            if r > 0.0:
                k = 1.0 / (r * force * force)
                put_point(model, pair, count, point, n, depth, HERTZ, k, k, 0)
            else:
                put_point(model, pair, count, point, n, deep, CORNER, 0.0, force * (depth / deep), 0)
            if sharp:  # the energy is that of the share alone
                store_lane(model.contact_point, count, PART, pair[2], part / size * (depth / deep))
            store_lane(model.contact_point, count, FEATURE, pair[2], names[i])
            count += 1
    return count
