"""OpenSim's wrapping of a path's segment over a cylinder about z: by rules of its own, which decide whether, where, which way.

The answer of each surface is what became of the segment, where the path touches first and last in the frame of the surface, and
the length between; the last three count where it wraps. A side is an axis and a sign, such as +x, that alone counts; sign 0 for
all. Source of the rules: OpenSim 4.6, WrapCylinder.
"""

from __future__ import annotations

import math
from typing import Any

from ...algebra import vec3
from ...algebra.masks import both, either, in_any, no
from ...algebra.scalar import bare, floor, one, sincos, where, zero
from ...compiling import apart, generic
from ._lines import EPSILON, ROUNDING, angle_of, at, on_side, safe_sqrt

#: What became of a segment: missed; an end inside; over the surface if that is best; through it, so that it has to wrap.
NONE, INSIDE, WRAPPED, MANDATORY = 0.0, 1.0, 2.0, 3.0
#: Longest straight piece, in metres, that neighbouring wraps see of the spiral on a cylinder, and how many are in a metre.
PIECE, BY_METRE = 0.002, 500.0
#: The tangent of the angle between tangents at the ends of a spiral, a tenth of a degree; how often they are sought, unless
#: they move by less than so many metres.
TANGENT, MOST, REST = math.tan(math.radians(0.1)), 100, 1e-15
PARALLEL = 1e-5
WHOLE_TURN = 6.283185307179586


@generic
def over_cylinder(takes: Any, a: Any, b: Any, radius: Any, length: Any, axis: int, sign: int, alone: bool) -> Any:
    """A cylinder about z, of some length about the origin, where *takes* says that there is a segment.

    *alone* where the path has no other surface.
    """
    o = zero(a[0])
    k = bare(o)
    square_a, square_b, square = a[0] * a[0] + a[1] * a[1], b[0] * b[0] + b[1] * b[1], radius * radius
    outside = both(square_a >= square, square_b >= square)
    through, near, meets = _passes(a, b, square, axis)
    wraps, has_to = through, through
    if sign != 0:
        side_a, side_b = on_side(at(a, axis), sign), on_side(at(b, axis), sign)
        side_of_near = on_side(near, sign)
        if sign < 0:
            side_of_near = either(side_of_near, no(meets))
        else:
            side_of_near = both(side_of_near, meets)
        misses = either(both(side_a, side_b), both(either(side_a, side_b), side_of_near))
        wraps = either(through, no(misses))
        has_to = both(through, either(side_a, side_b))
    wraps = both(both(takes, outside), wraps)
    found = where(outside, k + NONE, k + INSIDE), (o, o, o), (o, o, o), o
    if in_any(wraps):
        within, first, last, along = _touched(wraps, a, b, radius, length, axis, sign, alone)
        contact = where(both(wraps, within), where(has_to, k + MANDATORY, k + WRAPPED), found[0])
        found = contact, first, last, along
    return found


@generic
def _passes(a: Any, b: Any, square: Any, axis: int) -> Any:
    """True where a segment goes through; on which side its line is nearest to the axis; true where it is not along that.

    All by the square of the segment's length seen along z, so that nothing waits for a quotient.
    """
    d = vec3.sub(b, a)
    flat = d[0] * d[0] + d[1] * d[1]
    meets = flat > ROUNDING * (flat + d[2] * d[2])
    ahead, across = -(a[0] * d[0] + a[1] * d[1]), a[0] * d[1] - a[1] * d[0]
    through = both(both(meets, across * across < square * flat), both(ahead > 0.0, ahead < flat))
    return through, at(a, axis) * flat + ahead * at(d, axis), meets


@apart
def _touched(takes: Any, a: Any, b: Any, radius: Any, length: Any, axis: int, sign: int, alone: bool) -> Any:
    """True where it wraps within the cylinder's length; where it touches first and last; how far over it."""
    square_a, square_b = a[0] * a[0] + a[1] * a[1], b[0] * b[0] + b[1] * b[1]
    product = square_a * square_b
    part = radius / product
    way_a, way_b = safe_sqrt(square_a - radius * radius), safe_sqrt(square_b - radius * radius)
    mid_a, to_a = _tangents(a, radius, way_a, part * square_b)
    mid_b, to_b = _tangents(b, radius, way_b, part * square_a)
    i, longer = one(a[2]), zero(a[2]) > 0.0
    # a segment that goes through touches at the two that are least apart: a's to the side of b, and b's to that of a
    second = a[0] * b[1] - a[1] * b[0] <= 0.0
    if sign != 0:
        second = _takes_second(mid_a, to_a, mid_b, to_b, axis, sign)
    turn = where(second, -i, i)
    first = mid_a[0] + turn * to_a[0], mid_a[1] + turn * to_a[1], a[2]
    last = mid_b[0] - turn * to_b[0], mid_b[1] - turn * to_b[1], b[2]
    if sign != 0:
        pulled = first[0] - a[0] + last[0] - b[0], first[1] - a[1] + last[1] - b[1]
        longer = (first[0] + last[0]) * pulled[0] + (first[1] + last[1]) * pulled[1] < 0.0
    # of the distances from the axis, a's part of the sum
    first, last = _slid(a, b, first, last, square_a / (square_a + safe_sqrt(product)))
    half = 0.5 * length
    beyond = both(either(first[2] > half, first[2] < -half), either(last[2] > half, last[2] < -half))
    first, last, along = _spiral(takes, a, b, first, last, (way_a, way_b), radius, longer, alone)
    return no(beyond), first, last, along


@generic
def _takes_second(mid_a: Any, to_a: Any, mid_b: Any, to_b: Any, axis: int, sign: int) -> Any:
    """True where the path touches at a's second candidate and b's first, not at a's first and b's second."""
    a0, a1, b0, b1 = vec3.add(mid_a, to_a), vec3.sub(mid_a, to_a), vec3.add(mid_b, to_b), vec3.sub(mid_b, to_b)
    of_a0, of_a1 = on_side(at(a0, axis), sign), on_side(at(a1, axis), sign)
    of_b0, of_b1 = on_side(at(b0, axis), sign), on_side(at(b1, axis), sign)
    even = either(both(of_a0, of_a1), no(either(of_a0, of_a1)))
    # of pairs that are alike the one with the wider angle between: all lie at the same distance from the axis
    wider = a0[0] * b1[0] + a0[1] * b1[1] < a1[0] * b0[0] + a1[1] * b0[1]
    second = either(of_b0, both(no(either(of_a0, of_b1)), no(wider)))
    return either(both(no(even), of_a1), both(even, second))


@generic
def _tangents(point: Any, radius: Any, way: Any, part: Any) -> Any:
    """The middle of where lines from a point touch the cylinder, at the point's height, and the way from it to the first.

    *way* is how far the point is from there, *part* the radius by the square of its distance from the axis.
    """
    along, across = part * radius, part * way
    return (along * point[0], along * point[1], point[2]), (-across * point[1], across * point[0], zero(across))


@generic
def _slid(a: Any, b: Any, first: Any, last: Any, t: Any) -> Any:
    """The points of touch, slid along z into the plane of both ends and the point of the axis at part *t* between them."""
    o = zero(t)
    center = o, o, a[2] + t * (b[2] - a[2])
    p, q = vec3.sub(a, center), vec3.sub(b, center)
    normal = vec3.cross(p, q)
    size, steep = vec3.dot(normal, normal), 20.0 * normal[2]
    slides = size >= EPSILON * EPSILON * (vec3.dot(p, p) * vec3.dot(q, q))
    slides = both(slides, steep * steep > PARALLEL * PARALLEL * size)
    per_height = one(o) / where(either(normal[2] > 0.0, normal[2] < 0.0), normal[2], one(o))  # which waits for nothing else
    # OpenSim takes b's foot for the direction of the axis: none where that is the origin
    none = b[2] == 0.0
    first = first[0], first[1], _slid_one(slides, a, b, first, normal, per_height, none, a[2])
    return first, (last[0], last[1], _slid_one(slides, b, a, last, normal, per_height, none, a[2]))


@generic
def _slid_one(slides: Any, own: Any, other: Any, point: Any, normal: Any, per_height: Any, none: Any, height: Any) -> Any:
    rise = vec3.dot(vec3.sub(own, point), normal) * per_height
    foot = where(none, height, point[2] + rise)
    reach = 10.0 * (1.0 + 2.0 * PARALLEL)
    to_other, own_to_other = foot - other[2], own[2] - other[2]
    near = both(both(rise >= -reach, rise <= reach), to_other * to_other < own_to_other * own_to_other)
    return where(both(slides, near), point[2] + rise, point[2])


@generic
def _spiral(takes: Any, a: Any, b: Any, first: Any, last: Any, ways: Any, radius: Any, longer: Any, alone: bool) -> Any:
    """The points of touch, slid along z to where the spiral between them goes on straight, and its length.

    *ways* are those from the ends to them, seen along z.
    """
    angle = angle_of(first[0] * last[1] - first[1] * last[0], first[0] * last[0] + first[1] * last[1])
    angle = where(longer, WHOLE_TURN - angle, angle)
    around = radius * radius * angle * angle
    rise = last[2] - first[2]
    square = around + rise * rise
    if not alone:
        pieces = floor(bare(safe_sqrt(square)) * BY_METRE)
        going = both(takes, pieces > 1.5)
        if in_any(going):
            low, high = _settled(going, a, b, first, last, (*ways, radius), around, where(longer, -angle, angle), pieces)
            first, last = (first[0], first[1], low), (last[0], last[1], high)
            rise = high - low
            square = around + rise * rise
    return first, last, safe_sqrt(square)


@generic
def _settled(going: Any, a: Any, b: Any, first: Any, last: Any, sizes: Any, around: Any, turn: Any, pieces: Any) -> Any:
    """The heights of the points of touch. Nothing but these changes, until the number of pieces does."""
    low, high, done = first[2], last[2], zero(pieces)
    of_first, of_last, step = _stepped(going, a, b, first, last, sizes, turn, pieces)
    for _ in range(MOST):
        rise = step * (high - low)
        slid, slides = _slide(going, of_first, low - a[2], rise)
        slid_too, slides_too = _slide(going, of_last, high - b[2], slid - rise)
        low, high, done = low + slid, high + slid_too, done + 1.0
        rests = both(both(slid < REST, slid > -REST), both(slid_too < REST, slid_too > -REST))
        alike = both(no(rests), either(slides, slides_too))
        if in_any(alike):
            ways = slid, slid_too, slides, slides_too
            low, high, done = _on(alike, low, high, done, a[2], b[2], of_first, of_last, step, ways, around, pieces)
        rests = both(going, either(rests, done >= MOST))
        square = bare(around + (high - low) * (high - low))
        least, most = pieces * PIECE, (pieces + 1.0) * PIECE
        changes = both(going, either(square < least * least, square >= most * most))
        going = both(going, no(rests))
        changes = both(changes, going)
        if in_any(changes):
            pieces = where(changes, floor(safe_sqrt(square) * BY_METRE), pieces)
            going = both(going, pieces > 1.5)
            of_first, of_last, step = _stepped(going, a, b, first, last, sizes, turn, pieces)
        if not in_any(going):
            break
    return low, high


@generic
def _on(
    alike: Any,
    low: Any,
    high: Any,
    done: Any,
    a: Any,
    b: Any,
    of_first: Any,
    of_last: Any,
    step: Any,
    ways: Any,
    around: Any,
    pieces: Any,
) -> Any:
    """The heights, and how many steps are done, after all steps in which the same points slide and the pieces are as many.

    The ways of such a step are a matrix times those of the step before: it need not wait for the heights.
    """
    v, w, first, last = ways
    o, i = zero(low), one(low)
    f, g = where(first, i, o), where(last, i, o)
    m01, by = f * of_first[5] * step, g * of_last[5]
    m00 = f + f * of_first[4] - m01
    m10, m11 = by * (m00 - f + step), g + g * of_last[4] - by * step + by * m01
    least, most = pieces * PIECE, (pieces + 1.0) * PIECE
    least, most = least * least - bare(around), most * most - bare(around)
    # of all lanes, so that no step waits until it is known where the last one counts
    ahead, behind, by_now = low, high, done
    for _ in range(MOST):
        v, w = m00 * v + m01 * w, m10 * v + m11 * w
        long = behind - ahead
        rise, square = step * long, bare(long * long)
        first_too, last_too = _bends(of_first, ahead - a, rise), _bends(of_last, behind - b, v - rise)
        alike = both(both(alike, by_now < MOST), both(_same(first, first_too), _same(last, last_too)))
        alike = both(alike, both(square >= least, square < most))
        if not in_any(alike):
            break
        ahead, behind, by_now = ahead + v, behind + w, by_now + 1.0
        low, high, done = where(alike, ahead, low), where(alike, behind, high), where(alike, by_now, done)
    return low, high, done


@generic
def _same(a: Any, b: Any) -> Any:
    return either(both(a, b), no(either(a, b)))


@generic
def _stepped(going: Any, a: Any, b: Any, first: Any, last: Any, sizes: Any, turn: Any, pieces: Any) -> Any:
    """Numbers of both ends that do not change, and the part of one piece, of so many pieces.

    *sizes* are the ways from the ends to the points of touch, seen along z, and the radius.
    """
    step = 1.0 / where(going, pieces, one(pieces))
    s, c = sincos(0.5 * step * turn)
    piece = 2.0 * sizes[2] * where(s < 0.0, -s, s)
    s, c = 2.0 * s * c, 1.0 - 2.0 * s * s
    ahead = c * first[0] - s * first[1], s * first[0] + c * first[1]
    behind = c * last[0] + s * last[1], c * last[1] - s * last[0]
    return _end(a, first, ahead, sizes[0], piece), _end(b, last, behind, sizes[1], piece), step


@generic
def _end(end: Any, touch: Any, ahead: Any, way: Any, piece: Any) -> Any:
    """Of an end, a point of touch and the next point, seen along z: the ways between, and how it slides.

    It slides to the height at which the straight line to the next point passes, and half as far again.
    """
    before = touch[0] - end[0], touch[1] - end[1]
    x, y = ahead[0] - end[0], ahead[1] - end[1]
    flat = x * x + y * y
    part = (x * before[0] + y * before[1]) / where(flat > 0.0, flat, one(flat))
    return way, piece, TANGENT * way * piece, flat, 1.5 * part - 1.5, 1.5 * part


@generic
def _slide(going: Any, of_end: Any, before: Any, after: Any) -> Any:
    """The way by which a point of touch slides along z, and where it does: where the path bends by more than the tolerance.

    *before* and *after* are the rises to it and behind it.
    """
    by_before, by_after = of_end[4], of_end[5]
    rise, flat = before + after, of_end[3]
    some = both(flat > ROUNDING * (flat + rise * rise), either(rise > 0.0, rise < 0.0))
    slides = both(both(going, some), _bends(of_end, before, after))
    slid = by_before * before + by_after * after
    return where(slides, slid, zero(slid)), slides


@generic
def _bends(of_end: Any, before: Any, after: Any) -> Any:
    """True where a path bends by more than the tolerance."""
    # of the two angles with z, the sine of the difference and the cosine times the tolerance, both times both lengths
    turned = of_end[0] * after - of_end[1] * before
    return where(turned < 0.0, -turned, turned) > of_end[2] + TANGENT * before * after
