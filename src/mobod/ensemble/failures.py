"""Failures of states of an ensemble: their times and reasons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..stepping import record as rk
from .lanes import layout

#: What the end of a run says of its state.
OF_STATUS = {
    rk.STEP_TOO_SMALL: "a step however small misses the accuracy: the system is too stiff, or accelerations jump",
    rk.NOT_FINITE: "accelerations are not finite, however short the step",
    rk.NOT_SAMPLED: "the law of a controller has raised an exception, or given an effort that is not finite",
    rk.NOT_PROJECTED: "the state cannot be brought to its constraints, however short the step",
    layout.NOT_CALLED: "a handler or reporter has raised an error",
    layout.NOT_RUN: "it was not run: the run was interrupted",
}


class Failure(NamedTuple):
    """The failure of a state: its time and reason."""

    time: float
    reason: str

    def __str__(self) -> str:
        return f"at time {self.time:.6g}: {self.reason}"


class Reasons:
    """Reasons of the failures of a call that went through time: little work until someone asks.

    Parameters
    ----------
    status : (n,) array of int
        How each state's run has ended.
    forces : (n, nu) array
        Mobility forces that were held, or none.
    """

    def __init__(self, status: npt.NDArray[np.int64], forces: npt.NDArray[np.float64]) -> None:
        self._status = status.copy()
        finite = np.isfinite(forces)
        self._bad = {int(i): int(np.argmin(finite[i])) for i in np.flatnonzero(~finite.all(axis=1))}
        #: What those say that were run alone.
        self.of_states: dict[int, str] = {}

    def add(self, which: npt.NDArray[np.int64], status: npt.NDArray[np.int64]) -> None:
        """Add the ends of the runs of some states."""
        self._status[which] = status

    def __getitem__(self, i: int) -> str:
        if i in self._bad:
            return f"the force on mobility {self._bad[i]}, of mobility_forces, is not finite"
        found = self.of_states.get(i, OF_STATUS.get(int(self._status[i])))
        return "it failed for a reason that is not known" if found is None else found
