"""Dynamics as functions of arrays, with their Jacobians: what the wrappers for other packages' differentiation call.

q counts as it is stored, since a caller knows no tangent: by q is d/d(displacements) N^+. Rows of q, u and the third argument
are states; where nothing is constrained or prescribed they are one `Ensemble`, otherwise one state after the other.
"""

from __future__ import annotations

import abc
import collections
from typing import NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.state import State
from ..system import tangents
from ..system.system import MultibodySystem
from ..value.stage import Stage
from .ensemble import Ensemble

#: Ensembles that are kept, one a number of states.
_KEPT = 8


class Jacobians(NamedTuple):
    """Values ``(n, nu)``, and derivatives ``(n, nu, nq)``, ``(n, nu, nu)``, ``(n, nu, nu)`` by the three arguments."""

    value: Array
    q: Array
    u: Array
    third: Array


class ArrayDynamics(abc.ABC):
    """A function of (q, u, third) of a system; `ForwardDynamics` and `InverseDynamics` are the two.

    Parameters
    ----------
    system : MultibodySystem
    state : State, optional
        Whose time, z, modelling choices and parameters all evaluations share; the default state unless given.
    """

    def __init__(self, system: MultibodySystem, state: State | None = None) -> None:
        if not isinstance(system, MultibodySystem):
            raise TypeError(f"give a MultibodySystem, not {system!r}")
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
        self.alone = bool(self._state.is_constrained or self._state.has_known or system.needs_states)
        self._ensembles: collections.OrderedDict[int, Ensemble] = collections.OrderedDict()

    def value(self, q: Array, u: Array, third: Array) -> Array:
        """Values of n states."""
        if self.alone:
            return np.array([self._value_of(*row) for row in zip(q, u, third, strict=True)]).reshape(-1, self.nu)
        return self._value(self._at(q, u), third)

    def jacobians(self, q: Array, u: Array, third: Array) -> Jacobians:
        """Values and derivatives of n states."""
        n, nu = len(q), self.nu
        if self.alone:
            found = [self._jacobians_of(*row) for row in zip(q, u, third, strict=True)]
            parts = [
                np.array([one[k] for one in found]).reshape(n, nu, *shape) for k, shape in enumerate([(), (nu,), (nu,), (nu,)])
            ]
        else:
            parts = list(self._jacobians(self._at(q, u), third))
        return Jacobians(parts[0], parts[1] @ self._back(q), parts[2], parts[3])

    def _at(self, q: Array, u: Array) -> Ensemble:
        """An ensemble at these states, realized to VELOCITY."""
        n = len(q)
        ensemble = self._ensembles.pop(n, None) or Ensemble(self.system, n, state=self._state)
        self._ensembles[n] = ensemble
        if len(self._ensembles) > _KEPT:
            self._ensembles.popitem(last=False)
        ensemble.q, ensemble.u = q, u
        ensemble.realize(Stage.VELOCITY)
        return ensemble

    def _alone_at(self, q: Array, u: Array, stage: Stage) -> State:
        state = self._state
        state.q, state.u = q, u
        self.system.realize(state, stage)
        return state

    def _back(self, q: Array) -> Array:
        """N^+ of each state ``(n, nu, nq)``, or of all where q_dot is u."""
        state = self._state
        if not tangents.has_rates(state):
            return np.eye(self.nu)
        found = np.empty((len(q), self.nu, self.nq))
        for i, row in enumerate(q):
            state.q = row
            self.system.realize(state, Stage.POSITION)
            N = tangents.displacements(state)
            found[i] = np.linalg.solve(N.T @ N, N.T)
        return found

    @abc.abstractmethod
    def _value(self, ensemble: Ensemble, third: Array) -> Array:
        """Values of an ensemble's states ``(n, nu)``."""

    @abc.abstractmethod
    def _jacobians(self, ensemble: Ensemble, third: Array) -> tuple[Array, Array, Array, Array]:
        """Values and derivatives of an ensemble's states, by displacements in place of q."""

    @abc.abstractmethod
    def _value_of(self, q: Array, u: Array, third: Array) -> Array:
        """The value of one state ``(nu,)``."""

    @abc.abstractmethod
    def _jacobians_of(self, q: Array, u: Array, third: Array) -> tuple[Array, Array, Array, Array]:
        """Value and derivatives of one state, by displacements in place of q."""


class ForwardDynamics(ArrayDynamics):
    """u_dot of (q, u, mobility forces beside those of the elements)."""

    def _value(self, ensemble: Ensemble, third: Array) -> Array:
        missing = ensemble.calc_inverse_dynamics(np.zeros(self.nu))
        return ensemble.multiply_by_m_inv(third - missing)

    def _jacobians(self, ensemble: Ensemble, third: Array) -> tuple[Array, Array, Array, Array]:
        u_dot = self._value(ensemble, third)
        found, M_inv = ensemble.calc_inverse_dynamics_derivatives(u_dot), ensemble.calc_m_inv()
        return u_dot, -M_inv @ found.q, -M_inv @ found.u, M_inv

    def _pushed(self, q: Array, u: Array, third: Array) -> State:
        state = self._alone_at(q, u, Stage.DYNAMICS)
        state.record.mobility_forces[: self.nu, 0] += third  # as though an element had added it
        self.system.realize(state)
        return state

    def _value_of(self, q: Array, u: Array, third: Array) -> Array:
        return np.array(self._pushed(q, u, third).u_dot_view[: self.nu])

    def _jacobians_of(self, q: Array, u: Array, third: Array) -> tuple[Array, Array, Array, Array]:
        state = self._pushed(q, u, third)
        found = self.system.calc_forward_dynamics_derivatives(state)
        return np.array(state.u_dot_view[: self.nu]), found.q, found.u, found.mobility_forces


class InverseDynamics(ArrayDynamics):
    """Missing mobility forces of (q, u, u_dot), as `MultibodySystem.calc_inverse_dynamics`."""

    def _value(self, ensemble: Ensemble, third: Array) -> Array:
        return ensemble.calc_inverse_dynamics(third)

    def _jacobians(self, ensemble: Ensemble, third: Array) -> tuple[Array, Array, Array, Array]:
        found = ensemble.calc_inverse_dynamics_derivatives(third)
        return ensemble.calc_inverse_dynamics(third), found.q, found.u, found.u_dot

    def _value_of(self, q: Array, u: Array, third: Array) -> Array:
        return self.system.calc_inverse_dynamics(self._alone_at(q, u, Stage.VELOCITY), third)

    def _jacobians_of(self, q: Array, u: Array, third: Array) -> tuple[Array, Array, Array, Array]:
        state = self._alone_at(q, u, Stage.VELOCITY)
        found = self.system.calc_inverse_dynamics_derivatives(state, third)
        return self.system.calc_inverse_dynamics(state, third), found.q, found.u, found.u_dot


__all__ = ["ArrayDynamics", "ForwardDynamics", "InverseDynamics", "Jacobians"]
