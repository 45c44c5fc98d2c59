"""MobilityPolynomialSpring: a spring on one coordinate of a mobilizer that grows stiffer, or softer, as it is stretched.

x = q - q0   f_q = -(k0 + k1 x + k2 x^2) x   PE = k0 x^2 / 2 + k1 x^3 / 3 + k2 x^4 / 4
"""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import finite
from ._polynomial import energy_at, stiffness
from .one_coordinate import OnCoordinate, coordinate, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: k0, k1, k2, q0."""
    x = coordinate(model, integers) - number(model, numbers + 3)
    push(model, integers, -stiffness(model, numbers, x) * x)


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """k0 x^2 / 2 + k1 x^3 / 3 + k2 x^4 / 4."""
    return energy_at(model, numbers, coordinate(model, integers) - number(model, numbers + 3))


class MobilityPolynomialSpring(OnCoordinate):
    """A spring on one coordinate of a mobilizer whose force is a cubic polynomial: MJCF's ``stiffness`` of three numbers.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_q : int
        The number of the coordinate among the mobilizer's, from 0.
    stiffness, quadratic_stiffness, cubic_stiffness : float
        Of the stretch, its square and its cube, with their signs: generalized force by coordinate, by its square, by its cube.
        A spring that is the same to both sides has no quadratic one.
    rest_value : float
        The coordinate at which there is no force.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the coordinate no integer, or a number not finite.
    IndexError
        If the mobilizer has no such coordinate.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    Coordinates with rates that are not speeds are treated as by `MobilityLinearSpring`. No coefficient has to be positive, and
    such a spring may push away from its rest.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.MobilityPolynomialSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.0, 5.0, 0.1)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([ 0.   , -3.135])
    """

    routine = by_address(add, energy)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_q: int,
        stiffness: float,
        quadratic_stiffness: float,
        cubic_stiffness: float,
        rest_value: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        coefficients = {"quadratic_stiffness": quadratic_stiffness, "cubic_stiffness": cubic_stiffness}
        own = {"stiffness": stiffness, **coefficients, "rest_value": rest_value}
        self._connect(forces, mobod, which_q, disabled_by_default, name, **own)

    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.scalar(
        "stiffness", "generalized force by coordinate", finite, "the stiffness"
    ).accessors()
    get_default_quadratic_stiffness, set_default_quadratic_stiffness, get_quadratic_stiffness, set_quadratic_stiffness = (
        parameters.scalar(
            "quadratic_stiffness", "generalized force by coordinate^2", finite, "the force by the stretch squared"
        ).accessors()
    )
    get_default_cubic_stiffness, set_default_cubic_stiffness, get_cubic_stiffness, set_cubic_stiffness = parameters.scalar(
        "cubic_stiffness", "generalized force by coordinate^3", finite, "the force by the stretch cubed"
    ).accessors()
    get_default_rest_value, set_default_rest_value, get_rest_value, set_rest_value = parameters.scalar(
        "rest_value", "angle or length", finite, "the coordinate at which there is no force"
    ).accessors()
