"""Contact of one body with another at a point C: a normal equation and, optionally, two that forbid slip.

Of a contact frame with axes x, y and the normal z, and V the velocity in the first body of the second's material point at C:

    perr = separation     verr = z.V, x.V, y.V     aerr = z.A + z'.V, x.A + x'.V, y.A + y'.V

A being the rate of V seen from the first body, with C moving as it does: the acceleration of the material point and
w x (C' - V). The rows are in this order: the normal's, which is a position's, then those of slip, of velocities. A positive
multiplier is a force along minus its axis on the second body, at C, and its opposite on the first.
Source: the conventions of Simbody 3.7, whose x and y of a frame that moves are held, but turned along with z.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import vec3
from ..algebra.arrays import Array
from ..compiling import generic
from ..state.state import State
from . import access
from ._parameters import BetweenBodies
from .base import AnyBody


@generic
def write_rows(model: Any, c: int, rolling: int, arm1: Any, arm2: Any, x: Any, y: Any, z: Any) -> None:
    """Unit forces along the axes of the contact frame at C, given by the arms from both bodies' origins."""
    access.put_force(model, c, 0, 0, arm1, vec3.neg(z))
    access.put_force(model, c, 0, 1, arm2, z)
    if rolling:
        access.put_force(model, c, 1, 0, arm1, vec3.neg(x))
        access.put_force(model, c, 1, 1, arm2, x)
        access.put_force(model, c, 2, 0, arm1, vec3.neg(y))
        access.put_force(model, c, 2, 1, arm2, y)


@generic
def write_offset(model: Any, c: int, k: int, axis: Any, axis_dot: Any, v: Any, a: Any) -> None:
    """Offset of row *k*, aerr - G udot: *a* is that of A, *v* is V."""
    access.put_acceleration_offset(model, c, k, vec3.dot(axis, a) + vec3.dot(axis_dot, v))


class Contact(BetweenBodies):
    """A kind with one equation of contact, and two of rolling with *enforce_rolling*."""

    _rolling: bool

    reads_ancestor = True

    def __init__(self, bodies: Sequence[AnyBody], *, disabled_by_default: bool, name: str | None) -> None:
        rows = (1, 2 if self._rolling else 0, 0)
        super().__init__(bodies, equations=rows, disabled_by_default=disabled_by_default, name=name)

    def pack_integers(self) -> list[int]:
        return [int(self._rolling), self.get_ancestor_mobilized_body().get_mobilized_body_index()]

    def is_enforcing_rolling(self) -> bool:
        """True if slip is forbidden."""
        return self._rolling

    def get_position_error(self, state: State) -> float:
        """The separation, negative where the two penetrate; length. Needs POSITION."""
        return self._the_only(state, "get_position_error", self.get_position_errors_as_vector(state))

    def get_velocity_errors(self, state: State) -> Array:
        """Slip along x and y, zeros where rolling is not enforced, and the rate of separation ``(3,)``. Needs VELOCITY."""
        return self._by_axes(state, "get_velocity_errors", self.get_velocity_errors_as_vector(state))

    def get_acceleration_errors(self, state: State) -> Array:
        """The rates of these ``(3,)``. Needs ACCELERATION."""
        return self._by_axes(state, "get_acceleration_errors", self.get_acceleration_errors_as_vector(state))

    def get_multipliers(self, state: State) -> Array:
        """Minus the force on the second body along x, y and z of the contact frame ``(3,)``. Needs ACCELERATION."""
        return self._by_axes(state, "get_multipliers", self.get_multipliers_as_vector(state))

    def _by_axes(self, state: State, asked: str, rows: Array) -> Array:
        self._need_enabled(state, asked)
        return np.array([rows[1], rows[2], rows[0]] if len(rows) == 3 else [0.0, 0.0, rows[0]])
