"""Speed: how far a speed is above a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..stage import Stage
from .coordinate import _finite
from .witness import Witness, check_body

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State


class Speed(Witness):
    """u - value, u being a speed of a mobilizer.

    Parameters
    ----------
    mobod : MobilizedBody
    which_u : int
        Its place among the mobilizer's.
    value : float
    """

    required_stage = Stage.TIME
    has_rate = True

    def __init__(self, mobod: MobilizedBody, which_u: int = 0, value: float = 0.0) -> None:
        check_body("mobod", "Speed", mobod)
        self._mobod, self._which, self._value = mobod, int(which_u), _finite(value)

    def __repr__(self) -> str:
        return f"<Speed {self._which} of {self._mobod.name!r} at {self._value:g}>"

    def _place(self, state: State) -> int:
        return int(self._mobod._which(self._mobod._u_slice(state), self._which, "u"))

    def _packed(self, state: State) -> tuple[list[int], list[float]]:
        return [1, self._place(state)], [1.0, self._value]

    def calc_value(self, state: State) -> float:
        """How far the speed is above the value."""
        return state._u.item(self._place(state)) - self._value

    def calc_rate(self, state: State) -> float:
        """Rate of that. Needs ACCELERATION."""
        return state._u_dot_view.item(self._place(state))
