"""MobilityLinearDamper: a damper on one mobility.

f = -c u   power dissipated = c u^2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .._jit import generic
from ..algebra.scalar import load
from ._by_address import by_address
from ._checked import not_negative
from ._mobility import OnMobility, place, push
from ._pools import number

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..mobilizer.base import MobilizedBody
    from ..state import State


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """-c u."""
    i = place(model, integers)
    push(model, i, -number(model, numbers) * load(model.u, i, 0))


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """c u^2."""
    u = load(model.u, place(model, integers), 0)
    return number(model, numbers) * u * u


run = by_address(add, power=power)


class MobilityLinearDamper(OnMobility):
    """A linear damper on one mobility of a mobilizer: friction of a joint that grows with its speed.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_u : int
        The number of the mobility among the mobilizer's, from 0.
    damping : float
        Generalized force by generalized speed, zero or more.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the mobility no integer, or the damping not finite or negative.
    IndexError
        If the mobilizer has no such mobility.
    TopologyError
        If the body belongs to another system.
    """

    routine = run

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_u: int,
        damping: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(forces, mobod, which_u, [not_negative("damping", damping)], disabled_by_default, name)

    def get_default_damping(self) -> float:
        """The damping, generalized force by generalized speed; in a default state."""
        return self._values[0]

    def set_default_damping(self, damping: float) -> Self:
        """Change it. A topological change. Returns the force."""
        return self._set_default(0, not_negative("damping", damping))

    def get_damping(self, state: State) -> float:
        """The damping, generalized force by generalized speed; in this state. Needs MODEL."""
        return self._number(state, 0)

    def set_damping(self, state: State, damping: float) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set_numbers(state, 0, not_negative("damping", damping))


__all__ = ["MobilityLinearDamper"]
