"""Forces and torques on one body or two whose place and direction are fixed, in Ground or in a body.

With R the body's rotation, p its origin, and flags that say what is given in Ground:

    actuator of a point     f e at a point x: x - p or R x from the origin, e or R e
    actuator of a torque    t e on A and -t e on B; e or R_A e
    actuator of a body      a torque and a force as a state says, at a point
    prescribed force        force, point and torque as functions of time
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....algebra import mat33, vec3
from ....algebra.arrays import Array, ArrayLike
from ....algebra.memory import add_spatial, load3, load9
from ....algebra.scalar import load
from ....compiling import Routine, generic
from ....force.base import Force, body_index
from ....force.pools import numbers3, numbers9
from ....force.routines import by_address
from ....force.subsystem import GeneralForceSubsystem
from ....function import Function, routines
from ....mobilizer.base import MobilizedBody
from ....state import parameters
from ....state.state import State
from ....value import Transform
from ....value.checks import unit
from ....value.stage import Stage
from .driven import EffortDriven, driven
from .of_coordinate import effort, effort_rate


@generic
def arm(model: Any, b: int, point: Any, is_global: int) -> Any:
    """From a body's origin to a point, in Ground; the point is a location in Ground, or a station."""
    s = mat33.mul_vec(load9(model.R_GB, b, 0), point)
    if is_global == 1:
        s = vec3.sub(point, load3(model.p_GB, b, 0))
    return s


@generic
def direct(model: Any, b: int, e: Any, is_global: int) -> Any:
    """A vector in Ground, which is given there, or in the body."""
    f = mat33.mul_vec(load9(model.R_GB, b, 0), e)
    if is_global == 1:
        f = vec3.add(e, vec3.scale(0.0, f))
    return f


# ---------------------------------------------------------------------------------------------- at a point


@generic
def add_at_point(model: Any, integers: int, numbers: int) -> None:
    """Integers: the body, and whether point and direction are in Ground. Numbers: f, its rate, the point, e."""
    b, f = model.force_integers[integers], driven(model, integers + 3, numbers)
    s = arm(model, b, numbers3(model, numbers + 2), model.force_integers[integers + 1])
    e = direct(model, b, numbers3(model, numbers + 5), model.force_integers[integers + 2])
    add_spatial(model.body_forces, b, vec3.cross(s, vec3.scale(f, e)), vec3.scale(f, e))


class PointActuator(EffortDriven):
    """Pushes at a point of a body, along a line: OpenSim's PointActuator."""

    routine: Routine | None = by_address(add_at_point)
    optimal_force: float = 1.0
    FLAG = 3

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        point: ArrayLike,
        direction: ArrayLike,
        optimal_force: float,
        *,
        point_is_global: bool,
        force_is_global: bool,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        e = unit(f"the direction of {name!r}", direction)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers = [body_index(forces, "body", body), int(point_is_global), int(force_is_global), -1]
        self.default_numbers = [*self.declared(name, effort=0.0), *np.asarray(point, dtype=float).tolist(), *e.tolist()]
        self.optimal_force = optimal_force

    get_default_effort, set_default_effort, get_effort, set_effort = effort()
    get_default_effort_rate, set_default_effort_rate, get_effort_rate, set_effort_rate = effort_rate()


# ---------------------------------------------------------------------------------------------- torques


@generic
def add_torque(model: Any, integers: int, numbers: int) -> None:
    """Integers: the two bodies, and whether the axis is in Ground. Numbers: t, its rate, e."""
    a, b, t = model.force_integers[integers], model.force_integers[integers + 1], driven(model, integers + 3, numbers)
    e = vec3.scale(t, direct(model, a, numbers3(model, numbers + 2), model.force_integers[integers + 2]))
    none = vec3.scale(0.0, e)
    add_spatial(model.body_forces, a, e, none)
    add_spatial(model.body_forces, b, vec3.neg(e), none)


class TorqueActuator(EffortDriven):
    """Turns one body against another about an axis: OpenSim's TorqueActuator."""

    routine: Routine | None = by_address(add_torque)
    optimal_force: float = 1.0
    FLAG = 3

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body_a: MobilizedBody,
        body_b: MobilizedBody,
        axis: ArrayLike,
        optimal_force: float,
        *,
        torque_is_global: bool,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        e = unit(f"the axis of {name!r}", axis)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        pair = body_index(forces, "body_a", body_a), body_index(forces, "body_b", body_b)
        self.default_integers = [*pair, int(torque_is_global), -1]
        self.default_numbers = [*self.declared(name, effort=0.0), *e.tolist()]
        self.optimal_force = optimal_force

    get_default_effort, set_default_effort, get_effort, set_effort = effort()
    get_default_effort_rate, set_default_effort_rate, get_effort_rate, set_effort_rate = effort_rate()


# ---------------------------------------------------------------------------------------------- torque and force


@generic
def add_wrench(model: Any, integers: int, numbers: int) -> None:
    """Integers: the body, and whether point and wrench are in Ground. Numbers: torque, force, the point."""
    b, is_global = model.force_integers[integers], model.force_integers[integers + 2]
    s = arm(model, b, numbers3(model, numbers + 6), model.force_integers[integers + 1])
    t = direct(model, b, numbers3(model, numbers), is_global)
    f = direct(model, b, numbers3(model, numbers + 3), is_global)
    add_spatial(model.body_forces, b, vec3.add(t, vec3.cross(s, f)), f)


class BodyActuator(Force):
    """A torque and a force on a body, as a state says: OpenSim's BodyActuator."""

    routine: Routine | None = by_address(add_wrench)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        point: ArrayLike,
        *,
        point_is_global: bool,
        force_is_global: bool,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers = [body_index(forces, "body", body), int(point_is_global), int(force_is_global)]
        self.default_numbers = [*self.declared(name, effort=np.zeros(6)), *np.asarray(point, dtype=float).tolist()]

    get_default_effort, set_default_effort, get_effort, set_effort = parameters.vector(
        "effort", "force*length three times, then force", "the torque, then the force", size=6, invalidates=Stage.DYNAMICS
    ).accessors()


# ---------------------------------------------------------------------------------------------- functions of time


@generic
def _of_time(model: Any, f: int) -> Any:
    time = load(model.time, 0, 0)
    return routines.jet(model, f, time)[0], routines.jet(model, f + 1, time)[0], routines.jet(model, f + 2, time)[0]


@generic
def add_prescribed(model: Any, integers: int, numbers: int) -> None:
    """Integers: the body, those in whose axes force and torque, and in whose frame the point is; the first of nine functions.

    Numbers: the rotation of force and torque in their body, by rows, and the frame of the point in its own.
    """
    b, c, d = model.force_integers[integers], model.force_integers[integers + 1], model.force_integers[integers + 2]
    f = model.force_integers[integers + 3]
    force, point, torque = _of_time(model, f), _of_time(model, f + 3), _of_time(model, f + 6)
    R = mat33.mul(load9(model.R_GB, c, 0), numbers9(model, numbers))
    force, torque = mat33.mul_vec(R, force), mat33.mul_vec(R, torque)
    station = vec3.add(numbers3(model, numbers + 18), mat33.mul_vec(numbers9(model, numbers + 9), point))
    place = vec3.add(load3(model.p_GB, d, 0), mat33.mul_vec(load9(model.R_GB, d, 0), station))
    s = vec3.sub(place, load3(model.p_GB, b, 0))
    add_spatial(model.body_forces, b, vec3.add(torque, vec3.cross(s, force)), force)


class PrescribedForce(Force):
    """Force, point and torque on a body as functions of time: OpenSim's PrescribedForce and ExternalForce.

    Parameters
    ----------
    forces, body
        What it joins, and what it acts on.
    functions : nine Function
        Of time: the force, the point where it acts, and the torque.
    force_in, point_in : (MobilizedBody, Transform)
        The frames in whose axes force and torque are, and in which the point is: each a body and where on it.
    frame : Transform, optional
        Of the body on which it acts: what records tell the point in.
    given : three bool
        Whether force, point and torque have functions: what records tell.
    """

    INNER = frozenset({"calc_torque", "frame", "given"})
    routine: Routine | None = by_address(add_prescribed)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        functions: Sequence[Function],
        force_in: tuple[MobilizedBody, Transform],
        point_in: tuple[MobilizedBody, Transform],
        *,
        frame: Transform | None = None,
        given: tuple[bool, bool, bool] = (True, True, True),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.frame, self.given = Transform() if frame is None else frame, given
        bodies = body, force_in[0], point_in[0]
        self.default_integers = [body_index(forces, "a body", one) for one in bodies]
        X, Y = np.asarray(force_in[1]), np.asarray(point_in[1])
        self.default_numbers = [*X[:3, :3].ravel().tolist(), *Y[:3, :3].ravel().tolist(), *Y[:3, 3].tolist()]
        self.used_functions = [(one, [0]) for one in functions]

    def calc_push(self, state: State) -> tuple[Array, Array]:
        """The force, and the point where it acts."""
        _, c, d = self.default_integers[:3]
        values = np.array([one.calc_value([state.time]) for one, _ in self.used_functions])
        frames = np.array(self.default_numbers)
        R_GB, p_GB = state.R_GB, state.record.p_GB
        station = frames[18:21] + frames[9:18].reshape(3, 3) @ values[3:6]
        return p_GB[d, :3].ravel() + R_GB[d] @ station, R_GB[c] @ frames[:9].reshape(3, 3) @ values[:3]

    def calc_torque(self, state: State) -> Array:
        """The torque, in Ground."""
        values = np.array([one.calc_value([state.time]) for one, _ in self.used_functions[6:9]])
        return state.R_GB[self.default_integers[1]] @ np.array(self.default_numbers[:9]).reshape(3, 3) @ values
