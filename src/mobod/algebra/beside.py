"""Numbers of one state side by side as lanes, and elements side by side, each with rows of its own.

Kernels that are in the cache know these functions by name: one that is to do something else takes another name.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from .scalar import load, store


class RowsBeside(NamedTuple):
    """A field of one state as eight elements see it: the numbers of each begin at a row of its own.

    `load` gives their numbers as lanes, rows counted from there.
    """

    rows: Any
    #: Where those of each element begin, whole numbers.
    first: Any

    def load(self, row: int, column: int) -> Any:
        """The numbers of all elements."""
        return np.array([load(self.rows, int(first) + row, column) for first in self.first])


def three_beside(a: Any, b: Any, c: Any) -> Any:
    """Three float64 as lanes, the last ones also where there is nothing else to do; of lanes *a*, for which nobody asks."""
    return np.array([a, b, c])


def taken(x: Any, k: int, like: Any) -> Any:
    """The number in lane *k*; of the scalar of *like*, so that kernels in lanes, which do not come here, can be typed."""
    return float(x[k])


def row_beside(rows: Any, row: int) -> Any:
    """Eight numbers of a row of a field of float64, as lanes."""
    return np.array(rows[row, :8])


def put_beside(rows: Any, row: int, x: Any) -> None:
    """Put lanes as eight numbers of a row of a field of float64."""
    rows[row, :8] = x


def add_scaled_row(to: Any, row: int, x: Any, rows: Any, k: int, column: int) -> None:
    """Add *x* times six numbers of row *k* of a field of float64, from *column* on, to those of a row of a field of six."""
    for c in range(6):
        store(to, row, c, load(to, row, c) + x * load(rows, k, column + c))


def lanes_scratch(rows: int) -> Any:
    """A field of lanes of one column on the stack of the kernel that calls it; a constant says how large it is."""
    return np.empty((rows, 1, 8))


def address_of(rows: Any) -> int:
    """The address of a field of lanes, for a `Routine` that takes integers."""
    return int(rows.ctypes.data)


def lanes_at(address: int, rows: int) -> Any:
    """The field of so many lanes at an address; a constant says how large it is."""
    return np.ctypeslib.as_array((ctypes.c_double * (8 * rows)).from_address(address)).reshape(rows, 1, 8)


def lies_beside(rows: Any) -> bool:
    """True of `RowsBeside`; compiled code knows it as a constant."""
    return isinstance(rows, RowsBeside)


def eight_rows_at(rows: Any, row: int, place: Any) -> tuple[Any, ...]:
    """Eight numbers of a field, one after the other from *row* + *place* on; *place* is whole, and in each lane its own."""
    if isinstance(rows, RowsBeside):
        return tuple(RowsBeside(rows.rows, rows.first + place).load(row + k, 0) for k in range(8))
    return tuple(load(rows, row + int(place) + k, 0) for k in range(8))
