"""Schedule: when handlers and reporters of many states are due, and the calls of Python for those that are.

Between these times states are in lanes. A handler of a class that changes no schedule of `event.Periodic` is due at times that
follow from the state's own; others say when, of a state, and are asked again when that has come.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..errors import MobodError
from ..event.agenda import Agenda, Call, changed_by_reporter, let_handle
from ..event.periodic import Periodic
from ..event.scheduled import Scheduled
from ..simulation.event_log import Account
from ..state.impulses import Impulses
from ..state.state import State
from ..state.subsystem import Subsystem
from ..system.system import MultibodySystem
from ..value.callers import callers_level

#: ``lend(i)`` gives state i, realized to ACCELERATION; the next call may overwrite it.
Lend = Callable[[int], "State"]


class Handled(NamedTuple):
    """Outcome of handlers: the one that ends the run, if any, whether anything has changed, and their account, if kept."""

    ends: Any
    changed: bool
    account: Account | None = None


class _At:
    """A state of which nothing is known but its time."""

    def __init__(self, time: float) -> None:
        self.time = time


class Schedule:
    """Times at which the handlers and reporters of each state are due.

    Parameters
    ----------
    system : MultibodySystem
    n : int
    accuracy : float
        The integrator's, for handlers.

    Attributes
    ----------
    handlers, reporters : (n,) arrays
        The next times; infinity where nothing is to come.
    stale : (n,) array of bool
        States whose times have to be asked for, since their own has been set.
    """

    def __init__(self, system: MultibodySystem, n: int, accuracy: float) -> None:
        self._system, self._agenda, self.accuracy = system, Agenda(system, Subsystem, accuracy), accuracy
        self.events = list(system.event_handlers), list(system.event_reporters)
        self.handlers, self.reporters = np.full(n, -np.inf), np.full(n, -np.inf)
        self._periodic = {}
        for kind, owners in (("handlers", system.event_handlers), ("reporters", system.event_reporters)):
            scheduled = [one for one in owners if isinstance(one, Scheduled)]
            self._periodic[kind] = all(type(one).get_next_event_time is Periodic.get_next_event_time for one in scheduled)
        self.stale = np.ones(n, bool)
        #: States of which reporters have been called in this run.
        self.shown: set[int] = set()
        #: Whether times have changed since who goes by them has taken them over.
        self.has_changed = True

    @staticmethod
    def of(system: MultibodySystem) -> bool:
        """True if anything of the system is scheduled."""
        return any(isinstance(one, Scheduled) for one in (*system.event_handlers, *system.event_reporters))

    def set_stale(self, which: Any = slice(None)) -> None:
        """The times of states have been set."""
        self.stale[which] = self.has_changed = True
        self.shown.clear()

    def begin(self, times: Array, lend: Lend) -> None:
        """Ask for the next times of states whose own has been set; *times* are those of all."""
        which = np.flatnonzero(self.stale)
        for kind, ask in (("handlers", self._agenda.next_event), ("reporters", self._agenda.next_report)):
            target = getattr(self, kind)
            if self._periodic[kind]:
                at, places = np.unique(times[which], return_inverse=True)
                found = np.array([ask(_At(time), True)[0] for time in at.tolist()])  # type: ignore[arg-type]
                target[which] = found[places]
                continue
            for i in which.tolist():
                target[i] = ask(lend(i), True)[0]
        self.stale[which] = False

    def ask_of(self, i: int, state: State, now_too: bool, reports_now_too: bool) -> None:
        """The same of one state, which is realized."""
        self.handlers[i] = self._agenda.next_event(state, now_too)[0]
        self.reporters[i] = self._agenda.next_report(state, reports_now_too)[0]
        self.stale[i], self.has_changed = False, True

    # ------------------------------------------------------------------------------------------ calls

    def report(self, i: int, state: State) -> None:
        """Show state i to the reporters that are due; an error of theirs is passed on."""
        time, calls = self._agenda.next_report(state, True)
        self.shown.add(i)
        if time == state.time:
            show(state, calls)
        self.reporters[i] = self._agenda.next_report(state, time != state.time)[0]


def why_failed(i: int, error: Exception) -> str:
    """Why state i of an ensemble cannot go on after a part in Python has raised an *error*: a warning tells of a user's own."""
    if isinstance(error, MobodError):
        return str(error)
    why = f"{type(error).__name__}: {error}"
    warnings.warn(f"state {i} of the ensemble: {why}", RuntimeWarning, stacklevel=callers_level())
    return why


def show(state: State, calls: Iterable[Call]) -> None:
    """Call reporters with a state, which they must not change."""
    for owner, call in calls:
        state.mark_unchanged()
        call(state)
        if not state.is_unchanged():
            raise changed_by_reporter(owner, state.time)


def change(
    system: MultibodySystem, state: State, calls: Iterable[Call], impulses: Impulses, account: Account | None
) -> Handled:
    """Call handlers with a state of a run: locks act by *impulses*, with a warning where a constraint is off by more."""
    y = state.y_values.tobytes()
    state.mark_unchanged()
    state.impulses = impulses
    try:
        ends = let_handle(system, state, calls, state.time, None if account is None else account.after)
    finally:
        state.impulses = None
    return Handled(ends, not state.is_unchanged() or y != state.y_values.tobytes(), account)
