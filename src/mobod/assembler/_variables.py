"""The variables of the solver: displacements x from the present q, along the coordinates that are free.

    a coordinate with its own speed      x is a change of q
    an orientation with a quaternion     x is like u: a rotation vector, and q moves along the great circle of N x

so that quaternions stay of length 1, and ranges are those of single q. A Jacobian by u is one by x after the columns are
chosen; where q_dot = N u mixes coordinates (angles) it is J N^-1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..mobilizer import q_rates
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..tree import normal_equations, rates


def num_orientation_q(body: MobilizedBody, state: State) -> int:
    """The number of leading q of a mobilizer that move together, as an orientation that only u-like displacements change."""
    tree, b = state.tree, body.index
    if b in tree.quaternions:
        return 4
    return 3 if tree.num_q[b] != tree.num_u[b] else 0  # a line's angles


class Variables:
    """The displacements that a state's modelling choices and locks leave.

    Parameters
    ----------
    state : State
        At INSTANCE.
    free_q : (nq,) array of bool
        Which q may change; all or none of an orientation.
    lower, upper : (nq,) arrays
        The ranges of q, infinite where there is none.
    """

    def __init__(self, state: State, free_q: npt.NDArray[np.bool_], lower: Array, upper: Array) -> None:
        tree = state.tree
        matter = state.system.get_matter_subsystem()
        self.nu = tree.nu
        self.free_q = np.flatnonzero(free_q)
        u_of_x: list[int] = []
        q_of_x: list[int] = []
        mixed: list[tuple[int, int, int]] = []  # (first q, first u, n) of blocks whose N is not the identity
        tangent_q: list[int] = []
        self._has_quaternions = False
        for body in list(matter.bodies)[1:]:
            b = body.index
            q, u, nq, nu = tree.first_q[b], tree.first_u[b], tree.num_q[b], tree.num_u[b]
            together = num_orientation_q(body, state)
            of_u = nu - (nq - together)
            if together and free_q[q]:
                u_of_x += range(u, u + of_u)
                q_of_x += [-1] * of_u
                tangent_q += range(q, q + together)
                self._has_quaternions = b in tree.quaternions
            kind = int(tree.fields["rates"][b])
            if not together and kind == q_rates.EULER:
                mixed.append((q, u, 3))
            elif not together and kind == q_rates.MATRIX:
                mixed.append((q, u, nq))
            for k in range(nq - together):
                if free_q[q + together + k]:
                    u_of_x.append(u + of_u + k)
                    q_of_x.append(q + together + k)
        self.n = len(u_of_x)
        self.u_of_x = np.array(u_of_x, np.int64)
        self.q_of_x = np.array(q_of_x, np.int64)
        self.direct = np.flatnonzero(self.q_of_x >= 0)
        self.tangent = np.flatnonzero(self.q_of_x < 0)
        self.direct_q = self.q_of_x[self.direct]
        self.tangent_u = self.u_of_x[self.tangent]
        self.tangent_q = np.array(tangent_q, np.int64)
        self.mixed = [one for one in mixed if free_q[one[0] : one[0] + one[2]].any()]
        self.is_all_of_u = bool(np.array_equal(self.u_of_x, np.arange(tree.nu))) and not self.mixed
        #: Ranges of x's q; None where there is none at all.
        self.lower: Array | None = None
        self.upper: Array | None = None
        if self.n and (np.isfinite(lower[self.free_q]).any() or np.isfinite(upper[self.free_q]).any()):
            self.lower, self.upper = np.full(self.n, -np.inf), np.full(self.n, np.inf)
            self.lower[self.direct], self.upper[self.direct] = lower[self.direct_q], upper[self.direct_q]
        self._v, self._q_dot = np.zeros(tree.nu), np.zeros(tree.nq)
        self._n_times: Any = rates.multiply_by_n.dispatcher
        self._turn: Any = normal_equations.turn.dispatcher

    # ------------------------------------------------------------------------------------------ matrices

    def _mixing(self, state: State) -> Array:
        """u-like displacements of x ``(nu, n)``, at a state with positions."""
        whole = np.zeros((self.nu, self.nu))  # du of dq, in the places of u
        whole[self.u_of_x, self.u_of_x] = 1.0
        for _, first_u, n in self.mixed:
            whole[first_u : first_u + n, first_u : first_u + n] = 0.0
        du = np.empty(self.nu)
        for k in range(max(n for _, _, n in self.mixed)):
            dq = np.zeros(len(self._q_dot))
            for first_q, _, n in self.mixed:
                if k < n:
                    dq[first_q + k] = 1.0
            rates.multiply_by_n_inv(state.block, False, dq, du)
            for _, first_u, n in self.mixed:
                if k < n:
                    whole[first_u : first_u + n, first_u + k] = du[first_u : first_u + n]
        return whole[:, self.u_of_x]

    def jacobian(self, state: State, J: Array) -> Array:
        """A Jacobian by u ``(m, nu)`` as one by x ``(m, n)``."""
        if self.is_all_of_u:
            return J
        if self.mixed:
            return J @ self._mixing(state)
        return J[:, self.u_of_x]

    def normal(self, state: State, H: Array, g: Array) -> tuple[Array, Array]:
        """A Gauss-Newton matrix and a gradient by u, as those by x: copies."""
        if self.is_all_of_u:
            return H.copy(), g.copy()
        if self.mixed:
            T = self._mixing(state)
            return T.T @ H @ T, T.T @ g
        return H[np.ix_(self.u_of_x, self.u_of_x)], g[self.u_of_x]

    def jacobian_of_q(self, state: State, J: Array) -> Array:
        """A Jacobian by all q ``(m, nq)`` as one by x ``(m, n)``."""
        out = np.zeros((len(J), self.n))
        out[:, self.direct] = J[:, self.direct_q]
        if len(self.tangent):
            of_u = np.empty(self.nu)
            for row, values in zip(out, J, strict=True):
                rates.multiply_by_n(state.block, True, np.ascontiguousarray(values), of_u)
                row[self.tangent] = of_u[self.tangent_u]
        return out

    # ------------------------------------------------------------------------------------------ displacements

    def displaced(self, state: State, x: Array) -> Array:
        """The q of a displacement from a state with positions, within the ranges."""
        if self._has_quaternions:
            self._v[self.u_of_x] = x
            q = state.q_values.copy()  # subsystems may have q of their own
            self._turn(state.block, self._v, q)
        else:
            q = state.q_values.copy()
            if len(self.tangent):
                self._v[self.tangent_u] = x[self.tangent]
                self._n_times(state.block, False, self._v, self._q_dot)
                q[self.tangent_q] += self._q_dot[self.tangent_q]
        q[self.direct_q] += x[self.direct]
        if self.lower is not None and self.upper is not None:
            q[self.direct_q] = np.clip(q[self.direct_q], self.lower[self.direct], self.upper[self.direct])
        return q

    def room(self, state: State) -> tuple[Array, Array] | None:
        """Lower and upper bounds of x; None where there are no ranges."""
        if self.lower is None or self.upper is None:
            return None
        now = np.zeros(self.n)
        now[self.direct] = state.q_values[self.direct_q]
        return self.lower - now, self.upper - now

    def are_angles(self, state: State) -> npt.NDArray[np.bool_]:
        """Mask of displacements that turn bodies."""
        return np.abs(state.record.H[self.u_of_x, :3]).max(axis=1, initial=0.0) > 0.0
