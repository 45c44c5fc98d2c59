"""Sensitivities of the motions of an ensemble: the parameters they are by, and arrays for them, a row a state and a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..integrator import Integrator
from ..simulation.run import integrator_settings, make_integrator
from ..simulation.sensitivities import ARRAYS, Sensitivities, parts_of
from ..simulation.variational import variational
from ..state.state import State
from ..system.forward_sensitivities import Directions

#: What the names of columns of recordings begin with.
PREFIX = "sensitivities."


class SensitivityRows:
    """Arrays for the sensitivities of some states of a run, NaN where there are none.

    Parameters
    ----------
    integrator : Integrator
        Of the run.
    state : State
        One of those.
    wanted : sequence
        What motions are differentiated by: see `Directions`.

    Raises
    ------
    ValueError, TypeError
        If *wanted* makes no sense, or the integrator has no sensitivities.
    ModelError
        If the system's motion depends on what sensitivities do not follow.
    """

    def __init__(self, integrator: Integrator, state: State, wanted: Sequence[Any]) -> None:
        directions = Directions(state.system, state, wanted)
        carried = variational(make_integrator(state.system, integrator_settings(integrator)), state, directions)
        self.variations = of = carried.variations
        self.wanted, self.names, self._n = wanted, directions.names, len(directions)
        #: As kernels write them, displacements and then y.
        self.rows = np.zeros((0, 0, sum(of.sizes), self._n))
        self.numbers_a_row = sum(of.sizes) * self._n
        self.arrays: dict[str, Array] = {}

    def begin(self, n: int, nt: int) -> None:
        """Allocate arrays for *n* states and *nt* reports."""
        self.rows = np.full((n, nt, *self.rows.shape[2:]), np.nan)
        self.arrays = parts_of(self.rows, self.variations.sizes)

    def put(self, i: int, found: Sensitivities, rows: int) -> None:
        """Those of the *i*-th of these states, at its first reports."""
        for name, array in found.arrays().items():
            self.arrays[name][i, :rows] = array[:rows]

    def columns(self) -> dict[str, Array]:
        """The arrays as columns of a recording."""
        return {PREFIX + name: array for name, array in self.arrays.items()}


def read_sensitivities(names: Sequence[str] | None, columns: dict[str, Any]) -> Sensitivities | None:
    """Sensitivities of a recording; None where *names* are."""
    if names is None:
        return None
    return Sensitivities(list(names), **{name: columns[PREFIX + name] for name in ARRAYS})
