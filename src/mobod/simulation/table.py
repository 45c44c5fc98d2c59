"""Rows: a table of arrays that grows at its end, in memory; `hdf5_file` has the same on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from ..algebra.arrays import Array

Block: TypeAlias = Mapping[str, Array]
"""Some rows of every column: arrays by name, as long as each other."""


class Rows:
    """Columns by name, each an array with one row a time.

    Room is taken twice as large whenever it runs out, so that a row is copied twice at most on average; where the number of
    rows is known beforehand none is copied at all.

    Parameters
    ----------
    capacity : int, optional
        How many rows there will be, as far as one knows.
    """

    def __init__(self, capacity: int = 0) -> None:
        self._capacity = capacity
        self._columns: dict[str, Array] = {}
        self.used = 0

    def __len__(self) -> int:
        return self.used

    def append(self, block: Block) -> None:
        """Add the rows of *block*, which has the columns that the first one had."""
        more = len(next(iter(block.values())))
        if not self._columns:
            room = max(self._capacity, more)
            self._columns = {name: np.empty((room, *array.shape[1:])) for name, array in block.items()}
        needed = self.used + more
        for name, array in block.items():
            column = self._columns[name]
            if needed > len(column):
                larger = np.empty((max(needed, 2 * len(column)), *column.shape[1:]))
                larger[: self.used] = column[: self.used]
                column = self._columns[name] = larger
            column[self.used : needed] = array
        self.used = needed

    def flush(self) -> None:
        """Nothing is held back; a file's rows are written by this."""

    def columns(self) -> dict[str, Array]:
        """The columns as they are now, without copying."""
        return {name: column[: self.used] for name, column in self._columns.items()}
