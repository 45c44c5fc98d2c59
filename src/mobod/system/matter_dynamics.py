"""Forward and inverse dynamics of the tree, without its constraints, and arrays of forces for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..derivative import regressor
from ..state.state import State
from ..tree import forward_dynamics, gravity_forces, inverse_dynamics, mobilizer_motion
from ..value.stage import Stage
from . import prescription
from .matter_inertias import Inertias

_empty = np.empty  # one lookup less in operators that take a microsecond
_SPATIAL = 2, 3


class TreeDynamics(Inertias):
    """The part of `SimbodyMatterSubsystem` that has the dynamics of the tree."""

    def calc_acceleration_ignoring_constraints(
        self, state: State, applied_mobility_forces: ArrayLike | None = None, applied_body_forces: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Forward dynamics of given forces in place of the state's own, as though there were no constraints. Needs DYNAMICS.

        `calc_acceleration` includes them. Locks and motions are followed by both.

        Parameters
        ----------
        state : State
        applied_mobility_forces : (nu,) array_like, optional
            Zero where None or empty.
        applied_body_forces : (nb, 2, 3) array_like, optional
            At the bodies' origins, in Ground; zero where None or empty. Ground's row is ignored.

        Returns
        -------
        udot : (nu,) array
        A_GB : (nb, 2, 3) array

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> udot, A_GB = system.matter.calc_acceleration_ignoring_constraints(state, [0.0, 1.0])
        >>> udot.round(3)
        array([ 1.678, -2.609])
        """
        self.positions(state, "calc_acceleration_ignoring_constraints", Stage.DYNAMICS)
        if state.stage_number < Stage.DYNAMICS:
            state.refuse("calc_acceleration_ignoring_constraints", Stage.DYNAMICS)
        block = self._articulated(state, "calc_acceleration_ignoring_constraints")
        f = self.mobility_vector(state, "applied_mobility_forces", applied_mobility_forces)
        F = self._body_forces(state, "applied_body_forces", applied_body_forces)
        udot, A = np.empty(state.tree.nu), np.empty((len(self.body_list), 2, 3))
        prescription.set_known_u_dot(self.get_system(), state)
        forward_dynamics.calc_acceleration(block, f, F, udot, A.reshape(-1, 6))
        return udot, A

    def calc_residual_force_ignoring_constraints(
        self,
        state: State,
        applied_mobility_forces: ArrayLike | None = None,
        applied_body_forces: ArrayLike | None = None,
        known_udot: ArrayLike | None = None,
    ) -> Array:
        """Inverse dynamics: the generalized forces ``(nu,)`` required in addition for *known_udot*. Needs VELOCITY.

        residual = M udot + (forces of the velocities) - f - J^T F; each argument is zero where None or empty. The residual
        includes the forces of constraints, unless they are among those given; `calc_residual_force` takes multipliers.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_residual_force_ignoring_constraints(state, known_udot=[1.0, 0.0]).round(3)
        array([1.735, 2.314])
        """
        block = self.velocities(state, "calc_residual_force_ignoring_constraints")
        tree = state.tree
        if applied_mobility_forces is None and applied_body_forces is None:
            udot = self.mobility_vector(state, "known_udot", known_udot)
            residual = np.empty(tree.nu)
            kernel = inverse_dynamics.calc_whole_force
            (kernel.code or kernel.code_for(block, udot, residual))(block, udot, residual)
            return residual
        f, F = tree.no_mobility_forces, tree.no_body_forces
        if applied_mobility_forces is not None:
            f = self.mobility_vector(state, "applied_mobility_forces", applied_mobility_forces)
        if applied_body_forces is not None:
            F = self._body_forces(state, "applied_body_forces", applied_body_forces)
        udot = self.mobility_vector(state, "known_udot", known_udot)
        residual = np.empty(tree.nu)
        inverse_dynamics.calc_residual_force.dispatcher(block, f, F, udot, residual)
        return residual

    def calc_gravity_forces(self, state: State) -> Array:
        """The mechanism's weight as generalized forces ``(nu,)``: J^T F of all `force.Gravity` that are on. Needs POSITION.

        Forces of the opposite sign hold it; `control.GravityCompensation` does so in a run.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_gravity_forces(state).round(3)
        array([-12.118,  -6.32 ])
        """
        block = self.positions(state, "calc_gravity_forces")
        f = np.empty(state.tree.nu)
        kernel = gravity_forces.calc_gravity_forces
        (kernel.code or kernel.code_for(block, f))(block, f)
        return f

    def calc_body_acceleration_from_u_dot(self, state: State, known_udot: ArrayLike | None = None) -> Array:
        """A_GB ``(nb, 2, 3)`` that *known_udot* ``(nu,)`` gives: J udot + Jdot u, in O(n). Needs VELOCITY.

        None or an empty array stands for zeros: the result is `calc_bias_for_system_jacobian`. The udot that locks and motions
        prescribe are not used.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_body_acceleration_from_u_dot(state, [1.0, 0.0])[2].round(3)
        array([[ 0.   ,  0.   ,  1.   ],
               [-4.373,  8.779,  0.   ]])
        """
        block = self.velocities(state, "calc_body_acceleration_from_u_dot")
        A = np.empty((len(self.body_list), 2, 3))
        udot = self.mobility_vector(state, "known_udot", known_udot)
        inverse_dynamics.calc_body_acceleration_from_u_dot(block, udot, A.reshape(-1, 6))
        return A

    def calc_tree_equivalent_mobility_forces(self, state: State, body_forces: ArrayLike | None = None) -> Array:
        """Generalized forces ``(nu,)`` that replace *body_forces* and the forces of the velocities, in O(n). Needs VELOCITY.

        f = J^T (F - F0), with F0 = M_B a + b of each body: its spatial inertia times its total Coriolis acceleration, and its
        gyroscopic force (`get_total_centrifugal_forces`). Then M udot = f, but for mobility forces and constraints. Body forces
        ``(nb, 2, 3)`` are at the bodies' origins; Ground's row is ignored, None or an empty array stands for zeros.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> forces = np.zeros((3, 2, 3))
        >>> forces[2, 1] = 1.0, 0.0, 0.0  # at the origin of the last body
        >>> system.matter.calc_tree_equivalent_mobility_forces(state, forces).round(3)
        array([4.836, 0.375])
        """
        block = self.velocities(state, "calc_tree_equivalent_mobility_forces")
        f = np.empty(state.tree.nu)
        F = self._body_forces(state, "body_forces", body_forces)
        inverse_dynamics.calc_tree_equivalent_mobility_forces(block, F, f)
        return f

    def calc_inertial_parameter_regressor(self, state: State, u_dot: ArrayLike) -> Array:
        """The matrix Y ``(nu, 10 (nb - 1))`` that gives inverse dynamics, times the inertial parameters. Needs VELOCITY.

        Y times the parameters is M u_dot + inertial forces - gravity, rotor inertias left out. Each body but Ground has ten
        columns: mass, m c (3), and the inertia about the body's origin (xx, yy, zz, xy, xz, yz), in its frame.

        Parameters
        ----------
        state : State
        u_dot : (nu,) array_like

        Returns
        -------
        (nu, 10 (nb - 1)) array

        Raises
        ------
        StageError
            If the state is below VELOCITY.
        ValueError
            If *u_dot* has another shape.

        Notes
        -----
        Gravity is that of enabled `force.Gravity` elements. Of the columns of many states, one below the other, a QR
        factorisation with pivoting finds those that a motion can tell apart, the base parameters. Source: Atkeson, An and
        Hollerbach 1986.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.double_pendulum.build()
        >>> system.realize(state, mb.Stage.VELOCITY)
        >>> system.matter.calc_inertial_parameter_regressor(state, np.zeros(2)).shape
        (2, 20)
        """
        block = self.velocities(state, "calc_inertial_parameter_regressor")
        given = self.mobility_vector(state, "u_dot", u_dot)
        Y = np.zeros((state.tree.nu, 10 * (state.tree.nb - 1)))
        if Y.size:
            A = self.calc_body_acceleration_from_u_dot(state, given)
            regressor.calc_regressor(block, A.reshape(-1, 6), Y)
        return Y

    def mobilizer_velocity(self, state: State, b: int) -> Array:
        """V_FM of body *b* of a state that is known to have velocities."""
        out, kernel = _empty(_SPATIAL), mobilizer_motion.find_velocity
        (kernel.code or kernel.code_for(state.block, b, out))(state.block, b, out)
        return out

    def mobilizer_acceleration(self, state: State, b: int) -> Array:
        """A_FM of body *b* of a state that is known to have accelerations."""
        out, kernel = _empty(_SPATIAL), mobilizer_motion.find_acceleration
        (kernel.code or kernel.code_for(state.block, b, out))(state.block, b, out)
        return out

    def add_in_station_force(
        self, state: State, body_b: Any, station_on_b: ArrayLike, force_in_g: ArrayLike, body_forces_in_g: Array
    ) -> Array:
        """Add a force at a station to ``(nb, 2, 3)`` *body_forces_in_g*, in place; returns the array. Needs POSITION.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> forces = np.zeros((3, 2, 3))
        >>> matter.add_in_station_force(state, arm, (0, 0, 0), (0, 1, 0), forces)[2]
        array([[0., 0., 0.],
               [0., 1., 0.]])
        """
        body = self.find_body(body_b)
        self.positions(state, "add_in_station_force")
        return body.apply_force_to_body_point(state, station_on_b, force_in_g, body_forces_in_g)

    def add_in_body_torque(self, state: State, mobod: Any, torque_in_g: ArrayLike, body_forces_in_g: Array) -> Array:
        """Add a torque to ``(nb, 2, 3)`` *body_forces_in_g*, in place; returns the array.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> forces = np.zeros((3, 2, 3))
        >>> matter.add_in_body_torque(state, arm, (0, 0, 1), forces)[2]
        array([[0., 0., 1.],
               [0., 0., 0.]])
        """
        body = self.find_body(mobod)
        state.tree_of(self._ground, "add_in_body_torque")
        return body.apply_body_torque(state, torque_in_g, body_forces_in_g)

    def add_in_mobility_force(self, state: State, mobod: Any, which: int, f: float, mobility_forces: Array) -> Array:
        """Add to one mobility's entry of ``(nu,)`` *mobility_forces*, in place; returns the array.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> forces = np.zeros(2)
        >>> matter.add_in_mobility_force(state, arm, 0, 3.0, forces)
        array([0., 3.])
        """
        body = self.find_body(mobod)
        state.tree_of(self._ground, "add_in_mobility_force")
        return body.apply_one_mobility_force(state, which, f, mobility_forces)
