"""TimeStepper: advances a state in time, stopping at given times, and handles events."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np

from ..contact.separation import find_deep, say_deep
from ..errors import ConvergenceError, ModelError, TopologyError
from ..event import Cause, PeriodicHandler, Termination, TerminationReason
from ..event.agenda import Agenda, Call, changed_by_reporter, let_handle
from ..event.watched import Found
from ..integrator import Integrator
from ..integrator.quick import Quick
from ..integrator.watch import Watch
from ..state.impulses import Impulses
from ..state.state import State
from ..state.subsystem import Subsystem
from ..state.validity import EVERYTHING, unchanged_bit
from ..stepping import record as rk
from ..system.arguments import check_state, check_system
from ..system.system import MultibodySystem
from ..unilateral.problem import contact_table
from ..unilateral.violated import find_violated, say_violated
from ..value.attributes import Sealed
from ..value.callers import callers_level
from ..value.checks import flag, positive
from ..value.stage import TIME as _TIME, VELOCITY as _VELOCITY, Stage
from .accumulation import Accumulation
from .checkpoint import load_checkpoint, parts_fingerprint, save_checkpoint
from .event_log import Account, EventLog
from .events import Events
from .reports import Reports
from .step_status import StepStatus

_UNLIMITED = 1 << 62
_NEVER, _REACHED = float("inf"), StepStatus.REACHED_REPORT_TIME
#: What a state's `valid` is after a step, and the bit that setters clear.
_UNCHANGED = unchanged_bit(Stage.REPORT)
_AT_END = EVERYTHING | _UNCHANGED


class TimeStepper(Sealed):
    """Advances a state in time with an integrator, and calls the system's event handlers and reporters.

    Parameters
    ----------
    system : MultibodySystem
    integrator : Integrator

    Notes
    -----
    The order at one time: first reports, with the state before events; then `step_to` returns if it was called for that time;
    at the next call handlers of witnesses that have changed sign, then scheduled handlers, each kind in the order in which
    they were added, each with the state left by the one before. If handlers have changed the state, prescribed q and u are
    set, quaternions are normalized, and the integrator restarts with its present step size; otherwise it goes on unaffected.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
    >>> stepper.initialize(state)
    >>> stepper.step_to(0.5)
    <StepStatus.REACHED_REPORT_TIME: 1>
    >>> stepper.time
    0.5
    """

    INNER = frozenset(
        """
        began begun_before calls_subsystems contact_events goal has_been_ended has_events initialized is_dealt_with
        closed_are_handled contacts_are_handled log may_be_saved parts_at_start reach return_at_rest warns_of_overlap
        counts_from_violated pass_over step_exactly_to step_through
        """.split()
    )

    # slots refuse unknown attributes at no cost: stepping assigns a few of them each time
    __slots__ = (
        "__weakref__",
        "_accumulation",
        "_agenda",
        "_announced_at",
        "_due",
        "_final",
        "_found",
        "_handled_at",
        "_integrator",
        "_last_step",
        "_log",
        "_now",
        "_reach",
        "_reported_at",
        "_reports_all",
        "_rest",
        "_rest_at",
        "_rows",
        "_starts",
        "_step_due",
        "_termination",
        "_watch",
        "began",
        "closed_are_handled",
        "contacts_are_handled",
        "goal",
        "initialized",
        "may_be_saved",
        "parts_at_start",
        "system",
        "warns_of_overlap",
    )
    __setattr__ = object.__setattr__

    def __init__(self, system: MultibodySystem, integrator: Integrator) -> None:
        check_system("TimeStepper", system)
        _check_integrator(integrator, system)
        self.system, self._integrator = system, integrator
        self.initialized = self._reports_all = False
        self._termination: Termination | None = None
        #: Where a run is to come to that goes there in several calls; None where each goes where it says.
        self.goal: float | None = None
        #: After a step without an event `step_to` returns, if a function of the state allows that; and at which step.
        self._rest: Callable[[State], bool] | None = None
        self._rest_at = _UNLIMITED
        #: What is reported on the way.
        self._rows = Reports()
        #: Whether checkpoints may be wanted, for which parts in Python have to be looked at where the run starts.
        self.may_be_saved = True
        #: Whether to say of surfaces that they start deep in each other, of contacts that they are violated; not where a run
        #: goes on that others have begun.
        self.warns_of_overlap = True
        #: Whether it has been found out what unilateral contacts do where it begins: all, or those that are closed.
        self.contacts_are_handled = self.closed_are_handled = False
        #: Fingerprints of the system's parts in Python where the run started, for checkpoints; None where no part changes on
        #: the way, until they are wanted.
        self.parts_at_start: dict[str, dict[str, str]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        if self.initialized:
            self._leave_quick()
        left_out = "__weakref__", "_rest", "_rest_at", "_rows"
        return {name: getattr(self, name) for name in self.__slots__ if name not in left_out and hasattr(self, name)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self._rows, self._rest, self._rest_at = Reports(), None, _UNLIMITED
        for name, value in kept.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        where = f"at time {self.time:.6g}" if self.initialized else "not initialized"
        return f"<TimeStepper of {self.system.name!r} with {self._integrator.get_method_name()}, {where}>"

    @property
    def integrator(self) -> Integrator:
        """The integrator, with its statistics."""
        return self._integrator

    def get_integrator(self) -> Integrator:
        """The integrator, with its statistics."""
        return self._integrator

    def set_integrator(self, integrator: Integrator) -> None:
        """Take another integrator of the same system; call `initialize` then. `TopologyError` if it is of another system."""
        _check_integrator(integrator, self.system)
        self._integrator, self.initialized, self._termination = integrator, False, None

    def set_report_all_significant_states(self, report_all: bool) -> None:
        """Say whether `step_to` also returns at scheduled reports, before and after events, and at the step limit."""
        self._reports_all = flag("report_all", report_all)
        self._integrator.quick = None

    def get_report_all_significant_states(self) -> bool:
        """True if `step_to` also returns at scheduled reports, before and after events, and at the step limit."""
        return self._reports_all

    def initialize(self, state: State) -> None:
        """Start from a copy of *state*, whose q and u become those that locks and motions prescribe.

        To lock, unlock or switch a motion on the way, let an event handler do it, or change a copy of `state` and start from
        that. Event handlers and reporters that are added to the system later take part from the next call on.

        Raises
        ------
        ModelError
            If its values are not finite, or give no finite accelerations.
        TypeError, TopologyError
            If it is none, of another system, or older than its last change.

        Warns
        -----
        UserWarning
            Surfaces start deep in each other, or open unilateral contacts are violated by more than the constraint tolerance:
            which, and by how much.
        """
        check_state("initialize", self.system, state)
        copy = state.copy()
        if copy.stage < 2:
            self.system.realize_model(copy)
        self.system.begin_measures(copy)
        contacts = self.contact_events(copy)
        self._integrator.begin_run(copy)
        copy.impulses = Impulses(self._integrator.constraint_tolerance)
        self.initialized, self._termination = False, None
        self._final = float(self._integrator.control[rk.FINAL_TIME])
        self._log = EventLog(self.system)
        self._agenda = Agenda(self.system, Subsystem, self._integrator.get_accuracy_in_use())
        self._agenda.contacts = contacts
        self._now = copy.time
        #: When scheduled events were handled last, when reports were made, and when it was said that an event has come.
        self._handled_at = self._reported_at = self._announced_at = -np.inf
        self._step_due: float | None = None
        #: Scheduled events whose time has come, and what handles them.
        self._due: tuple[float, list[Call]] | None = None
        self._starts = True
        of_contacts = self._gather_contacts(copy)
        if self.warns_of_overlap:
            self._warn_of_overlap(copy, of_contacts)
        self._found: Found | None = None
        self._accumulation: Accumulation | None = None
        self._watch: Watch | None = None
        #: When the present interval began, and how far steps may go after an event.
        self.began, self._reach = self._now, 0.0
        calls = self._agenda.calls_of_subsystems(Cause.INITIALIZATION)
        known = contacts is None or self.contacts_are_handled
        works = not known and contacts.has_work(copy, of_contacts, self.closed_are_handled)
        if contacts is not None and (calls or works):
            calls += self._agenda.calls_for_contacts()
        changes = self.system.calls_back or self.system.event_handlers or self.system.event_reporters
        self.parts_at_start = parts_fingerprint(self) if changes and self.may_be_saved else None
        self._begin_interval()
        if calls:
            self._handle(calls)
        copy.mark_unchanged()
        self.initialized = True

    def _gather_contacts(self, state: State) -> Any:
        """Gaps, rows and rates of unilateral contacts of a state that is realized; None where there are none."""
        has_contacts = self.system.get_matter_subsystem().unilateral_contacts
        return contact_table(state).gather(state) if has_contacts else None

    def _warn_of_overlap(self, state: State, of_contacts: Any) -> None:
        """Say which surfaces start deep in each other, and which unilateral contacts are violated."""
        if deep := find_deep(state):
            warnings.warn(say_deep(deep), stacklevel=callers_level())
        tolerance = self._integrator.constraint_tolerance
        if of_contacts is not None and (violated := find_violated(state, of_contacts, tolerance)):
            warnings.warn(say_violated(violated), stacklevel=callers_level())

    def contact_events(self, state: State) -> Any:
        """The handler of events of unilateral contacts; None where there are none, or the integrator steps them itself."""
        if self._integrator.steps_contacts or not self.system.get_matter_subsystem().unilateral_contacts:
            return None
        from ..unilateral.contact_events import contact_events  # with its kernels, where there are contacts

        self.system.may_slide = self.system.may_slide or contact_table(state).rubs
        return contact_events(state, self._integrator.get_accuracy_in_use())

    @property
    def state(self) -> State:
        """The present state, not a copy, realized to ACCELERATION at `time`; keep ``.copy()`` of it."""
        if not self.initialized:
            raise TopologyError("the time stepper has no state yet; call initialize(state)")
        return self._integrator.get_state()

    @property
    def time(self) -> float:
        """The state's time."""
        return self.state.time

    def get_state(self) -> State:
        """The present state, not a copy; the same as `state`."""
        return self.state

    def get_time(self) -> float:
        """The state's time; the same as `time`."""
        return self.time

    @property
    def has_events(self) -> bool:
        """True if anything may happen on the way."""
        return self._watch is not None or not self._agenda.is_empty or self.system.has_time_advanced_events()

    @property
    def events(self) -> Events:
        """Events since `initialize`, changes of locks and enabled parts between steps too: see `Trajectory.events`.

        Of very many events the last 100,000 are kept.

        Raises
        ------
        TopologyError
            If `initialize` was not called.
        """
        self._note_impulses(self.state)
        return Events(self._log.rows(), list(self._log.labels))

    @property
    def log(self) -> EventLog:
        """The same, to be taken by who keeps it."""
        return self._log

    @property
    def calls_subsystems(self) -> bool:
        """True if subsystems have hooks of events."""
        return self.system.has_time_advanced_events() or self._agenda.has_hooks

    @property
    def has_been_ended(self) -> bool:
        """True if an event handler has ended the simulation."""
        asked = TerminationReason.EVENT_HANDLER_REQUESTED_TERMINATION
        return self._termination is not None and self._termination.reason is asked

    @property
    def termination(self) -> Termination | None:
        """Why the simulation has ended; None while it has not."""
        return self._termination

    # ------------------------------------------------------------------------------------------ stepping

    def step_to(self, time: float) -> StepStatus:
        """Advance the state to *time*, or to the end of the simulation where that comes first.

        The end is the integrator's final time, or where an event handler asks for it; where there is a final time, *time* may
        be infinite. Calls after the end change nothing. An event at exactly *time* is handled when stepping goes on; at the
        final time it is handled at once.

        Returns
        -------
        StepStatus

        Raises
        ------
        ValueError
            If *time* is before the state's, or not finite where there is no final time; or if a handler tells a time of its
            next event that is past.
        ConvergenceError
            If the integrator cannot go on, `internal_step_limit` is reached, or events follow each other closer and closer;
            the state is the last good one.
        ModelError
            If a witness is not finite, a handler leaves a state that cannot be realized, or a reporter changes the state.

        Warns
        -----
        RuntimeWarning
            If steps come down a thousandfold while a mobilizer is near a singular configuration, which it names.

        Notes
        -----
        Errors of handlers and reporters are passed on, with the state before the event. Ctrl-C leaves the end of the last step,
        or the last report if that is later. In both cases stepping can go on.
        """
        state = self.state
        final = self._integrator.final_time
        self._leave_quick()
        self._integrator.counts[rk.NO_INTERPOLATION] = not self._integrator.allow_interpolation
        if not (math.isfinite(time) or (time == _NEVER and final is not None)):
            also = "; set a final_time of the integrator to step to the end" if time == _NEVER else ""
            raise ValueError(f"the time to step to has to be finite, got {time}{also}")
        if time < state.time:
            raise ValueError(f"the state is at time {state.time}, beyond {time}; initialize anew to go back")
        if self.has_been_ended or (self._termination is not None and final is not None and final <= state.time):
            return StepStatus.END_OF_SIMULATION
        self._termination = self._integrator.termination = None  # the end has been put off
        self._final = np.inf if final is None else final
        if not state.is_unchanged() or self._agenda.is_set_anew():
            self._take_up()
        if self._reports_all and self._starts:
            self._starts = False
            return StepStatus.START_OF_CONTINUOUS_INTERVAL
        self._integrator.set_out_for(min(self.goal or time, self._final))
        limit = self._integrator.internal_step_limit or _UNLIMITED
        self._last_step = self._integrator.get_num_steps_taken() + limit
        try:
            while True:
                handlers = self._agenda.periodic()
                status = self._step_by_periods(handlers, time) if handlers else None
                if status is None:
                    if self._integrator.quick is not None:
                        self._integrator.quick.is_ready = False
                    self._integrator.counts[rk.NO_INTERPOLATION] = not self._integrator.allow_interpolation
                    status = self._step(float(time))
                if status is not None:
                    return status
        except KeyboardInterrupt:
            # interrupted between steps while the state was being moved: back to the beginning of the last step, or to the last
            # report, so that nothing is skipped when stepping goes on
            if self.state.stage < Stage.ACCELERATION or self.state.valid & EVERYTHING != EVERYTHING:
                self._arrive(max(self._now, self._integrator.previous_time()))
            raise
        finally:
            self._integrator.get_state().mark_unchanged()

    def step_through(self, rows: Reports, time: float) -> StepStatus:
        """`step_to`, with rows that are made on the way, up to the end where that comes before."""
        self._rows = rows
        try:
            return self.step_to(time)
        finally:
            self._rows = Reports()

    def step(self, duration: float) -> StepStatus:
        """Advance the state by *duration*; for loops in Python that set something, step, and look.

        A step ends exactly there, never beyond as those of `step_to` may, so that what is set next holds from there on. With
        an explicit method and no parts in Python a call costs little more than the steps themselves, also beside witnesses of
        the package and handlers that are not due. `step_to` in between makes the next call a longer one.

        Parameters
        ----------
        duration : float
            Positive; time. With ``fixed_step_size`` of the integrator, steps are of that size but for the last.

        Returns
        -------
        StepStatus
            As of `step_to`.

        Raises
        ------
        ValueError
            If *duration* is not positive and finite.
        ConvergenceError, ModelError
            As `step_to`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> stepper = mb.TimeStepper(system, mb.integrator.SemiExplicitEuler(system, fixed_step_size=1e-3))
        >>> stepper.initialize(state)
        >>> for _ in range(1000):
        ...     stepper.state.u = 0.999 * stepper.state.u
        ...     status = stepper.step(1e-3)
        >>> round(stepper.time, 9)
        1.0
        """
        quick = self._integrator.quick
        if quick is None or not quick.alone:
            return self._step_slowly(duration)
        state = quick.state
        if state.stage_number < _TIME or state.token is not quick.token or state.instance_token is not quick.instance_token:
            return self._step_slowly(duration)
        try:
            end = self._now + duration
            if not self._now < end < quick.due or (quick.asks and not self._is_clear(quick, end)):
                return self._step_slowly(duration)
            if not quick.is_ready:
                quick.get_ready()
            status = quick.go(end)
        except TypeError:
            return self._step_slowly(duration)
        if status == rk.REACHED:
            self._now = end
            return _REACHED
        return self._go_on(status, end)

    def step_exactly_to(self, end: float) -> StepStatus:
        """`step` to a given time."""
        quick = self._integrator.quick
        if quick is None or not quick.alone or quick.state.stage_number < _TIME or not self._now < end < quick.due:
            return self._step_slowly(end - self._now, end)
        if quick.state.instance_token is not quick.instance_token:
            return self._step_slowly(end - self._now, end)
        if quick.asks and not self._is_clear(quick, end):
            return self._step_slowly(end - self._now, end)
        if not quick.is_ready:
            quick.get_ready()
        status = quick.go(end)
        if status != rk.REACHED:
            return self._go_on(status, end)
        self._now = end
        return _REACHED

    def pass_over(self, handled: bool, reported: bool) -> None:
        """Say whether what is due at the state's time, where the run begins, has been *handled* and *reported* already."""
        self._handled_at = self._now if handled else -np.inf
        self._reported_at = self._now if reported else -np.inf

    def begun_before(self, began: float, reach: float, handled: bool, reported: bool) -> None:
        """Say when the present interval began, how far a step may go after an event, and the same as `pass_over`."""
        self.began, self._reach = began, reach
        self.pass_over(handled, reported)

    def return_at_rest(self, is_free: Callable[[State], bool]) -> None:
        """Let `step_to` return REACHED_STEP_LIMIT after a step without an event, if *is_free* is true of the state."""
        self._rest, self._rest_at = is_free, self._integrator.get_num_steps_taken() + 1

    @property
    def counts_from_violated(self) -> bool:
        """True if the present interval has begun with violated contacts, whose events count from there until it ends."""
        return self._watch is not None and self._watch.is_raised

    @property
    def reach(self) -> float:
        """The longest step that may follow an event."""
        return self._reach

    @property
    def is_dealt_with(self) -> tuple[bool, bool]:
        """True if what is due at the state's time has been handled, and reported."""
        return self._handled_at == self._now, self._reported_at == self._now

    def _go_on(self, status: int, end: float) -> StepStatus:
        """A step in one call has not got to its end: the way that finds out why, or goes on."""
        state, watch = self._integrator.get_state(), self._watch
        state.invalidate_q()
        if status in (rk.SUSPECT, rk.FOUND) and watch is not None:
            try:
                watch.step_ended()
            except BaseException:
                self._stop_halfway(end)
                raise
            self._arrive(max(self._now, self._integrator.previous_time()))  # an event may come from there on
            state.mark_unchanged()
            return self._step_by_events(end)
        if status != rk.NOT_TAKEN_UP:
            self._arrive(self._integrator.get_advanced_time())
            state.mark_unchanged()
        return self._step_slowly(end - self._now, end)

    def _is_clear(self, quick: Quick, end: float) -> bool:
        """True if nothing that is to be asked is due up to *end*; then witnesses are watched anew if the state was changed."""
        state = quick.state
        if self._agenda.is_set_anew():
            return False
        for ask in quick.handlers:
            if not ask(state, self._handled_at != self._now) > end:
                return False
        for ask in quick.reporters:
            if not ask(state, self._reported_at != self._now) > end:
                return False
        if quick.watch is not None and not state.valid & _UNCHANGED:
            reach = self._reach = max(self._now - self.began, 0.5 * self._reach)
            self.began, control = self._now, quick.control
            if reach > 0.0 and control[rk.FIXED_STEP] == 0.0:
                control[rk.STEP] = max(control[rk.MIN_STEP], min(control[rk.STEP], reach))
        return True

    def _step_slowly(self, duration: float, end: float | None = None) -> StepStatus:
        """`step` where something else than the integrator's kernel has a part in it, or something is to be found out."""
        now = self.state.time
        if end is None:
            end = now + positive("duration", duration, ValueError)
        if self._integrator.get_advanced_time() != now:  # `step_to` has left the state within a step: one begins here
            self.state.valid &= ~_UNCHANGED
        began = self.began
        status = self._step_by_events(end)
        if self.began in (began, now):  # else an event has come, and another may soon
            self._find_quick()
        return status

    def _leave_quick(self) -> None:
        """Nothing is known any more of what happens beside steps in one call."""
        if self._integrator.quick is not None:
            self._integrator.quick.is_ready = self._integrator.quick.alone = False
        if self._watch is not None:
            self._watch.leave_loop()
            self._integrator.counts[rk.WATCHES] = 0

    def _step_by_events(self, end: float) -> StepStatus:
        """Step to *end* and not beyond, with all that happens on the way."""
        integrator = self._integrator
        allowed = integrator.allow_interpolation
        integrator.allow_interpolation = False
        try:
            return self.step_to(end)
        finally:
            integrator.allow_interpolation = allowed
            integrator.counts[rk.NO_INTERPOLATION] = not allowed

    def _find_quick(self) -> None:
        """Choose whether steps are taken in one call from here on: where nothing happens but what that can look at."""
        integrator, watch = self._integrator, self._watch
        if self._reports_all or self._termination is not None or self._due is not None or self._found is not None:
            return
        if watch is not None and not watch.can_enter_loop(self._now):
            return
        if self.system.has_time_advanced_events() or integrator.get_advanced_time() != self._now:
            return
        state = integrator.get_state()
        asked = self._agenda.asked(state, self._handled_at == self._now, self._reported_at == self._now)
        if asked is None:
            return
        quick = integrator.quick or integrator.find_quick()
        if quick is not None:
            quick.look_at(watch, *asked)

    def _step_by_periods(self, handlers: list[PeriodicHandler], time: float) -> StepStatus | None:
        """Go from event to event of periodic handlers as far as nothing else happens; a status if `step_to` is to return.

        It does what `_step` and `_handle` do, and leaves to them all that is out of the ordinary.
        """
        integrator = self._integrator
        if self._due is not None or self._reports_all or self._rows.accounts or integrator.get_advanced_time() != self._now:
            return None
        if min(time, self._rows.next_time) <= self._now:  # reports are of the state before events
            return None
        if self._found is not None or not (self._watch is None or self._watch.can_enter_loop(self._now)):
            return None
        quick = integrator.quick or integrator.find_quick()
        if quick is None or not quick.is_plain:
            return None
        quick.watch_by(self._watch)
        try:
            return self._go_by_periods(quick, handlers, time)
        finally:
            self._stop_watching(quick)

    def _stop_watching(self, quick: Quick) -> None:
        """Steps in one call come to an end, up to which no witness has changed sign."""
        if self._watch is not None:
            self._watch.leave_loop(True)
            quick.counts[rk.WATCHES], quick.is_ready = 0, False

    def _go_by_periods(self, quick: Quick, handlers: list[PeriodicHandler], time: float) -> StepStatus | None:
        """See `_step_by_periods`."""
        integrator, state = self._integrator, quick.state
        kept, accuracy, rows = None, self._agenda.accuracy, self._rows
        while state.stage_number >= _TIME:
            include = self._handled_at != self._now
            due = [handler.get_next_event_time(state, include) for handler in handlers]
            event_time = min(due)
            if not self._now <= event_time <= time or event_time >= quick.last:
                break
            if event_time > self._now:
                if not quick.is_ready:
                    quick.get_ready()
                if rows.next_time > event_time:
                    status = quick.go(event_time)
                else:
                    if kept is not None:
                        rows.after_change(state)
                    status = rows.go(quick, event_time)
                if status != rk.REACHED:
                    state.invalidate_q()
                    if status == rk.NOT_TAKEN_UP and kept is not None:
                        self._stop_watching(quick)
                        self._realize_changed(kept)
                    elif status in (rk.SUSPECT, rk.FOUND) and self._watch is not None:
                        self._watch.step_ended()
                        self._arrive(max(self._now, integrator.previous_time()))  # an event may come from there on
                    else:
                        self._arrive(integrator.get_advanced_time())
                    if kept is not None:
                        rows.after_change(state)
                    return None
                self._now, kept = event_time, None
                if event_time == time:
                    return _REACHED
                if rows.is_pause_due(-1):  # by the clock alone
                    state.mark_unchanged()
                    rows.pause(integrator.get_num_steps_taken())
            if kept is not None or due.count(event_time) > 1:
                break
            handler, kept = handlers[due.index(event_time)], state.snapshot()
            energy = self.system.calc_energy(state)
            rows.before_calls()
            try:
                answer = handler.handle_event(state, accuracy)
            except BaseException:
                state.revert(kept)
                raise
            if (answer is None or answer is False) and state.stage_number >= _TIME:
                self._handled_at = self._now
                # q or u were set, or what witnesses see begins anew
                begins = not (self._watch is None or state.valid & _UNCHANGED) or self._agenda.is_set_anew()
                if begins or state.stage_number < _VELOCITY:
                    self._stop_watching(quick)
                    self._realize_changed(kept)
                    state.mark_unchanged()
                    rows.after_change(state)
                    kept, energy = None, self.system.calc_energy(state) - energy
                    self._log.add(self._now, (handler.name, "scheduled", "", ""), energy)
                    if not (self._watch is None or self._watch.can_enter_loop(self._now)):
                        return None
                    quick.watch_by(self._watch)
                else:
                    self._log.add(self._now, (handler.name, "scheduled", "", ""))
                continue
            self._stop_watching(quick)
            ended = self._handle([(handler, partial(_answer, answer))], (kept, energy), kind="scheduled")
            self._handled_at = self._now
            return ended
        if kept is not None and not state.is_unchanged():
            self._stop_watching(quick)
            self._realize_changed(kept)
            rows.after_change(state)
        return None

    def _realize_changed(self, kept: tuple[Any, ...]) -> None:
        """A handler has changed the state: go on from there; if that is impossible the state is as *kept*."""
        try:
            self._take_up()
        except BaseException:
            self._integrator.get_state().revert(kept)
            raise

    def _take_up(self) -> None:
        """Adopt changes of the state since the last step."""
        state = self._integrator.get_state()
        if state.time != self._now:
            raise ModelError(
                f"the stepper's state has been moved from time {self._now:.9g} to {state.time:.9g}; set anything but its time, "
                "or call initialize with a state of another time"
            )
        self._reach = max(self._now - self.began, 0.5 * self._reach)
        self._integrator.take_up(self._reach if self._reach > 0.0 else np.inf)
        self._note_impulses(state)
        found = self._found
        self._begin_interval()
        if found is not None and found.high <= self._now:  # announced, and still to be handled
            self._found = found

    def _step(self, time: float) -> StepStatus | None:
        """Go to the next report, event or end; a status if `step_to` is to return."""
        agenda, state = self._agenda, self._integrator.get_state()
        if self._due is None:
            event_time, handlers = agenda.next_event(state, self._handled_at != self._now)
        else:  # come already, but not handled: reports and triggered events of the same time go first
            event_time, handlers = self._due
        report_time, reporters = agenda.next_report(state, self._reported_at != self._now)
        stop = min(self._final, event_time)
        wanted = min(time, report_time, stop)
        if self._step_due is not None:
            wanted = min(wanted, self._step_due)
        while True:
            status = self._go(wanted, stop)
            if status is not None:
                return status
            found = self._found
            if found is None or found.high >= wanted:
                break
            status = self._trigger(found)
            if status is not None or agenda.has_schedule or self._step_due is not None:
                return status
        if self._step_due is not None and self._step_due < wanted:
            return self._advanced()
        self._arrive(wanted)
        self._due = (event_time, handlers) if wanted == event_time else None
        if wanted == report_time:
            self._report(reporters)
            self._reported_at = wanted
            if wanted < time and not (agenda.has_scheduled_events or self._reports_all or self._rows.accounts):
                self._report_on(time)
                return None
        if wanted == time and wanted < self._final:
            return StepStatus.REACHED_REPORT_TIME
        if self._reports_all and wanted == report_time and wanted < self._final:
            return StepStatus.REACHED_REPORT_TIME
        if found is not None and found.high <= wanted:
            return self._trigger(found)
        if wanted == self._step_due:
            return self._advanced()
        if wanted == event_time:
            if self._announces(wanted):
                return StepStatus.REACHED_SCHEDULED_EVENT
            status = self._handle(handlers, kind="scheduled")
            self._handled_at, self._due = wanted, None
            return status
        if wanted == self._final:
            return self._end(TerminationReason.REACHED_FINAL_TIME, None, "the final time is reached")
        return None

    def _report_on(self, time: float) -> None:
        """After reports within a step: make those that follow in it before *time* and before all else."""
        integrator, agenda, found = self._integrator, self._agenda, self._found
        last = min(time, self._final, integrator.get_advanced_time())
        for known in (self._step_due, None if found is None else found.high):
            last = last if known is None else min(last, known)
        while True:
            report_time, reporters = agenda.next_report(integrator.get_state(), False)
            if report_time >= last:
                return
            self._rows.report(integrator, report_time)
            self._arrive(report_time)
            self._report(reporters)
            self._reported_at = report_time

    def _go(self, wanted: float, stop: float) -> StepStatus | None:
        """Step until *wanted* is reached or passed, or an event is found before; a status if that is impossible."""
        integrator, watch, rows = self._integrator, self._watch, self._rows
        control, counts = integrator.control, integrator.counts
        returns, advances = integrator.return_every_internal_step, self.system.has_time_advanced_events()
        one_by_one = returns or advances
        integrator.aim_at(wanted)
        control[rk.FINAL_TIME] = stop if integrator.allow_interpolation else wanted
        control[rk.TARGET] = wanted
        status = rk.REACHED
        try:
            while True:
                reached, taken, found = control.item(rk.TIME), counts.item(rk.STEPS), self._found
                pauses = found is None and rows.is_pause_due(taken)
                if watch is not None and found is None:
                    stays = reached >= wanted or taken >= min(self._last_step, self._rest_at) or pauses
                    if status == rk.SUSPECT or stays or one_by_one or rows.accounts or not watch.searches_in_loop:
                        self._found = found = watch.search()
                if rows.accounts:
                    until = min(reached, wanted, np.inf if found is None else found.high)
                    rows.account(until, until == reached)
                if found is not None or reached >= wanted or self._step_due is not None:
                    rows.report(integrator, wanted if found is None else min(wanted, found.high))
                    return None
                if pauses:
                    self._arrive(max(self._now, reached))
                    integrator.get_state().mark_unchanged()
                    rows.pause(taken)
                if taken >= self._last_step:
                    return self._limit_reached(wanted)
                if taken >= self._rest_at and self._is_at_rest(reached):
                    return StepStatus.REACHED_STEP_LIMIT
                left = min(self._last_step, self._rest_at) - taken
                counts[rk.WATCHES] = watch.enter_loop(one_by_one) if watch is not None else -one_by_one
                status = rows.step(integrator, taken, left)
                if status == rk.FOUND:
                    assert watch is not None
                    self._found = watch.take_found()
                elif status == rk.SUSPECT:
                    if watch is None:
                        integrator.arrive_at_end()
                    else:
                        watch.step_ended()
                    if advances:
                        self._step_due = integrator.get_advanced_time()
                elif status in (rk.REACHED, rk.PAUSED):
                    if watch is not None:
                        watch.leave_loop(True)
                else:
                    integrator.fail(status)
                if returns and integrator.get_advanced_time() < wanted:
                    if watch is not None:
                        self._found = watch.search()
                    if self._found is None and self._step_due is None:
                        self._arrive(integrator.get_advanced_time())
                        return StepStatus.TIME_HAS_ADVANCED
        except ConvergenceError:
            self._now = integrator.get_state().time
            raise
        except BaseException:
            self._stop_halfway(wanted)
            raise
        finally:
            control[rk.TARGET], counts[rk.WATCHES] = np.inf, 0

    def _is_at_rest(self, reached: float) -> bool:
        """Report up to the end of the last step, and go there: true if `step_to` may return, which else is asked no more."""
        assert self._rest is not None
        self._rows.report(self._integrator, reached)
        self._arrive(reached)
        state = self._integrator.get_state()
        state.mark_unchanged()
        self._rest_at = _UNLIMITED
        return not self.counts_from_violated and self._rest(state)

    def _limit_reached(self, wanted: float) -> StepStatus:
        """The step limit was reached before *wanted*."""
        integrator = self._integrator
        reached = integrator.get_advanced_time()
        self._arrive(reached)
        if self._reports_all:
            return StepStatus.REACHED_STEP_LIMIT
        singular = "".join(f". {text}" for text in integrator.singularities().values())
        raise ConvergenceError(
            f"{integrator.internal_step_limit} steps ended at time {reached:.9g}, before {wanted:.9g}; "
            f"raise internal_step_limit{singular}"
        )

    def _stop_halfway(self, wanted: float) -> None:
        """After an exception outside the integrator: go to the end of the last step, but not beyond *wanted*."""
        reached = min(self._integrator.get_advanced_time(), wanted)
        if self._watch is not None:
            self._watch.leave_loop()
            reached = min(reached, self._watch.time)
        self._arrive(max(reached, self._now))

    def _arrive(self, time: float) -> None:
        """Put the state at *time*."""
        self._integrator.leave_at(time)
        self._now = float(time)

    # ------------------------------------------------------------------------------------------ events

    def _announces(self, time: float) -> bool:
        """True to return before the events of *time* are handled, which is once for all of them."""
        if not self._reports_all or self._announced_at == time:
            return False
        self._announced_at = time
        return True

    def _trigger(self, found: Found) -> StepStatus | None:
        """Witnesses have changed sign: report, and handle."""
        state = self._integrator.get_state()
        if state.valid & EVERYTHING == EVERYTHING and state.time == found.high:
            self._now = found.high  # the search has left it there
        else:
            self._arrive(found.high)
        watch, known, agenda = self._watch, self._accumulation, self._agenda
        assert watch is not None
        if known is None:
            known = self._accumulation = Accumulation()
        reports, calls = agenda.calls_for(found.which)
        if self._announced_at != found.high:
            if reports:
                self._report(reports)
                self._log.add_found(found, True)
            if self._announces(found.high):
                return StepStatus.REACHED_EVENT_TRIGGER
            self._announced_at = found.high
        known.add(found)
        self._found = None
        if agenda.contacts is not None and agenda.contacts.still_hold(state, found):
            self._hold_on()
            return None
        for handler in agenda.impacts:
            handler.resolved = self._integrator.flight_resolution(state.q_values)
        if not calls:
            self._log.add_found(found, False)
        try:
            status = self._handle(calls, found=found)
        except BaseException:
            self._found = found
            known.take_back(found)
            raise
        if self._watch is watch and watch.time < found.high:  # nothing has changed
            watch.resume()
        return status

    def _hold_on(self) -> None:
        """Multipliers of redundant rows have left the law, and other forces hold the same: Python is asked from here on."""
        self._reach = max(self._now - self.began, 0.5 * self._reach)
        self._integrator.restart(self._reach if self._reach > 0.0 else np.inf)
        self._begin_interval()

    def _advanced(self) -> StepStatus | None:
        """A step has ended, in a system that has events for that."""
        time = self._step_due
        assert time is not None
        self._arrive(time)
        if self._announces(time):
            return StepStatus.TIME_HAS_ADVANCED
        self._step_due = None
        try:
            status = self._handle(self._agenda.calls_of_subsystems(Cause.TIME_ADVANCED))
            return StepStatus.TIME_HAS_ADVANCED if status is None and self._integrator.return_every_internal_step else status
        except BaseException:
            self._step_due = time
            raise

    def _report(self, calls: list[Call]) -> None:
        """Show the state to reporters."""
        state = self._integrator.get_state()
        if calls:
            self._rows.before_calls()
        for owner, call in calls:
            kept = state.snapshot()
            state.mark_unchanged()
            try:
                call(state)
            except BaseException:
                state.revert(kept)
                raise
            if not state.is_unchanged():
                state.revert(kept)
                raise changed_by_reporter(owner, self._now)

    def _note_impulses(self, state: State) -> None:
        """Log what was set in the state between two steps."""
        if state.impulses is not None and state.impulses.found:
            self._log.add_impulses(state.impulses.take())

    def _handle(
        self, calls: list[Call], begun: tuple[Any, float] | None = None, found: Found | None = None, kind: str = ""
    ) -> StepStatus | None:
        """Call handlers; returns a status where `step_to` is to return. See `_change`."""
        ends, changed = self._change(calls, begun, found, kind) if calls else (None, False)
        if ends is not None:
            name = getattr(ends, "name", None) or ends.get_name()
            message = f"{name} ended the simulation{getattr(ends, '_why', '')}"
            return self._end(TerminationReason.EVENT_HANDLER_REQUESTED_TERMINATION, ends, message)
        return StepStatus.START_OF_CONTINUOUS_INTERVAL if changed and self._reports_all else None

    def _change(
        self, calls: list[Call], begun: tuple[Any, float] | None = None, found: Found | None = None, kind: str = ""
    ) -> tuple[Any, bool]:
        """Call handlers, and restart the integrator; if one raises, the state is as before.

        *begun* is a snapshot and the energy before where they have changed it already, and the calls give their answers;
        *found* has the witnesses that have changed sign. *kind* is what the log calls events of others, where it is to have
        them even if they change nothing.

        Returns the handler that ends the simulation, and whether anything has changed.
        """
        contacts = self._agenda.contacts
        if contacts is not None and all(owner is not contacts for owner, _ in calls):
            calls = [*calls, *self._agenda.calls_for_contacts()]  # which may be struck, or let go, by what the others do
        state, integrator = self._integrator.get_state(), self._integrator
        if begun is None:
            self._note_impulses(state)
        kept, energy = begun or (state.snapshot(), self.system.calc_energy(state))
        y, account = state.y_values.tobytes(), Account(self.system, state, energy)
        kept_by_integrator = integrator.kept() if integrator.follows_jumps else None
        resources = state.resources
        if begun is None:
            self._rows.before_calls()
            if integrator.follows_jumps:
                integrator.follow_jump(state, calls, () if found is None else found.which)
            state.end_step(self._now)  # variables that update themselves do so, and have both sides of a jump
            state.mark_unchanged()
        try:
            ends = let_handle(self.system, state, calls, self._now, account.after)
            changed = not state.is_unchanged() or y != state.y_values.tobytes() or self._agenda.is_set_anew()
            if changed:
                kept_by_integrator = kept_by_integrator or integrator.kept()
                self._reach = max(self._now - self.began, 0.5 * self._reach)
                y = state.y_values.tobytes()
                integrator.restart(self._reach if self._reach > 0.0 else np.inf)
                if y != state.y_values.tobytes():
                    account.close()
        except BaseException:
            state.revert(kept)
            if kept_by_integrator is not None:
                integrator.control[:], integrator.counts[:], integrator.work = kept_by_integrator
            integrator.attach(state)
            raise
        told: Collection[int] = ()
        if found is not None:
            self._log.add_found(found, False, account)
            told = [id(one.owner) for one in found.which]
        self._log.add_account(self._now, account, kind, told, contacts)
        if changed:
            self._begin_interval()
            self._rows.after_change(state)
        elif resources is not None:
            state.revert(kept)  # the step goes on, and has its end to update variables by
        return ends, changed

    def _begin_interval(self) -> None:
        """The integrator has started anew: witnesses are watched from here on."""
        self._found, self._step_due, self.began = None, None, self._now
        if self._rest is not None:
            self._rest_at = self._integrator.get_num_steps_taken() + 1
        watched = self._agenda.watched(self._integrator.get_state())
        if not watched:
            self._watch = None
            return
        if self._watch is None:
            self._watch = Watch(self._integrator, watched, self.system.get_default_time_scale())
        else:
            self._watch.take(watched)
        self._watch.begin()

    def _end(self, reason: TerminationReason, handler: Any, message: str) -> StepStatus:
        """The simulation has ended: subsystems are told."""
        self._termination = self._integrator.termination = Termination(reason, self._now, handler, message)
        calls = self._agenda.calls_of_subsystems(Cause.TERMINATION)
        if calls:
            self._change(calls)
        return StepStatus.END_OF_SIMULATION

    # ------------------------------------------------------------------------------------------ checkpoints

    def save_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Write all that is needed to go on from here, bit for bit, in another process.

        The file is replaced when the new one is complete: a process that is killed leaves the one before.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        TopologyError
            If there is no state yet.
        CheckpointError
            If the state refers to what no file can hold; it says to what.
        """
        assert self.state is not None
        save_checkpoint(path, self)

    def load_checkpoint(self, path: str | os.PathLike[str], *, anyway: bool = False) -> None:
        """Go to where `save_checkpoint` was called, in place of `initialize`.

        Parameters
        ----------
        path : str or path
            A file that you trust: it holds pickled Python objects.
        anyway : bool
            Go on even where parts in Python have changed, or cannot be compared.

        Raises
        ------
        CheckpointError
            If it is broken, or was written for another model, integrator or version; the time stepper is then as it was.
        """
        load_checkpoint(path, self, anyway=anyway)


def _answer(answer: Any, state: State) -> Any:
    """The result of a handler that has been called already."""
    return answer


def _check_integrator(integrator: Any, system: MultibodySystem) -> None:
    """Refuse anything but an integrator of *system*."""
    if not hasattr(integrator, "system"):
        raise TypeError(f"integrator is one such as mobod.integrator.BDF(system), not {integrator!r}")
    if integrator.system is not system:
        raise TopologyError("the integrator was made for another system")
