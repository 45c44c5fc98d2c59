"""A record: the fields that kernels read and write, as named arrays in Python and as one block of pointers when compiled.

A kernel is called with the block, an int64 array of counts and addresses, and turns it into the record by ``attach``: one
array argument, whatever the number of fields. (A `structref` cost 0.65 us a call in the design's trial, and its fields
reach LLVM with strides to be loaded and references to be counted.) The dimensions of the block say which scalar the record
holds, as those of an array do for ``load``: 1-D float64, 2-D lanes, 3-D `Dual` of float64 with eight tangents, 4-D lanes with
parameters of their own.

Three kinds of field: ``index``, integers of the tree; ``parameter``, numbers of the tree, shared by all states and lanes, with
no tangents; ``state``, one set a state, or eight in lanes, or one with eight tangents. Where lanes have parameters of their
own, these are eight in lanes too, and still belong to whoever shares them.

A row of Duals is the values of its columns, filled up to eight, then the eight tangents of each column: vectors are aligned,
and values share cache lines. (A vector of sixteen for each number, value and tangents, takes half as much memory again.)
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .dual import Dual

#: States that one record of lanes holds.
LANES = 8
#: Tangents of each number in a record that has them.
TANGENTS = 8
_ALIGNMENT = 64  # bytes: a cache line, and a vector of lanes


@dataclasses.dataclass(frozen=True)
class Field:
    """One field: *rows* names a count, *columns* is fixed, *what* is ``index``, ``parameter`` or ``state``."""

    name: str
    rows: str
    columns: int
    what: str
    doc: str


class Layout:
    """The counts and fields of a record, in the order of its block."""

    def __init__(self) -> None:
        self.counts: tuple[str, ...] = ()
        self.fields: dict[str, Field] = {}
        self.places: dict[str, int] = {}

    def define(self, counts: Sequence[str], fields: Sequence[Field]) -> None:
        """Fill the layout, once, at import of `mobod.tree.records`."""
        self.counts = tuple(counts)
        self.fields = {field.name: field for field in fields}
        self.places = {name: place for place, name in enumerate([*counts, *self.fields])}


#: The layout of every record; `mobod.tree.records` defines it.
layout = Layout()


def value_blocks(columns: int) -> int:
    """How many vectors the values of a row of Duals take."""
    return -(-columns // LANES)


class DualRows:
    """A field of Duals: the values and the tangents of its numbers, as views of one array.

    Assigning to it sets values, whose tangents become zero: ``record.q[:, 0] = q``.

    Parameters
    ----------
    array : (rows, 1, blocks, 8) array
        The field as it lies in memory, which kernels take as an argument.
    columns : int
        Numbers a row.

    Attributes
    ----------
    values : (rows, columns) array
    tangents : (rows, columns, 8) array
        ``tangents[i, j, k]`` is the derivative of ``values[i, j]`` along direction k.
    """

    def __init__(self, array: npt.NDArray[np.float64], columns: int) -> None:
        self.array = array
        self.tangents = array[:, 0, value_blocks(columns) :]
        self.values = array[:, 0, : value_blocks(columns)].reshape(len(array), LANES * value_blocks(columns))[:, :columns]

    @classmethod
    def zeros(cls, rows: int, columns: int = 1) -> DualRows:
        """A field of its own, for an argument of a kernel."""
        return cls(np.zeros((rows, 1, value_blocks(columns) + columns, LANES)), columns)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[key] = value
        self.tangents[key] = 0.0

    def load(self, row: int, column: int) -> Dual:
        """What `scalar.load` does."""
        return Dual(self.values[row, column], self.tangents[row, column].tolist())

    def store(self, row: int, column: int, value: Any) -> None:
        """What `scalar.store` does."""
        if isinstance(value, Dual):
            self.values[row, column], self.tangents[row, column] = value.value, value.tangents
        else:
            self[row, column] = value


def aligned_zeros(*shape: int) -> npt.NDArray[np.float64]:
    """Zeros that begin at a cache line, as vectors of lanes have to."""
    size = math.prod(shape)
    raw = np.zeros(size + _ALIGNMENT // 8)
    skip = (-raw.ctypes.data % _ALIGNMENT) // 8
    return raw[skip : skip + size].reshape(shape)


class Record:
    """The arrays of one state, or of eight in lanes, and the block by which a kernel finds them.

    Parameters
    ----------
    counts : mapping of str to int
        The number of bodies, coordinates, and so on.
    shared : mapping of str to array
        The index and parameter fields; they are not copied.
    in_lanes : bool
        Whether state fields hold eight states.
    with_tangents : bool
        Whether they hold one state and the derivatives of everything along eight directions: they are `DualRows`.
    own_parameters : bool
        Whether each lane has parameters of its own: these arrays are then (rows, columns, 8), aligned to a vector.

    Raises
    ------
    ValueError
        For lanes with tangents: derivatives of eight states take eight records; for parameters of their own without lanes.
    """

    def __init__(
        self,
        counts: Mapping[str, int],
        shared: Mapping[str, npt.NDArray[Any]],
        in_lanes: bool = False,
        with_tangents: bool = False,
        own_parameters: bool = False,
    ) -> None:
        if in_lanes and with_tangents:
            raise ValueError("a record holds eight states or one with tangents; make a record with tangents for each state")
        if own_parameters and not in_lanes:
            raise ValueError("parameters of their own are for lanes; a record of one state shares arrays as they are")
        self.counts, self.in_lanes, self.with_tangents = dict(counts), in_lanes, with_tangents
        self.own_parameters = own_parameters
        fields = [field for field in layout.fields.values() if field.what == "state"]
        shapes = [(counts[field.rows], *self._row(field.columns)) for field in fields]
        sizes = [math.prod(shape) for shape in shapes]
        # q, u, z and their rates come first and touch, so that y and ydot are one array each
        starts: list[int] = []
        at = 0
        for field, size in zip(fields, sizes, strict=True):
            if field.doc.startswith("="):  # another name for fields that touch, from the one it names on
                starts.append(next(s for f, s in zip(fields, starts, strict=False) if f"= {f.name} " in field.doc))
                continue
            if not field.doc.startswith("+"):
                at = -(-at // LANES) * LANES
            starts.append(at)
            at += size
        #: Every state field, end to end.
        self.buffer = aligned_zeros(at)
        self.block: npt.NDArray[np.int64] = np.zeros(len(layout.places), np.int64)
        for name in layout.counts:
            self.block[layout.places[name]] = counts[name]
            setattr(self, name, counts[name])
        base = self.buffer.ctypes.data
        #: Of each state field where it starts in the buffer, its shape in memory, and its columns.
        self._state_fields = {f.name: (s, n, f.columns) for f, s, n in zip(fields, starts, shapes, strict=True)}
        self._state_places = np.array([layout.places[field.name] for field in fields])
        for name, (start, shape, columns) in self._state_fields.items():
            setattr(self, name, self._array(start, shape, columns))
            self.block[layout.places[name]] = base + 8 * start
        for name, array in shared.items():
            self.share(name, array)
        if own_parameters:
            self.block = self.block[:, None, None, None]
        elif in_lanes:
            self.block = self.block[:, None]
        elif with_tangents:
            self.block = self.block[:, None, None]

    def _row(self, columns: int) -> tuple[int, ...]:
        """The shape of a row of numbers."""
        if self.with_tangents:
            return 1, value_blocks(columns) + columns, TANGENTS
        return (columns, LANES) if self.in_lanes else (columns,)

    def share(self, name: str, array: npt.NDArray[Any]) -> None:
        """Let field *name*, of the tree, be *array* from now on."""
        if not array.flags.c_contiguous:
            raise ValueError(f"field {name} has to be contiguous")
        setattr(self, name, array)
        self.block.reshape(-1)[layout.places[name]] = array.ctypes.data

    def copy(self) -> Record:
        """A record with its own state fields, equal to these, and the same tree.

        Only the block is made now. A field's array is when it is first asked for: few of a copy's ever are.
        """
        other = Record.__new__(Record)
        kept = other.__dict__
        kept.update(self.__dict__)
        for name in self._state_fields:
            kept.pop(name, None)
        other.buffer, other.block = aligned_zeros(self.buffer.size), self.block.copy()
        other.buffer[:] = self.buffer
        other.block.reshape(-1)[self._state_places] += other.buffer.ctypes.data - self.buffer.ctypes.data
        return other

    def __getattr__(self, name: str) -> Any:
        place = self.__dict__.get("_state_fields", {}).get(name)
        if place is None:
            raise AttributeError(f"a record has no field {name!r}")
        array = self._array(*place)
        setattr(self, name, array)
        return array

    def _array(self, start: int, shape: tuple[int, ...], columns: int) -> Any:
        array = self.buffer[start : start + math.prod(shape)].reshape(shape)
        return DualRows(array, columns) if self.with_tangents else array


#: What compiled code stands at an address, for `call_routine` run as Python.
interpreted: dict[int, Callable[..., int]] = {}


def attach(block: Any) -> Any:
    """The record of a block: what every entry point does first. From Python, the record itself."""
    return block


def attach_state(pointer: Any) -> Any:
    """The record of float64 whose block is at an address: what the entry of a `Routine` does."""
    return pointer


def attach_lanes(pointer: Any) -> Any:
    """The record of lanes whose block is at an address."""
    return pointer


def attach_duals(pointer: Any) -> Any:
    """The record of Duals whose block is at an address."""
    return pointer


def attach_varied(pointer: Any) -> Any:
    """The record of lanes with parameters of their own whose block is at an address."""
    return pointer


def point_field(model: Any, place: int, address: int) -> None:
    """Let the field at a *place* of the block, of parameters that each lane has its own of, begin at *address*.

    A kernel that has used the field itself may still see the old one: this is for those that call a `Routine` next.
    """
    field = layout.fields[next(name for name, at in layout.places.items() if at == place)]
    shape = getattr(model, field.name).shape
    numbers = (ctypes.c_double * math.prod(shape)).from_address(int(address))
    model.share(field.name, np.ctypeslib.as_array(numbers).reshape(shape))


def call_routine(address: int, model: Any, i: int, k: int) -> int:
    """Call the `Routine` at *address*, which has to have been compiled for the scalar of *model*."""
    return interpreted[int(address)](model, i, k)
