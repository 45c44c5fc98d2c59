"""Planar: rotation about z, and translation along the x and y axes of F. 3 coordinates, 3 speeds. Source: Seth et al. 2010.

R_FM = Rz(q0)   p_FM = (q1, q2, 0)   H_FM = [z, 0, 0; 0, x, y], constant in F   q_dot = u
"""

from __future__ import annotations

from typing import Any

from ..algebra import rotation
from ..algebra.arrays import Array
from ..algebra.scalar import one, zero
from ..compiling import generic
from ._about_z import AboutZ
from ._named import coordinates, speed, speeds
from .base import Facts
from .routines import BY_ADDRESS, by_address


@generic
def transform(q: Any) -> Any:  # X_FM
    return rotation.about_z(q[0]), (q[1], q[2], zero(q[0]))


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return ((o, o, i), (o, o, o)), ((o, o, o), (i, o, o)), ((o, o, o), (o, i, o))


kinematics = by_address(transform, hinge, num_q=3, num_u=3)


class Planar(AboutZ):
    """Move in the x-y plane of F: the angle about z, then x and y.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Planar(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (0.5, 1.0, 2.0))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([1., 2., 0.])
    """

    facts = Facts(BY_ADDRESS, num_q=3, num_u=3, transform=transform, hinge=hinge, kinematics=kinematics)

    get_default_translation, set_default_translation, get_translation, set_translation = coordinates(
        "translation", 1, 2, "the translation along x and y of F", "length"
    )
    get_angular_rate, set_angular_rate = speed("angular_rate", 0, "the angle's rate", "angle/time")
    get_velocity, set_velocity = speeds("velocity", 1, 2, "the translation's rate", "length/time", "velocity")

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[1:] = p[:2]
