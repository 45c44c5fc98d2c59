"""Derivatives of forces along a line between two points, in closed form; `couplings` takes the columns that carry one of these.

    f e on the first point, -f e on the second     e = r / x,  f(x, x')     g = d(f e) = e (f_x dx + f_v dx') + f de

Along a column that carries the first point (k = 1, 0) or the second (0, 1), by turns w and shifts t, these move apart by y:

    y = (k2 - k1) t + w x (k2 s2 - k1 s1)   dx = e . y   de = (y - dx e) / x   dx' = de . v + e . dv

The rigid sweep has carried forces along with their bodies: what acts on the first is g - k1 f w x e more, on the second
k2 f w x e - g. By u, g = e f_v dx. A column that carries both changes nothing.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load3, load_spatial, store3
from ..algebra.scalar import load, sqrt, store, where, zero
from ..compiling import generic
from ..force.pools import number
from ..force.two_point_constant_force import TwoPointConstantForce
from ..force.two_point_linear_damper import TwoPointLinearDamper
from ..force.two_point_linear_spring import TwoPointLinearSpring
from ..force.two_points import OWN, arms, square
from ..state.fields import Record

#: Columns of the table of elements: kind, first integer, first number; the two bodies, and the last one on the way to both.
KIND, INTEGERS, NUMBERS, FIRST, SECOND, COMMON = range(6)
SPRING, DAMPER, CONSTANT = range(3)
KINDS = {TwoPointLinearSpring.routine: SPRING, TwoPointLinearDamper.routine: DAMPER, TwoPointConstantForce.routine: CONSTANT}
#: Numbers of an element: e, and the points' places from the base's origin; f, f / x, f_x - f / x; where f depends on x' the
#: points' velocities, that of the second from the first, 1 / x, f_v.
_LINE, _PLACE, _OTHER, _F, _OVER, _STIFFER, _SPEED, _OTHER_SPEED, _APART, _PER, _DRAG = 0, 3, 6, 9, 10, 11, 12, 15, 18, 21, 22
NUMBERS_OF_LINE = 23


@generic
def _force(model: Record, kind: int, n: int, x: Any, rate: Any) -> Any:
    """f, f_x, f_v; and f where the points coincide, with 1 for x: there a spring of rest length zero is k r."""
    a = number(model, n + OWN)
    o = zero(x)
    f, by_x, by_rate, close = -a + o, o, o, o
    if kind == SPRING:
        rest = number(model, n + OWN + 1)
        f, by_x, close = a * (x - rest), a + o, where(rest > 0.0, o, a + o)
    elif kind == DAMPER:
        f, by_rate = a * rate, a + o
    return f, by_x, by_rate, close


@generic
def settle(model: Record, table: Any, at: int, bodies: Any, F: Any, L: Any) -> None:
    """Row *at* of *L*: an element's numbers.

    Wrenches in *F* are taken back as they do not follow: those of the element are taken out.
    """
    n = table[at, NUMBERS]
    b1, b2, s1, s2, r = arms(model, table[at, INTEGERS], n)
    apart, xx = square(r)
    x = sqrt(xx)
    over = 1.0 / x
    e = vec3.scale(over, r)
    w1, v1 = load_spatial(model.V_GB, b1)
    w2, v2 = load_spatial(model.V_GB, b2)
    v1, v2 = vec3.add(v1, vec3.cross(w1, s1)), vec3.add(v2, vec3.cross(w2, s2))
    v = vec3.sub(v2, v1)
    f, by_x, by_rate, close = _force(model, table[at, KIND], n, x, vec3.dot(e, v))
    o = zero(f)
    f, by_x, by_rate = where(apart, f, close), where(apart, by_x, o), where(apart, by_rate, o)
    pull = vec3.scale(f, e)
    add_spatial(F, b1, vec3.neg(vec3.cross(s1, pull)), vec3.neg(pull))
    add_spatial(F, b2, vec3.cross(s2, pull), pull)
    store3(L, at, _LINE, e)
    store3(L, at, _PLACE, vec3.add(s1, load3(bodies, b1, 0)))
    store3(L, at, _OTHER, vec3.add(s2, load3(bodies, b2, 0)))
    store(L, at, _F, f)
    store(L, at, _OVER, f * over)
    store(L, at, _STIFFER, by_x - f * over)
    if table[at, KIND] == DAMPER:
        store3(L, at, _SPEED, v1)
        store3(L, at, _OTHER_SPEED, v2)
        store3(L, at, _APART, v)
        store(L, at, _PER, over)
        store(L, at, _DRAG, by_rate)


@generic
def _between(k1: Any, k2: Any, one: Any, other: Any) -> Any:
    """The second less the first, of those that are carried."""
    return vec3.sub(vec3.scale(k2, other), vec3.scale(k1, one))


@generic
def _change(table: Any, at: int, L: Any, k1: Any, k2: Any, S: Any, j: int) -> Any:
    """Along column j of *S*, or eight: changes of the forces on both points, and by u of that on the first."""
    e, s1, s2 = load3(L, at, _LINE), load3(L, at, _PLACE), load3(L, at, _OTHER)
    w, t = load3(S, j, 0), load3(S, j, 3)
    r = _between(k1, k2, s1, s2)
    y = vec3.add(vec3.scale(k2 - k1, t), vec3.cross(w, r))
    dx = vec3.dot(e, y)
    harder, by_u = load(L, at, _STIFFER) * dx, 0.0 * dx
    if table[at, KIND] == DAMPER:
        drag, v = load(L, at, _DRAG), load3(L, at, _APART)
        faster = vec3.add(vec3.scale(k2 - k1, load3(S, j, 9)), vec3.cross(load3(S, j, 6), r))
        faster = vec3.add(faster, vec3.cross(w, _between(k1, k2, load3(L, at, _SPEED), load3(L, at, _OTHER_SPEED))))
        turned = load(L, at, _PER) * (vec3.dot(y, v) - dx * vec3.dot(e, v))
        harder, by_u = harder + drag * (turned + vec3.dot(e, faster)), drag * dx
    g = vec3.add_scaled(vec3.scale(load(L, at, _OVER), y), harder, e)
    along = vec3.scale(load(L, at, _F), vec3.cross(w, e))
    return vec3.sub(g, vec3.scale(k1, along)), vec3.sub(vec3.scale(k2, along), g), vec3.scale(by_u, e)


@generic
def push(table: Any, at: int, L: Any, keep: Any, S: Any, j: int, W: Any) -> None:
    """Wrenches of an element along eight columns, added to those of its bodies in *W*: as of `couplings.add`."""
    b1, b2, common = table[at, FIRST], table[at, SECOND], table[at, COMMON]
    k1, k2 = load(keep, b1, j) - load(keep, common, j), load(keep, b2, j) - load(keep, common, j)
    one, other, by_u = _change(table, at, L, k1, k2, S, j)
    _pull(W, b1, 0, load3(L, at, _PLACE), one)
    _pull(W, b2, 0, load3(L, at, _OTHER), other)
    if table[at, KIND] == DAMPER:
        _pull(W, b1, 6, load3(L, at, _PLACE), by_u)
        _pull(W, b2, 6, load3(L, at, _OTHER), vec3.neg(by_u))


@generic
def _pull(W: Any, b: int, first: int, s: Any, f: Any) -> None:
    """A force at s from the base's origin, added to a body's wrench."""
    if b > 0:
        store3(W, b, first, vec3.add(load3(W, b, first), vec3.cross(s, f)))
        store3(W, b, first + 3, vec3.add(load3(W, b, first + 3), f))


@generic
def _subtract(way: Any, first: int, end: int, columns: Any, n: Any, f: Any, D: Any, at: int, c: int) -> None:
    """Column c of rows from *at* on, of mobilities on a way from *first* to before *end*, less what a wrench is along them."""
    for place in range(first, end):
        i = way[place]
        x = vec3.dot(load3(columns, i, 0), n) + vec3.dot(load3(columns, i, 3), f)
        store(D, at + i, c, load(D, at + i, c) - x)


@generic
def take(model: Record, table: Any, at: int, L: Any, way: Any, columns: Any, D: Any) -> None:
    """Subtract an element's terms from *D*, column by column: of lanes, where that is less than `couplings.add` has to do."""
    last = table[at, COMMON]
    s1, s2, common = load3(L, at, _PLACE), load3(L, at, _OTHER), way[last + 1] - way[last]
    first, second = table[at, FIRST], table[at, SECOND]
    end1, end2 = way[first + 1] - common, way[second + 1] - common
    for which in range(2):
        begin, end, k1 = way[first], end1, 1.0
        if which == 1:
            begin, end, k1 = way[second], end2, 0.0
        for place in range(begin, end):
            j = way[place]
            one, other, by_u = _change(table, at, L, k1, 1.0 - k1, columns, j)
            n1, n2 = vec3.cross(s1, one), vec3.cross(s2, other)
            _subtract(way, way[first], end1, columns, n1, one, D, 0, j)
            _subtract(way, way[second], end2, columns, n2, other, D, 0, j)
            _subtract(way, end1, end1 + common, columns, vec3.add(n1, n2), vec3.add(one, other), D, 0, j)
            if table[at, KIND] == DAMPER:
                _subtract(way, way[first], end1, columns, vec3.cross(s1, by_u), by_u, D, model.nu, j)
                by_u = vec3.neg(by_u)
                _subtract(way, way[second], end2, columns, vec3.cross(s2, by_u), by_u, D, model.nu, j)
