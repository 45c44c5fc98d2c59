"""Sweeps over all columns of an explicit matrix at once, eight in a vector register: for the mass matrix and its inverse.

A column is the unit force or motion of a mobility. Swept one after the other, columns are chains of operations that wait for
each other; side by side they keep the processor busy, and eight columns of one state fill a register. Columns are ordered by
place, depth first (`state.fields`), so that those of the mobilities outboard of a body are a run.

The scratch is one array by two names: a number of *wide* is eight columns, one of *flat* a single column. In a record of lanes,
or of any other scalar, both are the same array, of a column a number. Its rows: six for the spatial vector of each column, one
for the places, one a mobility for results, then six a slot for motions.

A vector at the end of a run may reach beyond it, into columns of another branch that wait for its parent: these must be kept.
Columns before the run have not begun, and are written afresh when they do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.record import LANES, aligned_zeros
from ..algebra.scalar import load, one, store, where, zero
from ..compiling import generic
from ..state.fields import Record
from ..state.state import State

#: Rows of the scratch: the places, and the first of the results.
PLACES, RESULTS = 6, 7


def scratch_rows(nu: int, num_slots: int) -> int:
    """The number of rows of the scratch."""
    return RESULTS + nu + 6 * num_slots


#: Mobilities above which a state does not keep the scratch, which is as large as the matrices.
_LARGE = 256


def make_scratch(state: State) -> tuple[Any, Any]:
    """The scratch of the explicit matrices, flat and wide, kept in a state that is not large. There has to be a mobility."""
    rows, blocks = scratch_rows(state.tree.nu, state.tree.num_slots), -(-state.tree.nu // LANES)
    flat = aligned_zeros(rows, LANES * blocks)
    flat[PLACES] = np.arange(LANES * blocks)
    found = flat, flat.reshape(rows, blocks, LANES)
    if state.tree.nu <= _LARGE:
        state.scratch = found
    return found


@generic
def bits(flat: Any, wide: Any) -> int:
    """log2 of the columns of a number of *wide*, 3 or 0: a shift, since a division takes as long as a body's whole column."""
    shift = 0
    if flat.shape[1] != wide.shape[1]:
        shift = 3
    return shift


@generic
def numbers_until(end: int, shift: int) -> int:
    """The count of numbers of *wide* that hold the columns before *end*."""
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
    """Store the spatial vector of one column in the first six rows.

    Whole vectors are stored where numbers are these: the parent's step loads them soon, and would wait for narrower stores.
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
    """Number *j* of a row, x with *own* in column *place*."""
    result = zero(x) + own
    if shift > 0:
        result = where(load(wide, PLACES, j) == 1.0 * place, result, x)
    return result


@generic
def inside(wide: Any, j: int, end: int) -> Any:
    """1 in the columns of number *j* before *end*, 0 in the others."""
    place = load(wide, PLACES, j)
    return where(place < 1.0 * end, one(place), zero(place))


@generic
def store_inside(wide: Any, j: int, keep: Any, w: Any, v: Any) -> None:
    """Store a spatial vector in the first six rows where *keep* is 1, and leave the other columns."""
    w_old, v_old = load_column(wide, 0, j)
    w = (_choose(keep, w[0], w_old[0]), _choose(keep, w[1], w_old[1]), _choose(keep, w[2], w_old[2]))
    v = (_choose(keep, v[0], v_old[0]), _choose(keep, v[1], v_old[1]), _choose(keep, v[2], v_old[2]))
    store_column(wide, 0, j, w, v)


@generic
def store_before(wide: Any, shift: int, j: int, end: int, end_of_base: int, w: Any, v: Any) -> None:
    """Store a spatial vector in the first six rows; columns from *end* on, which wait for their parent, are left."""
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
    """Zeros, all at once: a quarter of what those of a bushy tree cost one by one."""
    out[:] = 0.0


@generic
def spread(model: Record, flat: Any, b: int, end: int, out: Any) -> None:
    """Copy results of body b's mobilities, up to column *end*, to both halves of the symmetric *out*, elsewhere zero."""
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
