"""What threads need to take states through their runs with variations, one by one, in a compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.seeded_record import side_by_side
from ..integrator import Integrator
from ..measure import Integrate
from ..simulation.compiled_variations import CompiledVariations
from ..simulation.compiled_variations import are_compiled as steps_are_compiled
from ..stepping import loop
from ..stepping import record as rk
from . import batch_variations as runs
from .lane_runs import acting_measures, own_of_each
from .state_runs import StateRuns, nothing_happens
from .state_runs import Worker as StateWorker

if TYPE_CHECKING:
    from ..compiling import Kernel
    from ..state.state import State
    from .sensitivity_rows import SensitivityRows


def are_compiled(state: State, integrator: Integrator, tangents: SensitivityRows) -> bool:
    """True if runs of states like *state* take place in compiled code from their beginnings to their ends."""
    of_tables = type(integrator).kernel is loop.advance and type(integrator).try_step is Integrator.try_step
    begins = any(one.begins_with_a_measure(state) for one in acting_measures(state.system, Integrate))  # which moves z
    return of_tables and not begins and nothing_happens(state, integrator) and steps_are_compiled(tangents.variations, state)


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
        self,
        state_of: Callable[[int], State],
        n: int,
        own: dict[str, Array],
        integrator: Integrator,
        tangents: SensitivityRows,
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

    @property
    def more(self) -> tuple[Any, ...]:
        """Results beside the variables."""
        return (self._tangents.rows,)

    def make_worker(self) -> StateWorker:
        """The arrays of one thread."""
        variations = self._tangents.variations
        return Worker(self._state.copy(), self._own, self.of_each.shape[1], self._integrator, variations, self._of_each)


class Worker(StateWorker):
    """The arrays with which one thread takes states through their runs."""

    def kernel_of(self, integrator: Integrator) -> Kernel:
        """As of other runs."""
        return runs.run

    def __init__(
        self, state: State, own: dict[str, Array], numbers: int, integrator: Integrator, variations: Any, of_each: Any
    ) -> None:
        super().__init__(state, own, numbers, integrator)
        stages, directions = integrator.table.shape[1] - 1, variations.directions
        self._compiled = compiled = CompiledVariations(variations, state, stages, True, (of_each[0][0], of_each[1][0]))
        places = [compiled.places_of(name) for name in own] if directions.settings else []
        own_places = np.concatenate([np.zeros(0, np.int64), *places])
        prepared = own_places, *of_each, np.ascontiguousarray(directions.of_start)
        block, work, table, control, counts, first_control, choices, *rest, _ = self._first
        choices[rk.NO_INTERPOLATION] = 1
        carried = compiled.carried(table)
        self._first = block, work, carried, control, counts, first_control, choices, *rest, prepared


__all__ = ["VariationRuns", "are_compiled"]
