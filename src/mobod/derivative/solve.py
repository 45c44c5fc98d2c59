"""Derivatives of accelerations from those of residual and errors, of one state or of eight in lanes.

    d(udot) = -M^ d(residual) - Q d(errors)     P = M^-1 G^T   Q = P (G P)^+   M^ = M^-1 - Q P^T

and where motions prescribe d(udot) = K, M K is added to the residual's, G K to the errors', and K in the end: their rows and
columns of M^-1 are zero. The pseudoinverse depends on q, too: redundant equations that contradict each other have errors e
left, and add W^+ P^T d(G^T e) to d(errors), W = G P, see `equations`.

Of one state, columns are eight in a vector, and factors on the left are numbers; of lanes all are lanes.
"""

from typing import Any

from ..algebra.scalar import absolute, load, maximum, store, where, zero
from ..compiling import apart, generic
from ..force.contact.at_once import some_touch
from ..state.fields import Record
from ..tree import constraint_operators, constraints
from .residual import clear

#: The most columns of a product that are taken at once, by q and u: they stay in a processor's first cache.
PACKED = 16
#: Errors of accelerations, by the largest number that they are the sum of, up to which equations do not contradict each other.
LEAST_ERROR = 1e-10


# fmt: off
@apart
def put_products(
    M_inv: Any, n: int, Q: Any, m: int, E: Any, start: int, R: Any, below: int, groups: Any, rows: Any, picked: Any, pack: Any,
    D: Any,
) -> None:
    # fmt: on
    """`_put` of one half."""
    _put(M_inv, n, Q, m, E, start, R, below, 1, groups, rows, picked, True, pack, D)


# fmt: off
@apart
def put_both_products(
    M_inv: Any, n: int, Q: Any, m: int, E: Any, R: Any, groups: Any, rows: Any, picked: Any, picks: bool, pack: Any, D: Any
) -> None:
    # fmt: on
    """`_put` of both halves at once."""
    _put(M_inv, n, Q, m, E, 0, R, 0, 2, groups, rows, picked, picks, pack, D)


# fmt: off
@generic
def _put(
    M_inv: Any, n: int, Q: Any, m: int, E: Any, start: int, R: Any, below: int, halves: int, groups: Any, rows: Any, picked:
    Any, picks: bool, pack: Any, D: Any,
) -> None:
    # fmt: on
    """-M^ R - Q E into rows of *D* from *below* on, as those of *R* are; *E*, of *m* rows, from column *start* on.

    Of two *halves* the second, by u, has its rows of R and D below those of the first, and its columns of E a D's width behind.
    *groups* and *rows* say what of *R* may differ from zero, see `pattern`; if it *picks*, rows that are zero are passed over.
    *picked* and *pack* are scratch, a number and columns of a group of both halves a row.
    """
    for g in range(groups.shape[0]):
        first, width, count = groups[g, 0], (groups[g, 1] - groups[g, 0]) * halves, 0
        for k in range(groups[g, 2], groups[g, 3]):
            size = zero(load(pack, 0, 0))
            for j in range(width):
                x = load(R, below + n * (j % halves) + rows[k], first + j // halves)
                store(pack, count, j, x)
                size = size + absolute(x)
            if not picks or some_touch(size):
                picked[count] = rows[k]
                count += 1
        for k in range(m):
            for j in range(width):
                store(pack, count + k, j, load(E, k, start + D.shape[1] * (j % halves) + first + j // halves))
        for i in range(0, n, 4):
            at = i, min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            for j in range(0, width - 1, 2):
                x, y = _two(M_inv, Q, m, at, picked, count, pack, j)
                _put_four(D, below + n * (j % halves), at, first + j // halves, x)
                _put_four(D, below + n * ((j + 1) % halves), at, first + (j + 1) // halves, y)
            if width % 2 == 1:
                _put_four(D, below, at, first + width - 1, _one(M_inv, Q, m, at, picked, count, pack, width - 1))


@generic
def _put_four(D: Any, below: int, at: Any, j: int, x: Any) -> None:
    for r in range(4):
        store(D, below + at[r], j, x[r])


@generic
def _two(M: Any, Q: Any, m: int, at: Any, picked: Any, count: int, pack: Any, j: int) -> Any:
    """Four rows of two columns of the product."""
    o, (i, i1, i2, i3) = zero(load(pack, 0, 0)), at
    x0, x1, x2, x3, y0, y1, y2, y3 = o, o, o, o, o, o, o, o
    for k in range(count):
        r, x, y = picked[k], load(pack, k, j), load(pack, k, j + 1)
        a0, a1, a2, a3 = load(M, i, r), load(M, i1, r), load(M, i2, r), load(M, i3, r)
        x0, x1, x2, x3 = x0 - a0 * x, x1 - a1 * x, x2 - a2 * x, x3 - a3 * x
        y0, y1, y2, y3 = y0 - a0 * y, y1 - a1 * y, y2 - a2 * y, y3 - a3 * y
    for k in range(m):
        x, y = load(pack, count + k, j), load(pack, count + k, j + 1)
        a0, a1, a2, a3 = load(Q, i, k), load(Q, i1, k), load(Q, i2, k), load(Q, i3, k)
        x0, x1, x2, x3 = x0 - a0 * x, x1 - a1 * x, x2 - a2 * x, x3 - a3 * x
        y0, y1, y2, y3 = y0 - a0 * y, y1 - a1 * y, y2 - a2 * y, y3 - a3 * y
    return (x0, x1, x2, x3), (y0, y1, y2, y3)


@generic
def _one(M: Any, Q: Any, m: int, at: Any, picked: Any, count: int, pack: Any, j: int) -> Any:
    """Four rows of one column."""
    o, (i, i1, i2, i3) = zero(load(pack, 0, 0)), at
    x0, x1, x2, x3 = o, o, o, o
    for k in range(count):
        r, x = picked[k], load(pack, k, j)
        x0, x1, x2, x3 = x0 - load(M, i, r) * x, x1 - load(M, i1, r) * x, x2 - load(M, i2, r) * x, x3 - load(M, i3, r) * x
    for k in range(m):
        x = load(pack, count + k, j)
        x0, x1, x2, x3 = x0 - load(Q, i, k) * x, x1 - load(Q, i1, k) * x, x2 - load(Q, i2, k) * x, x3 - load(Q, i3, k) * x
    return x0, x1, x2, x3


@generic
def add_given(M: Any, n: int, driven: Any, K: Any, first: int, end: int, R: Any, at: int) -> None:
    """M times udot that motions prescribe, columns of *K* from *first* to before *end*, added to *R* from column *at* on."""
    for d in range(driven.shape[0]):
        for j in range(end - first):
            x = load(K, driven[d], first + j)
            if some_touch(absolute(x)):
                for i in range(n):
                    store(R, i, at + j, load(R, i, at + j) + load(M, i, driven[d]) * x)


@generic
def put_given(driven: Any, K: Any, first: int, end: int, D: Any, below: int) -> None:
    """Columns of *K* from *first* to before *end*, which motions prescribe of the mobilities *driven*, added to *D*."""
    for d in range(driven.shape[0]):
        row = below + driven[d]
        for j in range(end - first):
            store(D, row, j, load(D, row, j) + load(K, driven[d], first + j))


@generic
def project(model: Record, row_of: Any, M_inv: Any, all_rows: Any, G: Any, P: Any, W: Any, Q: Any) -> None:
    """M^-1 becomes M^, and *Q* is found; *row_of* says of each equation its row of *G*, or -1, and the others are scratch."""
    n, m = model.nu, W.shape[0]
    o = zero(load(model.time, 0, 0))
    clear(all_rows, o)
    constraint_operators.calc_g(model, all_rows)
    for r in range(model.num_rows):
        if row_of[r] >= 0:
            for i in range(n):
                store(G, row_of[r], i, load(all_rows, r, i))
    clear(W, o)
    constraint_operators.put_inverse_of_gram(model, row_of, W)
    for c in range(m):
        for i in range(n):
            store(P, c, i, o)
        for k in range(n):
            add_column(M_inv, n, k, load(G, c, k), P, c, 1.0)
    for c in range(m):
        for i in range(n):
            store(Q, i, c, o)
        for k in range(m):
            w = load(W, k, c)
            for i in range(n):
                store(Q, i, c, load(Q, i, c) + w * load(P, k, i))
    for i in range(n):
        for c in range(0, m - 1, 2):
            q, q1 = load(Q, i, c), load(Q, i, c + 1)
            for j in range(n):
                store(M_inv, i, j, load(M_inv, i, j) - q * load(P, c, j) - q1 * load(P, c + 1, j))
        if m % 2 == 1:
            q = load(Q, i, m - 1)
            for j in range(n):
                store(M_inv, i, j, load(M_inv, i, j) - q * load(P, m - 1, j))


@generic
def add_column(M: Any, n: int, k: int, x: Any, out: Any, row: int, sign: float) -> None:
    """Column k, or row, of the symmetric *M* times x, added to a row of *out*; nothing where x is 0 in every state."""
    if some_touch(absolute(x)):
        y = sign * x
        for i in range(n):
            store(out, row, i, load(out, row, i) + load(M, k, i) * y)


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
