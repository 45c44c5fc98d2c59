"""GlobalDamper: a damper on every mobility of the system.

f = -c u   power dissipated = c u.u
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .._jit import generic
from ..algebra.scalar import load, store, zero
from ._by_address import by_address
from ._checked import not_negative
from ._pools import number
from .base import Force, same_system

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..matter import SimbodyMatterSubsystem
    from ..state import State


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """-c u, of every mobility."""
    c = number(model, numbers)
    for i in range(model.nu):
        store(model.mobility_forces, i, 0, load(model.mobility_forces, i, 0) - c * load(model.u, i, 0))


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """c u.u."""
    total = zero(load(model.time, 0, 0))
    for i in range(model.nu):
        total = total + load(model.u, i, 0) * load(model.u, i, 0)
    return number(model, numbers) * total


run = by_address(add, power=power)


class GlobalDamper(Force):
    """Damps all mobilities alike: a drain of energy where its mechanism does not matter.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    matter : SimbodyMatterSubsystem
        Whose mobilities are damped; particles are not.
    damping : float
        Generalized force by generalized speed, zero or more.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError
        If *matter* is none, or the damping is not finite or negative.
    TopologyError
        If the matter is part of another system.
    """

    routine = run

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        matter: SimbodyMatterSubsystem,
        damping: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._matter = same_system(forces, matter, "GlobalDamper")
        numbers = [not_negative("damping", damping)]
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._keep([], numbers)

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


__all__ = ["GlobalDamper"]
