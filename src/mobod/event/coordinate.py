"""Coordinate: how far a coordinate is above a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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
    """Integers: the place of q. Numbers: the sign, and the value."""
    place, sign = model.witness_integers[i], number(model, n)
    return sign * (load(model.q, place, 0) - number(model, n + 1)), sign * load(model.q_dot, place, 0)


class Coordinate(Witness):
    """q - value, q being a coordinate of a mobilizer.

    Parameters
    ----------
    mobod : MobilizedBody
    which_q : int
        Its place among the mobilizer's.
    value : float
    upper : bool
        Value - q instead: the distance from an upper bound.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> level = mb.event.StopWhen(mb.event.Coordinate(system.matter.bodies["lower"], 0, 0.0))
    >>> system.add_event_handler(level)
    >>> motion = mb.simulate(system, state, 5.0)
    >>> bool(abs(motion.q[-1, 1]) < 1e-3)
    True
    """

    required_stage = Stage.TIME
    has_rate = True
    rate_stage = Stage.VELOCITY
    routine = by_address(look)

    def __init__(self, mobod: MobilizedBody, which_q: int = 0, value: float = 0.0, *, upper: bool = False) -> None:
        check_body("mobod", "Coordinate", mobod)
        self._mobod, self._which, self._value = (
            mobod,
            integer("which_q of a Coordinate", which_q),
            finite("the value of a Coordinate", value),
        )
        self._sign = -1.0 if upper else 1.0

    def __repr__(self) -> str:
        return f"<Coordinate {self._which} of {self._mobod.name!r} at {self._value:g}>"

    @property
    def mobod(self) -> MobilizedBody:
        """Whose coordinate it is, read-only."""
        return self._mobod

    def _place(self, state: State) -> int:
        return int(self._mobod.which_coordinate(self._mobod.q_slice(state), self._which, "q"))

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        return [self._place(state)], [self._sign, self._value]

    def calc_value(self, state: State) -> float:
        """Distance of the coordinate from the value, positive on its side."""
        return self._sign * (state.q_values.item(self._place(state)) - self._value)

    def calc_rate(self, state: State) -> float:
        """Rate of that. Needs VELOCITY."""
        return self._sign * state.q_dot_view.item(self._place(state))

    def calc_direction(self, state: State) -> npt.NDArray[np.float64]:
        """The row of N that belongs to the coordinate ``(nu,)``. Needs POSITION."""
        e = np.zeros(state.tree.nq)
        e[self._place(state)] = self._sign
        row: npt.NDArray[np.float64] = state.system.get_matter_subsystem().multiply_by_n(state, True, e)
        return row

    def calc_acceleration(self, state: State) -> float:
        """Second rate. Needs ACCELERATION."""
        return self._sign * float(state.q_dot_dot[self._place(state)])
