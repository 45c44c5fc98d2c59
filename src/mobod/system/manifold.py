"""Prescribing states, projecting them onto the constraint manifolds, and diagnosing constraints."""

from __future__ import annotations

import numpy as np

from ..state.state import State
from ..tree import rates
from ..value.checks import positive
from ..value.stage import Stage
from . import prescription, projection
from .diagnosis import Diagnosis, diagnose
from .realization import Realizing


class OnManifold(Realizing):
    """The part of `MultibodySystem` that prescribes and projects states."""

    def prescribe(self, state: State, stage: Stage | None = None) -> bool:
        """Set the q and u that locks and motions prescribe at the state's time. Needs MODEL.

        Realizing a state never does that; integrators do it at every evaluation. The state is realized to TIME for q, to
        POSITION for u.

        Parameters
        ----------
        state : State
        stage : Stage, optional
            ``POSITION`` sets q, ``VELOCITY`` sets u; both unless given.

        Returns
        -------
        bool
            Whether anything changed. The state then falls to TIME, or to POSITION.

        Raises
        ------
        ValueError
            If *stage* is another.
        StageError
            If the state is below MODEL.
        ModelError
            If a motion cannot be followed, or is not finite. The state's variables are then as they were.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> arm = system.matter.bodies["lower"]
        >>> drive = mb.motion.Steady(arm, 2.0)
        >>> state = system.realize_topology()
        >>> system.prescribe(state)
        True
        >>> arm.get_u(state)
        2.0
        """
        if stage is not None and (np.ndim(stage) or stage not in (Stage.POSITION, Stage.VELOCITY)):
            raise ValueError(f"prescribe takes Stage.POSITION, which sets q, or Stage.VELOCITY, which sets u, not {stage!r}")
        self.realize(state, Stage.TIME)  # evaluates the level of custom motions
        if not state.has_known:
            return False
        q, u = state.q_values.copy(), state.u_values.copy()
        try:
            changed = False
            if stage is not Stage.VELOCITY:
                prescription.set_q(self, state)
                if not np.array_equal(q, state.q_values, equal_nan=True):
                    changed = True
                    state.invalidate_q()
            if stage is not Stage.POSITION:
                self.realize(state, Stage.POSITION)
                prescription.set_u(self, state)
                if not np.array_equal(u, state.u_values, equal_nan=True):
                    changed = True
                    state.invalidate_u()
        except BaseException:
            if not (np.array_equal(q, state.q_values, equal_nan=True) and np.array_equal(u, state.u_values, equal_nan=True)):
                state.q_values[:], state.u_values[:] = q, u
                state.invalidate_q()
            raise
        return changed

    def project_q(self, state: State, accuracy: float = 1e-8) -> bool:
        """Project q onto its manifold: quaternions to length 1, and position errors within *accuracy*. Needs MODEL.

        By the least change of q, measured as a displacement by speeds, each times its weight (`State.u_weights`). Prescribed
        q stay as they are. With constraints, the state is realized to POSITION.

        Parameters
        ----------
        state : State
        accuracy : float
            The largest position error left, times its weight (`State.q_err_weights`). Quaternions are normalized to rounding.

        Returns
        -------
        bool
            Whether q changed.

        Raises
        ------
        ConvergenceError
            If that cannot be reached; q is then as it was.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> state.q = state.q + 0.001
        >>> system.project_q(state)
        True
        >>> system.realize(state, mb.Stage.POSITION)
        >>> bool(abs(state.q_err).max() < 1e-6)
        True
        """
        state.check_owner(self, "project_q")
        accuracy = positive("accuracy", accuracy, ValueError)
        before = state.q_values.copy()
        changed = self.normalize_quaternions(state)
        if state.num_matter_errors("u_err") and state.tree.counts["nc"]:
            try:
                self.realize(state, Stage.POSITION)
                changed = projection.project(self, state, projection.PROJECT_Q, accuracy) or changed
            except BaseException:
                state.q_values[:] = before
                state.invalidate_q()
                raise
            self.realize(state, Stage.POSITION)
        return changed

    @staticmethod
    def normalize_quaternions(state: State) -> bool:
        """Scale quaternions to length 1; whether any changed."""
        if not len(state.tree.quaternions):  # nothing to compile, either
            return False
        before = state.q_values.copy()
        rates.normalize_quaternions(state.block)
        changed = not np.array_equal(before, state.q_values)
        if changed:
            state.invalidate_q()
        return changed

    def project_u(self, state: State, accuracy: float = 1e-8) -> bool:
        """Project u onto its manifold: velocity errors within *accuracy*, by the least change. Needs MODEL.

        Arguments and results are as those of `project_q`. With constraints, the state is realized to VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> state.u = state.u + 0.1
        >>> system.project_u(state)
        True
        >>> system.realize(state, mb.Stage.VELOCITY)
        >>> bool(abs(state.u_err).max() < 1e-6)
        True
        """
        state.check_owner(self, "project_u")
        accuracy = positive("accuracy", accuracy, ValueError)
        if not state.num_matter_errors("u_err"):
            return False
        self.realize(state, Stage.POSITION)
        self.realize(state, Stage.VELOCITY)
        changed = projection.project(self, state, projection.PROJECT_U, accuracy)
        self.realize(state, Stage.VELOCITY)
        return changed

    def project(self, state: State, accuracy: float = 1e-8) -> bool:
        """Set prescribed q and u, and project q and u onto the manifolds of constraints and quaternions. Needs MODEL.

        Parameters
        ----------
        state : State
        accuracy : float
            The largest error of positions and of velocities left; quaternions are normalized to rounding.

        Returns
        -------
        bool
            Whether anything changed.

        Raises
        ------
        ConvergenceError
            If that cannot be reached. The state's variables are then as they were.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> state.q = state.q + 0.001
        >>> system.project(state)
        True
        >>> system.realize(state, mb.Stage.POSITION)
        >>> bool(abs(state.q_err).max() < 1e-6)
        True
        """
        state.check_owner(self, "project")
        accuracy = positive("accuracy", accuracy, ValueError)
        self._check_quaternions(state)
        q, u = state.q_values.copy(), state.u_values.copy()
        known = state.has_known or bool(self.custom_motions)
        changed = False
        try:
            if known:
                changed = self.prescribe(state, Stage.POSITION)
            changed = self.project_q(state, accuracy) or changed
            if known:
                changed = self.prescribe(state, Stage.VELOCITY) or changed
            changed = self.project_u(state, accuracy) or changed
        except BaseException:
            state.q_values[:], state.u_values[:] = q, u
            state.invalidate_q()
            raise
        return changed

    def diagnose_constraints(self, state: State, tolerance: float = 1e-6) -> Diagnosis:
        """Diagnose the constraints at a state: redundant, contradictory and nearly singular equations, and free motions.

        Parameters
        ----------
        state : State
            At MODEL or above, its positions finite; it is left as it is. The diagnosis holds at its q and u.
        tolerance : float
            How far errors of dependent equations may be apart before they count as a contradiction.

        Returns
        -------
        Diagnosis
            Printing it gives a table.

        Notes
        -----
        It costs a mass matrix and a few decompositions, some milliseconds for a hundred mobilities.

        Examples
        --------
        >>> import mobod as mb
        >>> system = mb.MultibodySystem()
        >>> matter = mb.SimbodyMatterSubsystem(system)
        >>> body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
        >>> pin = mb.mobilizer.Pin(matter.ground, body, name="arm")
        >>> rod = mb.constraint.Rod(matter.ground, (2, 0, 0), pin, (0, 1, 0), 2.0)
        >>> print(system.diagnose_constraints(system.realize_topology()))
        1 constraint equations, 1 of them independent; 0 free motions remain
          constraint  ties          error  remarks
          rod_0       ground - arm  0.24   -
        """
        return diagnose(self, state, tolerance)
