"""Derivatives of forces along lines and paths: geometry in closed form, of all lanes at once; laws, and bends, by dual numbers.

A path is spans, each from a point P of body a to a point Q of body b, straight or over a surface of body c: of weight w, with d
the direction out of P, and the one into Q,

    l = sum w x        T w d_P on P, -T w d_Q on Q, the opposite on c along the same lines        T(l, l', z, time)

A force between two points is a path of one span. Along a column that carries a, b, c (k = 1, 0), which turns by t and shifts by
s, points move by y = k (s + t x p). Of a straight span, with e = d_P = d_Q, r = Q - P and y of Q from P,

    dx = e . y    x de = y - dx e    dx' = de . v + e . dv

Over a surface x and both d are functions of the places of P and Q seen from c, see `bend` of a transmission: with these y' from
c, dd = J y', dx = g . y', and x' = d_Q . v_Q - d_P . v_P with velocities seen from c. A motion of all bodies as one carries the
forces along, which the rigid sweep has done: wrenches are taken out of those that it takes back, and columns that carry all
count for nothing. By u, x' alone changes. With the unit's wrenches U, T's change is dT U beside.
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.masks import in_any
from ..algebra.memory import add_spatial, load3, load9, load_spatial, store3
from ..algebra.record import call_routine
from ..algebra.scalar import absolute, bare, load, load_lane, load_tangent, one, sqrt, store, store_lane, where, zero
from ..compiling import apart, generic
from ..force.pools import number, numbers3
from ..force.routines import BEND
from ..force.transmission.path import bends
from ..force.transmission.wrapped_path import rate as velocity_of
from ..force.two_point_constant_force import TwoPointConstantForce
from ..force.two_point_linear_damper import TwoPointLinearDamper
from ..force.two_point_linear_spring import TwoPointLinearSpring
from ..force.two_points import square
from ..mobilizer.access import vector3
from ..state.fields import Record
from . import poses
from .along import BY_TIME, BY_Z, MOST_Z, call_law
from .columns import load3_lane
from .stiffness import times
from .sweep import load_spatial_at, subtract, times_columns

#: Columns of the table of elements: kind, which says how the tension is found; place of its first own number, or of its path's
#: ratio; where its spans and bodies begin and end; the last body on the way to all; where its numbers are in the scratch; of
#: laws the element, its address for Duals, first z and how many; the only span that pulls, which is straight, or -1.
KIND, NUMBER, FIRST_SPAN, END_SPAN, FIRST_BODY, END_BODY, COMMON, PLACE, ELEMENT, ADDRESS, FIRST_Z, NUM_Z, ONLY = range(13)
OF_LINE = 13
SPRING, DAMPER, CONSTANT, LAW = range(4)
KINDS = {TwoPointLinearSpring.routine: SPRING, TwoPointLinearDamper.routine: DAMPER, TwoPointConstantForce.routine: CONSTANT}
#: Columns of the table of spans: three bodies, the last one -1 where there is no surface; the function whose numbers stations
#: are, -1 for the force's; the stations' places, and the weight's, -1 for 1; where its numbers are in the scratch, and those of
#: its bend, -1 for none; what asks for the bend, -1 where a span before has asked; its number among those of which one bends;
#: where units are.
A, B, C, POOL, P, Q, WEIGHT, AT, BENDS, ASKS, WHICH, UNIT_A, UNIT_B, UNIT_C, OF_SPAN = range(15)
#: Numbers of an element: T, what it changes by, and of each body six of the unit's wrench.
_TENSION, _BY_LENGTH, _BY_SPEED, _BY_TIME, _BY_Z, UNITS = 0, 1, 2, 3, 4, 4 + MOST_Z
#: Numbers of a span: e; the points' places from their bases' origins; their velocities; x, x', 1 / x, w and T w / x.
_E, _P, _Q, _VP, _VQ, _X, _RATE, _PER, _W, _OVER, NUMBERS_OF_SPAN = 0, 3, 6, 9, 12, 15, 16, 17, 18, 19, 20
#: With a surface also w where it bends, the angular velocity of c, the places from the origin of c's base, velocities from c.
_BENT, _WC, _PC, _QC, _VPC, _VQC, NUMBERS_OVER_SURFACE = 20, 21, 24, 27, 30, 33, 36
#: Numbers of a bend: which span bends, -1 for none; x; d_P and d_Q; g; J by rows.
_ON, _LENGTH, _D, _G, _J, NUMBERS_OF_BEND = 0, 1, 2, 8, 14, 50
#: Numbers of a pose, behind those of a straight span.
NUMBERS_OF_POSE = NUMBERS_OF_SPAN + poses.NUMBERS


@generic
def _arm(model: Record, b: int, f: int, x: int) -> Any:
    """A station from its body's origin, in Ground."""
    R = load9(model.R_GB, b, 0)
    if f >= 0:
        s = mat33.mul_vec(R, vector3(model.function_numbers, x))
    else:
        s = mat33.mul_vec(R, numbers3(model, x))
    return s


@apart
def measure(model: Record, spans: Any, bodies: Any, L: Any) -> None:
    """Numbers of all spans, as if they were straight, and which of them may bend."""
    for k in range(spans.shape[0]):
        a, b, c, at = spans[k, A], spans[k, B], spans[k, C], spans[k, AT]
        if spans[k, WHICH] < 0:
            own = at + NUMBERS_OF_SPAN
            poses.measure(model, spans[k, WHICH], (a, b, c), bodies, spans[k, P], L, own)
            store(L, 0, at + _X, load(L, 0, own + poses.LENGTH))
            store(L, 0, at + _RATE, load(L, 0, own + poses.RATE))
            store(L, 0, at + _W, one(load(L, 0, own)))
            continue
        s, t = _arm(model, a, spans[k, POOL], spans[k, P]), _arm(model, b, spans[k, POOL], spans[k, Q])
        p, q = vec3.add(load3(model.p_GB, a, 0), s), vec3.add(load3(model.p_GB, b, 0), t)
        r, v, w = vec3.sub(q, p), velocity_of(model, a, s), velocity_of(model, b, t)
        x = sqrt(square(r)[1])
        per = 1.0 / x
        e = vec3.scale(per, r)
        weight = one(x)
        if spans[k, WEIGHT] >= 0:
            weight = weight * number(model, spans[k, WEIGHT])
        store3(L, 0, at + _E, e)
        store3(L, 0, at + _P, vec3.add(s, load3(bodies, a, 0)))
        store3(L, 0, at + _Q, vec3.add(t, load3(bodies, b, 0)))
        store3(L, 0, at + _VP, v)
        store3(L, 0, at + _VQ, w)
        store(L, 0, at + _X, vec3.dot(e, r))
        store(L, 0, at + _RATE, vec3.dot(e, vec3.sub(w, v)))
        store(L, 0, at + _PER, per)
        store(L, 0, at + _W, weight)
        if spans[k, ASKS] >= 0:
            on = zero(x)
            if spans[k, POOL] >= 0:
                on = bends(model, spans[k, POOL]) - 1.0
            store(L, 0, spans[k, BENDS] + _ON, on)
        if c >= 0:
            origin = load3(model.p_GB, c, 0)
            s, t = vec3.sub(p, origin), vec3.sub(q, origin)
            store3(L, 0, at + _WC, load_spatial(model.V_GB, c)[0])
            store3(L, 0, at + _PC, vec3.add(s, load3(bodies, c, 0)))
            store3(L, 0, at + _QC, vec3.add(t, load3(bodies, c, 0)))
            store3(L, 0, at + _VPC, vec3.sub(v, velocity_of(model, c, s)))
            store3(L, 0, at + _VQC, vec3.sub(w, velocity_of(model, c, t)))


@generic
def _bend(lines: Any, i: int, asks: int, at: int, lane: int, dual: Record, L: Any) -> None:
    """The span that bends, and how, in one lane; zeros where none does."""
    out = dual.body_forces
    if load_lane(L, 0, at + _ON, lane) >= 0.0:
        call_routine(lines[i, ADDRESS], dual, lines[i, ELEMENT], BEND + asks)
        store_lane(L, 0, at + _ON, lane, bare(load(out, 1, 1)))
    if load_lane(L, 0, at + _ON, lane) >= 0.0:
        store_lane(L, 0, at + _LENGTH, lane, bare(load(out, 1, 0)))
        for c in range(6):
            store_lane(L, 0, at + _D + c, lane, bare(load(out, 0, c)))
            store_lane(L, 0, at + _G + c, lane, load_tangent(out, 1, 0, c))
            for t in range(6):
                store_lane(L, 0, at + _J + 6 * c + t, lane, load_tangent(out, 0, c, t))
    else:
        for c in range(_LENGTH, NUMBERS_OF_BEND):
            store_lane(L, 0, at + c, lane, 0.0)


@apart
def find_laws(lane: int, dual: Record, lines: Any, spans: Any, L: Any) -> None:
    """Bends of one lane, and its tensions with their slopes, of what is measured.

    *dual* is a record of Duals that is filled.
    """
    out = dual.body_forces
    for i in range(lines.shape[0]):
        if lines[i, KIND] != LAW:
            continue
        length, speed, at, num_z = 0.0, 0.0, lines[i, PLACE], lines[i, NUM_Z]
        for k in range(lines[i, FIRST_SPAN], lines[i, END_SPAN]):
            own, bend = spans[k, AT], spans[k, BENDS]
            if spans[k, ASKS] >= 0:
                _bend(lines, i, spans[k, ASKS], bend, lane, dual, L)
            x, rate = load_lane(L, 0, own + _X, lane), load_lane(L, 0, own + _RATE, lane)
            if bend >= 0 and load_lane(L, 0, bend + _ON, lane) == 1.0 * spans[k, WHICH]:
                x = load_lane(L, 0, bend + _LENGTH, lane)
                rate = vec3.dot(load3_lane(L, 0, bend + _D + 3, lane), load3_lane(L, 0, own + _VQC, lane))
                rate = rate - vec3.dot(load3_lane(L, 0, bend + _D, lane), load3_lane(L, 0, own + _VPC, lane))
            weight = load_lane(L, 0, own + _W, lane)
            length, speed = length + weight * x, speed + weight * rate
        r = bare(load(dual.force_numbers, lines[i, NUMBER], 0))
        force, by_length, by_speed = call_law(
            lines[i, ADDRESS], lines[i, ELEMENT], lines[i, FIRST_Z], num_z, r * length, r * speed, dual
        )
        store_lane(L, 0, at + _TENSION, lane, -r * force)
        store_lane(L, 0, at + _BY_LENGTH, lane, -r * r * by_length)
        store_lane(L, 0, at + _BY_SPEED, lane, -r * r * by_speed)
        store_lane(L, 0, at + _BY_TIME, lane, -r * load_tangent(out, 0, 0, BY_TIME))
        for k in range(num_z):
            store_lane(L, 0, at + _BY_Z + k, lane, -r * load_tangent(out, 0, 0, BY_Z + k))


@generic
def _settle_tension(model: Record, kind: int, n: int, at: int, own: int, L: Any) -> None:
    """T, and what it changes by, of a kind of force between two points."""
    x, rate, per = load(L, 0, own + _X), load(L, 0, own + _RATE), load(L, 0, own + _PER)
    k, o = number(model, n), zero(x)
    apart_ = x > 0.0
    f, by_length, by_speed, close = -k + o, o, o, o
    if kind == SPRING:
        rest = number(model, n + 1)
        # of rest length zero it is k r: as if x were 1
        f, by_length, close = k * (x - rest), k + o, where(rest > 0.0, o, k + o)
    elif kind == DAMPER:
        f, by_speed = k * rate, k + o
    store(L, 0, at + _TENSION, where(apart_, f, close * per))
    store(L, 0, at + _BY_LENGTH, where(apart_, by_length, o))
    store(L, 0, at + _BY_SPEED, where(apart_, by_speed, o))


@generic
def _add_to_unit(L: Any, at: int, n: Any, f: Any) -> None:
    """A wrench, added to a body's."""
    if at >= 0:
        add_wrench(L, 0, at, n, f)


@generic
def _add_unit(L: Any, at: int, p: Any, f: Any) -> None:
    """A force at p."""
    _add_to_unit(L, at, vec3.cross(p, f), f)


@generic
def _settle(model: Record, lines: Any, i: int, spans: Any, reached: Any, bodies: Any, F: Any, L: Any) -> None:
    """Numbers of element i for `push`. Its wrenches are taken out of *F*, which is taken back as it does not follow bodies."""
    at = lines[i, PLACE]
    if lines[i, KIND] != LAW:
        _settle_tension(model, lines[i, KIND], lines[i, NUMBER], at, spans[lines[i, FIRST_SPAN], AT], L)
    tension = load(L, 0, at + _TENSION)
    o = zero(tension)
    for c in range(6 * (lines[i, END_BODY] - lines[i, FIRST_BODY])):
        store(L, 0, at + UNITS + c, o)
    for k in range(lines[i, FIRST_SPAN], lines[i, END_SPAN]):
        own, bend, weight = spans[k, AT], spans[k, BENDS], load(L, 0, spans[k, AT] + _W)
        if spans[k, WHICH] < 0:
            on_a, on_b, on_c = poses.unit(L, own + NUMBERS_OF_SPAN)
            none = o, o, o
            _add_to_unit(L, spans[k, UNIT_A], *on_a)
            _add_to_unit(L, spans[k, UNIT_B], *on_b)
            _add_to_unit(L, spans[k, UNIT_C], on_c, none)
            continue
        p, q = load3(L, 0, own + _P), load3(L, 0, own + _Q)
        if bend >= 0:
            on = load(L, 0, bend + _ON) == 1.0 * spans[k, WHICH]
            bent, weight = where(on, weight, o), where(on, o, weight)
            store(L, 0, own + _BENT, bent)
            store(L, 0, own + _W, weight)
            if in_any(on):
                d, e = vec3.scale(bent, load3(L, 0, bend + _D)), vec3.scale(-bent, load3(L, 0, bend + _D + 3))
                _add_unit(L, spans[k, UNIT_A], p, d)
                _add_unit(L, spans[k, UNIT_B], q, e)
                _add_unit(L, spans[k, UNIT_C], load3(L, 0, own + _PC), vec3.neg(d))
                _add_unit(L, spans[k, UNIT_C], load3(L, 0, own + _QC), vec3.neg(e))
        store(L, 0, own + _OVER, tension * weight * load(L, 0, own + _PER))
        if spans[k, A] != spans[k, B]:
            e = vec3.scale(weight, load3(L, 0, own + _E))
            _add_unit(L, spans[k, UNIT_A], p, e)
            _add_unit(L, spans[k, UNIT_B], q, vec3.neg(e))
    for m in range(lines[i, FIRST_BODY], lines[i, END_BODY]):
        b, unit = reached[m], at + UNITS + 6 * (m - lines[i, FIRST_BODY])
        n, f = vec3.scale(-tension, load3(L, 0, unit)), vec3.scale(-tension, load3(L, 0, unit + 3))
        add_spatial(F, b, vec3.sub(n, vec3.cross(load3(bodies, b, 0), f)), f)


@generic
def is_moved(lines: Any, i: int, reached: Any, carries: Any, j: int) -> bool:
    """True if column j carries some of an element's bodies, but not all."""
    common, found = carries[lines[i, COMMON], j], False
    for m in range(lines[i, FIRST_BODY], lines[i, END_BODY]):
        found = found or carries[reached[m], j] != common
    return found


@generic
def _pull(W: Any, b: int, first: int, p: Any, f: Any) -> None:
    """A force at p from the base's origin, added to a body's wrench."""
    if b > 0:
        add_wrench(W, b, first, vec3.cross(p, f), f)


@generic
def _turn(W: Any, b: int, n: Any, f: Any) -> None:
    """A wrench, added to a body's by q."""
    if b > 0:
        add_wrench(W, b, 0, n, f)


@generic
def _between(k1: Any, k2: Any, first: Any, second: Any) -> Any:
    """The second less the first, of those that are carried."""
    return vec3.sub(vec3.scale(k2, second), vec3.scale(k1, first))


@generic
def is_fast(kind: int) -> bool:
    """True if the tension may depend on l'."""
    return kind == DAMPER or kind == LAW


@generic
def _stretch(at: int, tension: Any, fast: bool, L: Any, k1: Any, k2: Any, S: Any, j: int) -> Any:
    """Changes of a straight span's forces at P and Q at unchanged tension; what l and l' change by."""
    e, p, q, weight = load3(L, 0, at + _E), load3(L, 0, at + _P), load3(L, 0, at + _Q), load(L, 0, at + _W)
    w, t = load3(S, j, 0), load3(S, j, 3)
    r = _between(k1, k2, p, q)
    y = vec3.add(vec3.scale(k2 - k1, t), vec3.cross(w, r))
    dx = vec3.dot(e, y)
    turned = vec3.add_scaled(y, -dx, e)
    g, along = vec3.scale(load(L, 0, at + _OVER), turned), vec3.scale(tension * weight, vec3.cross(w, e))
    rate = 0.0 * dx
    if fast:
        v1, v2 = load3(L, 0, at + _VP), load3(L, 0, at + _VQ)
        faster = vec3.add(vec3.scale(k2 - k1, load3(S, j, 9)), vec3.cross(load3(S, j, 6), r))
        faster = vec3.add(faster, vec3.cross(w, _between(k1, k2, v1, v2)))
        rate = weight * (load(L, 0, at + _PER) * vec3.dot(turned, vec3.sub(v2, v1)) + vec3.dot(e, faster))
    return vec3.sub(g, vec3.scale(k1, along)), vec3.sub(vec3.scale(k2, along), g), weight * dx, rate


@generic
def _change(lines: Any, i: int, at: int, L: Any, k1: Any, k2: Any, S: Any, j: int) -> Any:
    """Changes of the forces of an element of one straight span at P and Q, and by u of that at P."""
    place, fast = lines[i, PLACE], is_fast(lines[i, KIND])
    one_, other, longer, quicker = _stretch(at, load(L, 0, place + _TENSION), fast, L, k1, k2, S, j)
    stronger, by_u = load(L, 0, place + _BY_LENGTH) * longer, longer
    if fast:
        by_speed = load(L, 0, place + _BY_SPEED)
        stronger, by_u = stronger + by_speed * quicker, by_speed * longer
    e = vec3.scale(load(L, 0, at + _W), load3(L, 0, at + _E))
    return vec3.add_scaled(one_, stronger, e), vec3.add_scaled(other, -stronger, e), vec3.scale(by_u, e)


@generic
def _moved_end(L: Any, at: int, p: int, k: Any, k3: Any, S: Any, j: int) -> Any:
    """The motion of a point, whose numbers are *p* and those behind, and what its velocity changes by, both seen from c."""
    own, of_c, v = load3(L, 0, at + _P + p), load3(L, 0, at + _PC + p), load3(L, 0, at + _VP + p)
    w, t = load3(S, j, 0), load3(S, j, 3)
    r = _between(k3, k, of_c, own)
    y = vec3.add(vec3.scale(k - k3, t), vec3.cross(w, r))
    faster = vec3.add(vec3.scale(k - k3, vec3.add(load3(S, j, 9), vec3.cross(w, v))), vec3.cross(load3(S, j, 6), r))
    return y, vec3.sub(faster, vec3.cross(load3(L, 0, at + _WC), y))


@generic
def _slide(spans: Any, k: int, tension: Any, L: Any, ks: Any, S: Any, j: int, W: Any) -> Any:
    """The same of a span that bends over a surface; what l changes by, by q and by u, and l'."""
    at, bend, c, (k1, k2, k3), w = spans[k, AT], spans[k, BENDS], spans[k, C], ks, load3(S, j, 0)
    d, e, bent = load3(L, 0, bend + _D), load3(L, 0, bend + _D + 3), load(L, 0, at + _BENT)
    y, faster = _moved_end(L, at, 0, k1, k3, S, j)
    z, faster_end = _moved_end(L, at, 3, k2, k3, S, j)
    dd, de = times(L, 0, bend + _J, (y, z))
    T = tension * bent
    # on P and Q, beyond being carried with c; then beyond being carried with their own bodies
    m, n, f, g = vec3.scale(T, dd), vec3.scale(-T, de), vec3.scale(T, d), vec3.scale(-T, e)
    _pull(W, spans[k, A], 0, load3(L, 0, at + _P), vec3.sub(m, vec3.scale(k1 - k3, vec3.cross(w, f))))
    _pull(W, spans[k, B], 0, load3(L, 0, at + _Q), vec3.sub(n, vec3.scale(k2 - k3, vec3.cross(w, g))))
    _pull(W, c, 0, load3(L, 0, at + _PC), vec3.neg(m))
    _pull(W, c, 0, load3(L, 0, at + _QC), vec3.neg(n))
    if c > 0:
        store3(W, c, 0, vec3.sub(load3(W, c, 0), vec3.add(vec3.cross(y, f), vec3.cross(z, g))))
    rate = vec3.dot(de, load3(L, 0, at + _VQC)) - vec3.dot(dd, load3(L, 0, at + _VPC))
    rate = rate + vec3.dot(e, faster_end) - vec3.dot(d, faster)
    return bent * times_columns(L, 0, bend + _G, (y, z)), bent * (vec3.dot(e, z) - vec3.dot(d, y)), bent * rate


@generic
def push(lines: Any, i: int, spans: Any, reached: Any, L: Any, keep: Any, S: Any, j: int, W: Any) -> None:
    """Wrenches of an element along a column, or eight, added to those of its bodies in *W*: as of `couplings.add`."""
    at, fast, k0 = lines[i, PLACE], is_fast(lines[i, KIND]), load(keep, lines[i, COMMON], j)
    if lines[i, ONLY] >= 0:
        k = lines[i, ONLY]
        a, b, own = spans[k, A], spans[k, B], spans[k, AT]
        one_, other, by_u = _change(lines, i, own, L, load(keep, a, j) - k0, load(keep, b, j) - k0, S, j)
        p, q = load3(L, 0, own + _P), load3(L, 0, own + _Q)
        _pull(W, a, 0, p, one_)
        _pull(W, b, 0, q, other)
        if fast:
            _pull(W, a, 6, p, by_u)
            _pull(W, b, 6, q, vec3.neg(by_u))
        return
    tension = load(L, 0, at + _TENSION)
    longer = 0.0 * (tension * k0 * load(S, j, 0))
    by_u, quicker = longer, longer
    for k in range(lines[i, FIRST_SPAN], lines[i, END_SPAN]):
        a, b, own = spans[k, A], spans[k, B], spans[k, AT]
        k1, k2 = load(keep, a, j) - k0, load(keep, b, j) - k0
        if spans[k, WHICH] < 0:
            (dx, dx_by_u, rate), on_a, turned, couple = poses.change(
                L, own + NUMBERS_OF_SPAN, spans[k, WHICH], tension, (k1, k2), S, j
            )
            none = vec3.sub(turned, turned)
            _turn(W, a, *on_a)
            _turn(W, b, turned, none)
            _turn(W, spans[k, C], couple, none)
            longer, by_u, quicker = longer + dx, by_u + dx_by_u, quicker + rate
            continue
        if a != b and in_any(load(L, 0, own + _W) > 0.0):
            one_, other, dx, rate = _stretch(own, tension, fast, L, k1, k2, S, j)
            _pull(W, a, 0, load3(L, 0, own + _P), one_)
            _pull(W, b, 0, load3(L, 0, own + _Q), other)
            longer, by_u, quicker = longer + dx, by_u + dx, quicker + rate
        if spans[k, BENDS] >= 0 and in_any(load(L, 0, own + _BENT) > 0.0):
            dx, dx_by_u, rate = _slide(spans, k, tension, L, (k1, k2, load(keep, spans[k, C], j) - k0), S, j, W)
            longer, by_u, quicker = longer + dx, by_u + dx_by_u, quicker + rate
    by_speed = load(L, 0, at + _BY_SPEED)
    stronger = load(L, 0, at + _BY_LENGTH) * longer
    if fast:
        stronger, by_u = stronger + by_speed * quicker, by_speed * by_u
    for m in range(lines[i, FIRST_BODY], lines[i, END_BODY]):
        b, unit = reached[m], at + UNITS + 6 * (m - lines[i, FIRST_BODY])
        n, f = load3(L, 0, unit), load3(L, 0, unit + 3)
        store3(W, b, 0, vec3.add_scaled(load3(W, b, 0), stronger, n))
        store3(W, b, 3, vec3.add_scaled(load3(W, b, 3), stronger, f))
        if fast:
            store3(W, b, 6, vec3.add_scaled(load3(W, b, 6), by_u, n))
            store3(W, b, 9, vec3.add_scaled(load3(W, b, 9), by_u, f))


@generic
def add_wrench(W: Any, b: int, first: int, n: Any, f: Any) -> None:
    """A wrench added to that of a body."""
    store3(W, b, first, vec3.add(load3(W, b, first), n))
    store3(W, b, first + 3, vec3.add(load3(W, b, first + 3), f))


@generic
def clear_wrenches(W: Any, b: int, damped: bool) -> None:
    """No wrench on a body."""
    o = zero(load(W, b, 0))
    none = o, o, o
    store3(W, b, 0, none)
    store3(W, b, 3, none)
    if damped:
        store3(W, b, 6, none)
        store3(W, b, 9, none)


@generic
def _gather_way(way: Any, b: int, c: int, columns: Any, W: Any, damped: bool, nu: int, D: Any, j: int) -> None:
    """Minus S_i times the wrench on b, to column j, of mobilities on the way to b but not to c: on c it acts then."""
    end = way[b + 1] - (way[c + 1] - way[c])
    for half in range(2 if damped else 1):
        v = load_spatial_at(W, b, 6 * half)
        subtract(way, way[b], end, columns, v, D, half * nu, j)
        if c > 0:
            add_wrench(W, c, 6 * half, *v)
    clear_wrenches(W, b, damped)


@generic
def _take_straight(nu: int, lines: Any, i: int, spans: Any, L: Any, way: Any, columns: Any, D: Any) -> None:
    """The same as `take` of an element of one straight span, whose wrenches need no memory."""
    k, last, fast = lines[i, ONLY], lines[i, COMMON], is_fast(lines[i, KIND])
    a, b, at = spans[k, A], spans[k, B], spans[k, AT]
    p, q, common = load3(L, 0, at + _P), load3(L, 0, at + _Q), way[last + 1] - way[last]
    end1, end2 = way[a + 1] - common, way[b + 1] - common
    for which in range(2):
        begin, end, k1 = way[a], end1, 1.0
        if which == 1:
            begin, end, k1 = way[b], end2, 0.0
        for place in range(begin, end):
            j = way[place]
            one_, other, by_u = _change(lines, i, at, L, k1, 1.0 - k1, columns, j)
            n1, n2 = vec3.cross(p, one_), vec3.cross(q, other)
            subtract(way, way[a], end1, columns, (n1, one_), D, 0, j)
            subtract(way, way[b], end2, columns, (n2, other), D, 0, j)
            subtract(way, end1, end1 + common, columns, (vec3.add(n1, n2), vec3.add(one_, other)), D, 0, j)
            if fast:
                subtract(way, way[a], end1, columns, (vec3.cross(p, by_u), by_u), D, nu, j)
                by_u = vec3.neg(by_u)
                subtract(way, way[b], end2, columns, (vec3.cross(q, by_u), by_u), D, nu, j)


@generic
def _take_pose(nu: int, lines: Any, i: int, spans: Any, L: Any, way: Any, columns: Any, D: Any) -> None:
    """The same of an element of one pose of two bodies."""
    k, last, place = lines[i, FIRST_SPAN], lines[i, COMMON], lines[i, PLACE]
    own, tension, common = spans[k, AT] + NUMBERS_OF_SPAN, load(L, 0, place + _TENSION), way[last + 1] - way[last]
    by_length, by_speed = load(L, 0, place + _BY_LENGTH), load(L, 0, place + _BY_SPEED)
    first1, first2 = way[spans[k, A]], way[spans[k, B]]
    end1, end2 = way[spans[k, A] + 1] - common, way[spans[k, B] + 1] - common
    (n1, f1), (n2, f2), _ = poses.unit(L, own)
    for which in range(2):
        begin, end, k1 = first1, end1, 1.0
        if which == 1:
            begin, end, k1 = first2, end2, 0.0
        for at in range(begin, end):
            j = way[at]
            (dx, by_u, rate), (n, f), turned, couple = poses.change(
                L, own, spans[k, WHICH], tension, (k1, 1.0 - k1), columns, j
            )
            stronger, by_u = by_length * dx + by_speed * rate, by_speed * by_u
            one_n, one_f = vec3.add_scaled(n, stronger, n1), vec3.add_scaled(f, stronger, f1)
            subtract(way, first1, end1, columns, (one_n, one_f), D, 0, j)
            subtract(way, first2, end2, columns, (vec3.add_scaled(turned, stronger, n2), vec3.scale(stronger, f2)), D, 0, j)
            subtract(way, end1, end1 + common, columns, (vec3.add(vec3.add(n, turned), couple), f), D, 0, j)
            subtract(way, first1, end1, columns, (vec3.scale(by_u, n1), vec3.scale(by_u, f1)), D, nu, j)
            subtract(way, first2, end2, columns, (vec3.scale(by_u, n2), vec3.scale(by_u, f2)), D, nu, j)


# fmt: off
@apart
def take(
    nu: int, lines: Any, spans: Any, reached: Any, L: Any, way: Any, columns: Any, keep: Any, W: Any, D: Any
) -> None:
    # fmt: on
    """Subtract elements' terms from *D*, each by itself column by column: of lanes, whose numbers then stay at hand."""
    for i in range(lines.shape[0]):
        if lines[i, ONLY] >= 0:
            _take_straight(nu, lines, i, spans, L, way, columns, D)
            continue
        k = lines[i, FIRST_SPAN]
        if k + 1 == lines[i, END_SPAN] and spans[k, WHICH] < 0 and spans[k, A] != spans[k, B]:
            _take_pose(nu, lines, i, spans, L, way, columns, D)
            continue
        c, damped, first, end = lines[i, COMMON], is_fast(lines[i, KIND]), lines[i, FIRST_BODY], lines[i, END_BODY]
        clear_wrenches(W, c, damped)
        for m in range(first, end):
            clear_wrenches(W, reached[m], damped)
        for m in range(first, end):
            b = reached[m]
            for place in range(way[b], way[b + 1] - (way[c + 1] - way[c])):
                j, done = way[place], False
                for before in range(first, m):
                    done = done or keep[reached[before], j] > 0.0
                if not done:
                    push(lines, i, spans, reached, L, keep, columns, j, W)
                    for other in range(first, end):
                        if reached[other] != c:
                            _gather_way(way, reached[other], c, columns, W, damped, nu, D, j)
                    _gather_way(way, c, 0, columns, W, damped, nu, D, j)


@generic
def _take_rest(lines: Any, reached: Any, way: Any, columns: Any, L: Any, T: Any) -> None:
    """Subtract derivatives of forces by z and by time."""
    for i in range(lines.shape[0]):
        at, z = lines[i, PLACE], lines[i, FIRST_Z]
        timed = False
        if lines[i, KIND] == LAW:
            timed = in_any(absolute(load(L, 0, at + _BY_TIME)) > 0.0)
        if timed or lines[i, NUM_Z] > 0:
            for m in range(lines[i, FIRST_BODY], lines[i, END_BODY]):
                unit = at + UNITS + 6 * (m - lines[i, FIRST_BODY])
                for place in range(way[reached[m]], way[reached[m] + 1]):
                    row = way[place]
                    along = times_columns(columns, row, 0, load_spatial_at(L, 0, unit))
                    for k in range(lines[i, NUM_Z]):
                        store(T, row, z + k, load(T, row, z + k) - along * load(L, 0, at + _BY_Z + k))
                    if timed:
                        last = T.shape[1] - 1
                        store(T, row, last, load(T, row, last) - along * load(L, 0, at + _BY_TIME))


# fmt: off
@apart
def settle(
    model: Record, lines: Any, spans: Any, reached: Any, way: Any, bodies: Any, columns: Any, L: Any, F: Any, T: Any
) -> None:
    # fmt: on
    """Numbers of all elements for `push`, and their derivatives by z and time."""
    for i in range(lines.shape[0]):
        _settle(model, lines, i, spans, reached, bodies, F, L)
    if T.shape[1] > 0:
        _take_rest(lines, reached, way, columns, L, T)
