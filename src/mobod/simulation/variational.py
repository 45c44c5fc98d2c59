"""Runge-Kutta steps that carry variations of the motion, or keep what the adjoint needs to go back over them.

Each step is differentiated as it is taken:

    y_s = y_0 + h sum a_sj k_j                      S_s = S_0 + h sum a_sj K_j,  K_s = J(y_s) S_s + B(y_s)

so that variations have the method's order, and its estimate of their error: steps are chosen by the errors of y and of S.
`_following` has those of other methods, `_carrying` what both share. Source: Hairer, Norsett and Wanner 1993, I.14.

Sensitivities do not know of jumps of forces that no event announces: a warning tells where a step shows one. Where the
rates jump from f- to f+ as the motion passes g(t, y) = 0, changes jump by (f+ - f-) (dg S) / (dg/dt along the motion), see
`_carrying`; without an event nobody knows g. Error control makes steps short there. In a short step of a smooth motion rates
change by little, or as J says that they do.
"""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import Callback
from ..derivative import routines as of_duals, sensitivity_routines as routines
from ..derivative.jvp import new_record_at
from ..derivative.seeded_record import SeededRecord
from ..integrator import Integrator, forward_sensitivities as kernels
from ..state.state import State
from ..stepping import loop, record as rk
from ..system.forward_sensitivities import Directions, Variations
from ..tree import realize as _realize
from ..tree.sampling import next_sample_of
from ._carrying import Carrying, Jump, TapedStep, kept_attributes, put_back
from ._following import follow
from .checkpoint import integrator_keywords

#: The part of the longest step so far that is a short one.
_SHORT = 0.1
#: The part of a rate's largest size so far that it may change by in a short step of a smooth motion.
_PART = 0.2
#: How many times as much as J at either end says counts as a jump.
_UNEXPLAINED = 3.0


class UnannouncedJumps:
    """Looks at each step of a run, and warns once.

    Parameters
    ----------
    variations : Variations
        Of the run.
    """

    def __init__(self, variations: Variations) -> None:
        self._of, self._told = variations, False
        self.begin()

    def begin(self) -> None:
        """Forget the steps before: an event has changed the state, or what acts."""
        self._longest, self._largest = 0.0, np.zeros(self._of.num_integrated)

    def look(self, state: State, begin: tuple[float, Array, Array], end: tuple[float, Array, Array]) -> None:
        """After a step of the run that the state is of, with the time, y and the rates of y where it began and ended."""
        (began, y, before), (ended, y_end, after) = begin, end
        h = ended - began
        self._longest = max(self._longest, h)
        np.maximum(self._largest, np.abs(after), out=self._largest)
        if h > _SHORT * self._longest or self._told:
            return
        of, change = self._of, np.abs(after - before)
        changed = change > _PART * self._largest
        changed[: of.nq] = False  # rates of q are speeds, which jump at events alone
        changed[of.nq + of.nu + of.nz :] = False
        if not changed.any():
            return
        explained = np.zeros_like(change)
        for time, values in ((began, y), (ended, y_end)):
            other = state.copy()
            other.time, other.y = time, values
            of.system.realize(other)
            J = of.rates(other)[0][: of.num_integrated, : of.num_integrated]
            explained += np.abs(J @ (y_end - y))
        jumps = np.flatnonzero(changed & (change > _UNEXPLAINED * explained))
        if len(jumps):
            self._told = True
            self._tell(state, began, int(jumps[np.argmax(change[jumps])]), before, after)

    def _tell(self, state: State, time: float, i: int, before: Array, after: Array) -> None:
        from .names import auxiliary_names, speed_names

        of, system = self._of, self._of.system
        names = [f"{name}.u" for name in speed_names(system, state)[: of.nu]] + auxiliary_names(system, state)
        warnings.warn(
            f"at time {time:.6g} the rate of {names[i - of.nq]} jumps from {before[i]:.4g} to {after[i]:.4g} without an event, "
            "and the derivatives leave out that the time of the jump depends on the motion; let an event set the force there: "
            "see 'Forces that jump' in docs/how-to/derivatives.md",
            UserWarning,
            stacklevel=2,
        )


def are_compiled(variations: Variations, state: State) -> bool:
    """True if Duals find the rates of variations of steps from *state* on; else Python does, by J and B."""
    tree = state.tree
    runs = tree.fields["measure_runs"]
    return not (
        variations.system.calls_python
        or state.has_known
        or (tree.has_measures and runs[0] != runs[1])  # rates of measures that need accelerations
        or variations.num_particle_numbers
        or (variations.nz != tree.nz and not tree.has_measures)
        or variations.nv != variations.nu
    )


class CompiledVariations:
    """The arrays of compiled steps with variations: a record of Duals, places of its fields, and scratch.

    Parameters
    ----------
    variations : Variations
        Of a system whose steps `are_compiled`.
    state : State
        Whose parameters count.
    stages : int
        Of the method.
    turns : bool
        Whether kernels turn displacements into changes of q and back, as runs do that are compiled as a whole.
    seeds : tuple of arrays, optional
        In place of those of the state: see `seeds_of`.
    """

    def __init__(
        self, variations: Variations, state: State, stages: int, turns: bool = False, seeds: tuple[Any, Array] | None = None
    ) -> None:
        tree, directions = state.tree, variations.directions
        seeded = {"own_parameters": True} if directions.settings else {}
        #: Kept, as kernels know its memory by addresses.
        self._seeded = SeededRecord(state) if seeded else None
        self.record = record = self._seeded.record if self._seeded else new_record_at(state)
        numbers = self._seeded.numbers if self._seeded else np.zeros(0)
        scalar = {"with_tangents": True, **seeded}
        at = [_realize.advance.address(**scalar), of_duals.calc_residual.address(**scalar)]
        if tree.counts["nc"]:
            at += [of_duals.calc_errors.address(**scalar), routines.solve.address()]
            at += [
                routine.address() for routine in (routines.constrain, routines.find_contradiction, routines.find_least_change)
            ]
        else:
            at += [0, routines.solve.address(), 0, 0, 0]
        at += [routines.turn.address() if turns else 0]
        laws = variations.laws_with_tangents(state, seeded)
        at += [routines.gather.address(**scalar) if len(laws) else 0, 0]
        base = record.buffer.ctypes.data
        at += [(getattr(record, name).array.ctypes.data - base) // 8 for name in kernels.FIELDS]
        self._directions = directions
        seeds = self.seeds_of(state) if seeds is None else (seeds[0].copy(), seeds[1].copy())
        duals = record.block.reshape(-1), np.array(at, np.int64), record.buffer, numbers, *seeds
        shape, self._efforts = (variations.ny, len(directions)), variations.efforts(state)
        self._held = variations.held, laws
        self._parts = duals, directions.scales.astype(np.float64), np.zeros(shape), np.zeros((stages, *shape)), np.zeros(shape)

    def carried(self, table: Array) -> kernels.Carried:
        """The arguments of kernels in place of a method's table; they change S, which is zero."""
        return kernels.Carried(table, *self._parts, np.zeros((0, 0, 0)), self._efforts, *self._held)

    def places_of(self, field: str) -> Any:
        """Places of a field's values in the record's parameters ``(rows * columns,)``."""
        assert self._seeded is not None
        return self._seeded.places_of(field)

    def seeds_of(self, state: State) -> tuple[Any, Array]:
        """Numbers of the model that change with the directions in a state, by place and column, and their rates."""
        of = self._directions
        if self._seeded is None:
            return np.zeros((0, 2), np.int64), np.zeros(0)
        return self._seeded.seeds_of(state, of.settings, np.flatnonzero(of.of_settings))


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
