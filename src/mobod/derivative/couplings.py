"""Couplings of many pairs of bodies, of one state: eight columns at a time, see `stiffness`.

    D = -J^T (sum over blocks of K_ab J_b)     J_b has the columns of the mobilities that carry body b

The sums, six rows a body, are added up inward, as wrenches are. It takes time by itself, and little for each block.
"""

from typing import Any

from ..algebra.scalar import load, store
from ..compiling import apart, generic
from ..state.fields import Record
from . import stiffness

#: Blocks from which on this takes less time than one by one.
MANY = 12
_D = 36


@generic
def _push(C: Any, block: int, a: int, b: int, damped: bool, carries: Any, keep: Any, S: Any, W: Any) -> None:
    """A block times the columns that carry body b, added to the rows of body a: by q, and below all of these by u."""
    half = W.shape[0] // 2
    for j in range(S.shape[1]):
        if carries[b, j] == 0:
            continue
        m = load(keep, b, j)
        s0, s1, s2 = m * load(S, 0, j), m * load(S, 1, j), m * load(S, 2, j)
        s3, s4, s5 = m * load(S, 3, j), m * load(S, 4, j), m * load(S, 5, j)
        a0, a1, a2 = m * load(S, 6, j), m * load(S, 7, j), m * load(S, 8, j)
        a3, a4, a5 = m * load(S, 9, j), m * load(S, 10, j), m * load(S, 11, j)
        for i in range(6):
            k, row = 6 * i, 6 * a + i
            w = load(W, row, j) + load(C, block, k) * s0 + load(C, block, k + 1) * s1 + load(C, block, k + 2) * s2
            w = w + load(C, block, k + 3) * s3 + load(C, block, k + 4) * s4 + load(C, block, k + 5) * s5
            if damped:
                k += _D
                d0, d1, d2 = load(C, block, k), load(C, block, k + 1), load(C, block, k + 2)
                d3, d4, d5 = load(C, block, k + 3), load(C, block, k + 4), load(C, block, k + 5)
                w = w + d0 * a0 + d1 * a1 + d2 * a2 + d3 * a3 + d4 * a4 + d5 * a5
                by_u = load(W, half + row, j) + d0 * s0 + d1 * s1 + d2 * s2 + d3 * s3 + d4 * s4 + d5 * s5
                store(W, half + row, j, by_u)
            store(W, row, j, w)


@generic
def _gather(model: Record, first: int, columns: Any, W: Any, D: Any, at: int) -> None:
    """Minus S_i times the sums of rows from *first* on, which are added up inward, to rows from *at* on of *D*."""
    for b in range(model.nb - 1, 0, -1):
        row, above = first + 6 * b, first + 6 * model.parent[b]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            s0, s1, s2 = load(columns, i, 0), load(columns, i, 1), load(columns, i, 2)
            s3, s4, s5 = load(columns, i, 3), load(columns, i, 4), load(columns, i, 5)
            for j in range(W.shape[1]):
                x = s0 * load(W, row, j) + s1 * load(W, row + 1, j) + s2 * load(W, row + 2, j)
                x = x + s3 * load(W, row + 3, j) + s4 * load(W, row + 4, j) + s5 * load(W, row + 5, j)
                store(D, at + i, j, load(D, at + i, j) - x)
        for k in range(6):
            for j in range(W.shape[1]):
                store(W, above + k, j, load(W, above + k, j) + load(W, row + k, j))


@apart
def add(
    model: Record, C: Any, crossings: Any, bodies: Any, columns: Any, carried: Any, flat: Any, scratch: Any, D: Any
) -> None:
    """Subtract what blocks between two bodies are from the residual's derivatives, *D*, eight columns a number.

    *carried* says how many columns of each number of a row carry a body, and 1 in these columns; *columns* are S and a of each
    mobility, with others; *flat* and *scratch* room for S and a, by two names, and for the sums.
    """
    carries, keep = carried
    S, W = scratch
    back, damps = C.shape[0] - 1, False
    for i in range(model.nu):
        for k in range(12):
            flat[k, i] = columns[i, k]
    W[:] = 0.0
    for k in range(crossings.shape[0]):
        block, a, b, damped = model.nb + k, crossings[k, 0], crossings[k, 1], crossings[k, 3] != 0
        damps = damps or damped
        if crossings[k, 4] == 1:
            stiffness.complete(C, block, back, a, bodies, damped)
            _push(C, back, b, a, damped, carries, keep, S, W)
        _push(C, block, a, b, damped, carries, keep, S, W)
    _gather(model, 0, columns, W, D, 0)
    if damps:
        _gather(model, W.shape[0] // 2, columns, W, D, model.nu)
