"""Integrators of other methods with variations: these follow the motion after each step, by a method of their own.

    S' = J(y(t)) S + B(y(t))        over each step, y(t) being the polynomial by which reports are interpolated

by Radau's method IIA of order 5, which is stable where the motion is stiff; its stages are one linear system, as S is not in J
or B. Its own estimate of the error is held to the accuracy: steps are halved for S alone where that asks for it. So the
sensitivities are those of the motion that the steps approximate, and not of the steps: at large fixed steps of a method of low
order the two differ as much as the motion does from the exact one. Source: Hairer and Wanner 1996, IV.5 and IV.8.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..algebra.arrays import Array
from ..integrator import BDF, Integrator
from ..state.state import State
from ..stepping import record as rk
from ..system.forward_sensitivities import Variations
from ._carrying import Carrying, Jump, largest_error
from .checkpoint import integrator_keywords

_ROOT = np.sqrt(6.0)
#: Radau IIA: where stages are, and their weights.
_NODES = np.array([(4.0 - _ROOT) / 10.0, (4.0 + _ROOT) / 10.0, 1.0])
_STAGES = np.array(
    [
        [(88.0 - 7.0 * _ROOT) / 360.0, (296.0 - 169.0 * _ROOT) / 1800.0, (-2.0 + 3.0 * _ROOT) / 225.0],
        [(296.0 + 169.0 * _ROOT) / 1800.0, (88.0 + 7.0 * _ROOT) / 360.0, (-2.0 - 3.0 * _ROOT) / 225.0],
        [(16.0 - _ROOT) / 36.0, (16.0 + _ROOT) / 36.0, 1.0 / 9.0],
    ]
)
#: Of the estimate of the error: the real eigenvalue of the stages' matrix, and what it takes of each stage.
_REAL = 0.2748888295956774
_ESTIMATE = _REAL / 3.0 * np.array([-13.0 - 7.0 * _ROOT, -13.0 + 7.0 * _ROOT, -1.0])
#: How often a step is halved at most.
_HALVES = 30


class Following(Carrying):
    """The part of an integrator of any method that carries variations; its steps are the method's own."""

    def try_step(self, times: Array, results: Array, energies: Array) -> int:
        """Steps until a report, each followed."""
        return self.step_and_report(self._follow_step, times, results, energies)

    def _follow_step(self, report: float) -> int:
        self.sample()
        began, S = float(self.control[rk.TIME]), self.S
        status = self._own_step(report)
        if status != rk.DONE:
            return status
        end, state, of = float(self.control[rk.TIME]), self._state, self.variations
        self._before = began, np.zeros(0), S
        if self.tape is None:
            found = self._followed(began, end, S, self.weights)
            self.leave_at(end)
            self.S = of.project(state, found, self.weights)
            self._keep(state, self.S)
        else:
            self.tape.append(self._as_jump(began, end))
        return rk.DONE

    def _own_step(self, report: float) -> int:
        """One step of the method's."""
        if isinstance(self, BDF) and self.get_solver_name() != "compiled":
            return BDF._step(self, report)  # noqa: SLF001 of its own base
        return self.step_once(type(self).kernel, self.arguments(), report)

    def _as_jump(self, began: float, end: float) -> Jump:
        """The transition of any change from one time to another within the last step, as the adjoint takes it."""
        S, weights = self.variations.every_change()
        found = self._followed(began, end, S, weights)
        self.leave_at(end)
        return Jump(end, self.variations.project(self._state, found, weights))

    def _taken_to(self, time: float) -> Array:
        if self._before is None or time >= float(self.control[rk.TIME]):
            return self.S
        began, _, S = self._before
        if time <= began:
            return S
        found = self._followed(began, time, S, self.weights)
        self.leave_at(time)
        return self.variations.project(self._state, found, self.weights)

    def _shortened(self, state: State) -> Jump:
        assert self._before is not None
        time = state.time
        found = self._as_jump(self._before[0], time)
        self.leave_at(time)
        return found

    # ------------------------------------------------------------------------------------------ its own method

    def _followed(self, began: float, end: float, S: Array, weights: Array) -> Array:
        """S at the end of an interval within the last step."""
        waiting, shortest = [(began, end)], (end - began) * 0.5**_HALVES
        while waiting:
            a, b = waiting.pop()
            tried, error = self._interval(a, b, S, weights)
            if error <= self.accuracy or b - a <= shortest:
                S = tried
            else:
                middle = 0.5 * (a + b)
                waiting += [(middle, b), (a, middle)]
        return S

    def _interval(self, a: float, b: float, S: Array, weights: Array) -> tuple[Array, float]:
        """One step of Radau's method, and its error."""
        h, ny = b - a, len(S)
        start, *stages = (self._linear(a + h * c, weights) for c in (0.0, *_NODES))
        matrix, right = np.eye(3 * ny), np.zeros((3 * ny, S.shape[1]))
        for i, (J, B) in enumerate(stages):
            rows = slice(i * ny, (i + 1) * ny)
            matrix[rows] -= np.kron(h * _STAGES[i], J)
            right[rows] = J @ S + B
        K = np.linalg.solve(matrix, right).reshape(3, ny, -1)
        changes = h * np.tensordot(_STAGES, K, 1)
        J, B = start
        estimate = _REAL * h * (J @ S + B) + np.tensordot(_ESTIMATE, changes, 1)
        off = np.asarray(np.linalg.solve(np.eye(ny) - h * _REAL * J, estimate), np.float64)
        found: Array = S + changes[2]
        n = self.variations.num_integrated
        scales = np.ones(S.shape[1])
        scales[S.shape[1] - len(self.directions) :] = self.directions.scales  # the last columns are those of the directions
        scaled: Array = self.work[len(self.work) - 4][:, None] * scales
        return found, largest_error(scaled, off[:n], S[:n], found[:n])

    def _linear(self, time: float, weights: Array) -> tuple[Array, Array]:
        """J and what goes with the model's numbers at a time within the last step."""
        state = self._state
        self.leave_at(time)
        J, B = self.variations.rates(state)
        prescribed, known = self.variations.prescribed(state), self.variations.known(state)
        if prescribed is not None:
            J, B = J @ prescribed[0], B + J @ prescribed[1]
            J[known] = B[known] = 0.0
        return J, B @ weights


def follow(like: Integrator, variations: Variations, keeps_tape: bool) -> Carrying:
    """The same method, with variations.

    Raises
    ------
    ValueError
        If it steps contacts at the level of velocities.
    """
    if like.steps_contacts:
        raise ValueError(
            f"{like.get_method_name()} solves for impulses, which are not smooth, and has no sensitivities; take "
            "RungeKuttaMerson, which passes impacts as events"
        )
    kind = type(type(like).__name__, (Following, type(like)), {})
    found: Any = kind(like.system, **integrator_keywords(like))
    found.carry(like, variations, keeps_tape)
    return cast("Carrying", found)
