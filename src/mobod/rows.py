"""Rows: a table of arrays that grows at its end, in memory; `record_file` has the same on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
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
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def append(self, block: Block) -> None:
        """Add the rows of *block*, which has the columns that the first one had."""
        more = len(next(iter(block.values())))
        if not self._columns:
            room = max(self._capacity, more)
            self._columns = {name: np.empty((room, *array.shape[1:])) for name, array in block.items()}
        needed = self._used + more
        for name, array in block.items():
            column = self._columns[name]
            if needed > len(column):
                larger = np.empty((max(needed, 2 * len(column)), *column.shape[1:]))
                larger[: self._used] = column[: self._used]
                column = self._columns[name] = larger
            column[self._used : needed] = array
        self._used = needed

    def flush(self) -> None:
        """Nothing is held back; a file's rows are written by this."""

    def columns(self) -> dict[str, Array]:
        """The columns as they are now, without copying."""
        return {name: column[: self._used] for name, column in self._columns.items()}
