"""The solver's problem: a goal to minimize, errors that have to vanish, and their derivatives by the displacements x."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.stage import Stage
from ._normal import Normal
from ._variables import Variables
from .condition import Condition, checked_errors, checked_goal

_EPS = 6e-6  # the cube root of the rounding error: best for central differences


@dataclasses.dataclass
class Values:
    """A point: the goal f, its gradient g and Gauss-Newton matrix H; the errors c, and their Jacobian A."""

    q: Array
    f: float
    g: Array
    H: Array
    c: Array
    A: Array | None
    norm: float
    general: Array | None = None


@dataclasses.dataclass
class Counts:
    """Counts of evaluations."""

    goals: int = 0
    gradients: int = 0
    errors: int = 0
    jacobians: int = 0


class Problem:
    """Goals and requirements at a state, which the solver moves.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        The Assembler's own.
    variables : Variables
    goals : list of (Condition, float)
        With their weights.
    requirements : list of Condition
    """

    def __init__(
        self,
        system: MultibodySystem,
        state: State,
        variables: Variables,
        goals: list[tuple[Condition, float]],
        requirements: list[Condition],
        *,
        numerical_gradient: bool = False,
        numerical_jacobian: bool = False,
        rms: bool = False,
    ) -> None:
        self.system, self.state, self.variables = system, state, variables
        self.counts = Counts()
        self.requirements = requirements
        self.rms, self._numerical_jacobian = rms, numerical_jacobian
        self.spatial = [one for one in goals if one[0].is_spatial and not numerical_gradient]
        rest = [one for one in goals if not one[0].is_spatial or numerical_gradient]
        system.realize(state, Stage.POSITION)
        self.squares: list[tuple[Condition, float, float]] = []
        self.general: list[tuple[Condition, float]] = []
        for condition, weight in rest:
            factor = None if numerical_gradient else condition.squares(state)
            if factor is None:
                self.general.append((condition, weight))
            else:
                self.squares.append((condition, weight, factor))
        self._numerical_gradient = numerical_gradient
        self._goals, self.has_goals = goals, bool(goals)
        tree = state.tree
        self._normal = Normal(tree.nb, tree.nu) if self.spatial else None
        self._none, self._zero = np.zeros((variables.n, variables.n)), np.zeros(variables.n)

    # ------------------------------------------------------------------------------------------ moving

    def move_to(self, q: Array) -> None:
        """Put the state at q, realized to POSITION."""
        state = self.state
        state.q = q
        self.system.realize(state, Stage.POSITION)

    # ------------------------------------------------------------------------------------------ values

    def errors(self) -> Array:
        """All errors of the requirements."""
        self.counts.errors += 1
        found = [checked_errors(condition, self.state) for condition in self.requirements]
        return found[0] if len(found) == 1 else np.concatenate([np.zeros(0), *found])

    def norm(self, c: Array) -> float:
        """Norm of errors: the largest, or their root mean square."""
        if not c.size:
            return 0.0
        value = float(np.sqrt(c @ c / c.size)) if self.rms else float(np.abs(c).max())
        return value if np.isfinite(value) else np.inf

    def goal(self) -> float:
        """The weighted sum of all goals, without derivatives."""
        self.counts.goals += 1
        total = 0.0
        for condition, weight in self._goals:
            total += weight * checked_goal(condition, self.state)
        return total

    def values(self) -> Values:
        """Everything, where the state is."""
        state, variables, counts = self.state, self.variables, self.counts
        f, H, g = 0.0, self._none, self._zero
        if self.spatial and self._normal is not None:
            normal = self._normal
            normal.begin(state)
            for condition, weight in self.spatial:
                f += condition.added_to(state, weight, normal)
            H, g = variables.normal(state, *normal.finish(state))
        for condition, weight, factor in self.squares:
            e, J = checked_errors(condition, state), self.jacobian(condition)
            f += weight * factor * float(e @ e)
            H, g = H + (2.0 * weight * factor) * (J.T @ J), g + (2.0 * weight * factor) * (J.T @ e)
        general = None
        if self.general:
            general = np.zeros(variables.n)
            for condition, weight in self.general:
                f += weight * checked_goal(condition, state)
                general += weight * self.gradient(condition)
            g = g + general
        counts.goals += 1
        counts.gradients += 1
        if not np.isfinite(f):
            f = np.inf
        if not self.requirements:
            return Values(state.q_values.copy(), f, g, H, _NOTHING, None, 0.0, general)
        c = self.errors()
        counts.jacobians += 1
        found = [self.jacobian(condition) for condition in self.requirements]
        A = found[0] if len(found) == 1 else np.concatenate(found)
        if len(A) != len(c):
            raise ValueError(f"the requirements have {len(c)} errors, but Jacobians of {len(A)} rows")
        return Values(state.q_values.copy(), f, g, H, c, A if len(c) else None, self.norm(c), general)

    # ------------------------------------------------------------------------------------------ derivatives

    def jacobian(self, condition: Condition) -> Array:
        """The derivatives of a condition's errors by x ``(m, n)``."""
        state, variables = self.state, self.variables
        if not self._numerical_jacobian:
            by_u = condition.jacobian_u(state)
            if by_u is not None:
                return variables.jacobian(state, by_u)
            given = condition.calc_error_jacobian(state)
            if given is not None:
                return variables.jacobian_of_q(state, self._by_all_q("calc_error_jacobian", condition, given, 2))
        return self._differences(lambda: checked_errors(condition, state)).T.reshape(-1, variables.n)

    def gradient(self, condition: Condition) -> Array:
        """The derivatives of a condition's goal by x ``(n,)``."""
        state, variables = self.state, self.variables
        if not self._numerical_gradient:
            given = condition.calc_goal_gradient(state)
            if given is not None:
                row = self._by_all_q("calc_goal_gradient", condition, given, 1)[None]
                return variables.jacobian_of_q(state, row)[0]
        return self._differences(lambda: np.array([checked_goal(condition, state)])).reshape(variables.n)

    def _by_all_q(self, method: str, condition: Condition, given: Any, ndim: int) -> Array:
        """A user's derivatives by the free q or by all q, as derivatives by all q."""
        array = np.asarray(given, dtype=np.float64)
        nq, free = self.state.q_values.size, self.variables.free_q
        if array.ndim != ndim or array.shape[-1] not in (nq, len(free)):
            shape = "(m, {})" if ndim == 2 else "({},)"
            either = f"{shape.format(len(free))} by the free q, or {shape.format(nq)} by all"
            raise ValueError(f"{method} of {condition!r} has to give {either}; it gave {array.shape}")
        if array.shape[-1] == nq:
            return array
        whole = np.zeros((*array.shape[:-1], nq))
        whole[..., free] = array
        return whole

    def _differences(self, function: Any) -> Array:
        """Central differences along each x, one a row; the state is put back."""
        q, n = self.state.q_values.copy(), self.variables.n
        rows, h = [], np.zeros(n)
        for i in range(n):
            size = _EPS * max(1.0, abs(q[self.variables.q_of_x[i]]) if self.variables.q_of_x[i] >= 0 else 1.0)
            h[i] = size
            ahead = self.variables.displaced(self.state, h)
            h[i] = -size
            behind = self.variables.displaced(self.state, h)
            h[i] = 0.0
            apart = size + size  # a range may clip one side
            if self.variables.q_of_x[i] >= 0:
                apart = ahead[self.variables.q_of_x[i]] - behind[self.variables.q_of_x[i]]
            self.move_to(ahead)
            of_ahead = function()
            self.move_to(behind)
            of_behind = function()
            self.move_to(q)
            rows.append((of_ahead - of_behind) / (apart or 1.0))
        return np.array(rows)


_NOTHING = np.zeros(0)
