"""The loop over steps of one state: attempt a step, test its error, project, accept or retry shorter; reports.

Steps do not depend on report times, and an interrupted run repeats the uninterrupted one. Prescribed q and u are set before
rates are evaluated, and in reports; they have no part in the error estimate. `stepping` makes the loop of a method's attempt.
Parts in Python are called back.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import any_not_finite, load
from ..compiling import Kernel, compiled, generic
from ..state.validity import ARTICULATED, KINEMATICS
from .controller import COLLAPSE_RATIO
from .errors import surprise
from .evaluate import (
    ALWAYS,
    CHANGED_Q,
    CHANGED_U,
    begin_step,
    energy,
    evaluate,
    evaluate_rest,
    finish_step,
    next_sample,
    prescribe,
    project,
    sample,
)
from .limits import COARSEST, SURPRISE
from .method import runge_kutta
from .method.method import Method
from .record import (
    ACCURACY,
    APART,
    ATTEMPTS,
    CHANGED,
    COLLAPSE,
    COLLAPSED,
    CONVERGENCE_FAILURES,
    DONE,
    ENDS_AT_STAGE,
    ERROR_FAILURES,
    EVALUATED,
    EVALUATIONS,
    FINAL_TIME,
    FIRST_STEP,
    FIXED_STEP,
    FORCED,
    FORESEEN,
    ITERATED,
    ITERATIONS,
    LAST_ERROR,
    LIMIT,
    LIMITER,
    NO_INTERPOLATION,
    NOT_FINITE,
    NOT_PROJECTED,
    NOT_SAMPLED,
    NOT_TAKEN_UP,
    PAUSED,
    PERMITTED_STEP,
    PREVIOUS_TIME,
    PROJECT_REPORTS,
    PROJECTION,
    PROJECTION_FAILURES,
    Q_PROJECTIONS,
    REACHED,
    REALIZATION_FAILURES,
    REPORT,
    SIZE,
    STEP,
    STEPS,
    STRAIN,
    SUSPECT,
    TARGET,
    TIME,
    TOLERANCE,
    U_PROJECTIONS,
    WATCHES,
    Y,
    run_of,
)
from .rows import begin_at, report_row, set_y, shift_step
from .witnesses import look, look_again, look_at_end, suspects


@compiled
def return_to_end(block: Any, work: Any, control: Any, counts: Any) -> int:
    """Realize the record at the end of the last step, from which reports have moved it."""
    model = attach(block)
    set_y(model, control[TIME], work[Y])
    return evaluate(model, counts)


@generic
def take_samples(model: Any, run: Any, realized: bool) -> int:
    """Sample the controllers that are due at the last step's end, where the record may be *realized* already."""
    control, counts = run.control, run.plan
    if not realized:  # reports, or events, have moved the record
        return_to_begin(model, run)
    if sample(model, control[TIME]) != 0:
        return NOT_SAMPLED
    counts[EVALUATIONS] += 1
    if evaluate_rest(model, counts, KINEMATICS | ARTICULATED) != 0:
        return NOT_FINITE
    look_again(model, counts[WATCHES])
    return REACHED


@generic
def return_to_begin(model: Any, run: Any) -> None:
    """Realize the record where the next step begins, from which it has been moved."""
    set_y(model, run.control[TIME], run.work[Y])
    evaluate(model, run.plan)
    run.plan[EVALUATIONS] += 1


@generic
def take_up(model: Any, work: Any, control: Any, counts: Any) -> int:
    """Go on from time and y of the record, which the caller has changed since the last step: their rates are the next first."""
    valid = counts[CHANGED] - 1
    counts[CHANGED] = 0
    begin_step(model, counts, load(model.time, 0, 0))  # the last one has ended before the change
    if valid & KINEMATICS != KINEMATICS:
        prescribe(model, counts)
        if project_now(model, control, counts, counts[PROJECTION] | ALWAYS) < 0:
            return NOT_TAKEN_UP
        valid = 0
    if evaluate_rest(model, counts, valid) != 0:
        return NOT_TAKEN_UP
    counts[EVALUATIONS] += 1
    finish_step(model, counts)
    begin_at(model, work)
    control[TIME] = control[PREVIOUS_TIME] = load(model.time, 0, 0)
    control[PERMITTED_STEP], control[LAST_ERROR], control[STRAIN] = -1.0, 0.0, 0.0
    if counts[WATCHES] > 0:  # what has been set here is no event
        look(model, counts[WATCHES])
    return REACHED


@generic
def project_now(model: Any, control: Any, counts: Any, choices: int) -> int:
    """Project y onto its manifolds, and count: CHANGED_Q and CHANGED_U, 0 if y is unchanged, below 0 if projection failed."""
    changed = project(model, counts, choices, control[TOLERANCE])
    if changed < 0:
        counts[PROJECTION_FAILURES] += 1
    else:
        counts[Q_PROJECTIONS] += changed & CHANGED_Q
        counts[U_PROJECTIONS] += (changed & CHANGED_U) // CHANGED_U
    return changed


@compiled
def project_report(block: Any, control: Any, counts: Any) -> int:
    """Project an interpolated y onto its manifolds; below 0 if that failed."""
    model = attach(block)
    return project(model, counts, counts[PROJECTION] | ALWAYS, control[TOLERANCE])


@generic
def arrive(model: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """Prescribe, project and realize at *y*; DONE, NOT_PROJECTED or NOT_FINITE."""
    set_y(model, time, y)
    prescribe(model, counts)
    if project_now(model, control, counts, counts[PROJECTION]) < 0:
        return NOT_PROJECTED
    status = evaluate(model, counts)
    counts[EVALUATIONS] += 1
    if status != 0:
        counts[REALIZATION_FAILURES] += 1
        return NOT_FINITE
    return DONE


@compiled
def arrive_at(block: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """`arrive`, for steps that Python takes."""
    return arrive(attach(block), control, counts, time, y)


@compiled
def finish_at(block: Any, work: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """End a step that a solver has taken at *y*: `arrive`, and shift the rows."""
    model = attach(block)
    status = arrive(model, control, counts, time, y)
    if status == DONE:
        finish_step(model, counts)
        shift_step(model, work)
    return status


def stepping(method: Method, name: str) -> Kernel:
    """Make the loop over steps of a method, whose name names the compiled code."""
    attempt, plan, find_error, accept, refuse = method.attempt, method.plan, method.find_error, method.accept, method.refuse
    interpolate, limit, forget, sampled = method.interpolate, method.limit, method.forget, method.sampled
    from_realized, controls_fixed = method.from_realized, method.controls_fixed

    @generic
    def report(model: Any, run: Any, times: Any, results: Any, energies: Any) -> None:
        """A report within the last step, or at its end."""
        control, counts, k = run.control, run.plan, run.plan[REPORT]
        interpolate(model, run, times[k])
        prescribe(model, counts)
        if counts[PROJECT_REPORTS] != 0 and times[k] < control[TIME]:
            project(model, counts, counts[PROJECTION] | ALWAYS, control[TOLERANCE])
        report_row(model, results[k])
        if energies.shape[0] == times.shape[0]:
            energies[k] = energy(model, counts)
        counts[REPORT] += 1

    @generic
    def begin(model: Any, run: Any, report_time: float, realized: bool) -> int:
        """Sample what is due where a step begins, and choose its size."""
        control, counts = run.control, run.plan
        time, sample_time = control[TIME], next_sample(model)
        if sample_time <= time:
            status = take_samples(model, run, realized)
            if status != REACHED:
                return status
            sampled(model, run)
            sample_time = next_sample(model)
            realized = from_realized
        unlimited = counts[LIMITER] != 0 and control[PERMITTED_STEP] < 0.0
        if not realized and (unlimited or from_realized):  # reports, or events, have moved the record
            return_to_begin(model, run)
        if unlimited:
            limit(model, run)
        end = min(control[FINAL_TIME], sample_time)
        if counts[NO_INTERPOLATION] != 0:
            end = min(end, report_time)
        plan(model, run, end)
        return REACHED

    @generic
    def judge(model: Any, run: Any, sound: float, controlled: bool) -> Any:
        """The error of an attempt, and what it failed by if it did; where it did not, its end is projected and realized."""
        control, counts = run.control, run.plan
        if any_not_finite(sound):
            return 1e300, REALIZATION_FAILURES
        if control[APART] > 0.0:
            return 1e300, CONVERGENCE_FAILURES
        error = find_error(model, run) if controlled else 0.0
        if not error <= control[ACCURACY]:
            return error, ERROR_FAILURES
        changed = project_now(model, control, counts, counts[PROJECTION])
        if changed < 0:
            return 1e300, PROJECTION_FAILURES
        if changed != 0 or counts[ENDS_AT_STAGE] == 0:
            status = evaluate(model, counts)
            counts[EVALUATIONS] += 1
            if status != 0:
                return 1e300, REALIZATION_FAILURES
            if counts[LIMITER] != 0 and counts[ENDS_AT_STAGE] == 0 and controlled:
                size = surprise(model, run.work, run.weights, counts[FORESEEN], control[SIZE]) / SURPRISE
                error = max(error, size * max(1.0, control[ACCURACY] / COARSEST))
        return error, ERROR_FAILURES

    @generic
    def take(model: Any, run: Any, error: float, controlled: bool) -> None:
        """The attempt is a step."""
        control, counts, h = run.control, run.plan, run.control[SIZE]
        finish_step(model, counts)
        shift_step(model, run.work)
        accept(model, run, error, controlled)
        if counts[STEPS] == 0:
            control[FIRST_STEP] = h
        control[COLLAPSE] = max(control[COLLAPSE], COLLAPSE_RATIO * h)
        counts[STEPS] += 1
        counts[FORCED] = 0
        if counts[LIMITER] != 0:
            limit(model, run)

    def advance(block: Any, work: Any, table: Any, control: Any, counts: Any, times: Any, results: Any, energies: Any) -> int:
        """Step until every time of *times* from number ``counts[REPORT]`` on is reported, or ``counts[LIMIT]`` steps are taken.

        A report is a row of *results* (y) and, if *energies* is as long as *times*, the energy. It returns COLLAPSED when
        steps have shrunk far: the caller may look for the cause, and call again to go on unchanged. So it does with SUSPECT,
        where a witness may have changed sign within the last step, and with REACHED at the target.
        """
        model = attach(block)
        run = run_of(work, table, control, counts)
        if counts[CHANGED] != 0:
            if take_up(model, work, control, counts) != REACHED:
                return NOT_TAKEN_UP
            forget(model, run)
        taken, realized = 0, False
        while counts[REPORT] < times.shape[0]:
            k = counts[REPORT]
            if times[k] <= min(control[TIME], control[TARGET]):
                realized = realized and times[k] == control[TIME]
                report(model, run, times, results, energies)
                continue
            if control[TIME] >= control[TARGET]:
                return REACHED
            if taken >= counts[LIMIT]:
                return PAUSED
            if control[STEP] < control[COLLAPSE]:
                control[COLLAPSE] = COLLAPSE_RATIO * control[STEP]
                return COLLAPSED
            status = begin(model, run, times[k], realized)
            if status != REACHED:
                return status
            realized = False
            time, h = control[TIME], control[SIZE]
            controlled = counts[FORCED] == 0 and (controls_fixed or control[FIXED_STEP] == 0.0)
            counts[ATTEMPTS] += 1
            begin_step(model, counts, time)
            sound = attempt(model, run, time, h)
            counts[EVALUATIONS] += int(control[EVALUATED])
            counts[ITERATIONS] += int(control[ITERATED])
            error, failure = judge(model, run, sound, controlled)
            if error <= control[ACCURACY]:
                take(model, run, error, controlled)
                taken += 1
                realized = True
                if counts[WATCHES] != 0:
                    realized = not look_at_end(model, work, control, counts)
                    if suspects(model, counts[WATCHES], h):
                        return SUSPECT
                continue
            if failure != PROJECTION_FAILURES:  # these are counted where they are met
                counts[failure] += 1
            status = refuse(model, run, error, failure)
            if status != REACHED:
                return status
        return REACHED

    advance.__qualname__ = f"advance.{name}"
    return compiled(advance)


advance = stepping(Method(runge_kutta.attempt), "runge_kutta")
