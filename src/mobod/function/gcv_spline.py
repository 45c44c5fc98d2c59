"""GCVSpline: the natural spline near noisy points, as smooth as their error allows.

Of degree 2 m - 1, through values s_i that make  sum (y_i - s_i)^2 + p * integral (f^(m))^2  least. With Q^T the matrix of m-th
divided differences, R the Gram matrix of the B-splines of degree m - 1 whose integrals those are, and G = Q^T Q
(de Boor 1978, A Practical Guide to Splines, chapter XIV; Reinsch 1967)

    (R + p G) c = Q^T y      s = y - p Q c      f^(m) = sum c_j M_j      tr(1 - A) = p tr((R + p G)^-1 G)

with A the matrix that takes y to s. p is where generalized cross validation, n |y - s|^2 / tr(1 - A)^2, is least; or,
where the error's variance v is known, the estimated mean square of the true error,  |y - s|^2 / n - v (2 tr(1 - A) / n - 1).
Source: Woltring 1986, Advances in Engineering Software 8:104-113; p is sought as there, by the same steps and tolerance.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..value import checks
from .piecewise import Piecewise, read_points
from .spline import check_degree, natural_pieces

#: How exactly p is found, and the range of p in units of the points' own.
TOLERANCE, LEAST = 1e-6, 1e-15
#: By which the bracket around the best p shrinks: the golden section, in the digits of the source.
GOLDEN = 1.618033983


class GCVSpline(Piecewise):
    """The smoothing spline whose smoothness is found by generalized cross validation, or from the known error of the points.

    Parameters
    ----------
    degree : {1, 3, 5, 7}
        Of its pieces.
    x : (n,) array_like
        Where the points are, increasing; at least degree + 1 of them.
    y : (n,) array_like
        The values there.
    error_variance : float, optional
        The variance of the error of y. Zero, unless given: the natural spline through all points. A negative one means that it
        is unknown, and the smoothness is found by cross validation.

    Raises
    ------
    ModelError
        If x does not increase, or is so unevenly spaced that no spline of this degree can be found.

    Notes
    -----
    Outside the points it goes on as `Spline` does. It is equal to OpenSim's ``GCVSpline``, whose inverse dynamics
    differentiates coordinates by one of degree 5.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 40)
    >>> f = GCVSpline(5, x, np.sin(6 * x) + 0.01 * np.cos(300 * x), error_variance=-1)
    >>> bool(abs(f.calc_value(0.5) - np.sin(3.0)) < 0.01)
    True
    """

    pack = Piecewise.pack
    _names = ("degree", "x", "y", "error_variance")
    _degree: int

    def __init__(self, degree: int, x: ArrayLike, y: ArrayLike, error_variance: float = 0.0) -> None:
        degree = check_degree(degree, "GCVSpline")
        points, values = read_points("GCVSpline", x, y, degree + 1, of=f" of degree {degree}")
        variance = checks.finite("the error_variance of a GCVSpline", error_variance)
        near = values if variance == 0.0 else smoothed((degree + 1) // 2, points, values, variance)
        starts = np.concatenate([points[:1], points])
        table = natural_pieces(degree, points, near)
        self._keep(degree=degree, x=points, y=values, error_variance=variance, starts=starts, table=table)


def smoothed(m: int, x: Array, y: Array, variance: float) -> Array:
    """The values at the points of the smoothing spline of degree 2 m - 1, of least error or of least cross validation."""
    fit = functools.partial(_fit, m, _differences(m, x), _gram(m, x), y)
    n, unit = len(x), _unit(m, x)

    def loss(p: float) -> float:
        s, trace = fit(min(max(p, LEAST / unit), 1.0 / (unit * LEAST)))
        residual, share = float(np.mean((y - s) ** 2)), trace / n
        return residual / share**2 if variance < 0.0 else residual - variance * (2.0 * share - 1.0)

    p = _least(loss, unit)
    found: Array = fit(min(max(p, LEAST / unit), 1.0 / (unit * LEAST)))[0]
    if not np.isfinite(found).all():
        raise ModelError(
            f"the points of a GCVSpline are too unevenly spaced for it, with steps in x from {np.diff(x).min():.3g}"
        )
    return found


def _least(loss: Any, unit: float) -> float:
    """The minimum of the loss, downhill in factors of two and then by golden sections.

    The steps are those of the source: its p is this one's to all digits, and not only to the tolerance.
    """
    low = 1.0 / unit
    middle = 2.0 * low
    at_middle, at_low = loss(middle), loss(low)
    while at_low <= at_middle:
        if low * unit < LEAST:
            return low
        middle, at_middle = low, at_low
        low /= 2.0
        at_low = loss(low)
    high = 2.0 * middle
    at_high = loss(high)
    while at_high <= at_middle:
        if high >= 1.0 / LEAST:
            return high
        middle, at_middle = high, at_high
        high *= 2.0
        at_high = loss(high)
    width = (high - low) / GOLDEN
    a, b = high - width, low + width
    at_a, at_b = loss(a), loss(b)
    while True:
        if at_a <= at_b:
            high = b
        else:
            low = a
        error = (high - low) / (low + high)
        if error <= TOLERANCE:
            return (low + high) / 2.0
        width /= GOLDEN
        if at_a <= at_b:
            b, at_b, a = a, at_a, high - width
            at_a = loss(a)
        else:
            a, at_a, b = b, at_b, low + width
            at_b = loss(b)


# ---------------------------------------------------------------------------------------------- matrices, as bands


def _differences(m: int, x: Array) -> Array:
    """Q^T as (n - m, m + 1): row j has the weights of y_j, ..., y_(j+m), (m-1)! times those of the divided difference.

    So scaled it is the integral of f^(m) times the B-spline of degree m - 1 on these points that is one piece of a partition
    of one, divided by the width of its base.
    """
    n = len(x)
    window = x[np.arange(n - m)[:, None] + np.arange(m + 1)]
    apart = window[:, :, None] - window[:, None, :]
    apart[:, np.arange(m + 1), np.arange(m + 1)] = 1.0
    return math.factorial(m - 1) / apart.prod(axis=2) * 1.0


def _gram(m: int, x: Array) -> Array:
    """R: integrals of products of the B-splines M_i M_j, M_j = N_j / (x_(j+m) - x_j), as an upper band (m, n - m)."""
    from scipy.interpolate import BSpline

    n = len(x)
    nodes, weights = np.polynomial.legendre.leggauss(m)  # exact to degree 2 m - 1
    half, center = np.diff(x)[:, None] / 2.0, (x[:-1] + x[1:])[:, None] / 2.0
    at, weight = (center + half * nodes).ravel(), (half * weights).ravel()
    padded = np.concatenate([x[0] - np.arange(m - 1, 0, -1), x, x[-1] + np.arange(1, m)])
    basis = BSpline.design_matrix(at, padded, m - 1)[:, m - 1 : m - 1 + n - m]
    scaled = basis.multiply(1.0 / (x[m:] - x[:-m])[None, :]).tocsc()
    product = (scaled.T @ scaled.multiply(weight[:, None]).tocsc()).todia()
    band = np.zeros((m, n - m))
    for k in range(m):
        band[m - 1 - k, k:] = product.diagonal(k)
    return band


def _fit(m: int, Q: Array, R: Array, y: Array, p: float) -> tuple[Array, float]:
    """The smoothed values, and the trace of 1 - A."""
    from scipy.linalg import cho_solve_banded, cholesky_banded

    rows = len(Q)
    band = np.zeros((m + 1, rows))
    gram = np.zeros((m + 1, rows))
    for k in range(m + 1):  # (Q^T Q) at (j, j + k): row j's last weights times row j + k's first
        gram[m - k, k:] = (Q[: rows - k, k:] * Q[k:, : m + 1 - k]).sum(axis=1)
    band[1:] = R
    band += p * gram
    scale = 1.0 / np.sqrt(band[m])  # a diagonal of ones: the rows differ by powers of the points' distance
    for k in range(m + 1):
        band[m - k, k:] *= scale[: rows - k] * scale[k:]
        gram[m - k, k:] *= scale[: rows - k] * scale[k:]
    factor = cholesky_banded(band)
    values = np.lib.stride_tricks.sliding_window_view(y, m + 1)
    c = scale * cho_solve_banded((factor, False), scale * (Q * values).sum(axis=1))
    s = y.copy()
    for k in range(m + 1):
        s[k : k + rows] -= p * Q[:, k] * c
    inverse = _central_band(m, factor)
    trace = p * float((inverse[m] * gram[m]).sum() + 2.0 * (inverse[:m] * gram[:m]).sum())
    return s, trace


def _central_band(m: int, factor: Array) -> Array:
    """The band of the inverse of U^T U, U an upper band (m + 1, rows), as such a band.

    From the last row up, Z U^T = U^-1 gives each entry of Z from those below it; only entries within the band are needed.
    Source: Hutchinson and de Hoog 1985, Numerische Mathematik 47:99-106.
    """
    rows = factor.shape[1]
    Z = np.zeros((m + 1, rows + m))  # upper band, Z[m - k, j + k] = Z(j, j + k); zeros follow the last row
    window = np.zeros((m, m))  # Z(i, j), i and j from row + 1 to row + m
    U = np.zeros((rows, m + 1))  # U[row, k] = U(row, row + k) / U(row, row)
    for k in range(m + 1):
        U[: rows - k, k] = factor[m - k, k:]
    diagonal = U[:, 0].copy()
    U /= diagonal[:, None]
    for row in range(rows - 1, -1, -1):
        u = U[row, 1:]
        off = -window @ u
        here = 1.0 / diagonal[row] ** 2 - u @ off
        window[1:, 1:] = window[:-1, :-1].copy()
        window[0, 0] = here
        window[0, 1:] = window[1:, 0] = off[:-1]
        Z[m, row] = here
        for k in range(1, m + 1):
            Z[m - k, row + k] = off[k - 1]
    return Z[:, :rows]


def _unit(m: int, x: Array) -> float:
    """One over the p at which smoothness and nearness weigh alike: where the search begins.

    The ratio of two matrices' mean sums of absolute entries, as in the source: of divided differences of order 2 m, of the
    powers (t - x_i)^(2 m - 1) cut off at zero and of single values.
    """
    n, weight, basis = len(x), 0.0, 0.0
    for j in range(n):
        first, last = max(0, j - m), min(n, j + m + 1)
        window = x[first:last]
        apart = window[:, None] - window[None, :]
        np.fill_diagonal(apart, 1.0)
        inner = j >= m and j + m < n
        weights = (window[-1] - window[0] if inner else 1.0) / apart.prod(axis=1)
        weight += math.factorial(2 * m - 1) * float(np.abs(weights).sum())
        ahead = (window[None, :] - window[:, None]) * (1.0 if j < n - m else -1.0)
        basis += float(np.abs(np.where(ahead > 0.0, ahead, 0.0) ** (2 * m - 1) @ weights).sum())
    return weight / (basis if m > 1 else float(n))
