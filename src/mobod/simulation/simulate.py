"""simulate: from a state to its motion, in one call."""

from __future__ import annotations

import functools
import os
import time as _clock
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import integrator as integrators
from ..compiling import seconds_spent
from ..errors import MobodError, StageError
from ..integrator import Integrator, RungeKuttaMerson
from ..state.state import State
from ..stepping import record as rk
from ..system.forward_sensitivities import Directions
from ..system.interpreted import interpreted_lines
from ..system.system import MultibodySystem
from ..value.attributes import named_arguments
from ..value.callers import callers_level
from ..value.checks import all_known, among, check_extension, instance, number
from ..value.files import as_path, check_writable
from ..value.progress import make_bar
from ..value.stage import Stage
from ._carrying import Carrying
from .checkpoint import CheckpointError, differing, integrator_keywords, load_checkpoint, refuse_others, save_checkpoint
from .energy_accounts import Ledger, acts_by_impulses
from .error_estimate import ErrorEstimate, ErrorRows
from .fingerprint import start_fingerprint
from .hdf5_file import EXTENSIONS, DiskArray, FileRows, import_h5py, read_recording
from .labels import row_names
from .motion_files import plain
from .names import auxiliary_names, coordinate_names, speed_names
from .quantities import Recording
from .run import Keeper, Run, can_be_repeated, integrator_settings, run_again, steps_by_report
from .table import MemoryRows
from .time_stepper import TimeStepper
from .trajectory import Owned, Trajectory
from .variational import variational
from .view import check_view, make_watch

#: Of a run whose caller does not say.
ACCURACY = 1e-4

#: How many times there have to be between two reports that numbers can tell apart.
_FEWEST_TIMES = 100.0


@named_arguments
def simulate(
    system: MultibodySystem,
    state: State,
    time: float,
    *,
    integrator: Integrator | type[Integrator] | str | None = None,
    accuracy: float | None = None,
    report_interval: float | None = None,
    progress: bool | Callable[[float, float], Any] | None = None,
    record: Mapping[str, Any] | Iterable[Any] | None = None,
    record_bodies: bool | Iterable[Any] | None = None,
    record_to: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_interval: float = 30.0,
    resume: bool | str = False,
    audit: str = "reports",
    estimate_error: bool | float = False,
    sensitivities: Sequence[Any] | None = None,
    view: Any = False,
) -> Trajectory:
    """Simulate from *state* for as long as *time*, and return the motion.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where to start; left as it is.
    time : float
        How long, from the state's time on; an integrator's final time ends it before.
    integrator : Integrator, class or str, optional
        `RungeKuttaMerson` unless given; one of `mobod.integrator`, its class, or its name such as ``"BDF"``. One that is made
        brings its own accuracy.
    accuracy : float, optional
        Largest local error of a step; 1e-4 unless given. Not beside an integrator that is made.
    report_interval : float, optional
        Time between rows of the result; a two-hundredth of *time* unless given. A row holds all coordinates, speeds and
        particles: with very many of these, ask for fewer rows, or record to a file.
    progress : bool or callable, optional
        True shows a progress bar with the time that is left (needs tqdm); a callable is called now and then with the time
        reached and the end.
    record : mapping or sequence, optional
        What else is recorded, by name: anything with ``get_value(state)``, such as a measure, or a callable of a state at
        ACCELERATION, that gives a number or an array. Some names stand for themselves, ``record=["reactions"]``:
        ``kinetic_energy``, ``potential_energy``, ``mass_center``, ``mass_center_velocity``, ``momentum``, ``central_momentum``,
        ``u_dot``, ``mobility_forces``, ``motion_forces``, ``motion_power``, ``reactions``, ``constraint_forces``,
        ``contact_wrenches``, ``centers_of_pressure`` and ``tyre_forces``, see ``docs/how-to/recording.md``. Found in
        `Trajectory.quantities`; ``"contacts"``, a table of all that touches, in `Trajectory.contacts`.
    record_bodies : True or sequence, optional
        Bodies, or their names, whose poses are recorded; True for all. Found in `Trajectory.body_poses`.
    record_to : str or path, optional
        An HDF5 file, ``.h5`` (needs h5py), into which the rows go as they come: memory holds only a few of them, however
        long the run, and what there is can be read with `Trajectory.load` while it goes on and after it was killed. The
        trajectory that is returned reads from the file. What was there is replaced, when the first rows come.
    checkpoint : str or path, optional
        A file from which the run can go on, written now and then, when it ends, and when it is interrupted. It holds the
        rows, too, unless these are recorded to a file.
    checkpoint_interval : float
        Between two, in seconds of wall time.
    resume : bool or "anyway"
        Go on from *checkpoint*, to the same bits as though nothing had been; start where there is no such file. The arguments
        have to be those of the first run, except *time*, which may be longer. Parts in Python are compared by their code and
        their attributes; ``"anyway"`` goes on where these have changed, or cannot be compared. `BDF` with CVODE starts that
        anew at each checkpoint, whose past no file can hold: a run that goes on repeats the one that wrote the file and went
        on itself.
    audit : {"reports", "steps"}
        When the work of forces that dissipate or drive is integrated for `Trajectory.audit`: afterwards, or as the run goes on,
        in every step, which takes a few evaluations more a step, in Python. Afterwards, too, it is followed step by step, by
        simulating again when the audit is asked for; but of runs of more than 20,000 steps along the reports only. So it is
        in any case where there are events.
    estimate_error : bool or float
        Simulate again with a tenth of the accuracy (or half the fixed step), and tell in `Trajectory.audit` how far the two
        are apart, and from when on by more than this; 0.01 for True.
    sensitivities : sequence, optional
        Initial values and parameters by which the motion is differentiated as it runs, such as ``"q"``,
        ``"particle_velocities"`` or ``"spring.stiffness"``; found in `Trajectory.sensitivities`, by any integrator but
        `TimeStepping`. See ``docs/how-to/derivatives.md``.
    view : bool or Viewer
        True shows the run in the browser as it goes on (the extra ``view``); or a page that `mobod.view` has opened. A page
        that fails or is closed does not stop the run.

    Returns
    -------
    Trajectory
        One row a report, the first at the start and the last at the end. Where an event handler ends the simulation, the
        last is then, and ``statistics["termination"]`` says why; a row at the time of any other event is before it. Of a run
        that ends at a report's time there are rows before and after the handler, or one if it changed nothing.

    Raises
    ------
    ValueError, TypeError
        If *time*, *report_interval* or another argument makes no sense, which it names.
    ConvergenceError
        If the integrator cannot go on. This and any other exception that stops a run, `KeyboardInterrupt` included, has the
        motion so far as its attribute ``trajectory``.
    CheckpointError
        If *checkpoint* is broken, or of another model, start, integrator, or other reports.
    OSError
        If a file cannot be written: before the run where that can be told, and else with the motion so far in ``trajectory``.
    ImportError
        If a file or a progress bar needs a package that is not there.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> trajectory = mb.simulate(system, state, 1.0, accuracy=1e-6, record=["kinetic_energy"])
    >>> trajectory.q.shape
    (201, 2)
    >>> trajectory.quantities["kinetic_energy"].shape
    (201,)
    """
    time, interval = _check_times(system, time, report_interval, checkpoint_interval)
    tolerance = _check_choices(audit, estimate_error, resume, progress, checkpoint)
    check_view(view)
    record_to, checkpoint = _files(record_to, checkpoint)
    integrator = _make_integrator(system, integrator, accuracy)
    if not isinstance(state, State):
        # an Ensemble, which is above this module
        is_many = callable(getattr(state, "get_state", None))
        many = "; of an Ensemble call ensemble.simulate(time)" if is_many else ""
        raise TypeError(f"simulate starts from a State, such as system.realize_topology() gives, not from {state!r}{many}")
    state.check_owner(system, "simulate")
    carried = _with_sensitivities(integrator, system, state, sensitivities, record_to, checkpoint, estimate_error)
    integrator = carried or integrator
    in_memory = 0 if record_to is not None else len(state.y_values) + 2
    times = report_times(state.time, float(time), interval, integrator.final_time, in_memory)
    recording = Recording(system, state, record, record_bodies, integrator)
    stepper = TimeStepper(system, integrator)
    stepper.may_be_saved = checkpoint is not None
    of_quantities = {} if checkpoint is None else recording.fingerprint()
    kept = None
    if resume and checkpoint is not None:
        kept = _resumed(checkpoint, stepper, state, times, recording, record_to, resume == "anyway")
    if kept is None:
        stepper.initialize(state)
    stepper.set_report_all_significant_states(False)
    ledger = None
    if audit == "steps" and not steps_by_report(stepper, recording):
        ledger = _keep_ledger(stepper, kept, checkpoint)
    bar = _bar(float(times[0]), float(times[-1])) if progress is True else None
    about = {**describe(system, state), "body_names": recording.body_names, "surface_names": recording.surface_names}
    about["row_names"] = row_names(system) | recording.number_names() if record else {}
    rows = _make_rows(record_to, kept, len(times), about)
    run = Run(stepper, times, recording, rows, ledger, progress if callable(progress) else None)
    run.watch = make_watch(system, state, view)
    if kept is not None:
        run.changes = kept["changes"]
    if bar is not None:
        run.show = bar.show
    outcome = _Outcome(system, state, run, about, 0.0 if kept is None else float(kept["wall_time"]))
    if checkpoint is not None:
        run.keeper = Keeper(partial(outcome.save, checkpoint, of_quantities), checkpoint_interval)
    try:
        outcome.go(ready=kept is not None)
    finally:
        if bar is not None:
            bar.close()
    trajectory = outcome.finish()
    if carried is not None:
        trajectory.sensitivities = carried.at(trajectory.time)
    elif ledger is None and can_be_repeated(stepper):
        trajectory.run_settings = integrator_settings(integrator)
    if estimate_error:
        trajectory.error_estimate = _estimate_error(trajectory, system, state, times, integrator, tolerance)
    return trajectory


def _keep_ledger(stepper: TimeStepper, kept: Mapping[str, Any] | None, checkpoint: Path | None) -> Ledger:
    """Keep the accounts in every step of a run, from its beginning or from where a checkpoint has kept them."""
    system, integrator = stepper.system, stepper.integrator
    impulses = acts_by_impulses(system, integrator.steps_contacts)
    ledger = Ledger(system, stepper.state, impulses, stepper.log.energy) if kept is None else kept["ledger"]
    if ledger is None:
        raise CheckpointError(f"{checkpoint} is of a run without audit='steps'; go on without, or start anew")
    ledger.attach(system, stepper.state)
    return ledger


class _Outcome:
    """The trajectory of a run and its checkpoints, whether it comes to its end or not.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where the run started.
    run : Run
    about : dict
        What its trajectory says of itself.
    before : float
        Seconds of simulating, of runs that this one goes on from.
    """

    def __init__(self, system: MultibodySystem, state: State, run: Run, about: dict[str, Any], before: float) -> None:
        self._system, self._state, self._run, self._about, self._before = system, state, run, about, before
        self._clock = _clock.perf_counter() - seconds_spent()

    def go(self, ready: bool) -> None:
        """Run to the end; what stops it before has the motion up to there as its `trajectory`."""
        run, integrator = self._run, self._run.integrator
        try:
            known = integrator.can_watch and type(integrator).kernel.code is not None
            if not (ready or known or run.by_report or run.stepper.has_events):
                # compiles or loads what stepping needs: the wall time is that of simulating
                integrator.advance(run.times[:1], np.empty((1, len(self._state.y_values))), np.empty(1), 0)
                integrator.counts[rk.REPORT] = 0
            self._clock = _clock.perf_counter() - seconds_spent()
            run.go()
            run.save()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and run.is_whole:
                try:
                    run.save()
                except Exception as second:
                    error.add_note(f"no checkpoint could be written: {second}")
            error.trajectory = self.finish(error)  # type: ignore[attr-defined]
            if isinstance(error, MobodError | OSError):
                error.add_note("the motion up to there is in this exception's attribute trajectory")
            raise

    def save(self, checkpoint: Path, of_quantities: dict[str, Any]) -> None:
        """Write a checkpoint."""
        run = self._run
        about = {
            "start": start_fingerprint(self._state),
            "quantities": of_quantities,
            "rows": run.rows.columns() if isinstance(run.rows, MemoryRows) else None,
            "num_rows": len(run.rows),
            "ended": run.stepper.has_been_ended,
            "shapes": run.recording.shapes,
            "bodies": run.recording.body_names,
            "ledger": run.ledger,
            "changes": run.changes,
            "wall_time": self._worked(),
        }
        save_checkpoint(checkpoint, run.stepper, about)

    def finish(self, error: BaseException | None = None) -> Trajectory:
        """Close the rows' file, if there is one; *error* is what ended the run."""
        rows, stepper = self._run.rows, self._run.stepper
        statistics = _statistics(self._run) | {"wall_time": self._worked()}
        if not len(rows):
            rows.append(self._run.empty_block())
        # an error may have ended the run after events since its last row
        events = {"event_labels": list(stepper.log.labels), "late_events": stepper.log.take()[0].tolist()}
        if isinstance(rows, FileRows):
            try:
                rows.close({**self._about, "statistics": plain(statistics), **events})
            except OSError as second:
                if error is None:
                    second.trajectory = self._make(statistics, events)  # type: ignore[attr-defined]
                    raise
                if str(second) != str(error):
                    error.add_note(f"then, {second}")
            if not rows.is_in_place:
                warnings.warn(
                    f"{rows.path} was moved, removed or replaced while it was recorded to; its rows are in this trajectory as "
                    "long as that is there: save it",
                    RuntimeWarning,
                    stacklevel=callers_level(),
                )
        return self._make(statistics, events)

    def _worked(self) -> float:
        """Seconds of simulating, of the runs before this one too; compiling does not count."""
        return self._before + _clock.perf_counter() - seconds_spent() - self._clock

    def _make(self, statistics: dict[str, Any], events: dict[str, Any]) -> Trajectory:
        run = self._run
        trajectory = Trajectory.from_arrays(
            {name: one if isinstance(one, DiskArray) else one.view(Owned) for name, one in run.rows.columns().items()},
            {**self._about, "statistics": statistics, **events},
            system=self._system,
        )
        # the recording's copy is as the run began where nothing is recorded
        trajectory.template = self._state.copy() if run.recording.is_something else run.recording.state
        trajectory.ledger, trajectory.changes = run.ledger, run.changes
        return trajectory


def _check_times(system: Any, time: Any, report_interval: Any, checkpoint_interval: Any) -> tuple[float, float]:
    """Check the duration, and the time between reports."""
    instance("the first argument of simulate", system, MultibodySystem, "mobod.MultibodySystem()")
    time, interval = check_span(time, report_interval)
    if not number("checkpoint_interval", checkpoint_interval) >= 0.0:
        raise ValueError(f"checkpoint_interval has to be zero or positive, got {checkpoint_interval}")
    return time, interval


def check_span(time: Any, report_interval: Any) -> tuple[float, float]:
    """The length of a run, and how far its reports are apart, checked: a 200th of it unless given."""
    time = number("time", time)
    if not 0.0 < time < np.inf:
        raise ValueError(f"time has to be positive and finite, got {time}")
    interval = time / 200.0 if report_interval is None else number("report_interval", report_interval)
    if not interval > 0.0:
        raise ValueError(f"report_interval has to be positive, got {interval}")
    return time, interval


def _check_choices(audit: Any, estimate_error: Any, resume: Any, progress: Any, checkpoint: Any) -> float:
    """The distance between two runs above which a user is warned; zero if their errors are not asked for."""
    among("audit", audit, ("reports", "steps"))
    asked = isinstance(estimate_error, (bool, np.bool_))
    tolerance = (0.01 if estimate_error else 0.0) if asked else number("estimate_error", estimate_error)
    if not 0.0 <= tolerance < np.inf:
        raise ValueError(f"estimate_error is True, or how far two runs may be apart, not {estimate_error!r}")
    if not isinstance(resume, (bool, np.bool_)) and resume != "anyway":
        raise TypeError(f"resume is True, False or 'anyway', not {resume!r}; the file to go on from is checkpoint=")
    if progress is not None and not isinstance(progress, (bool, np.bool_)) and not callable(progress):
        raise TypeError(f"progress is True, False or a callable of the time reached and the end, not {progress!r}")
    if resume and checkpoint is None:
        raise ValueError("resume needs checkpoint=, the file to go on from")
    return tolerance


def _make_integrator(system: MultibodySystem, integrator: Any, accuracy: float | None) -> Integrator:
    """The integrator that is meant by an instance, a class, a name or None."""
    if integrator is None:
        integrator = RungeKuttaMerson
    if isinstance(integrator, str):
        integrator = integrator_named(integrator)
    if isinstance(integrator, type) and issubclass(integrator, Integrator):
        return integrator(system, accuracy=ACCURACY if accuracy is None else number("accuracy", accuracy))
    instance("integrator", integrator, Integrator, "mobod.integrator.BDF(system), a class or its name")
    if accuracy is not None and accuracy != integrator.accuracy:
        kind = type(integrator).__name__
        raise ValueError(
            f"accuracy={accuracy!r} beside an integrator that has its own, {integrator.accuracy:g}: give the one to the other, "
            f"{kind}(system, accuracy={accuracy!r}), or give the class, integrator={kind}"
        )
    return integrator


def _with_sensitivities(
    integrator: Integrator, system: MultibodySystem, state: State, wanted: Any, record_to: Any, checkpoint: Any, estimate: Any
) -> Carrying | None:
    """The integrator that carries sensitivities; None where none are wanted."""
    if wanted is None:
        return None
    for name, value in (("record_to", record_to), ("checkpoint", checkpoint), ("estimate_error", estimate)):
        if value:
            raise ValueError(f"sensitivities are kept in memory, of one run from its start; leave out {name}={value!r}")
    if state.stage < Stage.MODEL:
        raise StageError(f"simulate with sensitivities needs Stage.MODEL; this state is at {state.stage.name}; "
                         "call system.realize_model(state)")  # fmt: skip
    return variational(integrator, state, Directions(system, state, wanted))


def _files(record_to: Any, checkpoint: Any) -> tuple[Path | None, Path | None]:
    """The files of a run, once it is sure that they can be written."""
    if record_to is not None:
        record_to = as_path("record_to", record_to)
        check_extension(record_to, EXTENSIONS)
        import_h5py("record_to")
        check_writable("record_to", record_to)
    if checkpoint is not None:
        checkpoint = as_path("checkpoint", checkpoint)
        if record_to is not None and os.path.realpath(checkpoint) == os.path.realpath(record_to):
            raise ValueError(f"record_to and checkpoint are the same file, {os.fspath(checkpoint)!r}; give each its own")
        check_writable("checkpoint", checkpoint)
    return record_to, checkpoint


def integrator_named(name: str) -> type[Integrator]:
    """The class of that name; `ValueError` where there is none."""
    kinds = {kind: getattr(integrators, kind) for kind in dir(integrators) if kind != "Integrator"}
    all_known("there is no integrator", [name], kinds)
    return kinds[name]


def report_times(begin: float, time: float, interval: float, final: float | None, in_memory: int) -> npt.NDArray[np.float64]:
    """The times of all reports; *in_memory* is how many numbers a row there has."""
    end = begin + time if final is None else min(begin + time, final)
    if final is not None and not end > begin:
        raise ValueError(f"the integrator's final_time {final} is not after the state's time {begin}")
    time = end - begin
    resolution = float(np.spacing(max(abs(begin), abs(end))))
    if not min(time, interval) > _FEWEST_TIMES * resolution:
        raise ValueError(
            f"reports are {min(time, interval):g} apart, and numbers near time {max(begin, end, key=abs):g} {resolution:.2g}: "
            "start at a smaller time, or choose a larger report_interval"
        )
    rows, room = time / interval + 1.0, _memory()
    if interval == np.inf:
        raise ValueError(
            f"report_interval has to be positive and finite, got {interval}, which is 1 row; {time:g} gives the two ends"
        )
    if 8.0 * rows * max(1, in_memory) > room:
        raise ValueError(
            f"report_interval {interval:g} would give {rows:.3g} rows, which take {8e-9 * rows * max(1, in_memory):.3g} GB of "
            f"memory, where there may be {1e-9 * room:.3g} GB; take a larger one{', or record_to a file' if in_memory else ''}"
        )
    count = int(np.floor(time / interval * (1.0 + 1e-12)))
    times: npt.NDArray[np.float64] = begin + interval * np.arange(count + 1, dtype=np.float64)
    if end - times[-1] > 1e-9 * time:
        times = np.append(times, end)
    times[-1] = end
    return times


def _memory() -> float:
    """Half of the machine's memory, or 16 GB where that is not known; bytes."""
    try:
        return 0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 16e9


def describe(system: MultibodySystem, state: State) -> dict[str, Any]:
    """Names of all variables."""
    return {
        "coordinate_names": coordinate_names(system, state),
        "speed_names": speed_names(system, state),
        "auxiliary_names": auxiliary_names(system, state),
    }


def _make_rows(
    record_to: Any, kept: Mapping[str, Any] | None, capacity: int, about: Mapping[str, Any]
) -> MemoryRows | FileRows:
    if record_to is not None:
        return FileRows(record_to, about) if kept is None else FileRows.go_on(record_to, kept["num_rows"])
    rows = MemoryRows(capacity)
    if kept is not None and kept["num_rows"]:
        rows.append(kept["rows"])
    return rows


def _resumed(
    checkpoint: Path, stepper: TimeStepper, state: State, times: Any, recording: Recording, record_to: Any, anyway: bool
) -> dict[str, Any] | None:
    """Put *stepper* where the checkpoint says, once it is sure that this is the same run; None where there is no such file."""
    if not checkpoint.exists():
        return None

    def check(kept: dict[str, Any]) -> None:
        other = "; give the same arguments, or start anew without resume"
        if kept["start"] != start_fingerprint(state):
            raise CheckpointError(f"{checkpoint} is of a run that starts from another state{other}")
        if kept["shapes"] != recording.shapes or kept["bodies"] != recording.body_names:
            names = ", ".join([*kept["shapes"], *kept["bodies"]]) or "nothing"
            raise CheckpointError(f"{checkpoint} is of a run that records {names} besides q and u{other}")
        if (kept["rows"] is None) != (record_to is not None) and kept["num_rows"]:
            where = "in memory" if kept["rows"] is not None else "to a file"
            raise CheckpointError(f"{checkpoint} is of a run that records {where}{other}")
        if not anyway:
            refuse_others(str(checkpoint), *differing(kept["quantities"], {}, recording.fingerprint()))
        n = kept["num_rows"]
        if record_to is not None:
            if not Path(record_to).exists():
                raise CheckpointError(f"{checkpoint} is of a run that records to a file, and {record_to} is not there")
            then = read_recording(record_to)[0]["time"][:n]
        else:
            then = kept["rows"]["time"] if n else times[:0]
        if n and kept.get("ended"):
            then = then[:-1]  # the last row is when it ended
        if len(times) < len(then) or not np.allclose(times[: len(then)], then, rtol=0.0, atol=1e-9 * (times[-1] - times[0])):
            raise CheckpointError(f"{checkpoint} is of a run that reports at other times{other}; see report_interval")

    return load_checkpoint(checkpoint, stepper, check, anyway)


def _statistics(run: Run) -> dict[str, Any]:
    """The integrator's counts, under the names of its methods."""
    integrator = run.integrator
    kind: Any = type(integrator)
    counts = {name.removeprefix("get_num_"): getattr(integrator, name)() for name in _count_names(kind)}
    counts["evaluations"] = counts.pop("realizations")
    settings = {name: value for name, value in integrator_keywords(integrator).items() if value is not None}
    found: dict[str, Any] = {"integrator": integrator.get_method_name(), **settings, **counts}
    initial = getattr(integrator, "get_actual_initial_step_size_taken", None)
    if initial is not None:
        found["actual_initial_step_size"] = initial()
    found["last_step_size"] = integrator.get_previous_step_size_taken()
    if np.isfinite(run.smallest_step):
        found |= {"smallest_step_seen": run.smallest_step, "smallest_step_time": run.smallest_step_time}
    if run.stepper.termination is not None:
        found["termination"] = run.stepper.termination.message
    interpreted = interpreted_lines(integrator.system)
    if interpreted:
        found["interpreted"] = interpreted
    integrator.hindrances.look_at_delays()  # reports may have been the first to read them
    if integrator.hindrances.warned:
        found["warned_of"] = sorted(integrator.hindrances.warned)
    return found


@functools.lru_cache(64)
def _count_names(kind: Any) -> tuple[str, ...]:
    """The methods of an integrator that tell what it has counted."""
    return tuple(name for name in dir(kind) if name.startswith("get_num_"))


def _estimate_error(
    trajectory: Trajectory, system: MultibodySystem, state: State, times: Any, integrator: Integrator, tolerance: float
) -> ErrorEstimate:
    """Run again, finer, and compare; what stops that has the finished run as its `trajectory`."""
    settings = integrator_settings(integrator)
    keywords = settings.keywords
    fixed = keywords.get("fixed_step_size")
    if fixed:
        keywords["fixed_step_size"] = 0.5 * fixed
        reference = f"steps of {0.5 * fixed:.4g}"
    else:
        keywords["accuracy"] = max(1e-14, 0.1 * integrator.accuracy)
        keywords["constraint_tolerance"] = max(1e-15, 0.1 * integrator.constraint_tolerance)
        reference = f"accuracy {keywords['accuracy']:.2g}"
    rows = ErrorRows(trajectory, reference, tolerance)
    try:
        run_again(system, state, times, settings, rows)
    except BaseException as error:
        error.trajectory = trajectory  # type: ignore[attr-defined]
        error.add_note("the run itself is finished, and in this exception's attribute trajectory; its error is not estimated")
        raise
    return rows.estimate


class _bar:
    """A progress bar over simulated time."""

    def __init__(self, begin: float, end: float) -> None:
        self._begin = begin
        self._bar = make_bar(round(end - begin, 9), "s")

    def show(self, time: float, end: float) -> None:
        """Move to *time*."""
        self._bar.update(time - self._begin - self._bar.n)

    def close(self) -> None:
        """Finish the bar."""
        self._bar.close()
