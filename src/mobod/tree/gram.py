"""Least squares with a Gram matrix W = E D E^T, some of whose rows may say the same: the multipliers of constraints.

    W = L L^T, row by row; a row of which (nearly) nothing is left beside those before it adds no column to L
    no row dropped      lambda = L^-T L^-1 r
    otherwise           L = Q R by Gram and Schmidt; lambda = Q R^-T R^-1 Q^T r

which is W^+ r: the least squares solution of the smallest norm, so that redundant constraints share the load. No pivoting,
so that lanes, whose rows may be dropped in different states, go the same way; a semidefinite matrix needs none.
Source: Golub and Van Loan 2013, sections 4.2.8 and 5.5; Higham 2002, section 10.3.
"""

from typing import Any

from .._jit import generic
from ..algebra.scalar import any_not_finite, load, sqrt, store, where, zero

#: A row is redundant when this part of its square, or less, is not that of rows before it: an angle of 3e-6.
REDUNDANT = 1e-11
#: It moves nothing when its square is this part, or less, of what it would be if no products cancelled.
IDLE = 1e-20


@generic
def factor(model: Any, first: int, m: int, rows: int) -> Any:
    """W, the lower half of m x m numbers of `gram` from *first* on, becomes L. How many rows were dropped, as a number.

    `gram_inverse` from *rows* on gets 1 / L_jj, or zero. On entry it holds what W_jj would be if no products cancelled; where
    that is below zero, the row is left out and not counted.
    """
    dropped = zero(load(model.time, 0, 0))
    for j in range(m):
        square = load(model.gram, first + j * m + j, 0)
        scale = load(model.gram_inverse, rows + j, 0)
        rest = square
        for k in range(j):
            x = load(model.gram, first + j * m + k, 0)
            rest = rest - x * x
        least = where(IDLE * scale > REDUNDANT * square, IDLE * scale, REDUNDANT * square)
        inverse = where(rest > least, 1.0 / sqrt(where(rest > least, rest, 1.0 + zero(rest))), zero(rest))
        dropped = dropped + where(inverse > 0.0, zero(rest), where(scale < 0.0, zero(rest), 1.0 + zero(rest)))
        store(model.gram_inverse, rows + j, 0, inverse)
        store(model.gram, first + j * m + j, 0, rest * inverse)
        for i in range(j + 1, m):
            x = load(model.gram, first + i * m + j, 0)
            for k in range(j):
                x = x - load(model.gram, first + i * m + k, 0) * load(model.gram, first + j * m + k, 0)
            store(model.gram, first + i * m + j, 0, x * inverse)
    return dropped


@generic
def solve(model: Any, first: int, m: int, rows: int, x: Any, dropped: Any) -> None:
    """x[rows:] becomes W^+ x[rows:]; W was made into L by `factor`, which gave *dropped*."""
    # any lane that has dropped a row sends all lanes the long way, which is right for those that have not, too
    if any_not_finite(where(dropped > 0.0, 1e308 + zero(dropped), zero(dropped)) * 1e308):
        _orthogonalize(model, first, m)
        _solve_redundant(model, first, m, rows, x)
        return
    for j in range(m):
        total = load(x, rows + j, 0)
        for k in range(j):
            total = total - load(model.gram, first + j * m + k, 0) * load(x, rows + k, 0)
        store(x, rows + j, 0, total * load(model.gram_inverse, rows + j, 0))
    for j in range(m - 1, -1, -1):
        total = load(x, rows + j, 0)
        for k in range(j + 1, m):
            total = total - load(model.gram, first + k * m + j, 0) * load(x, rows + k, 0)
        store(x, rows + j, 0, total * load(model.gram_inverse, rows + j, 0))


@generic
def _orthogonalize(model: Any, first: int, m: int) -> None:
    """L becomes Q, whole columns, and `gram_upper` gets R; columns of zeros stay such, with zeros in R.

    Twice over, since one pass leaves columns only as orthogonal as L is well conditioned.
    """
    for j in range(m):
        for i in range(j):
            store(model.gram, first + i * m + j, 0, zero(load(model.time, 0, 0)))
        for k in range(j):
            store(model.gram_upper, first + k * m + j, 0, zero(load(model.time, 0, 0)))
        for _ in range(2):
            for k in range(j):
                dot = zero(load(model.time, 0, 0))
                for i in range(m):
                    dot = dot + load(model.gram, first + i * m + k, 0) * load(model.gram, first + i * m + j, 0)
                for i in range(m):
                    y = load(model.gram, first + i * m + j, 0) - dot * load(model.gram, first + i * m + k, 0)
                    store(model.gram, first + i * m + j, 0, y)
                store(model.gram_upper, first + k * m + j, 0, load(model.gram_upper, first + k * m + j, 0) + dot)
        square = zero(load(model.time, 0, 0))
        for i in range(m):
            y = load(model.gram, first + i * m + j, 0)
            square = square + y * y
        inverse = where(square > 0.0, 1.0 / sqrt(where(square > 0.0, square, 1.0 + zero(square))), zero(square))
        for i in range(m):
            store(model.gram, first + i * m + j, 0, load(model.gram, first + i * m + j, 0) * inverse)
        store(model.gram_upper, first + j * m + j, 0, inverse)  # 1 / R_jj: that is what is needed of it


@generic
def _solve_redundant(model: Any, first: int, m: int, rows: int, x: Any) -> None:
    """x = Q R^-T R^-1 Q^T x."""
    for j in range(m):
        dot = zero(load(model.time, 0, 0))
        for i in range(m):
            dot = dot + load(model.gram, first + i * m + j, 0) * load(x, rows + i, 0)
        store(model.gram_work, j, 0, dot)
    for j in range(m - 1, -1, -1):
        total = load(model.gram_work, j, 0)
        for k in range(j + 1, m):
            total = total - load(model.gram_upper, first + j * m + k, 0) * load(model.gram_work, k, 0)
        store(model.gram_work, j, 0, total * load(model.gram_upper, first + j * m + j, 0))
    for j in range(m):
        total = load(model.gram_work, j, 0)
        for k in range(j):
            total = total - load(model.gram_upper, first + k * m + j, 0) * load(model.gram_work, k, 0)
        store(model.gram_work, j, 0, total * load(model.gram_upper, first + j * m + j, 0))
    for i in range(m):
        total = zero(load(model.time, 0, 0))
        for j in range(m):
            total = total + load(model.gram, first + i * m + j, 0) * load(model.gram_work, j, 0)
        store(x, rows + i, 0, total)
