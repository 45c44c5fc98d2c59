"""Constraints whose equations Python computes: it writes their rows after the compiled sweeps of positions and of velocities.

`constraints.constrain` finds no routine of the kind and leaves the rows alone; `MultibodySystem._compute` then has the
constraint's `Interpreter` write them. What follows from them (N^T and NDot u of coordinates) is the kernels' own source, run by
Python on the one constraint.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError

if TYPE_CHECKING:
    from ..function import Function
    from ..state import State

Array = npt.NDArray[np.float64]


class Interpreter(abc.ABC):
    """What writes a constraint's rows into a state."""

    @abc.abstractmethod
    def write_positions(self, state: State) -> None:
        """Position errors, velocity offsets of position equations, and coefficients of these. Positions are there."""

    @abc.abstractmethod
    def write_velocities(self, state: State) -> None:
        """What `_what` says of VELOCITIES. Velocities are there, and q_dot of the constrained mobilizers."""

    def realize(self, stage: str, state: State) -> None:
        """Hear that the state reaches a stage, by its name in lower case; "topology" and "model" included."""


def checked(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """A result of a user's method as a finite array of *shape*; `ModelError` that names the method otherwise."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{what} has to return an array of shape {shape}, not {value!r}") from None
    if array.shape == () and shape == (1,):
        array = array.reshape(1)
    if array.shape != shape:
        raise ModelError(f"{what} has to return an array of shape {shape}; it returned one of shape {array.shape}")
    if not np.isfinite(array).all():
        raise ModelError(f"{what} is not finite: it returned {array.tolist()}")
    return array


def taken(function: Function, x: Array, *components: int) -> float:
    """The value of a user's function, or a derivative, as a finite number."""
    what = f"derivative {list(components)}" if components else "value"
    y = function.calc_derivative(components, x) if components else function.calc_value(x)
    try:
        number = float(y)
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise ModelError(f"the {what} of {function!r} has to be a finite number; at {x.tolist()} it is {y!r}")
    return number
