"""Derivatives of measures, and of the rates of z that measures integrate, by `jvp`.

Measures that can be compiled are lists of operations (`measure.program`); those that are asked for come after those that take
part in steps, on a copy of the tree whose records have room for their results.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..algebra.arrays import Array
from ..measure.base import Measure, NotCompiled
from ..state.state import State
from ..tree import realize as _realize
from ..tree.tree import Tree
from .jvp import Seed, jvp
from .routines import calc_measures


class OfMeasures(NamedTuple):
    """Derivatives, a column a direction: of the rates of all z, and of the value of each measure ``(size, n)``."""

    z_dot: Array
    values: list[Array]


class Differentiated:
    """The measures of a system without parts in Python, ready to be differentiated at its states.

    Parameters
    ----------
    system : MultibodySystem
    of : Tree
        Of the states.
    measures : sequence of Measure

    Raises
    ------
    NotCompiled
        If one of them is only known to Python.
    """

    def __init__(self, system: Any, of: Tree, measures: Sequence[Measure]) -> None:
        tree = copy.copy(of)
        tree.fields, tree.counts = dict(tree.fields), dict(tree.counts)
        program = system.program_of(tree)
        first = program.begin_values()
        if program.in_python or any(not one.is_in_subsystem() for one in measures):
            raise NotCompiled
        self._places = [slice(place, place + one.default.size) for one in measures for place in [program.value_of(one)]]
        program.give_to(tree)
        tree.measures_with_tangents = frozenset(program.wanted)
        self._tree, self._operations = tree, (first, program.num_operations)

    def along(
        self, state: State, seeds: Mapping[str, Array], u_dot: Array, of_model: Sequence[Sequence[Seed]] = ()
    ) -> OfMeasures:
        """Derivatives along directions, at a state at ACCELERATION.

        Parameters
        ----------
        state : State
        seeds : mapping of str to (rows, n) array
            Changes of fields of the record, such as ``"q"``.
        u_dot : (nu, n) array
            How u_dot changes with them.
        of_model : sequence of sequences of Seed, optional
            Changes of the model's numbers, along the last directions.
        """
        nz, (first, end) = len(state.z_view), self._operations
        found = jvp(
            state,
            {**seeds, "u_dot": u_dot},
            lambda record, kind: calc_measures(record, _realize.advance.address(**kind), first, end),
            {"z_dot": nz, "measure_values": max((one.stop for one in self._places), default=0)},
            of_model=of_model,
            at={"u_dot": state.u_dot_view[: len(u_dot)]},
            tree=self._tree,
        )
        return OfMeasures(found["z_dot"], [found["measure_values"][place] for place in self._places])
