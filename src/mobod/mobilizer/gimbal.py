"""Gimbal: rotation about x, then about the new y, then about the new z. 3 coordinates, 3 speeds. Source: Seth et al. 2010.

R_FM = Rx(q0) Ry(q1) Rz(q2)   p_FM = 0   H_FM = [x, Rx(q0) y, Rx(q0) Ry(q1) z; 0]   q_dot = u   (`algebra.euler_xyz`)

Where q1 is 90 degrees, the third axis lies along the first: the columns are dependent, and the mass matrix is singular.
"""

from __future__ import annotations

from typing import Any

from ..algebra import euler_xyz, rotation
from ..algebra.arrays import Array
from ..algebra.scalar import zero
from ..compiling import generic
from ..state.state import State
from ..value import Rotation
from ._drawn_as_ball import DrawnAsBall
from ._named import coordinates, speeds
from ._quaternions import Turning
from ._singular import middle_angle
from .base import Facts
from .routines import BY_ADDRESS, by_address


@generic
def transform(q: Any) -> Any:  # X_FM
    o = zero(q[0])
    return rotation.body_fixed_xyz(q[0], q[1], q[2]), (o, o, o)


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o = zero(q[0])
    x, y, z = euler_xyz.rate_columns(q)
    return (x, (o, o, o)), (y, (o, o, o)), (z, (o, o, o))


@generic
def bias(q: Any, u: Any, H: Any) -> Any:  # HDot_FM u, expressed in F
    o = zero(q[0])
    return euler_xyz.rates_of_columns(u, H[1][0], H[2][0]), (o, o, o)


kinematics = by_address(transform, hinge, bias, num_q=3, num_u=3)


class Gimbal(DrawnAsBall, Turning):
    """Turn about x, then about the new y, then about the new z: three angles, their rates as speeds.

    It reaches every orientation, as a Ball does, but at a middle angle of 90 degrees it has only two axes left to turn about.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Gimbal(matter.ground, ball, X_BM=mb.Transform((0, 0, 1)))
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (0.1, 0.2, 0.3))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([-0.199,  0.098, -0.975])
    """

    facts = Facts(
        BY_ADDRESS,
        num_q=3,
        num_u=3,
        transform=transform,
        hinge=hinge,
        constant_hinge=False,
        turns_in_every_way=True,
        kinematics=kinematics,
    )

    get_default_angles, set_default_angles, get_angles, set_angles = coordinates("angles", 0, 3, "the angles", "angle")
    get_rates, set_rates = speeds("rates", 0, 3, "the angles' rates", "angle/time")

    def get_default_rotation(self) -> Rotation:
        """R_FM of a default state: the orientation of M in F that the default angles give."""
        return Rotation.from_body_fixed_xyz(self.default_q)

    def _turned(self, R: Rotation) -> Array:
        return R.to_body_fixed_xyz()

    def singularity(self, state: State) -> str | None:
        angle = self.get_q_as_vector(state)[1]
        return middle_angle(self.title, 1, angle, "A Ball in its place has no such configuration")
