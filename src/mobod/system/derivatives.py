"""Inverse dynamics with all that acts, and the derivatives of inverse and forward dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..derivative import differences, equations, parameters as of_parameters, parts_in_python, second
from ..derivative.analytic import Sweep, Whole, sweep_for, whole_for
from ..derivative.parts_in_python import Parts
from ..derivative.results import ForwardDynamicsDerivatives, InverseDynamicsDerivatives, put, targets
from ..derivative.settings import find_each
from ..state import validity
from ..state.state import State
from ..tree import inverse_dynamics, realize as _realize
from ..tree.realize import NOT_PLAIN
from ..value.checks import shaped
from ..value.stage import INSTANCE, Stage
from .manifold import OnManifold

_array = np.ndarray
_ACCELERATION = int(Stage.ACCELERATION)
_VELOCITY, _missing_force = int(Stage.VELOCITY), inverse_dynamics.calc_missing_force
_KINEMATICS, _NEEDED = validity.KINEMATICS, inverse_dynamics.NEEDED | validity.KEPT_FORCES


class Differentiable(OnManifold):
    """The part of `MultibodySystem` that has inverse dynamics and derivatives."""

    def calc_inverse_dynamics(
        self, state: State, u_dot: ArrayLike, *, q: ArrayLike | None = None, u: ArrayLike | None = None
    ) -> Array:
        """Forces missing for *u_dot*: M u_dot + inertial forces - applied forces ``(nu,)``. Needs VELOCITY, or *q* and *u*.

        All elements that are enabled are among the applied forces, gravity included; forces of constraints, locks and motions
        are not: they are among what is missing. Applied forces that are not known yet are computed.

        Parameters
        ----------
        state : State
        u_dot : (nu,) array_like
        q : (nq,) array_like, optional
            Assigned first, and the state realized: together with *u* in one call, two thirds of the time of four for a robot.
        u : (nu,) array_like, optional

        Returns
        -------
        (nu,) array
            Generalized forces, one a mobility.

        Raises
        ------
        StageError
            If the state is below VELOCITY, and neither *q* nor *u* is given.
        ValueError, TypeError
            If *u_dot*, *q* or *u* has another shape, or holds no numbers.
        ModelError
            If *q* or *u* is given, and `realize` refuses it.

        See Also
        --------
        SimbodyMatterSubsystem.calc_residual_force_ignoring_constraints : the same of forces given by the caller alone.

        Notes
        -----
        In O(n). Source: Luh, Walker and Paul 1980; Featherstone 2008, section 5.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> system.realize(state)
        >>> abs(system.calc_inverse_dynamics(state, state.u_dot)).max() < 1e-12
        np.True_
        >>> system.calc_inverse_dynamics(state, (1.0, 0.0), q=(0.3, 0.4), u=(0.0, 0.0)).shape
        (2,)
        """
        if state.token is not self.topology_token:
            state.check_owner(self, "calc_inverse_dynamics")
        # the kernel looks at what is given itself: in Python that takes as long as the dynamics of a robot's arm
        code, routine = _missing_force.code or _missing_force.load(), self.plain_routine
        if q is not None and u is not None and routine is not None and state.stage_number >= INSTANCE:
            missing = code(state.block, routine, 0, state.q_values, state.u_values, q, u, u_dot)
            if type(missing) is _array:
                state.valid = _NEEDED
                state.stage_number = _VELOCITY
                return missing
            if missing != NOT_PLAIN:
                state.invalidate_q()
                self.explain(state, missing)
        elif q is None and u is None and routine is not None and state.valid & _KINEMATICS == _KINEMATICS:
            own_q, own_u = state.q_values, state.u_values
            missing = code(state.block, routine, state.valid, own_q, own_u, own_q, own_u, u_dot)
            if type(missing) is _array:
                state.valid |= _NEEDED
                return missing
        return self._calc_missing_force(state, u_dot, q, u)

    def _calc_missing_force(self, state: State, u_dot: ArrayLike, q: ArrayLike | None, u: ArrayLike | None) -> Array:
        """`calc_inverse_dynamics` of whatever is given, step by step."""
        given = np.empty(state.tree.nu)
        given[:] = self.get_matter_subsystem().mobility_vector(state, "u_dot", u_dot)
        if q is not None or u is not None:
            self.realize(state, Stage.VELOCITY, q=q, u=u)
        elif state.valid & _KINEMATICS != _KINEMATICS:
            self.get_matter_subsystem().velocities(state, "calc_inverse_dynamics")
        if self.calls_python and state.valid & _NEEDED != _NEEDED:
            state = state.copy()
            self.realize(state, Stage.DYNAMICS)
        valid, own_q, own_u = state.valid, state.q_values, state.u_values
        routine = np.array([self._address or _realize.advance.address()])
        code = _missing_force.code or _missing_force.load()
        missing = code(state.block, routine, valid, own_q, own_u, own_q, own_u, given)
        if type(missing) is not _array:
            self.explain(state, missing)
        state.valid = valid | _NEEDED
        return missing

    def calc_inverse_dynamics_derivatives(
        self,
        state: State,
        u_dot: ArrayLike,
        *,
        q: ArrayLike | None = None,
        u: ArrayLike | None = None,
        out: InverseDynamicsDerivatives | None = None,
    ) -> InverseDynamicsDerivatives:
        """Derivatives of `calc_inverse_dynamics` at *u_dot*, by q in its tangent, u and u_dot. Needs VELOCITY, or *q* or *u*.

        Column k by q is the rate along q + h N e_k, quaternions normalized: a displacement by speed k. Exact, but for parts
        that users have written in Python, which take differences: a warning says so once.

        Parameters
        ----------
        state : State
        u_dot : (nu,) array_like
        q : (nq,) array_like, optional
            Assigned first, and the state realized.
        u : (nu,) array_like, optional
        out : InverseDynamicsDerivatives, optional
            What an earlier call gave, or three other arrays of float64, which are written and returned.

        Returns
        -------
        named tuple ``(q, u, u_dot)`` of ``(nu, nu)`` arrays
            The last is the mass matrix, rotor inertias included.

        Raises
        ------
        StageError
            If the state is below VELOCITY, and neither *q* nor *u* is given.
        ValueError, TypeError
            If *u_dot*, *q* or *u* has another shape, or *out* is not three arrays that can be written; nothing is then
            assigned.

        Notes
        -----
        In O(n times depth): one sweep over the bodies, beside which each element is differentiated by the motion of what it
        names. At a corner of a law these are the derivatives of one side: at rest, as of a locked joint, dry friction by a bent
        bristle has the slope with which it unbends. Source: Carpentier and Mansard 2018; Singh, Russell and Wensing 2022.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> found = system.calc_inverse_dynamics_derivatives(state, state.u_dot)
        >>> found.q.shape, found.u_dot.round(3)
        ((2, 2), array([[4.85 , 1.925],
               [1.925, 1.004]]))
        """
        state.check_owner(self, "calc_inverse_dynamics_derivatives")
        matter, nu = self.get_matter_subsystem(), state.tree.nu
        given = matter.mobility_vector(state, "u_dot", u_dot)
        into = targets(out, InverseDynamicsDerivatives, [(nu, nu)] * 3)
        if q is not None or u is not None:
            given = np.array(given)  # it may be the state's
            self.realize(state, Stage.VELOCITY, q=q, u=u)
        matter.velocities(state, "calc_inverse_dynamics_derivatives")
        whole, parts = self._apart(state)
        if self.calls_back and parts is None:
            by_q, by_u = differences.of_inverse_dynamics(self, state, given)
        elif state.slides:
            by_q, by_u = equations.of_inverse_dynamics(state, given)
        else:
            if self.calls_python and state.valid & _NEEDED != _NEEDED:
                state = state.copy()
                self.realize(state, Stage.DYNAMICS)
            self.calc_inverse_dynamics(state, given)  # computes forces that are not known yet
            by_q, by_u = (whole or sweep_for(self, state)).residual(state, given)
        if whole is not None and parts is not None:
            differences.note(self)
            applied = parts._replace(constraints=(), motions=())
            of_forces = parts_in_python.of_parts(self, state, applied, ("q", "u"), whole)
            by_q, by_u = by_q - of_forces["q"][:nu], by_u - of_forces["u"][:nu]
        found = InverseDynamicsDerivatives(by_q, by_u, matter.calc_m(state))
        return found if into is None else put(found, into)

    def calc_forward_dynamics_derivatives(
        self,
        state: State,
        *,
        q: ArrayLike | None = None,
        u: ArrayLike | None = None,
        mobility_forces: ArrayLike | None = None,
        out: ForwardDynamicsDerivatives | None = None,
    ) -> ForwardDynamicsDerivatives:
        """Derivatives of ``state.u_dot`` by q in its tangent, u, z, mobility forces and time.

        Needs ACCELERATION, or *q* and *u*.

        Those of what `realize` writes, as a function of each, the others held; nothing is projected or prescribed on the way.
        All elements, constraints, locks and motions are in. Exact, but for parts that users have written in Python, which take
        differences: a warning says so once.

        Parameters
        ----------
        state : State
        q : (nq,) array_like, optional
            Assigned first, and the state realized: together with *u* in one call, which saves a robot a sixth of the time.
        u : (nu,) array_like, optional
        mobility_forces : (nu,) array_like, optional
            Generalized forces of this call alone, beside those of the elements, as of `realize`: torques that a program sets
            anew in each call cost nothing more than this.
        out : ForwardDynamicsDerivatives, optional
            What an earlier call gave, or five other arrays of float64 of the results' shapes, which are written and returned.

        Returns
        -------
        named tuple ``(q, u, z, mobility_forces, time)``
            ``(nu, nu)``, ``(nu, nu)``, ``(nu, nz)``, ``(nu, nu)``, ``(nu,)``. Column k by q is the rate along q + h N e_k,
            quaternions normalized: a displacement by speed k.

        Raises
        ------
        StageError
            If the state is below ACCELERATION, and none of *q*, *u* and *mobility_forces* is given.
        ValueError, TypeError
            If *q*, *u* or *mobility_forces* has another shape, or holds no numbers, or *out* is not five arrays that can be
            written; nothing is then assigned.
        ModelError
            If *q* or *u* is given, and `realize` refuses it.

        Notes
        -----
        d(udot) = -M^-1 d(residual) at the solved udot; with constraints also d(lambda) = (G M^-1 G^T)^+ (d(aerr) - G M^-1
        d(residual)). Along the manifold of the constraints these are the derivatives of the motion; where equations are
        redundant, only those along it are defined. Rows of locked and prescribed mobilities do not depend on forces; their
        columns are as though they were held or driven elsewhere. Source: Carpentier and Mansard 2018; Jain 2011.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> found = system.calc_forward_dynamics_derivatives(state)
        >>> found.q.round(3)
        array([[-10.233,   9.521],
               [ 12.148, -25.354]])
        """
        if state.token is not self.topology_token:
            state.check_owner(self, "calc_forward_dynamics_derivatives")
        if out is not None:
            nu = state.tree.nu
            into = targets(out, ForwardDynamicsDerivatives, [(nu, nu), (nu, nu), (nu, len(state.z_view)), (nu, nu), (nu,)])
            return put(self.calc_forward_dynamics_derivatives(state, q=q, u=u, mobility_forces=mobility_forces), into)
        if q is not None and u is not None and self.plain_routine is not None and state.stage_number >= INSTANCE:
            # looked up here first, where it is kept for states without fields of their own: a call of Python's less
            sweep = (not state.own_fields and state.tree.sweeps.get(())) or sweep_for(self, state)
            return sweep.accelerations_at(self, state, q, u, mobility_forces)
        if q is not None or u is not None or mobility_forces is not None:
            self.realize(state, q=q, u=u, mobility_forces=mobility_forces)
        elif state.stage_number < _ACCELERATION:
            self.get_matter_subsystem().accelerations(state, "calc_forward_dynamics_derivatives")
        whole, parts = self._apart(state)
        if whole is not None and parts is not None and not (parts.constraints and equations.contradiction(state) is not None):
            differences.note(self)
            found = whole.accelerations(self, state)
            parts_in_python.added(state, found, parts_in_python.of_parts(self, state, parts, ("q", "u", "z", "time"), whole))
            return found
        if self.calls_back:
            return ForwardDynamicsDerivatives(*differences.of_forward_dynamics(self, state, mobility_forces))
        if state.slides:
            return ForwardDynamicsDerivatives(*equations.of_forward_dynamics(state))
        return sweep_for(self, state).accelerations(self, state)

    def _apart(self, state: State) -> tuple[Whole | None, Parts | None]:
        """Derivatives of all but the parts in Python, and these; None where the whole dynamics are to be moved."""
        parts = self.parts_apart(state)
        if parts is None:
            return None, None
        whole = whole_for(self, state)
        return (None, None) if whole.is_too_wide else (whole, parts)

    def calc_forward_dynamics_second_derivatives(
        self, state: State, *, q: ArrayLike | None = None, u: ArrayLike | None = None, z: ArrayLike | None = None
    ) -> ForwardDynamicsDerivatives:
        """Hessians times a vector: how `calc_forward_dynamics_derivatives` changes along a direction. Needs ACCELERATION.

        Parameters
        ----------
        state : State
        q : (nu,) array_like, optional
            Displacements; zero unless given.
        u : (nu,) array_like, optional
        z : (nz,) array_like, optional

        Returns
        -------
        named tuple ``(q, u, z, mobility_forces, time)``
            Of the shapes of `calc_forward_dynamics_derivatives`; their contraction with a weight ``(nu,)`` of u_dot is the
            Hessian of the weighted sum times the direction. ``mobility_forces`` is the change of M^-1.

        Raises
        ------
        StageError
            If the state is below ACCELERATION.
        ValueError
            If a direction has another shape.

        Notes
        -----
        Exact, by Duals of Duals: eight columns a pass in O(n), and the factors of the first derivatives once more. In systems
        with parts that users have written in Python, with measures that integrate, where redundant equations contradict each
        other, and where rigid contacts slide, they are differences of fourth order of the first ones, to about 1e-10, with
        forces in Python to 1e-8.
        Source: Fike and Alonso 2011.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> found = system.calc_forward_dynamics_second_derivatives(state, q=[1.0, 0.0])
        >>> found.q.shape
        (2, 2)
        """
        matter = self.get_matter_subsystem()
        matter.accelerations(state, "calc_forward_dynamics_second_derivatives")
        nu = state.tree.nu
        moves = {
            "q": np.array(matter.mobility_vector(state, "q", np.zeros(nu) if q is None else q)),
            "u": np.array(matter.mobility_vector(state, "u", np.zeros(nu) if u is None else u)),
            "z": shaped("z", np.zeros(len(state.z_view)) if z is None else z, (len(state.z_view),)),
        }
        if not (self.calls_back or state.slides or state.tree.has_measures) and equations.contradiction(state) is None:
            return ForwardDynamicsDerivatives(*second.of_forward_dynamics(state, moves))
        size = max(1.0, *(float(np.abs(move).max(initial=0.0)) for move in moves.values()))
        moving = [(parts_in_python.Moving(state, name, np.arange(len(move))), move) for name, move in moves.items()]
        shapes = [part.shape for part in self.calc_forward_dynamics_derivatives(state)]

        def at(h: float) -> Array:
            other = state.copy()
            for one, move in moving:
                if move.any():
                    one.put(other, h / size * move)
            self.normalize_quaternions(other)
            self.realize(other)
            return np.concatenate([part.ravel() for part in self.calc_forward_dynamics_derivatives(other)])

        found = np.split(size * differences.along(at), np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
        return ForwardDynamicsDerivatives(*(part.reshape(shape) for part, shape in zip(found, shapes, strict=True)))

    def calc_parameter_derivatives(self, state: State, parameters: Sequence[Any]) -> Array:
        """Derivatives of ``state.u_dot`` by parameters of bodies, forces and constraints ``(nu, n)``. Needs ACCELERATION.

        Parameters
        ----------
        state : State
        parameters : sequence
            Each ``"element.parameter"``, such as ``"spring.stiffness"``, or the setter, such as ``spring.set_stiffness``. Any
            parameter that a state can have of its own, with a column a number. Of a body there are ``mass`` (mass center and
            inertia held), ``com`` (3), ``inertia`` (6: xx, yy, zz, xy, xz, yz, about its origin, in its frame),
            ``rotor_inertia``, and ``inboard_frame`` and ``outboard_frame`` (6: a rotation about the frame's own axes, a
            translation in the body on which it is fixed); frames and rotations of elements count likewise.

        Returns
        -------
        (nu, n) array

        Raises
        ------
        StageError
            If the state is below ACCELERATION.
        ValueError, TypeError
            If there is no such element or parameter.

        Notes
        -----
        d(udot) = -M^-1 d(residual) at the solved udot, constraints as in `calc_forward_dynamics_derivatives`. Exact: by
        inertial parameters through the regressor, by all others with dual numbers, eight at a time in O(n). In systems with
        parts that users have written in Python it takes differences of fourth order: a warning says so once.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> system.realize(state)
        >>> system.calc_parameter_derivatives(state, ["gravity_0.magnitude", system.matter.bodies[1].name + ".com"]).shape
        (2, 4)
        """
        self.get_matter_subsystem().accelerations(state, "calc_parameter_derivatives")
        return of_parameters.by_settings(self, state, find_each(self, parameters)).u_dot


__all__ = ["Differentiable", "ForwardDynamicsDerivatives", "InverseDynamicsDerivatives", "Sweep"]
