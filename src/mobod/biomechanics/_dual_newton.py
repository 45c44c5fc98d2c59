"""Least sums of powers under equations, of many frames at once.

    minimize sum of w |a|^p subject to A a = b, low <= a <= high        p > 1

Of squares, sum of h a^2 / 2 + c a, by the dual, which has as many unknowns as there are equations: with g = A^T y each a is
(g - c) / h within its bounds, the gradient of the concave dual function is b - A a(y), its second derivative -A D A^T with
D = 1 / h of those that are within. Newton's method with halved steps; frames that are done wait. Other powers by a sequence of
such problems, each of the slopes and curvatures at the solution of the last, whose way to the next is shortened until the sum
falls. Sources: Rockafellar 1970, Convex Analysis, 31; Nocedal and Wright 2006, Numerical Optimization, 18.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array

#: Steps of Newton's method, halvings of one, and problems in a sequence.
STEPS, HALVINGS, PROBLEMS = 200, 40, 200
#: What counts as zero: of the gradient, and of the change of a; what makes the matrix definite.
DONE, STILL, REGULAR = 1e-10, 1e-9, 1e-13
#: Multipliers beyond which the dual function grows without end.
ENDLESS = 1e12
#: Size of a from which curvatures are taken at the least, by the largest a of the frame, and by itself.
PART, LEAST = 0.05, 1e-3


def solve(A: Array, b: Array, low: Array, high: Array, weights: Array, p: float) -> tuple[Array, Array]:
    """Solutions (nt, n) for A (nt, m, n) and b (nt, m), and what is missing in each equation (nt, m)."""
    scale = np.abs(A).max(axis=2)  # a row each, so that equations are alike
    scale[scale < 1e-9] = 1.0  # what nothing acts on
    A, b = A / scale[:, :, None], b / scale
    whole = np.broadcast_to(2.0 * weights, (len(A), len(weights)))
    a, _ = _of_squares(A, b, low, high, whole, np.zeros_like(whole), np.zeros_like(b))
    if p != 2.0:
        a = _sequence(A, b, low, high, weights, p, a)
    return a, scale * (b - _times(A, a))


def _sequence(A: Array, b: Array, low: Array, high: Array, weights: Array, p: float, a: Array) -> Array:
    """From the solution of squares to that of another power."""
    left = np.arange(len(a))
    for _ in range(PROBLEMS):
        now = a[left]
        size = np.maximum(np.abs(now), np.maximum(PART * np.abs(now).max(axis=1, keepdims=True), LEAST))
        unit = size.max(axis=1, keepdims=True) ** (p - 2.0)  # of slopes and curvatures, so that multipliers are alike
        slope = p * weights * np.sign(now) * np.abs(now) ** (p - 1.0) / unit
        bend = (p - 1.0 if p > 2.0 else 1.0) * p * weights * size ** (p - 2.0) / unit
        then, _ = _of_squares(A[left], b[left], low, high, bend, slope - bend * now, np.zeros((len(left), b.shape[1])))
        missing = np.abs(b[left] - _times(A[left], then)).max(axis=1, initial=0.0)
        sound = missing <= 10.0 * DONE * (1.0 + np.abs(b[left]).max(axis=1, initial=0.0))
        way = np.where(sound[:, None], then - now, 0.0)  # else rounding is in the way, and the frame stays where it is
        before, part = (weights * np.abs(now) ** p).sum(axis=1), np.ones(len(left))
        falls = (slope * way).sum(axis=1) * unit[:, 0]
        for _ in range(HALVINGS):
            after = (weights * np.abs(now + part[:, None] * way) ** p).sum(axis=1)
            high_still = after > before + 1e-4 * part * falls + 1e-15 * before
            if not high_still.any():
                break
            part[high_still] *= 0.5
        a[left] = now + part[:, None] * way
        left = left[np.abs(part[:, None] * way).max(axis=1) > STILL * (1.0 + np.abs(now).max(axis=1))]
        if not len(left):
            break
    return a


def _of_squares(A: Array, b: Array, low: Array, high: Array, h: Array, c: Array, y: Array) -> tuple[Array, Array]:
    """The least sum of h a^2 / 2 + c a (nt, n), and the multipliers, from *y* on."""
    left = np.arange(len(b))
    rows: Array = A
    own: Array = h
    shift: Array = c
    for _ in range(STEPS):
        a, within = _minimizer(_turned(rows, y[left]), low, high, own, shift)
        gradient = b[left] - _times(rows, a)
        rising = np.abs(y[left]).max(axis=1, initial=0.0) < ENDLESS  # else there is no solution
        bound = DONE * (1.0 + np.abs(b[left]).max(axis=1, initial=0.0))
        going = rising & (np.abs(gradient).max(axis=1, initial=0.0) > bound)
        if not going.any():
            break
        if not going.all():
            left, rows, own, shift = left[going], rows[going], own[going], shift[going]
            gradient, within = gradient[going], within[going]
        H = np.matmul(rows * (within / own)[:, None, :], rows.transpose(0, 2, 1))
        free = REGULAR * (1.0 + np.einsum("tmm->t", H)) + 1e-9 * np.abs(gradient).max(axis=1)
        H += free[:, None, None] * np.eye(b.shape[1])
        step = np.linalg.solve(H, gradient[:, :, None])[:, :, 0].astype(np.float64, copy=False)
        y[left] += _shortened(rows, b[left], y[left], step, low, high, own, shift)
    a, _ = _minimizer(_turned(A, y), low, high, h, c)
    return a, y


def _times(A: Array, a: Array) -> Array:
    return np.asarray(np.matmul(A, a[:, :, None])[:, :, 0])


def _turned(A: Array, y: Array) -> Array:
    return np.asarray(np.matmul(y[:, None], A)[:, 0])


def _minimizer(g: Array, low: Array, high: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """a, and 1 where it is within its bounds."""
    free = (g - c) / h
    return np.clip(free, low, high), np.where((free > low) & (free < high), 1.0, 0.0)


def _dual(rows: Array, b: Array, y: Array, low: Array, high: Array, h: Array, c: Array) -> Array:
    """The dual function (nt,)."""
    g = _turned(rows, y)
    a, _ = _minimizer(g, low, high, h, c)
    return np.asarray(((0.5 * h * a + c - g) * a).sum(axis=1) + (y * b).sum(axis=1))


def _shortened(rows: Array, b: Array, y: Array, step: Array, low: Array, high: Array, h: Array, c: Array) -> Array:
    """Each frame's step, halved until the dual function grows."""
    before = _dual(rows, b, y, low, high, h, c)
    after = _dual(rows, b, y + step, low, high, h, c)
    left = np.arange(len(y))
    for _ in range(HALVINGS):
        left = left[~(after >= before[left] - 1e-14 * (1.0 + np.abs(before[left])))]
        if not len(left):
            break
        step[left] *= 0.5
        after = _dual(rows[left], b[left], y[left] + step[left], low, high, h[left], c[left])
    return step
