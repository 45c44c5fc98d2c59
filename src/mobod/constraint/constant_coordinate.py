"""ConstantCoordinate: a coordinate stays at a value.

perr = q - value     verr = q_dot     aerr = q_dot_dot
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, one, zero
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import finite
from . import access
from .floats import OnePosition
from .one_coordinate import OfOneValue


@generic
def positions(model: Any, c: int) -> None:
    """perr, and its derivative."""
    j = access.integer(model, c, 0)
    access.put_position_error(model, c, 0, access.coordinate(model, c, 0, j) - access.number(model, c, 0))
    access.put_coordinate_coefficient(model, c, 0, 0, j, one(load(model.time, 0, 0)))


@generic
def velocities(model: Any, c: int) -> None:
    """No offsets but those of q_dot = N u."""
    access.put_acceleration_offset(model, c, 0, zero(load(model.time, 0, 0)))


class ConstantCoordinate(OfOneValue, OnePosition):
    """Holds one coordinate of a mobilizer at a value: one equation of positions.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it is.
    which_q : int
        Which of its coordinates, from 0, of those that a state's modelling choice gives it: of a `Ball`, four numbers of a
        quaternion, or three angles.
    value : float
        What it is held at; angle or length.

    Notes
    -----
    A lock (`MobilizedBody.lock`) holds all coordinates of a mobilizer, at no cost, and takes no multiplier. A number of a
    quaternion can be held too, though that is rarely what is meant.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> hold = mb.constraint.ConstantCoordinate(system.matter.bodies[2], 0, 0.5)
    >>> state = system.realize_topology()
    >>> system.project(state)
    True
    >>> round(float(state.q[1]), 6)
    0.5
    """

    routine = access.by_address(positions, velocities)

    def __init__(
        self, mobod: MobilizedBody, which_q: int, value: float, *, disabled_by_default: bool = False, name: str | None = None
    ) -> None:
        super().__init__(mobod, which_q, value, equations=(1, 0, 0), disabled_by_default=disabled_by_default, name=name)

    def get_which_q(self) -> int:
        """The index of the coordinate in its mobilizer."""
        return self.which_coordinate

    get_default_position, set_default_position, get_position, set_position = parameters.scalar(
        "position", "angle or length", finite, "what the coordinate is held at", given_as="value"
    ).accessors()
    get_default_value, set_default_value = get_default_position, set_default_position
    get_value, set_value = get_position, set_position
