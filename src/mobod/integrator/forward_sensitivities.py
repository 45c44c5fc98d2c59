"""Runge-Kutta steps that carry variations of the motion, compiled: y and S, how it changes with each quantity, step together.

    S' = J(y) S + B        a column a quantity: one of the initial values, or a number of the model

J and B are not formed. A record of Duals gets the columns of S as tangents of q, u and z, and seeds as tangents of the model's
numbers; it gives those of the residual and of the constraints' errors at the u_dot and lambda of the record, eight a pass, and

    M d(udot) + G^T d(lambda) = -d(residual)        G d(udot) = -d(aerr)

is solved with the articulated inertias of the record, and what contradicting equations add as in `derivative.solve`. At ends of
steps S is projected as `tree.project` projects y. The steps are those of `stepping.loop`, with which S rides along. For what
Duals cannot do Python is called, which has J and B.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..algebra.record import attach, call_routine
from ..algebra.scalar import any_not_finite, load, store
from ..compiling import compiled, generic
from ..constraint.protocol import PROJECT_Q, PROJECT_U
from ..stepping import controller, record as rk, rows
from ..stepping.evaluate import evaluate
from ..stepping.loop import stepping
from ..stepping.method import method, runge_kutta
from ..stepping.method.method import Method
from ..tree import project as projection, sampling

# places in an array: addresses of the Duals' routines and of those of `derivative.sensitivity_routines`, zero for constraints
# where there are none; of what Python does in place of all of these, else zero; and where the record of Duals has its fields,
# in numbers from its beginning
REALIZE, RESIDUAL, ERRORS, SOLVE, CONSTRAIN, CONTRADICTION, CHANGE, TURN, GATHER, BY_PYTHON = range(10)
TIME, Q, U, Z, U_DOT, MULTIPLIER, WORK_U, ROW_WORK, Q_DOT, Z_DOT, POSITION_ERROR, MEMORY, LAW = range(10, 23)
#: What Python is asked for: the rates of S at a stage; S projected.
RATES, PROJECTED = range(2)
#: The fields, in this order.
FIELDS = (
    "time", "q", "u", "z", "u_dot", "multiplier", "work_u", "row_work", "q_dot", "z_dot", "position_error",
    "control_memory", "control_work",
)  # fmt: skip
#: Tangents of a Dual, and numbers of a row of one: the value, padded to these, then the tangents.
_TANGENTS, _ROW = 8, 16


class Carried(NamedTuple):
    """The data of a run in place of its table.

    Attributes
    ----------
    table : (stages + 2, stages + 1) array
        The method's.
    duals
        What finds the rates of S: the record of Duals with its places and seeds.
    scales : (n,) array
        Sizes of the quantities.
    S, here : (ny, n) arrays
        At the end of the last step; and where an attempt is.
    K : (stages, ny, n) array
        Rates of S.
    found : (nt, nu + ny - h, n) array
        Displacements and S at reports, without what controllers hold; or none.
    efforts : (k, 2) array of int
        The rows of S of efforts that controllers hold from sample to sample, and the speeds that they act on.
    held : (h,) array of int
        Where in `control_memory` what the last rows of S are of is.
    laws : array of int
        Addresses of the controllers' laws for Duals; none where Python differentiates them.
    """

    table: Any
    duals: Any
    scales: Any
    S: Any
    K: Any
    here: Any
    found: Any
    efforts: Any
    held: Any
    laws: Any


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
def _call_duals(model: Any, duals: Any, S: Any, first: int, routine: int, what: int) -> None:
    """Call a routine of Duals, of this and that, at the record's variables, along the columns of S from *first* on."""
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
    call_routine(at[routine], attach(block), at[REALIZE], what)
    for e in range(len(seed_rates)):
        k = seeds[e, 1] - first
        if 0 <= k < _TANGENTS:
            numbers[seeds[e, 0] + k] = 0.0


@generic
def find_rates(model: Any, carried: Any, s: int) -> None:
    """The rates of S at stage *s*, at a record that is realized; in S what is prescribed is set."""
    if carried.duals[1][BY_PYTHON] != 0:
        call_routine(carried.duals[1][BY_PYTHON], model, RATES, s)
    elif s == 0:
        _find_rates(model, carried.duals, carried.S, carried.K[s], carried.efforts)
    else:
        _find_rates(model, carried.duals, carried.here, carried.K[s], carried.efforts)


@generic
def _find_rates(model: Any, duals: Any, S: Any, K: Any, efforts: Any) -> None:
    _, at, buffer, _, _, _ = duals
    nq, nu = model.nq, model.nu
    for i in range(nu):
        _put_value(buffer, at[U_DOT] + _ROW * i, load(model.u_dot, i, 0))
    for first in range(0, S.shape[1], _TANGENTS):
        scale, end = 0.0, min(first + _TANGENTS, S.shape[1])
        if at[CONSTRAIN] != 0:
            scale = _find_turned(model, duals, S, first, K)
            _put_multipliers(model, buffer, at[MULTIPLIER], 0.0)
        _call_duals(model, duals, S, first, RESIDUAL, at[CONSTRAIN])
        for column in range(first, end):
            k = _TANGENTS + column - first
            for i in range(nq):
                K[i, column] = buffer[at[Q_DOT] + _ROW * i + k]
            for i in range(model.nz):
                K[nq + nu + i, column] = buffer[at[Z_DOT] + _ROW * i + k]
            if scale != 0.0:
                for i in range(nu):
                    store(model.work_u, i, 0, (K[nq + i, column] - buffer[at[WORK_U] + _ROW * i + k]) / scale)
                call_routine(at[SOLVE], model, 0, 0)
                for r in range(model.num_rows):
                    store(model.row_work, r, 0, 0.0)
                call_routine(at[CONSTRAIN], model, 0, 0)
            for i in range(nu):
                store(model.work_u, i, 0, -buffer[at[WORK_U] + _ROW * i + k])
            for e in range(efforts.shape[0]):
                store(model.work_u, efforts[e, 1], 0, load(model.work_u, efforts[e, 1], 0) + S[efforts[e, 0], column])
            call_routine(at[SOLVE], model, 0, 0)
            if at[CONSTRAIN] != 0:
                _put_errors(model, buffer, at[ROW_WORK] + k)
                if scale != 0.0:
                    _add_errors(model)
                call_routine(at[CONSTRAIN], model, 0, 0)
            for i in range(nu):
                K[nq + i, column] = load(model.work_u, i, 0)


@generic
def _find_turned(model: Any, duals: Any, S: Any, first: int, K: Any) -> float:
    """Tangents of the residual with what contradicting equations leave added to multipliers, so many times; 0 where none do."""
    _, at, buffer, _, _, _ = duals
    if call_routine(at[CONTRADICTION], model, 0, 0) == 0:
        return 0.0
    largest, left = 1.0, 0.0
    for r in range(model.num_rows):
        largest, left = max(largest, abs(load(model.multiplier, r, 0))), max(left, abs(load(model.position_error, r, 0)))
    scale = largest / left
    _put_multipliers(model, buffer, at[MULTIPLIER], scale)
    _call_duals(model, duals, S, first, RESIDUAL, at[CONSTRAIN])
    for column in range(first, min(first + _TANGENTS, S.shape[1])):
        for i in range(model.nu):
            K[model.nq + i, column] = buffer[at[WORK_U] + _ROW * i + _TANGENTS + column - first]
    return scale


@generic
def _put_multipliers(model: Any, buffer: Any, at: int, scale: float) -> None:
    """The multipliers, and *scale* times what is in `position_error`."""
    for r in range(model.num_rows):
        value = load(model.multiplier, r, 0)
        if scale != 0.0 and model.row_place[r] >= 0:
            value += scale * load(model.position_error, r, 0)
        _put_value(buffer, at + _ROW * r, value)


@generic
def _add_errors(model: Any) -> None:
    """`position_error`, by the kernels' rows, added to `row_work`."""
    for r in range(model.num_rows):
        at = model.row_place[r]
        if at >= 0:
            store(model.row_work, at, 0, load(model.row_work, at, 0) + load(model.position_error, r, 0))


@generic
def _put_errors(model: Any, buffer: Any, first: int) -> None:
    """Tangents of errors, the first of which is at a place, into `row_work`."""
    for r in range(model.num_rows):
        if model.row_place[r] >= 0:
            store(model.row_work, model.row_place[r], 0, buffer[first + _ROW * r])


@generic
def project(model: Any, duals: Any, S: Any) -> None:
    """S where the record is realized, onto the manifolds of quaternions and constraints."""
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
            _call_duals(model, duals, S, first, ERRORS, 0)
            for column in range(first, min(first + _TANGENTS, S.shape[1])):
                _put_errors(model, buffer, errors + _TANGENTS + column - first)
                call_routine(at[CHANGE], model, what, 0)
                if what == PROJECT_Q:
                    for i in range(model.nq):
                        S[i, column] += load(model.work_q, i, 0)
                else:
                    for i in range(model.nu):
                        S[model.nq + i, column] += load(model.projection_step, i, 0)


@compiled
def set_stage(here: Any, S: Any, table: Any, s: int, h: float, K: Any) -> None:
    """S at stage *s*, or at the step's end."""
    for i in range(S.shape[0]):
        for column in range(S.shape[1]):
            total = 0.0
            for j in range(min(s, table.shape[1] - 1)):
                total += table[s, 1 + j] * K[j, i, column]
            here[i, column] = S[i, column] + h * total


@compiled
def error_of_S(S: Any, here: Any, work: Any, table: Any, h: float, scales: Any, K: Any) -> float:
    """The largest error of a step's S, each derivative times the size of what it is by; weighted as `error_norm` does it."""
    stages = table.shape[1] - 1
    weights, worst = work.shape[0] - 4, 0.0
    for i in range(work.shape[1]):
        for column in range(S.shape[1]):
            error = 0.0
            for s in range(stages):
                error += table[stages + 1, 1 + s] * K[s, i, column]
            weight = work[weights, i] * scales[column]
            scale = max(1.0, weight * abs(S[i, column]), weight * abs(here[i, column]))
            size = weight * abs(h * error) / scale
            if not size <= worst and worst == worst:  # not a number, too
                worst = size
    return worst


@compiled
def keep(S: Any, here: Any) -> None:
    """Take over S."""
    for i in range(S.shape[0]):
        for column in range(S.shape[1]):
            S[i, column] = here[i, column]


# ---------------------------------------------------------------------------------------------- samples


@generic
def differentiate_samples(model: Any, run: Any) -> int:
    """S of what the controllers that are due will hold; STEP_TOO_SMALL, and S as before, where a law has no finite slope.

    Such a law is Python's, which takes differences.
    """
    carried, time = run.table, run.control[rk.TIME]
    if carried.laws.shape[0] == 0:
        return rk.REACHED
    S, here = carried.S, carried.here
    begin = S.shape[0] - carried.held.shape[0]
    for i in range(begin, S.shape[0]):
        for column in range(S.shape[1]):
            here[i, column] = S[i, column]
    for c in range(model.num_controllers):
        if sampling.due(model, c) <= time:
            for first in range(0, S.shape[1], _TANGENTS):
                if not _through_law(model, carried, c, first):
                    return rk.STEP_TOO_SMALL
    for i in range(begin, S.shape[0]):
        for column in range(S.shape[1]):
            S[i, column] = here[i, column]
    return rk.REACHED


@generic
def _through_law(model: Any, carried: Any, c: int, first: int) -> bool:
    """Columns of S from *first* on of what controller *c* will hold, into *here*; False where one is not finite.

    As `sampling.keep`: efforts at a limit do not change.
    """
    duals, S, here, held = carried.duals, carried.S, carried.here, carried.held
    block, at, buffer, e = duals[0], duals[1], duals[2], model.controller_element[c]
    i, x = model.force_first_integer[e], model.force_first_number[e]
    memory, n, row = model.force_integers[i], model.force_integers[i + 1], S.shape[0] - held.shape[0]
    for m in range(memory, memory + sampling.EFFORTS):
        _put_value(buffer, at[MEMORY] + _ROW * m, load(model.control_memory, m, 0))
    own, end = row, row
    for h in range(held.shape[0]):
        if held[h] < memory:
            own += 1
        if held[h] < memory or held[h] == memory + sampling.EFFORTS + row + h - own:
            end = row + h + 1
        _put(buffer, at[MEMORY] + _ROW * held[h], load(model.control_memory, held[h], 0), S, row + h, first)
    _call_duals(model, duals, S, first, GATHER, e)
    call_routine(carried.laws[c], attach(block), e, 0)
    for k in range(own, end):
        _take(here, k, buffer, at[MEMORY] + _ROW * held[k - row], first)
    for h in range(held.shape[0]):  # for rates, to which `efforts` are added
        _put_value(buffer, at[MEMORY] + _ROW * held[h], 0.0)
    for k in range(n):
        place = at[LAW] + _ROW * (sampling.WORK_EFFORTS + k)
        low, high = load(model.force_numbers, x + 1 + k, 0), load(model.force_numbers, x + 1 + n + k, 0)
        if buffer[place] < low or buffer[place] > high:
            _put_value(buffer, place, buffer[place])
        _take(here, own + k, buffer, place, first)
    inputs = i + 2 + 2 * n
    for k in range(model.force_integers[inputs]):
        j = inputs + 1 + sampling.WIDTH * k
        if model.force_integers[j] == sampling.MEMORY:
            for m in range(model.force_integers[j + 2]):
                place = at[LAW] + _ROW * (model.force_integers[j + sampling.OUT] + m)
                _take(here, own + model.force_integers[j + 3] + m - sampling.EFFORTS, buffer, place, first)
    finite = True
    for k in range(own, end):
        for column in range(first, min(first + _TANGENTS, S.shape[1])):
            finite = finite and here[k, column] - here[k, column] == 0.0
    return finite


@generic
def _take(here: Any, row: int, buffer: Any, at: int, first: int) -> None:
    """The tangents of a Dual, into columns of a row from *first* on."""
    for column in range(first, min(first + _TANGENTS, here.shape[1])):
        here[row, column] = buffer[at + _TANGENTS + column - first]


# ---------------------------------------------------------------------------------------------- steps


@generic
def attempt(model: Any, run: Any, time: float, h: float) -> float:
    """See `stepping.method`: of y and S, from a record that is realized where the step begins."""
    carried, work, counts = run.table, run.work, run.plan
    table, S, K, here = carried.table, carried.S, carried.K, carried.here
    stages = table.shape[1] - 1
    find_rates(model, carried, 0)
    for s in range(1, stages + 1):
        set_stage(here, S, table, s, h, K)
        if s < stages or counts[rk.ENDS_AT_STAGE] == 0:
            runge_kutta.set_stage(model, work, table, s, time, h)
        if s < stages:
            sound = evaluate(model, counts)
            counts[rk.EVALUATIONS] += 1
            if any_not_finite(sound):
                return sound
            rows.keep_rate(model, work, rk.FIRST_STAGE + s)
            find_rates(model, carried, s)
    if run.control[rk.FIXED_STEP] == 0.0:
        runge_kutta.set_error(model, work, table, h)
    return 0.0


@generic
def find_error(model: Any, run: Any) -> float:
    """The larger error of y and of S."""
    carried, of_y = run.table, method.find_error(model, run)
    h = run.control[rk.SIZE]
    of_S = error_of_S(carried.S, carried.here, run.work, carried.table, h, carried.scales, carried.K)
    return max(of_y, of_S) if of_S == of_S else of_S


@generic
def accept(model: Any, run: Any, lane: int, error: float, controlled: bool) -> None:
    """The attempt is a step, for S too."""
    carried = run.table
    if carried.duals[1][BY_PYTHON] != 0:
        call_routine(carried.duals[1][BY_PYTHON], model, PROJECTED, 0)
    else:
        project(model, carried.duals, carried.here)
    keep(carried.S, carried.here)
    controller.accept(model, run, lane, error, controlled)


@generic
def interpolate(model: Any, run: Any, at: float) -> None:
    """A report at a step's end: y; displacements and S into their row of results."""
    carried, k = run.table, run.plan[rk.REPORT]
    rows.set_y(model, at, run.work[rk.Y])
    if carried.found.shape[0] == 0:
        return
    evaluate(model, run.plan)
    S, found, nq, nu = carried.S, carried.found, model.nq, model.nu
    for column in range(S.shape[1]):
        for i in range(S.shape[0] - carried.held.shape[0]):
            found[k, nu + i, column] = S[i, column]
        for i in range(nq):
            store(model.work_q, i, 0, S[i, column])
        turn(model, carried.duals, 1)
        for i in range(nu):
            found[k, i, column] = load(model.work_u, i, 0)


@generic
def turn(model: Any, duals: Any, back: int) -> None:
    """Turn displacements into changes of q, or *back*."""
    call_routine(duals[1][TURN], model, back, 0)


#: Steps with S; they end at reports.
advance = stepping(
    Method(
        attempt,
        find_error=find_error,
        accept=accept,
        interpolate=interpolate,
        before_samples=differentiate_samples,
        from_realized=True,
    ),
    "variations",
)


@compiled
def take_again(block: Any, work: Any, carried: Any, control: Any, counts: Any, begin: float, h: float) -> int:
    """S, not projected, at a time h within the last step into *here*; *work* has where that began in its rows Y and RATE."""
    model = attach(block)
    rows.set_y(model, begin, work[rk.Y])
    evaluate(model, counts)
    return 1 if any_not_finite(attempt(model, rk.run_of(work, carried, control, counts), begin, h)) else 0


@generic
def begin(model: Any, of_start: Any, carried: Any) -> None:
    """S where a run begins, of initial (displacements, u, z) ``(2 nu + nz, n)``, at a record that is realized."""
    S, nq, nu = carried.S, model.nq, model.nu
    for column in range(S.shape[1]):
        for i in range(nu):
            store(model.work_u, i, 0, of_start[i, column])
        turn(model, carried.duals, 0)
        for i in range(nq):
            S[i, column] = load(model.work_q, i, 0)
        for i in range(nu + model.nz):
            S[nq + i, column] = of_start[nu + i, column]
        for i in range(S.shape[0] - carried.held.shape[0], S.shape[0]):  # what controllers hold
            S[i, column] = 0.0
    project(model, carried.duals, S)


@compiled
def begin_at(block: Any, work: Any, of_start: Any, carried: Any, control: Any, counts: Any) -> int:
    """`begin`, where choosing the first step has moved the record: REACHED or NOT_FINITE."""
    model = attach(block)
    rows.set_y(model, control[rk.TIME], work[rk.Y])
    if evaluate(model, counts) != 0:
        return rk.NOT_FINITE
    begin(model, of_start, carried)
    return rk.REACHED
