"""Spline: the smoothest curve of its degree through given points.

With degree 2 m - 1, the natural interpolating spline: of all functions through the points the one with the least integral of
the square of its m-th derivative (de Boor, A Practical Guide to Splines, chapters V and XIII). At the first and last point
its derivatives of order m to 2 m - 2 are zero, so that a polynomial of degree m - 1 carries it on outside with no loss of
smoothness: a straight line for the cubic.

Between x_j and x_(j+1): f = c0 (x - x_j)^k + ... + c_k, one piece; one more on either side for what is outside.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..value import checks
from .piecewise import Piecewise, read_points

DEGREES = (1, 3, 5, 7)
#: How often residuals are interpolated: rounding makes them large for unevenly spaced points and high degrees.
REFINEMENTS = 2


class Spline(Piecewise):
    """The natural spline through given points.

    Parameters
    ----------
    degree : {1, 3, 5, 7}
        Of its pieces; the derivatives up to the one before are continuous. A mobilizer or a constraint needs 3 or more.
    x : (n,) array_like
        Where the points are, increasing. There are at least two of them, and at least (degree + 1) / 2.
    y : (n,) array_like
        The values there.

    Notes
    -----
    Outside the points it goes on as a polynomial of degree (degree - 1) / 2 with the same derivatives at the end: constant for
    degree 1, straight for 3, a parabola for 5, a cubic for 7. So it does not diverge as fast as the end pieces would, and it is
    as smooth at the ends as within. It is the curve that Simbody's ``SplineFitter`` gives without smoothing.

    Near the ends a natural cubic is off by the square of the points' distance where the second derivative there is not zero.

    Examples
    --------
    >>> f = Spline(3, [0, 1, 2], [0, 1, 0])
    >>> f.calc_value([[0.0], [1.0], [3.0]])
    array([ 0. ,  1. , -1.5])
    """

    pack = Piecewise.pack
    _names = ("degree", "x", "y")
    _degree: int

    def __init__(self, degree: int, x: ArrayLike, y: ArrayLike) -> None:
        degree = check_degree(degree, "Spline")
        points, values = read_points("Spline", x, y, max(2, (degree + 1) // 2), of=f" of degree {degree}")
        starts = np.concatenate([points[:1], points])
        self._keep(degree=degree, x=points, y=values, starts=starts, table=natural_pieces(degree, points, values))


def check_degree(degree: Any, what: str) -> int:
    """The degree of a spline of a kind."""
    if checks.integer(f"the degree of a {what}", degree) not in DEGREES:
        raise ValueError(f"the degree of a {what} must be 1, 3, 5 or 7; it is {degree!r}")
    return int(degree)


def natural_pieces(degree: int, x: Array, y: Array) -> Array:
    """Coefficients (degree + 1, n + 1) of the natural spline's pieces, those outside included."""
    from scipy.interpolate import BSpline, PPoly, make_interp_spline

    m = (degree + 1) // 2
    ends = [(order, 0.0) for order in range(m, degree)]

    def interpolate(values: Array) -> Any:
        return make_interp_spline(x, values, degree, bc_type=(ends, ends) if ends else None)

    through = interpolate(y)
    for _ in range(REFINEMENTS if degree > 3 else 0):  # linear in the values: residuals are interpolated too
        through = BSpline(through.t, through.c + interpolate(y - through(x)).c, degree)
    if not np.abs(through(x) - y).max() <= 1e-8 * np.abs(y).max():  # NaN included
        raise ModelError(
            f"the points of a Spline of degree {degree} are too unevenly spaced for it, with steps in x from "
            f"{np.diff(x).min():.3g} to {np.diff(x).max():.3g}; take a lower degree, or leave out points that nearly touch"
        )
    table = np.zeros((degree + 1, len(x) + 1))
    table[:, 1:-1] = PPoly.from_spline(through).c[:, degree:-degree]
    for column, source, t in ((0, 1, 0.0), (-1, -2, x[-1] - x[-2])):  # the first m terms of the series at either end
        for order in range(m):
            derivative = np.polyval(np.polyder(table[:, source], order), t)
            table[degree - order, column] = derivative / math.factorial(order)
    table[degree, 1:] = y  # the points themselves, to the last bit
    table[degree, 0] = y[0]
    return table
