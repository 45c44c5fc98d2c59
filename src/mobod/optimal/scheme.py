"""Scheme: the table of a method of direct collocation, as a Runge-Kutta method has one."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..algebra.arrays import Array


@dataclasses.dataclass(frozen=True, eq=False)
class Scheme:
    """The equations of the states x_j and rates f_j at the points of an interval of length h: L x = h W f.

    Attributes
    ----------
    name : str
    order : int
        Of the error of states at the ends of intervals, for smooth controls.
    points : (s + 1,) array
        From 0 to 1; the last of an interval is the first of the next.
    L, W : (s, s + 1) arrays
        An equation a row.
    weights : (s + 1,) array
        Of the quadrature of costs.
    has_first : bool
        Whether the rate at the first point of all counts, and with it the controls there.
    """

    name: str
    order: int
    points: Array
    L: Array
    W: Array
    weights: Array
    has_first: bool = True

    def interpolate(self, values: Array, at: Array) -> Array:
        """Controls ``(..., k, m)`` at fractions *at* ``(k,)`` of intervals, of those at their points ``(..., s + 1, m)``."""
        first = 0 if self.has_first else 1
        return lagrange(self.points[first:], at) @ values[..., first:, :]


def lagrange(points: Array, at: Array) -> Array:
    """Values ``(k, n)`` of the polynomials that are one at one of n points and zero at the others."""
    found = np.ones((len(at), len(points)))
    for j, x in enumerate(points):
        for other in np.delete(points, j):
            found[:, j] *= (at - other) / (x - other)
    return found
