"""Solutions with a Gram matrix W = E^T D^-1 E, which is singular where equations are redundant: the multipliers of constraints.

    W = L L^T, row by row; a redundant row, of which (nearly) nothing is left beside those before it, adds no column to L
    no row dropped      lambda = L^-T L^-1 r
    otherwise           L = Q R by Gram and Schmidt;  lambda = Q R^-T R^-1 Q^T r

That is W^+ r, the least-squares solution of least norm: redundant constraints share the load. There is no pivoting, which a
semidefinite matrix does not need, so that all lanes take one path though each drops rows of its own. Source: Golub and Van Loan
2013, sections 4.2.8 and 5.5; Higham 2002, section 10.3.
"""

from typing import Any

from ..algebra.scalar import any_not_finite, load, num_lanes, sqrt, store, where, zero
from ..compiling import apart, generic
from ..state.fields import Record
from . import constraint_paths

#: A row is redundant if at most this part of its square is left beside the rows before it, or beside what moves: an angle of
#: 3e-6 radians. Axes are given in six digits, and what they leave of an equation is rounding.
REDUNDANT = 1e-11
#: Errors that this explains, of bodies at a distance of one; frames are off by as much.
ROUNDING = 3e-5
#: Of a row, such a part of its scale is rounding, and of its square along a row before as much as of what was left of that one:
#: both where at most such a part of its square is left.
NOISE, FAINT = 1e-14, 1e-6
#: That is a bound. In 1,500 states of two Universals welded to each other rounding left at most a twentieth of it, true rows
#: had seven tenths or more: where such a part of a row's square is left, that part of the bound is rounding all the same.
SMALL, SURE = 1e-2, 0.1
#: It moves nothing if its square is at most this part of its scale (`constraint_paths`), whatever the masses are.
IDLE = 1e-20
#: How other right sides are solved: with a factor that is to be made anew, since some lanes have dropped rows and others none,
#: or the present one, of which no row is dropped, or which is orthogonal.
ANEW, WHOLE, ORTHOGONAL = 0, 1, 2
#: What is asked for in place of these: the factor alone; then, where rows are dropped, an orthogonal one of it.
FACTOR, ORTHOGONALIZE = 3, 4


@generic
def factor(model: Record, g: int) -> Any:
    """W of group g, the lower half of m x m numbers of `gram`, becomes L. The number of dropped rows.

    `gram_inverse` has the scales of the rows at first, and then 1 / L_jj, or zero for a dropped row. A row whose scale is below
    zero, and which has no effect, is left out and not counted.
    """
    first, m, rows = model.group_gram[g], model.group_num_rows[g], model.group_first_row[g]
    dropped = zero(load(model.time, 0, 0))
    for j in range(m):
        square = load(model.gram, first + j * m + j, 0)
        scale = load(model.gram_inverse, rows + j, 0)
        rest, noise = square, NOISE * scale
        for k in range(j):
            x = load(model.gram, first + j * m + k, 0)
            rest = rest - x * x
            noise = noise + x * x * load(model.gram_work, k, 0)
        least = where(IDLE * scale > REDUNDANT * square, IDLE * scale, REDUNDANT * square)
        # what is left may be the rounding of rows before, of which hardly anything was left
        noticed = where(rest <= FAINT * square, noise, where(rest <= SMALL * square, SURE * noise, zero(rest)))
        least = where(noticed > least, noticed, least)
        suspect = where(rest > least, where(rest <= REDUNDANT * scale, 1.0 + zero(rest), zero(rest)), zero(rest))
        if any_not_finite(where(suspect > 0.0, 1e308 + zero(rest), zero(rest)) * 1e308):
            # rest / (square / angle^2), of which the second is the square that the row would have if it moved all that it moves
            angle, reach, r = _angle_of(model, g, j)
            nothing = where(rest * angle <= REDUNDANT * square, suspect, zero(rest))
            least = where(nothing > 0.0, square, least)
            known = load(model.rounding, r, 0)
            store(model.rounding, r, 0, where(suspect > 0.0, where(nothing > 0.0, ROUNDING * reach, zero(rest)), known))
        inverse = where(rest > least, 1.0 / sqrt(where(rest > least, rest, 1.0 + zero(rest))), zero(rest))
        dropped = dropped + where(inverse > 0.0, zero(rest), where(scale < 0.0, zero(rest), 1.0 + zero(rest)))
        store(model.gram_inverse, rows + j, 0, inverse)
        store(model.gram_work, j, 0, noise * inverse * inverse)
        store(model.gram, first + j * m + j, 0, rest * inverse)
        for i in range(j + 1, m):
            x = load(model.gram, first + i * m + j, 0)
            for k in range(j):
                x = x - load(model.gram, first + i * m + k, 0) * load(model.gram, first + j * m + k, 0)
            store(model.gram, first + i * m + j, 0, x * inverse)
    return dropped


@generic
def _angle_of(model: Record, g: int, row: int) -> Any:
    """`constraint_paths.square_of_angle` of row *row* of group g, and its number among all rows."""
    found, reach = zero(load(model.time, 0, 0)), zero(load(model.time, 0, 0))
    r, i = 0, 0
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        n = model.num_p[c] + model.num_v[c] + model.num_a[c]
        if i <= row < i + n:
            found, reach = constraint_paths.square_of_angle(model, c, row - i)
            r = model.first_row[c] + row - i
        i += n
    return found, reach, r


@generic
def solve(model: Record, first: int, m: int, rows: int, x: Any, dropped: Any) -> int:
    """x[rows:] becomes W^+ x[rows:]; how others are solved. `factor` has made W into L, and returned *dropped*."""
    if any_not_finite(where(dropped > 0.0, 1e308 + zero(dropped), zero(dropped)) * 1e308):
        if num_lanes(dropped) > 1:  # the other lanes go their own way, so that no lane's bits depend on its neighbours
            _solve_whole(model, first, m, rows, x, dropped)
        orthogonalize(model, first, m)
        _solve_redundant(model, first, m, rows, x, dropped)
        some_whole = any_not_finite(where(dropped > 0.0, zero(dropped), 1e308 + zero(dropped)) * 1e308)
        return ANEW if some_whole else ORTHOGONAL
    return solve_again(model, first, m, rows, x, WHOLE)


@generic
def solve_again(model: Record, first: int, m: int, rows: int, x: Any, how: int) -> int:
    """The same by the factor that is there, WHOLE or ORTHOGONAL."""
    o = zero(load(model.time, 0, 0))
    if how == ORTHOGONAL:
        _solve_redundant(model, first, m, rows, x, o + 1.0)
    else:
        _solve_whole(model, first, m, rows, x, o)
    return how


@generic
def _solve_whole(model: Record, first: int, m: int, rows: int, x: Any, left_out: Any) -> None:
    """x = L^-T L^-1 x, but for lanes that are left out."""
    for j in range(m):
        before = load(x, rows + j, 0)
        total = before
        for k in range(j):
            total = total - load(model.gram, first + j * m + k, 0) * load(x, rows + k, 0)
        store(x, rows + j, 0, where(left_out > 0.0, before, total * load(model.gram_inverse, rows + j, 0)))
    for j in range(m - 1, -1, -1):
        before = load(x, rows + j, 0)
        total = before
        for k in range(j + 1, m):
            total = total - load(model.gram, first + k * m + j, 0) * load(x, rows + k, 0)
        store(x, rows + j, 0, where(left_out > 0.0, before, total * load(model.gram_inverse, rows + j, 0)))


@apart
def orthogonalize(model: Record, first: int, m: int) -> None:
    """L becomes Q, whole columns, and `gram_upper` gets R; columns of zeros stay, with zeros in R.

    Each column is orthogonalised twice: once leaves an error times the condition of L.
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
        store(model.gram_upper, first + j * m + j, 0, inverse)  # 1 / R_jj, which is all that is used


@generic
def _solve_redundant(model: Record, first: int, m: int, rows: int, x: Any, dropped: Any) -> None:
    """x = Q R^-T R^-1 Q^T x, of lanes with a dropped row."""
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
        store(x, rows + i, 0, where(dropped > 0.0, total, load(x, rows + i, 0)))


@generic
def _four_of(X: Any, row: int, at: Any) -> Any:
    """Numbers of a row in four columns."""
    return load(X, row, at[0]), load(X, row, at[1]), load(X, row, at[2]), load(X, row, at[3])


@generic
def _put_four(X: Any, row: int, at: Any, x: Any) -> None:
    for j in range(4):
        store(X, row, at[j], x[j])


@generic
def _plus(x: Any, c: Any, y: Any) -> Any:
    return x[0] + c * y[0], x[1] + c * y[1], x[2] + c * y[2], x[3] + c * y[3]


@generic
def _scaled(c: Any, x: Any) -> Any:
    return c * x[0], c * x[1], c * x[2], c * x[3]


@generic
def solve_columns(model: Record, first: int, m: int, rows: int, P: Any, at: Any, S: Any) -> None:
    """As `solve_again` with a WHOLE factor, of four columns *at* once: S = W^+ P, of rows from *rows* on."""
    for j in range(m):
        x = _four_of(P, rows + j, at)
        for k in range(j):
            x = _plus(x, -load(model.gram, first + j * m + k, 0), _four_of(S, rows + k, at))
        _put_four(S, rows + j, at, _scaled(load(model.gram_inverse, rows + j, 0), x))
    for j in range(m - 1, -1, -1):
        x = _four_of(S, rows + j, at)
        for k in range(j + 1, m):
            x = _plus(x, -load(model.gram, first + k * m + j, 0), _four_of(S, rows + k, at))
        _put_four(S, rows + j, at, _scaled(load(model.gram_inverse, rows + j, 0), x))


# fmt: off
@generic
def solve_redundant_columns(
    model: Record, first: int, m: int, rows: int, P: Any, at: Any, dropped: Any, work: int, S: Any
) -> None:
    # fmt: on
    """The same with an ORTHOGONAL factor, of lanes with a dropped row; S has scratch from row *work* on."""
    none = zero(load(P, 0, 0))
    o, some = (none, none, none, none), dropped + none  # of one state, columns are eight in a number
    for j in range(m):
        x = o
        for i in range(m):
            x = _plus(x, load(model.gram, first + i * m + j, 0), _four_of(P, rows + i, at))
        _put_four(S, work + j, at, x)
    for j in range(m - 1, -1, -1):
        x = _four_of(S, work + j, at)
        for k in range(j + 1, m):
            x = _plus(x, -load(model.gram_upper, first + j * m + k, 0), _four_of(S, work + k, at))
        _put_four(S, work + j, at, _scaled(load(model.gram_upper, first + j * m + j, 0), x))
    for j in range(m):
        x = _four_of(S, work + j, at)
        for k in range(j):
            x = _plus(x, -load(model.gram_upper, first + k * m + j, 0), _four_of(S, work + k, at))
        _put_four(S, work + j, at, _scaled(load(model.gram_upper, first + j * m + j, 0), x))
    for i in range(m):
        x, kept = o, _four_of(S, rows + i, at)
        for j in range(m):
            x = _plus(x, load(model.gram, first + i * m + j, 0), _four_of(S, work + j, at))
        for j in range(4):
            store(S, rows + i, at[j], where(some > 0.0, x[j], kept[j]))
