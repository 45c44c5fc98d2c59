"""BendStretch: polar coordinates; rotation about the z axis that F and M share, then translation along M's x axis.

    R_FM = Rz(q0)   p_FM = q1 e,  e = Rz(q0) x     with n = Rz(q0) y = z x e
    H_FM = [z, 0; q1 n, e]        HDot_FM u = [0; 2 u0 u1 n - q1 u0^2 e]   q_dot = u

2 coordinates, 2 speeds. At q1 = 0 the first column only turns M: no singularity, unless M carries a particle, which turning
about itself does not move. Source: Seth et al. 2010.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._jit import generic
from ..algebra import rotation
from ..algebra.scalar import one, sincos, zero
from ..value import Rotation
from ._by_address import BY_ADDRESS, by_address
from .base import Array, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State


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


class BendStretch(MobilizedBody):
    """Turn about the z axis that F and M share, then slide along M's x axis: polar coordinates, an angle and a length.

    Its synonym is `PolarCoords`. The length may be negative.
    """

    facts = Facts(BY_ADDRESS, num_q=2, num_u=2, transform=transform, hinge=hinge, constant_hinge=False, kinematics=kinematics)

    def get_default_angle(self) -> float:
        """The angle of a default state."""
        return float(self._default_q[0])

    def set_default_angle(self, angle: float) -> BendStretch:
        """Change the angle of a default state; a topological change."""
        self.set_default_q([angle, self._default_q[1]])
        return self

    def get_default_length(self) -> float:
        """The length of a default state."""
        return float(self._default_q[1])

    def set_default_length(self, length: float) -> BendStretch:
        """Change the length of a default state; a topological change."""
        self.set_default_q([self._default_q[0], length])
        return self

    def get_angle(self, state: State) -> float:
        """The angle about z. Needs MODEL."""
        return self.get_one_q(state, 0)

    def set_angle(self, state: State, angle: float) -> None:
        """Set the angle about z; the state falls to TIME at most."""
        self.set_one_q(state, 0, angle)

    def get_length(self, state: State) -> float:
        """How far M's origin is from F's, along M's x axis. Needs MODEL."""
        return self.get_one_q(state, 1)

    def set_length(self, state: State, length: float) -> None:
        """Set how far M's origin is along M's x axis; the state falls to TIME at most."""
        self.set_one_q(state, 1, length)

    def get_angular_rate(self, state: State) -> float:
        """The angular speed, angle/time. Needs MODEL."""
        return self.get_one_u(state, 0)

    def set_angular_rate(self, state: State, rate: float) -> None:
        """Set the angular speed; the state falls to POSITION at most."""
        self.set_one_u(state, 0, rate)

    def get_length_rate(self, state: State) -> float:
        """The sliding speed, length/time. Needs MODEL."""
        return self.get_one_u(state, 1)

    def set_length_rate(self, state: State, rate: float) -> None:
        """Set the sliding speed; the state falls to POSITION at most."""
        self.set_one_u(state, 1, rate)

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        # the angle that maximizes the trace of R^T Rz(q)
        M = np.asarray(R)
        q[0] = np.arctan2(M[1, 0] - M[0, 1], M[0, 0] + M[1, 1])

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
