"""Custom: a motion that its user writes, in Python."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..level import Level, Method
from .base import Motion

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State

Array = npt.NDArray[np.float64]


class CustomImplementation(abc.ABC):
    """What a user derives a motion from; then ``Custom(mobod, implementation)`` attaches it.

    1. `get_level` has to be there; `get_level_method` where the method is not ``PRESCRIBED``.
    2. At level POSITION: `calc_prescribed_position`, `calc_prescribed_position_dot` and `calc_prescribed_position_dot_dot`;
       at VELOCITY: `calc_prescribed_velocity` and `calc_prescribed_velocity_dot`; at ACCELERATION:
       `calc_prescribed_acceleration`. Each result is the exact time derivative of the one before. They return a number, or an
       array of as many as they are told.
    3. The ``realize_*`` hooks are called when the system realizes a state to that stage.

    Examples
    --------
    >>> class Ramp(mb.motion.CustomImplementation):  # doctest: +SKIP
    ...     def get_level(self, state):
    ...         return mb.Motion.Level.VELOCITY
    ...     def calc_prescribed_velocity(self, state, nu):
    ...         return 0.5 * state.time
    ...     def calc_prescribed_velocity_dot(self, state, nu):
    ...         return 0.5
    """

    @abc.abstractmethod
    def get_level(self, state: State) -> Level:
        """The level at which motion is prescribed, ACCELERATION, VELOCITY or POSITION; the state is at MODEL."""

    def get_level_method(self, state: State) -> Method:
        """How: PRESCRIBED unless overridden.

        ZERO and DISCRETE hold that level's variables at zero, or as they were set; FREE, at level ACCELERATION, makes the
        motion one without effect.
        """
        return Method.PRESCRIBED

    def calc_prescribed_position(self, state: State, nq: int) -> npt.ArrayLike:
        """q ``(nq,)`` as a function of time. The state is at TIME."""
        return self._missing("calc_prescribed_position", "POSITION")

    def calc_prescribed_position_dot(self, state: State, nq: int) -> npt.ArrayLike:
        """q_dot ``(nq,)``, which need not be u, as a function of time and this mobilizer's q. The state is at POSITION."""
        return self._missing("calc_prescribed_position_dot", "POSITION")

    def calc_prescribed_position_dot_dot(self, state: State, nq: int) -> npt.ArrayLike:
        """q_dot_dot ``(nq,)`` as a function of time and this mobilizer's q and q_dot. The state is at DYNAMICS."""
        return self._missing("calc_prescribed_position_dot_dot", "POSITION")

    def calc_prescribed_velocity(self, state: State, nu: int) -> npt.ArrayLike:
        """u ``(nu,)`` as a function of time and positions. The state is at POSITION."""
        return self._missing("calc_prescribed_velocity", "VELOCITY")

    def calc_prescribed_velocity_dot(self, state: State, nu: int) -> npt.ArrayLike:
        """udot ``(nu,)`` as a function of time, positions and velocities. The state is at DYNAMICS."""
        return self._missing("calc_prescribed_velocity_dot", "VELOCITY")

    def calc_prescribed_acceleration(self, state: State, nu: int) -> npt.ArrayLike:
        """udot ``(nu,)`` as a function of time, positions and velocities. The state is at DYNAMICS."""
        return self._missing("calc_prescribed_acceleration", "ACCELERATION")

    def _missing(self, what: str, level: str) -> Any:
        raise ModelError(f"{type(self).__name__} prescribes motion at Level.{level}; it has to define {what}")

    def realize_topology(self, state: State) -> None:
        """Called when the system's topology is realized."""

    def realize_model(self, state: State) -> None:
        """Called when modelling choices are settled."""

    def realize_instance(self, state: State) -> None:
        """Called at INSTANCE."""

    def realize_time(self, state: State) -> None:
        """Called at TIME."""

    def realize_position(self, state: State) -> None:
        """Called at POSITION."""

    def realize_velocity(self, state: State) -> None:
        """Called at VELOCITY."""

    def realize_dynamics(self, state: State) -> None:
        """Called at DYNAMICS."""

    def realize_acceleration(self, state: State) -> None:
        """Called at ACCELERATION."""

    def realize_report(self, state: State) -> None:
        """Called at REPORT."""


class Custom(Motion):
    """A motion that its user writes: derive from `CustomImplementation`, and pass an instance.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it governs.
    implementation : CustomImplementation
        The user's own; it may hold bodies, parameters, data.

    Notes
    -----
    A system with such a motion is integrated by the same algorithm, interpreted: the motion costs its own time and a few
    microseconds a call.
    """

    def __init__(self, mobod: MobilizedBody, implementation: CustomImplementation) -> None:
        if not isinstance(implementation, CustomImplementation):
            raise TypeError(
                "implementation has to be an instance of a class derived from mobod.motion.CustomImplementation, "
                f"not {implementation!r}"
            )
        super().__init__(mobod)
        self._implementation = implementation

    def get_implementation(self) -> CustomImplementation:
        """The user's own object."""
        return self._implementation

    def _rule(self, state: State | None) -> tuple[Level, Method]:
        if state is None:  # the tree is made before there is a state to ask with
            return Level.NO_LEVEL, Method.NO_METHOD
        level, method = self._implementation.get_level(state), self._implementation.get_level_method(state)
        owner = type(self._implementation).__name__
        if not isinstance(level, Level) or level is Level.NO_LEVEL:
            raise ModelError(f"get_level of {owner} has to return Level.ACCELERATION, VELOCITY or POSITION, not {level!r}")
        if not isinstance(method, Method) or method is Method.NO_METHOD:
            raise ModelError(f"get_level_method of {owner} has to return a Motion.Method, not {method!r}")
        if method is Method.FREE and level is not Level.ACCELERATION:
            raise ModelError(f"{owner} gives Method.FREE at Level.{level.name}; only accelerations can be free")
        if method is Method.FAST:
            raise ModelError(
                f"{owner} gives Method.FAST: nothing relaxes a mobilizer by itself; compute where it comes to rest and "
                "return that, as Method.PRESCRIBED"
            )
        return level, method

    # ------------------------------------------------------------------------------------------ what the system asks

    def _ask(self, what: str, state: State, n: int) -> Array:
        """*n* finite numbers of a method of the user's."""
        value = np.asarray(getattr(self._implementation, f"calc_prescribed_{what}")(state, n), dtype=np.float64)
        owner = f"calc_prescribed_{what} of {type(self._implementation).__name__}"
        if value.shape != (n,) and not (n == 1 and value.shape == ()):
            raise ModelError(f"{owner} returns {n} numbers for {self._mobod._name!r}, got shape {value.shape}")
        if not np.all(np.isfinite(value)):
            raise ModelError(f"{owner} has to be finite for {self._mobod._name!r}, got {value}")
        return value.reshape(n)


__all__ = ["Custom", "CustomImplementation"]
