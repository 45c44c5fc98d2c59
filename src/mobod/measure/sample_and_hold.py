"""SampleAndHold: what a measure was when it was last sampled.

m(t) = s(t_k) from the sample at t_k to the next
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.scalar import load, load_lane, num_lanes, store, store_lane, where, zero
from ..compiling import generic
from ..state.state import State
from ..value.checks import positive
from ..value.stage import Stage
from .base import Joined, Measure, NotCompiled, check_measure
from .memory import Memory
from .program import Program
from .routines import by_address, result

#: Times that are closer to a multiple of the period, as a part of it, are at it.
_ROUNDING = 1e-9


@generic
def hold(model: Any, i: int, out: int) -> None:
    """Integers: how many numbers, where what holds before a run has begun is, the place in memory."""
    n, before, memory = model.measure_code[i], model.measure_code[i + 1], model.measure_code[i + 2]
    kept = load(model.measure_memory, memory, 0)
    for k in range(n):
        held = load(model.measure_memory, memory + 1 + k, 0)
        store(model.measure_values, out + k, 0, where(kept > zero(kept), held, result(model, before + k)))


@generic
def sample(model: Any, i: int, out: int) -> None:
    """State by state. Integers: how many, where the source is, the place in memory, that of the period.

    Where nothing is remembered yet, the source is what is to be.
    """
    n, source, memory = model.measure_code[i], model.measure_code[i + 1], model.measure_code[i + 2]
    rows, following = model.measure_memory, model.measure_next
    for lane in range(num_lanes(load(model.time, 0, 0))):
        time, begun = load_lane(model.time, 0, 0, lane), load_lane(rows, memory, 0, lane)
        before, period = (
            load_lane(rows, memory + 1 + n, 0, lane),
            load_lane(model.measure_numbers, model.measure_code[i + 3], 0, lane),
        )
        taken = not begun > 0.0
        if not taken and period > 0.0:  # the period is zero where there is none
            taken = (time / period + _ROUNDING) // 1.0 > (before / period + _ROUNDING) // 1.0
        store_lane(following, memory, 0, lane, begun)
        for k in range(n):
            value = load_lane(rows, memory + 1 + k, 0, lane)
            if taken:
                value = load_lane(model.measure_values, source + k, 0, lane)
            store_lane(following, memory + 1 + k, 0, lane, value)
        if taken:
            before = time
        store_lane(following, memory + 1 + n, 0, lane, before)


operation, keep = by_address(hold), by_address(sample)


class SampleAndHold(Memory):
    """The value that a measure had when it was last sampled: a digital controller's input. Needs TIME.

    It is sampled where a run starts, where `sample` is called, as event handlers may, and with a period also by itself.

    Parameters
    ----------
    source : Measure
        Of the same system.
    period : float, optional
        Sample by itself at the end of the first step at or after each multiple of this time.

    Raises
    ------
    ModelError
        If the period is not positive and finite.
    TopologyError
        If the source is of another system.

    Notes
    -----
    A sample of the period's holds from the next step on. It is taken at the multiples themselves where steps end there: with a
    ``fixed_step_size`` of which the period is a multiple, or with an event at each of these times. Otherwise it comes late by
    up to a step; ``max_step_size`` limits that.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.SampleAndHold(system.matter, angle, 0.1)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 0.5, record={"angle": angle, "part": part})
    >>> angle, part = motion.quantities["angle"], motion.quantities["part"]
    >>> len(set(part.round(9)))  # five periods, and the last one's beginning
    5
    """

    _invalidates: ClassVar[Stage] = Stage.POSITION

    def __init__(self, subsystem: Joined, source: Measure, period: float | None = None, *, name: str | None = None) -> None:
        self.source: Measure = check_measure("SampleAndHold", source)
        self.period = None if period is None else positive("the period of a SampleAndHold", period)
        super().__init__(subsystem, source.shape, name=name)

    def get_source(self) -> Measure:
        """The sampled measure."""
        return self.source

    def set_source(self, source: Measure) -> None:
        """Sample another measure of the same size: a topological change."""
        kept, self.source = self.source, self._replaced("the source", source)
        self._accept(lambda: setattr(self, "source", kept))

    def get_period(self) -> float | None:
        """The time between samples that it takes by itself; None where it takes none."""
        return self.period

    def set_period(self, period: float | None) -> None:
        """Change the period, or, with None, sample no more by itself: a topological change."""
        self.period = None if period is None else positive(f"the period of {self!r}", period)
        self.invalidate_topology()

    def sample(self, state: State) -> None:
        """Sample the source now; the state falls to TIME at most.

        Raises
        ------
        StageError
            If the state is below the source's stage.
        """
        self.check_owner(state, "sample")
        if state.stage_number < self.needs():
            self.refuse(state, "sample", self.needs())
        self._set_memory(state, self._first(state))

    def set_value(self, state: State, value: npt.ArrayLike) -> None:
        """Hold *value*, as though sampled at this state's time; the state falls to TIME at most.

        Raises
        ------
        StageError
            If the state is below MODEL.
        ValueError
            If the value has not the measure's size.
        """
        self._need_model(state, "set_value")
        self._set_memory(state, (self._valued(value, "the value"), state.time))

    def get_time_of_last_sample(self, state: State) -> float:
        """The time at which the value was sampled; NaN before a run has begun. Needs MODEL."""
        self._need_model(state, "get_time_of_last_sample")
        kept = self.memory(state)
        return float("nan") if kept is None else float(kept[1])

    # ------------------------------------------------------------------------------------------ for the base class

    def looks_at(self) -> Measure:
        return self.source

    def takes_part(self) -> bool:
        return True

    def _first(self, state: State) -> tuple[Array, float]:
        return np.array(self.source.get_value(state)), state.time

    def _following(self, state: State, kept: tuple[Array, float]) -> tuple[Array, float]:
        if self.period is None:
            return kept
        before, now = (np.floor(time / self.period + _ROUNDING) for time in (kept[1], state.time))
        return self._first(state) if now > before else kept

    def memory_size(self) -> int:
        return 2 + self.default.size

    def _unpacked(self, kept: Array) -> tuple[Array, float]:
        return kept[:-1].reshape(self._shape).copy(), float(kept[-1])

    def _calc(self, state: State, deriv_order: int) -> Any:
        kept = self.memory(state)
        return self._now_or_default(state) if kept is None else self._given(kept[0])

    def depends_on(self, deriv_order: int) -> Stage:
        return Stage.TIME

    def write_value(self, program: Program, order: int) -> int:
        if order:
            raise NotCompiled
        n, known = self.default.size, self.source.depends_on(0) <= program.limit
        before = program.value_of(self.source) if known else program.constant(self.default, n)
        return program.call(operation, n, before, program.memory_of(self), results=n)

    def write_memory(self, program: Program) -> None:
        self._check_needs()
        source, period = program.value_of(self.source), program.keep(self.period or 0.0)
        program.call(keep, self.default.size, source, program.memory_of(self), period)
