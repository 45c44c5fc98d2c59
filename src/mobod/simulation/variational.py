"""Runge-Kutta steps that carry variations of the motion, or keep what the adjoint needs to go back over them.

Each step is differentiated as it is taken:

    y_s = y_0 + h sum a_sj k_j                      S_s = S_0 + h sum a_sj K_j,  K_s = J(y_s) S_s + B(y_s)

so that variations have the method's order, and its estimate of their error: steps are chosen by the errors of y and of S.
`_following` has those of other methods, `_carrying` what both share. Source: Hairer, Norsett and Wanner 1993, I.14.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import Callback
from ..integrator import Integrator, forward_sensitivities as kernels
from ..state.state import State
from ..stepping import loop, record as rk
from ..system.forward_sensitivities import Directions, Variations
from ..tree.sampling import next_sample_of
from ._carrying import Carrying, Jump, TapedStep, kept_attributes, put_back
from ._following import follow
from ._unannounced_jumps import UnannouncedJumps
from .checkpoint import integrator_keywords
from .compiled_variations import CompiledVariations, are_compiled


class ByMatrices:
    """The rates of S by J and B, for what Duals cannot do: kernels call it back.

    Parameters
    ----------
    run : Variational
    table : array
        The method's.
    """

    def __init__(self, run: Variational, table: Array) -> None:
        shape, of = run.S.shape, run.variations
        self._run, self._of, self._weights, scales = run, of, run.weights, run.directions.scales[: shape[1]].astype(np.float64)
        # what kernels call outlives no run; an error of whatever kind ends the run
        me = weakref.proxy(self)
        self._callback = Callback(lambda *asked: me.compute(*asked), lambda *asked: me.fail(*asked), refuses=())
        at = np.zeros(kernels.LAW + 1, np.int64)
        at[kernels.BY_PYTHON] = self._callback.address()
        none = np.zeros(0)
        none_held = np.zeros(0, np.int64)
        duals = none_held, at, none, none, np.zeros((0, 2), np.int64), none
        parts = np.zeros(shape), np.zeros((table.shape[1] - 1, *shape)), np.zeros(shape), np.zeros((0, 0, 0))
        self.carried = kernels.Carried(table, duals, scales, *parts, np.zeros((0, 2), np.int64), none_held, none_held)

    def compute(self, scalar: str, pointer: int, what: int, s: int) -> None:
        """Rates of S at a stage, or S as constraints project it."""
        state, carried = self._run.get_state(), self.carried
        if what == kernels.PROJECTED:
            carried.here[:] = self._of.project(state, carried.here, self._weights)
            return
        S = carried.here if s else carried.S
        prescribed = self._of.prescribed(state) if state.has_known else None
        if prescribed is not None:
            S[:] = prescribed[0] @ S + prescribed[1] @ self._weights
        J, B = self._of.rates(state)
        carried.K[s] = J @ S + B

    def fail(self, scalar: str, pointer: int, what: int, s: int) -> None:
        """Leave rates that are not numbers."""
        self.carried.K[:] = np.nan


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
        self.table, self.order, self.error_order = like.table, like.order, like.error_order  # type: ignore[misc]
        #: Whether Python, which has J and B, takes the place of Duals in kernels.
        self._by_matrices = False
        self._carried: Any = None
        self._unannounced = UnannouncedJumps(variations)
        self.carry(like, variations, keeps_tape)

    @property
    def _runs_compiled(self) -> bool:
        return super()._runs_compiled and not self._by_matrices

    def try_step(self, times: Array, results: Array, energies: Array) -> int:
        """Steps until a report, each differentiated."""
        return self.step_and_report(self._step, times, results, energies)

    def _begin(self) -> None:
        state = self._state
        of, stages, is_compiled = self.variations, self.table.shape[1] - 1, self.held is None
        is_compiled = is_compiled and are_compiled(of, state)
        self._by_matrices = self.tape is None and not is_compiled
        super()._begin()
        self._unannounced.begin()
        if self._by_matrices:
            self._compiled: Any = ByMatrices(self, self._table)
            self._carried = self._compiled.carried
        elif self.tape is None:
            self._compiled = CompiledVariations(of, state, stages)
            self._carried = self._compiled.carried(self._table)

    def _step(self, report: float) -> int:
        control, work, state, carried = self.control, self.work, self._state, self._carried
        stop, sampled = min(float(control[rk.FINAL_TIME]), report), self.tape is None and len(carried.laws) > 0
        if not sampled:
            stop = min(stop, self.sample())
        began, y, S = float(control[rk.TIME]), work[rk.Y].copy(), self.S
        if self.tape is not None:
            status = self.step_once(loop.advance, self.arguments(), stop)
        else:
            carried.S[:] = S
            status = self.step_once(kernels.advance, (work, carried, control, self.counts), stop)
            # a law whose slope is not finite there
            if status == rk.STEP_TOO_SMALL and sampled and next_sample_of(state.block) <= began:
                stop = min(stop, self.sample())
                carried.S[:] = S = self.S
                status = self.step_once(kernels.advance, (work, carried, control, self.counts), stop)
            if sampled:  # as it was after samples, which do not change within the step
                held = len(S) - len(carried.held)
                S = np.vstack([S[:held], carried.S[held:]])
        if status != rk.DONE:
            return status
        self._before, end = (began, y, S), float(control[rk.TIME])
        self._unannounced.look(state, (began, y, work[rk.RATE_PREVIOUS]), (end, work[rk.Y], work[rk.RATE]))
        if self.tape is None:
            self.S = carried.S.copy()
            if end >= min(report, float(control[rk.FINAL_TIME])):
                self.leave_at(end)
                self._keep(state, self.S)
        else:
            self.leave_at(end)
            after = state.copy() if self._has_manifolds(state) else None
            self.tape.append(TapedStep(began, float(control[rk.LAST_STEP]), y, self._template, after))
        return rk.DONE

    def _shortened(self, state: State) -> TapedStep:
        assert self._before is not None
        began, y, _ = self._before
        return TapedStep(began, state.time - began, y, self._template, state.copy() if self._has_manifolds(state) else None)

    def _has_manifolds(self, state: State) -> bool:
        return state.is_constrained or bool(state.tree.quaternions) or state.has_known

    def _taken_to(self, time: float) -> Array:
        """S at a time within the last step, which is taken once more as far as that."""
        if self._before is None or time >= float(self.control[rk.TIME]):
            return self.S
        began, y, S = self._before
        if time <= began:
            return S
        work, carried = self.work.copy(), self._carried
        work[rk.Y], work[rk.RATE] = y, work[rk.RATE_PREVIOUS]
        carried.S[:] = S
        self._call(kernels.take_again, work, carried, self.control.copy(), self.counts.copy(), began, time - began)
        self.leave_at(time)
        return self.variations.project(self._state, carried.here.copy(), self.weights)


def variational(like: Integrator, state: State, directions: Directions, keeps_tape: bool = False) -> Carrying:
    """The same method, with variations."""
    variations = Variations(like.system, state, directions)
    if type(like).kernel is not loop.advance or type(like).try_step is not Integrator.try_step:
        return follow(like, variations, keeps_tape)
    return Variational(like, variations, keeps_tape)


__all__ = ["Jump", "TapedStep", "Variational", "kept_attributes", "put_back", "variational"]
