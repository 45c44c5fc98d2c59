"""Derivatives of compliant contact: points of spheres and corners in closed form, other pairs by Duals of their bodies.

With c the center of a sphere, or a corner, at rho from the point where the second surface has it, x the depth, x' its rate, p
the point of application, and v the velocity of the second body there relative to the first,

    p = c - h n   h = rho - s x   x' = -v . n   slip = v + x' n   f = N (n - g slip)

and as the second body is moved by turns t and shifts, c by y, at the other's pose held,

    dx = -n . y   dn = (y + n dx) / |c_2 - c_1|, or 0 of a plane   dp = y + s n dx - h dn
    dv = t x v_2 + w_2 x (dp - y + h t x n) - w_1 x dp    where p is not carried along by either body

Moving the first one is moving both, which carries all along, and the second one back. All states of a record are done at once.
Other pairs are differentiated state by state, see `local`.
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load_spatial
from ..algebra.record import call_routine
from ..algebra.scalar import load, one, sqrt, store, where, zero
from ..compiling import apart, generic, routine
from ..contact.shape import BRICK, CAPSULE, HALF_SPACE, SPHERE
from ..force.contact.at_once import elastic_of, friction_of, motion_at, normal_of, of_both, simple_pairs, some_touch
from ..force.contact.bristle import clear_bristles, remember_as
from ..force.contact.broad_phase import (
    FORMULAS,
    LAW_KIND,
    LAW_ROUTINE,
    NUM_SURFACES,
    OF_ALL,
    OF_HERTZ,
    OF_PLANES,
    STICKING,
    place_surfaces,
    searching,
)
from ..force.contact.element import overlap
from ..force.routines import FORCES
from ..state.fields import Record
from . import stiffness
from .columns import fill_body, move
from .local import NUMBERS_OF_BLOCK, clear_body, common_body, put_block, put_wrench


@routine
def contribute_pair(model: Record, e: int, a: int, b: int) -> int:
    """The forces of surfaces *a* and *b* of element *e*, in a record of Duals."""
    i = model.force_first_integer[e]
    place_surfaces(model, a, a + 1)
    place_surfaces(model, b, b + 1)
    if model.force_integers[i + LAW_KIND] == STICKING:
        clear_bristles(model)
    pair, count = overlap(model, i, a, b, 0)
    if count > 0:
        law = model.force_integers[i + LAW_ROUTINE]
        call_routine(model.contact_routines[law], model, pair[0], pair[1], pair[2], e, count, FORCES)
    return 0


@generic
def _visit(model: Record, integers: int, s1: int, s2: int, lane: int, k: Any) -> None:
    """Two surfaces that are near: if they touch, and are not in closed form, what their forces change by."""
    if model.force_integers[integers + FORMULAS] > 0:
        kind = max(model.surface_kind[s1], model.surface_kind[s2])
        if min(model.surface_kind[s1], model.surface_kind[s2]) == HALF_SPACE and (
            kind == SPHERE or kind == CAPSULE or kind == BRICK
        ):
            return
    _, count = overlap(model, integers, s1, s2, lane)
    if count == 0:
        return
    _differentiate_pair(model, s1, s2, lane, k)


@apart
def _differentiate_pair(model: Record, s1: int, s2: int, lane: int, k: Any) -> None:
    """Derivatives of the forces of two surfaces that touch. A search visits at several places, which is why it is apart."""
    e, asked, A, dual, address, units, bodies, columns, seeding, way, C, D = k
    flat, wide = seeding
    o = zero(load(units[0], 0, 0))
    keep, spare = one(o), C.shape[0] - 2
    b1, b2 = model.surface_body[s1], model.surface_body[s2]
    c = common_body(model, b1, b2)
    fill_body(model, lane, b1, A, asked, dual)
    fill_body(model, lane, b2, A, asked, dual)
    for which in range(1 if c > 0 else 2):  # of one base one moves, which says what the other's motion does
        b, other = b1, b2
        if which == 1:
            b, other = b2, b1
        if b == 0:
            continue
        for n in range(NUMBERS_OF_BLOCK if other > 0 else 0):
            store(C, spare, n, 0.0)
            store(C, spare + 1, n, 0.0)
        for fast in range(2):
            move(model, lane, b, bodies, asked, A, keep, units[fast], dual)
            clear_body(b1, dual)
            clear_body(b2, dual)
            call_routine(address, dual, e, s1, s2)
            put_block(b, b, fast, lane, bodies, flat, wide, dual, C)
            if other > 0:
                put_block(other, spare, fast, lane, bodies, flat, wide, dual, C)
        if c > 0:
            put_wrench(other, spare, lane, bodies, dual, C)
            stiffness.complete(C, spare, spare + 1, other, bodies, True)
            stiffness.add_common(C, spare + 1, c, True)
            stiffness.cross(model, way, C, spare + 1, b, other, c, columns, True, D)
        fill_body(model, lane, b, A, asked, dual)
        if other > 0:
            stiffness.add_common(C, spare, c, True)
            stiffness.cross(model, way, C, spare, other, b, c, columns, True, D)


_search = searching(_visit)


# fmt: off
@generic
def differentiate(
    model: Record, lane: int, elements: Any, dual: Record, address: int, A: Any, asked: int, units: Any, bodies: Any,
    columns: Any, seeding: Any, way: Any, C: Any, D: Any,
) -> None:
    # fmt: on
    """Blocks of the pairs of *elements* that touch, but for `add`'s, added to *C*; what couples bodies, subtracted from *D*.

    *address* is of `contribute_pair` for Duals; the last two blocks of *C* are scratch; the others as of `local.differentiate`.
    """
    for at in range(elements.shape[0]):
        e = elements[at]
        i = model.force_first_integer[e]
        n = model.force_integers[i + NUM_SURFACES]
        if model.force_enabled[e] == 1 and n > 0 and model.force_integers[i + FORMULAS] != OF_ALL:
            if model.force_integers[i + LAW_KIND] == STICKING:
                remember_as(dual, model, lane)
            k = e, asked, A, dual, address, units, bodies, columns, seeding, way, C, D
            _search(model, i, lane, k)


# ---------------------------------------------------------------------------------------------- closed form


@generic
def _hollars(both: Any, square: Any) -> Any:
    """As `at_once.friction_of`, of Hollars's friction."""
    _, _, _, us, fall, uv, per_v = both
    o = 0.0 * square
    per = 1.0 / sqrt(where(square <= 0.0, 1.0 + o, square))
    vv = square * per_v * per_v
    part = 1.0 / (1.0 + vv)
    mu, steeper = us - fall + 2.0 * fall * part, -4.0 * fall * part * part * per_v * per_v
    slow = vv < 1.0
    return uv + mu * where(slow, per_v, per), where(slow, steeper * per_v, (steeper - mu * per * per) * per)


@generic
def _force_change(law: Any, n: Any, v: Any, slip: Any, rate: Any, dx: Any, dn: Any, dv: Any) -> Any:
    """The change of the force by those of depth, normal and relative velocity."""
    (normal, by_x, by_rate), (g, steeper) = law
    drate = -vec3.dot(dv, n) - vec3.dot(v, dn)
    dslip = vec3.add(dv, vec3.add_scaled(vec3.scale(drate, n), rate, dn))
    harder = by_x * dx + by_rate * drate
    along = harder * g + normal * steeper * vec3.dot(slip, dslip)
    df = vec3.add_scaled(vec3.scale(harder, n), normal, vec3.sub(dn, vec3.scale(g, dslip)))
    return vec3.add_scaled(df, -along, slip)


@generic
def _moved(model: Record, b1: int, b2: int, point: Any, law: Any, motion: Any, t: Any, y: Any) -> Any:
    """The changes of p and f as the second body turns by t, and takes c along by y."""
    n, p, h, s, per = point
    v, slip, rate = motion
    w1, _ = load_spatial(model.V_GB, b1)
    w2, v2 = load_spatial(model.V_GB, b2)
    v2 = vec3.add(v2, vec3.cross(w2, vec3.sub(p, load3(model.p_GB, b2, 0))))
    dx = -vec3.dot(n, y)
    dn = vec3.scale(per, vec3.add_scaled(y, dx, n))
    dp = vec3.add_scaled(vec3.add_scaled(y, s * dx, n), -h, dn)
    left = vec3.add_scaled(vec3.sub(dp, y), h, vec3.cross(t, n))
    dv = vec3.add(vec3.cross(t, v2), vec3.sub(vec3.cross(w2, left), vec3.cross(w1, dp)))
    return dp, _force_change(law, n, v, slip, rate, dx, dn, dv)


@generic
def _base(model: Record, b: int, bodies: Any) -> Any:
    """The origin of the base of body b, in Ground."""
    return vec3.sub(load3(model.p_GB, b, 0), load3(bodies, b, 0))


@generic
def _put(C: Any, block: int, at: int, sign: float, m: Any, f: Any) -> None:
    """Column *at* of a block, added."""
    for i in range(3):
        store(C, block, at + 6 * i, load(C, block, at + 6 * i) + sign * m[i])
        store(C, block, at + 18 + 6 * i, load(C, block, at + 18 + 6 * i) + sign * f[i])


# fmt: off
@apart
def _differentiate_point(
    model: Record, k: Any, a: int, b: int, n: Any, c: Any, x: Any, radii: Any, per: Any, both: Any, is_hertz: bool
) -> None:
    # fmt: on
    """Blocks of both bodies by the motion of each, of a point at depth x; as of `at_once.simple_pairs`."""
    e, bodies, columns, way, C, D = k
    b1, b2, spare, o = model.surface_body[a], model.surface_body[b], C.shape[0] - 1, 0.0 * x
    h = radii[0] - both[1] * x
    p = vec3.add_scaled(c, -h, n)
    _, v, _, _ = motion_at(model, a, b, p)
    rate = -vec3.dot(v, n)
    slip = vec3.add_scaled(v, rate, n)
    elastic, stiffer = elastic_of(both, x, radii[1], is_hertz)
    normal, friction = normal_of(both, x, rate, elastic, stiffer), friction_of(both, vec3.dot(slip, slip))
    if model.force_integers[model.force_first_integer[e] + LAW_KIND] == OF_HERTZ:
        friction = _hollars(both, vec3.dot(slip, slip))
    law, point, motion, nothing = (normal, friction), (n, p, h, both[1] + o, per), (v, slip, rate), (o, o, o)
    f = vec3.scale(normal[0], vec3.add_scaled(n, -friction[0], slip))
    common = common_body(model, b1, b2)
    for which in range(2):  # the second body moves, then the first
        moving, other, sign = b2, b1, 1.0
        if which == 1:
            moving, other, sign = b1, b2, -1.0
        if moving == 0:
            continue
        origin, r = _base(model, moving, bodies), load3(bodies, moving, 0)
        here, there = vec3.sub(p, origin), vec3.sub(p, _base(model, other, bodies))
        for i in range(72 if other > 0 else 0):
            store(C, spare, i, o)
        for j in range(6):
            t, s = vec3.unit(o, j), vec3.unit(o, j - 3)
            dp, df = _moved(model, b1, b2, point, law, motion, t, vec3.add(s, vec3.cross(t, vec3.sub(c, origin))))
            carried = vec3.add(s, vec3.cross(t, here))
            if which == 1:
                dp, df = vec3.sub(carried, dp), vec3.sub(vec3.cross(t, f), df)
            m, back = vec3.cross(dp, f), vec3.cross(vec3.sub(dp, vec3.add(s, vec3.cross(t, r))), f)
            _put(C, moving, j, sign, vec3.add(back, vec3.cross(here, df)), df)
            faster = _force_change(law, n, v, slip, rate, o, nothing, vec3.scale(sign, carried))
            _put(C, moving, 36 + j, sign, vec3.cross(here, faster), faster)
            if other > 0:
                _put(C, spare, j, -sign, vec3.add(m, vec3.cross(there, df)), df)
                _put(C, spare, 36 + j, -sign, vec3.cross(there, faster), faster)
        if other > 0:
            stiffness.add_common(C, spare, common, True)
            stiffness.cross(model, way, C, spare, other, moving, common, columns, True, D)


@generic
def _press(model: Any, k: Any, a: int, b: int, n: Any, center: Any, x: Any, radii: Any, per: Any, both: Any) -> None:
    _differentiate_point(model, k, a, b, n, center, x, radii, per, both, True)


@generic
def _press_corners(model: Any, k: Any, a: int, b: int, n: Any, R: Any, middle: Any, height: Any, half: Any) -> None:
    both, o = of_both(model, k[0], a, b, False), 0.0 * height
    for corner in range(8):
        i, j, h = 2.0 * (corner & 1) - 1.0, 2.0 * (corner >> 1 & 1) - 1.0, 2.0 * (corner >> 2) - 1.0
        place = mat33.mul_vec(R, (i * half[0], j * half[1], h * half[2]))
        x = -(height + vec3.dot(n, place))
        if some_touch(x):
            _differentiate_point(model, k, a, b, n, vec3.add(middle, place), x, (o, o), o, both, False)


_, _planes, _all_spheres = simple_pairs(_press, _press_corners)


@apart
def add(model: Record, elements: Any, bodies: Any, columns: Any, way: Any, C: Any, D: Any) -> None:
    """Blocks of what is in closed form, added to *C*; what couples bodies, subtracted from *D*, as of `differentiate`."""
    for at in range(elements.shape[0]):
        e = elements[at]
        i = model.force_first_integer[e]
        if model.force_enabled[e] == 1 and model.force_integers[i + NUM_SURFACES] > 0:
            k, formulas = (e, bodies, columns, way, C, D), model.force_integers[i + FORMULAS]
            if formulas >= OF_PLANES:
                _planes(model, i, k)
            if formulas == OF_ALL:
                _all_spheres(model, i, k)
