"""ConstantForce: a force at a point of a body, constant in Ground.

F_B = [s x f; f], s the point from B's origin, in Ground   no potential energy
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.memory import add_spatial, load9
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from .base import Force, body_index
from .pools import numbers3
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: the station in the body, then the force in Ground."""
    b, f = model.force_integers[integers], numbers3(model, numbers + 3)
    s = mat33.mul_vec(load9(model.R_GB, b, 0), numbers3(model, numbers))
    add_spatial(model.body_forces, b, vec3.cross(s, f), f)


class ConstantForce(Force):
    """A constant force at a point of a body.

    Parameters
    ----------
    body : MobilizedBody
        The body that it acts on.
    station : (3,) array_like
        The point, in the body; length.
    force : (3,) array_like
        In Ground.

    Raises
    ------
    TypeError, ValueError
        If the body is none, or the point or the force are not three finite numbers.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    It has no potential energy here, as in Simbody: the work that it does appears in the energy of the system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.ConstantForce(system.forces, system.matter.bodies["lower"], (0, -1, 0), (5, 0, 0))
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[0][2].round(3)
    array([[0.   , 0.   , 3.824],
           [5.   , 0.   , 0.   ]])
    """

    routine = by_address(add)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        station: npt.ArrayLike,
        force: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        b, numbers = body_index(forces, "body", body), self.declared(name, station=station, force=force)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = [b], numbers

    def reach(self) -> tuple[list[int], list[int]]:
        return self.default_integers[:1], []

    get_default_station, set_default_station, get_station, set_station = parameters.vector(
        "station", "length", "the point, in the body"
    ).accessors()
    get_default_force, set_default_force, get_force, set_force = parameters.vector(
        "force", "force", "the force, in Ground"
    ).accessors()
