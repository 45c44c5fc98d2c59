"""Mesh: the intervals of a phase, its nodes, and the equations between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from .scheme import Scheme, lagrange


class Mesh:
    """Fractions of a phase's duration at which its intervals end, with the points of a scheme in each.

    Parameters
    ----------
    scheme : Scheme
    ends : (k + 1,) array
        From 0 to 1, ascending.

    Attributes
    ----------
    times : (n,) array
        Of the nodes.
    nodes : (k, s + 1) array of int
        Of each interval's points.
    sizes : (k,) array
        Of intervals.
    weights : (n,) array
        Of the quadrature over all.
    """

    def __init__(self, scheme: Scheme, ends: Array) -> None:
        self.scheme, self.ends = scheme, np.asarray(ends, float)
        self.sizes = np.diff(self.ends)
        k, s = len(self.sizes), len(scheme.points) - 1
        self.nodes: Any = s * np.arange(k)[:, None] + np.arange(s + 1)
        self.times = np.append((self.ends[:-1, None] + self.sizes[:, None] * scheme.points[:-1]).ravel(), 1.0)
        self.weights = np.zeros(k * s + 1)
        np.add.at(self.weights, self.nodes, self.sizes[:, None] * scheme.weights)

    def __len__(self) -> int:
        return len(self.times)

    def defects(self, x: Array, F: Array, duration: float) -> Array:
        """L x - h W F of all intervals ``(k, s, nx)``."""
        h = duration * self.sizes[:, None, None]
        return self.scheme.L @ x[self.nodes] - h * (self.scheme.W @ F[self.nodes])

    def weigh(self, multipliers: Array) -> Array:
        """Weights of each node's F in the defects times these ``(k, s, nx)``, for each unit of duration: ``(n, nx)``."""
        found = np.zeros((len(self), multipliers.shape[2]))
        np.add.at(found, self.nodes, self.sizes[:, None, None] * (self.scheme.W.T @ multipliers))
        return found

    def interpolate(self, values: Array, at: Array, *, states: bool = False) -> Array:
        """Controls ``(n, m)`` of nodes, or *states*, at other fractions of the duration, by polynomials of the intervals."""
        which = np.clip(np.searchsorted(self.ends, at, side="right") - 1, 0, len(self.sizes) - 1)
        found = np.empty((len(at), values.shape[1]))
        for i in np.unique(which):
            here = which == i
            local = (at[here] - self.ends[i]) / self.sizes[i]
            mine = values[self.nodes[i]]
            found[here] = lagrange(self.scheme.points, local) @ mine if states else self.scheme.interpolate(mine, local)
        return found
