"""Sinusoid: a harmonic function of time.

m = a sin(w t + p)   m' = a w cos(w t + p)   m'' = -a w^2 sin(w t + p)   m''' = -a w^3 cos(w t + p)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..stage import Stage
from .base import Measure, check_shape

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem


class Sinusoid(Measure):
    """A harmonic function of time, ``amplitude * sin(frequency * t + phase)``, with three derivatives. Needs TIME.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    amplitude : float or (n,) array_like
    frequency : float or (n,) array_like
        Angular: radians a unit of time.
    phase : float or (n,) array_like
        Radians.

    Raises
    ------
    ModelError
        If one of them is not finite.
    ValueError
        If they have not one size; one number counts for a whole vector.
    """

    def __init__(
        self,
        subsystem: Subsystem | None,
        amplitude: npt.ArrayLike,
        frequency: npt.ArrayLike,
        phase: npt.ArrayLike = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        given = {"amplitude": amplitude, "frequency": frequency, "phase": phase}
        try:
            arrays = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in given.values()))
        except ValueError:
            shapes = ", ".join(f"{what} {np.shape(value)}" for what, value in given.items())
            raise ValueError(f"the numbers of a Sinusoid have to be of one size; got {shapes}") from None
        for what, value in given.items():
            if not np.isfinite(np.asarray(value, dtype=np.float64)).all():
                raise ModelError(f"the {what} of a Sinusoid has to be finite; got {value!r}")
        self._a, self._w, self._p = (np.array(array) for array in arrays)
        self._numbers = tuple(float(array.flat[0]) for array in (self._a, self._w, self._p))
        super().__init__(subsystem, check_shape(self._a.shape, "a Sinusoid"), name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        if self._shape == ():
            return self._number(state.time, deriv_order)
        angle = self._w * state.time + self._p
        wave = np.cos(angle) if deriv_order % 2 else np.sin(angle)
        size = self._a * self._w**deriv_order
        return self._given((-size if deriv_order in (2, 3) else size) * wave)

    def _number(self, time: float, deriv_order: int) -> float:
        """The same of one number, at a quarter of the cost."""
        a, w, p = self._numbers
        size = a * w**deriv_order
        angle = w * time + p
        return (-size if deriv_order in (2, 3) else size) * (math.cos(angle) if deriv_order % 2 else math.sin(angle))

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        return 3

    def _depends_on(self, deriv_order: int) -> Stage:
        return Stage.TIME
