"""Custom: a force that its user writes, in Python."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .base import Force

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..state import State

Array = npt.NDArray[np.float64]


class CustomImplementation(abc.ABC):
    """What a user derives a force from; then ``Custom(forces, implementation)`` makes it part of a system.

    1. `calc_force` has to be there: it adds into the arrays that it is given.
    2. `calc_potential_energy`, where the force has one, for energy to balance.
    3. `depends_only_on_positions` may say so, and the force is then computed once for each q and time.
    4. The ``realize_*`` hooks are called when the system realizes a state to that stage.

    Examples
    --------
    >>> class Wind(mb.force.CustomImplementation):  # doctest: +SKIP
    ...     def calc_force(self, state, body_forces, particle_forces, mobility_forces):
    ...         body.apply_force_to_body_point(state, (0, 0, 0), (3, 0, 0), body_forces)
    """

    @abc.abstractmethod
    def calc_force(self, state: State, body_forces: Array, particle_forces: Array, mobility_forces: Array) -> None:
        """Add the force at *state*, which is realized through VELOCITY.

        Parameters
        ----------
        state : State
            Not to be changed.
        body_forces : (nb, 2, 3) array
            Torque and force on each body at its origin, in Ground; added to in place.
        particle_forces : (np, 3) array
            Force on each particle, in Ground; added to in place.
        mobility_forces : (nu,) array
            Generalized forces; added to in place.
        """

    def calc_potential_energy(self, state: State) -> float:
        """Potential energy at *state*; zero unless overridden."""
        return 0.0

    def depends_only_on_positions(self) -> bool:
        """Whether the force is a function of q and the particles' locations alone; False unless overridden.

        That is not of u, z, velocities, time or discrete variables.
        """
        return False

    def realize_topology(self, state: State) -> None:
        """Called when the system's topology is realized."""

    def realize_model(self, state: State) -> None:
        """Called when modelling choices are settled."""

    def realize_instance(self, state: State) -> None:
        """Called at INSTANCE."""

    def realize_time(self, state: State) -> None:
        """Called at TIME."""

    def realize_position(self, state: State) -> None:
        """Called at POSITION."""

    def realize_velocity(self, state: State) -> None:
        """Called at VELOCITY."""

    def realize_dynamics(self, state: State) -> None:
        """Called at DYNAMICS."""

    def realize_acceleration(self, state: State) -> None:
        """Called at ACCELERATION."""

    def realize_report(self, state: State) -> None:
        """Called at REPORT."""


class Custom(Force):
    """A force that its user writes: derive from `CustomImplementation`, and pass an instance.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    implementation : CustomImplementation
        The user's own; it may hold bodies, parameters, data.

    Notes
    -----
    A system with such a force is integrated by the same algorithm, interpreted: the force costs its own time and a few
    microseconds a call.
    """

    KIND = 0

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        implementation: CustomImplementation,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        if not isinstance(implementation, CustomImplementation):
            raise TypeError(
                "implementation has to be an instance of a class derived from mobod.force.CustomImplementation, "
                f"not {implementation!r}"
            )
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._implementation = implementation

    def get_implementation(self) -> CustomImplementation:
        """The user's own object."""
        implementation: CustomImplementation = self._implementation
        return implementation

    def _add_force(self, state: State, body_forces: Array, particle_forces: Array, mobility_forces: Array) -> None:
        if not self._implementation.depends_only_on_positions():
            self._implementation.calc_force(state, body_forces, particle_forces, mobility_forces)
            return
        places = state._record.particle_location
        kept = state._force_cache.get(self._element)
        if kept is None or not (np.array_equal(kept[0], state._q) and np.array_equal(kept[1], places)):
            added = np.zeros_like(body_forces), np.zeros_like(particle_forces), np.zeros_like(mobility_forces)
            self._implementation.calc_force(state, *added)
            kept = state._force_cache[self._element] = (state._q.copy(), places.copy(), *added)
        body_forces += kept[2]
        particle_forces += kept[3]
        mobility_forces += kept[4]

    def _potential_energy(self, state: State) -> float:
        return float(self._implementation.calc_potential_energy(state))


__all__ = ["Custom", "CustomImplementation"]
