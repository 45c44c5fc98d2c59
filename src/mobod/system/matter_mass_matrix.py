"""The mass matrix of the tree and its inverse: products in O(n), and the matrices."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..state import validity
from ..state.state import State
from ..tree import explicit_mass_matrix, inverse_mass_matrix, mass_matrix, matrix_sweep, realize as _realize
from ..tree.realize import NOT_PLAIN
from .matter_jacobian_derivatives import JacobianDerivatives

_array, _empty = np.ndarray, np.empty  # one lookup less in operators that take a microsecond
_times_m_inv = mass_matrix.multiply_by_m_inv
_POSITIONS, _ARTICULATED, _COMPOSITE = validity.POSITIONS, validity.ARTICULATED, validity.COMPOSITE


class HasMassMatrix(JacobianDerivatives):
    """The part of `SimbodyMatterSubsystem` that has M and its inverse."""

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
