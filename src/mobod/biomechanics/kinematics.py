"""Inverse kinematics: the coordinates with which a model's markers come closest to those that were recorded, frame by frame.

    minimize  sum w |p(q) - p_seen|^2 / (2 sum w)  +  sum v |angle|^2 / (2 sum v)  +  sum c (q - q_wanted)^2 / 2

over the coordinates, so that constraints hold. Source: Lu and O'Connor 1999, Journal of Biomechanics 32:129-134.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..assembler import Assembler, Markers, OrientationSensors, QValue
from ..errors import ConvergenceError
from ..importer.formats import as_model
from ..importer.model import Model
from ..mobilizer.base import MobilizedBody
from ..motion_data import Table, read_sto, read_trc
from ..motion_data.labels import coordinate_of
from ..shapes.tracks import APART, MARKER, SEEN, Track
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..value import Rotation
from ..value.checks import all_known, not_negative, number, suggest
from ..value.progress import shown
from ..value.rotation import matrix_of_quaternion
from ..value.stage import Stage
from .motion import Motion

#: What a search's promise has to fall below, as a part of the goal: OpenSim's default.
ACCURACY = 1e-5

#: Residuals that are more than this part of the markers' own spread are no fit.
FAR = 0.3
#: Frames between two reports of progress.
_BLOCK = 64
#: Other starts of the first frame, and how near goals of one pose are.
_STARTS, _ALIKE = 6, 1e-4

Number = float | npt.ArrayLike


class Kinematics(Trajectory):
    """The motion that `inverse_kinematics` has found: a Trajectory, and how far the markers are from what was seen.

    Attributes
    ----------
    residuals : Table
        The distance of each marker from where it was seen ``(nt,)``; NaN where it was not. Length.
    errors : Table
        The difference of each ``(nt, 3)``, model less seen, in Ground.
    sensor_errors : Table
        The angle by which each orientation sensor is off ``(nt,)``.
    goal : (nt,) array
        What was minimized, at each frame.
    rms, maximum : (nt,) arrays
        Of the residuals of each frame.
    markers : dict of str to (MobilizedBody, (3,) array)
        The model's, of those that were recorded.
    seen : Table or None
        Where they were seen.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> model = mb.load(files("mobod") / "examples" / "panda.urdf")
    >>> hand, state = model.bodies["panda_link7"], model.default_state()
    >>> model.markers["wrist"] = (hand, (0, 0, 0))
    >>> model.system.realize(state, mb.Stage.POSITION)
    >>> motion = mb.inverse_kinematics(model, mb.Table([0.0], {"wrist": [hand.get_body_origin_location(state)]}))
    >>> bool(motion.rms[0] < 1e-6), motion.residuals["wrist"].shape
    (True, (1,))
    """

    residuals: Table
    errors: Table
    sensor_errors: Table
    goal: Array
    rms: Array
    maximum: Array
    markers: Mapping[str, tuple[MobilizedBody, Array]] = {}
    seen: Table | None = None

    def summarize(self) -> str:
        """A table in text: each marker's root mean square and greatest residual, and when that was, the worst first."""
        rows = []
        for label in self.residuals.labels:
            residual = self.residuals[label]
            if np.isfinite(residual).any():
                worst = int(np.nanargmax(residual))
                seen = float(np.mean(np.isfinite(residual)))
                rows.append((label, float(np.sqrt(np.nanmean(residual**2))), residual[worst], self.time[worst], seen))
        rows.sort(key=lambda row: -row[1])
        width = max([6, *(len(row[0]) for row in rows)])
        lines = [f"{'marker':<{width}}  {'rms':>8}  {'max':>8}  {'at time':>8}  {'seen':>5}"]
        lines += [f"{label:<{width}}  {rms:8.4f}  {most:8.4f}  {at:8.3f}  {seen:5.0%}" for label, rms, most, at, seen in rows]
        everything = np.sqrt(np.nanmean(np.square([self.residuals[label] for label in self.residuals]))) if rows else 0.0
        worst_at = f"{np.nanmax(self.maximum):8.4f}" if rows else f"{0.0:8.4f}"
        lines.append(f"{'all':<{width}}  {everything:8.4f}  {worst_at}")
        if everything > FAR * self._spread():
            lines.append("the markers are far from the model's: are the unit and the axes of the file those of the model?")
        return "\n".join(lines)

    def _spread(self) -> float:
        """The root mean square distance of the markers that were seen from their middle, over all frames."""
        if self.seen is None:
            return np.inf
        places = np.stack([self.seen[name] for name in self.seen], axis=1)
        there = np.asarray(np.isfinite(places).all(axis=2))[:, :, None]
        known = np.where(there, places, 0.0)
        middle = known.sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
        square = (np.where(there, known - middle, 0.0) ** 2).sum() / max(there.sum(), 1)
        return float(np.sqrt(square)) or np.inf

    def tracks(self) -> list[Track]:
        """The model's markers, those that were seen, and lines from one to the other, for pages and pictures."""
        if self.seen is None or not self.markers:
            return []
        bodies = np.array([body.index for body, _ in self.markers.values()], dtype=np.intp)
        stations = np.array([station for _, station in self.markers.values()], dtype=np.float64)
        seen = np.stack([self.seen[name] for name in self.markers], axis=1)
        both = np.stack([np.broadcast_to(stations, seen.shape), seen], axis=2).reshape(len(seen), -1, 3)
        ends, ground = np.stack([bodies, np.zeros_like(bodies)], axis=1).ravel(), np.zeros_like(bodies)
        return [
            Track("markers", MARKER, bodies, stations[None], labels=tuple(self.markers)),
            Track("measured markers", SEEN, ground, seen, labels=tuple(self.markers)),
            Track("marker errors", APART, ends, both, are_lines=True),
        ]

    def to_table(self) -> Table:
        """The coordinates as a table, for `write_sto`."""
        return Table(self.time, dict(zip(self.coordinate_names, np.asarray(self.q).T, strict=True)), name="coordinates")


def inverse_kinematics(
    model: Model | str | os.PathLike[str],
    markers: Table | str | os.PathLike[str] | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    coordinates: Mapping[str, Number] | Table | None = None,
    coordinate_weights: float | Mapping[str, float] = 1.0,
    orientations: Table | str | os.PathLike[str] | None = None,
    orientation_weights: float | Mapping[str, float] = 1.0,
    start: float = -np.inf,
    end: float = np.inf,
    accuracy: float = ACCURACY,
    constraint_weight: float = np.inf,
    cutoff: float | None = None,
    state: State | None = None,
    progress: bool | Callable[[int, int], Any] | None = None,
) -> Kinematics:
    """Find the coordinates with which a model's markers come closest to recorded ones.

    Parameters
    ----------
    model : Model or path
        With `markers`.
    markers : Table or path, optional
        Of a TRC file, say: one column ``(nt, 3)`` a marker, in the model's units and axes; NaN where one was not seen. Columns
        of no marker of the model are left out, and the other way round.
    weights : mapping of str to float, optional
        Of markers; 1 unless given. Zero leaves a marker out of the goal; its residual is reported all the same.
    coordinates : mapping of str to number or (nt,) array, or Table, optional
        Values that coordinates are drawn to.
    coordinate_weights : float or mapping of str to float
        How strongly, of all or by name.
    orientations : Table or path, optional
        Of orientation sensors: one column of quaternions ``(nt, 4)`` a frame of the model (`Model.frames`), or a body, that
        turns it into Ground. It is read at the markers' times, where there are such.
    orientation_weights : float or mapping of str to float
        Likewise.
    start, end : float
        The frames from and to these times.
    accuracy : float
        A frame's search ends when its next step promises to lower the goal by less than the square of this part of it.
    constraint_weight : float
        How much the constraints' errors count; infinite, the default, makes the constraints hold.
    cutoff : float, optional
        Of a Butterworth filter of order 4, without delay, of the coordinates found; 1/time. None: they are not filtered.
    state : State, optional
        Where the search begins, and what is locked; `Model.default_state` unless given.
    progress : bool or callable, optional
        True shows a progress bar (needs tqdm); a callable gets the number of frames done, and of all.

    Returns
    -------
    Kinematics
        A `Trajectory`, with `residuals` by marker and frame. Its speeds are derivatives of splines through the coordinates.

    Raises
    ------
    ValueError
        If no marker of the data is one of the model, or a name is unknown.
    ConvergenceError
        If constraints cannot be met in a frame, which the message names.

    Notes
    -----
    Coordinates that the file clamps keep to their ranges; locked ones stay. Each frame starts from the one before it; the first
    is assembled. A frame in which nothing was seen repeats the one before it. With weights and constraints alike the goal is
    OpenSim's, and ends as low or lower.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> model = mb.load_urdf(files("mobod") / "examples" / "panda.urdf")
    >>> hand = model.bodies["panda_link7"]
    >>> model.markers |= {f"m{k}": (hand, 0.1 * np.eye(3)[k]) for k in range(3)}
    >>> state = model.default_state()
    >>> model.system.realize(state, mb.Stage.POSITION)
    >>> seen = {name: [body.find_station_location_in_ground(state, p)] for name, (body, p) in model.markers.items()}
    >>> motion = inverse_kinematics(model, mb.Table([0.0], seen))
    >>> bool(motion.maximum[0] < 1e-6)
    True
    """
    model = as_model(model)
    seen = _table("markers", markers, read_trc)
    turned = _table("orientations", orientations, read_sto)
    given = seen if seen is not None else turned
    if given is None:
        raise TypeError("inverse_kinematics needs markers or orientations")
    if np.isfinite(start) or np.isfinite(end):
        given = given.between(start, end)
    time = given.time
    goals = _Goals(model, time)
    if seen is not None:
        goals.add_markers(given, weights)
    if turned is not None:
        goals.add_orientations(turned, orientation_weights)
    if coordinates is not None:
        goals.add_coordinates(coordinates, coordinate_weights)
    if turned is None and not goals.values and not goals.see_markers(weights or {}):
        raise ValueError("no marker that the model and the data share is ever seen with a weight above zero")
    begin = model.default_state() if state is None else state.copy()
    model.system.realize(begin, Stage.INSTANCE)
    q = goals.track(begin, accuracy, constraint_weight, progress)
    return goals.report(begin, Motion.of_rows(model, begin, time, q, cutoff))


def _table(what: str, given: Any, read: Callable[[Any], Table]) -> Table | None:
    if given is None or isinstance(given, Table):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read(given)
    raise TypeError(f"{what} are a Table, or the path of a file, not {given!r}")


class _Goals:
    """Goals to be drawn: places and times."""

    def __init__(self, model: Model, time: Array) -> None:
        self.model, self.time = model, time
        self.markers: Markers | None = None
        self.sensors: OrientationSensors | None = None
        self.values: list[tuple[QValue, Array, float]] = []
        self.names: list[str] = []
        self.seen: Array = np.zeros((len(time), 0, 3))
        self.turned: Array = np.zeros((len(time), 0, 3, 3))
        self.sensor_names: list[str] = []
        self.goal: Array = np.zeros(len(time))

    # ------------------------------------------------------------------------------------------ what there is

    def add_markers(self, table: Table, weights: Mapping[str, float] | None) -> None:
        """The markers that model and data share."""
        known = self.model.markers
        self.names = [label for label in table.labels if label in known and table[label].shape[1:] == (3,)]
        if not self.names:
            raise ValueError(
                f"no column of the data is a marker of {self.model.name!r}, whose markers are {_few(known)}; the data has "
                f"{_few(table.labels)}"
            )
        weights = dict(weights or {})
        for name, weight in weights.items():
            if name not in known and name not in table:
                raise ValueError(f"weights names {name!r}, which is no marker; {suggest(name, [*known])}")
            not_negative(f"the weight of the marker {name!r}", weight, ValueError)
        self.markers = Markers()
        for name in self.names:
            self.markers.add_marker(name, *known[name], weight=weights.get(name, 1.0))
        self.seen = np.stack([table[name] for name in self.names], axis=1)

    def see_markers(self, weights: Mapping[str, float]) -> bool:
        """True if any marker draws the model at any time."""
        drawn = [k for k, name in enumerate(self.names) if weights.get(name, 1.0) > 0.0]
        return bool(np.isfinite(self.seen[:, drawn]).all(axis=2).any())

    def add_orientations(self, table: Table, weights: float | Mapping[str, float]) -> None:
        """The frames and bodies that model and data share."""
        frames = {name: (body, np.eye(3)) for name, body in self.model.bodies.items()}
        frames |= {name: (body, np.asarray(X.R)) for name, (body, X) in self.model.frames.items()}
        labels = {label: label.strip("/").split("/")[-1] for label in table.labels if table[label].shape[1:] == (4,)}
        shared = {label: name for label, name in labels.items() if name in frames}
        if not shared:
            raise ValueError(
                f"no column of quaternions is a frame or body of {self.model.name!r}; the data has {_few(table.labels)}"
            )
        table = table.only(list(shared))
        if not np.array_equal(table.time, self.time):
            table = table.resampled(self.time, degree=1)
        each = weights if isinstance(weights, Mapping) else dict.fromkeys(shared.values(), weights)
        self.sensors = OrientationSensors()
        found = []
        for label, name in shared.items():
            body, R = frames[name]
            self.sensors.add_o_sensor(name, body, Rotation(R), weight=each.get(name, 1.0))
            found.append(_rotations(table[label]))
        self.sensor_names = list(shared.values())
        self.turned = np.stack(found, axis=1)

    def add_coordinates(self, wanted: Mapping[str, Number] | Table, weights: float | Mapping[str, float]) -> None:
        """Values that coordinates are drawn to."""
        columns: dict[str, Any] = {}
        if isinstance(wanted, Table):
            table = wanted if np.array_equal(wanted.time, self.time) else wanted.resampled(self.time)
            for label in table.labels:
                name, quantity = coordinate_of(label, self.model.coordinates)
                if quantity == "value" and name in self.model.coordinates:
                    columns[name] = table[label]
        else:
            columns = dict(wanted)
        all_known("there is no coordinate", columns, self.model.coordinates)
        for name, value in columns.items():
            weight = weights.get(name, 1.0) if isinstance(weights, Mapping) else weights
            not_negative(f"the weight of the coordinate {name!r}", weight, ValueError)
            values = np.broadcast_to(np.asarray(value, dtype=np.float64), self.time.shape)
            mobod, which = place_of(self.model, self.model.coordinates[name])
            self.values.append((QValue(mobod, which, float(values[0])), values, weight))

    # ------------------------------------------------------------------------------------------ the search

    def _assembler(self, state: State, accuracy: float, constraint_weight: float) -> Assembler:
        assembler = Assembler(self.model.system)
        assembler.set_accuracy(accuracy)
        assembler.set_error_tolerance(1e-6)
        if np.isfinite(number("constraint_weight", constraint_weight) if constraint_weight < np.inf else np.inf):
            assembler.set_system_constraints_weight(constraint_weight)
        for goal in (self.markers, self.sensors):
            if goal is not None:
                assembler.adopt_assembly_goal(goal)
        for value, _, weight in self.values:
            assembler.adopt_assembly_goal(value, weight)
        for mobod, which, low, high in clamped(self.model):
            if not mobod.is_locked(state):
                assembler.restrict_q(mobod, which, low, high)
        return assembler

    def track(
        self, state: State, accuracy: float, constraint_weight: float, progress: bool | Callable[[int, int], Any] | None
    ) -> Array:
        """The coordinates of all frames ``(nt, nq)``."""
        assembler = self._assembler(state, accuracy, constraint_weight)
        nt = len(self.time)
        q = np.empty((nt, len(state.q)))
        state.time = float(self.time[0])
        assembler.initialize(state)
        self._take(0)
        try:
            self.goal[0] = self._first(assembler, state)
        except ConvergenceError as error:
            raise _at_frame(error, 0, self.time) from None
        here = assembler.get_internal_state()
        q[0] = here.q
        following = assembler.following(self.time, self.seen) if self.markers is not None else None
        i = 1
        with shown(progress, nt, "frames") as show:
            while i < nt:
                if following is not None:
                    i = following.run(i, min(i + _BLOCK, nt), q, self.goal)
                    show(i, nt)
                    if i == nt:
                        break
                moment = float(self.time[i])
                self._take(i)
                try:
                    self.goal[i] = assembler.track(moment)
                except ConvergenceError as error:
                    raise _at_frame(error, i, self.time) from None
                q[i] = here.q
                i += 1
                if i % 16 == 0 or i == nt:
                    show(i, nt)
        return q

    def _first(self, assembler: Assembler, state: State) -> float:
        """Find the first pose, and its goal.

        Where it is bent as far as ranges allow, limbs may have folded the wrong way: other starts are tried until two come to
        the best pose again.
        """
        goal = self._from_there(assembler, state)
        places = [
            (state.tree.first_q[mobod.index] + which, low, high)
            for mobod, which, low, high in clamped(self.model)
            if not mobod.is_locked(state) and -np.inf < low < high < np.inf
        ]
        random = np.random.default_rng(0)  # the same result each time
        best, again = np.array(assembler.get_internal_state().q), 0
        for attempt in range(_STARTS):
            if not goal > 0.0 or again > 1 or not any(best[at] <= low or best[at] >= high for at, low, high in places):
                break
            other = state.copy()
            q = np.array(other.q)
            for at, low, high in places:
                q[at] = low + (0.5 if not attempt else random.uniform()) * (high - low)
            other.q = q
            assembler.set_internal_state(other)
            try:
                then = self._from_there(assembler, other)
            except ConvergenceError:
                continue
            if then < goal * (1.0 - _ALIKE):
                goal, best, again = then, np.array(assembler.get_internal_state().q), 0
            elif then < goal * (1.0 + _ALIKE):
                again += 1
        other = state.copy()
        other.q = best
        assembler.set_internal_state(other)
        return goal

    def _from_there(self, assembler: Assembler, state: State) -> float:
        """Assemble from a state: by the coordinates of bodies on Ground alone, and then by all."""
        bodies = [one for one in self.model.matter.bodies if one.index]
        beyond = [one for one in bodies if one.get_parent_mobilized_body().index]
        moves = any(one.facts.num_q for one in bodies if one not in beyond)
        if beyond and moves and assembler.calc_current_error_norm() <= assembler.get_error_tolerance_in_use():
            for one in beyond:
                assembler.lock_mobilizer(one)
            try:
                assembler.assemble()
            except ConvergenceError:  # constraints need what is locked
                assembler.set_internal_state(state)
            for one in beyond:
                assembler.unlock_mobilizer(one)
        return assembler.assemble()

    def _take(self, i: int) -> None:
        if self.markers is not None:
            self.markers.move_all_observations(self.seen[i])
        if self.sensors is not None:
            self.sensors.move_all_observations(self.turned[i])
        for value, values, _ in self.values:
            value.set_value(float(values[i]))

    # ------------------------------------------------------------------------------------------ the result

    def report(self, state: State, motion: Motion) -> Kinematics:
        """The motion, with what is left at each frame."""
        model = self.model
        bodies = [model.markers[name][0].index for name in self.names]
        stations = np.array([model.markers[name][1] for name in self.names]).reshape(-1, 3)
        at = np.empty((len(self.time), len(self.names), 3))
        angles = np.zeros((len(self.time), len(self.sensor_names)))
        energy = np.empty(len(self.time))
        for i, (t, q, u) in enumerate(zip(self.time.tolist(), motion.q, motion.u, strict=True)):
            state.time, state.q, state.u = t, q, u
            model.system.realize(state, Stage.VELOCITY)
            R, p = state.R_GB, state.record.p_GB[:, :3]
            at[i] = p[bodies] + np.einsum("kij,kj->ki", R[bodies], stations)
            energy[i] = model.system.calc_energy(state)
            for k, name in enumerate(self.sensor_names):
                angles[i, k] = self._angle(R, name, self.turned[i, k])
        errors = at - self.seen
        apart = np.sqrt((errors**2).sum(axis=2))
        found = Kinematics(
            system=model.system,
            time=self.time,
            q=motion.q,
            u=motion.u,
            energy=energy,
            coordinate_names=motion.names,
            speed_names=motion.speed_names,
            quantities={"marker_errors": apart} if self.names else {},
            state=state,
            statistics={"accuracy": ACCURACY},
        )
        found.residuals = Table(self.time, {name: apart[:, k] for k, name in enumerate(self.names)}, name="residuals")
        found.errors = Table(self.time, {name: errors[:, k] for k, name in enumerate(self.names)}, name="errors")
        found.sensor_errors = Table(self.time, {name: angles[:, k] for k, name in enumerate(self.sensor_names)}, name="angles")
        there = np.isfinite(apart)
        squares = np.where(there, apart**2, 0.0).sum(axis=1)
        count = np.maximum(there.sum(axis=1), 1)
        seen = there.any(axis=1)  # a frame without a marker has no residual: NaN
        found.rms = np.where(seen, np.sqrt(squares / count), np.nan)
        found.maximum = np.where(seen, np.where(there, apart, 0.0).max(axis=1, initial=0.0), np.nan)
        found.goal = self.goal
        if self.names:
            found.markers = {name: model.markers[name] for name in self.names}
            found.seen = Table(self.time, {name: self.seen[:, k] for k, name in enumerate(self.names)}, name="markers")
        return found

    def _angle(self, R: Array, name: str, wanted: Array) -> float:
        body, of = self.model.bodies.get(name), np.eye(3)
        if name in self.model.frames:
            body, X = self.model.frames[name]
            of = np.asarray(X.R)
        assert body is not None
        off = (R[body.index] @ of).T @ wanted
        sine = 0.5 * float(np.linalg.norm([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]]))
        return float(np.arctan2(sine, 0.5 * (np.trace(off) - 1.0)))


def _at_frame(error: ConvergenceError, i: int, time: Array) -> ConvergenceError:
    """The same error, which says where it happened."""
    again = ConvergenceError(f"frame {i} of {len(time)}, at time {float(time[i]):g}: {error}")
    again.diagnosis = error.diagnosis
    return again


def place_of(model: Model, q: int) -> tuple[Any, int]:
    """The mobilized body whose coordinate number *q* of the model's default state is, and which of its own."""
    state = model.default_state()
    for body in model.matter.bodies:
        first = state.tree.first_q[body.index]
        if first <= q < first + state.tree.num_q[body.index]:
            return body, int(q - first)
    raise IndexError(f"the model has no coordinate {q}")


def clamped(model: Model) -> list[tuple[Any, int, float, float]]:
    """Coordinates that the file clamps to a range: body, which q, low, high."""
    found = []
    for one in dict(model.data.get("coordinates", {})).values():
        if getattr(one, "clamped", False) and not one.locked and one.mobod is not None:
            found.append((one.mobod, one.which, *one.range))
    return found


def _rotations(quaternions: Array) -> Array:
    """Matrices of quaternions (w, x, y, z), of any length but zero; gaps stay gaps."""
    unit = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    return np.moveaxis(matrix_of_quaternion(*unit.T), 2, 0)


def _few(names: Any) -> str:
    some = list(names)
    return (", ".join(some[:6]) + (f" and {len(some) - 6} more" if len(some) > 6 else "")) or "none"
