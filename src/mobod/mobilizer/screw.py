"""Screw: rotation about the z axis that F and M share, with a translation along it that goes with the angle.

R_FM = Rz(q)   p_FM = pitch q z   H_FM = [z; pitch z], constant   q_dot = u

1 coordinate, 1 speed; the pitch is a length a radian. Source: Seth et al. 2010.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import rotation
from ..algebra.arrays import Array
from ..algebra.scalar import one, zero
from ..body import Body
from ..compiling import generic
from ..state import parameters
from ..value import Transform
from ..value.checks import finite
from ._about_z import AboutZ
from ._named import coordinate, speed
from .base import Direction, Facts, MobilizedBody
from .routines import BY_ADDRESS, by_address

#: Fits make the whole turns that a pose's translation needs up to this angle, whose rounding is 1e-10.
MOST_TURNS = 1e6


@generic
def transform(q: Any, p: Any) -> Any:  # X_FM
    o = zero(q[0])
    return rotation.about_z(q[0]), (o, o, p[0] * q[0])


@generic
def hinge(q: Any, p: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return (((o, o, i), (o, o, p[0] * i)),)


kinematics = by_address(transform, hinge, num_q=1, num_u=1, num_parameters=1)


class Screw(AboutZ):
    """Turn about the z axis that F and M share, and advance along it by *pitch* for each radian.

    Parameters
    ----------
    pitch : float, optional
        Translation along z a radian, length/angle: a thread's lead over 2 pi. Negative for a left-handed thread; with
        zero the screw is a `Pin`. A state can change it, `set_pitch`.

    Raises
    ------
    ModelError
        If the pitch is not finite.
    TypeError
        If the pitch is not a number.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Screw(matter.ground, ball, pitch=0.1)
    >>> state = system.realize_topology()
    >>> joint.set_q(state, 2.0)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([0. , 0. , 0.2])
    """

    # the columns depend on the pitch, but never change as the screw turns
    facts = Facts(
        BY_ADDRESS,
        num_q=1,
        num_u=1,
        transform=transform,
        hinge=hinge,
        constant_hinge=False,
        has_hinge_dot=False,
        num_parameters=1,
        kinematics=kinematics,
    )

    def __init__(
        self,
        parent: MobilizedBody,
        body: Body,
        *,
        X_PF: Transform | None = None,
        X_BM: Transform | None = None,
        direction: Direction = Direction.FORWARD,
        name: str | None = None,
        pitch: float = 1.0,
    ) -> None:
        self.default_numbers = self.declared(name, pitch=pitch)
        super().__init__(parent, body, X_PF=X_PF, X_BM=X_BM, direction=direction, name=name)

    get_default_pitch, set_default_pitch, get_pitch, set_pitch = parameters.scalar(
        "pitch", "length/angle", finite, "the pitch"
    ).accessors()
    get_default_angle, set_default_angle, get_angle, set_angle = coordinate(
        "angle", 0, "the angle, and with it the advance", "angle"
    )
    get_rate, set_rate = speed("rate", 0, "the angular speed", "angle/time")

    def _fit_translation(self, p: Array, q: Array, parameters: Array) -> None:
        with np.errstate(all="ignore"):
            angle = p[2] / parameters[0]
        if np.isfinite(angle):  # else the pitch is (nearly) zero: nothing to choose
            q[0] = angle

    def _fit_place(self, p: Array, q: Array, parameters: Array) -> None:
        # whole turns advance M and leave its orientation
        wanted = np.array(q)
        self._fit_translation(p, wanted, parameters)
        q[0] += 2.0 * np.pi * np.round((np.clip(wanted[0], -MOST_TURNS, MOST_TURNS) - q[0]) / (2.0 * np.pi))
