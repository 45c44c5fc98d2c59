"""Least sums of powers under equations, of many frames at once.

    minimize sum of w |a|^p subject to A a = b, low <= a <= high        p > 1

By its dual, which has as many unknowns as there are equations: with g = A^T y each a is where w p |a|^(p-1) sign(a) = g, within
its bounds, and the gradient of the concave dual function is b - A a(y), its second derivative -A D A^T with D = da/dg of those
that are within. Newton's method with halved steps; frames that are done wait. Source: Rockafellar 1970, Convex Analysis, 31.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array

#: Steps of Newton's method, and halvings of one.
STEPS, HALVINGS = 200, 40
#: What counts as zero: of the gradient, of a's size where its rate has no end, of what makes the matrix definite.
DONE, LEAST, REGULAR = 1e-10, 1e-7, 1e-13
#: Multipliers beyond which the dual function grows without end.
ENDLESS = 1e12


def solve(A: Array, b: Array, low: Array, high: Array, weights: Array, p: float) -> tuple[Array, Array]:
    """Solutions (nt, n) for A (nt, m, n) and b (nt, m), and what is missing in each equation (nt, m)."""
    nt, m, _ = A.shape
    scale = np.abs(A).max(axis=2)  # a row each, so that equations are alike
    scale[scale < 1e-9] = 1.0  # what nothing acts on
    A, b = A / scale[:, :, None], b / scale
    y = np.zeros((nt, m))
    left = np.arange(nt)
    for _ in range(STEPS):
        rows, g = A[left], np.einsum("tmn,tm->tn", A[left], y[left])
        a, rate = _minimizer(g, low, high, weights, p)
        gradient = b[left] - np.einsum("tmn,tn->tm", rows, a)
        rising = np.abs(y[left]).max(axis=1, initial=0.0) < ENDLESS  # else there is no solution
        going = rising & (np.abs(gradient).max(axis=1, initial=0.0) > DONE * (1.0 + np.abs(b[left]).max(axis=1, initial=0.0)))
        if not going.any():
            left = left[going]
            break
        left, rows, g, a, rate, gradient = left[going], rows[going], g[going], a[going], rate[going], gradient[going]
        H = np.einsum("tmn,tkn->tmk", rows * rate[:, None, :], rows, optimize=True)
        H += (REGULAR * (1.0 + np.einsum("tmm->t", H)) + 1e-9 * np.abs(gradient).max(axis=1))[:, None, None] * np.eye(m)
        step = np.linalg.solve(H, gradient[:, :, None])[:, :, 0]
        y[left] += _shortened(rows, b[left], y[left], step, low, high, weights, p)
    a, _ = _minimizer(np.einsum("tmn,tm->tn", A, y), low, high, weights, p)
    return a, scale * (b - np.einsum("tmn,tn->tm", A, a))


def _minimizer(g: Array, low: Array, high: Array, weights: Array, p: float) -> tuple[Array, Array]:
    """a, and da/dg, zero at a bound."""
    size = np.abs(g) / (p * weights)
    free = np.sign(g) * size ** (1.0 / (p - 1.0))
    a = np.clip(free, low, high)
    rate = np.maximum(np.abs(free), LEAST) ** (2.0 - p) / (p * (p - 1.0) * weights)
    return a, np.where((free > low) & (free < high), rate, 0.0)


def _dual(rows: Array, b: Array, y: Array, low: Array, high: Array, weights: Array, p: float) -> Array:
    """The dual function (nt,)."""
    g = np.einsum("tmn,tm->tn", rows, y)
    a, _ = _minimizer(g, low, high, weights, p)
    return np.asarray((weights * np.abs(a) ** p - g * a).sum(axis=1) + (y * b).sum(axis=1))


def _shortened(rows: Array, b: Array, y: Array, step: Array, low: Array, high: Array, weights: Array, p: float) -> Array:
    """Each frame's step, halved until the dual function grows."""
    before = _dual(rows, b, y, low, high, weights, p)
    left = np.arange(len(y))
    for _ in range(HALVINGS):
        after = _dual(rows[left], b[left], y[left] + step[left], low, high, weights, p)
        left = left[~(after >= before[left] - 1e-14 * (1.0 + np.abs(before[left])))]
        if not len(left):
            break
        step[left] *= 0.5
    return step


__all__ = ["solve"]
