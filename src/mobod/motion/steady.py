"""Steady: the speeds of a mobilizer are constants.

u = rates   udot = 0   q integrated
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._jit import routine
from ..algebra.scalar import load, store
from ..level import Level
from ._what import SET_U
from .base import Motion, finite

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State


@routine
def move(model: Any, b: int, what: int) -> int:
    """What `_what` says, for body b; its udot is zero, which the sweeps know from `together`."""
    x, k = model.first_motion_number[b], model.first_u[b]
    if what == SET_U:
        for j in range(model.num_u[b]):
            store(model.u, k + j, 0, load(model.motion_numbers, x + j, 0))
    return 0


class Steady(Motion):
    """Prescribe constant speeds.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it governs.
    rates : float or (n,) array
        The speed of all mobilities, or of the first n of them, the others being zero; angle/time or length/time. A state can
        have its own, see `set_rate`.

    Raises
    ------
    ValueError
        If a number is not finite, or there are more of them than mobilities.
    ModelError
        If the body has a motion already, or no mobilities.
    """

    routine = move
    _level = Level.VELOCITY

    def __init__(self, mobod: MobilizedBody, rates: npt.ArrayLike) -> None:
        if hasattr(mobod, "facts"):  # else the base class says what is wrong
            self._rates = self._all_rates(rates, mobod.facts.num_u, mobod)
        super().__init__(mobod)

    @staticmethod
    def _all_rates(rates: npt.ArrayLike, n: int, mobod: Any) -> npt.NDArray[np.float64]:
        try:
            array = np.asarray(rates, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"rates of {mobod._name!r} are a number, or at most {n} of them, got {rates!r}") from None
        if array.ndim > 1 or (array.ndim == 1 and len(array) > n):
            raise ValueError(f"rates of {mobod._name!r} are a number, or at most {n} of them, got shape {array.shape}")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"rates of {mobod._name!r} have to be finite, got {array}")
        if array.ndim == 0:
            return np.full(n, float(array))
        return np.concatenate([array, np.zeros(n - len(array))])

    @property
    def _is_steady(self) -> bool:
        return True

    def _numbers(self) -> Sequence[float]:
        return list(self._rates)

    def _which(self, which: int) -> int:
        n = len(self._rates)
        if not 0 <= int(which) < n:
            raise IndexError(f"{self._mobod._name!r} has {n} u; there is no number {which}")
        return int(which)

    def set_default_rate(self, rate: float) -> Steady:
        """Change the speed of all mobilities of a default state; a topological change. Returns the motion."""
        return self.set_default_rates(finite("the rate", rate))

    def set_default_rates(self, rates: npt.ArrayLike) -> Steady:
        """Change the speeds of a default state, as the constructor takes them; a topological change. Returns the motion."""
        self._rates = self._all_rates(rates, len(self._rates), self._mobod)
        self._mobod._changed()
        return self

    def set_one_default_rate(self, which: int, rate: float) -> Steady:
        """Change one mobility's speed of a default state; a topological change. Returns the motion."""
        self._rates[self._which(which)] = finite("the rate", rate)
        self._mobod._changed()
        return self

    def get_one_default_rate(self, which: int) -> float:
        """One mobility's speed in a default state."""
        return float(self._rates[self._which(which)])

    def set_rate(self, state: State, rate: float) -> None:
        """Change the speed of all mobilities in this state, which falls to MODEL; u is as before until prescribed."""
        self._check(state, "set_rate")
        value = finite("the rate", rate)
        self._run(state, change=True)[:] = value

    def set_one_rate(self, state: State, which: int, rate: float) -> None:
        """Change one mobility's speed in this state, which falls to MODEL; u is as before until prescribed."""
        self._check(state, "set_one_rate")
        which, value = self._which(which), finite("the rate", rate)
        self._run(state, change=True)[which] = value

    def get_one_rate(self, state: State, which: int) -> float:
        """One mobility's speed in this state. Needs MODEL."""
        self._check(state, "get_one_rate")
        return float(self._run(state, change=False)[self._which(which)])


__all__ = ["Steady"]
