"""EventLog: what happens in a run, as it goes on: a row of numbers an event, and the words that these stand for.

A row is the time, the place of the words among the labels, the change of energy, how many numbers the impulse has, and these.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array

if TYPE_CHECKING:
    from ..system.system import MultibodySystem

#: Numbers before those of the impulse.
BEFORE = 4
#: Of an impulse, where no constraint has more equations.
_WIDTH = 6
#: So many events are kept where nobody takes them.
MOST_KEPT = 100_000

Label = tuple[str, str, str, str]
"""Name, kind, direction and witness."""


class EventLog:
    """What has happened in a run and is not taken yet.

    Parameters
    ----------
    system : MultibodySystem

    Attributes
    ----------
    labels : list of Label
        In the order in which they came.
    most : int or None
        How many events are kept; the oldest go first.
    energy : float
        The sum of what all events so far have added, taken ones too.
    """

    def __init__(self, system: MultibodySystem) -> None:
        equations = [sum(one.number_of_equations) for one in system.get_matter_subsystem().constraints]
        self.width = max([_WIDTH, *equations])
        self.labels: list[Label] = []
        self.most: int | None = MOST_KEPT
        #: Says how many rows have been reported; of a run that reports some.
        self.count_rows: Callable[[], int] | None = None
        self.energy = 0.0
        self._places: dict[Label, int] = {}
        self._rows: list[tuple[float, int, float, Sequence[float]]] = []
        self._next_rows: list[int] = []

    def add(self, time: float, label: Label, energy: float = 0.0, impulse: Sequence[float] = ()) -> None:
        """Something has happened."""
        place = self._places.get(label)
        if place is None:
            place = self._places[label] = len(self.labels)
            self.labels.append(label)
        rows = self._rows
        rows.append((time, place, energy, impulse))
        self._next_rows.append(0 if self.count_rows is None else self.count_rows())
        self.energy += energy
        if self.most is not None and len(rows) >= 2 * self.most:
            del rows[: -self.most], self._next_rows[: -self.most]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "count_rows": None}

    def rows(self, start: int = 0, stop: int | None = None) -> Array:
        """Those that are there ``(n, BEFORE + width)``, not a number where an impulse has fewer."""
        chosen = self._rows[start:stop]
        table = np.full((len(chosen), BEFORE + self.width), np.nan)
        for row, (time, place, energy, impulse) in zip(table, chosen, strict=True):
            row[:BEFORE] = time, place, energy, len(impulse)
            row[BEFORE : BEFORE + len(impulse)] = impulse
        return table

    def take(self, until: int | None = None) -> tuple[Array, npt.NDArray[np.int64]]:
        """`rows` of what happened before so many rows were reported, which are then no longer here; the next row of each."""
        count = len(self._rows) if until is None else bisect_left(self._next_rows, until)
        taken, following = self.rows(0, count), np.array(self._next_rows[:count], np.int64)
        del self._rows[:count], self._next_rows[:count]
        return taken, following
