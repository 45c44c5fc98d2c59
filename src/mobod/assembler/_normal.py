"""Sums of squares of points and frames: their normal equations, from one compiled sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..tree import fitting

if TYPE_CHECKING:
    from ..state import State

Array = npt.NDArray[np.float64]


class Normal:
    """Half a sum of squares at a state: its Gauss-Newton matrix and its gradient, by u-like displacements.

    `begin`, then what adds to it, then `finish`.
    """

    def __init__(self, nb: int, nu: int) -> None:
        self.weights, self.forces = np.zeros((nb, 10)), np.zeros((nb, 6))
        self.H, self.g = np.zeros((nu, nu)), np.zeros(nu)
        self._clear: Any = fitting.clear.dispatcher
        self._stations: Any = fitting.add_stations.dispatcher
        self._attitudes: Any = fitting.add_attitudes.dispatcher
        self._finish: Any = fitting.normal_equations.dispatcher

    def begin(self, state: State) -> None:
        """Nothing is wanted."""
        self._clear(state._block, self.weights, self.forces)

    def add_stations(
        self, state: State, bodies: npt.NDArray[np.int64], stations: Array, targets: Array, weights: Array
    ) -> float:
        """Stations are wanted at targets in Ground; half the weighted sum of squares."""
        return float(self._stations(state._block, bodies, stations, targets, weights, self.weights, self.forces))

    def add_attitudes(self, state: State, bodies: npt.NDArray[np.int64], errors: Array, weights: Array) -> float:
        """Bodies are wanted turned by minus the rotation vectors *errors* in Ground; half the weighted sum of squares."""
        return float(self._attitudes(state._block, bodies, errors, weights, self.weights, self.forces))

    def finish(self, state: State) -> tuple[Array, Array]:
        """H ``(nu, nu)`` and g ``(nu,)``: arrays that the next use writes over."""
        self._finish(state._block, self.weights, self.forces, self.H, self.g)
        return self.H, self.g
