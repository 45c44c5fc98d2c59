"""The loop over steps of one state: attempt a step, test its error, project, accept or retry shorter; reports.

Steps do not depend on report times, and an interrupted run repeats the uninterrupted one. Prescribed q and u are set before
rates are evaluated, and in reports; without rigid contacts they have no part in the error estimate. `stepping` makes the loop
of a method's attempt. Parts in Python are called back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load
from ..compiling import Kernel, compiled, generic
from ..state.validity import ARTICULATED, KINEMATICS
from ..tree import sampling
from . import record as rk
from .attempts import attempts_of
from .controller import COLLAPSE_RATIO
from .evaluate import (
    ALWAYS,
    CHANGED_Q,
    CHANGED_U,
    begin_step,
    energy,
    evaluate,
    evaluate_projected,
    evaluate_rest,
    finish_step,
    project,
    settle_between,
)
from .event_search import search_step
from .method import runge_kutta
from .method.method import Method
from .record import run_of
from .rows import begin_at, report_row, set_y, shift_step
from .witnesses import look, look_at_end, suspects


@compiled
def return_to_end(block: Any, work: Any, control: Any, counts: Any) -> int:
    """Realize the record at the end of the last step, from which reports have moved it."""
    return return_to_begin(attach(block), run_of(work, work, control, counts))


@generic
def take_samples(model: Any, run: Any) -> int:
    """Sample the controllers that are due at the last step's end, where the record is realized."""
    control, counts = run.control, run.plan
    if sampling.sample_due(model, control[rk.TIME]) != 0:
        return rk.NOT_SAMPLED
    counts[rk.EVALUATIONS] += 1
    if evaluate_rest(model, counts, KINEMATICS | ARTICULATED) != 0:
        return rk.NOT_FINITE
    look(model, counts[rk.WATCHES], False, True)
    return rk.REACHED


@generic
def return_to_begin(model: Any, run: Any) -> Any:
    """Realize the record where the next step begins, from which it has been moved.

    That is not counted: it depends on reports, and on where a call of the loop has ended.
    """
    set_y(model, run.control[rk.TIME], run.work[rk.Y])
    return evaluate(model, run.plan)


@generic
def take_up(model: Any, work: Any, control: Any, counts: Any) -> int:
    """Go on from time and y of the record, which the caller has changed since the last step: their rates are the next first."""
    valid = counts[rk.CHANGED] - 1
    counts[rk.CHANGED] = 0
    begin_step(model, counts, load(model.time, 0, 0))  # the last one has ended before the change
    if begin_here(model, work, control, counts, valid & KINEMATICS != KINEMATICS, valid) != rk.REACHED:
        return rk.NOT_TAKEN_UP
    control[rk.TIME] = control[rk.PREVIOUS_TIME] = load(model.time, 0, 0)
    control[rk.PERMITTED_STEP], control[rk.LAST_ERROR], control[rk.STRAIN] = -1.0, 0.0, 0.0
    if counts[rk.WATCHES] > 0:  # what has been set here is no event
        look(model, counts[rk.WATCHES], True, False)
    return rk.REACHED


@generic
def begin_here(model: Any, work: Any, control: Any, counts: Any, projects: bool, valid: int) -> int:
    """y of the record, projected first or with what is *valid*, is where steps begin; with its rates: REACHED, or why not."""
    if projects:
        if project_now(model, control, counts, counts[rk.PROJECTION] | ALWAYS) < 0:
            return rk.NOT_PROJECTED
        valid = KINEMATICS if counts[rk.PROJECTOR] != 0 else 0
    status = evaluate_rest(model, counts, valid)
    counts[rk.EVALUATIONS] += 1
    if status != 0:
        return rk.NOT_FINITE
    finish_step(model, counts, 1.0)
    begin_at(model, work)
    return rk.REACHED


@generic
def project_now(model: Any, control: Any, counts: Any, choices: int) -> int:
    """Project y onto its manifolds, and count: CHANGED_Q and CHANGED_U, 0 if y is unchanged, below 0 if projection failed."""
    changed = int(project(model, counts, 1.0, choices, control[rk.TOLERANCE]))
    if changed < 0:
        counts[rk.PROJECTION_FAILURES] += 1
    else:
        counts[rk.Q_PROJECTIONS] += changed & CHANGED_Q
        counts[rk.U_PROJECTIONS] += (changed & CHANGED_U) // CHANGED_U
    return changed


@compiled
def project_report(block: Any, control: Any, counts: Any) -> int:
    """Project an interpolated y onto its manifolds; below 0 if that failed."""
    model = attach(block)
    return int(project(model, counts, 1.0, counts[rk.PROJECTION] | ALWAYS, control[rk.TOLERANCE]))


@generic
def arrive(model: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """Project, with what is prescribed, and realize at *y*; DONE, NOT_PROJECTED or NOT_FINITE."""
    set_y(model, time, y)
    if project_now(model, control, counts, counts[rk.PROJECTION]) < 0:
        return rk.NOT_PROJECTED
    status = evaluate_projected(model, counts)
    counts[rk.EVALUATIONS] += 1
    if status != 0:
        counts[rk.REALIZATION_FAILURES] += 1
        return rk.NOT_FINITE
    return rk.DONE


@compiled
def finish_at(block: Any, work: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """End a step that a solver has taken at *y*: `arrive`, and shift the rows."""
    model = attach(block)
    status = arrive(model, control, counts, time, y)
    if status == rk.DONE:
        finish_step(model, counts, 1.0)
        shift_step(model, work)
    return status


def _reporting(interpolate: Callable[..., None]) -> Callable[..., None]:
    """Make reports by a method's `interpolate`."""

    @generic
    def report(model: Any, run: Any, times: Any, results: Any, energies: Any) -> None:
        """A report within the last step, or at its end."""
        counts, k = run.plan, run.plan[rk.REPORT]
        interpolate(model, run, times[k])
        settle_between(model, run, times[k], 1.0)
        report_row(model, results[k])
        if energies.shape[0] == times.shape[0]:
            energies[k] = energy(model, counts)
        counts[rk.REPORT] += 1

    return report


def _beginning(method: Method) -> Callable[..., int]:
    """Make the beginning of a method's steps."""
    plan, limit, from_realized, before_samples, sampled = (
        method.plan, method.limit, method.from_realized, method.before_samples, method.sampled,
    )  # fmt: skip

    @generic
    def begin(model: Any, run: Any, report_time: float, realized: bool) -> int:
        """Sample what is due where a step begins, and choose its size."""
        control, counts = run.control, run.plan
        time, sample_time = control[rk.TIME], sampling.next_sample(model)
        if sample_time <= time:
            if not realized:  # reports, or events, have moved the record
                return_to_begin(model, run)
            status = before_samples(model, run)
            if status == rk.REACHED:
                status = take_samples(model, run)
            if status != rk.REACHED:
                return status
            sampled(model, run)
            sample_time = sampling.next_sample(model)
            realized = from_realized
        unlimited = counts[rk.LIMITER] != 0 and control[rk.PERMITTED_STEP] < 0.0
        if not realized and (unlimited or from_realized):  # reports, or events, have moved the record
            return_to_begin(model, run)
        if unlimited:
            limit(model, run, 1.0)
        end = min(control[rk.FINAL_TIME], sample_time)
        if counts[rk.NO_INTERPOLATION] != 0:
            end = min(end, report_time)
        plan(model, run, 0, end)
        return rk.REACHED

    return begin


@generic
def end_step(model: Any, run: Any) -> None:
    """The attempt whose end is in the record is a step."""
    control, counts, h = run.control, run.plan, run.control[rk.SIZE]
    finish_step(model, counts, 1.0)
    shift_step(model, run.work)
    if counts[rk.STEPS] == 0:
        control[rk.FIRST_STEP] = h
    control[rk.COLLAPSE] = max(control[rk.COLLAPSE], COLLAPSE_RATIO * h)


def stepping(method: Method, name: str) -> Kernel:
    """Make the loop over steps of a method, whose name names the compiled code."""
    attempt, forget, controls_fixed, limit = method.attempt, method.forget, method.controls_fixed, method.limit
    judge, settle = attempts_of(method)
    report, begin = _reporting(method.interpolate), _beginning(method)

    def advance(block: Any, work: Any, table: Any, control: Any, counts: Any, times: Any, results: Any, energies: Any) -> int:
        """Step until every time of *times* from number ``counts[REPORT]`` on is reported, or ``counts[LIMIT]`` steps are taken.

        A report is a row of *results* (y) and, if *energies* is as long as *times*, the energy. It returns COLLAPSED when
        steps have shrunk far: the caller may look for the cause, and call again to go on unchanged. So it does with FOUND at an
        event within the last step, with SUSPECT where one is to be looked for there, and with REACHED at the target.
        """
        model = attach(block)
        run = run_of(work, table, control, counts)
        if counts[rk.CHANGED] != 0:
            if take_up(model, work, control, counts) != rk.REACHED:
                return rk.NOT_TAKEN_UP
            forget(model, run)
        taken, realized = 0, False
        if counts[rk.WATCHES] > 0 and counts[rk.SEARCHER] != 0 and control[rk.SOUGHT] < control[rk.TIME]:
            status = search_step(model, run, control[rk.TIME], 0)  # an event has changed nothing
            if status != rk.REACHED:
                return status
        while counts[rk.REPORT] < times.shape[0]:
            k = counts[rk.REPORT]
            if times[k] <= min(control[rk.TIME], control[rk.TARGET]):
                realized = realized and times[k] == control[rk.TIME]
                report(model, run, times, results, energies)
                continue
            if control[rk.TIME] >= control[rk.TARGET]:
                return rk.REACHED
            if taken >= counts[rk.LIMIT]:
                return rk.PAUSED
            if control[rk.STEP] < control[rk.COLLAPSE]:
                control[rk.COLLAPSE] = COLLAPSE_RATIO * control[rk.STEP]
                return rk.COLLAPSED
            status = begin(model, run, times[k], realized)
            if status != rk.REACHED:
                return status
            realized = False
            time, h = control[rk.TIME], control[rk.SIZE]
            controlled = counts[rk.FORCED] == 0 and (controls_fixed or control[rk.FIXED_STEP] == 0.0)
            begin_step(model, counts, time)
            judge(model, run, attempt(model, run, time, h), controlled)
            is_step = control[rk.TAKEN] > 0.0
            if is_step:
                end_step(model, run)
            status = settle(model, run, 0, controlled)
            if status != rk.REACHED:
                return status
            if not is_step:
                continue
            counts[rk.FORCED] = 0
            if counts[rk.LIMITER] != 0:
                limit(model, run, 1.0)
            taken, realized = taken + 1, True
            if counts[rk.WATCHES] != 0:
                realized = not look_at_end(model, work, control, counts)
                if suspects(model, counts[rk.WATCHES], h):
                    status = rk.SUSPECT
                    if counts[rk.WATCHES] > 0 and counts[rk.SEARCHER] != 0:
                        status = search_step(model, run, control[rk.TIME], 1)
                    if status != rk.REACHED:
                        return status
                    return_to_begin(model, run)  # as who has called for this step takes its results
                    realized = True
                control[rk.SOUGHT] = control[rk.TIME]
        return rk.REACHED

    advance.__qualname__ = f"advance.{name}"
    return compiled(advance)


advance = stepping(Method(runge_kutta.attempt), "runge_kutta")
