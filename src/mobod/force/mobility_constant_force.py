"""MobilityConstantForce: a constant generalized force on one mobility.

f   no potential energy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .._jit import generic
from ._by_address import by_address
from ._checked import finite
from ._mobility import OnMobility, place, push
from ._pools import number

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..mobilizer.base import MobilizedBody
    from ..state import State


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: f."""
    push(model, place(model, integers), number(model, numbers))


run = by_address(add)


class MobilityConstantForce(OnMobility):
    """A constant generalized force on one mobility of a mobilizer.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_u : int
        The number of the mobility among the mobilizer's, from 0.
    force : float
        The generalized force.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the mobility no integer, or the force not finite.
    IndexError
        If the mobilizer has no such mobility.
    TopologyError
        If the body belongs to another system.

    See Also
    --------
    MobilityDiscreteForce : for a force that changes often.
    """

    routine = run
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_u: int,
        force: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(forces, mobod, which_u, [finite("force", force)], disabled_by_default, name)

    def get_default_force(self) -> float:
        """The generalized force; in a default state."""
        return self._values[0]

    def set_default_force(self, force: float) -> Self:
        """Change it. A topological change. Returns the force."""
        return self._set_default(0, finite("force", force))

    def get_force(self, state: State) -> float:
        """The generalized force; in this state. Needs MODEL."""
        return self._number(state, 0)

    def set_force(self, state: State, force: float) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set_numbers(state, 0, finite("force", force))


__all__ = ["MobilityConstantForce"]
