"""Watch: looks for changes of sign of witnesses in the steps that an integrator takes, and localizes them.

After a step the signs at its ends are compared. Where they are equal but the slopes point at each other (the witness goes over
to the other side, and back), the extremum in between is looked for: the two tangents bound it where the witness is concave, so
that most steps need no more than that. Changes of sign are then narrowed down on the dense output, by the secant with
Illinois' weights, kept a tenth of a window away from the ends so that the bracket closes from both sides; a bisection now and
then bounds the number of evaluations. Source: Dowell and Jarratt 1971 (Illinois); Shampine, Gladwell and Brankin 1991 (events).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError
from ..stage import Stage
from .trigger_info import TriggerInfo
from .triggered import Triggered
from .when import When

if TYPE_CHECKING:
    from ..state import State

#: What the integrator's kernels know of: `mobod.integrator._watched` and `_runge_kutta`, which this package lies below.
NUM_INTEGERS, NUM_NUMBERS, PAUSED = 5, 8, 1
#: Where slopes are found by differences: part of the interval.
_DIFFERENCE = 1e-4


@dataclass(eq=False)
class Watched:
    """One witness, and what it belongs to: a handler, a reporter, or a subsystem with the number of its event."""

    owner: Any
    event_id: int
    stage: Stage
    value: Callable[[Any], float]
    rate: Callable[[Any], float] | None
    info: TriggerInfo

    @property
    def name(self) -> str:
        """For messages."""
        return str(getattr(self.owner, "name", None) or self.owner.get_name())


@dataclass
class Found:
    """Events in a window of time."""

    low: float
    high: float
    which: list[Watched]


class Watch:
    """Watches the witnesses of a system in one continuous interval after the other.

    Parameters
    ----------
    integrator : Integrator
        It leaves its state within the last step where it is told to, and it takes the steps.
    watched : list of Watched
        At least one.
    time_scale : float
        The system's.
    """

    def __init__(self, integrator: Any, watched: list[Watched], time_scale: float) -> None:
        self._integrator, self._watched = integrator, watched
        accuracy = integrator.get_accuracy_in_use()
        self.windows = [one.info.calc_window(accuracy, time_scale) for one in watched]
        self._stage = max(one.stage for one in watched)
        self._rates = [one.rate for one in watched]
        self._has_differences = any(rate is None for rate in self._rates)
        #: Up to this time all has been looked at.
        self.time = -np.inf
        self._values: list[float] = []
        self._slopes: list[float] | None = None
        self._end: tuple[float, list[float], list[float]] | None = None
        #: For the compiled look at simple witnesses, where all are: see `mobod.integrator._watched`.
        self._packed: tuple[Any, Any, Any] | None = None

    def pack(self) -> None:
        """Let the integrator's kernel look at the witnesses, where all of them are of kinds that it knows."""
        state = self._integrator.get_state()
        packed = [
            one.owner._witness._packed(state) if is_simple(one.owner) else None for one in self._watched
        ]  # fmt: skip
        if any(one is None for one in packed):
            return
        integers = np.zeros((len(packed), NUM_INTEGERS), np.int64)
        numbers = np.zeros((len(packed), NUM_NUMBERS))
        for row, (one, found) in enumerate(zip(self._watched, packed, strict=True)):
            assert found is not None
            integers[row, : len(found[0])], numbers[row, : len(found[1])] = found
            integers[row, -2:] = one.info._rising, one.info._falling
        self._packed = integers, numbers, np.zeros((4, len(packed)))

    # ------------------------------------------------------------------------------------------ looking

    def begin(self) -> None:
        """A continuous interval begins at the state as it is realized."""
        state = self._integrator.get_state()
        self.time, self._values, self._slopes, self._end = state.time, self._look(state), self._rates_at(state), None

    def resume(self) -> None:
        """Events at the state as it is have changed nothing: the rest of the step is still to be looked at."""
        state = self._integrator.get_state()
        self.time, self._values, self._slopes = state.time, self._look(state), self._rates_at(state)

    def _rates_at(self, state: State) -> list[float] | None:
        """The slopes at the state as it is realized, where all witnesses tell theirs."""
        return None if self._has_differences else [rate(state) for rate in self._rates if rate is not None]

    def take_steps(self, stop: float, limit: int, wanted: float) -> int:
        """Let the integrator take a step, or several where it is certain that nothing happens; its status."""
        if self._packed is None or self._slopes is None:
            status: int = self._integrator._step_once(stop)
            if status == PAUSED:
                self._keep_end()
            return status
        integers, numbers, seen = self._packed
        seen[1], seen[3] = self._values, self._slopes
        taken = self._integrator.get_num_steps_taken()
        status = self._integrator._step_watching(stop, limit, integers, numbers, seen, wanted)
        if self._integrator.get_num_steps_taken() > taken:
            self.time = self._integrator._previous_time()
            self._values, self._slopes = seen[0].tolist(), seen[2].tolist()
            self._end = self._integrator.get_advanced_time(), seen[1].tolist(), seen[3].tolist()
            if not np.isfinite(seen).all():
                self._look(self._integrator.get_state())
        return status

    def _keep_end(self) -> None:
        """The integrator has taken a step, at whose end the state is realized."""
        state, end = self._integrator.get_state(), self._integrator.get_advanced_time()
        values = self._look(state)
        slopes = [0.0 if rate is None else rate(state) for rate in self._rates]
        if self._has_differences:
            self._differences(end, values, slopes, -_DIFFERENCE * (end - self.time))
        self._end = end, values, slopes

    def _look(self, state: State) -> list[float]:
        """All witnesses at the state as it is realized."""
        values = [one.value(state) for one in self._watched]
        for one, value in zip(self._watched, values, strict=True):
            if not -np.inf < value < np.inf:
                raise ModelError(f"the witness of {one.name!r} is {value} at time {state.time:.9g}; it has to be finite")
        return values

    def _look_at(self, time: float) -> list[float]:
        """All witnesses at a time within the last step."""
        self._integrator._leave_at(time, self._stage)
        return self._look(self._integrator.get_state())

    def _differences(self, time: float, values: list[float], slopes: list[float], h: float) -> None:
        """The slopes of witnesses that do not tell theirs, from values at *time* and *h* away."""
        if time + h != time:
            near = self._look_at(time + h)
            for i, rate in enumerate(self._rates):
                if rate is None:
                    slopes[i] = (near[i] - values[i]) / h

    def _look_with_slopes(self, time: float, h: float) -> tuple[list[float], list[float]]:
        """All witnesses and slopes at a time within the last step."""
        self._integrator._leave_at(time)
        state = self._integrator.get_state()
        values = self._look(state)
        slopes = [0.0 if rate is None else rate(state) for rate in self._rates]
        if self._has_differences:
            self._differences(time, values, slopes, h)
        return values, slopes

    # ------------------------------------------------------------------------------------------ searching

    def search(self) -> Found | None:
        """The first events after `time` and up to the end of the last step; where there are none `time` is that end.

        The state is anywhere in the step afterwards.
        """
        while self._end is not None and self.time < self._end[0]:
            b, values_b, slopes_b = self._end
            over = self._excursion(b, values_b, slopes_b)
            if over is not None:
                b, values_b = over
            crossing = [
                i for i, one in enumerate(self._watched) if is_crossing(self._values[i], values_b[i], one.info)
            ]  # fmt: skip
            if crossing:
                return self._localize(self.time, list(self._values), b, values_b, crossing)
            self.time, self._values = b, values_b
            self._slopes = slopes_b if over is None else None
        return None

    def _excursion(self, b: float, values_b: list[float], slopes_b: list[float]) -> tuple[float, list[float]] | None:
        """The first time found, with the values there, at which a witness is on the other side than at both ends."""
        first: tuple[float, list[float]] | None = None
        for i, one in enumerate(self._watched):
            ga, gb, rb = self._values[i], values_b[i], slopes_b[i]
            # towards zero from the end backwards, and the same sign, or zero, at the beginning
            if gb * rb <= 0.0 or ga * gb < 0.0 or not (one.info._rising or one.info._falling):
                continue
            if self._slopes is None:
                _, self._slopes = self._look_with_slopes(self.time, _DIFFERENCE * (b - self.time))
            if self._slopes[i] * gb >= 0.0:
                continue
            found = self._other_side(i, (ga, self._slopes[i]), b, (gb, rb))
            if found is not None and (first is None or found[0] < first[0]):
                first = found
        return first

    def _other_side(
        self, i: int, at_a: tuple[float, float], b: float, at_b: tuple[float, float]
    ) -> tuple[float, list[float]] | None:
        """A time at which witness *i*, which has the same sign at both ends, has the other one; None where there is none."""
        a, sign = self.time, -np.sign(at_b[0])
        ga, ra, gb, rb = sign * at_a[0], sign * at_a[1], sign * at_b[0], sign * at_b[1]
        for _ in range(60):
            # the tangents meet at m, and nothing that is concave rises above them
            m = a + (gb - ga - rb * (b - a)) / (ra - rb)
            if b - a <= 0.5 * self.windows[i] or ga + ra * (m - a) <= 0.0:
                return None
            m = min(max(m, a + 0.05 * (b - a)), b - 0.05 * (b - a))
            if not a < m < b:
                return None
            values, slopes = self._look_with_slopes(m, _DIFFERENCE * (b - a))
            g, r = sign * values[i], sign * slopes[i]
            if g > 0.0:
                return m, values
            if r > 0.0:
                a, ga, ra = m, g, r
            elif r < 0.0:
                b, gb, rb = m, g, r
            else:
                return None
        return None

    def _localize(self, a: float, values_a: list[float], b: float, values_b: list[float], crossing: list[int]) -> Found:
        """Narrow down to the window of the earliest of events that have happened between *a* and *b*."""
        weight_a = weight_b = 1.0
        moved = ""
        for number in range(200):
            window = max(min(self.windows[i] for i in crossing), 8.0 * np.spacing(max(abs(a), abs(b))))
            if b - a <= window:
                break
            m = b
            for i in crossing:
                ga, gb = weight_a * values_a[i], weight_b * values_b[i]
                m = min(m, a + (b - a) * ga / (ga - gb))
            if number % 4 == 3:
                m = 0.5 * (a + b)
            m = min(max(m, a + 0.1 * window), b - 0.1 * window)
            if not a < m < b:
                break
            values = self._look_at(m)
            now = [i for i in crossing if is_crossing(values_a[i], values[i], self._watched[i].info)]
            if now:
                b, values_b, crossing = m, values, now
                weight_a, weight_b = weight_a * (0.5 if moved == "b" else 1.0), 1.0
                moved = "b"
            else:
                a, values_a = m, values
                weight_a, weight_b = 1.0, weight_b * (0.5 if moved == "a" else 1.0)
                moved = "a"
        return Found(float(a), float(b), [self._watched[i] for i in crossing])


def is_crossing(before: float, after: float, info: TriggerInfo) -> bool:
    """Whether a change is an event: none is that starts from zero."""
    return (before > 0.0 >= after and info._falling) or (before < 0.0 <= after and info._rising)


def is_simple(owner: Any) -> bool:
    """Whether a handler's witness is just what a kind of `mobod.event` gives, and no user's class derived from it."""
    return isinstance(owner, When) and type(owner).get_value is When.get_value and "_packed" in vars(type(owner.get_witness()))


def of_triggered(one: Triggered) -> Watched:
    """A triggered handler or reporter as something to watch."""
    rate = one._witness.calc_rate if isinstance(one, When) and one._witness.has_rate else None
    value = one.get_value
    if isinstance(one, When) and type(one).get_value is When.get_value:
        value = one._witness.calc_value
    return Watched(one, 0, one.get_required_stage(), value, rate, one.get_trigger_info())
