"""ConstantAcceleration: udot of a speed has a value.

aerr = udot - value
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .._jit import generic
from ..algebra.scalar import load, one, zero
from . import _access
from ._one_coordinate import OfOneValue

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State


@generic
def positions(model: Any, c: int) -> None:
    """The coefficient of udot."""
    _access.put_speed_coefficient(model, c, 0, 0, _access.integer(model, c, 0), one(load(model.time, 0, 0)))


@generic
def velocities(model: Any, c: int) -> None:
    """What aerr has beside."""
    _access.put_acceleration_offset(model, c, 0, zero(load(model.time, 0, 0)) - _access.number(model, c, 0))


class ConstantAcceleration(OfOneValue):
    """Gives one acceleration udot of a mobilizer a value: one equation of accelerations alone.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it is.
    which_u : int
        Which of its speeds, from 0.
    value : float
        What its udot is; angle/time^2 or length/time^2.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.
    """

    _letter, _what = "u", "acceleration"
    routine = _access.by_address(positions, velocities)

    def __init__(
        self,
        mobod: MobilizedBody,
        which_u: int,
        value: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(mobod, which_u, value, equations=(0, 0, 1), disabled_by_default=disabled_by_default, name=name)

    def get_which_u(self) -> int:
        """Which speed."""
        return self._which

    def get_default_acceleration(self) -> float:
        """The value in a default state."""
        return self.get_default_value()

    def set_default_acceleration(self, acceleration: float) -> Self:
        """Change the value of a default state; a topological change."""
        return self.set_default_value(acceleration)

    def get_acceleration(self, state: State) -> float:
        """The value in this state. Needs MODEL."""
        return self.get_value(state)

    def set_acceleration(self, state: State, acceleration: float) -> None:
        """Change the value in this state alone, which falls to MODEL at most."""
        self.set_value(state, acceleration)
