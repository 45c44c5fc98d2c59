"""OpenSim's wrapping of a path's segment over a sphere about the origin; answers as of `_over_cylinder`.

The length is negative where the path goes the long way round, as there. Source of the rules: OpenSim 4.6, WrapSphere.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.masks import both, either, in_any, no, pick3
from ...algebra.scalar import bare, one, sqrt, where, zero
from ...compiling import apart, generic
from ._lines import angle_between, at, crossings, norm, on_side, unit
from ._over_cylinder import INSIDE, MANDATORY, NONE, WHOLE_TURN, WRAPPED


@generic
def over_sphere(takes: Any, a: Any, b: Any, radius: Any, axis: int, sign: int) -> Any:
    """A sphere about the origin, where *takes* says that there is a segment."""
    o = zero(a[0])
    k = bare(o)
    outside = both(vec3.dot(a, a) >= radius * radius, vec3.dot(b, b) >= radius * radius)
    found = where(outside, k + NONE, k + INSIDE), (o, o, o), (o, o, o), o
    meets = both(both(takes, outside), crossings(a, b, (radius, radius, radius))[0])
    if in_any(meets):
        contact, first, last, along = _met(a, b, radius, axis, sign)
        found = where(meets, contact, found[0]), first, last, along
    return found


@apart
def _met(a: Any, b: Any, radius: Any, axis: int, sign: int) -> Any:
    direction = unit(vec3.sub(a, b))
    normal = vec3.cross(direction, unit(b))
    contact, first, last, along = _around(a, b, radius, axis, sign, direction, unit(normal))
    o = zero(along)
    through = norm(normal) < 1e-5  # through the center: no side is better
    contact = where(through, bare(o) + WRAPPED, contact)
    nothing = o, o, o
    first, last = pick3(through, nothing, first), pick3(through, nothing, last)
    return contact, first, last, where(through, 0.5 * 0.5 * WHOLE_TURN * radius + o, along)


@generic
def _around(a: Any, b: Any, radius: Any, axis: int, sign: int, direction: Any, normal: Any) -> Any:
    o = zero(a[0])
    contact = bare(o) + WRAPPED
    a0, a1 = _tangents(a, normal, radius)
    b0, b1 = _tangents(b, normal, radius)
    first, last = _closest_pair(a0, a1, b0, b1)
    angle = angle_between(first, last)
    if sign != 0:
        side_a, side_b = on_side(at(a, axis), sign), on_side(at(b, axis), sign)
        t = vec3.dot(a, direction)  # in metres, and compared with 1, as there
        near = vec3.sub(a, vec3.scale(t, direction))
        through = both(vec3.dot(near, near) < radius * radius, both(t > 0.0, t < 1.0))
        even = either(both(side_a, side_b), no(either(side_a, side_b)))
        misses = either(even, on_side(at(near, axis), sign))
        judged = where(through, bare(o) + MANDATORY, where(misses, bare(o) + NONE, contact))
        contact = where(either(side_a, side_b), judged, contact)
        one_, two, longer = _on_the_side(a, b, a0, a1, b0, b1, axis, sign)
        sided = no(both(side_a, side_b))
        first, last = pick3(sided, one_, first), pick3(sided, two, last)
        angle = angle_between(first, last)
        angle = where(both(sided, longer), angle - WHOLE_TURN, angle)
    return contact, first, last, radius * angle


@generic
def _closest_pair(a0: Any, a1: Any, b0: Any, b1: Any) -> Any:
    """Of the candidates those that are least apart, seen from the center; the last of equals."""
    u0, u1, v0, v1 = unit(a0), unit(a1), unit(b0), unit(b1)
    first, last, most = a0, b0, vec3.dot(u0, v0)
    near = vec3.dot(u0, v1)
    last, most = pick3(near >= most, b1, last), where(near >= most, near, most)
    near = vec3.dot(u1, v0)
    first, last, most = pick3(near >= most, a1, first), pick3(near >= most, b0, last), where(near >= most, near, most)
    near = vec3.dot(u1, v1)
    return pick3(near >= most, a1, first), pick3(near >= most, b1, last)


@generic
def _on_the_side(a: Any, b: Any, a0: Any, a1: Any, b0: Any, b1: Any, axis: int, sign: int) -> Any:
    """Of the candidates those that pull to the side that counts; whether the path goes the long way round."""
    inward = unit(vec3.neg(vec3.add(a, b)))
    first_of_a, first_of_b = vec3.dot(a0, inward) > vec3.dot(a1, inward), vec3.dot(b0, inward) > vec3.dot(b1, inward)
    first, last = pick3(first_of_a, a0, a1), pick3(first_of_b, b0, b1)
    pulled = vec3.add(vec3.sub(first, a), vec3.sub(last, b))
    wrong = sign * at(pulled, axis) < 0.0
    first, last = pick3(wrong, pick3(first_of_a, a1, a0), first), pick3(wrong, pick3(first_of_b, b1, b0), last)
    pulled = vec3.add(vec3.sub(first, a), vec3.sub(last, b))
    return first, last, vec3.dot(vec3.add(first, last), pulled) < 0.0


@generic
def _tangents(point: Any, normal: Any, radius: Any) -> Any:
    """Points in which lines from a point touch the sphere, in a plane through its center."""
    inward = unit(vec3.neg(point))
    across = vec3.cross(normal, inward)
    far = norm(point)
    s = radius / where(far > 0.0, far, one(far))
    aside_of = s < 1.0
    square = where(aside_of, (1.0 - s) * (1.0 + s), one(s))
    c = sqrt(square) * where(aside_of, one(s), zero(s))
    s = where(aside_of, s, one(s))
    along, aside = far * c * c, far * c * s
    middle = vec3.add(point, vec3.scale(along, inward))
    return vec3.sub(middle, vec3.scale(aside, across)), vec3.add(middle, vec3.scale(aside, across))
