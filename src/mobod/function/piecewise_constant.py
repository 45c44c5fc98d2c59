"""PiecewiseConstant: steps, each from one point to the next."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import ArrayLike
from .base import UNLIMITED
from .piecewise import Piecewise, read_points


class PiecewiseConstant(Piecewise):
    """Steps: from each point to the next the value at the first of the two.

    Parameters
    ----------
    x : (n,) array_like
        Where the steps are, increasing; one or more.
    y : (n,) array_like
        The value from there on. Before the first, the first holds too.

    Notes
    -----
    All derivatives are zero. It is OpenSim's ``PiecewiseConstantFunction``.

    Examples
    --------
    >>> f = PiecewiseConstant([0, 1, 3], [5, 6, 7])
    >>> f.calc_value([[-1.0], [0.5], [2.0], [9.0]])
    array([5., 5., 6., 7.])
    """

    pack = Piecewise.pack
    _names = ("x", "y")

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        points, values = read_points("PiecewiseConstant", x, y, 1)
        table = np.array([[values[0], *values]])
        self._keep(x=points, y=values, starts=np.concatenate([points[:1], points]), table=table)

    def get_max_derivative_order(self) -> int:
        """Without limit: all derivatives are zero."""
        return UNLIMITED
