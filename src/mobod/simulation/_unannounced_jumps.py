"""Jumps of forces that no event announces, which sensitivities do not know of: a warning where a step shows one.

Where the rates jump from f- to f+ as the motion passes g(t, y) = 0, changes jump by (f+ - f-) (dg S) / (dg/dt along the
motion), see `_carrying`; without an event nobody knows g. Error control makes steps short there. In a short step of a smooth
motion rates change by little, or as J says that they do.
"""

from __future__ import annotations

import warnings

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from ..system.forward_sensitivities import Variations

#: The part of the longest step so far that is a short one.
_SHORT = 0.1
#: The part of a rate's largest size so far that it may change by in a short step of a smooth motion.
_PART = 0.2
#: How many times as much as J at either end says counts as a jump.
_UNEXPLAINED = 3.0


class UnannouncedJumps:
    """Looks at each step of a run, and warns once.

    Parameters
    ----------
    variations : Variations
        Of the run.
    """

    def __init__(self, variations: Variations) -> None:
        self._of, self._told = variations, False
        self.begin()

    def begin(self) -> None:
        """Forget the steps before: an event has changed the state, or what acts."""
        self._longest, self._largest = 0.0, np.zeros(self._of.num_integrated)

    def look(self, state: State, begin: tuple[float, Array, Array], end: tuple[float, Array, Array]) -> None:
        """After a step of the run that the state is of, with the time, y and the rates of y where it began and ended."""
        (began, y, before), (ended, y_end, after) = begin, end
        h = ended - began
        self._longest = max(self._longest, h)
        np.maximum(self._largest, np.abs(after), out=self._largest)
        if h > _SHORT * self._longest or self._told:
            return
        of, change = self._of, np.abs(after - before)
        changed = change > _PART * self._largest
        changed[: of.nq] = False  # rates of q are speeds, which jump at events alone
        changed[of.nq + of.nu + of.nz :] = False
        if not changed.any():
            return
        explained = np.zeros_like(change)
        for time, values in ((began, y), (ended, y_end)):
            other = state.copy()
            other.time, other.y = time, values
            of.system.realize(other)
            J = of.rates(other)[0][: of.num_integrated, : of.num_integrated]
            explained += np.abs(J @ (y_end - y))
        jumps = np.flatnonzero(changed & (change > _UNEXPLAINED * explained))
        if len(jumps):
            self._told = True
            self._tell(state, began, int(jumps[np.argmax(change[jumps])]), before, after)

    def _tell(self, state: State, time: float, i: int, before: Array, after: Array) -> None:
        from .names import auxiliary_names, speed_names

        of, system = self._of, self._of.system
        names = [f"{name}.u" for name in speed_names(system, state)[: of.nu]] + auxiliary_names(system, state)
        warnings.warn(
            f"at time {time:.6g} the rate of {names[i - of.nq]} jumps from {before[i]:.4g} to {after[i]:.4g} without an event, "
            "and the derivatives leave out that the time of the jump depends on the motion; let an event set the force there: "
            "see 'Forces that jump' in docs/how-to/derivatives.md",
            UserWarning,
            stacklevel=2,
        )
