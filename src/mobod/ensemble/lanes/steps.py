"""A step of eight states at once, each at its own time and of its own size: what `mobod.integrator` does for one, in lanes.

Rows of *work* are those of `integrator._runge_kutta`, of eight numbers a variable; *control* has that module's numbers for each
lane, *marks* above 0 says which lanes an operation concerns. The others keep what they had, so that nothing a lane computes
depends on its neighbours. Equations and sources are in that module.
"""

from __future__ import annotations

from typing import Any

from ...algebra.record import call_routine
from ...algebra.scalar import load, one, sqrt, store, where, zero
from ...compiling import generic
from ...constraint._protocol import PROJECT_Q, PROJECT_U
from ...integrator import _runge_kutta as rk
from ...integrator._runge_kutta import FIRST_STAGE, RATE, RATE_PREVIOUS, Y_PREVIOUS, Y
from ...integrator.verlet import MOST_ITERATIONS, NEARER
from ...mobilizer import _rates
from ...motion._protocol import SET_Q, SET_U
from ...state.validity import ARTICULATED, FORCES, KINEMATICS, NO_MOBILIZERS, NO_RATES, POSITIONS, UNCHECKED
from ...tree.project import ERROR, LEAST, TOLERANCE
from ...tree.realize import nothing_of
from .layout import (
    APART,
    CONTROLLER,
    ENDS_AT_STAGE,
    FIXED,
    HOLDS,
    ITERATIONS,
    METHOD,
    PLAIN_RATES,
    PRESCRIBER,
    PROJECTOR,
    QUATERNIONS,
    ROUTINE,
    RUNGE_KUTTA,
    SEMI_EXPLICIT_EULER,
    SEMI_EXPLICIT_EULER2,
    SIZE,
    WANTED,
)

_OPTIONS = UNCHECKED | NO_RATES | NO_MOBILIZERS


@generic
def size_of(x: Any) -> Any:
    """The absolute value."""
    return where(x < 0.0, -x, x)


@generic
def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers."""
    return where(a > b, a, b)


@generic
def add_forces(model: Any, plan: Any, held: Any) -> None:
    """The mobility forces that are held, and the controller's, beside those of the elements."""
    if plan[HOLDS] != 0 or plan[WANTED] & FORCES == 0:
        for i in range(model.nu):
            f = load(held, i, 0)
            if plan[WANTED] & FORCES != 0:  # else the elements' only force is gravity, as an acceleration of Ground
                f = f + load(model.mobility_forces, i, 0)
            store(model.mobility_forces, i, 0, f)
    if plan[CONTROLLER] != 0:
        call_routine(plan[CONTROLLER], model, 0, 0)


@generic
def evaluate(model: Any, plan: Any, held: Any) -> None:
    """Set prescribed q and u, and compute the rates of y."""
    valid = 0
    if plan[PRESCRIBER] != 0:
        call_routine(plan[PRESCRIBER], model, SET_Q, 0)
        call_routine(plan[ROUTINE], model, 0, POSITIONS | UNCHECKED)
        call_routine(plan[PRESCRIBER], model, SET_U, 0)
        valid = POSITIONS
    evaluate_rest(model, plan, held, valid)


@generic
def evaluate_speeds(model: Any, plan: Any, held: Any) -> None:
    """`evaluate`, where time and the matter's q and the particles' locations are as they were at the last."""
    if plan[PRESCRIBER] != 0:
        call_routine(plan[PRESCRIBER], model, SET_U, 0)
    evaluate_rest(model, plan, held, POSITIONS | ARTICULATED)


@generic
def evaluate_rest(model: Any, plan: Any, held: Any, valid: int) -> None:
    """Compute the rates of y, where some results are *valid* already."""
    if plan[HOLDS] != 0 or plan[CONTROLLER] != 0:
        before = KINEMATICS | FORCES
        call_routine(plan[ROUTINE], model, valid, plan[WANTED] & (before | _OPTIONS))
        add_forces(model, plan, held)
        valid = valid | before
    call_routine(plan[ROUTINE], model, valid, plan[WANTED])


@generic
def soundness(model: Any) -> Any:
    """0 where the rates are finite, else NaN."""
    sound = nothing_of(model.u_dot, model.nu, 0.0 * load(model.time, 0, 0))
    sound = nothing_of(model.q_dot, model.nq, sound)
    return nothing_of(model.particle_acceleration, model.particle_size, sound)


@generic
def set_y(model: Any, work: Any, row: int, time: Any) -> None:
    """y of a row, at *time*."""
    store(model.time, 0, 0, time)
    for i in range(model.ny):
        store(model.y, i, 0, load(work, row, i))


# ---------------------------------------------------------------------------------------------- projecting


@generic
def project(model: Any, plan: Any, mark: Any, least: float, tolerance: float) -> Any:
    """Project q and u of the lanes that are marked onto their manifolds; 1 where that failed."""
    if plan[QUATERNIONS] != 0:
        for b in range(1, model.nb):
            _rates.normalize(model, b)
    missed = zero(mark)
    if plan[PROJECTOR] != 0:
        reach = where(mark > 0.0, tolerance + zero(mark), 1e300)
        store(model.projection, TOLERANCE, 0, reach)
        store(model.projection, LEAST, 0, where(mark > 0.0, least + zero(mark), 0.0))
        call_routine(plan[PROJECTOR], model, PROJECT_Q, plan[ROUTINE])
        missed = where(load(model.projection, ERROR, 0) <= reach, missed, one(mark))
        call_routine(plan[PROJECTOR], model, PROJECT_U, plan[ROUTINE])
        missed = where(load(model.projection, ERROR, 0) <= reach, missed, one(mark))
    return where(mark > 0.0, missed, zero(mark))


@generic
def prescribe(model: Any, plan: Any) -> None:
    """Set the prescribed q and u at y."""
    if plan[PRESCRIBER] != 0:
        call_routine(plan[PRESCRIBER], model, SET_Q, 0)
        call_routine(plan[ROUTINE], model, 0, POSITIONS | UNCHECKED)
        call_routine(plan[PRESCRIBER], model, SET_U, 0)


# ---------------------------------------------------------------------------------------------- attempts


@generic
def set_stage(model: Any, work: Any, table: Any, s: int, time: Any, h: Any) -> None:
    """y and time of stage *s*; of the step's end if *s* is the number of stages."""
    store(model.time, 0, 0, time + table[s, 0] * h)
    for i in range(model.ny):
        total = zero(h)
        for j in range(table.shape[1] - 1):
            a = table[s, 1 + j]
            if a != 0.0:
                total = total + a * load(work, FIRST_STAGE + j, i)
        store(model.y, i, 0, load(work, Y, i) + h * total)


@generic
def keep_rate(model: Any, work: Any, row: int) -> None:
    """Copy the rate of y into a row."""
    for i in range(model.ny):
        store(work, row, i, load(model.y_dot, i, 0))


@generic
def runge_kutta(model: Any, plan: Any, held: Any, work: Any, table: Any, time: Any, h: Any) -> Any:
    """One attempt of the method whose table is given; NaN where it failed."""
    stages, sound = table.shape[1] - 1, zero(h)
    for s in range(1, stages):
        set_stage(model, work, table, s, time, h)
        evaluate(model, plan, held)
        sound = sound + soundness(model)
        keep_rate(model, work, FIRST_STAGE + s)
    if plan[ENDS_AT_STAGE] == 0:
        set_stage(model, work, table, stages, time, h)
    if plan[FIXED] == 0:
        errors = work.shape[0] - 3
        for i in range(model.ny):
            total = zero(h)
            for j in range(stages):
                a = table[stages + 1, 1 + j]
                if a != 0.0:
                    total = total + a * load(work, FIRST_STAGE + j, i)
            store(work, errors, i, h * total)
    return sound


@generic
def euler(model: Any, plan: Any, work: Any, row: int, rates: int, time: Any, h: Any) -> None:
    """A step of the symplectic Euler method from a row of y, with a row of its rates."""
    store(model.time, 0, 0, time)
    n = model.particle_size
    first = model.ny - 2 * n
    for i in range(model.ny):
        value = load(work, row, i)
        if i >= model.whole_nq and (i < first or i >= first + n):
            value = value + h * load(work, rates, i)
        store(model.y, i, 0, value)
    if plan[PLAIN_RATES] != 0:
        for i in range(model.nq):
            store(model.q, i, 0, load(model.q, i, 0) + h * load(model.u, i, 0))
    else:
        call_routine(plan[ROUTINE], model, 0, KINEMATICS | UNCHECKED)
        for i in range(model.nq):
            store(model.q, i, 0, load(model.q, i, 0) + h * load(model.q_dot, i, 0))
    for i in range(n):
        store(model.particle_location, i, 0, load(model.particle_location, i, 0) + h * load(model.particle_velocity, i, 0))
    store(model.time, 0, 0, time + h)


@generic
def semi_explicit_euler2(model: Any, plan: Any, held: Any, work: Any, time: Any, h: Any) -> Any:
    """Two half steps; the error is the difference from a whole one. NaN where it failed."""
    between, errors = FIRST_STAGE + 1, work.shape[0] - 3
    half = 0.5 * h
    euler(model, plan, work, Y, RATE, time, h)
    for i in range(model.ny):
        store(work, between + 2, i, load(model.y, i, 0))
    euler(model, plan, work, Y, RATE, time, half)
    evaluate(model, plan, held)
    sound = soundness(model)
    for i in range(model.ny):
        store(work, between, i, load(model.y, i, 0))
        store(work, between + 1, i, load(model.y_dot, i, 0))
    euler(model, plan, work, between, between + 1, time + half, half)
    for i in range(model.ny):
        store(work, errors, i, load(model.y, i, 0) - load(work, between + 2, i))
    return sound


@generic
def any_of(control: Any, row: int) -> bool:
    """Whether a lane's number in a row is above zero."""
    found = False
    for lane in range(8):
        found = found or control[row, 0, lane] > 0.0
    return found


@generic
def predict(model: Any, work: Any, time: Any, h: Any) -> None:
    """Verlet's q and the particles' locations at the end of the step, and Euler's values of all else."""
    store(model.time, 0, 0, time + h)
    last, n = work.shape[0] - 1, model.particle_size
    first = model.ny - 2 * n
    for i in range(model.ny):
        store(model.y, i, 0, load(work, Y, i) + h * load(work, RATE, i))
    for i in range(model.nq):
        store(model.q, i, 0, load(model.q, i, 0) + 0.5 * h * h * load(work, last, i))
    for i in range(first, first + n):
        store(model.y, i, 0, load(model.y, i, 0) + 0.5 * h * h * load(work, RATE, i + n))


@generic
def correct(model: Any, work: Any, weights: Any, h: Any, going: Any) -> Any:
    """Speeds and z by the trapezoidal rule, of lanes that iterate; the size of the change, weighted as errors are."""
    n, worst = model.particle_size, zero(h)
    first = model.ny - 2 * n
    for i in range(model.nq, model.ny):
        if (i < first or i >= first + n) and weights[i] > 0.0:
            before, rates = load(model.y, i, 0), load(work, RATE, i) + load(model.y_dot, i, 0)
            now = load(work, Y, i) + 0.5 * h * rates
            size = weights[i] * size_of(now - before) / larger(1.0 + zero(now), weights[i] * size_of(now))
            store(model.y, i, 0, where(going > 0.0, now, before))
            worst = where(size <= worst, worst, size)
    return worst


@generic
def set_error_of_verlet(model: Any, work: Any, h: Any, previous: Any) -> None:
    """Verlet's error of each variable; *previous* is the size of the last step, or 0."""
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
def verlet(model: Any, plan: Any, settings: Any, held: Any, work: Any, weights: Any, control: Any, time: Any, h: Any) -> Any:
    """One attempt of `integrator.verlet`; NaN where it failed. A lane that has converged keeps what it has.

    ITERATIONS says how often each lane has iterated, APART is 1 where that does not converge.
    """
    predict(model, work, time, h)
    evaluate(model, plan, held)
    sound = soundness(model)
    tolerance, before = min(1e-4, 0.1 * settings[rk.ACCURACY]), 1e300 + zero(h)
    count = apart = zero(h)
    going = where(sound == 0.0, where(h > 0.0, one(h), zero(h)), zero(h))
    for k in range(MOST_ITERATIONS):
        store(control, APART, 0, going)
        if not any_of(control, APART):
            break
        change = correct(model, work, weights, h, going)
        evaluate_speeds(model, plan, held)
        sound = sound + soundness(model)
        count = count + going
        far = where(change <= tolerance, zero(h), going)
        if k >= 2:
            stuck = where(change <= NEARER * before, zero(h), far)
            apart, far = apart + stuck, far - stuck
        going = where(sound == 0.0, far, zero(h))
        before = change
    store(control, APART, 0, apart + going)
    store(control, ITERATIONS, 0, count)
    if plan[FIXED] == 0:
        set_error_of_verlet(model, work, h, time - load(control, rk.PREVIOUS_TIME, 0))
    return sound


@generic
def attempt(model: Any, plan: Any, settings: Any, held: Any, work: Any, table: Any, weights: Any, control: Any) -> Any:
    """One attempt of the method from TIME, of the size SIZE: y at its end, the errors' row, and NaN where it failed."""
    time, h = load(control, rk.TIME, 0), load(control, SIZE, 0)
    sound = zero(h)
    if plan[METHOD] == RUNGE_KUTTA:
        sound = runge_kutta(model, plan, held, work, table, time, h)
    elif plan[METHOD] == SEMI_EXPLICIT_EULER:
        euler(model, plan, work, Y, RATE, time, h)
    elif plan[METHOD] == SEMI_EXPLICIT_EULER2:
        sound = semi_explicit_euler2(model, plan, held, work, time, h)
    else:
        sound = verlet(model, plan, settings, held, work, weights, control, time, h)
    return sound


@generic
def error_norm(model: Any, work: Any, weights: Any, mean: int) -> Any:
    """The largest error of any variable times its weight, relative where this exceeds 1; or the root of their mean square."""
    worst = total = zero(load(model.time, 0, 0))
    errors = work.shape[0] - 3
    for i in range(model.ny):
        weight = weights[i]
        scale = larger(1.0 + zero(worst), weight * size_of(load(work, Y, i)))
        scale = larger(scale, weight * size_of(load(model.y, i, 0)))
        size = weight * size_of(load(work, errors, i)) / scale
        worst = where(size <= worst, worst, size)
        total = total + size * size
    if mean != 0:
        worst = sqrt(total / max(1, model.ny))
    return worst


@generic
def surprise(model: Any, work: Any, weights: Any, row: int, h: Any) -> Any:
    """The largest change, in a step, by rates that differ from those in a row: `integrator._runge_kutta.surprise` in lanes."""
    worst = zero(h)
    for i in range(model.ny):
        weight = weights[i]
        scale = larger(1.0 + zero(h), weight * size_of(load(work, Y, i)))
        size = weight * h * size_of(load(model.y_dot, i, 0) - load(work, row, i)) / scale
        worst = where(size <= worst, worst, size)
    return worst


# ---------------------------------------------------------------------------------------------- steps' ends, and between


@generic
def shift_step(model: Any, work: Any, mark: Any) -> None:
    """Of lanes that are marked the end of the last step becomes its beginning, and y with its rates the new end."""
    last, taken = work.shape[0] - 1, mark > 0.0
    for i in range(model.ny):
        y, rate = load(work, Y, i), load(work, RATE, i)
        store(work, Y_PREVIOUS, i, where(taken, y, load(work, Y_PREVIOUS, i)))
        store(work, RATE_PREVIOUS, i, where(taken, rate, load(work, RATE_PREVIOUS, i)))
        store(work, Y, i, where(taken, load(model.y, i, 0), y))
        store(work, RATE, i, where(taken, load(model.y_dot, i, 0), rate))
    for i in range(model.nq):
        bent = load(work, last, i)
        store(work, last - 1, i, where(taken, bent, load(work, last - 1, i)))
        store(work, last, i, where(taken, load(model.q_dot_dot, i, 0), bent))


@generic
def set_rate(model: Any, work: Any, mark: Any) -> None:
    """The rates at the last step's end, of lanes that are marked: forces have changed."""
    last, changed = work.shape[0] - 1, mark > 0.0
    for i in range(model.ny):
        store(work, RATE, i, where(changed, load(model.y_dot, i, 0), load(work, RATE, i)))
    for i in range(model.nq):
        store(work, last, i, where(changed, load(model.q_dot_dot, i, 0), load(work, last, i)))


@generic
def interpolate(model: Any, work: Any, previous: Any, time: Any, at: Any) -> None:
    """y at time *at* within the last step, from *previous* to *time*: `integrator._runge_kutta.interpolate` in lanes."""
    store(model.time, 0, 0, at)
    last, ends = work.shape[0] - 1, at >= time
    h = time - previous
    s = (at - previous) / h
    (b0, a1, b1, a2, b2), (b0_dot, a1_dot, b1_dot, a2_dot, b2_dot) = rk.hermite_basis(s, h)
    s2 = s * s
    for i in range(model.nq):
        y0, y1 = load(work, Y_PREVIOUS, i), load(work, Y, i)
        d0, d1 = load(work, RATE_PREVIOUS, i), load(work, RATE, i)
        e0, e1 = load(work, last - 1, i), load(work, last, i)
        between = y0 + b0 * (y1 - y0) + a1 * d0 + b1 * d1 + a2 * e0 + b2 * e1
        store(model.q, i, 0, where(ends, y1, between))
        rate = b0_dot * (y1 - y0) + a1_dot * d0 + b1_dot * d1 + a2_dot * e0 + b2_dot * e1
        store(model.q_dot, i, 0, where(ends, d1, rate))
    r = 1.0 - s
    n = model.particle_size
    first = model.ny - 2 * n
    for i in range(model.nq, first):
        y0, y1 = load(work, Y_PREVIOUS, i), load(work, Y, i)
        between = r * r * (1.0 + 2.0 * s) * y0 + s2 * (1.0 + 2.0 * r) * y1
        between = between + h * s * r * (r * load(work, RATE_PREVIOUS, i) - s * load(work, RATE, i))
        store(model.y, i, 0, where(ends, y1, between))
    for i in range(first, first + n):
        y0, y1 = load(work, Y_PREVIOUS, i), load(work, Y, i)
        d0, d1 = load(work, RATE_PREVIOUS, i), load(work, RATE, i)
        e0, e1 = load(work, RATE_PREVIOUS, i + n), load(work, RATE, i + n)
        between = y0 + b0 * (y1 - y0) + a1 * d0 + b1 * d1 + a2 * e0 + b2 * e1
        store(model.y, i, 0, where(ends, y1, between))
        rate = b0_dot * (y1 - y0) + a1_dot * d0 + b1_dot * d1 + a2_dot * e0 + b2_dot * e1
        store(model.y, i + n, 0, where(ends, load(work, Y, i + n), rate))
    for body in range(1, model.nb):
        if model.rates[body] != _rates.MATRIX and model.turning[body] == 3:
            k = model.first_u[body]
            _rates.n_inv_times(model, body, model.q_dot, model.first_q[body], model.u, k)
            for i in range(k, k + model.num_u[body]):
                store(model.u, i, 0, where(ends, load(work, Y, model.whole_nq + i), load(model.u, i, 0)))


# ---------------------------------------------------------------------------------------------- the first step


@generic
def norms(model: Any, work: Any, weights: Any) -> Any:
    """Root mean squares of y, of its rate at RATE, and of that less the present rate; scaled as in `error_norm`."""
    a = b = c = zero(load(model.time, 0, 0))
    for i in range(model.ny):
        y, rate = load(work, Y, i), load(work, RATE, i)
        scale = larger(1.0 / max(weights[i], 1e-300) + zero(y), size_of(y))
        p, v, d = y / scale, rate / scale, (rate - load(model.y_dot, i, 0)) / scale
        a, b, c = a + p * p, b + v * v, c + d * d
    n = max(1, model.ny)
    return sqrt(a / n), sqrt(b / n), sqrt(c / n)
