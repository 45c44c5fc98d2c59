"""Slider: translation along the x axis that F and M share. 1 coordinate, 1 speed. Source: Seth et al. 2010.

R_FM = 1   p_FM = (q, 0, 0)   H_FM = [0; x], constant in F   q_dot = u
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import generic
from ..algebra import rotation
from ..algebra.scalar import one, zero
from .base import Array, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State

KIND = 2


@generic
def transform(q: Any) -> Any:  # X_FM
    o = zero(q[0])
    return rotation.identity(q[0]), (q[0], o, o)


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return (((o, o, o), (i, o, o)),)


class Slider(MobilizedBody):
    """Slide along the x axis that F and M share: one length, one speed."""

    facts = Facts(KIND, num_q=1, num_u=1, transform=transform, hinge=hinge)

    def get_default_length(self) -> float:
        """The displacement of a default state."""
        return float(self._default_q[0])

    def set_default_length(self, length: float) -> Slider:
        """Change the displacement of a default state; a topological change."""
        self.set_default_q(length)
        return self

    def get_length(self, state: State) -> float:
        """The displacement along x. Needs MODEL."""
        return self.get_one_q(state, 0)

    def set_length(self, state: State, length: float) -> None:
        """Set the displacement along x; the state falls to TIME at most."""
        self.set_one_q(state, 0, length)

    def get_rate(self, state: State) -> float:
        """The speed, length/time. Needs MODEL."""
        return self.get_one_u(state, 0)

    def set_rate(self, state: State, rate: float) -> None:
        """Set the speed; the state falls to POSITION at most."""
        self.set_one_u(state, 0, rate)

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[0] = p[0]
