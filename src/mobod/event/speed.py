"""Speed: how far a speed is above a value."""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value.checks import finite, integer
from ..value.stage import Stage
from .routines import by_address, number
from .witness import Witness, check_body


@generic
def look(model: Any, i: int, n: int) -> Any:
    """Integers: the place of u. Numbers: the value."""
    place = model.witness_integers[i]
    return load(model.u, place, 0) - number(model, n), load(model.u_dot, place, 0)


class Speed(Witness):
    """u - value, u being a speed of a mobilizer.

    Parameters
    ----------
    mobod : MobilizedBody
    which_u : int
        Its place among the mobilizer's.
    value : float

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> system.add_event_handler(mb.event.StopWhen(mb.event.Speed(system.matter.bodies["lower"], 0, 0.0)))
    >>> state.u = 0.0, 1.0
    >>> motion = mb.simulate(system, state, 5.0)
    >>> bool(abs(motion.u[-1, 1]) < 1e-2)
    True
    """

    required_stage = Stage.TIME
    has_rate = True
    routine = by_address(look)

    def __init__(self, mobod: MobilizedBody, which_u: int = 0, value: float = 0.0) -> None:
        check_body("mobod", "Speed", mobod)
        self._mobod, self._which, self._value = (
            mobod,
            integer("which_u of a Speed", which_u),
            finite("the value of a Speed", value),
        )

    def __repr__(self) -> str:
        return f"<Speed {self._which} of {self._mobod.name!r} at {self._value:g}>"

    def _place(self, state: State) -> int:
        return int(self._mobod.which_coordinate(self._mobod.u_slice(state), self._which, "u"))

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        return [self._place(state)], [self._value]

    def calc_value(self, state: State) -> float:
        """Excess of the speed over the value."""
        return state.u_values.item(self._place(state)) - self._value

    def calc_rate(self, state: State) -> float:
        """Rate of that. Needs ACCELERATION."""
        return state.u_dot_view.item(self._place(state))
