"""Least sums of powers under equations, of many frames at once.

    minimize sum of w |a|^p subject to A a = b, low <= a <= high        p > 1

Up to squares, sum of h |a|^p / p + c a, by the dual, which has as many unknowns as there are equations: with g = A^T y - c each
a is +-(|g| / h)^(1 / (p - 1)) within its bounds, the gradient of the concave dual function is b - A a(y), its second derivative
-A D A^T with D = da/dg of those that are within. Newton's method with halved steps; frames that are done wait. Higher powers,
where D has no bound, by a sequence of problems of squares, each of the slopes and curvatures at the solution of the last, whose
way to the next is shortened until the sum falls. Curvatures are those of sizes above a floor, which sinks: with one that stays,
small activations would come to rest before they are where they belong. Sources: Rockafellar 1970, Convex Analysis, 31; Nocedal
and Wright 2006, Numerical Optimization, 18.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array

#: Steps of Newton's method, halvings of one, and problems in a sequence.
STEPS, HALVINGS, PROBLEMS = 200, 40, 200
#: Steps after which a frame starts again by orthonormal rows, and those of its searches along a step.
PLAIN, GROWTHS, BISECTIONS = 30, 30, 60
#: What counts as zero: of the gradient, and of the change of a; what makes the matrix definite.
DONE, STILL, REGULAR = 1e-10, 1e-9, 1e-13
#: Multipliers beyond which the dual function grows without end.
ENDLESS = 1e12
#: The floor of sizes at first, by the largest a of the frame, and what part of its curvature it may sink to.
FLOOR, BEND = 0.1, 1e-6


def solve(A: Array, b: Array, low: Array, high: Array, weights: Array, p: float) -> tuple[Array, Array]:
    """Solutions (nt, n) for A (nt, m, n) and b (nt, m), and what is missing in each equation (nt, m)."""
    scale = np.abs(A).max(axis=2)  # a row each, so that equations are alike
    scale[scale < 1e-9] = 1.0  # what nothing acts on
    A, b = A / scale[:, :, None], b / scale
    whole = np.broadcast_to(2.0 * weights, (len(A), len(weights)))
    a, y = _by_dual(A, b, low, high, whole, np.zeros_like(whole), np.zeros_like(b), steps=PLAIN)
    off = _unsolved(A, b, a)
    if len(off):
        found, multipliers = _orthonormal(A[off], b[off], low, high, whole[off])
        none = np.isin(np.arange(len(off)), _unsolved(A[off], b[off], found, 1e3 * DONE))
        a[off[~none]], y[off[~none]] = found[~none], multipliers[~none]
        off = off[none]  # where nothing is a solution, what is missing stays where it is missing most
        a[off], y[off] = _by_dual(A[off], b[off], low, high, whole[off], np.zeros_like(whole[off]), y[off])
    if p < 2.0:
        a, _ = _by_dual(A, b, low, high, 0.5 * p * whole, np.zeros_like(whole), y, p)
    elif p > 2.0:
        a = _sequence(A, b, low, high, weights, p, a, y)
    return a, scale * (b - _times(A, a))


def _unsolved(A: Array, b: Array, a: Array, bound: float = DONE) -> npt.NDArray[np.intp]:
    """The frames whose equations are not met."""
    missing = np.abs(b - _times(A, a)).max(axis=1, initial=0.0)
    return np.flatnonzero(missing > bound * (1.0 + np.abs(b).max(axis=1, initial=0.0)))


def _orthonormal(A: Array, b: Array, low: Array, high: Array, h: Array) -> tuple[Array, Array]:
    """As `_by_dual`, of squares, by combinations of the equations whose rows are nearly orthonormal, and steps of best length.

    Where reserves are weak, bodies at the ends of limbs light, and most muscles at their bounds, the dual function has a ridge
    with corners along which halved steps hardly move. With A A^T = L L^T the rows are those of L^-1 A.
    """
    G = np.matmul(A, A.transpose(0, 2, 1))
    G += 1e-12 * (1.0 + np.einsum("tmm->t", G))[:, None, None] * np.eye(G.shape[1])
    L = np.linalg.cholesky(G)
    rows, aims = np.asarray(np.linalg.solve(L, A), float), np.asarray(np.linalg.solve(L, b[:, :, None]), float)[:, :, 0]
    a, y = _by_dual(rows, aims, low, high, h, np.zeros_like(h), np.zeros_like(b), shortened=_best)
    return a, np.asarray(np.linalg.solve(L.transpose(0, 2, 1), y[:, :, None]), float)[:, :, 0]


def _sequence(A: Array, b: Array, low: Array, high: Array, weights: Array, p: float, a: Array, y: Array) -> Array:
    """From the solution of squares, and its multipliers, to that of a higher power."""
    left, lowest = np.arange(len(a)), BEND ** (1.0 / (p - 2.0))
    floor = np.full((len(a), 1), FLOOR)
    for _ in range(PROBLEMS):
        now = a[left]
        size = np.maximum(np.abs(now), np.maximum(floor[left] * np.abs(now).max(axis=1, keepdims=True), 1e-12))
        unit = size.max(axis=1, keepdims=True) ** (p - 2.0)  # of slopes and curvatures, so that multipliers are alike
        slope = p * weights * np.sign(now) * np.abs(now) ** (p - 1.0) / unit
        bend = (p - 1.0) * p * weights * size ** (p - 2.0) / unit
        then, multipliers = _by_dual(A[left], b[left], low, high, bend, slope - bend * now, y[left] / unit, shortened=_best)
        missing = np.abs(b[left] - _times(A[left], then)).max(axis=1, initial=0.0)
        sound = missing <= 10.0 * DONE * (1.0 + np.abs(b[left]).max(axis=1, initial=0.0))
        y[left] = np.where(sound[:, None], multipliers * unit, y[left])
        way = np.where(sound[:, None], then - now, 0.0)  # else rounding is in the way: again, with curvatures nearer each other
        before, part = (weights * np.abs(now) ** p).sum(axis=1), np.ones(len(left))
        falls = (slope * way).sum(axis=1) * unit[:, 0]
        for _ in range(HALVINGS):
            after = (weights * np.abs(now + part[:, None] * way) ** p).sum(axis=1)
            high_still = after > before + 1e-4 * part * falls + 1e-15 * before
            if not high_still.any():
                break
            part[high_still] *= 0.5
        a[left] = now + part[:, None] * way
        again = ~sound & (floor[left, 0] < 1.0)
        floor[left] *= np.where(again, 4.0, np.where(part == 1.0, 0.5, np.where(part < 0.25, 2.0, 1.0)))[:, None]
        floor = np.clip(floor, lowest, 1.0)
        left = left[again | (np.abs(part[:, None] * way).max(axis=1) > STILL * (1.0 + np.abs(now).max(axis=1)))]
        if not len(left):
            break
    return a


def _by_dual(
    A: Array, b: Array, low: Array, high: Array, h: Array, c: Array, y: Array, p: float = 2.0, *,
    steps: int = STEPS, shortened: Callable[..., Array] | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """The least sum of h |a|^p / p + c a (nt, n), p at most 2, and the multipliers, from *y* on."""
    shortened = shortened or _shortened
    left = np.arange(len(b))
    rows: Array = A
    own: Array = h
    shift: Array = c
    for _ in range(steps):
        a, slope = _minimizer(_turned(rows, y[left]), low, high, own, shift, p)
        gradient = b[left] - _times(rows, a)
        rising = np.abs(y[left]).max(axis=1, initial=0.0) < ENDLESS  # else there is no solution
        bound = DONE * (1.0 + np.abs(b[left]).max(axis=1, initial=0.0))
        going = rising & (np.abs(gradient).max(axis=1, initial=0.0) > bound)
        if not going.any():
            break
        if not going.all():
            left, rows, own, shift = left[going], rows[going], own[going], shift[going]
            gradient, slope = gradient[going], slope[going]
        H = np.matmul(rows * slope[:, None, :], rows.transpose(0, 2, 1))
        free = REGULAR * (1.0 + np.einsum("tmm->t", H)) + 1e-9 * np.abs(gradient).max(axis=1)
        H += free[:, None, None] * np.eye(b.shape[1])
        step = np.linalg.solve(H, gradient[:, :, None])[:, :, 0].astype(np.float64, copy=False)
        y[left] += shortened(rows, b[left], y[left], step, low, high, own, shift, p)
    a, _ = _minimizer(_turned(A, y), low, high, h, c, p)
    return a, y


def _times(A: Array, a: Array) -> Array:
    return np.asarray(np.matmul(A, a[:, :, None])[:, :, 0])


def _turned(A: Array, y: Array) -> Array:
    return np.asarray(np.matmul(y[:, None], A)[:, 0])


def _minimizer(g: Array, low: Array, high: Array, h: Array, c: Array, p: float) -> tuple[Array, Array]:
    """a, and its derivative by g, which is zero beyond the bounds."""
    free = (g - c) / h
    if p != 2.0:
        free = np.sign(free) * np.abs(free) ** (1.0 / (p - 1.0))
    slope = np.where((free > low) & (free < high), np.abs(free) ** (2.0 - p) / ((p - 1.0) * h), 0.0)
    return np.clip(free, low, high), slope


def _dual(rows: Array, b: Array, y: Array, low: Array, high: Array, h: Array, c: Array, p: float) -> Array:
    """The dual function (nt,)."""
    g = _turned(rows, y)
    a, _ = _minimizer(g, low, high, h, c, p)
    return np.asarray((h * np.abs(a) ** p / p + (c - g) * a).sum(axis=1) + (y * b).sum(axis=1))


def _shortened(rows: Array, b: Array, y: Array, step: Array, low: Array, high: Array, h: Array, c: Array, p: float) -> Array:
    """Each frame's step, halved until the dual function grows."""
    before = _dual(rows, b, y, low, high, h, c, p)
    after = _dual(rows, b, y + step, low, high, h, c, p)
    left = np.arange(len(y))
    for _ in range(HALVINGS):
        left = left[~(after >= before[left] - 1e-14 * (1.0 + np.abs(before[left])))]
        if not len(left):
            break
        step[left] *= 0.5
        after = _dual(rows[left], b[left], y[left] + step[left], low, high, h[left], c[left], p)
    return step


def _best(rows: Array, b: Array, y: Array, step: Array, low: Array, high: Array, h: Array, c: Array, p: float) -> Array:
    """Each frame's step with the length at which the dual function of squares, concave, is largest: its slope is zero there."""
    g, d, rise = _turned(rows, y), _turned(rows, step), (step * b).sum(axis=1)

    def slope(t: Array) -> Array:
        return np.asarray(rise - (d * np.clip((g + t[:, None] * d - c) / h, low, high)).sum(axis=1))

    below, above = np.zeros(len(y)), np.ones(len(y))
    full = np.abs(slope(above)) <= 1e-9 * np.abs(slope(below))
    if full.all():
        return step
    for _ in range(GROWTHS):
        rises = slope(above) > 0.0
        if not rises.any():
            break
        below, above = np.where(rises, above, below), np.where(rises, 4.0 * above, above)
    for _ in range(BISECTIONS):
        middle = 0.5 * (below + above)
        rises = slope(middle) > 0.0
        below, above = np.where(rises, middle, below), np.where(rises, above, middle)
    return step * np.where(full, 1.0, 0.5 * (below + above))[:, None]
