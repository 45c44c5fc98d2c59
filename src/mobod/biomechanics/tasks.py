"""Tasks of a model that follows a motion: coordinates, points and orientations of bodies, each by gains and weights.

Each task asks for accelerations J u_dot + b of one or three quantities x, seen in a frame E that may move too:

    point P of body B       x = R_GE^T (p_P - p_E)      x_dot = R_GE^T (v_P - v_E - w_E x r),  r = p_P - p_E
    orientation of body B   x = R_EB                    w = R_GE^T (w_B - w_E)

The error of an orientation is the angle, about its axis, of the turn from the one that is there to the wanted one. Wanted are
the places and orientations that the bodies have in the motion, or those of a table. Source: Thelen and Anderson 2006, J.
Biomech. 39, 1107; for relative motion Kane and Levinson 1985, Dynamics, 2.7 and 2.8.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..algebra import quaternion
from ..algebra.arrays import Array
from ..errors import ModelError
from ..importer.model import Model
from ..motion_data import Table
from ..state.state import State
from ..value import checks
from ..value.rotation import Rotation
from ..value.stage import Stage
from .motion import natural_spline, smoothed
from .states import acting_couplers, frame_of, held_speeds

#: The name of a body by which tasks of points mean the mass center of all.
CENTER_OF_MASS = "center_of_mass"
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task:
    """The settings by which a coordinate follows its motion.

    Attributes
    ----------
    kp, kv, ka : float
        Gains of the errors of coordinate (1/time^2) and speed (1/time), and of the wanted acceleration. With kv = 2 sqrt(kp)
        errors die away without overshoot.
    weight : float
        Of the error of the acceleration, where it may be missed.
    limit : float
        Error of the coordinate near which the forces' sum counts less and less, where accelerations may be missed; 0 for none.

    Examples
    --------
    >>> import mobod as mb
    >>> mb.biomechanics.Task(kp=400.0, kv=40.0).ka
    1.0
    """

    kp: float = 100.0
    kv: float = 20.0
    ka: float = 1.0
    weight: float | Sequence[float] = 1.0
    limit: float = 0.0

    def __post_init__(self) -> None:
        for name in ("kp", "kv", "ka", "limit"):
            _not_negative(name, getattr(self, name))
        if np.shape(self.weight) not in ((), (self.count,)):
            raise ValueError(f"weight of a {type(self).__name__} is one number, or {self.count}, got {self.weight!r}")
        for value in np.ravel(self.weight).tolist():
            _not_negative("weight", value)
        if np.shape(self.weight):
            object.__setattr__(self, "weight", tuple(np.ravel(self.weight).tolist()))

    @property
    def count(self) -> int:
        """Of how many quantities it is."""
        return 1


def _not_negative(name: str, value: Any) -> None:
    if checks.finite(f"{name} of a Task", value, ValueError) < 0.0:
        raise ValueError(f"{name} of a Task is not negative, got {value:g}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class _BodyTask(Task):
    """Of a body, in the axes of another."""

    body: str
    relative_to: str = "ground"
    directions: Sequence[Sequence[float]] = _AXES
    path: Table | None = None
    _WIDTHS: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        given = checks.vectors("directions of a task", self.directions).reshape(-1, 3)
        sizes = np.linalg.norm(given, axis=1)
        if not len(given) or not (np.isfinite(given).all() and (sizes > 0.0).all()):
            raise ValueError(f"directions of a task are vectors that are not zero, got {self.directions!r}")
        object.__setattr__(self, "directions", tuple(map(tuple, (given / sizes[:, None]).tolist())))
        if self.path is not None:
            checks.instance("path of a task", self.path, Table, "mobod.Table(time, {'hand': places})")
            self.columns()
        super().__post_init__()

    @property
    def count(self) -> int:
        return len(self.directions)

    def columns(self) -> Array:
        """The numbers of the path, a row a time."""
        assert self.path is not None
        rows = np.concatenate([self.path[label].reshape(len(self.path), -1) for label in self.path.labels], axis=1)
        if rows.shape[1] not in self._WIDTHS or not np.isfinite(rows).all() or len(rows) < 6:
            raise ValueError(
                f"path of a {type(self).__name__} has {' or '.join(map(str, self._WIDTHS))} finite numbers at each of "
                f"at least 6 times, got {rows.shape[1]} at {len(rows)}"
            )
        return rows


@dataclasses.dataclass(frozen=True, kw_only=True)
class PointTask(_BodyTask):
    """The settings by which a point of a body follows a path.

    Attributes
    ----------
    body : str
        A body or frame of the model, or ``"center_of_mass"``: of all bodies.
    point : (3,) array
        In the body's frame; length. It means nothing for the center of mass.
    relative_to : str
        A body or frame in which the place is seen, which may move.
    directions : (n, 3) array
        In the axes of *relative_to*: along which the point is followed; along all three unless given. They are normalized.
    path : Table, optional
        The wanted place (length) in *relative_to*, three numbers a time. Unless given, it is where the motion has the point.
    kp, kv, ka, limit : float
        As of a `Task`, of the place along each direction (length).
    weight : float, or one for each direction

    Examples
    --------
    >>> import mobod as mb
    >>> mb.biomechanics.PointTask(body="calcn_r", point=(0.2, 0.0, 0.0), directions=[(0, 1, 0)]).count
    1
    """

    point: Sequence[float] = (0.0, 0.0, 0.0)
    _WIDTHS: ClassVar[tuple[int, ...]] = (3,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", tuple(checks.vector("point of a PointTask", self.point, ValueError).tolist()))
        super().__post_init__()


@dataclasses.dataclass(frozen=True, kw_only=True)
class OrientationTask(_BodyTask):
    """The settings by which a body follows an orientation.

    Attributes
    ----------
    body : str
        A body or frame of the model.
    relative_to : str
        A body or frame in which the orientation is seen, which may move.
    directions : (n, 3) array
        In the axes of *relative_to*: about which errors count; about all three unless given. They are normalized.
    path : Table, optional
        The wanted orientation in *relative_to*, a time each: three body-fixed angles about x, y, z (radians), or a quaternion
        (w, x, y, z). Unless given, it is the one that the motion gives the body.
    kp, kv, ka, limit : float
        As of a `Task`, of the angle about each direction (radians).
    weight : float, or one for each direction

    Examples
    --------
    >>> import mobod as mb
    >>> mb.biomechanics.OrientationTask(body="torso", weight=(10.0, 1.0, 1.0)).count
    3
    """

    _WIDTHS: ClassVar[tuple[int, ...]] = (3, 4)


class Rows:
    """The quantities of all tasks, one a row: errors, wanted accelerations, and how the speeds' accelerations make theirs."""

    def __init__(self, model: Model, bare: State, tasks: Mapping[str, Task], wanted: Any) -> None:
        self.model, self.bare, self.wanted = model, bare, wanted
        self.labels, self.places, self._of_bodies = list[str](), list[int](), list[_OfBody]()
        ordered = [*(one for one in tasks.items() if not isinstance(one[1], _BodyTask))]
        self.places = [model.speeds[name] for name, _ in ordered]
        ordered += [one for one in tasks.items() if isinstance(one[1], _BodyTask)]
        for name, task in ordered:
            if isinstance(task, _BodyTask):
                self._of_bodies.append(_OfBody(model, name, task, wanted.cutoff, wanted.filter))
                self.labels += [f"{name}_{axis}" for axis in ("xyz" if task.count == 3 else range(1, task.count + 1))]
            else:
                self.labels.append(name)
        gains = [[(one.kp, one.kv, one.ka)] * one.count for _, one in ordered]
        self.gains = np.array([row for rows in gains for row in rows]).reshape(-1, 3)
        self.weights = np.concatenate([np.broadcast_to(one.weight, one.count) for _, one in ordered])
        self.limits = np.concatenate([np.broadcast_to(one.limit, one.count) for _, one in ordered])
        begin, end = float(wanted.time[0]), float(wanted.time[-1])
        for one in self._of_bodies:
            if one.time is not None:
                begin, end = max(begin, float(one.time[0])), min(end, float(one.time[-1]))
        #: From when to when everything that is wanted is known.
        self.span = begin, end

    def errors(self, state: State) -> tuple[Array, Array]:
        """Of the quantities, and of their rates: the wanted ones less those that are there."""
        t = float(state.time)
        q, u = self.wanted(t)
        found = [(q - np.array(state.q))[self.places]], [(u - np.array(state.u))[self.places]]
        if self._of_bodies:
            there = self._at(t, state.q, state.u)
            moves = [(one.where(there), one.moves(there)) for one in self._of_bodies]
            at = self._at(t, q, u)
            for one, (x, (J, _)) in zip(self._of_bodies, moves, strict=True):
                x_wanted, rate, _ = one.wanted(t) if one.time is not None else (one.where(at), one.moves(at)[0] @ u, None)
                found[0].append(one.directions @ one.difference(x_wanted, x))
                found[1].append(one.directions @ (rate - J @ np.array(state.u)))
        return np.concatenate(found[0]), np.concatenate(found[1])

    def accelerations(self, t: float) -> Array:
        """Those of the quantities that are wanted at a time."""
        u_dot = self.wanted.u_dot(t)
        found = [u_dot[self.places]]
        if self._of_bodies:
            at = self._at(t, *self.wanted(t))
            for one in self._of_bodies:
                if one.time is not None:
                    found.append(one.directions @ one.wanted(t)[2])
                else:
                    J, bias = one.moves(at)
                    found.append(one.directions @ (J @ u_dot + bias))
        return np.concatenate(found)

    def linear(self, at: State) -> tuple[Array, Array]:
        """J (n, nu) and b (n,): accelerations of the quantities are J u_dot + b; *at* is at VELOCITY."""
        J = [np.eye(len(at.u))[self.places]]
        bias = [np.zeros(len(self.places))]
        for one in self._of_bodies:
            own, rest = one.moves(at)
            J.append(one.directions @ own)
            bias.append(one.directions @ rest)
        return np.concatenate(J), np.concatenate(bias)

    def _at(self, t: float, q: Any, u: Any) -> State:
        self.bare.time, self.bare.q, self.bare.u = t, q, u
        self.model.system.realize(self.bare, Stage.VELOCITY)
        return self.bare


class _OfBody:
    """The point or orientation of one task."""

    def __init__(self, model: Model, name: str, task: Any, cutoff: float | None, filter: str) -> None:
        self.model, self.matter, self.directions = model, model.matter, np.asarray(task.directions)
        self.turns = isinstance(task, OrientationTask)
        self.of_all = not self.turns and task.body == CENTER_OF_MASS
        self.frame, self.X_E = frame_of(model, task.relative_to)
        self.body, X = frame_of(model, "ground" if self.of_all else task.body)
        self.R = np.asarray(X.R)
        self.station = np.asarray(X.p) + self.R @ np.asarray(getattr(task, "point", np.zeros(3)))
        self.time = None
        if task.path is not None:
            rows, self.time = task.columns(), task.path.time
            if self.turns:
                if rows.shape[1] == 3:
                    rows = np.array([Rotation.from_body_fixed_xyz(row).to_quaternion() for row in rows])
                sizes = np.linalg.norm(rows, axis=1)
                if not (sizes > 1e-6).all():
                    raise ValueError(f"the path of the task {name!r} has a quaternion of zeros")
                rows = rows / sizes[:, None]
                back = np.cumsum((rows[1:] * rows[:-1]).sum(axis=1) < 0.0) % 2 == 1  # q and -q are one orientation
                rows[1:][back] *= -1.0
            self._spline = natural_spline(*smoothed(self.time, rows, cutoff, filter), 5)

    # ------------------------------------------------------------------------------------------ what is wanted

    def wanted(self, t: float) -> tuple[Array, Array, Array]:
        """Place or orientation, its rate and acceleration, of the path."""
        x, v, a = (np.asarray(self._spline(t, order)) for order in range(3))
        if not self.turns:
            return x, v, a
        # of quaternions of any length
        w, turned = np.array(quaternion.multiply_by_n_inv(x, v)), np.array(quaternion.multiply_by_n_inv(x, a))
        return np.array(quaternion.to_rotation(x)).reshape(3, 3), w, turned - 2.0 * (v @ x) / (x @ x) * w

    def difference(self, x: Array, y: Array) -> Array:
        """From *y* to *x*."""
        if not self.turns:
            return x - y
        angle, axis = Rotation(x @ y.T).to_angle_axis()
        return angle * np.asarray(axis)

    # ------------------------------------------------------------------------------------------ what is there

    def where(self, state: State) -> Array:
        """Place or orientation in E; at VELOCITY."""
        X_GE = self.frame.get_body_transform(state) @ self.X_E
        R = np.asarray(X_GE.R)
        if self.turns:
            return np.asarray(R.T @ np.asarray(self.body.get_body_transform(state).R) @ self.R)
        return np.asarray(R.T @ (self._place(state) - np.asarray(X_GE.p)))

    def _place(self, state: State) -> Array:
        if self.of_all:
            return np.asarray(self.matter.calc_system_mass_center_location_in_ground(state))
        return np.asarray(self.body.find_station_location_in_ground(state, self.station))

    def moves(self, state: State) -> tuple[Array, Array]:
        """J and b of the rate in E: x_dot (or w) = J u, and its rate of change in E is J u_dot + b; at VELOCITY."""
        u = np.asarray(state.u)
        R = np.asarray((self.frame.get_body_transform(state) @ self.X_E).R)
        J_E, b_E = self._of_frame(state, self.frame, np.asarray(self.X_E.p))
        w = J_E[:3] @ u
        if self.turns:
            J_B, b_B = self._of_frame(state, self.body, self.station)
            J = J_B[:3] - J_E[:3]
            return R.T @ J, R.T @ (b_B[0] - b_E[0] - np.cross(w, J @ u))
        J_P, b_P = self._of_point(state)
        r = self._place(state) - self.frame.find_station_location_in_ground(state, self.X_E.p)
        J = J_P - J_E[3:] + np.cross(r, J_E[:3], axisb=0, axisc=0)
        bias = b_P - b_E[1] - np.cross(b_E[0], r) - np.cross(w, np.cross(w, r)) - 2.0 * np.cross(w, J @ u)
        return R.T @ J, R.T @ bias

    def _of_frame(self, state: State, body: Any, station: Array) -> tuple[Array, Array]:
        J = np.asarray(self.matter.calc_frame_jacobian(state, body, station)).reshape(6, -1)
        return J, np.asarray(self.matter.calc_bias_for_frame_jacobian(state, body, station))

    def _of_point(self, state: State) -> tuple[Array, Array]:
        if not self.of_all:
            J, bias = self._of_frame(state, self.body, self.station)
            return J[3:], bias[1]
        J, bias, total = np.zeros((3, len(state.u))), np.zeros(3), 0.0
        for body in self.matter.bodies:
            given = body.get_body_mass_properties(state)
            if body.index and given.mass > 0.0:
                own, rest = self._of_frame(state, body, np.asarray(given.com))
                J, bias, total = J + given.mass * own[3:], bias + given.mass * rest[1], total + given.mass
        return J / total, bias / total


def mapping(what: str, value: Any, such_as: str) -> None:
    """Refuse what is no mapping."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} has to be a mapping by name, such as {such_as}, not {value!r}")


def usable(model: Model, state: State, given: Mapping[str, Task] | None) -> dict[str, Task]:
    """Those of coordinates that can move, and of bodies; a usual one of each such coordinate unless given."""
    free = _free(model, state)
    if given is None:
        return {name: Task() for name in free}
    mapping("tasks", given, "{'knee_angle_r': mobod.biomechanics.Task(kp=400.0)}")
    for name, one in given.items():
        checks.instance(f"task of {name!r}", one, Task, "mobod.biomechanics.Task(...)")
        if not isinstance(one, _BodyTask) and name not in model.speeds:
            raise ValueError(f"tasks has the coordinate {name!r}; {checks.suggest(name, [*model.speeds])}")
    found = {name: one for name, one in given.items() if name in free or isinstance(one, _BodyTask)}
    if not found:
        raise ModelError(f"none of the tasks is of a coordinate of {model.name!r} that can move, or of a body")
    return found


def _free(model: Model, state: State) -> list[str]:
    """Coordinates that neither a lock, a motion nor a coupler determines."""
    held, starts = held_speeds(state), [int(first) for first in state.tree.first_u]
    held[[one.dependent_place(starts) for one in acting_couplers(model, state)]] = True
    return [name for name, place in model.speeds.items() if not held[place]]


__all__ = ["CENTER_OF_MASS", "OrientationTask", "PointTask", "Rows", "Task", "mapping", "usable"]
