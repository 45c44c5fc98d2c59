"""Impedance: a frame on a body behaves as if springs and dampers held it at a target pose.

    F = K e - D V        tau = J^T F - gravity - d u        e = ((x x_d + y y_d + z z_d) / 2, p_d - p), vector products

Sources: Hogan 1985; the error of orientation: Luh, Walker and Paul 1980.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import ArrayLike
from ..force.base import check_forces
from ..state.of_each import Present, Rows, of_each
from ..value import Transform, rows
from ..value.checks import instance, not_negative
from ._nominal import NominalSystem
from .custom import Custom, some_of_each
from .jacobian import Jacobian
from .pd import measured, spread
from .pose import Pose
from .velocity import Velocity

if TYPE_CHECKING:
    from ..force.subsystem import GeneralForceSubsystem
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from ..value.annotations import MultibodySystem


def law(X: Any, V: Any, J: Any, u: Any, gravity: Any, which: Any, parameters: Any) -> Any:
    """Parameters: K (6), D (6), the target pose (16), and the damping of all speeds."""
    K, D, target = parameters[:6], parameters[6:12], parameters[12:28].copy().reshape((4, 4))
    error = np.zeros(6)
    for k in range(3):
        error[:3] += 0.5 * np.cross(X[:3, k], target[:3, k])
    error[3:] = target[:3, 3] - X[:3, 3]
    F = K * error - D * V
    return (J.T @ F - gravity - parameters[28] * u)[which]


def _targets_of_each(law: Custom, template: State, values: Any, present: Present) -> Rows | None:
    given = rows.as_array(rows.array_of_frames(values))
    twelve = None if given is None else rows.frames(given)
    if twelve is None:
        return None
    poses = np.tile(np.eye(4), (len(twelve), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = twelve[:, :9].reshape(-1, 3, 3), twelve[:, 9:]
    return some_of_each(law, template, poses.reshape(-1, 16), 12, 16)


class Impedance(Custom):
    """A frame on a body is held at a target pose by springs and dampers along Ground's axes, at a sample time.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    body : MobilizedBody
        Given by object, index or name.
    station : (3,) array_like
        The frame's origin, in the body's frame.
    stiffness, damping : float, or (6,) array_like
        Along and about Ground's axes, angular first: torque/angle, force/length; torque/(angle/time), force/(length/time).
    target : Transform
        Where the frame is to be, in Ground; see `set_target`.
    joint_damping : float
        Of each mobility besides: what the frame's pose leaves free comes to rest by it.
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        Where it acts; on all unless given.
    sample_time : float
        Time between samples.
    model : MultibodySystem, optional
        The nominal system by which it knows pose, velocity and Jacobian of the frame, and the weight; see `Custom`.
    limits, noise, delay, seed, disabled_by_default, name
        As `PD` takes them; of the sensor that measures the frame's pose and velocity.

    Notes
    -----
    The weight of the mechanism is held, too. Hogan 1985; the error of orientation is the sine of the angle about its axis, of
    Luh, Walker and Paul 1980, so that a frame turned by half a turn is not turned back.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> target = mb.Transform((0.5, -1.5, 0))
    >>> part = mb.control.Impedance(system.forces, arm, stiffness=100.0, damping=10.0, target=target, sample_time=0.01)
    >>> state = system.realize_topology()
    >>> motion = mb.simulate(system, state, 0.1, report_interval=0.05)
    >>> len(motion.time)
    3
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody | int | str,
        mobilities: Iterable[Any] | None = None,
        *,
        station: ArrayLike = (0.0, 0.0, 0.0),
        stiffness: ArrayLike,
        damping: ArrayLike,
        target: Transform,
        joint_damping: float = 0.0,
        sample_time: float,
        model: MultibodySystem | None = None,
        limits: tuple[Any, Any] | None = None,
        noise: float = 0.0,
        delay: float = 0.0,
        seed: int = 0,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        gains = spread("stiffness", stiffness, 6) + spread("damping", damping, 6)
        check_forces(forces)
        if model is not None:
            body = NominalSystem(model, forces.get_system()).body_for(body)
        super().__init__(
            forces,
            law,
            mobilities,
            sample_time=sample_time,
            inputs={
                "X": measured(Pose(body, station), noise, delay, seed),
                "V": measured(Velocity(body, station), noise, delay, seed + 1),
                "J": Jacobian(body, station),
            },
            parameters=[*gains, *_flat(target), not_negative("joint_damping", joint_damping)],
            limits=limits,
            model=model,
            disabled_by_default=disabled_by_default,
            name=name,
        )

    @of_each(_targets_of_each)
    def set_target(self, state: State, target: Transform) -> None:
        """Change where the frame is to be in this state, from the next sample on; it falls to VELOCITY at most. Needs MODEL."""
        parameters = self.get_parameters(state)
        parameters[12:28] = _flat(target)
        self.set_parameters(state, parameters)


def _flat(target: Transform) -> list[float]:
    instance("target", target, Transform, "mobod.Transform()")
    return np.asarray(target).ravel().tolist()
