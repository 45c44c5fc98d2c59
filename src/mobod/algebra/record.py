"""A record: the fields that kernels read and write, as named arrays in Python and as one block of pointers when compiled.

A kernel is called with the block, an int64 array of counts and addresses, and makes it the record by ``attach``: one array
argument, whatever the number of fields. (A `structref` takes 0.65 us a call, and LLVM has to load its fields' strides and count
references.) The dimensions of the block say which scalar the record holds, as those of an array do for ``load``: 1-D float64,
3-D `Dual` of float64 with eight tangents, 4-D lanes, 5-D Duals whose parameters have tangents too, 6-D Duals of Duals: each
number of a 3-D one with its derivative along one more direction (hyper-dual numbers; Fike and Alonso 2011).

Routines, which do most of the work, exist for lanes with parameters of their own and for lanes that share them. All other
kernels of lanes read a parameter as a number for each lane, so that they are compiled once: where parameters are shared, the
record has them eight times too, and the last word of its block is the address of a second block, of the shared ones, which
`call_routine` passes on; a large routine is compiled as these are, and called by `call_for_own`. Where each lane has its own
that word is the block's own address; of other records it is not used.

There are four kinds of field: ``index``, integers of the tree; ``constant``, numbers of the tree that no state has its own of,
such as the vertices of meshes; ``parameter``, numbers of the tree, which all states and lanes share, without tangents;
``state``, of one state, of eight in lanes, or of one with eight tangents. Parameters that each lane
has its own of are eight in lanes too.

A row of Duals is the values of its columns, padded to eight, then the eight tangents of each column: vectors are aligned, and
values share cache lines. (A vector of sixteen for each number takes half as much memory again.) A Dual of Duals is 18 numbers:
value and tangents, then the derivative of these.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from ..compiling.routines import interpreted
from .dual import Dual

#: States that one record of lanes holds.
LANES = 8
#: Tangents of each number in a record that has them.
TANGENTS = 8
_ALIGNMENT = 64  # bytes: a cache line, and a vector of lanes


T = TypeVar("T")


@dataclasses.dataclass(eq=False)
class Field(Generic[T]):
    """One field, declared as an attribute of a record's class; of a record, the attribute is the field's array.

    Attributes
    ----------
    what : str
        ``index``, ``constant``, ``parameter`` or ``state``.
    rows : str
        The count that says how many rows it has.
    columns : int
        Numbers a row.
    doc : str
        What it means.
    touches : bool
        Whether it begins where the field before it ends; others begin at a cache line.
    spans : tuple of str
        If not empty, it is a second name for these fields, which touch.
    """

    what: str
    rows: str
    columns: int
    doc: str
    touches: bool = False
    spans: tuple[str, ...] = ()
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, record: None, owner: type) -> Field[T]: ...
    @overload
    def __get__(self, record: RecordBase, owner: type) -> T: ...
    def __get__(self, record: RecordBase | None, owner: type) -> Any:
        # arrays that have been made are in the record's __dict__, which comes first; those of a copy are made here
        return self if record is None else record.make_array(self.name)


def index(rows: str, doc: str) -> Field[npt.NDArray[np.int64]]:
    """Declare a field of integers of the tree."""
    return Field("index", rows, 1, doc)


def constants(rows: str, doc: str) -> Field[npt.NDArray[np.float64]]:
    """Declare a field of numbers of the tree that never change."""
    return Field("constant", rows, 1, doc)


def parameter(rows: str, columns: int, doc: str) -> Field[npt.NDArray[np.float64]]:
    """Declare a field of numbers of the tree."""
    return Field("parameter", rows, columns, doc)


def state(
    rows: str, columns: int, doc: str, *, touches: bool = False, spans: tuple[str, ...] = ()
) -> Field[npt.NDArray[np.float64]]:
    """Declare a field of numbers of a state; in a record with tangents it is a `DualRows`."""
    return Field("state", rows, columns, doc, touches, spans)


class Layout:
    """The counts and fields of a record, in the order of its block."""

    def __init__(self) -> None:
        self.counts: tuple[str, ...] = ()
        self.fields: dict[str, Field[Any]] = {}
        self.places: dict[str, int] = {}

    def define(self, declared: type[RecordBase]) -> None:
        """Fill the layout from the class that declares counts, as annotations, and fields."""
        self.counts = tuple(declared.__annotations__)
        self.fields = {name: field for name, field in vars(declared).items() if isinstance(field, Field)}
        self.places = {name: place for place, name in enumerate([*self.counts, *self.fields])}


#: The layout of every record: that of `mobod.state.fields.Record`.
layout = Layout()


def value_blocks(columns: int) -> int:
    """The number of vectors that the values of a row of Duals take."""
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
        """`scalar.load` of a record's array."""
        return Dual(self.values[row, column], self.tangents[row, column].tolist())

    def store(self, row: int, column: int, value: Any) -> None:
        """`scalar.store` into a record's array."""
        if isinstance(value, Dual):
            self.values[row, column], self.tangents[row, column] = value.value, value.tangents
        else:
            self[row, column] = value


class TwiceDualRows:
    """A field of Duals of Duals, as views of one array; assigning to it sets values, whose derivatives become zero.

    Parameters
    ----------
    array : (rows, columns, 18) array

    Attributes
    ----------
    values : (rows, columns) array
    tangents : (rows, columns, 8) array
        Derivatives of the values along eight directions.
    rates : (rows, columns) array
        Derivatives of the values along the ninth, and
    rates_of_tangents : (rows, columns, 8) array
        the second ones.
    """

    def __init__(self, array: npt.NDArray[np.float64]) -> None:
        self.array = array
        self.values, self.tangents = array[:, :, 0], array[:, :, 1 : 1 + TANGENTS]
        self.rates, self.rates_of_tangents = array[:, :, 1 + TANGENTS], array[:, :, 2 + TANGENTS :]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[key] = value
        self.tangents[key] = self.rates_of_tangents[key] = 0.0
        self.rates[key] = 0.0


def address_of(array: npt.NDArray[Any]) -> int:
    """The address of an array's first number; 0 of one that has none. In kernels that of any array, and 0 of a tuple."""
    if isinstance(array, tuple) or not array.size:
        return 0
    try:
        # a quarter of the time of `array.ctypes.data`
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):  # of an array that nobody may write to
        return int(array.ctypes.data)


def numbers_at(address: int, rows: int, columns: int) -> npt.NDArray[np.float64]:
    """The float64 array at an address: for a `Routine`, which takes integers, of the kernel that has called it."""
    return np.ctypeslib.as_array((ctypes.c_double * (rows * columns)).from_address(address)).reshape(rows, columns)


def row_at(address: int, n: int) -> npt.NDArray[np.float64]:
    """The same, of one dimension."""
    return np.ctypeslib.as_array((ctypes.c_double * n).from_address(address))


def integers_at(address: int, n: int) -> npt.NDArray[np.int64]:
    """The same, of int64."""
    return np.ctypeslib.as_array((ctypes.c_int64 * n).from_address(address))


def aligned_zeros(*shape: int) -> npt.NDArray[np.float64]:
    """Zeros that begin at a cache line, as vectors of lanes have to."""
    return in_lines(np.zeros(math.prod(shape) + LANES), *shape)


def in_lines(memory: npt.NDArray[np.float64], *shape: int) -> npt.NDArray[np.float64]:
    """The array of that shape in *memory*, of eight numbers more, that begins at a cache line."""
    skip = (-address_of(memory) % _ALIGNMENT) // 8
    return memory[skip : skip + math.prod(shape)].reshape(shape)


def in_each_lane(array: npt.NDArray[Any], *groups: int) -> npt.NDArray[np.float64]:
    """A parameter field repeated for each lane, and for each group of lanes."""
    out = aligned_zeros(*groups, *array.shape, LANES)
    out[...] = array[..., None]
    return out


class RecordBase:
    """The arrays of one state, or of eight in lanes, and the block in which kernels find their addresses.

    A class derived from this declares the counts, as annotations, and the fields: see `mobod.state.fields`.

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
        Whether each lane has parameters of its own: these arrays are then (rows, columns, 8), aligned to a vector. With
        tangents, whether parameters have them too: the arrays are those of `DualRows`.
    twice : bool
        With tangents, whether everything has its derivative along one more direction too: fields are `TwiceDualRows`.

    Raises
    ------
    ValueError
        For lanes with tangents: derivatives of eight states take eight records; for parameters of their own of a single state.
    """

    def __init_subclass__(cls) -> None:
        layout.define(cls)

    def __init__(
        self,
        counts: Mapping[str, int],
        shared: Mapping[str, npt.NDArray[Any]],
        in_lanes: bool = False,
        with_tangents: bool = False,
        own_parameters: bool = False,
        twice: bool = False,
    ) -> None:
        if in_lanes and with_tangents:
            raise ValueError("a record holds eight states or one with tangents; make a record with tangents for each state")
        if own_parameters and not in_lanes and not with_tangents:
            raise ValueError("parameters of their own are for lanes; a record of one state shares arrays as they are")
        self.counts, self.in_lanes, self.with_tangents = dict(counts), in_lanes, with_tangents
        self.own_parameters, self.twice = own_parameters, twice
        fields = [field for field in layout.fields.values() if field.what == "state"]
        shapes = [(counts[field.rows], *self._row(field.columns)) for field in fields]
        sizes = [math.prod(shape) for shape in shapes]
        starts: dict[str, int] = {}
        at = 0
        for field, size in zip(fields, sizes, strict=True):
            if field.spans:
                starts[field.name] = starts[field.spans[0]]
                continue
            if not field.touches:
                at = -(-at // LANES) * LANES
            starts[field.name] = at
            at += size
        #: Every state field, end to end, and its address.
        self.buffer = aligned_zeros(at)
        self._begin = address_of(self.buffer)
        blocks = 2 if in_lanes and not own_parameters else 1
        #: The block, and behind it that of routines of lanes that share parameters.
        self.words: npt.NDArray[np.int64] = np.zeros((blocks, len(layout.places) + 1), np.int64)
        if in_lanes:
            self.words[:, -1] = address_of(self.words[-1])
        self._in_each_lane: dict[str, npt.NDArray[np.float64]] = {}
        for name in layout.counts:
            setattr(self, name, counts[name])
        self.words[:, [layout.places[name] for name in layout.counts]] = [counts[name] for name in layout.counts]
        #: Where each state field is in the buffer; its shape in memory, and its columns; and those whose arrays are made.
        self.runs = {f.name: slice(starts[f.name], starts[f.name] + n) for f, n in zip(fields, sizes, strict=True)}
        self._state_fields = {f.name: (shape, f.columns) for f, shape in zip(fields, shapes, strict=True)}
        self._made: list[str] = []
        places = [layout.places[field.name] for field in fields]
        self.words[:, places] = self._begin + 8 * np.array([starts[field.name] for field in fields])
        #: 1 where the block has the address of a state field.
        self._is_of_state = np.zeros_like(self.words)
        self._is_of_state[:, places] = 1
        for name, array in shared.items():
            self.share(name, array)
        dimensions = 6 if twice else 5 if with_tangents and own_parameters else 3 if with_tangents else 4 if in_lanes else 1
        #: What kernels are called with.
        self.block: npt.NDArray[np.int64] = self.words[0].reshape(-1, *(1,) * (dimensions - 1))

    @property
    def pointer(self) -> int:
        """The address of the block of routines and callbacks."""
        return address_of(self.words[-1])

    def _row(self, columns: int) -> tuple[int, ...]:
        """The shape of a row of numbers."""
        if self.twice:
            return columns, 2 * (1 + TANGENTS)
        if self.with_tangents:
            return 1, value_blocks(columns) + columns, TANGENTS
        return (columns, LANES) if self.in_lanes else (columns,)

    def share(self, name: str, array: npt.NDArray[Any]) -> None:
        """Make field *name* of the tree the same memory as *array*."""
        if not array.flags.c_contiguous:
            raise ValueError(f"field {name} has to be contiguous")
        field = layout.fields[name]
        with_tangents = self.with_tangents and self.own_parameters and field.what == "parameter"
        setattr(self, name, DualRows(array, field.columns) if with_tangents else array)
        place, words = layout.places[name], self.words
        words[0, place] = words[-1, place] = address_of(array)
        if len(words) > 1 and field.what == "parameter" and array.size:
            self._in_each_lane[name] = in_each_lane(array)
            words[0, place] = address_of(self._in_each_lane[name])

    def copy(self) -> Self:
        """A record of the same tree with state fields of its own, equal to these.

        The block is made now, a field's array when it is first asked for: few of a copy's ever are.
        """
        other = type(self).__new__(type(self))
        kept = other.__dict__
        kept.update(self.__dict__)
        for name in self._made:
            kept.pop(name, None)
        other.buffer = aligned_zeros(self.buffer.size)
        other.buffer[:] = self.buffer
        kept["_made"], kept["_begin"] = [], (begin := address_of(other.buffer))
        words = other.words = self.words + (begin - self._begin) * self._is_of_state
        if self.in_lanes:
            words[:, -1] = address_of(words[-1])
            kept["_in_each_lane"] = self._in_each_lane.copy()
        other.block = words[0].reshape(self.block.shape)
        return other

    def make_array(self, name: str) -> Any:
        """The array of a state field, which is the attribute of that name from now on."""
        try:
            shape, columns = self._state_fields[name]
        except KeyError:
            raise AttributeError(f"this record has no field {name!r} yet; its tree has to share one") from None
        array = self.buffer[self.runs[name]].reshape(shape)
        of_duals = TwiceDualRows(array) if self.twice else DualRows(array, columns) if self.with_tangents else array
        self._made.append(name)
        self.__dict__[name] = of_duals
        return self.__dict__[name]


def values_at(pointer: int, name: str, size: int) -> Any:
    """The first numbers of a state field of the record whose block is at an address: for callbacks, while they compute."""
    block = _words(len(layout.places)).from_address(pointer)
    return _doubles(size).from_address(block[layout.places[name]])


@functools.cache
def _words(size: int) -> Any:
    return ctypes.c_int64 * size


@functools.cache
def _doubles(size: int) -> Any:
    return ctypes.c_double * size


def field_at(field: Any, address: int, rows: int) -> Any:
    """Rows as those of a field of a record of one state or of lanes, at an address: for a `Routine`, as `numbers_at`."""
    shape = (rows, *field.shape[1:])
    return np.ctypeslib.as_array((ctypes.c_double * math.prod(shape)).from_address(address)).reshape(shape)


def attach(block: Any) -> Any:
    """The record of a block, in the first line of every entry point. From Python, the record itself."""
    return block


def attach_state(pointer: Any) -> Any:
    """The record of float64 whose block is at an address, in the entry of a `Routine`."""
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


def attach_seeded(pointer: Any) -> Any:
    """The record of Duals whose parameters have tangents, whose block is at an address."""
    return pointer


def attach_twice(pointer: Any) -> Any:
    """The record of Duals of Duals whose block is at an address."""
    return pointer


def point_field(model: Any, place: int, address: int) -> None:
    """Set where a parameter that each lane has its own of begins: the field at a *place* of the block, at *address*.

    For kernels that call a `Routine` next: one that has read the field itself may still see the old address.
    """
    field = layout.fields[next(name for name, at in layout.places.items() if at == place)]
    shape = getattr(model, field.name).shape
    numbers = (ctypes.c_double * math.prod(shape)).from_address(int(address))
    model.share(field.name, np.ctypeslib.as_array(numbers).reshape(shape))


def call_routine(address: int, model: Any, *integers: int) -> int:
    """Call the `Routine` at *address*, which has to have been compiled for the scalar of *model*."""
    return interpreted[int(address)](model, *integers)


def call_for_own(address: int, model: Any, *integers: int) -> int:
    """`call_routine`, of one that is compiled for lanes with parameters of their own alone: what is large, not what is small.

    As a kernel it reads those that lanes share eight times.
    """
    return call_routine(address, model, *integers)
