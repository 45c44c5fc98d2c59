"""Witnesses of contacts that are closed, of runs in lanes: kernels read forces off the multipliers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra.pointers import block_of, numbers1
from ..algebra.scalar import load, sqrt, zero
from ..compiling import generic
from ..event.routines import by_address, number
from ..event.witness import Witness
from ..state.state import State
from ..tree import sliding
from ..tree.constraints import row_times
from ..value.stage import Stage
from .base import UnilateralContact


@generic
def look_at_normal_force(model: Any, i: int, n: int) -> Any:
    """Integer: the constraint that is enabled. Number: minus the sign of its error. Nothing is known of the rate."""
    force = number(model, n) * load(model.multiplier, model.first_row[model.witness_integers[i]], 0)
    return force, zero(force) + math.nan


@generic
def look_at_friction(model: Any, i: int, n: int) -> Any:
    """The same, and another integer: where the contact's numbers are. By how much friction is below its limit."""
    r = model.first_row[model.witness_integers[i]]
    x, y = load(model.multiplier, r + 1, 0), load(model.multiplier, r + 2, 0)
    coefficient = numbers1(model.witness_integers[i + 1], 0)[2]
    left = coefficient * (number(model, n) * load(model.multiplier, r, 0)) - sqrt(x * x + y * y)
    return left, zero(left) + math.nan


@generic
def look_at_slip(model: Any, i: int, n: int) -> Any:
    """Integers: the constraints of the normal and of the slip. Number: 1 where the least slip is taken off, 0 elsewhere."""
    c, r = model.witness_integers[i], model.witness_integers[i + 1]
    x, y = row_times(model, r, 1, model.V_GB, model.u), row_times(model, r, 2, model.V_GB, model.u)
    along = x * load(model.slip_memory, c, sliding.DIRECTION) + y * load(model.slip_memory, c, sliding.DIRECTION + 1)
    slip = along - number(model, n) * load(model.slip_memory, c, sliding.LEAST_SLIP)
    return slip, zero(slip) + math.nan


class NormalForce(Witness):
    """The normal force of a contact that is closed: at zero it lets go.

    Parameters
    ----------
    contact : UnilateralContact
    """

    required_stage = Stage.ACCELERATION
    is_fixed = True
    routine = by_address(look_at_normal_force)

    def __init__(self, contact: UnilateralContact) -> None:
        self._contact = contact

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._contact.name!r}>"

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        contact = self._contact
        rows = contact.normal if contact.is_sliding(state) else contact.rows_of()
        return [rows.index], [-float(contact.get_sign_convention())]

    def calc_value(self, state: State) -> float:
        """The force. Needs ACCELERATION."""
        return self._contact.calc_normal_force(state)


class FrictionLeft(NormalForce):
    """By how much friction is below its limit, of a contact that sticks: at zero it slips."""

    routine = by_address(look_at_friction)

    def __init__(self, contact: UnilateralContact) -> None:
        super().__init__(contact)
        self._numbers: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_numbers": None}  # addresses are of this process

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        integers, numbers = super().pack(state)
        if self._numbers is None:  # where they are, as they may change on the way
            self._numbers = block_of([self._contact.numbers])
        return [*integers, self._numbers.ctypes.data], numbers

    def calc_value(self, state: State) -> float:
        """The coefficient times the normal force, less the friction. Needs ACCELERATION."""
        x, y = self._contact.calc_friction_force(state).tolist()
        return self._contact.get_static_friction() * self._contact.calc_normal_force(state) - float((x * x + y * y) ** 0.5)


class SlipLeft(NormalForce):
    """The slip of a contact along the direction in which it was let slide, less what it ends at.

    Parameters
    ----------
    contact : UnilateralContact
    least : bool
        Whether that is the least slip of `tree.sliding`, which what begins with less rises above; else it is zero.
    """

    required_stage = Stage.VELOCITY
    routine = by_address(look_at_slip)

    def __init__(self, contact: UnilateralContact, least: bool) -> None:
        super().__init__(contact)
        self._least = float(least)

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        return [self._contact.normal.index, self._contact.rows_of().index], [self._least]

    def calc_value(self, state: State) -> float:
        """The slip. Needs VELOCITY."""
        direction, *_, least = np.split(state.record.slip_memory[self._contact.normal.index], [2, sliding.LEAST_SLIP])
        return float(self._contact.get_slip_velocity(state) @ direction - self._least * least[0])
