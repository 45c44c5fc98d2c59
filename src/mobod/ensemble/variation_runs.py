"""Runs with variations of states one by one on threads, in a compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.seeded_record import side_by_side
from ..integrator import Integrator, forward_sensitivities as kernels
from ..simulation.variational import CompiledVariations, are_compiled as steps_are_compiled
from ..state.state import State
from ..stepping import loop, record as rk
from .lane_runs import own_of_each
from .sensitivity_rows import SensitivityRows
from .state_runs import StateRuns, StateWorker, nothing_happens


def are_compiled(state: State, integrator: Integrator, tangents: SensitivityRows) -> bool:
    """True if runs of states like *state* take place in compiled code from their beginnings to their ends."""
    of_tables = type(integrator).kernel is loop.advance and type(integrator).try_step is Integrator.try_step
    if not of_tables or tangents.variations.directions.begun:
        return False
    of = tangents.variations
    return nothing_happens(state, integrator) and steps_are_compiled(of, state) and of.has_laws_with_tangents(state)


class VariationRuns(StateRuns):
    """Runs with variations of one integrator: compiled, and ready for each thread.

    Parameters
    ----------
    state_of : callable
        Makes the state of a number.
    n : int
        How many there are.
    own : dict
        The states' own parameters, by field.
    integrator : Integrator
    tangents : SensitivityRows
        Where results go.
    """

    def __init__(
        self, state_of: Callable[[int], State], n: int, own: dict[str, Array], integrator: Integrator, tangents: SensitivityRows
    ) -> None:
        state = state_of(0)
        super().__init__(state, own, own_of_each(own), integrator)
        self.adaptive, self.calls_python = integrator.fixed_step_size is None, False
        self._tangents, of = tangents, tangents.variations
        # numbers that differ among states may change with directions otherwise, and have other sizes
        differ = bool(own) and bool(of.directions.settings)
        states = [state_of(i) for i in range(n)] if differ else [state]
        where = CompiledVariations(of, state, 1)
        self._of_each = (
            *side_by_side([where.seeds_of(one) for one in states]),
            np.array([of.directions.scales_at(one) for one in states]),
        )

    def make_worker(self) -> StateWorker:
        """The arrays of one thread."""
        tangents = self._tangents
        return VariationWorker(self._state.copy(), self._own, self.of_each.shape[1], self._integrator, tangents, self._of_each)


class VariationWorker(StateWorker):
    """The arrays with which one thread takes states through their runs."""

    _kernel = kernels.advance

    def __init__(
        self, state: State, own: dict[str, Array], numbers: int, integrator: Integrator, tangents: SensitivityRows, of_each: Any
    ) -> None:
        super().__init__(state, own, numbers, integrator)
        self.choices[rk.NO_INTERPOLATION] = 1
        variations, stages = tangents.variations, integrator.table.shape[1] - 1
        self._compiled = compiled = CompiledVariations(variations, state, stages, True, (of_each[0][0], of_each[1][0]))
        places = [compiled.places_of(name) for name in own] if variations.directions.settings else []
        self._places: Any = np.concatenate([np.zeros(0, np.int64), *places])
        self._of_each, self._of_start = of_each, np.ascontiguousarray(variations.directions.of_start)
        self._carried, self._tangents = compiled.carried(self._integrator.arguments()[1]), tangents

    def _table(self, row: int) -> Any:
        return self._carried._replace(found=self._tangents.rows[row])

    def _begin(self, s: int) -> int:
        """Give the Duals the parameters of state *s*, and S its beginning."""
        numbers, seeds, seed_rates = self._carried.duals[3:]
        seeds_of_each, rates_of_each, scales_of_each = self._of_each
        row = s if len(scales_of_each) > 1 else 0
        numbers[self._places] = self._own[: len(self._places)]
        seeds[:], seed_rates[:], self._carried.scales[:] = seeds_of_each[row], rates_of_each[row], scales_of_each[row]
        work, _, control, counts = self._integrator.arguments()
        return int(kernels.begin_at(self._block, work, self._of_start, self._carried, control, counts))
