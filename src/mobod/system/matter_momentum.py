"""Sums over all bodies and particles: mass, mass center, inertia, momentum and kinetic energy."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array
from ..mobilizer.matrices import full
from ..state.state import State
from ..tree import momentum
from ..value import Inertia, MassProperties
from ..value.stage import Stage
from .matter_mass_matrix import HasMassMatrix


class Momentum(HasMassMatrix):
    """The part of `SimbodyMatterSubsystem` that sums up mass and momentum."""

    def calc_system_mass(self, state: State) -> float:
        """Mass of all bodies but Ground, and of all particles. Needs INSTANCE.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_system_mass(state)
        2.0
        """
        state.need_instance(self._ground, "calc_system_mass")
        return float(np.sum(state.record.mass[1:, 0]) + np.sum(state.record.particle_mass))

    def _mass_sums(self, state: State, asked: str) -> Array:
        out = np.empty((10, 1))
        momentum.calc_mass_properties(self.positions(state, asked), out)
        return out[:, 0]

    def calc_system_mass_center_location_in_ground(self, state: State) -> Array:
        """Mass center of the system, in Ground; NaN for a massless one. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_system_mass_center_location_in_ground(state).round(3)
        array([ 0.618, -1.338,  0.   ])
        """
        sums = self._mass_sums(state, "calc_system_mass_center_location_in_ground")
        return _per_mass(sums[1:4], sums[0])

    def calc_system_mass_properties_in_ground(self, state: State) -> MassProperties:
        """Mass, mass center and inertia of the system about the Ground origin, in Ground. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_system_mass_properties_in_ground(state).mass
        2.0
        """
        sums = self._mass_sums(state, "calc_system_mass_properties_in_ground")
        return MassProperties.trusted(float(sums[0]), _per_mass(sums[1:4], sums[0]), full(sums[4:]))

    def calc_system_central_inertia_in_ground(self, state: State) -> Inertia:
        """Inertia of the system about its mass center, in Ground. Needs POSITION.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> round(float(np.asarray(system.matter.calc_system_central_inertia_in_ground(state))[2, 2]), 3)
        0.508
        """
        self.positions(state, "calc_system_central_inertia_in_ground")
        return self.calc_system_mass_properties_in_ground(state).central_inertia

    def calc_system_momentum_about_ground_origin(self, state: State) -> Array:
        """Angular momentum about the Ground origin, and linear momentum ``(2, 3)``. Needs VELOCITY.

        That of bodies and particles; the spin of rotors, which `MobilizedBody.set_rotor_inertia` adds, is not in it.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_system_momentum_about_ground_origin(state)[1].round(3)
        array([4.205, 2.524, 0.   ])
        """
        out = np.empty((6, 1))
        momentum.calc_momentum(self.velocities(state, "calc_system_momentum_about_ground_origin"), out)
        return out.reshape(2, 3)

    def calc_system_central_momentum(self, state: State) -> Array:
        """Angular momentum about the system's mass center, and linear momentum ``(2, 3)``. Needs VELOCITY.

        Without the spin of rotors, as `calc_system_momentum_about_ground_origin`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_system_central_momentum(state).round(3)[1]
        array([4.205, 2.524, 0.   ])
        """
        self.velocities(state, "calc_system_central_momentum")
        about_origin = self.calc_system_momentum_about_ground_origin(state)
        c = self.calc_system_mass_center_location_in_ground(state)
        about_origin[0] -= np.cross(c, about_origin[1])
        return about_origin

    def calc_system_mass_center_velocity_in_ground(self, state: State) -> Array:
        """Velocity of the system's mass center; NaN for a massless one. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_system_mass_center_velocity_in_ground(state).round(3)
        array([2.103, 1.262, 0.   ])
        """
        self.velocities(state, "calc_system_mass_center_velocity_in_ground")
        return _per_mass(self.calc_system_momentum_about_ground_origin(state)[1], self.calc_system_mass(state))

    def calc_system_mass_center_acceleration_in_ground(self, state: State) -> Array:
        """Acceleration of the system's mass center; NaN for a massless one. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_system_mass_center_acceleration_in_ground(state).round(3)
        array([-3.736,  2.245,  0.   ])
        """
        self.positions(state, "calc_system_mass_center_acceleration_in_ground", Stage.ACCELERATION)
        if state.stage_number < Stage.ACCELERATION:
            state.refuse("calc_system_mass_center_acceleration_in_ground", Stage.ACCELERATION)
        record = state.record
        m, c, w = record.mass[1:], record.com_G[1:], record.V_GB[1:, :3]
        a = record.A_GB[1:, 3:] + np.cross(record.A_GB[1:, :3], c) + np.cross(w, np.cross(w, c))
        m_p, a_p = record.particle_mass, record.particle_acceleration.reshape(-1, 3)
        return _per_mass(np.sum(m * a, axis=0) + np.sum(m_p * a_p, axis=0), float(np.sum(m) + np.sum(m_p)))

    def calc_kinetic_energy(self, state: State) -> float:
        """Kinetic energy of bodies, rotors and particles, mass*length^2/time^2. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> round(system.matter.calc_kinetic_energy(state), 3)
        8.283
        """
        out = np.empty((1, 1))
        momentum.calc_kinetic_energy(self.velocities(state, "calc_kinetic_energy"), out)
        return float(out[0, 0])


def _per_mass(total: Array, mass: float) -> Array:
    return total / mass if mass > 0.0 else np.full(3, np.nan)
