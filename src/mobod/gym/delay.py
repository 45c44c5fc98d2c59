"""Delay: rows that come some steps late, each by a number of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Delay:
    """The last rows of many environments.

    Parameters
    ----------
    bounds : pair of int
        The least and the largest delay.
    rows : (n, k) array
        What has been before there was anything.

    Attributes
    ----------
    is_drawn : bool
        Whether each episode draws its own delay.
    """

    def __init__(self, bounds: tuple[int, int], rows: Array) -> None:
        self._low, self._high = bounds
        self.is_drawn = self._low < self._high
        self._delays = np.full(len(rows), self._high)
        self._past = np.repeat(rows[None], self._high + 1, axis=0)
        self._clock, self._each = 0, np.arange(len(rows))

    def draw(self, mask: npt.NDArray[np.bool_], random: Array) -> None:
        """New delays of the environments that a mask picks, by numbers between 0 and 1."""
        if self.is_drawn:
            self._delays[mask] = self._low + (random[mask] * (self._high - self._low + 1)).astype(int)

    def fill(self, mask: npt.NDArray[np.bool_], rows: Array) -> None:
        """Fill the history of the environments that a mask picks with their *rows*."""
        if self._high:
            self._past[:, mask] = rows[mask]

    def step(self, rows: Array) -> Array:
        """Take rows, and give those that are due now."""
        if not self._high:
            return rows
        self._clock += 1
        self._past[self._clock % len(self._past)] = rows
        return self.now(rows)

    def now(self, rows: Array) -> Array:
        """Those that are due; *rows* where nothing is late."""
        if not self._high:
            return rows
        due: Array = self._past[(self._clock - self._delays) % len(self._past), self._each]
        return due.astype(rows.dtype)
