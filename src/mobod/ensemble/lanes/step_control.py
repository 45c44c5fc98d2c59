"""The sizes of lanes' steps: after one is taken, after an attempt in vain, and where surfaces come near."""

from __future__ import annotations

from typing import Any

from ...algebra.record import call_routine
from ...algebra.scalar import load, store, where, zero
from ...compiling import generic
from ...force.contact.step_limit import PART
from ...force.contact.step_limit import STEP as LIMITED_STEP
from ...integrator import _runge_kutta as rk
from ...integrator._runge_kutta import (
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
)
from . import steps
from .layout import (
    CONVERGENCE_FAILURES,
    ERROR_FAILURES,
    ERROR_ORDER,
    FAILURE,
    FIXED,
    LIMITER,
    METHOD,
    NORM,
    PROJECTION_FAILURES,
    REALIZATION_FAILURES,
    RUNGE_KUTTA,
    SEMI_EXPLICIT_EULER,
    SIZE,
    STEPS,
    STRAIN,
)


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
def attempts_evaluations(plan: Any, table: Any) -> int:
    """Evaluations of an attempt, beside one an iteration."""
    if plan[METHOD] == RUNGE_KUTTA:
        return table.shape[1] - 2
    return 0 if plan[METHOD] == SEMI_EXPLICIT_EULER else 1
