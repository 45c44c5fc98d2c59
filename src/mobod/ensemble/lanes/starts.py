"""How runs in lanes begin: projection, first rates, first step."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load, store, where, zero
from ...compiling import generic
from ...integrator import _runge_kutta as rk
from ...integrator._runge_kutta import ACCURACY, MAX_STEP, STEP, TIME, Y
from ..batch_memory import begin_measures, finish_steps
from . import steps
from .layout import ERROR_ORDER, FIXED, FRESH, LIMITER, NORM, PROJECTOR, QUATERNIONS, SIZE, SOUND
from .step_control import limit_steps
from .witnesses import look


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
    any_unknown = False
    for lane in range(8):
        any_unknown = any_unknown or (marks[FRESH, 0, lane] > 0.0 and not control[STEP, 0, lane] > 0.0)
    if not any_unknown:
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
        if marks[FRESH, 0, lane] > 0.0 and not control[STEP, 0, lane] > 0.0:
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
