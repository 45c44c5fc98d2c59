"""Derivatives of measures, and of what measures integrate, by the states and inputs of a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.measures import Differentiated
from ..derivative.settings import seeds_of
from ..measure.base import Measure, NotCompiled
from ..state.state import State
from .inputs import Inputs
from .manifold import displacements_and_turns


class ExactMeasures:
    """Each derivative of the rates of z ``(nz, ...)``, and of the measures.

    Parameters
    ----------
    system : MultibodySystem
        Without parts in Python.
    state : State
        At ACCELERATION.
    inputs : Inputs
    measures : sequence of Measure
        Those that are known to Python alone are left out.
    by_state, by_inputs : (nu, n), (nu, m) arrays
        Derivatives of u_dot.

    Attributes
    ----------
    z_by_state, z_by_inputs : (nz, n), (nz, m) arrays
    """

    def __init__(
        self, system: Any, state: State, inputs: Inputs, measures: Sequence[Measure], by_state: Array, by_inputs: Array
    ) -> None:
        known = [one for one in dict.fromkeys(measures) if _is_compiled(system, state, one)]
        of = Differentiated(system, state.tree, known)
        nu, nz, n, m = state.tree.nu, len(state.z_view), by_state.shape[1], by_inputs.shape[1]
        every, of_model = np.eye(n, n + m), list[Any]([()] * m if inputs.of_settings else ())
        for k, seeds in zip(inputs.of_settings, seeds_of(inputs.settings, state), strict=True):
            of_model[k] = seeds
        of_q = displacements_and_turns(state) @ every[np.r_[:nu, 2 * nu + nz : n]]
        changes = {"q": of_q, "u": every[nu : 2 * nu], "z": every[2 * nu : 2 * nu + nz]}
        by = of.along(state, changes, np.hstack([by_state, by_inputs]), of_model)
        self.z_by_state, self.z_by_inputs = by.z_dot[:, :n], by.z_dot[:, n:]
        self._found = {id(one): (value[:, :n], value[:, n:]) for one, value in zip(known, by.values, strict=True)}

    def of(self, measure: Any) -> tuple[Array, Array] | None:
        """Derivatives of a measure by states and by inputs; None where it is known to Python alone."""
        return self._found.get(id(measure))


def _is_compiled(system: Any, state: State, measure: Measure) -> bool:
    """True if kernels can compute a measure."""
    try:
        Differentiated(system, state.tree, [measure])
    except NotCompiled:
        return False
    return True
