"""Extreme: the largest or smallest value that a measure has had, and when.

Of each number of a vector by itself. With e0 the extreme at the beginning of the step: m = max(e0, s), and so on;
m' = s' where s is beyond e0 and moves further, else 0.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.scalar import load, store, where, zero
from ..compiling import generic
from ..state.state import State
from ..value.checks import instance
from ..value.stage import Stage
from .base import Joined, Measure, NotCompiled, check_measure, fewest
from .memory import OfOperand
from .program import Program
from .routines import by_address, result


class _Operation(enum.Enum):
    """The value that counts as extreme."""

    MAX_ABS = 0
    MAXIMUM = 1
    MIN_ABS = 2
    MINIMUM = 3


#: The same in kernels.
MAX_ABS, MAXIMUM, MIN_ABS, MINIMUM = range(4)


@generic
def _magnitude(x: Any) -> Any:
    return where(x < zero(x), -x, x)


@generic
def _find(model: Any, i: int, rows: Any, out: int) -> None:
    """The extremes, then their times. Integers: how many, where the operand is, the place in memory, which extreme."""
    n, operand = model.measure_code[i], model.measure_code[i + 1]
    memory, which = model.measure_code[i + 2], model.measure_code[i + 3]
    present = load(model.time, 0, 0)
    begun = load(model.measure_memory, memory, 0) > zero(present)
    for k in range(n):
        value, time = load(model.measure_memory, memory + 1 + k, 0), load(model.measure_memory, memory + 1 + n + k, 0)
        now = result(model, operand + k)
        a, b = now, value
        if which == MAX_ABS or which == MIN_ABS:
            a, b = _magnitude(now), _magnitude(value)
        if which == MIN_ABS or which == MINIMUM:
            a, b = b, a
        store(rows, out + k, 0, where(begun, where(a > b, now, value), now))
        store(rows, out + n + k, 0, where(begun, where(a > b, present, time), present))


@generic
def operate(model: Any, i: int, out: int) -> None:
    """As results."""
    _find(model, i, model.measure_values, out)


@generic
def remember(model: Any, i: int, out: int) -> None:
    """The extremes into memory."""
    memory = model.measure_code[i + 2]
    store(model.measure_next, memory, 0, load(model.measure_memory, memory, 0))
    _find(model, i, model.measure_next, memory + 1)


operation, keep = by_address(operate), by_address(remember)


class Extreme(OfOperand):
    """The extreme value of a measure since a run began, and when it was there. Needs the operand's stage.

    Parameters
    ----------
    operand : Measure
        Of the same system.
    operation : Extreme.Operation
        ``MAX_ABS``, ``MAXIMUM``, ``MIN_ABS`` or ``MINIMUM``; there are classes for each. The value is the operand's with its
        sign, also where the largest or smallest magnitude is looked for.

    Raises
    ------
    TopologyError
        If the operand is of another system.

    See Also
    --------
    Maximum, Minimum : Extreme, of one operation.
    MaxAbs, MinAbs : The same of the absolute value.

    Notes
    -----
    Values at the ends of steps count, and the one now; not those between. A peak between two ends is missed by at most
    m'' h^2 / 8, with steps of size h: limit these by the integrator's ``max_step_size`` where that matters.

    In a state that no run has reached, the extreme is the value now.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.Extreme(system.matter, angle, mb.measure.Extreme.Operation.MAXIMUM)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 0.5, record={"angle": angle, "part": part})
    >>> angle, part = motion.quantities["angle"], motion.quantities["part"]
    >>> bool(abs(part[-1] - angle.max()) < 0.05)
    True
    """

    Operation = _Operation

    def __init__(
        self,
        subsystem: Joined,
        operand: Measure,
        operation: _Operation = _Operation.MAX_ABS,
        *,
        name: str | None = None,
    ) -> None:
        self.operand = check_measure(type(self).__name__, operand)
        self.operation = _operation(operation)
        super().__init__(subsystem, operand.shape, name=name)

    def get_operation(self) -> _Operation:
        """The value that counts as extreme."""
        return self.operation

    def set_operation(self, operation: _Operation) -> None:
        """Change which value counts as extreme: a topological change."""
        self.operation = _operation(operation)
        self.invalidate_topology()

    def get_time_of_extreme_value(self, state: State) -> Any:
        """The time at which the extreme was first there: this state's time where it is there now.

        Parameters
        ----------
        state : State
            Realized to the operand's stage.

        Returns
        -------
        float or (n,) array
            Of each number of a vector its own time.

        Raises
        ------
        StageError
            If the state is below that stage.
        """
        self.check_owner(state, "get_time_of_extreme_value")
        needed = self.depends_on(0)
        if state.stage_number < needed:
            self.refuse(state, "get_time_of_extreme_value", needed)
        return self._given(self.next_memory(state)[1])

    def set_value(self, state: State, value: npt.ArrayLike) -> None:
        """Set the extreme so far, at this state's time; the state falls to VELOCITY at most.

        Raises
        ------
        StageError
            If the state is below MODEL.
        ValueError
            If the value has not the measure's size.
        """
        self._need_model(state, "set_value")
        self._set_memory(state, (self._valued(value, "the value"), np.full(self._shape, state.time)))

    # ------------------------------------------------------------------------------------------ for the base class

    def takes_part(self) -> bool:
        return True

    def _first(self, state: State) -> tuple[Array, Array]:
        return np.array(self.operand.get_value(state)), np.full(self._shape, state.time)

    def _following(self, state: State, kept: tuple[Array, Array]) -> tuple[Array, Array]:
        value, time = kept
        now = np.asarray(self.operand.get_value(state))
        new = self._is_beyond(now, value)
        return np.where(new, now, value), np.where(new, state.time, time)

    def memory_size(self) -> int:
        return 1 + 2 * self.default.size

    def _unpacked(self, kept: Array) -> tuple[Array, Array]:
        value, time = kept.reshape(2, *self._shape).copy()
        return np.asarray(value), np.asarray(time)

    def _is_beyond(self, now: Array, value: Array) -> Any:
        """True if a value is more extreme than another."""
        if self.operation in (_Operation.MAX_ABS, _Operation.MIN_ABS):
            now, value = np.abs(now), np.abs(value)
        if self.operation in (_Operation.MAX_ABS, _Operation.MAXIMUM):
            return now > value
        return now < value

    def _calc(self, state: State, deriv_order: int) -> Any:
        if deriv_order == 0:
            return self._given(self.next_memory(state)[0])
        now, rate = np.asarray(self.operand.get_value(state)), np.asarray(self.operand.get_value(state, 1))
        kept = self.memory(state)
        new = np.full(self._shape, True) if kept is None else self._is_beyond(now, kept[0])
        if self.operation in (_Operation.MAX_ABS, _Operation.MIN_ABS):
            rate = rate * np.sign(now)
        outward = rate > 0.0 if self.operation in (_Operation.MAX_ABS, _Operation.MAXIMUM) else rate < 0.0
        return self._given(np.where(new & outward, self.operand.get_value(state, deriv_order), 0.0))

    def write_value(self, program: Program, order: int) -> int:
        if order:
            raise NotCompiled
        return program.call(operation, *self._integers(program), results=2 * self.default.size)

    def write_memory(self, program: Program) -> None:
        self._check_needs()
        program.call(keep, *self._integers(program))

    def _integers(self, program: Program) -> tuple[int, ...]:
        return self.default.size, program.value_of(self.operand), program.memory_of(self), self.operation.value

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return fewest((self.operand,), seen)

    def depends_on(self, deriv_order: int) -> Stage:
        if deriv_order == 0:
            return self.operand.depends_on(0)
        return max(self.operand.depends_on(order) for order in (0, 1, deriv_order))


class Maximum(Extreme):
    """The largest value that a measure has had. Otherwise as `Extreme`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.Maximum(system.matter, angle)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 0.5, record={"angle": angle, "part": part})
    >>> angle, part = motion.quantities["angle"], motion.quantities["part"]
    >>> bool(abs(part[-1] - angle.max()) < 0.05)
    True
    """

    def __init__(self, subsystem: Joined, operand: Measure, *, name: str | None = None) -> None:
        super().__init__(subsystem, operand, _Operation.MAXIMUM, name=name)


class Minimum(Extreme):
    """The smallest value that a measure has had. Otherwise as `Extreme`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.Minimum(system.matter, angle)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 0.5, record={"angle": angle, "part": part})
    >>> angle, part = motion.quantities["angle"], motion.quantities["part"]
    >>> bool(part[-1] <= angle.min())
    True
    """

    def __init__(self, subsystem: Joined, operand: Measure, *, name: str | None = None) -> None:
        super().__init__(subsystem, operand, _Operation.MINIMUM, name=name)


class MaxAbs(Extreme):
    """The value of largest magnitude that a measure has had, with its sign. Otherwise as `Extreme`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.MaxAbs(system.matter, angle)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 0.5, record={"angle": angle, "part": part})
    >>> angle, part = motion.quantities["angle"], motion.quantities["part"]
    >>> bool(abs(abs(part[-1]) - abs(angle).max()) < 0.05)
    True
    """

    def __init__(self, subsystem: Joined, operand: Measure, *, name: str | None = None) -> None:
        super().__init__(subsystem, operand, _Operation.MAX_ABS, name=name)


class MinAbs(Extreme):
    """The value of smallest magnitude that a measure has had, with its sign. Otherwise as `Extreme`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.MinAbs(system.matter, angle)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 0.5, record={"angle": angle, "part": part})
    >>> angle, part = motion.quantities["angle"], motion.quantities["part"]
    >>> bool(abs(part[-1]) <= abs(angle).min())
    True
    """

    def __init__(self, subsystem: Joined, operand: Measure, *, name: str | None = None) -> None:
        super().__init__(subsystem, operand, _Operation.MIN_ABS, name=name)


def _operation(value: Any) -> _Operation:
    instance("the operation of an Extreme", value, _Operation, "Extreme.Operation.MAXIMUM")
    return value
