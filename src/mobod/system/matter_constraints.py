"""Constraints of the matter subsystem: their matrices, errors, multipliers and forces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike, Indices
from ..constraint.base import Constraint
from ..errors import TopologyError
from ..state.fields import GROUPED
from ..state.state import State
from ..tree import constraint_operators as operators
from ..tree.constraint_fields import grouped, order_of_rows
from ..tree.prescribed_mobilities import SOLVED
from ..value.checks import by_name, name_among, numbers, one_of
from .matter_dynamics import TreeDynamics

#: So many sets of constraints are remembered, with their groups.
_MOST_GROUPS = 64


class Constrained(TreeDynamics):
    """The part of `SimbodyMatterSubsystem` that deals with constraints, and with dynamics under them."""

    constraints: list[Constraint]

    # ------------------------------------------------------------------------------------------ the constraints

    def adopt_constraint(self, constraint: Constraint, name: str | None) -> tuple[int, str]:
        """Take a new constraint; its index and its name."""
        index, taken = len(self.constraints), {other.name for other in self.constraints}
        own = name_among(taken, "constraint", name, type(constraint).__name__, index)
        self.constraints.append(constraint)
        self.invalidate_topology()
        return index, own

    def constraint_of(self, constraint: Any) -> Constraint:
        """A constraint named by object, by index or by name."""
        if hasattr(constraint, "get_constraint_index"):
            if constraint.get_matter_subsystem() is not self:
                raise TopologyError(f"{constraint!r} is a constraint of another system")
            return constraint
        return self.get_constraint(constraint)

    def get_constraint(self, index: int | str) -> Constraint:
        """A constraint by its index or its name; `IndexError`, or `KeyError`, where there is none."""
        if isinstance(index, str):
            return by_name("constraint", self.constraints, index)
        return one_of(self.constraints, index, self, "constraints")

    def upd_constraint(self, index: int | str) -> Constraint:
        """A constraint by its index or its name; the same object as `get_constraint` gives."""
        return self.get_constraint(index)

    def get_num_constraints(self) -> int:
        """Number of constraints, disabled ones included."""
        return len(self.constraints)

    def set_constraint_is_disabled(
        self, state: State, constraint: Any, should_disable_constraint: bool, *, impulse: bool = True
    ) -> None:
        """Switch a constraint off or on in this state, which falls to MODEL at most. Needs MODEL. See `Constraint.enable`."""
        found = self.constraint_of(constraint)
        if should_disable_constraint:
            found.disable(state)
        else:
            found.enable(state, impulse=impulse)

    def is_constraint_disabled(self, state: State, constraint: Any) -> bool:
        """True if a constraint is switched off in this state. Needs MODEL."""
        return self.constraint_of(constraint).is_disabled(state)

    def enable_constraint(self, state: State, constraint: Constraint, enabled: bool) -> None:
        """Enable or disable a constraint in a state, which falls to MODEL at most where that changes anything."""
        state.tree_of(self._ground, f"enable or disable of {constraint.name!r}")
        if bool(state.field("constraint_enabled")[constraint.index]) == enabled:
            return
        state.own_field("constraint_enabled")[constraint.index] = enabled
        self._regroup(state)

    def let_slide(self, state: State, normal: Constraint, memory: Sequence[float] | None) -> None:
        """Let a contact slide, of this *normal*, as a row of `slip_memory` says; no more if that is None."""
        along = normal.slides_along.index if memory is not None and normal.slides_along is not None else -1
        if memory is not None:
            state.record.slip_memory[normal.index] = memory
        if state.field("friction_rows")[normal.index] != along:
            state.own_field("friction_rows")[normal.index] = along
            self._regroup(state)
        state.invalidate_instance()

    def switch_contacts(self, state: State, enabled: Indices, along: Indices) -> None:
        """Enable these constraints, and no others, and let contacts slide *along* these rows; MODEL where that is a change.

        Of all constraints, as `constraint_enabled` and `friction_rows` have them: it groups them once.
        """
        changed = False
        for name, new in (("constraint_enabled", enabled), ("friction_rows", along)):
            if not np.array_equal(state.field(name), new):
                state.own_copy(name)[:], changed = new, True
        if changed:
            self._regroup(state)

    def _regroup(self, state: State) -> None:
        """Find the groups of a state in which other constraints are enabled, or other contacts slide."""
        tree, known = state.tree, state.tree.known_groups
        enabled, along = state.field("constraint_enabled"), state.field("friction_rows")
        fields = known.get(key := enabled.tobytes() + along.tobytes())
        if fields is None:
            if len(known) == _MOST_GROUPS:
                del known[next(iter(known))]
            fields = known[key] = grouped(tree.fields, enabled, tree.nb, along)[0]
        for name in GROUPED:
            state.own_copy(name)[:] = fields[name]
        state.invalidate_instance()
        state.clear_groups()

    # ------------------------------------------------------------------------------------------ rows

    def rows_in_use(self, state: State) -> Indices:
        """The kernels' rows in the order of the state's multipliers."""
        return order_of_rows(state.tree, state.field("constraint_enabled"))

    def places_of_rows(self, state: State) -> Indices:
        """The place of each of the kernels' rows among the multipliers; -1 where its constraint is disabled."""
        places = np.full(state.tree.counts["num_rows"], -1)
        rows = self.rows_in_use(state)
        places[rows] = np.arange(len(rows))
        return places

    def num_equations(self, state: State) -> tuple[int, int, int]:
        """Numbers of equations of positions, velocities and accelerations the enabled constraints have."""
        if not state.is_constrained:
            return 0, 0, 0
        on = state.field("constraint_enabled") == 1
        p, v, a = (int(state.tree.fields[name][on].sum()) for name in ("num_p", "num_v", "num_a"))
        return p, v, a

    def _blank(self, state: State) -> Array:
        return np.zeros(state.tree.counts["num_rows"])

    def _spread(self, state: State, what: str, value: ArrayLike | None, rows: Indices) -> Array:
        """Numbers in the order of multipliers, or of the first of these, in the kernels' order."""
        out = self._blank(state)
        out[rows] = _vector(what, value, len(rows))
        return out

    # ------------------------------------------------------------------------------------------ errors and multipliers

    def position_errors(self, state: State) -> Array:
        """In the order of multipliers, of a state known to have positions."""
        rows = self.rows_in_use(state)[: self.num_equations(state)[0]]
        return state.record.position_error[rows, 0]

    def velocity_errors(self, state: State) -> Array:
        """By the kernels' rows."""
        out = self._blank(state)
        operators.calc_velocity_errors(self.velocities(state, "velocity errors"), out)
        return out

    def acceleration_errors(self, state: State) -> Array:
        """By the kernels' rows."""
        block, record = self.accelerations(state, "acceleration errors"), state.record
        out = self._blank(state)
        operators.calc_acceleration_errors(block, record.A_GB, record.u_dot[:, 0].copy(), out)
        return out

    def get_constraint_multipliers(self, state: State) -> Array:
        """The multipliers ``(m,)``: of position, of velocity, then of acceleration equations. Needs ACCELERATION.

        M udot + G^T lambda + (forces of the velocities) = f: the forces that constraints exert are -G^T lambda.
        """
        self.accelerations(state, "get_constraint_multipliers")
        return state.record.multiplier[self.rows_in_use(state), 0]

    def calc_constraint_acceleration_errors(self, state: State, known_udot: ArrayLike | None = None) -> Array:
        """Errors ``(m,)`` of all equations at the level of accelerations if udot were *known_udot*: G udot - b.

        Needs VELOCITY. An empty *known_udot* stands for zeros.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> bool(abs(system.matter.calc_constraint_acceleration_errors(state, state.u_dot)).max() < 1e-6)
        True
        """
        block = self.velocities(state, "calc_constraint_acceleration_errors")
        udot = np.ascontiguousarray(self.mobility_vector(state, "known_udot", known_udot))
        A, out = self.calc_body_acceleration_from_u_dot(state, udot), self._blank(state)
        operators.calc_acceleration_errors(block, A.reshape(-1, 6), udot, out)
        return out[self.rows_in_use(state)]

    def calc_bias_for_acceleration_constraints(self, state: State) -> Array:
        """The same at udot = 0: -b ``(m,)``. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_bias_for_acceleration_constraints(state).shape
        (3,)
        """
        return self.calc_constraint_acceleration_errors(state)

    # ------------------------------------------------------------------------------------------ G

    def multiply_by_g(self, state: State, ulike: ArrayLike, bias: ArrayLike | None = None) -> Array:
        """G u ``(m,)``: rows P, V and A of position, velocity and acceleration equations. Needs VELOCITY.

        Parameters
        ----------
        state : State
        ulike : (nu,) array_like
            Numbers that multiply G; speeds, accelerations, or any other.
        bias : (m,) array_like, optional
            The result of `calc_bias_for_multiply_by_g`; only checked, as products are not found by differences here.

        Returns
        -------
        (m,) array

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> bool(abs(system.matter.multiply_by_g(state, state.u)).max() < 1e-8)
        True
        """
        block, rows = self.velocities(state, "multiply_by_g"), self.rows_in_use(state)
        self._check_bias("bias", bias, len(rows))
        out = self._blank(state)
        operators.multiply_by_g(block, np.ascontiguousarray(self.mobility_vector(state, "ulike", ulike)), out)
        return out[rows]

    def calc_bias_for_multiply_by_g(self, state: State) -> Array:
        """The part of the errors that is not G times speeds or accelerations ``(m,)``. Needs VELOCITY.

        For position equations their velocity errors at u = 0, for the others their acceleration errors at udot = 0.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_bias_for_multiply_by_g(state).shape
        (3,)
        """
        block, rows = self.velocities(state, "calc_bias_for_multiply_by_g"), self.rows_in_use(state)
        p = self.num_equations(state)[0]
        at_zero, u = self._blank(state), np.ascontiguousarray(state.u_values[: state.tree.nu])
        operators.multiply_by_g(block, u, at_zero)
        bias: Array = self.velocity_errors(state)[rows] - at_zero[rows]
        bias[p:] = self.calc_bias_for_acceleration_constraints(state)[p:]
        return bias

    def _check_bias(self, what: str, bias: ArrayLike | None, n: int) -> None:
        if bias is not None and np.shape(bias) != (n,):
            raise ValueError(f"{what} has shape ({n},), got {np.shape(bias)}")

    def explicit_g(self, state: State) -> Array:
        """G by the kernels' rows, of a state known to be realized far enough."""
        G = np.zeros((state.tree.counts["num_rows"], state.tree.nu))
        operators.calc_g(state.block, G)
        return G

    def calc_g(self, state: State) -> Array:
        """G ``(m, nu)``, made row by row. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_g(state).shape
        (3, 3)
        """
        self.velocities(state, "calc_g")
        return self.explicit_g(state)[self.rows_in_use(state)]

    def multiply_by_g_transpose(self, state: State, lambda_: ArrayLike) -> Array:
        """G^T lambda ``(nu,)``: the generalized forces that multipliers stand for. Needs VELOCITY.

        POSITION is enough where all constraints are holonomic. The sign is that of the multipliers.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.multiply_by_g_transpose(state, state.multipliers).shape
        (3,)
        """
        rows = self.rows_in_use(state)
        if any(self.num_equations(state)[1:]):
            self.velocities(state, "multiply_by_g_transpose")
        block = self.positions(state, "multiply_by_g_transpose")
        return self._g_transpose_times(state, block, self._spread(state, "lambda_", lambda_, rows))

    def _g_transpose_times(self, state: State, block: Any, by_rows: Array) -> Array:
        F, f = np.zeros((state.tree.nb, 6)), np.zeros(state.tree.nu)
        operators.calc_forces(block, by_rows, F, f)
        operators.calc_g_transpose_products(block, F, f)
        return f

    def calc_g_transpose(self, state: State) -> Array:
        """G^T ``(nu, m)``, made column by column from forces on the bodies. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_g_transpose(state).shape
        (3, 3)
        """
        self.velocities(state, "calc_g_transpose")
        return self._columns(state, self.rows_in_use(state))

    def _columns(self, state: State, rows: Indices) -> Array:
        out, one = np.zeros((state.tree.nu, len(rows))), self._blank(state)
        for column, r in enumerate(rows):
            one[r] = 1.0
            out[:, column] = self._g_transpose_times(state, state.block, one)
            one[r] = 0.0
        return out

    # ------------------------------------------------------------------------------------------ P

    def _position_rows(self, state: State) -> Indices:
        return self.rows_in_use(state)[: self.num_equations(state)[0]]

    def calc_p(self, state: State) -> Array:
        """P ``(mp, nu)``: the rows of G of position equations. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_p(state).shape
        (3, 3)
        """
        self.positions(state, "calc_p")
        return self.explicit_g(state)[self._position_rows(state)]

    def calc_pt(self, state: State) -> Array:
        """The transpose of P ``(nu, mp)``, made from forces on the bodies. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_pt(state).shape
        (3, 3)
        """
        self.positions(state, "calc_pt")
        return self._columns(state, self._position_rows(state))

    def _coordinate_rows(self, state: State) -> Array:
        """Pq by the kernels' rows, of position equations: of what acts on bodies P N^-1, of coordinates their derivatives."""
        tree, record, fields = state.tree, state.record, state.tree.fields
        G = np.zeros((tree.counts["num_rows"], tree.nq))
        for c in np.flatnonzero(state.field("constraint_enabled")):
            rows = np.arange(fields["first_row"][c], fields["first_row"][c] + fields["num_p"][c])
            at = int(fields["first_constrained_body"][c])
            bodies = fields["constrained_bodies"][at : at + fields["num_constrained_bodies"][c]]
            for k, r in enumerate(rows):
                if len(bodies):
                    F, f = np.zeros((tree.nb, 6)), np.zeros(tree.nu)
                    first = int(fields["first_wrench"][c]) + k * len(bodies)
                    np.add.at(F, bodies, record.wrenches[first : first + len(bodies)])
                    F[0] = 0.0
                    operators.calc_g_transpose_products(state.block, F, f)
                    G[r] += self.multiply_by_n_inv(state, True, f)
                q = int(fields["first_coordinate"][c]) + k * int(fields["num_coordinates"][c])
                at = int(fields["first_mobilizer"][c])
                for b in fields["constrained_mobilizers"][at : at + fields["num_mobilizers"][c]]:
                    n = tree.num_q[b]
                    G[r, tree.q_slices[b]] += record.coordinate_coefficients[q : q + n, 0]
                    q += n
        return G

    def calc_pq(self, state: State) -> Array:
        """Pq ``(mp, nq)``, the derivative of position errors by q: perr' = Pq q_dot + bias. Needs POSITION.

        The norms of quaternions are not among its rows.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_pq(state).shape
        (3, 3)
        """
        self.positions(state, "calc_pq")
        return self._coordinate_rows(state)[self._position_rows(state)]

    def calc_pq_transpose(self, state: State) -> Array:
        """The transpose of Pq ``(nq, mp)``. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_pq_transpose(state).shape
        (3, 3)
        """
        return self.calc_pq(state).T.copy()

    def multiply_by_pq(self, state: State, qlike: ArrayLike | None, biasp: ArrayLike | None = None) -> Array:
        """Pq times *qlike*, which is like q_dot ``(nq,)``: ``(mp,)``. Needs POSITION.

        None or empty stands for zeros. *biasp*, the result of `calc_bias_for_multiply_by_pq`, is only checked.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> bool(abs(system.matter.multiply_by_pq(state, state.q_dot)).max() < 1e-8)
        True
        """
        Pq = self.calc_pq(state)
        self._check_bias("biasp", biasp, len(Pq))
        return Pq @ _vector("qlike", qlike, Pq.shape[1])

    def calc_bias_for_multiply_by_pq(self, state: State) -> Array:
        """The partial derivatives of position errors by time ``(mp,)``. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_bias_for_multiply_by_pq(state).shape
        (3,)
        """
        self.positions(state, "calc_bias_for_multiply_by_pq")
        return state.record.velocity_offset[self._position_rows(state), 0]

    def multiply_by_pq_transpose(self, state: State, lambdap: ArrayLike | None) -> Array:
        """The transpose of Pq times multipliers of position equations ``(mp,)``: ``(nq,)``. Needs POSITION.

        None or empty stands for zeros.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.multiply_by_pq_transpose(state, state.multipliers).shape
        (3,)
        """
        Pq = self.calc_pq(state)
        return Pq.T @ _vector("lambdap", lambdap, len(Pq))

    # ------------------------------------------------------------------------------------------ solutions

    def calc_projected_m_inv(self, state: State) -> Array:
        """G M^-1 G^T ``(m, m)``: the inverse mass matrix as constraints see it. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.calc_projected_m_inv(state).shape
        (3, 3)
        """
        self.velocities(state, "calc_projected_m_inv")
        block, rows = self._articulated(state, "calc_projected_m_inv"), self.rows_in_use(state)
        n = state.tree.counts["num_rows"]
        W = np.zeros((n, n))
        operators.calc_projected_m_inv(block, W)
        return W[np.ix_(rows, rows)]

    def solve_for_constraint_impulses(self, state: State, delta_v: ArrayLike) -> Array:
        """The impulses ``(m,)`` that change the constraints' velocities by *delta_v* ``(m,)``. Needs VELOCITY.

        (G M^-1 G^T)^+ delta_v, the least squares solution of the smallest norm where equations are redundant. The speeds then
        change by M^-1 G^T times the result.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> system.matter.solve_for_constraint_impulses(state, [0.1, 0.0, 0.0]).shape
        (3,)
        """
        self.velocities(state, "solve_for_constraint_impulses")
        block, rows = self._articulated(state, "solve_for_constraint_impulses"), self.rows_in_use(state)
        x = self._spread(state, "delta_v", delta_v, rows)
        operators.solve(block, x)
        return x[rows]

    def angles_of_rows(self, state: State) -> Array:
        """The angle, up to about 1, that each equation in use has to what moves, whatever that weighs. Needs VELOCITY."""
        squares = self._blank(state)
        operators.calc_squares_of_angles(self._articulated(state, "diagnose_constraints"), squares)
        return np.sqrt(squares[self.rows_in_use(state)])

    # ------------------------------------------------------------------------------------------ forces

    def calc_constraint_forces_from_multipliers(self, state: State, multipliers: ArrayLike) -> tuple[Array, Array]:
        """G^T times multipliers, as forces on bodies and on mobilities. Needs VELOCITY.

        Parameters
        ----------
        state : State
        multipliers : (m,) array_like

        Returns
        -------
        body_forces : (nb, 2, 3) array
            At the bodies' origins, in Ground; Ground's row is what acts on Ground.
        mobility_forces : (nu,) array

        Notes
        -----
        The sign is that of multipliers, opposite to that of applied forces.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> body_forces, mobility_forces = system.matter.calc_constraint_forces_from_multipliers(state, state.multipliers)
        >>> body_forces.shape, mobility_forces.shape
        ((4, 2, 3), (3,))
        """
        block = self.velocities(state, "calc_constraint_forces_from_multipliers")
        by_rows = self._spread(state, "multipliers", multipliers, self.rows_in_use(state))
        return self._forces_of(state, block, by_rows)

    def _forces_of(self, state: State, block: Any, by_rows: Array) -> tuple[Array, Array]:
        F, f = np.zeros((state.tree.nb, 2, 3)), np.zeros(state.tree.nu)
        operators.calc_forces(block, by_rows, F.reshape(-1, 6), f)
        return F, f

    def find_constraint_forces(self, state: State) -> tuple[Array, Array]:
        """The forces of all constraints at the multipliers that the state has. Needs ACCELERATION.

        Returns
        -------
        body_forces : (nb, 2, 3) array
            At the bodies' origins, in Ground; Ground's row is what acts on Ground.
        mobility_forces : (nu,) array

        Notes
        -----
        The sign is that of multipliers, as in Simbody: these forces stand on the side of M udot, and what constraints exert is
        minus them.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> body_forces, mobility_forces = system.matter.find_constraint_forces(state)
        >>> body_forces.shape, mobility_forces.shape
        ((4, 2, 3), (3,))
        """
        block = self.accelerations(state, "find_constraint_forces")
        return self._forces_of(state, block, state.record.multiplier[:, 0])

    @contextlib.contextmanager
    def _constraints_as_applied(self, state: State) -> Iterator[None]:
        """Within this context the forces of constraints are added to the applied ones, for the balance of reactions."""
        if not self.constraints:
            yield
            return
        record: Any = state.record
        kept = record.body_forces.copy(), record.mobility_forces.copy()
        record.body_forces -= self.find_constraint_forces(state)[0].reshape(-1, 6)
        # what acts on free mobilities is what their accelerations take: also forces of one call to `realize` alone
        free = np.repeat(state.field("prescribed"), state.tree.num_u) == SOLVED
        acts = self.calc_residual_force_ignoring_constraints(state, None, record.body_forces.reshape(-1, 2, 3), state.u_dot)
        record.mobility_forces[free, 0] = acts[free]
        operators.gather_residuals(state.block)
        try:
            yield
        finally:
            record.body_forces[:], record.mobility_forces[:] = kept

    def calc_constraint_power(self, state: State) -> float:
        """The power of all constraints, positive where they add energy: zero of workless ones. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> system.realize(state)
        >>> bool(abs(system.matter.calc_constraint_power(state)) < 1e-6)  # a ball constraint does no work
        True
        """
        self.accelerations(state, "calc_constraint_power")
        return float(sum(constraint.calc_power(state) for constraint in self.constraints if not constraint.is_disabled(state)))

    # ------------------------------------------------------------------------------------------ dynamics

    def calc_acceleration(
        self, state: State, applied_mobility_forces: ArrayLike | None = None, applied_body_forces: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Forward dynamics of given forces in place of the state's own, constraints included. Needs DYNAMICS.

        Arguments and results are those of `calc_acceleration_ignoring_constraints`, to which it is equal in a system
        without constraints.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> udot, A_GB = system.matter.calc_acceleration(state, [0.0, 1.0])
        >>> udot.round(3)
        array([ 1.678, -2.609])
        """
        udot, A = self.calc_acceleration_ignoring_constraints(state, applied_mobility_forces, applied_body_forces)
        if any(self.num_equations(state)):
            errors = self.calc_constraint_acceleration_errors(state, udot)
            multipliers = self.solve_for_constraint_impulses(state, errors)
            udot = udot - self.multiply_by_m_inv(state, self.multiply_by_g_transpose(state, multipliers))
            A = self.calc_body_acceleration_from_u_dot(state, udot)
        return udot, A

    def calc_residual_force(
        self,
        state: State,
        applied_mobility_forces: ArrayLike | None = None,
        applied_body_forces: ArrayLike | None = None,
        known_udot: ArrayLike | None = None,
        known_lambda: ArrayLike | None = None,
    ) -> Array:
        """Inverse dynamics with constraint multipliers known too, ``(nu,)``. Needs VELOCITY.

        As `calc_residual_force_ignoring_constraints`, with the generalized forces G^T lambda of *known_lambda* ``(m,)``,
        which is in the order and of the sign of the state's multipliers, added; zeros where None or empty, as in
        `calc_residual_force_ignoring_constraints`. With the state's own forces, udot and multipliers there is no residual.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_residual_force(state, known_udot=[0.0, 0.0]).round(3)
        array([-3.115,  0.389])
        """
        residual = self.calc_residual_force_ignoring_constraints(
            state, applied_mobility_forces, applied_body_forces, known_udot
        )
        if known_lambda is not None and np.size(known_lambda):
            residual += self.multiply_by_g_transpose(state, known_lambda)
        return residual


def _vector(what: str, value: ArrayLike | None, n: int) -> Array:
    """A number a row, or a coordinate; zeros for None or nothing."""
    array = np.zeros(n) if value is None or np.size(value) == 0 else numbers(what, value)
    if array.shape != (n,):
        raise ValueError(f"{what} has shape ({n},), got {array.shape}")
    return array
