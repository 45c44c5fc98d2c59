"""Simple pairs, in all states of a record at once: half-space with sphere, capsule or brick, and sphere with sphere.

The equations are those of `contact.pairs` and of `law.compliant`, with Stribeck's friction, without branches that one state of
eight might take and another not: where surfaces are apart their force is chosen to be zero. With

    y = min(v, 1)    z = between 0 and 1, (v - 1) / 2    mu(v) = mu_s S(y) - (mu_s - mu_d) S(z)

the three parts of that friction are one. A table of contacts is not made here, but state by state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra import box_corners, mat33, vec3
from ...algebra.memory import add_spatial, load3, load9, load_spatial
from ...algebra.scalar import any_not_finite, load, num_lanes, sqrt, store, where
from ...compiling import generic
from ...contact.access import DIMENSIONS, MATERIAL
from ...contact.shape import BRICK, CAPSULE, HALF_SPACE, SPHERE
from .. import routines
from ..pools import number, numbers3
from .broad_phase import BOUNDED, FIRST_SURFACE, MAY_TOUCH, NUM_SURFACES, PAIRED, SEARCHED, TRACKED, UNBOUNDED
from .law import DISSIPATED, TRANSITION_RATE, TRANSITION_VELOCITY, mixed_or_zero, step5
from .resistance import arms_at_once, couple, drift_at_once, resists

#: Bits of SEARCHED: what is left for a search of the surfaces of one state, and of each of eight states.
OF_ONE, OF_EIGHT = 1, 2
#: More spheres than these are searched state by state: here each two of them are looked at.
MOST_SPHERES = 64
_INFINITE = float("inf")


def is_at_once(low: int, high: int) -> bool:
    """True if a plane's pair of kinds, the lower first, is done here."""
    return low == HALF_SPACE and high in (SPHERE, CAPSULE, BRICK)


@generic
def some_touch(x: Any) -> bool:
    """True if a depth is above zero, or no number, in any state."""
    return any_not_finite(where(x <= 0.0, 0.0 * x, x + _INFINITE))


@generic
def of_both(model: Any, e: int, a: int, b: int, is_hertz: bool) -> Any:
    """Stiffness, part of the depth beyond the second surface's, dissipation, friction and 1 / v_t of two surfaces."""
    i, j = model.surface_first_number[a] + MATERIAL, model.surface_first_number[b] + MATERIAL
    at = 6 if is_hertz else 0
    k1, k2 = number(model, i + at), number(model, j + at)
    s1 = k2 / (k1 + k2)
    c1, c2 = number(model, i + 1), number(model, j + 1)
    c = (1.5 if is_hertz else 1.0) * (c2 + s1 * (c1 - c2))
    us = mixed_or_zero(number(model, i + 2), number(model, j + 2))
    ud = mixed_or_zero(number(model, i + 3), number(model, j + 3))
    uv = mixed_or_zero(number(model, i + 4), number(model, j + 4))
    return k1 * s1, 1.0 - s1, c, us, us - ud, uv, 1.0 / number(model, model.force_first_number[e] + TRANSITION_VELOCITY)


@generic
def elastic_of(both: Any, x: Any, radius: Any, is_hertz: bool) -> Any:
    """The elastic force at depth x, and its slope; neither means anything where surfaces are apart."""
    kx = both[0] * x
    if is_hertz:
        root = sqrt(where(x <= 0.0, 1.0 + 0.0 * x, kx * radius))
        return (4.0 / 3.0) * kx * root, 2.0 * both[0] * root
    return kx, both[0] + 0.0 * x


@generic
def normal_of(both: Any, x: Any, rate: Any, elastic: Any, stiffer: Any) -> Any:
    """The normal force, and its slopes by depth and rate."""
    o = 0.0 * x
    factor = 1.0 + both[2] * rate
    normal = elastic * factor
    none = where(x <= 0.0, o, where(normal <= 0.0, o, 1.0 + o)) <= 0.0
    return where(none, o, normal), where(none, o, stiffer * factor), where(none, o, elastic * both[2])


@generic
def friction_of(both: Any, square: Any) -> Any:
    """Stribeck's friction by normal force and slip speed, whose square is given; its slope by the speed, by the speed."""
    _, _, _, us, fall, uv, per_v = both
    o = 0.0 * square
    still = square <= 0.0
    speed = sqrt(where(still, 1.0 + o, square))
    per = where(still, o, 1.0 / speed)  # begun before what needs it, which takes as long
    s = speed * per_v
    y = where(s > 1.0, 1.0 + o, s)
    z = 0.5 * (s - 1.0)
    z = where(z > 0.0, where(z > 1.0, 1.0 + o, z), o)
    mu = (us * step5(y) - fall * step5(z)) * per
    steeper = 30.0 * per_v * (us * y * y * (1.0 - y) * (1.0 - y) - 0.5 * fall * z * z * (1.0 - z) * (1.0 - z))
    return uv + mu, (steeper - mu) * per * per


@generic
def _respond(model: Any, k: Any, n: Any, x: Any, v: Any, radius: Any, is_hertz: bool, both: Any, surfaces: Any, w: Any) -> Any:
    """Force and moment on the second body at a point of depth x, and energy or power if asked for.

    n is the normal, v the velocity of the second body there, relative to the first, w that of its rotation, and *k* the element
    and the question.
    """
    e, what = k
    o = 0.0 * x
    apart = x <= 0.0
    elastic, stiffer = elastic_of(both, x, radius, is_hertz)
    if what == routines.ENERGY:
        energy = (0.4 if is_hertz else 0.5) * elastic * x
        return (o, o, o), (o, o, o), where(apart, o, energy)
    rate = -vec3.dot(v, n)
    normal, _, _ = normal_of(both, x, rate, elastic, stiffer)
    own = slip = vec3.add_scaled(v, rate, n)
    moment = (o, o, o)
    if resists(model, e):
        a, b = surfaces
        slip = vec3.add(own, drift_at_once(model, a, b, n))
        transition = number(model, model.force_first_number[e] + TRANSITION_RATE)
        moment = couple(arms_at_once(model, a, b), transition, n, w, normal)
    drag = vec3.scale(-normal * friction_of(both, vec3.dot(slip, slip))[0], slip)
    heat = o
    if what == routines.POWER or model.force_integers[model.force_first_integer[e] + TRACKED] == 1:
        heat = where(apart, o, (normal - elastic) * rate - vec3.dot(drag, own) - vec3.dot(moment, w))
    return vec3.add_scaled(drag, normal, n), moment, heat


@generic
def motion_at(model: Any, a: int, b: int, p: Any) -> Any:
    """Of the second body relative to the first, (w; v) at the point p of Ground; and where p is from the origins of both."""
    body1, body2 = model.surface_body[a], model.surface_body[b]
    r1, r2 = p, vec3.sub(p, load3(model.p_GB, body2, 0))
    w, v = load_spatial(model.V_GB, body2)
    v = vec3.add(v, vec3.cross(w, r2))
    if body1 != 0:
        r1 = vec3.sub(p, load3(model.p_GB, body1, 0))
        w1, v1 = load_spatial(model.V_GB, body1)
        w, v = vec3.sub(w, w1), vec3.sub(v, vec3.add(v1, vec3.cross(w1, r1)))
    return w, v, r1, r2


@generic
def _press(model: Any, k: Any, a: int, b: int, n: Any, center: Any, x: Any, radii: Any, per: Any, both: Any) -> None:
    """Add what one point of Hertz's law does, of two radii: the second surface's about its center, and what both are like.

    *per* is what n turns by as the center moves by 1 along the plane of the contact.
    """
    p = vec3.add_scaled(center, both[1] * x - radii[0], n)
    w, v, r1, r2 = motion_at(model, a, b, p)
    f, m, work = _respond(model, k, n, x, v, radii[1], True, both, (a, b), w)
    _add(model, k, a, b, f, vec3.sub(vec3.cross(f, r1), m), vec3.add(vec3.cross(r2, f), m), work)


@generic
def _add(model: Any, k: Any, a: int, b: int, f: Any, m1: Any, m2: Any, work: Any) -> None:
    """Add to what acts on the two bodies, moments about their origins, or to the element's energy, power or heat."""
    e, what = k
    if what == routines.FORCES:
        add_spatial(model.body_forces, model.surface_body[b], m2, f)
        add_spatial(model.body_forces, model.surface_body[a], m1, vec3.neg(f))
        store(model.contact_sum, 0, DISSIPATED, load(model.contact_sum, 0, DISSIPATED) + work)
    else:
        store(model.work_e, e, 0, load(model.work_e, e, 0) + work)


@generic
def _press_corners(model: Any, k: Any, a: int, b: int, n: Any, R: Any, middle: Any, height: Any, half: Any) -> None:
    """Each corner that is below the plane; about the middle what they share, moved to the bodies' origins in the end."""
    d = mat33.transpose_mul_vec(R, n)
    rise = (half[0] * d[0], half[1] * d[1], half[2] * d[2])
    if some_touch(_size(rise[0]) + _size(rise[1]) + _size(rise[2]) - height):
        both = of_both(model, k[0], a, b, False)
        w, v, r1, r2 = motion_at(model, a, b, middle)
        o = 0.0 * height
        f, m, work = (o, o, o), (o, o, o), o
        for turn in range(box_corners.num_turns(height)):
            i, j, h = box_corners.signs(turn, height)
            depth = -(height + i * rise[0] + j * rise[1] + h * rise[2])
            if some_touch(depth):
                place = mat33.mul_vec(R, (i * half[0], j * half[1], h * half[2]))
                r = vec3.add_scaled(place, both[1] * depth, n)
                df, dm, dwork = _respond(model, k, n, depth, vec3.add(v, vec3.cross(w, r)), o, False, both, (a, b), w)
                dm = vec3.add(dm, vec3.cross(r, df))
                f, m = vec3.add(f, _total(df, height)), vec3.add(m, _total(dm, height))
                work = work + box_corners.together(dwork, height)
        _add(model, k, a, b, f, vec3.sub(vec3.cross(f, r1), m), vec3.add(vec3.cross(r2, f), m), work)


@generic
def _total(v: Any, x: Any) -> Any:
    return box_corners.together(v[0], x), box_corners.together(v[1], x), box_corners.together(v[2], x)


@generic
def _size(x: Any) -> Any:
    return where(x < 0.0, -x, x)


def simple_pairs(press: Callable[..., Any], press_corners: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Two spheres; all planes with what is simple; and all spheres with each other: what *press* does at each point.

    It is ``press(model, k, a, b, n, center, x, radii, per, both)``, see `_press`, and of a brick's corners
    ``press_corners(model, k, a, b, n, R, middle, height, half)``.
    """

    @generic
    def plane_and(model: Any, k: Any, a: int, b: int, n: Any, origin: Any) -> None:
        x = model.surface_first_number[b] + DIMENSIONS
        kind = model.surface_kind[b]
        middle = load3(model.surface_frame, b, 9)
        height = vec3.dot(n, vec3.sub(middle, origin))
        if kind == SPHERE:
            radius = number(model, x)
            if some_touch(radius - height):
                both = of_both(model, k[0], a, b, True)
                press(model, k, a, b, n, middle, radius - height, (radius, radius), 0.0 * height, both)
        else:
            R, size = load9(model.surface_frame, b, 0), numbers3(model, x)
            if kind == CAPSULE:
                radius, rise = size[0], size[1] * (R[2] * n[0] + R[5] * n[1] + R[8] * n[2])
                if some_touch(radius + _size(rise) - height):
                    both = of_both(model, k[0], a, b, True)
                    for end in range(2):
                        sign = 1.0 if end == 1 else -1.0
                        depth = radius - (height + sign * rise)
                        if some_touch(depth):
                            h = sign * size[1]
                            q = vec3.add(middle, (h * R[2], h * R[5], h * R[8]))
                            press(model, k, a, b, n, q, depth, (radius, radius), 0.0 * height, both)
            else:
                press_corners(model, k, a, b, n, R, middle, height, size)

    @generic
    def spheres(model: Any, k: Any, a: int, b: int) -> None:
        """Those with one center are pushed apart along z."""
        r1, r2 = (
            number(model, model.surface_first_number[a] + DIMENSIONS),
            number(model, model.surface_first_number[b] + DIMENSIONS),
        )
        c2 = load3(model.surface_frame, b, 9)
        r, reach = vec3.sub(c2, load3(model.surface_frame, a, 9)), r1 + r2
        square = vec3.dot(r, r)
        if some_touch(reach * reach - square):
            o = 0.0 * square
            same = square <= 0.0
            distance = where(same, o, sqrt(where(same, 1.0 + o, square)))
            per = 1.0 / where(same, 1.0 + o, distance)
            n = (r[0] * per, r[1] * per, where(same, 1.0 + o, r[2] * per))
            both = of_both(model, k[0], a, b, True)
            press(model, k, a, b, n, c2, reach - distance, (r2, r1 * r2 / reach), per, both)

    @generic
    def planes(model: Any, integers: int, k: Any) -> None:
        fixed, first = model.force_integers, model.force_integers[integers + FIRST_SURFACE]
        lists, n = model.contact_integers, fixed[integers + NUM_SURFACES]
        unbounded, bounded, table = fixed[integers + UNBOUNDED], fixed[integers + BOUNDED], fixed[integers + MAY_TOUCH]
        for i in range(lists[unbounded]):
            a = lists[unbounded + 1 + i]
            if model.surface_kind[first + a] == HALF_SPACE:
                R = load9(model.surface_frame, first + a, 0)
                up = mat33.mul_vec(R, numbers3(model, model.surface_first_number[first + a] + DIMENSIONS))
                origin = load3(model.surface_frame, first + a, 9)
                for j in range(lists[bounded]):
                    b = lists[bounded + 1 + j]
                    kind = model.surface_kind[first + b]
                    if (kind == SPHERE or kind == CAPSULE or kind == BRICK) and lists[table + a * n + b] >= 0:
                        plane_and(model, k, first + a, first + b, up, origin)

    @generic
    def all_spheres(model: Any, integers: int, k: Any) -> None:
        fixed, first = model.force_integers, model.force_integers[integers + FIRST_SURFACE]
        lists, n = model.contact_integers, fixed[integers + NUM_SURFACES]
        paired, table = fixed[integers + PAIRED], fixed[integers + MAY_TOUCH]
        for i in range(lists[paired]):
            a = lists[paired + 1 + i]
            for j in range(i):
                b = lists[paired + 1 + j]
                if lists[table + a * n + b] >= 0:
                    spheres(model, k, first + b, first + a)

    return spheres, planes, all_spheres


spheres, planes, all_spheres = simple_pairs(_press, _press_corners)


@generic
def at_once(model: Any, integers: int, k: Any) -> None:
    """All planes with what is simple; and spheres with each other where these are eight states and nothing is searched."""
    planes(model, integers, k)
    if num_lanes(load(model.time, 0, 0)) > 1 and model.force_integers[integers + SEARCHED] & OF_EIGHT == 0:
        all_spheres(model, integers, k)
