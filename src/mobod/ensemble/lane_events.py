"""LaneEvents: what Python does where witnesses have changed sign, of states that keep their lanes meanwhile.

Kernels find the events (`lanes.events`), leave a state at one in its row, and return. Its reporters and handlers are called as
a time stepper calls them; a state that they have not changed goes on within its step, one that they have begins anew where it
is, and one that they have made other than what states in lanes share goes on alone.
"""

# ruff: noqa: SLF001  (it is a part of its ensemble, in a class of its own)
from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..algebra.arrays import Array
from ..errors import MobodError, ModelError
from ..event import ImpactWhen
from ..event.agenda import Agenda
from ..event.watch import Found
from ..integrator import Integrator
from ..simulation.accumulation import Accumulation
from ..simulation.event_log import Account, EventLog
from ..state.subsystem import Subsystem
from ..value.callers import callers_level
from .lanes import layout
from .lanes.witnesses import CROSSED, SEEN
from .one_by_one import OTHER_CHOICES, has_choices_of
from .schedule import Handled, change, show

if TYPE_CHECKING:
    from ..state.state import State
    from .lane_runs import LaneRuns, LaneWorker


class Owner(Protocol):
    """A run of all states, or a call that steps them."""

    onward: Array

    def log_of(self, i: int) -> EventLog:
        """The log of the events of state *i*."""

    def ended(self, i: int, time: float, handler: Any) -> None:
        """A handler has ended the run of state *i*, which is where that has left it."""

    def failed(self, i: int, why: str) -> None:
        """A part in Python has raised an error: state *i* cannot go on."""

    def goes_alone(self, i: int) -> None:
        """State *i* is to go on alone, as handlers have left it."""

    def changed(self, i: int, state: State) -> None:
        """Handlers have changed state *i*, which is at an event."""


class LaneEvents:
    """The events of states in lanes.

    Parameters
    ----------
    ensemble : Ensemble
    lanes : LaneRuns
    integrator : Integrator
    owner : Owner
    """

    def __init__(self, ensemble: Any, lanes: LaneRuns, integrator: Integrator, owner: Owner) -> None:
        self._ensemble, self._lanes, self._integrator, self._owner = ensemble, lanes, integrator, owner
        self._system = system = ensemble._system
        self._agenda = Agenda(system, Subsystem, integrator.accuracy)
        self._impacts = [one for one in system.event_handlers if isinstance(one, ImpactWhen)]
        self._accumulations: dict[int, Accumulation] = {}
        #: Whether what handlers leave is to be brought to a manifold.
        self._projects = bool(ensemble._template.is_constrained or ensemble._template.tree.fields["has_quaternion"].any())
        #: Users' parts, and what is lent them, are for one thread at a time.
        self._lock = threading.Lock()

    def forget(self, i: int) -> None:
        """State *i* begins again."""
        self._accumulations.pop(i, None)

    def answer(self, worker: LaneWorker) -> None:
        """Call what is to be called for the states in a worker's lanes, which then go on."""
        lanes = worker.lanes
        with self._lock:
            for lane in np.flatnonzero(lanes[layout.CALLS] == layout.WAITING).tolist():
                i = int(lanes[layout.STATE, lane])
                crossed = worker.seen[CROSSED::SEEN, 0, lane].tolist()
                which = [(one, sign > 0.0) for one, sign in zip(self._lanes.called, crossed, strict=False) if sign != 0.0]
                time = float(self._ensemble._time[i, 0])
                found = Found(time, time, [one for one, _ in which], [rising for _, rising in which])
                lanes[layout.CALLS, lane] = 0
                changed = self._happens(i, found)
                if changed is None:
                    worker.free(lane)
                elif changed:
                    lanes[layout.CALLS, lane] = layout.ANEW
                else:
                    lanes[layout.SEEKS, lane] = 1

    def _happens(self, i: int, found: Found) -> bool | None:
        """Something has happened to state *i*; whether it has changed that, and None where it does not go on in its lane."""
        owner = self._owner
        try:
            done = self._call(i, found)
        except MobodError as error:
            self._ensemble._lent = None
            owner.failed(i, str(error))
            return None
        except Exception as error:  # of a user's own part
            self._ensemble._lent = None
            why = f"{type(error).__name__}: {error}"
            warnings.warn(f"state {i} of the ensemble: {why}", RuntimeWarning, stacklevel=callers_level())
            owner.failed(i, why)
            return None
        if done.ends is not None:
            owner.ended(i, found.high, done.ends)
            return None
        if done.changed:
            self._lanes.restart(owner.onward[i], found.high)
            if i in self._ensemble._departures:
                owner.goes_alone(i)
                return None
        return done.changed

    def _call(self, i: int, found: Found) -> Handled:
        """Call reporters, and then handlers; the state is put back where these have changed it."""
        ensemble, log = self._ensemble, self._owner.log_of(i)
        known = self._accumulations.get(i)
        if known is None:
            known = self._accumulations[i] = Accumulation()
        known.refuse(found, self._lanes.windows)
        state = ensemble._lend_realized(i)
        reports = self._agenda.calls_for(found.which, True)
        if reports:
            show(state, reports)
            log.add_found(found, True)
        known.add(found)
        calls = self._agenda.calls_for(found.which, False)
        if not calls:
            return Handled(None, False)
        for one in self._impacts:
            one.resolved = self._integrator.flight_resolution(state.q_values)
        account = Account(self._system, state, self._system.calc_energy(state))
        if state.tree.remembers or state.resources is not None:  # what was there just before counts
            state.end_step(found.high)
        done = change(self._system, state, calls, self._integrator.constraint_tolerance, account)
        if done.changed:
            if not has_choices_of(ensemble._template, state):
                raise ModelError(OTHER_CHOICES)
            if self._projects:
                self._system.project(state, self._integrator.constraint_tolerance)
                self._system.realize(state)
                account.close()
        log.add_found(found, False, account)
        log.add_account(found.high, account, "", {id(one.owner) for one in found.which})
        if done.changed:
            ensemble._put_back(i, state)
            self._owner.changed(i, state)
            if i in ensemble._departures:
                ensemble._lent = None
        return done
