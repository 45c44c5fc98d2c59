"""Arrays by their addresses: what a `Routine`, which is called with integers, shares with its callers.

A block is an int64 array with four words for each array: where its data are, and its shape, filled up by zeros. Kernels get the
address of a block. Arrays are in C's order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: Words of an array in a block.
WORDS = 4


def block_of(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """The block of these arrays, which has to be gone no sooner than what calls kernels with its address; nor have they."""
    block = np.zeros((len(arrays), WORDS), np.int64)
    for words, array in zip(block, arrays, strict=True):
        if not array.flags.c_contiguous or array.ndim >= WORDS:
            raise ValueError(f"arrays of up to {WORDS - 1} dimensions in C's order have blocks, not {array.shape}")
        words[0] = array.ctypes.data
        words[1 : 1 + array.ndim] = array.shape
    return block.reshape(-1)


def _array(block: int, place: int, kind: Any, dimensions: int) -> Any:
    words = (ctypes.c_int64 * WORDS).from_address(int(block) + 8 * WORDS * int(place))
    shape = tuple(words[1 : 1 + dimensions])
    data = (ctypes.c_char * (int(np.prod(shape)) * np.dtype(kind).itemsize)).from_address(words[0])
    return np.frombuffer(data, kind).reshape(shape)


def integers1(block: int, place: int) -> Any:
    """The array of integers at a place of the block at an address, of one dimension."""
    return _array(block, place, np.int64, 1)


def integers2(block: int, place: int) -> Any:
    """The same, of two."""
    return _array(block, place, np.int64, 2)


def bytes1(block: int, place: int) -> Any:
    """The array of bytes, of one dimension."""
    return _array(block, place, np.uint8, 1)


def bytes2(block: int, place: int) -> Any:
    """The same, of two."""
    return _array(block, place, np.uint8, 2)


def numbers1(block: int, place: int) -> Any:
    """The array of numbers, of one dimension."""
    return _array(block, place, np.float64, 1)


def numbers2(block: int, place: int) -> Any:
    """The same, of two."""
    return _array(block, place, np.float64, 2)


def numbers3(block: int, place: int) -> Any:
    """The same, of three: of eight states."""
    return _array(block, place, np.float64, 3)


class Layout(NamedTuple):
    """The named tuple of a block's arrays, their names, and the function above that reads each."""

    kind: type
    names: tuple[str, ...]
    readers: tuple[Callable[[int, int], Any], ...]


def layout_of(kind: type, readers: Mapping[str, Callable[[int, int], Any]]) -> Layout:
    """The layout of blocks with the arrays of a named tuple of this *kind*."""
    names = kind._fields  # type: ignore[attr-defined]
    return Layout(kind, names, tuple(readers[name] for name in names))


def arrays_of(block: int, layout: Layout) -> Any:
    """The arrays of the block at an address, by their names.

    In kernels it is the address alone: functions that take it pass one number on, not what all arrays are made of, and read
    where an array is as they use it. No kernel may change that meanwhile.
    """
    return layout.kind(*(read(block, place) for place, read in enumerate(layout.readers)))


def by_address(arrays: Any) -> Any:
    """The same named tuple of arrays, and of such tuples. In kernels its address from now on, as that of `arrays_of`.

    It stays what it is where it holds something else, such as an array that has gaps.
    """
    return arrays


def number_at(address: int, place: int) -> float:
    """The number at a place behind an address, which is of the first."""
    return ctypes.c_double.from_address(int(address) + 8 * int(place)).value


def put_number_at(address: int, place: int, x: float) -> None:
    """Store a number there."""
    ctypes.c_double.from_address(int(address) + 8 * int(place)).value = x
