"""ConstantSpeed: a speed stays at a value.

verr = u - value     aerr = udot
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, one, zero
from ..compiling import generic
from ..state import parameters
from ..value.checks import finite
from . import access
from .floats import OneVelocity
from .one_coordinate import OfOneSpeed


@generic
def positions(model: Any, c: int) -> None:
    """The coefficient of u."""
    access.put_speed_coefficient(model, c, 0, 0, access.integer(model, c, 0), one(load(model.time, 0, 0)))


@generic
def velocities(model: Any, c: int) -> None:
    """The offsets verr - G u and aerr - G udot."""
    o = zero(load(model.time, 0, 0))
    access.put_velocity_offset(model, c, 0, o - access.number(model, c, 0))
    access.put_acceleration_offset(model, c, 0, o)


class ConstantSpeed(OfOneSpeed, OneVelocity):
    """Holds one speed of a mobilizer at a value: one equation of velocities.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it is.
    which_u : int
        Which of its speeds, from 0.
    value : float
        What it is held at; angle/time or length/time.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> part = mb.constraint.ConstantSpeed(arm, 0, 2.0)
    >>> state = system.realize_topology()
    >>> system.project(state)
    True
    >>> arm.get_u(state)
    2.0
    """

    _equations = (0, 1, 0)
    routine = access.by_address(positions, velocities)

    get_default_speed, set_default_speed, get_speed, set_speed = parameters.scalar(
        "speed", "angle/time or length/time", finite, "what the speed is held at", given_as="value"
    ).accessors()
    get_default_value, set_default_value = get_default_speed, set_default_speed
    get_value, set_value = get_speed, set_speed
