"""Differentiate: the time derivative of a measure, its own where it has one, and otherwise estimated from step to step.

With f0 and f0' of the beginning of the step, at t0:   f' = 2 (f - f0) / (t - t0) - f0'   (the parabola through these)
in a run's first step                                  f' = (f - f0) / (t - t0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..stage import Stage
from .base import Array, Measure, check_measure, fewest
from .memory import Memory

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem

#: Time, value, its estimated derivative, and whether that is more than a guess.
Sample = tuple[float, Array, Array, bool]


class Differentiate(Memory):
    """The time derivative of a measure. Needs the stage of the operand's derivative, or of the operand where it is estimated.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    operand : Measure
        Of the same system.

    Raises
    ------
    TopologyError
        If the operand is of another system.

    Notes
    -----
    An operand with derivatives gives its own, to rounding. The derivative of one without, such as a `Result`, is estimated
    from its values now and at the beginning of the step; zero where a run starts. The estimate follows a smooth operand to the
    second order of the step, but a jump of the operand makes it swing for some time after: the error changes its sign from
    step to step and hardly decays.
    """

    def __init__(self, subsystem: Subsystem | None, operand: Measure, *, name: str | None = None) -> None:
        self._operand: Measure = check_measure("Differentiate", operand)
        self._force_approximation = False
        super().__init__(subsystem, operand._shape, name=name)

    def get_operand_measure(self) -> Measure:
        """What is differentiated."""
        return self._operand

    def set_operand_measure(self, operand: Measure) -> None:
        """Differentiate another measure of the same size: a topological change."""
        kept, self._operand = self._operand, self._replaced("the operand", operand)
        self._accept(lambda: setattr(self, "_operand", kept))

    def set_force_use_approximation(self, must_approximate: bool) -> None:
        """Whether to estimate even where the operand has a derivative: a topological change. For trying out."""
        self._force_approximation = bool(must_approximate)
        self._invalidate_topology()

    def get_force_use_approximation(self) -> bool:
        """Whether the derivative is estimated even where the operand has one."""
        return self._force_approximation

    def is_using_approximation(self) -> bool:
        """Whether the derivative is estimated."""
        return self._force_approximation or self._operand.get_num_time_derivatives() == 0

    # ------------------------------------------------------------------------------------------ for the base class

    def _operands(self) -> tuple[Measure, ...]:
        return (self._operand,)

    def _calc(self, state: State, deriv_order: int) -> Any:
        if not self.is_using_approximation():
            return self._operand.get_value(state, deriv_order + 1)
        return self._given(self._next(state)[2])

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        return 0 if self.is_using_approximation() else fewest((self._operand,), seen) - 1

    def _depends_on(self, deriv_order: int) -> Stage:
        return self._operand._depends_on(deriv_order if self.is_using_approximation() else deriv_order + 1)

    def _takes_part(self) -> bool:
        return self.is_using_approximation()

    def _looks_at(self) -> Measure:
        return self._operand

    def _first(self, state: State) -> Sample:
        return state.time, np.array(self._operand.get_value(state)), np.zeros(self._shape), False

    def _following(self, state: State, kept: Sample) -> Sample:
        before, f0, rate0, known = kept
        f, h = np.array(self._operand.get_value(state)), state.time - before
        if h == 0.0:
            return before, f, rate0, known
        slope = (f - f0) / h
        return state.time, f, 2.0 * slope - rate0 if known else slope, True

    def _memory_size(self) -> int:
        return 3 + 2 * self._default.size

    def _unpacked(self, kept: Array) -> Sample:
        f, rate = kept[1:-1].reshape(2, *self._shape).copy()
        return float(kept[0]), np.asarray(f), np.asarray(rate), bool(kept[-1])
