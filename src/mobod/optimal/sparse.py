"""Sums of blocks as the entries of a sparse matrix whose pattern is known beforehand, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array


class Pattern:
    """The pattern of entries that come in a fixed order, several to a place adding up.

    Parameters
    ----------
    shape : (int, int)
    places : sequence of pairs of arrays of int
        Rows and columns, of the same shape each.
    upper : bool
        Whether entries below the diagonal are left out.
    """

    def __init__(self, shape: tuple[int, int], places: Sequence[tuple[Any, Any]], upper: bool = False) -> None:
        rows: Any = np.concatenate([np.zeros(0, int), *(np.ravel(r) for r, _ in places)]).astype(np.int64)
        columns: Any = np.concatenate([np.zeros(0, int), *(np.ravel(c) for _, c in places)]).astype(np.int64)
        self.shape = shape
        self._kept: Any = np.flatnonzero(rows <= columns) if upper else None
        if self._kept is not None:
            rows, columns = rows[self._kept], columns[self._kept]
        keys: Any
        keys, self._places = np.unique(columns * shape[0] + rows, return_inverse=True)
        self.rows, self.columns = keys % shape[0], keys // shape[0]

    def __len__(self) -> int:
        return len(self.rows)

    def entries(self, parts: Sequence[Array]) -> Array:
        """The matrix's entries ``(nnz,)``, column by column, of the blocks' in the order of their places."""
        values = np.concatenate([np.zeros(0), *(np.ravel(part) for part in parts)])
        if self._kept is not None:
            values = values[self._kept]
        found: Any = np.bincount(self._places, weights=values, minlength=len(self))
        return found

    def matrix(self, entries: Array) -> Any:
        """As a `scipy.sparse` matrix."""
        from scipy.sparse import csc_matrix

        return csc_matrix((entries, (self.rows, self.columns)), shape=self.shape)
