"""What kinds share whose parameters are numbers: defaults that can be changed, and a state's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..decoration import Brick, Decoration
from ..value import Rotation, Transform
from ._floats import OnePosition
from .base import Constraint, Line, Mark, finite

if TYPE_CHECKING:
    from ..state import State

Array = npt.NDArray[np.float64]

#: The colours that Simbody has for what is on the first body, on the second, and between them.
FIRST, SECOND, BETWEEN = "green", "orange", "gray"


class Parametrized(Constraint):
    """A kind whose numbers are `_values`, in the order in which its kernels read them; set before `Constraint.__init__`."""

    _values: list[float]

    def _numbers(self) -> list[float]:
        return list(self._values)

    def _default(self, first: int, n: int) -> Array:
        return np.array(self._values[first : first + n])

    def _set_default(self, first: int, values: Sequence[float]) -> None:
        self._values[first : first + len(values)] = values
        self._matter._invalidate_topology()

    def _own(self, state: State, asked: str, first: int, n: int) -> Array:
        """Those of the state; a copy."""
        return self._number_run(state, asked)[first : first + n].copy()

    def _applied(self, state: State, i: int) -> Array:
        """What the constraint applies to constrained body *i* ``(2, 3)``: at its origin, in Ground; zero where disabled."""
        F, _ = self.get_constraint_forces_as_vectors(state)
        applied: Array = 0.0 - F[i]
        return applied

    def _applied_in_body(self, state: State, i: int) -> Array:
        """The same in the body's own frame."""
        return self._applied(state, i) @ np.asarray(self._bodies[i].get_body_transform(state).R)


class OneEquation(Parametrized, OnePosition):
    """A kind with one equation of positions."""


class Equations(Parametrized):
    """A kind with several equations of positions."""

    def get_position_errors(self, state: State) -> Array:
        """The errors of its equations. Needs POSITION."""
        return self.get_position_errors_as_vector(state)

    def get_velocity_errors(self, state: State) -> Array:
        """Their errors at the level of velocities. Needs VELOCITY."""
        return self.get_velocity_errors_as_vector(state)

    def get_acceleration_errors(self, state: State) -> Array:
        """Their errors at the level of accelerations. Needs ACCELERATION."""
        return self.get_acceleration_errors_as_vector(state)

    def get_multipliers(self, state: State) -> Array:
        """Their multipliers, of the sign opposite to forces. Needs ACCELERATION."""
        return self.get_multipliers_as_vector(state)


def transform(numbers: Array) -> Transform:
    """The `Transform` of twelve numbers, as `base.frame` gives them."""
    return Transform(Rotation(numbers[:9].reshape(3, 3)), numbers[9:12])


def rotation(what: str, value: Any) -> list[float]:
    """A `Rotation` as nine numbers, row by row."""
    if not isinstance(value, Rotation):
        raise TypeError(f"{what} has to be a mobod.Rotation, got {value!r}")
    numbers: list[float] = np.asarray(value).ravel().tolist()
    return numbers


def positive(what: str, value: float) -> float:
    """A finite number greater than zero."""
    number = finite(what, value)
    if number <= 0.0:
        raise ValueError(f"{what} has to be positive, got {value}")
    return number


def display_size(what: str, value: float) -> float:
    """A size in pictures: zero where nothing is to be shown."""
    number = finite(what, value)
    if number < 0.0:
        raise ValueError(f"{what} has to be positive, or zero for nothing to be shown, got {value}")
    return number


def across(z: Array) -> Array:
    """A unit vector across a unit vector: z times the axis of which it has least."""
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    vector: Array = x / np.linalg.norm(x)
    return vector


def plane(half_width: float, X: Transform) -> Decoration:
    """A part of the x-y plane of a frame, to be seen through."""
    return Brick((half_width, half_width, 0.002 * half_width), X=X, color=BETWEEN, opacity=0.3)


__all__ = ["Line", "Mark"]
