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
from ..force.contact.step_limit import permitted_step
from ..stepping import controller, interpolation, limits, record as rk, rows
from ..stepping.evaluate import prescribe
from ..stepping.event_search import of_one_state
from ..stepping.loop import stepping
from ..stepping.method.method import Method
from ..stepping.record import FORCED, LIMITER, PERMITTED_STEP, PREVIOUS_TIME, RATE, STEP, TIME, Y
from . import _lu
from ._implicit import get_rates, jacobian_at, rates_at

MOST_ORDER = 5
# rows of `memory` after the first eight, which are the differences, two more than the order: y and psi as predicted, d, its
# last change, y, the sizes that errors are compared with, rates, others that are moved, pivots; then the Jacobian, and after it
# the matrix's factors
PREDICTED, PSI, CORRECTION, CHANGE, NOW, SCALE, RATES, MOVED, PIVOTS, JACOBIAN = range(8, 18)
# places in `control` after those of `stepping.record`: the order, 0 where nothing is known of the past; steps of equal size;
# that size; whether the Jacobian is of this step, and the matrix is factorized, 1 or 0; tolerance; where a fixed step ends
ORDER, EQUAL_STEPS, SIZE, IS_PRESENT, IS_FACTORIZED, TOLERANCE, STOP = range(rk.CONTROL_SIZE, rk.CONTROL_SIZE + 7)
# ... of the last attempt, its iterations, and its error as a part of what is tolerated
NEEDED, ERROR = range(rk.CONTROL_SIZE + 7, rk.CONTROL_SIZE + 9)
CONTROL_SIZE = rk.CONTROL_SIZE + 9

#: Numbers that damp the formulas of each order; none for order 5.
KAPPA = (0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0)
GAMMA = (0.0, 1.0, 3.0 / 2.0, 11.0 / 6.0, 25.0 / 12.0, 137.0 / 60.0)
#: Most iterations of Newton's, and by how much a step is shortened where they do not converge.
MOST_ITERATIONS, SHORTER = 4, 0.5
#: Bounds of the factor between one step's size and the next's.
LEAST_FACTOR, MOST_FACTOR = 0.2, 10.0
#: The resolution of float64.
RESOLUTION = 2.0**-52
#: Times that differ by this part are one.
NEAR = 10.0 * RESOLUTION
NOT_A_NUMBER = float("nan")
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
def differs(memory: Any, work: Any) -> bool:
    """True if rates in the row MOVED are others than those at the last step's end."""
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
    rounding = 10.0 * RESOLUTION / tolerance  # of what rests changes are no more, and become no less
    enough = max(rounding, min(0.03, tolerance**0.5))
    before = -1.0
    for k in range(MOST_ITERATIONS):
        counts[rk.ITERATIONS] += 1
        if rates_at(model, counts, time, memory[NOW], memory[RATES]) != 0:
            return DIVERGED if k > 0 else NOT_FINITE_AT_FIRST
        size = solve(memory, c)
        rate = size / before if before > 0.0 else 0.0
        if size > rounding and before >= 0.0 and (rate >= 1.0 or rate ** (MOST_ITERATIONS - k) / (1.0 - rate) * size > enough):
            return DIVERGED
        add_change(memory)
        if size <= rounding or (before >= 0.0 and rate / (1.0 - rate) * size < enough):
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


@generic
def least_step(run: Any) -> float:
    """The shortest step from here."""
    control = run.control
    near = NEAR * abs(control[TIME])
    return near if run.plan[FORCED] != 0 else max(near, control[rk.MIN_STEP])


@generic
def plan(model: Any, run: Any, lane: int, end: float) -> None:
    """The size of the next attempt: the last one's, unless that is not to be."""
    control, counts, time = run.control, run.plan, run.control[TIME]
    least, near = least_step(run), NEAR * abs(run.control[TIME])
    if control[rk.FIXED_STEP] > 0.0:  # ends that differ by rounding are one: between them is no step worth the name
        if control[STOP] <= time + near:
            control[STOP] = time + control[rk.FIXED_STEP]
        if control[STOP] < end - near:
            end = control[STOP]
    if counts[LIMITER] != 0:
        end = min(end, time + max(control[PERMITTED_STEP], least))
    h = control[SIZE]
    if control[ORDER] == 0.0:
        h = min(max(control[STEP], least), control[rk.MAX_STEP], end - time)
    if h > control[rk.MAX_STEP] or h < 0.999 * least:  # which grows with time: no reason to change the size at each step
        h = min(max(h, least), control[rk.MAX_STEP])
    controller.set_size(run, lane, h, end, 0.0)


@generic
def attempt(model: Any, run: Any, time: float, h: float) -> float:
    """See `stepping.method`."""
    memory, work, control, counts = run.table, run.work, run.control, run.plan
    if control[ORDER] == 0.0:
        begin_differences(memory, work, h)
        find_jacobian(model, memory, work, control, counts, time)
        control[IS_PRESENT], control[EQUAL_STEPS] = 0.0, 0.0
        control[ORDER], control[SIZE] = 1.0, h
    elif h != control[SIZE]:
        resize(memory, control, h / control[SIZE])
        control[SIZE], control[IS_FACTORIZED] = h, 0.0
    iterations = find_step(model, memory, work, control, counts, time, control[rk.ARRIVAL])
    control[NEEDED], control[rk.APART], control[ERROR] = float(iterations), 0.0, 0.0
    if iterations == NOT_FINITE_AT_FIRST:
        return NOT_A_NUMBER
    if iterations > 0:
        control[ERROR] = find_errors(memory, work, int(control[ORDER]), control[TOLERANCE])
    if iterations <= 0 or (counts[FORCED] != 0 and not control[ERROR] < 1e299):
        control[rk.APART] = 1.0
        return 0.0
    rows.set_y(model, control[rk.ARRIVAL], memory[NOW])
    prescribe(model, counts)
    return 0.0


@generic
def find_error(model: Any, run: Any) -> float:
    """The error, in a norm of its own."""
    return run.control[ERROR] * run.control[rk.ACCURACY]


@generic
def accept(model: Any, run: Any, lane: int, error: float, controlled: bool) -> None:
    """The attempt is a step: its differences, and after some of equal size what comes next."""
    memory, work, control = run.table, run.work, run.control
    order = int(control[ORDER])
    add_differences(memory, work, order)
    control[PREVIOUS_TIME], control[TIME], control[rk.LAST_STEP] = control[TIME], control[rk.ARRIVAL], control[rk.SIZE]
    control[IS_PRESENT] = 0.0
    control[EQUAL_STEPS] += 1.0
    if control[EQUAL_STEPS] >= order + 1.0:
        choose_next(memory, work, control, int(control[NEEDED]), control[ERROR])
    control[STEP] = max(control[SIZE], control[rk.MIN_STEP])


@generic
def refuse(model: Any, run: Any, lane: int, error: float, failure: int) -> int:
    """The attempt was in vain: REACHED where a smaller one is to be tried, else why none can be."""
    control, time, h, factor = run.control, run.control[TIME], run.control[rk.SIZE], SHORTER
    if failure == rk.ERROR_FAILURES and control[ERROR] > 1.0:
        factor = max(LEAST_FACTOR, safety(int(control[NEEDED])) * control[ERROR] ** (-1.0 / (control[ORDER] + 1.0)))
    if failure == rk.PROJECTION_FAILURES:  # the past led there
        factor, control[ORDER] = 0.1, 0.0
    if h <= least_step(run) or time + 0.1 * h == time:
        control[ORDER] = 0.0
        return controller.why_none(failure)
    if control[ORDER] > 0.0:
        resize(run.table, control, factor)
        if failure != rk.ERROR_FAILURES:
            control[IS_FACTORIZED] = 0.0
    control[STEP] = max(factor * h, control[rk.MIN_STEP])
    return rk.REACHED


@generic
def interpolate_run(model: Any, run: Any, at: float) -> None:
    """y within the last step by the polynomial of the differences, where there is one."""
    control = run.control
    if control[PREVIOUS_TIME] < at < control[TIME] and control[ORDER] > 0.0:
        interpolate(model, run.table, control, at)
    else:
        interpolation.interpolate(model, run.work, control[PREVIOUS_TIME], control[TIME], at)


@generic
def limit(model: Any, run: Any, mark: float) -> None:
    """The longest next step that surfaces permit, however long is planned."""
    run.control[PERMITTED_STEP] = permitted_step(model, run.plan[LIMITER], limits.DEEPER, limits.LONGEST)


@generic
def forget(model: Any, run: Any) -> None:
    """The differences are those of another motion."""
    run.control[ORDER] = 0.0


@generic
def sampled(model: Any, run: Any) -> None:
    """Forget the past where efforts have changed: it tells nothing of what comes."""
    get_rates(model, run.table[MOVED])
    if differs(run.table, run.work):
        run.control[ORDER] = 0.0
    rows.set_rate(model, run.work)


#: What is known of the past is in the array that others have their table in, and in *control*.
advance = stepping(
    Method(attempt, plan, find_error, accept, refuse, interpolate_run, limit, forget, sampled, controls_fixed=True), "bdf"
)
find = of_one_state(interpolate_run, "bdf", CONTROL_SIZE)
