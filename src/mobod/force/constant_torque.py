"""ConstantTorque: a torque on a body, constant in Ground.

F_B = [t; 0]   no potential energy
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra.memory import load3, store3
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from .base import Force, body_index
from .pools import numbers3
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: the torque in Ground."""
    b, t = model.force_integers[integers], numbers3(model, numbers)
    before = load3(model.body_forces, b, 0)
    store3(model.body_forces, b, 0, (before[0] + t[0], before[1] + t[1], before[2] + t[2]))


class ConstantTorque(Force):
    """A constant torque on a body.

    Parameters
    ----------
    body : MobilizedBody
        The body that it acts on.
    torque : (3,) array_like
        In Ground; force*length.

    Raises
    ------
    TypeError, ValueError
        If the body is none, or the torque is not three finite numbers.
    TopologyError
        If the body belongs to another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.ConstantTorque(system.forces, system.matter.bodies["lower"], (0, 0, 2))
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[0][2].round(3)
    array([[0., 0., 2.],
           [0., 0., 0.]])
    """

    routine = by_address(add)
    holds_wrenches = True
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        torque: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        b, numbers = body_index(forces, "body", body), self.declared(name, torque=torque)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = [b], numbers

    get_default_torque, set_default_torque, get_torque, set_torque = parameters.vector(
        "torque", "force*length", "the torque, in Ground"
    ).accessors()
