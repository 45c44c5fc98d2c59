"""OpenSim's wrapping of a path's segment over a sphere about the origin; answers as of `_over_cylinder`.

The length is negative where the path goes the long way round, as there. Source of the rules: OpenSim 4.6, WrapSphere.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import sqrt, zero
from ...compiling import generic
from ._lines import angle_between, at, crossings, norm, on_side, unit
from ._over_cylinder import INSIDE, MANDATORY, NONE, WHOLE_TURN, WRAPPED, closest_pair


@generic
def over_sphere(a: Any, b: Any, radius: Any, axis: int, sign: int) -> Any:
    """A sphere about the origin."""
    o = zero(a[0])
    nothing = o, o, o
    found = INSIDE, nothing, nothing, o
    if norm(a) >= radius and norm(b) >= radius:
        found = NONE, nothing, nothing, o
        if crossings(a, b, (radius, radius, radius))[0]:
            direction = unit(vec3.sub(a, b))
            normal = vec3.cross(direction, unit(b))
            if norm(normal) < 1e-5:  # through the center: no side is better
                found = WRAPPED, nothing, nothing, 0.5 * 0.5 * WHOLE_TURN * radius
            else:
                found = _around(a, b, radius, axis, sign, direction, unit(normal))
    return found


@generic
def _around(a: Any, b: Any, radius: Any, axis: int, sign: int, direction: Any, normal: Any) -> Any:
    o = zero(a[0])
    contact, longer, misses = WRAPPED, False, False
    a0, a1 = _tangents(a, normal, radius)
    b0, b1 = _tangents(b, normal, radius)
    first, last = closest_pair(a0, a1, b0, b1, (o, o, o), (o, o, o))
    side_a, side_b = on_side(at(a, axis), sign), on_side(at(b, axis), sign)
    if sign != 0 and (side_a or side_b):
        t = vec3.dot(a, direction)  # in metres, and compared with 1, as there
        near = vec3.sub(a, vec3.scale(t, direction))
        if vec3.dot(near, near) < radius * radius and t > 0.0 and t < 1.0:
            contact = MANDATORY
        else:
            misses = side_a == side_b or on_side(at(near, axis), sign)
    if sign != 0 and not (side_a and side_b):
        inward = unit(vec3.neg(vec3.add(a, b)))
        first_of_a, first_of_b = vec3.dot(a0, inward) > vec3.dot(a1, inward), vec3.dot(b0, inward) > vec3.dot(b1, inward)
        one, two = (a0 if first_of_a else a1), (b0 if first_of_b else b1)
        pulled = vec3.add(vec3.sub(one, a), vec3.sub(two, b))
        if sign * at(pulled, axis) < 0.0:
            one, two = (a1 if first_of_a else a0), (b1 if first_of_b else b0)
            pulled = vec3.add(vec3.sub(one, a), vec3.sub(two, b))
        first, last = one, two
        longer = vec3.dot(vec3.add(first, last), pulled) < 0.0
    angle = angle_between(first, last)
    if longer:
        angle = angle - WHOLE_TURN
    found = contact, first, last, radius * angle
    if misses:
        found = NONE, (o, o, o), (o, o, o), o
    return found


@generic
def _tangents(point: Any, normal: Any, radius: Any) -> Any:
    """Where lines from a point touch the sphere, in a plane through its center."""
    inward = unit(vec3.neg(point))
    across = vec3.cross(normal, inward)
    far = norm(point)
    s = radius / far
    o = zero(s)
    c = o
    if s < 1.0:
        c = sqrt((1.0 - s) * (1.0 + s))
    else:
        s = o + 1.0
    along, aside = far * c * c, far * c * s
    middle = vec3.add(point, vec3.scale(along, inward))
    return vec3.sub(middle, vec3.scale(aside, across)), vec3.add(middle, vec3.scale(aside, across))
