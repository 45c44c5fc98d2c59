"""Dynamics as functions of arrays, with their derivatives: what the wrappers for other packages' differentiation call.

q counts as it is stored, since a caller knows no tangent: by q is d/d(displacements, turns) [N T]^+, T turns of lines about
themselves, which no speed makes. Rows of q, u and the third argument are states of one `Ensemble`, which takes them one by one
where it has to.
"""

from __future__ import annotations

import abc
import collections
import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.analytic import is_swept, sweep_for
from ..derivative.coordinates import has_rates, lines, turned_lines
from ..derivative.differences import along
from ..errors import ModelError
from ..force import slopes
from ..mobilizer import q_rates
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.checks import instance
from ..value.stage import Stage
from .ensemble import Ensemble
from .second_differences import differences, gradients, steps

#: Ensembles that a thread keeps, one a number of states.
_KEPT = 8
#: Radians that lines turn about themselves in differences of fourth order, which second derivatives take differences of.
_TURN = 2e-3


class ArrayDynamics(abc.ABC):
    """A function of (q, u, third) of a system, linear in the third; `ForwardDynamics` and `InverseDynamics` are the two.

    Parameters
    ----------
    system : MultibodySystem
    state : State, optional
        Whose time, z, modelling choices and parameters all evaluations share; the default state unless given.
    """

    #: The name of its third argument in derivatives.
    third: str

    def __init__(self, system: MultibodySystem, state: State | None = None) -> None:
        instance("system", system, MultibodySystem, "mobod.MultibodySystem()")
        if state is None:
            state = system.realize_topology()
        state.check_owner(system, type(self).__name__)
        self.system, self._state = system, state.copy()
        system.realize(self._state, Stage.INSTANCE)
        tree = self._state.tree
        if len(state.q_view) > tree.nq or tree.num_particles:
            raise ModelError(
                f"{system.name!r} has coordinates that belong to no mobilizer, or particles; these have no wrapper"
            )
        self.nq, self.nu = tree.nq, tree.nu
        self._turns, self._has_lines = bool(has_rates(self._state)), bool(lines(self._state))
        #: Of each thread its own ensembles: JAX calls from any of its threads, and from several at once.
        self._of_thread = threading.local()

    def value(self, q: Array, u: Array, third: Array) -> Array:
        """Values of n states."""
        return self._value(self._of(len(q)), q, u, third)

    def derivative(self, order: int, q: Array, u: Array, third: Array) -> Array:
        """Values ``(n, nu)``, or first derivatives ``(n, nu, d)`` by (q, u, third), or second ones ``(n, nu, d, d)``."""
        if order == 2:
            return self.second(q, u, third)
        return np.concatenate(self.derivatives(q, u, third), axis=2) if order else self.value(q, u, third)

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        """Raise `ValueError` unless these are shapes of the three arguments."""
        for name, shape, size in zip(("q", "u", "the third argument"), shapes, (self.nq, self.nu, self.nu), strict=True):
            if not shape or shape[-1] != size:
                raise ValueError(f"{name} has to have the shape (..., {size}), got {tuple(shape)}")

    def derivatives(self, q: Array, u: Array, third: Array) -> tuple[Array, Array, Array]:
        """Derivatives of n states ``(n, nu, nq)``, ``(n, nu, nu)``, ``(n, nu, nu)`` by the three arguments."""
        found = self._derivatives(self._of(len(q)), q, u, third)
        by_q = self.by_numbers(found.q, q, lambda q: self.value(q, u, third))
        return by_q, found.u, getattr(found, self.third)

    def by_numbers(self, by_displacements: Array, q: Array, value: Callable[[Array], Array]) -> Array:
        """Derivatives of a *value* ``(n, k)`` by q as it is stored from those by displacements ``(n, k, nu)``."""
        if not self._turns:
            return by_displacements
        if self._has_lines:
            turns = np.moveaxis(self._turned(q), 2, 0)
            by_turns = [along(lambda h, T=T: value(q + h * T), _TURN)[..., None] for T in turns]  # type: ignore[misc]
            by_displacements = np.concatenate([by_displacements, *by_turns], axis=2)
        found: Array = by_displacements @ self.back(q)
        return found

    def second(self, q: Array, u: Array, third: Array, weights: Array | None = None) -> Array:
        """Second derivatives ``(n, k, d, d)`` of k sums of values, by (q, u, third), d = nq + 2 nu; of each value unless given.

        Exact, by one kernel, where `Ensemble.second_derivatives` has them and q are quaternions or as u; elsewhere differences
        of first ones, to about 1e-8 of the largest of both: all states that they take are one ensemble. *weights* are
        ``(n, k, nu)``.
        """
        n, nq, nu = len(q), self.nq, self.nu
        weights = np.broadcast_to(np.eye(nu), (n, nu, nu)) if weights is None else weights
        found = self.exact_second(q, u, third, weights)
        if found is not None:
            return found
        k, moved, size = weights.shape[1], nq + nu, nq + 2 * nu  # in the third the function is linear
        x = np.hstack([q, u, third])
        h = steps(x, nq)
        T = np.zeros((n, k, size, size))
        slopes = differences(lambda x: self._gradients(x, weights), x, h, range(moved), 3 * nu * nu)
        T[:, :, :moved] = np.moveaxis(slopes, 0, 2)
        T[:, :, moved:, :moved] = np.swapaxes(T[:, :, :moved, moved:], 2, 3)
        return 0.5 * (T + np.swapaxes(T, 2, 3))

    def exact_second(self, q: Array, u: Array, third: Array, weights: Array) -> Array | None:
        """The same, or None where they would be differences."""
        if self._turns and not self.quaternions:
            return None
        found = self._second(self._of(len(q)), q, u, third, weights)
        return found if found is None or not self._turns else self._bent_by_numbers(found, q, u, third, weights)

    def _bent_by_numbers(self, found: Array, q: Array, u: Array, third: Array, weights: Array) -> Array:
        """Second derivatives by displacements by numbers of q, with the change of N^+, 4 N^T / |q|^2 of quaternions."""
        n, nq, nu, back = len(q), self.nq, self.nu, self.back(q)
        whole = np.zeros((n, 1, 3 * nu, nq + 2 * nu))
        whole[:, 0, :nu, :nq], whole[:, :, nu:, nq:] = back, np.eye(2 * nu)
        T: Array = np.swapaxes(whole, 2, 3) @ found @ whole
        g = weights @ self._derivatives(self._of(n), q, u, third).q
        for first, i, unit in self.quaternions:
            at, own = slice(first, first + 4), g[..., i : i + 3]
            square = (q[:, at] ** 2).sum(axis=1)[:, None, None]
            turned = own @ back[:, i : i + 3, at]
            for k in range(4):
                T[:, :, first + k, at] += (own @ unit[k] - 2.0 * q[:, None, first + k, None] * turned) / square
        return 0.5 * (T + np.swapaxes(T, 2, 3))

    @functools.cached_property
    def quaternions(self) -> list[tuple[int, int, Array]]:
        """Of each quaternion its first q and u, and 4 N^T where it is a unit; none where some q are neither those nor as u."""
        tree = self._state.tree
        if self._has_lines or not np.isin(tree.fields["rates"], (q_rates.SAME, q_rates.QUATERNION)).all():
            return []
        at = [(int(tree.first_q[b]), int(tree.first_u[b])) for b in tree.quaternions]
        q = np.zeros((4, self.nq))
        for first, _ in at:
            q[:, first : first + 4] = np.eye(4)
        units = self.back(q)
        return [(first, i, units[:, i : i + 3, first : first + 4]) for first, i in at]

    def pattern_of_second(self) -> Any:
        """The second derivatives by (q, u, third) that may differ from zero ``(nq + 2 nu, nq + 2 nu)``.

        The function is affine in the third, by a matrix of q alone unless there are constraints: users' own may be of any form.
        What turns or shifts all bodies of a branch changes no mass matrix; nor, where one sweep finds all that acts, what
        speeds do, but for a stop at this coordinate, whose damping grows with depth.
        """
        tree, nq, nu, sweep = self._state.tree, self.nq, self.nu, sweep_for(self.system, self._state)
        stopped = sweep.slopes[sweep.slopes[:, slopes.KIND] == slopes.STOP, slopes.MOBILITY]
        found = np.ones((nq + 2 * nu, nq + 2 * nu), bool)
        found[nq + nu :, nq + nu :] = False
        if tree.counts["nc"]:
            return found
        found[nq : nq + nu, nq + nu :] = False
        swept = not self._turns and is_swept(self.system, self._state)
        for b in range(1, tree.nb):
            if tree.fields["parent"][b] == 0 and tree.num_u[b] == tree.num_q[b] == 1 and not sweep.bent[b]:
                q, u = tree.first_q[b], nq + tree.first_u[b]
                found[q, nq if swept else nq + nu :] = False
                found[q, u] = found[u, q] = not swept or tree.first_u[b] in stopped
        return found & found.T

    def _gradients(self, x: Array, weights: Array) -> Array:
        """Derivatives ``(m n, k, nq + 2 nu)`` of *weights* times values at x = (q, u, third), m n rows."""
        nu, q = self.nu, x[:, : self.nq]
        found = self._derivatives(self._of(len(q)), q, *np.split(x[:, self.nq :], 2, axis=1))
        before = sum(part.shape[2] for part in found[: found._fields.index(self.third)])
        G = gradients(found, weights, np.concatenate([np.arange(2 * nu), before + np.arange(nu)]))
        if not self._turns:
            return G
        each, others = np.tile(weights, (len(x) // len(weights), 1, 1)), np.split(x[:, self.nq :], 2, axis=1)
        by_q = self.by_numbers(G[..., :nu], q, lambda q: np.einsum("nki,ni->nk", each, self.value(q, *others)))
        return np.concatenate([by_q, G[..., nu:]], axis=2)

    def _of(self, n: int) -> Ensemble:
        """The present thread's ensemble of so many states."""
        kept: collections.OrderedDict[int, Ensemble] = vars(self._of_thread).setdefault("kept", collections.OrderedDict())
        ensemble = kept.pop(n, None) or Ensemble(self.system, n, state=self._state)
        kept[n] = ensemble
        if len(kept) > _KEPT:
            kept.popitem(last=False)
        return ensemble

    def matrices_n(self, q: Array) -> Array:
        """N of each state ``(n, nq, nu)``, whose columns are what q_dot is at unit speeds."""
        n, nu = len(q), self.nu
        if not self._turns:
            return np.broadcast_to(np.eye(nu), (n, nu, nu))
        ensemble = self._of(n * nu)
        ensemble.realize(Stage.VELOCITY, q=np.tile(q, (nu, 1)), u=np.repeat(np.eye(nu), n, axis=0))
        return np.moveaxis(np.asarray(ensemble.q_dot).reshape(nu, n, self.nq), 0, 2)

    def displacements_and_turns(self, q: Array) -> Array:
        """[N T] of each state ``(n, nq, nu + m)``: how q changes with displacements, then with turns of lines."""
        N = self.matrices_n(q)
        return np.concatenate([N, self._turned(q)], axis=2) if self._has_lines else N

    def back(self, q: Array) -> Array:
        """[N T]^+ of each state ``(n, nu + m, nq)``: displacements and turns of lines by q as it is stored.

        Not a number where a quaternion has no length, as u_dot is.
        """
        W = self.displacements_and_turns(q)
        if not self._turns:
            return W
        transposed: Any = np.swapaxes(W, 1, 2)
        square = transposed @ W
        try:
            return np.linalg.solve(square, transposed)
        except np.linalg.LinAlgError:  # of all states for one
            square[~(np.abs(np.linalg.det(square)) > 0.0)] = np.nan
            return np.linalg.solve(square, transposed)

    def _turned(self, q: Array) -> Array:
        """T of each state ``(n, nq, m)``."""
        at_zero, by_q = self._turned_by_q
        return np.asarray(at_zero + np.einsum("nk,kij->nij", q, by_q))

    @functools.cached_property
    def _turned_by_q(self) -> tuple[Array, Array]:
        """T at q = 0, and by each of q, in which it is linear."""
        at_zero = turned_lines(self._state, np.zeros(self.nq))
        return at_zero, np.array([turned_lines(self._state, one) for one in np.eye(self.nq)]) - at_zero

    @abc.abstractmethod
    def _value(self, ensemble: Ensemble, q: Array, u: Array, third: Array) -> Array:
        """Values of an ensemble's states ``(n, nu)``."""

    @abc.abstractmethod
    def _derivatives(self, ensemble: Ensemble, q: Array, u: Array, third: Array) -> Any:
        """Derivatives of an ensemble's states, by displacements in place of q."""

    @abc.abstractmethod
    def _second(self, ensemble: Ensemble, q: Array, u: Array, third: Array, weights: Array) -> Array | None:
        """Second derivatives by displacements, by one kernel, or None where there is none."""


class ForwardDynamics(ArrayDynamics):
    """u_dot of (q, u, mobility forces beside those of the elements)."""

    third = "mobility_forces"

    def _value(self, ensemble: Ensemble, q: Array, u: Array, third: Array) -> Array:
        ensemble.realize(q=q, u=u, mobility_forces=third)
        return np.array(ensemble.u_dot)[:, : self.nu]

    def _derivatives(self, ensemble: Ensemble, q: Array, u: Array, third: Array) -> Any:
        return ensemble.calc_forward_dynamics_derivatives(q=q, u=u, mobility_forces=third)

    def _second(self, ensemble: Ensemble, q: Array, u: Array, third: Array, weights: Array) -> Array | None:
        return ensemble.second_derivatives(weights, q=q, u=u, mobility_forces=third)


class InverseDynamics(ArrayDynamics):
    """Missing mobility forces of (q, u, u_dot), as `MultibodySystem.calc_inverse_dynamics`."""

    third = "u_dot"

    def _value(self, ensemble: Ensemble, q: Array, u: Array, third: Array) -> Array:
        ensemble.realize(Stage.VELOCITY, q=q, u=u)
        return np.array(ensemble.calc_inverse_dynamics(third))

    def _derivatives(self, ensemble: Ensemble, q: Array, u: Array, third: Array) -> Any:
        return ensemble.calc_inverse_dynamics_derivatives(third, q=q, u=u)

    def _second(self, ensemble: Ensemble, q: Array, u: Array, third: Array, weights: Array) -> Array | None:
        return ensemble.second_derivatives(weights, q=q, u=u, u_dot=third)
