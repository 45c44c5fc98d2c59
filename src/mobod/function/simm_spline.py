"""SimmSpline: the cubic spline of SIMM and OpenSim.

Cubic, with continuous first and second derivatives at the points. Its third derivative in the first piece is that of the cubic
through the first four points, and in the last piece of that through the last four (Forsythe, Malcolm and Moler 1977, Computer
Methods for Mathematical Computations, section 4.4); with three points it is zero there, and with two all is straight. Outside
the points it is straight, with the slope of the end: the second derivative jumps there.

With h_j = x_(j+1) - x_j and s_j a sixth of the second derivative at x_j, the inner equations are

    h_(j-1) s_(j-1) + 2 (h_(j-1) + h_j) s_j + h_j s_(j+1) = (y_(j+1) - y_j) / h_j - (y_j - y_(j-1)) / h_(j-1)
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from .piecewise import Piecewise, read_points

#: The least distance of two points; closer ones count as so far apart.
TINY = 1e-7


class SimmSpline(Piecewise):
    """The cubic spline of SIMM and OpenSim through given points, straight outside them.

    Parameters
    ----------
    x : (n,) array_like
        Where the points are, in order; two or more. Where one comes twice, the function jumps.
    y : (n,) array_like
        The values there.

    Notes
    -----
    In the first and the last piece the third derivative is that of the cubic through the four points next to the end; of three
    points it is a parabola, of two a straight line. The second derivative jumps to zero at the ends. It is equal to OpenSim's
    ``SimmSpline`` (and ``NaturalCubicSpline`` of old files), inside and outside the points.

    Examples
    --------
    >>> f = SimmSpline([0, 1, 2.5], [1, 2, 0.3])
    >>> round(f.calc_value(0.5), 12), round(f.calc_value(-1.0), 12)
    (1.713333333333, -0.853333333333)
    """

    pack = Piecewise.pack
    _names = ("x", "y")

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        points, values = read_points("SimmSpline", x, y, 2, may_repeat=True)
        starts = np.concatenate([points[:1], points])
        # the last point belongs to the piece before it, with its second derivative
        starts[-1] = np.nextafter(points[-1], np.inf)
        self._keep(x=points, y=values, starts=starts, table=_pieces(points, values))


def _pieces(x: Array, y: Array) -> Array:
    """Coefficients (4, n + 1) of the pieces, the straight ones outside included."""
    h = np.maximum(TINY, np.diff(x))
    s = _sixths(h, x, y)
    slope = np.diff(y) / h - h * (s[1:] + 2.0 * s[:-1])
    last = (y[-1] - y[-2]) / h[-1] + h[-1] * (s[-2] + 2.0 * s[-1])
    table = np.zeros((4, len(x) + 1))
    table[0, 1:-1] = np.diff(s) / h
    table[1, 1:-1] = 3.0 * s[:-1]
    table[2] = [slope[0], *slope, last]
    table[3] = [y[0], *y]
    return table


def _sixths(h: Array, x: Array, y: Array) -> Array:
    """A sixth of the second derivative at each point."""
    from scipy.linalg import solve_banded

    n = len(x)
    if n == 2:
        return np.zeros(2)
    band = np.zeros((3, n))
    band[0, 1:] = band[2, :-1] = h
    band[1, 0], band[1, -1] = -h[0], -h[-1]
    band[1, 1:-1] = 2.0 * (h[:-1] + h[1:])
    right = np.zeros(n)
    bends = right[1:-1] = np.diff(np.diff(y) / h)
    if n > 3:
        right[0] = bends[1] / max(TINY, x[3] - x[1]) - bends[0] / max(TINY, x[2] - x[0])
        right[-1] = bends[-1] / max(TINY, x[-1] - x[-3]) - bends[-2] / max(TINY, x[-2] - x[-4])
        right[0] *= h[0] ** 2 / max(TINY, x[3] - x[0])
        right[-1] *= -(h[-1] ** 2) / max(TINY, x[-1] - x[-4])
    return solve_banded((1, 1), band, right)
