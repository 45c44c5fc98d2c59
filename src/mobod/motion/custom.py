"""Custom: a motion that its user writes, in Python or as a function that is compiled."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..function.users import check_form, check_parameters
from ..mobilizer.base import MobilizedBody
from ..state.named_parameters import NamedParameters, names_and_values
from ..state.of_each import Present, Rows, numbers_at, of_each
from ..state.stage_hooks import StageHooks
from ..state.state import State
from ..value.abstract import Abstract
from ..value.level import Level, Method
from ._custom_compiled import CompiledFunctions, motion_of
from .base import Motion


class CustomImplementation(StageHooks, Abstract):
    """Base class of motions in Python; ``Custom(mobod, implementation)`` attaches one.

    1. `get_level` is required; `get_level_method` where the method is not ``PRESCRIBED``.
    2. At level POSITION: `calc_prescribed_position`, `calc_prescribed_position_dot` and `calc_prescribed_position_dot_dot`;
       at VELOCITY: `calc_prescribed_velocity` and `calc_prescribed_velocity_dot`; at ACCELERATION:
       `calc_prescribed_acceleration`. Each result is the exact time derivative of the one before. They return a number, or an
       array of the length that they are given.
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
        """The method at its level: PRESCRIBED unless overridden.

        ZERO and DISCRETE hold that level's variables at zero, or as they were set; FREE, at level ACCELERATION, leaves the
        motion without effect.
        """
        return Method.PRESCRIBED

    def calc_prescribed_position(self, state: State, nq: int) -> npt.ArrayLike:
        """q ``(nq,)`` as a function of time, a quaternion among them of length 1. The state is at TIME."""
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


def _parameters_of_each(motion: Any, template: State, values: Any, present: Present) -> Rows | None:
    motion.get_parameters(template)  # refuses motions without, and states of other systems
    first = int(template.tree.fields["first_motion_number"][motion.mobod.index])
    return numbers_at("motion_numbers", first, values, len(motion.pack_numbers()))


class Custom(NamedParameters, Motion):
    """A motion that its user writes, in one of two ways.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it governs.
    implementation : CustomImplementation, optional
        An instance of a class of the user's, in Python; it may hold bodies, parameters, data.
    compiled : CompiledFunctions, optional
        A function of numbers and tuples, which is compiled.

    Raises
    ------
    TypeError
        If neither is given, or both, or something else.
    ModelError
        If a compiled function does not take or return what it should, with floats, eight states at a time or dual numbers; and
        when topology is realized, if it cannot be compiled.

    Notes
    -----
    A system with a motion in Python is integrated by the same algorithm, interpreted: the motion costs its own time and a few
    microseconds a call. With a compiled function it runs compiled from end to end.

    Examples
    --------
    A pin that swings up, and its rate, which is derived.

    >>> import mobod as mb
    >>> from mobod.algebra import exp
    >>> system, state = mb.examples.double_pendulum.build()
    >>> def position(t, parameters):
    ...     return (parameters[0] * (1.0 - exp(-t * t)),)
    >>> upper = system.matter.bodies[1]
    >>> motion = mb.motion.Custom(upper, compiled=mb.motion.CompiledFunctions(position=position, parameters=[2.0]))
    >>> state = system.realize_topology()
    >>> state.time = 1.0
    >>> system.prescribe(state)
    True
    >>> round(upper.get_u(state), 6)  # 4 / e
    1.471518
    """

    names_of_numbers = ("parameters",)
    implementation: CustomImplementation | None = None
    _compiled: CompiledFunctions | None = None

    def __init__(
        self,
        mobod: MobilizedBody,
        implementation: CustomImplementation | None = None,
        *,
        compiled: CompiledFunctions | None = None,
    ) -> None:
        check_form(implementation, compiled, CustomImplementation, CompiledFunctions)
        if compiled is not None:
            if not hasattr(mobod, "get_mobilized_body_index"):
                raise TypeError(f"a motion is made for a mobilized body, not for {mobod!r}")
            facts = mobod.facts
            self._shape = facts.num_q, facts.num_u, bool(facts.has_quaternion)
            self.parameter_names, given = names_and_values(compiled.parameters)
            self._values = check_parameters(given)
            if facts.num_u:
                self._level, self.routine = motion_of(compiled, *self._shape, self._values)  # type: ignore[misc]
            super().__init__(mobod)
            self._compiled = compiled
            return
        super().__init__(mobod)
        self.implementation = implementation

    def get_implementation(self) -> CustomImplementation:
        """The user's own object; `ModelError` where the motion is a compiled function."""
        if self.implementation is None:
            raise ModelError(f"{self!r} has no implementation in Python; call get_compiled_functions()")
        return self.implementation

    def get_compiled_functions(self) -> CompiledFunctions:
        """The user's function; `ModelError` where the motion is an implementation in Python."""
        if self._compiled is None:
            raise ModelError(f"{self!r} is an implementation in Python; call get_implementation()")
        return self._compiled

    # ------------------------------------------------------------------------------------------ parameters

    def get_default_parameters(self) -> Array:
        """The parameters of a compiled function in a default state."""
        self.get_compiled_functions()
        return np.array(self._values)

    def set_default_parameters(self, parameters: npt.ArrayLike | Mapping[str, float]) -> None:
        """Change them, all, or those that a mapping names: a topological change."""
        self._values = self._as_many(parameters, self._values)
        self.mobod.instance_changed()

    def get_parameters(self, state: State) -> Array:
        """The parameters of a compiled function in this state. Needs MODEL."""
        self.get_compiled_functions()
        return self.number_run(state, "get_parameters").copy()

    @of_each(_parameters_of_each)
    def set_parameters(self, state: State, parameters: npt.ArrayLike | Mapping[str, float]) -> None:
        """Change them in this state, all, or those that a mapping names; it falls to MODEL at most."""
        self.get_compiled_functions()
        if not self.put_in(state, parameters, 0, (len(self._values),)):
            values = self._as_many(parameters, self.number_run(state, "set_parameters"))
            self.number_run(state, "set_parameters", True)[:] = values

    def _as_many(self, parameters: Any, now: Any) -> list[float]:
        self.get_compiled_functions()
        values = check_parameters(self.with_names(parameters, now))
        if len(values) != len(self._values):
            raise ValueError(f"parameters of {self!r} are {len(self._values)} numbers, got {len(values)}")
        return values

    # ------------------------------------------------------------------------------------------ for the base class

    def pack_numbers(self) -> Sequence[float]:
        return () if self._compiled is None else self._values

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "routine"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        if self._compiled is not None:  # what was compiled stays behind: it is found again by what it was made of
            self.routine = motion_of(self._compiled, *self._shape, self._values)[1]  # type: ignore[misc]

    def rule(self, state: State | None) -> tuple[Level, Method]:
        if self.implementation is None:
            return super().rule(state)
        if state is None:  # the tree is made before there is a state to ask with
            return Level.NO_LEVEL, Method.NO_METHOD
        level, method = self.implementation.get_level(state), self.implementation.get_level_method(state)
        owner = type(self.implementation).__name__
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

    def ask_implementation(self, what: str, state: State, n: int) -> Array:
        """*n* finite numbers of a method of the user's."""
        given = getattr(self.implementation, f"calc_prescribed_{what}")(state, n)
        owner = f"calc_prescribed_{what} of {type(self.implementation).__name__}"
        try:
            value = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ModelError(f"{owner} returns {n} numbers for {self.mobod.name!r}, got {given!r}") from None
        if value.shape != (n,) and not (n == 1 and value.shape == ()):
            raise ModelError(f"{owner} returns {n} numbers for {self.mobod.name!r}, got shape {value.shape}")
        if not np.all(np.isfinite(value)):
            raise ModelError(f"{owner} has to be finite for {self.mobod.name!r}, got {value}")
        return value.reshape(n)


__all__ = ["CompiledFunctions", "Custom", "CustomImplementation"]
