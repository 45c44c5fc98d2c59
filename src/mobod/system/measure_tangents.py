"""Derivatives of measures, and of the rates of z that measures integrate, by dual numbers.

Measures that can be compiled are lists of operations (`measure._program`); those that are asked for come after those that take
part in steps, on a copy of the tree whose records have room for their results.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..algebra.record import TANGENTS
from ..measure.base import Measure, NotCompiled
from ..tree import measure_tangents as kernels
from ..tree import realize as _realize
from . import tangents
from .parameter_tangents import Seed, sown

if TYPE_CHECKING:
    from ..state.state import State
    from ..tree.tree import Tree


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
        self._system = system
        tree = copy.copy(of)
        tree.fields, tree.counts = dict(tree.fields), dict(tree.counts)
        program = system.program_of(tree)
        first = program.begin_values()
        if any(not one.is_in_subsystem() for one in measures):
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
        of_model : sequence of n sequences of Seed, optional
            Changes of the model's numbers.
        """
        tree, n = self._tree, u_dot.shape[1]
        nz = len(state.z_view)
        found = OfMeasures(np.zeros((nz, n)), [np.zeros((one.stop - one.start, n)) for one in self._places])
        kind = {"own_parameters": True} if of_model else {}
        address = _realize.advance.address(with_tangents=True, **kind)
        every = {**seeds, "u_dot": u_dot}
        with tangents.record_at(state, tree, more=(0, 0, nz - tree.nz), **kind) as record:
            record.u_dot[: len(u_dot), 0] = state.u_dot_view[: len(u_dot)]
            for first in range(0, n, TANGENTS):
                columns = slice(first, min(first + TANGENTS, n))
                count = columns.stop - first
                for name, columns_of in every.items():
                    field = getattr(record, name).tangents
                    field[:] = 0.0
                    field[: len(columns_of), 0, :count] = columns_of[:, columns]
                with sown(record, of_model[columns]):
                    status = kernels.calc_measures(record, address, *self._operations)
                if status:
                    self._system.explain(state, status)
                found.z_dot[:, columns] = record.z_dot.tangents[:nz, 0, :count]
                for value, place in zip(found.values, self._places, strict=True):
                    value[:, columns] = record.measure_values.tangents[place, 0, :count]
        return found


__all__ = ["Differentiated", "OfMeasures"]
