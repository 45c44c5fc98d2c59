"""Differentiate: the time derivative of a measure, its own where it has one, and otherwise estimated from step to step.

With f0 and f0' of the beginning of the step, at t0:   f' = 2 (f - f0) / (t - t0) - f0'   (the parabola through these)
in a run's first step                                  f' = (f - f0) / (t - t0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.scalar import load, one, store, where, zero
from ..compiling import generic
from ..state.state import State
from ..value.checks import flag
from ..value.stage import Stage
from .base import Joined, Measure, NotCompiled, check_measure, fewest
from .memory import OfOperand
from .program import Program
from .routines import by_address, result

#: Time, value, its estimated derivative, and whether that is more than a guess.
Sample = tuple[float, Array, Array, bool]


@generic
def _estimate(model: Any, i: int, rows: Any, out: int) -> None:
    """Time, values, their derivatives. Integers: how many, where the operand is, the place in memory of the same."""
    n, operand, memory = model.measure_code[i], model.measure_code[i + 1], model.measure_code[i + 2]
    time = load(model.time, 0, 0)
    o, unit = zero(time), one(time)
    h = time - load(model.measure_memory, memory + 1, 0)
    moved = h * h > o
    begun = load(model.measure_memory, memory, 0) > o
    known = load(model.measure_memory, memory + 2 + 2 * n, 0) > o
    store(rows, out, 0, time)
    for k in range(n):
        f0, rate0 = load(model.measure_memory, memory + 2 + k, 0), load(model.measure_memory, memory + 2 + n + k, 0)
        now = result(model, operand + k)
        slope = (now - f0) / where(moved, h, unit)
        found = where(moved, where(known, 2.0 * slope - rate0, slope), rate0)
        store(rows, out + 1 + k, 0, now)
        store(rows, out + 1 + n + k, 0, where(begun, found, o))


@generic
def operate(model: Any, i: int, out: int) -> None:
    """The estimate as results."""
    _estimate(model, i, model.measure_values, out)


@generic
def remember(model: Any, i: int, out: int) -> None:
    """The estimate into memory, and whether it is more than a guess: from the first time after a run's start on."""
    memory = model.measure_code[i + 2]
    known, time = memory + 2 + 2 * model.measure_code[i], load(model.time, 0, 0)
    before, begun = load(model.measure_memory, known, 0), load(model.measure_memory, memory, 0)
    store(model.measure_next, memory, 0, begun)
    moved = where(time == load(model.measure_memory, memory + 1, 0), before, one(time))
    store(model.measure_next, known, 0, where(begun > zero(time), moved, zero(time)))
    _estimate(model, i, model.measure_next, memory + 1)


operation, keep = by_address(operate), by_address(remember)


class Differentiate(OfOperand):
    """The time derivative of a measure. Needs the stage of the operand's derivative, or of the operand where it is estimated.

    Parameters
    ----------
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

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.Differentiate(system.matter, angle)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> round(float(part.get_value(state)), 6)
    2.0
    """

    def __init__(self, subsystem: Joined, operand: Measure, *, name: str | None = None) -> None:
        self.operand = check_measure("Differentiate", operand)
        self._force_approximation = False
        super().__init__(subsystem, operand.shape, name=name)

    def set_force_use_approximation(self, must_approximate: bool) -> None:
        """Estimate even where the operand has a derivative: a topological change. For trying out."""
        self._force_approximation = flag("must_approximate", must_approximate)
        self.invalidate_topology()

    def get_force_use_approximation(self) -> bool:
        """True if the derivative is estimated even where the operand has one."""
        return self._force_approximation

    def is_using_approximation(self) -> bool:
        """True if the derivative is estimated."""
        return self._force_approximation or self.operand.get_num_time_derivatives() == 0

    # ------------------------------------------------------------------------------------------ for the base class

    def _calc(self, state: State, deriv_order: int) -> Any:
        if not self.is_using_approximation():
            return self.operand.get_value(state, deriv_order + 1)
        return self._given(self.next_memory(state)[2])

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return 0 if self.is_using_approximation() else fewest((self.operand,), seen) - 1

    def depends_on(self, deriv_order: int) -> Stage:
        return self.operand.depends_on(deriv_order if self.is_using_approximation() else deriv_order + 1)

    def takes_part(self) -> bool:
        return self.is_using_approximation()

    def _first(self, state: State) -> Sample:
        return state.time, np.array(self.operand.get_value(state)), np.zeros(self._shape), False

    def _following(self, state: State, kept: Sample) -> Sample:
        before, f0, rate0, known = kept
        f, h = np.array(self.operand.get_value(state)), state.time - before
        if h == 0.0:
            return before, f, rate0, known
        slope = (f - f0) / h
        return state.time, f, 2.0 * slope - rate0 if known else slope, True

    def memory_size(self) -> int:
        return 3 + 2 * self.default.size

    def _unpacked(self, kept: Array) -> Sample:
        f, rate = kept[1:-1].reshape(2, *self._shape).copy()
        return float(kept[0]), np.asarray(f), np.asarray(rate), bool(kept[-1])

    def write_value(self, program: Program, order: int) -> int:
        if not self.is_using_approximation():
            return program.value_of(self.operand, order + 1)
        if order:
            raise NotCompiled
        n = self.default.size
        return program.call(operation, *self._integers(program), results=2 * n + 1) + 1 + n

    def write_memory(self, program: Program) -> None:
        self._check_needs()
        program.call(keep, *self._integers(program))

    def _integers(self, program: Program) -> tuple[int, ...]:
        return self.default.size, program.value_of(self.operand), program.memory_of(self)
