"""Runs of many states, eight at a time: each lane goes through its own steps and reports, and takes the next state at its end.

Steps are those of `stepping`, controlled lane by lane; what costs time is in lanes. All that a run knows is in arrays, so that
it can be left after any number of attempts and gone on with.
"""

from __future__ import annotations

from typing import Any

from ...algebra.record import attach
from ...algebra.scalar import load, store, zero
from ...compiling import compiled, generic
from ...stepping import record as rk
from ...stepping.controller import accept, propose, refuse
from ...stepping.errors import error_norm, surprise
from ...stepping.evaluate import evaluate, prescribe, project_lanes
from ...stepping.interpolation import interpolate
from ...stepping.limits import COARSEST, SURPRISE, limit_steps
from ...stepping.method import runge_kutta, semi_explicit_euler, semi_explicit_euler2, verlet
from ...stepping.record import ACCURACY, FINAL_TIME, PREVIOUS_TIME, TIME, Run, Y
from ...stepping.rows import set_row, shift
from ...tree import sampling
from ..batch_memory import begin_steps, finish_steps
from ..chunks import NONE, begin_work, finish, leave_work, next_call
from . import layout as at
from .controllers import keep_memory, load_single, sample
from .ends import find_halts, terminator
from .layout import DUE, END, FRESH, HALT, METHOD, NORM, SOUND, STATE, TAKEN, TERMINATED, TERMINATOR, VALUE, WAIT, WAITS
from .reports import find_due, report
from .starts import begin
from .states import refill, retire, take
from .witnesses import is_near, is_suspect, look


@generic
def attempt(model: Any, run: Any) -> Any:
    """One attempt of the method from TIME, of the size SIZE: see `stepping.method`."""
    time, h = load(run.control, TIME, 0), load(run.control, rk.SIZE, 0)
    sound = zero(h)
    if run.plan[METHOD] == at.RUNGE_KUTTA:
        sound = runge_kutta.attempt(model, run, time, h)
    elif run.plan[METHOD] == at.SEMI_EXPLICIT_EULER:
        sound = semi_explicit_euler.attempt(model, run, time, h)
    elif run.plan[METHOD] == at.SEMI_EXPLICIT_EULER2:
        sound = semi_explicit_euler2.attempt(model, run, time, h)
    else:
        sound = verlet.attempt(model, run, time, h)
    for i in range(model.ny):
        sound = sound + 0.0 * load(model.y, i, 0)
    return sound


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
    this = Run(plan=plan, settings=settings, control=control, work=work, table=table, weights=weights, held=held)
    fixed, limited = settings[rk.FIXED_STEP] > 0.0, plan[rk.LIMITER] != 0
    projects = plan[rk.PROJECTOR] != 0 or plan[rk.QUATERNIONS] != 0
    single = attach(single_block)
    given = time, q, u, z, particles, forces, own_of_each, end, memory
    out = results, queue, outcome, reached
    reports = times.shape[1]
    for _ in range(queue[at.LIMIT]):
        # ---- free lanes take the next states
        any_fresh = any_busy = False
        for lane in range(8):
            marks[FRESH, 0, lane] = 0.0
            if lanes[STATE, lane] < 0 and queue[at.NEXT] == queue[at.STOP]:
                refill(queue, chunks, worker)
            if lanes[STATE, lane] < 0 and queue[at.NEXT] < queue[at.STOP]:
                s = queue[at.NEXT]
                if which.shape[0] > 0:
                    s = which[s - queue[at.FIRST_ROW]]
                take(model, lane, s, settings, control, lanes, work, held, given, own, onward, outcome)
                queue[at.NEXT] += 1
                marks[FRESH, 0, lane] = 1.0
                any_fresh = True
            any_busy = any_busy or lanes[STATE, lane] >= 0
        if not any_busy:
            finish(chunks, queue[at.ENDED])
            call = next_call(worker, chunks, calls, call)
            if call == NONE:
                return at.FINISHED
            queue[at.NEXT] = queue[at.STOP] = queue[at.ENDED] = 0
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
                    begun = fixed or control[rk.STEP, 0, lane] > 0.0
                    lanes[at.EVALUATIONS, lane] += 1 if begun else 3 if limited else 2
            begin(model, this, marks, watched, seen, remembered, kept)
            for lane in range(8):
                if marks[FRESH, 0, lane] > 0.0:
                    sound = control[SOUND, 0, lane]
                    if sound != 0.0:
                        status = rk.NOT_PROJECTED if sound == 1.0 else rk.NOT_FINITE
                        retire(model, lane, status, False, control, lanes, work, given, out)
                        any_free = True
                    elif is_near(model, lane, watched, seen, work):
                        retire(model, lane, at.SUSPECT, False, control, lanes, work, given, out)
                        any_free = True
            if plan[TERMINATOR] != 0:
                set_row(model, work, Y, load(control, TIME, 0))
                terminator(model, plan, control, VALUE)
                for lane in range(8):
                    if marks[FRESH, 0, lane] > 0.0:
                        control[at.VALUE_BEFORE, 0, lane] = control[VALUE, 0, lane]
                        if control[VALUE, 0, lane] > 0.0:
                            control[HALT, 0, lane] = control[TIME, 0, lane]
        # ---- reports within the last steps, and runs that end
        if reports > 0:
            while find_due(control, lanes, marks, times):
                report(model, this, lanes, marks, queue[at.FIRST_ROW], results)
        if reports > 0:
            for lane in range(8):
                if lanes[STATE, lane] >= 0 and lanes[at.REPORT, lane] == reports:
                    control[at.AT, 0, lane] = times[lanes[STATE, lane] if times.shape[0] > 1 else 0, reports - 1]
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
                control[at.AT, 0, lane] = control[HALT, 0, lane] if halts else control[TIME, 0, lane]
                any_halt = any_halt or halts
            if any_halt:
                interpolate(model, work, load(control, PREVIOUS_TIME, 0), load(control, TIME, 0), load(control, at.AT, 0))
                prescribe(model, plan)
                if plan[rk.PROJECT_REPORTS] != 0:
                    project_lanes(model, plan, load(marks, DUE, 0), 1.0, settings[rk.TOLERANCE])
                for lane in range(8):
                    if marks[DUE, 0, lane] > 0.0:
                        retire(model, lane, TERMINATED, True, control, lanes, work, given, out)
                        any_free = True
        if (
            model.num_controllers > 0
            and not any_free
            and sample(model, single, this, lanes, marks, own, own_of_single)
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
                final = min(final, control[at.SAMPLE, 0, lane])
            control[FINAL_TIME, 0, lane] = final
            propose(this, lane, final)
            if lanes[STATE, lane] < 0:
                control[rk.SIZE, 0, lane] = 0.0
        begin_steps(model)
        store(control, SOUND, 0, attempt(model, this))
        if fixed:
            store(control, NORM, 0, zero(load(control, TIME, 0)))
        else:
            store(control, NORM, 0, error_norm(model, work, weights, plan[rk.MEAN_NORM]))
        any_taken = any_going = False
        for lane in range(8):
            marks[TAKEN, 0, lane] = 0.0
            if lanes[STATE, lane] < 0:
                continue
            lanes[at.ATTEMPTS, lane] += 1
            lanes[at.EVALUATIONS, lane] += int(control[rk.EVALUATED, 0, lane])
            lanes[at.FAILURE, lane] = rk.ERROR_FAILURES
            if not control[SOUND, 0, lane] == 0.0:
                lanes[at.FAILURE, lane] = rk.REALIZATION_FAILURES
                control[NORM, 0, lane] = 1e300
            elif control[rk.APART, 0, lane] > 0.0:
                lanes[at.FAILURE, lane] = rk.CONVERGENCE_FAILURES
                control[NORM, 0, lane] = 1e300
            elif control[NORM, 0, lane] <= settings[ACCURACY]:
                marks[TAKEN, 0, lane] = 1.0
                any_taken = True
                over = control[TIME, 0, lane] + 1.001 * control[rk.SIZE, 0, lane] >= control[END, 0, lane]
                any_going = any_going or reports > 0 or not over or plan[rk.PRESCRIBER] != 0 or limited
        if any_taken:
            taken = load(marks, TAKEN, 0)
            if projects:
                missed = project_lanes(model, plan, taken, 1.0, settings[rk.TOLERANCE])
                store(control, SOUND, 0, missed)
                for lane in range(8):
                    if control[SOUND, 0, lane] > 0.0:
                        marks[TAKEN, 0, lane] = 0.0
                        lanes[at.FAILURE, lane] = rk.PROJECTION_FAILURES
                        control[NORM, 0, lane] = 1e300
            if any_going and (plan[rk.ENDS_AT_STAGE] == 0 or projects):
                store(control, SOUND, 0, evaluate(model, plan, held))
                if limited and plan[rk.ENDS_AT_STAGE] == 0:
                    h, most = load(control, rk.SIZE, 0), SURPRISE / max(1.0, settings[ACCURACY] / COARSEST)
                    store(control, at.SURPRISE, 0, surprise(model, work, weights, plan[rk.FORESEEN], h) / most)
                for lane in range(8):
                    over = control[TIME, 0, lane] + 1.001 * control[rk.SIZE, 0, lane] >= control[END, 0, lane]
                    over = over and reports == 0 and plan[rk.PRESCRIBER] == 0  # of these nobody wants the rates
                    over = over and not limited
                    if marks[TAKEN, 0, lane] > 0.0 and not over:
                        lanes[at.EVALUATIONS, lane] += 1
                        if not control[SOUND, 0, lane] == 0.0:
                            marks[TAKEN, 0, lane] = 0.0
                            lanes[at.FAILURE, lane] = rk.REALIZATION_FAILURES
                            control[NORM, 0, lane] = 1e300
                        elif limited and plan[rk.ENDS_AT_STAGE] == 0:
                            if not control[at.SURPRISE, 0, lane] <= control[NORM, 0, lane]:
                                control[NORM, 0, lane] = control[at.SURPRISE, 0, lane]
                            if not control[NORM, 0, lane] <= settings[ACCURACY]:
                                marks[TAKEN, 0, lane] = 0.0
            finish_steps(model, marks, TAKEN, kept)
            look(model, watched, seen, load(marks, TAKEN, 0))
            shift(model, work, load(marks, TAKEN, 0))
        for lane in range(8):
            if lanes[STATE, lane] < 0:
                continue
            if marks[TAKEN, 0, lane] > 0.0:
                if is_suspect(lane, watched, seen, control[rk.SIZE, 0, lane]):
                    marks[TAKEN, 0, lane] = 0.0
                    lanes[at.ATTEMPTS, lane] -= 1
                    lanes[at.EVALUATIONS, lane] -= int(control[rk.EVALUATED, 0, lane])
                    retire(model, lane, at.SUSPECT, False, control, lanes, work, given, out)
                else:
                    accept(this, lane, control[NORM, 0, lane], not fixed)
                    lanes[at.STEPS, lane] += 1
            else:
                failure = lanes[at.FAILURE, lane]
                lanes[failure + at.OF_COUNTS, lane] += 1
                status = refuse(this, lane, control[NORM, 0, lane], failure)
                if status != rk.REACHED:
                    retire(model, lane, status, False, control, lanes, work, given, out)
        if any_taken:
            limit_steps(model, this, load(marks, TAKEN, 0))
        if plan[TERMINATOR] != 0 and any_taken:
            terminator(model, plan, control, VALUE)
            find_halts(model, this, marks)
    leave_work(worker, chunks)
    return at.UNFINISHED
