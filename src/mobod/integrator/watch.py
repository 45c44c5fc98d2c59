"""Watch: looks for changes of sign of witnesses in the steps that an integrator takes, and localizes them.

How a step is searched says `stepping.event_search`. Of a table, a cam's lift say, a step may pass over many knots, and what is
between them: it is searched from knot to knot, unless a lower bound that the loop looks at excludes a crossing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import address_of
from ..compiling import Callback, raise_kept
from ..errors import ModelError
from ..event.watched import GAP, Found, Watched, found_of
from ..event.witness import one_number
from ..state.state import State
from ..state.trigger_info import TriggerInfo
from ..state.validity import EVERYTHING, KINEMATICS
from ..stepping import event_search, record as rk, witnesses as watching
from ..stepping.witnesses import (
    AT_HIGH,
    AT_LOW,
    BEFORE,
    CROSSED,
    DIFFERENCE,
    HERE,
    NOW,
    RATE_BEFORE,
    RATE_HERE,
    RATE_LOW,
    RATE_NOW,
    SEEN,
    SHIFT,
    WIDTH,
    WINDOW,
    raise_of,
)
from ..value.stage import Stage

#: A part of a step in which one table's points are passed is no shorter than this part of it: two points can be the same.
_SHORTEST_PART = 1e-9


def pack(
    rows: Iterable[tuple[Watched, bool, int, int]], state: State, count: int, before: int, address: int, **scalar: bool
) -> tuple[list[int], list[float]]:
    """The table of *count* witnesses with their integers, and their numbers: the pools of `stepping.witnesses`.

    Of each row: the witness; whether Python computes it, which is called at an *address*; whether, and how far from there, its
    rate is a difference; which runs that begin near its event begin alone. So many numbers are *before* theirs.
    """
    table: list[int] = []
    integers: list[int] = []
    numbers: list[float] = []
    for k, (one, by_python, differs, near) in enumerate(rows):
        where = [address, k, watching.AT_END]
        if not by_python:
            assert one.witness is not None and one.witness.routine is not None
            own_integers, own_numbers = one.witness.pack(state)
            where = [one.witness.routine.address(**scalar), WIDTH * count + len(integers), before + len(numbers)]
            integers += own_integers
            numbers += own_numbers
        table += [*where, one.info.rising, one.info.falling, differs, near, one.knots is not None]
    return [*table, *integers], numbers


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
        self._integrator, self._time_scale = integrator, time_scale
        self.watched: list[Watched] = []
        #: The table of witnesses, their integers behind it, and what has been seen, their numbers behind it: the pools of
        #: `stepping.witnesses`, which kernels look at where `_is_packed` is true; and as lists, of which they were made.
        self._integers: npt.NDArray[np.int64]
        self._numbers: Array
        self._all_packed = False
        self._packed: tuple[list[int], list[float], list[float]] | None = None
        #: What the loop, or a search, is told of these: its numbers from SEARCHER on.
        self._told: npt.NDArray[np.int64]
        #: The address of what searches steps in the loop, or 0.
        self._searcher = 0
        #: What they were packed of, where they stay as they are as long as that does.
        self._made_of: tuple[Any, ...] | None = None
        #: The rows of what has been seen, one a witness; and of these the values and rates at both ends of the last step, and
        #: at the beginning of what is to be searched.
        self._seen: Array
        self._before: Array
        self._now: Array
        self._low: Array
        #: The values where an event has been found, and what has changed sign there.
        self._high: Array
        self._crossed: Array
        self.take(watched)

    def take(self, watched: list[Watched]) -> None:
        """Watch these witnesses from here on, in an interval that is to begin."""
        if watched != self.watched:
            self._look_through(watched)
        #: Up to `time` the witnesses have been searched; the last step has ended at `_end`.
        self.time = self._end = -np.inf
        integrator, changes = self._integrator, TriggerInfo.changes
        made_of = integrator.get_state().instance_token, integrator.accuracy, self._time_scale, changes, integrator.can_watch
        if made_of == self._made_of and self._packed is not None:  # as after most events
            self._seen[:, :SHIFT] = np.nan
        else:
            self._pack(made_of)
            self._choose_searcher()
            self._made_of = made_of
        #: Of witnesses with knots their lower bounds and the rates of these: at `time`, and at the end of the last step.
        self._bounds: Any = []
        self._bounds_at_end: Any = []
        #: Whether the loop over steps looks at witnesses itself, and how many steps had been taken when it began.
        self._in_loop, self._taken = False, 0

    def _look_through(self, watched: list[Watched]) -> None:
        """Find out what is to be known of these witnesses."""
        self.watched, self._made_of = watched, None
        self._stage = max(one.stage for one in watched)
        self._needs_rates = self._stage > Stage.VELOCITY  # for values
        #: What is valid of the state, and its stage, where callbacks are asked for witnesses.
        self._realized = [(EVERYTHING, int(Stage.ACCELERATION))] * 4
        self._realized[watching.WITH_SPEEDS] = KINEMATICS, int(Stage.VELOCITY)
        self._realized[watching.AS_NEEDED] = EVERYTHING if self._needs_rates else KINEMATICS, int(self._stage)
        self._rates = [one.rate for one in watched]
        self._has_differences = any(rate is None for rate in self._rates)
        #: The numbers of those with knots.
        self._with_knots = [k for k, one in enumerate(watched) if one.knots is not None]
        self._has_knots = bool(self._with_knots)

    def _pack(self, made_of: tuple[Any, ...] | None = None) -> None:
        """Pack the witnesses: for the integrator's kernels, where these can look at all of them."""
        state, count = self._integrator.get_state(), len(self.watched)
        kept = state.tree.packed
        if kept is not None and kept[0] == made_of and kept[1] == self.watched:  # as in the run before
            self._is_packed = self._all_packed = True
            self._packed, self._integers, numbers = kept[2:]
            self._lay_out(numbers.copy())
            return
        for one in self.watched:
            one.set_window(self._integrator.accuracy, self._time_scale)
        by_kernels = all(one.witness is not None for one in self.watched) or self._integrator.calls_witnesses
        self._is_packed = self._integrator.can_watch and by_kernels
        by_python = [not self._is_packed or one.witness is None for one in self.watched]
        self._all_packed = not any(by_python)
        far = watching.WITH_RATES if self._needs_rates else watching.WITH_SPEEDS
        differs = [far * (one.rate is None) for one in self.watched]
        address = self._callback.address() if self._is_packed and any(by_python) else 0
        rows = zip(self.watched, by_python, differs, [one.near for one in self.watched], strict=True)
        integers, numbers = pack(rows, state, count, SEEN * count, address)
        windows = [one.window for one in self.watched]
        packed = integers, numbers, windows
        if packed == self._packed:
            self._seen[:, :SHIFT] = np.nan
            return
        self._packed = packed
        self._integers = np.array(integers, np.int64)
        self._lay_out(np.full((SEEN * count + len(numbers), 1), np.nan))
        self._numbers[SEEN * count :, 0] = numbers
        self._seen[:, SHIFT], self._seen[:, WINDOW] = 0.0, windows
        if self._all_packed and made_of is not None:
            state.tree.packed = made_of, self.watched, packed, self._integers, self._numbers.copy()

    def _lay_out(self, numbers: Array) -> None:
        """Take *numbers*, which begin with the rows of what is seen."""
        count, self._numbers = len(self.watched), numbers
        self._told = np.array([0, 0, self._needs_rates, count, address_of(self._integers), address_of(numbers)])
        self._seen = seen = numbers[: SEEN * count, 0].reshape(-1, SEEN)
        self._before, self._now = seen[:, BEFORE : RATE_BEFORE + 1 : 2], seen[:, NOW : RATE_NOW + 1 : 2]
        self._low, self._high, self._crossed = seen[:, AT_LOW : RATE_LOW + 1 : 2], seen[:, AT_HIGH], seen[:, CROSSED]

    @functools.cached_property
    def _callback(self) -> Callback:
        """The callback for kernels of a witness that only Python knows."""

        def compute(scalar: str, pointer: int, k: int, where: int) -> None:
            state, one = self._integrator.get_state(), self.watched[k]
            state.valid, state.stage_number = self._realized[where]
            if state.resources is not None:
                state.resources.versions[Stage.TIME] += 1
            out = state.record.witness_values
            try:
                value = one.value(state)
                out[0, 0] = value if isinstance(value, float) else one_number(repr(one.name), value)
                has_rate = one.rate is not None and where not in (watching.WITH_SPEEDS, watching.AS_NEEDED)
                out[0, 1] = one.rate(state) if has_rate and one.rate is not None else np.nan
            except Exception:  # it is asked again when the kernel has returned, and raises it there
                out[0, 0] = out[0, 1] = np.nan
            finally:
                state.valid = 0

        def fail(scalar: str, pointer: int, k: int, where: int) -> None:
            self._integrator.get_state().record.witness_values[0] = np.nan

        return Callback(compute, fail)

    @functools.cached_property
    def _looking(self) -> Callback:
        """The callback with which a search looks at all witnesses, where kernels do not."""

        def compute(scalar: str, pointer: int, k: int, where: int) -> None:
            h = float(self._integrator.get_state().record.witness_values[0, 0])
            time = float(self._integrator.control[rk.AT])
            if h == 0.0:
                self._seen[:, HERE] = self._look_at(time)
            else:
                self._seen[:, HERE], self._seen[:, RATE_HERE] = self._look_with_slopes(time, h)

        def fail(scalar: str, pointer: int, k: int, where: int) -> None:
            self._seen[:, HERE] = np.nan

        return Callback(compute, fail)

    def __getstate__(self) -> dict[str, Any]:
        kept = {**self.__dict__, "_packed": None, "_made_of": None}  # addresses are of this process
        views = "_before", "_now", "_low", "_high", "_crossed"
        for of_process in ("_callback", "_looking", "_integers", "_numbers", "_told", *views):
            kept.pop(of_process, None)
        return kept

    def _revive(self) -> None:
        """Pack anew what a checkpoint has kept."""
        kept = self._seen
        self._pack()
        self._choose_searcher()
        self._seen[:] = kept

    # ------------------------------------------------------------------------------------------ looking

    def begin(self) -> None:
        """A continuous interval begins at the state as it is realized."""
        state = self._integrator.get_state()
        self.time = self._end = state.time
        if self._begin_by_kernel(state):
            self._bounds = self._bounds_at_end = self._low[self._with_knots].tolist() if self._has_knots else []
        else:
            self._seen[:, SHIFT] = 0.0
            values = self._look(state)
            for k, one in enumerate(self.watched):
                if one.near:
                    self._seen[k, SHIFT] = shift = raise_of(one.near, values[k])
                    values[k] += shift
            slopes = [np.nan if rate is None else rate(state) for rate in self._rates]
            self._low[:] = list(zip(values, slopes, strict=True))
            self._bounds = self._bounds_at_end = self._bounds_at(state)

    def _begin_by_kernel(self, state: State) -> bool:
        """Look at all witnesses as the loop over steps does; false where Python has to, or is to say which is not finite.

        Of those with knots that are their bounds, which are no numbers where Python has to look.
        """
        if not self._all_packed:
            return False
        self._integrator.share_witnesses(self._integers, self._numbers)
        given = state.block, len(self.watched)
        is_finite: bool = (watching.begin.code or watching.begin.code_for(*given))(*given)
        if self._has_knots:
            self._seen[self._with_knots, SHIFT] = 0.0
        return is_finite

    @property
    def is_raised(self) -> bool:
        """True if gaps that were violated where the interval began, by more than the constraint tolerance, count from there."""
        least, raised = self._integrator.constraint_tolerance, self._seen[:, SHIFT].tolist()
        return any(one.near == GAP and shift > least for one, shift in zip(self.watched, raised, strict=True))

    def resume(self) -> None:
        """Events at the present state, which were found last, have changed nothing: the rest of the step is to be searched."""
        state = self._integrator.get_state()
        self.time, self._low[:, 0] = state.time, self._high  # the search has left no rates there
        if self._has_knots:
            self._bounds = self._bounds_at(state)

    def _bounds_at(self, state: State) -> list[tuple[float, float]]:
        return [one.bound(state) for one in self.watched if one.bound is not None]

    def can_enter_loop(self, time: float) -> bool:
        """True if all witnesses are known at a time, at which steps begin, and the loop can look at them from there."""
        return self._is_packed and self.time == time

    @property
    def moves(self) -> bool:
        """True if the loop leaves the record near the end of its last step, for differences, and not there."""
        return self._has_differences

    def enter_loop(self, one_by_one: bool) -> int:
        """The integrator's loop is about to take steps. How many witnesses it is to look at; below 0 to return after each step.

        `step_ended` or `leave_loop` has to follow.
        """
        integrator = self._integrator
        self._taken = integrator.counts.item(rk.STEPS)
        if self._packed is None:
            self._revive()
        self._in_loop = not one_by_one and self._is_packed
        if not self._in_loop:
            return -1
        integrator.share_witnesses(self._integers, self._numbers)
        self._tell(self._searcher)
        integrator.control[rk.SOUGHT] = self.time
        if not self.time < self._end:
            self._now[:] = self._low
        if self._has_knots:
            for k, bound in zip(self._with_knots, self._bounds, strict=False):  # none where no interval has begun
                self._now[k] = bound
        return len(self.watched)

    def _choose_searcher(self) -> None:
        """Choose what searches steps in the loop: nothing where Python has to look at witnesses, or there are none.

        It is compiled for the first of them, though nothing may come of it: what searches makes a difference to last digits.
        """
        is_python = self._has_knots or not self._is_packed or not self.watched
        self._searcher = 0 if is_python else type(self._integrator).find.address()

    @property
    def searches_in_loop(self) -> bool:
        """True if the loop, when it is entered, begins by searching what is left of the last step."""
        return self._packed is not None and self._searcher != 0

    def _tell(self, searcher: int, looker: int = 0) -> None:
        """Tell the loop what there is to search."""
        told = self._told
        if told.item(0) != searcher or told.item(1) != looker:
            told[:2] = searcher, looker
        self._integrator.counts[rk.SEARCHER : rk.SEEN_AT + 1] = told

    def take_found(self) -> Found:
        """The loop has found events in the last step."""
        integrator = self._integrator
        if not self._all_packed:
            raise_kept()
        self._in_loop, self._end = False, integrator.control.item(rk.TIME)
        integrator.counts[rk.WATCHES] = 0
        integrator.arrive_at_event()
        return self._found(integrator.control)

    def _found(self, control: Array) -> Found:
        """The events that a search has found."""
        self.time = control.item(rk.SOUGHT)
        return found_of(self.time, control.item(rk.EVENT), self.watched, self._crossed.tolist())

    def step_ended(self) -> None:
        """The loop has returned after a step in which an event is possible."""
        if not self._in_loop:
            self._integrator.arrive_at_end()
            self._keep_end()
            return
        if not self._all_packed:
            raise_kept()
        self._take_seen()
        self._in_loop = False
        self._integrator.counts[rk.WATCHES] = 0

    def _take_seen(self) -> None:
        """The last step is to be searched, as the loop has seen witnesses in it; or the rest of what was left."""
        ends = self._integrator.control.item
        if self._integrator.get_num_steps_taken() == self._taken:
            self.time = ends(rk.SOUGHT)
            return
        self.time, self._end = ends(rk.PREVIOUS_TIME), ends(rk.TIME)
        self._low[:] = self._before
        if self._has_knots:
            self._bounds, self._bounds_at_end = self._before[self._with_knots].tolist(), self._now[self._with_knots].tolist()

    def leave_loop(self, is_clear: bool = False) -> None:
        """The loop has returned, or was interrupted, where no event is possible before the last step.

        Nor is one in it, if *is_clear*.
        """
        if self._in_loop:
            self._take_seen()
            if is_clear:
                self.time, self._bounds = self._end, self._bounds_at_end
                self._low[:] = self._now
        self._in_loop = False

    def _keep_end(self) -> None:
        """The integrator has taken a step, at whose end the state is realized."""
        state, end = self._integrator.get_state(), self._integrator.get_advanced_time()
        values = self._look(state)
        slopes = [0.0 if rate is None else rate(state) for rate in self._rates]
        if self._has_differences:
            self._differences(end, values, slopes, -DIFFERENCE * (end - self.time))
        self._end = end
        if self._has_knots:
            self._bounds_at_end = self._bounds_at(state)
        self._seen[:, NOW], self._seen[:, RATE_NOW] = values, slopes

    def _look(self, state: State) -> list[float]:
        """All witnesses at the state as it is realized."""
        values = [one.value(state) for one in self.watched]
        for k, (one, value) in enumerate(zip(self.watched, values, strict=True)):
            if not isinstance(value, float):
                values[k] = value = one_number(repr(one.name), value)  # of a user's own get_value
            if not -np.inf < value < np.inf:
                raise ModelError(f"the witness of {one.name!r} is {value} at time {state.time:.9g}; it has to be finite")
            if one.near:
                values[k] = value + float(self._seen[k, SHIFT])
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
        if self.time >= self._end:
            return None
        if self._packed is None:
            self._revive()
        if not self._has_knots:
            return self._search_up_to(self._end)
        at_end = self._now.copy()
        try:
            for end in self._parts():
                found = self._search_up_to(end)
                if found is not None:
                    return found
        finally:
            self._now[:] = at_end
        self._bounds = self._bounds_at_end
        return None

    def _search_up_to(self, end: float) -> Found | None:
        """The first events after `time` and up to *end*, where values and rates are those NOW."""
        integrator, seen = self._integrator, self._seen
        control, looks = integrator.control, 0
        control[rk.SOUGHT] = self.time
        if self._is_packed and not self._has_knots:  # of which they know bounds
            integrator.share_witnesses(self._integers, self._numbers)
        else:
            looks = self._looking.address()
        self._tell(type(integrator).find.address(), looks)
        for is_again in (False, True):
            status = integrator.search_events(end)
            if looks or not self._all_packed:
                raise_kept()
            if status != event_search.LOST:
                break
            time = float(control[rk.AT])
            self._look_at(time)  # says what is the matter, unless that is over
            if is_again:
                raise ModelError(f"a witness is not finite at time {time:.9g}; it has to be finite")
            seen[:, NOW], seen[:, RATE_NOW] = self._look_with_slopes(end, -DIFFERENCE * (end - self.time))
        if status == rk.FOUND:
            return self._found(control)
        self.time = control.item(rk.SOUGHT)
        return None

    def _parts(self) -> Iterator[float]:
        """The ends of the parts in which a step with knots is searched, with what is seen there: from knot to knot, or all.

        A part is halved until it passes no more than one knot. The step's middle is looked at in any case: a table can be
        passed there and back.
        """
        a, end, seen = self.time, self._end, self._seen
        if not self._is_above(end - a):
            # of these the loop has seen bounds
            seen[:, AT_LOW], seen[:, RATE_LOW] = self._look_with_slopes(a, DIFFERENCE * (end - a))
            shortest, before = _SHORTEST_PART * (end - a), self._knots_at(a)
            ends = [(time, self._knots_at(time)) for time in (end, 0.5 * (a + end))]  # the next one is the last
            while ends:
                b, knots = ends[-1]
                if b - a > shortest and any(abs(one - other) > 1.0 for one, other in zip(knots, before, strict=True)):
                    ends.append((0.5 * (a + b), self._knots_at(0.5 * (a + b))))
                    continue
                ends.pop()
                seen[:, NOW], seen[:, RATE_NOW] = self._look_with_slopes(b, -DIFFERENCE * (b - a))
                yield b
                a, before = b, knots
            return
        yield end

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
