"""Sums of squares of points and frames: their normal equations, from one compiled sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..state.state import State
from ..tree import normal_equations


class Normal:
    """Half a sum of squares at a state: its Gauss-Newton matrix and its gradient, by u-like displacements.

    `begin`, then what adds to it, then `finish`.
    """

    def __init__(self, nb: int, nu: int) -> None:
        self.weights, self.forces = np.zeros((nb, 10)), np.zeros((nb, 6))
        self.H, self.g = np.zeros((nu, nu)), np.zeros(nu)
        self._clear: Any = normal_equations.clear.dispatcher
        self._stations: Any = normal_equations.add_stations.dispatcher
        self._attitudes: Any = normal_equations.add_attitudes.dispatcher
        self._finish: Any = normal_equations.form.dispatcher

    def begin(self, state: State) -> None:
        """Set both to zero."""
        self._clear(state.block, self.weights, self.forces)

    def add_stations(
        self, state: State, bodies: npt.NDArray[np.int64], stations: Array, targets: Array, weights: Array
    ) -> float:
        """Add stations with targets in Ground; returns half the weighted sum of squares."""
        return float(self._stations(state.block, bodies, stations, targets, weights, self.weights, self.forces))

    def add_attitudes(self, state: State, bodies: npt.NDArray[np.int64], errors: Array, weights: Array) -> float:
        """Add orientation errors, rotation vectors in Ground; returns half the weighted sum of squares."""
        return float(self._attitudes(state.block, bodies, errors, weights, self.weights, self.forces))

    def finish(self, state: State) -> tuple[Array, Array]:
        """H ``(nu, nu)`` and g ``(nu,)``, which the next use overwrites."""
        self._finish(state.block, self.weights, self.forces, self.H, self.g)
        return self.H, self.g
