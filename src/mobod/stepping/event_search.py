"""The search of a step for events: of one state, or of lanes one after the other.

After a step the signs of witnesses at its ends are compared. Where they are equal but the slopes point at each other (the
witness goes over to the other side, and back), the extremum in between is looked for: the two tangents bound it where the
witness is concave, so that most steps need no more than that. Changes of sign are then narrowed down on the dense output, by
the secant with Illinois' weights, kept a tenth of a window away from the ends so that the bracket closes from both sides; a
bisection now and then bounds the number of evaluations.

Source: Dowell and Jarratt 1971 (Illinois); Shampine, Gladwell and Brankin 1991 (events).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..algebra.record import address_of, attach, call_routine, integers_at, numbers_at, row_at
from ..algebra.scalar import load_lane, store, store_lane
from ..compiling import Routine, compiled, generic, routine
from . import record as rk
from .evaluate import evaluate, move, settle_between
from .method import method
from .record import AT, EVENT, FOUND, SOUGHT, run_of
from .witnesses import (
    AS_NEEDED,
    AT_END,
    AT_HIGH,
    AT_LOW,
    BEFORE,
    CROSSED,
    DIFFERENCE,
    DIFFERS,
    FALLING,
    HERE,
    NOW,
    RATE_BEFORE,
    RATE_HERE,
    RATE_LOW,
    RATE_NOW,
    RISING,
    SEEN,
    SHIFT,
    WIDTH,
    WINDOW,
    WITH_SPEEDS,
    ask,
)

#: Parts of a step in which the slopes of witnesses are looked at, and places in one in which an event is narrowed down.
_MOST_PARTS, _MOST_PLACES = 60, 200
_NEVER, _UNKNOWN = float("inf"), float("nan")
#: A window is no smaller than so many roundings of a time.
_RESOLUTION = 8.0 * 2.0**-52
#: What a search comes to: nothing, or a witness that is not a number on the way; or an event, FOUND.
NOTHING, LOST = rk.REACHED, rk.SUSPECT


class Searched(NamedTuple):
    """One state whose step is searched.

    Attributes
    ----------
    run : Run
    watched, seen
        The table of witnesses, and what has been seen of them: see `stepping.witnesses`.
    """

    run: Any
    watched: Any
    seen: Any


@generic
def copy_seen(crew: Any, lane: int, source: int, target: int) -> None:
    """Copy a row of `seen` of each witness to another."""
    for w in range(crew.watched.shape[0] // WIDTH):
        store_lane(crew.seen, SEEN * w + target, 0, lane, load_lane(crew.seen, SEEN * w + source, 0, lane))


@generic
def _crossing(crew: Any, w: int, lane: int, to: int) -> float:
    """1 or -1 where a witness has risen or fallen, as counts, from the beginning of what is searched to a row of `seen`.

    A change that starts from zero is no event.
    """
    before, after = load_lane(crew.seen, SEEN * w + AT_LOW, 0, lane), load_lane(crew.seen, SEEN * w + to, 0, lane)
    if before > 0.0 and after <= 0.0 and crew.watched[WIDTH * w + FALLING] != 0:
        return -1.0
    if before < 0.0 and after >= 0.0 and crew.watched[WIDTH * w + RISING] != 0:
        return 1.0
    return 0.0


def _excursions(look_at: Callable[..., bool]) -> Callable[..., float]:
    """Make what finds witnesses that go over to the other side, and back, within a step; *look_at* as of `searching`."""

    @generic
    def other_side(model: Any, crew: Any, w: int, lane: int, a: float, b: float) -> float:
        """A time at which a witness, of the same sign at both ends, has the other one, and is looked at last; else infinity.

        Not a number where a witness is none on the way.
        """
        seen, row = crew.seen, SEEN * w
        sign = -1.0 if load_lane(seen, row + NOW, 0, lane) > 0.0 else 1.0
        ga, ra = sign * load_lane(seen, row + AT_LOW, 0, lane), sign * load_lane(seen, row + RATE_LOW, 0, lane)
        gb, rb = sign * load_lane(seen, row + NOW, 0, lane), sign * load_lane(seen, row + RATE_NOW, 0, lane)
        for _ in range(_MOST_PARTS):
            # the tangents meet at m, and nothing that is concave rises above them
            m = a + (gb - ga - rb * (b - a)) / (ra - rb)
            if b - a <= 0.5 * load_lane(seen, row + WINDOW, 0, lane) or ga + ra * (m - a) <= 0.0:
                break
            m = min(max(m, a + 0.05 * (b - a)), b - 0.05 * (b - a))
            if not a < m < b:
                break
            if not look_at(model, crew, lane, m, DIFFERENCE * (b - a)):
                return _UNKNOWN
            g, r = sign * load_lane(seen, row + HERE, 0, lane), sign * load_lane(seen, row + RATE_HERE, 0, lane)
            if g > 0.0:
                return m
            if r > 0.0:
                a, ga, ra = m, g, r
            elif r < 0.0:
                b, gb, rb = m, g, r
            else:
                break
        return _NEVER

    @generic
    def excursion(model: Any, crew: Any, lane: int, a: float, b: float) -> float:
        """The first time at which a witness has the sign opposite to that at both ends, with values there AT_HIGH; else b.

        Not a number where a witness is none on the way.
        """
        seen, watched, first = crew.seen, crew.watched, b
        copy_seen(crew, lane, NOW, AT_HIGH)
        for w in range(watched.shape[0] // WIDTH):
            row = SEEN * w
            ga, gb = load_lane(seen, row + AT_LOW, 0, lane), load_lane(seen, row + NOW, 0, lane)
            rb = load_lane(seen, row + RATE_NOW, 0, lane)
            # towards zero from the end backwards, and the same sign, or zero, at the beginning
            if gb * rb <= 0.0 or ga * gb < 0.0 or (watched[WIDTH * w + RISING] == 0 and watched[WIDTH * w + FALLING] == 0):
                continue
            rate = load_lane(seen, row + RATE_LOW, 0, lane)
            if not rate == rate:
                look_at(model, crew, lane, a, DIFFERENCE * (b - a))
                copy_seen(crew, lane, RATE_HERE, RATE_LOW)
            if not load_lane(seen, row + RATE_LOW, 0, lane) * gb < 0.0:
                continue
            found = other_side(model, crew, w, lane, a, b)
            if not found == found:
                return found
            if found < first:
                first = found
                copy_seen(crew, lane, HERE, AT_HIGH)
        return first

    return excursion


def _localizing(look_at: Callable[..., bool]) -> Callable[..., int]:
    """Make what narrows down changes of sign; *look_at* as of `searching`."""

    @generic
    def secant(crew: Any, lane: int, a: float, b: float, weights: tuple[float, float]) -> Any:
        """The window of those that have crossed between *a* and *b*, and where the first may be, by the weighted secant."""
        window, m = _NEVER, b
        for w in range(crew.watched.shape[0] // WIDTH):
            row = SEEN * w
            if load_lane(crew.seen, row + CROSSED, 0, lane) != 0.0:
                window = min(window, load_lane(crew.seen, row + WINDOW, 0, lane))
                ga = weights[0] * load_lane(crew.seen, row + AT_LOW, 0, lane)
                gb = weights[1] * load_lane(crew.seen, row + AT_HIGH, 0, lane)
                m = min(m, a + (b - a) * ga / (ga - gb))
        return max(window, _RESOLUTION * max(abs(a), abs(b))), m

    @generic
    def localize(model: Any, crew: Any, lane: int, a: float, b: float) -> int:
        """Narrow down to its window, from SOUGHT to EVENT, the first event between *a* and *b*: CROSSED is who has changed."""
        seen, n = crew.seen, crew.watched.shape[0] // WIDTH
        weight_a = weight_b = 1.0
        moved = 0
        for number in range(_MOST_PLACES):
            window, m = secant(crew, lane, a, b, (weight_a, weight_b))
            if b - a <= window:
                break
            if number % 4 == 3:
                m = 0.5 * (a + b)
            m = min(max(m, a + 0.1 * window), b - 0.1 * window)
            if not a < m < b:
                break
            if not look_at(model, crew, lane, m, 0.0):
                return LOST
            any_now = False
            for w in range(n):
                now = load_lane(seen, SEEN * w + CROSSED, 0, lane) != 0.0 and _crossing(crew, w, lane, HERE) != 0.0
                any_now = any_now or now
            if any_now:
                for w in range(n):
                    if load_lane(seen, SEEN * w + CROSSED, 0, lane) != 0.0:
                        store_lane(seen, SEEN * w + CROSSED, 0, lane, _crossing(crew, w, lane, HERE))
                copy_seen(crew, lane, HERE, AT_HIGH)
                b, weight_a, weight_b = m, weight_a * (0.5 if moved == 1 else 1.0), 1.0
                moved = 1
            else:
                copy_seen(crew, lane, HERE, AT_LOW)
                a, weight_a, weight_b = m, 1.0, weight_b * (0.5 if moved == 2 else 1.0)
                moved = 2
        begin_search(crew, lane, a, AT_LOW, -1)
        store_lane(crew.run.control, EVENT, 0, lane, b)
        return FOUND

    return localize


def searching(look_at: Callable[..., bool]) -> Callable[..., int]:
    """Make the search of steps, of a record in which ``look_at(model, crew, lane, time, h)`` looks at all witnesses.

    It puts values HERE, where *h* is not 0 rates, too (those that are differences over *h*), and tells whether all values are
    finite. *crew* has `run`, `watched` and `seen`, as `Searched` does.
    """
    excursion, localize = _excursions(look_at), _localizing(look_at)

    @generic
    def search(model: Any, crew: Any, lane: int, b: float) -> int:
        """Search the last step from SOUGHT, values there AT_LOW, up to *b*, those there NOW, for the first event."""
        seen, control = crew.seen, crew.run.control
        for _ in range(_MOST_PARTS):
            a, any_crossing = load_lane(control, SOUGHT, 0, lane), False
            if not a < b:
                break
            end = excursion(model, crew, lane, a, b)
            if not end == end:
                return LOST
            for w in range(crew.watched.shape[0] // WIDTH):
                if not abs(load_lane(seen, SEEN * w + AT_HIGH, 0, lane)) < 1e300:
                    return LOST
                crossing = _crossing(crew, w, lane, AT_HIGH)
                store_lane(seen, SEEN * w + CROSSED, 0, lane, crossing)
                any_crossing = any_crossing or crossing != 0.0
            if any_crossing:
                return localize(model, crew, lane, a, end)
            begin_search(crew, lane, end, AT_HIGH, RATE_NOW if end == b else -1)
        return NOTHING

    return search


@generic
def begin_search(crew: Any, lane: int, time: float, values: int, rates: int) -> None:
    """The last step is to be searched from a *time* on, with values and *rates* in rows of `seen`; -1 for rates not known."""
    store_lane(crew.run.control, SOUGHT, 0, lane, time)
    copy_seen(crew, lane, values, AT_LOW)
    if rates >= 0:
        copy_seen(crew, lane, rates, RATE_LOW)
        return
    for w in range(crew.watched.shape[0] // WIDTH):
        store_lane(crew.seen, SEEN * w + RATE_LOW, 0, lane, _UNKNOWN)


@generic
def is_finite(crew: Any, lane: int) -> bool:
    """True if all witnesses were finite where they were looked at last."""
    finite = True
    for w in range(crew.watched.shape[0] // WIDTH):
        finite = finite and abs(load_lane(crew.seen, SEEN * w + HERE, 0, lane)) < 1e300
    return finite


def looking(go: Callable[..., None], least: int) -> Callable[..., bool]:
    """Make what looks at witnesses for `searching`.

    ``go(model, crew, lane, time, with_rates)`` realizes the record at a time within the last step of a lane as far as witnesses
    need it. Those that differ by *least* or more, see `DIFFERS`, are differences.
    """

    @generic
    def look(model: Any, crew: Any, lane: int, time: float, h: float) -> bool:
        seen, watched, differs = crew.seen, crew.watched, False
        go(model, crew, lane, time, h != 0.0)
        for w in range(watched.shape[0] // WIDTH):
            ask(model, watched, w, AS_NEEDED if h == 0.0 else AT_END)
            value = load_lane(model.witness_values, 0, 0, lane) + load_lane(seen, SEEN * w + SHIFT, 0, lane)
            store_lane(seen, SEEN * w + HERE, 0, lane, value)
            store_lane(seen, SEEN * w + RATE_HERE, 0, lane, load_lane(model.witness_values, 0, 1, lane))
            differs = differs or watched[WIDTH * w + DIFFERS] >= least
        if differs and h != 0.0 and time + h != time:
            go(model, crew, lane, time + h, False)
            for w in range(watched.shape[0] // WIDTH):
                if watched[WIDTH * w + DIFFERS] >= least:
                    ask(model, watched, w, AS_NEEDED)
                    after = load_lane(model.witness_values, 0, 0, lane) + load_lane(seen, SEEN * w + SHIFT, 0, lane)
                    rate = (after - load_lane(seen, SEEN * w + HERE, 0, lane)) / h
                    store_lane(seen, SEEN * w + RATE_HERE, 0, lane, rate)
        return is_finite(crew, lane)

    return look


# -------------------------------------------------------------------------------------------- one state


def of_one_state(interpolate: Callable[..., None], name: str, control_size: int = rk.CONTROL_SIZE) -> Routine:
    """Make the search of a step of one state by a method's `interpolate`; the method's name names the compiled code.

    It is a routine, compiled where something is watched, and called by the loop over steps, or by `search_now`.
    """

    @generic
    def go(model: Any, crew: Any, lane: int, time: float, with_rates: bool) -> None:
        run = crew.run
        interpolate(model, run, time)
        settle_between(model, run, time, 1.0)
        if with_rates or run.plan[rk.NEEDS_RATES] != 0:
            evaluate(model, run.plan)
        else:
            move(model, run.plan)

    look = looking(go, WITH_SPEEDS)

    @generic
    def look_at(model: Any, crew: Any, lane: int, time: float, h: float) -> bool:
        """See `searching`: of one state. Where there is no result AT says at which time that was."""
        crew.run.control[AT] = time
        if crew.run.plan[rk.LOOKER] == 0:
            return look(model, crew, 0, time, h)
        store(model.witness_values, 0, 0, h)
        call_routine(crew.run.plan[rk.LOOKER], model, 0, 0)
        return is_finite(crew, 0)

    search = searching(look_at)

    def find(model: Any, anew: int, work_at: int, size: int, table_at: int, control_at: int, counts_at: int) -> int:
        """Search the last step of one state up to AT: NOTHING, FOUND or LOST. Its arrays are at addresses, *size* rows of work.

        *anew* if from its beginning, as the loop has seen witnesses there; else from SOUGHT. Where it is FOUND the record is
        left at the event, if AT says so, realized.
        """
        control, counts = row_at(control_at, control_size), integers_at(counts_at, rk.COUNTS_SIZE)
        work, table = numbers_at(work_at, size, model.ny), numbers_at(table_at, size, model.ny)
        n, end = counts[rk.WATCHED], control[AT]
        watched, seen = integers_at(counts[rk.TABLE_AT], WIDTH * n), numbers_at(counts[rk.SEEN_AT], SEEN * n, 1)
        crew = Searched(run_of(work, table, control, counts), watched, seen)
        if anew != 0:
            begin_search(crew, 0, control[rk.PREVIOUS_TIME], BEFORE, RATE_BEFORE)
        for w in range(n):
            if counts[rk.LOOKER] == 0 and not abs(seen[SEEN * w + NOW, 0]) + abs(seen[SEEN * w + RATE_NOW, 0]) < 1e300:
                return LOST
        status: int = search(model, crew, 0, end)
        if status == FOUND:
            event = control[EVENT]
            control[AT] = _UNKNOWN
            if counts[rk.LOOKER] == 0:
                interpolate(model, crew.run, event)
                settle_between(model, crew.run, event, 1.0)
                if evaluate(model, counts) == 0.0:
                    control[AT] = event
        return status

    find.__qualname__ = f"find.{name}"
    return routine(find)


find = of_one_state(method.interpolate, "hermite")


@generic
def search_step(model: Any, run: Any, end: float, anew: int) -> int:
    """Search the last step of one state up to *end*, by the method's routine: see `of_one_state`."""
    run.control[AT] = end
    work, table, control, counts = address_of(run.work), address_of(run.table), address_of(run.control), address_of(run.plan)
    status: int = call_routine(run.plan[rk.SEARCHER], model, anew, work, run.work.shape[0], table, control, counts)
    return status


@compiled
def search_now(block: Any, work: Any, table: Any, control: Any, counts: Any, end: float) -> int:
    """`search_step` from SOUGHT on, from Python."""
    return search_step(attach(block), run_of(work, table, control, counts), end, 0)
