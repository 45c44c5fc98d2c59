"""Witnesses in loops over steps, of any width: what may have changed sign within a step.

A witness is a routine with its integers and numbers, which `mobod.event` writes. After each step its value and rate are
compared with those at the step's beginning; unless a crossing is excluded, the step is searched, see `event_search`: in
the loop, or of one state where that returns, as Python looks at some. The record has the table of n witnesses at the beginning
of its pool `witness_integers`, and that of one state what has been seen of them at that of `witness_numbers`; lanes have an
array for it.

Forces that keep contacts closed, and slips, may begin at zero or a little below, and hold: they are watched from there, raised
by many times that.

A witness may be no number where kernels do not know it, as the height above a cam is below its highest point: steps from
there, and to there, are searched by Python.

A witness that Python computes is a callback, which the loop asks for the value alone. Its rate at a step's end is a difference,
between there and shortly before; that at a beginning is not a number, where no step has ended yet.
"""

from __future__ import annotations

from typing import Any

from ..algebra.order import larger, size_of
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, load_lane, num_lanes, one, store, where, zero
from ..compiling import compiled, generic
from ..event.watched import CLOSED
from ..tree.project import any_positive
from .evaluate import evaluate, move, settle
from .interpolation import interpolate
from .record import PREVIOUS_TIME, TIME, WATCHES, Y, run_of

# of a row of the table: where the witness's routine is, the places of its integers and numbers, which changes of sign count,
# how far the record is to be realized for a difference, which takes the place of a rate; GAP where a run begins alone that may
# come to an event within two windows, or is there already, and CLOSED and SLIPS where each begins alone; and 1 where Python
# finds the event, as the witness is a bound
ROUTINE, FIRST_INTEGER, FIRST_NUMBER, RISING, FALLING, DIFFERS, NEAR, IS_BOUND = range(8)
WIDTH = 8
#: What a callback is told of the record: it is at a step's end, or elsewhere and realized so far, or as far as witnesses need
#: it for their values. The two in the middle are what DIFFERS says, too, of a witness whose rate is a difference; of others
#: that is 0.
AT_END, WITH_SPEEDS, WITH_RATES, AS_NEEDED = range(4)
#: The step of differences, as a part of the step.
DIFFERENCE = 1e-4
# rows of what has been seen, so many a witness: values and rates at the beginning of the last step, and at its end, or that of
# the part of it that is searched; 1 or -1 where it has risen or fallen at the event; values at both ends of what is searched,
# and the rate at its beginning, not a number where that is not known; value and rate where it was looked at last; what values
# are raised by, see `raise_of`; and the window of time in which an event is found
BEFORE, NOW, RATE_BEFORE, RATE_NOW, CROSSED, AT_LOW, AT_HIGH, RATE_LOW, HERE, RATE_HERE, SHIFT, WINDOW = range(12)
SEEN = 12
_INFINITE = float("inf")
#: Of positions of size 1: what is no more above zero is there, as rounding leaves it; and what a gap is raised to that begins
#: lower, or overrun; and what a force or a slip is raised to that is zero, and one below zero by, in parts of it.
ROUNDING, LEAST_GAP, LEAST, AGAIN = 1e-10, 1e-11, 1e-300, 16.0


@generic
def ask(model: Any, watched: Any, w: int, how_far: int = AT_END) -> None:
    """Value and rate of a witness into `witness_values`; Python is told *how_far* one state is realized."""
    row = WIDTH * w
    number = watched[row + FIRST_NUMBER]
    if num_lanes(load(model.time, 0, 0)) == 1 and number == AT_END:
        number = how_far
    call_routine(watched[row + ROUTINE], model, watched[row + FIRST_INTEGER], number)


@generic
def raise_of(near: int, value: Any) -> Any:
    """The number that is added to a contact's witness from where an interval begins, which is there below what it is to be.

    From zero no change would count, and the secant finds exactly that of a force that changes steadily.
    """
    if near >= CLOSED:
        return where(value > 0.0, zero(value), LEAST - AGAIN * value)
    return where(value < LEAST_GAP, LEAST_GAP - value, zero(value))


@generic
def look_at_all(model: Any, watched: Any, n: int, seen: Any, mark: Any, begins: bool, again: bool) -> None:
    """Values and rates of n witnesses of states that are marked, of a record that is realized; those before are kept.

    Runs *begin*, where gaps that are overrun are raised; or they go on *again* from where they were, with other rates, as by a
    sample: of witnesses that have some.
    """
    for w in range(n):
        if again and watched[WIDTH * w + DIFFERS] != 0:
            continue
        ask(model, watched, w)
        shift = load(seen, SEEN * w + SHIFT, 0)
        if begins and watched[WIDTH * w + NEAR] != 0 and watched[WIDTH * w + IS_BOUND] == 0:
            raised = raise_of(watched[WIDTH * w + NEAR], load(model.witness_values, 0, 0))
            shift = where(mark > 0.0, raised, shift)
            store(seen, SEEN * w + SHIFT, 0, shift)
        for k in range(2):
            new, now, before = load(model.witness_values, 0, k), SEEN * w + NOW + 2 * k, SEEN * w + BEFORE + 2 * k
            if k == 0 and watched[WIDTH * w + IS_BOUND] == 0:
                new = new + shift
            old = load(seen, now, 0)
            store(seen, before, 0, where(mark > 0.0, old, load(seen, before, 0)))
            store(seen, now, 0, where(mark > 0.0, new, old))


@generic
def find_differences(model: Any, run: Any, watched: Any, n: int, seen: Any, previous: Any, end: Any, mark: Any) -> bool:
    """Rates of witnesses that have none, at the ends of steps of states that are marked; whether the record has been moved.

    Python's take theirs themselves in lanes.
    """
    least, how_far = WITH_SPEEDS if num_lanes(mark) == 1 else WITH_RATES, 0
    for w in range(n):
        how_far = max(how_far, watched[WIDTH * w + DIFFERS])
    if how_far < least:
        return False
    back = DIFFERENCE * (end - previous)
    near = where(mark > 0.0, end - back, end)
    # a step as short as one to a sample that rounding puts a little later has no difference: rates are as they were
    between = where(near < end, one(end), zero(end))
    moves, sound = any_positive(between), zero(mark)
    if moves:
        interpolate(model, run.work, previous, end, near)
        settle(model, run, between)
        if how_far == WITH_RATES:
            sound = sound + evaluate(model, run.plan, run.held)
        else:
            sound = sound + move(model, run.plan)
    for w in range(n):
        row = SEEN * w
        if watched[WIDTH * w + DIFFERS] >= least:
            rate = load(seen, row + RATE_BEFORE, 0)
            if moves:
                ask(model, watched, w, how_far)
                value = load(model.witness_values, 0, 0) + load(seen, row + SHIFT, 0)
                change = load(seen, row + NOW, 0) - value
                rate = where(between > 0.0, change / where(between > 0.0, back, one(back)) + sound, rate)
            store(seen, row + RATE_NOW, 0, where(mark > 0.0, rate, load(seen, row + RATE_NOW, 0)))
    return moves


@compiled
def look(block: Any, n: int, begins: bool, again: bool) -> None:
    """A step of one state begins at the record: n witnesses as they are there, see `look_at_all`."""
    model = attach(block)
    look_at_all(model, model.witness_integers, n, model.witness_numbers, 1.0, begins, again)


@compiled
def begin(block: Any, n: int) -> bool:
    """An interval of one state begins at the record, from where it is searched; whether all values are finite."""
    model, finite = attach(block), True
    look(model, n, True, False)
    for w in range(n):
        for low, now in ((AT_LOW, NOW), (RATE_LOW, RATE_NOW)):
            store(model.witness_numbers, SEEN * w + low, 0, load(model.witness_numbers, SEEN * w + now, 0))
        finite = finite and abs(load(model.witness_numbers, SEEN * w + NOW, 0)) < _INFINITE
    return finite


@compiled
def look_at_end(block: Any, work: Any, control: Any, counts: Any) -> bool:
    """Look at all witnesses where a step has ended; whether the record has been moved for that."""
    if counts[WATCHES] < 0:
        return False
    model = attach(block)
    look_at_all(model, model.witness_integers, counts[WATCHES], model.witness_numbers, 1.0, False, False)
    run = run_of(work, work, control, counts)
    seen = model.witness_integers, counts[WATCHES], model.witness_numbers
    return find_differences(model, run, *seen, control[PREVIOUS_TIME], control[TIME], 1.0)


@compiled
def suspects(block: Any, n: int, h: float) -> bool:
    """True if one of n witnesses, as they were seen at both ends of a step of size h, may have changed sign within it.

    Always, where n is below zero: there are witnesses that only Python knows.
    """
    if n < 0:
        return True
    model = attach(block)
    suspect: bool = find_suspects(model.witness_integers, n, model.witness_numbers, 0, h)[0]
    return suspect


@generic
def any_may_cross(n: int, seen: Any, mark: Any) -> bool:
    """False if no witness of states that are marked has an event in their last steps: all at once, before `find_suspects`."""
    doubt = zero(mark)
    for w in range(n):
        g0, g1 = load(seen, SEEN * w + BEFORE, 0), load(seen, SEEN * w + NOW, 0)
        r0, r1 = load(seen, SEEN * w + RATE_BEFORE, 0), load(seen, SEEN * w + RATE_NOW, 0)
        # of the same sign at both ends, and not there and back; no comparison holds of what is no number
        stays = where(g1 * r1 <= 0.0, one(mark), where(r0 * g1 >= 0.0, one(mark), zero(mark)))
        stays = where(size_of(g0) + size_of(g1) + size_of(r1) < 1e300, stays, zero(mark))
        doubt = doubt + where(g0 * g1 > 0.0, one(mark) - stays, one(mark))
    return any_positive(where(mark > 0.0, doubt, zero(mark)))


@generic
def any_is_near(model: Any, watched: Any, n: int, seen: Any, work: Any, mark: Any) -> bool:
    """False if no state that is marked is near an event: all at once, before `is_near_event`."""
    near, size = zero(mark), one(mark)
    for i in range(model.nq):
        size = larger(size, size_of(load(work, Y, i)))
    for w in range(n):
        if watched[WIDTH * w + NEAR] >= CLOSED:
            return True
        if watched[WIDTH * w + NEAR] != 0:
            rate = size_of(load(seen, SEEN * w + RATE_NOW, 0))
            reach = 2.0 * load(seen, SEEN * w + WINDOW, 0) * rate + ROUNDING * size
            near = near + where(load(seen, SEEN * w + NOW, 0) > reach, zero(mark), one(mark))
    return any_positive(where(mark > 0.0, near, zero(mark)))


@generic
def ends_of_step(seen: Any, w: int, lane: int) -> Any:
    """Value and rate of a witness at the beginning of a state's last step, and at its end."""
    row = SEEN * w
    before = load_lane(seen, row + BEFORE, 0, lane), load_lane(seen, row + RATE_BEFORE, 0, lane)
    return before, (load_lane(seen, row + NOW, 0, lane), load_lane(seen, row + RATE_NOW, 0, lane))


@generic
def find_suspects(watched: Any, n: int, seen: Any, lane: int, h: float) -> Any:
    """True if a witness may have changed sign in a state's last step; and if it takes a run of one state to find where."""
    suspect = alone = False
    for w in range(n):
        before, end = ends_of_step(seen, w, lane)
        if may_cross(before, end, h, watched[WIDTH * w + RISING], watched[WIDTH * w + FALLING]):
            suspect = True
            known = abs(before[0]) < 1e300 and abs(end[0]) < 1e300 and abs(end[1]) < 1e300
            alone = alone or not known or watched[WIDTH * w + IS_BOUND] != 0
    return suspect, alone


@generic
def is_near_event(model: Any, watched: Any, n: int, seen: Any, work: Any, lane: int, goes_on: bool = False) -> bool:
    """True if one of n witnesses for which that counts, as seen last, is zero to rounding, or may come there in two windows.

    So is one that falls alone and is not above zero: it may be a gap, which is closed then. And one that is no number; and any
    of a contact that is closed, unless the run *goes on*.
    """
    near, size = False, 1.0
    if n == 0:
        return near
    for i in range(model.nq):
        size = max(size, abs(load_lane(work, Y, i, lane)))
    for w in range(n):
        if watched[WIDTH * w + NEAR] >= CLOSED:
            near = near or not goes_on
        elif watched[WIDTH * w + NEAR] != 0:
            value, rate = ends_of_step(seen, w, lane)[1]
            reach = 2.0 * load_lane(seen, SEEN * w + WINDOW, 0, lane) * abs(rate) + ROUNDING * size
            near = near or not (value > reach or (value < -reach and watched[WIDTH * w + RISING] != 0))
    return near


@generic
def may_cross(before: tuple[float, float], end: tuple[float, float], h: float, rising: int, falling: int) -> bool:
    """True if a witness of these values and rates at both ends of a step of size h may have changed sign as it counts."""
    (g0, r0), (g1, r1) = before, end
    if not (abs(g0) < 1e300 and abs(g1) < 1e300 and abs(r1) < 1e300):
        return True
    if (g0 > 0.0 and g1 <= 0.0 and falling != 0) or (g0 < 0.0 and g1 >= 0.0 and rising != 0):
        return True
    # it may cross zero and return, unless the tangents at both ends meet on this side
    if not (g1 * r1 > 0.0 and g0 * g1 >= 0.0):
        return False
    if r0 != r0:
        return True
    return r0 * g1 < 0.0 and (g0 + r0 * ((g1 - g0 - r1 * h) / (r0 - r1))) * g1 < 0.0
