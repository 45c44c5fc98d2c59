"""Delay: what a measure was some time ago.

m(t) = s(t - d), and before the start of a run what s was there
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..value import checks
from ..value.stage import Stage
from ._history import History
from .base import Measure, check_measure
from .memory import Memory

if TYPE_CHECKING:
    from ..state.state import State
    from ..state.subsystem import Subsystem


class Delay(Memory):
    """What a measure was a given time ago: a dead time, a belt, a signal that takes its way. Needs TIME.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    source : Measure
        Of the same system. It may depend on the delayed value: make the delay first, and set its source.
    delay : float
        How long ago; time.
    name : str, optional
        For messages; its kind and its index unless given.

    Raises
    ------
    ModelError
        If the delay is not positive and finite.
    TopologyError
        If the source is of another system.

    Notes
    -----
    The source is sampled at the end of each step, and interpolated between: by the cubic of values and derivatives where the
    source has a derivative, else by that through neighbouring samples. Until as much time has passed as the delay, the value is
    that of the run's start. Samples are kept as long as they are needed.

    Where a step is longer than the delay, the time asked for lies in the step that is being taken, whose end is not known yet:
    the value is extrapolated, which is less accurate. Keep steps below the delay (``max_step_size``), or, where the source
    does not depend on the delayed value, call `set_can_use_current_value`.

    In a state that no run has reached, the value is what the source is now, or `get_default_value` where the source needs a
    stage that has not been reached.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> angle = mb.measure.Coordinate(system.matter, arm)
    >>> part = mb.measure.Delay(system.matter, angle, 0.1)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 0.5, record={"angle": angle, "part": part})
    >>> angle, part = motion.quantities["angle"], motion.quantities["part"]
    >>> bool(abs(part[-1] - angle[motion.time <= 0.4001][-1]) < 1e-3)
    True
    """

    def __init__(self, subsystem: Subsystem | None, source: Measure, delay: float, *, name: str | None = None) -> None:
        self.source: Measure = check_measure("Delay", source)
        self._delay = checks.positive("the delay of a Delay", delay)
        self._linear = self._can_use_current = False
        super().__init__(subsystem, source.shape, name=name)

    def get_source_measure(self) -> Measure:
        """What is delayed."""
        return self.source

    def set_source_measure(self, source: Measure) -> None:
        """Delay another measure of the same size: a topological change."""
        kept, self.source = self.source, self._replaced("the source", source)
        self._accept(lambda: setattr(self, "source", kept))

    def get_delay(self) -> float:
        """How long ago; time."""
        return self._delay

    def set_delay(self, delay: float) -> None:
        """Change the delay: a topological change; `ModelError` unless positive and finite."""
        self._delay = checks.positive(f"the delay of {self!r}", delay)
        self.invalidate_topology()

    def get_use_linear_interpolation_only(self) -> bool:
        """Whether samples are joined by straight lines."""
        return self._linear

    def set_use_linear_interpolation_only(self, linear_only: bool) -> None:
        """Whether to join samples by straight lines, for sources that are not smooth: a topological change."""
        self._linear = checks.flag("linear_only", linear_only)
        self.invalidate_topology()

    def get_can_use_current_value(self) -> bool:
        """Whether the present value of the source may be used."""
        return self._can_use_current

    def set_can_use_current_value(self, can_use_current_value: bool) -> None:
        """Whether the present value of the source may be used, so that nothing is extrapolated: a topological change.

        The value then needs the stage of the source, and of its derivative where that is used.

        Raises
        ------
        ValueError
            If the source depends on the delayed value.
        """
        kept, self._can_use_current = self._can_use_current, checks.flag("can_use_current_value", can_use_current_value)
        self._accept(lambda: setattr(self, "_can_use_current", kept))

    # ------------------------------------------------------------------------------------------ for the base class

    def operands(self) -> tuple[Measure, ...]:
        return (self.source,) if self._can_use_current else ()

    def looks_at(self) -> Measure:
        return self.source

    def _uses_rates(self) -> bool:
        source = self.source
        return not self._linear and source.get_num_time_derivatives() > 0 and source.depends_on(1) <= Stage.ACCELERATION

    def needs(self) -> Stage:
        value = self.source.depends_on(0)
        return max(value, self.source.depends_on(1)) if self._uses_rates() else value

    def takes_part(self) -> bool:
        return True

    def _sample(self, state: State) -> tuple[Any, Any]:
        rate = np.array(self.source.get_value(state, 1)) if self._uses_rates() else None
        return np.array(self.source.get_value(state)), rate

    def _first(self, state: State) -> History:
        value, rate = self._sample(state)
        return History(np.array([state.time]), value[None], None if rate is None else rate[None])

    def _following(self, state: State, kept: History) -> History:
        return kept.followed_by(state.time, *self._sample(state), earliest=state.time - self._delay)

    def _calc(self, state: State, deriv_order: int) -> Any:
        history = self.memory(state)
        if history is None:
            return self._now_or_default(state)
        if self._can_use_current:
            history = self.next_memory(state)
        return self._given(history.at(state.time - self._delay, self._linear))

    def depends_on(self, deriv_order: int) -> Stage:
        return max(self.needs(), Stage.TIME) if self._can_use_current else Stage.TIME
