"""Events within the last steps of lanes: searched one lane after the other, with the record of all at that lane's time.

As `event.watch` does for one state, which says how: tangents at both ends exclude that a witness went over to the other side
and back, or tell where to look; changes of sign are narrowed down by the secant with Illinois' weights.
"""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load, load_lane
from ...compiling import apart, generic
from ...stepping import record as rk, witnesses as watching
from ...stepping.evaluate import evaluate, move
from ...stepping.record import PREVIOUS_TIME, TIME
from ...stepping.rows import set_row
from ..batch_memory import finish_steps
from . import layout as at
from .layout import AT, EVENT, HALT, LOOKS, SEEKS, SOUGHT, STATE
from .reports import settle_between
from .states import leave
from .witnesses import (
    AT_HIGH,
    AT_LOW,
    BEFORE,
    CROSSED,
    HERE,
    NOW,
    RATE_BEFORE,
    RATE_HERE,
    RATE_LOW,
    RATE_NOW,
    SEEN,
    SHIFT,
    WINDOW,
    ask,
)

#: Parts of a step in which the slopes of witnesses are looked at, and places in one in which an event is narrowed down.
_MOST_PARTS, _MOST_PLACES = 60, 200
_NEVER, _UNKNOWN = float("inf"), float("nan")
#: A window is no smaller than so many roundings of a time.
_RESOLUTION = 8.0 * 2.0**-52
#: What a search comes to: nothing, an event, or a witness that is not a number on the way.
_NOTHING, _FOUND, _LOST = range(3)


@apart
def _look_at(model: Any, crew: Any, lane: int, time: float, with_rates: bool) -> bool:
    """Look at all witnesses of a lane at a time within its last step; whether their values are finite."""
    run, marks = crew.run, crew.marks
    plan, control = run.plan, run.control
    crew.queue[at.REALIZED] = 0
    for one in range(8):
        control[AT, 0, one] = control[TIME, 0, one]
        marks[LOOKS, 0, one] = 0.0
    control[AT, 0, lane] = time
    marks[LOOKS, 0, lane] = 2.0 if with_rates else 1.0
    settle_between(model, run, marks, LOOKS)
    if with_rates or plan[at.NEEDS_RATES] != 0:
        evaluate(model, plan, run.held)
    else:
        move(model, plan)
    sound = True
    for w in range(crew.watched.shape[0]):
        ask(model, crew.watched, w)
        value = load_lane(model.witness_values, 0, 0, lane) + crew.seen[SEEN * w + SHIFT, 0, lane]
        crew.seen[SEEN * w + HERE, 0, lane] = value
        crew.seen[SEEN * w + RATE_HERE, 0, lane] = load_lane(model.witness_values, 0, 1, lane)
        sound = sound and abs(value) < 1e300
    return sound


@generic
def _copy(crew: Any, lane: int, source: int, target: int) -> None:
    """Copy a row of `seen` of each witness to another."""
    for w in range(crew.watched.shape[0]):
        crew.seen[SEEN * w + target, 0, lane] = crew.seen[SEEN * w + source, 0, lane]


@generic
def _crossing(crew: Any, w: int, lane: int, to: int) -> float:
    """1 or -1 where a witness has risen or fallen, as counts, from the beginning of what is searched to a row of `seen`."""
    before, after = crew.seen[SEEN * w + AT_LOW, 0, lane], crew.seen[SEEN * w + to, 0, lane]
    if before > 0.0 and after <= 0.0 and crew.watched[w, watching.FALLING] != 0:
        return -1.0
    if before < 0.0 and after >= 0.0 and crew.watched[w, watching.RISING] != 0:
        return 1.0
    return 0.0


@generic
def _window(model: Any, crew: Any, w: int, lane: int) -> float:
    window: float = load_lane(model.witness_numbers, crew.watched[w, WINDOW], 0, lane)
    return window


@generic
def _other_side(model: Any, crew: Any, w: int, lane: int, a: float, b: float) -> float:
    """A time at which a witness, of the same sign at both ends, has the other one, and is looked at last; infinity if none."""
    row = SEEN * w
    sign = -1.0 if crew.seen[row + NOW, 0, lane] > 0.0 else 1.0
    ga, ra = sign * crew.seen[row + AT_LOW, 0, lane], sign * crew.seen[row + RATE_LOW, 0, lane]
    gb, rb = sign * crew.seen[row + NOW, 0, lane], sign * crew.seen[row + RATE_NOW, 0, lane]
    for _ in range(_MOST_PARTS):
        # the tangents meet at m, and nothing that is concave rises above them
        m = a + (gb - ga - rb * (b - a)) / (ra - rb)
        if b - a <= 0.5 * _window(model, crew, w, lane) or ga + ra * (m - a) <= 0.0:
            break
        m = min(max(m, a + 0.05 * (b - a)), b - 0.05 * (b - a))
        if not a < m < b or not _look_at(model, crew, lane, m, True):
            break
        g, r = sign * crew.seen[row + HERE, 0, lane], sign * crew.seen[row + RATE_HERE, 0, lane]
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
def _excursion(model: Any, crew: Any, lane: int, a: float, b: float) -> float:
    """The first time at which a witness has the sign opposite to that at both ends, with values there AT_HIGH; else the end."""
    seen, watched, first = crew.seen, crew.watched, b
    _copy(crew, lane, NOW, AT_HIGH)
    for w in range(watched.shape[0]):
        ga, gb, rb = seen[SEEN * w + AT_LOW, 0, lane], seen[SEEN * w + NOW, 0, lane], seen[SEEN * w + RATE_NOW, 0, lane]
        # towards zero from the end backwards, and the same sign, or zero, at the beginning
        if gb * rb <= 0.0 or ga * gb < 0.0 or (watched[w, watching.RISING] == 0 and watched[w, watching.FALLING] == 0):
            continue
        rate = seen[SEEN * w + RATE_LOW, 0, lane]
        if not rate == rate:
            _look_at(model, crew, lane, a, True)
            _copy(crew, lane, RATE_HERE, RATE_LOW)
        if not seen[SEEN * w + RATE_LOW, 0, lane] * gb < 0.0:
            continue
        found = _other_side(model, crew, w, lane, a, b)
        if found < first:
            first = found
            _copy(crew, lane, HERE, AT_HIGH)
    return first


@generic
def _localize(model: Any, crew: Any, lane: int, a: float, b: float) -> int:
    """Narrow down to its window the first event between *a* and *b*: EVENT is its later end, CROSSED who has changed sign."""
    seen, n, control = crew.seen, crew.watched.shape[0], crew.run.control
    weight_a = weight_b = 1.0
    moved = 0
    for number in range(_MOST_PLACES):
        window, m = _NEVER, b
        for w in range(n):
            if seen[SEEN * w + CROSSED, 0, lane] != 0.0:
                window = min(window, _window(model, crew, w, lane))
                ga, gb = weight_a * seen[SEEN * w + AT_LOW, 0, lane], weight_b * seen[SEEN * w + AT_HIGH, 0, lane]
                m = min(m, a + (b - a) * ga / (ga - gb))
        window = max(window, _RESOLUTION * max(abs(a), abs(b)))
        if b - a <= window:
            break
        if number % 4 == 3:
            m = 0.5 * (a + b)
        m = min(max(m, a + 0.1 * window), b - 0.1 * window)
        if not a < m < b:
            break
        if not _look_at(model, crew, lane, m, False):
            return _LOST
        any_now = False
        for w in range(n):
            now = seen[SEEN * w + CROSSED, 0, lane] != 0.0 and _crossing(crew, w, lane, HERE) != 0.0
            any_now = any_now or now
        if any_now:
            for w in range(n):
                if seen[SEEN * w + CROSSED, 0, lane] != 0.0:
                    seen[SEEN * w + CROSSED, 0, lane] = _crossing(crew, w, lane, HERE)
            _copy(crew, lane, HERE, AT_HIGH)
            b, weight_a, weight_b = m, weight_a * (0.5 if moved == 1 else 1.0), 1.0
            moved = 1
        else:
            _copy(crew, lane, HERE, AT_LOW)
            a, weight_a, weight_b = m, 1.0, weight_b * (0.5 if moved == 2 else 1.0)
            moved = 2
    control[EVENT, 0, lane] = b
    return _FOUND


@generic
def _search(model: Any, crew: Any, lane: int) -> int:
    """Search the last step of a lane from where that has been done, for the first event."""
    seen, control = crew.seen, crew.run.control
    for _ in range(_MOST_PARTS):
        a, b = control[SOUGHT, 0, lane], control[TIME, 0, lane]
        if not a < b:
            break
        end, any_crossing = _excursion(model, crew, lane, a, b), False
        for w in range(crew.watched.shape[0]):
            if not abs(seen[SEEN * w + AT_HIGH, 0, lane]) < 1e300:
                return _LOST
            seen[SEEN * w + CROSSED, 0, lane] = _crossing(crew, w, lane, AT_HIGH)
            any_crossing = any_crossing or seen[SEEN * w + CROSSED, 0, lane] != 0.0
        if any_crossing:
            return _localize(model, crew, lane, a, end)
        _begin_search(crew, lane, end, AT_HIGH)
    return _NOTHING


@generic
def _begin_search(crew: Any, lane: int, time: float, values: int) -> None:
    """The last step is to be searched from a *time* on, with values in a row of `seen`."""
    crew.run.control[SOUGHT, 0, lane] = time
    _copy(crew, lane, values, AT_LOW)
    for w in range(crew.watched.shape[0]):
        unknown = values != BEFORE
        crew.seen[SEEN * w + RATE_LOW, 0, lane] = _UNKNOWN if unknown else crew.seen[SEEN * w + RATE_BEFORE, 0, lane]


@apart
def find_events(model: Any, crew: Any) -> bool:
    """Find the first EVENT in the last steps of lanes that are to be searched; whether one leaves, whose search was lost.

    Where Python has seen one that changes nothing, the rest of the step is searched.
    """
    lanes, control, any_lost, any_again, any_seeks = crew.lanes, crew.run.control, False, False, False
    for lane in range(8):
        any_seeks = any_seeks or (lanes[STATE, lane] >= 0 and lanes[SEEKS, lane] != 0)
    if not any_seeks:
        return False
    for lane in range(8):
        again = lanes[STATE, lane] >= 0 and lanes[SEEKS, lane] != 0 and control[EVENT, 0, lane] < _NEVER
        crew.marks[at.BETWEEN, 0, lane] = 1.0 if again else 0.0
        any_again = any_again or again
    if any_again and (model.measure_memory_size > 0 or model.bristle_rows > 0):  # what is remembered is of the step's end again
        set_row(model, crew.run.work, rk.Y, load(control, TIME, 0))
        evaluate(model, crew.run.plan, crew.run.held)
        finish_steps(model, crew.marks, at.BETWEEN, crew.kept)
    for lane in range(8):
        if lanes[STATE, lane] < 0 or lanes[SEEKS, lane] == 0:
            continue
        if control[EVENT, 0, lane] < _NEVER:
            _begin_search(crew, lane, control[EVENT, 0, lane], AT_HIGH)
        else:
            _begin_search(crew, lane, control[PREVIOUS_TIME, 0, lane], BEFORE)
        lanes[SEEKS, lane], control[EVENT, 0, lane] = 0, _NEVER
        if _search(model, crew, lane) == _LOST:  # a run of one state says what is the matter, from where the step begins
            control[TIME, 0, lane], control[rk.STEP, 0, lane] = control[PREVIOUS_TIME, 0, lane], control[rk.SIZE, 0, lane]
            control[rk.LAST_ERROR, 0, lane] = 0.0
            lanes[at.STEPS, lane] -= 1
            leave(lanes, lane, at.SUSPECT, False)
            any_lost = True
    return any_lost


@generic
def _next_call(control: Any, lane: int) -> float:
    """When Python is called next for the state in a lane: for an event that was found, a reporter or a handler."""
    when: float = min(control[EVENT, 0, lane], control[at.REPORTER, 0, lane], control[at.WAIT, 0, lane])
    return when


@generic
def _is_due(lanes: Any, control: Any, lane: int) -> bool:
    """True if Python is called in the last step of a lane, and has not been."""
    when = _next_call(control, lane)
    busy = lanes[STATE, lane] >= 0 and lanes[at.CALLS, lane] == 0
    return busy and when <= control[TIME, 0, lane] and when < control[HALT, 0, lane]


@generic
def find_called(model: Any, crew: Any) -> bool:
    """Mark as DUE lanes in whose last step Python is called, with the record where it is first; whether there are such."""
    run, lanes, marks = crew.run, crew.lanes, crew.marks
    control, any_due = run.control, False
    for lane in range(8):
        any_due = any_due or _is_due(lanes, control, lane)
    if not any_due:
        return False
    for lane in range(8):
        due = _is_due(lanes, control, lane)
        marks[at.DUE, 0, lane] = 1.0 if due else 0.0
        control[AT, 0, lane] = _next_call(control, lane) if due else control[TIME, 0, lane]
    crew.queue[at.REALIZED] = 0
    settle_between(model, run, marks, at.DUE)
    if model.measure_memory_size > 0 or model.bristle_rows > 0:
        evaluate(model, run.plan, run.held)
        for lane in range(8):
            event = control[EVENT, 0, lane] <= control[AT, 0, lane]
            marks[at.BETWEEN, 0, lane] = marks[at.DUE, 0, lane] if event else 0.0
        finish_steps(model, marks, at.BETWEEN, crew.kept)
    return True
