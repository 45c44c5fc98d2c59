"""Objects described in memory of our own, where compiled code cannot read those of Python by their layout.

A mirror has what `object_layout` says of an object, in its place, filled in by what Python and NumPy say of it: an array's
numbers are its own. The code is the same; what it makes, here Python makes. A call takes some 30 us more.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import struct
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import object_layout as layout

_WORDS = layout.DESCRIPTION // 8 + 1


class _Known(threading.local):
    """The objects of this thread's calls, by the addresses of their mirrors, with the mirrors."""

    def __init__(self) -> None:
        self.objects: dict[int, tuple[Any, Any]] = {}


_known = _Known()


class _Parts:
    """A new tuple, of a type, whose objects the kernel writes to the mirror."""

    def __init__(self, kind: Any, count: int) -> None:
        self.kind, self.count = kind, count


def _blank(kind: Any, one: Any, count: int = 0) -> Any:
    words = (ctypes.c_int64 * max(_WORDS, layout.ITEMS // 8 + count))()
    words[layout.TYPE // 8] = id(kind)
    _known.objects[ctypes.addressof(words)] = one, words
    return words


def _mirror(one: Any, seen: dict[int, int]) -> int:
    """The address of an object's mirror; of an integer or a type, which compiled code asks Python for, its own."""
    if isinstance(one, (int, np.integer, type)):
        return id(one)
    if id(one) not in seen:
        words = _blank(type(one), one, len(one) if isinstance(one, tuple) else 0)
        seen[id(one)] = ctypes.addressof(words)
        if isinstance(one, np.ndarray):
            lengths = (ctypes.c_int64 * (2 * one.ndim))(*one.shape, *one.strides)
            _known.objects[ctypes.addressof(words)] = one, (words, lengths)
            words[layout.DATA // 8] = one.ctypes.data
            words[layout.NUMBER_OF_DIMENSIONS // 8] = one.ndim
            words[layout.LENGTHS // 8] = ctypes.addressof(lengths)
            words[layout.STRIDES // 8] = ctypes.addressof(lengths) + 8 * one.ndim
            words[layout.DESCRIPTION // 8] = id(one.dtype)
        elif isinstance(one, list):
            parts = (ctypes.c_int64 * len(one))(*(_mirror(part, seen) for part in one))
            _known.objects[ctypes.addressof(words)] = one, (words, parts)
            words[layout.DATA // 8], words[layout.LISTED // 8] = len(one), ctypes.addressof(parts)
        elif isinstance(one, float):
            words[layout.DATA // 8] = struct.unpack("q", struct.pack("d", one))[0]
        elif isinstance(one, tuple):
            words[layout.DATA // 8] = len(one)
            for k, part in enumerate(one):
                words[layout.ITEMS // 8 + k] = _mirror(part, seen)
    return seen[id(one)]


@contextlib.contextmanager
def _call() -> Iterator[None]:
    """The known fields are this call's; a kernel may call Python, and that another kernel."""
    before, _known.objects = _known.objects, {}
    try:
        yield
    finally:
        _known.objects = before


def _taken(address: int) -> Any:
    """The object of a mirror that a kernel has made or kept."""
    one, mirror = _known.objects[address]
    if not isinstance(one, _Parts):
        return one
    parts = [_taken(mirror[layout.ITEMS // 8 + k]) for k in range(one.count)]
    return one.kind(*parts)


class Mirrored:
    """A kernel of objects, called with mirrors.

    Parameters
    ----------
    address : int
        Of its code.
    name : str
        Of the kernel.
    count : int
        Of its arguments.
    """

    def __init__(self, address: int, name: str, count: int) -> None:
        self._function: Any = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)
        self.__name__, self._count = name, count

    def __call__(self, *objects: Any) -> Any:
        """The kernel's result."""
        if len(objects) != self._count:
            raise TypeError(f"{self.__name__} takes {self._count} arguments, not {len(objects)}")
        with _call():
            seen: dict[int, int] = {}
            arguments = (ctypes.c_int64 * self._count)(*(_mirror(one, seen) for one in objects))
            result = self._function(0, ctypes.addressof(arguments), self._count)
            if result == 0:
                raise MemoryError
            if result in _known.objects:
                return _taken(result)
            found = ctypes.cast(result, ctypes.py_object).value
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(found))  # the reference that the kernel has made
            return found


def _new_array(kind: int, count: int, lengths: int, *rest: Any) -> int:
    try:
        made = np.empty(tuple((ctypes.c_int64 * count).from_address(lengths)))
    except MemoryError:
        return 0
    return _mirror(made, {})


def _new_tuple(kind: int, count: int) -> int:
    of_kind = ctypes.cast(kind, ctypes.py_object).value
    return ctypes.addressof(_blank(of_kind, _Parts(of_kind, count), count))


def _leave(address: int) -> None:
    """Fields that are made are known until the call ends."""


@functools.cache
def functions() -> tuple[int, int, int, int]:
    """The addresses of what compiled code calls in place of Python's: for a new array, a new tuple, to keep and to drop."""
    integer, number, pointer = ctypes.c_int, ctypes.c_int64, ctypes.c_int64
    new_array = ctypes.PYFUNCTYPE(number, pointer, integer, pointer, integer, pointer, pointer, integer, integer, pointer)
    leave = ctypes.PYFUNCTYPE(None, pointer)(_leave)
    made = new_array(_new_array), ctypes.PYFUNCTYPE(number, pointer, number)(_new_tuple), leave, leave
    _kept.extend(made)
    a, b, c, d = (ctypes.cast(one, ctypes.c_void_p).value or 0 for one in made)
    return a, b, c, d


_kept: list[Any] = []
