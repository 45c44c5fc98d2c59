"""TwoPointConstantForce: pushes two points, on two bodies, apart with a force that is always the same.

f along the line between them, f > 0 apart   no potential energy
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra import vec3
from ..algebra.scalar import sqrt, where, zero
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import finite
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem
from .two_points import OWN, TwoPoints, arms, pull, square


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """-(f / x) r on the first point."""
    b1, b2, s1, s2, r = arms(model, integers, numbers)
    apart, xx = square(r)
    f = -number(model, numbers + OWN) / sqrt(xx)
    pull(model, b1, b2, s1, s2, vec3.scale(where(apart, f, zero(f)), r))


class TwoPointConstantForce(TwoPoints):
    """A force of constant size along the line between a point of one body and a point of another.

    Parameters
    ----------
    body1, body2 : MobilizedBody
        The two bodies, which may be Ground.
    station1, station2 : (3,) array_like
        The points, each in its body; length.
    force : float
        Above zero it pushes the points apart, below it pulls them together.

    Raises
    ------
    TypeError, ValueError
        If a body is none, a station is not three finite numbers, or the force is not finite.
    TopologyError
        If a body belongs to another system.

    Notes
    -----
    It has no potential energy here, as in Simbody: the work that it does appears in the energy of the system. Where the points
    coincide, the line between them has no direction and the force is zero.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> part = mb.force.TwoPointConstantForce(system.forces, system.matter.ground, (1, 0, 0), arm, (0, 0, 0), 3.0)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> float(np.linalg.norm(part.calc_force_contribution(state)[0][2][1]).round(6))
    3.0
    """

    routine = by_address(add)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body1: MobilizedBody,
        station1: npt.ArrayLike,
        body2: MobilizedBody,
        station2: npt.ArrayLike,
        force: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(forces, body1, station1, body2, station2, disabled_by_default, name, force=force)

    get_default_force, set_default_force, get_force, set_force = parameters.scalar(
        "force", "force", finite, "the force, above zero where it pushes the points apart"
    ).accessors()
