"""The residual's part of bodies' K and D, see `local`: sums over subtrees, beside the rigid sweep.

    by q   - S_i . (K S_j + D a_j)        by u   - S_i . D S_j        K and D summed over the bodies that both i and j carry

The rigid sweep carries applied forces F along with the bodies. They do not follow: minus e x* F belongs to K of a body. That is
all there is of constant forces. Where contact couples two bodies, the block counts as one body's for columns inboard of both;
what is left are pairs of which one is on a branch of its own. What else couples bodies is in `couplings`.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load3, load_spatial
from ..algebra.scalar import load, store
from ..compiling import apart, generic
from ..force.pools import number, numbers3
from ..state.fields import Record
from .local import OF_WRENCH
from .sweep import gravity_on, load_spatial_at, subtract, times_columns

#: Numbers of a mobility: K S + D a, D S, K^T S, D^T S; four results.
_BY_Q, _BY_U, _BACK, _BACK_BY_U, _RESULT, NUMBERS_OF_STIFFNESS = 0, 6, 12, 18, 24, 28
#: Where D is in a block.
DAMPING = 36


@generic
def _add(C: Any, b: int, k: int, x: Any) -> None:
    store(C, b, k, load(C, b, k) + x)


@generic
def follow(acted: Any, F: Any, bodies: Any, C: Any) -> None:
    """Minus e x* F of every body acted on, whose turns alone matter: torques and forces keep their directions."""
    for at in range(acted.shape[0]):
        b = acted[at]
        n, f = load_spatial(F, b)
        _add_turned(C, b, vec3.neg(n), vec3.neg(f), load3(bodies, b, 0))


@generic
def _add_turned(C: Any, b: int, n: Any, f: Any, r: Any) -> None:
    """(n; f), at r from the base's origin, turned about three axes e: (e x n + r x (e x f); e x f)."""
    (nx, ny, nz), (fx, fy, fz) = n, f
    o = 0.0 * nx
    turned = ((o, -nz, ny), (nz, o, -nx), (-ny, nx, o)), ((o, -fz, fy), (fz, o, -fx), (-fy, fx, o))
    for d in range(3):
        en, ef = turned[0][d], turned[1][d]
        t = vec3.add(en, vec3.cross(r, ef))
        for i in range(3):
            _add(C, b, 6 * i + d, t[i])
            _add(C, b, 6 * (3 + i) + d, ef[i])


@generic
def hang(model: Record, weighs: bool, acting: Any, F: Any, bodies: Any, C: Any) -> None:
    """The same of weights, which act at mass centers, taken out of F: gravity's if it *weighs*, and what holds bodies up."""
    acted, hung = acting[2], acting[4]
    for at in range(acted.shape[0] if weighs else 0):
        b = acted[at]
        _hang(model, b, vec3.scale(load(model.mass, b, 0), gravity_on(model, b)), F, bodies, C)
    for at in range(hung.shape[0]):
        i, x = hung[at, 0], hung[at, 1]
        g = numbers3(model, x)
        for k in range(model.force_integers[i]):
            b = model.force_integers[i + 1 + k]
            if b > 0:
                part = -number(model, x + 3 + k) * load(model.mass, b, 0)
                _hang(model, b, vec3.scale(part, g), F, bodies, C)


@generic
def _hang(model: Record, b: int, f: Any, F: Any, bodies: Any, C: Any) -> None:
    c, f = load3(model.com_G, b, 0), vec3.neg(f)
    add_spatial(F, b, vec3.cross(c, f), f)
    o = 0.0 * f[0]
    _add_turned(C, b, (o, o, o), f, vec3.add(load3(bodies, b, 0), c))


@generic
def times(C: Any, b: int, first: int, v: Any) -> Any:
    """A matrix times a spatial vector, angular and linear."""
    return _products(C, b, first, 6, 1, v)


@generic
def _transpose_times(C: Any, b: int, first: int, v: Any) -> Any:
    """Its transpose times a spatial vector."""
    return _products(C, b, first, 1, 6, v)


@generic
def _products(C: Any, b: int, first: int, down: int, on: int, v: Any) -> Any:
    """Six products of numbers *on* from each other, each *down* from the one before."""
    return _three(C, b, first, down, on, v), _three(C, b, first + 3 * down, down, on, v)


@generic
def _three(C: Any, b: int, k: int, down: int, on: int, v: Any) -> Any:
    return _product(C, b, k, on, v), _product(C, b, k + down, on, v), _product(C, b, k + 2 * down, on, v)


@generic
def _product(C: Any, b: int, k: int, on: int, v: Any) -> Any:
    (x, y, z), (s, t, u) = v
    total = load(C, b, k) * x + load(C, b, k + on) * y + load(C, b, k + 2 * on) * z
    return total + (load(C, b, k + 3 * on) * s + load(C, b, k + 4 * on) * t + load(C, b, k + 5 * on) * u)


@generic
def plus(a: Any, b: Any) -> Any:
    """The sum of two spatial vectors."""
    return vec3.add(a[0], b[0]), vec3.add(a[1], b[1])


@generic
def _take(D: Any, i: int, j: int, x: Any) -> None:
    store(D, i, j, load(D, i, j) - x)


@generic
def complete(C: Any, block: int, back: int, a: int, bodies: Any, damped: bool) -> None:
    """Forces between bodies a and b of one base, of which b has moved: *block*, dF_a = K_ab e_b + D_ab v_b.

    Together they carry their wrenches F_b = -F_a along, so that K_ba = K_ab - (x* F_a), which becomes block *back*, and K_aa is
    minus that, but for what turns F_a only.
    """
    n, f = load3(C, block, OF_WRENCH), load3(C, block, OF_WRENCH + 3)
    for k in range(72 if damped else 36):
        x = load(C, block, k)
        store(C, back, k, x)
        _add(C, a, k, -x)
    r = load3(bodies, a, 0)
    _add_turned(C, a, vec3.sub(n, vec3.cross(r, f)), f, r)
    o = 0.0 * f[0]
    _add_turned(C, back, vec3.neg(n), vec3.neg(f), (o, o, o))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        _add(C, back, 6 * i + 3 + j, -f[k])
        _add(C, back, 6 * i + 3 + k, f[j])


@generic
def add_common(C: Any, block: int, c: int, damped: bool) -> None:
    """A block between two bodies to that of the last body on the way to both."""
    if c > 0:
        for n in range(72 if damped else 36):
            _add(C, c, n, load(C, block, n))


@generic
def _keep(flat: Any, place: int, shift: int, first: int, v: Any) -> None:
    """A spatial vector of a mobility by its place, one of ``1 << shift`` side by side."""
    row, column = place >> shift, place & ((1 << shift) - 1)
    for k in range(3):
        store(flat, row, ((first + k) << shift) + column, v[0][k])
        store(flat, row, ((first + 3 + k) << shift) + column, v[1][k])


@generic
def _results(wide: Any, j: int, S: Any, a: Any, damped: bool) -> Any:
    """Of a mobility and one that it carries, number *j*: as of `sweep._results`."""
    x, back = times_columns(wide, j, _BY_Q, S), times_columns(wide, j, _BACK, S)
    y = z = 0.0 * x
    if damped:
        y, z = times_columns(wide, j, _BY_U, S), times_columns(wide, j, _BACK_BY_U, S)
        back = back + times_columns(wide, j, _BACK_BY_U, a)
    return x, y, back, z


@generic
def _take_results(D: Any, nu: int, i: int, k: int, is_outboard: bool, damped: bool, x: Any) -> None:
    """Results of mobilities i and k, subtracted in rows and columns of both matrices."""
    _take(D, i, k, x[0])
    if is_outboard:
        _take(D, k, i, x[2])
    if damped:
        _take(D, nu + i, k, x[1])
        if is_outboard:
            _take(D, nu + k, i, x[3])


@generic
def _take_row(model: Record, places: Any, b: int, i: int, flat: Any, S: Any, a: Any, damped: bool, D: Any) -> None:
    """Results of mobility i of body b with the body's own and those outboard, of lanes; none at places that are 0."""
    own = model.first_place[b] + model.num_u[b]
    for place in range(model.first_place[b], model.end_place[b]):
        if places[place] != 0:
            x = _results(flat, place, S, a, damped)
            _take_results(D, model.nu, i, model.mobility_at[place], place >= own, damped, x)


# fmt: off
@generic
def _take_eights(
    model: Record, places: Any, b: int, i: int, flat: Any, wide: Any, S: Any, a: Any, damped: bool, D: Any
) -> None:
    # fmt: on
    """The same of one state, eight mobilities by place at once."""
    start, end = model.first_place[b], model.end_place[b]
    for j in range(start >> 3, ((end - 1) >> 3) + 1):
        for k, x in enumerate(_results(wide, j, S, a, damped)):
            store(wide, j, _RESULT + k, x)
    for place in range(start, end):
        if places[place] != 0:
            row, at = place >> 3, 8 * _RESULT + (place & 7)
            x = load(flat, row, at), load(flat, row, at + 8), load(flat, row, at + 16), load(flat, row, at + 24)
            _take_results(D, model.nu, i, model.mobility_at[place], place >= start + model.num_u[b], damped, x)


@generic
def sweep(model: Record, acting: Any, columns: Any, C: Any, damped: bool, flat: Any, wide: Any, shift: int, D: Any) -> None:
    """Subtract what blocks of single bodies are from the residual's derivatives; the blocks become sums over subtrees.

    *acting* are the bodies that have blocks, with all inboard of them, and 1 at their mobilities' places, see `plan`;
    *columns* are S, a, c by q, c by u of each mobility; *flat* and *wide* scratch by two names, ``1 << shift``
    mobilities a row.
    """
    acted, places = acting
    for at in range(acted.shape[0] - 1, -1, -1):
        b = acted[at]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            place = model.first_place[b] + model.num_u[b] - 1 - (i - model.first_u[b])
            S, a = load_spatial_at(columns, i, 0), load_spatial_at(columns, i, 6)
            by_q = times(C, b, 0, S)
            _keep(flat, place, shift, _BACK, _transpose_times(C, b, 0, S))
            if damped:
                by_q = plus(by_q, times(C, b, DAMPING, a))
                _keep(flat, place, shift, _BY_U, times(C, b, DAMPING, S))
                _keep(flat, place, shift, _BACK_BY_U, _transpose_times(C, b, DAMPING, S))
            _keep(flat, place, shift, _BY_Q, by_q)
        p = model.parent[b]
        if p > 0:
            for n in range(72 if damped else 36):
                _add(C, p, n, load(C, b, n))
    for at in range(acted.shape[0] - 1, -1, -1):
        b = acted[at]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            S, a = load_spatial_at(columns, i, 0), load_spatial_at(columns, i, 6)
            if shift == 0:
                _take_row(model, places, b, i, flat, S, a, damped, D)
            else:
                _take_eights(model, places, b, i, flat, wide, S, a, damped, D)


@apart
def cross(model: Record, way: Any, C: Any, block: int, a: int, b: int, c: int, columns: Any, damped: bool, D: Any) -> None:
    """The block of wrenches on body a by the motion of body b, where a mobility carries but one of both.

    *way* has for each body where the mobilities on the way to it are listed behind, from the body inward: those that carry c,
    the last body on the way to both, come last.
    """
    nu, common = model.nu, way[c + 1] - way[c]
    first_a, end_a, first_b, end_b = way[a], way[a + 1], way[b], way[b + 1]
    for at in range(first_b, end_b - common):
        j = way[at]
        S = load_spatial_at(columns, j, 0)
        by_q = times(C, block, 0, S)
        if damped:
            by_q = plus(by_q, times(C, block, DAMPING, load_spatial_at(columns, j, 6)))
            subtract(way, first_a, end_a, columns, times(C, block, DAMPING, S), D, nu, j)
        subtract(way, first_a, end_a, columns, by_q, D, 0, j)
    for at in range(first_a, end_a - common):
        i = way[at]
        S = load_spatial_at(columns, i, 0)
        by_q = _transpose_times(C, block, 0, S)
        if damped:
            by_u = _transpose_times(C, block, DAMPING, S)
            for other in range(end_b - common, end_b):
                j = way[other]
                _take(D, i, j, times_columns(columns, j, 6, by_u))
                _take(D, nu + i, j, times_columns(columns, j, 0, by_u))
        for other in range(end_b - common, end_b):
            j = way[other]
            _take(D, i, j, times_columns(columns, j, 0, by_q))
