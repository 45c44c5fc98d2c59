"""SampleAndHold: what a measure was when it was last sampled.

m(t) = s(t_k) from the sample at t_k to the next
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..stage import Stage
from .base import Array, Measure, check_measure
from .delay import _duration
from .memory import Memory

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem

#: Times that are closer to a multiple of the period, as a part of it, are at it.
_ROUNDING = 1e-9


class SampleAndHold(Memory):
    """The value that a measure had when it was last sampled: a digital controller's input. Needs TIME.

    It is sampled where a run starts, where `sample` is called, as event handlers may, and with a period also by itself.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
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
    """

    _invalidates: ClassVar[Stage] = Stage.POSITION

    def __init__(
        self, subsystem: Subsystem | None, source: Measure, period: float | None = None, *, name: str | None = None
    ) -> None:
        self._source: Measure = check_measure("SampleAndHold", source)
        self._period = None if period is None else _duration("the period of a SampleAndHold", period)
        super().__init__(subsystem, source._shape, name=name)

    def get_source(self) -> Measure:
        """What is sampled."""
        return self._source

    def set_source(self, source: Measure) -> None:
        """Sample another measure of the same size: a topological change."""
        kept, self._source = self._source, self._replaced("the source", source)
        self._accept(lambda: setattr(self, "_source", kept))

    def get_period(self) -> float | None:
        """The time between samples that it takes by itself; None where it takes none."""
        return self._period

    def set_period(self, period: float | None) -> None:
        """Change the period, or, with None, sample no more by itself: a topological change."""
        self._period = None if period is None else _duration(f"the period of {self!r}", period)
        self._invalidate_topology()

    def sample(self, state: State) -> None:
        """Sample the source now; the state falls to TIME at most.

        Raises
        ------
        StageError
            If the state is below the source's stage.
        """
        self._check_owner(state, "sample")
        if state._stage < self._needs():
            self._refuse(state, "sample", self._needs())
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
        """When the value was sampled; NaN before a run has begun. Needs MODEL."""
        self._need_model(state, "get_time_of_last_sample")
        kept = self._memory(state)
        return float("nan") if kept is None else float(kept[1])

    # ------------------------------------------------------------------------------------------ for the base class

    def _looks_at(self) -> Measure:
        return self._source

    def _takes_part(self) -> bool:
        return True

    def _first(self, state: State) -> tuple[Array, float]:
        return np.array(self._source.get_value(state)), state.time

    def _following(self, state: State, kept: tuple[Array, float]) -> tuple[Array, float]:
        if self._period is None:
            return kept
        before, now = (np.floor(time / self._period + _ROUNDING) for time in (kept[1], state.time))
        return self._first(state) if now > before else kept

    def _memory_size(self) -> int:
        return 2 + self._default.size

    def _unpacked(self, kept: Array) -> tuple[Array, float]:
        return kept[:-1].reshape(self._shape).copy(), float(kept[-1])

    def _calc(self, state: State, deriv_order: int) -> Any:
        kept = self._memory(state)
        return self._now_or_default(state) if kept is None else self._given(kept[0])

    def _depends_on(self, deriv_order: int) -> Stage:
        return Stage.TIME
