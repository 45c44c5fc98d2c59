"""Derivatives of accelerations from those of residual and errors, of one state or of eight in lanes.

    d(udot) = -M^ d(residual) - Q d(errors)     P = M^-1 G^T   Q = P (G P)^+   M^ = M^-1 - Q P^T

and where motions prescribe d(udot) = K, M K is added to the residual's, G K to the errors', and K in the end: their rows and
columns of M^-1 are zero. The pseudoinverse depends on q, too: redundant equations that contradict each other have errors e
left, and add W^+ P^T d(G^T e) to d(errors), W = G P, see `equations`. d(G^T e) is what derivatives of the residual change by
with multipliers lambda + e: these are found twice.

Of one state, columns are eight in a vector, and factors on the left are numbers; of lanes all are lanes.
"""

from typing import Any

from ..algebra.scalar import absolute, load, maximum, store, where, zero
from ..compiling import apart, generic
from ..force.contact.at_once import some_touch
from ..state.fields import Record
from ..tree import constraint_operators, constraints

#: Errors of accelerations, by the largest number that they are the sum of, up to which equations do not contradict each other.
LEAST_ERROR = 1e-10


# fmt: off
@apart
def put_products(
    M_inv: Any, n: int, Q: Any, m: int, E: Any, start: int, R: Any, below: int, groups: Any, rows: Any, picked: Any, D: Any
) -> None:
    # fmt: on
    """`_put` of one half."""
    _put(M_inv, n, Q, m, E, start, R, below, 1, groups, rows, picked, True, D)


# fmt: off
@apart
def put_both_products(
    M_inv: Any, n: int, Q: Any, m: int, E: Any, R: Any, groups: Any, rows: Any, picked: Any, picks: bool, D: Any
) -> None:
    # fmt: on
    """`_put` of both halves at once."""
    _put(M_inv, n, Q, m, E, 0, R, 0, 2, groups, rows, picked, picks, D)


# fmt: off
@generic
def _put(
    M_inv: Any, n: int, Q: Any, m: int, E: Any, start: int, R: Any, below: int, halves: int, groups: Any, rows: Any, picked:
    Any, picks: bool, D: Any,
) -> None:
    # fmt: on
    """-M^ R - Q E into rows of *D* from *below* on, as those of *R* are; *E*, of *m* rows, from column *start* on.

    Of two *halves* the second, by u, has its rows of R and D below those of the first, and its columns of E a D's width behind.
    *groups* and *rows* say what of *R* may differ from zero, see `pattern`; if it *picks*, rows that are zero are passed over.
    *picked* is scratch. Four rows and four columns at once take what is loaded four times.
    """
    factors = M_inv, Q, m, picked, R, E
    for g in range(groups.shape[0]):
        first, end, count = groups[g, 0], groups[g, 1], 0
        for k in range(groups[g, 2], groups[g, 3]):
            if not picks or _differs(R, below + rows[k], n, halves, first, end):
                picked[count] = rows[k]
                count += 1
        for i in range(0, n, 4):
            at = i, min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            for j in range(first, end, 4 // halves):
                a = below, j, start + j
                b = below, min(j + 1, end - 1), start + min(j + 1, end - 1)
                c, d = (below, min(j + 2, end - 1), start + min(j + 2, end - 1)), (below, end - 1, start + end - 1)
                few = j + 2 >= end
                if halves == 2:
                    c, d = (below + n, a[1], a[2] + D.shape[1]), (below + n, b[1], b[2] + D.shape[1])
                    b, c, few = c, b, j + 1 >= end
                elif j + 3 < end:
                    d = below, j + 3, start + j + 3
                if few:
                    _put_two(factors, count, at, a, b, D)
                else:
                    _put_four(factors, count, at, (a, b, c, d), D)


@generic
def _differs(R: Any, row: int, n: int, halves: int, first: int, end: int) -> bool:
    """True if a row of one half or both differs from zero in columns from *first* on, in any state."""
    size = zero(load(R, 0, 0))
    for half in range(halves):
        for j in range(first, end):
            size = size + absolute(load(R, row + n * half, j))
    return some_touch(size)


@generic
def _four_of(A: Any, at: Any, k: int) -> Any:
    return load(A, at[0], k), load(A, at[1], k), load(A, at[2], k), load(A, at[3], k)


@generic
def _less(c: Any, a: Any, x: Any) -> Any:
    return c[0] - a[0] * x, c[1] - a[1] * x, c[2] - a[2] * x, c[3] - a[3] * x


@generic
def _store_four(D: Any, at: Any, place: Any, x: Any) -> None:
    for r in range(4):
        store(D, place[0] + at[r], place[1], x[r])


@generic
def _put_two(factors: Any, count: int, at: Any, a: Any, b: Any, D: Any) -> None:
    """Four rows of two columns of the product; where a column is: rows of R and D below, column of these, column of E."""
    M, Q, m, picked, R, E = factors
    o = zero(load(R, 0, 0))
    x = y = (o, o, o, o)
    for k in range(count):
        r = picked[k]
        four = _four_of(M, at, r)
        x, y = _less(x, four, load(R, a[0] + r, a[1])), _less(y, four, load(R, b[0] + r, b[1]))
    for k in range(m):
        four = _four_of(Q, at, k)
        x, y = _less(x, four, load(E, k, a[2])), _less(y, four, load(E, k, b[2]))
    _store_four(D, at, a, x)
    _store_four(D, at, b, y)


@generic
def _put_four(factors: Any, count: int, at: Any, places: Any, D: Any) -> None:
    """The same of four columns."""
    (M, Q, m, picked, R, E), (a, b, c, d) = factors, places
    o = zero(load(R, 0, 0))
    x = y = z = w = (o, o, o, o)
    for k in range(count):
        r = picked[k]
        four = _four_of(M, at, r)
        x, y = _less(x, four, load(R, a[0] + r, a[1])), _less(y, four, load(R, b[0] + r, b[1]))
        z, w = _less(z, four, load(R, c[0] + r, c[1])), _less(w, four, load(R, d[0] + r, d[1]))
    for k in range(m):
        four = _four_of(Q, at, k)
        x, y = _less(x, four, load(E, k, a[2])), _less(y, four, load(E, k, b[2]))
        z, w = _less(z, four, load(E, k, c[2])), _less(w, four, load(E, k, d[2]))
    for place, four in ((a, x), (b, y), (c, z), (d, w)):
        _store_four(D, at, place, four)


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


@apart
def _take(A: Any, rows: Any, B: Any, picked: Any, count: int, anew: bool, D: Any) -> None:
    """Rows from the first to before the last of two: D -= A B, or D = -A B *anew*; *picked* are the rows of B."""
    last, o = D.shape[1] - 1, zero(load(B, 0, 0))
    for i in range(rows[0], rows[1], 4):
        at = i, min(i + 1, rows[1] - 1), min(i + 2, rows[1] - 1), min(i + 3, rows[1] - 1)
        for j in range(0, last + 1, 4):
            j1, j2, j3 = min(j + 1, last), min(j + 2, last), min(j + 3, last)
            x = y = z = w = (o, o, o, o)
            if not anew:
                x, y, z, w = _column_of(D, at, j), _column_of(D, at, j1), _column_of(D, at, j2), _column_of(D, at, j3)
            for k in range(count):
                r = picked[k]
                four = _four_of(A, at, r)
                x, y = _less(x, four, load(B, r, j)), _less(y, four, load(B, r, j1))
                z, w = _less(z, four, load(B, r, j2)), _less(w, four, load(B, r, j3))
            for place, four in ((j, x), (j1, y), (j2, z), (j3, w)):
                _store_four(D, at, (0, place), four)


@generic
def _column_of(D: Any, at: Any, j: int) -> Any:
    return load(D, at[0], j), load(D, at[1], j), load(D, at[2], j), load(D, at[3], j)


# fmt: off
@generic
def project(
    model: Record, fresh: bool, row_of: Any, M_inv: Any, G: Any, P: Any, S: Any, flat_S: Any, Q: Any, picked: Any
) -> None:
    # fmt: on
    """M^-1 becomes M^, and *Q* is found, and Q^T, the first rows of *S*; *row_of* says of each equation its row, or -1.

    The factor of the Gram matrix may be *fresh*. Rows are in the order of `row_place`. Of one state all but G and
    Q have eight columns a number, and *S* is there by two names.
    """
    n, m = model.nu, P.shape[0]
    for at in range(constraint_operators.last(model)):
        c, count = model.group_constraints[at], 0
        first, rows = row_of[model.first_row[c]], constraints.num_rows(model, c)
        constraint_operators.put_rows(model, c, G, first)
        for place in range(model.first_path[c], model.first_path[c] + model.path_length[c]):
            b = model.path[place]
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                picked[count] = i
                count += 1
        _take(G, (first, first + rows), M_inv, picked, count, True, P)
    constraint_operators.solve_columns(model, fresh, P, S)  # both are less than zero times what they shall be
    for c in range(m):
        picked[c] = c
        for i in range(n):
            store(Q, i, c, load(flat_S, c, i))
    _take(Q, (0, n), P, picked, m, False, M_inv)
    for i in range(n):
        for c in range(m):
            store(Q, i, c, -load(Q, i, c))
    for c in range(m):
        for j in range(S.shape[1]):
            store(S, c, j, -load(S, c, j))


@generic
def find_left(model: Record, A: Any, u_dot: Any, left: Any) -> Any:
    """Multipliers with what is left of errors beside, into *left*, and how large that is made; 0 where nothing is left.

    Needs the factor of the Gram matrix.
    """
    contradicts, o = contradict(model, A, u_dot), zero(load(model.time, 0, 0))
    most, largest = o, o + 1.0
    for r in range(model.num_rows):
        store(left, r, 0, o)
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            constraint_operators.put_acceleration_errors(model, model.group_constraints[at], A, u_dot, left)
    for r in range(model.num_rows):
        most = maximum(most, absolute(load(left, r, 0)))
        largest = maximum(largest, absolute(load(model.multiplier, r, 0)))
    scale = where(contradicts > 0.0, largest / where(contradicts > 0.0, most, o + 1.0), o)
    for r in range(model.num_rows):
        x = load(model.multiplier, r, 0)
        store(left, r, 0, where(contradicts > 0.0, x + scale * load(left, r, 0), x))
    return scale


@generic
def exchange(model: Record, left: Any) -> None:
    """Exchange multipliers and those in *left*."""
    for r in range(model.num_rows):
        x = load(model.multiplier, r, 0)
        store(model.multiplier, r, 0, load(left, r, 0))
        store(left, r, 0, x)


@generic
def copy_rows(source: Any, target: Any) -> None:
    """All numbers of *source*."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            store(target, i, j, load(source, i, j))


@generic
def add_turns(scale: Any, S: Any, n: int, m: int, turned: Any, R: Any, below: int, E: Any, start: int) -> None:
    """W^+ P^T, rows of *S*, times what *turned* has beyond *R*, rows from *below* on, added to *E* from column *start* on.

    *scale* says by what `find_left` has made errors larger; zero where it found none.
    """
    o = zero(scale)
    share = where(scale > 0.0, 1.0 / where(scale > 0.0, scale, o + 1.0), o)
    for i in range(n):
        for j in range(R.shape[1]):
            x = load(turned, below + i, j) - load(R, below + i, j)
            if some_touch(absolute(x)):
                for c in range(m):
                    store(E, c, start + j, load(E, c, start + j) + share * load(S, c, i) * x)


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
