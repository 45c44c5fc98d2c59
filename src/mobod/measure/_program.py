"""Program: what measures compute and remember in each step as a list of operations, for `mobod.tree.measures`.

All or nothing: where one of the measures that take part needs what is not of the kinds below, Python computes them all, as it
does where another part of the system is in Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..stage import Stage
from ..tree import measures as op
from ._compiled_custom import OfCompiledFunctions
from .base import Measure
from .constant import Constant, One, Zero
from .coordinate import Coordinate
from .custom import Custom
from .differentiate import Differentiate
from .energy import Energy
from .extreme import Extreme, MaxAbs, Maximum, MinAbs, Minimum
from .integrate import Integrate
from .memory import Memory
from .minus import Minus
from .plus import Plus
from .sample_and_hold import SampleAndHold
from .scale import Scale
from .sinusoid import Sinusoid
from .station_location import StationLocation
from .time import Time

if TYPE_CHECKING:
    from ..tree.tree import Tree

_EXTREMES = (Extreme, Maximum, Minimum, MaxAbs, MinAbs)
_CONSTANTS = (Constant, Zero, One)


class NotCompiled(Exception):
    """A measure is of a kind, or asks for something, that only Python computes."""


class Program:
    """The operations of the measures that take part in the steps of a system, for one of its trees.

    Parameters
    ----------
    acting : iterable of Measure
        Those that integrate or remember, in the order in which z are allocated.
    tree : Tree
    z_places : dict of int to int
        For each subsystem, the place in z of the first that its measures have.

    Raises
    ------
    NotCompiled
        If one of them cannot be written as operations.
    """

    def __init__(self, acting: Iterable[Measure], tree: Tree, z_places: dict[int, int]) -> None:
        self._tree = tree
        self._code: list[int] = []
        self._numbers: list[float] = []
        self._values = 0
        self._integers: list[int] = []
        #: Of users' compiled functions.
        self.routines: list[Any] = []
        #: Where results of measures, and of their derivatives, are; anew in each run.
        self._found: dict[tuple[int, int], int] = {}
        self._under_way: set[tuple[int, int]] = set()
        self._limit = Stage.DYNAMICS
        self._memory: dict[int, int] = {}
        self._z: dict[int, int] = {}
        acting, self.memory_size = list(acting), 0
        at = dict(z_places)
        for one in acting:
            if type(one) is Integrate:
                subsystem = one.get_subsystem()._subsystem_index
                self._z[id(one)] = at[subsystem]
                at[subsystem] += one._default.size
            elif isinstance(one, Memory) and type(one) in (*_EXTREMES, SampleAndHold, Differentiate):
                self._memory[id(one)] = self.memory_size
                self.memory_size += one._memory_size()
            else:
                raise NotCompiled
        integrals = [one for one in acting if isinstance(one, Integrate)]
        ends = []
        for self._limit in (Stage.DYNAMICS, Stage.ACCELERATION):
            self._found = {}
            for one in integrals:
                self._integrate(one)
            ends.append(self._length)
        self._found = {}
        kept = [self._remembered(one) for one in acting if isinstance(one, Memory)]
        ends.append(self._length)
        for integers in kept:
            self._append(*integers)
        self.runs = [*ends, self._length]
        for k in range(0, len(self._code), op.WIDTH):
            if self._code[k] == op.CALL:
                self._code[k + 4] = len(self._code) - 1 - self._code[k + 4]
        self._code += self._integers
        self.places = self._memory

    def give_to(self, tree: Tree) -> None:
        """Let the kernels know."""
        tree.take_measures(self._code, self._numbers, self.runs, self._values, self.memory_size, self.routines)

    @property
    def _length(self) -> int:
        return len(self._code) // op.WIDTH

    def _append(self, code: int, out: int, n: int, a: int, b: int, x: int) -> None:
        self._code += [code, out, n, a, b, x]

    def _new(self, n: int) -> int:
        first = self._values
        self._values += n
        return first

    def _keep(self, *numbers: Any) -> int:
        first = len(self._numbers)
        self._numbers += np.concatenate([np.ravel(np.asarray(one, np.float64)) for one in numbers]).tolist()
        return first

    # ------------------------------------------------------------------------------------------ what takes part

    def _integrate(self, one: Integrate) -> None:
        """The rates of z, where they belong to this run."""
        derivative, n = one._derivative, one._default.size
        needed = Stage.DYNAMICS if derivative is None else max(Stage.DYNAMICS, derivative._depends_on(0))
        if needed > Stage.ACCELERATION:
            raise NotCompiled
        if needed is not self._limit:
            return
        rate = self._constant(0.0, n) if derivative is None else self._value_of(derivative, 0)
        self._append(op.RATE, 0, n, rate, self._z[id(one)], 0)

    def _remembered(self, one: Memory) -> tuple[int, ...]:
        """Write what computes the next of what is remembered; the operation that keeps it."""
        if one._needs() > Stage.ACCELERATION:
            raise NotCompiled
        memory, n = self._memory[id(one)], one._looks_at()._default.size
        source = self._value_of(one._looks_at(), 0)
        if isinstance(one, SampleAndHold):
            return op.KEEP_SAMPLE, 0, n, source, memory, self._keep(one._period or 0.0)
        if isinstance(one, Differentiate):
            return op.KEEP, 0, 2 * n + 2, self._slope(one, source), memory, 1
        return op.KEEP, 0, 2 * n, self._value_of(one, 0), memory, 0

    # ------------------------------------------------------------------------------------------ values

    def _value_of(self, one: Measure, order: int) -> int:
        """Where a measure's value, or a derivative, is found."""
        key = id(one), order
        if key in self._under_way:  # a circle that is closed by what a run has not begun to remember
            raise NotCompiled
        if key not in self._found:
            self._under_way.add(key)
            try:
                self._found[key] = self._written(one, order)
            finally:
                self._under_way.discard(key)
        return self._found[key]

    def _written(self, one: Measure, order: int) -> int:
        kind, n = type(one), one._default.size
        if one._subsystem is None:  # it may be changed, and no system hears of it
            raise NotCompiled
        if kind in _CONSTANTS:
            return self._constant(one._default if order == 0 else 0.0, n)
        if kind is Time:
            return self._constant(float(order == 1), n) if order else self._single(op.TIME, 1, 0, 0, 0)
        if isinstance(one, Sinusoid) and kind is Sinusoid:
            size = one._a * one._w**order
            numbers = self._keep(-size if order in (2, 3) else size, one._w, one._p)
            return self._single(op.SINUSOID, n, order, 0, numbers)
        if isinstance(one, Coordinate) and kind is Coordinate:
            return self._single(op.COORDINATE, 1, order, self._place_of(one), 0)
        if isinstance(one, StationLocation) and kind is StationLocation:
            return self._single(op.STATION, 3, order, one._mobod._index, self._keep(one._station))
        if kind is Energy and order == 0:
            return self._single(op.ENERGY, 1, 0, 0, 0)
        if isinstance(one, Custom) and isinstance(one._implementation, OfCompiledFunctions):
            return self._called(one, one._implementation, order, n)
        if isinstance(one, Plus) and kind in (Plus, Minus):
            left, right = self._value_of(one._left, order), self._value_of(one._right, order)
            return self._single(op.SUM, n, left, right, self._keep(1.0 if kind is Plus else -1.0))
        if isinstance(one, Scale) and kind is Scale:
            return self._single(op.SCALE, n, self._value_of(one._operand, order), 0, self._keep(one._factor))
        return self._remembering(one, order, n)

    def _remembering(self, one: Measure, order: int, n: int) -> int:
        """Values of what integrates or remembers."""
        if isinstance(one, Integrate) and id(one) in self._z:
            if order:
                return self._constant(0.0, n) if one._derivative is None else self._value_of(one._derivative, order - 1)
            return self._single(op.VARIABLE, n, 0, self._z[id(one)], 0)
        if isinstance(one, Differentiate) and type(one) is Differentiate and not one.is_using_approximation():
            return self._value_of(one._operand, order + 1)
        if order or id(one) not in self._memory:
            raise NotCompiled
        memory = self._memory[id(one)]
        if isinstance(one, Extreme):
            operand, out = self._value_of(one._operand, 0), self._new(2 * n)
            self._append(op.EXTREME, out, n, operand, memory, one._operation.value)
            return out
        if isinstance(one, Differentiate):
            return self._slope(one, self._value_of(one._operand, 0)) + 1 + n
        assert isinstance(one, SampleAndHold)
        known = one._source._depends_on(0) <= self._limit
        before = self._value_of(one._source, 0) if known else self._constant(one._default, n)
        return self._single(op.SAMPLE, n, before, memory, 0)

    def _slope(self, one: Differentiate, operand: int) -> int:
        n = one._default.size
        out = self._new(2 * n + 2)
        self._append(op.SLOPE, out, n, operand, self._memory[id(one)], 0)
        return out

    def _called(self, one: Custom, functions: OfCompiledFunctions, order: int, n: int) -> int:
        """A user's compiled function: its integers are written after all operations."""
        bodies = [body._index for body in (*functions.bodies, *functions.mobilizers)]
        integers = [*bodies, self._keep(functions.parameters)]
        out = self._new(n)
        self._append(op.CALL, out, 0, len(self.routines), -1 - len(self._integers), 0)
        self._integers += integers
        self.routines.append(functions.routines[order])
        return out

    def _constant(self, value: Any, n: int) -> int:
        return self._single(op.CONSTANT, n, 0, 0, self._keep(np.broadcast_to(np.ravel(value), (n,))))

    def _single(self, code: int, n: int, a: int, b: int, x: int) -> int:
        out = self._new(n)
        self._append(code, out, n, a, b, x)
        return out

    def _place_of(self, one: Coordinate) -> int:
        b = one._mobod._index
        if one._which >= self._tree.num_q[b]:
            raise NotCompiled(f"{one!r} asks for coordinate {one._which} of {one._mobod.name!r}, which it has not")
        return self._tree.first_q[b] + one._which
