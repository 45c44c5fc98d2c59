"""The laws of compliant contact: what the overlap of two surfaces costs, point by point.

Of the depth x of a point, its rate x', and the materials E, c, mu of both surfaces, at a point of law

    HERTZ    E^(2/3) = E1^(2/3) E2^(2/3) / (E1^(2/3) + E2^(2/3))   s1 = E2^(2/3) / (E1^(2/3) + E2^(2/3))
             f_e = 4/3 e E sqrt(R) x^(3/2)   PE = 2/5 f_e x   1/R = (k_max + k_min) / 2   f = f_e (1 + 3/2 c x')
    CORNER   k = k1 k2 / (k1 + k2)   s1 = k2 / (k1 + k2)   k_i = E_i times its share where its area is 0, else E_i A / h_i
             f_e = k x   PE = 1/2 k x^2   f = f_e (1 + c x')
    FACE     as a corner, of its area times its cosine to the other surface; of two meshes the faces of both act, with half

    c = s1 c1 + (1 - s1) c2   mu = 2 mu1 mu2 / (mu1 + mu2)   e: see `ellipse`

h is the thickness of a surface's layer; where one of two has none it is the other's, where both have none it is sqrt(A), which
is near to a flat punch on a solid. The point of application is s1 x from the first surface's place, nearer to the stiffer one.
The force never pulls; where it would, it is zero, and the elastic power, which the material gives back to nobody, is
dissipated. So

    power dissipated = (f - f_e) x' + friction times slip speed

in both cases, and PE is a function of q. Friction at the slip speed v opposes slip, Stribeck's in transition velocities:

    f (mu(v / v_t) + mu_v v)   S(y) = y^3 (10 - 15 y + 6 y^2)
    mu(v) = mu_s S(v) up to v = 1, mu_s - (mu_s - mu_d) S((v - 1) / 2) up to 3, then mu_d

Sources: Hunt and Crossley 1975, J. Appl. Mech. 42, 440; Sherman, Seth and Delp 2011, Procedia IUTAM 2, 241, which the
reference has. Faces of its meshes lack the cosine: with it, the force of a submerged mesh is k / h times the displaced volume.

Of the elements with the laws of the reference's older subsystem, in which friction is Hollars's,

    mu(v) = min(v, 1) (mu_d + 2 (mu_s - mu_d) / (1 + v^2))

`HuntCrossley` has e = 1 and R = 1 / sqrt(k_max k_min); `ElasticFoundation` f = E A x (1 + c x') of each mesh's own material,
at the point of the other surface that is nearest to the face, without the cosine.

A row of ``contact_point`` becomes a force on both bodies, equal and opposite, at the point PLACE, and a moment: see
`resistance`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, load_lane, sqrt, store_lane, where, zero
from ...compiling import Routine, generic
from ...contact import access
from ...contact.access import (
    DEPTH,
    FACE,
    HERTZ,
    LAW,
    MATERIAL,
    NORMAL,
    PART,
    POINT,
    SHAPE,
    SIDE,
    Pair,
    load3_lane,
    number_of,
    store3_lane,
)
from ...contact.shape import TRIANGLE_MESH
from .. import routines
from .bristle import bristle_force
from .ellipse import correction
from .resistance import arms, couple, drift, resists, turning

#: A request to a law beside FORCES, ENERGY and POWER of `routines`: fill in the points and ``contact_sum``.
TABLE = 3
#: Places, of an element's numbers: its transition velocity, the time in which bristles straighten, its transition rate.
TRANSITION_VELOCITY, RELAXATION, TRANSITION_RATE = 0, 1, 2
#: Laws of friction.
STRIBECK, HOLLARS, BRISTLE = 0, 1, 2


def law(function: Callable[..., Any]) -> Routine:
    """Mark the law of a pair's points, ``function(model, pair, asked)``, called by address.

    It is asked by a tuple: the element, how many points there are, and FORCES, ENERGY, POWER or TABLE.
    """
    generic(function)

    def run(model: Any, first: int, second: int, lane: int, element: int, count: int, what: int) -> Any:
        return function(model, (first, second, lane), (element, count, what))

    run.__module__, run.__qualname__ = function.__module__, function.__qualname__
    return Routine(run)


@generic
def velocity_at(model: Any, body: int, p: Any, lane: int) -> Any:
    """Of the point of a body that is at p, in Ground."""
    w, v = load3_lane(model.V_GB, body, 0, lane), load3_lane(model.V_GB, body, 3, lane)
    return vec3.add(v, vec3.cross(w, vec3.sub(p, load3_lane(model.p_GB, body, 0, lane))))


@generic
def push(model: Any, body: int, p: Any, f: Any, moment: Any, lane: int) -> None:
    """Add the force f, at p in Ground, and a moment to what acts on a body."""
    m = vec3.add(moment, vec3.cross(vec3.sub(p, load3_lane(model.p_GB, body, 0, lane)), f))
    rows = model.body_forces
    store3_lane(rows, body, 0, lane, vec3.add(load3_lane(rows, body, 0, lane), m))
    store3_lane(rows, body, 3, lane, vec3.add(load3_lane(rows, body, 3, lane), f))


@generic
def step5(x: Any) -> Any:
    """A quintic from 0 to 1 whose first and second derivatives vanish at both ends, 0 <= x <= 1."""
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


@generic
def stribeck(us: Any, ud: Any, square: Any, vt: Any) -> Any:
    """Stribeck's coefficient of friction by the slip speed, whose square is given: finite, and smooth, at rest."""
    if square <= 0.0:
        return 0.0 * (square + us)
    speed = sqrt(square)
    v = speed / vt
    if v >= 3.0:
        return ud / speed
    if v >= 1.0:
        return (us - (us - ud) * step5(0.5 * (v - 1.0))) / speed
    return us * v * v * (10.0 + v * (6.0 * v - 15.0)) / vt


@generic
def hollars(us: Any, ud: Any, square: Any, vt: Any) -> Any:
    """Hollars's coefficient of friction by the slip speed, whose square is given."""
    vv = square / (vt * vt)
    mu = ud + 2.0 * (us - ud) / (1.0 + vv)
    if vv < 1.0:
        return mu / vt
    return mu / sqrt(square)


@generic
def mixed(a: Any, b: Any) -> Any:
    """The harmonic mean, 0 where both are 0."""
    total = a + b
    if total > 0.0:
        return 2.0 * a * b / total
    return 0.0 * total


@generic
def mixed_or_zero(a: Any, b: Any) -> Any:
    """The same, chosen without a branch."""
    total = a + b
    none = total <= 0.0
    return where(none, 0.0 * total, 2.0 * a * b / where(none, 1.0 + 0.0 * total, total))


@generic
def frictions(model: Any, a: int, b: int, lane: int) -> Any:
    """The coefficients of two surfaces: static, dynamic, viscous."""
    us = mixed(number_of(model, a, MATERIAL + 2, lane), number_of(model, b, MATERIAL + 2, lane))
    ud = mixed(number_of(model, a, MATERIAL + 3, lane), number_of(model, b, MATERIAL + 3, lane))
    return us, ud, mixed(number_of(model, a, MATERIAL + 4, lane), number_of(model, b, MATERIAL + 4, lane))


@generic
def softer(k1: Any, k2: Any) -> Any:
    """Two stiffnesses in series, and the first's share of the depth."""
    s1 = k2 / (k1 + k2)
    return k1 * s1, s1


@generic
def layers(model: Any, a: int, b: int, lane: int) -> Any:
    """The thickness of both surfaces' layers, 0 where neither has one."""
    h1, h2 = number_of(model, a, MATERIAL + 5, lane), number_of(model, b, MATERIAL + 5, lane)
    if h1 <= 0.0:
        h1 = h2
    if h2 <= 0.0:
        h2 = h1
    return h1, h2


@generic
def part_of_faces(model: Any, a: int, b: int) -> float:
    """The part with which faces count: of two meshes those of both act, each with half."""
    if model.surface_kind[a] == TRIANGLE_MESH and model.surface_kind[b] == TRIANGLE_MESH:
        return 0.5
    return 1.0


@generic
def own_number(model: Any, element: int, which: int, lane: int) -> Any:
    """A number of the element itself."""
    return load_lane(model.force_numbers, model.force_first_number[element] + which, 0, lane)


@generic
def respond(
    model: Any, pair: Pair, asked: Any, row: int, x: Any, s1: Any, elastic: Any, energy: Any, c: Any, mu: Any, law: int
) -> None:
    """The response of a point, by its elastic force and energy, c with its factor, mu of both surfaces, the friction's law."""
    (element, _, what), (a, b, lane), rows = asked, pair, model.contact_point
    if what == routines.ENERGY:
        add_to(model, element, lane, energy)
        return
    n = load3_lane(rows, row, NORMAL, lane)
    p = vec3.add_scaled(load3_lane(rows, row, POINT, lane), x * (0.5 - s1), n)
    body1, body2 = model.surface_body[a], model.surface_body[b]
    v = vec3.sub(velocity_at(model, body2, p, lane), velocity_at(model, body1, p, lane))
    rate = -vec3.dot(v, n)
    normal = elastic * (1.0 + c * rate)
    if normal <= 0.0:
        normal = zero(normal)
    own = slip = vec3.add_scaled(v, rate, n)
    o = zero(normal)
    moment, w = (o, o, o), (o, o, o)
    if resists(model, element):
        slip, w = vec3.add(own, drift(model, a, b, n, lane)), turning(model, pair)
        moment = couple(arms(model, a, b, lane), own_number(model, element, TRANSITION_RATE, lane), n, w, normal)
    square = vec3.dot(slip, slip)
    us, ud, uv = mu
    vt = own_number(model, element, TRANSITION_VELOCITY, lane)
    if law == BRISTLE:
        tau = own_number(model, element, RELAXATION, lane)
        drag = bristle_force(model, pair, row, p, normal, elastic / x, slip, mu, vt, tau, resists(model, element), what)
    elif law == STRIBECK:
        drag = vec3.scale(-normal * (uv + stribeck(us, ud, square, vt)), slip)
    else:
        drag = vec3.scale(-normal * (uv + hollars(us, ud, square, vt)), slip)
    f = vec3.add_scaled(drag, normal, n)
    lost = (normal - elastic) * rate - vec3.dot(moment, w)
    taken = lost - vec3.dot(drag, own)  # from the bodies; of what becomes heat, the drive of a surface gives the rest
    if what == routines.POWER:
        add_to(model, element, lane, taken)
    elif what == routines.FORCES:
        push(model, body2, p, f, moment, lane)
        push(model, body1, p, vec3.neg(f), vec3.neg(moment), lane)
        dissipate(model, lane, taken)
    else:
        keep(model, row, lane, f, slip, p, rate, energy, lost - vec3.dot(drag, slip), normal)
        store3_lane(rows, row, access.COUPLE, lane, moment)


@law
def compliant(model: Any, pair: Pair, asked: Any) -> int:
    """The forces of one pair, its energy or power, or all about it."""
    return _compliant(model, pair, asked, STRIBECK)


@law
def sticking(model: Any, pair: Pair, asked: Any) -> int:
    """As `compliant`, with friction by `bristle`."""
    return _compliant(model, pair, asked, BRISTLE)


@generic
def elastic_of(model: Any, a: int, b: int, row: int, x: Any, lane: int) -> Any:
    """Of a point of `compliant` at the depth x: elastic force, energy, c with its factor, the first surface's share of x."""
    rows = model.contact_point
    c1, c2 = number_of(model, a, MATERIAL + 1, lane), number_of(model, b, MATERIAL + 1, lane)
    law = bare(load_lane(rows, row, LAW, lane))
    one, two = load_lane(rows, row, SHAPE, lane), load_lane(rows, row, SHAPE + 1, lane)
    if law == HERTZ:
        k, s1 = softer(number_of(model, a, MATERIAL + 6, lane), number_of(model, b, MATERIAL + 6, lane))
        kx = k * x
        elastic = (4.0 / 3.0) * kx * sqrt(2.0 * kx / (one + two))
        if two < one:
            elastic = elastic * correction(one, two)
        energy, c = 0.4 * elastic * x, 1.5 * (c2 + s1 * (c1 - c2))
    else:
        k1, k2, area = number_of(model, a, MATERIAL, lane), number_of(model, b, MATERIAL, lane), one
        h1, h2 = layers(model, a, b, lane)
        if one <= 0.0:
            h1, h2 = area + 1.0, area + 1.0
            area = h1
            if two > 0.0:
                area = two
        elif h1 <= 0.0:
            h1 = sqrt(area)
            h2 = h1
        if law == FACE:
            area = area * two * part_of_faces(model, a, b)
        k, s1 = softer(k1 / h1, k2 / h2)
        elastic = k * area * x
        energy, c = 0.5 * elastic * x, c2 + s1 * (c1 - c2)
    return elastic, load_lane(rows, row, PART, lane) * energy, c, s1


@generic
def _compliant(model: Any, pair: Pair, asked: Any, friction: int) -> int:
    _, count, what = asked
    a, b, lane = pair
    mu = frictions(model, a, b, lane)
    for row in range(count):
        x = load_lane(model.contact_point, row, DEPTH, lane)
        elastic, energy, c, s1 = elastic_of(model, a, b, row, x, lane)
        respond(model, pair, asked, row, x, s1, elastic, energy, c, mu, friction)
    if what == TABLE:
        add_up(model, pair, count)
    return count


@law
def hunt_crossley(model: Any, pair: Pair, asked: Any) -> int:
    """As `compliant`, of the reference's HuntCrossleyForce: all points are Hertz's."""
    _, count, what = asked
    (a, b, lane), rows = pair, model.contact_point
    c1, c2 = number_of(model, a, MATERIAL + 1, lane), number_of(model, b, MATERIAL + 1, lane)
    k, s1 = softer(number_of(model, a, MATERIAL + 6, lane), number_of(model, b, MATERIAL + 6, lane))
    mu = frictions(model, a, b, lane)
    for row in range(count):
        x = load_lane(rows, row, DEPTH, lane)
        kx = k * x
        R = 1.0 / sqrt(load_lane(rows, row, SHAPE, lane) * load_lane(rows, row, SHAPE + 1, lane))
        elastic = (4.0 / 3.0) * kx * sqrt(R * kx)
        respond(model, pair, asked, row, x, s1, elastic, 0.4 * elastic * x, 1.5 * (c2 + s1 * (c1 - c2)), mu, HOLLARS)
    if what == TABLE:
        add_up(model, pair, count)
    return count


@law
def elastic_foundation(model: Any, pair: Pair, asked: Any) -> int:
    """As `compliant`, of the reference's ElasticFoundationForce: all points are faces, each of its own mesh's material."""
    _, count, what = asked
    (_, _, lane), rows = pair, model.contact_point
    for row in range(count):
        x, s1 = load_lane(rows, row, DEPTH, lane), load_lane(rows, row, SIDE, lane)
        mesh = pair[0]
        if bare(s1) == 1.0:
            mesh = pair[1]
        first, c = number_of(model, mesh, MATERIAL, lane), number_of(model, mesh, MATERIAL + 1, lane)
        us, ud = number_of(model, mesh, MATERIAL + 2, lane), number_of(model, mesh, MATERIAL + 3, lane)
        elastic = first * part_of_faces(model, pair[0], pair[1]) * load_lane(rows, row, SHAPE, lane) * x
        mu = us, ud, number_of(model, mesh, MATERIAL + 4, lane)
        # the point is the other surface's: the mesh takes all of the depth
        respond(model, pair, asked, row, x, 1.0 - s1, elastic, 0.5 * elastic * x, c, mu, HOLLARS)
    if what == TABLE:
        add_up(model, pair, count)
    return count


#: The column of contact_sum in which an evaluation of all contacts adds up the dissipated power.
DISSIPATED = 31


@generic
def dissipate(model: Any, lane: int, heat: Any) -> None:
    """Add to the dissipated power of the element that is evaluated."""
    store_lane(model.contact_sum, 0, DISSIPATED, lane, load_lane(model.contact_sum, 0, DISSIPATED, lane) + heat)


@generic
def add_to(model: Any, element: int, lane: int, x: Any) -> None:
    """Add to the energy, or the power, of an element."""
    store_lane(model.work_e, element, 0, lane, load_lane(model.work_e, element, 0, lane) + x)


@generic
def keep(model: Any, row: int, lane: int, f: Any, slip: Any, p: Any, rate: Any, energy: Any, heat: Any, normal: Any) -> None:
    """Write what the law has found of a point."""
    rows = model.contact_point
    store3_lane(rows, row, access.FORCE, lane, f)
    store3_lane(rows, row, access.SLIP, lane, slip)
    store3_lane(rows, row, access.PLACE, lane, p)
    store_lane(rows, row, access.RATE, lane, rate)
    store_lane(rows, row, access.ENERGY, lane, energy)
    store_lane(rows, row, access.POWER, lane, heat)
    store_lane(rows, row, access.LOAD, lane, normal)


@generic
def add_up(model: Any, pair: Pair, count: int) -> None:
    """The sums of a pair's points into contact_sum; its point is the center of pressure, normal and slip are weighted alike.

    Where no point bears a load, all weigh the same. The depth is the greatest.
    """
    (_, _, lane), rows = pair, model.contact_point
    o = 0.0 * load_lane(rows, 0, DEPTH, lane)
    zero3 = (o, o, o)
    force, moment, power, energy = zero3, zero3, o, o
    load = o
    for row in range(count):
        load = load + load_lane(rows, row, access.LOAD, lane)
    place, normal, slip, rate, deepest = zero3, zero3, zero3, o, o
    for row in range(count):
        f, p = load3_lane(rows, row, access.FORCE, lane), load3_lane(rows, row, access.PLACE, lane)
        force, moment = vec3.add(force, f), vec3.add(moment, vec3.cross(p, f))
        moment = vec3.add(moment, load3_lane(rows, row, access.COUPLE, lane))
        share = o + 1.0 / count
        if load > 0.0:
            share = load_lane(rows, row, access.LOAD, lane) / load
        place = vec3.add_scaled(place, share, p)
        normal = vec3.add_scaled(normal, share, load3_lane(rows, row, NORMAL, lane))
        slip = vec3.add_scaled(slip, share, load3_lane(rows, row, access.SLIP, lane))
        rate = rate + share * load_lane(rows, row, access.RATE, lane)
        x = load_lane(rows, row, DEPTH, lane)
        if x > deepest:
            deepest = x
        energy = energy + load_lane(rows, row, access.ENERGY, lane)
        power = power + load_lane(rows, row, access.POWER, lane)
    length = vec3.dot(normal, normal)
    if length > 0.0:
        normal = vec3.scale(1.0 / sqrt(length), normal)
    sums = model.contact_sum
    for column, value in ((0, force), (3, moment), (6, place), (9, normal), (14, slip)):
        store3_lane(sums, 0, column, lane, value)
    store_lane(sums, 0, 12, lane, deepest)
    store_lane(sums, 0, 13, lane, rate)
    store_lane(sums, 0, 17, lane, energy)
    store_lane(sums, 0, 18, lane, power)
