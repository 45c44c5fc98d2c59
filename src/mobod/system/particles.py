"""Particles: points with mass that belong to no body and no mobilizer; what the matter subsystem says of them.

Simbody proposes them (SimbodyMatterSubsystem.h) and has no call that makes one. They are for many points that move freely under
forces: dust, drops, a gas. Their locations and velocities are continuous variables of the state, at the end of its y, which
integrators integrate with their errors controlled. nq, nu, nb, the mass matrix and the Jacobians leave them out; the system's
mass, momentum and energy count them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..state.of_each import Present, Rows, of_each
from ..state.state import State
from ..state.subsystem import Subsystem
from ..value import checks, rows
from ..value.stage import Stage


def _masses_of_each(matter: Any, template: State, values: Any, present: Present) -> Rows | None:
    array = rows.as_array(values)
    if array is None or array.shape[1:] != (matter.get_num_particles(),) or rows.positive(array) is None:
        return None
    return Rows([("particle_mass", slice(None), array[:, :, None])], typical=array[0])


class ParticleSubsystem(Subsystem):
    """The particles of a matter subsystem; `SimbodyMatterSubsystem` derives from it.

    Arrays have one row a particle, in the order in which they were added, expressed in Ground.
    """

    particles: tuple[Array, Array, Array] = (np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)))

    def add_particles(self, masses: ArrayLike, locations: ArrayLike, velocities: ArrayLike | None = None) -> range:
        """Add particles; a topological change.

        Parameters
        ----------
        masses : array_like (n,) or float
            Positive; one number is the mass of each.
        locations : array_like (n, 3)
            Where they are in a default state, in Ground; length.
        velocities : array_like (n, 3), optional
            How they move in a default state, in Ground; at rest unless given; length/time.

        Returns
        -------
        range
            The new particles' numbers.

        Raises
        ------
        TypeError
            If something is no number.
        ValueError
            If the shapes do not fit together, or a number is not finite.
        ModelError
            If a mass is not positive: forces would have nothing to move.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system = mb.MultibodySystem()
        >>> matter = mb.SimbodyMatterSubsystem(system)
        >>> matter.add_particles(0.1, np.zeros((1000, 3)))
        range(0, 1000)
        """
        r = checks.numbers("locations", locations)
        r = r.reshape(0, 3) if r.shape == (0,) else r
        if r.ndim != 2 or r.shape[1] != 3:
            raise ValueError(f"locations of particles have shape (n, 3), one row a particle; got {r.shape}")
        _finite("locations", r)
        m = checks.numbers("masses", masses)
        m = _masses(np.full(len(r), m) if m.shape == () else m, len(r))
        v = np.zeros_like(r)
        if velocities is not None:
            v = shaped("velocities", velocities, r.shape)
            _finite("velocities", v)
        first = self.get_num_particles()
        mass, location, velocity = self.particles
        self.particles = np.append(mass, m), np.concatenate([location, r]), np.concatenate([velocity, v])
        self.invalidate_topology()
        return range(first, first + len(r))

    def get_num_particles(self) -> int:
        """Number of particles, the same in every state."""
        return len(self.particles[0])

    def particle(self, p: int) -> int:
        """The number of a particle, checked."""
        return checks.index_of(self.get_num_particles(), p, self, "particles")

    def _particle_state(self, state: State, asked: str, stage: Stage) -> Any:
        """The record of a state at *stage* or above."""
        state.check_owner(self.system, asked)
        if state.stage_number < stage:
            if stage == Stage.MODEL:
                state.refuse_model(asked)
            state.refuse(asked, stage)
        return state.record

    # ------------------------------------------------------------------------------------------ masses

    def get_all_particle_masses(self, state: State) -> Array:
        """Masses ``(np,)`` in this state. Needs INSTANCE."""
        return self._particle_state(state, "get_all_particle_masses", Stage.INSTANCE).particle_mass[:, 0].copy()

    @of_each(_masses_of_each)
    def set_all_particle_masses(self, state: State, masses: ArrayLike) -> None:
        """Change the masses ``(np,)`` in this state alone, which falls to MODEL at most; the defaults stay.

        Raises
        ------
        ValueError
            If there is not one finite number for each.
        ModelError
            If one is not positive.
        """
        self._particle_state(state, "set_all_particle_masses", Stage.MODEL)
        m = _masses(checks.numbers("masses", masses), self.get_num_particles())
        state.own_field("particle_mass")[:, 0] = m

    def upd_all_particle_masses(self, state: State) -> Array:
        """A writable view ``(np,)``; the state falls to MODEL at most, now: fetch it again for each change.

        `System.realize` raises `ModelError` where a mass that was written is not positive.
        """
        self._particle_state(state, "upd_all_particle_masses", Stage.MODEL)
        return state.own_field("particle_mass")[:, 0]

    def check_particle_masses(self, state: State) -> None:
        """Raise an error if a mass written into a view is not positive and finite."""
        if "particle_mass" in state.own_fields:
            _masses(state.own_fields["particle_mass"][:, 0], self.get_num_particles())

    # ------------------------------------------------------------------------------------------ locations, velocities

    def get_all_particle_locations(self, state: State) -> Array:
        """Locations of all particles ``(np, 3)``. Needs POSITION."""
        return self._copy(state, "get_all_particle_locations", "particle_location", Stage.POSITION)

    def get_particle_location(self, state: State, p: int) -> Array:
        """Location of particle *p* ``(3,)``. Needs POSITION."""
        record = self._particle_state(state, "get_particle_location", Stage.POSITION)
        return self._one(record.particle_location, p).copy()

    def set_all_particle_locations(self, state: State, r: ArrayLike) -> None:
        """Put all particles at *r* ``(np, 3)``; the state falls to TIME at most. NaN is found when it is realized."""
        record = self._particle_state(state, "set_all_particle_locations", Stage.MODEL)
        record.particle_location.reshape(-1, 3)[:] = shaped("r", r, (self.get_num_particles(), 3))
        state.invalidate_q()

    def set_particle_location(self, state: State, p: int, r: ArrayLike) -> None:
        """Put particle *p* at *r* ``(3,)``; the state falls to TIME at most."""
        record = self._particle_state(state, "set_particle_location", Stage.MODEL)
        self._one(record.particle_location, p)[:] = shaped("r", r, (3,))
        state.invalidate_q()

    def upd_all_particle_locations(self, state: State) -> Array:
        """A writable view ``(np, 3)``; the state falls to TIME at most, now: fetch it again for each change."""
        return self._writable(state, "upd_all_particle_locations", "particle_location")

    def upd_particle_location(self, state: State, p: int) -> Array:
        """A writable view ``(3,)``; the state falls to TIME at most, now: fetch it again for each change."""
        return self._writable(state, "upd_particle_location", "particle_location", self.particle(p))

    def get_all_particle_velocities(self, state: State) -> Array:
        """Velocities of all particles ``(np, 3)``. Needs VELOCITY."""
        return self._copy(state, "get_all_particle_velocities", "particle_velocity", Stage.VELOCITY)

    def get_particle_velocity(self, state: State, p: int) -> Array:
        """Velocity of particle *p* ``(3,)``. Needs VELOCITY."""
        record = self._particle_state(state, "get_particle_velocity", Stage.VELOCITY)
        return self._one(record.particle_velocity, p).copy()

    def set_all_particle_velocities(self, state: State, v: ArrayLike) -> None:
        """Set the velocities *v* ``(np, 3)`` of all particles; the state falls to POSITION at most."""
        record = self._particle_state(state, "set_all_particle_velocities", Stage.MODEL)
        record.particle_velocity.reshape(-1, 3)[:] = shaped("v", v, (self.get_num_particles(), 3))
        state.invalidate_u()

    def set_particle_velocity(self, state: State, p: int, v: ArrayLike) -> None:
        """Set the velocity *v* ``(3,)`` of particle *p*; the state falls to POSITION at most."""
        record = self._particle_state(state, "set_particle_velocity", Stage.MODEL)
        self._one(record.particle_velocity, p)[:] = shaped("v", v, (3,))
        state.invalidate_u()

    def upd_all_particle_velocities(self, state: State) -> Array:
        """A writable view ``(np, 3)``; the state falls to POSITION at most, now: fetch it again for each change."""
        return self._writable(state, "upd_all_particle_velocities", "particle_velocity")

    def upd_particle_velocity(self, state: State, p: int) -> Array:
        """A writable view ``(3,)``; the state falls to POSITION at most, now: fetch it again for each change."""
        return self._writable(state, "upd_particle_velocity", "particle_velocity", self.particle(p))

    def get_all_particle_accelerations(self, state: State) -> Array:
        """Accelerations ``(np, 3)``: force over mass. Needs ACCELERATION."""
        return self._copy(state, "get_all_particle_accelerations", "particle_acceleration", Stage.ACCELERATION)

    def get_particle_acceleration(self, state: State, p: int) -> Array:
        """Acceleration of particle *p* ``(3,)``. Needs ACCELERATION."""
        record = self._particle_state(state, "get_particle_acceleration", Stage.ACCELERATION)
        return self._one(record.particle_acceleration, p).copy()

    def _one(self, column: Array, p: int) -> Array:
        """The row of one particle in a column of a record."""
        return column.reshape(-1, 3)[self.particle(p)]

    def _copy(self, state: State, asked: str, name: str, stage: Stage) -> Array:
        column: Array = getattr(self._particle_state(state, asked, stage), name)
        return column.reshape(-1, 3).copy()

    def _writable(self, state: State, asked: str, name: str, p: int | None = None) -> Array:
        column: Array = getattr(self._particle_state(state, asked, Stage.MODEL), name)
        (state.invalidate_q if name == "particle_location" else state.invalidate_u)()
        rows = column.reshape(-1, 3)
        return rows if p is None else rows[p]


def _masses(m: Array, n: int) -> Array:
    if m.shape != (n,):
        raise ValueError(f"masses of {n} particles have shape ({n},), got {m.shape}")
    _finite("masses", m)
    if not np.all(m > 0.0):
        i = int(np.argmin(m > 0.0))
        raise ModelError(f"masses[{i}] is {m[i]}; a particle has to have mass for forces to move. Leave out those without")
    return m


def shaped(what: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """An array of numbers, of this shape."""
    array = checks.numbers(what, value)
    if array.shape != shape:
        if not array.size and not shape[0]:  # an empty list, for no task at all
            return array.reshape(shape)
        raise ValueError(f"{what} has to have shape {shape}, got {array.shape}")
    return array


def _finite(what: str, array: Array) -> None:
    bad = ~np.isfinite(array).reshape(len(array), -1).all(axis=1) if len(array) else np.zeros(0, bool)
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(f"{what}[{i}] is {array[i]}; {what} of particles have to be finite")
