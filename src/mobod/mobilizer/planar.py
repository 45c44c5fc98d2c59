"""Planar: rotation about z, and translation along the x and y axes of F. 3 coordinates, 3 speeds. Source: Seth et al. 2010.

R_FM = Rz(q0)   p_FM = (q1, q2, 0)   H_FM = [z, 0, 0; 0, x, y], constant in F   q_dot = u
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._jit import generic
from ..algebra import rotation
from ..algebra.scalar import one, zero
from ..value import Rotation
from ._by_address import BY_ADDRESS, by_address
from .base import Array, ArrayLike, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State


@generic
def transform(q: Any) -> Any:  # X_FM
    return rotation.about_z(q[0]), (q[1], q[2], zero(q[0]))


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return ((o, o, i), (o, o, o)), ((o, o, o), (i, o, o)), ((o, o, o), (o, i, o))


kinematics = by_address(transform, hinge, num_q=3, num_u=3)


class Planar(MobilizedBody):
    """Move in the x-y plane of F: the angle about z, then x and y."""

    facts = Facts(BY_ADDRESS, num_q=3, num_u=3, transform=transform, hinge=hinge, kinematics=kinematics)

    def get_default_angle(self) -> float:
        """The angle of a default state."""
        return float(self._default_q[0])

    def set_default_angle(self, angle: float) -> Planar:
        """Change the angle of a default state; a topological change."""
        self.set_default_q([angle, *self._default_q[1:]])
        return self

    def get_default_translation(self) -> Array:
        """The translation ``(2,)`` of a default state."""
        return self._default_q[1:].copy()

    def set_default_translation(self, translation: ArrayLike) -> Planar:
        """Change the translation of a default state; a topological change."""
        self.set_default_q([self._default_q[0], *self._vector("default translation", translation, 2)])
        return self

    def get_angle(self, state: State) -> float:
        """The angle about z. Needs MODEL."""
        return self.get_one_q(state, 0)

    def set_angle(self, state: State, angle: float) -> None:
        """Set the angle about z; the state falls to TIME at most."""
        self.set_one_q(state, 0, angle)

    def get_translation(self, state: State) -> Array:
        """The translation ``(2,)`` along x and y of F. Needs MODEL."""
        return self.get_q_as_vector(state)[1:]

    def set_translation(self, state: State, translation: ArrayLike) -> None:
        """Set the translation along x and y of F; the state falls to TIME at most."""
        self.set_q(state, [self.get_one_q(state, 0), *self._vector("translation", translation, 2)])

    def get_angular_rate(self, state: State) -> float:
        """The angle's rate. Needs MODEL."""
        return self.get_one_u(state, 0)

    def set_angular_rate(self, state: State, rate: float) -> None:
        """Set the angle's rate; the state falls to POSITION at most."""
        self.set_one_u(state, 0, rate)

    def get_velocity(self, state: State) -> Array:
        """The translation's rate ``(2,)``. Needs MODEL."""
        return self.get_u_as_vector(state)[1:]

    def set_velocity(self, state: State, velocity: ArrayLike) -> None:
        """Set the translation's rate; the state falls to POSITION at most."""
        self.set_u(state, [self.get_one_u(state, 0), *self._vector("velocity", velocity, 2)])

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        M = np.asarray(R)
        q[0] = np.arctan2(M[1, 0] - M[0, 1], M[0, 0] + M[1, 1])

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[1:] = p[:2]
