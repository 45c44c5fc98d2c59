"""Derivatives of forces along a line between two points, in closed form, by the columns that carry one of these.

    f e on the first point, -f e on the second     e = r / x,  f(x, x')     g = d(f e) = e (f_x dx + f_v dx') + f de

The rigid sweep has carried forces along with their bodies. That is right of columns that carry both points: x and x' stay.
Where one point is carried along, by turns w, what acts on it is g - f w x e more, or f w x e - g, and on the other g, or -g.
Of lanes it is column by column; of one state eight columns at a time.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load3, load_spatial
from ..algebra.scalar import load, one, sqrt, store, where, zero
from ..compiling import apart, generic
from ..force import two_point_constant_force, two_point_linear_damper, two_point_linear_spring
from ..force.pools import number
from ..force.two_points import OWN, arms, square
from ..state.fields import Record

#: Columns of the table of elements: kind, first integer and number, and how many mobilities carry both bodies.
KIND, INTEGERS, NUMBERS, COMMON = range(4)
SPRING, DAMPER, CONSTANT = range(3)
KINDS = {two_point_linear_spring.run: SPRING, two_point_linear_damper.run: DAMPER, two_point_constant_force.run: CONSTANT}


@generic
def _force(model: Record, kind: int, n: int, x: Any, rate: Any) -> Any:
    """f, f_x, f_v."""
    a = number(model, n + OWN)
    o = zero(x)
    f, by_x, by_rate = -a + o, o, o
    if kind == SPRING:
        f, by_x = a * (x - number(model, n + OWN + 1)), a + o
    elif kind == DAMPER:
        f, by_rate = a * rate, a + o
    return f, by_x, by_rate


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
    f, by_x, by_rate = _force(model, table[at, KIND], n, x, vec3.dot(e, v))
    o = zero(f)
    f, by_x, by_rate = where(apart, f, o), where(apart, by_x, o), where(apart, by_rate, o)
    pull = vec3.scale(f, e)
    add_spatial(F, b1, vec3.neg(vec3.cross(s1, pull)), vec3.neg(pull))
    add_spatial(F, b2, vec3.cross(s2, pull), pull)
    s1, s2 = vec3.add(s1, load3(bodies, b1, 0)), vec3.add(s2, load3(bodies, b2, 0))
    return b1, b2, (f, by_x, by_rate), (e, over, v), (s1, v1), (s2, v2)


@generic
def _change(law: Any, line: Any, first: Any, second: Any, k1: Any, k2: Any, column: Any) -> Any:
    """Changes of both wrenches, about the base's origin, by q, and of f by u. k is 1 where that body alone is carried along."""
    (f, by_x, by_rate), (e, over, v), (s1, v1), (s2, v2) = law, line, first, second
    w, t, aw, av = column
    y = vec3.sub(
        vec3.scale(k2, vec3.add(t, vec3.cross(w, s2))),
        vec3.scale(k1, vec3.add(t, vec3.cross(w, s1))),
    )
    dv = vec3.sub(
        vec3.scale(k2, vec3.add(vec3.cross(w, v2), vec3.add(av, vec3.cross(aw, s2)))),
        vec3.scale(k1, vec3.add(vec3.cross(w, v1), vec3.add(av, vec3.cross(aw, s1)))),
    )
    dx = vec3.dot(e, y)
    de = vec3.scale(over, vec3.sub(y, vec3.scale(dx, e)))
    df = by_x * dx + by_rate * (vec3.dot(de, v) + vec3.dot(e, dv))
    g = vec3.add(vec3.scale(df, e), vec3.scale(f, de))
    turned = vec3.scale(f, vec3.cross(w, e))
    g1, g2 = vec3.sub(g, vec3.scale(k1, turned)), vec3.sub(vec3.scale(k2, turned), g)
    return (vec3.cross(s1, g1), g1), (vec3.cross(s2, g2), g2), by_rate * dx


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
    b1: int,
    b2: int,
    common: int,
    line: Any,
    s1: Any,
    s2: Any,
    damped: bool,
    columns: Any,
    change: Any,
    D: Any,
    c: int,
) -> None:
    """Column c of the residual's derivatives, less what an element's force changes by."""
    W1, W2, harder = change
    end1, end2 = way[b1 + 1], way[b2 + 1]
    _subtract(way, way[b1], end1 - common, columns, W1, D, 0, c)
    _subtract(way, way[b2], end2 - common, columns, W2, D, 0, c)
    both = vec3.add(W1[0], W2[0]), vec3.add(W1[1], W2[1])
    _subtract(way, end1 - common, end1, columns, both, D, 0, c)
    if damped:
        g1 = vec3.scale(harder, line[0])
        g2 = vec3.neg(g1)
        _subtract(way, way[b1], end1 - common, columns, (vec3.cross(s1, g1), g1), D, model.nu, c)
        _subtract(way, way[b2], end2 - common, columns, (vec3.cross(s2, g2), g2), D, model.nu, c)


@apart
def add(model: Record, table: Any, way: Any, bodies: Any, columns: Any, F: Any, D: Any) -> None:
    """Subtract all elements' terms from *D*, column by column."""
    for at in range(table.shape[0]):
        b1, b2, law, line, first, second = _settle(model, table, at, bodies, F)
        common, damped = table[at, COMMON], table[at, KIND] == DAMPER
        for side in range(2):
            b = b1 if side == 0 else b2
            k2 = zero(law[0]) + 1.0 * side
            k1 = one(k2) - k2
            for place in range(way[b], way[b + 1] - common):
                j = way[place]
                column = load3(columns, j, 0), load3(columns, j, 3), load3(columns, j, 6), load3(columns, j, 9)
                change = _change(law, line, first, second, k1, k2, column)
                _take(model, way, b1, b2, common, line, first[0], second[0], damped, columns, change, D, j)


@apart
def add_eights(
    model: Record, table: Any, way: Any, bodies: Any, columns: Any, carried: Any, flat: Any, S: Any, F: Any, D: Any
) -> None:
    """The same of one state, eight columns a number; *carried*, *flat* and *S* as of `couplings.add`."""
    carries, keep = carried
    for i in range(model.nu):
        for k in range(12):
            flat[k, i] = columns[i, k]
    for at in range(table.shape[0]):
        b1, b2, law, line, first, second = _settle(model, table, at, bodies, F)
        common, damped = table[at, COMMON], table[at, KIND] == DAMPER
        for c in range(S.shape[1]):
            if carries[b1, c] + carries[b2, c] > 0:
                k1, k2 = load(keep, b1, c), load(keep, b2, c)
                k1, k2 = k1 * (1.0 - k2), k2 * (1.0 - k1)
                column = _column(S, 0, c), _column(S, 3, c), _column(S, 6, c), _column(S, 9, c)
                change = _change(law, line, first, second, k1, k2, column)
                _take(model, way, b1, b2, common, line, first[0], second[0], damped, columns, change, D, c)


@generic
def _column(S: Any, k: int, c: int) -> Any:
    return load(S, k, c), load(S, k + 1, c), load(S, k + 2, c)
