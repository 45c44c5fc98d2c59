"""Verlet: velocity Verlet, whose speeds are iterated where forces depend on them. Second order.

    q_1 = q_0 + h qdot_0 + h^2/2 qdotdot_0        u_1 = u_0 + h/2 (udot_0 + udot(q_1, u_1)), and z likewise

By iteration from Euler's u_1; for forces that do not depend on u the first iterate is final. Error estimates: of q the
difference from the trapezoidal rule; of u and z that rule's error, h^3/12 of the rate's second derivative, by the rates at both
ends of this step and at the beginning of the last; in the first step the difference from Euler's method. q and the particles'
locations do not depend on u_1, so that iterations recompute no positions.

Source: Swope, Andersen, Berens and Wilson 1982; Hairer, Lubich and Wanner 2006, I.1.4.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load, store
from ..compiling import compiled, generic
from . import _runge_kutta as rk
from ._evaluate import evaluate, evaluate_speeds
from ._runge_kutta import PREVIOUS_TIME, RATE, RATE_PREVIOUS, Y
from .base import Integrator

#: Most iterations before a shorter step is tried, and the factor by which each has to converge from the third on.
MOST_ITERATIONS, NEARER = 10, 0.9


@compiled
def predict(block: Any, work: Any, time: float, h: float) -> None:
    """q and the particles' locations at the end of the step, and Euler's values of all else."""
    model = attach(block)
    store(model.time, 0, 0, time + h)
    last = work.shape[0] - 1
    n = model.particle_size
    first = model.ny - 2 * n
    for i in range(model.ny):
        store(model.y, i, 0, work[Y, i] + h * work[RATE, i])
    for i in range(model.nq):
        store(model.q, i, 0, load(model.q, i, 0) + 0.5 * h * h * work[last, i])
    for i in range(first, first + n):
        store(model.y, i, 0, load(model.y, i, 0) + 0.5 * h * h * work[RATE, i + n])


@compiled
def correct(block: Any, work: Any, h: float) -> float:
    """u, z and the particles' velocities by the trapezoidal rule; the size of the change, weighted as errors are."""
    model = attach(block)
    weights = work.shape[0] - 4
    n = model.particle_size
    first = model.ny - 2 * n
    worst = 0.0
    for i in range(model.nq, model.ny):
        if i < first or i >= first + n:
            now = work[Y, i] + 0.5 * h * (work[RATE, i] + load(model.y_dot, i, 0))
            weight = work[weights, i]
            size = weight * abs(now - load(model.y, i, 0)) / max(1.0, weight * abs(now))
            if weight > 0.0:  # what is prescribed has its values from `evaluate`
                store(model.y, i, 0, now)
                if not size <= worst:
                    worst = size
    return worst


@compiled
def set_error(block: Any, work: Any, h: float, previous: float) -> None:
    """The error of each variable; *previous* is the size of the last step, or 0."""
    model = attach(block)
    errors, last = work.shape[0] - 3, work.shape[0] - 1
    n = model.particle_size
    first = model.ny - 2 * n
    for i in range(model.ny):
        difference = 0.5 * h * (load(model.y_dot, i, 0) - work[RATE, i])
        if i < model.nq:
            work[errors, i] = difference - 0.5 * h * h * work[last, i]
        elif i >= first and i < first + n:
            work[errors, i] = difference - 0.5 * h * h * work[RATE, i + n]
        elif previous > 0.0:
            before = (work[RATE, i] - work[RATE_PREVIOUS, i]) / previous
            work[errors, i] = h * h * (2.0 * difference - h * before) / (6.0 * (h + previous))
        else:
            work[errors, i] = difference


@generic
def attempt(model: Any, work: Any, table: Any, control: Any, counts: Any, time: float, h: float) -> int:
    """One attempt."""
    predict(model, work, time, h)
    status = evaluate(model, counts[rk.ROUTINE], counts[rk.PRESCRIBER])
    counts[rk.EVALUATIONS] += 1
    if status != 0:
        return rk.NOT_REALIZED
    tolerance, before = min(1e-4, 0.1 * control[rk.ACCURACY]), 1e300
    for k in range(MOST_ITERATIONS):
        change = correct(model, work, h)
        status = evaluate_speeds(model, counts[rk.ROUTINE], counts[rk.PRESCRIBER])
        counts[rk.EVALUATIONS] += 1
        counts[rk.ITERATIONS] += 1
        if status != 0:
            return rk.NOT_REALIZED
        if change <= tolerance:
            counts[rk.AT_END] = 1
            set_error(model, work, h, time - control[PREVIOUS_TIME])
            return rk.DONE
        if k >= 2 and not change <= NEARER * before:
            return rk.NOT_CONVERGED
        before = change
    return rk.NOT_CONVERGED


advance = rk.stepping(attempt, "verlet")


class Verlet(Integrator):
    """Velocity Verlet, of second order: keeps the energy of conservative systems over long times at fixed steps.

    Parameters are those of `Integrator`.

    Notes
    -----
    Speeds at the end of a step are found by iteration, to a tenth of the accuracy or to 1e-4; at fixed steps too, so that a
    tight accuracy has an effect there. A step whose iteration does not converge is tried again at half the size.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> method = mb.integrator.Verlet(system, fixed_step_size=0.01)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 2)
    """

    order = 2
    error_order = 3
    kernel = advance
