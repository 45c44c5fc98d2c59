"""Points of contact, with the coefficients of their law.

A point at the depth x, its normal from the first surface to the second, has a frame of rows: normal, two tangents. The speeds
of the second surface from the first one in it are v = (v_n, v_a, v_b), v_n above zero where they part. Of a surface that
gives way the force is taken as if it were a spring between its ends, implicit in v_n, dissipation c as well:

    gamma_n = h K (x - (h + c x*) v_n)    K = f_e(x*) / x*    x* = max(x, x + h x')

as the chord of the law from no depth to that which the step would come to: it is the law itself where things rest. So
(v_n + C gamma_n - t) is no less than zero, as is gamma_n, and one of them is zero, with

    C = 1 / (h K (h + c x*))     t = x / (h + c x*)

Where surfaces resist rolling or spinning, rows beside those of a point have the angular velocity along the two tangents, or
along the normal, times a length l, and impulses of at most rho gamma_n / l, or sigma gamma_n / l, see
`force.contact.resistance`. gamma_n is that of the last step; where this one has found another, it is solved once more with
that. What materials move along their surfaces, and bodies by prescribed motion, is part of v.

Of a rigid one C = 0, and t = part (x - slop) / h: a part of what is deeper than the slop, without which points would part, and
meet again, at rest. What approaches faster than its capture speed has t = e times the speed at the least (Newton's law).
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import load_lane, sqrt
from ...compiling import apart, generic
from ...contact import access
from ...contact.access import load3_lane
from ...force.contact import broad_phase
from ...force.contact.broad_phase import place_surfaces, searching
from ...force.contact.element import overlap
from ...force.contact.law import elastic_of, frictions, step5, velocity_at
from ...force.contact.resistance import arms, drift, resists
from ...force.contact.step_limit import NEVER, half_thickness
from . import space as names
from .rows import any_free

#: Of a rigid point: the part of its depth that a step takes back, and the depth, by half the thickness of the smaller surface,
#: that is left.
RECOVERY, SLOP = 0.1, 1e-4
#: Points that are kept and looked for one by one.
_FEW = 8
#: Numbers of a rigid element, after those of all.
RESTITUTION, CAPTURE_SPEED = 3, 4


@generic
def _coefficient(model: Any, a: int, b: int, speed: float, vt: float, lane: int) -> float:
    """Of friction at a slip speed: static up to the transition velocity, dynamic from three times that on."""
    us, ud, uv = frictions(model, a, b, lane)
    mu = us
    if speed >= 3.0 * vt:
        mu = ud
    elif speed > vt:
        mu = us - (us - ud) * step5(0.5 * (speed / vt - 1.0))
    return mu + uv * speed


@generic
def _note(model: Any, integers: int, a: int, b: int, lane: int, k: Any) -> None:
    """Add the points of two surfaces that are near, as far as there is room."""
    space, e, place, h = k
    pair, count = overlap(model, integers, a, b, lane)
    if count > 0 and any_free(model, model.surface_body[a], model.surface_body[b]):
        one, two, _ = pair
        body1, body2 = model.surface_body[one], model.surface_body[two]
        tree1, tree2 = space.tree_of_body[body1], space.tree_of_body[body2]
        rows, numbers = model.contact_point, model.force_first_number[e]
        vt = load_lane(model.force_numbers, numbers, 0, lane)
        hard = space.elements[place, 1] == 1
        counts, points, pairs = space.counts, space.points, space.pairs
        for row in range(count):
            i = counts[names.POINTS]
            counts[names.POINTS] = i + 1
            if i >= space.keys.shape[0]:
                continue
            x = load_lane(rows, row, access.DEPTH, lane)
            n, p = load3_lane(rows, row, access.NORMAL, lane), load3_lane(rows, row, access.POINT, lane)
            if not hard:
                _, _, _, s1 = elastic_of(model, one, two, row, x, lane)
                p = vec3.add_scaled(p, x * (0.5 - s1), n)
            v = vec3.sub(velocity_at(model, body2, p, lane), velocity_at(model, body1, p, lane))
            moved = (0.0, 0.0, 0.0)
            resistant = resists(model, e)
            if resistant:
                moved = drift(model, one, two, n, lane)
                v = vec3.add(v, moved)
            parting = vec3.dot(v, n)
            slip = vec3.add_scaled(v, -parting, n)
            speed = sqrt(vec3.dot(slip, slip))
            points[i, names.FRICTION] = _coefficient(model, one, two, speed, vt, lane)
            if hard:
                smaller = min(half_thickness(model, one, lane), half_thickness(model, two, lane))
                target = RECOVERY * max(0.0, x - SLOP * smaller) / h
                if parting < -load_lane(model.force_numbers, numbers + CAPTURE_SPEED, 0, lane):
                    target = max(target, -load_lane(model.force_numbers, numbers + RESTITUTION, 0, lane) * parting)
                points[i, names.COMPLIANCE], points[i, names.TARGET] = 0.0, target
            else:
                deep = x + h * max(0.0, -parting)
                elastic, _, c, _ = elastic_of(model, one, two, row, deep, lane)
                delay = h + c * deep
                points[i, names.COMPLIANCE] = deep / (h * max(elastic, 1e-300) * delay)
                points[i, names.TARGET] = x / delay
            points[i, names.DEPTH] = x
            t1, t2 = _tangents(n)
            for j in range(3):
                points[i, names.POINT + j] = p[j]
                points[i, names.FRAME + j] = n[j]
                points[i, names.FRAME + 3 + j] = t1[j]
                points[i, names.FRAME + 6 + j] = t2[j]
            pairs[i, names.FIRST], pairs[i, names.SECOND] = one, two
            pairs[i, names.TREE_1], pairs[i, names.TREE_2] = tree1, tree2
            pairs[i, names.ELEMENT] = place
            pairs[i, names.KIND], pairs[i, names.OF] = names.CONTACT, i
            points[i, names.LIMIT], points[i, names.LENGTH] = -1.0, 1.0
            points[i, names.DRIFT] = 0.0
            points[i, names.DRIFT + 1], points[i, names.DRIFT + 2] = vec3.dot(t1, moved), vec3.dot(t2, moved)
            space.keys[i] = access.key_of(model, pair, row)
            if resistant:
                rho, sigma = arms(model, one, two, lane)
                length = min(half_thickness(model, one, lane), half_thickness(model, two, lane))
                if length >= NEVER:
                    length = 1.0
                if rho > 0.0:
                    _resist(space, i, names.ROLLING, rho, length)
                if sigma > 0.0:
                    _resist(space, i, names.SPINNING, sigma, length)


@generic
def _resist(space: Any, i: int, kind: int, arm: float, length: float) -> None:
    """Add what resists rolling or spinning at point i, as far as there is room."""
    counts, points, pairs = space.counts, space.points, space.pairs
    k = counts[names.POINTS]
    counts[names.POINTS] = k + 1
    if k >= space.keys.shape[0]:
        return
    for j in range(names.WIDTH):
        points[k, j] = points[i, j]
    for j in range(names.PAIRS_WIDTH):
        pairs[k, j] = pairs[i, j]
    pairs[k, names.KIND], pairs[k, names.OF] = kind, i
    if kind == names.SPINNING:  # along the normal, as if that were the first tangent
        for j in range(3):
            points[k, names.FRAME + j], points[k, names.FRAME + 3 + j] = (
                points[i, names.FRAME + 3 + j],
                points[i, names.FRAME + j],
            )
    for column in (names.FRICTION, names.COMPLIANCE, names.TARGET, names.LIMIT):
        points[k, column] = 0.0
    for j in range(3):
        points[k, names.DRIFT + j] = 0.0
    points[k, names.ARM], points[k, names.LENGTH] = arm / length, length
    space.keys[k] = (space.keys[i] ^ (kind << 40)) | 1


@generic
def renew_limits(space: Any) -> bool:
    """Limit resistances by the normal impulse of their point; True if one has changed by more than a thousandth."""
    points, changed = space.points, False
    for i in range(space.counts[names.POINTS]):
        if space.pairs[i, names.KIND] == names.ROLLING or space.pairs[i, names.KIND] == names.SPINNING:
            limit = points[i, names.ARM] * max(0.0, points[space.pairs[i, names.OF], names.IMPULSE])
            changed = changed or abs(limit - points[i, names.LIMIT]) > 1e-3 * limit
            points[i, names.LIMIT] = limit
    return changed


@generic
def _tangents(n: Any) -> Any:
    """Two unit vectors that are normal to n and to each other (Duff and others 2017, J. Comput. Graph. Tech. 6, 1)."""
    sign = 1.0
    if n[2] < 0.0:
        sign = -1.0
    a = -1.0 / (sign + n[2])
    b = n[0] * n[1] * a
    return (1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]), (b, sign + n[1] * n[1] * a, -n[1])


_search = searching(_note)


@generic
def place_all(model: Any, space: Any) -> None:
    """Poses of all surfaces that are stepped, of a record realized to VELOCITY, in any scalar."""
    for place in range(space.elements.shape[0]):
        e = space.elements[place, 0]
        if model.force_enabled[e] != 0:
            i = model.force_first_integer[e]
            start = model.force_integers[i + broad_phase.FIRST_SURFACE]
            place_surfaces(model, start, start + model.force_integers[i + broad_phase.NUM_SURFACES])


@apart
def find_points(model: Any, space: Any, h: float, lane: int) -> None:
    """All points that touch in one state, after `place_all`, for a step of size h; how many says ``counts[POINTS]``."""
    space.counts[names.POINTS] = 0
    for place in range(space.elements.shape[0]):
        e = space.elements[place, 0]
        if model.force_enabled[e] != 0:
            i = model.force_first_integer[e]
            if model.force_integers[i + broad_phase.NUM_SURFACES] > 0:
                _search(model, i, lane, (space, e, place, h))


@generic
def remember(space: Any) -> None:
    """Keep the impulses of all points, in Ground, and their a, for the next step."""
    n = space.counts[names.POINTS]
    points, kept = space.points, space.kept
    for i in range(n):
        space.kept_keys[i] = space.keys[i]
        for j in range(3):
            kept[i, j] = (
                points[i, names.IMPULSE] * points[i, names.FRAME + j]
                + points[i, names.IMPULSE + 1] * points[i, names.FRAME + 3 + j]
                + points[i, names.IMPULSE + 2] * points[i, names.FRAME + 6 + j]
            )
        kept[i, 3] = points[i, names.SHIFT]
    index_kept(space, n)


@generic
def index_kept(space: Any, n: int) -> None:
    """The impulses of n points are kept: let them be found by their keys."""
    space.counts[names.KEPT] = n
    if n <= _FEW:
        return
    slots = space.slots
    mask = slots.shape[0] - 1
    for s in range(slots.shape[0]):
        slots[s] = -1
    for i in range(n):
        s = (space.kept_keys[i] >> 1) & mask
        while slots[s] >= 0:
            s = (s + 1) & mask
        slots[s] = i


@generic
def recall(space: Any, h: float) -> None:
    """Begin a step of size h with the impulses of the last one, scaled; with none for what was not there."""
    points, slots = space.points, space.slots
    ratio = h / space.measures[names.LAST_STEP] if space.measures[names.LAST_STEP] > 0.0 else 1.0
    mask = slots.shape[0] - 1
    for i in range(space.counts[names.POINTS]):
        for j in range(4):
            points[i, names.IMPULSE + j] = 0.0
        points[i, names.SHIFT] = 0.0
        k, kept = -1, space.counts[names.KEPT]
        if kept <= _FEW:
            for j in range(kept):
                if k < 0 and space.kept_keys[j] == space.keys[i]:
                    k = j
        else:
            s = (space.keys[i] >> 1) & mask
            while slots[s] >= 0 and space.kept_keys[slots[s]] != space.keys[i]:
                s = (s + 1) & mask
            k = slots[s]
        if k >= 0:
            for j in range(3):
                for c in range(3):
                    points[i, names.IMPULSE + j] += ratio * space.kept[k, c] * points[i, names.FRAME + 3 * j + c]
            points[i, names.SHIFT] = space.kept[k, 3]
        if points[i, names.LIMIT] >= 0.0:  # a frame that has turned
            points[i, names.IMPULSE] = 0.0
            if space.pairs[i, names.KIND] == names.SPINNING:
                points[i, names.IMPULSE + 2] = 0.0
    renew_limits(space)
