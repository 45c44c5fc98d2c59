"""Runge-Kutta steps that carry variations of the motion, compiled: y and S, how it changes with each quantity, step together.

    S' = J(y) S + B        a column a quantity: one of the initial values, or a number of the model

J and B are not formed. A record of Duals gets the columns of S as tangents of q, u and z, and seeds as tangents of the model's
numbers; it gives those of the residual and of the constraints' errors at the u_dot and lambda of the record, eight a pass, and

    M d(udot) + G^T d(lambda) = -d(residual)        G d(udot) = -d(aerr)

is solved with the articulated inertias of the record. At ends of steps S is projected as `tree.project` projects y. The steps
are those of `simulation.variational`, which has them for systems with parts in Python.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store
from ..compiling import compiled, generic
from ..constraint._protocol import PROJECT_Q, PROJECT_U
from ..stepping import controller, errors, loop, rows
from ..stepping import record as rk
from ..stepping.evaluate import begin_step, evaluate, finish_step, prescribe
from ..stepping.method import runge_kutta
from ..tree import project as projection

# places in an array: addresses of the Duals' routines and of those of `derivative.sensitivity_routines`, zero for constraints
# where there are none; and where the record of Duals has its fields, in numbers from its beginning
REALIZE, RESIDUAL, ERRORS, SOLVE, CONSTRAIN, CHANGE, TURN = range(7)
TIME, Q, U, Z, U_DOT, MULTIPLIER, WORK_U, ROW_WORK, Q_DOT, Z_DOT, POSITION_ERROR = range(7, 18)
#: The fields, in this order.
FIELDS = (
    "time", "q", "u", "z", "u_dot", "multiplier", "work_u", "row_work", "q_dot", "z_dot", "position_error",
)  # fmt: skip
#: Tangents of a Dual, and numbers of a row of one: the value, padded to these, then the tangents.
_TANGENTS, _ROW = 8, 16


@generic
def _put_value(buffer: Any, at: int, value: float) -> None:
    """A Dual without tangents."""
    buffer[at] = value
    for k in range(_TANGENTS):
        buffer[at + _TANGENTS + k] = 0.0


@generic
def _put(buffer: Any, at: int, value: float, S: Any, row: int, first: int) -> None:
    """A Dual with the tangents of a row of S, from column *first* on; those beyond the last are zero."""
    buffer[at] = value
    count = min(_TANGENTS, S.shape[1] - first)
    for k in range(count):
        buffer[at + _TANGENTS + k] = S[row, first + k]
    for k in range(count, _TANGENTS):
        buffer[at + _TANGENTS + k] = 0.0


@generic
def _call_duals(model: Any, duals: Any, S: Any, first: int, routine: int) -> None:
    """Let a routine of Duals run at the record's variables, along the columns of S from *first* on."""
    block, at, buffer, numbers, seeds, seed_rates = duals
    nq, nu = model.nq, model.nu
    _put_value(buffer, at[TIME], load(model.time, 0, 0))
    for i in range(nq):
        _put(buffer, at[Q] + _ROW * i, load(model.q, i, 0), S, i, first)
    for i in range(nu):
        _put(buffer, at[U] + _ROW * i, load(model.u, i, 0), S, nq + i, first)
    for i in range(model.nz):
        _put(buffer, at[Z] + _ROW * i, load(model.z, i, 0), S, nq + nu + i, first)
    for e in range(len(seed_rates)):
        k = seeds[e, 1] - first
        if 0 <= k < _TANGENTS:
            numbers[seeds[e, 0] + k] = seed_rates[e]
    call_routine(at[routine], attach(block), at[REALIZE], at[CONSTRAIN])
    for e in range(len(seed_rates)):
        k = seeds[e, 1] - first
        if 0 <= k < _TANGENTS:
            numbers[seeds[e, 0] + k] = 0.0


@generic
def find_rates(model: Any, duals: Any, S: Any, K: Any) -> None:
    """The rates of S, into K, at a record that is realized."""
    _, at, buffer, _, _, _ = duals
    nq, nu = model.nq, model.nu
    for i in range(nu):
        _put_value(buffer, at[U_DOT] + _ROW * i, load(model.u_dot, i, 0))
    if at[CONSTRAIN] != 0:
        for r in range(model.num_rows):
            _put_value(buffer, at[MULTIPLIER] + _ROW * r, load(model.multiplier, r, 0))
    for first in range(0, S.shape[1], _TANGENTS):
        _call_duals(model, duals, S, first, RESIDUAL)
        for column in range(first, min(first + _TANGENTS, S.shape[1])):
            k = _TANGENTS + column - first
            for i in range(nq):
                K[i, column] = buffer[at[Q_DOT] + _ROW * i + k]
            for i in range(model.nz):
                K[nq + nu + i, column] = buffer[at[Z_DOT] + _ROW * i + k]
            for i in range(nu):
                store(model.work_u, i, 0, -buffer[at[WORK_U] + _ROW * i + k])
            call_routine(at[SOLVE], model, 0, 0)
            if at[CONSTRAIN] != 0:
                _put_errors(model, buffer, at[ROW_WORK] + k)
                call_routine(at[CONSTRAIN], model, 0, 0)
            for i in range(nu):
                K[nq + i, column] = load(model.work_u, i, 0)


@generic
def _put_errors(model: Any, buffer: Any, first: int) -> None:
    """Tangents of errors, the first of which is at a place, into `row_work`."""
    for r in range(model.num_rows):
        if model.row_place[r] >= 0:
            store(model.row_work, model.row_place[r], 0, buffer[first + _ROW * r])


@generic
def project(model: Any, duals: Any, S: Any) -> None:
    """S at the end of a step, where the record is realized: on the manifolds of quaternions and constraints."""
    _, at, buffer, _, _, _ = duals
    for b in range(1, model.nb):
        if model.has_quaternion[b] == 1:
            q = model.first_q[b]
            for column in range(S.shape[1]):
                along = 0.0
                for i in range(q, q + 4):
                    along += load(model.q, i, 0) * S[i, column]
                for i in range(q, q + 4):
                    S[i, column] -= along * load(model.q, i, 0)
    if at[CONSTRAIN] == 0:
        return
    for what in (PROJECT_Q, PROJECT_U):
        projection.set_weights(model, what)
        errors = at[POSITION_ERROR] if what == PROJECT_Q else at[ROW_WORK]
        for first in range(0, S.shape[1], _TANGENTS):
            _call_duals(model, duals, S, first, ERRORS)
            for column in range(first, min(first + _TANGENTS, S.shape[1])):
                _put_errors(model, buffer, errors + _TANGENTS + column - first)
                call_routine(at[CHANGE], model, what, 0)
                if what == PROJECT_Q:
                    for i in range(model.nq):
                        S[i, column] += load(model.work_q, i, 0)
                else:
                    for i in range(model.nu):
                        S[model.nq + i, column] += load(model.projection_step, i, 0)


@generic
def _find_error_of_S(model: Any, work: Any, table: Any, h: float, scales: Any, S: Any, ends: Any, K: Any) -> float:
    """The largest error of a step's S, each derivative times the size of what it is by; weighted as `error_norm` does it."""
    stages = table.shape[1] - 1
    weights, worst = work.shape[0] - 4, 0.0
    for i in range(model.ny):
        for column in range(S.shape[1]):
            error = 0.0
            for s in range(stages):
                error += table[stages + 1, 1 + s] * K[s, i, column]
            weight = work[weights, i] * scales[column]
            scale = max(1.0, weight * abs(S[i, column]), weight * abs(ends[i, column]))
            size = weight * abs(h * error) / scale
            if not size <= worst:
                worst = size
    return worst


@generic
def _attempt(
    model: Any, work: Any, table: Any, counts: Any, time: float, h: float, duals: Any, S: Any, K: Any, here: Any
) -> int:
    """One attempt at a step of y and S, whose end goes into the record and *here*: DONE or NOT_REALIZED."""
    stages = table.shape[1] - 1
    for s in range(1, stages + 1):
        runge_kutta.set_stage(model, work, table, s, time, h)
        for i in range(S.shape[0]):
            for column in range(S.shape[1]):
                total = 0.0
                for j in range(s if s < stages else stages):
                    total += table[s, 1 + j] * K[j, i, column]
                here[i, column] = S[i, column] + h * total
        if s < stages:
            status = evaluate(model, counts)
            counts[rk.EVALUATIONS] += 1
            if status != 0:
                return rk.NOT_REALIZED
            rows.keep_rate(model, work, rk.FIRST_STAGE + s)
            find_rates(model, duals, here, K[s])
    runge_kutta.set_error(model, work, table, h)
    return rk.DONE


@generic
def _take_end(model: Any, work: Any, control: Any, counts: Any) -> int:
    """End a step at y of the record: project and realize; DONE, NOT_PROJECTED or NOT_FINITE."""
    prescribe(model, counts)
    if loop.project_now(model, control, counts, counts[rk.PROJECTION]) < 0:
        return rk.NOT_PROJECTED
    status = evaluate(model, counts)
    counts[rk.EVALUATIONS] += 1
    if status != 0:
        counts[rk.REALIZATION_FAILURES] += 1
        return rk.NOT_FINITE
    finish_step(model)
    rows.shift_step(model, work)
    return rk.DONE


@generic
def take_step(model: Any, work: Any, table: Any, control: Any, counts: Any, stop: float, variations: Any) -> int:
    """A step of y and S, not beyond *stop*: DONE, or why there is none, as `stepping.loop` says it."""
    duals, scales, S, K, here = variations
    if control[rk.STEP] < control[rk.COLLAPSE]:
        control[rk.COLLAPSE] = controller.COLLAPSE_RATIO * control[rk.STEP]
        return rk.COLLAPSED
    time, fixed = control[rk.TIME], control[rk.FIXED_STEP] > 0.0
    rows.set_y(model, time, work[rk.Y])
    evaluate(model, counts)
    find_rates(model, duals, S, K[0])
    while True:
        h = control[rk.FIXED_STEP]
        if not fixed:
            h = min(control[rk.STEP], control[rk.MAX_STEP])
        clipped, end = h > 0.999 * (stop - time), time + h
        if clipped:
            h, end = stop - time, stop
        counts[rk.ATTEMPTS] += 1
        begin_step(model, time)
        status = _attempt(model, work, table, counts, time, h, duals, S, K, here)
        failure, error = rk.REALIZATION_FAILURES, 1e300
        if status == rk.DONE:
            failure, error = rk.ERROR_FAILURES, 0.0
            if not fixed and counts[rk.FORCED] == 0:
                error = errors.error_norm(model, work, work[work.shape[0] - 4], counts[rk.MEAN_NORM])
                error = max(error, _find_error_of_S(model, work, table, h, scales, S, here, K))
                if not error < 1e299:  # not a number, too
                    error = 1e300
        if error <= control[rk.ACCURACY]:
            store(model.time, 0, 0, end)
            if _take_end(model, work, control, counts) == rk.DONE:
                break
            failure, error = rk.PROJECTION_FAILURES, 1e300
        if failure != rk.PROJECTION_FAILURES:
            counts[failure] += 1
        if fixed or h <= control[rk.MIN_STEP] or time + 0.1 * h == time:
            if failure == rk.REALIZATION_FAILURES:
                return rk.NOT_FINITE
            return rk.NOT_PROJECTED if failure == rk.PROJECTION_FAILURES else rk.STEP_TOO_SMALL
        shrink = 0.1
        if error < 1e299:
            shrink = max(0.1, min(0.9, 0.8 * (control[rk.ACCURACY] / error) ** (1.0 / counts[rk.ERROR_ORDER])))
        control[rk.STEP] = max(control[rk.MIN_STEP], shrink * h)
    control[rk.PREVIOUS_TIME], control[rk.TIME], control[rk.LAST_STEP] = time, end, h
    if counts[rk.STEPS] == 0:
        control[rk.FIRST_STEP] = h
    counts[rk.STEPS] += 1
    control[rk.COLLAPSE] = max(control[rk.COLLAPSE], controller.COLLAPSE_RATIO * h)
    if not fixed and counts[rk.FORCED] == 0:
        growth = 5.0
        if error > 0.0:
            growth = min(5.0, 0.8 * (control[rk.ACCURACY] / error) ** (1.0 / counts[rk.ERROR_ORDER]))
        if (growth > 1.1 or growth < 1.0) and (not clipped or growth * h > control[rk.STEP]):
            control[rk.STEP] = max(control[rk.MIN_STEP], growth * h)
    counts[rk.FORCED] = 0
    project(model, duals, here)
    for i in range(S.shape[0]):
        for column in range(S.shape[1]):
            S[i, column] = here[i, column]
    return rk.DONE


@compiled
def step(block: Any, work: Any, table: Any, control: Any, counts: Any, stop: float, variations: Any) -> int:
    """`take_step`, called from Python; the record is left realized at the step's end."""
    return take_step(attach(block), work, table, control, counts, stop, variations)


@generic
def begin(model: Any, of_start: Any, variations: Any) -> None:
    """S where a run begins, of initial (displacements, u, z) ``(2 nu + nz, n)``, at a record that is realized."""
    duals, _, S, _, _ = variations
    nq, nu = model.nq, model.nu
    for column in range(S.shape[1]):
        for i in range(nu):
            store(model.work_u, i, 0, of_start[i, column])
        call_routine(duals[1][TURN], model, 0, 0)
        for i in range(nq):
            S[i, column] = load(model.work_q, i, 0)
        for i in range(nu + model.nz):
            S[nq + i, column] = of_start[nu + i, column]
    project(model, duals, S)


@generic
def report(model: Any, work: Any, control: Any, counts: Any, variations: Any, row: Any, found: Any) -> None:
    """A row of results at the end of the last step: y; displacements and S."""
    duals, _, S, _, _ = variations
    nq, nu = model.nq, model.nu
    rows.set_y(model, control[rk.TIME], work[rk.Y])
    evaluate(model, counts)
    rows.report_row(model, row)
    for column in range(S.shape[1]):
        for i in range(S.shape[0]):
            found[nu + i, column] = S[i, column]
        for i in range(nq):
            store(model.work_q, i, 0, S[i, column])
        call_routine(duals[1][TURN], model, 1, 0)
        for i in range(nu):
            found[i, column] = load(model.work_u, i, 0)


@generic
def advance(
    model: Any, work: Any, table: Any, control: Any, counts: Any, times: Any, results: Any, found: Any, variations: Any
) -> int:
    """Step until all of *times* are reported, or ``counts[LIMIT]`` steps are taken, as `stepping.loop.advance`."""
    taken = 0
    while counts[rk.REPORT] < times.shape[0]:
        k = counts[rk.REPORT]
        if times[k] <= control[rk.TIME]:
            report(model, work, control, counts, variations, results[k], found[k])
            counts[rk.REPORT] += 1
            continue
        if taken >= counts[rk.LIMIT]:
            return rk.PAUSED
        status = take_step(model, work, table, control, counts, min(control[rk.FINAL_TIME], times[k]), variations)
        if status == rk.DONE:
            taken += 1
        elif status != rk.COLLAPSED:
            return status
    return rk.REACHED
