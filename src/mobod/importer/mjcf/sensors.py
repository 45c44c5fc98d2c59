"""Sensors as measures: ``model.data["sensors"]``, by name; what has no counterpart is reported.

Values are MuJoCo's, before noise, delay and cutoff. ``framelinacc``, ``accelerometer`` and forces are those of mobod's own
accelerations: constraints and contacts are hard, or materials, where MuJoCo's are soft.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import measure
from ...algebra.arrays import Array
from ...state.state import State
from ...value import Transform
from ...value.stage import Stage
from ..model import Model
from .bodies import Joint, Tree
from .sites import Placed
from .source import Source, listed, plural, rotation_of

Reading = Callable[["State"], Any]


class SensorReading(measure.CustomImplementation):
    """The reading of a sensor, as a function of a state, which a factory makes when it is first needed."""

    def __init__(self, stage: Stage, factory: Callable[..., tuple[Reading, Stage] | None], *arguments: Any) -> None:
        self._stage, self._factory, self._arguments = stage, factory, arguments
        self._read: Reading | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_read": None}

    def get_depends_on_stage(self, deriv_order: int) -> Stage:
        """The stage that the reading needs."""
        return self._stage

    def get_num_cache_entries(self) -> int:
        """None: a control that a program sets would not invalidate them."""
        return 0

    def calc_cached_value(self, state: State, deriv_order: int) -> Any:
        """The reading."""
        return self.get_uncached_value(state, deriv_order)

    def get_uncached_value(self, state: State, deriv_order: int) -> Any:
        """The reading."""
        if self._read is None:
            made = self._factory(*self._arguments)
            assert made is not None
            self._read = made[0]
        return self._read(state)


def add_sensors(source: Source, tree: Tree, sites: list[Placed], model: Model) -> None:
    """A measure each."""
    m = source.m
    if not m.nsensor:
        return
    maker = _Maker(source, tree, sites, model)
    found: dict[str, measure.Custom | Any] = {}
    left: dict[str, list[str]] = {}
    for s, name in enumerate(source.sensors):
        kind = str(source.mujoco.mjtSensor(int(m.sensor_type[s]))).rpartition("mjSENS_")[2].lower()
        factory = maker.factory(s, kind)
        made = None if factory is None else factory[0](*factory[1:])
        if factory is None or made is None:
            left.setdefault(kind, []).append(name)
            continue
        size = int(m.sensor_dim[s])
        shape = () if size == 1 else (size,)
        found[name] = measure.Custom(model.matter, SensorReading(made[1], *factory), shape=shape, name=f"sensor {name}")
    model.data["sensors"] = found
    interval = np.array(m.sensor_interval).any(axis=-1) if np.ndim(m.sensor_interval) > 1 else m.sensor_interval
    not_kept = {"cutoff": m.sensor_cutoff, "noise": m.sensor_noise, "delay": m.sensor_delay, "interval": interval}
    for what, values in not_kept.items():
        count = int(np.count_nonzero(values))
        if count:
            source.depart(f"{what} of {plural(count, 'sensor')}: left out")
    for kind, names in left.items():
        source.depart(
            f"{plural(len(names), f'sensor of the kind {kind}', f'sensors of the kind {kind}')} {listed(names)}: left out"
        )


class _Maker:
    def __init__(self, source: Source, tree: Tree, sites: list[Placed], model: Model) -> None:
        self.source, self.tree, self.sites, self.model = source, tree, sites, model

    def factory(self, s: int, kind: str) -> tuple[Any, ...] | None:
        """The maker of the reading, and its arguments; None where there is no counterpart."""
        m, model, source = self.source.m, self.model, self.source
        number = int(m.sensor_objid[s])
        if kind in ("jointpos", "jointvel", "ballquat", "ballangvel"):
            return _of_joint, kind, self.tree.joints[number], model
        if kind in ("tendonpos", "tendonvel"):
            return _of_length, kind, model.data["tendons"][source.tendons[number]]
        if kind in ("actuatorpos", "actuatorvel", "actuatorfrc"):
            element = model.actuators.get(source.actuators[number])
            return None if element is None else (_of_length, kind, element)
        if kind in ("clock", "e_kinetic"):
            return _of_system, kind, model
        if kind in ("subtreecom", "subtreelinvel"):
            return self.subtree(kind, number)
        place = self.placed(s, "obj", number)
        if place is None:
            return None
        reference = int(m.sensor_refid[s])
        if reference >= 0:
            other = self.placed(s, "ref", reference)
            return None if other is None else (_relative, kind, place, other)
        return _of_frame, kind, place, np.array(model.gravity.get_default_gravity_vector()), np.array(m.opt.magnetic)

    def placed(self, s: int, what: str, number: int) -> Placed | None:
        """The body and the frame of what a sensor is on; None of a kind without."""
        m, kinds = self.source.m, self.source.mujoco.mjtObj
        kind, bodies = int(getattr(m, f"sensor_{what}type")[s]), self.tree.bodies
        if kind == kinds.mjOBJ_SITE:
            return self.sites[number]
        if kind == kinds.mjOBJ_XBODY:
            return bodies[number], Transform()
        if kind == kinds.mjOBJ_BODY:
            R = rotation_of(m.body_iquat[number])
            return bodies[number], Transform.trusted(R, np.array(m.body_ipos[number]))
        if kind == kinds.mjOBJ_GEOM:
            R = rotation_of(m.geom_quat[number])
            return bodies[int(m.geom_bodyid[number])], Transform.trusted(R, np.array(m.geom_pos[number]))
        return None

    def subtree(self, kind: str, number: int) -> tuple[Any, ...]:
        """Of a body and all that hang on it."""
        m, inside = self.source.m, {number}
        for b in range(number + 1, m.nbody):
            if int(m.body_parentid[b]) in inside:
                inside.add(b)
        chosen = [b for b in sorted(inside) if b > 0]
        masses = np.array([m.body_mass[b] for b in chosen], float)
        weights = masses / masses.sum() if masses.sum() else masses
        return _of_subtree, kind, [self.tree.bodies[b] for b in chosen], weights, [np.array(m.body_ipos[b]) for b in chosen]


def _of_joint(kind: str, joint: Joint, model: Model) -> tuple[Reading, Stage]:
    if kind == "jointpos":
        return (lambda state: state.q_values[joint.q]), Stage.MODEL
    if kind == "jointvel":
        return (lambda state: state.u_values[joint.u]), Stage.MODEL
    convert = model.data["mujoco"]
    if kind == "ballquat":
        return (lambda state: _unit(convert.get_qpos(state)[joint.qpos : joint.qpos + 4])), Stage.MODEL
    return (lambda state: convert.get_qvel(state)[joint.dof : joint.dof + 3]), Stage.MODEL


def _of_length(kind: str, element: Any) -> tuple[Reading, Stage]:
    """Of a tendon or an actuator."""
    if kind.endswith("frc"):
        return element.calc_force, Stage.VELOCITY
    return (element.calc_length, Stage.POSITION) if kind.endswith("pos") else (element.calc_speed, Stage.VELOCITY)


def _of_system(kind: str, model: Model) -> tuple[Reading, Stage]:
    if kind == "clock":
        return (lambda state: state.time), Stage.MODEL
    return model.system.calc_kinetic_energy, Stage.VELOCITY


def _of_subtree(kind: str, bodies: list[Any], weights: Array, stations: list[Array]) -> tuple[Reading, Stage]:
    asked = "find_station_location_in_ground" if kind == "subtreecom" else "find_station_velocity_in_ground"

    def read(state: State) -> Array:
        return weights @ np.array([getattr(body, asked)(state, p) for body, p in zip(bodies, stations, strict=True)])

    return read, Stage.POSITION if kind == "subtreecom" else Stage.VELOCITY


def _of_frame(kind: str, place: Placed, gravity: Array, magnetic: Array) -> tuple[Reading, Stage] | None:
    """A frame in Ground."""
    body, X = place

    def R(state: State) -> Array:
        return np.asarray(body.get_body_rotation(state)) @ np.asarray(X.R)

    def location(state: State) -> Array:
        return body.find_station_location_in_ground(state, X.p)

    def velocity(state: State) -> Array:
        return body.find_station_velocity_in_ground(state, X.p)

    def acceleration(state: State) -> Array:
        return body.find_station_acceleration_in_ground(state, X.p) - gravity

    axes = {"framexaxis": 0, "frameyaxis": 1, "framezaxis": 2}
    if kind in axes:
        return (lambda state: R(state)[:, axes[kind]]), Stage.POSITION
    table: dict[str, tuple[Reading, Stage]] = {
        "framepos": (location, Stage.POSITION),
        "framequat": (lambda state: _quaternion(R(state)), Stage.POSITION),
        "framelinvel": (velocity, Stage.VELOCITY),
        "frameangvel": (body.get_body_angular_velocity, Stage.VELOCITY),
        "framelinacc": (acceleration, Stage.ACCELERATION),
        "frameangacc": (body.get_body_angular_acceleration, Stage.ACCELERATION),
        "velocimeter": (lambda state: velocity(state) @ R(state), Stage.VELOCITY),
        "gyro": (lambda state: body.get_body_angular_velocity(state) @ R(state), Stage.VELOCITY),
        "accelerometer": (lambda state: acceleration(state) @ R(state), Stage.ACCELERATION),
        "magnetometer": (lambda state: magnetic @ R(state), Stage.POSITION),
    }
    return table.get(kind)


def _relative(kind: str, place: Placed, other: Placed) -> tuple[Reading, Stage] | None:
    """A frame in another: its place, its axes, its velocity as seen from there."""
    (body, X), (reference, Y) = place, other

    def pose(state: State) -> tuple[Array, Array]:
        X_RS = ~(reference.get_body_transform(state) @ Y) @ (body.get_body_transform(state) @ X)
        return np.asarray(X_RS.R), np.asarray(X_RS.p)

    def linear(state: State) -> Array:
        v = reference.get_body_rotation(state) @ body.find_station_velocity_in_another_body(state, X.p, reference)
        return np.asarray(v) @ (np.asarray(reference.get_body_rotation(state)) @ np.asarray(Y.R))

    def angular(state: State) -> Array:
        w = body.get_body_angular_velocity(state) - reference.get_body_angular_velocity(state)
        return np.asarray(w) @ (np.asarray(reference.get_body_rotation(state)) @ np.asarray(Y.R))

    axes = {"framexaxis": 0, "frameyaxis": 1, "framezaxis": 2}
    if kind in axes:
        return (lambda state: pose(state)[0][:, axes[kind]]), Stage.POSITION
    table: dict[str, tuple[Reading, Stage]] = {
        "framepos": (lambda state: pose(state)[1], Stage.POSITION),
        "framequat": (lambda state: _quaternion(pose(state)[0]), Stage.POSITION),
        "framelinvel": (linear, Stage.VELOCITY),
        "frameangvel": (angular, Stage.VELOCITY),
    }
    return table.get(kind)


def _unit(q: Array) -> Array:
    return q / np.linalg.norm(q)


def _quaternion(R: Array) -> Array:
    from ...value import Rotation

    return np.asarray(Rotation.trusted(R).to_quaternion())
