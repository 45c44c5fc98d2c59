"""Derivatives of udot by q, in its tangent, and u: -M^-1 times those of inverse dynamics, in O(n^2). Needs accelerations.

A column k of the derivatives of inverse dynamics, see `inverse_dynamics_derivatives`, is S_i . X_k for the mobilities i on the
way from Ground to k, and Y_j . z_k for those outboard, with Y_j = (M S_j; B^T S_j) and z_k = (c_k; a_k). So

    M^-1 column k = U_k X_k + W_k z_k        U_k = sum over i on the way of M^-1 e_i S_i^T        6 columns
                                             W_k = sum over j outboard of M^-1 e_j Y_j^T          9, as B^T S needs a_w alone

and U and W follow from the parent's and from the children's by one product more: some 47 multiplications for each number of the
results, where a product with the whole matrix takes 2 n, and the matrix itself 30. Rows of M^-1 are swept by themselves, two at
a time, which share what they load. Beyond that a body's own mobilities, and the forces on them, have entries of their own.
"""

from typing import Any

import numpy as np

from ..algebra import vec3
from ..algebra.memory import load3, load_spatial, store3, store_spatial
from ..algebra.scalar import load, scatter, store, zero
from ..compiling import generic
from ..force._slopes import subtract_slopes
from ..state.fields import Record
from .inverse_dynamics_derivatives import (
    BY_Q,
    BY_U,
    COLUMN_B,
    COLUMN_M,
    COLUMN_Q,
    COLUMN_U,
    SPEED,
    columns_inward,
    load_spatial_at,
    own_rows,
)

#: Numbers of W that are kept of one row where the tree branches, and of a mobility's results: by q and u, of two rows.
NUMBERS_KEPT, NUMBERS_OF_RESULTS = 9, 4


def branches_of(parents: Any) -> Any:
    """Of each body its number among those with two children or more, else -1; the parents as of the tree, Ground first."""
    children = np.bincount(np.asarray(parents[1:], np.int64), minlength=len(parents))
    several = children > 1
    several[0] = False  # Ground keeps nothing
    return np.where(several, np.cumsum(several) - 1, -1)


@generic
def find_parts(model: Record, slopes: Any, bodies: Any, speeds: Any, columns: Any, Dq: Any, Du: Any) -> None:
    """S, X, Y, z of all mobilities, and the entries of *Dq* and *Du* of a body's own mobilities; the others are not touched."""
    columns_inward(model, model.A_GB, model.u_dot, bodies, speeds, columns)
    for b in range(1, model.nb):
        first, end = model.first_u[b], model.first_u[b] + model.num_u[b]
        for i in range(first, end):
            for k in range(first, end):
                store(Dq, i, k, 0.0)
            store(Du, i, i, 0.0)
        if end > first + 1:
            own_rows(model, b, bodies, Dq)
    subtract_slopes(model, slopes, Dq, Du)


@generic
def _plus(U: Any, m: Any, S: Any) -> Any:
    return vec3.add_scaled(U[0], m, S[0]), vec3.add_scaled(U[1], m, S[1])


@generic
def _times(U: Any, X: Any) -> Any:
    return vec3.dot(U[0], X[0]) + vec3.dot(U[1], X[1])


@generic
def _on_the_way(
    model: Record, M: Any, j: int, j1: int, speeds: Any, columns: Any, Dq: Any, Du: Any, branch: Any, kept: Any, results: Any
) -> None:
    """U X of rows j and j1, and what own entries add, into the results by place."""
    o = zero(load(M, 0, 0))
    nothing = (o, o, o), (o, o, o)
    U, V, before = nothing, nothing, 0
    for at in range(1, model.nb):
        b = model.depth_first[at]
        p, first, n, start = model.parent[b], model.first_u[b], model.num_u[b], model.first_place[b]
        if p == 0:
            U, V = nothing, nothing
        elif p != before:
            row = 2 * branch[p]
            U, V = load_spatial(kept, row), load_spatial(kept, row + 1)
        for i in range(first, first + n):
            S = load_spatial(speeds, i)
            U, V = _plus(U, load(M, i, j), S), _plus(V, load(M, i, j1), S)
        for place in range(start, start + n):
            k = model.mobility_at[place]
            X = load_spatial_at(columns, place, COLUMN_Q)
            x, y = _times(U, X), _times(V, X)
            for i in range(first, first + n):
                d = load(Dq, i, k)
                x, y = x + load(M, i, j) * d, y + load(M, i, j1) * d
            store(results, place, 0, x)
            store(results, place, 1, y)
            X, d = load_spatial_at(columns, place, COLUMN_U), load(Du, k, k)
            store(results, place, 2, _times(U, X) + load(M, k, j) * d)
            store(results, place, 3, _times(V, X) + load(M, k, j1) * d)
        if branch[b] >= 0:
            row = 2 * branch[b]
            store_spatial(kept, row, U[0], U[1])
            store_spatial(kept, row + 1, V[0], V[1])
        before = b


@generic
def _load_kept(kept: Any, row: int) -> Any:
    return load_spatial(kept, row), load3(kept, row, 6)


@generic
def _add_kept(W: Any, kept: Any, row: int) -> Any:
    (ww, wv), t = W
    (w, v), more = _load_kept(kept, row)
    return (vec3.add(ww, w), vec3.add(wv, v)), vec3.add(t, more)


@generic
def _keep(kept: Any, row: int, W: Any) -> None:
    (w, v), t = W
    store_spatial(kept, row, w, v)
    store3(kept, row, 6, t)


@generic
def _times_z(W: Any, c: Any, a: Any) -> Any:
    w, t = W
    return _times(w, c) + vec3.dot(t, a)


@generic
def _plus_y(W: Any, m: Any, y: Any, t: Any) -> Any:
    return _plus(W[0], m, y), vec3.add_scaled(W[1], m, t)


@generic
def _outboard(model: Record, M: Any, j: int, j1: int, speeds: Any, columns: Any, branch: Any, kept: Any, results: Any) -> None:
    """W z of rows j and j1, added to the results."""
    o = zero(load(M, 0, 0))
    nothing = ((o, o, o), (o, o, o)), (o, o, o)
    W, T = nothing, nothing
    for row in range(kept.shape[0]):
        _keep(kept, row, nothing)
    for at in range(model.nb - 1, 0, -1):
        b = model.depth_first[at]
        p, start, end = model.parent[b], model.first_place[b], model.first_place[b] + model.num_u[b]
        if model.has_children[b] == 0:
            W, T = nothing, nothing
        elif branch[b] >= 0:  # beside the first child's, which have just been found
            W, T = _add_kept(W, kept, 2 * branch[b]), _add_kept(T, kept, 2 * branch[b] + 1)
        for place in range(start, end):
            k = model.mobility_at[place]
            c, a = load_spatial_at(speeds, k, BY_Q), load3(speeds, k, SPEED)
            store(results, place, 0, load(results, place, 0) + _times_z(W, c, a))
            store(results, place, 1, load(results, place, 1) + _times_z(T, c, a))
            c, a = load_spatial_at(speeds, k, BY_U), load3(speeds, k, 0)
            store(results, place, 2, load(results, place, 2) + _times_z(W, c, a))
            store(results, place, 3, load(results, place, 3) + _times_z(T, c, a))
        for place in range(start, end):
            i = model.mobility_at[place]
            y, t = load_spatial_at(columns, place, COLUMN_M), load3(columns, place, COLUMN_B)
            W, T = _plus_y(W, load(M, i, j), y, t), _plus_y(T, load(M, i, j1), y, t)
        if p > 0 and model.depth_first[at - 1] != p:
            row = 2 * branch[p]
            _keep(kept, row, _add_kept(W, kept, row))
            _keep(kept, row + 1, _add_kept(T, kept, row + 1))


@generic
def put_derivatives(
    model: Record,
    M: Any,
    speeds: Any,
    columns: Any,
    Dq: Any,
    Du: Any,
    branch: Any,
    kept: Any,
    results: Any,
    first: int,
    out: Any,
) -> None:
    """Both derivatives, one below the other, of eight states into the rows of *out* from *first* on.

    Parameters
    ----------
    M
        The inverse of the mass matrix.
    speeds, columns, Dq, Du
        What `find_parts` found.
    branch
        Of `branches_of`.
    kept, results
        Scratch: two rows of `NUMBERS_KEPT` a branch, and `NUMBERS_OF_RESULTS` a mobility.
    """
    n = model.nu
    for j in range(0, n, 2):
        j1 = min(j + 1, n - 1)
        _on_the_way(model, M, j, j1, speeds, columns, Dq, Du, branch, kept, results)
        _outboard(model, M, j, j1, speeds, columns, branch, kept, results)
        # row by row: memory that is written here and there takes three times as long
        for r, row in enumerate((j, j1, n + j, n + j1)):
            for place in range(n):
                scatter(out, first, row * n + model.mobility_at[place], -load(results, place, r))
