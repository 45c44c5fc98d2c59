"""The solver: damped Gauss-Newton steps on the manifold of the requirements, and restarts if these get stuck.

Sequential quadratic programming with the merit f + nu |c|: for goals that are sums of squares the matrix is Gauss and Newton's,
for others that of Broyden, Fletcher, Goldfarb and Shanno; steps are damped as Levenberg and Marquardt do. Each step is taken
only if it makes the merit smaller. Source: Nocedal and Wright 2006, chapters 10 and 18.

One step of the solver: the minimum of a quadratic model under linear equations and ranges.

    minimize  g.x + x.(H + mu D).x / 2      so that  c + A x = 0      and  low <= x <= high

Dependent equations count once (a singular value decomposition of A); inconsistent parts of c are left. Ranges are kept by an
active set: a variable that would leave its range is held at the limit, and released when the gradient points inside.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ._problem import Problem, Values

#: Singular values below this part of the largest count as none.
RANK = 1e-9


@functools.cache
def _solver() -> Any:
    from scipy.linalg.lapack import dposv  # not needed by `import mobod`, and slow

    return dposv


def solve_positive(H: Array, g: Array) -> Array | None:
    """H^-1 g of a symmetric matrix; None where it is not positive definite."""
    if not len(g):
        return g
    _, x, info = _solver()(H, g)
    return x if info == 0 else None


def damped(H: Array, mu: float) -> Array:
    """H with its diagonal increased by the part mu, and by a little where it is zero."""
    n = len(H)
    out = H.copy()
    diagonal = out.ravel()[:: n + 1]
    top = float(diagonal.max()) if n else 0.0
    if top <= 0.0:
        diagonal += 1.0
    else:
        # Marquardt's scaling; directions with a small diagonal are damped by a thousandth of the rest
        diagonal *= 1.0 + mu
        diagonal += (1e-3 * mu + 1e-12) * top
    return out


def step(
    H: Array, g: Array, c: Array, A: Array | None, mu: float, room: tuple[Array, Array] | None, part: float
) -> tuple[Array, Array]:
    """The step x ``(n,)`` and the multipliers of the equations ``(m,)``.

    *part* damps the equations too: singular values below that part of the largest one count less.
    """
    H = damped(H, mu)
    if room is None:
        return equations_step(H, g, c, A, part)
    low, high = room
    x, multipliers = equations_step(H, g, c, A, part)
    if (x >= low).all() and (x <= high).all():
        return x, multipliers
    n = len(g)
    held = np.full(n, np.nan)
    released: set[int] = set()
    for _ in range(4 * n + 4):
        free = np.isnan(held)
        if not free.all():  # else x is the step already
            x = np.where(free, 0.0, held)
            given = (c, None, part) if A is None else (c, A[:, free], part, A @ x)
            x[free], multipliers = equations_step(H[np.ix_(free, free)], (g + H @ x)[free], *given)
        below, above = free & (x < low), free & (x > high)
        if below.any() or above.any():
            held[below], held[above] = low[below], high[above]
            continue
        slope = g + H @ x + (0.0 if A is None else A.T @ multipliers)
        pulled = np.where(held <= low, -slope, slope)  # positive where the limit keeps it from going down
        pulled[free | (low >= high)] = 0.0
        for i in released:
            pulled[i] = 0.0
        i = int(np.argmax(pulled))
        if pulled[i] <= 1e-12 * (1.0 + np.abs(g).max(initial=0.0)):
            break
        held[i] = np.nan
        released.add(i)  # once each: no going round in circles
    return np.clip(x, low, high), multipliers


def equations_step(
    H: Array, g: Array, c: Array, A: Array | None, part: float, held: Array | float = 0.0
) -> tuple[Array, Array]:
    """The same without ranges; H is positive definite. What *held* variables change c by is made up for in full."""
    n = len(g)
    if A is None or not len(c) or not n:
        descent = solve_positive(H, g)
        if descent is None:
            descent = np.asarray(np.linalg.lstsq(H, g, rcond=None)[0], dtype=np.float64)
        return -descent, np.zeros(len(c))
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    rank = int(np.sum(s > RANK * max(s[0], 1e-300))) if s[0] > 0.0 else 0
    s, V, Z = s[:rank], Vt[:rank].T, Vt[rank:].T
    least = part * s[0] if rank else 0.0
    normal = -(V @ (s / (s * s + least * least) * (U[:, :rank].T @ c)))
    if np.any(held):
        normal -= V @ ((U[:, :rank].T @ held) / s)
    x = normal
    if Z.shape[1]:
        along = solve_positive(Z.T @ H @ Z, Z.T @ (g + H @ normal))
        if along is not None:
            x = normal - Z @ along
    multipliers = -(U[:, :rank] @ ((V.T @ (g + H @ x)) / s))
    return x, multipliers


#: Damping: its first value, the value below which it has no effect, and that at which a search ends.
_START, _LEAST, _MOST = 1e-7, 1e-9, 1e8
#: Largest change of an angle in a step.
_TURN = 1.2
#: Errors are reduced to this part of the tolerance.
_BEYOND = 1e-5
#: Steps with the Gauss-Newton matrix before the quasi-Newton matrix is tried.
_PATIENCE = 40
#: How many other starts an assembly tries, and how far from the first, in radians.
ATTEMPTS = 40
_SPREADS = 0.02, 0.1, 0.4, 1.2, 2.5


class Search:
    """A search from the problem's state; `run` leaves the state at the best point.

    Parameters
    ----------
    problem : Problem
    accuracy : float
        The search ends when a step promises to lower the goal by less than the square of this part of it.
    tolerance : float
        How large errors may be in the end.
    gradient_tolerance : float, optional
        Ends the search of a goal that is no sum of squares: the largest entry of its gradient.
    most_steps : int
    caution : float
        Large values keep steps near the manifold of the requirements.
    """

    def __init__(
        self,
        problem: Problem,
        accuracy: float,
        tolerance: float,
        gradient_tolerance: float | None = None,
        most_steps: int = 200,
        caution: float = 1.0,
    ) -> None:
        self.caution = caution
        self.problem, self.accuracy, self.tolerance = problem, accuracy, tolerance
        self.gradient_tolerance, self.most_steps = gradient_tolerance, most_steps
        self.converged = False

    def run(self) -> Values:
        """Search; with a quasi-Newton matrix if the Gauss-Newton matrix fails, as for large residuals."""
        problem = self.problem
        if problem.general or not problem.has_goals:
            return self._run(self.most_steps, False)
        found = self._run(_PATIENCE, False)
        return found if self.converged else self._run(self.most_steps, True)

    def _run(self, most_steps: int, quasi: bool) -> Values:
        """Search; *quasi* uses the Gauss-Newton matrix only as the first quasi-Newton matrix."""
        problem, variables = self.problem, self.problem.variables
        now = problem.values()
        if not variables.n:
            self.converged = True
            return now
        mu, part, nu, few = _START, 0.0, 0.0 if np.any(now.g) else 1.0, 0
        turning: npt.NDArray[np.bool_] | None = None
        B = damped(now.H, 1e-3) if quasi else _first_matrix(now) if now.general is not None else None
        for _ in range(most_steps):
            H = now.H if B is None else B if quasi else now.H + B
            x, multipliers = step(H, now.g, now.c, now.A, mu, variables.room(problem.state), part)
            largest = float(np.abs(x).max())
            if largest > _TURN:
                if turning is None:
                    turning = variables.are_angles(problem.state)
                turn = float(np.abs(x[turning]).max(initial=0.0))
                if turn > _TURN:
                    x *= _TURN / turn
            gain = -float(now.g @ x) - 0.5 * float(x @ H @ x)
            size = nearer = 0.0
            if now.A is not None:
                size = float(np.sqrt(now.c @ now.c))
                rest = now.c + now.A @ x
                nearer = size - float(np.sqrt(rest @ rest))
                # multipliers are small if the goal's gradient is tangent to the requirements, which need some weight even then
                steepness = float(np.sqrt(now.g @ now.g) / (np.sqrt(np.sum(now.A * now.A)) + 1e-300))
                nu = max(nu, 1.5 * float(np.sqrt(multipliers @ multipliers)), self.caution * min(steepness, 1e12))
            promised = gain + nu * nearer
            fulfilled = now.norm <= 0.1 * self.tolerance
            if fulfilled and self._is_last(now, x, gain, multipliers):
                few += 1
                if B is None or self.gradient_tolerance is not None or few > 2:
                    self.converged = True
                    return self._last(now, x, gain, nu)
            else:
                few = 0
            merit = abs(now.f) + nu * size
            if not np.isfinite(promised) or promised <= 1e-15 * merit:
                self.converged = bool(np.isfinite(promised))
                return now
            then, x = self._tried(now, x, nu, size)
            gained = merit_drop(now, then, nu)
            if gained > 1e-4 * promised:
                if B is not None:
                    B = _updated(B, x, then.g - now.g if quasi else _general(then) - _general(now))
                if mu > _LEAST and gained > 0.5 * promised:
                    mu = max(_LEAST, 0.1 * mu)
                elif gained < 0.1 * promised:
                    mu = 4.0 * mu
                part = 0.1 * part if part > 0.01 else 0.0
                now = then
                continue
            problem.move_to(now.q)
            part = max(3.0 * part, 0.3)
            mu = max(10.0 * mu, 1e-5)
            if mu > _MOST:
                self.converged = abs(promised) <= 1e-9 * merit
                return now
        return now

    def _is_last(self, now: Values, x: Array, gain: float, multipliers: Array) -> bool:
        """True if the search has converged."""
        if self.gradient_tolerance is None:
            return gain <= self.accuracy**2 * abs(now.f)
        slope = now.g if now.A is None else now.g + now.A.T @ multipliers
        room = self.problem.variables.room(self.problem.state)
        if room is not None:
            slope = np.where(((room[0] >= 0.0) & (slope > 0.0)) | ((room[1] <= 0.0) & (slope < 0.0)), 0.0, slope)
        return bool(np.abs(slope).max(initial=0.0) <= self.gradient_tolerance)

    def _last(self, now: Values, x: Array, gain: float, nu: float) -> Values:
        """Take a last step, without derivatives, unless it raises the merit; then Newton's steps on the requirements."""
        problem, tight = self.problem, self.tolerance * _BEYOND
        if gain <= 1e-4 * self.accuracy**2 * abs(now.f) and now.norm <= tight:
            return now
        problem.move_to(problem.variables.displaced(problem.state, x))
        c = now.c
        if now.A is not None:
            c = self._polished(now.A, tight)
        f, norm = problem.goal(), problem.norm(c)
        before, after = now.f + nu * float(np.sqrt(now.c @ now.c)), f + nu * float(np.sqrt(c @ c))
        if after <= before + 1e-14 * abs(before) and norm <= max(now.norm, tight):
            now.q, now.f, now.c, now.norm = problem.state.q_values.copy(), f, c, norm
        else:
            problem.move_to(now.q)
        return now

    def _polished(self, A: Array, tight: float) -> Array:
        """The errors of the requirements after a few Newton steps with a fixed Jacobian from a point nearby."""
        problem, variables = self.problem, self.problem.variables
        c = problem.errors()
        inverse: Array | None = None
        for _ in range(4):
            norm = problem.norm(c)
            if norm <= tight:
                break
            if inverse is None:
                room = variables.room(problem.state)
                free = np.ones(variables.n) if room is None else 1.0 * ((room[0] < 0.0) & (room[1] > 0.0))
                inverse = np.asarray(np.linalg.pinv(A * free, rcond=1e-9), dtype=np.float64)
            q = problem.state.q_values.copy()
            problem.move_to(variables.displaced(problem.state, -(inverse @ c)))
            then = problem.errors()
            if not problem.norm(then) < norm:
                problem.move_to(q)
                break
            c = then
        return c

    def _tried(self, now: Values, x: Array, nu: float, size: float) -> tuple[Values, Array]:
        """The values after a step; after a second-order correction if the requirements curve too much."""
        problem, variables = self.problem, self.problem.variables
        problem.move_to(variables.displaced(problem.state, x))
        then = problem.values()
        if now.A is None or merit_drop(now, then, nu) > 0.0 or not len(then.c):
            return then, x
        correction = np.linalg.lstsq(now.A, -then.c, rcond=1e-9)[0]
        problem.move_to(now.q)
        corrected = x + correction
        problem.move_to(variables.displaced(problem.state, corrected))
        return problem.values(), corrected


def merit_drop(now: Values, then: Values, nu: float) -> float:
    """The decrease of the merit; minus infinity if it is NaN."""
    drop = now.f - then.f
    if now.A is not None:
        drop += nu * float(np.sqrt(now.c @ now.c) - np.sqrt(then.c @ then.c))
    return drop if np.isfinite(drop) else -np.inf


def _first_matrix(now: Values) -> Array:
    """A multiple of the identity with which the first step is a third of a radian."""
    return np.eye(len(now.g)) * max(float(np.abs(now.g).max()) / 0.3, 1e-12)


def _general(values: Values) -> Array:
    assert values.general is not None
    return values.general


def _updated(B: Array, x: Array, y: Array) -> Array:
    """The update of Broyden, Fletcher, Goldfarb and Shanno, damped after Powell 1978 so that B stays positive definite."""
    Bx = B @ x
    xBx, xy = float(x @ Bx), float(x @ y)
    if xBx <= 0.0:
        return B
    if xy < 0.2 * xBx:
        part = 0.8 * xBx / (xBx - xy)
        y = part * y + (1.0 - part) * Bx
        xy = float(x @ y)
    if xy <= 1e-300:
        return B
    return B - np.outer(Bx, Bx) / xBx + np.outer(y, y) / xy


# --------------------------------------------------------------------------------------------- from far away


def assemble(
    problem: Problem, feasible: Problem, accuracy: float, tolerance: float, gradient_tolerance: float | None = None
) -> Values:
    """Assemble from the problem's state, with restarts; the state is left at the best point found.

    Parameters
    ----------
    problem : Problem
    feasible : Problem
        The same, of the same state, without goals.
    accuracy, tolerance, gradient_tolerance
        See `Search`.
    """
    start = problem.values()
    best = Search(problem, accuracy, tolerance, gradient_tolerance).run()
    random = np.random.default_rng(0)  # the same result each time
    if best.norm > tolerance:
        best = _elsewhere(problem, feasible, accuracy, tolerance, start, best, random)
    elif problem.has_goals and best.f > 0.0:
        best = _beside(problem, accuracy, tolerance, best, random)
    if start.norm <= tolerance and (best.norm > tolerance or best.f > start.f):
        best = start
    problem.move_to(best.q)
    return best


def _beside(problem: Problem, accuracy: float, tolerance: float, best: Values, random: np.random.Generator) -> Values:
    """Start once more from a small disturbance, to leave a saddle point."""
    _disturb(problem, best.q, 0.05, random)
    other = Search(problem, accuracy, tolerance).run()
    return other if other.norm <= tolerance and other.f < best.f * (1.0 - 1e-9) else best


def _elsewhere(
    problem: Problem,
    feasible: Problem,
    accuracy: float,
    tolerance: float,
    start: Values,
    best: Values,
    random: np.random.Generator,
) -> Values:
    """Start again without goals, at increasing distances from the first start, until the requirements hold."""
    for attempt in range(ATTEMPTS):
        if attempt == 0:
            problem.move_to(start.q)
        else:
            # from the start, and from the best so far, in turn
            near = start.q if attempt % 2 else best.q
            _disturb(problem, near, _SPREADS[(attempt - 1) // 2 % len(_SPREADS)], random)
        found = Search(feasible, accuracy, tolerance).run()
        if found.norm <= tolerance:
            if feasible is problem:
                return found
            found = problem.values()
            for caution in (1.0, 30.0, 1000.0):
                problem.move_to(found.q)
                further = Search(problem, accuracy, tolerance, caution=caution).run()
                if further.norm <= tolerance and further.f <= found.f:
                    return further
            return found
        if found.norm < best.norm:
            best = found
    return best


def _disturb(problem: Problem, q: Array, spread: float, random: np.random.Generator) -> None:
    """Put the state at random around q: angles by *spread*, lengths by that part of the longest link."""
    problem.move_to(q)
    variables, state = problem.variables, problem.state
    longest = float(np.linalg.norm(state.record.p_PB_G[1:, :3], axis=1).max(initial=0.0)) or 1.0
    size = np.where(variables.are_angles(state), 1.0, longest)
    problem.move_to(variables.displaced(state, spread * size * random.normal(size=variables.n)))
