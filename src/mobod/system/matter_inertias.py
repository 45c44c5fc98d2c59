"""The mass matrix, its inverse and products with both, sums over all bodies, and inertias and velocity terms of each.

The sums are of mass, mass center, inertia, momentum and kinetic energy; inertias are composite and articulated ones.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..mobilizer.base import MobilizedBody
from ..mobilizer.matrices import full
from ..state import validity
from ..state.state import State
from ..tree import (
    articulated_inertia,
    explicit_mass_matrix,
    inverse_mass_matrix,
    mass_matrix,
    matrix_sweep,
    momentum,
    realize as _realize,
)
from ..tree.realize import NOT_PLAIN
from ..value import ArticulatedInertia, Inertia, MassProperties, SpatialInertia
from ..value.stage import Stage
from .matter_jacobians import Jacobians

_array, _empty = np.ndarray, np.empty  # one lookup less in operators that take a microsecond
_times_m_inv = mass_matrix.multiply_by_m_inv
_POSITIONS, _ARTICULATED, _COMPOSITE = validity.POSITIONS, validity.ARTICULATED, validity.COMPOSITE


def _per_mass(total: Array, mass: float) -> Array:
    return total / mass if mass > 0.0 else np.full(3, np.nan)


class Inertias(Jacobians):
    """The part of `SimbodyMatterSubsystem` that has M, its inverse, momentum, and inertias and velocity terms of bodies."""

    def multiply_by_m(self, state: State, a: ArrayLike) -> Array:
        """f = M a ``(nu,)``, in O(n). Needs POSITION.

        M is that of the tree, without constraints, locks and motions. Source: inverse dynamics without velocities, Featherstone
        2008, section 5.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.multiply_by_m(state, [1.0, 0.0]).round(3)
        array([4.85 , 1.925])
        """
        block = self.positions(state, "multiply_by_m")
        a, f = self.mobility_vector(state, "a", a), np.empty(state.tree.nu)
        kernel = mass_matrix.multiply_by_m
        (kernel.code or kernel.code_for(block, a, f))(block, a, f)
        return f

    def multiply_by_m_inv(self, state: State, v: ArrayLike) -> Array:
        """a = M^-1 v ``(nu,)``, in O(n), by articulated inertias, computed if they are not valid. Needs POSITION.

        M is that of the tree without constraints: for accelerations under constraints use `calc_acceleration`, for changes of
        speed under constraints also `solve_for_constraint_impulses`. With locks or prescribed motion M is that of the free
        mobilities: only their entries of v are read, the others of the result are zero. `ModelError` names a free mobility
        that moves no inertia: M then has no inverse.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.multiply_by_m_inv(state, [1.0, 0.0]).round(3)
        array([ 0.863, -1.654])
        """
        valid = state.valid
        if not valid & _POSITIONS or state.token is not self.token:
            self.positions(state, "multiply_by_m_inv")
        code = _times_m_inv.code or _times_m_inv.load()
        a = code(state.block, valid, state.u_values, v)
        if type(a) is not _array and a == NOT_PLAIN:
            given, v = self.mobility_vector(state, "v", v), _empty(state.tree.nu)
            v[:] = given
            a = code(state.block, valid, state.u_values, v)
        if type(a) is not _array:
            self.get_system().explain(state, a)
        state.valid = valid | _ARTICULATED
        if state.tree.turns and not np.isfinite(a).all() and np.isfinite(v).all():  # angles at their singular place
            self.get_system().explain(state, _realize.BAD_U_DOT)
        return a

    def calc_m(self, state: State) -> Array:
        """The mass matrix ``(nu, nu)``, symmetric and positive definite: the tree's, without constraints. Needs POSITION.

        Locked and prescribed mobilities have rows and columns like others. Source: composite rigid bodies, Featherstone
        2008, section 6.2.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_m(state).round(3)
        array([[4.85 , 1.925],
               [1.925, 1.004]])
        """
        valid = state.valid
        if not valid & _POSITIONS or state.token is not self.token:
            self.positions(state, "calc_m")
        shape = state.tree.shape_of_m
        M = _empty(shape)
        if shape[0]:
            flat, wide = state.scratch or matrix_sweep.make_scratch(state)
            kernel = explicit_mass_matrix.calc_m
            code = kernel.code or kernel.code_for(state.block, True, flat, wide, M)
            code(state.block, valid & _COMPOSITE != 0, flat, wide, M)
            state.valid = valid | _COMPOSITE
        return M

    def calc_m_inv(self, state: State) -> Array:
        """The inverse of the mass matrix of the free mobilities ``(nu, nu)``, symmetric. Needs POSITION.

        It is that of the tree without constraints; `calc_projected_m_inv` is G M^-1 G^T. Rows and columns of locked and
        prescribed mobilities are zero. In O(nu^2), from articulated inertias, which are computed if they are not valid; M
        itself is not formed. `ModelError` names a free mobility that moves no inertia: M then has no inverse.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_m_inv(state).round(3)
        array([[ 0.863, -1.654],
               [-1.654,  4.168]])
        """
        block = self.positions(state, "calc_m_inv")
        shape = state.tree.shape_of_m
        M_inv = _empty(shape)
        if shape[0]:
            flat, wide = state.scratch or matrix_sweep.make_scratch(state)
            address = 0 if state.valid & validity.ARTICULATED else _realize.advance.address()
            kernel = inverse_mass_matrix.calc_m_inv
            code = kernel.code or kernel.code_for(block, address, state.valid, flat, wide, M_inv)
            status = code(block, address, state.valid, flat, wide, M_inv)
            if status:
                self.get_system().explain(state, status)
            state.valid |= validity.ARTICULATED
        return M_inv

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

    def calc_composite_body_inertias(self, state: State) -> list[SpatialInertia]:
        """The composite body inertia of each body, Ground first, which is infinite. Needs POSITION.

        See `get_composite_body_inertia`; all are computed in O(n) when one is first asked for.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_composite_body_inertias(state)[1].mass
        2.0
        """
        self._composite(state, "calc_composite_body_inertias")
        return [self.get_composite_body_inertia(state, b) for b in range(len(self.body_list))]

    def get_composite_body_inertia(self, state: State, mobod: Any) -> SpatialInertia:
        """Inertia of the body and its outboard subtree as one rigid body, about its origin, in Ground. Needs POSITION.

        Infinite for Ground. Source: Featherstone 2008, section 6.2; Jain 2011, section 4.1.2.
        """
        b = self.find_body(mobod).index
        self._composite(state, "get_composite_body_inertia")
        if b == 0:
            return MobilizedBody.ground_spatial_inertia()
        row = state.record.composite[b]
        mass = float(row[0])
        unit = full(row[4:]) / mass if mass > 0.0 else np.zeros((3, 3))
        return SpatialInertia.trusted(mass, row[1:4] / mass if mass > 0.0 else np.zeros(3), unit)

    def get_articulated_body_inertia(self, state: State, mobod: Any) -> ArticulatedInertia:
        """Inertia of the body with its outboard subtree free to move, about its origin, in Ground. Needs POSITION.

        Infinite for Ground. Constraints are ignored; locked and prescribed mobilizers hold their bodies. `ModelError` names a
        free mobility that moves no inertia. Source: Featherstone 2008, section 7; Jain 2011, section 6.
        """
        b = self.find_body(mobod).index
        self._articulated(state, "get_articulated_body_inertia")
        if b == 0:
            return ArticulatedInertia.trusted(np.diag([np.inf] * 6))
        if not state.valid & validity.STORED_INERTIAS:
            articulated_inertia.store_inertias(state.block)
            state.valid |= validity.STORED_INERTIAS
        row = state.record.articulated[b]
        F = row[6:15].reshape(3, 3)
        return ArticulatedInertia.trusted(np.block([[full(row[:6]), F], [F.T, full(row[15:])]]))

    def get_total_coriolis_acceleration(self, state: State, mobod: Any) -> Array:
        """Acceleration ``(2, 3)`` of the body if udot were zero, in Ground: its row of Jdot u. Needs VELOCITY."""
        b = self.find_body(mobod).index
        self.velocities(state, "get_total_coriolis_acceleration")
        return state.record.coriolis[b].reshape(2, 3).copy()

    def get_mobilizer_coriolis_acceleration(self, state: State, mobod: Any) -> Array:
        """The body's own part ``(2, 3)`` of its total Coriolis acceleration, beyond its parent's. Needs VELOCITY.

        The total less the parent's, shifted rigidly to this body's origin: HDot_PB_G u and the rate of the shift.
        """
        body = self.find_body(mobod)
        self.velocities(state, "get_mobilizer_coriolis_acceleration")
        total = self.get_total_coriolis_acceleration(state, body)
        if body.index == 0:
            return total
        parent = self.get_total_coriolis_acceleration(state, body.get_parent_mobilized_body())
        total -= parent
        total[1] -= np.cross(parent[0], state.record.p_PB_G[body.index])
        return total

    def get_gyroscopic_force(self, state: State, mobod: Any) -> Array:
        """b = [w x I w; m w x (w x c)] ``(2, 3)``, about the body's origin, in Ground; zero for Ground. Needs VELOCITY.

        The force required at A_GB = 0: F = M_B A + b are Newton's and Euler's equations. Source: Featherstone 2008,
        section 2.14.
        """
        b = self.find_body(mobod).index
        self.velocities(state, "get_gyroscopic_force")
        if b == 0:
            return np.zeros((2, 3))
        record = state.record
        w, mc = record.V_GB[b, :3], record.mass[b, 0] * record.com_G[b]
        return np.array([np.cross(w, full(record.inertia_G[b]) @ w), np.cross(w, np.cross(w, mc))])

    def get_total_centrifugal_forces(self, state: State, mobod: Any) -> Array:
        """The force ``(2, 3)`` on the body if udot is zero: M_B a + b, with its own inertia, in Ground. Needs VELOCITY.

        a is `get_total_coriolis_acceleration`, b `get_gyroscopic_force`; zero for Ground.
        """
        b = self.find_body(mobod).index
        self.velocities(state, "get_total_centrifugal_forces")
        return state.record.centrifugal[b].reshape(2, 3).copy()

    def get_mobilizer_centrifugal_forces(self, state: State, mobod: Any) -> Array:
        """P a + b ``(2, 3)``, with the articulated inertia and the mobilizer's own Coriolis acceleration. Deprecated.

        Use `get_total_centrifugal_forces`. Needs VELOCITY. Computes articulated inertias if they are not valid.
        """
        warnings.warn(
            "get_mobilizer_centrifugal_forces is deprecated; use get_total_centrifugal_forces", DeprecationWarning, stacklevel=2
        )
        b = self.find_body(mobod).index
        self.velocities(state, "get_mobilizer_centrifugal_forces")
        if b == 0:
            return np.zeros((2, 3))
        P = np.asarray(self.get_articulated_body_inertia(state, mobod))
        a = self.get_mobilizer_coriolis_acceleration(state, mobod)
        return (P @ a.ravel()).reshape(2, 3) + self.get_gyroscopic_force(state, mobod)
