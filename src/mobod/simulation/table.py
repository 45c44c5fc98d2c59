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
        columns, tables = self._columns, self._in_tables
        before = after = self.used
        for name, array in block.items():
            is_table = name in tables
            column, used = columns.get(name), tables[name] if is_table else before
            needed = used + len(array)
            if column is None:
                column = columns[name] = np.empty((max(needed, 0 if is_table else self._capacity), *array.shape[1:]))
            elif needed > len(column):
                larger = np.empty((max(needed, 2 * len(column)), *column.shape[1:]))
                larger[:used] = column[:used]
                column = columns[name] = larger
            column[used:needed] = array
            if is_table:
                tables[name] = needed
            else:
                after = needed
        self.used = after  # last, as an interrupt may come before

    def describe(self, **more: Any) -> None:
        """The description of the rows beside them, which a file keeps."""

    def flush(self) -> None:
        """Nothing is held back; a file's rows are written by this."""

    def columns(self) -> dict[str, Array]:
        """The columns as they are now, without copying."""
        return {name: column[: self._in_tables.get(name, self.used)] for name, column in self._columns.items()}
