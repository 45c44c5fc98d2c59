"""Pin: rotation about the z axis that F and M share. 1 coordinate, 1 speed. Source: Seth et al. 2010, mobilizer kinematics.

R_FM = Rz(q)   p_FM = 0   H_FM = [z; 0] (angular; linear), constant in F   q_dot = u
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._jit import generic
from ..algebra.scalar import one, sincos, zero
from ..value import Rotation
from .base import Array, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State

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
    """Turn about the z axis that F and M share: one angle, one angular speed."""

    facts = Facts(KIND, num_q=1, num_u=1, transform=transform, hinge=hinge)

    def get_default_angle(self) -> float:
        """The angle of a default state."""
        return float(self._default_q[0])

    def set_default_angle(self, angle: float) -> Pin:
        """Change the angle of a default state; a topological change."""
        self.set_default_q(angle)
        return self

    def get_angle(self, state: State) -> float:
        """The angle. Needs MODEL."""
        return self.get_one_q(state, 0)

    def set_angle(self, state: State, angle: float) -> None:
        """Set the angle; the state falls to TIME at most."""
        self.set_one_q(state, 0, angle)

    def get_rate(self, state: State) -> float:
        """The angular speed, angle/time. Needs MODEL."""
        return self.get_one_u(state, 0)

    def set_rate(self, state: State, rate: float) -> None:
        """Set the angular speed; the state falls to POSITION at most."""
        self.set_one_u(state, 0, rate)

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        # the angle that maximizes the trace of R^T Rz(q)
        M = np.asarray(R)
        q[0] = np.arctan2(M[1, 0] - M[0, 1], M[0, 0] + M[1, 1])
