"""Pin: rotation about the z axis that F and M share. 1 coordinate, 1 speed. Source: Seth et al. 2010, mobilizer kinematics.

R_FM = Rz(q)   p_FM = 0   H_FM = [z; 0] (angular; linear), constant in F   q_dot = u
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import one, sincos, zero
from ..compiling import generic
from ._about_z import AboutZ
from ._named import speed
from .base import Facts

KIND = 1


@generic
def transform(q: Any) -> Any:  # X_FM
    return turned(sincos(q[0]))


@generic
def turned(sine_and_cosine: Any) -> Any:  # X_FM of an angle whose sine and cosine are there
    s, c = sine_and_cosine
    o, i = zero(s), one(s)
    return (c, -s, o, s, c, o, o, o, i), (o, o, o)


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return (((o, o, i), (o, o, o)),)


class Pin(AboutZ):
    """Turn about the z axis that F and M share: one angle, one angular speed.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Pin(matter.ground, ball, X_BM=mb.Transform((0, 1, 0)))
    >>> state = system.realize_topology()
    >>> joint.set_angle(state, 0.5)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([ 0.479, -0.878,  0.   ])
    """

    facts = Facts(KIND, num_q=1, num_u=1, transform=transform, hinge=hinge)

    get_rate, set_rate = speed("rate", 0, "the angular speed", "angle/time")
