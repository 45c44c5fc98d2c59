"""Bushing: any pose of M in F, by angles and a translation. 6 coordinates, 6 speeds. Source: Simbody 3.7's definition.

q is the body-fixed x-y-z angles of R_FM, then p_FM; u is their rates
R_FM = Rx(q0) Ry(q1) Rz(q2)   p_FM = (q3, q4, q5)   H_FM = [x, Rx(q0) y, Rx(q0) Ry(q1) z, 0; 0, 1]   q_dot = u

Where q1 is 90 degrees, the third axis lies along the first: the columns are dependent, and the mass matrix is singular.
"""

from __future__ import annotations

from typing import Any

from ..algebra import euler_xyz, rotation
from ..algebra.arrays import Array
from ..algebra.scalar import one, zero
from ..compiling import generic
from ..state.state import State
from ..value import Rotation, Transform
from ._named import coordinates, speeds
from ._quaternions import Moving
from ._singular import middle_angle
from .base import Facts
from .routines import BY_ADDRESS, by_address


@generic
def transform(q: Any) -> Any:  # X_FM
    return rotation.body_fixed_xyz(q[0], q[1], q[2]), (q[3], q[4], q[5])


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    x, y, z = euler_xyz.rate_columns(q)
    none = (o, o, o)
    return (x, none), (y, none), (z, none), (none, (i, o, o)), (none, (o, i, o)), (none, (o, o, i))


@generic
def bias(q: Any, u: Any, H: Any) -> Any:  # HDot_FM u, expressed in F
    o = zero(q[0])
    return euler_xyz.rates_of_columns(u, H[1][0], H[2][0]), (o, o, o)


kinematics = by_address(transform, hinge, bias, num_q=6, num_u=6)


class Bushing(Moving):
    """Move in any way, by three angles and p_FM: what a bushing's stiffness is commonly given for.

    It reaches every pose, as a Free body does, but at a middle angle of 90 degrees it has only two axes left to turn about.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Bushing(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (0.1, 0.2, 0.3, 1.0, 2.0, 3.0))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([1., 2., 3.])
    """

    facts = Facts(
        BY_ADDRESS,
        num_q=6,
        num_u=6,
        transform=transform,
        hinge=hinge,
        constant_hinge=False,
        turns_in_every_way=True,
        kinematics=kinematics,
    )

    get_angles, set_angles = coordinates("angles", 0, 3, "the angles", "angle")[2:]
    get_translation, set_translation = coordinates(
        "translation", 3, 3, "the translation that q stands for: p_FM, or p_MF of a reversed mobilizer", "length", "p_FM"
    )[2:]
    get_angular_rates, set_angular_rates = speeds(
        "angular_rates", 0, 3, "the angles' rates, which are no angular velocity", "angle/time"
    )
    get_velocity, set_velocity = speeds(
        "velocity", 3, 3, "the translation's rate: v_FM in F, or v_MF in M of a reversed mobilizer", "length/time", "v_FM"
    )

    def get_default_transform(self) -> Transform:
        """X_FM of a default state."""
        return Transform(Rotation.from_body_fixed_xyz(self.default_q[:3]), self.default_q[3:])

    def _turned(self, R: Rotation) -> Array:
        return R.to_body_fixed_xyz()

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        q[:3] = self._turned(R)

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[3:] = p

    def singularity(self, state: State) -> str | None:
        angle = self.get_q_as_vector(state)[1]
        return middle_angle(self.title, 1, angle, "A Free in its place has no such configuration")
