"""PiecewiseLinear: straight lines from point to point, and on outside with the slope of the end."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import ArrayLike
from .base import UNLIMITED
from .piecewise import Piecewise, read_points


class PiecewiseLinear(Piecewise):
    """Straight lines from point to point; outside, the lines at the ends go on.

    Parameters
    ----------
    x : (n,) array_like
        Where the points are, increasing; two or more.
    y : (n,) array_like
        The values there.

    Notes
    -----
    At a point the first derivative is that of the line after it; all higher ones are zero. It is OpenSim's
    ``PiecewiseLinearFunction``. A `Spline` of degree 1 is constant outside.

    Examples
    --------
    >>> f = PiecewiseLinear([0, 1, 3], [0, 2, 1])
    >>> f.calc_value([[-1.0], [2.0], [5.0]])
    array([-2. ,  1.5,  0. ])
    """

    pack = Piecewise.pack
    _names = ("x", "y")

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        points, values = read_points("PiecewiseLinear", x, y, 2)
        slopes = np.diff(values) / np.diff(points)
        table = np.array([[slopes[0], *slopes, slopes[-1]], [values[0], *values]])
        self._keep(x=points, y=values, starts=np.concatenate([points[:1], points]), table=table)

    def get_max_derivative_order(self) -> int:
        """Without limit: derivatives above the first are zero."""
        return UNLIMITED
