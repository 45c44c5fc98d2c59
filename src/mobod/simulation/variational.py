"""Runge-Kutta steps that carry variations of the motion, or keep what the adjoint needs to go back over them.

Each step is differentiated as it is taken:

    y_s = y_0 + h sum a_sj k_j                      S_s = S_0 + h sum a_sj K_j,  K_s = J(y_s) S_s + B(y_s)

so that variations have the method's order, and its estimate of their error: steps are chosen by the errors of y and of S.
`_following` has those of other methods, `_carrying` what both share. Source: Hairer, Norsett and Wanner 1993, I.14.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array
from ..integrator import Integrator
from ..integrator import _variations as kernels
from ..state.state import State
from ..stepping import controller, limits, loop
from ..stepping import record as rk
from ..stepping.evaluate import Interpreted
from ..system.forward_sensitivities import Directions, Variations
from ._carrying import Carrying, Jump, Step, kept_attributes, largest_error, put_back
from ._following import follow
from ._unannounced_jumps import UnannouncedJumps
from .checkpoint import integrator_keywords
from .compiled_variations import CompiledVariations, are_compiled


class Variational(Carrying, Integrator):
    """A Runge-Kutta method whose steps carry variations.

    Parameters
    ----------
    like : Integrator
        Whose method and settings it has.
    variations : Variations
    keeps_tape : bool
        Whether steps and jumps are kept for the adjoint; there are no variations then.
    """

    def __init__(self, like: Integrator, variations: Variations, keeps_tape: bool = False) -> None:
        super().__init__(like.system, **integrator_keywords(like))
        for name, value in vars(like).items():
            if isinstance(value, bool):
                setattr(self, name, value)
        self.table, self.order, self.error_order = like.table, like.order, like.error_order  # type: ignore[misc]
        self.like = like
        self._compiled: CompiledVariations | None = None
        self._unannounced = UnannouncedJumps(variations)
        self.carry(variations, keeps_tape)

    def get_method_name(self) -> str:
        """The method's name."""
        return self.like.get_method_name()

    def try_step(self, times: Array, results: Array, energies: Array) -> int:
        """Steps until a report, each differentiated."""
        return self.step_and_report(self._step, times, results, energies)

    def _begin(self) -> None:
        super()._begin()
        state = self._state
        assert state is not None
        self._compiled = None
        self._unannounced.begin()
        if self.tape is None and self.held is None and are_compiled(self.variations, state):
            self._compiled = CompiledVariations(self.variations, state, self.table.shape[1] - 1)

    def _step(self, report: float) -> int:
        if self._compiled is not None:
            return self._compiled_step(self._compiled, report)
        control, counts, state = self.control, self.counts, self._state
        assert state is not None
        if control[rk.STEP] < control[rk.COLLAPSE]:
            control[rk.COLLAPSE] = controller.COLLAPSE_RATIO * control[rk.STEP]
            return rk.COLLAPSED
        following = self.sample()
        time, y, S = float(control[rk.TIME]), self.work[rk.Y].copy(), self.S
        self.leave_at(time)
        first, before = self._rates(state, S), self.work[rk.RATE].copy()
        limit = np.inf
        if state.tree.counts["num_contact_elements"]:
            self._call(limits.permit, self.work, control, counts)
            limit = float(control[rk.PERMITTED_STEP])
        stop = min(float(control[rk.FINAL_TIME]), report, following)
        fixed = float(control[rk.FIXED_STEP])
        while True:
            h = fixed or min(float(control[rk.STEP]), float(control[rk.MAX_STEP]))
            limited = h > limit and not fixed
            h = limit if limited else h
            clipped = h > 0.999 * (stop - time)
            h, end = (stop - time, stop) if clipped else (h, time + h)
            counts[rk.ATTEMPTS] += 1
            self._begin_step(time)
            tried, failure, error = self._attempt(time, h, y, S, first), rk.REALIZATION_FAILURES, 1e300
            if tried is not None:
                failure, error = rk.ERROR_FAILURES, 0.0 if fixed or counts[rk.FORCED] else tried[2]
            if tried is not None and error <= control[rk.ACCURACY]:
                status = self._call(loop.finish_at, self.work, control, counts, end, tried[0])
                if status == rk.DONE:
                    break
                failure, error = rk.PROJECTION_FAILURES, 1e300
                self._restore(time, y)
            if failure != rk.PROJECTION_FAILURES:
                counts[failure] += 1
            if fixed or h <= control[rk.MIN_STEP] or time + 0.1 * h == time:
                return {rk.REALIZATION_FAILURES: rk.NOT_FINITE, rk.PROJECTION_FAILURES: rk.NOT_PROJECTED}.get(
                    failure, rk.STEP_TOO_SMALL
                )
            shrink = 0.1
            if error < 1e299:
                shrink = max(0.1, min(0.9, 0.8 * (control[rk.ACCURACY] / error) ** (1.0 / self.error_order)))
            control[rk.STEP] = max(control[rk.MIN_STEP], shrink * h)
        self._before = time, y, S
        control[rk.PREVIOUS_TIME], control[rk.TIME], control[rk.LAST_STEP] = time, end, h
        if counts[rk.STEPS] == 0:
            control[rk.FIRST_STEP] = h
        counts[rk.STEPS] += 1
        control[rk.COLLAPSE] = max(control[rk.COLLAPSE], controller.COLLAPSE_RATIO * h)
        if not fixed and not counts[rk.FORCED]:
            growth = min(5.0, 0.8 * (control[rk.ACCURACY] / error) ** (1.0 / self.error_order)) if error > 0.0 else 5.0
            if (growth > 1.1 or growth < 1.0) and (not (clipped or limited) or growth * h > control[rk.STEP]):
                control[rk.STEP] = max(control[rk.MIN_STEP], growth * h)
        counts[rk.FORCED] = 0
        self.leave_at(end)
        self._unannounced.look(state, (time, y, before), (end, self.work[rk.Y], self.work[rk.RATE]))
        if self.tape is None:
            self.S = self.variations.project(state, tried[1], self.weights)
            self._keep(state, self.S)
        else:
            self.tape.append(Step(time, h, y, self._template, state.copy() if self._has_manifolds(state) else None))
        return rk.DONE

    def _compiled_step(self, compiled: CompiledVariations, report: float) -> int:
        """`_step` of systems that need no Python on the way."""
        control, state = self.control, self._state
        assert state is not None
        before, S = (float(control[rk.TIME]), self.work[rk.Y].copy(), self.S), self.S.copy()
        rates = self.work[rk.RATE].copy()
        stop = min(float(control[rk.FINAL_TIME]), report)
        status = self._call(kernels.step, self.work, self._table, control, self.counts, stop, compiled.arguments(S))
        if status == rk.DONE:
            self._before, self.S = before, S
            self._unannounced.look(state, (*before[:2], rates), (float(control[rk.TIME]), self.work[rk.Y], self.work[rk.RATE]))
            if control[rk.TIME] >= stop:
                self.leave_at(float(control[rk.TIME]))
                self._keep(state, S)
        return status

    def _shortened(self, state: State) -> Step:
        assert self._before is not None
        began, y, _ = self._before
        return Step(began, state.time - began, y, self._template, state.copy() if self._has_manifolds(state) else None)

    def _has_manifolds(self, state: State) -> bool:
        return state.is_constrained or bool(state.tree.quaternions) or state.has_known

    def _restore(self, time: float, y: Array) -> None:
        state = self._state
        assert state is not None
        state.y_values[:], state.record.time[0, 0] = y, time

    def _rates(self, state: State, S: Array) -> Array:
        """Rates of S at the state, which is realized."""
        if not S.shape[1]:
            return S
        J, B = self.variations.rates(state)
        found: Array = J @ S + B
        return found

    def _attempt(self, time: float, h: float, y: Array, S: Array, first: Array) -> tuple[Array, Array, float] | None:
        """Y and S at the end of a step, not projected, and the largest error of both; None where it is not finite."""
        state, table = self._state, self._table
        assert state is not None
        model, stages = Interpreted(self.system, state), table.shape[1] - 1
        rates, of_S = np.zeros((stages, len(y))), np.zeros((stages, *S.shape))
        rates[0], of_S[0] = self.work[rk.RATE], first
        for s in range(1, stages):
            state.y_values[:] = y + h * (table[s, 1 : 1 + s] @ rates[:s])
            state.record.time[0, 0] = time + table[s, 0] * h
            self.counts[rk.EVALUATIONS] += 1
            if model.evaluate() or not np.isfinite(state.record.y_dot).all():
                return None
            rates[s] = state.record.y_dot[:, 0]
            here = S + h * np.tensordot(table[s, 1 : 1 + s], of_S[:s], 1)
            prescribed = self.variations.prescribed(state) if state.has_known and S.shape[1] else None
            if prescribed is not None:
                here = prescribed[0] @ here + prescribed[1] @ self.weights
            of_S[s] = self._rates(state, here)
        y_end, S_end = y + h * (table[stages, 1:] @ rates), S + h * np.tensordot(table[stages, 1:], of_S, 1)
        weights = self.work[len(self.work) - 4]
        error = h * (table[stages + 1, 1:] @ rates)
        self.work[len(self.work) - 3] = error
        largest = largest_error(weights, error, y, y_end)
        n = len(y)
        scaled = weights[:, None] * self.directions.scales[: S.shape[1]]
        of_error = h * np.tensordot(table[stages + 1, 1:], of_S, 1)[:n]
        return y_end, S_end, max(largest, largest_error(scaled, of_error, S[:n], S_end[:n]))

    def _taken_to(self, time: float) -> Array:
        """S at a time within the last step, which is taken once more as far as that."""
        if self._before is None or time >= float(self.control[rk.TIME]):
            return self.S
        assert self._state is not None
        began, y, S = self._before
        if time <= began:
            return S
        state, work = self._state, self.work
        kept = work.copy()
        try:
            state.y_values[:], state.record.time[0, 0] = y, began
            Interpreted(self.system, state).evaluate()
            work[rk.RATE] = state.record.y_dot[:, 0]
            tried = self._attempt(began, time - began, y, S, self._rates(state, S))
        finally:
            work[:] = kept
            self.leave_at(time)
        assert tried is not None
        return self.variations.project(state, tried[1], self.weights)


def variational(like: Integrator, state: State, directions: Directions, keeps_tape: bool = False) -> Carrying:
    """The same method, with variations."""
    variations = Variations(like.system, state, directions)
    if type(like).kernel is not loop.advance or type(like).try_step is not Integrator.try_step:
        return follow(like, variations, keeps_tape)
    return Variational(like, variations, keeps_tape)


__all__ = ["Jump", "Step", "Variational", "kept_attributes", "put_back", "variational"]
