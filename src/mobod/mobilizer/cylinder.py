"""Cylinder: rotation about the z axis that F and M share, and sliding along it. 2 coordinates, 2 speeds.

R_FM = Rz(q0)   p_FM = q1 z   H_FM = [z, 0; 0, z], constant in F   q_dot = u   Source: Seth et al. 2010
"""

from __future__ import annotations

from typing import Any

from ..algebra import rotation
from ..algebra.arrays import Array
from ..algebra.scalar import one, zero
from ..compiling import generic
from ._about_z import AboutZ
from ._named import coordinate, speed
from .base import Facts
from .routines import BY_ADDRESS, by_address


@generic
def transform(q: Any) -> Any:  # X_FM
    o = zero(q[0])
    return rotation.about_z(q[0]), (o, o, q[1])


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return ((o, o, i), (o, o, o)), ((o, o, o), (o, o, i))


kinematics = by_address(transform, hinge, num_q=2, num_u=2)


class Cylinder(AboutZ):
    """Turn about the z axis that F and M share, and slide along it: an angle and a length.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Cylinder(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (0.5, 0.2))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([0. , 0. , 0.2])
    """

    facts = Facts(BY_ADDRESS, num_q=2, num_u=2, transform=transform, hinge=hinge, kinematics=kinematics)

    get_default_length, set_default_length, get_length, set_length = coordinate(
        "length", 1, "how far M's origin is along z", "length"
    )
    get_angular_rate, set_angular_rate = speed("angular_rate", 0, "the angular speed", "angle/time")
    get_length_rate, set_length_rate = speed("length_rate", 1, "the sliding speed", "length/time")

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[1] = p[2]
