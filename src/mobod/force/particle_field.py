"""ParticleField: a force on every particle by where it is and how it moves, which its user writes as one function.

on i: f(t, r_i, v_i)        PE = sum of V(t, r_i)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.scalar import load, store, zero
from ..compiling import Routine, generic
from ..function import users
from ..function.users.unrolled import numbers
from ..mobilizer.access import vector3
from ..state.named_parameters import names_and_values
from ._of_functions import OfFunctions
from .base import check_forces
from .routines import kernel
from .subsystem import GeneralForceSubsystem

#: The arguments of each function.
_ARGUMENTS = {"force": ("t", "r", "v", "parameters"), "potential_energy": ("t", "r", "parameters")}


class ParticleField(OfFunctions):
    """A force on every particle that follows from time, its location and its velocity: one element, one compiled loop.

    Parameters
    ----------
    force : function
        ``force(t, r, v, parameters) -> (fx, fy, fz)``: the force on a particle at r with velocity v, all in Ground. Written as
        the functions of `CompiledFunctions`, of numbers and tuples alone.
    potential_energy : function, optional
        ``potential_energy(t, r, parameters) -> number``, of which *force* is minus the gradient, where it has one. None unless
        given.
    parameters : sequence of float, or mapping of str to float
        What both functions get as a tuple; a mapping gives them names.

    Raises
    ------
    ModelError
        If the functions do not take or return what they should; when topology is realized, if they cannot be compiled.

    Examples
    --------
    A trap that pulls to the origin:

    >>> import mobod as mb
    >>> def pull(t, r, v, parameters):
    ...     return -parameters[0] * r[0], -parameters[0] * r[1], -parameters[0] * r[2]
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> forces = mb.GeneralForceSubsystem(system)
    >>> _ = matter.add_particles([2.0, 1.0], [[1, 0, 0], [0, 3, 0]])
    >>> trap = mb.force.ParticleField(forces, pull, parameters=[4.0])
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> matter.get_all_particle_accelerations(state)
    array([[ -2.,   0.,   0.],
           [  0., -12.,   0.]])
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        force: Callable[..., Any],
        potential_energy: Callable[..., Any] | None = None,
        *,
        parameters: npt.ArrayLike | Mapping[str, float] = (),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_forces(forces)
        self.parameter_names, values = names_and_values(parameters)
        own = users.check_parameters(values)
        self._functions = {"force": force, "potential_energy": potential_energy}
        routine = self._made(own)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.routine, self.default_numbers = routine, own

    def _routine_again(self) -> Routine:
        return self._made(self.default_numbers)

    def _made(self, own: Sequence[float]) -> Routine:
        """The routine of its functions, which are tried out and frozen."""
        given = {name: f for name, f in self._functions.items() if name == "force" or f is not None}
        frozen = {name: users.freeze(f, name, _ARGUMENTS[name]) for name, f in given.items()}
        rng = np.random.default_rng(0)
        for name, f in frozen.items():
            shape = (3,) if name == "force" else ()
            what = "three numbers" if name == "force" else "a number"

            def check(value: Any, arguments: Any, text: str = f"{f.what} has to return {what}", shape: Any = shape) -> None:
                users.check_tuples(text, value, shape)

            every = {"t": 0.3, "r": tuple(rng.normal(size=3).tolist()), "v": (0.4, -0.2, 0.7), "parameters": tuple(own)}
            arguments = {one: every[one] for one in _ARGUMENTS[name]}
            users.try_out(f, [arguments], f"There are {len(own)} parameters", check)
        return users.routine_of("field", frozen, len(own), lambda: _kernel(frozen, len(own)))


def _kernel(frozen: dict[str, Any], num_parameters: int) -> Callable[..., int]:
    """The loop over particles."""
    vector, force = numbers(num_parameters), frozen["force"].function

    @generic
    def add(model: Any, i: int, x: int) -> None:
        t, parameters = load(model.time, 0, 0), vector(model.force_numbers, x)
        for p in range(model.num_particles):
            f = force(t, vector3(model.particle_location, 3 * p), vector3(model.particle_velocity, 3 * p), parameters)
            for k, own in enumerate(f):
                store(model.particle_forces, 3 * p + k, 0, load(model.particle_forces, 3 * p + k, 0) + own)

    if "potential_energy" not in frozen:
        return kernel(add, None, None)
    potential = frozen["potential_energy"].function

    @generic
    def energy(model: Any, i: int, x: int) -> Any:
        t, parameters = load(model.time, 0, 0), vector(model.force_numbers, x)
        total = zero(t)
        for p in range(model.num_particles):
            total = total + potential(t, vector3(model.particle_location, 3 * p), parameters)
        return total

    return kernel(add, energy, None)
