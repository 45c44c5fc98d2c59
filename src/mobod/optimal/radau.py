"""Legendre, Gauss and Radau, three points an interval: the polynomial through the states has their rates at the points.

    sum_j D_ij x_j = h f_i,    i = 1, 2, 3;    D_ij the derivative at point i of the polynomial that is one at point j

The points are the roots of P_2 - P_3, flipped so that the last is the end of the interval: Radau IIA of order 5. Source: Garg
and others 2010; Hairer and Wanner 1996, section IV.5.
"""

import numpy as np

from ..algebra.arrays import Array
from .scheme import Scheme


def _rates(points: Array) -> Array:
    """D: derivatives at the points of the polynomials of Lagrange."""
    n = len(points)
    found = np.zeros((n, n))
    weights = np.array([1.0 / np.prod(points[j] - np.delete(points, j)) for j in range(n)])
    for i in range(n):
        for j in range(n):
            if i != j:
                found[i, j] = weights[j] / weights[i] / (points[i] - points[j])
        found[i, i] = -found[i].sum()
    return found


_ROOT = np.sqrt(6.0)
_POINTS = np.array([0.0, (4.0 - _ROOT) / 10.0, (4.0 + _ROOT) / 10.0, 1.0])
RADAU = Scheme(
    "radau",
    order=5,
    points=_POINTS,
    L=_rates(_POINTS)[1:],
    W=np.eye(4)[1:],
    weights=np.array([0.0, (16.0 - _ROOT) / 36.0, (16.0 + _ROOT) / 36.0, 1.0 / 9.0]),
    has_first=False,
)
