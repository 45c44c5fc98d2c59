"""The loop over steps of all explicit methods: attempt a step, test its error, project, accept or retry shorter; reports.

A method is an `attempt`, which advances y and estimates the error. That of Runge-Kutta methods, which interprets their table,
is here; the others are in their own files.

    stage s   y_s = y_0 + h sum a_sj k_j,  k_s = f(t_0 + c_s h, y_s)         step   y_1 = y_0 + h sum b_j k_j
    error     h w sum e_j k_j, the largest of any variable, relative where the variable exceeds 1 / w, w being its weight
    report    Hermite's polynomial of both ends of the step that passes the time asked for, see `interpolate`

so that steps do not depend on report times, and an interrupted run repeats the uninterrupted one. Prescribed q and u are set
at every stage, before the rates are evaluated, and in reports; they have no part in the error estimate. Source: Hairer,
Norsett and Wanner 1993, II.4 (step size, starting step) and II.6 (dense output).

`stepping` makes the loop of an attempt. It is compiled for systems of built-in parts, and run by Python otherwise; what
loops over y is a kernel either way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load, store
from ..compiling import Kernel, compiled, generic
from ..mobilizer import _rates
from ..state.validity import ARTICULATED, KINEMATICS
from ._evaluate import (
    ALWAYS,
    CHANGED_Q,
    CHANGED_U,
    begin_step,
    energy,
    evaluate,
    evaluate_rest,
    finish_step,
    next_sample,
    permitted_step,
    prescribe,
    project,
    sample,
)
from ._watched import look, suspects

# places in the array `control`; TARGET: where the loop returns, having reported nothing beyond, though times are left to report
TIME, PREVIOUS_TIME, STEP, TARGET, FINAL_TIME, ACCURACY, MIN_STEP, MAX_STEP, FIXED_STEP, LAST_STEP, COLLAPSE = range(11)
FIRST_STEP, TOLERANCE = 11, 12
# ... the longest step from TIME that surfaces permit, below zero where it is not known
PERMITTED_STEP = 13
# ... the error of the last step as a part of the accuracy, 0 after an attempt that failed
LAST_ERROR = 14
CONTROL_SIZE = 15
# places in the array `counts`
STEPS, ATTEMPTS, EVALUATIONS, ERROR_FAILURES, REPORT, LIMIT, ROUTINE, PRESCRIBER = range(8)
# ... failures of the other sorts, projections, and iterations of methods that have any
CONVERGENCE_FAILURES, REALIZATION_FAILURES, PROJECTION_FAILURES, Q_PROJECTIONS, U_PROJECTIONS, ITERATIONS = range(8, 14)
# ... the projection's routine, and choices: of projection what `project` takes, of the others 1 or 0
# ... FORCED: the next step is taken whatever its error. AT_END: the record is realized at the end of the attempt, as it is with
# tables whose last stage is the end of the step, ENDS_AT_STAGE
PROJECTOR, ERROR_ORDER, MEAN_NORM, PROJECTION, PROJECT_REPORTS, NO_INTERPOLATION, FORCED = range(14, 21)
AT_END, ENDS_AT_STAGE = 21, 22
# ... the routine that limits steps by contact, 0 where nothing can touch; 1 after a step that may have missed a contact
LIMITER, PASSES = 23, 24
# ... the row of `work` that has the rates foreseen at the end of a step; where the caller has changed the record since the last
# step, 1 and the bits of what is valid in it still, else 0
FORESEEN, CHANGED = 25, 26
# ... how much speaks for steps that are bounded by stability, since one was limited by a surface that came near
STRAIN = 27
# ... 1 where y as it is fulfils constraints, as the end of a step does, so that a run that goes on there is the run that was
PROJECTED = 28
# ... how many witnesses `_watched` looks at after each step, 0 for none; below 0 the loop returns after each step, SUSPECT
WATCHES = 29
COUNTS_SIZE = 30
# rows of the array `work`; the stages' rates come after, then weights (0 for what is prescribed), the last attempt's errors,
# and at the end q_dot_dot of the last step's two ends
Y_PREVIOUS, RATE_PREVIOUS, Y, RATE = range(4)
FIRST_STAGE = 3  # the first stage's rate is that at y: row RATE
#: Rows after the stages'.
ROWS_AFTER = 4

# what `advance` returns
REACHED, PAUSED, STEP_TOO_SMALL, NOT_FINITE, COLLAPSED, NOT_PROJECTED, NOT_TAKEN_UP = 0, 1, 2, 3, 4, 5, 6
NOT_SAMPLED = 7
# ... before any report within the last step
SUSPECT = 8
# what an attempt returns
DONE, NOT_REALIZED, NOT_CONVERGED = 0, 1, 2

#: Longer than any step.
LONGEST = 1e30
#: The part of the smaller of two surfaces by which a step may carry them deeper into each other before error control
#: looks, and that beyond which a step that cannot be shortened may have missed that they touched.
DEEPER, MISSED = 0.25, 1.0
#: How many times the accuracy the rates at the end of a step may differ from those foreseen, by what they do in a step; and
#: the largest accuracy for which that says anything.
SURPRISE, COARSEST = 100.0, 1e-3

#: What an attempt in vain adds to the strain, of which a step takes away 1; and from which on steps are taken to be bounded
#: by stability: one attempt of three fails then, for a hundred attempts; in a bounce, one of five.
STRAIN_OF_FAILURE, MOST_STRAIN = 8, 200

#: When steps have shrunk to this part of their size, the cause is looked for.
COLLAPSE_RATIO = 1e-3


@compiled
def keep_rate(block: Any, work: Any, row: int) -> None:
    """Copy the rate of y into a row."""
    model = attach(block)
    for i in range(model.ny):
        work[row, i] = load(model.y_dot, i, 0)


@compiled
def add_rates(block: Any, work: Any, table: Any, s: int) -> None:
    """The stages' rates, weighted by row *s* of the table, summed into the row of errors, in plain loops."""
    model = attach(block)
    sums = work.shape[0] - 3
    for i in range(model.ny):
        work[sums, i] = 0.0
    for j in range(table.shape[1] - 1):
        a = table[s, 1 + j]
        if a != 0.0:
            for i in range(model.ny):
                work[sums, i] = work[sums, i] + a * work[FIRST_STAGE + j, i]


@compiled
def set_stage(block: Any, work: Any, table: Any, s: int, time: float, h: float) -> None:
    """y and time of stage *s*; of the step's end if *s* is the number of stages."""
    model = attach(block)
    store(model.time, 0, 0, time + table[s, 0] * h)
    sums = work.shape[0] - 3  # the errors' row, which is written after the last stage
    add_rates(block, work, table, s)
    for i in range(model.ny):
        store(model.y, i, 0, work[Y, i] + h * work[sums, i])


@compiled
def set_error(block: Any, work: Any, table: Any, h: float) -> None:
    """The error of each variable, by the stages' rates."""
    model = attach(block)
    errors = work.shape[0] - 3
    add_rates(block, work, table, table.shape[1])
    for i in range(model.ny):
        work[errors, i] = h * work[errors, i]


@compiled
def error_norm(block: Any, work: Any, mean: int) -> float:
    """The largest error of any variable times its weight, relative where this exceeds 1; or the root of their mean square.

    The default is the largest: in a mechanism of many coordinates a mean would hide a single wrong one.
    """
    model = attach(block)
    weights = work.shape[0] - 4
    worst = total = 0.0
    for i in range(model.ny):
        weight = work[weights, i]
        scale = max(1.0, weight * abs(work[Y, i]), weight * abs(load(model.y, i, 0)))
        size = weight * abs(work[weights + 1, i]) / scale
        if not size <= worst:  # NaN as well
            worst = size
        total = total + size * size
    if mean != 0:
        return (total / max(1, model.ny)) ** 0.5
    return worst


@compiled
def surprise(block: Any, work: Any, row: int, h: float) -> float:
    """The largest change, in a step, by rates that differ from those in a row; weighted as errors are, by y at the beginning.

    A method may have met a contact in a stage that has no part in its estimate, been thrown off, and missed it in all others.
    """
    model = attach(block)
    weights = work.shape[0] - 4
    worst = 0.0
    for i in range(model.ny):
        weight = work[weights, i]
        size = weight * h * abs(load(model.y_dot, i, 0) - work[row, i]) / max(1.0, weight * abs(work[Y, i]))
        if not size <= worst:
            worst = size
    return worst


@compiled
def shift_step(block: Any, work: Any) -> None:
    """The end of the last step becomes its beginning, and y with its rates the new end."""
    model = attach(block)
    last = work.shape[0] - 1
    for i in range(model.ny):
        work[Y_PREVIOUS, i] = work[Y, i]
        work[RATE_PREVIOUS, i] = work[RATE, i]
        work[Y, i] = load(model.y, i, 0)
        work[RATE, i] = load(model.y_dot, i, 0)
    for i in range(model.nq):
        work[last - 1, i] = work[last, i]
        work[last, i] = load(model.q_dot_dot, i, 0)


@compiled
def begin_at(block: Any, work: Any) -> None:
    """y with its rates, of a record that is realized, becomes both ends of the last step: where the next one begins."""
    model = attach(block)
    shift_step(model, work)
    shift_step(model, work)


@compiled
def set_rate(block: Any, work: Any) -> None:
    """The rates at the last step's end, of a record that is realized there anew: forces have changed."""
    model = attach(block)
    last = work.shape[0] - 1
    for i in range(model.ny):
        work[RATE, i] = load(model.y_dot, i, 0)
    for i in range(model.nq):
        work[last, i] = load(model.q_dot_dot, i, 0)


@compiled
def return_to_end(block: Any, work: Any, control: Any, counts: Any) -> int:
    """Realize the record at the end of the last step, from which reports have moved it."""
    model = attach(block)
    set_y(model, control[TIME], work[Y])
    return evaluate(model, counts[ROUTINE], counts[PRESCRIBER])


@generic
def take_samples(model: Any, work: Any, control: Any, counts: Any, realized: bool) -> int:
    """Sample the controllers that are due at the last step's end, where the record may be *realized* already."""
    if not realized:  # reports, or events, have moved the record
        set_y(model, control[TIME], work[Y])
        evaluate(model, counts[ROUTINE], counts[PRESCRIBER])
        counts[EVALUATIONS] += 1
    if sample(model, control[TIME]) != 0:
        return NOT_SAMPLED
    counts[EVALUATIONS] += 1
    if evaluate_rest(model, counts[ROUTINE], counts[PRESCRIBER], KINEMATICS | ARTICULATED) != 0:
        return NOT_FINITE
    set_rate(model, work)
    return REACHED


@generic
def take_up(model: Any, work: Any, control: Any, counts: Any) -> int:
    """Go on from time and y of the record, which the caller has changed since the last step: their rates are the next first."""
    valid = counts[CHANGED] - 1
    counts[CHANGED] = 0
    if valid & KINEMATICS != KINEMATICS:
        prescribe(model, counts[ROUTINE], counts[PRESCRIBER])
        if project_now(model, control, counts, counts[PROJECTION] | ALWAYS) < 0:
            return NOT_TAKEN_UP
        valid = 0
    if evaluate_rest(model, counts[ROUTINE], counts[PRESCRIBER], valid) != 0:
        return NOT_TAKEN_UP
    counts[EVALUATIONS] += 1
    begin_at(model, work)
    control[TIME] = control[PREVIOUS_TIME] = load(model.time, 0, 0)
    control[PERMITTED_STEP], control[LAST_ERROR], counts[STRAIN] = -1.0, 0.0, 0
    if counts[WATCHES] > 0:  # what has been set here is no event
        look(model, counts[WATCHES])
    return REACHED


@generic
def hermite_basis(s: Any, h: Any) -> Any:
    """What the quintic through both ends of a step of size h multiplies, at the fraction s of it, and the rates of that.

    Each five: b0 what q gains in the step, a1 and b1 the first derivatives at its beginning and its end, a2 and b2 the second.
    """
    s2 = s * s
    s3 = s2 * s
    s4 = s2 * s2
    s5 = s3 * s2
    b0 = 10.0 * s3 - 15.0 * s4 + 6.0 * s5
    a1, b1 = h * (s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5), h * (-4.0 * s3 + 7.0 * s4 - 3.0 * s5)
    a2 = h * h * (0.5 * s2 - 1.5 * s3 + 1.5 * s4 - 0.5 * s5)
    b2 = h * h * (0.5 * s3 - s4 + 0.5 * s5)
    b0_dot = (30.0 * s2 - 60.0 * s3 + 30.0 * s4) / h
    a1_dot, b1_dot = 1.0 - 18.0 * s2 + 32.0 * s3 - 15.0 * s4, -12.0 * s2 + 28.0 * s3 - 15.0 * s4
    a2_dot, b2_dot = h * (s - 4.5 * s2 + 6.0 * s3 - 2.5 * s4), h * (1.5 * s2 - 4.0 * s3 + 2.5 * s4)
    return (b0, a1, b1, a2, b2), (b0_dot, a1_dot, b1_dot, a2_dot, b2_dot)


@compiled
def interpolate(block: Any, work: Any, previous: float, time: float, at: float) -> None:
    """y at time *at* within the last step, from *previous* to *time*; quaternions are for `project` to normalize.

    q is the quintic through both ends' q, q_dot and q_dot_dot, and u follows from its rate, so that the two are consistent
    and as accurate as the steps; z is the cubic through both ends' values and rates, as is u of kinds with an N of their own.
    Particles are as q and u. At the end of the step it is y itself, to the bit.
    """
    model = attach(block)
    store(model.time, 0, 0, at)
    if at >= time:
        for i in range(model.ny):
            store(model.y, i, 0, work[Y, i])
        return
    last = work.shape[0] - 1
    h = time - previous
    s = (at - previous) / h
    (b0, a1, b1, a2, b2), (b0_dot, a1_dot, b1_dot, a2_dot, b2_dot) = hermite_basis(s, h)
    s2 = s * s
    for i in range(model.nq):
        y0, y1 = work[Y_PREVIOUS, i], work[Y, i]
        d0, d1 = work[RATE_PREVIOUS, i], work[RATE, i]
        e0, e1 = work[last - 1, i], work[last, i]
        store(model.q, i, 0, y0 + b0 * (y1 - y0) + a1 * d0 + b1 * d1 + a2 * e0 + b2 * e1)
        store(model.q_dot, i, 0, b0_dot * (y1 - y0) + a1_dot * d0 + b1_dot * d1 + a2_dot * e0 + b2_dot * e1)
    r = 1.0 - s
    n = model.particle_size
    first = model.ny - 2 * n  # particles are the end of y
    for i in range(model.nq, first):
        ends = r * r * (1.0 + 2.0 * s) * work[Y_PREVIOUS, i] + s2 * (1.0 + 2.0 * r) * work[Y, i]
        store(model.y, i, 0, ends + h * s * r * (r * work[RATE_PREVIOUS, i] - s * work[RATE, i]))
    for i in range(first, first + n):  # a particle's location with its velocity: the quintic that q is, and its rate
        y0, y1, d0, d1 = work[Y_PREVIOUS, i], work[Y, i], work[RATE_PREVIOUS, i], work[RATE, i]
        e0, e1 = work[RATE_PREVIOUS, i + n], work[RATE, i + n]
        store(model.y, i, 0, y0 + b0 * (y1 - y0) + a1 * d0 + b1 * d1 + a2 * e0 + b2 * e1)
        store(model.y, i + n, 0, b0_dot * (y1 - y0) + a1_dot * d0 + b1_dot * d1 + a2_dot * e0 + b2_dot * e1)
    for body in range(1, model.nb):
        if model.rates[body] != _rates.MATRIX and model.turning[body] == 3:  # of others N^-1 is of the step's end, not of here
            _rates.n_inv_times(model, body, model.q_dot, model.first_q[body], model.u, model.first_u[body])


@compiled
def report_row(block: Any, row: Any) -> None:
    """Copy y into a row of results."""
    model = attach(block)
    for i in range(model.ny):
        row[i] = load(model.y, i, 0)


@compiled
def scaled_norms(block: Any, work: Any, norms: Any) -> None:
    """Root mean squares of y, of its rate at RATE, and of that less the present rate; scaled as in `error_norm`."""
    model = attach(block)
    a = b = c = 0.0
    weights = work.shape[0] - 4
    for i in range(model.ny):
        scale = max(1.0 / max(work[weights, i], 1e-300), abs(work[Y, i]))
        a = a + (work[Y, i] / scale) ** 2
        b = b + (work[RATE, i] / scale) ** 2
        c = c + ((work[RATE, i] - load(model.y_dot, i, 0)) / scale) ** 2
    n = max(1, model.ny)
    norms[0] = (a / n) ** 0.5
    norms[1] = (b / n) ** 0.5
    norms[2] = (c / n) ** 0.5


@compiled
def start(block: Any, work: Any, control: Any, counts: Any, norms: Any) -> int:
    """The rate at the initial y, and a first step: Hairer, Norsett and Wanner, II.4, starting step size."""
    model = attach(block)
    if counts[PROJECTED] == 0 and project_now(model, control, counts, counts[PROJECTION] | ALWAYS) < 0:
        return NOT_PROJECTED
    counts[PROJECTED] = 0
    status = evaluate(model, counts[ROUTINE], counts[PRESCRIBER])
    counts[EVALUATIONS] += 1
    if status != 0:
        return NOT_FINITE
    finish_step(model)
    shift_step(model, work)
    shift_step(model, work)
    if control[STEP] > 0.0:
        return REACHED
    scaled_norms(model, work, norms)
    h0 = 1e-6
    if norms[0] > 1e-5 and norms[1] > 1e-5:
        h0 = 0.01 * norms[0] / norms[1]
    h0 = min(h0, control[MAX_STEP])
    euler_step(model, work, control[TIME], h0)
    status = evaluate(model, counts[ROUTINE], counts[PRESCRIBER])
    counts[EVALUATIONS] += 1
    if status != 0:
        control[STEP] = h0
        return REACHED
    scaled_norms(model, work, norms)
    second = norms[2] / h0
    largest = max(norms[1], second)
    h1 = max(1e-6, 1e-3 * h0)
    if largest > 1e-15:
        h1 = (control[ACCURACY] / largest) ** (1.0 / (counts[ERROR_ORDER] + 1.0))
    control[STEP] = min(100.0 * h0, h1, control[MAX_STEP])
    return REACHED


@compiled
def euler_step(block: Any, work: Any, time: float, h: float) -> None:
    """y a step of Euler's method from its row, to find out how fast the rate changes."""
    model = attach(block)
    store(model.time, 0, 0, time + h)
    for i in range(model.ny):
        store(model.y, i, 0, work[Y, i] + h * work[RATE, i])


@generic
def project_now(model: Any, control: Any, counts: Any, choices: int) -> int:
    """Project y onto its manifolds, and count: CHANGED_Q and CHANGED_U, 0 if y is unchanged, below 0 if projection failed."""
    changed = project(model, counts[ROUTINE], counts[PROJECTOR], choices, control[TOLERANCE])
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
    return project(model, counts[ROUTINE], counts[PROJECTOR], counts[PROJECTION] | ALWAYS, control[TOLERANCE])


@compiled
def finish_at(block: Any, work: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """End a step that a solver has taken at *y*: project, realize, and shift the rows; DONE, NOT_PROJECTED or NOT_FINITE."""
    model = attach(block)
    set_y(model, time, y)
    prescribe(model, counts[ROUTINE], counts[PRESCRIBER])
    if project_now(model, control, counts, counts[PROJECTION]) < 0:
        return NOT_PROJECTED
    status = evaluate(model, counts[ROUTINE], counts[PRESCRIBER])
    counts[EVALUATIONS] += 1
    if status != 0:
        counts[REALIZATION_FAILURES] += 1
        return NOT_FINITE
    finish_step(model)
    shift_step(model, work)
    return DONE


@compiled
def set_y(block: Any, time: float, y: Any) -> None:
    """Time and y."""
    model = attach(block)
    store(model.time, 0, 0, time)
    for i in range(model.ny):
        store(model.y, i, 0, y[i])


def begin_step_of(model: Any, time: float) -> int:
    """`begin_step`, called from Python only: no compiled part needs it."""
    return begin_step(model, time)


@generic
def find_permitted_step(model: Any, control: Any, counts: Any) -> None:
    """Find out how long the next step may be, of a record realized where it begins; count one that cannot be so short."""
    least = control[FIXED_STEP]
    if least == 0.0:
        least = control[MIN_STEP]
        h = max(min(control[STEP], control[MAX_STEP]), least)
        control[PERMITTED_STEP] = permitted_step(model, counts[LIMITER], DEEPER, h)
    if control[FIXED_STEP] > 0.0 or control[PERMITTED_STEP] < least:
        control[PERMITTED_STEP] = least
        if counts[PASSES] == 0 and permitted_step(model, counts[LIMITER], MISSED, least) < least:
            counts[PASSES] = 1


@compiled
def permit(block: Any, work: Any, control: Any, counts: Any) -> int:
    """Find out how long the step from the last one's end may be, however long is planned: for steps taken from Python."""
    model = attach(block)
    set_y(model, control[TIME], work[Y])
    status = evaluate(model, counts[ROUTINE], counts[PRESCRIBER])
    control[PERMITTED_STEP] = max(permitted_step(model, counts[LIMITER], DEEPER, LONGEST), control[MIN_STEP])
    return status


@generic
def runge_kutta(model: Any, work: Any, table: Any, control: Any, counts: Any, time: float, h: float) -> int:
    """One attempt of the method whose table is given."""
    stages = table.shape[1] - 1
    for s in range(1, stages):
        set_stage(model, work, table, s, time, h)
        status = evaluate(model, counts[ROUTINE], counts[PRESCRIBER])
        counts[EVALUATIONS] += 1
        if status != 0:
            return NOT_REALIZED
        keep_rate(model, work, FIRST_STAGE + s)
    counts[AT_END] = counts[ENDS_AT_STAGE]
    if counts[AT_END] == 0:
        set_stage(model, work, table, stages, time, h)
    set_error(model, work, table, h)
    return DONE


def stepping(attempt: Callable[..., int], name: str) -> Kernel:
    """Make the loop over steps of a method.

    Parameters
    ----------
    attempt : generic function
        ``attempt(model, work, table, control, counts, time, h)`` writes y at the end of a step of size h, from the row Y at
        *time*, into the record, and the error estimate of each variable into the row of errors. It returns DONE or the kind
        of failure, and sets ``counts[AT_END]`` to 1 if the record is realized at this y.
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
        if counts[CHANGED] != 0 and take_up(model, work, control, counts) != REACHED:
            return NOT_TAKEN_UP
        taken = 0
        realized = False
        while counts[REPORT] < times.shape[0]:
            if times[counts[REPORT]] <= min(control[TIME], control[TARGET]):
                k = counts[REPORT]
                realized = realized and times[k] == control[TIME]
                interpolate(model, work, control[PREVIOUS_TIME], control[TIME], times[k])
                prescribe(model, counts[ROUTINE], counts[PRESCRIBER])
                if counts[PROJECT_REPORTS] != 0 and times[k] < control[TIME]:
                    project(model, counts[ROUTINE], counts[PROJECTOR], counts[PROJECTION] | ALWAYS, control[TOLERANCE])
                report_row(model, results[k])
                if energies.shape[0] == times.shape[0]:
                    energies[k] = energy(model, counts[ROUTINE])
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
            h = min(control[STEP], control[MAX_STEP])
            if control[FIXED_STEP] > 0.0:
                h = control[FIXED_STEP]
            if counts[LIMITER] != 0 and control[PERMITTED_STEP] < 0.0:  # reports, or events, have moved the record
                set_y(model, time, work[Y])
                evaluate(model, counts[ROUTINE], counts[PRESCRIBER])
                counts[EVALUATIONS] += 1
                find_permitted_step(model, control, counts)
            limited = counts[LIMITER] != 0 and h > control[PERMITTED_STEP]
            if limited:
                h = control[PERMITTED_STEP]
            # a step that would leave only a sliver before the end is stretched to it
            end = control[FINAL_TIME]
            if counts[NO_INTERPOLATION] != 0:
                end = min(end, times[counts[REPORT]])
            end = min(end, sample_time)
            left = end - time
            clipped = h > 0.999 * left
            if clipped:
                h = left
            counts[ATTEMPTS] += 1
            begin_step(model, time)
            counts[AT_END] = 0
            error = 1e300
            status = attempt(model, work, table, control, counts, time, h)
            if status == DONE:
                error = error_norm(model, work, counts[MEAN_NORM])
                if control[FIXED_STEP] > 0.0 or counts[FORCED] != 0:
                    error = 0.0
            failure = ERROR_FAILURES
            if status == NOT_REALIZED:
                failure = REALIZATION_FAILURES
            if status == NOT_CONVERGED:
                failure = CONVERGENCE_FAILURES
            if error <= control[ACCURACY]:
                changed = project_now(model, control, counts, counts[PROJECTION])
                if changed < 0:
                    error, failure = 1e300, PROJECTION_FAILURES
                elif changed != 0 or counts[AT_END] == 0:
                    status = evaluate(model, counts[ROUTINE], counts[PRESCRIBER])
                    counts[EVALUATIONS] += 1
                    if status != 0:
                        error, failure = 1e300, REALIZATION_FAILURES
                    elif counts[LIMITER] != 0 and counts[AT_END] == 0 and control[FIXED_STEP] == 0.0 and counts[FORCED] == 0:
                        size = surprise(model, work, counts[FORESEEN], h) / SURPRISE
                        error = max(error, size * max(1.0, control[ACCURACY] / COARSEST))
            if error <= control[ACCURACY]:
                finish_step(model)
                shift_step(model, work)
                control[PREVIOUS_TIME] = time
                control[TIME] = end if clipped else time + h
                control[LAST_STEP] = h
                if counts[STEPS] == 0:
                    control[FIRST_STEP] = h
                control[COLLAPSE] = max(control[COLLAPSE], COLLAPSE_RATIO * h)
                counts[STEPS] += 1
                if limited:
                    counts[STRAIN] = 0
                elif 0 < counts[STRAIN] <= MOST_STRAIN:
                    counts[STRAIN] -= 1
                taken += 1
                realized = True
                if control[FIXED_STEP] == 0.0 and counts[FORCED] == 0:
                    growth = 5.0
                    if error > 0.0:
                        growth = min(5.0, 0.8 * (control[ACCURACY] / error) ** (1.0 / counts[ERROR_ORDER]))
                        # what rests on stiff contacts lets steps grow until they are not stable, fails, and begins anew: by the
                        # change of errors too they come to that length and stay there (Gustafsson 1991, ACM Trans. Math.
                        # Softw. 17, 533; Hairer and Wanner 1996, IV.2)
                        part, last = error / control[ACCURACY], control[LAST_ERROR]
                        if counts[LIMITER] != 0 and counts[STRAIN] > MOST_STRAIN and last > 0.0:
                            growth = min(5.0, 0.8 * (last**0.4 / part**0.7) ** (1.0 / counts[ERROR_ORDER]))
                        control[LAST_ERROR] = part
                    # small changes of the step are skipped; a step clipped by the end, or by what is near, says nothing
                    # about the next
                    if (growth > 1.1 or growth < 1.0) and (not (clipped or limited) or growth * h > control[STEP]):
                        control[STEP] = max(control[MIN_STEP], growth * h)
                counts[FORCED] = 0
                if counts[LIMITER] != 0:
                    find_permitted_step(model, control, counts)
                if counts[WATCHES] != 0 and suspects(model, counts[WATCHES], h):
                    return SUSPECT
                continue
            if failure != PROJECTION_FAILURES:  # these are counted where they are met
                counts[failure] += 1
            if control[FIXED_STEP] > 0.0 or h <= control[MIN_STEP] or time + 0.1 * h == time:
                if failure == REALIZATION_FAILURES:
                    return NOT_FINITE
                return NOT_PROJECTED if failure == PROJECTION_FAILURES else STEP_TOO_SMALL
            shrink = 0.1
            if failure == CONVERGENCE_FAILURES:
                shrink = 0.5
            elif error < 1e299:
                shrink = max(0.1, min(0.9, 0.8 * (control[ACCURACY] / error) ** (1.0 / counts[ERROR_ORDER])))
            control[STEP] = max(control[MIN_STEP], shrink * h)
            control[LAST_ERROR] = 0.0
            counts[STRAIN] += STRAIN_OF_FAILURE
        return REACHED

    advance.__qualname__ = f"advance.{name}"
    return compiled(advance)


advance = stepping(runge_kutta, "runge_kutta")
