"""UniformGravity: a uniform field that pulls on every body at its mass center, and on every particle, without exception.

Its kernels are those of `gravity`: integers 1 of all bodies but Ground; numbers g, |g| z0, z0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..state import parameters
from ..value.checks import finite
from .base import Force, same_system
from .routines import GRAVITY

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem
    from .subsystem import GeneralForceSubsystem


class UniformGravity(Force):
    """A uniform field of gravity. `Gravity` can do more: it can leave out bodies.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        Whose bodies, and particles, are pulled.
    gravity_vector : (3,) array_like
        The acceleration of free fall, in Ground, length/time^2.
    zero_height : float
        Where, against the direction down, potential energy is zero; length.

    Raises
    ------
    TypeError, ValueError
        If *matter* is none, or a number not finite.
    TopologyError
        If the matter is part of another system.

    Notes
    -----
    Simbody's leaves `|g|` out of the potential energy at the zero height, which changes it by a constant; mobod does not.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.UniformGravity(system.forces, system.matter, (0, 0, -1.0))
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[0][2].round(3)
    array([[ 0.,  0.,  0.],
           [ 0.,  0., -1.]])
    """

    KIND = GRAVITY

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        matter: SimbodyMatterSubsystem,
        gravity_vector: npt.ArrayLike,
        zero_height: float = 0.0,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._matter = same_system(forces, matter, "UniformGravity")
        numbers = self.declared(name, gravity_vector=gravity_vector, zero_height=zero_height)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_numbers = numbers

    get_default_gravity_vector, set_default_gravity_vector, get_gravity_vector, set_gravity_vector = parameters.vector(
        "gravity_vector", "length/time^2", "the acceleration of free fall, in Ground"
    ).accessors()
    get_default_zero_height, set_default_zero_height, get_zero_height, set_zero_height = parameters.scalar(
        "zero_height", "length", finite, "the height of zero potential energy", first=4
    ).accessors()

    # Simbody's names of the same
    get_default_gravity, set_default_gravity = get_default_gravity_vector, set_default_gravity_vector
    get_gravity, set_gravity = get_gravity_vector, set_gravity_vector

    @staticmethod
    def settle(whose: str, numbers: list[float]) -> None:
        numbers[3] = np.linalg.norm(numbers[:3], axis=0) * numbers[4]

    def pack_integers(self) -> list[int]:
        return [int(b > 0) for b in range(self._matter.get_num_bodies())]
