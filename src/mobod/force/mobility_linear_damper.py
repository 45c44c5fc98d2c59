"""MobilityLinearDamper: a damper on one mobility.

f = -c u   power dissipated = c u^2
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import not_negative
from ._mobility import OnMobility, place, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem


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


class MobilityLinearDamper(OnMobility):
    """A linear damper on one mobility of a mobilizer: friction of a joint that grows with its speed.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_u : int
        The number of the mobility among the mobilizer's, from 0.
    damping : float
        Generalized force by generalized speed, zero or more.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the mobility no integer, or the damping not finite or negative.
    IndexError
        If the mobilizer has no such mobility.
    TopologyError
        If the body belongs to another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.MobilityLinearDamper(system.forces, system.matter.bodies["lower"], 0, 0.5)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([ 0., -1.])
    """

    routine = by_address(add, power=power)

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
        self._connect(forces, mobod, which_u, disabled_by_default, name, damping=damping)

    get_default_damping, set_default_damping, get_damping, set_damping = parameters.scalar(
        "damping", "generalized force by generalized speed", not_negative, "the damping"
    ).accessors()
