"""MobilityDiscreteForce: a generalized force on one mobility that a program sets in the state, as often as it likes.

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


class MobilityDiscreteForce(OnMobility):
    """A generalized force on one mobility of a mobilizer, to be set in the state: the torque of a controlled motor, say.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_u : int
        The number of the mobility among the mobilizer's, from 0.
    default : float
        The generalized force in a default state.
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

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> motor = mb.force.MobilityDiscreteForce(system.get_subsystem(1), system.matter.bodies[1], 0)
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> motor.set_mobility_force(state, 2.5)
    >>> state.stage.name
    'VELOCITY'
    """

    routine = run

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_u: int,
        default: float = 0.0,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(forces, mobod, which_u, [finite("default", default)], disabled_by_default, name)

    def get_default_mobility_force(self) -> float:
        """The generalized force in a default state."""
        return self._values[0]

    def set_default_mobility_force(self, force: float) -> Self:
        """Change it. A topological change. Returns the force element."""
        return self._set_default(0, finite("force", force))

    def get_mobility_force(self, state: State) -> float:
        """The generalized force in this state. Needs MODEL."""
        return self._number(state, 0)

    def set_mobility_force(self, state: State, force: float) -> None:
        """Change it in this state, which falls to VELOCITY at most. Needs MODEL."""
        self._check(state, "set_mobility_force")
        value = float(force)
        if not -_INFINITY < value < _INFINITY:
            finite("force", force)
        state._own_numbers()[self._span[2]] = value


_INFINITY = float("inf")

__all__ = ["MobilityDiscreteForce"]
