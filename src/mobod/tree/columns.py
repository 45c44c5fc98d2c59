"""What the explicit mass matrix and its inverse share: sweeps over all columns at once, eight in a vector register.

A column is a mobility's unit force or motion. One after the other, columns would be chains of operations that wait for each
other; side by side they keep the processor busy, and of one state eight columns fill a register. Columns stand by place,
depth first (`records`), so that those of the mobilities outboard of a body are a run.

The scratch is one array by two names: *wide*, whose numbers are eight columns, and *flat*, whose are one. Of a record of lanes
both are the same, and a run has one column; so they are for whatever scalar. Its rows: six of the spatial vector that each
column has become, one with the places, one a mobility of results, then six a slot of motions.

A vector at the end of a run may reach beyond it, into columns of a branch that waits for its parent's turn: these must be
kept. What it reaches before the run has not begun yet, and is written afresh when it does.
"""

from typing import Any

from .._jit import generic
from ..algebra.scalar import load, one, store, where, zero

#: Rows of the scratch: where the places are, and where results begin.
PLACES, RESULTS = 6, 7


def scratch_rows(nu: int, num_slots: int) -> int:
    """How many rows the scratch has."""
    return RESULTS + nu + 6 * num_slots


@generic
def bits(flat: Any, wide: Any) -> int:
    """Columns a number of *wide*, as a power of two: 3 or 0. A division takes as long as a body's whole column."""
    shift = 0
    if flat.shape[1] != wide.shape[1]:
        shift = 3
    return shift


@generic
def numbers_until(end: int, shift: int) -> int:
    """How many numbers of *wide* hold the columns before *end*."""
    return (end + (1 << shift) - 1) >> shift


@generic
def load_column(rows: Any, first: int, j: int) -> Any:
    """A spatial vector, angular and linear, from six rows."""
    return (
        (load(rows, first, j), load(rows, first + 1, j), load(rows, first + 2, j)),
        (load(rows, first + 3, j), load(rows, first + 4, j), load(rows, first + 5, j)),
    )


@generic
def store_column(rows: Any, first: int, j: int, w: Any, v: Any) -> None:
    """A spatial vector into six rows."""
    for k in range(3):
        store(rows, first + k, j, w[k])
        store(rows, first + 3 + k, j, v[k])


@generic
def begin_column(flat: Any, wide: Any, shift: int, place: int, w: Any, v: Any) -> None:
    """One column's spatial vector into the first six rows.

    As whole vectors where there are any: the parent's turn loads these, and a load that has to gather parts from stores on
    their way to the cache waits for them.
    """
    if shift == 0:
        store_column(flat, 0, place, w, v)
    else:
        j = place >> shift
        here = load(wide, PLACES, j)
        keep = where(here == 1.0 * place, one(here), zero(here))
        w_old, v_old = load_column(wide, 0, j)
        w = (_choose(keep, w[0], w_old[0]), _choose(keep, w[1], w_old[1]), _choose(keep, w[2], w_old[2]))
        v = (_choose(keep, v[0], v_old[0]), _choose(keep, v[1], v_old[1]), _choose(keep, v[2], v_old[2]))
        store_column(wide, 0, j, w, v)


@generic
def with_column(wide: Any, shift: int, j: int, place: int, own: Any, x: Any) -> Any:
    """Number *j* of a row, which holds column *place*: x, but *own* in that column."""
    result = zero(x) + own
    if shift > 0:
        result = where(load(wide, PLACES, j) == 1.0 * place, result, x)
    return result


@generic
def inside(wide: Any, j: int, end: int) -> Any:
    """1 for the columns of a number that come before *end*, 0 for the others."""
    place = load(wide, PLACES, j)
    return where(place < 1.0 * end, one(place), zero(place))


@generic
def store_inside(wide: Any, j: int, keep: Any, w: Any, v: Any) -> None:
    """A spatial vector into the first six rows, where *keep* is 1; the other columns stay as they are."""
    w_old, v_old = load_column(wide, 0, j)
    w = (_choose(keep, w[0], w_old[0]), _choose(keep, w[1], w_old[1]), _choose(keep, w[2], w_old[2]))
    v = (_choose(keep, v[0], v_old[0]), _choose(keep, v[1], v_old[1]), _choose(keep, v[2], v_old[2]))
    store_column(wide, 0, j, w, v)


@generic
def store_before(wide: Any, shift: int, j: int, end: int, end_of_base: int, w: Any, v: Any) -> None:
    """A spatial vector into the first six rows; columns from *end* on stay as they are where they are still needed."""
    if (j + 1) << shift > end and end < end_of_base:
        store_inside(wide, j, inside(wide, j, end), w, v)
    else:
        store_column(wide, 0, j, w, v)


@generic
def only(keep: Any, x: Any) -> Any:
    """x where *keep* is 1, else 0."""
    return where(keep > 0.5, x, zero(x))


@generic
def _choose(keep: Any, new: Any, old: Any) -> Any:
    return where(keep > 0.5, new, old)


@generic
def clear(out: Any) -> None:
    """The whole of a matrix at once: a quarter of what the zeros of a bushy tree cost one by one."""
    out[:] = 0.0


@generic
def spread(model: Any, flat: Any, b: int, end: int, out: Any) -> None:
    """Results of body b's mobilities up to column *end*, into both halves of the symmetric matrix *out*, which is clear."""
    first = model.first_place[b]
    if first >= model.in_order[b]:
        for i in range(first, first + model.num_u[b]):
            for k in range(i, end):
                x = load(flat, RESULTS + i, k)
                store(out, i, k, x)
                store(out, k, i, x)
    else:
        for place in range(first, first + model.num_u[b]):
            i = model.mobility_at[place]
            for j in range(place, end):
                x, k = load(flat, RESULTS + place, j), model.mobility_at[j]
                store(out, i, k, x)
                store(out, k, i, x)
