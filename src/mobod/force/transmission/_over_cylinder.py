"""OpenSim's wrapping of a path's segment over a cylinder about z: by rules of its own, which decide whether, where, which way.

The answer of each surface is what became of the segment, where the path touches first and last in the frame of the surface, and
the length between. A side is an axis and a sign, such as +x, that alone counts; sign 0 for all. Source of the rules: OpenSim
4.6, WrapCylinder.
"""

from __future__ import annotations

import math
from typing import Any

from ...algebra import vec3
from ...algebra.scalar import atan2, bare, sincos, sqrt, zero
from ...compiling import generic
from ._lines import ROUNDING, at, on_side, safe_sqrt, to_axis, unit

#: What became of a segment: missed; an end inside; over the surface if that is best; through it, so that it has to wrap.
NONE, INSIDE, WRAPPED, MANDATORY = 0, 1, 2, 3
#: Longest straight piece, in metres, that neighbouring wraps see of the spiral on a cylinder.
PIECE = 0.002
#: The cosine of the angle between tangents at the ends of a spiral, a tenth of a degree; how often they are sought, unless they
#: move by less than so many metres.
COS_TANGENT, MOST, REST = math.cos(math.radians(0.1)), 100, 1e-15
PARALLEL = 1e-5
WHOLE_TURN = 6.283185307179586


@generic
def over_cylinder(a: Any, b: Any, radius: Any, length: Any, axis: int, sign: int, alone: bool) -> Any:
    """A cylinder about z, of some length about the origin; *alone* where the path has no other surface."""
    o = zero(a[0])
    nothing = o, o, o
    from_a, from_b = safe_sqrt(a[0] * a[0] + a[1] * a[1]), safe_sqrt(b[0] * b[0] + b[1] * b[1])
    found = INSIDE, nothing, nothing, o
    if from_a >= radius and from_b >= radius:
        meets, near, foot, t = to_axis(a, b, nothing, (o, o, o + 1.0))
        away = vec3.sub(near, foot)
        through = meets and vec3.dot(away, away) < radius * radius and t > 0.0 and t < 1.0
        side_a, side_b = on_side(at(a, axis), sign), on_side(at(b, axis), sign)
        side_of_near = on_side(at(near, axis), sign) if meets else sign < 0
        found = NONE, nothing, nothing, o
        misses = sign == 0 or ((side_a or side_b) and (side_a == side_b or side_of_near))
        if through or not misses:
            wraps, first, last, along = _touched(a, b, radius, length, axis, sign, alone, from_a, from_b)
            if wraps:
                found = MANDATORY if through else WRAPPED, first, last, along
    return found


@generic
def _touched(a: Any, b: Any, radius: Any, length: Any, axis: int, sign: int, alone: bool, from_a: Any, from_b: Any) -> Any:
    """True if it wraps within the cylinder's length; where it touches first and last; how far over it."""
    a0, a1 = _tangents(a, radius, from_a)
    b0, b1 = _tangents(b, radius, from_b)
    longer = False
    if sign != 0:
        first, last = a0, b1
        if _takes_second(a0, a1, b0, b1, axis, sign):
            first, last = a1, b0
        pulled = vec3.add(vec3.sub(first, a), vec3.sub(last, b))
        longer = (first[0] + last[0]) * pulled[0] + (first[1] + last[1]) * pulled[1] < 0.0
    else:
        first, last = closest_pair(a0, a1, b0, b1, (zero(a[2]), zero(a[2]), a[2]), (zero(a[2]), zero(a[2]), b[2]))
    first, last = _slid(a, b, first, last, from_a, from_b)
    half = 0.5 * length
    outside = (first[2] > half or first[2] < -half) and (last[2] > half or last[2] < -half)
    first, last, along = _spiral(a, b, first, last, radius, longer, alone)
    return not outside, first, last, along


@generic
def _takes_second(a0: Any, a1: Any, b0: Any, b1: Any, axis: int, sign: int) -> bool:
    """True if the path touches at a's second candidate and b's first, not at a's first and b's second."""
    of_a0, of_a1 = on_side(at(a0, axis), sign), on_side(at(a1, axis), sign)
    of_b0, of_b1 = on_side(at(b0, axis), sign), on_side(at(b1, axis), sign)
    if of_a0 != of_a1:
        second = of_a1
    elif of_b0:
        second = True
    elif of_a0 or of_b1:
        second = False
    else:
        # the pair with the wider angle between: both lie at the same distance from the axis
        one = _cosine(a0, b1)
        other = _cosine(a1, b0)
        wider = one <= 1.0 and one >= -1.0 and other <= 1.0 and other >= -1.0 and one < other
        second = not wider
    return second


@generic
def _cosine(v: Any, w: Any) -> Any:
    return (v[0] * w[0] + v[1] * w[1]) / sqrt((v[0] * v[0] + v[1] * v[1]) * (w[0] * w[0] + w[1] * w[1]))


@generic
def _tangents(point: Any, radius: Any, away: Any) -> Any:
    """Where lines from a point touch the cylinder, at the point's height."""
    c, s = point[0] / away, point[1] / away
    along = radius * radius / away
    across = safe_sqrt(radius * radius - along * along)
    x, y, z = along * c, along * s, point[2]
    return (x - across * s, y + across * c, z), (x + across * s, y - across * c, z)


@generic
def closest_pair(a0: Any, a1: Any, b0: Any, b1: Any, foot_a: Any, foot_b: Any) -> Any:
    """Of the candidates those that are least apart, seen from the middle; the last of equals."""
    u0, u1 = unit(vec3.sub(a0, foot_a)), unit(vec3.sub(a1, foot_a))
    v0, v1 = unit(vec3.sub(b0, foot_b)), unit(vec3.sub(b1, foot_b))
    first, last, most = a0, b0, vec3.dot(u0, v0)
    near = vec3.dot(u0, v1)
    if near >= most:
        first, last, most = a0, b1, near
    near = vec3.dot(u1, v0)
    if near >= most:
        first, last, most = a1, b0, near
    near = vec3.dot(u1, v1)
    if near >= most:
        first, last = a1, b1
    return first, last


@generic
def _slid(a: Any, b: Any, first: Any, last: Any, from_a: Any, from_b: Any) -> Any:
    """The points of touch, slid along z into the plane of both ends and the point of the axis that is as far between them."""
    t = from_a / (from_a + from_b)
    o = zero(t)
    center = o, o, a[2] + t * (b[2] - a[2])
    normal = unit(vec3.cross(unit(vec3.sub(a, center)), unit(vec3.sub(b, center))))
    steep = 20.0 * normal[2]
    if steep >= PARALLEL or steep <= -PARALLEL:
        first, last = _slid_one(a, b, a, b, first, normal), _slid_one(b, a, a, b, last, normal)
    return first, last


@generic
def _slid_one(own: Any, other: Any, a: Any, b: Any, point: Any, normal: Any) -> Any:
    rise = vec3.dot(vec3.sub(own, point), normal) / normal[2]
    # OpenSim takes b's foot for the direction of the axis: none where that is the origin
    foot = point[2] + rise
    if b[2] == 0.0:
        foot = a[2]
    reach = 10.0 * (1.0 + 2.0 * PARALLEL)
    to_other, own_to_other = foot - other[2], own[2] - other[2]
    found = point[0], point[1], point[2]
    if rise >= -reach and rise <= reach and to_other * to_other < own_to_other * own_to_other:
        found = point[0], point[1], point[2] + rise
    return found


@generic
def _spiral(a: Any, b: Any, first: Any, last: Any, radius: Any, longer: bool, alone: bool) -> Any:
    """The points of touch, slid along z to where the spiral between them goes on straight, and its length."""
    angle = atan2(first[0] * last[1] - first[1] * last[0], first[0] * last[0] + first[1] * last[1])
    if longer:
        angle = WHOLE_TURN - angle
    turn = -angle if longer else angle
    around = radius * radius * angle * angle
    rise = last[2] - first[2]
    square = around + rise * rise
    pieces = int(bare(safe_sqrt(square)) / PIECE)
    if not alone and pieces > 1:
        step, s, c, s_rest, c_rest, least, most = _stepped(turn, pieces)
        for _ in range(MOST):
            ahead = c * first[0] - s * first[1], s * first[0] + c * first[1], first[2] + step * rise
            z = _made_tangent(a, first, ahead)
            slid = z - first[2]
            first = first[0], first[1], z
            behind = c_rest * first[0] - s_rest * first[1], s_rest * first[0] + c_rest * first[1], z + (1.0 - step) * rise
            z = _made_tangent(b, last, behind)
            slid_too = z - last[2]
            last = last[0], last[1], z
            rise = last[2] - first[2]
            square = around + rise * rise
            if slid < REST and slid > -REST and slid_too < REST and slid_too > -REST:
                break
            if square < least or square >= most:
                pieces = int(bare(safe_sqrt(square)) / PIECE)
                if pieces < 2:
                    break
                step, s, c, s_rest, c_rest, least, most = _stepped(turn, pieces)
    return first, last, safe_sqrt(square)


@generic
def _stepped(turn: Any, pieces: int) -> Any:
    """The part of one piece; sines and cosines of its turn and of the rest; between which squares of lengths it stays so."""
    step = 1.0 / pieces
    s, c = sincos(step * turn)
    s_rest, c_rest = sincos((1.0 - step) * turn)
    least, most = pieces * PIECE, (pieces + 1.0) * PIECE
    return step, s, c, s_rest, c_rest, least * least, most * most


@generic
def _made_tangent(end: Any, touch: Any, ahead: Any) -> Any:
    """The height of a point of touch, slid along z where the path would bend there by more than the tolerance."""
    before, after = vec3.sub(touch, end), vec3.sub(ahead, touch)
    found = touch[2]
    of_before, of_after = before[0] * before[0] + before[1] * before[1], after[0] * after[0] + after[1] * after[1]
    sizes = (of_before + before[2] * before[2]) * (of_after + after[2] * after[2])
    # of the two angles with z, the cosine of the difference, times both lengths
    difference = before[2] * after[2] + safe_sqrt(of_before * of_after)
    if difference < 0.0 or difference * difference < COS_TANGENT * COS_TANGENT * sizes:
        # the height at which the straight line to the next point passes
        x, y, rise = ahead[0] - end[0], ahead[1] - end[1], ahead[2] - end[2]
        flat = x * x + y * y
        if flat > ROUNDING * (flat + rise * rise) and (rise > 0.0 or rise < 0.0):
            there = end[2] + rise * (x * before[0] + y * before[1]) / flat
            found = touch[2] + 1.5 * (there - touch[2])
    return found
