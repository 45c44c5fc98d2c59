"""Ends of attempts at steps, of one state or of eight: their errors, where they end, whether they are steps.

Of an attempt that is a step, `TAKEN`, the record is left projected and realized at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..algebra.scalar import load, load_lane, num_lanes, store, store_lane, zero
from ..compiling import generic
from . import errors, record as rk
from .evaluate import CHANGED_Q, CHANGED_U, evaluate_projected, project
from .limits import COARSEST, SURPRISE
from .method.method import Method
from .record import place


class Attempts(NamedTuple):
    """The ends of attempts of a method.

    Attributes
    ----------
    judge
        ``judge(model, run, sound, controlled)`` says whether some are steps, and whether their ends are realized: they are not
        where nobody wants that.
    settle
        ``settle(model, run, lane, controlled)`` goes on in time, or chooses a shorter step: REACHED, or why there is none.
    """

    judge: Callable[..., Any]
    settle: Callable[..., int]


@generic
def count(run: Any, row: int, lane: int, number: int) -> None:
    """Add to one of a lane's counts."""
    run.counts[place(run, row, lane)] += number


@generic
def fail(run: Any, lane: int, failure: int) -> None:
    """A lane's attempt is in vain."""
    run.counts[place(run, rk.FAILURE, lane)] = failure
    store_lane(run.control, rk.TAKEN, 0, lane, 0.0)
    store_lane(run.control, rk.NORM, 0, lane, 1e300)


@generic
def project_ends(model: Any, run: Any) -> bool:
    """Project the ends of steps; whether some have changed."""
    plan, control, any_changed = run.plan, run.control, False
    if plan[rk.PROJECTOR] == 0 and plan[rk.QUATERNIONS] == 0:
        return any_changed
    taken = load(control, rk.TAKEN, 0)
    store(control, rk.SOUND, 0, project(model, plan, taken, plan[rk.PROJECTION], run.settings[rk.TOLERANCE]))
    for lane in range(num_lanes(taken)):
        changed = int(load_lane(control, rk.SOUND, 0, lane))
        if changed < 0:
            fail(run, lane, rk.PROJECTION_FAILURES)
        else:
            count(run, rk.Q_PROJECTIONS, lane, changed & CHANGED_Q)
            count(run, rk.U_PROJECTIONS, lane, (changed & CHANGED_U) // CHANGED_U)
        any_changed = any_changed or changed > 0
    return any_changed


@generic
def arrive(model: Any, run: Any, any_goes_on: bool, controlled: bool) -> bool:
    """Project the ends of steps, and realize those where a run goes on; those where that fails are not TAKEN.

    Whether they are realized.
    """
    plan, control, accuracy = run.plan, run.control, run.settings[rk.ACCURACY]
    has_changed = project_ends(model, run)
    if plan[rk.ENDS_AT_STAGE] != 0 and not has_changed:
        return True
    if not any_goes_on:
        return False
    h = load(control, rk.SIZE, 0)
    if num_lanes(h) == 1 and not load_lane(control, rk.TAKEN, 0, 0) > 0.0:
        return False
    store(control, rk.SOUND, 0, evaluate_projected(model, plan, run.held))
    looks = plan[rk.LIMITER] != 0 and plan[rk.ENDS_AT_STAGE] == 0 and controlled
    if looks:
        most = SURPRISE / max(1.0, accuracy / COARSEST)
        store(control, rk.SURPRISE, 0, errors.surprise(model, run.work, run.weights, plan[rk.FORESEEN], h) / most)
    for lane in range(num_lanes(h)):
        if load_lane(control, rk.TAKEN, 0, lane) > 0.0 and load_lane(control, rk.LAST, 0, lane) == 0.0:
            count(run, rk.EVALUATIONS, lane, 1)
            if not load_lane(control, rk.SOUND, 0, lane) == 0.0:
                fail(run, lane, rk.REALIZATION_FAILURES)
            elif looks and not load_lane(control, rk.SURPRISE, 0, lane) <= load_lane(control, rk.NORM, 0, lane):
                error = load_lane(control, rk.SURPRISE, 0, lane)
                store_lane(control, rk.NORM, 0, lane, error)
                if not error <= accuracy:
                    store_lane(control, rk.TAKEN, 0, lane, 0.0)
    return True


def attempts_of(method: Method) -> Attempts:
    """The ends of attempts of a method."""
    find_error, accept, refuse = method.find_error, method.accept, method.refuse

    @generic
    def judge(model: Any, run: Any, sound: Any, controlled: bool) -> Any:
        control, any_taken, any_goes_on = run.control, False, False
        store(control, rk.SOUND, 0, sound)
        store(control, rk.NORM, 0, find_error(model, run) if controlled else zero(sound))
        for lane in range(num_lanes(sound)):
            store_lane(control, rk.TAKEN, 0, lane, 0.0)
            if run.counts[place(run, rk.STATE, lane)] < 0:
                continue
            count(run, rk.ATTEMPTS, lane, 1)
            count(run, rk.EVALUATIONS, lane, int(load_lane(control, rk.EVALUATED, 0, lane)))
            if num_lanes(sound) == 1:
                count(run, rk.ITERATIONS, lane, int(load_lane(control, rk.ITERATED, 0, lane)))
            run.counts[place(run, rk.FAILURE, lane)] = rk.ERROR_FAILURES
            if not load_lane(control, rk.SOUND, 0, lane) == 0.0:
                fail(run, lane, rk.REALIZATION_FAILURES)
            elif load_lane(control, rk.APART, 0, lane) > 0.0:
                fail(run, lane, rk.CONVERGENCE_FAILURES)
            elif load_lane(control, rk.NORM, 0, lane) <= run.settings[rk.ACCURACY]:
                store_lane(control, rk.TAKEN, 0, lane, 1.0)
                any_taken, any_goes_on = True, any_goes_on or load_lane(control, rk.LAST, 0, lane) == 0.0
        realized = any_taken and arrive(model, run, any_goes_on, controlled)
        return any_taken, realized

    @generic
    def settle(model: Any, run: Any, lane: int, controlled: bool) -> int:
        error = load_lane(run.control, rk.NORM, 0, lane)
        if load_lane(run.control, rk.TAKEN, 0, lane) > 0.0:
            accept(model, run, lane, error, controlled)
            count(run, rk.STEPS, lane, 1)
            return rk.REACHED
        failure = run.counts[place(run, rk.FAILURE, lane)]
        count(run, failure, lane, 1)
        status: int = refuse(model, run, lane, error, failure)
        return status

    return Attempts(judge, settle)
