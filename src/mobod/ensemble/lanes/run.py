"""Runs of many states, eight at a time: each lane goes through its own steps and reports, and takes the next state at its end.

The control of steps is that of `integrator._runge_kutta`, lane by lane; what costs time is in lanes. All that a run knows is in
arrays, so that it can be left after any number of attempts and gone on with.
"""

from __future__ import annotations

from typing import Any

from ...algebra.record import attach
from ...algebra.scalar import load, store, zero
from ...compiling import compiled
from ...integrator import _runge_kutta as rk
from ...integrator._runge_kutta import ACCURACY, FINAL_TIME, FIXED_STEP, MAX_STEP, PERMITTED_STEP, PREVIOUS_TIME, STEP, TIME, Y
from ...tree import sampling
from ..batch_memory import begin_steps, finish_steps
from ..chunks import NONE, begin_work, finish, leave_work, next_call
from . import steps
from .controllers import keep_memory, load_single, sample
from .ends import find_halts, terminator
from .layout import (
    APART,
    AT,
    ATTEMPTS,
    CONVERGENCE_FAILURES,
    DUE,
    END,
    ENDED,
    ENDS_AT_STAGE,
    ERROR_FAILURES,
    EVALUATIONS,
    FAILURE,
    FINISHED,
    FIRST_ROW,
    FIXED,
    FORESEEN,
    FRESH,
    HALT,
    ITERATIONS,
    LIMIT,
    LIMITER,
    MEAN_NORM,
    NEXT,
    NORM,
    PRESCRIBER,
    PROJECT_REPORTS,
    PROJECTION_FAILURES,
    PROJECTOR,
    QUATERNIONS,
    REALIZATION_FAILURES,
    REPORT,
    SAMPLE,
    SIZE,
    SOUND,
    STATE,
    STOP,
    SURPRISE,
    SUSPECT,
    TAKEN,
    TERMINATED,
    TERMINATOR,
    UNFINISHED,
    VALUE,
    VALUE_BEFORE,
    WAIT,
    WAITS,
)
from .reports import find_due, report
from .starts import begin
from .states import refill, retire, take
from .step_control import accept, attempts_evaluations, limit_steps, refuse
from .witnesses import is_suspect, look


# fmt: off
@compiled
def run(
    block: Any, plan: Any, table: Any, settings: Any, weights: Any, work: Any, control: Any, lanes: Any, marks: Any,
    held: Any, own: Any, queue: Any, watched: Any, seen: Any, remembered: Any, kept: Any, single_block: Any,
    own_of_single: Any, worker: int, chunks: Any, calls: Any,
    time: Any, q: Any, u: Any, z: Any, particles: Any, memory: Any, forces: Any, own_of_each: Any, end: Any, times: Any,
    results: Any, outcome: Any, reached: Any, which: Any, onward: Any,
) -> int:
    # fmt: on
    """Take states through their runs, chunk by chunk, with as many attempts as the queue says: FINISHED or UNFINISHED.

    *which* are the states, all of them where it is empty. Where there is *onward*, they go on as that says, and wait where it
    says, too.

    *end* is where each state's run ends: no step goes beyond, unless there are *times* of reports, of all alike or of each. A
    run then ends with the last of these, and steps do not depend on them.
    """
    call = begin_work(worker, chunks, calls)
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
                s = queue[NEXT]
                if which.shape[0] > 0:
                    s = which[s - queue[FIRST_ROW]]
                take(model, lane, s, settings, control, lanes, work, held, given, own, onward, outcome)
                queue[NEXT] += 1
                marks[FRESH, 0, lane] = 1.0
                any_fresh = True
            any_busy = any_busy or lanes[STATE, lane] >= 0
        if not any_busy:
            finish(chunks, queue[ENDED])
            call = next_call(worker, chunks, calls, call)
            if call == NONE:
                return FINISHED
            queue[NEXT] = queue[STOP] = queue[ENDED] = 0
            continue
        any_free = False
        if any_fresh and model.num_controllers > 0:
            for lane in range(8):
                if marks[FRESH, 0, lane] > 0.0:
                    load_single(model, single, lane, work, control, own, own_of_single)
                    sampling.begin_sampling(single)
                    keep_memory(model, single, lane)
        if any_fresh:
            for lane in range(8):
                if marks[FRESH, 0, lane] > 0.0:
                    begun = plan[FIXED] != 0 or control[STEP, 0, lane] > 0.0
                    lanes[EVALUATIONS, lane] += 1 if begun else 2 if plan[LIMITER] == 0 else 3
            begin(model, plan, settings, weights, work, control, marks, held, watched, seen, remembered, kept)
            for lane in range(8):
                if marks[FRESH, 0, lane] > 0.0:
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
        if onward.shape[0] > 0:
            for lane in range(8):
                if lanes[STATE, lane] >= 0 and control[TIME, 0, lane] >= control[WAIT, 0, lane]:
                    if not control[HALT, 0, lane] <= control[TIME, 0, lane]:
                        retire(model, lane, WAITS, False, control, lanes, work, given, out)
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
        if (
            model.num_controllers > 0
            and not any_free
            and sample(model, single, plan, work, control, lanes, marks, held, own, own_of_single)
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
            if onward.shape[0] > 0:
                final = min(final, control[WAIT, 0, lane])
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
            store(control, NORM, 0, steps.error_norm(model, work, weights, plan[MEAN_NORM]))
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
    leave_work(worker, chunks)
    return UNFINISHED
