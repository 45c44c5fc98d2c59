"""One step of the solver: the minimum of a quadratic model under linear equations and ranges.

    minimize  g.x + x.(H + mu D).x / 2      so that  c + A x = 0      and  low <= x <= high

Dependent equations count once (a singular value decomposition of A); inconsistent parts of c are left. Ranges are kept by an
active set: a variable that would leave its range is held at the limit, and released when the gradient points inside.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..algebra.arrays import Array

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
            part_x, multipliers = equations_step(
                H[np.ix_(free, free)], (g + H @ x)[free], c if A is None else c + A @ x, None if A is None else A[:, free], part
            )
            x[free] = part_x
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


def equations_step(H: Array, g: Array, c: Array, A: Array | None, part: float) -> tuple[Array, Array]:
    """The same without ranges; H is positive definite."""
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
    x = normal
    if Z.shape[1]:
        along = solve_positive(Z.T @ H @ Z, Z.T @ (g + H @ normal))
        if along is not None:
            x = normal - Z @ along
    multipliers = -(U[:, :rank] @ ((V.T @ (g + H @ x)) / s))
    return x, multipliers
