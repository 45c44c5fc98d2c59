"""Steady: the speeds of a mobilizer are constants.

u = rates   udot = 0   q integrated
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.scalar import load, store
from ..compiling import routine
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state.of_each import Present, Rows, numbers_at, of_each
from ..state.state import State
from ..value import checks, rows
from ..value.level import Level
from .base import Motion
from .protocol import SET_U


@routine
def move(model: Any, b: int, what: int) -> int:
    """The routine for body b, see `protocol`; udot is zero, which the sweeps know from the field `prescribed`."""
    x, k = model.first_motion_number[b], model.first_u[b]
    if what == SET_U:
        for j in range(model.num_u[b]):
            store(model.u, k + j, 0, load(model.motion_numbers, x + j, 0))
    return 0


def _rates_of_each(motion: Any, template: State, values: Any, present: Present) -> Rows | None:
    """The rate of all mobilities, one a state."""
    motion.get_one_rate(template, 0)  # refuses states of other systems
    array, count = rows.as_array(values), len(motion.pack_numbers())
    if array is None or array.ndim != 1:
        return None
    first = int(template.tree.fields["first_motion_number"][motion.mobod.index])
    return numbers_at("motion_numbers", first, np.repeat(array[:, None], count, axis=1), count)


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

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> drive = mb.motion.Steady(arm, 2.0)
    >>> state = system.realize_topology()
    >>> system.prescribe(state)
    True
    >>> arm.get_u(state)
    2.0
    """

    routine = move
    names_of_numbers = ("rates",)
    _level = Level.VELOCITY

    def __init__(self, mobod: MobilizedBody, rates: npt.ArrayLike) -> None:
        if hasattr(mobod, "facts"):  # else the base class says what is wrong
            self._rates = self._all_rates(rates, mobod.facts.num_u, mobod)
        super().__init__(mobod)

    @staticmethod
    def _all_rates(rates: npt.ArrayLike, n: int, mobod: Any) -> npt.NDArray[np.float64]:
        array = checks.numbers(f"rates of {mobod.name!r}", rates, f"a number, or at most {n} of them")
        if array.ndim > 1 or (array.ndim == 1 and len(array) > n):
            raise ValueError(f"rates of {mobod.name!r} are a number, or at most {n} of them, got shape {array.shape}")
        if not np.all(np.isfinite(array)):
            raise ModelError(f"rates of {mobod.name!r} have to be finite, got {array}")
        if array.ndim == 0:
            return np.full(n, float(array))
        return np.concatenate([array, np.zeros(n - len(array))])

    @property
    def is_steady(self) -> bool:
        return True

    def pack_numbers(self) -> Sequence[float]:
        return list(self._rates)

    def _which(self, which: int) -> int:
        n, i = len(self._rates), checks.integer(f"which of {self!r}", which)
        if not 0 <= i < n:
            raise IndexError(f"{self.mobod.name!r} has {n} u; there is no number {which}")
        return i

    def set_default_rate(self, rate: float) -> Steady:
        """Change the speed of all mobilities of a default state; a topological change. Returns the motion."""
        return self.set_default_rates(checks.finite(f"rate of {self!r}", rate))

    def set_default_rates(self, rates: npt.ArrayLike) -> Steady:
        """Change the speeds of a default state, as the constructor takes them; a topological change. Returns the motion."""
        self._rates = self._all_rates(rates, len(self._rates), self.mobod)
        self.mobod.instance_changed()
        return self

    def set_one_default_rate(self, which: int, rate: float) -> Steady:
        """Change one mobility's speed of a default state; a topological change. Returns the motion."""
        i, value = self._which(which), checks.finite(f"rate of {self!r}", rate)
        self._rates[i] = value
        self.mobod.instance_changed()
        return self

    def get_one_default_rate(self, which: int) -> float:
        """One mobility's speed in a default state."""
        return float(self._rates[self._which(which)])

    @of_each(_rates_of_each)
    def set_rate(self, state: State, rate: float) -> None:
        """Change the speed of all mobilities in this state, which falls to MODEL; u is as before until prescribed."""
        if not (len(self._rates) == 1 and self.put_in(state, rate, 0, ())):
            self._check(state, "set_rate")
            value = checks.finite(f"rate of {self!r}", rate)
            self.number_run(state, "set_rate", True)[:] = value

    def set_one_rate(self, state: State, which: int, rate: float) -> None:
        """Change one mobility's speed in this state, which falls to MODEL; u is as before until prescribed."""
        if not (type(which) is int and 0 <= which < len(self._rates) and self.put_in(state, rate, which, ())):
            self._check(state, "set_one_rate")
            which, value = self._which(which), checks.finite(f"rate of {self!r}", rate)
            self.number_run(state, "set_one_rate", True)[which] = value

    def get_one_rate(self, state: State, which: int) -> float:
        """One mobility's speed in this state. Needs MODEL."""
        return float(self.number_run(state, "get_one_rate")[self._which(which)])
