"""Simulating all states: each with its own steps, events and end, reports at common times."""

# ruff: noqa: SLF001  (a run is a part of its ensemble, in a class of its own)
from __future__ import annotations

import contextlib
import copy
import functools
import os
import threading
import time as _clock
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..integrator import Integrator
from ..integrator.contact_steps import CLOSES, NO_IMPULSES, NO_ROOM
from ..integrator.jumps import PATH_JUMPS, wrapped_paths
from ..integrator.slow_runs import Progress, say
from ..measure.base import Measure
from ..measure.memory import Memory
from ..simulation.event_log import EventLog
from ..simulation.events import Events, joined
from ..simulation.hdf5_file import EXTENSIONS, FileRows, import_h5py
from ..simulation.quantities import QUANTITY, Recording, of_contacts, wholes_among
from ..simulation.run import integrator_settings
from ..simulation.simulate import describe, report_times
from ..state.resources import Settings
from ..state.state import State
from ..stepping import record as rk
from ..system.interpreted import interpreted_lines
from ..value.callers import callers_level
from ..value.checks import check_extension, number
from ..value.files import as_path, check_writable
from ..value.stage import Stage
from .chunks import STOPPED
from .enabled_sets import EnabledSets
from .ensemble_trajectory import CopyOf, EnsembleTrajectory, Termination, counted
from .failures import OF_STATUS, Failure, Reasons
from .functions import EndWhere, RunFunction, ended_at, observe as run_observer, try_observer
from .lane_events import LaneEvents
from .lane_runs import LaneRuns, LaneWorker, go_on_alone, own_of_each
from .lanes import contact, layout
from .one_by_one import OneRun, Onward, has_choices_of, run_one
from .schedule import Schedule
from .sensitivity_rows import SensitivityRows, read_sensitivities
from .state_runs import StateRuns, are_compiled
from .stepping import Stepping, make_integrator
from .variation_runs import VariationRuns, are_compiled as variations_are_compiled
from .work_sharing import Task

#: A call of a kernel is to take about as long, so that Ctrl-C and progress are seen; s.
_CALL = 0.05
#: Most bytes of results in memory where they go to a file.
_BUFFER = 1 << 26
#: So many failures are explained by running the state once more alone, which finds what was at fault.
_EXPLAINED = 8
#: So many failed error tests let one look for paths that jump: at a jump steps fail one after another.
_MANY_FAILURES = 4
_ENDED = "terminate became positive"
#: What friction that sticks is part of, beside the contacts.
_BY_FRICTION = {"u_dot", "mobility_forces", "motion_forces", "motion_power", "reactions", "constraint_forces"}
#: What states are that have not come to their ends, after Ctrl-C.
_ON_THEIR_WAY = layout.WAITS, layout.SUSPECT, layout.CALLED
#: What lanes are told of which states to run, and how these go on.
_NO_IMPULSES = np.zeros((0, contact.ROW_SIZE))
_ALL = np.zeros(0, np.int64), np.zeros((0, layout.ONWARD_SIZE)), _NO_IMPULSES


class Simulating(Stepping):
    """The part of `Ensemble` that simulates."""

    __slots__ = ()

    def simulate(
        self,
        time: float,
        *,
        integrator: Integrator | type[Integrator] | str | None = None,
        accuracy: float | None = None,
        fixed_step_size: float | None = None,
        report_interval: float | None = None,
        controller: Callable[..., Any] | None = None,
        observe: Callable[..., Any] | None = None,
        terminate: Callable[..., Any] | None = None,
        record: Mapping[str, Any] | Iterable[Any] | None = None,
        record_to: str | os.PathLike[str] | None = None,
        sensitivities: Sequence[Any] | None = None,
        progress: bool | Callable[[int, int], Any] | None = None,
    ) -> EnsembleTrajectory:
        """Simulate all states from where they are, each for as long as *time*, and return their motions.

        Every state has its own step sizes, events and end; explicit Runge-Kutta, semi-explicit and Verlet's methods step eight
        states at once on each thread, `BDF` one, and a state that has ended makes room for the next. Lanes wait while handlers
        of events are called, and one whose rigid contacts close, slip, stick or open goes on beside those whose contacts do the
        same. Others, systems with parts in Python, and states that handlers have made otherwise unlike these, are simulated
        state by state, compiled as far as `mobod.simulate` is.

        Parameters
        ----------
        time : float
            How long, from each state's own time on.
        integrator : Integrator, class or str, optional
            `RungeKuttaMerson` unless given; of one that is made, its settings count.
        accuracy : float, optional
            Largest local error of a step; 1e-3 unless given. With *fixed_step_size* no error is controlled, and this is what
            constraints are kept to, a tenth of it, and what `BDF` and `Verlet` iterate to.
        fixed_step_size : float, optional
            Take steps of this size, and control no error: all states in step, which is fastest.
        report_interval : float, optional
            Time between rows; a two-hundredth of *time* unless given. Of many states, ask for fewer rows: ``time`` gives the
            two ends alone.
        controller : callable, optional
            ``controller(t, q, u)``, q and u being tuples, returns a tuple of nu generalized forces, which act beside those of
            the elements wherever accelerations are evaluated. Written as compiled forces are, with ``+ - * /``, ``where`` and
            what is in `mobod.algebra`, it runs in lanes. Or it is a law in NumPy's manner, as `mobod.control.Custom` takes it:
            of those of t, q, u that it names, with arrays q and u, it returns an array, and is called compiled for one lane
            after the other. What cannot be compiled is called by Python, state by state, with a note.
        observe : callable, optional
            ``observe(t, q, u)`` returns a number, or a tuple of them, of each row: found in ``observations (n, nt, m)``. It
            is called with all rows at once where it can be.
        terminate : callable, optional
            ``terminate(t, q, u)`` returns a number; a state's run ends where this becomes positive: see ``terminations``.
            It may be in NumPy's manner, too.
        record : mapping or sequence, optional
            Quantities by name, as of `mobod.simulate`: found in ``quantities``. They are computed by Python from the rows,
            some 20 us each; ``"contacts"``, of which there is any number, and measures that remember are not among them, nor is
            what depends on the efforts of controllers, which are not in the rows.
        record_to : str or path, optional
            An HDF5 file, ``.h5`` (needs h5py), into which the motions go as they come, so that memory holds few of them.
        sensitivities : sequence, optional
            Initial values and parameters by which every motion is differentiated as it runs, as of `mobod.simulate`: found in
            ``sensitivities``. See ``docs/how-to/derivatives.md``.
        progress : bool or callable, optional
            True shows a progress bar (needs tqdm); a callable is called now and then with how many states have ended, and n.

        Returns
        -------
        EnsembleTrajectory
            Motions, which states have failed, why, and when.

        Raises
        ------
        ValueError, TypeError
            If an argument makes no sense, which it names; the states are then as they were.
        KeyboardInterrupt
            If the user interrupts, with what there is as its attribute ``trajectory``; states that were not run to their end
            are where they began.

        Notes
        -----
        The ensemble is left where the runs have ended; a state that cannot go on is at its last good step. A state's motion is
        that of `mobod.simulate` to rounding, and has the same bits whatever n, the order, the other states and the threads are.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 100, state=state)
        >>> ensemble.q = np.linspace(0, 1, 200).reshape(100, 2)
        >>> motions = ensemble.simulate(2.0, report_interval=0.5)
        >>> motions.q.shape
        (100, 5, 2)
        >>> motions[3].q.shape
        (5, 2)
        """
        self._template.check_owner(self._system, "Ensemble.simulate")
        made = make_integrator(self._system, integrator, accuracy, fixed_step_size)
        self._check_inertia(made)
        template = self._state(0)
        tangents = None
        if sensitivities is not None:
            if controller is not None:
                raise ValueError(
                    f"sensitivities do not follow controller={controller!r}, whose forces are not of the system; make it a "
                    "force.Custom or a mobod.control.Custom of the system"
                )
            tangents = SensitivityRows(made, template, sensitivities)
        numbers_beside = 0 if tangents is None else tangents.numbers_a_row
        times = self._report_times(time, report_interval, made, record_to, numbers_beside)
        control = None if controller is None else RunFunction("controller", controller, template)
        ends = None if terminate is None else RunFunction("terminate", terminate, template)
        if observe is not None:
            try_observer(observe, template)
        if record is not None:
            _check_recorded(Recording(self._system, template, record), record, template, control is not None, made)
        run = _Run(self, made, times, _file(record_to), progress, (control, ends), tangents)
        if run.lanes is None and tangents is None:
            given = {"controller": control, "terminate": ends}
            self._note_cost(made, True, [name for name, function in given.items() if function is not None])
        try:
            run.go()
        except BaseException as error:
            error.trajectory = run.finished()  # type: ignore[attr-defined]
            raise
        finally:
            self._changed(Stage.INSTANCE)
            if self._schedule is not None:
                self._schedule.set_stale()
            run.close()
        motions = run.finished()
        self._warn_of_paths(run)
        if observe is not None:
            motions.observations = run_observer(observe, run.times, np.asarray(motions.q), np.asarray(motions.u))
        if record is not None:
            motions.quantities = _quantities(motions, record)
        return motions

    def _warn_of_paths(self, run: _Run) -> None:
        """Warn of paths that jump, as that state's run alone says whose steps have failed most often: lanes do not look."""
        failed = run.outcome[:, layout.NUM_ERROR_FAILURES].copy()
        failed[~run.in_lanes | (run.outcome[:, layout.STATUS] != rk.REACHED)] = 0
        i = int(failed.argmax()) if len(failed) else 0
        is_plain = run.controller is None and not self._system.calls_back  # a user's law is not called once more unasked
        if not (failed[i] >= _MANY_FAILURES and is_plain and wrapped_paths(self._system, self._template)):
            return
        end = [part[i].copy() for part in self._variables]
        for part, start in zip(self._variables, run._start, strict=True):
            part[i] = start[i]
        try:
            state = self._state(i)
        finally:
            for part, values in zip(self._variables, end, strict=True):
                part[i] = values
        # what this run raises, the state's own would have raised
        with warnings.catch_warnings(record=True) as caught, contextlib.suppress(Exception):
            warnings.simplefilter("always")
            run_one(self._system, state, run.times[min(i, len(run.times) - 1)], integrator_settings(run.integrator), None)
        for text in (str(one.message) for one in caught):
            if PATH_JUMPS in text:
                warnings.warn(f"of state {i} of the ensemble: {text}", RuntimeWarning, stacklevel=callers_level())

    def _maker_of_states(self) -> Callable[[int], State]:
        """The maker of a state with the parameters of state *i*, and all else it has of its own, as they are now."""
        if self._own or self._of_subsystems or self._overrides:
            return copy.copy(self)._state
        return CopyOf(self._template.copy())

    def _report_times(
        self, time: float, interval: float | None, integrator: Integrator, record_to: Any, beside: int = 0
    ) -> Array:
        """Times of reports: one row, or a row a state where these begin at different times.

        *beside* is how many numbers a report has beside the variables.
        """
        time = number("time", time)
        if not 0.0 < time < np.inf:
            raise ValueError(f"time has to be positive and finite, got {time}")
        interval = time / 200.0 if interval is None else number("report_interval", interval)
        if not interval > 0.0:
            raise ValueError(f"report_interval has to be positive, got {interval}")
        numbers = 0 if record_to is not None else self._n * (len(self._template.y_values) + beside)
        starts = self._time[: self._n, 0]
        if not np.isfinite(starts).all():
            raise ValueError(f"the time of state {int(np.argmin(np.isfinite(starts)))} is not finite")
        final = integrator.final_time
        if (starts == starts[0]).all():
            return report_times(float(starts[0]), time, interval, final, numbers)[None]
        if final is not None:
            raise ValueError("with a final_time of the integrator, all states have to begin at the same time")
        common = report_times(0.0, time, interval, None, numbers)
        times: Array = starts[:, None] + common
        times[:, -1] = starts + time
        return times

    def _run_compiled(
        self,
        run: _Run,
        lanes: LaneRuns | StateRuns,
        results: Array,
        first: int,
        which: npt.NDArray[np.int64],
        onward: Array | None = None,
    ) -> None:
        """Run states, *onward* if they are on their way; the first row of *results*, for reports, is state *first*'s."""
        times = run.times
        ends = np.array(np.broadcast_to(times[:, -1], (self._n,)))  # never read-only, for which kernels would be compiled anew
        data = (
            *self._variables,
            np.zeros((0, 0)),
            lanes.of_each,
            ends,
            times,
            results,
            run.outcome,
            run.reached,
            *(_ALL if onward is None else (which, onward, _NO_IMPULSES)),
        )
        events = run.lane_events

        def work(number: int, chunks: Any, calls: Any) -> None:
            worker, attempts, status = lanes.workers[number], 64, layout.UNFINISHED
            worker.begin(first)
            while status != layout.FINISHED and not chunks[STOPPED]:
                clock = _clock.perf_counter()
                status = worker.go(attempts, (number, chunks, calls), data)
                if status == layout.ASKS:
                    assert events is not None and isinstance(worker, LaneWorker)
                    events.answer(worker)
                    continue
                if _clock.perf_counter() - clock < 0.5 * _CALL:
                    attempts = min(2 * attempts, 1 << 24)
                if number == 0:
                    run.show()
                if status != layout.FINISHED and isinstance(worker, LaneWorker) and lanes.adaptive:
                    run.look_at_progress(worker)

        self._helpers.share_all(Task(work, len(which), lanes.WIDTH), 1 if lanes.calls_python else self._threads)

    def _state_runs(self, integrator: Integrator, tangents: SensitivityRows | None) -> StateRuns | None:
        """Data with which threads run states one by one in compiled code; None where Python has a part in it."""
        made: StateRuns | None = None
        if self._of_subsystems:
            return made
        if tangents is not None:
            if variations_are_compiled(self._template, integrator, tangents):
                made = VariationRuns(self._state, self._n, self._own, integrator, tangents)
        elif are_compiled(self._template, integrator):
            made = StateRuns(self._state(0, overridden=False), self._own, own_of_each(self._own), integrator)
        if made is not None:
            made.make_workers(min(self._threads, self._n))
        return made

    def _run_one_by_one(self, run: _Run, which: npt.NDArray[np.int64], results: Array, first: int) -> None:
        """Run some states each for itself."""
        run.in_lanes[which] = False
        numbers, lock = iter(which.tolist()), threading.Lock()

        def work(number: int, chunks: Any, _: Any) -> None:
            while not chunks[STOPPED]:
                with lock:
                    i = next(numbers, None)
                if i is None:
                    return
                self._run_alone(run, i, results[i - first], first)
                if number == 0:
                    run.show()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of one state of many
            warnings.filterwarnings("default", ".* more of them; ", RuntimeWarning)  # but for a run that hardly gets on
            ends = None if run.ends is None else EndWhere(run.ends)
            if ends is not None:
                self._system.add_event_handler(ends)
            try:
                in_python = self._system.calls_with_states or run.controller is not None or ends is not None
                in_python = in_python or run.tangents is not None
                self._helpers.share_all(Task(work, len(which)), 1 if in_python else self._threads)
            finally:
                if ends is not None:
                    self._system.remove_event_handler(ends)

    def _run_alone(self, run: _Run, i: int, rows: Array, first: int) -> None:
        """Run one state for itself, its reports into *rows*: to its end, after those that it has made in a lane.

        *first* is the first state of those whose rows there are.
        """
        settings = integrator_settings(run.integrator)
        state = self._state(i)
        before = run.outcome[i].copy()
        made = int(before[layout.ROWS])
        onward = None
        if before[layout.STATUS] == layout.SUSPECT:
            size, error, strain = run.reached[i, 1:].tolist()
            began, reach, known = float(run._start[0][i, 0]), 0.0, 0.0
            if len(run.onward):
                began, reach, known = run.onward[i, layout.BEGAN : layout.CONTACTS + 1].tolist()
            called = (False, False) if run.lane_events is None else run.lane_events.is_done(i)
            onward = Onward(began, reach, error, int(strain), called, i in run.changed, known > 0.0)
            if run.integrator.fixed_step_size is None and size > 0.0:  # zero where it has left its lane before a first step
                settings.keywords["initial_step_size"] = size
        if not made and run.ends is not None and float(run.ends.call(state)) > 0.0:  # it ends where it begins
            rows[0], rows[1:] = state.y_values, np.nan
            run.outcome[i, : layout.NUM_STEPS] = rk.REACHED, 1
            run.terminations[i] = Termination(state.time, _ENDED, state.y_values.copy())
            run.add_events(i, ended_at(state.time), np.zeros(1, np.int64))
            return
        force = None if run.controller is None else run.controller.force
        wanted = None if run.tangents is None else run.tangents.wanted
        returns = onward is not None and run.lane_events is not None
        returns = returns and run.lanes is not None and run.lanes.hands_over
        is_free = functools.partial(self._is_as_others, i, run.lanes.sets) if returns and run.lanes is not None else None
        times = run.times[min(i, len(run.times) - 1), made:]
        done = run_one(self._system, state, times, settings, force, onward, wanted, is_free)
        k = int(np.count_nonzero(done.time[: len(times)] == times[: len(done.time)]))  # the last row may be an event's
        rows[made : made + k], rows[made + k :] = done.y[:k], np.nan
        if done.events is not None and done.event_rows is not None and len(done.events):
            run.add_events(i, done.events, done.event_rows)
        changes = [(made + row, *values) for row, *values in done.changes]
        if onward is not None and onward.changed:  # before it was made, handlers have
            changes.insert(0, _change(made, state))
            run.changed.discard(i)
        if changes:
            run.changes[i] = [*run.changes.get(i, ()), *changes]
        if run.tangents is not None and done.sensitivities is not None:
            run.tangents.put(i - first, done.sensitivities, k)
        self._put_back(i, done.state)
        status = rk.REACHED if done.failure is None else rk.STEP_TOO_SMALL
        run.outcome[i] = before + np.array([0, k, *done.integrator.counts[rk.STEPS :][: layout.OUTCOMES - layout.NUM_STEPS]])
        run.outcome[i, layout.STATUS] = status
        run.reached[i, :2] = done.state.time, done.integrator.get_previous_step_size_taken()
        if done.following is not None:
            run.return_to_lane(i, done)
        if done.failure is not None:
            run.reasons[i] = done.failure
        if done.termination is not None:
            run.terminations[i] = Termination(done.state.time, done.termination, done.y[-1])

    def _is_as_others(self, i: int, sets: EnabledSets, state: State) -> bool:
        """True if the run of state *i*, which is at *state*, can go on in a lane."""
        return has_choices_of(self._template, state) and sets.takes(state, self._overrides_of(i, state)) is not None


def _change(row: int, state: State) -> tuple[int, dict[str, Array], Settings]:
    """An entry of a run's `changes`: from *row* on Instance variables are those of *state*."""
    return row, {name: array.copy() for name, array in state.own_fields.items()}, state.settings()


def _quantities(motions: EnsembleTrajectory, record: Any) -> dict[str, Array]:
    """Quantities recorded beside the variables ``(n, nt, ...)``; no numbers where there are no rows."""
    found: dict[str, Array] = {}
    assert motions.state_of is not None
    for i in range(len(motions)):
        rows, state = int(motions.num_rows[i]), motions.state_of(i)
        times, y = (motions.time if motions.time.ndim == 1 else motions.time[i])[:rows], motions.rows_of_y(i)
        end = motions.terminations.get(i)
        if end is not None and end.y is not None:
            times, y = np.append(times, end.time), np.concatenate([y, end.y[None]])
        recording = Recording(state.system, state, record)
        if i in motions.changes:
            columns, made, error = recording.rows_of_states(motions[i].states.walk(range(len(times))), len(times))
        else:
            columns, made, error = recording.rows_of(times, y)
        if error is not None:
            error.add_note(f"this is of state {i} at time {times[made]:.9g}")
            raise error
        columns = {column.removeprefix(QUANTITY): values for column, values in columns.items()}
        for name, values in columns.items():
            if name not in found:
                found[name] = np.full((len(motions), motions.time.shape[-1], *values.shape[1:]), np.nan)
            found[name][i, :rows] = values[:rows]
        if end is not None and end.y is not None:
            motions.terminations[i] = end._replace(quantities={name: values[rows:] for name, values in columns.items()})
    return found


def _check_recorded(recording: Recording, record: Any, state: State, is_driven: bool, integrator: Integrator) -> None:
    """Refuse to record what rows of variables do not tell; *is_driven* says that a function drives the states."""
    if recording.tables:
        raise ValueError("record of an ensemble cannot have 'contacts', of which there is any number a time")
    lost, what = of_contacts(record), "TimeStepping, whose impulses"
    if not integrator.steps_contacts:
        bent = bool(state.tree.counts["bristle_rows"])
        lost, what = (lost | (wholes_among(record) & _BY_FRICTION) if bent else set()), "friction='bristle', whose bristles"
    if lost:
        raise ValueError(
            f"record of an ensemble cannot have {min(lost)!r} of {what} are not in its rows; record it of one state, by "
            "mobod.simulate"
        )
    asked = record.values() if isinstance(record, Mapping) else record if isinstance(record, Iterable) else [record]
    for one in asked:
        if isinstance(one, Measure) and _remembers(one):
            raise ValueError(
                f"record of an ensemble cannot have {one!r}, which remembers more than rows have; ask for it at the ends, "
                "by ensemble.realize() and ensemble.get_measures(measure)"
            )
    if is_driven or state.tree.counts["num_controllers"]:
        quiet, pushed = state.copy(), state.copy()
        pushed.record.control_memory[...] += 1.0
        state.system.realize(pushed, Stage.ACCELERATION, mobility_forces=np.ones(len(state.u)))
        efforts = recording.row_of(pushed)
        for column, value in recording.row_of(quiet).items():
            if not np.array_equal(value, efforts[column]):
                raise ValueError(
                    f"record of an ensemble cannot have {column.removeprefix(QUANTITY)!r} where controllers act, whose efforts "
                    "are not in its rows; record it of one state, by mobod.simulate and a controller of mobod.control"
                )


def _remembers(measure: Measure) -> bool:
    """True if a measure's value depends on what has been."""
    itself = isinstance(measure, Memory) and measure.takes_part()
    return itself or any(_remembers(one) for one in measure.operands())


def _file(record_to: Any) -> Path | None:
    """The file of a run, once it is sure that it can be written."""
    if record_to is None:
        return None
    path = as_path("record_to", record_to)
    check_extension(path, EXTENSIONS)
    import_h5py("record_to")
    check_writable("record_to", path)
    return path


class _Run:
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
        (self.controller, self.ends), self.tangents = functions, tangents
        routines = [one and one.routine for one in functions]
        in_python = any(one is not None and one.routine is None for one in functions)
        self.lanes: LaneRuns | StateRuns | None = None
        if not in_python and tangents is None:
            self.lanes = ensemble._lane_runs(integrator, False, *routines, watches=True)
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
        if isinstance(self.lanes, LaneRuns) and (len(self.lanes.watched) or Schedule.of(system)):
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
        self._start = [part[:n].copy() for part in ensemble._variables]
        self._overridden = dict(ensemble._overrides)
        self._results = np.empty((n, self._nt, ny)) if path is None else np.empty((0, self._nt, ny))
        self._about = describe(ensemble._system, ensemble._template)
        if tangents is not None:
            self._about["sensitivity_names"] = tangents.names
        self._file = None if path is None else FileRows(path, self._about)
        self._progress = progress if callable(progress) else None
        self._bar = _bar(n) if progress is True else None
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
        finally:  # after Ctrl-C, what has not come to its end is where it began
            left = np.isin(self.outcome[first:stop, layout.STATUS], _ON_THEIR_WAY)
            self.begin_again(np.flatnonzero(left) + first)

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
        for i in (which[self.outcome[which, layout.STATUS] == layout.TERMINATED]).tolist():
            y = np.concatenate([part[i] for part in ensemble._variables[1:5]])
            self.terminations[i] = Termination(float(self.reached[i, 0]), _ENDED, y)
            self.add_events(i, ended_at(float(self.reached[i, 0])), np.zeros(1, np.int64))
            self.outcome[i, layout.STATUS] = rk.REACHED
        # of a few others that have failed a run of one state finds out what was at fault
        status = self.outcome[which, layout.STATUS]
        alone = (go_on_alone(lanes, status) & (status != layout.WAITS)) | np.isin(which, overridden)
        alone |= np.isin(status, (NO_ROOM, NO_IMPULSES, CLOSES))  # which a run of one state makes, or finds by another solver
        known = np.isin(status, (rk.REACHED, layout.NOT_CALLED, layout.WAITS))
        stuck, others = np.flatnonzero(alone), np.flatnonzero(~known & ~alone)[:_EXPLAINED]
        again = which[np.concatenate([stuck, others])]
        if len(again):
            fresh = (self.outcome[again, layout.STATUS] != layout.SUSPECT) | (not lanes.hands_over)
            shown = set() if self._schedule is None else self._schedule.shown
            handled = np.array([i in self._logs or i in shown for i in again.tolist()])  # nobody is called for the same again
            self.hand_over(again[fresh & handled])
            self.begin_again(again[fresh & ~handled])
            ensemble._run_one_by_one(self, again, results, first)
        return which[self.outcome[which, layout.STATUS] == layout.WAITS]

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
            change = _change(int(self.outcome[i, layout.ROWS]), self._ensemble._state(i))
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
        self.changes[i] = [*self.changes.get(i, ()), _change(int(self.outcome[i, layout.ROWS]), state)]
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
        for part, start in zip(self._ensemble._variables, self._start, strict=True):
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
        done = self._n - int(np.isin(self.outcome[:, layout.STATUS], (layout.NOT_RUN, *_ON_THEIR_WAY)).sum())
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


def _bar(n: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar needs tqdm: pip install 'mobod[progress]'") from None
    return tqdm(total=n, unit="states", delay=1.0)
