"""The impulses of everything that touches at once: Coulomb's law at the level of velocities, solved as convex problems.

With W = J M^-1 J^T and b the velocities there would be without impulses, the impulses gamma and velocities v = W gamma + b
fulfil for each block of rows, K being its set of impulses (`_cones`) and mu its friction,

    K* contains v + mu |v_t| e_n, orthogonal to gamma in K            (De Saxce's form of unilateral contact with friction)

For given a = mu |v_t| this is the optimum of a convex function. It is found by the proximal method: gamma_k+1 is the optimum
with r/2 |gamma - gamma_k|^2 added, the root of

    gamma = P(gamma_k - (W gamma + b + a e_n) / r).

Newton's method finds it, with the derivative 1 + D (W + e_n mu t^T W_t / |t|) / r, t being the slip. Where it does not converge
in a few steps, a is held, which makes the problem convex: then with the derivative 1 + D W / r and a line search on the
function whose gradient is W (gamma - P), and a follows from one proximal step to the next. So redundant rows do no harm, and
nothing is regularized in the end. The residual is |gamma - P(gamma - (v + a e_n) / w)| w, a velocity, w being the row's own W.
Sources: Castro, Permenter and Han 2022 (the function, Newton's method); Acary and Cadoux 2013 (a from one problem to the
next); Rockafellar 1976 (proximal point algorithm).
"""

from __future__ import annotations

from typing import Any

from ..compiling import compiled, generic
from ._cones import CONE, project, slip

#: r as a part of the row's own W: rounding of v counts by its inverse.
_SOFTNESS = 1e-3
_MOST_NEWTON, _MOST_HALVINGS = 60, 40
#: Of these, most in a row that do not halve the residual.
_IDLE = 8
#: Newton's steps with a as a function of v, before a is held for a step.
_MOST_AT_ONCE = 10
#: Proximal steps after which a is taken halfway from one to the next.
_PATIENCE = 12
#: Half steps for each block in a sweep.
_INNER = 5
#: A step's optimum is found to this part of the residual, but not closer than rounding allows.
_PART, _ROUNDING = 0.03, 2e-16
#: Rows of the array *work*.
V, Y, P, RESIDUAL, STEP, PROXIMAL, SHIFT, R, TRIED, SCALE, SHIFT_KEPT = range(11)
WORK_ROWS = 11


@generic
def _times(W: Any, x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            total = total + W[i, j] * x[j]
        out[i] = total


@generic
def _eliminate(A: Any, x: Any, n: int) -> bool:
    """x becomes A^-1 x by Gauss's elimination with row pivots, of the first n rows; False where A is singular."""
    for k in range(n):
        best, row = abs(A[k, k]), k
        for i in range(k + 1, n):
            if abs(A[i, k]) > best:
                best, row = abs(A[i, k]), i
        if not best > 0.0:
            return False
        if row != k:
            for j in range(k, n):
                A[k, j], A[row, j] = A[row, j], A[k, j]
            x[k], x[row] = x[row], x[k]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] = A[i, j] - factor * A[k, j]
                x[i] = x[i] - factor * x[k]
    for k in range(n - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, n):
            total = total - A[k, j] * x[j]
        x[k] = total / A[k, k]
    return True


@generic
def _project_all(kinds: Any, starts: Any, coefficients: Any, work: Any, D: Any, active: Any) -> int:
    """P and D of y; the number of rows on which P depends, and which these are."""
    n = 0
    for k in range(kinds.shape[0]):
        if project(kinds[k], coefficients[k], starts[k], starts[k + 1], work[Y], work[P], D):
            for i in range(starts[k], starts[k + 1]):
                active[n] = i
                n += 1
    return n


@generic
def _look(gamma: Any, kinds: Any, starts: Any, coefficients: Any, work: Any, D: Any, active: Any) -> Any:
    """At gamma, where work[V] is v: what the function has beside gamma^T W gamma / 2, and how many rows are active."""
    m = gamma.shape[0]
    value = 0.0
    for i in range(m):
        work[Y, i] = work[PROXIMAL, i] - (work[V, i] + work[SHIFT, i]) / work[R, i]
    n = _project_all(kinds, starts, coefficients, work, D, active)
    for i in range(m):
        p = work[P, i]
        value = value + work[R, i] * p * (work[Y, i] - 0.5 * p)
    return value, n


@compiled
def solve(
    W: Any,
    b: Any,
    kinds: Any,
    starts: Any,
    coefficients: Any,
    gamma: Any,
    work: Any,
    D: Any,
    A: Any,
    active: Any,
    tolerance: float,
    most: int,
    counts: Any,
    held: bool,
    shifts: Any,
) -> float:
    """*gamma*, which is where to begin, becomes the impulses; work[V] is v then. Returns the residual.

    Parameters
    ----------
    W : (m, m) array
    b : (m,) array
    kinds, starts, coefficients : (n,), (n + 1,), (n,) arrays
        Of the blocks.
    gamma : (m,) array
    work : (11, m) array
    D : (m, 3) array
    A : (m, m) array
    active : (m,) array of int
    tolerance : float
        Of the residual.
    most : int
        Most proximal steps.
    counts : (2,) array of int
        Proximal and Newton's steps are added.
    held : bool
        Whether a is given, by *shifts* ``(n,)``: a convex problem.
    """
    m = b.shape[0]
    largest = 0.0
    for i in range(m):
        largest = max(largest, W[i, i])
    for k in range(kinds.shape[0]):
        total = 0.0
        for i in range(starts[k], starts[k + 1]):
            total = total + W[i, i]
        w = max(total / (starts[k + 1] - starts[k]), 1e-12 * largest, 1e-300)
        for i in range(starts[k], starts[k + 1]):
            work[SCALE, i] = w
            work[R, i] = _SOFTNESS * w
            work[SHIFT, i] = 0.0
    _times(W, gamma, work[V])
    for i in range(m):
        work[V, i] = work[V, i] + b[i]
    residual = 1e300
    for outer in range(most + 1):
        # a, and how far gamma is from the solution
        change = 1.0
        if outer >= _PATIENCE:
            change = 0.5
        for k in range(kinds.shape[0]):
            first = starts[k]
            if kinds[k] == CONE:
                shift = coefficients[k] * slip(kinds[k], first, work[V])
                if held:
                    shift, work[SHIFT, first] = shifts[k], shifts[k]
                work[TRIED, first] = work[SHIFT, first] + change * (shift - work[SHIFT, first])
                work[SHIFT, first] = shift
        for i in range(m):
            work[Y, i] = gamma[i] - (work[V, i] + work[SHIFT, i]) / work[SCALE, i]
        _project_all(kinds, starts, coefficients, work, D, active)
        residual = 0.0
        for i in range(m):
            error = abs(gamma[i] - work[P, i]) * work[SCALE, i]
            if not error <= residual:  # NaN as well
                residual = error
        enough = tolerance
        if 0 < outer < _PATIENCE:  # closer, so that the next problem, which is nearly this one, may be solved already
            enough = 0.1 * tolerance
        if residual <= enough or outer == most or not residual < 1e300:
            return residual
        for k in range(kinds.shape[0]):
            if kinds[k] == CONE:
                work[SHIFT, starts[k]] = work[TRIED, starts[k]]
        for i in range(m):
            work[PROXIMAL, i] = gamma[i]
        counts[0] += 1
        scale = 0.0
        for i in range(m):
            total = abs(b[i])
            for j in range(m):
                total = total + abs(W[i, j] * gamma[j])
            scale = max(scale, total)
        close = max(_PART * residual, _ROUNDING / _SOFTNESS * scale)
        if not held and _newton_at_once(W, b, kinds, starts, coefficients, gamma, work, D, A, active, close, counts):
            continue
        _newton(W, b, kinds, starts, coefficients, gamma, work, D, A, active, close, counts)
    return residual


@compiled
def sweep(
    W: Any, b: Any, kinds: Any, starts: Any, coefficients: Any, gamma: Any, work: Any, D: Any, tolerance: float, most: int
) -> int:
    """Improve *gamma* block by block (Gauss and Seidel), at most *most* times; how many times it was.

    Half steps of gamma = P(gamma - (v + a e_n) / w), a few for each block: slow, but where the gaps of redundant contacts
    contradict each other by a rounding, it finds which of them has to open.
    """
    m = b.shape[0]
    for number in range(most):
        change = 0.0
        for k in range(kinds.shape[0]):
            first, end = starts[k], starts[k + 1]
            for _ in range(_INNER):
                for i in range(first, end):
                    total = b[i]
                    for j in range(m):
                        total = total + W[i, j] * gamma[j]
                    work[V, i] = total
                shift = coefficients[k] * slip(kinds[k], first, work[V])
                for i in range(first, end):
                    work[Y, i] = gamma[i] - 0.5 * work[V, i] / work[SCALE, i]
                if kinds[k] == CONE:
                    work[Y, first] = work[Y, first] - 0.5 * shift / work[SCALE, first]
                project(kinds[k], coefficients[k], first, end, work[Y], work[P], D)
                for i in range(first, end):
                    change = max(change, abs(work[P, i] - gamma[i]) * work[SCALE, i])
                    gamma[i] = work[P, i]
        if not change > 0.1 * tolerance:
            return number + 1
    return most


@generic
def _newton(
    W: Any, b: Any, kinds: Any, starts: Any, coefficients: Any, gamma: Any, work: Any, D: Any, A: Any, active: Any,
    tolerance: float, counts: Any,
) -> None:  # fmt: skip
    """One proximal step: the optimum near work[PROXIMAL] for the given a."""
    m = b.shape[0]
    value, n = _look(gamma, kinds, starts, coefficients, work, D, active)
    energy = 0.0
    for i in range(m):
        energy = energy + 0.5 * gamma[i] * (work[V, i] - b[i])
    best, idle = 1e300, 0
    for _ in range(_MOST_NEWTON):
        worst = 0.0
        for i in range(m):
            work[RESIDUAL, i] = gamma[i] - work[P, i]
            worst = max(worst, abs(work[RESIDUAL, i]) * work[SCALE, i])
            work[STEP, i] = -work[RESIDUAL, i]
        idle += 1
        if worst < 0.5 * best:
            best, idle = worst, 0
        if not worst > tolerance or idle > _IDLE:
            return
        counts[1] += 1
        if not _find_step(W, kinds, starts, coefficients, work, D, A, active, n, 0.0):
            return
        # along the step: W step in work[TRIED], and the slope (gamma - P)^T W step
        _times(W, work[STEP], work[TRIED])
        slope = linear = square = 0.0
        for i in range(m):
            slope = slope + (gamma[i] - work[P, i]) * work[TRIED, i]
            linear = linear + gamma[i] * work[TRIED, i]
            square = square + work[STEP, i] * work[TRIED, i]
        length, last = 1.0, 0.0
        for halving in range(_MOST_HALVINGS):
            for i in range(m):
                gamma[i] = gamma[i] + (length - last) * work[STEP, i]
                work[V, i] = work[V, i] + (length - last) * work[TRIED, i]
            last = length
            new_value, n = _look(gamma, kinds, starts, coefficients, work, D, active)
            new_energy = energy + length * linear + 0.5 * length * length * square
            slack = 1e-14 * (abs(value) + abs(energy))
            if new_value + new_energy <= value + energy + 1e-4 * length * slope + slack or halving == _MOST_HALVINGS - 1:
                value, energy = new_value, new_energy
                break
            length = 0.5 * length
        _times(W, gamma, work[V])  # without what rounding has left
        for i in range(m):
            work[V, i] = work[V, i] + b[i]
        value, n = _look(gamma, kinds, starts, coefficients, work, D, active)


@generic
def _find_step(
    W: Any, kinds: Any, starts: Any, coefficients: Any, work: Any, D: Any, A: Any, active: Any, n: int, following: float
) -> bool:
    """Newton's step, from minus the residual in work[STEP]; with *following* 1 a follows v, with 0 it is held."""
    m = W.shape[0]
    # rows on which P does not depend take their whole step; what that is to the others
    for i in range(m):
        work[TRIED, i] = work[STEP, i]
    for a in range(n):
        work[TRIED, active[a]] = 0.0
    _times(W, work[TRIED], work[Y])
    for k in range(kinds.shape[0]):
        if kinds[k] == CONE and following != 0.0:
            first = starts[k]
            size = slip(CONE, first, work[V])
            if size > 0.0:
                x = coefficients[k] / size
                turned = work[V, first + 1] * work[Y, first + 1] + work[V, first + 2] * work[Y, first + 2]
                work[Y, first] = work[Y, first] + x * turned
    for a in range(n):
        i = active[a]
        first, end, k = _block_of(starts, i)
        right = work[STEP, i]
        for j in range(first, end):
            right = right - D[i, j - first] * work[Y, j] / work[R, j]
        work[RESIDUAL, a] = right
        for c in range(n):
            A[a, c] = 0.0
        for j in range(first, end):
            factor = D[i, j - first] / work[R, j]
            if j > first and kinds[k] == CONE and following != 0.0:
                size = slip(CONE, first, work[V])
                if size > 0.0:
                    factor = factor + D[i, 0] / work[R, first] * coefficients[k] * work[V, j] / size
            if factor != 0.0:
                for c in range(n):
                    A[a, c] = A[a, c] + factor * W[j, active[c]]
        A[a, a] = A[a, a] + 1.0
    if not _eliminate(A, work[RESIDUAL], n):
        return False
    for a in range(n):
        work[STEP, active[a]] = work[RESIDUAL, a]
    return True


@generic
def _newton_at_once(
    W: Any, b: Any, kinds: Any, starts: Any, coefficients: Any, gamma: Any, work: Any, D: Any, A: Any, active: Any,
    tolerance: float, counts: Any,
) -> bool:  # fmt: skip
    """One proximal step with a as a function of v; False, and all as it was, where Newton's method does not converge."""
    m = b.shape[0]
    for i in range(m):
        work[SHIFT_KEPT, i] = work[SHIFT, i]
    for _ in range(_MOST_AT_ONCE + 1):
        for k in range(kinds.shape[0]):
            work[SHIFT, starts[k]] = coefficients[k] * slip(kinds[k], starts[k], work[V])
        _, n = _look(gamma, kinds, starts, coefficients, work, D, active)
        worst = 0.0
        for i in range(m):
            work[STEP, i] = work[P, i] - gamma[i]
            error = abs(work[STEP, i]) * work[SCALE, i]
            if not error <= worst:
                worst = error
        if worst <= tolerance:
            return True
        if not worst < 1e300:
            break
        counts[1] += 1
        if not _find_step(W, kinds, starts, coefficients, work, D, A, active, n, 1.0):
            break
        for i in range(m):
            gamma[i] = gamma[i] + work[STEP, i]
        _times(W, gamma, work[V])
        for i in range(m):
            work[V, i] = work[V, i] + b[i]
    for i in range(m):
        gamma[i], work[SHIFT, i] = work[PROXIMAL, i], work[SHIFT_KEPT, i]
    _times(W, gamma, work[V])
    for i in range(m):
        work[V, i] = work[V, i] + b[i]
    return False


@generic
def _block_of(starts: Any, i: int) -> Any:
    """The first row, and that after the last, of the block that row i is of, and the block."""
    low, high = 0, starts.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= i:
            low = middle
        else:
            high = middle
    return starts[low], starts[low + 1], low
