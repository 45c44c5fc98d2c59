"""Simulating all states: each with its own steps, events and end, reports at common times."""

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
from ..integrator.jumps import PATH_JUMPS, wrapped_paths
from ..measure.base import Measure
from ..measure.memory import Memory
from ..simulation.hdf5_file import EXTENSIONS, import_h5py
from ..simulation.quantities import QUANTITY, Recording, of_contacts, wholes_among
from ..simulation.run import integrator_settings
from ..simulation.simulate import check_span, report_times
from ..state.state import State
from ..stepping import record as rk
from ..value.callers import callers_level
from ..value.checks import check_extension
from ..value.files import as_path, check_writable
from ..value.stage import Stage
from .chunks import STOPPED
from .enabled_sets import EnabledSets
from .ensemble_trajectory import CopyOf, EnsembleTrajectory, Termination
from .functions import RunFunction, ended_at, observe as run_observer, try_observer
from .lane_runs import LaneRuns, LaneWorker, own_of_each
from .lanes import contact, layout
from .one_by_one import Onward, has_choices_of, run_one
from .sensitivity_rows import SensitivityRows
from .state_runs import StateRuns, are_compiled
from .stepping import Stepping, make_integrator
from .variation_runs import VariationRuns, are_compiled as variations_are_compiled
from .whole_run import ENDED, WholeRun, change_of
from .work_sharing import Task

#: A call of a kernel is to take about as long, so that Ctrl-C and progress are seen; s.
_CALL = 0.05
#: So many failed error tests let one look for paths that jump: at a jump steps fail one after another.
_MANY_FAILURES = 4
#: What friction that sticks is part of, beside the contacts.
_BY_FRICTION = {"u_dot", "mobility_forces", "motion_forces", "motion_power", "reactions", "constraint_forces"}
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
        run = WholeRun(self, made, times, _file(record_to), progress, (control, ends), tangents)
        if run.lanes is None and tangents is None:
            given = {"controller": control, "terminate": ends}
            self._note_cost(made, True, [name for name, function in given.items() if function is not None])
        delays = [] if run.lanes is None else self._begin_delays()
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
        self._tell_delays(delays)
        if observe is not None:
            motions.observations = run_observer(observe, run.times, np.asarray(motions.q), np.asarray(motions.u))
        if record is not None:
            motions.quantities = _quantities(motions, record)
        return motions

    def _warn_of_paths(self, run: WholeRun) -> None:
        """Warn of paths that jump, as that state's run alone says whose steps have failed most often: lanes do not look."""
        failed = run.outcome[:, layout.NUM_ERROR_FAILURES].copy()
        failed[~run.in_lanes | (run.outcome[:, layout.STATUS] != rk.REACHED)] = 0
        i = int(failed.argmax()) if len(failed) else 0
        is_plain = run.controller is None and not self._system.calls_back  # a user's law is not called once more unasked
        if not (failed[i] >= _MANY_FAILURES and is_plain and wrapped_paths(self._system, self._template)):
            return
        end = [part[i].copy() for part in self._variables]
        for part, start in zip(self._variables, run.start, strict=True):
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
            return copy.copy(self)._state  # noqa: SLF001
        return CopyOf(self._template.copy())

    def _report_times(
        self, time: float, interval: float | None, integrator: Integrator, record_to: Any, beside: int = 0
    ) -> Array:
        """Times of reports: one row, or a row a state where these begin at different times.

        *beside* is how many numbers a report has beside the variables.
        """
        time, interval = check_span(time, interval)
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
        run: WholeRun,
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

    def _run_one_by_one(self, run: WholeRun, which: npt.NDArray[np.int64], results: Array, first: int) -> None:
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
            if run.ends is not None:
                self._system.add_event_handler(run.ends)
            try:
                in_python = self._system.calls_with_states or run.controller is not None or run.ends is not None
                in_python = in_python or run.tangents is not None
                self._helpers.share_all(Task(work, len(which)), 1 if in_python else self._threads)
            finally:
                if run.ends is not None:
                    self._system.remove_event_handler(run.ends)

    def _run_alone(self, run: WholeRun, i: int, rows: Array, first: int) -> None:
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
            began, reach, known = float(run.start[0][i, 0]), 0.0, 0.0
            if len(run.onward):
                began, reach, known = run.onward[i, layout.BEGAN : layout.CONTACTS + 1].tolist()
            called = (False, False) if run.lane_events is None else run.lane_events.is_done(i)
            onward = Onward(began, reach, error, int(strain), called, i in run.changed, known > 0.0)
            if run.integrator.fixed_step_size is None and size > 0.0:  # zero where it has left its lane before a first step
                settings.keywords["initial_step_size"] = size
        if not made and run.ends is not None and run.ends.get_value(state) > 0.0:  # it ends where it begins
            rows[0], rows[1:] = state.y_values, np.nan
            run.outcome[i, : layout.NUM_STEPS] = rk.REACHED, 1
            run.terminations[i] = Termination(state.time, ENDED, state.y_values.copy())
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
            changes.insert(0, change_of(made, state))
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
