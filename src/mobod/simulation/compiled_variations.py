"""Data of compiled steps with variations: a record of Duals, where it has its fields, and scratch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative import routines as of_duals, sensitivity_routines as routines
from ..derivative.jvp import new_record_at
from ..derivative.seeded_record import SeededRecord
from ..integrator import forward_sensitivities as kernels
from ..state.state import State
from ..system.forward_sensitivities import Variations
from ..tree import realize as _realize


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
    """The arrays of compiled steps with variations.

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
