"""Delay: what a measure was some time ago.

m(t) = s(t - d), and before the start of a run what s was there
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.scalar import load, num_lanes
from ..compiling import generic
from ..errors import ModelError
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from .base import Joined, Measure, NotCompiled, check_measure
from .memory import Memory
from .program import Program
from .routines import by_address
from .samples import (
    BEYOND,
    FEWEST,
    FURTHEST,
    LONGEST,
    MISSING,
    NEAREST,
    NEWEST,
    OLDEST,
    PARTS,
    ROUNDING,
    SAMPLE,
    find_value,
    keep_sample,
)


class History:
    """Samples of a measure at the ends of past steps. Immutable: states and their copies share it.

    With rates, each step is the cubic of both ends' values and rates (Hermite). Without, it is the polynomial through up to two
    samples on either side (Lagrange). Two samples of one time are a jump there, and no polynomial reaches across.

    Parameters
    ----------
    times : (n,) array
    values : (n, ...) array
    rates : (n, ...) array or None
    longest : float
        The longest step of the run that was longer than the delay, or 0; -1 before its first step, which may change.
    """

    __slots__ = ("longest", "rates", "times", "values")

    def __init__(self, times: Array, values: Array, rates: Array | None, longest: float = 0.0) -> None:
        self.times, self.values, self.rates, self.longest = times, values, rates, longest

    def __reduce__(self) -> tuple[Any, ...]:
        return History, (self.times, self.values, self.rates, self.longest)

    def __deepcopy__(self, memo: Any) -> History:
        return self

    def followed_by(self, time: float, value: Array, rate: Array | None, earliest: float, closest: float) -> History:
        """The history with one more sample, without later ones, and without those not needed for times from *earliest* on.

        The newest sample goes where it and the new one are less than *closest* after the one before.
        """
        times, longest = self.times, max(self.longest, 0.0)
        if times[-1] < earliest and self.longest >= 0.0:
            longest = max(longest, float(time - times[-1]))
        end = int(np.searchsorted(times, time, side="right"))  # samples at this time stay
        at_once = end - int(np.searchsorted(times, time, side="left"))
        if at_once and self._is_like(end - 1, value, rate):
            end -= 1
        elif at_once > 1:  # what was there before the jump, and what is there now
            end -= 1
        elif not at_once and end > 1 and times[end - 2] < times[end - 1] and time - times[end - 2] < closest:
            end -= 1
        first = int(np.searchsorted(times[:end], earliest, side="right")) - 2
        first = max(0, min(first, end + 1 - FEWEST))
        kept = slice(first, end)
        return History(
            np.append(times[kept], time),
            np.concatenate([self.values[kept], value[None]]),
            None if self.rates is None or rate is None else np.concatenate([self.rates[kept], rate[None]]),
            longest,
        )

    def _is_like(self, i: int, value: Array, rate: Array | None) -> bool:
        """True if a sample equals number *i* but for rounding."""
        if not np.allclose(self.values[i], value, rtol=ROUNDING, atol=ROUNDING):
            return False
        return rate is None or self.rates is None or np.allclose(self.rates[i], rate, rtol=ROUNDING, atol=ROUNDING)

    def at(self, when: float, linear: bool) -> Any:
        """The value at a time: before the oldest sample that sample's, beyond the newest by extrapolation."""
        times, values, n = self.times, self.values, len(self.times)
        after = int(np.searchsorted(times, when, side="right"))
        if after == 0:
            return values[0]
        i = min(after, n - 1)  # the step from sample i - 1 to sample i
        if times[after - 1] == when:
            return values[after - 1]
        rates = None if linear else self.rates
        is_far = after == n and when - times[i] > FURTHEST * (times[i] - times[i - 1])
        if n == 1 or times[i] == times[i - 1] or is_far:  # the newest stands alone
            return values[-1] if rates is None else values[-1] + (when - times[-1]) * rates[-1]
        h = times[i] - times[i - 1]
        s = (when - times[i - 1]) / h
        if linear:
            return values[i - 1] + s * (values[i] - values[i - 1])
        if rates is not None:
            r = 1.0 - s
            ends = r * r * (1.0 + 2.0 * s) * values[i - 1] + s * s * (1.0 + 2.0 * r) * values[i]
            return ends + h * s * r * (r * rates[i - 1] - s * rates[i])
        return self._through(when, *self._around(i, extrapolated=after == n))

    def _around(self, i: int, extrapolated: bool) -> tuple[int, int]:
        """First sample, and the one after the last, for a polynomial over the step that ends with sample *i*."""
        times = self.times
        first, end = i - 1, i + 1
        nearest = NEAREST * (times[i] - times[i - 1])
        while first > 0 and first > i - (3 if extrapolated else 2) and times[first] - times[first - 1] > nearest:
            first -= 1
        if end < len(times) and times[end] - times[end - 1] > nearest:
            end += 1
        return first, end

    def _through(self, when: float, first: int, end: int) -> Any:
        """Lagrange's polynomial through samples *first* to *end* - 1."""
        times, total = self.times[first:end], np.zeros_like(self.values[0])
        for k in range(end - first):
            others = np.delete(times, k)
            total = total + np.prod((when - others) / (times[k] - others)) * self.values[first + k]
        return total


#: The fewest samples that a delay may keep.
_FEWEST = 16


@generic
def operate(model: Any, i: int, out: int) -> None:
    """The value a delay ago, as results. Integers: see `samples`."""
    for lane in range(num_lanes(load(model.time, 0, 0))):
        find_value(model, i, out, lane)


@generic
def remember(model: Any, i: int, out: int) -> None:
    """Keep the present value as the newest sample."""
    for lane in range(num_lanes(load(model.time, 0, 0))):
        keep_sample(model, i, lane)


operation, keep = by_address(operate), by_address(remember)


class Delay(Memory):
    """The value of a measure a given time ago: a dead time, a belt, a signal that takes its way. Needs TIME.

    Parameters
    ----------
    source : Measure
        Of the same system. It may depend on the delayed value: make the delay first, and set its source.
    delay : float
        How long ago; time.
    max_samples : int
        For how many samples there is room, 16 at least; see below.

    Raises
    ------
    ModelError
        If the delay is not positive and finite.
    ValueError
        If *max_samples* is not a whole number from 16 on.
    TopologyError
        If the source is of another system.

    Notes
    -----
    The source is sampled at the end of each step, and interpolated between: by the cubic of values and derivatives where the
    source has a derivative, else by that through neighbouring samples. Until as much time has passed as the delay, the value
    is that of the run's start. Samples are kept as long as they are needed, and no closer together than ``2.5 * delay /
    max_samples``: where steps are shorter, some share a sample. By default that is a 205th of the delay, which interpolates a
    sinusoid of one period in a delay to 2e-9 of its amplitude, of ten periods to 2e-5; let `max_samples` be larger for long
    delays of fast signals. Where that many are exceeded nevertheless, by hundreds of events within a delay, values that are
    lost are NaN, and the run ends with an error.

    Where a step is longer than the delay, the time asked for lies in the step that is being taken, whose end is not known yet:
    the value is extrapolated, which is less accurate, and a run that reads it warns of that, once. Keep steps below the delay
    (``max_step_size``), or, where the source does not depend on the delayed value, call `set_can_use_current_value`.

    In a state that no run has reached, the value is what the source is now, or `get_default_value` where the source needs a
    stage that has not been reached.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.Delay(system.matter, angle, 0.1)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 0.5, record={"angle": angle, "part": part})
    >>> angle, part = motion.quantities["angle"], motion.quantities["part"]
    >>> bool(abs(part[-1] - angle[motion.time <= 0.4001][-1]) < 1e-3)
    True
    """

    def __init__(
        self, subsystem: Joined, source: Measure, delay: float, *, max_samples: int = 512, name: str | None = None
    ) -> None:
        self.source: Measure = check_measure("Delay", source)
        self._delay = checks.positive("the delay of a Delay", delay)
        self._max_samples = checks.integer("max_samples of a Delay", max_samples, least=_FEWEST)
        self._linear = self._can_use_current = False
        #: Whether Python has read a value beyond the newest sample, of any state, since a run began.
        self._is_read_beyond = False
        super().__init__(subsystem, source.shape, name=name)

    def get_source_measure(self) -> Measure:
        """The delayed measure."""
        return self.source

    def set_source_measure(self, source: Measure) -> None:
        """Delay another measure of the same size: a topological change."""
        kept, self.source = self.source, self._replaced("the source", source)
        self._accept(lambda: setattr(self, "source", kept))

    def get_delay(self) -> float:
        """The delay; time."""
        return self._delay

    def set_delay(self, delay: float) -> None:
        """Change the delay: a topological change; `ModelError` unless positive and finite."""
        self._delay = checks.positive(f"the delay of {self!r}", delay)
        self.invalidate_topology()

    def get_max_samples(self) -> int:
        """For how many samples there is room."""
        return self._max_samples

    def get_use_linear_interpolation_only(self) -> bool:
        """True if samples are joined by straight lines."""
        return self._linear

    def set_use_linear_interpolation_only(self, linear_only: bool) -> None:
        """Join samples by straight lines, for sources that are not smooth: a topological change."""
        self._linear = checks.flag("linear_only", linear_only)
        self.invalidate_topology()

    def get_can_use_current_value(self) -> bool:
        """True if the present value of the source may be used."""
        return self._can_use_current

    def set_can_use_current_value(self, can_use_current_value: bool) -> None:
        """Allow the present value of the source to be used, so that nothing is extrapolated: a topological change.

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
        return kept.followed_by(state.time, *self._sample(state), state.time - self._delay, self._closest())

    def _closest(self) -> float:
        """No more than two samples lie within this time."""
        return PARTS * self._delay / self._max_samples

    # ------------------------------------------------------------------------------------------ for compiled steps

    def memory_size(self) -> int:
        return SAMPLE + self.ring_shape()[1]

    def ring_shape(self) -> tuple[int, int]:
        return self._max_samples, 1 + self.default.size * (2 if self._uses_rates() else 1)

    def memory(self, state: State) -> History | None:
        if self.memory_run is None:
            return super().memory(state)
        kept, n = state.record.measure_memory[self.memory_run, 0], self.default.size
        if not kept[0]:
            return None
        numbers = np.arange(int(kept[OLDEST]), int(kept[NEWEST])) % self._max_samples
        rows = np.concatenate([self._ring(state.record)[numbers], kept[None, SAMPLE:]])
        values, rates = rows[:, 1 : 1 + n].reshape(-1, *self._shape), rows[:, 1 + n :].reshape(-1, *self._shape)
        return History(rows[:, 0], values, rates if self._uses_rates() else None, kept[LONGEST].item())

    def write(self, record: Any, name: str, value: History) -> None:
        kept, first = getattr(record, name)[self.memory_run, 0], 0
        if name == "measure_next":  # most of it is what is remembered of the step's beginning
            known = record.measure_memory[self.memory_run, 0]
            first, newest = int(known[OLDEST]), int(known[NEWEST])
            times = [*self._ring(record)[np.arange(first, newest) % self._max_samples, 0], known[SAMPLE]]
            same = [k for k, time in enumerate(times) if known[0] and time == value.times[0]]
            if same:
                first += same[0] if len(same) == 1 or np.all(value.times[:2] == value.times[0]) else same[1]
        parts = [part.reshape(len(value.times), -1) for part in (value.times, value.values, value.rates) if part is not None]
        rows = np.concatenate(parts, 1)
        rows, missing = rows[-self._max_samples :], len(rows) > self._max_samples
        newest = first + len(rows) - 1
        if len(rows) > 1:
            self._ring(record)[np.arange(first, newest) % self._max_samples] = rows[:-1]
        kept[:SAMPLE], kept[SAMPLE:] = (1.0, first, newest, missing, value.longest, kept[BEYOND]), rows[-1]

    def _ring(self, record: Any) -> Array:
        """The rows of its samples."""
        capacity, width = self.ring_shape()
        rings = record.measure_rings.reshape(-1, 4)
        first = rings[rings[:, 0] == self._need_run().start, 1][0]
        return record.measure_history[first : first + capacity * width, 0].reshape(capacity, width)

    def _need_run(self) -> slice:
        assert self.memory_run is not None
        return self.memory_run

    def write_value(self, program: Program, order: int) -> int:
        if order:
            raise NotCompiled
        return program.call(operation, *self._integers(program, self._can_use_current, True), results=self.default.size)

    def write_memory(self, program: Program) -> None:
        self._check_needs()
        program.call(keep, *self._integers(program, True, False))

    def _integers(self, program: Program, looks: bool, asks: bool) -> tuple[int, ...]:
        """Integers of operations, which say if they look at the present value, and ask for the value before a run."""
        n, rates = self.default.size, self._uses_rates()
        values, slopes, before = -1, 0 if rates else -1, -1
        if looks:
            values = program.value_of(self.source)
            slopes = program.value_of(self.source, 1) if rates else -1
        if asks:
            known = self.source.depends_on(0) <= program.limit and not _waits_for(self.source, self)
            before = program.value_of(self.source) if known else program.constant(self.default, n)
        numbers = program.keep(self._delay, self._closest())
        place = program.memory_of(self), program.ring_of(self), self._max_samples, numbers
        return n, values, slopes, *place, int(self._linear), int(self._can_use_current), before

    def _calc(self, state: State, deriv_order: int) -> Any:
        history = self.memory(state)
        if history is None:
            return self._now_or_default(state)
        lost = self.what_is_lost(state)
        if lost and history.times[0] > state.time - self._delay:
            raise ModelError(lost)
        if self._can_use_current:
            history = self.next_memory(state)
        elif state.time - self._delay > history.times[-1]:
            self._is_read_beyond = True
        return self._given(history.at(state.time - self._delay, self._linear))

    def what_is_lost(self, state: State) -> str:
        if self.memory_run is None or not state.record.measure_memory[self.memory_run, 0][MISSING]:
            return ""
        return (
            f"{self!r} has lost samples that it needs: there were too many events within its delay; let max_samples be more "
            f"than {self._max_samples}"
        )

    # ------------------------------------------------------------------------------------------ steps longer than the delay

    def begin_run(self, state: State) -> None:
        """A run begins, in which no step has been longer than the delay."""
        if self.memory_run is not None:
            self.begin_runs(state.record.measure_memory.T, state.record.measure_next.T)
            return
        self._is_read_beyond = False
        history = self.memory(state)
        if history is not None:
            history.longest = -1.0

    def longest_step(self, state: State) -> float:
        """The longest step of a run that was longer than the delay, where values beyond the newest sample were read; or 0."""
        if self.memory_run is not None:
            # as `longest_steps`, by numbers, read in a tenth of the time of rows: it is asked after each step from Python
            start, kept, following = self.memory_run.start, state.record.measure_memory.item, state.record.measure_next.item
            longest = max(kept(start + LONGEST), following(start + LONGEST))
            beyond = longest > 0.0 and max(self._is_read_beyond, kept(start + BEYOND), following(start + BEYOND)) > 0.0
            return longest if beyond else 0.0
        history = self.memory(state)
        return history.longest if history is not None and self._is_read_beyond else 0.0

    def begin_runs(self, kept: Array, following: Array) -> None:
        """`begin_run` of states, a row each of what measures remember, and will when the next step begins."""
        self._is_read_beyond = False
        if self.memory_run is not None:
            longest, beyond = self.memory_run.start + LONGEST, self.memory_run.start + BEYOND
            # where it begins, the end of the last step before is sampled once more
            kept[:, longest], following[:, longest], kept[:, beyond], following[:, beyond] = -1.0, 0.0, 0.0, 0.0

    def longest_steps(self, kept: Array, following: Array) -> Array:
        """`longest_step` of states, a row each of what measures remember, and will when the next step begins."""
        if self.memory_run is None:
            return np.zeros(len(kept))
        longest, beyond = self.memory_run.start + LONGEST, self.memory_run.start + BEYOND
        is_read = self._is_read_beyond | (kept[:, beyond] > 0.0) | (following[:, beyond] > 0.0)
        return np.where(is_read, np.maximum(kept[:, longest], following[:, longest]), 0.0)

    def say_longest(self, step: float) -> str:
        """A sentence on a step that was longer than the delay, and the remedy."""
        more = (
            ""
            if _waits_for(self.source, self)
            else "; or, as its source does not depend on it, set_can_use_current_value(True)"
        )
        return (
            f"{self!r} is {self._delay:.6g} late, but steps have been up to {step:.6g} long: within these its values are "
            f"extrapolated, and may be wrong; let max_step_size of the integrator be less than the delay{more}"
        )

    def depends_on(self, deriv_order: int) -> Stage:
        return max(self.needs(), Stage.TIME) if self._can_use_current else Stage.TIME


def _waits_for(one: Measure, delay: Delay, seen: frozenset[int] = frozenset()) -> bool:
    """True if a measure's value is computed from a delay's, through delays too, which have their own in a run only."""
    if id(one) in seen:
        return False
    seen = seen | {id(one)}
    further = (*one.operands(), one.source) if isinstance(one, Delay) else one.operands()
    return one is delay or any(_waits_for(each, delay, seen) for each in further)
