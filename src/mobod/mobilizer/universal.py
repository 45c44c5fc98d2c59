"""Universal: rotation about x, then about the y axis that this has turned. 2 coordinates, 2 speeds. Source: Seth et al. 2010.

R_FM = Rx(q0) Ry(q1)   p_FM = 0   H_FM = [x, n; 0, 0]  with n = Rx(q0) y   HDot_FM u = u0 u1 [x x n; 0]   q_dot = u
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import rotation
from ..algebra.arrays import Array
from ..algebra.scalar import one, sincos, zero
from ..compiling import generic
from ..value import Rotation
from ._named import coordinates, speeds
from .base import Facts, MobilizedBody
from .routine import BY_ADDRESS, by_address


@generic
def transform(q: Any) -> Any:  # X_FM
    o = zero(q[0])
    return rotation.about_x_then_y(q[0], q[1]), (o, o, o)


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    s, c = sincos(q[0])
    return ((i, o, o), (o, o, o)), ((o, c, s), (o, o, o))


@generic
def bias(q: Any, u: Any, H: Any) -> Any:  # HDot_FM u, expressed in F
    o, uu, n = zero(q[0]), u[0] * u[1], H[1][0]
    return (o, -uu * n[2], uu * n[1]), (o, o, o)


kinematics = by_address(transform, hinge, bias, num_q=2, num_u=2)


class Universal(MobilizedBody):
    """Turn about x, then about the new y: two angles, their rates as speeds.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Universal(matter.ground, ball, X_BM=mb.Transform((0, 0, 1)))
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (0.3, 0.4))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([-0.389,  0.272, -0.88 ])
    """

    facts = Facts(BY_ADDRESS, num_q=2, num_u=2, transform=transform, hinge=hinge, constant_hinge=False, kinematics=kinematics)

    get_default_angles, set_default_angles, get_angles, set_angles = coordinates("angles", 0, 2, "the angles", "angle")
    get_rates, set_rates = speeds("rates", 0, 2, "the angles' rates", "angle/time")

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        """Maximize the trace of R^T Rx(a) Ry(b), by the best a for each b in turn, from the angles of M's z axis.

        The trace is bilinear in (cos a, sin a) and (cos b, sin b), (1, cos, sin): each half-step has a closed form, and as no
        half-step can lower the trace, a few dozen reach the maximum to rounding where R is attainable in one.
        """
        M = np.asarray(R)
        best, best_trace = q[:2].copy(), -np.inf
        for start in (np.arctan2(-M[1, 2], M[2, 2]), np.arctan2(M[2, 1], M[1, 1])):
            a, b = start, 0.0
            for _ in range(100):
                sa, ca = np.sin(a), np.cos(a)
                new_b = np.arctan2(M[0, 2] + sa * M[1, 0] - ca * M[2, 0], M[0, 0] - sa * M[1, 2] + ca * M[2, 2])
                sb, cb = np.sin(new_b), np.cos(new_b)
                new_a = np.arctan2(sb * M[1, 0] - cb * M[1, 2] + M[2, 1], M[1, 1] - sb * M[2, 0] + cb * M[2, 2])
                done = abs(new_a - a) + abs(new_b - b) < 1e-15
                a, b = new_a, new_b
                if done:
                    break
            T = np.array(rotation.about_x_then_y(float(a), float(b))).reshape(3, 3)
            trace = float(np.sum(T * M))
            if trace > best_trace:
                best, best_trace = np.array([a, b]), trace
        q[:2] = best
