"""simulate: from a state to its motion, in one call."""

from __future__ import annotations

import time as _clock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import ModelError
from .integrator import Integrator, RungeKuttaMerson
from .integrator import _runge_kutta as rk
from .time_stepper import TimeStepper

if TYPE_CHECKING:
    from .state import State
    from .system import MultibodySystem
    from .trajectory import Trajectory


def coordinate_names(system: MultibodySystem, state: State) -> list[str]:
    """A name for each q of *state*: the joint's of a model from a file, else the body's; ``name[i]`` where it has several.

    Those of other subsystems come last, with the subsystem's name.
    """
    return _names(system, state, "q", _of_bodies(system, state._tree.num_q))


def speed_names(system: MultibodySystem, state: State) -> list[str]:
    """A name for each u of *state*, as `coordinate_names`."""
    return _names(system, state, "u", _of_bodies(system, state._tree.num_u))


def _of_bodies(system: MultibodySystem, numbers: list[int]) -> list[tuple[str, int]]:
    return [(body._joint_name or body.name, n) for body, n in zip(system.get_matter_subsystem().bodies, numbers, strict=True)]


def auxiliary_names(system: MultibodySystem, state: State) -> list[str]:
    """A name for each z of *state*: the force's or the subsystem's that has it; ``name[i]`` where it has several."""
    of_forces = [(force.name, force._num_z) for force in system._forces()]
    return _names(system, state, "z", of_forces)


def _names(system: MultibodySystem, state: State, variable: str, owners: list[tuple[str, int]]) -> list[str]:
    """The names of *owners*, bodies or forces, that many times each, and then of the subsystems that have allocated more."""
    for index, (_, n) in state._places()[variable].items():
        n -= state._tree.owners[variable].get(index, 0)
        if n:
            name, taken = system.get_subsystem(index).get_name(), {other for other, _ in owners}
            while name in taken:  # subsystems may share a name; columns of a table may not
                name += "_"
            owners.append((name, n))
    return [name if n == 1 else f"{name}[{i}]" for name, n in owners for i in range(n)]


def simulate(
    system: MultibodySystem,
    state: State,
    time: float,
    *,
    integrator: Integrator | type[Integrator] | None = None,
    accuracy: float = 1e-4,
    report_interval: float | None = None,
    progress: bool | Callable[[float, float], Any] | None = None,
) -> Trajectory:
    """Simulate from *state* for as long as *time*, and return the motion.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where to start; left as it is.
    time : float
        How long, from the state's time on.
    integrator : Integrator or class, optional
        `RungeKuttaMerson` unless given; one that is given brings its own accuracy.
    accuracy : float
        Largest local error of a step, where no integrator is given.
    report_interval : float, optional
        Time between rows of the result; a two-hundredth of *time* unless given. A row holds all coordinates, speeds and
        particles: with very many of these, ask for fewer rows.
    progress : bool or callable, optional
        True shows a progress bar (needs tqdm); a callable is called now and then with the time reached and the end.

    Returns
    -------
    Trajectory
        One row a report, the first at the start and the last at the end. Where an event handler ends the simulation, the
        last is then, and ``statistics["termination"]`` says why; a row at the time of any other event is before it.

    Raises
    ------
    ValueError
        If *time* or *report_interval* is not positive.
    ConvergenceError
        If the integrator cannot go on.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> trajectory = mb.simulate(system, state, 1.0, accuracy=1e-6)
    >>> trajectory.q.shape
    (201, 2)
    """
    from .trajectory import Trajectory

    if not 0.0 < time < np.inf:
        raise ValueError(f"time has to be positive and finite, got {time}")
    interval = time / 200.0 if report_interval is None else float(report_interval)
    if not interval > 0.0:
        raise ValueError(f"report_interval has to be positive, got {report_interval}")
    begin = state.time
    end = begin + float(time)
    count = int(np.floor(time / interval * (1.0 + 1e-12)))
    times: npt.NDArray[np.float64] = begin + interval * np.arange(count + 1, dtype=np.float64)
    if end - times[-1] > 1e-9 * time:
        times = np.append(times, end)
    times[-1] = end
    if integrator is None:
        integrator = RungeKuttaMerson
    if isinstance(integrator, type):
        integrator = integrator(system, accuracy=accuracy)
    stepper = TimeStepper(system, integrator)
    stepper.initialize(state)
    results, energies = np.empty((len(times), len(state._y))), np.empty(len(times))
    # reports the start, and compiles or loads what stepping needs: the wall time is that of simulating
    integrator._advance(times, results, energies, 0)
    clock = _clock.perf_counter()
    if stepper._has_events:
        times, results, energies = _run_with_events(stepper, times, results, energies, progress)
    else:
        _run(integrator, times, results, energies, progress)
    wall_time = _clock.perf_counter() - clock
    nq, nu = len(state.q), len(state.u)
    z, particles = np.split(results[:, nq + nu :], [len(state._z)], axis=1)
    particles = particles.reshape(len(times), 2, -1, 3)
    return Trajectory(
        system=system,
        state=state.copy(),
        time=times,
        q=results[:, :nq],
        u=results[:, nq : nq + nu],
        z=z,
        particle_locations=particles[:, 0],
        particle_velocities=particles[:, 1],
        energy=energies,
        coordinate_names=coordinate_names(system, state),
        speed_names=speed_names(system, state),
        auxiliary_names=auxiliary_names(system, state),
        statistics={
            "integrator": integrator.get_method_name(),
            "accuracy": integrator.accuracy,
            "steps_taken": integrator.get_num_steps_taken(),
            "steps_attempted": integrator.get_num_steps_attempted(),
            "evaluations": integrator.get_num_realizations(),
            "wall_time": wall_time,
            **({} if stepper.termination is None else {"termination": stepper.termination.message}),
        },
    )


def _run_with_events(
    stepper: TimeStepper,
    times: Any,
    results: Any,
    energies: Any,
    progress: bool | Callable[[float, float], Any] | None,
) -> tuple[Any, Any, Any]:
    """Step from report to report, with the system's events on the way; fewer rows come back where one of them is the end."""
    bar = _bar(times[0], times[-1]) if progress is True else None
    show = bar.show if bar is not None else progress if callable(progress) else None
    stepper.set_report_all_significant_states(False)
    count = 0
    try:
        for k, time in enumerate(times):
            stepper.step_to(time)
            state = stepper.state
            if len(state._y) != results.shape[1]:
                raise ModelError(
                    f"an event at or before time {state.time:.9g} has changed the number of coordinates; a Trajectory has rows "
                    "of one length: use a TimeStepper"
                )
            results[k], energies[k] = state._y, stepper._system.calc_energy(state)
            count = k + 1
            if show is not None:
                show(state.time, times[-1])
            if stepper.termination is not None:
                times[k] = state.time
                break
    finally:
        if bar is not None:
            bar.close()
    return times[:count], results[:count], energies[:count]


def _run(
    integrator: Integrator,
    times: Any,
    results: Any,
    energies: Any,
    progress: bool | Callable[[float, float], Any] | None,
) -> None:
    """Step through all reports, a tenth of a second or so at a time, so that progress shows and Ctrl-C is heard."""
    limit = 16
    bar = _bar(times[0], times[-1]) if progress is True else None
    show = bar.show if bar is not None else progress if callable(progress) else None
    try:
        while True:
            clock = _clock.perf_counter()
            status = integrator._advance(times, results, energies, limit)
            if show is not None:
                show(min(integrator.get_advanced_time(), times[-1]), times[-1])
            if status != rk.PAUSED:
                break
            if _clock.perf_counter() - clock < 0.1:
                limit = min(2 * limit, 1 << 30)
    finally:
        if bar is not None:
            bar.close()
    if status != rk.REACHED:
        integrator._fail(status)


class _bar:
    """A progress bar over simulated time."""

    def __init__(self, begin: float, end: float) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("a progress bar needs tqdm: pip install tqdm (or mobod[cli])") from None
        self._begin = begin
        self._bar = tqdm(total=round(end - begin, 9), unit="s", delay=1.0, bar_format=_FORMAT)

    def show(self, time: float, end: float) -> None:
        """Move to *time*."""
        self._bar.update(time - self._begin - self._bar.n)

    def close(self) -> None:
        """Finish the bar."""
        self._bar.close()


_FORMAT = "{l_bar}{bar}| {n:.3g}/{total:.3g} s [{elapsed}<{remaining}]"
