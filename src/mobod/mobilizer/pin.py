"""Pin: rotation about the z axis that F and M share. 1 coordinate, 1 speed. Source: Seth et al. 2010, mobilizer kinematics.

R_FM = Rz(q)   p_FM = 0   H_FM = [z; 0] (angular; linear), constant in F   q_dot = u
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.scalar import one, sincos, zero
from ..compiling import generic
from ..value import Rotation
from ._named import coordinate, speed
from .base import Facts, MobilizedBody

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


class Pin(MobilizedBody):
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

    get_default_angle, set_default_angle, get_angle, set_angle = coordinate("angle", 0, "the angle about z", "angle")
    get_rate, set_rate = speed("rate", 0, "the angular speed", "angle/time")

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        # the angle that maximizes the trace of R^T Rz(q)
        M = np.asarray(R)
        q[0] = np.arctan2(M[1, 0] - M[0, 1], M[0, 0] + M[1, 1])
