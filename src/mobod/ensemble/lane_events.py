"""LaneEvents: what Python does at the events of states in lanes, which keep these meanwhile.

Kernels return where witnesses have changed sign (`lanes.events`), or where handlers or reporters are due, and leave the state
that is there in its row. They are called as a time stepper calls them; a state that they have not changed goes on within its
step, one that they have begins anew where it is, one whose contacts have closed or opened waits for a lane of its like, and one
that they have made other than states in lanes can be goes on alone.
"""

# ruff: noqa: SLF001  (it is a part of its ensemble, in a class of its own)
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..event.agenda import Agenda
from ..event.watched import Found, found_of
from ..integrator import Integrator
from ..simulation.accumulation import Accumulation
from ..simulation.event_log import Account, EventLog
from ..state.impulses import Impulses
from ..state.subsystem import Subsystem
from ..stepping.record import EVENT, STATE
from ..stepping.witnesses import CROSSED, SEEN
from .lanes import layout
from .one_by_one import OTHER_CHOICES, has_choices_of
from .schedule import Handled, Schedule, change, show, why_failed

if TYPE_CHECKING:
    from ..state.state import State
    from .lane_runs import LaneRuns, LaneWorker
    from .state_runs import StateRuns


class Owner(Protocol):
    """A run of all states, or a call that steps them."""

    onward: Array

    def log_of(self, i: int) -> EventLog:
        """The log of the events of state *i*."""

    def ended(self, i: int, time: float, handler: Any) -> None:
        """A handler has ended the run of state *i*, which is where that has left it."""

    def failed(self, i: int, why: str) -> None:
        """A part in Python has raised an error: state *i* cannot go on."""

    def goes_alone(self, i: int, changed: bool) -> None:
        """State *i* is to go on alone: as it is, or as handlers have *changed* it."""

    def waits(self, i: int, state: State) -> None:
        """State *i*, which handlers have left as *state*, is to go on in a lane of the constraints that are enabled in it."""


class LaneEvents:
    """The events of states in lanes.

    Parameters
    ----------
    ensemble : Ensemble
    lanes : LaneRuns or StateRuns
        Of the constraints that states share.
    integrator : Integrator
    owner : Owner
    schedule : Schedule, optional
        Where anything of the system is scheduled.
    stops_at_reports : bool
        Whether steps end where reporters are called, as those of `TimeStepper.step` do.
    """

    def __init__(
        self,
        ensemble: Any,
        lanes: LaneRuns | StateRuns,
        integrator: Integrator,
        owner: Owner,
        schedule: Schedule | None,
        stops_at_reports: bool = False,
    ) -> None:
        self._schedule, self._stops_at_reports = schedule, stops_at_reports
        self._ensemble, self._lanes, self._integrator, self._owner = ensemble, lanes, integrator, owner
        self._system = system = ensemble._system
        self._agenda = Agenda(system, Subsystem, integrator.accuracy)
        self._agenda.contacts = lanes.contacts
        self._accumulations: dict[int, Accumulation] = {}
        #: When contacts of states closed or opened.
        self._times_of_contacts: dict[int, list[float]] = {}
        #: Whether what handlers leave is to be brought to a manifold, whatever is enabled.
        self._projects = bool(ensemble._template.tree.fields["has_quaternion"].any())
        #: Users' parts, and what is lent them, are for one thread at a time.
        self._lock = threading.Lock()

    def forget(self, i: int) -> None:
        """State *i* begins again."""
        for known in (self._accumulations, self._times_of_contacts):
            known.pop(i, None)

    def begin(self) -> None:
        """Runs are about to begin: find out when what is scheduled is due."""
        if self._schedule is not None:
            self._schedule.begin(self._ensemble._time[: len(self._ensemble), 0], self._ensemble._lend_realized)
            handlers, reporters = self._schedule.handlers, self._schedule.reporters
            stops = np.minimum(handlers, reporters) if self._stops_at_reports else handlers
            self._owner.onward[: len(self._ensemble), layout.STOP_AT] = stops
            self._owner.onward[: len(self._ensemble), layout.REPORT_AT] = reporters
            self._schedule.has_changed = False

    def _put_due(self, i: int) -> tuple[float, float]:
        """Note where steps of state *i* are to end, where handlers are due and, where these are exact, reporters; and these."""
        assert self._schedule is not None
        stop, report = self._schedule.handlers.item(i), self._schedule.reporters.item(i)
        if self._stops_at_reports:
            stop = min(stop, report)
        row = self._owner.onward[i]
        row[layout.STOP_AT], row[layout.REPORT_AT] = stop, report
        return stop, report

    def is_done(self, i: int) -> tuple[bool, bool]:
        """True of handlers, and of reporters, if those that are due at the time of state *i* have been called."""
        if self._schedule is None:
            return False, False
        time = self._ensemble._time[i, 0]
        return bool(self._schedule.handlers[i] > time), bool(self._schedule.reporters[i] > time)

    def take_up(self, i: int, state: State, handled: bool, reported: bool) -> None:
        """State *i* takes a lane again, as *state*, where what is due may have been *handled*, and *reported*."""
        if self._schedule is not None:
            self._schedule.ask_of(i, state, not handled, not reported)
            self._put_due(i)

    def answer(self, worker: LaneWorker) -> None:
        """Call what is to be called for the states in a worker's lanes, which then go on."""
        lanes, control, schedule = worker.lanes, worker.control, self._schedule
        with self._lock:
            for lane in np.flatnonzero(lanes[layout.CALLS] == layout.WAITING).tolist():
                i = int(lanes[STATE, lane])
                time, found = self._ensemble._time.item(i, 0), None
                if control.item(EVENT, 0, lane) <= time and not (schedule is not None and schedule.reporters.item(i) <= time):
                    crossed = worker.seen[CROSSED::SEEN, 0, lane].tolist()
                    found = found_of(time, time, worker.plan.called, crossed)
                lanes[layout.CALLS, lane] = 0
                changed = self.happens(i, time, found, runs=worker.plan)
                if changed is None:
                    worker.free(lane)
                elif changed:
                    lanes[layout.CALLS, lane] = layout.ANEW
                elif found is not None:
                    lanes[layout.SEEKS, lane] = 1
                if schedule is not None:
                    control[layout.WAIT, 0, lane], control[layout.REPORTER, 0, lane] = self._put_due(i)

    def happens(
        self, i: int, time: float, found: Found | None = None, state: State | None = None, runs: LaneRuns | None = None
    ) -> bool | None:
        """Something happens to state *i*, or is due; whether it has changed that, and None where it does not go on in its lane.

        It is at *state*, where that is given, else where it is kept; its lane is one of these *runs*.
        """
        owner, contacts = self._owner, self._lanes.contacts
        try:
            if state is None:
                state = self._ensemble._lend_realized(i)
            if found is None and self._schedule is not None and self._schedule.reporters.item(i) <= time:
                self._schedule.report(i, state)
                return False
            if found is not None and contacts is not None and contacts.still_hold(state, found):
                owner.goes_alone(i, False)
                return None
            done = self._call(i, state, found)
        except Exception as error:
            self._ensemble._lent = None
            owner.failed(i, why_failed(i, error))
            return None
        if done.ends is not None:
            self._ensemble._put_back(i, state)
            owner.ended(i, time, done.ends)
            return None
        if done.changed:
            self._restart(owner.onward[i], time)
            return self._goes_on(i, state, runs)
        return False

    def _goes_on(self, i: int, state: State, runs: LaneRuns | None) -> bool | None:
        """Handlers have changed state *i*: whether it goes on in its lane; None where in another, or alone."""
        owner, overrides = self._owner, self._ensemble._overrides.get(i)
        sets = None if runs is None else self._lanes.sets
        if sets is None:
            enabled = b"" if overrides is None else None
        else:
            enabled = sets.takes(state, overrides)
        if enabled is None:
            owner.goes_alone(i, True)
            return None
        if sets is not None:
            sets.begin(i, state)
        owner.onward[i, layout.CONTACTS] = layout.JUST
        if sets is not None and sets.runs_of(enabled, i) is not runs:
            owner.waits(i, state)
            return None
        return True

    def _restart(self, onward: Array, time: float) -> None:
        """Handlers have changed a state at *time*, of which a row says how it goes *onward*: as a `TimeStepper` does then."""
        began, reach = onward[layout.BEGAN : layout.REACH + 1].tolist()
        reach = max(time - began, 0.5 * reach)
        if self._integrator.fixed_step_size is None and reach > 0.0:
            onward[layout.NEXT_SIZE] = max(self._integrator.min_step_size or 0.0, min(onward[layout.NEXT_SIZE], reach))
        onward[layout.NEXT_PART : layout.REACH + 1] = 0.0, 0.0, time, reach

    def _call(self, i: int, state: State, found: Found | None) -> Handled:
        """Call triggered reporters, and handlers, or those that are due; the state is put back where these have changed it."""
        ensemble, agenda, log = self._ensemble, self._agenda, self._owner.log_of(i)
        if found is None:
            when, due = agenda.next_event(state, True)
            calls = due if when == state.time else []
        else:
            known = self._accumulations.get(i)
            if known is None:
                known = self._accumulations[i] = Accumulation()
            reports, calls = agenda.calls_for(found.which)
            if reports:
                show(state, reports)
                log.add_found(found, True)
            known.add(found)
            if not calls:
                return Handled(None, False)
        contacts, impulses = self._lanes.contacts, Impulses(self._integrator.constraint_tolerance)
        if contacts is not None:  # which may be struck, or let go, by what the others do
            impulses.contact_times = self._times_of_contacts.setdefault(i, [])
            if all(owner is not contacts for owner, _ in calls):
                calls = [*calls, *agenda.calls_for_contacts()]
        for one in agenda.impacts:
            one.resolved = self._integrator.flight_resolution(state.q_values)
        account = Account(self._system, state, self._system.calc_energy(state))
        if state.tree.remembers or state.resources is not None:  # what was there just before counts
            state.end_step(state.time)
        done = change(self._system, state, calls, impulses, account)
        if done.changed:
            if not has_choices_of(ensemble._template, state):
                raise ModelError(OTHER_CHOICES)
            if self._projects or state.is_constrained:
                self._system.project(state, self._integrator.constraint_tolerance)
                self._system.realize(state)
                account.close()
        told: set[int] = set()
        if found is not None:
            log.add_found(found, False, account)
            told = {id(one.owner) for one in found.which}
        log.add_account(state.time, account, "scheduled" if found is None else "", told, contacts)
        if self._schedule is not None:
            still_due = found is not None and self._schedule.handlers[i] <= state.time
            self._schedule.ask_of(i, state, still_due, self._schedule.reporters[i] <= state.time)
        if done.changed:
            ensemble._put_back(i, state)
            if i in ensemble._overrides:
                ensemble._lent = None
        return done
