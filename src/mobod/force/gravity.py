"""Gravity: a uniform field that pulls on every body at its mass center, except on those it is told to leave out.

It pulls on every particle too.

F_B = [c x m g; m g], c the mass center from B's origin   PE = -sum of m (g.p_GC + |g| z0), z0 the height of zero energy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._jit import generic
from ..algebra import vec3
from ..algebra.memory import add_spatial, load3, store_spatial
from ..algebra.scalar import load, store, zero
from ..errors import TopologyError
from ._by_address import GRAVITY
from ._pools import numbers3
from .base import Force

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..matter import SimbodyMatterSubsystem
    from ..state import State

Array = npt.NDArray[np.float64]
ArrayLike = npt.ArrayLike

KIND = GRAVITY


@generic
def _pull(model: Any, b: int, integers: int, g: Any) -> Any:
    """Torque and force on body b; none where it is left out."""
    o = zero(load(model.time, 0, 0))
    torque, pull = (o, o, o), (o, o, o)
    if model.force_integers[integers + b] == 1:
        pull = vec3.scale(load(model.mass, b, 0), g)
        torque = vec3.cross(load3(model.com_G, b, 0), pull)
    return torque, pull


@generic
def set_force(model: Any, integers: int, numbers: int) -> None:
    """Write instead of adding: the forces are gravity's alone afterwards."""
    g = numbers3(model, numbers)
    o = zero(load(model.time, 0, 0))
    store_spatial(model.body_forces, 0, (o, o, o), (o, o, o))
    for b in range(1, model.nb):
        torque, pull = _pull(model, b, integers, g)
        store_spatial(model.body_forces, b, torque, pull)
    for i in range(model.nu):
        store(model.mobility_forces, i, 0, o)
    for p in range(model.num_particles):
        m = load(model.particle_mass, p, 0)
        for k in range(3):
            store(model.particle_forces, 3 * p + k, 0, m * load(model.force_numbers, numbers + k, 0))


@generic
def add_force(model: Any, integers: int, numbers: int) -> None:
    """Integers: one a body, 1 where it is pulled. Numbers: g, then |g| z0."""
    g = numbers3(model, numbers)
    for b in range(1, model.nb):
        torque, pull = _pull(model, b, integers, g)
        add_spatial(model.body_forces, b, torque, pull)
    for p in range(model.num_particles):
        m = load(model.particle_mass, p, 0)
        for k in range(3):
            f = load(model.particle_forces, 3 * p + k, 0)
            store(model.particle_forces, 3 * p + k, 0, f + m * load(model.force_numbers, numbers + k, 0))


@generic
def potential_energy(model: Any, integers: int, numbers: int) -> Any:
    """-sum of m (g.p_GC + |g| z0), over bodies and particles."""
    g = numbers3(model, numbers)
    offset = load(model.force_numbers, numbers + 3, 0)
    energy = zero(load(model.time, 0, 0))
    for b in range(1, model.nb):
        if model.force_integers[integers + b] == 1:
            p_GC = vec3.add(load3(model.p_GB, b, 0), load3(model.com_G, b, 0))
            energy = energy - load(model.mass, b, 0) * (vec3.dot(g, p_GC) + offset)
    for p in range(model.num_particles):
        r = (load(model.particle_location, 3 * p, 0), load(model.particle_location, 3 * p + 1, 0))
        height = vec3.dot(g, (r[0], r[1], load(model.particle_location, 3 * p + 2, 0))) + offset
        energy = energy - load(model.particle_mass, p, 0) * height
    return energy


class Gravity(Force):
    """A uniform field: pulls on every body of the matter subsystem at its mass center, and on every particle.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    matter : SimbodyMatterSubsystem
        Whose bodies are pulled.
    gravity_vector : (3,) array_like
        The acceleration of free fall, in Ground, length/time^2; or, with *magnitude*, the direction down alone.
    magnitude : float, optional
        The size of the acceleration; then only the direction of the vector counts. THE FOURTH POSITIONAL ARGUMENT IS THIS
        MAGNITUDE, not the zero height as it is of `UniformGravity`: name `zero_height=` when you mean that.
    zero_height : float
        Where, against the direction down, potential energy is zero.
    down_direction : (3,) array_like, optional
        Another name for the direction where a magnitude is given.

    Notes
    -----
    A zero vector, or a magnitude of zero, is no gravity: the direction down is then -y until it is set.
    """

    KIND = KIND

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        matter: SimbodyMatterSubsystem,
        gravity_vector: ArrayLike | None = None,
        magnitude: float | None = None,
        zero_height: float = 0.0,
        *,
        down_direction: ArrayLike | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        if (gravity_vector is None) == (down_direction is None):
            raise TypeError("Gravity takes a gravity_vector, or a down_direction and a magnitude")
        if down_direction is not None and magnitude is None:
            raise TypeError("a down_direction needs a magnitude beside it")
        vector = _vector("gravity_vector", gravity_vector if down_direction is None else down_direction)
        size = float(np.linalg.norm(vector))
        self._down = vector / size if size > 0.0 else np.array([0.0, -1.0, 0.0])
        self._magnitude = size if magnitude is None else _magnitude(magnitude)
        if magnitude is not None and size == 0.0 and self._magnitude > 0.0:
            raise ValueError("the direction down of gravity is a zero vector; give it a length")
        self._zero_height = _finite("zero_height", zero_height)
        if matter.get_system() is not forces.get_system():
            raise TopologyError("Gravity's matter and forces have to be parts of one system")
        self._matter = matter
        self._excluded: set[int] = set()
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)

    # ------------------------------------------------------------------------------------------ defaults

    def get_default_gravity_vector(self) -> Array:
        """The acceleration of free fall in a default state."""
        return self._down * self._magnitude

    def set_default_gravity_vector(self, gravity_vector: ArrayLike) -> Gravity:
        """Change it; a zero vector keeps the direction. A topological change."""
        vector = _vector("gravity_vector", gravity_vector)
        size = float(np.linalg.norm(vector))
        if size > 0.0:
            self._down = vector / size
        self._magnitude = size
        return self._changed()

    def get_default_down_direction(self) -> Array:
        """The direction down in a default state, a unit vector."""
        return self._down.copy()

    def set_default_down_direction(self, down: ArrayLike) -> Gravity:
        """Change it; need not be a unit vector. A topological change."""
        self._down = _direction(down)
        return self._changed()

    def get_default_magnitude(self) -> float:
        """The size of the acceleration in a default state."""
        return self._magnitude

    def set_default_magnitude(self, magnitude: float) -> Gravity:
        """Change it. A topological change."""
        self._magnitude = _magnitude(magnitude)
        return self._changed()

    def get_default_zero_height(self) -> float:
        """The height of zero potential energy in a default state."""
        return self._zero_height

    def set_default_zero_height(self, zero_height: float) -> Gravity:
        """Change it. A topological change."""
        self._zero_height = _finite("zero_height", zero_height)
        return self._changed()

    def get_default_body_is_excluded(self, mobod: Any) -> bool:
        """Whether a body is left out in a default state; Ground always is."""
        b = self._matter._body(mobod)._index
        return b == 0 or b in self._excluded

    def set_default_body_is_excluded(self, mobod: Any, is_excluded: bool) -> Gravity:
        """Leave a body out, or take it in again. A topological change."""
        b = self._matter._body(mobod)._index
        (self._excluded.add if is_excluded else self._excluded.discard)(b)
        return self._changed()

    def _changed(self) -> Gravity:
        self._forces._invalidate_topology()
        return self

    # ------------------------------------------------------------------------------------------ in a state

    def get_gravity_vector(self, state: State) -> Array:
        """The acceleration of free fall in this state."""
        return self._number_run(state)[:3].copy()

    def set_gravity_vector(self, state: State, gravity_vector: ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most; a zero vector keeps the direction."""
        vector = _vector("gravity_vector", gravity_vector)
        size = float(np.linalg.norm(vector))
        self._set(state, vector / size if size > 0.0 else None, size, None)

    def get_down_direction(self, state: State) -> Array:
        """The direction down in this state, a unit vector."""
        return self._number_run(state)[4:7].copy()

    def set_down_direction(self, state: State, down: ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set(state, _direction(down), None, None)

    def get_magnitude(self, state: State) -> float:
        """The size of the acceleration in this state."""
        return float(self._number_run(state)[7])

    def set_magnitude(self, state: State, magnitude: float) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set(state, None, _magnitude(magnitude), None)

    def get_zero_height(self, state: State) -> float:
        """The height of zero potential energy in this state."""
        return float(self._number_run(state)[8])

    def set_zero_height(self, state: State, zero_height: float) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set(state, None, None, _finite("zero_height", zero_height))

    def get_body_is_excluded(self, state: State, mobod: Any) -> bool:
        """Whether a body is left out in this state."""
        self._check(state, "get_body_is_excluded")
        return not self._run(state, "force_integers", False)[self._matter._body(mobod)._index]

    def set_body_is_excluded(self, state: State, mobod: Any, is_excluded: bool) -> None:
        """Leave a body out in this state, or take it in again; the state falls to MODEL at most."""
        self._check(state, "set_body_is_excluded")
        b = self._matter._body(mobod)._index
        if b > 0:
            self._run(state, "force_integers", True)[b] = not is_excluded

    def get_body_forces(self, state: State) -> Array:
        """What it applies to each body ``(nb, 2, 3)``, at the bodies' origins, in Ground. Needs VELOCITY."""
        return self.calc_force_contribution(state)[0]

    def get_body_force(self, state: State, mobod: Any) -> Array:
        """What it applies to one body ``(2, 3)``. Needs VELOCITY."""
        F: Array = self.get_body_forces(state)[self._matter._body(mobod)._index]
        return F

    def get_particle_forces(self, state: State) -> Array:
        """What it applies to each particle ``(np, 3)``, in Ground. Needs VELOCITY."""
        return self.calc_force_contribution(state)[1]

    def get_particle_force(self, state: State, p: int) -> Array:
        """What it applies to particle *p* ``(3,)``, in Ground. Needs VELOCITY."""
        f: Array = self.get_particle_forces(state)[self._matter._particle(p)]
        return f

    def get_potential_energy(self, state: State) -> float:
        """Its potential energy. Needs POSITION."""
        return self.calc_potential_energy_contribution(state)

    def _number_run(self, state: State) -> Array:
        self._check(state, "get a parameter")
        return self._run(state, "force_numbers", False)

    def _set(self, state: State, down: Array | None, magnitude: float | None, zero_height: float | None) -> None:
        self._check(state, "set a parameter")
        old = self._run(state, "force_numbers", False)
        new = _pool(
            old[4:7].copy() if down is None else down,
            float(old[7]) if magnitude is None else magnitude,
            float(old[8]) if zero_height is None else zero_height,
        )
        self._run(state, "force_numbers", True)[:] = new

    # ------------------------------------------------------------------------------------------ for the tree

    def _integers(self) -> list[int]:
        return [int(b > 0 and b not in self._excluded) for b in range(self._matter.get_num_bodies())]

    def _numbers(self) -> list[float]:
        return _pool(self._down, self._magnitude, self._zero_height)


def _pool(down: Array, magnitude: float, zero_height: float) -> list[float]:
    """g, |g| z0, and then what these were made of."""
    return [*(magnitude * down).tolist(), magnitude * zero_height, *down.tolist(), magnitude, zero_height]


def _vector(what: str, v: Any) -> Array:
    vector = np.asarray(v, dtype=np.float64)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ValueError(f"{what} has to be three finite numbers, got {v!r}")
    return vector


def _direction(v: ArrayLike) -> Array:
    vector = _vector("the direction down", v)
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        raise ValueError("the direction down of gravity is a zero vector; give it a length")
    return vector / size


def _magnitude(value: float) -> float:
    number = _finite("magnitude", value)
    if number < 0.0:
        raise ValueError(f"the magnitude of gravity has to be zero or more, got {value}; turn the direction instead")
    return number


def _finite(what: str, value: float) -> float:
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{what} has to be finite, got {value}")
    return number
