"""Runs of many states, eight at a time: each lane goes through its own steps and reports, and takes the next state at its end.

Steps are those of `stepping`, controlled lane by lane; what costs time is in lanes. All that a run knows is in arrays, so that
it can be left after any number of attempts and gone on with.
"""

from __future__ import annotations

from typing import Any

from ...algebra.pointers import by_address
from ...algebra.record import attach
from ...algebra.scalar import load, one, store, zero
from ...compiling import apart, compiled, generic
from ...stepping import record as rk
from ...stepping.attempts import attempts_of
from ...stepping.controller import propose
from ...stepping.evaluate import evaluate, finish_step, move
from ...stepping.limits import limit_steps
from ...stepping.method import runge_kutta, semi_explicit_euler, semi_explicit_euler2, verlet
from ...stepping.method.method import Method
from ...stepping.record import AT, EVENT, FINAL_TIME, SOUND, STATE, TAKEN, TIME
from ...stepping.rows import set_rates, set_row, shift
from ...stepping.witnesses import WIDTH, any_is_near, any_may_cross, find_suspects, is_near_event
from ...tree import sampling
from ..batch_memory import begin_steps, undo_beginning
from ..chunks import NONE, begin_work, finish as finish_work, leave_work, next_call
from . import contact, layout as at
from .controllers import keep_memory, load_single
from .events import any_differs, any_is, end_where_they_begin, find_called, find_events, find_rates, look
from .layout import (
    ACTED,
    BEGINS,
    END,
    FRESH,
    GOES_ON,
    METHOD,
    RAISED,
    WAIT,
)
from .reports import find_due, report
from .starts import begin
from .states import leave, refill, retire, take


@generic
def attempt(model: Any, single: Any, crew: Any) -> Any:
    """One attempt of the method from TIME, of the size SIZE: see `stepping.method`."""
    run = crew.run
    time, h = load(run.control, TIME, 0), load(run.control, rk.SIZE, 0)
    sound = zero(h)
    if run.plan[METHOD] == at.RUNGE_KUTTA:
        sound = runge_kutta.attempt(model, run, time, h)
    elif run.plan[METHOD] == at.SEMI_EXPLICIT_EULER:
        sound = semi_explicit_euler.attempt(model, run, time, h)
    elif run.plan[METHOD] == at.SEMI_EXPLICIT_EULER2:
        sound = semi_explicit_euler2.attempt(model, run, time, h)
    elif run.plan[METHOD] == at.CONTACT:
        sound = contact.attempt(model, single, crew)
    else:
        sound = verlet.attempt(model, run, time, h)
    for i in range(model.ny):
        sound = sound + 0.0 * load(model.y, i, 0)
    return sound


judge, settle_one = attempts_of(Method(attempt))


@generic
def fill(model: Any, crew: Any, data: Any, chunks: Any, worker: int) -> Any:
    """Free lanes take the next states, which are FRESH, as are those that go on from an event: whether some are; any states."""
    lanes, marks, queue = crew.lanes, crew.marks, crew.queue
    any_fresh = any_busy = False
    for lane in range(8):
        marks[FRESH, 0, lane] = 0.0
        if lanes[STATE, lane] < 0 and queue[at.NEXT] == queue[at.STOP]:
            refill(queue, chunks, worker)
        s, fresh = -1, BEGINS
        if lanes[STATE, lane] < 0 and queue[at.NEXT] < queue[at.STOP]:
            s = queue[at.NEXT]
            if data.which.shape[0] > 0:
                s = data.which[s - queue[at.FIRST_ROW]]
            queue[at.NEXT] += 1
        elif lanes[STATE, lane] >= 0 and lanes[at.CALLS, lane] == at.ANEW:
            s, fresh = lanes[STATE, lane], ACTED
        if s >= 0:
            known = take(model, lane, s, crew, data)
            if fresh == BEGINS and known > 0.0:
                fresh = ACTED if known == at.JUST else GOES_ON
            marks[FRESH, 0, lane] = fresh
            crew.run.control[TAKEN, 0, lane] = 1.0
            any_fresh = True
        any_busy = any_busy or lanes[STATE, lane] >= 0
    return any_fresh, any_busy


@generic
def begin_fresh(model: Any, single: Any, crew: Any) -> bool:
    """The runs of FRESH lanes begin; whether one of them has ended there."""
    run, lanes, marks = crew.run, crew.lanes, crew.marks
    plan, settings, control, any_free = run.plan, run.settings, run.control, False
    n = crew.watched.shape[0] // WIDTH
    for lane in range(8):
        if marks[FRESH, 0, lane] > 0.0:
            if model.num_controllers > 0:
                load_single(model, single, crew, lane)
                sampling.begin_sampling(single)
                keep_memory(model, single, lane)
            begun = settings[rk.FIXED_STEP] > 0.0 or control[rk.STEP, 0, lane] > 0.0
            lanes[rk.EVALUATIONS, lane] += 1 if begun else 3 if plan[rk.LIMITER] != 0 else 2
    begin(model, crew)
    crew.queue[at.REALIZED] = 1
    any_near = n > 0 and any_is_near(model, crew.watched, n, crew.seen, run.work, load(marks, FRESH, 0))
    for lane in range(8):
        if marks[FRESH, 0, lane] > 0.0:
            sound = control[SOUND, 0, lane]
            if sound != 0.0:
                status = rk.NOT_PROJECTED if sound == 1.0 else rk.NOT_FINITE
                leave(lanes, lane, status, False)
                any_free = True
            elif any_near and marks[FRESH, 0, lane] != ACTED:
                goes_on = marks[FRESH, 0, lane] == GOES_ON
                if is_near_event(model, crew.watched, n, crew.seen, run.work, lane, goes_on):
                    leave(lanes, lane, at.SUSPECT, False)
                    any_free = True
    if plan[at.ENDER] >= 0:
        end_where_they_begin(crew)
    return any_free


@generic
def end_runs(model: Any, crew: Any, data: Any) -> bool:
    """Make the reports within the last steps, and end the runs that are at their ends; whether some were."""
    lanes, control, times = crew.lanes, crew.run.control, data.times
    reports, any_free = times.shape[1], False
    if reports > 0:
        while find_due(control, lanes, crew.marks, times):
            crew.queue[at.REALIZED] = 0
            report(model, crew.run, lanes, crew.marks, crew.queue[at.FIRST_ROW], data.results)
    for lane in range(8):
        if lanes[STATE, lane] < 0:
            continue
        end = control[END, 0, lane]
        if reports > 0:
            end = times[lanes[STATE, lane] if times.shape[0] > 1 else 0, reports - 1]
        if control[at.REPORTER, 0, lane] <= end:  # which come first
            continue
        if reports > 0 and lanes[rk.REPORT, lane] == reports:
            control[AT, 0, lane] = end
            leave(lanes, lane, rk.REACHED, True)
            any_free = True
        elif reports == 0 and control[TIME, 0, lane] >= end and not control[EVENT, 0, lane] <= control[TIME, 0, lane]:
            leave(lanes, lane, rk.REACHED, False)
            any_free = True
    return any_free


@apart
def take_samples(model: Any, single: Any, crew: Any) -> bool:
    """Sample the controllers that are due at lanes' times, one lane after the other; whether a run ends by that.

    DUE is 1 for the lanes whose forces are new, with new rates. Laws are of floats and arrays, for which lanes would not do;
    between samples their efforts are forces like others.
    """
    run, lanes, marks, found, any_free = crew.run, crew.lanes, crew.marks, False, False
    plan, work, control = run.plan, run.work, run.control
    store(control, at.SAMPLE, 0, sampling.next_sample(model))
    for lane in range(8):
        marks[at.DUE, 0, lane] = 0.0
        if lanes[STATE, lane] >= 0 and control[at.SAMPLE, 0, lane] <= control[TIME, 0, lane]:
            found = True
            load_single(model, single, crew, lane)
            status = rk.REACHED
            if evaluate(single, plan[at.SINGLE :]) != 0:
                status = rk.NOT_FINITE
            elif sampling.sample_due(single, control[TIME, 0, lane]) != 0:
                status = rk.NOT_SAMPLED
            else:
                keep_memory(model, single, lane)
            lanes[rk.EVALUATIONS, lane] += 1
            if status == rk.REACHED:
                marks[at.DUE, 0, lane] = 1.0
            else:
                leave(lanes, lane, status, False)
                any_free = True
    if not found:
        return False
    set_row(model, work, rk.Y, load(control, TIME, 0))
    store(control, SOUND, 0, evaluate(model, plan, run.held))
    set_rates(model, work, load(marks, at.DUE, 0))
    for lane in range(8):
        if marks[at.DUE, 0, lane] > 0.0 and not control[SOUND, 0, lane] == 0.0:
            marks[at.DUE, 0, lane] = 0.0
            leave(lanes, lane, rk.NOT_FINITE, False)
            any_free = True
    store(control, at.SAMPLE, 0, sampling.next_sample(model))
    look(model, crew, load(marks, at.DUE, 0), False, True)
    return any_free


@generic
def plan_steps(model: Any, crew: Any, data: Any) -> None:
    """Choose the sizes of the next attempts."""
    run, control = crew.run, crew.run.control
    settings, reports = run.settings, data.times.shape[1]
    for lane in range(8):
        final = settings[FINAL_TIME]
        if reports == 0:
            final = min(final, control[END, 0, lane])
        if data.onward.shape[0] > 0:
            final = min(final, control[WAIT, 0, lane])
        if model.num_controllers > 0:
            final = min(final, control[at.SAMPLE, 0, lane])
        control[FINAL_TIME, 0, lane] = final
        propose(model, run, lane, final)
        control[rk.LAST, 0, lane] = 0.0
        if crew.lanes[STATE, lane] < 0:
            control[rk.SIZE, 0, lane] = 0.0
        elif is_last(model, crew, data, lane):
            control[rk.LAST, 0, lane] = 1.0


@generic
def is_last(model: Any, crew: Any, data: Any, lane: int) -> bool:
    """True if nobody wants the rates at the end of the next step: the run ends there, or others are, by a sample."""
    plan, control, times = crew.run.plan, crew.run.control, data.times
    watches = crew.watched.shape[0] > 0
    if (watches and plan[at.BY_SPEEDS] == 0) or plan[rk.PRESCRIBER] != 0 or plan[rk.LIMITER] != 0:
        return False
    if control[at.REPORTER, 0, lane] < control[rk.ARRIVAL, 0, lane]:  # within it
        return False
    if times.shape[1] == 0 and control[rk.ARRIVAL, 0, lane] >= control[END, 0, lane]:
        return True
    if watches or model.num_controllers == 0 or not control[at.SAMPLE, 0, lane] <= control[rk.ARRIVAL, 0, lane]:
        return False
    if plan[METHOD] == at.CONTACT or crew.remembered.shape[0] > 0 or model.bristle_rows > 0:
        return False
    s, k = crew.lanes[STATE, lane], crew.lanes[rk.REPORT, lane]
    return k >= times.shape[1] or times[s if times.shape[0] > 1 else 0, k] >= control[rk.ARRIVAL, 0, lane]


@apart
def suspects(crew: Any, lane: int) -> Any:
    """See `find_suspects`: of a lane."""
    n, h = crew.watched.shape[0] // WIDTH, crew.run.control[rk.SIZE, 0, lane]
    return find_suspects(crew.watched, n, crew.seen, lane, h)


@generic
def finish(model: Any, crew: Any, realized: bool) -> None:
    """Steps that are TAKEN have ended, where the record is *realized* or nobody wanted it.

    Steps that are to be searched for events need accelerations at their ends, others' witnesses speeds alone.
    """
    run, control, taken = crew.run, crew.run.control, load(crew.run.control, TAKEN, 0)
    by_speeds = crew.watched.shape[0] > 0 and not realized
    if by_speeds:
        if run.plan[at.BY_SPEEDS] == at.OF_COORDINATES:
            for i in range(model.nq):
                store(model.q_dot, i, 0, load(model.u, i, 0))
        else:
            move(model, run.plan)
        look(model, crew, taken, False, False)
        any_suspect = False
        if any_may_cross(crew.watched.shape[0] // WIDTH, crew.seen, taken):
            for lane in range(8):
                if control[TAKEN, 0, lane] > 0.0:
                    suspect, _ = suspects(crew, lane)
                    any_suspect = any_suspect or suspect
        if any_suspect:
            evaluate(model, run.plan, run.held)
    if run.plan[METHOD] == at.CONTACT:
        crew.queue[at.REALIZED] = 1 if realized else 0
        for lane in range(8):
            if crew.lanes[STATE, lane] >= 0 and not control[TAKEN, 0, lane] > 0.0:
                crew.queue[at.REALIZED] = 0
    finish_step(model, run.plan, taken, crew.kept)
    if not by_speeds:
        look(model, crew, taken, False, False)
    shift(model, run.work, taken)
    if any_differs(crew.watched):
        find_rates(model, crew)


@generic
def settle(model: Any, crew: Any, controlled: bool) -> bool:
    """Attempts become steps, or are refused; whether runs end by that."""
    run, lanes, control, any_free = crew.run, crew.lanes, crew.run.control, False
    any_suspect = any_may_cross(crew.watched.shape[0] // WIDTH, crew.seen, load(control, TAKEN, 0))
    for lane in range(8):
        if lanes[STATE, lane] < 0:
            continue
        suspect = alone = False
        if any_suspect and control[TAKEN, 0, lane] > 0.0:
            suspect, alone = suspects(crew, lane)
        if alone:
            control[TAKEN, 0, lane] = 0.0
            lanes[rk.ATTEMPTS, lane] -= 1
            lanes[rk.EVALUATIONS, lane] -= int(control[rk.EVALUATED, 0, lane])
            leave(lanes, lane, at.SUSPECT, False)
        elif not control[TAKEN, 0, lane] > 0.0 and crew.marks[RAISED, 0, lane] > 0.0:  # shorter steps would meet the same
            leave(lanes, lane, rk.NOT_FINITE, False)
        else:
            lanes[at.SEEKS, lane] = 1 if suspect else 0
            status = settle_one(model, run, lane, controlled)
            if status != rk.REACHED:
                leave(lanes, lane, status, False)
        if lanes[at.LEAVES, lane] > 0:
            undo_beginning(model, lane, crew.kept)
            any_free = True
    return any_free


@generic
def free(model: Any, crew: Any, data: Any, any_leaves: bool) -> bool:
    """Free lanes whose runs have ended, if *any_leaves*; whether there are such."""
    if any_leaves:
        retire(model, crew, data)
    return any_leaves


@compiled
def run(block: Any, single_block: Any, crew: Any, worker: int, chunks: Any, calls: Any, data: Any) -> int:
    """Take states through their runs, chunk by chunk, with as many attempts as the queue says.

    FINISHED, UNFINISHED, or ASKS where lanes wait for Python, whose states are in their rows.
    """
    number = begin_work(worker, chunks, calls)
    model, single, crew, data = attach(block), attach(single_block), by_address(crew), by_address(data)
    queue, control = crew.queue, crew.run.control
    controlled = not crew.run.settings[rk.FIXED_STEP] > 0.0
    for _ in range(queue[at.LIMIT]):
        any_fresh, any_busy = fill(model, crew, data, chunks, worker)
        if not any_busy:
            finish_work(chunks, queue[at.ENDED])
            number = next_call(worker, chunks, calls, number)
            if number == NONE:
                return at.FINISHED
            queue[at.NEXT] = queue[at.STOP] = queue[at.ENDED] = 0
            continue
        any_free = free(model, crew, data, any_fresh and begin_fresh(model, single, crew))
        if crew.watched.shape[0] > 0 and any_is(crew.lanes, at.SEEKS, 1):  # the call takes 0.1 us
            any_free = free(model, crew, data, find_events(model, crew)) or any_free
        any_free = free(model, crew, data, end_runs(model, crew, data)) or any_free
        if (crew.watched.shape[0] > 0 or data.onward.shape[0] > 0) and free(model, crew, data, find_called(model, crew)):
            if any_is(crew.lanes, at.CALLS, at.WAITING):
                leave_work(worker, chunks)
                return at.ASKS
            any_free = True
        if model.num_controllers > 0 and not any_free:
            any_free = free(model, crew, data, take_samples(model, single, crew))
        if any_free:
            continue
        plan_steps(model, crew, data)
        begin_steps(model, control, TAKEN, crew.kept)
        store(crew.marks, RAISED, 0, zero(load(control, TAKEN, 0)))
        store(control, TAKEN, 0, one(load(control, TAKEN, 0)))
        any_taken, realized = judge(model, crew.run, attempt(model, single, crew), controlled)
        if any_taken:
            finish(model, crew, realized)
        free(model, crew, data, settle(model, crew, controlled))
        if any_taken:
            limit_steps(model, crew.run, load(control, TAKEN, 0))
    leave_work(worker, chunks)
    return at.UNFINISHED
