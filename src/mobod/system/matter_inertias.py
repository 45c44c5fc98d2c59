"""Composite and articulated inertias of bodies, and the terms of the equations of motion that their velocities give."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..mobilizer.base import MobilizedBody
from ..mobilizer.matrices import full
from ..state import validity
from ..state.state import State
from ..tree import articulated_inertia
from ..value import ArticulatedInertia, SpatialInertia
from .matter_momentum import Momentum


class Inertias(Momentum):
    """The part of `SimbodyMatterSubsystem` that has inertias and velocity terms of bodies."""

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
