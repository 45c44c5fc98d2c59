"""GravityCompensation: holds up a fraction of the weight of bodies, at their mass centers.

F_B = -c m g at B's mass center   PE = sum of c m g . p_GC   c the body's fraction, g the acceleration of free fall
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..algebra import vec3
from ..algebra.arrays import ArrayLike
from ..algebra.memory import add_spatial, load3
from ..algebra.scalar import load, zero
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value import checks
from .base import Force, body_index
from .pools import number, numbers3
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, i: int, x: int) -> None:
    """Integers: how many, then the bodies. Numbers: g, then their fractions."""
    g = numbers3(model, x)
    for k in range(model.force_integers[i]):
        b = model.force_integers[i + 1 + k]
        f = vec3.scale(-number(model, x + 3 + k) * load(model.mass, b, 0), g)
        add_spatial(model.body_forces, b, vec3.cross(load3(model.com_G, b, 0), f), f)


@generic
def energy(model: Any, i: int, x: int) -> Any:
    """Zero where a mass center is at Ground's origin."""
    g, total = numbers3(model, x), zero(load(model.time, 0, 0))
    for k in range(model.force_integers[i]):
        b = model.force_integers[i + 1 + k]
        p_GC = vec3.add(load3(model.p_GB, b, 0), load3(model.com_G, b, 0))
        total = total + number(model, x + 3 + k) * load(model.mass, b, 0) * vec3.dot(g, p_GC)
    return total


class GravityCompensation(Force):
    """Holds up a fraction of the weight of bodies at their mass centers, as a controller or a balance spring would.

    Parameters
    ----------
    fractions : mapping of MobilizedBody to float
        Of each body, by object, index or name: 1 takes all of its weight, more lifts it as a balloon.
    gravity_vector : (3,) array_like
        The acceleration of free fall, in Ground, length/time^2.

    Raises
    ------
    TypeError, ValueError
        If a body is none, or a number not finite.
    TopologyError
        If a body belongs to another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.GravityCompensation(system.forces, {system.matter.bodies["lower"]: 0.5}, (0, -9.81, 0))
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[0][2].round(3)
    array([[0.   , 0.   , 0.   ],
           [0.   , 4.905, 0.   ]])
    """

    routine = by_address(add, energy)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        fractions: Mapping[MobilizedBody, float],
        gravity_vector: ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        numbers = self.declared(name, gravity_vector=gravity_vector)
        checks.instance("fractions", fractions, Mapping, "{body: 1.0}")
        bodies = [body_index(forces, "one of the bodies", body) for body in fractions]
        parts = [checks.finite(f"fraction of {body!r}", fraction) for body, fraction in fractions.items()]
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = [len(bodies), *bodies], [*numbers, *parts]

    def reach(self) -> tuple[list[int], list[int]]:
        return self.default_integers[1:], []

    get_default_gravity_vector, set_default_gravity_vector, get_gravity_vector, set_gravity_vector = parameters.vector(
        "gravity_vector", "length/time^2", "the acceleration of free fall, in Ground"
    ).accessors()
