"""Cylinder: rotation about the z axis that F and M share, and sliding along it. 2 coordinates, 2 speeds.

R_FM = Rz(q0)   p_FM = q1 z   H_FM = [z, 0; 0, z], constant in F   q_dot = u   Source: Seth et al. 2010
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._jit import generic
from ..algebra import rotation
from ..algebra.scalar import one, zero
from ..value import Rotation
from ._by_address import BY_ADDRESS, by_address
from .base import Array, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State


@generic
def transform(q: Any) -> Any:  # X_FM
    o = zero(q[0])
    return rotation.about_z(q[0]), (o, o, q[1])


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return ((o, o, i), (o, o, o)), ((o, o, o), (o, o, i))


kinematics = by_address(transform, hinge, num_q=2, num_u=2)


class Cylinder(MobilizedBody):
    """Turn about the z axis that F and M share, and slide along it: an angle and a length."""

    facts = Facts(BY_ADDRESS, num_q=2, num_u=2, transform=transform, hinge=hinge, kinematics=kinematics)

    def get_default_angle(self) -> float:
        """The angle of a default state."""
        return float(self._default_q[0])

    def set_default_angle(self, angle: float) -> Cylinder:
        """Change the angle of a default state; a topological change."""
        self.set_default_q([angle, self._default_q[1]])
        return self

    def get_default_length(self) -> float:
        """The length of a default state."""
        return float(self._default_q[1])

    def set_default_length(self, length: float) -> Cylinder:
        """Change the length of a default state; a topological change."""
        self.set_default_q([self._default_q[0], length])
        return self

    def get_angle(self, state: State) -> float:
        """The angle. Needs MODEL."""
        return self.get_one_q(state, 0)

    def set_angle(self, state: State, angle: float) -> None:
        """Set the angle; the state falls to TIME at most."""
        self.set_one_q(state, 0, angle)

    def get_length(self, state: State) -> float:
        """How far M's origin is along z. Needs MODEL."""
        return self.get_one_q(state, 1)

    def set_length(self, state: State, length: float) -> None:
        """Set how far M's origin is along z; the state falls to TIME at most."""
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

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[1] = p[2]
