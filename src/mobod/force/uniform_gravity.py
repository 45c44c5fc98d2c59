"""UniformGravity: a uniform field that pulls on every body at its mass center, and on every particle, without exception.

F_B = [c x m g; m g], c the mass center from B's origin   PE = -sum of m (g.p_GC + |g| z0), z0 the height of zero energy

The arithmetic is that of `gravity`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._jit import generic
from . import gravity
from ._by_address import by_address
from ._checked import finite, vector
from .base import Force, same_system

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..matter import SimbodyMatterSubsystem
    from ..state import State

Array = npt.NDArray[np.float64]


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Integers: one a body, all 1 but Ground's. Numbers: g, |g| z0, z0."""
    gravity.add_force(model, integers, numbers)


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """-sum of m (g.p_GC + |g| z0)."""
    return gravity.potential_energy(model, integers, numbers)


run = by_address(add, energy)


class UniformGravity(Force):
    """A uniform field of gravity. `Gravity` can do more, and costs less: it can leave out bodies.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    matter : SimbodyMatterSubsystem
        Whose bodies, and particles, are pulled.
    gravity_vector : (3,) array_like
        The acceleration of free fall, in Ground, length/time^2.
    zero_height : float
        Where, against the direction down, potential energy is zero; length.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError
        If *matter* is none, or a number not finite.
    TopologyError
        If the matter is part of another system.

    Notes
    -----
    Simbody's leaves |g| out of the potential energy at the zero height, which changes it by a constant; mobod does not.
    """

    routine = run
    reads_positions_only = True

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
        numbers = _pool(vector("gravity_vector", gravity_vector), finite("zero_height", zero_height))
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._keep([], numbers)

    def get_default_gravity_vector(self) -> Array:
        """The acceleration of free fall in a default state."""
        return self._default_vector(0, 3)

    def set_default_gravity_vector(self, gravity_vector: npt.ArrayLike) -> Self:
        """Change it. A topological change. Returns the force."""
        return self._set_default(0, *_pool(vector("gravity_vector", gravity_vector), self._values[4]))

    def get_default_zero_height(self) -> float:
        """The height of zero potential energy in a default state, length."""
        return self._values[4]

    def set_default_zero_height(self, zero_height: float) -> Self:
        """Change it. A topological change. Returns the force."""
        return self._set_default(0, *_pool(self._values[:3], finite("zero_height", zero_height)))

    def get_gravity_vector(self, state: State) -> Array:
        """The acceleration of free fall in this state. Needs MODEL."""
        return self._vector(state, 0, 3)

    def set_gravity_vector(self, state: State, gravity_vector: npt.ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set_numbers(state, 0, *_pool(vector("gravity_vector", gravity_vector), self._number(state, 4)))

    def get_default_gravity(self) -> Array:
        """The acceleration of free fall in a default state; the same as `get_default_gravity_vector`."""
        return self.get_default_gravity_vector()

    def set_default_gravity(self, gravity: npt.ArrayLike) -> Self:
        """Change it; the same as `set_default_gravity_vector`. A topological change. Returns the force."""
        return self.set_default_gravity_vector(gravity)

    def get_gravity(self, state: State) -> Array:
        """The acceleration of free fall in this state; the same as `get_gravity_vector`. Needs MODEL."""
        return self.get_gravity_vector(state)

    def set_gravity(self, state: State, gravity: npt.ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most; the same as `set_gravity_vector`."""
        self.set_gravity_vector(state, gravity)

    def get_zero_height(self, state: State) -> float:
        """The height of zero potential energy in this state, length. Needs MODEL."""
        return self._number(state, 4)

    def set_zero_height(self, state: State, zero_height: float) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set_numbers(state, 0, *_pool(self._vector(state, 0, 3).tolist(), finite("zero_height", zero_height)))

    def _integers(self) -> list[int]:
        return [int(b > 0) for b in range(self._matter.get_num_bodies())]


def _pool(g: list[float], zero_height: float) -> list[float]:
    return [*g, float(np.linalg.norm(g)) * zero_height, zero_height]


__all__ = ["UniformGravity"]
