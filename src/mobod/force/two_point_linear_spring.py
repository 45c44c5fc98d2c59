"""TwoPointLinearSpring: pulls two points, on two bodies, to a distance from each other.

f = k (x - x0) along the line between them   PE = 1/2 k (x - x0)^2
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra import vec3
from ..algebra.scalar import sqrt, where, zero
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import not_negative
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem
from .two_points import OWN, TwoPoints, arms, pull, square


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """k (1 - x0 / x) r on the first point; k r where x0 is zero, whose slope is there where the points coincide, too."""
    b1, b2, s1, s2, r = arms(model, integers, numbers)
    k, x0 = number(model, numbers + OWN), number(model, numbers + OWN + 1)
    apart, xx = square(r)
    f = k - k * x0 / sqrt(xx)
    o = zero(f)
    pull(model, b1, b2, s1, s2, vec3.scale(where(apart, f, where(x0 > 0.0, o, k + o)), r))


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """1/2 k (x - x0)^2."""
    r = arms(model, integers, numbers)[4]
    apart, xx = square(r)
    x = sqrt(xx)
    stretch = where(apart, x, zero(x)) - number(model, numbers + OWN + 1)
    return 0.5 * number(model, numbers + OWN) * stretch * stretch


class TwoPointLinearSpring(TwoPoints):
    """A linear spring between a point of one body and a point of another.

    Parameters
    ----------
    body1, body2 : MobilizedBody
        The two bodies, which may be Ground.
    station1, station2 : (3,) array_like
        The points, each in its body; length.
    stiffness : float
        Force/length, zero or more.
    rest_length : float
        The distance at which there is no force, zero or more; length.

    Raises
    ------
    TypeError, ValueError
        If a body is none, a station is not three finite numbers, or stiffness or rest length are not finite or negative.
    TopologyError
        If a body belongs to another system.

    Notes
    -----
    Where the points coincide, the line between them has no direction and the force is zero, whatever the rest length. A spring
    of rest length zero is smooth there.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> forces, ground, tip = system.get_subsystem(1), system.matter.ground, system.matter.bodies[2]
    >>> spring = mb.force.TwoPointLinearSpring(forces, ground, (1, 0, 0), tip, (0, 0, 0), 50.0, 0.5)
    >>> state = system.realize_topology()
    >>> spring.set_stiffness(state, 80.0)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> spring.calc_potential_energy_contribution(state) > 0.0
    True
    """

    routine = by_address(add, energy)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body1: MobilizedBody,
        station1: npt.ArrayLike,
        body2: MobilizedBody,
        station2: npt.ArrayLike,
        stiffness: float,
        rest_length: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(
            forces, body1, station1, body2, station2, disabled_by_default, name, stiffness=stiffness, rest_length=rest_length
        )

    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.scalar(
        "stiffness", "force/length", not_negative, "the stiffness"
    ).accessors()
    get_default_rest_length, set_default_rest_length, get_rest_length, set_rest_length = parameters.scalar(
        "rest_length", "length", not_negative, "the distance at which there is no force"
    ).accessors()
