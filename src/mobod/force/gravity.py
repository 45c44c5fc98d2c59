"""Gravity: a uniform field that pulls on every body at its mass center, except on excluded bodies.

It pulls on every particle too.

F_B = [c x m g; m g], c the mass center from B's origin   PE = -sum of m (g.p_GC + |g| z0), z0 the height of zero energy
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import object_access, vec3
from ..algebra.arrays import Array, ArrayLike
from ..algebra.memory import add_spatial, load3, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, sqrt, store, zero
from ..compiling import compiled, generic
from ..state import parameters
from ..value import checks
from ..value.stage import POSITION, Stage
from .base import Force, same_system
from .pools import numbers3
from .routines import GRAVITY

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem
    from .subsystem import GeneralForceSubsystem


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
def add_to(model: Any, integers: int, numbers: int, F: Any) -> None:
    """Add the forces on bodies to other rows than the record's."""
    g = numbers3(model, numbers)
    for b in range(1, model.nb):
        torque, pull = _pull(model, b, integers, g)
        add_spatial(F, b, torque, pull)


@compiled
def calc_body_forces(block: Any, e: int, F: Any) -> None:
    """Forces of element *e* on each body, in rows that are zero at first."""
    model = attach(block)
    if model.force_enabled[e] == 1:
        add_to(model, model.force_first_integer[e], model.force_first_number[e], F)


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


#: Where its numbers are, after g and |g| z0, which follow from these.
DOWN, MAGNITUDE, ZERO_HEIGHT = 4, 7, 8


def _put_vector(numbers: Any, g: Any) -> None:
    """The direction and the size of a vector; a zero vector keeps the direction, which is -y where there was none."""
    if not (isinstance(g, list) and isinstance(g[0], float)):  # of many states
        vector = np.asarray(g)
        sizes = np.linalg.norm(vector, axis=0)
        if not sizes.all():
            raise ValueError("a zero vector keeps the direction that its state has")
        numbers[DOWN : DOWN + 3], numbers[MAGNITUDE] = vector / sizes, sizes
        return
    size = math.hypot(*g)
    if size > 0.0:
        numbers[DOWN : DOWN + 3] = [x / size for x in g]
    elif not any(numbers[DOWN : DOWN + 3]):
        numbers[DOWN : DOWN + 3] = [0.0, -1.0, 0.0]
    numbers[MAGNITUDE] = size


def _settle(whose: str, numbers: list[float]) -> None:
    """g and |g| z0 of the direction, the size and the height of zero energy."""
    x, y, z, size, height = numbers[DOWN:]
    numbers[:4] = [size * x, size * y, size * z, size * height]


#: Sizes whose squares neither vanish nor overflow.
_LEAST, _MOST = 1e-150, 1e150


@object_access.compiled_for_callers
def _put_plain(values: Any, own: Any, first: Any, shape: Any, least: Any) -> Any:
    """`_put_vector` of an array, and `_settle`, at the place *first* of *own*; 1 if done, 0 where a look is needed."""
    if not object_access.is_of_shape(values, own, shape):
        return object_access.as_object(0)
    source, target, at = object_access.numbers(values), object_access.numbers(own), object_access.number(first)
    x, y, z = load(source, 0, 0), load(source, 1, 0), load(source, 2, 0)
    size = sqrt(x * x + y * y + z * z)
    if not _LEAST < size < _MOST:
        return object_access.as_object(0)
    for k, part in enumerate((x / size, y / size, z / size)):
        store(target, at + DOWN + k, 0, part)
        store(target, at + k, 0, size * part)
    store(target, at + MAGNITUDE, 0, size)
    store(target, at + 3, 0, size * load(target, at + ZERO_HEIGHT, 0))
    return object_access.as_object(1)


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

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.Gravity(system.forces, system.matter, (0, 0, -1.0))
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[0][2].round(3)
    array([[ 0.,  0.,  0.],
           [ 0.,  0., -1.]])
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
        direction = "gravity_vector" if down_direction is None else "down_direction"
        given: dict[str, Any] = {direction: gravity_vector if down_direction is None else down_direction}
        if magnitude is None:
            numbers = self.declared(name, **given, zero_height=zero_height)
        else:  # then the vector is a direction
            whose = f"a {type(self).__name__}" if name is None else repr(name)
            vector, size = (
                checks.vector(f"{direction} of {whose}", given[direction]),
                checks.not_negative(f"magnitude of {whose}", magnitude),
            )
            if not vector.any() and size == 0.0:
                vector = np.array([0.0, -1.0, 0.0])
            numbers = self.declared(name, down_direction=vector, magnitude=size, zero_height=zero_height)
        self._matter = same_system(forces, matter, "Gravity")
        self._excluded: set[int] = set()
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_numbers = numbers

    # ------------------------------------------------------------------------------------------ parameters

    get_default_gravity_vector, set_default_gravity_vector, get_gravity_vector, set_gravity_vector = parameters.vector(
        "gravity_vector",
        "length/time^2",
        "the acceleration of free fall, in Ground; a zero vector keeps the direction down",
        put=_put_vector,
        put_plain=(_put_plain, _settle),
    ).accessors()
    get_default_down_direction, set_default_down_direction, get_down_direction, set_down_direction = parameters.direction(
        "down_direction", "the direction down", argument="down", given_as="down_direction", first=DOWN
    ).accessors()
    get_default_magnitude, set_default_magnitude, get_magnitude, set_magnitude = parameters.scalar(
        "magnitude", "length/time^2", checks.not_negative, "the size of the acceleration", first=MAGNITUDE
    ).accessors()
    get_default_zero_height, set_default_zero_height, get_zero_height, set_zero_height = parameters.scalar(
        "zero_height", "length", checks.finite, "the height of zero potential energy", first=ZERO_HEIGHT
    ).accessors()

    settle = staticmethod(_settle)

    def get_default_body_is_excluded(self, mobod: Any) -> bool:
        """True if a body is left out in a default state; Ground always is."""
        b = self._matter.find_body(mobod).index
        return b == 0 or b in self._excluded

    def set_default_body_is_excluded(self, mobod: Any, is_excluded: bool) -> Gravity:
        """Leave a body out, or take it in again. A topological change."""
        b = self._matter.find_body(mobod).index
        (self._excluded.add if checks.flag("is_excluded", is_excluded) else self._excluded.discard)(b)
        self.defaults_changed()
        return self

    def get_body_is_excluded(self, state: State, mobod: Any) -> bool:
        """True if a body is left out in this state."""
        self._check(state, "get_body_is_excluded")
        return not self.pool_run(state, "force_integers", False)[self._matter.find_body(mobod).index]

    def set_body_is_excluded(self, state: State, mobod: Any, is_excluded: bool) -> None:
        """Leave a body out in this state, or take it in again; the state falls to MODEL at most."""
        self._check(state, "set_body_is_excluded")
        b = self._matter.find_body(mobod).index
        if b > 0:
            self.pool_run(state, "force_integers", True)[b] = not checks.flag("is_excluded", is_excluded)

    def get_body_forces(self, state: State) -> Array:
        """Its forces on each body ``(nb, 2, 3)``, at the bodies' origins, in Ground. Needs POSITION."""
        self._check(state, "get_body_forces")
        if state.stage_number < POSITION:
            state.refuse("get_body_forces", Stage.POSITION)
        F = np.zeros((state.tree.nb, 2, 3))
        rows = F.reshape(-1, 6)
        (calc_body_forces.code or calc_body_forces.code_for(state.block, 0, rows))(state.block, self.element, rows)
        return F

    def get_body_force(self, state: State, mobod: Any) -> Array:
        """Its force on one body ``(2, 3)``. Needs VELOCITY."""
        return self.get_body_forces(state)[self._matter.find_body(mobod).index]

    def get_particle_forces(self, state: State) -> Array:
        """Its forces on each particle ``(np, 3)``, in Ground. Needs VELOCITY."""
        return self.calc_force_contribution(state)[1]

    def get_particle_force(self, state: State, p: int) -> Array:
        """Its force on particle *p* ``(3,)``, in Ground. Needs VELOCITY."""
        return self.get_particle_forces(state)[self._matter.particle(p)]

    def get_potential_energy(self, state: State) -> float:
        """Its potential energy. Needs POSITION."""
        return self.calc_potential_energy_contribution(state)

    # ------------------------------------------------------------------------------------------ for the tree

    def pack_integers(self) -> list[int]:
        return [int(b > 0 and b not in self._excluded) for b in range(self._matter.get_num_bodies())]
