"""Scalar accessors for constraints of one equation."""

from __future__ import annotations

from ..state.state import State
from .base import Constraint


class OneAcceleration(Constraint):
    """A kind with one equation, of any level. These methods raise `ModelError` for a state in which it is disabled."""

    def get_acceleration_error(self, state: State) -> float:
        """The error of its equation at the level of accelerations. Needs ACCELERATION."""
        return self._the_only(state, "get_acceleration_error", self.get_acceleration_errors_as_vector(state))

    def get_multiplier(self, state: State) -> float:
        """Its multiplier, of the sign opposite to forces. Needs ACCELERATION."""
        return self._the_only(state, "get_multiplier", self.get_multipliers_as_vector(state))


class OneVelocity(OneAcceleration):
    """A kind with one equation of velocities, or of positions."""

    def get_velocity_error(self, state: State) -> float:
        """The error of its equation at the level of velocities. Needs VELOCITY."""
        return self._the_only(state, "get_velocity_error", self.get_velocity_errors_as_vector(state))


class OnePosition(OneVelocity):
    """A kind with one equation of positions."""

    def get_position_error(self, state: State) -> float:
        """The error of its equation. Needs POSITION."""
        return self._the_only(state, "get_position_error", self.get_position_errors_as_vector(state))
