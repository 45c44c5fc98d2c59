"""MobilityLinearSpring: a spring on one coordinate of a mobilizer.

f_q = -k (q - q0)   PE = 1/2 k (q - q0)^2
"""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import finite, not_negative
from .one_coordinate import OnCoordinate, coordinate, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: k, q0."""
    stretch = coordinate(model, integers) - number(model, numbers + 1)
    push(model, integers, -number(model, numbers) * stretch)


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """1/2 k (q - q0)^2."""
    stretch = coordinate(model, integers) - number(model, numbers + 1)
    return 0.5 * number(model, numbers) * stretch * stretch


class MobilityLinearSpring(OnCoordinate):
    """A linear spring on one coordinate of a mobilizer: a torsion spring on a pin, say.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_q : int
        The number of the coordinate among the mobilizer's, from 0.
    stiffness : float
        Generalized force by coordinate, zero or more.
    rest_value : float
        The coordinate at which there is no force.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the coordinate no integer, or a number not finite, or the stiffness negative.
    IndexError
        If the mobilizer has no such coordinate.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    A coordinate whose rate is not a speed, such as an angle of a Ball or a quaternion's component, takes the spring too: the
    force goes to all mobilities that change it, so that energy is conserved. Simbody's is for coordinates with q_dot = u only.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.1)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([ 0., -3.])
    """

    routine = by_address(add, energy)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_q: int,
        stiffness: float,
        rest_value: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(forces, mobod, which_q, disabled_by_default, name, stiffness=stiffness, rest_value=rest_value)

    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.scalar(
        "stiffness", "generalized force by coordinate", not_negative, "the stiffness"
    ).accessors()
    get_default_rest_value, set_default_rest_value, get_rest_value, set_rest_value = parameters.scalar(
        "rest_value", "angle or length", finite, "the coordinate at which there is no force"
    ).accessors()
