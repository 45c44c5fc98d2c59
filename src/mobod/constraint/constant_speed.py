"""ConstantSpeed: a speed stays at a value.

verr = u - value     aerr = udot
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
    """The coefficient of u."""
    _access.put_speed_coefficient(model, c, 0, 0, _access.integer(model, c, 0), one(load(model.time, 0, 0)))


@generic
def velocities(model: Any, c: int) -> None:
    """What verr and aerr have beside."""
    o = zero(load(model.time, 0, 0))
    _access.put_velocity_offset(model, c, 0, o - _access.number(model, c, 0))
    _access.put_acceleration_offset(model, c, 0, o)


class ConstantSpeed(OfOneValue):
    """Holds one speed of a mobilizer at a value: one equation of velocities.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it is.
    which_u : int
        Which of its speeds, from 0.
    value : float
        What it is held at; angle/time or length/time.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.
    """

    _letter, _what = "u", "speed"
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
        super().__init__(mobod, which_u, value, equations=(0, 1, 0), disabled_by_default=disabled_by_default, name=name)

    def get_which_u(self) -> int:
        """Which speed."""
        return self._which

    def get_default_speed(self) -> float:
        """The value in a default state."""
        return self.get_default_value()

    def set_default_speed(self, speed: float) -> Self:
        """Change the value of a default state; a topological change."""
        return self.set_default_value(speed)

    def get_speed(self, state: State) -> float:
        """The value in this state. Needs MODEL."""
        return self.get_value(state)

    def set_speed(self, state: State, speed: float) -> None:
        """Change the value in this state alone, which falls to MODEL at most."""
        self.set_value(state, speed)

    def get_velocity_error(self, state: State) -> float:
        """u less the value; `ModelError` where it is disabled. Needs VELOCITY."""
        return self._the_only(state, "get_velocity_error", self.get_velocity_errors_as_vector(state))
