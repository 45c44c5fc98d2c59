"""ParticlePairs: a force between all pairs of particles that are near each other, which its user writes as one function.

on i: f(r) (r_i - r_j) / r, on j its opposite, where r < cutoff        PE = sum of V(r) - V(cutoff)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy.typing as npt

from ..algebra import vec3
from ..algebra.scalar import bare, load, load_lane, num_lanes, sqrt, store, where, zero
from ..compiling import Routine, generic
from ..function import users
from ..function.users.unrolled import numbers
from ..state.named_parameters import names_and_values
from ..value.checks import positive
from ._neighbours import FOUND, PLACES, POINTS, find, lay_out, make_room
from ._of_functions import OfFunctions
from .base import check_forces
from .routines import ENERGY, FORCES
from .subsystem import GeneralForceSubsystem

#: The distances, as parts of the cutoff, at which functions are tried out.
_TRIED = (0.9, 0.5, 0.3)


class ParticlePairs(OfFunctions):
    """A central force between all pairs of particles that are nearer than a cutoff: one element, one compiled loop.

    Parameters
    ----------
    force : function
        ``force(r, parameters) -> number``: the force at distance r, above zero where the two repel each other. Written as the
        functions of `CompiledFunctions`, of numbers alone.
    potential_energy : function, optional
        ``potential_energy(r, parameters) -> number``, of which *force* is minus the derivative. It is shifted to be zero at
        the cutoff. None unless given.
    cutoff : float
        Distance beyond which pairs do not act on each other; length.
    parameters : sequence of float, or mapping of str to float
        What both functions get as a tuple; a mapping gives them names.

    Raises
    ------
    ModelError
        If the cutoff is not positive, or the functions do not take or return what they should; when topology is realized, if
        they cannot be compiled.

    Notes
    -----
    The cost grows with the pairs that are near: particles are put into cells as large as the cutoff, anew in each evaluation.
    Of fewer than 48 particles, or where the cutoff is most of the box, all pairs are looked at, some nanoseconds each. The
    sums have the same bits either way. The force jumps at the cutoff unless *force* is zero there.

    Examples
    --------
    Lennard and Jones's force, of depth 1 and diameter 1:

    >>> import mobod as mb
    >>> def force(r, parameters):
    ...     return 24.0 * (2.0 / r**13 - 1.0 / r**7)
    >>> def energy(r, parameters):
    ...     return 4.0 * (1.0 / r**12 - 1.0 / r**6)
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> forces = mb.GeneralForceSubsystem(system)
    >>> _ = matter.add_particles([1.0, 1.0], [[0, 0, 0], [2.0 ** (1 / 6), 0, 0]])
    >>> pairs = mb.force.ParticlePairs(forces, force, energy, cutoff=2.5)
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> round(pairs.calc_potential_energy_contribution(state), 4)  # -1, and what it is at the cutoff
    -0.9837
    """

    reads_positions_only = True
    place_of_parameters = 1

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        force: Callable[..., Any],
        potential_energy: Callable[..., Any] | None = None,
        *,
        cutoff: float,
        parameters: npt.ArrayLike | Mapping[str, float] = (),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_forces(forces)
        self.parameter_names, values = names_and_values(parameters)
        own, reach = users.check_parameters(values), positive("cutoff", cutoff)
        self._functions = {"force": force, "potential_energy": potential_energy}
        routine = self._made(own, reach)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.routine, self.default_numbers = routine, [reach, *own]

    def get_cutoff(self) -> float:
        """Distance beyond which pairs do not act on each other."""
        return float(self.default_numbers[0])

    def _routine_again(self) -> Routine:
        return self._made(self.default_numbers[1:], self.default_numbers[0])

    def _made(self, own: list[float], cutoff: float) -> Routine:
        """The routine of its functions, which are tried out and frozen."""
        frozen = {name: users.freeze(f, name, ("r", "parameters")) for name, f in self._functions.items() if f is not None}
        places = [{"r": part * cutoff, "parameters": tuple(own)} for part in _TRIED]
        for f in frozen.values():

            def check(value: Any, arguments: Any, what: str = f.what) -> None:
                users.check_tuples(f"{what} has to return a number", value, ())

            users.try_out(f, places, f"There are {len(own)} parameters", check)
        return users.routine_of("pairs in cells", frozen, len(own), lambda: _kernel(frozen, len(own)), makes_arrays=True)


def _kernel(frozen: dict[str, Any], num_parameters: int) -> Callable[..., int]:
    """The loops over pairs. It is no kernel of `routines`: it makes arrays, for cells."""
    vector, force = numbers(num_parameters), frozen["force"].function
    potential = frozen["potential_energy"].function if "potential_energy" in frozen else _none

    @generic
    def add(model: Any, x: int, room: Any) -> None:
        cutoff, parameters = load(model.force_numbers, x, 0), vector(model.force_numbers, x + 1)
        reach = load_lane(model.force_numbers, x, 0, 0)
        in_cells = _laid_out(model, bare(reach), room)
        for a in range(model.num_particles):
            p_a = _location(model, a)
            f_a = zero(p_a[0]), zero(p_a[0]), zero(p_a[0])
            for i_b in range(find(room, a, bare(reach)) if in_cells else a):
                b = room[FOUND][i_b] if in_cells else i_b
                apart = vec3.sub(p_a, _location(model, b))
                squared = vec3.dot(apart, apart)
                near = squared < cutoff * cutoff
                r = sqrt(where(near, squared, cutoff * cutoff))
                push = vec3.scale(where(near, force(r, parameters) / r, zero(r)), apart)
                f_a = vec3.add(f_a, push)
                for k in range(3):
                    store(model.particle_forces, 3 * b + k, 0, load(model.particle_forces, 3 * b + k, 0) - push[k])
            for k in range(3):
                store(model.particle_forces, 3 * a + k, 0, load(model.particle_forces, 3 * a + k, 0) + f_a[k])

    @generic
    def energy(model: Any, x: int, room: Any) -> Any:
        cutoff, parameters = load(model.force_numbers, x, 0), vector(model.force_numbers, x + 1)
        total = zero(load(model.time, 0, 0))
        reach = load_lane(model.force_numbers, x, 0, 0)
        in_cells = _laid_out(model, bare(reach), room)
        for a in range(model.num_particles):
            for i_b in range(find(room, a, bare(reach)) if in_cells else a):
                b = room[FOUND][i_b] if in_cells else i_b
                apart = vec3.sub(_location(model, a), _location(model, b))
                squared = vec3.dot(apart, apart)
                near = squared < cutoff * cutoff
                r = sqrt(where(near, squared, cutoff * cutoff))
                total = total + where(near, potential(r, parameters) - potential(zero(r) + cutoff, parameters), zero(r))
        return total

    def run(model: Any, first: int, end: int, what: int) -> int:
        room = make_room(model.num_particles, num_lanes(load(model.time, 0, 0)))
        for e in range(first, end):
            if model.force_enabled[e] == 1:
                if what == FORCES:
                    add(model, model.force_first_number[e], room)
                elif what == ENERGY:
                    store(model.work_e, e, 0, energy(model, model.force_first_number[e], room))
        return 0

    return run


@generic
def _laid_out(model: Any, cutoff: float, room: Any) -> bool:
    if model.num_particles >= POINTS:
        for lane in range(len(room[PLACES])):
            for i in range(3 * model.num_particles):
                room[PLACES][lane, i] = bare(load_lane(model.particle_location, i, 0, lane))
    return lay_out(room, model.num_particles, cutoff)


@generic
def _none(r: Any, parameters: Any) -> Any:
    return zero(r)


@generic
def _location(model: Any, p: int) -> Any:
    r = model.particle_location
    return load(r, 3 * p, 0), load(r, 3 * p + 1, 0), load(r, 3 * p + 2, 0)
