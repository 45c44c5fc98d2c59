"""Events within the last steps of lanes: searched one lane after the other, with the record of all at that lane's time."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load, store, where, zero
from ...compiling import apart, generic
from ...stepping import record as rk
from ...stepping.evaluate import evaluate, finish_step, move
from ...stepping.event_search import LOST, begin_search, looking, searching
from ...stepping.record import AT, EVENT, PREVIOUS_TIME, STATE, TIME
from ...stepping.rows import set_row
from ...stepping.witnesses import (
    AT_HIGH,
    BEFORE,
    CROSSED,
    DIFFERS,
    NOW,
    RATE_BEFORE,
    SEEN,
    WIDTH,
    WITH_RATES,
    find_differences,
    look_at_all,
)
from . import layout as at
from .layout import ENDER, LOOKS, SEEKS
from .reports import put_settled
from .states import leave

_NEVER = float("inf")


@generic
def _go(model: Any, crew: Any, lane: int, time: float, with_rates: bool) -> None:
    """See `looking`: the other lanes are at the ends of their steps."""
    run, marks = crew.run, crew.marks
    crew.queue[at.REALIZED] = 0
    for one in range(8):
        run.control[AT, 0, one] = run.control[TIME, 0, one]
        marks[LOOKS, 0, one] = 0.0
    run.control[AT, 0, lane] = time
    marks[LOOKS, 0, lane] = 2.0 if with_rates else 1.0
    put_settled(model, run, marks, LOOKS)
    if with_rates or run.plan[at.NEEDS_RATES] != 0:
        evaluate(model, run.plan, run.held)
    else:
        move(model, run.plan)


@generic
def any_differs(watched: Any) -> bool:
    """True if rates of witnesses that kernels know are differences."""
    found = False
    for w in range(watched.shape[0] // WIDTH):
        found = found or watched[WIDTH * w + DIFFERS] == WITH_RATES
    return found


@apart
def find_rates(model: Any, crew: Any) -> None:
    """`find_differences` where steps that are TAKEN end, where this leaves the record."""
    run = crew.run
    taken, begin, end = load(run.control, rk.TAKEN, 0), load(run.control, TIME, 0), load(run.control, rk.ARRIVAL, 0)
    end, previous = where(taken > 0.0, end, begin), where(taken > 0.0, begin, load(run.control, PREVIOUS_TIME, 0))
    if find_differences(model, run, crew.watched, crew.watched.shape[0] // WIDTH, crew.seen, previous, end, taken):
        set_row(model, run.work, rk.Y, end)
        if run.plan[rk.LIMITER] != 0:
            evaluate(model, run.plan, run.held)


_look = looking(_go, WITH_RATES)


@apart
def _look_at(model: Any, crew: Any, lane: int, time: float, h: float) -> bool:
    """See `searching`."""
    sound: bool = _look(model, crew, lane, time, h)
    return sound


_search = searching(_look_at)


@generic
def look(model: Any, crew: Any, mark: Any, begins: bool, again: bool) -> None:
    """See `look_at_all`: of lanes that are marked; Python is asked for rates, too."""
    store(crew.marks, LOOKS, 0, where(mark > 0.0, 2.0 + zero(mark), zero(mark)))
    look_at_all(model, crew.watched, crew.watched.shape[0] // WIDTH, crew.seen, mark, begins, again)


@generic
def any_is(lanes: Any, row: int, what: int) -> bool:
    """True if a lane with a state has *what* in a row."""
    found = False
    for lane in range(8):
        found = found or (lanes[STATE, lane] >= 0 and lanes[row, lane] == what)
    return found


@apart
def find_events(model: Any, crew: Any) -> bool:
    """Find the first EVENT in the last steps of lanes that are to be searched; whether one leaves, whose search was lost.

    Where Python has seen one that changes nothing, the rest of the step is searched.
    """
    lanes, control, any_lost, any_again = crew.lanes, crew.run.control, False, False
    for lane in range(8):
        again = lanes[STATE, lane] >= 0 and lanes[SEEKS, lane] != 0 and control[EVENT, 0, lane] < _NEVER
        crew.marks[at.BETWEEN, 0, lane] = 1.0 if again else 0.0
        any_again = any_again or again
    if any_again and (model.measure_memory_size > 0 or model.bristle_rows > 0):  # what is remembered is of the step's end again
        set_row(model, crew.run.work, rk.Y, load(control, TIME, 0))
        evaluate(model, crew.run.plan, crew.run.held)
        finish_step(model, crew.run.plan, load(crew.marks, at.BETWEEN, 0), crew.kept)
    for lane in range(8):
        if lanes[STATE, lane] < 0 or lanes[SEEKS, lane] == 0:
            continue
        if control[EVENT, 0, lane] < _NEVER:
            begin_search(crew, lane, control[EVENT, 0, lane], AT_HIGH, -1)
        else:
            begin_search(crew, lane, control[PREVIOUS_TIME, 0, lane], BEFORE, RATE_BEFORE)
        lanes[SEEKS, lane], control[EVENT, 0, lane] = 0, _NEVER
        # a run of one state says what is the matter, from where the step begins
        if _search(model, crew, lane, control[TIME, 0, lane]) == LOST:
            control[TIME, 0, lane], control[rk.STEP, 0, lane] = control[PREVIOUS_TIME, 0, lane], control[rk.SIZE, 0, lane]
            control[rk.LAST_ERROR, 0, lane] = 0.0
            lanes[rk.STEPS, lane] -= 1
            leave(lanes, lane, at.SUSPECT, False)
            any_lost = True
    return any_lost


@generic
def _next_call(control: Any, lane: int) -> float:
    """The next time at which Python is called for the state in a lane: for an event that was found, a reporter or a handler."""
    when: float = min(control[EVENT, 0, lane], control[at.REPORTER, 0, lane], control[at.WAIT, 0, lane])
    return when


@generic
def _is_due(lanes: Any, control: Any, lane: int) -> bool:
    """True if Python is called in the last step of a lane, and has not been, or the run ends there."""
    when = _next_call(control, lane)
    busy = lanes[STATE, lane] >= 0 and lanes[at.CALLS, lane] == 0
    return busy and when <= control[TIME, 0, lane]


@generic
def end_where_they_begin(crew: Any) -> None:
    """FRESH lanes whose witness that ends runs is above zero have its EVENT where they begin."""
    control = crew.run.control
    for lane in range(8):
        if crew.marks[at.FRESH, 0, lane] > 0.0 and crew.seen[SEEN * crew.run.plan[ENDER] + NOW, 0, lane] > 0.0:
            control[EVENT, 0, lane] = control[TIME, 0, lane]
            for w in range(crew.watched.shape[0] // WIDTH):
                crew.seen[SEEN * w + CROSSED, 0, lane] = 1.0 if w == crew.run.plan[ENDER] else 0.0


@generic
def _ends(crew: Any, lane: int) -> bool:
    """True if a run ends at its lane's time AT, by its witness; reporters of that time are called before."""
    control, w = crew.run.control, crew.run.plan[ENDER]
    is_here = control[EVENT, 0, lane] <= control[AT, 0, lane] < control[at.REPORTER, 0, lane]
    return w >= 0 and is_here and crew.seen[SEEN * w + CROSSED, 0, lane] != 0.0


@generic
def find_called(model: Any, crew: Any) -> bool:
    """Lanes are to leave in whose last step Python is called, or the run ends by its witness; whether there are such.

    The record is where that is first.
    """
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
    put_settled(model, run, marks, at.DUE)
    if model.measure_memory_size > 0 or model.bristle_rows > 0:
        evaluate(model, run.plan, run.held)
        for lane in range(8):
            event = control[EVENT, 0, lane] <= control[AT, 0, lane]
            marks[at.BETWEEN, 0, lane] = marks[at.DUE, 0, lane] if event else 0.0
        finish_step(model, run.plan, load(marks, at.BETWEEN, 0), crew.kept)
    for lane in range(8):
        if marks[at.DUE, 0, lane] > 0.0:
            leave(lanes, lane, at.TERMINATED if _ends(crew, lane) else at.CALLED, True)
    return True
