"""Derivatives of forces along a line between two points, in closed form, by the columns that carry one of these.

    f e on the first point, -f e on the second     e = r / x,  f(x, x')     g = d(f e) = e (f_x dx + f_v dx') + f de

The rigid sweep has carried forces along with their bodies. That is right of columns that carry both points: x and x' stay.
Where one point is carried along, by turns w, what acts on it is g - f w x e more, or f w x e - g, and on the other g, or -g.
Of lanes it is column by column; of one state eight columns at a time.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load3, load_spatial
from ..algebra.scalar import load, sqrt, store, where, zero
from ..compiling import apart, generic
from ..force.pools import number
from ..force.two_point_constant_force import TwoPointConstantForce
from ..force.two_point_linear_damper import TwoPointLinearDamper
from ..force.two_point_linear_spring import TwoPointLinearSpring
from ..force.two_points import OWN, arms, square
from ..state.fields import Record

#: Columns of the table of elements: kind, first integer and number, and the last body on the way to both.
KIND, INTEGERS, NUMBERS, COMMON = range(4)
SPRING, DAMPER, CONSTANT = range(3)
KINDS = {TwoPointLinearSpring.routine: SPRING, TwoPointLinearDamper.routine: DAMPER, TwoPointConstantForce.routine: CONSTANT}


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
def _settle(model: Record, table: Any, at: int, bodies: Any, F: Any) -> Any:
    """An element's force with its slopes; e, 1 / x and the points' velocity apart; of both points place and velocity.

    Places are from the base's origin. Wrenches in *F* are taken back as they do not follow: those of the element are taken out.
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
    s1, s2 = vec3.add(s1, load3(bodies, b1, 0)), vec3.add(s2, load3(bodies, b2, 0))
    return b1, b2, (f, by_x, by_rate), (e, over, v), (s1, v1), (s2, v2)


@generic
def _change(law: Any, line: Any, here: Any, there: Any, sign: float, damped: bool, column: Any) -> Any:
    """Changes of wrenches about the base's origin, of the body that is carried along and of the other; by q and by u.

    *here* is the point that moves, *sign* 1 if it is the second.
    """
    (f, by_x, by_rate), (e, over, v), (s, vs) = law, line, here
    w, t, aw, av = column
    y = vec3.add(t, vec3.cross(w, s))
    dx = vec3.dot(e, y)
    de = vec3.scale(over, vec3.sub(y, vec3.scale(dx, e)))
    df = by_x * dx
    if damped:
        dv = vec3.add(vec3.cross(w, vs), vec3.add(av, vec3.cross(aw, s)))
        df = df + by_rate * (vec3.dot(de, v) + vec3.dot(e, dv))
    g = vec3.add(vec3.scale(df, e), vec3.scale(f, de))
    moved = vec3.sub(vec3.scale(sign * f, vec3.cross(w, e)), g)
    return _at(s, moved), _at(there[0], g), by_rate * dx


@generic
def _at(s: Any, f: Any) -> Any:
    return vec3.cross(s, f), f


@generic
def _subtract(way: Any, first: int, end: int, columns: Any, W: Any, D: Any, at: int, c: int) -> None:
    """Column c of rows from *at* on, of mobilities on a way from *first* to before *end*, less what a wrench is along them."""
    (n0, n1, n2), (f0, f1, f2) = W
    for place in range(first, end):
        i = way[place]
        x = load(columns, i, 0) * n0 + load(columns, i, 1) * n1 + load(columns, i, 2) * n2
        x = x + load(columns, i, 3) * f0 + load(columns, i, 4) * f1 + load(columns, i, 5) * f2
        store(D, at + i, c, load(D, at + i, c) - x)


@generic
def _take(
    model: Record,
    way: Any,
    b: int,
    other: int,
    common: int,
    e: Any,
    here: Any,
    there: Any,
    damped: bool,
    columns: Any,
    change: Any,
    D: Any,
    c: int,
) -> None:
    """Column c of the residual's derivatives, less what an element's forces change by: first that on the body that moves."""
    W, W_other, harder = change
    end, end_other = way[b + 1] - common, way[other + 1] - common
    _subtract(way, way[b], end, columns, W, D, 0, c)
    _subtract(way, way[other], end_other, columns, W_other, D, 0, c)
    _subtract(way, end, end + common, columns, (vec3.add(W[0], W_other[0]), vec3.add(W[1], W_other[1])), D, 0, c)
    if damped:
        g = vec3.scale(harder, e)
        _subtract(way, way[b], end, columns, _at(here[0], vec3.neg(g)), D, model.nu, c)
        _subtract(way, way[other], end_other, columns, _at(there[0], g), D, model.nu, c)


@apart
def add(model: Record, table: Any, way: Any, bodies: Any, columns: Any, F: Any, D: Any) -> None:
    """Subtract all elements' terms from *D*, column by column."""
    for at in range(table.shape[0]):
        b, other, law, line, here, there = _settle(model, table, at, bodies, F)
        last, damped, sign = table[at, COMMON], table[at, KIND] == DAMPER, -1.0
        common = way[last + 1] - way[last]
        for _ in range(2):
            for place in range(way[b], way[b + 1] - common):
                j = way[place]
                column = load3(columns, j, 0), load3(columns, j, 3), load3(columns, j, 6), load3(columns, j, 9)
                change = _change(law, line, here, there, sign, damped, column)
                _take(model, way, b, other, common, line[0], here, there, damped, columns, change, D, j)
            b, other, here, there, sign = other, b, there, here, 1.0


@apart
def add_eights(model: Record, table: Any, way: Any, bodies: Any, columns: Any, carried: Any, S: Any, F: Any, D: Any) -> None:
    """The same of one state, eight columns a number; *carried* and *S* as of `couplings.add`."""
    carries, keep = carried
    for at in range(table.shape[0]):
        b, other, law, line, here, there = _settle(model, table, at, bodies, F)
        last, damped, sign = table[at, COMMON], table[at, KIND] == DAMPER, -1.0
        common = way[last + 1] - way[last]
        for _ in range(2):
            for c in range(S.shape[0]):
                if carries[b, c] > carries[last, c]:
                    k = load(keep, b, c) - load(keep, last, c)
                    column = _column(S, 0, k, c), _column(S, 3, k, c), _column(S, 6, k, c), _column(S, 9, k, c)
                    change = _change(law, line, here, there, sign, damped, column)
                    _take(model, way, b, other, common, line[0], here, there, damped, columns, change, D, c)
            b, other, here, there, sign = other, b, there, here, 1.0


@generic
def _column(S: Any, first: int, k: Any, c: int) -> Any:
    return vec3.scale(k, load3(S, c, first))
