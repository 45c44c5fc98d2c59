"""Condition: a goal or requirement of an Assembler. Base class of all kinds, and of users' own."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..value.attributes import Sealed
from ..value.checks import numbers

if TYPE_CHECKING:
    from ..state.state import State
    from ..system.matter import SimbodyMatterSubsystem
    from ..system.system import MultibodySystem
    from ._normal import Normal
    from .base import Assembler


class Condition(Sealed):
    """A condition on a configuration: errors that have to vanish, or a goal to be minimized.

    An Assembler uses the errors where the condition is a requirement, and the goal where it has a finite weight.

    A condition of your own derives from it and has

    1. `calc_errors`, for a requirement; its goal is then the mean square of the errors unless `calc_goal` says otherwise;
    2. or `calc_goal`, which is then a goal only;
    3. where there is one, `calc_error_jacobian` or `calc_goal_gradient`: what is left out is found by central differences.

    All of them are given a state at POSITION and must leave it alone.

    Parameters
    ----------
    name : str, optional
        For messages; the name of the class unless given.

    Examples
    --------
    >>> import mobod as mb
    >>> class Level(mb.assembler.Condition):
    ...     def __init__(self, body):
    ...         super().__init__("level")
    ...         self.body = body
    ...
    ...     def calc_errors(self, state):
    ...         return [(self.body.get_body_rotation(state) @ (1, 0, 0))[1]]
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> pin = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    >>> state = system.realize_topology()
    >>> pin.set_q(state, 0.3)
    >>> assembler = mb.Assembler(system)
    >>> assembler.adopt_assembly_error(Level(pin))
    1
    >>> goal = assembler.assemble(state)
    >>> bool(abs(state.q[0]) < 1e-9)
    True
    """

    def __init__(self, name: str | None = None) -> None:
        self._condition_name = type(self).__name__ if name is None else str(name)
        self.assembler: Assembler | None = None
        self.condition_index = -1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.get_name()!r}>"

    # ------------------------------------------------------------------------------------------ what a kind provides

    def initialize_condition(self) -> None:
        """Prepare, whenever the Assembler is initialized: its free q and its internal state are there."""

    def uninitialize_condition(self) -> None:
        """Clean up, whenever the Assembler is changed after it was initialized."""

    def calc_errors(self, state: State) -> npt.ArrayLike:
        """The errors ``(m,)``, zero where the condition is fulfilled; always as many. Units are the author's."""
        raise NotImplementedError(
            f"{self!r} has no calc_errors and cannot be a requirement; give it a finite weight, or write calc_errors"
        )

    def calc_error_jacobian(self, state: State) -> npt.ArrayLike | None:
        """The derivatives of the errors, ``(m, num_free_qs)`` or by all q ``(m, nq)``; None for differences."""
        return None

    def get_num_errors(self, state: State) -> int:
        """Number of errors of `calc_errors`."""
        return int(np.size(self.calc_errors(state)))

    def calc_goal(self, state: State) -> float:
        """The goal, not negative; unless overridden, the mean of the errors' squares."""
        errors = np.atleast_1d(np.asarray(self.calc_errors(state), dtype=np.float64))
        return float(errors @ errors) / max(1, errors.size)

    def calc_goal_gradient(self, state: State) -> npt.ArrayLike | None:
        """The derivatives of the goal, ``(num_free_qs,)`` or by all q ``(nq,)``; None for differences."""
        return None

    # ------------------------------------------------------------------------------------------ the Assembler

    def get_name(self) -> str:
        """Its name."""
        return getattr(self, "_condition_name", type(self).__name__)

    def is_in_assembler(self) -> bool:
        """True if an Assembler has adopted it."""
        return getattr(self, "assembler", None) is not None

    def get_assembler(self) -> Assembler:
        """The Assembler that has adopted it; `ModelError` where there is none."""
        assembler = getattr(self, "assembler", None)
        if assembler is None:
            raise ModelError(f"{self!r} is in no Assembler; call assembler.adopt_assembly_goal or adopt_assembly_error")
        return assembler

    def get_assembly_condition_index(self) -> int:
        """Its index in the Assembler; -1 where it is in none."""
        return self.condition_index

    def get_multibody_system(self) -> MultibodySystem:
        """The Assembler's system."""
        return self.get_assembler().get_multibody_system()

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter subsystem of that."""
        return self.get_assembler().get_matter_subsystem()

    def get_num_free_qs(self) -> int:
        """Number of q that the Assembler may change."""
        return self.get_assembler().get_num_free_qs()

    def get_q_index_of_free_q(self, free_q: int) -> int:
        """The index in the state's q of a free q."""
        return self.get_assembler().get_q_index_of_free_q(free_q)

    def get_free_q_index_of_q(self, q: int) -> int | None:
        """The index among the free q of a q of the state; None where it is not free."""
        return self.get_assembler().get_free_q_index_of_q(q)

    def initialize_assembler(self) -> None:
        """Initialize the Assembler, where there is one, and by that the condition; otherwise the condition alone."""
        if self.is_in_assembler():
            self.get_assembler().initialize()
        else:
            self.initialize_condition()

    def uninitialize_assembler(self) -> None:
        """Mark the Assembler as uninitialized, after a change of the condition."""
        if self.is_in_assembler():
            self.get_assembler().uninitialize()
        else:
            self.uninitialize_condition()

    # ------------------------------------------------------------------------------------------ for the solver

    #: Whether the goal is half a weighted sum of squares that `added_to` knows.
    is_spatial = False

    def added_to(self, state: State, weight: float, normal: Normal) -> float:
        """Add *weight* times the goal to spatial normal equations; the goal, weighted."""
        raise NotImplementedError

    def jacobian_u(self, state: State) -> Array | None:
        """The derivatives of the errors by u-like displacements ``(m, nu)``, where the package has them."""
        return None

    def squares(self, state: State) -> float | None:
        """The factor by which e.e is the goal; None if the goal is no sum of squares of the errors."""
        own, mine = type(self), Condition
        if own.calc_goal is not mine.calc_goal or own.calc_errors is mine.calc_errors:
            return None
        return 1.0 / max(1, self.get_num_errors(state))

    def report(self, state: State) -> list[tuple[str, float]]:
        """Its remaining errors, by part."""
        errors = checked_errors(self, state)
        return [(self.get_name(), float(np.abs(errors).max()))] if errors.size else []


def checked_errors(condition: Condition, state: State) -> Array:
    """The errors of a condition, as an array of finite numbers."""
    return _checked(condition, "calc_errors", "(m,) numbers", 1, condition.calc_errors(state))


def checked_goal(condition: Condition, state: State) -> float:
    """The goal of a condition, a finite number."""
    return float(_checked(condition, "calc_goal", "one number", 0, condition.calc_goal(state)))


def _checked(condition: Condition, method: str, wanted: str, ndim: int, value: Any) -> Any:
    """The result of a condition's method as float64, or an error that names both."""
    try:
        array = numbers(method, value)
    except (TypeError, ValueError):
        raise TypeError(f"{method} of {condition!r} has to give {wanted}, not {reprlib.repr(value)}") from None
    array = np.atleast_1d(array) if ndim else array.reshape(()) if array.size == 1 else array
    if array.ndim != ndim:
        raise ValueError(f"{method} of {condition!r} has to give {wanted}, not an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise ModelError(f"{method} of {condition!r} gives {reprlib.repr(value)}; it has to be finite wherever it is asked")
    return array
