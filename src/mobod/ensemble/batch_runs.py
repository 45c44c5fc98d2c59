"""Runs of many states, eight at a time: each lane goes through its own steps and reports, and takes the next state at its end.

The control of steps is that of `integrator._runge_kutta`, lane by lane; what costs time is in lanes. All that a run knows is in
arrays, so that it can be left after any number of attempts and gone on with.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, load_lane, store, store_lane, where, zero
from ..compiling import compiled, generic
from ..force.contact.step_limit import PART
from ..force.contact.step_limit import STEP as LIMITED_STEP
from ..integrator import _runge_kutta as rk
from ..integrator import _watched as watching
from ..integrator._evaluate import evaluate
from ..integrator._runge_kutta import (
    ACCURACY,
    FINAL_TIME,
    FIXED_STEP,
    LAST_ERROR,
    MAX_STEP,
    MIN_STEP,
    PERMITTED_STEP,
    PREVIOUS_TIME,
    STEP,
    TIME,
    Y,
)
from ..tree import sampling
from . import batch_steps as steps
from .batch_memory import begin_measures, begin_steps, finish_steps, put_memory, take_memory
from .batch_steps import (
    APART,
    AT,
    AT_HIGH,
    AT_LOW,
    DUE,
    END,
    ENDS_AT_STAGE,
    ERROR_ORDER,
    FIXED,
    FORESEEN,
    FRESH,
    HALT,
    HIGH,
    ITERATIONS,
    LIMITER,
    LOW,
    NORM,
    PRESCRIBER,
    PROJECT_REPORTS,
    PROJECTOR,
    QUATERNIONS,
    SAMPLE,
    SIDE,
    SIZE,
    SOUND,
    STRAIN,
    SURPRISE,
    TAKEN,
    TERMINATOR,
    VALUE,
    VALUE_BEFORE,
)
from .chunks import ITEMS, begin_work, end_of, finish, stay_awake
from .chunks import take as next_chunk

# rows of `lanes`, integers of each lane: its state, -1 for none; its next report; then what is counted of the run, as in
# `COUNTED`; and what the last attempt's failure was
STATE, REPORT, STEPS, ATTEMPTS, EVALUATIONS, ERROR_FAILURES, REALIZATION_FAILURES, PROJECTION_FAILURES = range(8)
CONVERGENCE_FAILURES, FAILURE = range(8, 10)
LANE_ROWS = 10
#: Columns of `outcome`: how the run ended, one of the statuses of `integrator._runge_kutta`; reports made, and what else was
#: counted, in the order of the lanes' rows.
STATUS, ROWS = 0, 1
NUM_STEPS, NUM_ATTEMPTS, NUM_EVALUATIONS, NUM_ERROR_FAILURES, NUM_REALIZATION_FAILURES, NUM_PROJECTION_FAILURES = range(2, 8)
NUM_CONVERGENCE_FAILURES = 8
OUTCOMES = 9
#: A state that has not been run to its end, and one whose run was ended by a function.
NOT_RUN, TERMINATED = -1, 100
#: A state in whose next step a witness may change sign: it is to be run alone from where that begins.
SUSPECT = 101
#: The time at which that function becomes positive is found to this part of the step.
_PRECISE = 1e-12
# places in `queue`: the next state that a lane may take, one past the last of the chunk that was taken, attempts until control
# returns, the state of the first row of results, which is the first that chunks count, and how many have ended
NEXT, STOP, LIMIT, FIRST_ROW, ENDED = range(5)
QUEUE_SIZE = 5
# what `run` returns: all are at their ends; attempts are used up
FINISHED, UNFINISHED = range(2)
#: The resolution of time, as a part of the run's end time.
_RESOLUTION = 2.0**-52
# columns of `reached`: the time, and the size of the last step; where the next is SUSPECT its size, and what else it depends on
REACHED_TIME, LAST_SIZE, LAST_PART, LAST_STRAIN = range(4)
REACHED_SIZE = 4


#: A kernel that named NumPy here would not be cached: its fingerprint would meet `numpy.max`, which cannot be hashed.
_NEVER = float("inf")


@generic
def refill(queue: Any, chunks: Any, worker: int) -> None:
    """Take the next chunk of states; where there is none, STOP is below NEXT from then on."""
    begin = next_chunk(chunks, worker)
    queue[NEXT], queue[STOP] = queue[FIRST_ROW] + begin, queue[FIRST_ROW] + end_of(chunks, begin)
    if begin >= chunks[ITEMS]:
        queue[STOP] = queue[NEXT] - 1


@generic
def take(
    model: Any, lane: int, s: int, settings: Any, control: Any, lanes: Any, work: Any, held: Any, given: Any, own: Any
) -> None:
    """Let a lane take state *s*."""
    time, q, u, z, particles, forces, own_of_each, end, memory = given
    for row in range(STATE, LANE_ROWS):
        lanes[row, lane] = 0
    lanes[STATE, lane] = s
    control[TIME, 0, lane] = control[PREVIOUS_TIME, 0, lane] = time[s, 0]
    control[STEP, 0, lane] = settings[STEP]
    control[rk.LAST_STEP, 0, lane] = 0.0
    control[HALT, 0, lane] = _NEVER
    control[LAST_ERROR, 0, lane] = control[STRAIN, 0, lane] = 0.0
    control[END, 0, lane] = end[s]
    control[MIN_STEP, 0, lane] = max(settings[MIN_STEP], _RESOLUTION * abs(end[s]))
    for i in range(model.nq):
        work[Y, i, lane] = q[s, i]
    at = model.nq
    for i in range(model.nu):
        work[Y, at + i, lane] = u[s, i]
    at += model.nu
    for i in range(model.nz):
        work[Y, at + i, lane] = z[s, i]
    at += model.nz
    for i in range(2 * model.particle_size):
        work[Y, at + i, lane] = particles[s, i]
    if forces.shape[0] > s:
        for i in range(model.nu):
            held[i, 0, lane] = forces[s, i]
    for i in range(own_of_each.shape[1]):
        own[i, lane] = own_of_each[s, i]
    take_memory(model, lane, memory, s)


@generic
def retire(model: Any, lane: int, status: int, inside: bool, control: Any, lanes: Any, work: Any, given: Any, out: Any) -> None:
    """The run of a lane's state has ended; the state is left there, and the lane is free.

    That is at the end of its last step or, *inside* it, at the time AT, with y of the last report; of the record where it was
    terminated; where the next step is SUSPECT, at its beginning.
    """
    time, q, u, z, particles, _, _, _, memory = given
    results, queue, outcome, reached = out
    first = queue[FIRST_ROW]
    queue[ENDED] += 1
    s = lanes[STATE, lane]
    at = control[AT, 0, lane] if inside else control[TIME, 0, lane]
    time[s, 0] = reached[s, REACHED_TIME] = at
    reached[s, LAST_SIZE] = control[STEP if status == SUSPECT else rk.LAST_STEP, 0, lane]
    if status == SUSPECT:
        reached[s, LAST_PART], reached[s, LAST_STRAIN] = control[LAST_ERROR, 0, lane], control[STRAIN, 0, lane]
    n, m = model.nq, model.nq + model.nu
    for i in range(model.ny):
        y = work[rk.Y_PREVIOUS if status == SUSPECT else Y, i, lane]
        if inside and status == TERMINATED:
            y = load_lane(model.y, i, 0, lane)
        elif inside:
            y = results[s - first, lanes[REPORT, lane] - 1, i]
        if i < n:
            q[s, i] = y
        elif i < m:
            u[s, i - n] = y
        elif i < m + model.nz:
            z[s, i - m] = y
        else:
            particles[s, i - m - model.nz] = y
    put_memory(model, lane, memory, s)
    outcome[s, STATUS] = status
    for k in range(OUTCOMES - ROWS):
        outcome[s, ROWS + k] = lanes[REPORT + k, lane]
    lanes[STATE, lane] = -1


@generic
def load_single(model: Any, single: Any, lane: int, work: Any, control: Any, own: Any, own_of_single: Any) -> None:
    """Time, y, what controllers remember and a lane's own parameters, into a record of one state."""
    for i in range(own.shape[0]):
        own_of_single[i] = own[i, lane]
    store(single.time, 0, 0, control[TIME, 0, lane])
    for i in range(model.ny):
        store(single.y, i, 0, work[Y, i, lane])
    for i in range(model.control_size):
        store(single.control_memory, i, 0, load_lane(model.control_memory, i, 0, lane))


@generic
def keep_memory(model: Any, single: Any, lane: int) -> None:
    """What controllers remember, back into the lane."""
    for i in range(model.control_size):
        store_lane(model.control_memory, i, 0, lane, load(single.control_memory, i, 0))


@generic
def sample(
    model: Any, single: Any, plan: Any, work: Any, control: Any, lanes: Any, marks: Any, held: Any, own: Any, own_of_single: Any
) -> bool:
    """Sample the controllers that are due at lanes' times, one lane after the other; whether some were.

    DUE is 1 for the lanes whose forces are new, with new rates, and 1 less the status where that failed. Laws are of floats and
    arrays, for which lanes would not do; between samples their efforts are forces like others.
    """
    found = False
    store(control, SAMPLE, 0, sampling.next_sample(model))
    for lane in range(8):
        marks[DUE, 0, lane] = 0.0
        if lanes[STATE, lane] >= 0 and control[SAMPLE, 0, lane] <= control[TIME, 0, lane]:
            found = True
            load_single(model, single, lane, work, control, own, own_of_single)
            status = rk.REACHED
            if evaluate(single, plan[steps.SINGLE_ROUTINE], plan[steps.SINGLE_PRESCRIBER]) != 0:
                status = rk.NOT_FINITE
            elif sampling.sample_due(single, control[TIME, 0, lane]) != 0:
                status = rk.NOT_SAMPLED
            else:
                keep_memory(model, single, lane)
            lanes[EVALUATIONS, lane] += 1
            marks[DUE, 0, lane] = 1.0 - status
    if found:
        steps.set_y(model, work, Y, load(control, TIME, 0))
        steps.evaluate(model, plan, held)
        steps.set_rate(model, work, load(marks, DUE, 0))
        store(control, SOUND, 0, steps.soundness(model))
        for lane in range(8):
            if marks[DUE, 0, lane] > 0.0 and not control[SOUND, 0, lane] == 0.0:
                marks[DUE, 0, lane] = 1.0 - rk.NOT_FINITE
        store(control, SAMPLE, 0, sampling.next_sample(model))
    return found


@generic
def begin(
    model: Any,
    plan: Any,
    settings: Any,
    weights: Any,
    work: Any,
    control: Any,
    marks: Any,
    held: Any,
    watched: Any,
    seen: Any,
    remembered: Any,
    kept: Any,
) -> None:
    """The rates where fresh lanes begin, and their first step: Hairer, Norsett and Wanner, II.4, starting step size."""
    fresh = load(marks, FRESH, 0)
    steps.set_y(model, work, Y, load(control, TIME, 0))
    steps.prescribe(model, plan)
    missed = zero(fresh)
    if plan[PROJECTOR] != 0:
        missed = steps.project(model, plan, fresh, 0.0, settings[rk.TOLERANCE])
    if plan[PROJECTOR] != 0 or plan[QUATERNIONS] != 0:
        missed = missed + steps.project(model, plan, fresh, 1.0, settings[rk.TOLERANCE])
    steps.evaluate(model, plan, held)
    if remembered.shape[0] > 0 and begin_measures(model, remembered, marks, FRESH):
        steps.evaluate(model, plan, held)  # on which rates may depend
    finish_steps(model, marks, FRESH, kept)
    sound = steps.soundness(model)
    sound = where(missed > 0.0, missed, where(sound == 0.0, zero(sound), 2.0 + zero(sound)))
    store(control, SOUND, 0, sound)
    look(model, watched, seen, fresh)
    able = where(sound == 0.0, fresh, zero(fresh))  # the others are left as they were
    steps.shift_step(model, work, able)
    steps.shift_step(model, work, able)
    if plan[FIXED] != 0:
        return
    if settings[STEP] > 0.0:
        limit_steps(model, plan, settings, control, marks, FRESH)
        return
    a, b, c = steps.norms(model, work, weights)
    h0 = where(a > 1e-5, where(b > 1e-5, 0.01 * a / b, 1e-6 + zero(a)), 1e-6 + zero(a))
    h0 = where(h0 < settings[MAX_STEP], h0, settings[MAX_STEP])
    store(model.time, 0, 0, load(control, TIME, 0) + h0)
    for i in range(model.ny):
        store(model.y, i, 0, load(work, Y, i) + h0 * load(work, rk.RATE, i))
    steps.evaluate(model, plan, held)
    sound = steps.soundness(model)
    a, b, c = steps.norms(model, work, weights)
    largest = steps.larger(b, c / h0)
    store(control, SIZE, 0, h0)
    store(control, NORM, 0, where(sound == 0.0, largest, -1.0))
    for lane in range(8):
        if marks[FRESH, 0, lane] > 0.0:
            h, largest_rate = control[SIZE, 0, lane], control[NORM, 0, lane]
            if largest_rate < 0.0:  # the rates there are not finite
                control[STEP, 0, lane] = h
                continue
            h1 = max(1e-6, 1e-3 * h)
            if largest_rate > 1e-15:
                h1 = (settings[ACCURACY] / largest_rate) ** (1.0 / (plan[ERROR_ORDER] + 1.0))
            control[STEP, 0, lane] = min(100.0 * h, h1, settings[MAX_STEP])
    if plan[LIMITER] != 0:
        steps.set_y(model, work, Y, load(control, TIME, 0))
        steps.evaluate(model, plan, held)
        limit_steps(model, plan, settings, control, marks, FRESH)


@generic
def find_due(control: Any, lanes: Any, marks: Any, times: Any) -> bool:
    """Mark lanes with a report within their last step, and whether there are any; the others look at their step's end."""
    found, nt = False, times.shape[1]
    for lane in range(8):
        marks[DUE, 0, lane] = 0.0
        control[AT, 0, lane] = control[TIME, 0, lane]
        s, k = lanes[STATE, lane], lanes[REPORT, lane]
        if s >= 0 and k < nt:
            at = times[s if times.shape[0] > 1 else 0, k]
            if at <= control[TIME, 0, lane] and at <= control[HALT, 0, lane]:
                control[AT, 0, lane] = at
                marks[DUE, 0, lane] = 1.0
                found = True
    return found


@generic
def report(
    model: Any, plan: Any, settings: Any, work: Any, control: Any, lanes: Any, marks: Any, first: int, results: Any
) -> None:
    """A report of each lane that is marked, into its row of the results."""
    at, time = load(control, AT, 0), load(control, TIME, 0)
    steps.interpolate(model, work, load(control, PREVIOUS_TIME, 0), time, at)
    steps.prescribe(model, plan)
    if plan[PROJECT_REPORTS] != 0:
        between = where(at < time, load(marks, DUE, 0), 0.0)
        # TAKEN is free here
        store(marks, TAKEN, 0, between)
        any_between = False
        for lane in range(8):
            any_between = any_between or marks[TAKEN, 0, lane] > 0.0
        if any_between:
            steps.project(model, plan, between, 1.0, settings[rk.TOLERANCE])
    for lane in range(8):
        if marks[DUE, 0, lane] > 0.0:
            s, k = lanes[STATE, lane], lanes[REPORT, lane]
            for i in range(model.ny):
                results[s - first, k, i] = load_lane(model.y, i, 0, lane)
            lanes[REPORT, lane] = k + 1


@generic
def terminator(model: Any, plan: Any, control: Any, row: int) -> None:
    """The value of what terminates runs, of the record as it is, into a row."""
    call_routine(plan[TERMINATOR], model, 0, 0)
    store(control, row, 0, load(model.witness_values, 0, 0))


@generic
def find_halts(model: Any, plan: Any, work: Any, control: Any, marks: Any) -> None:
    """Find where what terminates runs has become positive within the last steps: the secant with Illinois' weights."""
    any_left = False
    for lane in range(8):
        crossed = marks[TAKEN, 0, lane] > 0.0 and control[VALUE, 0, lane] > 0.0
        marks[DUE, 0, lane] = 1.0 if crossed else 0.0
        if crossed:
            control[LOW, 0, lane], control[HIGH, 0, lane] = control[PREVIOUS_TIME, 0, lane], control[TIME, 0, lane]
            control[AT_LOW, 0, lane], control[AT_HIGH, 0, lane] = control[VALUE_BEFORE, 0, lane], control[VALUE, 0, lane]
            control[SIDE, 0, lane] = 0.0
            any_left = True
        elif marks[TAKEN, 0, lane] > 0.0:
            control[VALUE_BEFORE, 0, lane] = control[VALUE, 0, lane]
    for number in range(100):
        if not any_left:
            break
        any_left = False
        for lane in range(8):
            control[AT, 0, lane] = control[TIME, 0, lane]
            if marks[DUE, 0, lane] > 0.0:
                low, high = control[LOW, 0, lane], control[HIGH, 0, lane]
                a, b = control[AT_LOW, 0, lane], control[AT_HIGH, 0, lane]
                window = _PRECISE * (control[TIME, 0, lane] - control[PREVIOUS_TIME, 0, lane])
                middle = low + (high - low) * a / (a - b)
                if number % 4 == 3 or not low < middle < high:
                    middle = 0.5 * (low + high)
                middle = min(max(middle, low + 0.1 * window), high - 0.1 * window)
                if high - low <= window or not low < middle < high:
                    marks[DUE, 0, lane] = 0.0
                    control[HALT, 0, lane] = high
                else:
                    control[AT, 0, lane] = middle
                    any_left = True
        if any_left:
            steps.interpolate(model, work, load(control, PREVIOUS_TIME, 0), load(control, TIME, 0), load(control, AT, 0))
            steps.prescribe(model, plan)
            terminator(model, plan, control, VALUE)
            for lane in range(8):
                if marks[DUE, 0, lane] > 0.0:
                    if control[VALUE, 0, lane] > 0.0:
                        control[HIGH, 0, lane] = control[AT, 0, lane]
                        control[AT_HIGH, 0, lane] = control[VALUE, 0, lane]
                        if control[SIDE, 0, lane] > 0.0:
                            control[AT_LOW, 0, lane] *= 0.5
                        control[SIDE, 0, lane] = 1.0
                    else:
                        control[LOW, 0, lane] = control[AT, 0, lane]
                        control[AT_LOW, 0, lane] = control[VALUE, 0, lane]
                        if control[SIDE, 0, lane] < 0.0:
                            control[AT_HIGH, 0, lane] *= 0.5
                        control[SIDE, 0, lane] = -1.0
    for lane in range(8):
        if marks[DUE, 0, lane] > 0.0:
            control[HALT, 0, lane] = control[HIGH, 0, lane]


@generic
def limit_steps(model: Any, plan: Any, settings: Any, control: Any, marks: Any, mark: int) -> None:
    """How long the next steps of lanes that are marked may be by what comes near, of a record realized where they begin."""
    if plan[LIMITER] != 0:
        taken, planned, least = load(marks, mark, 0), load(control, STEP, 0), load(control, MIN_STEP, 0)
        planned = steps.larger(where(planned < settings[MAX_STEP], planned, settings[MAX_STEP]), least)
        store(model.contact_sum, 0, PART, rk.DEEPER + zero(taken))
        # what cannot meet within the step that is planned does not limit it; none is asked for the others
        store(model.contact_sum, 0, LIMITED_STEP, where(taken > 0.0, planned, zero(taken)))
        call_routine(plan[LIMITER], model, 0, model.num_contact_elements)
        found = steps.larger(load(model.contact_sum, 0, LIMITED_STEP), least)
        store(control, PERMITTED_STEP, 0, where(taken > 0.0, found, load(control, PERMITTED_STEP, 0)))


@generic
def accept(lane: int, plan: Any, settings: Any, control: Any, lanes: Any) -> None:
    """A lane's step has been taken: its time, and the size of the next step."""
    h, error, time = control[SIZE, 0, lane], control[NORM, 0, lane], control[TIME, 0, lane]
    end = control[FINAL_TIME, 0, lane]
    planned = settings[FIXED_STEP] if plan[FIXED] != 0 else min(control[STEP, 0, lane], settings[MAX_STEP])
    limited = plan[LIMITER] != 0 and planned > control[PERMITTED_STEP, 0, lane]
    if limited:
        planned = control[PERMITTED_STEP, 0, lane]
    clipped = planned > 0.999 * (end - time)
    control[PREVIOUS_TIME, 0, lane] = time
    control[TIME, 0, lane] = end if clipped else time + h
    control[rk.LAST_STEP, 0, lane] = h
    lanes[STEPS, lane] += 1
    strain = control[STRAIN, 0, lane]
    if limited:
        control[STRAIN, 0, lane] = 0.0
    elif 0.0 < strain <= rk.MOST_STRAIN:
        control[STRAIN, 0, lane] = strain - 1.0
    if plan[FIXED] == 0:
        growth = 5.0
        if error > 0.0:
            growth = min(5.0, 0.8 * (settings[ACCURACY] / error) ** (1.0 / plan[ERROR_ORDER]))
            part, last = error / settings[ACCURACY], control[LAST_ERROR, 0, lane]
            if plan[LIMITER] != 0 and control[STRAIN, 0, lane] > rk.MOST_STRAIN and last > 0.0:
                growth = min(5.0, 0.8 * (last**0.4 / part**0.7) ** (1.0 / plan[ERROR_ORDER]))
            control[LAST_ERROR, 0, lane] = part
        if (growth > 1.1 or growth < 1.0) and (not (clipped or limited) or growth * h > control[STEP, 0, lane]):
            control[STEP, 0, lane] = max(control[MIN_STEP, 0, lane], growth * h)


@generic
def refuse(lane: int, plan: Any, settings: Any, control: Any, lanes: Any) -> int:
    """A lane's attempt has failed: a smaller step is to be tried; or why none can be, one of the statuses."""
    h, error, time, failure = control[SIZE, 0, lane], control[NORM, 0, lane], control[TIME, 0, lane], lanes[FAILURE, lane]
    lanes[failure, lane] += 1
    if plan[FIXED] != 0 or h <= control[MIN_STEP, 0, lane] or time + 0.1 * h == time:
        if failure == REALIZATION_FAILURES:
            return rk.NOT_FINITE
        return rk.NOT_PROJECTED if failure == PROJECTION_FAILURES else rk.STEP_TOO_SMALL
    shrink = 0.1
    if failure == CONVERGENCE_FAILURES:
        shrink = 0.5
    elif failure == ERROR_FAILURES and error < 1e299:
        shrink = max(0.1, min(0.9, 0.8 * (settings[ACCURACY] / error) ** (1.0 / plan[ERROR_ORDER])))
    control[STEP, 0, lane] = max(control[MIN_STEP, 0, lane], shrink * h)
    control[LAST_ERROR, 0, lane] = 0.0
    control[STRAIN, 0, lane] += rk.STRAIN_OF_FAILURE
    return rk.REACHED


@generic
def look(model: Any, watched: Any, seen: Any, mark: Any) -> None:
    """Values and rates of all witnesses of lanes that are marked, of a record that is realized; those before are kept."""
    for w in range(watched.shape[0]):
        call_routine(watched[w, watching.ROUTINE], model, watched[w, watching.FIRST_INTEGER], watched[w, watching.FIRST_NUMBER])
        for k in range(2):
            new, now, before = load(model.witness_values, 0, k), 4 * w + 2 * k + 1, 4 * w + 2 * k
            old = load(seen, now, 0)
            store(seen, before, 0, where(mark > 0.0, old, load(seen, before, 0)))
            store(seen, now, 0, where(mark > 0.0, new, old))


@generic
def is_suspect(lane: int, watched: Any, seen: Any, h: float) -> bool:
    """Whether a witness may have changed sign in a lane's last step: the test of `integrator._watched.advance_watching`."""
    suspect = False
    for w in range(watched.shape[0]):
        g0, g1 = seen[4 * w, 0, lane], seen[4 * w + 1, 0, lane]
        r0, r1 = seen[4 * w + 2, 0, lane], seen[4 * w + 3, 0, lane]
        if not (abs(g1) < 1e300 and abs(r1) < 1e300):
            suspect = True
        if g0 > 0.0 and g1 <= 0.0 and watched[w, watching.FALLING] != 0:
            suspect = True
        if g0 < 0.0 and g1 >= 0.0 and watched[w, watching.RISING] != 0:
            suspect = True
        if g1 * r1 > 0.0 and g0 * g1 >= 0.0 and r0 * g1 < 0.0 and (g0 + r0 * ((g1 - g0 - r1 * h) / (r0 - r1))) * g1 < 0.0:
            suspect = True
    return suspect


# fmt: off
@compiled
def run(
    block: Any, plan: Any, table: Any, settings: Any, weights: Any, work: Any, control: Any, lanes: Any, marks: Any,
    held: Any, own: Any, queue: Any, watched: Any, seen: Any, remembered: Any, kept: Any, single_block: Any,
    own_of_single: Any, worker: int, chunks: Any, calls: Any,
    time: Any, q: Any, u: Any, z: Any, particles: Any, memory: Any, forces: Any, own_of_each: Any, end: Any, times: Any,
    results: Any, outcome: Any, reached: Any,
) -> int:
    # fmt: on
    """Take states through their runs, chunk by chunk, with as many attempts as the queue says: FINISHED or UNFINISHED.

    *end* is where each state's run ends: no step goes beyond, unless there are *times* of reports, of all alike or of each. A
    run then ends with the last of these, and steps do not depend on them.
    """
    call = begin_work(worker, calls)
    model = attach(block)
    single = attach(single_block)
    given = time, q, u, z, particles, forces, own_of_each, end, memory
    out = results, queue, outcome, reached
    reports = times.shape[1]
    for _ in range(queue[LIMIT]):
        # ---- free lanes take the next states
        any_fresh = any_busy = False
        for lane in range(8):
            marks[FRESH, 0, lane] = 0.0
            if lanes[STATE, lane] < 0 and queue[NEXT] == queue[STOP]:
                refill(queue, chunks, worker)
            if lanes[STATE, lane] < 0 and queue[NEXT] < queue[STOP]:
                take(model, lane, queue[NEXT], settings, control, lanes, work, held, given, own)
                queue[NEXT] += 1
                marks[FRESH, 0, lane] = 1.0
                any_fresh = True
            any_busy = any_busy or lanes[STATE, lane] >= 0
        if not any_busy:
            finish(chunks, queue[ENDED])
            stay_awake(worker, calls, call)
            return FINISHED
        any_free = False
        if any_fresh and model.num_controllers > 0:
            for lane in range(8):
                if marks[FRESH, 0, lane] > 0.0:
                    load_single(model, single, lane, work, control, own, own_of_single)
                    sampling.begin_sampling(single)
                    keep_memory(model, single, lane)
        if any_fresh:
            begin(model, plan, settings, weights, work, control, marks, held, watched, seen, remembered, kept)
            for lane in range(8):
                if marks[FRESH, 0, lane] > 0.0:
                    begun = plan[FIXED] != 0 or settings[STEP] > 0.0
                    lanes[EVALUATIONS, lane] += 1 if begun else 2 if plan[LIMITER] == 0 else 3
                    sound = control[SOUND, 0, lane]
                    if sound != 0.0:
                        status = rk.NOT_PROJECTED if sound == 1.0 else rk.NOT_FINITE
                        retire(model, lane, status, False, control, lanes, work, given, out)
                        any_free = True
            if plan[TERMINATOR] != 0:
                steps.set_y(model, work, Y, load(control, TIME, 0))
                terminator(model, plan, control, VALUE)
                for lane in range(8):
                    if marks[FRESH, 0, lane] > 0.0:
                        control[VALUE_BEFORE, 0, lane] = control[VALUE, 0, lane]
                        if control[VALUE, 0, lane] > 0.0:
                            control[HALT, 0, lane] = control[TIME, 0, lane]
        # ---- reports within the last steps, and runs that end
        if reports > 0:
            while find_due(control, lanes, marks, times):
                report(model, plan, settings, work, control, lanes, marks, queue[FIRST_ROW], results)
        if reports > 0:
            for lane in range(8):
                if lanes[STATE, lane] >= 0 and lanes[REPORT, lane] == reports:
                    control[AT, 0, lane] = times[lanes[STATE, lane] if times.shape[0] > 1 else 0, reports - 1]
                    retire(model, lane, rk.REACHED, True, control, lanes, work, given, out)
                    any_free = True
        else:
            for lane in range(8):
                if lanes[STATE, lane] >= 0 and control[TIME, 0, lane] >= control[END, 0, lane]:
                    retire(model, lane, rk.REACHED, False, control, lanes, work, given, out)
                    any_free = True
        if plan[TERMINATOR] != 0:
            any_halt = False
            for lane in range(8):
                halts = lanes[STATE, lane] >= 0 and control[HALT, 0, lane] <= control[TIME, 0, lane]
                marks[DUE, 0, lane] = 1.0 if halts else 0.0
                control[AT, 0, lane] = control[HALT, 0, lane] if halts else control[TIME, 0, lane]
                any_halt = any_halt or halts
            if any_halt:
                steps.interpolate(model, work, load(control, PREVIOUS_TIME, 0), load(control, TIME, 0), load(control, AT, 0))
                steps.prescribe(model, plan)
                if plan[PROJECT_REPORTS] != 0:
                    steps.project(model, plan, load(marks, DUE, 0), 1.0, settings[rk.TOLERANCE])
                for lane in range(8):
                    if marks[DUE, 0, lane] > 0.0:
                        retire(model, lane, TERMINATED, True, control, lanes, work, given, out)
                        any_free = True
        if model.num_controllers > 0 and not any_free and sample(
            model, single, plan, work, control, lanes, marks, held, own, own_of_single
        ):
            for lane in range(8):
                if marks[DUE, 0, lane] < 0.0:
                    retire(model, lane, int(1.0 - marks[DUE, 0, lane]), False, control, lanes, work, given, out)
                    any_free = True
        if any_free:
            continue
        # ---- an attempt at a step
        for lane in range(8):
            final = settings[FINAL_TIME]
            if reports == 0:
                final = min(final, control[END, 0, lane])
            if model.num_controllers > 0:
                final = min(final, control[SAMPLE, 0, lane])
            control[FINAL_TIME, 0, lane] = final
            at = control[TIME, 0, lane]
            h = settings[FIXED_STEP] if plan[FIXED] != 0 else min(control[STEP, 0, lane], settings[MAX_STEP])
            if plan[LIMITER] != 0:
                h = min(h, control[PERMITTED_STEP, 0, lane])
            if h > 0.999 * (final - at):
                h = final - at
            if lanes[STATE, lane] < 0:
                h = 0.0
            control[SIZE, 0, lane] = h
        begin_steps(model)
        sound = steps.attempt(model, plan, settings, held, work, table, weights, control)
        for i in range(model.ny):
            sound = sound + 0.0 * load(model.y, i, 0)
        if plan[FIXED] != 0:
            store(control, NORM, 0, zero(sound))
        else:
            store(control, NORM, 0, steps.error_norm(model, work, weights, plan[steps.MEAN_NORM]))
        store(control, SOUND, 0, sound)
        any_taken = any_going = False
        evaluations = attempts_evaluations(plan, table)
        for lane in range(8):
            marks[TAKEN, 0, lane] = 0.0
            if lanes[STATE, lane] < 0:
                continue
            lanes[ATTEMPTS, lane] += 1
            lanes[EVALUATIONS, lane] += evaluations + int(control[ITERATIONS, 0, lane])
            lanes[FAILURE, lane] = ERROR_FAILURES
            if not control[SOUND, 0, lane] == 0.0:
                lanes[FAILURE, lane] = REALIZATION_FAILURES
                control[NORM, 0, lane] = 1e300
            elif control[APART, 0, lane] > 0.0:
                lanes[FAILURE, lane] = CONVERGENCE_FAILURES
                control[NORM, 0, lane] = 1e300
            elif control[NORM, 0, lane] <= settings[ACCURACY]:
                marks[TAKEN, 0, lane] = 1.0
                any_taken = True
                over = control[TIME, 0, lane] + 1.001 * control[SIZE, 0, lane] >= control[END, 0, lane]
                any_going = any_going or reports > 0 or not over or plan[PRESCRIBER] != 0 or plan[LIMITER] != 0
        if any_taken:
            taken = load(marks, TAKEN, 0)
            if plan[PROJECTOR] != 0 or plan[QUATERNIONS] != 0:
                missed = steps.project(model, plan, taken, 1.0, settings[rk.TOLERANCE])
                store(control, SOUND, 0, missed)
                for lane in range(8):
                    if control[SOUND, 0, lane] > 0.0:
                        marks[TAKEN, 0, lane] = 0.0
                        lanes[FAILURE, lane] = PROJECTION_FAILURES
                        control[NORM, 0, lane] = 1e300
            if any_going and (plan[ENDS_AT_STAGE] == 0 or plan[PROJECTOR] != 0 or plan[QUATERNIONS] != 0):
                steps.evaluate(model, plan, held)
                store(control, SOUND, 0, steps.soundness(model))
                if plan[LIMITER] != 0 and plan[ENDS_AT_STAGE] == 0:
                    h, most = load(control, SIZE, 0), rk.SURPRISE / max(1.0, settings[ACCURACY] / rk.COARSEST)
                    store(control, SURPRISE, 0, steps.surprise(model, work, weights, plan[FORESEEN], h) / most)
                for lane in range(8):
                    over = control[TIME, 0, lane] + 1.001 * control[SIZE, 0, lane] >= control[END, 0, lane]
                    over = over and reports == 0 and plan[PRESCRIBER] == 0  # of these nobody wants the rates
                    over = over and plan[LIMITER] == 0
                    if marks[TAKEN, 0, lane] > 0.0 and not over:
                        lanes[EVALUATIONS, lane] += 1
                        if not control[SOUND, 0, lane] == 0.0:
                            marks[TAKEN, 0, lane] = 0.0
                            lanes[FAILURE, lane] = REALIZATION_FAILURES
                            control[NORM, 0, lane] = 1e300
                        elif plan[LIMITER] != 0 and plan[ENDS_AT_STAGE] == 0:
                            if not control[SURPRISE, 0, lane] <= control[NORM, 0, lane]:
                                control[NORM, 0, lane] = control[SURPRISE, 0, lane]
                            if not control[NORM, 0, lane] <= settings[ACCURACY]:
                                marks[TAKEN, 0, lane] = 0.0
            finish_steps(model, marks, TAKEN, kept)
            look(model, watched, seen, load(marks, TAKEN, 0))
            steps.shift_step(model, work, load(marks, TAKEN, 0))
        for lane in range(8):
            if lanes[STATE, lane] < 0:
                continue
            if marks[TAKEN, 0, lane] > 0.0:
                if is_suspect(lane, watched, seen, control[SIZE, 0, lane]):
                    marks[TAKEN, 0, lane] = 0.0
                    lanes[ATTEMPTS, lane] -= 1
                    lanes[EVALUATIONS, lane] -= evaluations + int(control[ITERATIONS, 0, lane])
                    retire(model, lane, SUSPECT, False, control, lanes, work, given, out)
                else:
                    accept(lane, plan, settings, control, lanes)
            else:
                status = refuse(lane, plan, settings, control, lanes)
                if status != rk.REACHED:
                    retire(model, lane, status, False, control, lanes, work, given, out)
        if any_taken:
            limit_steps(model, plan, settings, control, marks, TAKEN)
        if plan[TERMINATOR] != 0 and any_taken:
            terminator(model, plan, control, VALUE)
            find_halts(model, plan, work, control, marks)
    return UNFINISHED


@generic
def attempts_evaluations(plan: Any, table: Any) -> int:
    """Evaluations of an attempt, beside one an iteration."""
    if plan[steps.METHOD] == steps.RUNGE_KUTTA:
        return table.shape[1] - 2
    return 0 if plan[steps.METHOD] == steps.SEMI_EXPLICIT_EULER else 1
