"""Watch: looks for changes of sign of witnesses in the steps that an integrator takes, and localizes them.

After a step the signs at its ends are compared. Where they are equal but the slopes point at each other (the witness goes over
to the other side, and back), the extremum in between is looked for: the two tangents bound it where the witness is concave, so
that most steps need no more than that. Changes of sign are then narrowed down on the dense output, by the secant with
Illinois' weights, kept a tenth of a window away from the ends so that the bracket closes from both sides; a bisection now and
then bounds the number of evaluations. Of a table, a cam's lift say, a step may pass over many knots, and what is between them:
it is searched from knot to knot, unless a lower bound that the loop looks at excludes a crossing. Source: Dowell and
Jarratt 1971 (Illinois); Shampine, Gladwell and Brankin 1991 (events).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import Callback, raise_kept
from ..errors import ModelError
from ..state.state import State
from ..state.trigger_info import TriggerInfo
from ..state.validity import EVERYTHING, KINEMATICS
from ..value.overriding import holds_for
from ..value.stage import Stage
from .triggered import Triggered
from .when import When
from .witness import Witness, one_number

# the table of witnesses and what is seen of them, as `mobod.stepping.witnesses`, which is in a higher layer, reads and writes
# them: integers of a witness, numbers of one
_WIDTH, _SEEN = 6, 4
# what a callback is told of the record: it is at a step's end, or shortly before and realized so far
_AT_END, _WITH_SPEEDS, _WITH_RATES = range(3)
#: The step of differences for slopes, as a part of the interval.
_DIFFERENCE = 1e-4
#: A part of a step in which one table's points are passed is no shorter than this part of it: two points can be the same.
_SHORTEST_PART = 1e-9


@dataclass(eq=False)
class Watched:
    """One witness, and what it belongs to: a handler, a reporter, or a subsystem with the number of its event.

    Attributes
    ----------
    witness : Witness or None
        What kernels look at in place of *value* and *rate*; None where only Python can.
    """

    owner: Any
    event_id: int
    stage: Stage
    value: Callable[[Any], float]
    rate: Callable[[Any], float] | None
    info: TriggerInfo
    witness: Witness | None = None
    #: What the event is of, where that is not the owner, and the name of the witness where it is not that of the owner's.
    called: str = ""
    label: str = ""
    #: Of a quantity that bends anywhere, as a table's does from knot to knot: a number that rises or falls by one from one knot
    #: to the next. Steps are then searched knot by knot, however long they are, unless its lower bound excludes a crossing.
    knots: Callable[[Any], float] | None = None
    #: That bound and its rate, which kernels look at in its place; no number where it is not above zero.
    bound: Callable[[Any], tuple[float, float]] | None = None

    @functools.cached_property
    def what(self) -> str:
        """The quantity that changes sign, in words: only when asked for, as writing arrays takes as long as many steps."""
        return self.label or (repr(self.owner.witness) if isinstance(self.owner, When) else "")

    @property
    def name(self) -> str:
        """For messages."""
        return self.called or str(getattr(self.owner, "name", None) or self.owner.get_name())


@dataclass
class Found:
    """Events in a window of time."""

    low: float
    high: float
    which: list[Watched]
    #: Of each, whether its witness has risen.
    rising: list[bool]


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
        self._integrator, self.watched = integrator, watched
        accuracy = integrator.get_accuracy_in_use()
        self.windows = [one.info.calc_window(accuracy, time_scale) for one in watched]
        self._stage = max(one.stage for one in watched)
        self._rates = [one.rate for one in watched]
        self._has_differences = any(rate is None for rate in self._rates)
        self._with_knots = [one.knots is not None for one in watched]
        self._has_knots = any(self._with_knots)
        #: Up to this time the witnesses have been searched.
        self.time = -np.inf
        self._values: list[float] = []
        self._slopes: list[float] | None = None
        self._end: tuple[float, list[float], list[float]] | None = None
        #: Of witnesses with knots their lower bounds and the rates of these: at `time`, and at the end of the last step.
        self._bounds: Sequence[Sequence[float]] = []
        self._bounds_at_end: Sequence[Sequence[float]] = []
        #: The pools of the compiled look at witnesses, where all have one: see `mobod.stepping.witnesses`.
        self._compiled: tuple[Any, Any] | None = None
        self._is_packed = self._calls_back = False
        #: Whether the loop over steps looks at witnesses itself, and how many steps had been taken when it began.
        self._in_loop, self._taken = False, 0

    def pack(self, callbacks: bool) -> None:
        """Pack the witnesses for the integrator's kernel.

        Parameters
        ----------
        callbacks : bool
            Whether it may call back those that only Python knows; otherwise it looks at witnesses where all have a routine.
        """
        self._is_packed = callbacks or all(one.witness is not None for one in self.watched)
        self._calls_back = callbacks
        if not self._is_packed:
            return
        state, count = self._integrator.get_state(), len(self.watched)
        table: list[int] = []
        integers: list[int] = []
        numbers: list[float] = []
        for k, one in enumerate(self.watched):
            if one.witness is None:
                differs = 0 if one.rate is not None else _WITH_RATES if self._stage > Stage.VELOCITY else _WITH_SPEEDS
                table += [self._callback.address(), k, _AT_END, one.info.rising, one.info.falling, differs]
                continue
            assert one.witness.routine is not None
            own_integers, own_numbers = one.witness.pack(state)
            places = _WIDTH * count + len(integers), _SEEN * count + len(numbers)
            table += [one.witness.routine.address(), *places, one.info.rising, one.info.falling, 0]
            integers += own_integers
            numbers += own_numbers
        pool = np.array([*[0.0] * (_SEEN * count), *numbers], np.float64).reshape(-1, 1)
        self._compiled = np.array([*table, *integers], np.int64), pool

    @functools.cached_property
    def _callback(self) -> Callback:
        """The callback for kernels of a witness that only Python knows."""

        def compute(scalar: str, pointer: int, k: int, where: int) -> None:
            state, one = self._integrator.get_state(), self.watched[k]
            if where == _WITH_SPEEDS:
                state.valid, state.stage_number = KINEMATICS, int(Stage.VELOCITY)
            else:
                state.valid, state.stage_number = EVERYTHING, int(Stage.ACCELERATION)
            if state.resources is not None:
                state.resources.versions[Stage.TIME] += 1
            out = state.record.witness_values
            try:
                value = one.value(state)
                out[0, 0] = value if type(value) is float else one_number(repr(one.name), value)
                out[0, 1] = np.nan if one.rate is None else one.rate(state)
            except Exception:  # it is asked again when the loop has returned, and raises it there
                out[0, 0] = out[0, 1] = np.nan
            finally:
                state.valid = 0

        def fail(scalar: str, pointer: int, k: int, where: int) -> None:
            self._integrator.get_state().record.witness_values[0] = np.nan

        return Callback(compute, fail)

    def __getstate__(self) -> dict[str, Any]:
        kept = {**self.__dict__, "_compiled": None}  # addresses are of this process
        kept.pop("_callback", None)
        return kept

    # ------------------------------------------------------------------------------------------ looking

    def begin(self) -> None:
        """A continuous interval begins at the state as it is realized."""
        state = self._integrator.get_state()
        self.time, self._values, self._slopes, self._end = state.time, self._look(state), self._rates_at(state), None
        self._bounds = self._bounds_at_end = self._bounds_at(state)

    def resume(self) -> None:
        """Events at the present state have changed nothing: the rest of the step is still to be searched."""
        state = self._integrator.get_state()
        self.time, self._values, self._slopes = state.time, self._look(state), self._rates_at(state)
        self._bounds = self._bounds_at(state)

    def _bounds_at(self, state: State) -> list[tuple[float, float]]:
        return [one.bound(state) for one in self.watched if one.bound is not None]

    def _rates_at(self, state: State) -> list[float] | None:
        """The slopes at the state as it is realized, where all witnesses have rates."""
        return None if self._has_differences else [rate(state) for rate in self._rates if rate is not None]

    def can_enter_loop(self, time: float) -> bool:
        """True if all witnesses are known at a time, at which steps begin, and the loop can look at them from there."""
        return self._compiled is not None and self.time == time

    @property
    def moves(self) -> bool:
        """True if the loop leaves the record near the end of its last step, for differences, and not there."""
        return self._has_differences

    def enter_loop(self, one_by_one: bool) -> int:
        """The integrator's loop is about to take steps. How many witnesses it is to look at; below 0 to return after each step.

        `step_ended` or `leave_loop` has to follow.
        """
        self._taken = self._integrator.get_num_steps_taken()
        if self._is_packed and self._compiled is None:  # of a checkpoint
            self.pack(self._calls_back)
        self._in_loop = not one_by_one and self._compiled is not None
        if not self._in_loop:
            return -1
        assert self._compiled is not None
        self._integrator.share_witnesses(*self._compiled)
        seen = self._seen()
        seen[:, 1], seen[:, 3] = self._values, np.nan if self._slopes is None else self._slopes
        if self._has_knots:
            seen[self._with_knots, 1::2] = self._bounds
        return len(self.watched)

    def _seen(self) -> Array:
        """Values before the last step and at its end, and rates there, a row a witness."""
        assert self._compiled is not None
        seen: Array = self._compiled[1][: _SEEN * len(self.watched), 0].reshape(-1, _SEEN)
        return seen

    def step_ended(self) -> None:
        """The loop has returned after a step in which an event is possible."""
        if not self._in_loop:
            self._integrator.arrive_at_end()
            self._keep_end()
            return
        raise_kept()
        self._take_seen()
        self._in_loop = False
        if not np.isfinite(self._seen()[np.logical_not(self._with_knots), 1::2]).all():
            end = self._integrator.get_advanced_time()
            if self._has_differences:
                self._look_with_slopes(end, -_DIFFERENCE * (end - self.time))
            self._integrator.leave_at(end)
            self._look(self._integrator.get_state())

    def _take_seen(self) -> None:
        """The last step is to be searched, as the loop has seen witnesses in it."""
        seen = self._seen().T.tolist()
        self.time = self._integrator.previous_time()
        self._values, self._slopes = seen[0], None if np.isnan(seen[2]).any() else seen[2]
        self._end = self._integrator.get_advanced_time(), seen[1], seen[3]
        if self._has_knots:
            rows = self._seen()[self._with_knots]
            self._bounds, self._bounds_at_end = rows[:, ::2].tolist(), rows[:, 1::2].tolist()

    def leave_loop(self) -> None:
        """The loop has returned, or was interrupted, where no event is possible before the last step."""
        if self._in_loop and self._integrator.get_num_steps_taken() > self._taken:
            self._take_seen()
        self._in_loop = False

    def _keep_end(self) -> None:
        """The integrator has taken a step, at whose end the state is realized."""
        state, end = self._integrator.get_state(), self._integrator.get_advanced_time()
        values = self._look(state)
        slopes = [0.0 if rate is None else rate(state) for rate in self._rates]
        if self._has_differences:
            self._differences(end, values, slopes, -_DIFFERENCE * (end - self.time))
        self._end, self._bounds_at_end = (end, values, slopes), self._bounds_at(state)

    def _look(self, state: State) -> list[float]:
        """All witnesses at the state as it is realized."""
        values = [one.value(state) for one in self.watched]
        for k, (one, value) in enumerate(zip(self.watched, values, strict=True)):
            if not isinstance(value, float):
                values[k] = value = one_number(repr(one.name), value)  # of a user's own get_value
            if not -np.inf < value < np.inf:
                raise ModelError(f"the witness of {one.name!r} is {value} at time {state.time:.9g}; it has to be finite")
        return values

    def _look_at(self, time: float) -> list[float]:
        """All witnesses at a time within the last step."""
        self._integrator.leave_at(time, self._stage)
        return self._look(self._integrator.get_state())

    def _differences(self, time: float, values: list[float], slopes: list[float], h: float) -> None:
        """The slopes of witnesses without rates, from values at *time* and *h* away."""
        if time + h != time:
            near = self._look_at(time + h)
            for i, rate in enumerate(self._rates):
                if rate is None:
                    slopes[i] = (near[i] - values[i]) / h

    def _look_with_slopes(self, time: float, h: float) -> tuple[list[float], list[float]]:
        """All witnesses and slopes at a time within the last step."""
        self._integrator.leave_at(time)
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
        for b, values_b, slopes_b in self._parts():
            while self.time < b:
                end, values = self._excursion(b, values_b, slopes_b) or (b, values_b)
                crossing = [i for i, one in enumerate(self.watched) if is_crossing(self._values[i], values[i], one.info)]
                if crossing:
                    return self._localize(self.time, list(self._values), end, values, crossing)
                self.time, self._values = end, values
                self._slopes = slopes_b if end == b else None
        self._bounds = self._bounds_at_end
        return None

    def _parts(self) -> Iterator[tuple[float, list[float], list[float]]]:
        """The ends of the parts in which the last step is searched, with values and slopes: all of it, or from knot to knot.

        A part is halved until it passes no more than one knot. The step's middle is looked at in any case: a table can be
        passed there and back.
        """
        if self._end is None:
            return
        a, end = self.time, self._end[0]
        if self._has_knots and a < end and not self._is_above(end - a):
            # of these the loop has seen bounds
            self._values, self._slopes = self._look_with_slopes(a, _DIFFERENCE * (end - a))
            self._end = end, *self._look_with_slopes(end, -_DIFFERENCE * (end - a))
            shortest, before = _SHORTEST_PART * (end - a), self._knots_at(a)
            ends = [(time, self._knots_at(time)) for time in (end, 0.5 * (a + end))]  # the next one is the last
            while ends:
                b, knots = ends[-1]
                if b - a > shortest and any(abs(one - other) > 1.0 for one, other in zip(knots, before, strict=True)):
                    ends.append((0.5 * (a + b), self._knots_at(0.5 * (a + b))))
                    continue
                ends.pop()
                if ends:
                    yield b, *self._look_with_slopes(b, -_DIFFERENCE * (b - a))
                a, before = b, knots
        yield self._end

    def _is_above(self, h: float) -> bool:
        """True if the tangents of lower bounds meet above zero in a step of size *h*: none of those with knots comes there."""
        for (g0, r0), (g1, r1) in zip(self._bounds, self._bounds_at_end, strict=True):
            if not (g0 > 0.0 and g1 > 0.0) or (r0 < 0.0 < r1 and g0 + r0 * ((g1 - g0 - r1 * h) / (r0 - r1)) <= 0.0):
                return False
        return True

    def _knots_at(self, time: float) -> list[float]:
        """At which of their knots witnesses are, at a time within the last step."""
        self._integrator.leave_at(time, self._stage)
        state = self._integrator.get_state()
        return [one.knots(state) for one in self.watched if one.knots is not None]

    def _excursion(self, b: float, values_b: list[float], slopes_b: list[float]) -> tuple[float, list[float]] | None:
        """The first time found, with the values there, at which a witness has the sign opposite to that at both ends."""
        first: tuple[float, list[float]] | None = None
        for i, one in enumerate(self.watched):
            ga, gb, rb = self._values[i], values_b[i], slopes_b[i]
            # towards zero from the end backwards, and the same sign, or zero, at the beginning
            if gb * rb <= 0.0 or ga * gb < 0.0 or not (one.info.rising or one.info.falling):
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
        """A time at which witness *i*, which has the same sign at both ends, has the opposite one; None where there is none."""
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
            now = [i for i in crossing if is_crossing(values_a[i], values[i], self.watched[i].info)]
            if now:
                b, values_b, crossing = m, values, now
                weight_a, weight_b = weight_a * (0.5 if moved == "b" else 1.0), 1.0
                moved = "b"
            else:
                a, values_a = m, values
                weight_a, weight_b = 1.0, weight_b * (0.5 if moved == "a" else 1.0)
                moved = "a"
        return Found(float(a), float(b), [self.watched[i] for i in crossing], [values_a[i] < 0.0 for i in crossing])


def is_crossing(before: float, after: float, info: TriggerInfo) -> bool:
    """True if a change of sign is an event; one that starts from zero is not."""
    return (before > 0.0 >= after and info.falling) or (before < 0.0 <= after and info.rising)


def is_compiled(owner: Any) -> bool:
    """True if a handler's witness is just what kernels look at, and no user's class derived from it."""
    if not isinstance(owner, When) or type(owner).get_value is not When.get_value:
        return False
    kind = type(owner.get_witness())
    return kind.routine is not None and holds_for(kind, "routine")


def of_triggered(one: Triggered) -> Watched:
    """A triggered handler or reporter as something to watch."""
    rate = one.witness.calc_rate if isinstance(one, When) and one.witness.has_rate else None
    value = one.get_value
    if isinstance(one, When) and type(one).get_value is When.get_value:
        value = one.witness.calc_value
    in_kernels = one.witness if isinstance(one, When) and is_compiled(one) else None
    return Watched(one, 0, one.get_required_stage(), value, rate, one.get_trigger_info(), in_kernels)
