"""RecordEvery: collects a quantity at equal intervals of time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..state.state import State
from .periodic import PeriodicReporter


class HasValue(Protocol):
    """An object with a value at a state, such as a `Measure`."""

    def get_value(self, state: State) -> Any:
        """The value."""


class RecordEvery(PeriodicReporter):
    """Collects *quantity* at every multiple of *interval*.

    Parameters
    ----------
    interval : float
        Time between rows.
    quantity : callable or Measure
        Takes a State realized to ACCELERATION, and returns a number or an array; or has a ``get_value(state)`` that does.
    name : str, optional

    Notes
    -----
    Rows from a time on are replaced when that time comes again, in a run that starts anew.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> record = mb.event.RecordEvery(0.25, system.calc_energy)
    >>> system.add_event_reporter(record)
    >>> trajectory = mb.simulate(system, state, 1.1)
    >>> record.get_times()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    def __init__(
        self,
        interval: float,
        quantity: Callable[[State], float | npt.NDArray[np.float64]] | HasValue,
        *,
        name: str | None = None,
    ) -> None:
        quantity = getattr(quantity, "get_value", quantity)
        if not callable(quantity):
            raise TypeError(f"quantity has to be a measure or a function of the state, not {quantity!r}")
        super().__init__(interval, name=name)
        self._quantity = quantity
        self._times: list[float] = []
        self._rows: list[npt.NDArray[np.float64]] = []

    def handle_event(self, state: State) -> None:
        """Take a row."""
        time, row = state.time, np.array(self._quantity(state), dtype=np.float64)
        if self._rows and row.shape != self._rows[0].shape:
            raise ValueError(f"{self.name!r} has rows of shape {self._rows[0].shape}; at time {time} {row.shape} came")
        if self._times and self._times[-1] >= time:
            kept = bisect_left(self._times, time)
            del self._times[kept:], self._rows[kept:]
        self._times.append(time)
        self._rows.append(row)

    def get_times(self) -> npt.NDArray[np.float64]:
        """Times of the rows ``(n,)``."""
        return np.array(self._times)

    def get_values(self) -> npt.NDArray[np.float64]:
        """The rows ``(n, ...)``."""
        return np.array(self._rows)

    def clear(self) -> None:
        """Forget all rows."""
        self._times, self._rows = [], []
