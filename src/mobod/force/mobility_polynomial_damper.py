"""MobilityPolynomialDamper: a damper on one mobility whose force grows with powers of the speed.

f = -(c0 + c1 |u| + c2 u^2) u   power dissipated = (c0 + c1 |u| + c2 u^2) u^2
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, where
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import not_negative
from ._mobility import OnMobility, place, push
from ._polynomial import stiffness
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def drag(model: Any, integers: int, numbers: int) -> Any:
    """-f. Numbers: c0, c1, c2."""
    u = load(model.u, place(model, integers), 0)
    return stiffness(model, numbers, where(u < 0.0, -u, u)) * u


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """The force on the mobility."""
    push(model, place(model, integers), -drag(model, integers, numbers))


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """-f u."""
    return drag(model, integers, numbers) * load(model.u, place(model, integers), 0)


class MobilityPolynomialDamper(OnMobility):
    """A damper on one mobility of a mobilizer whose force is a polynomial of the speed: MJCF's ``damping`` of three numbers.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_u : int
        The number of the mobility among the mobilizer's, from 0.
    damping, quadratic_damping, cubic_damping : float
        Of the speed, its square and its cube, each against the speed; zero or more. The second is drag in a fluid.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the mobility no integer, or a number not finite or negative.
    IndexError
        If the mobilizer has no such mobility.
    TopologyError
        If the body belongs to another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.MobilityPolynomialDamper(system.forces, system.matter.bodies["lower"], 0, 0.5, 0.0, 0.1)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([ 0. , -1.8])
    """

    routine = by_address(add, power=power)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_u: int,
        damping: float,
        quadratic_damping: float,
        cubic_damping: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        own = {"damping": damping, "quadratic_damping": quadratic_damping, "cubic_damping": cubic_damping}
        self._connect(forces, mobod, which_u, disabled_by_default, name, **own)

    get_default_damping, set_default_damping, get_damping, set_damping = parameters.scalar(
        "damping", "generalized force by generalized speed", not_negative, "the damping"
    ).accessors()
    get_default_quadratic_damping, set_default_quadratic_damping, get_quadratic_damping, set_quadratic_damping = (
        parameters.scalar(
            "quadratic_damping", "generalized force by generalized speed^2", not_negative, "the force by the speed squared"
        ).accessors()
    )
    get_default_cubic_damping, set_default_cubic_damping, get_cubic_damping, set_cubic_damping = parameters.scalar(
        "cubic_damping", "generalized force by generalized speed^3", not_negative, "the force by the speed cubed"
    ).accessors()
