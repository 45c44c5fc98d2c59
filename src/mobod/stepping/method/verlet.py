"""An attempt of velocity Verlet, whose speeds are iterated where forces depend on them.

    q_1 = q_0 + h qdot_0 + h^2/2 qdotdot_0        u_1 = u_0 + h/2 (udot_0 + udot(q_1, u_1)), and z likewise

By iteration from Euler's u_1; for forces that do not depend on u the first iterate is final. Error estimates: of q the
difference from the trapezoidal rule; of u and z that rule's error, h^3/12 of the rate's second derivative, by the rates at both
ends of this step and at the beginning of the last; in the first step the difference from Euler's method. q and the particles'
locations do not depend on u_1, so that iterations recompute neither positions nor the forces that read these alone.

Source: Swope, Andersen, Berens and Wilson 1982; Hairer, Lubich and Wanner 2006, I.1.4.
"""

from __future__ import annotations

from typing import Any

from ...algebra.order import larger, larger_or_nan, size_of
from ...algebra.record import attach
from ...algebra.scalar import load, one, store, where, zero
from ...compiling import compiled, generic
from ...state.validity import KEPT_FORCES
from ...tree.project import any_positive
from ..evaluate import evaluate, evaluate_speeds
from ..record import ACCURACY, APART, EVALUATED, FIXED_STEP, ITERATED, PREVIOUS_TIME, RATE, RATE_PREVIOUS, Y

#: Most iterations before a shorter step is tried, and the factor by which each has to converge from the third on.
MOST_ITERATIONS, NEARER = 10, 0.9


@compiled
def predict(block: Any, work: Any, time: Any, h: Any) -> None:
    """q and the particles' locations at the end of the step, and Euler's values of all else."""
    model = attach(block)
    store(model.time, 0, 0, time + h)
    last, n = work.shape[0] - 1, model.particle_size
    first = model.ny - 2 * n
    for i in range(model.ny):
        store(model.y, i, 0, load(work, Y, i) + h * load(work, RATE, i))
    for i in range(model.nq):
        store(model.q, i, 0, load(model.q, i, 0) + 0.5 * h * h * load(work, last, i))
    for i in range(first, first + n):
        store(model.y, i, 0, load(model.y, i, 0) + 0.5 * h * h * load(work, RATE, i + n))


@compiled
def correct(block: Any, work: Any, weights: Any, h: Any, going: Any) -> Any:
    """u, z and the particles' velocities by the trapezoidal rule, of states that iterate; the size of the change.

    It is weighted as errors are.
    """
    model = attach(block)
    n, worst = model.particle_size, zero(h)
    first = model.ny - 2 * n
    for i in range(model.nq, model.ny):
        if (i < first or i >= first + n) and weights[i] > 0.0:  # what is prescribed has its values from `evaluate`
            before, rates = load(model.y, i, 0), load(work, RATE, i) + load(model.y_dot, i, 0)
            now = load(work, Y, i) + 0.5 * h * rates
            size = weights[i] * size_of(now - before) / larger(1.0 + zero(now), weights[i] * size_of(now))
            store(model.y, i, 0, where(going > 0.0, now, before))
            worst = larger_or_nan(worst, size)
    return worst


@compiled
def set_error(block: Any, work: Any, h: Any, previous: Any) -> None:
    """The error of each variable; *previous* is the size of the last step, or 0."""
    model = attach(block)
    errors, last, n = work.shape[0] - 3, work.shape[0] - 1, model.particle_size
    first, begun = model.ny - 2 * n, previous > 0.0
    longer = where(begun, previous, one(previous))
    for i in range(model.ny):
        rate = load(work, RATE, i)
        difference = 0.5 * h * (load(model.y_dot, i, 0) - rate)
        if i < model.nq:
            error = difference - 0.5 * h * h * load(work, last, i)
        elif i >= first and i < first + n:
            error = difference - 0.5 * h * h * load(work, RATE, i + n)
        else:
            before = (rate - load(work, RATE_PREVIOUS, i)) / longer
            error = where(begun, h * h * (2.0 * difference - h * before) / (6.0 * (h + longer)), difference)
        store(work, errors, i, error)


@generic
def attempt(model: Any, run: Any, time: Any, h: Any) -> Any:
    """One attempt. A state that has converged keeps what it has, as do those with no step to take."""
    work, control = run.work, run.control
    predict(model, work, time, h)
    sound = zero(h) + evaluate(model, run.plan, run.held, KEPT_FORCES)
    tolerance, before = min(1e-4, 0.1 * run.settings[ACCURACY]), 1e300 + zero(h)
    count = apart = zero(h)
    going = where(sound == 0.0, where(h > 0.0, one(h), zero(h)), zero(h))
    for k in range(MOST_ITERATIONS):
        if not any_positive(going):
            break
        change = correct(model, work, run.weights, h, going)
        sound = sound + evaluate_speeds(model, run.plan, run.held)
        count = count + going
        far = where(change <= tolerance, zero(h), going)
        if k >= 2:
            stuck = where(change <= NEARER * before, zero(h), far)
            apart, far = apart + stuck, far - stuck
        going = where(sound == 0.0, far, zero(h))
        before = change
    store(control, APART, 0, apart + going)
    store(control, ITERATED, 0, count)
    store(control, EVALUATED, 0, 1.0 + count)
    if run.settings[FIXED_STEP] == 0.0:
        set_error(model, work, h, time - load(control, PREVIOUS_TIME, 0))
    return sound
