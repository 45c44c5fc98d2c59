"""ConstantAcceleration: udot of a speed has a value.

aerr = udot - value
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, one, zero
from ..compiling import generic
from ..state import parameters
from ..value.checks import finite
from . import access
from .one_coordinate import OfOneSpeed


@generic
def positions(model: Any, c: int) -> None:
    """The coefficient of udot."""
    access.put_speed_coefficient(model, c, 0, 0, access.integer(model, c, 0), one(load(model.time, 0, 0)))


@generic
def velocities(model: Any, c: int) -> None:
    """The offset aerr - G udot."""
    access.put_acceleration_offset(model, c, 0, zero(load(model.time, 0, 0)) - access.number(model, c, 0))


class ConstantAcceleration(OfOneSpeed):
    """Gives one acceleration udot of a mobilizer a value: one equation of accelerations alone.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it is.
    which_u : int
        Which of its speeds, from 0.
    value : float
        What its udot is; angle/time^2 or length/time^2.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.constraint.ConstantAcceleration(system.matter.bodies["lower"], 0, 3.0)
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> float(state.u_dot[1].round(3))
    3.0
    """

    _equations = (0, 0, 1)
    routine = access.by_address(positions, velocities)

    get_default_acceleration, set_default_acceleration, get_acceleration, set_acceleration = parameters.scalar(
        "acceleration", "angle/time^2 or length/time^2", finite, "what the acceleration is", given_as="value"
    ).accessors()
    get_default_value, set_default_value = get_default_acceleration, set_default_acceleration
    get_value, set_value = get_acceleration, set_acceleration
