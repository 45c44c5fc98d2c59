"""Translation: along the axes of F. 3 coordinates, 3 speeds. Source: Seth et al. 2010.

R_FM = 1   p_FM = q   H_FM = [0; 1], constant in F   q_dot = u
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import generic
from ..algebra import rotation
from ..algebra.scalar import one, zero
from .base import Array, ArrayLike, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State

KIND = 5


@generic
def transform(q: Any) -> Any:  # X_FM
    return rotation.identity(q[0]), (q[0], q[1], q[2])


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return ((o, o, o), (i, o, o)), ((o, o, o), (o, i, o)), ((o, o, o), (o, o, i))


class Translation(MobilizedBody):
    """Move along the axes of F without turning: x, y, z."""

    facts = Facts(KIND, num_q=3, num_u=3, transform=transform, hinge=hinge, slides_in_every_way=True)

    def get_default_translation(self) -> Array:
        """The translation ``(3,)`` of a default state."""
        return self._default_q.copy()

    def set_default_translation(self, translation: ArrayLike) -> Translation:
        """Change the translation of a default state; a topological change."""
        self.set_default_q(translation)
        return self

    def get_translation(self, state: State) -> Array:
        """p_FM ``(3,)``. Needs MODEL."""
        return self.get_q_as_vector(state)

    def set_translation(self, state: State, translation: ArrayLike) -> None:
        """Set p_FM; the state falls to TIME at most."""
        self.set_q(state, translation)

    def get_velocity(self, state: State) -> Array:
        """v_FM ``(3,)``. Needs MODEL."""
        return self.get_u_as_vector(state)

    def set_velocity(self, state: State, velocity: ArrayLike) -> None:
        """Set v_FM; the state falls to POSITION at most."""
        self.set_u(state, velocity)

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[:] = p
