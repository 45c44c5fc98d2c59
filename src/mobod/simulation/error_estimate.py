"""An estimate of the error of a whole run: how far it is from a finer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from .trajectory import Trajectory


@dataclass
class ErrorEstimate:
    """The difference between a run and one with a tenth of its accuracy, or half its fixed step.

    Attributes
    ----------
    reference : str
        What it was compared with.
    coordinate_names : tuple of str
    largest : (nq,) array
        Largest difference of each coordinate at any report.
    tolerance : float
        Difference beyond which the two runs count as diverged.
    horizon : float
        First time at which a coordinate differs by more; infinite if none does.
    horizon_of : str
        The name of that coordinate.
    """

    reference: str
    coordinate_names: tuple[str, ...]
    largest: Array
    tolerance: float
    horizon: float = np.inf
    horizon_of: str = ""

    def __str__(self) -> str:
        if not len(self.largest):
            return "no coordinates"
        worst = int(np.argmax(self.largest))
        text = f"{self.largest[worst]:.2g} in {self.coordinate_names[worst]} (against {self.reference})"
        if np.isfinite(self.horizon):
            text += f"; beyond {self.tolerance:g} from time {self.horizon:.6g} on, in {self.horizon_of}"
        return text


class ErrorRows:
    """Takes the rows of the second run, and compares them with the first's as they come.

    Parameters
    ----------
    trajectory : Trajectory
        The first.
    reference : str
        What the second is.
    tolerance : float
    """

    def __init__(self, trajectory: Trajectory, reference: str, tolerance: float) -> None:
        self._q = trajectory.q
        self.used = 0
        self.estimate = ErrorEstimate(reference, trajectory.coordinate_names, np.zeros(trajectory.q.shape[1]), tolerance)

    def __len__(self) -> int:
        return self.used

    def append(self, block: Any) -> None:
        """Compare some more rows."""
        q, estimate = block["q"], self.estimate
        first = self._q[self.used : self.used + len(q)]
        differences = np.abs(q[: len(first)] - first)
        self.used += len(q)
        if not differences.size:
            return
        estimate.largest = np.maximum(estimate.largest, differences.max(axis=0))
        beyond = np.argwhere(~(differences <= estimate.tolerance))
        if len(beyond) and not np.isfinite(estimate.horizon):
            estimate.horizon = float(block["time"][beyond[0, 0]])
            estimate.horizon_of = estimate.coordinate_names[beyond[0, 1]]

    def describe(self, **more: Any) -> None:
        """Nothing is kept."""

    def flush(self) -> None:
        """Nothing is kept."""
