"""BendStretch: polar coordinates; rotation about the z axis that F and M share, then translation along M's x axis.

    R_FM = Rz(q0)   p_FM = q1 e,  e = Rz(q0) x     with n = Rz(q0) y = z x e
    H_FM = [z, 0; q1 n, e]        HDot_FM u = [0; 2 u0 u1 n - q1 u0^2 e]   q_dot = u

2 coordinates, 2 speeds. At q1 = 0 the first column only turns M: no singularity, unless M carries a particle, which turning
about itself does not move. Source: Seth et al. 2010.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import rotation
from ..algebra.arrays import Array
from ..algebra.scalar import one, sincos, zero
from ..compiling import generic
from ._about_z import AboutZ
from ._named import coordinate, speed
from .base import Facts
from .routines import BY_ADDRESS, by_address


@generic
def transform(q: Any) -> Any:  # X_FM
    s, c = sincos(q[0])
    return rotation.about_z(q[0]), (q[1] * c, q[1] * s, zero(q[0]))


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    s, c = sincos(q[0])
    return ((o, o, i), (-q[1] * s, q[1] * c, o)), ((o, o, o), (c, s, o))


@generic
def bias(q: Any, u: Any, H: Any) -> Any:  # HDot_FM u, expressed in F
    o, e = zero(q[0]), H[1][1]
    inward, across = u[0] * u[0] * q[1], 2.0 * u[0] * u[1]
    return (o, o, o), (-inward * e[0] - across * e[1], across * e[0] - inward * e[1], o)


kinematics = by_address(transform, hinge, bias, num_q=2, num_u=2)


class BendStretch(AboutZ):
    """Turn about the z axis that F and M share, then slide along M's x axis: polar coordinates, an angle and a length.

    Its synonym is `PolarCoords`. The length may be negative.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.BendStretch(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (0.5, 2.0))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([1.755, 0.959, 0.   ])
    """

    facts = Facts(BY_ADDRESS, num_q=2, num_u=2, transform=transform, hinge=hinge, constant_hinge=False, kinematics=kinematics)

    get_default_length, set_default_length, get_length, set_length = coordinate(
        "length", 1, "how far M's origin is from F's, along M's x axis", "length"
    )
    get_angular_rate, set_angular_rate = speed("angular_rate", 0, "the angular speed", "angle/time")
    get_length_rate, set_length_rate = speed("length_rate", 1, "the sliding speed", "length/time")

    def _fit_place(self, p: Array, q: Array) -> None:
        q[1] = p[0] * np.cos(q[0]) + p[1] * np.sin(q[0])

    def _fit_translation(self, p: Array, q: Array) -> None:
        x, y, _ = p
        along, across = x * np.cos(q[0]) + y * np.sin(q[0]), y * np.cos(q[0]) - x * np.sin(q[0])
        if along < 0.0 and abs(across) < -1e-6 * along:  # a negative length is there already, or was meant to be
            along, across = -along, -across
            length = -np.hypot(x, y)
        else:
            length = np.hypot(x, y)
        if length != 0.0:
            q[:] = q[0] + np.arctan2(across, along), length
        else:
            q[1] = 0.0

    def _fit_translation_reversed(self, p: Array, q: Array) -> None:
        q[1] = -p[0]  # p_FM = -R_MF^T p_MF is (-q1, 0, 0), whatever the angle
