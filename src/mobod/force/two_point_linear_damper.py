"""TwoPointLinearDamper: resists changes of the distance between two points, on two bodies.

f = c dx/dt along the line between them   power dissipated = c (dx/dt)^2
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra import vec3
from ..algebra.scalar import where, zero
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import not_negative
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem
from .two_points import OWN, TwoPoints, arms, pull, rate, square


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """c (dx/dt / x) r on the first point."""
    b1, b2, s1, s2, r = arms(model, integers, numbers)
    apart, xx = square(r)
    f = number(model, numbers + OWN) * rate(model, b1, b2, s1, s2, r) / xx
    pull(model, b1, b2, s1, s2, vec3.scale(where(apart, f, zero(f)), r))


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """c (dx/dt)^2."""
    b1, b2, s1, s2, r = arms(model, integers, numbers)
    apart, xx = square(r)
    x_times_rate = rate(model, b1, b2, s1, s2, r)
    p = number(model, numbers + OWN) * x_times_rate * x_times_rate / xx
    return where(apart, p, zero(p))


class TwoPointLinearDamper(TwoPoints):
    """A linear damper between a point of one body and a point of another.

    Parameters
    ----------
    body1, body2 : MobilizedBody
        The two bodies, which may be Ground.
    station1, station2 : (3,) array_like
        The points, each in its body; length.
    damping : float
        Force*time/length, zero or more.

    Raises
    ------
    TypeError, ValueError
        If a body is none, a station is not three finite numbers, or the damping is not finite or negative.
    TopologyError
        If a body belongs to another system.

    Notes
    -----
    Where the points coincide, the line between them has no direction and the force is zero.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> part = mb.force.TwoPointLinearDamper(system.forces, system.matter.ground, (1, 0, 0), arm, (0, 0, 0), 3.0)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_power_dissipation(state) > 0.0
    True
    """

    routine = by_address(add, power=power)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body1: MobilizedBody,
        station1: npt.ArrayLike,
        body2: MobilizedBody,
        station2: npt.ArrayLike,
        damping: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(forces, body1, station1, body2, station2, disabled_by_default, name, damping=damping)

    get_default_damping, set_default_damping, get_damping, set_damping = parameters.scalar(
        "damping", "force*time/length", not_negative, "the damping"
    ).accessors()
