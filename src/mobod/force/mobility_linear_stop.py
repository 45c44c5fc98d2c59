"""MobilityLinearStop: pushes one coordinate of a mobilizer back between bounds.

q > q_high   x = q - q_high > 0   f_q = min(0, -k x (1 + d q_dot))
q < q_low    x = q - q_low < 0    f_q = max(0, -k x (1 - d q_dot))       PE = 1/2 k x^2

The force of Hunt and Crossley 1975 with a linear spring: it grows from zero at the bound, and never pulls. What it dissipates
is the power that it takes, less that of the spring alone: -(f_q + k x) q_dot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._jit import generic
from ..algebra.scalar import where, zero
from ._by_address import by_address
from ._checked import not_negative
from ._coordinate import OnCoordinate, coordinate, coordinate_rate, push
from ._pools import number

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..mobilizer.base import MobilizedBody
    from ..state import State


@generic
def beyond(model: Any, integers: int, numbers: int) -> Any:
    """x, zero between the bounds. Numbers: k, d, q_low, q_high."""
    q, low, high = coordinate(model, integers), number(model, numbers + 2), number(model, numbers + 3)
    o = zero(q)
    return where(q > high, q - high, where(q < low, q - low, o))


@generic
def force(model: Any, integers: int, numbers: int, x: Any, rate: Any) -> Any:
    """f_q."""
    k, d = number(model, numbers), number(model, numbers + 1)
    out = where(x < 0.0, -rate, rate)  # the rate at which x grows in size
    give = 1.0 + d * out
    f = -k * x * give
    return where(give > 0.0, f, zero(f))


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """f_q on the coordinate."""
    x = beyond(model, integers, numbers)
    push(model, integers, force(model, integers, numbers, x, coordinate_rate(model, integers)))


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """1/2 k x^2."""
    x = beyond(model, integers, numbers)
    return 0.5 * number(model, numbers) * x * x


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """-(f_q + k x) q_dot."""
    x, rate = beyond(model, integers, numbers), coordinate_rate(model, integers)
    return -(force(model, integers, numbers, x, rate) + number(model, numbers) * x) * rate


run = by_address(add, energy, power)


class MobilityLinearStop(OnCoordinate):
    """A compliant stop that keeps one coordinate of a mobilizer between bounds.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_q : int
        The number of the coordinate among the mobilizer's, from 0.
    stiffness : float
        Of both stops; generalized force by coordinate, zero or more.
    dissipation : float
        Of both stops; one over a coordinate's rate, zero or more.
    q_low, q_high : float
        The bounds; infinite where there is none.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the coordinate no integer, stiffness or dissipation not finite or negative, or the
        bounds not in order.
    IndexError
        If the mobilizer has no such coordinate.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    Energy is lost on the way in and on the way out, and the stop never holds on to what leaves it. The force is zero at the
    bound; its rate is not continuous there, which an integrator notices. Coordinates with rates that are not speeds are treated
    as by `MobilityLinearSpring`.
    """

    routine = run

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_q: int,
        stiffness: float,
        dissipation: float,
        q_low: float = -np.inf,
        q_high: float = np.inf,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        own = [*_material(stiffness, dissipation), *_bounds(q_low, q_high)]
        self._connect(forces, mobod, which_q, own, disabled_by_default, name)

    def get_default_stiffness(self) -> float:
        """The stiffness in a default state, generalized force by coordinate."""
        return self._values[0]

    def get_default_dissipation(self) -> float:
        """The dissipation in a default state, one over a coordinate's rate."""
        return self._values[1]

    def set_default_material_properties(self, stiffness: float, dissipation: float) -> Self:
        """Change both. A topological change. Returns the force."""
        return self._set_default(0, *_material(stiffness, dissipation))

    def get_default_lower_bound(self) -> float:
        """The lower bound in a default state."""
        return self._values[2]

    def get_default_upper_bound(self) -> float:
        """The upper bound in a default state."""
        return self._values[3]

    def set_default_bounds(self, q_low: float, q_high: float) -> Self:
        """Change both. A topological change. Returns the force."""
        return self._set_default(2, *_bounds(q_low, q_high))

    def get_stiffness(self, state: State) -> float:
        """The stiffness in this state, generalized force by coordinate. Needs MODEL."""
        return self._number(state, 0)

    def get_dissipation(self, state: State) -> float:
        """The dissipation in this state, one over a coordinate's rate. Needs MODEL."""
        return self._number(state, 1)

    def set_material_properties(self, state: State, stiffness: float, dissipation: float) -> None:
        """Change both in this state, which falls to MODEL at most."""
        self._set_numbers(state, 0, *_material(stiffness, dissipation))

    def get_lower_bound(self, state: State) -> float:
        """The lower bound in this state. Needs MODEL."""
        return self._number(state, 2)

    def get_upper_bound(self, state: State) -> float:
        """The upper bound in this state. Needs MODEL."""
        return self._number(state, 3)

    def set_bounds(self, state: State, q_low: float, q_high: float) -> None:
        """Change both in this state, which falls to MODEL at most."""
        self._set_numbers(state, 2, *_bounds(q_low, q_high))


def _material(stiffness: float, dissipation: float) -> list[float]:
    return [not_negative("stiffness", stiffness), not_negative("dissipation", dissipation)]


def _bounds(q_low: float, q_high: float) -> list[float]:
    low, high = float(q_low), float(q_high)
    if not low <= high or low == np.inf or high == -np.inf:  # NaN too
        raise ValueError(
            f"q_low has to be a number up to q_high, and infinite where there is no bound; got {q_low} and {q_high}"
        )
    return [low, high]


__all__ = ["MobilityLinearStop"]
