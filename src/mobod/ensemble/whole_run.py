"""A run of all states of an ensemble: what is under way, what happens on it, and what there is at its end."""

# ruff: noqa: SLF001  (a run is a part of its ensemble, in a class of its own)
from __future__ import annotations

import time as _clock
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..integrator import Integrator
from ..integrator.contact_steps import CLOSES, NO_IMPULSES, NO_ROOM
from ..integrator.slow_runs import Progress, say
from ..simulation.event_log import EventLog
from ..simulation.events import Events, joined
from ..simulation.hdf5_file import FileRows
from ..simulation.simulate import describe
from ..state.resources import Settings
from ..state.state import State
from ..stepping import record as rk
from ..system.interpreted import interpreted_lines
from ..value.callers import callers_level
from ..value.progress import make_bar
from .ensemble_trajectory import EnsembleTrajectory, Termination, counted
from .failures import OF_STATUS, Failure, Reasons
from .functions import EndWhere, RunFunction, ended_at
from .lane_events import LaneEvents
from .lane_runs import LaneRuns, LaneWorker, go_on_alone
from .lanes import layout
from .one_by_one import OneRun
from .schedule import Schedule
from .sensitivity_rows import SensitivityRows, read_sensitivities
from .state_runs import StateRuns

#: Most bytes of results in memory where they go to a file.
_BUFFER = 1 << 26
#: So many failures are explained by running the state once more alone, which finds what was at fault.
_EXPLAINED = 8
#: Why a run has ended before its time.
ENDED = "terminate became positive"
#: What states are that have not come to their ends, after Ctrl-C.
_ON_THEIR_WAY = layout.NOT_RUN, layout.WAITS, layout.SUSPECT, layout.CALLED


class WholeRun:
    """A run of all states under way."""

    def __init__(
        self,
        ensemble: Any,
        integrator: Integrator,
        times: Array,
        path: Path | None,
        progress: Any,
        functions: tuple[RunFunction | None, RunFunction | None],
        tangents: SensitivityRows | None,
    ) -> None:
        if progress is not None and not isinstance(progress, (bool, np.bool_)) and not callable(progress):
            raise TypeError(f"progress is True, False or a callable of the states that have ended and n, not {progress!r}")
        self._ensemble, self.integrator, self.times = ensemble, integrator, times
        self._state_of = ensemble._maker_of_states()
        n, ny = len(ensemble), len(ensemble._template.y_values)
        self._n, self._nt, self._ny = n, times.shape[1], ny
        self.controller, self.tangents = functions[0], tangents
        self.ends = None if functions[1] is None else EndWhere(functions[1])
        controller = functions[0] and functions[0].routine
        in_python = any(one is not None and one.routine is None for one in functions)
        self.lanes: LaneRuns | StateRuns | None = None
        if not in_python and tangents is None:
            self.lanes = ensemble._lane_runs(integrator, False, controller, self.ends, watches=True)
        if self.lanes is None and not any(functions):
            self.lanes = ensemble._state_runs(integrator, tangents)
        self.in_lanes = np.full(n, type(self.lanes) is LaneRuns)
        self.outcome = np.zeros((n, layout.OUTCOMES), np.int64)
        self.outcome[:, layout.STATUS] = layout.NOT_RUN
        self.reached = np.zeros((n, layout.REACHED_SIZE))
        self.reached[:, 0] = ensemble._time[:n, 0]
        self.reasons: dict[int, str] = {}
        #: States that go alone as handlers have changed them.
        self.changed: set[int] = set()
        self.terminations: dict[int, Termination] = {}
        #: Of states whose Instance variables handlers have changed, from which rows on, and these: see `Trajectory`.
        self.changes: dict[int, list[Any]] = {}
        #: What happens to states in lanes, and how they go on there.
        self.lane_events: LaneEvents | None = None
        self._schedule: Schedule | None = None
        system = ensemble._system
        if isinstance(self.lanes, LaneRuns) and (self.lanes.has_events or Schedule.of(system)):
            schedule = ensemble._schedule_of(integrator.accuracy, (system.event_handlers, system.event_reporters))
            if schedule is not None:
                schedule.set_stale()
            self.lane_events = LaneEvents(ensemble, self.lanes, integrator, self, schedule)
            self._schedule = schedule
        elif type(self.lanes) is StateRuns and Schedule.of(system):
            self._schedule = Schedule(system, n, integrator.accuracy)
            # what is struck leaves the compiled loop: once called, in the middle, with other steps than a run of one state
            contacts = system.get_matter_subsystem().unilateral_contacts if integrator.steps_contacts else ()
            bounces = any(one.get_restitution() > 0.0 for one in contacts)
            if not (self.lanes.finds_events or bounces) and integrator.final_time is None:
                self.lane_events = LaneEvents(ensemble, self.lanes, integrator, self, self._schedule)
                self.lanes.call(self.lane_events, self, self._schedule)
        self.onward = layout.new_onward(n if self.lane_events is not None else 0)
        self.onward[:, layout.BEGAN] = self.reached[: len(self.onward), 0]
        self._logs: dict[int, EventLog] = {}
        #: What happened, by state, and the first row after each event.
        self.events: dict[int, tuple[Events, npt.NDArray[np.int64]]] = {}
        self.start = [part[:n].copy() for part in ensemble._variables]
        self._overridden = dict(ensemble._overrides)
        self._results = np.empty((n, self._nt, ny)) if path is None else np.empty((0, self._nt, ny))
        self._about = describe(ensemble._system, ensemble._template)
        if tangents is not None:
            self._about["sensitivity_names"] = tangents.names
        self._file = None if path is None else FileRows(path, self._about)
        self._progress = progress if callable(progress) else None
        self._bar = make_bar(n, "states") if progress is True else None
        #: How states in lanes get on, and whether it was said of one that it does not.
        self._progresses: dict[int, Progress] = {}
        self._said_slow = False
        self._seen, self._began = 0.0, _clock.perf_counter()

    def go(self) -> None:
        """Run all states; where they go to a file, some at a time."""
        if self.lane_events is not None:
            self.lane_events.begin()
        batch = self._n
        width = self._ny + (0 if self.tangents is None else self.tangents.numbers_a_row)
        if self._file is not None:
            batch = max(8, min(self._n, _BUFFER // (8 * self._nt * max(1, width)) // 8 * 8))
        for first in range(0, self._n, batch):
            stop = min(first + batch, self._n)
            results = self._results
            if self.tangents is not None and (self._file is not None or not first):
                self.tangents.begin(stop - first, self._nt)
            if self._file is not None:
                results = np.empty((stop - first, self._nt, self._ny))
            try:
                self._batch(results, first, stop)
            finally:
                self._blank(results, first, stop)
                self._drop_ends(results, first, stop)
                if self._file is not None:
                    self._file.append(self._block(results, first, stop))
                    self._file.flush()
        self.show(True)

    def _batch(self, results: Array, first: int, stop: int) -> None:
        ensemble = self._ensemble
        if self.lanes is None:
            ensemble._run_one_by_one(self, np.arange(first, stop), results, first)
            return
        which = np.arange(first, stop)
        sets = self.lanes.sets if self.lane_events is not None and isinstance(self.lanes, LaneRuns) else None
        apart = [i for i in sorted(ensemble._overrides) if first <= i < stop and (sets is None or sets.of(i) is None)]
        overridden = np.union1d(np.array(apart, np.int64), which[self._is_due(which)])
        try:
            if sets is None and len(overridden) < stop - first:
                with ensemble._hidden(overridden):
                    ensemble._run_compiled(self, self.lanes, results, first, which, None)
            going = np.setdiff1d(which, overridden) if sets is not None else which[:0]
            self._run_sets(going, results, first)
            going = self._after_lanes(which, overridden, results, first)
            while len(going):
                self._run_sets(going, results, first)
                going = self._after_lanes(going, overridden[:0], results, first)
        finally:  # after Ctrl-C, what has not come to its end is where it began, with its past
            self._end_terminated(which)
            left = which[np.isin(self.outcome[which, layout.STATUS], _ON_THEIR_WAY) | self._goes_alone(which)]
            self.begin_again(np.array([i for i in left.tolist() if i not in self.reasons], int))

    def _run_sets(self, which: npt.NDArray[np.int64], results: Array, first: int) -> None:
        """Run states in lanes of the constraints that are enabled in each."""
        if len(which):
            assert isinstance(self.lanes, LaneRuns)
            for lanes, own in self.lanes.sets.sorted(which.tolist()):
                self._ensemble._run_compiled(self, lanes, results, first, own, self.onward)

    def _is_due(self, which: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """True for states in whose runs something scheduled is due, where lanes do not call it."""
        ensemble, schedule = self._ensemble, self._schedule
        if self.lane_events is not None or schedule is None:
            return np.zeros(len(which), bool)
        schedule.begin(ensemble._time[: self._n, 0], ensemble._lend_realized)
        return (np.minimum(schedule.handlers, schedule.reporters) <= self.times[:, -1])[which]

    def _after_lanes(
        self, which: npt.NDArray[np.int64], overridden: npt.NDArray[np.int64], results: Array, first: int
    ) -> npt.NDArray[np.int64]:
        """Take states that have been in lanes on alone where these have left them; returns those that take a lane again."""
        ensemble, lanes = self._ensemble, self.lanes
        assert lanes is not None
        self._end_terminated(which)
        # of a few others that have failed a run of one state finds out what was at fault
        status = self.outcome[which, layout.STATUS]
        alone = self._goes_alone(which) | np.isin(which, overridden)
        known = np.isin(status, (rk.REACHED, layout.NOT_CALLED, layout.WAITS))
        stuck, others = np.flatnonzero(alone), np.flatnonzero(~known & ~alone)
        if len(others) > _EXPLAINED:  # those that have failed first, in whatever order they are
            y = np.concatenate([part[which[others]] for part in self._ensemble._variables[1:5]], axis=1)
            others = others[np.lexsort((*y.T, self.reached[which[others], layout.REACHED_TIME]))[:_EXPLAINED]]
        again = which[np.concatenate([stuck, others])]
        if len(again):
            fresh = (self.outcome[again, layout.STATUS] != layout.SUSPECT) | (not lanes.hands_over)
            shown = set() if self._schedule is None else self._schedule.shown
            handled = np.array([i in self._logs or i in shown for i in again.tolist()])  # nobody is called for the same again
            self.hand_over(again[fresh & handled])
            self.begin_again(again[fresh & ~handled])
            ensemble._run_one_by_one(self, again, results, first)
        return which[self.outcome[which, layout.STATUS] == layout.WAITS]

    def _end_terminated(self, which: npt.NDArray[np.int64]) -> None:
        """Those that a function has ended in lanes have come to their ends."""
        for i in (which[self.outcome[which, layout.STATUS] == layout.TERMINATED]).tolist():
            y = np.concatenate([part[i] for part in self._ensemble._variables[1:5]])
            self.terminations[i] = Termination(float(self.reached[i, 0]), ENDED, y)
            self.add_events(i, ended_at(float(self.reached[i, 0])), np.zeros(1, np.int64))
            self.outcome[i, layout.STATUS] = rk.REACHED

    def _goes_alone(self, which: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """True for states that are to be run alone where lanes have left them."""
        status = self.outcome[which, layout.STATUS]
        alone = np.isin(status, (NO_ROOM, NO_IMPULSES, CLOSES))  # which a run of one state makes, or finds by another solver
        if self.lanes is not None:
            alone |= go_on_alone(self.lanes, status) & (status != layout.WAITS)
        return alone

    def return_to_lane(self, i: int, done: OneRun) -> None:
        """State i goes on in a lane from where it has come to alone."""
        assert done.following is not None and self.lane_events is not None
        self.outcome[i, layout.STATUS] = layout.WAITS
        self.onward[i, layout.LEFT_AT :] = self._ensemble._time[i, 0], *done.following, layout.JUST
        assert isinstance(self.lanes, LaneRuns)
        self.lanes.sets.begin(i, done.state)
        self.lane_events.take_up(i, done.state, *done.dealt_with)

    def hand_over(self, which: npt.NDArray[np.int64]) -> None:
        """Continue states that fail in lanes alone, which finds out why: from where they are, as handlers have acted."""
        self.reached[which[self.outcome[which, layout.STATUS] != layout.SUSPECT], layout.LAST_PART :] = 0.0
        self.outcome[which, layout.STATUS] = layout.SUSPECT

    # ------------------------------------------------------------------------------------------ of `LaneEvents`

    def log_of(self, i: int) -> EventLog:
        """The log of what happens to state i in lanes."""
        log = self._logs.get(i)
        if log is None:
            log = self._logs[i] = EventLog(self._ensemble._system)
            log.most, log.count_rows = None, lambda: int(self.outcome[i, layout.ROWS])
        return log

    def ended(self, i: int, time: float, handler: Any) -> None:
        """A handler has ended the run of state i, which is where that has left it."""
        name = getattr(handler, "name", None) or handler.get_name()
        y = np.concatenate([part[i] for part in self._ensemble._variables[1:5]])
        self.terminations[i] = Termination(time, f"{name} ended the simulation{getattr(handler, '_why', '')}", y)
        if i in self._ensemble._overrides:
            change = change_of(int(self.outcome[i, layout.ROWS]), self._ensemble._state(i))
            self.changes[i] = [*self.changes.get(i, ()), change]
        self.outcome[i, layout.STATUS] = rk.REACHED
        self.reached[i, layout.REACHED_TIME] = time

    def failed(self, i: int, why: str) -> None:
        """A part in Python has raised an error."""
        self.reasons[i], self.outcome[i, layout.STATUS] = why, layout.NOT_CALLED

    def goes_alone(self, i: int, changed: bool) -> None:
        """State i is to go on alone, as it is, or as handlers have *changed* it."""
        if changed:
            self.changed.add(i)
        self.outcome[i, layout.STATUS] = layout.SUSPECT
        self.reached[i, layout.LAST_SIZE :] = self.onward[i, layout.NEXT_SIZE : layout.NEXT_STRAIN + 1]

    def waits(self, i: int, state: State) -> None:
        """State i, as handlers have left it, is to go on in a lane of the constraints that are enabled in it."""
        self.changes[i] = [*self.changes.get(i, ()), change_of(int(self.outcome[i, layout.ROWS]), state)]
        self.outcome[i, layout.STATUS] = layout.WAITS

    def _take_logs(self) -> None:
        for i in self._logs:
            self._take_log(i)

    def _take_log(self, i: int) -> None:
        log = self._logs[i]
        rows, following = log.take()
        if len(rows):
            self._join(i, Events(rows, list(log.labels)), following)

    # ------------------------------------------------------------------------------------------ what is known of all

    def add_events(self, i: int, events: Events, rows: npt.NDArray[np.int64]) -> None:
        """Something has happened to state i; *rows*, beyond those that it has made, are the first ones after each."""
        if i in self._logs:
            self._take_log(i)
        self._join(i, events, rows + self.outcome[i, layout.ROWS])

    def _join(self, i: int, events: Events, rows: npt.NDArray[np.int64]) -> None:
        if i in self.events:
            before, following = self.events[i]
            both = joined({0: before, 1: events})
            events, rows = Events(both.rows, both.labels), np.concatenate([following, rows])
        self.events[i] = events, rows

    def begin_again(self, which: npt.NDArray[np.int64]) -> None:
        """Reset states to where they began."""
        for part, start in zip(self._ensemble._variables, self.start, strict=True):
            part[which] = start[which]
        known = self._ensemble._overrides
        if len(self.onward):
            self.onward[which, layout.LEFT_AT] = np.nan
        for i in which.tolist():
            known.pop(i, None)
            for kept in (self.events, self.changes, self._logs):
                kept.pop(i, None)
            self.changed.discard(i)
            if self.lane_events is not None:
                self.lane_events.forget(i)
            if i in self._overridden:
                known[i] = self._overridden[i]
        self.outcome[which] = layout.NOT_RUN, *[0] * (layout.OUTCOMES - 1)

    def _blank(self, results: Array, first: int, stop: int) -> None:
        """No numbers where there are no reports."""
        made = self.outcome[first:stop, layout.ROWS]
        made[self.outcome[first:stop, layout.STATUS] == layout.NOT_RUN] = 0
        results[np.arange(self._nt) >= made[:, None]] = np.nan

    def _drop_ends(self, results: Array, first: int, stop: int) -> None:
        """Leave out ends of their own of runs that were ended at their last report, and are as they were then."""
        for i in [i for i in self.terminations if first <= i < stop]:
            end, rows = self.terminations[i], int(self.outcome[i, layout.ROWS])
            changes = any(row == rows for row, *_ in self.changes.get(i, ()))
            if rows and end.y is not None and not changes and end.time <= self.times[min(i, len(self.times) - 1), rows - 1]:
                is_told = np.array_equal(end.y, results[i - first, rows - 1])
                self.terminations[i] = end._replace(y=None) if is_told else end

    def _block(self, results: Array, first: int, stop: int) -> dict[str, Array]:
        block = self._columns(results)
        if self.tangents is not None:
            block |= self.tangents.columns()
        times = np.broadcast_to(self.times[first:stop] if len(self.times) > 1 else self.times, (stop - first, self._nt))
        return {
            "time": np.array(times),
            "counts": self.outcome[first:stop].astype(float),
            "end": self.reached[first:stop, :2],
            **block,
        }

    def _columns(self, y: Array) -> dict[str, Array]:
        """The variables, of all results."""
        state = self._ensemble._template
        nq, nu, nz = len(state.q), len(state.u), len(state.z_values)
        q, u, z, particles = np.split(y, [nq, nq + nu, nq + nu + nz], axis=2)
        particles = particles.reshape(*y.shape[:2], 2, particles.shape[2] // 6, 3)
        block = {"q": q, "u": u, "z": z}
        return {**block, "particle_locations": particles[:, :, 0], "particle_velocities": particles[:, :, 1]}

    def show(self, last: bool = False) -> None:
        """Show how far the run is, now and then."""
        now = _clock.perf_counter()
        if (self._progress is None and self._bar is None) or (not last and now - self._seen < 0.1):
            return
        self._seen = now
        done = self._n - int(np.isin(self.outcome[:, layout.STATUS], _ON_THEIR_WAY).sum())
        if self._progress is not None:
            self._progress(done, self._n)
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def look_at_progress(self, worker: LaneWorker) -> None:
        """Warn, once a run, of a state in a lane with so many steps to go that it hardly gets on."""
        if self._said_slow:
            return
        for lane, i in enumerate(worker.lanes[rk.STATE].tolist()):
            if i < 0:
                continue
            steps, time = int(worker.lanes[rk.STEPS, lane]), float(worker.control[rk.TIME, 0, lane])
            progress = self._progresses.get(i)
            if progress is None:
                progress = self._progresses[i] = Progress()
                progress.goal = float(self.times[min(i, len(self.times) - 1), -1])
                progress.begin(steps, time)
            found = progress.find_rest(steps, time)
            if found is not None:
                self._said_slow = True
                state = self._ensemble._state(i).copy()
                state.y_values[:], state.time = worker.work[rk.Y, : len(state.y_values), lane], time
                state.invalidate_q()
                no_control = np.zeros(rk.CONTROL_SIZE)
                text = say(state.system, state, progress.goal, *found, no_control, self.integrator.max_step_size)
                warnings.warn(f"state {i} of the ensemble: {text}", RuntimeWarning, stacklevel=callers_level())
                return

    def close(self) -> None:
        """The run is over."""
        self._take_logs()
        if self._bar is not None:
            self._bar.close()
        if self._file is not None:
            failures = {str(i): list(one) for i, one in self._failures().items()}
            events = {str(i): [one.labels, one.rows.tolist(), at.tolist()] for i, (one, at) in self.events.items()}
            ends = {
                str(i): [one.time, one.reason, None if one.y is None else one.y.tolist()]
                for i, one in self.terminations.items()
            }
            self._file.close(
                {
                    **self._about,
                    "integrator": type(self.integrator).__name__,
                    "failures": failures,
                    "ends": ends,
                    "events": events,
                }
            )

    def _failures(self) -> dict[int, Failure]:
        """Failures of states: their times and reasons."""
        status = self.outcome[:, layout.STATUS]
        return {
            int(i): Failure(float(self.reached[i, 0]), self.reasons.get(int(i), OF_STATUS[int(status[i])]))
            for i in np.flatnonzero(status != rk.REACHED)
        }

    def finished(self) -> EnsembleTrajectory:
        """The results so far."""
        self._take_logs()
        status = self.outcome[:, layout.STATUS]
        self._ensemble._failed[: self._n, 0] = status != rk.REACHED
        self._ensemble._reasons = Reasons(status, np.zeros((self._n, 0)))
        self._ensemble._reasons.of_states = self.reasons
        statistics: dict[str, Any] = counted(self.outcome)
        statistics |= {
            "last_step_size": self.reached[:, 1].copy(),
            "in_lanes": self.in_lanes,
            "integrator": type(self.integrator).__name__,
            "wall_time": _clock.perf_counter() - self._began,
        }
        interpreted = interpreted_lines(self._ensemble._system)
        if interpreted:
            statistics["interpreted"] = interpreted
        columns = self._file.columns() if self._file is not None else self._columns(self._results)
        if self._file is None and self.tangents is not None:
            columns |= self.tangents.columns()
        return EnsembleTrajectory(
            observations=np.zeros((self._n, self._nt, 0)),
            time=self.times[0] if len(self.times) == 1 else self.times,
            variables=columns,
            names=self._about,
            end_time=self.reached[:, 0].copy(),
            num_rows=self.outcome[:, layout.ROWS].copy(),
            failures=self._failures(),
            terminations=self.terminations,
            statistics=statistics,
            state_of=self._state_of,
            changes=self.changes,
            events=self.events,
            sensitivities=read_sensitivities(self._about.get("sensitivity_names"), columns),
        )


def change_of(row: int, state: State) -> tuple[int, dict[str, Array], Settings]:
    """An entry of a run's `changes`: from *row* on Instance variables are those of *state*."""
    return row, {name: array.copy() for name, array in state.kept_fields.items()}, state.settings()
