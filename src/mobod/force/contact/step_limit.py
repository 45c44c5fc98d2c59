"""Limits of steps: how long one may be before two surfaces that may touch could pass through each other.

Along any fixed axis on which two surfaces are a gap g apart, they approach by s(h) in a time h, and cannot touch while
s(h) < g. A step may carry them deeper by a part of the smaller one, so that it ends where they are seen to touch, and error
control decides:

    s(h) = v h + a h^2 <= g + part * size

v is the speed of approach of the centers of their boxes, seen from the surface whose axis it is, with what rotation about
the center adds, |w x n| times the box's reach, and a twice what constant accelerations would give, for those that grow.
Axes are the line between the centers, a half-space's normal, the way from a box to a center, and the boxes' own; the longest
step of all these holds, as each alone is a proof. Where boxes overlap on all of them it is the way in any direction that is
limited. (Mirtich 1996, Impulse-based Dynamic Simulation of Rigid Body Systems, chapter 2: conservative advancement.)
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.record import call_routine
from ...algebra.scalar import load, load_lane, num_lanes, sqrt, store, store_lane, where, zero
from ...compiling import apart, generic, routine
from ...contact.access import BOX, DIMENSIONS, load3_lane, number_of, orientation, origin, store3_lane, three_of
from ...contact.shape import CAPSULE, CYLINDER, HALF_SPACE, HEIGHT_FIELD, SPHERE, TORUS
from . import broad_phase
from .broad_phase import place_surfaces, searching

#: Columns of contact_sum: the part of the smaller surface that a step may go deeper; the step, proposed and then permitted;
#: which two surfaces permit no more.
PART, STEP, FIRST, SECOND = 24, 25, 26, 27
#: Columns of surface_frame.
_CENTER, _HALF = 12, 15
#: Longer than any step.
NEVER = 1e30


@generic
def _center_of(model: Any, s: int, lane: int) -> Any:
    """The center of a bounded surface's box, in Ground."""
    return load3_lane(model.surface_frame, s, _CENTER, lane)


@generic
def _half_lengths(model: Any, s: int, lane: int) -> Any:
    """Half the sides of a bounded surface's box."""
    return three_of(model, s, BOX + 3, lane)


@generic
def _reach(model: Any, s: int, lane: int) -> float:
    """The radius of a ball about the center of its box that contains a surface."""
    h = _half_lengths(model, s, lane)
    if model.surface_kind[s] == SPHERE:
        return h[0]
    return sqrt(vec3.dot(h, h))


@generic
def _is_endless(model: Any, s: int, lane: int) -> bool:
    """True if it is a half-space, or a cylinder without ends."""
    if model.surface_kind[s] == CYLINDER:
        return number_of(model, s, DIMENSIONS + 2, lane) != 0.0
    return model.surface_kind[s] == HALF_SPACE


@generic
def half_thickness(model: Any, s: int, lane: int) -> float:
    """Half the thickness of a surface; of what is solid beyond its surface, unlimited."""
    if model.surface_kind[s] == HALF_SPACE or model.surface_kind[s] == HEIGHT_FIELD:
        return NEVER
    if _is_endless(model, s, lane):
        return number_of(model, s, DIMENSIONS, lane)
    h = _half_lengths(model, s, lane)
    return min(h[0], h[1], h[2])


@generic
def _length(v: Any) -> float:
    return sqrt(vec3.dot(v, v))


@generic
def _time_to_approach(way: float, v: float, a: float) -> float:
    """The time in which v h + a h^2 comes to *way*, above zero; a is not below zero."""
    root = v * v + 4.0 * a * way
    below = v + sqrt(root)
    if below > 2.0 * way / NEVER:
        return 2.0 * way / below
    return NEVER


@generic
def _motion(model: Any, s: int, p: Any, lane: int) -> Any:
    """Velocity and acceleration, in Ground, of the point of a surface's body that is at p."""
    b = model.surface_body[s]
    w, v = load3_lane(model.V_GB, b, 0, lane), load3_lane(model.V_GB, b, 3, lane)
    alpha, a = load3_lane(model.A_GB, b, 0, lane), load3_lane(model.A_GB, b, 3, lane)
    r = vec3.sub(p, load3_lane(model.p_GB, b, 0, lane))
    turn = vec3.cross(w, r)
    return vec3.add(v, turn), vec3.add(a, vec3.add(vec3.cross(alpha, r), vec3.cross(w, turn)))


@generic
def _between(model: Any, a: int, b: int, lane: int) -> Any:
    """Velocity and acceleration of the center of b's box less those of a's."""
    v, dv = _motion(model, b, _center_of(model, b, lane), lane)
    v0, dv0 = _motion(model, a, _center_of(model, a, lane), lane)
    return vec3.sub(v, v0), vec3.sub(dv, dv0)


@generic
def _seen_from(model: Any, a: int, b: int, lane: int) -> Any:
    """Velocity and acceleration of the center of b's box, and angular ones of b, seen from a's body."""
    p, body, other = _center_of(model, b, lane), model.surface_body[b], model.surface_body[a]
    v, dv = _motion(model, b, p, lane)
    v0, dv0 = _motion(model, a, p, lane)
    w0 = load3_lane(model.V_GB, other, 0, lane)
    v, w = vec3.sub(v, v0), vec3.sub(load3_lane(model.V_GB, body, 0, lane), w0)
    dv = vec3.sub(dv, vec3.add_scaled(dv0, 2.0, vec3.cross(w0, v)))
    alpha = vec3.sub(load3_lane(model.A_GB, body, 0, lane), vec3.add(load3_lane(model.A_GB, other, 0, lane), vec3.cross(w0, w)))
    if _is_round(model.surface_kind[b]):
        R = orientation(model, b, lane)
        axis = (R[2], R[5], R[8])
        w = vec3.add_scaled(w, -vec3.dot(w, axis), axis)
        alpha = vec3.add_scaled(alpha, -vec3.dot(alpha, axis), axis)
    return v, dv, w, alpha


@generic
def _is_round(kind: int) -> bool:
    """True if a turn about z of its frame changes nothing of a shape."""
    return kind == CAPSULE or kind == CYLINDER or kind == TORUS


@generic
def _along(n: Any, gap: float, deeper: float, v: Any, dv: Any) -> float:
    """The longest step by an axis n, towards the second surface, on which there is a gap."""
    return _time_to_approach(max(gap, 0.0) + deeper, -vec3.dot(n, v), _length(dv))


@generic
def _along_turning(n: Any, gap: float, deeper: float, motion: Any, reach: float) -> float:
    """The same of a surface that turns, and reaches so far."""
    v, dv, w, alpha = motion
    about = _length(vec3.cross(w, n))
    more = reach * (_length(vec3.cross(alpha, n)) + about * _length(w))
    return _time_to_approach(max(gap, 0.0) + deeper, reach * about - vec3.dot(n, v), _length(dv) + more)


@generic
def _from_box(model: Any, a: int, b: int, deeper: float, best: float, shallow: bool, lane: int) -> Any:
    """The longest step by the axes of a's box and the way from it to b's center; whether boxes overlap little on some axis."""
    motion = _seen_from(model, a, b, lane)
    R, h = orientation(model, a, lane), _half_lengths(model, a, lane)
    d = mat33.transpose_mul_vec(R, vec3.sub(_center_of(model, b, lane), _center_of(model, a, lane)))
    reach = _reach(model, b, lane)
    out = (_beyond(d[0], h[0]), _beyond(d[1], h[1]), _beyond(d[2], h[2]))
    distance = _length(out)
    if distance > 0.0 and distance - reach > -deeper:
        n = mat33.mul_vec(R, vec3.scale(1.0 / distance, out))
        best, shallow = max(best, _along(n, distance - reach, deeper, motion[0], motion[1])), True
    if model.surface_kind[b] != SPHERE:
        S, k = orientation(model, b, lane), _half_lengths(model, b, lane)
        for i in range(3):
            n, along, own = (R[0], R[3], R[6]), d[0], h[0]
            if i == 1:
                n, along, own = (R[1], R[4], R[7]), d[1], h[1]
            if i == 2:
                n, along, own = (R[2], R[5], R[8]), d[2], h[2]
            if along < 0.0:
                n, along = vec3.neg(n), -along
            m = mat33.transpose_mul_vec(S, n)
            gap = along - own - abs(m[0]) * k[0] - abs(m[1]) * k[1] - abs(m[2]) * k[2]
            if gap > -deeper:
                best, shallow = max(best, _along_turning(n, gap, deeper, motion, reach)), True
    return best, shallow


@generic
def _beyond(x: float, half: float) -> float:
    """The distance of a coordinate beyond an interval about zero."""
    if x > half:
        return x - half
    if x < -half:
        return x + half
    return 0.0


@generic
def longest_step(model: Any, a: int, b: int, part: float, proposed: float, lane: int) -> float:
    """The longest step that two surfaces permit, or any that is longer than the one proposed; b is bounded."""
    deeper = part * min(half_thickness(model, a, lane), half_thickness(model, b, lane))
    best, shallow = 0.0, False
    center, reach = _center_of(model, b, lane), _reach(model, b, lane)
    if model.surface_kind[a] == HALF_SPACE:
        n = mat33.mul_vec(orientation(model, a, lane), three_of(model, a, DIMENSIONS, lane))
        motion, height = _seen_from(model, a, b, lane), vec3.dot(n, vec3.sub(center, origin(model, a, lane)))
        if model.surface_kind[b] == SPHERE:
            return _along(n, height - reach, deeper, motion[0], motion[1])
        if height - reach > -deeper:
            best = _along(n, height - reach, deeper, motion[0], motion[1])
        m, k = mat33.transpose_mul_vec(orientation(model, b, lane), n), _half_lengths(model, b, lane)
        gap = height - abs(m[0]) * k[0] - abs(m[1]) * k[1] - abs(m[2]) * k[2]
        return max(best, _along_turning(n, gap, deeper, motion, reach))
    if _is_endless(model, a, lane):
        R = orientation(model, a, lane)
        axis, r = (R[2], R[5], R[8]), vec3.sub(center, origin(model, a, lane))
        r = vec3.add_scaled(r, -vec3.dot(r, axis), axis)
        distance = _length(r)
        gap = distance - number_of(model, a, DIMENSIONS, lane) - reach
        if distance > 0.0 and gap > -deeper:
            motion = _seen_from(model, a, b, lane)
            return _along(vec3.scale(1.0 / distance, r), gap, deeper, motion[0], motion[1])
    else:
        d = vec3.sub(center, _center_of(model, a, lane))
        distance = _length(d)
        gap = distance - reach - _reach(model, a, lane)
        both = model.surface_kind[a] == SPHERE and model.surface_kind[b] == SPHERE
        if distance > 0.0 and (both or gap > -deeper):
            v, dv = _between(model, a, b, lane)
            best, shallow = _along(vec3.scale(1.0 / distance, d), gap, deeper, v, dv), True
            if both or best >= proposed:
                return best
        if model.surface_kind[a] != SPHERE:
            best, shallow = _from_box(model, a, b, deeper, best, shallow, lane)
        if best < proposed and model.surface_kind[b] != SPHERE:
            best, shallow = _from_box(model, b, a, deeper, best, shallow, lane)
    if shallow:
        return best
    v, dv, w, alpha = _seen_from(model, a, b, lane)
    if model.surface_kind[b] == SPHERE:
        reach = 0.0
    speed = _length(v) + reach * _length(w)
    return _time_to_approach(deeper, speed, _length(dv) + reach * (_length(alpha) + vec3.dot(w, w)))


@generic
def _visit(model: Any, integers: int, a: int, b: int, lane: int, k: Any) -> None:
    """Shorten the step by what two surfaces permit."""
    fixed = model.force_integers
    first, n = fixed[integers + broad_phase.FIRST_SURFACE], fixed[integers + broad_phase.NUM_SURFACES]
    which = model.contact_integers[fixed[integers + broad_phase.MAY_TOUCH] + (a - first) * n + b - first]
    if which >= 0 and not _is_endless(model, b, lane):
        step, part = load_lane(model.contact_sum, 0, STEP, lane), load_lane(model.contact_sum, 0, PART, lane)
        permitted = longest_step(model, a, b, part, step, lane)
        if permitted < step:
            store_lane(model.contact_sum, 0, STEP, lane, permitted)
            store_lane(model.contact_sum, 0, FIRST, lane, float(a))
            store_lane(model.contact_sum, 0, SECOND, lane, float(b))


_search = searching(_visit)


@generic
def _sweep_boxes(model: Any, integers: int, h: float, lane: int) -> None:
    """Make the box of each bounded surface as large as what it may sweep in a step."""
    first, bounded = model.force_integers[integers], model.force_integers[integers + broad_phase.BOUNDED]
    for j in range(model.contact_integers[bounded]):
        s = first + model.contact_integers[bounded + 1 + j]
        v, a = _motion(model, s, _center_of(model, s, lane), lane)
        half, reach = load3_lane(model.surface_frame, s, _HALF, lane), _reach(model, s, lane)
        x = max(half[0], reach) + h * (abs(v[0]) + h * abs(a[0]))
        y = max(half[1], reach) + h * (abs(v[1]) + h * abs(a[1]))
        z = max(half[2], reach) + h * (abs(v[2]) + h * abs(a[2]))
        store3_lane(model.surface_frame, s, _HALF, lane, (x, y, z))


@apart
def _limit_one(model: Any, integers: int, lane: int) -> None:
    """Shorten the step of one lane by an element's surfaces."""
    _sweep_boxes(model, integers, load_lane(model.contact_sum, 0, STEP, lane), lane)
    _search(model, integers, lane, 0)


@routine
def limit_step(model: Any, first: int, end: int) -> int:
    """Shorten the step proposed in ``contact_sum`` by all pairs of surfaces, of a state realized to ACCELERATION.

    *first* and *end* are those of the elements with surfaces among contact_elements. Of eight states each is done by itself,
    unless no step is proposed for it.
    """
    lanes = num_lanes(load(model.time, 0, 0))
    for k in range(first, end):
        e = model.contact_elements[k]
        i = model.force_first_integer[e]
        start, n = model.force_integers[i], model.force_integers[i + 1]
        if model.force_enabled[e] != 0 and n > 0:
            place_surfaces(model, start, start + n)
            for lane in range(lanes):
                if load_lane(model.contact_sum, 0, STEP, lane) > 0.0:
                    _limit_one(model, i, lane)
    return 0


@generic
def permitted_step(model: Any, address: int, part: float, h: Any) -> Any:
    """The longest step up to *h*, which may be 0, in which no two surfaces go deeper into each other than by a *part*.

    That is of the smaller one. The record is realized at the step's beginning; `limit_step` is at *address*.
    """
    most = where(h < NEVER, h, NEVER + zero(h))
    store(model.contact_sum, 0, PART, part + zero(h))
    store(model.contact_sum, 0, STEP, most)
    call_routine(address, model, 0, model.num_contact_elements)
    permitted = load(model.contact_sum, 0, STEP)
    return where(permitted < most, permitted, h)
