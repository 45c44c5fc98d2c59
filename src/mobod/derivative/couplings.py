"""Couplings of pairs of bodies: a column, or eight of one state, at a time.

Forces on body a change by w = K e + D v as body b moves by e and v, see `local`. All columns that carry b push a. Where forces
are between both and depend on their relative motion alone, columns that carry both change nothing beyond what the rigid sweep
has carried along, and those that carry one,

    w on a    e x* F_a - w on b        e, v of b relative to a

What reads the last body on the way to both, such as a constraint's Ancestor, changes with the motion relative to that of a and
of b, each by itself: e and v are then of columns that carry b but not that body, and likewise the other way round.

Forces along lines and paths of spans are in closed form, see `lines`. The wrenches of a column are added up inward, over bodies
that have some. It takes time by itself, and little for each pair.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load3
from ..algebra.scalar import load, store
from ..compiling import apart, generic
from ..state.fields import Record
from . import bushings, lines
from .lines import add_wrench, clear_wrenches
from .local import BOTH, OF_WRENCH, ONE
from .stiffness import DAMPING, plus, times
from .sweep import cross_force, load_spatial_at, subtract, times_columns

#: Columns of the table of crossings.
PUSHED, MOVED, COMMON, DAMPED, BETWEEN = range(5)
#: Numbers of a body's wrenches, by q and by u; of a mobility's columns, S and a.
NUMBERS_OF_WRENCHES = NUMBERS_OF_MOTION = 12


@generic
def _take_out(crossings: Any, k: int, block: int, bodies: Any, C: Any, F: Any) -> None:
    """The pair's wrenches, out of those that are taken back as they do not follow their bodies: these do."""
    n, f = load_spatial_at(C, block, OF_WRENCH)
    a, b = crossings[k, PUSHED], crossings[k, MOVED]
    at_a = vec3.sub(n, vec3.cross(load3(bodies, a, 0), f))
    add_spatial(F, a, vec3.neg(at_a), vec3.neg(f))
    add_spatial(F, b, vec3.sub(n, vec3.cross(load3(bodies, b, 0), f)), f)


@generic
def _is_moved(crossings: Any, k: int, carries: Any, j: int) -> bool:
    """True if column j changes forces of a pair."""
    count, common = carries[crossings[k, MOVED], j], carries[crossings[k, COMMON], j]
    if crossings[k, BETWEEN] == BOTH:
        count += carries[crossings[k, PUSHED], j] - common
    if crossings[k, BETWEEN] != 0:
        count -= common
    return count > 0


@generic
def _wrenches(C: Any, block: int, damped: bool, e: Any, v: Any) -> Any:
    """Changes of the wrench on the body that is pushed by the other one's motion, by q and by u."""
    w = times(C, block, 0, e)
    by_u = vec3.scale(0.0, e[0]), vec3.scale(0.0, e[1])
    if damped:
        w, by_u = plus(w, times(C, block, DAMPING, v)), times(C, block, DAMPING, e)
    return w, by_u


@generic
def _turned(C: Any, block: int, e: Any) -> Any:
    """The sum of the changes of both wrenches of a pair: that on the body that is pushed, turned."""
    of_a, force = load_spatial_at(C, block, OF_WRENCH)
    return cross_force(e[0], e[1], of_a, force)


@generic
def _push(C: Any, block: int, crossings: Any, k: int, keep: Any, S: Any, j: int, W: Any) -> None:
    """Wrenches of a pair, added to those of its bodies."""
    a, b, between, damped = crossings[k, PUSHED], crossings[k, MOVED], crossings[k, BETWEEN] != 0, crossings[k, DAMPED] == 1
    m = load(keep, b, j)
    if between:
        m = m - load(keep, a if crossings[k, BETWEEN] == BOTH else crossings[k, COMMON], j)
    e = vec3.scale(m, load3(S, j, 0)), vec3.scale(m, load3(S, j, 3))
    v = vec3.scale(m, load3(S, j, 6)), vec3.scale(m, load3(S, j, 9))
    (n, f), (by_u_n, by_u_f) = _wrenches(C, block, damped, e, v)
    add_wrench(W, a, 0, n, f)
    if damped:
        add_wrench(W, a, 6, by_u_n, by_u_f)
    if between:
        turned_n, turned_f = _turned(C, block, e)
        add_wrench(W, b, 0, vec3.sub(turned_n, n), vec3.sub(turned_f, f))
        if damped:
            add_wrench(W, b, 6, vec3.neg(by_u_n), vec3.neg(by_u_f))


@generic
def _gather(model: Record, coupled: Any, columns: Any, damped: bool, W: Any, D: Any, j: int) -> None:
    """Minus S_i times wrenches, which are added up inward, to column j of the residual's derivatives. None are left."""
    for at in range(coupled.shape[0] - 1, -1, -1):
        b = coupled[at]
        p = model.parent[b]
        for half in range(2 if damped else 1):
            v = load_spatial_at(W, b, 6 * half)
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                row = half * model.nu + i
                store(D, row, j, load(D, row, j) - times_columns(columns, i, 0, v))
            if p > 0:
                add_wrench(W, p, 6 * half, *v)
        clear_wrenches(W, b, damped)


@generic
def _take(nu: int, C: Any, block: int, crossings: Any, k: int, way: Any, columns: Any, D: Any) -> None:
    """As `_push` and `_gather`, of a pair by itself: of lanes, whose numbers then need no memory."""
    a, b, between, damped = crossings[k, PUSHED], crossings[k, MOVED], crossings[k, BETWEEN], crossings[k, DAMPED] == 1
    c = crossings[k, COMMON] if between != 0 else 0
    common = way[c + 1] - way[c]
    end_a, end_b = way[a + 1] - common, way[b + 1] - common
    for which in range(2 if between == BOTH else 1):
        first, end, m = way[b], end_b, 1.0
        if which == 1:
            first, end, m = way[a], end_a, -1.0
        for place in range(first, end):
            j = way[place]
            e = vec3.scale(m, load3(columns, j, 0)), vec3.scale(m, load3(columns, j, 3))
            v = vec3.scale(m, load3(columns, j, 6)), vec3.scale(m, load3(columns, j, 9))
            by_q, by_u = _wrenches(C, block, damped, e, v)
            subtract(way, way[a], end_a, columns, by_q, D, 0, j)
            if damped:
                subtract(way, way[a], end_a, columns, by_u, D, nu, j)
            if between != 0:
                turned = _turned(C, block, e)
                subtract(way, way[b], end_b, columns, (vec3.sub(turned[0], by_q[0]), vec3.sub(turned[1], by_q[1])), D, 0, j)
                subtract(way, end_b, end_b + common, columns, turned, D, 0, j)
                if damped:
                    subtract(way, way[b], end_b, columns, (vec3.neg(by_u[0]), vec3.neg(by_u[1])), D, nu, j)


# fmt: off
@apart
def add(
    model: Record, C: Any, plan: Any, way: Any, bodies: Any, columns: Any, keep: Any, scratch: Any, F: Any, D: Any, T: Any
) -> None:
    # fmt: on
    """Subtract what acts between bodies, or along lines, from the residual's derivatives, and those by z and time: of lanes.

    Parameters
    ----------
    plan
        Crossings, the bodies of all with all inboard of them, tables of what acts along lines, bushings, and constraints that
        `points_and_axes` has found: see `plan`.
    way
        Of each body where the mobilities on the way to it are listed behind.
    columns
        S and a of each mobility, with others.
    keep
        1 where a column carries a body, else 0.
    scratch
        Numbers of lines, and wrenches of bodies.
    F
        Wrenches that the sweep has carried, of which `stiffness.follow` takes back what is left.
    """
    (crossings, _, elements, spans, reached, closed, _), (L, W) = plan, scratch
    if closed.shape[0] > 0:
        bushings.settle(model, closed, bodies, C)
    for k in range(crossings.shape[0]):
        if _is_carried(crossings, k):
            _take_out(crossings, k, model.nb + k, bodies, C, F)
        _take(model.nu, C, model.nb + k, crossings, k, way, columns, D)
    if elements.shape[0] > 0:
        lines.settle(model, elements, spans, reached, way, bodies, columns, L, F, T)
        lines.take(model.nu, elements, spans, reached, L, way, columns, keep, W, D)


@generic
def _is_carried(crossings: Any, k: int) -> bool:
    """True if the sweep carries a pair's forces along, once."""
    between = crossings[k, BETWEEN]
    return between == BOTH or (between == ONE and crossings[k, PUSHED] < crossings[k, MOVED])


# fmt: off
@apart
def add_to_one(
    model: Record, C: Any, plan: Any, way: Any, bodies: Any, columns: Any, carried: Any, S: Any, scratch: Any, F: Any, D: Any,
    T: Any,
) -> None:
    # fmt: on
    """The same of one state, eight columns at once, as *S* and *D* are; *carried* is also how many of these carry a body."""
    (crossings, coupled, elements, spans, reached, closed, _), (carries, keep), (L, W) = plan, carried, scratch
    if closed.shape[0] > 0:
        bushings.settle(model, closed, bodies, C)
    damped = False
    for k in range(crossings.shape[0]):
        damped = damped or crossings[k, DAMPED] == 1
        if _is_carried(crossings, k):
            _take_out(crossings, k, model.nb + k, bodies, C, F)
    if elements.shape[0] > 0:
        lines.settle(model, elements, spans, reached, way, bodies, columns, L, F, T)
    for k in range(elements.shape[0]):
        damped = damped or lines.is_fast(elements[k, lines.KIND])
    for at in range(coupled.shape[0]):
        clear_wrenches(W, coupled[at], damped)
    for j in range(S.shape[0] if coupled.shape[0] > 0 else 0):
        moved = False
        for k in range(elements.shape[0]):
            if lines.is_moved(elements, k, reached, carries, j):
                lines.push(elements, k, spans, reached, L, keep, S, j, W)
                moved = True
        for k in range(crossings.shape[0]):
            if _is_moved(crossings, k, carries, j):
                _push(C, model.nb + k, crossings, k, keep, S, j, W)
                moved = True
        if moved:
            _gather(model, coupled, columns, damped, W, D, j)
