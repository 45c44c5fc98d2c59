"""EnsembleTrajectory: the motions of many states, as arrays, and each as a Trajectory."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..simulation.events import Events, joined
from ..simulation.hdf5_file import read_recording
from ..simulation.sensitivities import Sensitivities
from ..simulation.trajectory import Trajectory
from ..state.resources import Settings
from ..state.state import State
from ..state.storage import read_only
from ..value.attributes import Sealed
from ..value.checks import integer, not_negative
from ..value.stage import Stage
from .failures import Failure
from .lanes import layout
from .sensitivity_rows import read_sensitivities

_VARIABLES = ("q", "u", "z", "particle_locations", "particle_velocities")


class Termination(NamedTuple):
    """The end of a state's run before its last report: its time and reason, and its variables and quantities there.

    None where the last of its reports is of that.
    """

    time: float
    reason: str
    y: Array | None
    quantities: Mapping[str, Array] | None = None


def counted(outcome: npt.NDArray[Any]) -> dict[str, Any]:
    """Counts of each state, by name, from rows of `outcome`, see `lanes.layout`."""
    failures = "error_test_failures", "realization_failures", "projection_failures", "convergence_test_failures"
    names = ("steps_taken", "steps_attempted", "evaluations", *failures)
    # recordings of earlier versions lack the last
    return dict(zip(names, np.asarray(outcome[:, layout.NUM_STEPS :].T, np.int64), strict=False))


class CopyOf:
    """A maker of the state of any motion: a copy of one that all are like."""

    def __init__(self, state: State) -> None:
        self._state = state

    def __call__(self, i: int) -> State:
        """Make that of motion *i*."""
        return self._state.copy()


class _Picked:
    """A maker of the states of some of the motions."""

    def __init__(self, state_of: Callable[[int], State], places: list[int]) -> None:
        self._state_of, self._places = state_of, places

    def __call__(self, k: int) -> State:
        return self._state_of(self._places[k])


class EnsembleTrajectory(Sealed):
    """The motions of many states of a system, as `Ensemble.simulate` makes them.

    ``len(motions)`` is the number of states, ``motions[i]`` the `Trajectory` of state i; a slice or an array picks
    some of them.

    Attributes
    ----------
    time : (nt,) array
        Of the reports; ``(n, nt)`` where the states began at different times.
    q, u, z : (n, nt, nq), (n, nt, nu), (n, nt, nz) arrays
        Coordinates, speeds, auxiliary variables; NaN from where a state has failed or ended. Of a run that was recorded to a
        file they are read when they are asked for numbers: ``motions.q[10:20]``.
    particle_locations, particle_velocities : (n, nt, np, 3) arrays
    observations : (n, nt, m) array
        What ``observe`` has returned; m is 0 without it.
    quantities : dict of str to (n, nt, ...) array
        What else was recorded, by name.
    sensitivities : Sensitivities or None
        Derivatives of the motions, ``q (n, nt, nu, m)`` and so on, of a run that was asked for them.
    failed : (n,) bool array
        Which states could not go on.
    failures : dict of int to Failure
        Of these, by number: ``time``, and ``reason`` in words.
    terminations : dict of int to Termination
        States whose run was ended by an event, by number: ``time``, ``reason``, and the variables ``y`` there.
    end_time : (n,) array
        Where each state's run ended.
    num_rows : (n,) array
        How many reports of each there are.
    events : Events
        What happened, of all states, each with its ``state``: see `Trajectory`. ``motions[i].events`` are those of one.
    statistics : dict
        How it was computed: arrays ``(n,)`` of ``steps_taken``, ``steps_attempted``, ``evaluations``,
        ``error_test_failures``, ``realization_failures``, ``projection_failures``, ``convergence_test_failures``,
        ``last_step_size``, and whether all of it was ``in_lanes``; the integrator's name and the ``wall_time`` of all; and
        ``interpreted``, see `Trajectory`.
    coordinate_names, speed_names, auxiliary_names : tuple of str
        One a column.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> ensemble = mb.Ensemble(system, 10, state=state)
    >>> motions = ensemble.simulate(0.5, report_interval=0.1)
    >>> len(motions), motions.q.shape, motions[3].q.shape
    (10, (10, 6, 2), (6, 2))
    """

    time: Array
    q: Array
    u: Array
    z: Array
    particle_locations: Array
    particle_velocities: Array
    observations: Array
    quantities: dict[str, Array]
    sensitivities: Sensitivities | None
    failures: dict[int, Failure]
    terminations: dict[int, Termination]
    end_time: Array
    num_rows: npt.NDArray[np.int64]
    statistics: dict[str, Any]
    coordinate_names: tuple[str, ...]
    speed_names: tuple[str, ...]
    auxiliary_names: tuple[str, ...]

    INNER = frozenset({"changes", "events_of", "rows_of_y", "state_of"})

    def __init__(
        self,
        *,
        time: Array,
        observations: Array,
        variables: Mapping[str, Any],
        names: Mapping[str, Sequence[str]],
        end_time: Array,
        num_rows: npt.NDArray[np.int64],
        failures: dict[int, Failure],
        terminations: dict[int, Termination],
        statistics: dict[str, Any],
        state_of: Callable[[int], State] | None,
        quantities: Mapping[str, Array] | None = None,
        changes: dict[int, list[tuple[int, dict[str, Any], Settings]]] | None = None,
        events: Mapping[int, tuple[Events, npt.NDArray[np.int64]]] | None = None,
        sensitivities: Sensitivities | None = None,
    ) -> None:
        self.time, self.observations, self.sensitivities = time, observations, sensitivities
        self.quantities = dict(quantities or {})
        for name in _VARIABLES:
            setattr(self, name, variables[name])
        self.coordinate_names = tuple(names["coordinate_names"])
        self.speed_names = tuple(names["speed_names"])
        self.auxiliary_names = tuple(names["auxiliary_names"])
        self.end_time, self.num_rows, self.statistics = end_time, num_rows, statistics
        self.failures, self.terminations, self.state_of = failures, terminations, state_of
        #: By state, rows from which on it has other Instance variables, as event handlers have left them, and these.
        self.changes = changes or {}
        #: By state, what happened, and the first row after each event.
        self.events_of = dict(events or {})

    @property
    def events(self) -> Events:
        """Events of all runs, a row each with its ``state``; those of the first state first."""
        return joined({i: events for i, (events, _) in self.events_of.items()})

    def __len__(self) -> int:
        return len(self.end_time)

    def __repr__(self) -> str:
        nt, failed = self.time.shape[-1], len(self.failures)
        return f"<EnsembleTrajectory: {len(self)} states, {nt} times{f', {failed} failed' if failed else ''}>"

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """A mask of the states that could not go on ``(n,)``."""
        flags = np.zeros(len(self), bool)
        flags[list(self.failures)] = True
        return flags

    @overload
    def __getitem__(self, key: int) -> Trajectory: ...
    @overload
    def __getitem__(self, key: slice | npt.ArrayLike) -> EnsembleTrajectory: ...
    def __getitem__(self, key: Any) -> Trajectory | EnsembleTrajectory:
        try:
            number = operator.index(key)
        except TypeError:
            return self._some(np.arange(len(self))[key])
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} motions; there is no number {number}")
        return self._one(number % len(self))

    def __iter__(self) -> Iterator[Trajectory]:
        return (self._one(i) for i in range(len(self)))

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        spacing: float | None = None,
        most: int = 100,
        fps: float | None = None,
        title: str | None = None,
    ) -> Path:
        """Write the motions as one HTML file that plays them all, as `Trajectory.save_html` writes one.

        Parameters
        ----------
        path : str or path
            File to write, ``.html``.
        spacing : float, optional
            Distance between one and the next, which are put on a level grid; unless given all are where they are, and all but
            the first translucent; length.
        most : int, default 100
            Of more states than this, so many are shown, evenly chosen.
        fps, title
            As of `Trajectory.save_html`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If there is no state, a number is senseless, or the extension is another.
        """
        from ..viewer.html_file import save_html

        apart = None if spacing is None else not_negative("spacing", spacing, ValueError)
        count = integer("most", most)
        if count < 1 or not len(self):
            raise ValueError(f"most has to be 1 or more, and there have to be states: {most} of {len(self)}")
        chosen = np.unique(np.linspace(0, len(self) - 1, min(count, len(self))).round().astype(int)).tolist()
        return save_html([self[i] for i in chosen], path, spacing=apart, fps=fps, title=title)

    def to_xarray(self) -> Any:
        """The motions as an ``xarray.Dataset`` along ``state`` and ``time``, with coordinates' names (needs xarray).

        Where states began at different times, the second dimension is ``report``, and ``time`` a variable.

        Raises
        ------
        ImportError
            Without xarray: ``pip install mobod[xarray]``.
        """
        from .labelled import of_motions

        return of_motions(self)

    def _some(self, which: npt.NDArray[np.int64]) -> EnsembleTrajectory:
        """Some of the states, in that order."""
        if which.ndim != 1:
            raise IndexError("motions are picked by a number, a slice, or an array of one dimension of numbers or bools")
        variables = {name: np.asarray(getattr(self, name)[which]) for name in _VARIABLES}
        places, state_of = which.tolist(), self.state_of
        return EnsembleTrajectory(
            time=self.time if self.time.ndim == 1 else self.time[which],
            observations=self.observations[which],
            variables=variables,
            names={name: getattr(self, name) for name in ("coordinate_names", "speed_names", "auxiliary_names")},
            end_time=self.end_time[which],
            num_rows=self.num_rows[which],
            failures={k: self.failures[i] for k, i in enumerate(places) if i in self.failures},
            terminations={k: self.terminations[i] for k, i in enumerate(places) if i in self.terminations},
            statistics={k: v[which] if isinstance(v, np.ndarray) else v for k, v in self.statistics.items()},
            state_of=None if state_of is None else _Picked(state_of, places),
            quantities={name: values[which] for name, values in self.quantities.items()},
            changes={k: self.changes[i] for k, i in enumerate(places) if i in self.changes},
            events={k: self.events_of[i] for k, i in enumerate(places) if i in self.events_of},
            sensitivities=None if self.sensitivities is None else self.sensitivities.each(lambda a: np.asarray(a[which])),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], state: State | None = None) -> EnsembleTrajectory:
        """Read what a run has recorded to an HDF5 file, also of one that was killed.

        Parameters
        ----------
        path : str or path
            What ``record_to`` was.
        state : State, optional
            Like that which the ensemble was made from, for energies and pictures of single motions; it is not in the file.

        Raises
        ------
        FileNotFoundError
            If there is none.
        ModelError
            If the file is damaged, or not of an ensemble.
        ImportError
            If h5py is not installed.
        """
        columns, about = read_recording(path)
        if "counts" not in columns:
            raise ModelError(f"{os.fspath(path)} is not a recording of an ensemble; Trajectory.load reads those of one state")
        times, outcome, end = (np.asarray(columns[name]) for name in ("time", "counts", "end"))
        failures = {int(i): Failure(*one) for i, one in about.get("failures", {}).items()}
        events = {
            int(i): (Events(np.reshape(rows, (len(rows), -1)), labels), np.array(at, np.int64))
            for i, (labels, rows, at) in about.get("events", {}).items()
        }
        ends = {
            int(i): Termination(t, why, None if y is None else np.array(y)) for i, (t, why, y) in about.get("ends", {}).items()
        }
        return cls(
            time=times[0] if len(times) and (times == times[0]).all() else times,
            observations=np.zeros((*times.shape, 0)),
            variables=columns,
            names=about,
            end_time=end[:, 0].copy(),
            num_rows=outcome[:, layout.ROWS].astype(np.int64),
            failures=failures,
            terminations=ends,
            statistics=counted(outcome) | {"integrator": about.get("integrator", ""), "last_step_size": end[:, 1].copy()},
            state_of=None if state is None else CopyOf(state),
            events=events,
            sensitivities=read_sensitivities(about.get("sensitivity_names"), columns),
        )

    def rows_of_y(self, i: int) -> Array:
        """All variables of state *i*, a row a report."""
        rows = int(self.num_rows[i])
        return np.concatenate([np.asarray(getattr(self, name)[i][:rows]).reshape(rows, -1) for name in _VARIABLES], axis=1)

    def _one(self, i: int) -> Trajectory:
        """The motion of state *i*; its last row is where its run ended."""
        rows, state = int(self.num_rows[i]), None if self.state_of is None else self.state_of(i)
        time = (self.time if self.time.ndim == 1 else self.time[i])[:rows]
        columns: dict[str, Any] = {name: np.array(getattr(self, name)[i][:rows]) for name in _VARIABLES}
        end = self.terminations.get(i)
        kept = {name: values[i, :rows] for name, values in self.quantities.items()}
        if end is not None and end.y is not None:
            time = np.append(time, end.time)
            kept = {name: np.concatenate([values, (end.quantities or {})[name]]) for name, values in kept.items()}
            nq, nu, nz = (columns[name].shape[1] for name in ("q", "u", "z"))
            parts = np.split(end.y, [nq, nq + nu, nq + nu + nz])
            parts[3:] = np.reshape(parts[3], (2, -1, 3))
            columns = {name: np.concatenate([columns[name], part[None]]) for name, part in zip(_VARIABLES, parts, strict=True)}
        statistics = {
            name: value[i].item() if isinstance(value, np.ndarray) else value for name, value in self.statistics.items()
        }
        if i in self.failures:
            statistics["failure"] = str(self.failures[i])
        if end is not None:
            statistics["termination"] = end.reason
        motion = Trajectory(
            system=None if state is None else state.system,
            time=time,
            energy=np.full(len(time), np.nan),
            coordinate_names=self.coordinate_names,
            speed_names=self.speed_names,
            auxiliary_names=self.auxiliary_names,
            state=state,
            statistics=statistics,
            quantities=kept,
            **columns,
        )
        motion.changes = self.changes.get(i, [])
        motion.knows_events = True
        if i in self.events_of:
            motion.events, motion.event_rows = self.events_of[i]
        if state is not None:
            motion.energy = read_only(np.array([_energy(one) for one in motion.states.walk(range(len(time)))]))
        if self.sensitivities is not None:
            motion.sensitivities = self.sensitivities.each(lambda a: _with_rows(np.array(a[i, :rows]), len(time)))
        return motion


def _energy(state: State) -> float:
    state.system.realize(state, Stage.DYNAMICS)
    return float(state.system.calc_energy(state))


def _with_rows(array: Array, rows: int) -> Array:
    """An array with as many rows as a motion, of which one more may be where an event has ended it: not a number."""
    return np.concatenate([array, np.full((rows - len(array), *array.shape[1:]), np.nan)])
