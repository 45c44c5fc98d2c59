"""Derivatives of udot by q, in its tangent, and u: -M^-1 times those of inverse dynamics, in O(n^2). Needs accelerations.

A column k of the derivatives of inverse dynamics, see `sweep`, is S_i . X_k for the mobilities i on the
way from Ground to k, and Y_j . z_k for those outboard, with Y_j = (M S_j; B^T S_j) and z_k = (c_k; a_k). So

    M^-1 column k = U_k X_k + W_k z_k        U_k = sum over i on the way of M^-1 e_i S_i^T        6 columns
                                             W_k = sum over j outboard of M^-1 e_j Y_j^T          9, as B^T S needs a_w alone

and U and W follow from the parent's and from the children's by one product more: some 47 multiplications for each number of the
results, where a product with the whole matrix takes 2 n, and the matrix itself 30. Rows of M^-1 are swept by themselves, four
at a time, which share what they load: outward for U, inward for the six columns of W that c needs, and again for the other
three.

A sweep takes mobility after mobility by place, in runs without branches, so that no decision is taken inside a run. A run is so
short, and a block of rows so small, that all which rows of a block look at in one run stays in a processor's first cache. Of a
body's own mobilities, of which a sweep has taken some before the others, the difference is among the entries D that these have
of their own, as are the slopes of forces on single mobilities.

A base with more than one mobility, such as a free body, is a run of its own that is taken as one: U takes all of its mobilities
before its results, and W none, since Ground needs no W. Nothing is then wrong between them, and as U has no other mobilities,
their sigma_ik . F = w_i . (F x v_k), with v_k the linear part of column k at M's origin, is a part of U X_k: they have no D.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import vec3
from ..algebra.eights import put_rows, whole_lines
from ..algebra.memory import load3, load_spatial, store3, store_spatial
from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..force.slopes import ALL_DAMPED, KIND, MOBILITY, subtract_slopes
from ..state.fields import Record
from .sweep import (
    add_to_parent,
    begin,
    columns_by,
    gravity,
    load_spatial_at,
    motion_of,
    no_bends,
    numbers_of,
    own_motion,
    own_rows,
    sums_of,
)

#: Numbers of a mobility in each table, by place: S and X by q and u; c by q and u and M S; a by q and u and B^T S.
NUMBERS_ON_THE_WAY, NUMBERS_OUTBOARD, NUMBERS_OF_TURNS = 18, 18, 9
#: Rows of M^-1 in a sweep, and in a block of results, which holds as many by q and by u and fills whole cache lines of each
#: state; the most places of a run.
ROWS, BLOCK, LONGEST = 4, 8, 18
#: Of a run of places: its first, its end, the numbers of the joints where it begins and ends, -1 for none; 1 if it is taken as
#: one.
_FIRST, _END, _INBOARD, _OUTBOARD, _AS_ONE = range(5)


def runs_of(tree: Any) -> npt.NDArray[np.int64]:
    """The tree's runs of places without branches, by place, a row each; the joints where others begin are numbered."""
    parent, num_u, first_place = tree.fields["parent"], tree.num_u, tree.fields["first_place"]
    nearest = np.zeros(tree.nb, np.int64)  # the next body inboard that has mobilities, or the body itself
    children: list[list[int]] = [[] for _ in range(tree.nb)]
    for b in range(1, tree.nb):
        nearest[b] = b if num_u[b] else nearest[parent[b]]
        if num_u[b]:
            children[nearest[parent[b]]].append(b)
    as_one = [b in children[0] and num_u[b] > 1 for b in range(tree.nb)]
    begins = [b for p in range(tree.nb) if p == 0 or as_one[p] or len(children[p]) > 1 for b in children[p]]
    joints, runs, count = {0: -1}, [], 0
    for b in sorted(begins, key=lambda b: int(first_place[b])):
        last = b
        while len(children[last]) == 1 and not as_one[last]:
            last = children[last][0]
        place, end, joint = first_place[b], first_place[last] + num_u[last], joints[nearest[parent[b]]]
        while end - place > LONGEST or (children[last] and end > place):
            stop = min(place + LONGEST, end)
            runs.append((place, stop, joint, count, as_one[b]))
            place, joint, count = stop, count, count + 1
        joints[last] = joint
        if end > place:
            runs.append((place, end, joint, -1, as_one[b]))
    return np.array(runs, np.int64).reshape(-1, 5)


def own_blocks_of(tree: Any, slopes: npt.NDArray[np.int64], runs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Bodies whose mobilities may have entries of their own: the first, and the end."""
    sloped = {
        b
        for row in slopes
        for b in range(tree.nb)
        if row[KIND] == ALL_DAMPED or 0 <= row[MOBILITY] - tree.first_u[b] < tree.num_u[b]
    }
    as_one = set(runs[runs[:, _AS_ONE] == 1, _FIRST])
    own = {b for b in range(1, tree.nb) if tree.num_u[b] > 1 and tree.fields["first_place"][b] not in as_one}
    bodies = [b for b in range(1, tree.nb) if b in own or (b in sloped and tree.num_u[b])]
    return np.array([(tree.first_u[b], tree.first_u[b] + tree.num_u[b]) for b in bodies], np.int64).reshape(-1, 2)


def scratch_of(tree: Any, runs: npt.NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """The shapes of the tables, D by q and by u, numbers kept at branches, and results."""
    nu = tree.nu
    tables = (nu, NUMBERS_ON_THE_WAY), (nu, NUMBERS_OUTBOARD), (nu, NUMBERS_OF_TURNS)
    return *tables, (nu, nu), (nu, nu), (BLOCK * (2 + int(runs[:, _OUTBOARD].max(initial=-1))), 6), (2 * BLOCK, nu)


@generic
def _store_pair(table: Any, place: int, first: int, pair: Any) -> None:
    store3(table, place, first, pair[0])
    store3(table, place, first + 3, pair[1])


@generic
def _is_as_one(model: Record, b: int) -> bool:
    """True if body b is a run that is taken as one: its parent may be welded to Ground."""
    p = model.parent[b]
    while p > 0 and model.num_u[p] == 0:
        p = model.parent[p]
    return model.num_u[b] > 1 and p == 0


@generic
def _by_own_motion(model: Record, b: int, k: int, force: Any) -> Any:
    """F x v_k of column k: see `own_rows`."""
    w, v = load_spatial(model.H, k)
    return vec3.cross(force, vec3.add(v, vec3.cross(w, load3(model.p_BM_G, b, 0))))


@generic
def _fill_tables(model: Record, b: int, A: Any, udot: Any, g: Any, bodies: Any, way: Any, outboard: Any, turns: Any) -> None:
    """The rows of body b's mobilities. The sums over its subtree are complete."""
    motion, sums, own = motion_of(model, b, A, load3(bodies, b, 0), g), sums_of(bodies, b), own_motion(model, b, udot)
    first, n, as_one = model.first_u[b], model.num_u[b], _is_as_one(model, b)
    for i in range(first, first + n):
        place = model.first_place[b] + n - 1 - (i - first)
        S, a, c, e = numbers_of(model, b, i, motion, own, bodies, no_bends(model))
        by_q, by_u, of_mass, turned = columns_by(sums, S, a, c, e)
        if as_one:
            by_q = vec3.add(by_q[0], _by_own_motion(model, b, i, sums[3][1])), by_q[1]
        _store_pair(way, place, 0, S)
        _store_pair(way, place, 6, by_q)
        _store_pair(way, place, 12, by_u)
        _store_pair(outboard, place, 0, c)
        _store_pair(outboard, place, 6, e)
        _store_pair(outboard, place, 12, of_mass)
        store3(turns, place, 0, a[0])
        store3(turns, place, 3, S[0])
        store3(turns, place, 6, turned)


@generic
def _entries(model: Record, b: int, bodies: Any, way: Any, outboard: Any, turns: Any, Dq: Any, Du: Any) -> None:
    """D of body b's own mobilities."""
    first, n = model.first_u[b], model.num_u[b]
    for i in range(first, first + n):
        for k in range(first, first + n):
            store(Dq, i, k, 0.0)
            store(Du, i, k, 0.0)
    if n > 1 and not _is_as_one(model, b):
        _wrong_entries(model, b, way, outboard, turns, Dq, Du)
        own_rows(model, b, bodies, Dq)


@generic
def _wrong_entries(model: Record, b: int, way: Any, outboard: Any, turns: Any, Dq: Any, Du: Any) -> None:
    """Those of each column's rows that are at later places, for which the sweeps took W for U."""
    first, n = model.first_u[b], model.num_u[b]
    top = model.first_place[b] + n - 1
    for i in range(first, first + n):
        S, y, t = (
            load_spatial(way, top - (i - first)),
            load_spatial_at(outboard, top - (i - first), 12),
            load3(turns, top - (i - first), 6),
        )
        for k in range(i + 1, first + n):
            place = top - (k - first)
            wrong = _times(y, load_spatial(outboard, place)) + vec3.dot(t, load3(turns, place, 0))
            store(Dq, i, k, _times(S, load_spatial_at(way, place, 6)) - wrong)
            wrong = _times(y, load_spatial_at(outboard, place, 6)) + vec3.dot(t, load3(turns, place, 3))
            store(Du, i, k, _times(S, load_spatial_at(way, place, 12)) - wrong)


@generic
def find_parts(model: Record, slopes: Any, bodies: Any, way: Any, outboard: Any, turns: Any, Dq: Any, Du: Any) -> None:
    """The tables of all mobilities, and the entries *Dq* and *Du* of a body's own; the others are not touched.

    Gravity may be an acceleration of Ground's, see `lumped_welds`: then all accelerations are less gravity already.
    """
    g = vec3.add(gravity(model), load3(model.A_GB, 0, 3))
    begin(model, model.A_GB, g, bodies)
    for b in range(model.nb - 1, 0, -1):
        if model.num_u[b] > 0:
            _fill_tables(model, b, model.A_GB, model.u_dot, g, bodies, way, outboard, turns)
            _entries(model, b, bodies, way, outboard, turns, Dq, Du)
        add_to_parent(model, b, bodies)
    subtract_slopes(model, slopes, Dq, Du)


@generic
def _times(U: Any, X: Any) -> Any:
    return vec3.add_dot(vec3.dot(U[0], X[0]), U[1], X[1])


@generic
def _four(rows: Any, at: Any, k: int) -> Any:
    """Number k of four rows."""
    return load(rows, at[0], k), load(rows, at[1], k), load(rows, at[2], k), load(rows, at[3], k)


@generic
def _store_four(rows: Any, at: Any, k: int, x: Any) -> None:
    for i in range(ROWS):
        store(rows, at[i], k, x[i])


@generic
def _plus(U: Any, m: Any, S: Any) -> Any:
    return vec3.add_scaled(U[0], m, S[0]), vec3.add_scaled(U[1], m, S[1])


@generic
def _add_four(U: Any, m: Any, S: Any) -> Any:
    """Four spatial vectors, with four multiples of one added."""
    return _plus(U[0], m[0], S), _plus(U[1], m[1], S), _plus(U[2], m[2], S), _plus(U[3], m[3], S)


@generic
def _nothing(M: Any) -> Any:
    """Four spatial vectors, zero."""
    o = zero(load(M, 0, 0))
    nothing = (o, o, o), (o, o, o)
    return nothing, nothing, nothing, nothing


@generic
def _kept(kept: Any, joint: int, at: Any) -> Any:
    """Spatial vectors of four rows at a joint."""
    i = BLOCK * joint
    return (
        load_spatial(kept, i + at[0]),
        load_spatial(kept, i + at[1]),
        load_spatial(kept, i + at[2]),
        load_spatial(kept, i + at[3]),
    )


@generic
def _keep(kept: Any, joint: int, at: Any, U: Any) -> None:
    for i in range(ROWS):
        store_spatial(kept, BLOCK * joint + at[i], U[i][0], U[i][1])


@generic
def _on_the_way(model: Record, M: Any, rows: Any, at: Any, u: Any, way: Any, run: Any, kept: Any, results: Any) -> None:
    """U X of four *rows* along a run, into the rows *at* of the results by q, *u* by u."""
    U = _nothing(M)
    if run[_INBOARD] >= 0:
        U = _kept(kept, run[_INBOARD], at)
    if run[_AS_ONE] == 1:
        for place in range(run[_FIRST], run[_END]):
            U = _add_four(U, _four(M, rows, model.mobility_at[place]), load_spatial(way, place))
        for place in range(run[_FIRST], run[_END]):
            _put_on_the_way(U, at, u, model.mobility_at[place], way, place, results)
    else:
        for place in range(run[_FIRST], run[_END]):
            k = model.mobility_at[place]
            U = _add_four(U, _four(M, rows, k), load_spatial(way, place))
            _put_on_the_way(U, at, u, k, way, place, results)
    if run[_OUTBOARD] >= 0:
        _keep(kept, run[_OUTBOARD], at, U)


@generic
def _put_on_the_way(U: Any, at: Any, u: Any, k: int, way: Any, place: int, results: Any) -> None:
    """U X of mobility k."""
    X = load_spatial_at(way, place, 6)
    _store_four(results, at, k, (_times(U[0], X), _times(U[1], X), _times(U[2], X), _times(U[3], X)))
    X = load_spatial_at(way, place, 12)
    _store_four(results, u, k, (_times(U[0], X), _times(U[1], X), _times(U[2], X), _times(U[3], X)))


@generic
def _add_own_entries(M: Any, first: int, end: int, blocks: Any, Dq: Any, Du: Any, results: Any) -> None:
    """M^-1 D of bodies' own mobilities, to the results of rows from *first* to *end*."""
    for b in range(blocks.shape[0]):
        for k in range(blocks[b, 0], blocks[b, 1]):
            for j in range(0, end - first, 2):
                j1 = min(j + 1, end - first - 1)
                q, q1 = load(results, j, k), load(results, j1, k)
                u, u1 = load(results, BLOCK + j, k), load(results, BLOCK + j1, k)
                for i in range(blocks[b, 0], blocks[b, 1]):
                    m, m1 = load(M, first + j, i), load(M, first + j1, i)
                    x, y = load(Dq, i, k), load(Du, i, k)
                    q, q1, u, u1 = q + m * x, q1 + m1 * x, u + m * y, u1 + m1 * y
                store(results, j, k, q)
                store(results, j1, k, q1)
                store(results, BLOCK + j, k, u)
                store(results, BLOCK + j1, k, u1)


@generic
def _plus_times(x: Any, W: Any, c: Any) -> Any:
    return _plus_one(x[0], W[0], c), _plus_one(x[1], W[1], c), _plus_one(x[2], W[2], c), _plus_one(x[3], W[3], c)


@generic
def _plus_one(x: Any, W: Any, c: Any) -> Any:
    return vec3.add_dot(vec3.add_dot(x, W[0], c[0]), W[1], c[1])


@generic
def _outboard(model: Record, M: Any, rows: Any, at: Any, u: Any, outboard: Any, run: Any, kept: Any, results: Any) -> None:
    """W c of four rows along a run, added to the results."""
    W, joint = _nothing(M), run[_INBOARD]
    if run[_OUTBOARD] >= 0:
        W = _kept(kept, run[_OUTBOARD], at)
    if run[_AS_ONE] == 1:
        for place in range(run[_FIRST], run[_END]):
            _add_outboard(W, at, u, model.mobility_at[place], outboard, place, results)
    else:
        for place in range(run[_END] - 1, run[_FIRST] - 1, -1):
            k = model.mobility_at[place]
            _add_outboard(W, at, u, k, outboard, place, results)
            W = _add_four(W, _four(M, rows, k), load_spatial_at(outboard, place, 12))
    if joint >= 0:
        others = _kept(kept, joint, at)
        for i in range(ROWS):
            store_spatial(kept, BLOCK * joint + at[i], vec3.add(others[i][0], W[i][0]), vec3.add(others[i][1], W[i][1]))


@generic
def _add_outboard(W: Any, at: Any, u: Any, k: int, outboard: Any, place: int, results: Any) -> None:
    """W c of mobility k, added."""
    _store_four(results, at, k, _plus_times(_four(results, at, k), W, load_spatial(outboard, place)))
    _store_four(results, u, k, _plus_times(_four(results, u, k), W, load_spatial_at(outboard, place, 6)))


@generic
def _minus_turned(x: Any, T: Any, a: Any) -> Any:
    return _minus_one(x[0], T[0], a), _minus_one(x[1], T[1], a), _minus_one(x[2], T[2], a), _minus_one(x[3], T[3], a)


@generic
def _minus_one(x: Any, T: Any, a: Any) -> Any:
    return -vec3.add_dot(x, T, a)


@generic
def _subtract_turned(T: Any, at: Any, u: Any, k: int, turns: Any, place: int, results: Any) -> None:
    """Minus the sum of what is there and W a of mobility k."""
    _store_four(results, at, k, _minus_turned(_four(results, at, k), T, load3(turns, place, 0)))
    _store_four(results, u, k, _minus_turned(_four(results, u, k), T, load3(turns, place, 3)))


@generic
def _turned(model: Record, M: Any, rows: Any, at: Any, u: Any, turns: Any, run: Any, kept: Any, results: Any) -> None:
    """W a of four rows along a run: minus the sum of all is the results."""
    o = zero(load(M, 0, 0))
    nothing = o, o, o
    T, begin, end = (nothing, nothing, nothing, nothing), BLOCK * run[_INBOARD], BLOCK * run[_OUTBOARD]
    if end >= 0:
        T = _kept_turned(kept, end, at)
    if run[_AS_ONE] == 1:
        for place in range(run[_FIRST], run[_END]):
            _subtract_turned(T, at, u, model.mobility_at[place], turns, place, results)
    else:
        for place in range(run[_END] - 1, run[_FIRST] - 1, -1):
            k = model.mobility_at[place]
            _subtract_turned(T, at, u, k, turns, place, results)
            T = _add_four_turned(T, _four(M, rows, k), load3(turns, place, 6))
    if begin >= 0:
        others = _kept_turned(kept, begin, at)  # all before the first is written: a row may be there more than once
        for i in range(ROWS):
            store3(kept, begin + at[i], 0, vec3.add(others[i], T[i]))


@generic
def _kept_turned(kept: Any, first: int, at: Any) -> Any:
    x, y = load3(kept, first + at[0], 0), load3(kept, first + at[1], 0)
    return x, y, load3(kept, first + at[2], 0), load3(kept, first + at[3], 0)


@generic
def _add_four_turned(T: Any, m: Any, t: Any) -> Any:
    x, y = vec3.add_scaled(T[0], m[0], t), vec3.add_scaled(T[1], m[1], t)
    return x, y, vec3.add_scaled(T[2], m[2], t), vec3.add_scaled(T[3], m[3], t)


@generic
def _clear(kept: Any) -> None:
    o = zero(load(kept, 0, 0))
    nothing = o, o, o
    for row in range(kept.shape[0]):
        store_spatial(kept, row, nothing, nothing)


# fmt: off
@generic
def put_derivatives(
    model: Record, M: Any, way: Any, outboard: Any, turns: Any, Dq: Any, Du: Any, blocks: Any, runs: Any, kept: Any, results:
    Any, first: int, out: Any,
) -> None:
    # fmt: on
    """Both derivatives, one below the other, of eight states into the rows of *out* from *first* on.

    Parameters
    ----------
    M
        The inverse of the mass matrix.
    way, outboard, turns, Dq, Du
        What `find_parts` found.
    blocks, runs
        Of `own_blocks_of` and `runs_of`.
    kept, results
        Scratch, see `scratch_of`.
    """
    n, m = model.nu, runs.shape[0]
    for j in range(0, n, BLOCK):
        end = min(j + BLOCK, n)
        for r in range(m):
            for i in range(j, end, ROWS):
                rows, at, u = _rows_of(i, j, end)
                _on_the_way(model, M, rows, at, u, way, runs[r], kept, results)
        _add_own_entries(M, j, end, blocks, Dq, Du, results)
        _clear(kept)
        for r in range(m - 1, -1, -1):
            for i in range(j, end, ROWS):
                rows, at, u = _rows_of(i, j, end)
                _outboard(model, M, rows, at, u, outboard, runs[r], kept, results)
        _clear(kept)
        for r in range(m - 1, -1, -1):
            for i in range(j, end, ROWS):
                rows, at, u = _rows_of(i, j, end)
                _turned(model, M, rows, at, u, turns, runs[r], kept, results)
        put_rows(results, 0, end - j, out, first, j * n)
        put_rows(results, BLOCK, end - j, out, first, whole_lines(n * n) + j * n)


@generic
def _rows_of(i: int, first: int, end: int) -> Any:
    """Four rows from i on, the last more than once if there are fewer; where their results are, by q and by u."""
    i1, i2, i3 = min(i + 1, end - 1), min(i + 2, end - 1), min(i + 3, end - 1)
    at, at1, at2, at3 = i - first, i1 - first, i2 - first, i3 - first
    return (i, i1, i2, i3), (at, at1, at2, at3), (BLOCK + at, BLOCK + at1, BLOCK + at2, BLOCK + at3)
