"""Derivatives of accelerations from those of residual and errors, of one state or of eight in lanes.

    d(udot) = udot_R - P lambda    udot_R = -M^-1 d(residual)    lambda = (G P)^+ (G udot_R + d(errors))    P = M^-1 G^T

and where motions prescribe d(udot), udot_R = that - M^-1 (d(residual) + M that). The pseudoinverse depends on q, too: redundant
equations that contradict each other have errors e left, and add W^+ P^T d(G^T e) to d(errors), W = G P, see `equations`.

Of one state, columns are eight in a vector, and factors on the left are numbers; of lanes all are lanes.
"""

from typing import Any

from ..algebra.scalar import absolute, load, maximum, store, where, zero
from ..compiling import generic
from ..state.fields import Record
from ..tree import constraint_operators, constraints
from .residual import clear

#: Columns of a product that are taken at once, packed: they stay in a processor's first cache.
PACKED = 8
#: Errors of accelerations, by the largest number that they are the sum of, up to which equations do not contradict each other.
LEAST_ERROR = 1e-10


@generic
def add_products(A: Any, n: int, B: Any, m: int, begin: int, end: int, factor: float, out: Any, at: int, pack: Any) -> None:
    """*factor* A B, added to *out* from column *at* on: n rows of m columns, m rows of columns from *begin* to before *end*.

    *pack* is scratch, PACKED columns.
    """
    for first in range(begin, end, PACKED):
        width, to = min(PACKED, end - first), at + first - begin
        for k in range(m):
            for j in range(width):
                store(pack, k, j, load(B, k, first + j))
        for i in range(0, n, 4):
            i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            for j in range(0, width, 2):
                j1 = min(j + 1, width - 1)
                o = zero(load(pack, 0, 0))
                x0, x1, x2, x3, y0, y1, y2, y3 = o, o, o, o, o, o, o, o
                for k in range(m):
                    b, c = load(pack, k, j), load(pack, k, j1)
                    a0, a1, a2, a3 = load(A, i, k), load(A, i1, k), load(A, i2, k), load(A, i3, k)
                    x0, x1, x2, x3 = x0 + a0 * b, x1 + a1 * b, x2 + a2 * b, x3 + a3 * b
                    y0, y1, y2, y3 = y0 + a0 * c, y1 + a1 * c, y2 + a2 * c, y3 + a3 * c
                for r, x in enumerate((x0, x1, x2, x3)):
                    if i + r < n:
                        store(out, i + r, to + j, load(out, i + r, to + j) + factor * x)
                if j1 > j:
                    for r, y in enumerate((y0, y1, y2, y3)):
                        if i + r < n:
                            store(out, i + r, to + j1, load(out, i + r, to + j1) + factor * y)


@generic
def multiply(M_inv: Any, n: int, R: Any, groups: Any, rows: Any, D: Any, at: int, pack: Any) -> None:
    """-M^-1 R of both halves of *R*, by q and below that by u, side by side in *D*: those by u from column *at* on.

    *groups* and *rows* say what of *R* may differ from zero, see `pattern`; *pack* is scratch, two columns for each of a group.
    """
    for g in range(groups.shape[0]):
        first, end, begin = groups[g, 0], groups[g, 1], groups[g, 2]
        m = groups[g, 3] - begin
        for k in range(m):
            r = rows[begin + k]
            for j in range(first, end):
                store(pack, k, 2 * (j - first), load(R, r, j))
                store(pack, k, 2 * (j - first) + 1, load(R, n + r, j))
        for i in range(0, n, 4):
            i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            for j in range(first, end):
                o, c = zero(load(pack, 0, 0)), 2 * (j - first)
                x0, x1, x2, x3, y0, y1, y2, y3 = o, o, o, o, o, o, o, o
                for k in range(m):
                    r = rows[begin + k]
                    x, y = load(pack, k, c), load(pack, k, c + 1)
                    a0, a1, a2, a3 = load(M_inv, i, r), load(M_inv, i1, r), load(M_inv, i2, r), load(M_inv, i3, r)
                    x0, x1, x2, x3 = x0 - a0 * x, x1 - a1 * x, x2 - a2 * x, x3 - a3 * x
                    y0, y1, y2, y3 = y0 - a0 * y, y1 - a1 * y, y2 - a2 * y, y3 - a3 * y
                store(D, i, j, x0)
                store(D, i1, j, x1)
                store(D, i2, j, x2)
                store(D, i3, j, x3)
                store(D, i, at + j, y0)
                store(D, i1, at + j, y1)
                store(D, i2, at + j, y2)
                store(D, i3, at + j, y3)


@generic
def add_given(M: Any, n: int, driven: Any, K: Any, first: int, end: int, R: Any) -> None:
    """M times udot that motions prescribe, columns of *K* from *first* to before *end*, added to residuals *R*."""
    for i in range(n):
        for d in range(driven.shape[0]):
            m = load(M, i, driven[d])
            for j in range(first, end):
                store(R, i, j - first, load(R, i, j - first) + m * load(K, driven[d], j))


@generic
def put_given(driven: Any, K: Any, end: int, D: Any) -> None:
    """Columns of *K* to before *end*, which motions prescribe of the mobilities *driven*, added to *D*."""
    for d in range(driven.shape[0]):
        for j in range(end):
            store(D, driven[d], j, load(D, driven[d], j) + load(K, driven[d], j))


# fmt: off
@generic
def constrain(
    model: Record, row_of: Any, errors: Any, E: Any, start: int, end: int, G: Any, rows_of_g: Any, P: Any, W: Any, L: Any,
    D: Any, pack: Any,
) -> None:
    # fmt: on
    """The part of multipliers, added to *D*, whose columns from *start* on are M^-1.

    Parameters
    ----------
    row_of
        Of each equation its row of *errors*, or -1.
    errors, E
        Errors by two names, a column at a time and eight; zero behind *start*.
    start, end
        A column of *errors*; how many columns *E* and *D* have.
    G, rows_of_g, P, W, L, pack
        Scratch.
    """
    n, m = model.nu, W.shape[0]
    o = zero(load(model.time, 0, 0))
    clear(G, o)
    constraint_operators.calc_g(model, G)
    for r in range(model.num_rows):
        if row_of[r] >= 0:
            for i in range(n):
                store(rows_of_g, row_of[r], i, load(G, r, i))
    add_products(rows_of_g, m, D, n, 0, end, 1.0, E, 0, pack)  # G udot_R + errors, then G M^-1
    for k in range(m):
        for i in range(n):
            store(P, i, k, load(errors, k, start + i))
    clear(W, o)
    constraint_operators.put_inverse_of_gram(model, row_of, W)
    clear(L, zero(load(L, 0, 0)))
    add_products(W, m, E, m, 0, end, 1.0, L, 0, pack)
    add_products(P, n, L, m, 0, end, -1.0, D, 0, pack)


@generic
def contradict(model: Record, A: Any, u_dot: Any) -> Any:
    """1 where equations, some redundant, leave errors of accelerations; else 0. Needs the factor of the Gram matrix."""
    o = zero(load(model.time, 0, 0))
    dropped, error, largest = o, o, o
    for i in range(model.nu):
        largest = maximum(largest, absolute(load(u_dot, i, 0)))
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            for k in range(constraints.num_rows(model, c)):
                r = model.first_row[c] + k
                offset = load(model.acceleration_offset, r, 0)
                error = maximum(error, absolute(constraints.row_times(model, c, k, A, u_dot) + offset))
                largest = maximum(largest, absolute(offset))
                dropped = where(load(model.gram_inverse, model.row_place[r], 0) > 0.0, dropped, o + 1.0)
    return where(error > LEAST_ERROR * largest, dropped, o)
