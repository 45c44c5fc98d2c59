"""Results that are computed on demand: checking that they are valid, realizing and invalidating them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..state import validity
from ..state.state import State
from ..tree import composite_inertia, realize as _realize
from ..tree.prescribed_mobilities import SOLVED
from ..value.stage import Stage
from .matter_bodies import HasBodies

_KINEMATICS = validity.KINEMATICS


class Realized(HasBodies):
    """The part of `SimbodyMatterSubsystem` that realizes and invalidates results."""

    token: object

    def positions(self, state: State, asked: str, needs: Stage = Stage.POSITION) -> Any:
        """The block of a state with valid positions; else raises `StageError` with the stage *needs*."""
        if state.token is not self.token:
            state.check_owner(self.system, asked)
        if not state.valid & validity.POSITIONS:
            state.refuse(asked, needs)
        return state.block

    def velocities(self, state: State, asked: str) -> Any:
        """The block of a state whose velocities have been computed; raises `StageError` otherwise."""
        # one comparison in the usual case, in which all are valid
        if state.valid & _KINEMATICS != _KINEMATICS or state.token is not self.token:
            self.positions(state, asked, Stage.VELOCITY)
            if not state.valid & validity.VELOCITIES:
                state.refuse(asked, Stage.VELOCITY)
        return state.block

    def accelerations(self, state: State, asked: str) -> Any:
        """The block of a state at ACCELERATION."""
        block = self.positions(state, asked, Stage.ACCELERATION)
        if state.stage_number < Stage.ACCELERATION:
            state.refuse(asked, Stage.ACCELERATION)
        return block

    def _articulated(self, state: State, asked: str) -> Any:
        block = self.positions(state, asked)
        if not state.valid & validity.ARTICULATED:
            self._realize(state, validity.ARTICULATED)
            if not np.isfinite(state.record.d_inverse).all():
                self._refuse_singular(state)
        return block

    def _refuse_singular(self, state: State) -> None:
        """Raise `ModelError` with the free mobility that moves no inertia; entries of known ones are stale and ignored."""
        free = np.repeat(state.field("prescribed") == SOLVED, state.tree.num_u)
        if not np.isfinite(state.record.d_inverse[: len(free), 0][free]).all():
            state.valid &= ~validity.ARTICULATED
            self.get_system().explain(state, _realize.BAD_U_DOT)

    def _realize(self, state: State, entry: int) -> None:
        self.get_system().compute(state, entry)

    def realize_position_kinematics(self, state: State) -> None:
        """Compute poses and hinge columns now, whatever the stage, so that POSITION finds them. Needs INSTANCE.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter = system.matter
        >>> system.realize(state, mb.Stage.INSTANCE)
        >>> matter.realize_position_kinematics(state)
        >>> matter.is_position_kinematics_realized(state)
        True
        """
        state.need_instance(self._ground, "realize_position_kinematics")
        if not state.valid & validity.POSITIONS:
            self._realize(state, validity.POSITIONS)

    def realize_velocity_kinematics(self, state: State) -> None:
        """Compute velocities now, whatever the stage. Needs position kinematics.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter = system.matter
        >>> system.realize(state, mb.Stage.POSITION)
        >>> matter.realize_velocity_kinematics(state)
        >>> matter.is_velocity_kinematics_realized(state)
        True
        """
        self.positions(state, "realize_velocity_kinematics")
        if not state.valid & validity.VELOCITIES:
            self._realize(state, validity.VELOCITIES)

    def realize_composite_body_inertias(self, state: State) -> None:
        """Compute composite body inertias now. Needs position kinematics.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter = system.matter
        >>> system.realize(state, mb.Stage.VELOCITY)
        >>> matter.realize_composite_body_inertias(state)
        >>> matter.is_composite_body_inertias_realized(state)
        True
        """
        self._composite(state, "realize_composite_body_inertias")

    def _composite(self, state: State, asked: str) -> None:
        block = self.positions(state, asked)
        if not state.valid & validity.COMPOSITE:
            composite_inertia.realize_composite(block)
            state.valid |= validity.COMPOSITE

    def realize_articulated_body_inertias(self, state: State) -> None:
        """Compute articulated body inertias now. Needs position kinematics.

        `ModelError` names a free mobility that moves no inertia: bodies inboard of it have no articulated inertia.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter = system.matter
        >>> system.realize(state, mb.Stage.VELOCITY)
        >>> matter.realize_articulated_body_inertias(state)
        >>> matter.is_articulated_body_inertias_realized(state)
        True
        """
        self._articulated(state, "realize_articulated_body_inertias")

    def realize_articulated_body_velocity(self, state: State) -> None:
        """Compute the velocity terms of articulated bodies; velocities and articulated inertias must be valid.

        In mobod these are the forces of the velocities, which velocity kinematics has stored already.
        """
        self.velocities(state, "realize_articulated_body_velocity")
        if not state.valid & validity.ARTICULATED:
            state.refuse("realize_articulated_body_velocity", Stage.ACCELERATION)

    def _invalidate(self, state: State, asked: str, bits: int) -> None:
        state.check_owner(self.system, asked)
        state.valid &= ~bits

    def invalidate_position_kinematics(self, state: State) -> None:
        """Make the next use compute poses afresh, and all that follows from them; the state falls to TIME at most."""
        self._invalidate(state, "invalidate_position_kinematics", ~0)
        state.lower_to(int(Stage.TIME))

    def invalidate_velocity_kinematics(self, state: State) -> None:
        """Make the next use compute velocities afresh; the state falls to POSITION at most."""
        self._invalidate(state, "invalidate_velocity_kinematics", validity.CLEARED_BY_U)
        state.lower_to(int(Stage.POSITION))

    def invalidate_composite_body_inertias(self, state: State) -> None:
        """Make the next use compute composite inertias afresh."""
        self._invalidate(state, "invalidate_composite_body_inertias", validity.COMPOSITE)

    def invalidate_articulated_body_inertias(self, state: State) -> None:
        """Make the next use compute them afresh; the state falls to DYNAMICS at most."""
        bits = validity.ARTICULATED | validity.ACCELERATIONS | validity.STORED_INERTIAS
        self._invalidate(state, "invalidate_articulated_body_inertias", bits)
        state.lower_to(int(Stage.DYNAMICS))

    def invalidate_articulated_body_velocity(self, state: State) -> None:
        """Make the next use compute it afresh; the state falls to POSITION at most."""
        self.invalidate_velocity_kinematics(state)

    def _has(self, state: State, asked: str, bits: int) -> bool:
        state.check_owner(self.system, asked)
        return state.valid & bits == bits

    def is_position_kinematics_realized(self, state: State) -> bool:
        """True if poses and hinge columns are valid, whatever the stage."""
        return self._has(state, "is_position_kinematics_realized", validity.POSITIONS)

    def is_velocity_kinematics_realized(self, state: State) -> bool:
        """True if velocities are valid, whatever the stage."""
        return self._has(state, "is_velocity_kinematics_realized", validity.VELOCITIES)

    def is_composite_body_inertias_realized(self, state: State) -> bool:
        """True if composite inertias are valid; they are computed on demand only."""
        return self._has(state, "is_composite_body_inertias_realized", validity.COMPOSITE)

    def is_articulated_body_inertias_realized(self, state: State) -> bool:
        """True if articulated inertias are valid, whatever the stage."""
        return self._has(state, "is_articulated_body_inertias_realized", validity.ARTICULATED)

    def is_articulated_body_velocity_realized(self, state: State) -> bool:
        """True if the velocity terms of articulated bodies are valid."""
        return self._has(state, "is_articulated_body_velocity_realized", validity.ARTICULATED | validity.VELOCITIES)
