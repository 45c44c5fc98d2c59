"""Derivatives of accelerations from those of residual and errors, of one state or of eight in lanes.

    d(udot) = -M^ d(residual) - Q d(errors)     P = M^-1 G^T   Q = P (G P)^+   M^ = M^-1 - Q P^T

and where motions prescribe d(udot) = K, M K is added to the residual's, G K to the errors', and K in the end: their rows and
columns of M^-1 are zero. The pseudoinverse depends on q, too: redundant equations that contradict each other have errors e
left, and add W^+ P^T d(G^T e) to d(errors), W = G P, see `equations`.

Of one state, columns are eight in a vector, and factors on the left are numbers; of lanes all are lanes.
"""

from typing import Any

from ..algebra.scalar import absolute, load, maximum, store, where, zero
from ..compiling import generic
from ..force.contact.at_once import some_touch
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


# fmt: off
@generic
def multiply(
    M_inv: Any, n: int, Q: Any, m: int, E: Any, start: int, R: Any, groups: Any, rows: Any, D: Any, at: int, pack: Any
) -> None:
    # fmt: on
    """-M^ R - Q E of both halves, by q and by u: side by side in *D*, those by u from column *at* on.

    *R* has those by u below, *E*, of *m* rows, from column *start* on. *groups* and *rows* say what of *R* may differ
    from zero, see `pattern`; *pack* is scratch, two columns for each of a group.
    """
    for g in range(groups.shape[0]):
        first, end, begin = groups[g, 0], groups[g, 1], groups[g, 2]
        count = groups[g, 3] - begin
        for k in range(count):
            r = rows[begin + k]
            for j in range(first, end):
                store(pack, k, 2 * (j - first), load(R, r, j))
                store(pack, k, 2 * (j - first) + 1, load(R, n + r, j))
        for k in range(m):
            for j in range(first, end):
                store(pack, count + k, 2 * (j - first), load(E, k, j))
                store(pack, count + k, 2 * (j - first) + 1, load(E, k, start + j))
        for i in range(0, n, 4):
            i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            for j in range(first, end):
                o, c = zero(load(pack, 0, 0)), 2 * (j - first)
                x0, x1, x2, x3, y0, y1, y2, y3 = o, o, o, o, o, o, o, o
                for k in range(count):
                    r = rows[begin + k]
                    x, y = load(pack, k, c), load(pack, k, c + 1)
                    a0, a1, a2, a3 = load(M_inv, i, r), load(M_inv, i1, r), load(M_inv, i2, r), load(M_inv, i3, r)
                    x0, x1, x2, x3 = x0 - a0 * x, x1 - a1 * x, x2 - a2 * x, x3 - a3 * x
                    y0, y1, y2, y3 = y0 - a0 * y, y1 - a1 * y, y2 - a2 * y, y3 - a3 * y
                for k in range(m):
                    x, y = load(pack, count + k, c), load(pack, count + k, c + 1)
                    a0, a1, a2, a3 = load(Q, i, k), load(Q, i1, k), load(Q, i2, k), load(Q, i3, k)
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
def add_given(M: Any, n: int, driven: Any, K: Any, first: int, end: int, R: Any, at: int) -> None:
    """M times udot that motions prescribe, columns of *K* from *first* to before *end*, added to *R* from column *at* on."""
    for d in range(driven.shape[0]):
        for j in range(end - first):
            x = load(K, driven[d], first + j)
            if some_touch(absolute(x)):
                for i in range(n):
                    store(R, i, at + j, load(R, i, at + j) + load(M, i, driven[d]) * x)


@generic
def put_given(driven: Any, K: Any, end: int, D: Any) -> None:
    """Columns of *K* to before *end*, which motions prescribe of the mobilities *driven*, added to *D*."""
    for d in range(driven.shape[0]):
        for j in range(end):
            store(D, driven[d], j, load(D, driven[d], j) + load(K, driven[d], j))


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
        for c in range(m):
            q = load(Q, i, c)
            for j in range(n):
                store(M_inv, i, j, load(M_inv, i, j) - q * load(P, c, j))


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
