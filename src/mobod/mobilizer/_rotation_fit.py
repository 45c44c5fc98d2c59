"""Best approximations of rotations, for several kinds. Plain Python: a fit is made a few times a model, not in a kernel."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array

#: Where the search for the best first angle starts. The trace has two periods a turn at most: no maximum is missed.
_STARTS = np.linspace(-np.pi, np.pi, 65)[:-1]


def about_z_then_y(M: Array) -> tuple[float, float]:
    """The angles a, b for which Rz(a) Ry(b) is nearest to the rotation M: those of the largest trace of M^T Rz(a) Ry(b).

    For one a the best b is known: the trace is A + B cos b + C sin b, with A, B, C linear in cos a and sin a. What is left,
    A + sqrt(B^2 + C^2), is maximized over a: the maxima of a table are bracketed, and bisection finds where the slope is zero.
    """

    def parts(a: Array) -> tuple[Array, Array, Array]:
        s, c = np.sin(a), np.cos(a)
        return c * M[1, 1] - s * M[0, 1], c * M[0, 0] + s * M[1, 0] + M[2, 2], c * M[0, 2] + s * M[1, 2] - M[2, 0]

    def merit(a: Array) -> Array:
        A, B, C = parts(a)
        return A + np.hypot(B, C)

    def slope(a: Array) -> Array:
        _, B, C = parts(a)
        s, c = np.sin(a), np.cos(a)
        A_dot, B_dot, C_dot = -s * M[1, 1] - c * M[0, 1], c * M[1, 0] - s * M[0, 0], c * M[1, 2] - s * M[0, 2]
        S = np.hypot(B, C)
        return A_dot + (B * B_dot + C * C_dot) / np.where(S > 0.0, S, 1.0)

    table, step = merit(_STARTS), _STARTS[1] - _STARTS[0]
    summits = _STARTS[(table >= np.roll(table, 1)) & (table >= np.roll(table, -1))]
    low, high = summits - step, summits + step
    for _ in range(60):
        middle = 0.5 * (low + high)
        rising = slope(middle) > 0.0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    found = 0.5 * (low + high)
    a = found[np.argmax(merit(found))]
    _, B, C = parts(a)
    return float(a), float(np.arctan2(C, B))
