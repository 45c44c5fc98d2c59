"""Offsets at which Python and NumPy keep what compiled code reads of their objects, checked by eight probes.

The layouts are part of their interfaces in C for 64-bit CPython with its lock, but an interface is a promise and not a fact:
when the first kernel that reads objects is loaded, each place is compared with what Python says of objects of known content.
Where one differs, Python is free-threaded, or ``MOBOD_OBJECT_ACCESS=plain`` asks for it, `mirrors` serves in its place.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

from ..compiling.built_in import built_in

#: Where PyArrayObject has what, in bytes; the first is what every object has, whose last word is its type. There
#: a float has its number, and a tuple how many objects it has.
DATA = object.__basicsize__
TYPE, NUMBER_OF_DIMENSIONS, LENGTHS, STRIDES, BASE, DESCRIPTION = DATA - 8, DATA + 8, DATA + 16, DATA + 24, DATA + 32, DATA + 40
#: Where a tuple's objects begin.
ITEMS = tuple.__basicsize__
#: Where a list, which has their number where a tuple has it, says where its objects begin.
LISTED = DATA + 8
#: Places in the table of NumPy's interface in C, and the version of the table in which they are these.
_PLACE_OF_VERSION, _PLACE_OF_NEW, _TABLE_VERSION = 0, 93, 0x02000000


def numpys_function(place: int) -> int:
    """The address that is at a place in the table of NumPy's interface in C."""
    get_pointer: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    table = get_pointer(("PyCapsule_GetPointer", ctypes.pythonapi))(_multiarray_umath._ARRAY_API, None)  # noqa: SLF001
    return int(ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[place] or 0)


def new_array_function() -> int:
    """The address of `PyArray_New`."""
    return numpys_function(_PLACE_OF_NEW)


@functools.cache
def why_plain() -> str:
    """Why objects are not read by their layout, for `mobod doctor`; empty if they are."""
    if os.environ.get("MOBOD_OBJECT_ACCESS") == "plain":
        return "MOBOD_OBJECT_ACCESS=plain"
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return f"{sys.implementation.name} of {8 * struct.calcsize('P')} bits"
    # where another thread may free an array while it is read; its objects begin with more than count and type
    if DATA != 16 or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "free-threaded Python"
    for name, probe in PROBES.items():
        try:
            if not probe():
                return f"{name} of Python {sys.version.split()[0]} and NumPy {np.__version__} lie otherwise"
        except Exception as error:
            return f"{name} cannot be looked at: {error!r}"
    return ""


def _word(one: Any, offset: int) -> int:
    """A word of an object; it is known to have so many."""
    return ctypes.c_int64.from_address(id(one) + offset).value


class _Pair(NamedTuple):
    first: Any
    second: Any


class _OwnArray(np.ndarray[Any, Any]):
    """Another type."""


def _arrays() -> Sequence[np.ndarray[Any, Any]]:
    base = np.arange(24.0)
    swapped = base.astype(base.dtype.newbyteorder())
    return (
        base,
        base[3:8],
        base[::-2],
        base.reshape(2, 3, 4),
        base[:0],
        np.array(1.5),
        np.arange(3),
        swapped,
        base.view(_OwnArray),
    )


def _types_are_there() -> bool:
    return all(_word(one, TYPE) == id(type(one)) for one in (object(), 1.5, 7, "x", (1, 2), _Pair(1, 2), *_arrays()))


def _arrays_are_there() -> bool:
    if np.ndarray.__basicsize__ < DESCRIPTION + 8:
        return False
    for one in _arrays():
        count = ctypes.c_int32.from_address(id(one) + NUMBER_OF_DIMENSIONS).value
        fields = _word(one, DATA), count, _word(one, BASE), _word(one, DESCRIPTION)
        if fields != (one.ctypes.data, one.ndim, 0 if one.base is None else id(one.base), id(one.dtype)):
            return False
        # known to be between these, they are followed
        of_one = ctypes.c_int64 * one.ndim
        if one.ndim and tuple(of_one.from_address(_word(one, LENGTHS))) != one.shape:
            return False
        if one.ndim and tuple(of_one.from_address(_word(one, STRIDES))) != one.strides:
            return False
    return list((ctypes.c_double * 5).from_address(_word(_arrays()[1], DATA))) == [3.0, 4.0, 5.0, 6.0, 7.0]


def _floats_are_there() -> bool:
    return all(ctypes.c_double.from_address(id(one) + DATA).value == one for one in (2.5, -1e300, 0.1, np.float64(0.3)))


def _tuples_are_there() -> bool:
    objects = object(), object(), 2.5
    return all(
        _word(one, DATA) == len(one)
        and sys.getsizeof(one) >= ITEMS + 8 * len(one)
        and all(_word(one, ITEMS + 8 * k) == id(x) for k, x in enumerate(one))
        for one in (objects, _Pair(*objects[:2]), (objects[2],))
    )


def _lists_are_there() -> bool:
    grown = [object()]
    grown += [2.5, "x", *range(40)]
    # for how many there is room is known, and where a list has that is all that it has beside their address
    return list.__basicsize__ == LISTED + 16 and all(
        _word(one, DATA) == len(one)
        and _word(one, LISTED + 8) == (sys.getsizeof(one) - sys.getsizeof([])) // 8
        and list((ctypes.c_int64 * len(one)).from_address(_word(one, LISTED))) == [id(x) for x in one]
        for one in ([object(), 1.5], [7], grown)
    )


def _arrays_are_made() -> bool:
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(numpys_function(_PLACE_OF_VERSION))()
    if version != _TABLE_VERSION:
        return False
    integer, pointer = ctypes.c_int, ctypes.c_void_p
    make: Any = ctypes.PYFUNCTYPE(
        ctypes.py_object, pointer, integer, pointer, integer, pointer, pointer, integer, integer, pointer
    )(new_array_function())
    for lengths in ((3,), (2, 4), (0,)):
        dimensions = (ctypes.c_int64 * len(lengths))(*lengths)
        double = np.dtype(np.float64).num
        made = make(id(np.ndarray), len(lengths), ctypes.addressof(dimensions), double, None, None, 0, 0, None)
        made[...] = 1.0
        if (type(made), made.shape, made.dtype, made.sum()) != (np.ndarray, lengths, np.dtype(np.float64), np.prod(lengths)):
            return False
        if not (made.flags.owndata and made.flags.c_contiguous and made.flags.writeable):
            return False
    return True


def words_before_items() -> int:
    """Number of words that a tuple has between its length and its objects: from Python 3.14 on its hash, or -1."""
    return (ITEMS - DATA - 8) // 8


def _tuples_are_made() -> bool:
    allocate: Any = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_ssize_t)
    made = allocate(("PyType_GenericAlloc", ctypes.pythonapi))(_Pair, 2)
    if _word(made, DATA) != 2 or _word(made, TYPE) != id(_Pair):
        return False
    for k in range(words_before_items()):
        ctypes.c_int64.from_address(id(made) + DATA + 8 + 8 * k).value = -1
    for k, one in enumerate((7, "x")):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))
        ctypes.c_int64.from_address(id(made) + ITEMS + 8 * k).value = id(one)
    return bool(made == (7, "x") and made.second == "x" and hash(made) == hash((7, "x")))


def _built_ins_are_called() -> bool:
    seen: list[Any] = []

    def entry(this: Any, arguments: Any, count: int) -> Any:
        seen.append((this, [ctypes.c_int64.from_address(arguments + 8 * k).value for k in range(min(count, 3))], count))
        return 11

    function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t)(entry)
    address = ctypes.cast(function, ctypes.c_void_p).value
    objects = [object(), 2.5, ("x",)]
    return built_in(address or 0, "probe", __name__)(*objects) == 11 and seen == [(id(None), [id(one) for one in objects], 3)]


PROBES: dict[str, Callable[[], bool]] = {
    "types": _types_are_there,
    "arrays": _arrays_are_there,
    "floats": _floats_are_there,
    "tuples": _tuples_are_there,
    "lists": _lists_are_there,
    "new arrays": _arrays_are_made,
    "new tuples": _tuples_are_made,
    "built-in functions": _built_ins_are_called,
}
