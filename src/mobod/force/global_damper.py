"""GlobalDamper: a damper on every mobility of the system.

f = -c u   power dissipated = c u.u
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..state import parameters
from ..value.checks import not_negative
from .base import Force, same_system
from .pools import number
from .routines import by_address

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem
    from .subsystem import GeneralForceSubsystem


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


class GlobalDamper(Force):
    """Damps all mobilities alike: a drain of energy where its mechanism does not matter.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        Whose mobilities are damped; particles are not.
    damping : float
        Generalized force by generalized speed, zero or more.

    Raises
    ------
    TypeError, ValueError
        If *matter* is none, or the damping is not finite or negative.
    TopologyError
        If the matter is part of another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.GlobalDamper(system.forces, system.matter, 0.5)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([-0.5, -1. ])
    """

    routine = by_address(add, power=power)

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
        numbers = self.declared(name, damping=damping)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_numbers = numbers

    get_default_damping, set_default_damping, get_damping, set_damping = parameters.scalar(
        "damping", "generalized force by generalized speed", not_negative, "the damping"
    ).accessors()
