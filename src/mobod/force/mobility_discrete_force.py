"""MobilityDiscreteForce: a generalized force on one mobility that a program sets in the state, as often as it likes.

f   no potential energy
"""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import finite
from ..value.stage import Stage
from ._mobility import OnMobility, place, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: f."""
    push(model, place(model, integers), number(model, numbers))


class MobilityDiscreteForce(OnMobility):
    """A generalized force on one mobility of a mobilizer, to be set in the state: the torque of a controlled motor, say.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_u : int
        The number of the mobility among the mobilizer's, from 0.
    default : float
        The generalized force in a default state.

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

    routine = by_address(add)
    holds_mobility_forces = True

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
        self._connect(forces, mobod, which_u, disabled_by_default, name, default=default)

    get_default_mobility_force, set_default_mobility_force, get_mobility_force, set_mobility_force = parameters.scalar(
        "mobility_force",
        "generalized force",
        finite,
        "the generalized force",
        argument="force",
        given_as="default",
        invalidates=Stage.DYNAMICS,
    ).accessors()
