"""MobilityConstantForce: a constant generalized force on one mobility.

f   no potential energy
"""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import finite
from ._mobility import OnMobility, place, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: f."""
    push(model, place(model, integers), number(model, numbers))


class MobilityConstantForce(OnMobility):
    """A constant generalized force on one mobility of a mobilizer.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_u : int
        The number of the mobility among the mobilizer's, from 0.
    force : float
        The generalized force.

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

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.MobilityConstantForce(system.forces, system.matter.bodies["lower"], 0, 3.0)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([0., 3.])
    """

    routine = by_address(add)
    holds_mobility_forces = True
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
        self._connect(forces, mobod, which_u, disabled_by_default, name, force=force)

    get_default_force, set_default_force, get_force, set_force = parameters.scalar(
        "force", "generalized force", finite, "the generalized force"
    ).accessors()
