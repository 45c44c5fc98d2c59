"""The loop over steps of `BDF`: backward differentiation of orders 1 to 5 in quasi-constant steps, and Newton's iteration.

With the backward differences D_j of y at equal distances h, D_0 = y,

    predicted   p(t + h) = sum_{j <= k} D_j                  psi = sum_{1 <= j <= k} gamma_j D_j / alpha_k
    solved      d: y = p + d,  (h / alpha_k) f(t + h, y) - psi - d = 0,  by the matrix 1 - (h / alpha_k) J of an earlier step
    error       C_k d,  C_k = kappa_k gamma_k + 1 / (k + 1),  alpha_k = (1 - kappa_k) gamma_k,  gamma_k = sum_{j <= k} 1 / j
    then        D_{k+2} = d - D_{k+1},  D_{k+1} = d,  and D_j becomes the sum of D_j to D_{k+1}
    step f h    D_i becomes sum_{j >= i} D_j sum_r (-1)^r binomial(i, r) c_j(r f),  c_j(x) = prod_{m < j} (m - x) / (m + 1)
    report      p(t + s h) = sum_j D_j prod_{m < j} (s + m) / (m + 1)

The step's size is kept for k + 1 steps; then the order, of k and its neighbours, is taken that lets the next be longest. The
norm of errors is the root of their mean square. Source: Shampine and Reichelt 1997 (SIAM J. Sci. Comput. 18, 1), the formulas
of differences with their kappa (table 1) and the choice of order; Hairer and Wanner 1996, IV.8, where the iteration ends.

It is compiled for systems of built-in parts, and run by Python otherwise; what loops over y is a kernel either way.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..compiling import compiled, generic
from ..stepping import controller, interpolation, limits, loop, rows
from ..stepping import record as rk
from ..stepping.evaluate import (
    ALWAYS,
    begin_step,
    energy,
    evaluate,
    finish_step,
    next_sample,
    permitted_step,
    prescribe,
    project,
)
from ..stepping.record import (
    ATTEMPTS,
    EVALUATIONS,
    FINAL_TIME,
    FORCED,
    LIMITER,
    PERMITTED_STEP,
    PREVIOUS_TIME,
    RATE,
    STEP,
    TIME,
    Y,
)
from ..stepping.witnesses import look_at_end, suspects
from . import _lu
from ._implicit import jacobian_at, rates_at

MOST_ORDER = 5
# rows of `memory` after the first eight, which are the differences, two more than the order: y and psi as predicted, d, its
# last change, y, the sizes that errors are compared with, rates, others that are moved, pivots; then the Jacobian, and after it
# the matrix's factors
PREDICTED, PSI, CORRECTION, CHANGE, NOW, SCALE, RATES, MOVED, PIVOTS, JACOBIAN = range(8, 18)
# places in `control` after those of `stepping.record`: the order, 0 where nothing is known of the past; steps of equal size;
# that size; whether the Jacobian is of this step, and the matrix is factorized, 1 or 0; tolerance; where a fixed step ends
ORDER, EQUAL_STEPS, SIZE, IS_PRESENT, IS_FACTORIZED, TOLERANCE, STOP = range(rk.CONTROL_SIZE, rk.CONTROL_SIZE + 7)
CONTROL_SIZE = rk.CONTROL_SIZE + 7

#: Numbers that damp the formulas of each order; none for order 5.
KAPPA = (0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0)
GAMMA = (0.0, 1.0, 3.0 / 2.0, 11.0 / 6.0, 25.0 / 12.0, 137.0 / 60.0)
#: Most iterations of Newton's, and by how much a step is shortened where they do not converge.
MOST_ITERATIONS, SHORTER = 4, 0.5
#: Bounds of the factor between one step's size and the next's.
LEAST_FACTOR, MOST_FACTOR = 0.2, 10.0
#: The resolution of float64.
RESOLUTION = 2.0**-52
# what the iteration returns in place of its number
DIVERGED, NOT_FINITE_AT_FIRST = -1, -2


@generic
def alpha(k: int) -> float:
    """The formula's leading coefficient."""
    return (1.0 - KAPPA[k]) * GAMMA[k]


@generic
def error_constant(k: int) -> float:
    """The error in units of the next difference."""
    if k > MOST_ORDER:
        return 1.0 / (k + 1.0)
    return KAPPA[k] * GAMMA[k] + 1.0 / (k + 1.0)


@compiled
def begin_differences(memory: Any, work: Any, h: float) -> None:
    """Differences at the end of the last step, of order 1."""
    for i in range(memory.shape[1]):
        memory[0, i] = memory[NOW, i] = work[Y, i]
        memory[1, i] = h * work[RATE, i]
    for j in range(2, PREDICTED):
        for i in range(memory.shape[1]):
            memory[j, i] = 0.0


@compiled
def change_size(memory: Any, order: int, f: float) -> None:
    """The differences of the same polynomial at distances *f* times as long."""
    for i in range(1, order + 1):
        for j in range(i, order + 1):
            total, binomial = 0.0, 1.0
            for r in range(i + 1):
                c = 1.0
                for m in range(j):
                    c = c * (m - r * f) / (m + 1.0)
                total = total + binomial * c
                binomial = -binomial * (i - r) / (r + 1.0)
            if j == i:
                for v in range(memory.shape[1]):
                    memory[i, v] = total * memory[i, v]
            else:
                for v in range(memory.shape[1]):
                    memory[i, v] = memory[i, v] + total * memory[j, v]


@compiled
def predict(memory: Any, work: Any, order: int, tolerance: float) -> None:
    """y and psi as predicted, the sizes that errors are compared with, and where the iteration begins."""
    weights = work.shape[0] - 4
    for i in range(memory.shape[1]):
        y = memory[0, i]
        psi = 0.0
        for j in range(1, order + 1):
            y = y + memory[j, i]
            psi = psi + GAMMA[j] * memory[j, i]
        memory[PREDICTED, i] = memory[NOW, i] = y
        memory[PSI, i] = psi / alpha(order)
        memory[CORRECTION, i] = 0.0
        memory[SCALE, i] = scale_of(y, work[weights, i], tolerance)


@generic
def scale_of(y: float, weight: float, tolerance: float) -> float:
    """The error of a variable that is tolerated; of what is prescribed any."""
    return tolerance / weight + tolerance * abs(y) if weight > 0.0 else 1e100


@compiled
def factorize(memory: Any, c: float) -> int:
    """Factorize 1 - c J; 0 where that went well."""
    n = memory.shape[1]
    first = JACOBIAN + n
    for i in range(n):
        for j in range(n):
            memory[first + i, j] = -c * memory[JACOBIAN + i, j]
        memory[first + i, i] = memory[first + i, i] + 1.0
    return _lu.factorize(memory[first:], memory[PIVOTS])


@compiled
def solve(memory: Any, c: float) -> float:
    """The next change of d, by the rates at y; its norm."""
    n = memory.shape[1]
    for i in range(n):
        memory[CHANGE, i] = c * memory[RATES, i] - memory[PSI, i] - memory[CORRECTION, i]
    _lu.solve(memory[JACOBIAN + n :], memory[PIVOTS], memory[CHANGE])
    return norm(memory, CHANGE, 1.0)


@compiled
def norm(memory: Any, row: int, factor: float) -> float:
    """The root mean square of a row's numbers times a factor, each over its size in the row SCALE."""
    total = 0.0
    for i in range(memory.shape[1]):
        total = total + (factor * memory[row, i] / memory[SCALE, i]) ** 2
    return (total / max(1, memory.shape[1])) ** 0.5


@compiled
def add_change(memory: Any) -> None:
    """Add the change to d and y."""
    for i in range(memory.shape[1]):
        memory[CORRECTION, i] = memory[CORRECTION, i] + memory[CHANGE, i]
        memory[NOW, i] = memory[NOW, i] + memory[CHANGE, i]


@compiled
def find_errors(memory: Any, work: Any, order: int, tolerance: float) -> float:
    """The errors' row, and their norm, with y as it was found."""
    weights = work.shape[0] - 4
    for i in range(memory.shape[1]):
        memory[SCALE, i] = scale_of(memory[NOW, i], work[weights, i], tolerance)
        work[weights + 1, i] = error_constant(order) * memory[CORRECTION, i]
    return norm(memory, CORRECTION, error_constant(order))


@compiled
def add_differences(memory: Any, work: Any, order: int) -> None:
    """The differences at the step's end; where it was projected, its newest value is that of the row Y."""
    for i in range(memory.shape[1]):
        d = memory[CORRECTION, i]
        memory[order + 2, i] = d - memory[order + 1, i]
        memory[order + 1, i] = d
        for j in range(order, -1, -1):
            memory[j, i] = memory[j, i] + memory[j + 1, i]
        memory[0, i] = work[Y, i]


@compiled
def keep(memory: Any, work: Any) -> None:
    """Keep the rates at the last step's end."""
    for i in range(memory.shape[1]):
        memory[MOVED, i] = work[RATE, i]


@compiled
def differs(memory: Any, work: Any) -> bool:
    """Whether these are others than those that were kept."""
    for i in range(memory.shape[1]):
        if memory[MOVED, i] != work[RATE, i]:
            return True
    return False


@compiled
def interpolate(block: Any, memory: Any, control: Any, at: float) -> None:
    """y at time *at* within the last step, by the polynomial of the differences."""
    model = attach(block)
    order, s = int(control[ORDER]), (at - control[TIME]) / control[SIZE]
    for i in range(memory.shape[1]):
        y, c = memory[0, i], 1.0
        for j in range(1, order + 1):
            c = c * (s + (j - 1.0)) / j
            y = y + c * memory[j, i]
        memory[NOW, i] = y
    rows.set_y(model, at, memory[NOW])


@generic
def resize(memory: Any, control: Any, f: float) -> None:
    """Go on with steps *f* times as long."""
    change_size(memory, int(control[ORDER]), f)
    control[SIZE] = f * control[SIZE]
    control[EQUAL_STEPS] = 0.0


@compiled
def clear_jacobian(memory: Any) -> None:
    """No derivatives: the iteration is then that of a fixed point."""
    for i in range(JACOBIAN, JACOBIAN + memory.shape[1]):
        for j in range(memory.shape[1]):
            memory[i, j] = 0.0


@generic
def find_jacobian(model: Any, memory: Any, work: Any, control: Any, counts: Any, time: float) -> None:
    """The Jacobian at the row NOW; without numbers where rates near to that are not finite."""
    weights = work[work.shape[0] - 4]
    if jacobian_at(model, counts, time, memory[NOW], weights, memory[MOVED], memory[RATES], memory[JACOBIAN:]) != 0:
        clear_jacobian(memory)
    control[IS_FACTORIZED] = 0.0


@generic
def iterate(model: Any, memory: Any, control: Any, counts: Any, time: float, c: float) -> int:
    """Newton's iteration from the predicted y on: the number of iterations where it has converged, below 0 where not."""
    tolerance = control[TOLERANCE]
    enough = max(10.0 * RESOLUTION / tolerance, min(0.03, tolerance**0.5))
    before = -1.0
    for k in range(MOST_ITERATIONS):
        counts[rk.ITERATIONS] += 1
        if rates_at(model, counts, time, memory[NOW], memory[RATES]) != 0:
            return DIVERGED if k > 0 else NOT_FINITE_AT_FIRST
        size = solve(memory, c)
        rate = size / before if before > 0.0 else 0.0
        if before >= 0.0 and (rate >= 1.0 or rate ** (MOST_ITERATIONS - k) / (1.0 - rate) * size > enough):
            return DIVERGED
        add_change(memory)
        if size == 0.0 or (before >= 0.0 and rate / (1.0 - rate) * size < enough):
            return k + 1
        before = size
    return DIVERGED


@generic
def find_step(model: Any, memory: Any, work: Any, control: Any, counts: Any, time: float, end: float) -> int:
    """Solve for y at the end of the next attempt: iterations, or below 0 what `iterate` returns.

    Where the iteration diverges with a Jacobian of an earlier step, it is tried again with that at the predicted y.
    """
    order = int(control[ORDER])
    c = control[SIZE] / alpha(order)
    predict(memory, work, order, control[TOLERANCE])
    while True:
        found = DIVERGED
        if control[IS_FACTORIZED] > 0.0 or factorize(memory, c) == 0:
            control[IS_FACTORIZED] = 1.0
            found = iterate(model, memory, control, counts, end, c)
        if found != DIVERGED or control[IS_PRESENT] > 0.0:
            return found
        predict(memory, work, order, control[TOLERANCE])
        find_jacobian(model, memory, work, control, counts, end)
        control[IS_PRESENT] = 1.0


@generic
def safety(iterations: int) -> float:
    """The part of the longest possible step that is tried, less where the iteration took long."""
    return 0.9 * (2.0 * MOST_ITERATIONS + 1.0) / (2.0 * MOST_ITERATIONS + iterations)


@generic
def choose_next(memory: Any, work: Any, control: Any, iterations: int, error: float) -> None:
    """Order and size of the next steps, after as many of equal size as tell the errors of other orders."""
    order = int(control[ORDER])
    best, best_order = 0.0, order
    for k in range(max(1, order - 1), min(MOST_ORDER, order + 1) + 1):
        size = error if k == order else norm(memory, k + 1, error_constant(k))
        factor = 1e10
        if size > 0.0:
            factor = min(factor, size ** (-1.0 / (k + 1.0)))
        if factor > best:
            best, best_order = factor, k
    control[ORDER] = best_order
    resize(memory, control, min(MOST_FACTOR, safety(iterations) * best))
    control[IS_FACTORIZED] = 0.0


@compiled
def advance(block: Any, work: Any, memory: Any, control: Any, counts: Any, times: Any, results: Any, energies: Any) -> int:
    """Step and report as `stepping.loop` says, with what is known of the past in *memory* and *control*."""
    model = attach(block)
    if counts[rk.CHANGED] != 0:
        if loop.take_up(model, work, control, counts) != rk.REACHED:
            return rk.NOT_TAKEN_UP
        control[ORDER] = 0.0
    taken = 0
    realized = False
    while counts[rk.REPORT] < times.shape[0]:
        k = counts[rk.REPORT]
        if times[k] <= min(control[TIME], control[rk.TARGET]):
            realized = realized and times[k] == control[TIME]
            if times[k] < control[TIME] and times[k] > control[PREVIOUS_TIME] and control[ORDER] > 0.0:
                interpolate(model, memory, control, times[k])
            else:
                interpolation.interpolate(model, work, control[PREVIOUS_TIME], control[TIME], times[k])
            prescribe(model, counts)
            if counts[rk.PROJECT_REPORTS] != 0 and times[k] < control[TIME]:
                choices = counts[rk.PROJECTION] | ALWAYS
                project(model, counts, choices, control[rk.TOLERANCE])
            rows.report_row(model, results[k])
            if energies.shape[0] == times.shape[0]:
                energies[k] = energy(model, counts)
            counts[rk.REPORT] += 1
            continue
        if control[TIME] >= control[rk.TARGET]:
            return rk.REACHED
        if taken >= counts[rk.LIMIT]:
            return rk.PAUSED
        if control[STEP] < control[rk.COLLAPSE]:
            control[rk.COLLAPSE] = controller.COLLAPSE_RATIO * control[STEP]
            return rk.COLLAPSED
        time = control[TIME]
        sample_time = next_sample(model)
        if sample_time <= time:
            keep(memory, work)
            status = loop.take_samples(model, work, control, counts, realized)
            if status != rk.REACHED:
                return status
            if differs(memory, work):  # efforts have changed: the past tells nothing of what comes
                control[ORDER] = 0.0
            sample_time = next_sample(model)
        # ---- where the step ends at the latest
        if counts[LIMITER] != 0 and control[PERMITTED_STEP] < 0.0:
            if not realized:  # reports, or events, have moved the record
                rows.set_y(model, time, work[Y])
                evaluate(model, counts)
                counts[EVALUATIONS] += 1
            control[PERMITTED_STEP] = permitted_step(model, counts[LIMITER], limits.DEEPER, limits.LONGEST)
        realized = False
        near = 10.0 * RESOLUTION * abs(time)
        least = near
        if counts[FORCED] == 0:
            least = max(least, control[rk.MIN_STEP])
        end = min(control[FINAL_TIME], sample_time)
        if counts[rk.NO_INTERPOLATION] != 0:
            end = min(end, times[k])
        if control[rk.FIXED_STEP] > 0.0:  # ends that differ by rounding are one: between them is no step worth the name
            if control[STOP] <= time + near:
                control[STOP] = time + control[rk.FIXED_STEP]
            if control[STOP] < end - near:
                end = control[STOP]
        if counts[LIMITER] != 0:
            end = min(end, time + max(control[PERMITTED_STEP], least))
        left = end - time
        # ---- an attempt
        counts[ATTEMPTS] += 1
        begin_step(model, time)
        if control[ORDER] == 0.0:
            h = min(max(control[STEP], least), control[rk.MAX_STEP], left)
            begin_differences(memory, work, h)
            find_jacobian(model, memory, work, control, counts, time)
            control[IS_PRESENT], control[EQUAL_STEPS] = 0.0, 0.0
            control[ORDER], control[SIZE] = 1.0, h
        h = control[SIZE]
        if h > control[rk.MAX_STEP] or h < 0.999 * least:  # which grows with time: no reason to change the size at each step
            h = min(max(h, least), control[rk.MAX_STEP])
        clipped = h > 0.999 * left
        if clipped:
            h = left
        if h != control[SIZE]:
            resize(memory, control, h / control[SIZE])
            control[SIZE], control[IS_FACTORIZED] = h, 0.0
        new_time = end if clipped else time + h
        iterations = find_step(model, memory, work, control, counts, time, new_time)
        order = int(control[ORDER])
        error, factor, failure = 1e300, SHORTER, rk.CONVERGENCE_FAILURES
        if iterations == NOT_FINITE_AT_FIRST:
            failure = rk.REALIZATION_FAILURES
        elif iterations > 0:
            error = find_errors(memory, work, order, control[TOLERANCE])
            failure = rk.ERROR_FAILURES
            if error > 1.0:
                factor = max(LEAST_FACTOR, safety(iterations) * error ** (-1.0 / (order + 1.0)))
        if error <= 1.0 or (error < 1e299 and counts[FORCED] != 0):
            rows.set_y(model, new_time, memory[NOW])
            prescribe(model, counts)
            if loop.project_now(model, control, counts, counts[rk.PROJECTION]) < 0:
                failure = rk.PROJECTION_FAILURES
            else:
                counts[EVALUATIONS] += 1
                failure = 0
                if evaluate(model, counts) != 0:
                    failure = rk.REALIZATION_FAILURES
        if failure == 0:
            finish_step(model)
            rows.shift_step(model, work)
            add_differences(memory, work, order)
            control[PREVIOUS_TIME], control[TIME], control[rk.LAST_STEP] = time, new_time, h
            control[PERMITTED_STEP] = -1.0
            if counts[rk.STEPS] == 0:
                control[rk.FIRST_STEP] = h
            counts[rk.STEPS] += 1
            counts[FORCED] = 0
            taken += 1
            realized = True
            control[rk.COLLAPSE] = max(control[rk.COLLAPSE], controller.COLLAPSE_RATIO * h)
            control[IS_PRESENT] = 0.0
            control[EQUAL_STEPS] += 1.0
            if control[EQUAL_STEPS] >= order + 1.0:
                choose_next(memory, work, control, iterations, error)
            control[STEP] = max(control[SIZE], control[rk.MIN_STEP])
            if counts[rk.WATCHES] != 0:
                realized = not look_at_end(model, work, control, counts)
                if suspects(model, counts[rk.WATCHES], h):
                    return rk.SUSPECT
            continue
        if failure == rk.PROJECTION_FAILURES:  # counted where they are met; the past led there
            factor, control[ORDER] = 0.1, 0.0
        else:
            counts[failure] += 1
        if h <= least or time + 0.1 * h == time:
            control[ORDER] = 0.0
            if failure == rk.REALIZATION_FAILURES:
                return rk.NOT_FINITE
            return rk.NOT_PROJECTED if failure == rk.PROJECTION_FAILURES else rk.STEP_TOO_SMALL
        if control[ORDER] > 0.0:
            resize(memory, control, factor)
            if failure != rk.ERROR_FAILURES:
                control[IS_FACTORIZED] = 0.0
        control[STEP] = max(factor * h, control[rk.MIN_STEP])
    return rk.REACHED
