"""Integrate: the integral of a measure with respect to time.

m' = d   m(t0) = c, with one z a number
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.scalar import load, store, where, zero
from ..compiling import generic
from ..errors import ModelError
from ..function.base import UNLIMITED
from ..state.state import State
from ..value.stage import Stage
from . import _store
from .base import Joined, Measure, NotCompiled, Shape, check_measure, check_shape, fewest, same_shape, walk
from .program import Program
from .routines import by_address, result


@generic
def value(model: Any, i: int, out: int) -> None:
    """Integers: how many numbers, and the place of the first z."""
    n, z = model.measure_code[i], model.measure_code[i + 1]
    for k in range(n):
        store(model.measure_values, out + k, 0, load(model.z, z + k, 0))


@generic
def begin(model: Any, i: int, out: int) -> None:
    """Begin a run: z become the initial condition. Integers: how many, where that is, the first z, the memory."""
    n, initial, z, memory = (
        model.measure_code[i],
        model.measure_code[i + 1],
        model.measure_code[i + 2],
        model.measure_code[i + 3],
    )
    begun = load(model.measure_memory, memory, 0)
    store(model.measure_next, memory, 0, begun)
    for k in range(n):
        store(model.z, z + k, 0, where(begun > zero(begun), load(model.z, z + k, 0), result(model, initial + k)))


operation, begin_operation = by_address(value), by_address(begin)


class Integrate(Measure):
    """The integral of a measure over time, found by the integrator along with the motion, to the same accuracy. Needs MODEL.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins; the z are among this subsystem's.
    derivative : Measure, optional
        What is integrated; zero where there is none yet.
    initial_condition : Measure, optional
        Its value at the start of a run is the integral's; `get_default_value` unless given.
    default_value : float or (n,) array_like, optional
        What z are in new states: zero unless given. It gives the size where neither measure does.
    name : str, optional
        For messages; its kind and its index unless given.

    Raises
    ------
    ValueError
        If the sizes differ.
    TopologyError
        If a measure is of another system.

    Notes
    -----
    A run begins at the first `TimeStepper.initialize` of a state: z take the value of *initial_condition* then. Stepping on
    from a copy of a state that has been stepped goes on with what it has, and so does a state after `set_value`; `initialize`
    begins anew.

    The value is z, whatever has changed since. Its derivatives are those of *derivative*, from 1 on. Rates are
    there at DYNAMICS, or where *derivative* needs ACCELERATION only then. *derivative* may depend on the integral, as below.

    Examples
    --------
    A first-order lag, m' = (input - m) / 0.5, of a step of height 1:

    >>> import math
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> lag = mb.measure.Integrate(system.matter)
    >>> lag.set_derivative_measure((1.0 - lag) / 0.5)
    >>> stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    >>> stepper.initialize(system.realize_topology())
    >>> status = stepper.step_to(0.5)
    >>> abs(lag.get_value(stepper.state) - (1.0 - math.exp(-1.0))) < 1e-7
    True
    """

    def __init__(
        self,
        subsystem: Joined,
        derivative: Measure | None = None,
        initial_condition: Measure | None = None,
        *,
        default_value: npt.ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        shape = _shape_of(derivative, initial_condition, default_value)
        self.derivative, self._initial = derivative, initial_condition
        self._z = self._begun = -1
        super().__init__(subsystem, shape, default=0.0 if default_value is None else default_value, name=name)

    def get_derivative_measure(self) -> Measure:
        """The integrand; `ModelError` where there is none."""
        if self.derivative is None:
            raise ModelError(f"{self!r} has no derivative measure; call set_derivative_measure(measure)")
        return self.derivative

    def set_derivative_measure(self, derivative: Measure) -> None:
        """Integrate another measure, of the same size: a topological change."""
        self.derivative = self._replaced("the derivative", derivative)
        self.invalidate_topology()

    def get_initial_condition_measure(self) -> Measure:
        """The measure of the initial condition; `ModelError` where there is none."""
        if self._initial is None:
            raise ModelError(f"{self!r} has no initial condition measure; call set_initial_condition_measure(measure)")
        return self._initial

    def begins_with_a_measure(self, state: State) -> bool:
        """True if a run from this state lets the integral begin with the initial condition measure's value there."""
        return self._initial is not None and not self.has_begun(state)

    def set_initial_condition_measure(self, initial_condition: Measure) -> None:
        """Start from another measure, of the same size: a topological change."""
        self._initial = self._replaced("the initial condition", initial_condition)
        self.invalidate_topology()

    def set_value(self, state: State, value: npt.ArrayLike) -> None:
        """Set the integral in this state, which falls to VELOCITY at most; a run that starts here starts from it.

        Raises
        ------
        StageError
            If the state is below MODEL.
        ValueError
            If the value has not the measure's size.
        """
        self._need_model(state, "set_value")
        array = self._valued(value, "the value")
        self._need_subsystem().upd_z(state)[self._z : self._z + array.size] = array
        self._mark_begun(state)

    def initialize(self, state: State) -> None:
        """Begin anew: the integral becomes the initial condition at this state, which is realized as far as that needs."""
        self._need_model(state, "initialize")
        value = self.default
        if self._initial is not None:
            self._need_subsystem().get_system().realize(state, max(self._initial.depends_on(0), Stage.MODEL))
            value = self._valued(self._initial.get_value(state), "the initial condition")
        self.set_value(state, value)

    # ------------------------------------------------------------------------------------------ for the base class

    def _sources(self) -> tuple[Measure, ...]:
        return tuple(one for one in (self.derivative, self._initial) if one is not None)

    def _calc(self, state: State, deriv_order: int) -> Any:
        if deriv_order == 0:
            z = self._need_subsystem().get_z(state)
            return float(z[self._z]) if self._shape == () else z[self._z : self._z + self._shape[0]].copy()
        if self.derivative is None:
            return self._given(np.zeros(self._shape))
        return self.derivative.get_value(state, deriv_order - 1)

    def count_derivatives(self, seen: frozenset[int]) -> int:
        if self.derivative is None:
            return UNLIMITED
        return min(fewest((self.derivative,), seen | {id(self)}), UNLIMITED - 1) + 1

    def depends_on(self, deriv_order: int) -> Stage:
        if deriv_order == 0:
            return Stage.MODEL
        return Stage.EMPTY if self.derivative is None else self.derivative.depends_on(deriv_order - 1)

    def takes_part(self) -> bool:
        return True

    def num_z(self) -> int:
        return self.default.size

    def write_value(self, program: Program, order: int) -> int:
        n, derivative = self.default.size, self.derivative
        if not order:
            return program.call(operation, n, program.z_of(self), results=n)
        return program.constant(0.0, n) if derivative is None else program.value_of(derivative, order - 1)

    def memory_size(self) -> int:
        return 0 if self._initial is None else 1  # whether a run has begun

    def write_memory(self, program: Program) -> None:
        assert self._initial is not None
        if self._initial.depends_on(0) > Stage.ACCELERATION:
            raise NotCompiled
        initial, z = program.value_of(self._initial), program.z_of(self)
        program.call(begin_operation, self.default.size, initial, z, program.memory_of(self))

    def write_step(self, program: Program) -> None:
        n, derivative = self.default.size, self.derivative
        needed = Stage.DYNAMICS if derivative is None else max(Stage.DYNAMICS, derivative.depends_on(0))
        if needed > Stage.ACCELERATION:
            raise NotCompiled
        if needed is program.limit:  # else it belongs to the other run
            source = program.constant(0.0, n) if derivative is None else program.value_of(derivative)
            program.integrate(self, source)

    def reads(self, kind: type[Measure]) -> bool:
        """True if a measure of a kind that takes part in steps is among those that its rate is computed from."""
        derivative = self.derivative
        found = () if derivative is None else (derivative, *walk(derivative))
        return any(isinstance(one, kind) and one.takes_part() for one in found)

    def allocate(self, state: State) -> None:
        subsystem = self._need_subsystem()
        if subsystem.get_system().compiles_measures:
            self._z = _store.allocate_z(subsystem, state, self.default.ravel())
        else:
            self._z = subsystem.allocate_z(state, self.default.ravel())
        self._begun = _store.allocate_variable(subsystem, state, Stage.REPORT, False)

    def has_begun(self, state: State) -> bool:
        if self.memory_run is not None:
            return bool(state.record.measure_memory[self.memory_run, 0][0])
        return bool(_store.part(self._need_subsystem(), state).variables[self._begun].value)

    def begin(self, state: State) -> None:
        if self._initial is None:  # z are what they were allocated with, or what somebody has set
            self._mark_begun(state)
        else:
            self.initialize(state)

    def _mark_begun(self, state: State) -> None:
        if self.memory_run is not None:
            state.record.measure_memory[self.memory_run] = state.record.measure_next[self.memory_run] = 1.0
        _store.part(self._need_subsystem(), state).variables[self._begun].value = True

    def update(self, state: State, stage: Stage) -> None:
        derivative = self.derivative
        if stage == max(Stage.DYNAMICS, Stage.MODEL if derivative is None else derivative.depends_on(0)):
            rate = 0.0 if derivative is None else derivative.get_value(state)
            self._need_subsystem().upd_z_dot(state)[self._z : self._z + self.default.size] = rate


def _shape_of(derivative: Measure | None, initial: Measure | None, default: Any) -> Shape:
    """The one size of what is given."""
    given = [check_measure("Integrate", one) for one in (derivative, initial) if one is not None]
    if len(given) == 2:
        same_shape("Integrate", *given)
    if not given:
        return check_shape(np.shape(0.0 if default is None else default), "an Integrate")
    return given[0].shape
