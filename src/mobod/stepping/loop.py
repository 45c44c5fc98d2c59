"""The loop over steps of one state: attempt a step, test its error, project, accept or retry shorter; reports.

Steps do not depend on report times, and an interrupted run repeats the uninterrupted one. Prescribed q and u are set before
rates are evaluated, and in reports; they have no part in the error estimate. `stepping` makes the loop of a method's attempt.
It is compiled for systems of built-in parts, and run by Python otherwise; what loops over y is a kernel either way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import any_not_finite, load
from ..compiling import Kernel, compiled, generic
from ..state.validity import ARTICULATED, KINEMATICS
from .controller import COLLAPSE_RATIO, accept, propose, refuse
from .errors import error_norm, surprise
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
from .interpolation import interpolate
from .limits import COARSEST, SURPRISE, find_permitted_step
from .method import runge_kutta
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
    MEAN_NORM,
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
from .rows import begin_at, report_row, set_rate, set_y, shift_step
from .witnesses import look, look_at_end, suspects


@compiled
def return_to_end(block: Any, work: Any, control: Any, counts: Any) -> int:
    """Realize the record at the end of the last step, from which reports have moved it."""
    model = attach(block)
    set_y(model, control[TIME], work[Y])
    return evaluate(model, counts)


@generic
def take_samples(model: Any, work: Any, control: Any, counts: Any, realized: bool) -> int:
    """Sample the controllers that are due at the last step's end, where the record may be *realized* already."""
    if not realized:  # reports, or events, have moved the record
        set_y(model, control[TIME], work[Y])
        evaluate(model, counts)
        counts[EVALUATIONS] += 1
    if sample(model, control[TIME]) != 0:
        return NOT_SAMPLED
    counts[EVALUATIONS] += 1
    if evaluate_rest(model, counts, KINEMATICS | ARTICULATED) != 0:
        return NOT_FINITE
    set_rate(model, work)
    return REACHED


@generic
def take_up(model: Any, work: Any, control: Any, counts: Any) -> int:
    """Go on from time and y of the record, which the caller has changed since the last step: their rates are the next first."""
    valid = counts[CHANGED] - 1
    counts[CHANGED] = 0
    begin_step(model, load(model.time, 0, 0))  # the last one has ended before the change
    if valid & KINEMATICS != KINEMATICS:
        prescribe(model, counts)
        if project_now(model, control, counts, counts[PROJECTION] | ALWAYS) < 0:
            return NOT_TAKEN_UP
        valid = 0
    if evaluate_rest(model, counts, valid) != 0:
        return NOT_TAKEN_UP
    counts[EVALUATIONS] += 1
    finish_step(model)
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


@compiled
def finish_at(block: Any, work: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """End a step that a solver has taken at *y*: project, realize, and shift the rows; DONE, NOT_PROJECTED or NOT_FINITE."""
    model = attach(block)
    set_y(model, time, y)
    prescribe(model, counts)
    if project_now(model, control, counts, counts[PROJECTION]) < 0:
        return NOT_PROJECTED
    status = evaluate(model, counts)
    counts[EVALUATIONS] += 1
    if status != 0:
        counts[REALIZATION_FAILURES] += 1
        return NOT_FINITE
    finish_step(model)
    shift_step(model, work)
    return DONE


def begin_step_of(model: Any, time: float) -> int:
    """`begin_step`, called from Python only: no compiled part needs it."""
    return begin_step(model, time)


def stepping(attempt: Callable[..., Any], name: str) -> Kernel:
    """Make the loop over steps of a method.

    Parameters
    ----------
    attempt : generic function
        See `method`.
    name : str
        Names the compiled code.
    """

    def advance(block: Any, work: Any, table: Any, control: Any, counts: Any, times: Any, results: Any, energies: Any) -> int:
        """Step until every time of *times* from number ``counts[REPORT]`` on is reported, or ``counts[LIMIT]`` steps are taken.

        A report is a row of *results* (y) and, if *energies* is as long as *times*, the energy. It returns COLLAPSED when
        steps have shrunk far: the caller may look for the cause, and call again to go on unchanged. So it does with SUSPECT,
        where a witness may have changed sign within the last step, and with REACHED at the target.
        """
        model = attach(block)
        run = run_of(work, table, control, counts)
        if counts[CHANGED] != 0 and take_up(model, work, control, counts) != REACHED:
            return NOT_TAKEN_UP
        taken = 0
        realized = False
        while counts[REPORT] < times.shape[0]:
            if times[counts[REPORT]] <= min(control[TIME], control[TARGET]):
                k = counts[REPORT]
                realized = realized and times[k] == control[TIME]
                interpolate(model, work, control[PREVIOUS_TIME], control[TIME], times[k])
                prescribe(model, counts)
                if counts[PROJECT_REPORTS] != 0 and times[k] < control[TIME]:
                    project(model, counts, counts[PROJECTION] | ALWAYS, control[TOLERANCE])
                report_row(model, results[k])
                if energies.shape[0] == times.shape[0]:
                    energies[k] = energy(model, counts)
                counts[REPORT] += 1
                continue
            if control[TIME] >= control[TARGET]:
                return REACHED
            if taken >= counts[LIMIT]:
                return PAUSED
            if control[STEP] < control[COLLAPSE]:
                control[COLLAPSE] = COLLAPSE_RATIO * control[STEP]
                return COLLAPSED
            time = control[TIME]
            sample_time = next_sample(model)
            if sample_time <= time:
                status = take_samples(model, work, control, counts, realized)
                if status != REACHED:
                    return status
                sample_time = next_sample(model)
            realized = False
            if counts[LIMITER] != 0 and control[PERMITTED_STEP] < 0.0:  # reports, or events, have moved the record
                set_y(model, time, work[Y])
                evaluate(model, counts)
                counts[EVALUATIONS] += 1
                find_permitted_step(model, control, counts)
            end = min(control[FINAL_TIME], sample_time)
            if counts[NO_INTERPOLATION] != 0:
                end = min(end, times[counts[REPORT]])
            propose(run, 0, end)
            h, controlled = control[SIZE], control[FIXED_STEP] == 0.0 and counts[FORCED] == 0
            counts[ATTEMPTS] += 1
            begin_step(model, time)
            sound = attempt(model, run, time, h)
            counts[EVALUATIONS] += int(control[EVALUATED])
            counts[ITERATIONS] += int(control[ITERATED])
            error, failure = 1e300, ERROR_FAILURES
            if any_not_finite(sound):
                failure = REALIZATION_FAILURES
            elif control[APART] > 0.0:
                failure = CONVERGENCE_FAILURES
            elif controlled:
                error = error_norm(model, work, run.weights, counts[MEAN_NORM])
            else:
                error = 0.0
            if error <= control[ACCURACY]:
                changed = project_now(model, control, counts, counts[PROJECTION])
                if changed < 0:
                    error, failure = 1e300, PROJECTION_FAILURES
                elif changed != 0 or counts[ENDS_AT_STAGE] == 0:
                    status = evaluate(model, counts)
                    counts[EVALUATIONS] += 1
                    if status != 0:
                        error, failure = 1e300, REALIZATION_FAILURES
                    elif counts[LIMITER] != 0 and counts[ENDS_AT_STAGE] == 0 and controlled:
                        size = surprise(model, work, run.weights, counts[FORESEEN], h) / SURPRISE
                        error = max(error, size * max(1.0, control[ACCURACY] / COARSEST))
            if error <= control[ACCURACY]:
                finish_step(model)
                shift_step(model, work)
                accept(run, 0, error, controlled)
                if counts[STEPS] == 0:
                    control[FIRST_STEP] = h
                control[COLLAPSE] = max(control[COLLAPSE], COLLAPSE_RATIO * h)
                counts[STEPS] += 1
                taken += 1
                realized = True
                counts[FORCED] = 0
                if counts[LIMITER] != 0:
                    find_permitted_step(model, control, counts)
                if counts[WATCHES] != 0:
                    realized = not look_at_end(model, work, control, counts)
                    if suspects(model, counts[WATCHES], h):
                        return SUSPECT
                continue
            if failure != PROJECTION_FAILURES:  # these are counted where they are met
                counts[failure] += 1
            status = refuse(run, 0, error, failure)
            if status != REACHED:
                return status
        return REACHED

    advance.__qualname__ = f"advance.{name}"
    return compiled(advance)


advance = stepping(runge_kutta.attempt, "runge_kutta")
