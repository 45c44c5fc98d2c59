"""Ball: any orientation of M in F, origins together. 4 coordinates (or 3), 3 speeds. Source: Seth et al. 2010; Diebel 2006.

q is the quaternion of R_FM, or after a modelling choice the body-fixed x-y-z angles; u is w_FM, expressed in F
R_FM = R(q)   p_FM = 0   H_FM = [1; 0], constant in F   q_dot = N(q) u  (`algebra.quaternion`, `algebra.euler_xyz`)
"""

from __future__ import annotations

from typing import Any

from ..algebra import quaternion, rotation
from ..algebra.scalar import one, zero
from ..compiling import generic
from ._drawn_as_ball import DrawnAsBall
from ._named import speeds
from ._quaternions import Turning
from .base import Facts
from .routine import by_address

KIND = 6


@generic
def transform(q: Any) -> Any:  # X_FM, of a quaternion
    o = zero(q[0])
    return quaternion.to_rotation(q), (o, o, o)


@generic
def transform_euler(q: Any) -> Any:  # X_FM, of angles
    o = zero(q[0])
    return rotation.body_fixed_xyz(q[0], q[1], q[2]), (o, o, o)


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return ((i, o, o), (o, o, o)), ((o, i, o), (o, o, o)), ((o, o, i), (o, o, o))


# of the variant with angles
kinematics = by_address(transform_euler, hinge, num_q=3, num_u=3)


class Ball(DrawnAsBall, Turning):
    """Turn in any way about the point that F and M share: a quaternion (or three angles), the angular velocity in F.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Ball(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.5, 'z'))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_q(state).round(3)
    array([0.969, 0.   , 0.   , 0.247])
    """

    facts = Facts(
        KIND,
        num_q=4,
        num_u=3,
        transform=transform,
        hinge=hinge,
        kinematics=kinematics,
        transform_euler=transform_euler,
        turns_in_every_way=True,
    )

    get_angular_velocity, set_angular_velocity = speeds(
        "angular_velocity", 0, 3, "u: w_FM in F, or w_MF in M of a reversed mobilizer", "angle/time", "w_FM"
    )
