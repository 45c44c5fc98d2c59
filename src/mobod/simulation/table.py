"""Rows: a table of arrays that grows at its end, in memory; `hdf5_file` has the same on disk.

Every column has one row a time, except those of `TABLES`, which have as many as another column says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from ..algebra.arrays import Array

Block: TypeAlias = Mapping[str, Array]
"""Some times of every column: arrays by name, as long as each other, but for those of `TABLES`."""

TABLES = {"contacts": "contact_counts", "events": "event_counts"}
"""Columns with any number of rows a time, and the columns that say how many."""


def part_of(block: Mapping[str, Any], start: int, stop: int) -> dict[str, Any]:
    """The times from *start* up to *stop* of every column."""
    part = {}
    for name, array in block.items():
        first, end = start, stop
        if name in TABLES:
            counts = np.asarray(block[TABLES[name]][:stop])
            first, end = num_rows(counts[:start]), num_rows(counts)
        part[name] = array[first:end]
    return part


def num_rows(counts: Any) -> int:
    """Number of rows that a table has at the times of these counts."""
    return int(np.sum(counts))


class MemoryRows:
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
        self._in_tables = dict.fromkeys(TABLES, 0)

    def __len__(self) -> int:
        return self.used

    def append(self, block: Block) -> None:
        """Add the rows of *block*, which has the columns that the first one had."""
        if not self._columns:
            for name, array in block.items():
                room = len(array) if name in TABLES else max(self._capacity, len(array))
                self._columns[name] = np.empty((room, *array.shape[1:]))
        for name, array in block.items():
            column, used = self._columns[name], self._in_tables.get(name, self.used)
            needed = used + len(array)
            if needed > len(column):
                larger = np.empty((max(needed, 2 * len(column)), *column.shape[1:]))
                larger[:used] = column[:used]
                column = self._columns[name] = larger
            column[used:needed] = array
            if name in TABLES:
                self._in_tables[name] = needed
        self.used += len(next(array for name, array in block.items() if name not in TABLES))

    def describe(self, **more: Any) -> None:
        """The description of the rows beside them, which a file keeps."""

    def flush(self) -> None:
        """Nothing is held back; a file's rows are written by this."""

    def columns(self) -> dict[str, Array]:
        """The columns as they are now, without copying."""
        return {name: column[: self._in_tables.get(name, self.used)] for name, column in self._columns.items()}
