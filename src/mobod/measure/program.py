"""Program: what measures compute and remember in each step as a list of operations, for `mobod.tree.measures`.

All or nothing: where one of the measures that take part cannot be written so, Python computes them all, as it does where
another part of the system is in Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.scalar import store
from ..compiling import Callback, Routine, generic
from ..tree import measures as run
from ..tree.tree import Tree
from ..value.overriding import holds_for
from ..value.stage import Stage
from ._in_python import callback_of
from .base import Measure, NotCompiled
from .constant import operation as constant
from .routines import by_address, result

if TYPE_CHECKING:
    from .custom import Custom


@generic
def _store_rates(model: Any, i: int, out: int) -> None:
    """The rates of all z. Integers: of how many measures; for each how many, the first z, where the rate is."""
    for at in range(i + 1, i + 1 + 3 * model.measure_code[i], 3):
        n, z, source = model.measure_code[at], model.measure_code[at + 1], model.measure_code[at + 2]
        for k in range(n):
            store(model.z_dot, z + k, 0, result(model, source + k))


_rates = by_address(_store_rates)


class Program:
    """The operations of the measures that take part in the steps of a system, for one of its trees.

    Parameters
    ----------
    acting : iterable of Measure
        Those that integrate or remember, in the order in which z are allocated.
    tree : Tree
    z_places : dict of int to int
        For each subsystem, the place in z of the first that its measures have.

    Attributes
    ----------
    limit : Stage
        The stage at which the operations being added are called: DYNAMICS, then ACCELERATION.

    Raises
    ------
    NotCompiled
        If one of them cannot be written as operations.
    """

    def __init__(self, acting: Iterable[Measure], tree: Tree, z_places: dict[int, int]) -> None:
        self.tree = tree
        self._rows: list[list[int]] = []
        self._integers: list[int] = []
        self._numbers: list[float] = []
        self._num_values = 0
        #: Whether Python may compute measures, and those that it does.
        self.takes_python = True
        self.in_python: list[Measure] = []
        self._routines: list[Routine | Callback] = []
        #: The places of those that are called since `begin_values`, or for rates.
        self.wanted: set[int] = set()
        #: Where results of measures, and of their derivatives, are; anew in each run.
        self._found: dict[tuple[int, int], int] = {}
        self._under_way: set[tuple[int, int]] = set()
        acting, at = list(acting), dict(z_places)
        #: The place of each measure's memory in `measure_memory`.
        self.memory: dict[int, int] = {}
        #: In `measure_numbers`, the place of the numbers of a measure that a state may change.
        self.parameters: dict[int, int] = {}
        self._memory_size = 0
        #: Rings of samples: where each one's counts and rows are, how many rows, and of how many numbers.
        self._rings: list[int] = []
        self._history_size = 0
        self._ring_at: dict[int, int] = {}
        self._z: dict[int, int] = {}
        self._rates: list[int] = []
        for one in acting:
            subsystem = one.get_subsystem().subsystem_index
            if one.num_z():
                self._z[id(one)] = at[subsystem]
                at[subsystem] += one.num_z()
            if one.memory_size():
                self.memory[id(one)] = self._memory_size
                self._memory_size += one.memory_size()
                capacity, width = one.ring_shape()
                if capacity:
                    self._ring_at[id(one)] = self._history_size
                    self._rings += [self.memory[id(one)], self._history_size, capacity, width]
                    self._history_size += capacity * width
        ends = []
        for self.limit in (Stage.DYNAMICS, Stage.ACCELERATION):
            self._found = {}
            for one in acting:
                if one.num_z():
                    self._check(one, "write_step")
                    one.write_step(self)
            if self._rates:
                self.call(_rates, len(self._rates) // 3, *self._rates)
                self._rates = []
            ends.append(len(self._rows))
        self._num_rate_routines = len(self._routines)
        self._found = {}
        for one in acting:
            if one.memory_size():
                self._check(one, "write_memory")
                one.write_memory(self)
        self._runs = [*ends, len(self._rows)]

    @staticmethod
    def _check(one: Measure, method: str) -> None:
        if one.subsystem is None or not holds_for(type(one), method):  # of no subsystem: changes of it would go unnoticed
            raise NotCompiled(one)

    def give_to(self, tree: Tree) -> None:
        """Hand the operations to the tree, for its kernels."""
        first = run.WIDTH * len(self._rows)
        code = [x for which, at, out in self._rows for x in (which, first + at, out)] + self._integers
        sizes = self._num_values, self._memory_size, self._rings, self._history_size
        tree.calls_with_states = tree.calls_with_states or bool(self.in_python)
        tree.take_measures(code, self._numbers, self._runs, *sizes, self._routines, self._num_rate_routines)

    def begin_values(self) -> int:
        """From here on `value_of` adds operations after all that steps need; the number of the first."""
        self._found, self.wanted, self.takes_python = {}, set(range(self._num_rate_routines)), False
        return len(self._rows)

    @property
    def num_operations(self) -> int:
        """The number of operations."""
        return len(self._rows)

    # ------------------------------------------------------------------------------------------ for kinds

    def value_of(self, one: Measure, order: int = 0) -> int:
        """The place of a measure's value, or a derivative; adds the operations that compute it."""
        key = id(one), order
        if key in self._under_way:  # a circle that is closed by what a run has not begun to remember
            raise NotCompiled
        if key not in self._found:
            self._check(one, "write_value")
            self._under_way.add(key)
            try:
                self._found[key] = one.write_value(self, order)
            finally:
                self._under_way.discard(key)
        return self._found[key]

    def integrate(self, one: Measure, rate: int) -> None:
        """Integrate, as z of a measure, the rates that begin at the place *rate*."""
        self._rates += [one.num_z(), self.z_of(one), rate]

    def z_of(self, one: Measure) -> int:
        """The place of the first z of a measure that integrates."""
        if id(one) not in self._z:
            raise NotCompiled
        return self._z[id(one)]

    def memory_of(self, one: Measure) -> int:
        """The place of a measure's memory in `measure_memory`."""
        if id(one) not in self.memory:
            raise NotCompiled
        return self.memory[id(one)]

    def ring_of(self, one: Measure) -> int:
        """The place of a measure's ring of samples in `measure_history`."""
        return self._ring_at[id(one)]

    def keep(self, *numbers: Any) -> int:
        """Store numbers for operations; the place of the first."""
        first = len(self._numbers)
        self._numbers += np.concatenate([np.ravel(np.asarray(one, np.float64)) for one in numbers]).tolist()
        return first

    def parameters_of(self, one: Measure) -> int:
        """The place of a measure's numbers that a state may change."""
        if id(one) not in self.parameters:
            if not self.takes_python:  # beyond those of steps, which are all that a state can have of its own
                raise NotCompiled(one)
            self.parameters[id(one)] = self.keep(one.default)
        return self.parameters[id(one)]

    def call(self, routine: Routine | Callback, *integers: int, results: int = 0) -> int:
        """Add an operation with n results; the place of the first."""
        if routine not in self._routines:
            self._routines.append(routine)
        out = self._num_values
        which = self._routines.index(routine)
        self.wanted.add(which)
        self._rows.append([which, len(self._integers), out])
        self._integers += integers
        self._num_values += results
        return out

    def call_python(self, one: Custom, order: int) -> int:
        """Add the call of a measure that Python computes; the place of the result."""
        if not self.takes_python or one.takes_part() or one.depends_on(order) > Stage.ACCELERATION:
            raise NotCompiled(one)
        if one not in self.in_python:
            self.in_python.append(one)
        return self.call(callback_of(one, order, self.limit), results=one.default.size)

    def constant(self, value: Any, n: int) -> int:
        """The place of n constant numbers."""
        return self.kept(self.keep(np.broadcast_to(np.ravel(value), (n,))), n)

    def kept(self, first: int, n: int) -> int:
        """The place of n numbers that are stored from the place *first* on."""
        return self.call(constant, n, first, results=n)
