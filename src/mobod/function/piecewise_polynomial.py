"""PiecewisePolynomial: polynomials from point to point, by their coefficients.

Between x_j and x_(j+1): f = c_0j (x - x_j)^k + ... + c_kj; outside, the pieces at the ends go on.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..value import checks
from .base import UNLIMITED
from .piecewise import Piecewise


class PiecewisePolynomial(Piecewise):
    """Polynomials from point to point, as `scipy.interpolate.PPoly` has them; outside, those at the ends go on.

    Parameters
    ----------
    coefficients : (k + 1, n) array_like
        Of each of n pieces, in powers of the distance from where it begins, that of the highest power first.
    x : (n + 1,) array_like
        Where the pieces begin, and the last one ends; increasing.

    Notes
    -----
    At a point it is the piece after it. Nothing makes it continuous: where it jumps, so do forces and motions made of it.

    Examples
    --------
    >>> f = PiecewisePolynomial([[1, 0], [0, 2], [0, 1]], [0, 1, 2])  # x^2, then 1 + 2 (x - 1)
    >>> f.calc_value([[0.5], [1.5]])
    array([0.25, 2.  ])
    """

    pack = Piecewise.pack
    _names = ("coefficients", "x")
    _coefficients: Array

    def __init__(self, coefficients: ArrayLike, x: ArrayLike) -> None:
        table = checks.numbers("the coefficients of a PiecewisePolynomial", coefficients)
        points = checks.numbers("x of a PiecewisePolynomial", x)
        if table.ndim != 2 or not table.size or points.shape != (table.shape[1] + 1,):
            raise ValueError(
                "a PiecewisePolynomial takes coefficients (k + 1, n), a column a piece, and n + 1 points; their shapes are "
                f"{table.shape} and {points.shape}"
            )
        if not (np.isfinite(table).all() and np.isfinite(points).all()):
            raise ValueError("the coefficients and the points of a PiecewisePolynomial have to be finite")
        if not (np.diff(points) > 0.0).all():
            raise ModelError("x of a PiecewisePolynomial must increase: sort the points, and leave out those that come twice")
        first = table[:, :1]
        self._keep(
            coefficients=table,
            x=points,
            starts=np.concatenate([points[:1], points[:-1]]),
            table=np.concatenate([first, table], axis=1),
        )

    def get_max_derivative_order(self) -> int:
        """Without limit: above the degree, all derivatives are zero."""
        return UNLIMITED
