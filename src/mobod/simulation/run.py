"""Running: takes an integrator through all reports, records them, keeps checkpoints and the accounts on the way.

The loop over steps reports all rows of a chunk, in calls of a tenth of a second or so; other quantities are computed from the
rows afterwards. Where there are events a `TimeStepper` goes from one to the next, and rows are made between and after them by
the same loop. Where quantities depend on data of the run itself, it goes from report to report. The motion has the same bits
in all cases.
"""

from __future__ import annotations

import time as _clock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..event import ImpactWhen, LockWhen, StopWhen
from ..integrator import Integrator
from ..state.fields import GROUPED
from ..state.resources import Settings
from ..state.state import State
from ..stepping import record as rk
from ..system.system import MultibodySystem
from .checkpoint import integrator_keywords
from .energy_accounts import Ledger, acts_by_impulses
from .quantities import Recording
from .reports import Reports
from .step_status import StepStatus
from .time_stepper import TimeStepper

#: How far steps may be ahead of recording, so that Ctrl-C takes effect and little is lost; wall seconds.
AHEAD = 0.2
#: How long recording of reported rows may go on after Ctrl-C; wall seconds.
PATIENCE = 0.5
#: Most numbers held before they are handed on.
CHUNK = 1 << 19
#: How often a recording on disk is flushed; s.
FLUSH_INTERVAL = 1.0


@dataclass
class Keeper:
    """Writes checkpoints.

    Attributes
    ----------
    save : callable
        Writes one.
    interval : float
        Between two; wall seconds.
    """

    save: Callable[[], None]
    interval: float
    last: float = field(default_factory=_clock.perf_counter)

    def look(self) -> bool:
        """True if it is time for one."""
        return _clock.perf_counter() - self.last >= self.interval

    def keep(self) -> None:
        """Write one now."""
        self.save()
        self.last = _clock.perf_counter()


#: Own fields of a state that are others only where the token of its Instance variables is.
_GROUPED = frozenset(GROUPED)


def _counts(settings: Settings) -> dict[tuple[int, int], int]:
    """Number of times that each variable has been changed."""
    return {place: count for place, (count, _) in settings.items()}


def steps_by_report(stepper: TimeStepper, recording: Recording) -> bool:
    """True if a run has to go through `TimeStepper.step_to` from report to report.

    Everything that can happen only there, and not inside the integrator's loop over steps, has to be tested here.
    """
    integrator = stepper.integrator
    if recording.needs_live_state(integrator.get_state()):
        return True
    # sensitivities are taken across events at reports, too
    return stepper.has_events and (integrator.follows_jumps or integrator.return_every_internal_step)


#: Handlers that keep nothing of a run which a second one would find.
_REPEATABLE = (StopWhen, LockWhen, ImpactWhen)


def can_be_repeated(stepper: TimeStepper) -> bool:
    """True if a run does the same once more, and nothing that users' handlers, reporters and subsystems would notice."""
    system = stepper.system
    if system.event_reporters or any(type(one) not in _REPEATABLE for one in system.event_handlers):
        return False
    return not stepper.calls_subsystems


class IntegratorSettings(NamedTuple):
    """The settings that make two integrators equal."""

    kind: type[Integrator]
    keywords: dict[str, Any]
    #: Settings of steps that are not keywords.
    choices: dict[str, bool]


def integrator_settings(integrator: Integrator) -> IntegratorSettings:
    """The arguments and settings of *integrator*."""
    choices = {name: value for name, value in vars(integrator).items() if isinstance(value, bool)}
    return IntegratorSettings(type(integrator), integrator_keywords(integrator), choices)


def make_integrator(system: MultibodySystem, settings: IntegratorSettings) -> Integrator:
    """An integrator with these settings."""
    integrator = settings.kind(system, **settings.keywords)
    for name, value in settings.choices.items():
        setattr(integrator, name, value)
    return integrator


def run_again(
    system: MultibodySystem, state: State, times: Array, settings: IntegratorSettings, rows: Any, keeps_account: bool = False
) -> Ledger | None:
    """Simulate from *state* once more, with reports at *times* to *rows*; what the steps did, where that is asked for."""
    integrator = make_integrator(system, settings)
    stepper = TimeStepper(system, integrator)
    stepper.initialize(state)
    impulses = acts_by_impulses(system, integrator.steps_contacts)
    ledger = Ledger(system, integrator.get_state(), impulses, stepper.log.energy) if keeps_account else None
    # a trajectory's times cannot be written to, and for such an array the loop over steps would be compiled once more
    Run(stepper, np.array(times), Recording(system, state), rows, ledger).go()
    return ledger


class Run:
    """A run under way.

    Parameters
    ----------
    stepper : TimeStepper
        Initialized, or come from a checkpoint.
    times : (n,) array
        Of all reports.
    recording : Recording
    rows : Rows, FileRows or ErrorRows
        Where the rows go: they have been reported as far as there are some.
    ledger : Ledger, optional
        Keeps account of every step; the run then steps one by one.
    show : callable, optional
        Told the time reached and the end.
    """

    def __init__(
        self,
        stepper: TimeStepper,
        times: Array,
        recording: Recording,
        rows: Any,
        ledger: Ledger | None = None,
        show: Callable[[float, float], Any] | None = None,
    ) -> None:
        self.stepper, self.integrator = stepper, stepper.integrator
        self.times = np.ascontiguousarray(times, np.float64)  # as compiled code takes them, which looks at no types
        self.recording, self.rows, self.ledger, self.show = recording, rows, ledger, show
        self.keeper: Keeper | None = None
        #: Told the time and y of the last row in each pause, and whether the run ends with it: who watches.
        self.watch: Callable[[float, Array, bool], Any] | None = None
        #: Smallest step that was seen, and when; between pauses, so that some are missed.
        self.smallest_step, self.smallest_step_time = np.inf, np.nan
        self._flushed = _clock.perf_counter()
        stepper.goal = float(times[-1])
        state = self.integrator.get_state()
        self.by_report = steps_by_report(stepper, recording)
        self._has_events = stepper.has_events
        #: What has happened, where something may, and how many of its labels the rows know.
        self._log, self._labels = stepper.log, 0
        if self._has_events:
            self._log.most, self._log.count_rows = None, self._count_rows
        #: Of the present chunk, where a time stepper makes the rows.
        self._reports: Reports | None = None
        self._ny, self._sizes = len(state.y_values), (len(state.q), len(state.u), len(state.z_values))
        #: Rows from which on Instance variables of the state are others than before, by event handlers, and these; with
        #: subsystems' discrete variables.
        self.changes: list[tuple[int, dict[str, Any], Settings]] = []
        # what a run begins with that its first state has not: contacts that touch there are closed
        before = state if len(rows) else recording.state
        self._own = {name: array.copy() for name, array in before.kept_fields.items()}
        self._settings = before.settings()
        #: What stands for the Instance variables as they were last looked at.
        self._seen: object = None
        self._results, self._energies = np.empty((0, self._ny)), np.empty(0)
        self._first = 0
        #: Time and y of the last row that was handed on.
        self._last = float(times[len(rows) - 1]) if 0 < len(rows) <= len(times) else np.nan, state.y_values.copy()
        #: So many rows are reported before what is recorded beside them is computed; and whether that has raised something.
        self._ahead, self._raised = 1 if recording.is_something else CHUNK, False
        if len(rows):
            recording.follow(state)
        elif stepper.has_events:
            self._note_changes(state)

    def go(self) -> None:
        """Go to the end; if an exception stops it before, the rows so far are handed on."""
        try:
            if self.stepper.has_been_ended:
                pass  # a run that goes on from its end, whose rows are all there
            elif self.by_report:
                self._by_reports()
            elif self._has_events:
                self._through_events()
            else:
                self._in_chunks()
            self.rows.flush()
            if self.watch is not None:
                self._tell(self.watch, is_last=True)
        except BaseException as error:
            self._hand_on_after(error)
            raise

    def _hand_on_after(self, error: BaseException) -> None:
        """Hand on the rows so far after *error* has stopped the run; an error in this is added to it as a note."""
        try:
            if isinstance(error, KeyboardInterrupt):
                end = _clock.perf_counter() + PATIENCE
                while not self.is_whole and _clock.perf_counter() < end:
                    self._drain(1)
            elif not self._raised:
                self._drain()
            self.rows.flush()
        except Exception as second:
            if str(second) != str(error):
                error.add_note(f"then, rows could not be handed on: {second}")

    @property
    def is_whole(self) -> bool:
        """True if all rows that have been reported are handed on."""
        return self.by_report or self._made() <= len(self.rows) - self._first

    def _made(self) -> int:
        """The number of rows of the present chunk that have been reported."""
        return int(self.integrator.counts[rk.REPORT]) if self._reports is None else self._reports.made

    # ------------------------------------------------------------------------------------------ from report to report

    def _by_reports(self) -> None:
        for time in self.times[len(self.rows) :].tolist():
            status = self.stepper.step_to(time)
            self._note_changes(self.stepper.state)
            self._append_present()
            self._pause()
            if status is not StepStatus.REACHED_REPORT_TIME:
                break

    def _append_present(self) -> None:
        """Hand on a row of the stepper's state as it is, unless that is the last one: an event has ended the run there."""
        state = self.stepper.state
        is_told = self._last[0] == state.time and np.array_equal(self._last[1], state.y_values)
        if is_told and not (self.changes and self.changes[-1][0] == len(self.rows)):
            return
        self._last = state.time, state.y_values.copy()
        energies = np.array([self.stepper.system.calc_energy(state)])
        y = np.array([state.y_values])
        self.rows.append(self._block(np.array([state.time]), y, energies, self.recording.row_of(state)))

    # ------------------------------------------------------------------------------------------ from event to event

    def _through_events(self) -> None:
        length = min(max(1, CHUNK // max(1, self._ny)), len(self.times))
        self._results, self._energies = np.empty((length + 1, self._ny)), np.empty(length + 1)
        final = self.integrator.final_time
        last, status = float(self.times[-1]), StepStatus.REACHED_REPORT_TIME
        # the row at a final time is after the events there, which Python makes
        whole = len(self.times) - (final is not None and last >= final)
        before_calls = self._before_calls if self.recording.is_something or self.ledger is not None else None
        account = self._account_to if self.ledger is not None else None
        while len(self.rows) < len(self.times) and status is StepStatus.REACHED_REPORT_TIME:
            self._first = len(self.rows)
            times = self.times[self._first : min(self._first + min(length, self._ahead), whole)]
            rows = Reports(times, self._results, self._energies, self._pause, before_calls, self._changed, account)
            self._reports = rows
            status = self.stepper.step_through(rows, float(times[-1]) if len(times) else last)
            self._drain()
            if status not in (StepStatus.REACHED_REPORT_TIME, StepStatus.REACHED_STEP_LIMIT):
                self._append_present()
            self._pause()

    def _before_calls(self) -> None:
        if self.recording.is_something:
            self._drain()
        if self.ledger is not None:
            self.ledger.event_begins(self.integrator.get_state())

    def _changed(self, state: State) -> None:
        self._note_changes(state)
        if self.ledger is not None:
            self.ledger.event_ends(state)

    def _account_to(self, end: float, is_step_end: bool) -> None:
        if self.ledger is not None and end > self.ledger.time:
            self.ledger.advance(end, self._state_at, is_step_end, self._log.energy)

    def _note_changes(self, state: State) -> None:
        """Keep the Instance variables that the next row's state has, where these are not those of the row before."""
        if len(state.y_values) != self._ny:
            raise ModelError(
                f"an event at or before time {state.time:.9g} has changed the number of coordinates; a Trajectory has rows "
                "of one length: use a TimeStepper"
            )
        own, settings = state.kept_fields, state.settings(self._settings)
        regrouped, self._seen = state.instance_token is not self._seen, state.instance_token
        if not (own or self._own or settings or self._settings):
            return
        other = own.keys() != self._own.keys() or not all(
            np.array_equal(own[name], kept) for name, kept in self._own.items() if regrouped or name not in _GROUPED
        )
        if other or _counts(settings) != _counts(self._settings):
            self._own, self._settings = {name: array.copy() for name, array in own.items()}, settings
            row = len(self.rows) if self._reports is None else self._first + self._reports.made
            if self.changes and self.changes[-1][0] == row:
                self.changes.pop()
            self.changes.append((row, self._own, settings))
            self.recording.follow(state)

    # ------------------------------------------------------------------------------------------ in chunks

    def _in_chunks(self) -> None:
        # what is held is less than what a chunk may be, so that a few rows of many numbers do not take all memory
        length = max(1, CHUNK // max(1, self._ny))
        self._results = np.empty((min(length, len(self.times)), self._ny))
        self._energies = np.empty(len(self._results))
        self.integrator.counts[rk.REPORT] = 0  # a checkpoint's count is of rows that are in `rows`
        while len(self.rows) < len(self.times):
            self.integrator.counts[rk.REPORT] = 0
            self._first = len(self.rows)
            self._chunk(self.times[self._first : self._first + min(len(self._results), self._ahead)])
            self._drain()

    def _chunk(self, times: Array) -> None:
        """Step until all of *times* are reported, a tenth of a second or so at a time, so that Ctrl-C is heard."""
        is_seen = self.show is not None or self.watch is not None or self.keeper is not None
        integrator, limit = self.integrator, 16 if is_seen else 64
        integrator.aim_at(float(self.times[-1]))
        integrator.set_out_for(float(self.times[-1]))
        results, energies = self._results[: len(times)], self._energies[: len(times)]
        self._account()  # of a run that was finished, and is now made longer: the rest of its last step
        while True:
            clock = _clock.perf_counter()
            status = integrator.advance(times, results, energies, limit if self.ledger is None else 1)
            self._account()
            self._pause()
            if status != rk.PAUSED:
                break
            if _clock.perf_counter() - clock < 0.1:
                limit = min(2 * limit, 1 << 30)
        if status != rk.REACHED:
            integrator.fail(status)

    def _account(self) -> None:
        """Keep account of the last step, up to the last report."""
        advanced = self.integrator.get_advanced_time()
        end = min(advanced, float(self.times[-1]))
        if self.ledger is not None and end > self.ledger.time:
            self.ledger.advance(end, self._state_at, end == advanced, self._log.energy)

    def _state_at(self, time: float) -> State:
        self.integrator.leave_at(time)
        return self.integrator.get_state()

    def _drain(self, most: int = CHUNK) -> None:
        """Hand on rows that have been reported, *most* of them; where recording them raises something, those before."""
        if self.is_whole:
            return
        begin = len(self.rows) - self._first
        done = min(self._made(), begin + most)
        clock = _clock.perf_counter()
        times, y = self.times[self._first + begin : self._first + done], self._results[begin:done]
        self._last = float(times[-1]), y[-1].copy()
        more, rows, error = self.recording.rows_of(times, y)
        self.rows.append(self._block(times[:rows], y[:rows], self._energies[begin : begin + rows].copy(), more))
        if error is not None:
            self._raised = True
            raise error
        if self.recording.is_something:
            each = (_clock.perf_counter() - clock) / (done - begin)
            self._ahead = max(1, min(CHUNK, 4 * self._ahead, int(AHEAD / max(each, 1e-9))))

    def _block(self, times: Array, y: Array, energies: Array, more: dict[str, Array]) -> dict[str, Array]:
        nq, nu, nz = self._sizes
        q, u, z = y[:, :nq], y[:, nq : nq + nu], y[:, nq + nu : nq + nu + nz]  # which `np.split` takes ten times as long for
        particles = y[:, nq + nu + nz :]
        particles = particles.reshape(len(y), 2, particles.shape[1] // 6, 3)
        block = {"time": times, "q": q, "u": u, "z": z, "energy": energies}
        block |= {"particle_locations": particles[:, 0], "particle_velocities": particles[:, 1], **more}
        return block | self._events_before(len(times)) if self._has_events else block

    def _count_rows(self) -> int:
        """The number of rows that have been reported."""
        return len(self.rows) if self.by_report else self._first + self._made()

    def _events_before(self, n: int) -> dict[str, Array]:
        """The events before each of the next n rows that are handed on."""
        events, following = self._log.take(len(self.rows) + n)
        if len(self._log.labels) > self._labels:
            self._labels = len(self._log.labels)
            self.rows.describe(event_labels=list(self._log.labels))
        counts = np.bincount(following - len(self.rows), minlength=n).astype(np.float64) if len(following) else np.zeros(n)
        return {"events": events, "event_counts": counts}

    def empty_block(self) -> dict[str, Array]:
        """A block of no rows, which tells what columns there would be."""
        return self._block(
            np.empty(0), np.empty((0, self._ny)), np.empty(0), self.recording.rows_of(np.empty(0), np.empty(0))[0]
        )

    # ------------------------------------------------------------------------------------------ on the way

    def _pause(self) -> None:
        """Between two calls: look at the step, show progress, hand rows on and write a checkpoint where it is time."""
        integrator = self.integrator
        step = integrator.get_previous_step_size_taken()
        if 0.0 < step < self.smallest_step and not integrator.get_advanced_time() >= self.times[-1]:
            self.smallest_step, self.smallest_step_time = step, integrator.get_advanced_time()
        if self.show is not None:
            self.show(min(integrator.get_advanced_time(), self.times[-1]), self.times[-1])
        if self.watch is not None:
            self._tell(self.watch)
        if self.keeper is not None and self.keeper.look():
            self.save()
        elif _clock.perf_counter() - self._flushed > FLUSH_INTERVAL:
            self._hand_on()

    def _tell(self, watch: Callable[[float, Array, bool], Any], is_last: bool = False) -> None:
        """Tell who watches of the last row that has been reported."""
        if self.by_report:
            state = self.stepper.state
            watch(state.time, state.y_values, is_last)
        elif reported := self._made():
            watch(float(self.times[self._first + reported - 1]), self._results[reported - 1], is_last)

    def _hand_on(self) -> None:
        self._drain()
        self.rows.flush()
        self._flushed = _clock.perf_counter()

    def save(self) -> None:
        """Write a checkpoint now: what it counts on is in the rows' file before."""
        if self.keeper is not None:
            self._hand_on()
            self.keeper.keep()
