"""EventLog: what happens in a run, as it goes on: a row of numbers an event, and the words that these stand for.

A row is the time, the place of the words among the labels, the change of energy, how many numbers the impulse has, and these.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..event import EventReporter
from ..event.watched import Found
from ..state.impulses import Impulse
from ..state.state import State
from ..system.system import MultibodySystem

#: Numbers before those of the impulse.
BEFORE = 4
#: Of an impulse, where no constraint has more equations.
_WIDTH = 6
#: So many events are kept where nobody takes them.
MOST_KEPT = 100_000
#: Changes of the energy by that part of it are of rounding.
_ROUNDING = 1e-14

Label = tuple[str, str, str, str]
"""Name, kind, direction and witness."""


class EventLog:
    """The events of a run that have not been taken yet.

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

    def add_impulses(self, impulses: Iterable[Impulse]) -> None:
        """Add the impulses of changes that were set."""
        for one in impulses:
            self.add(one.time, (one.name, one.kind, "", ""), one.energy, one.impulse.tolist())

    def add_account(self, time: float, account: Account, kind: str, told: Collection[int] = (), follows: Any = None) -> None:
        """Add what calls have done and set: as *kind*, or as changes; not of owners that are *told* of already.

        The owner that *follows* was called after the others, and is in it where it has changed the energy.
        """
        for owner, energy, impulses in account.entries:
            of_call = "" if owner is follows else kind
            if id(owner) not in told and (of_call or energy or (impulses and owner is not follows)):
                name = getattr(owner, "name", None) or owner.get_name()
                self.add(time, (name, of_call or "changed", "", ""), energy)
            if impulses:
                self.add_impulses(impulses)

    def add_found(self, found: Found, reporters: bool, account: Account | None = None) -> None:
        """Add the witnesses that have changed sign, of reporters or of others; the first of an owner has its energy."""
        energies: dict[int, float] = {}
        if account is not None:
            for owner, energy, _ in account.entries:
                if energy:
                    energies[id(owner)] = energy
        for one, rising in zip(found.which, found.rising, strict=True):
            if (one.form is EventReporter) is reporters:
                energy = energies.pop(id(one.owner), 0.0) if energies else 0.0
                self.add(found.high, (one.name, "triggered", "rising" if rising else "falling", one.what), energy)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "count_rows": None}

    def rows(self, start: int = 0, stop: int | None = None) -> Array:
        """Those that are there ``(n, BEFORE + width)``, not a number where an impulse has fewer."""
        chosen, blank = self._rows[start:stop], (math.nan,) * self.width
        rows = [
            (time, place, energy, len(impulse), *impulse, *blank[len(impulse) :]) for time, place, energy, impulse in chosen
        ]
        return np.array(rows, np.float64).reshape(len(rows), BEFORE + self.width)

    def take(self, until: int | None = None) -> tuple[Array, npt.NDArray[np.int64]]:
        """`rows` of what happened before so many rows were reported, which are then no longer here; the next row of each."""
        count = len(self._rows) if until is None else bisect_left(self._next_rows, until)
        if not count:
            return np.empty((0, BEFORE + self.width)), np.empty(0, np.int64)
        taken, following = self.rows(0, count), np.array(self._next_rows[:count], np.int64)
        del self._rows[:count], self._next_rows[:count]
        return taken, following


class Account:
    """The changes of energy by handlers at one instant, each beside the impulses of what it sets.

    Parameters
    ----------
    system : MultibodySystem
    state : State
    energy : float
        Before.
    """

    def __init__(self, system: MultibodySystem, state: State, energy: float) -> None:
        self._system, self._state, self._energy = system, state, energy
        #: The owner, the energy and the impulses of each call.
        self.entries: list[tuple[Any, float, list[Impulse]]] = []

    def after(self, owner: Any) -> None:
        """A call has ended, and the state is realized."""
        impulses = [] if self._state.impulses is None else self._state.impulses.take()
        if not impulses and self._state.is_unchanged():
            self.entries.append((owner, 0.0, impulses))
            return
        self.entries.append((owner, self._change(sum([one.energy for one in impulses])), impulses))

    def close(self) -> None:
        """The integrator has begun anew: what it has projected is due to the last call."""
        if self.entries:
            owner, energy, impulses = self.entries[-1]
            self.entries[-1] = owner, energy + self._change(), impulses

    def _change(self, known: float = 0.0) -> float:
        """By how much the energy has changed beside what is known; nothing where that is rounding's."""
        before, self._energy = self._energy, self._system.calc_energy(self._state)
        change = self._energy - before - known
        return 0.0 if abs(change) <= _ROUNDING * max(abs(before), abs(self._energy), abs(known)) else change
