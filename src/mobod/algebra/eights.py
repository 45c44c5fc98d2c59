"""Fields of lanes into rows of states: eight numbers of eight states at a time, turned in registers.

One number of eight states goes to eight rows, each to a cache line of its own, which is written eight times until it is full.
Eight numbers are a block that, turned, is a whole line of each row: that takes half the time.

Kernels that are in the cache know these functions by name: one that is to do something else takes another name.
"""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from .scalar import load, scatter


@generic
def whole_lines(count: int) -> int:
    """So many numbers, or up to the next multiple of eight: what begins behind that many begins at a cache line."""
    return (count + 7) & -8


def put_eight(source: Any, place: int, out: Any, first: int, column: int) -> None:
    """Eight numbers of a field of lanes, from number *place* on, to rows *first* to *first* + 7 of *out*, from *column* on."""
    out[first : first + 8, column : column + 8] = source.reshape(-1, 8)[place : place + 8].T


@generic
def put_rows(source: Any, row: int, count: int, out: Any, first: int, column: int) -> None:
    """So many rows of a field of lanes, from *row* on, one after the other to eight rows of *out*, from *column* on."""
    columns = source.shape[1]
    numbers = columns * count
    whole = numbers - numbers % 8
    for k in range(0, whole, 8):
        put_eight(source, columns * row + k, out, first, column + k)
    for k in range(whole, numbers):
        scatter(out, first, column + k, load(source, row + k // columns, k % columns))


@generic
def put_columns(source: Any, begin: int, end: int, out: Any, first: int, column: int, stride: int) -> None:
    """Columns of all rows to eight rows of *out*: the first row's from *column* on, the next *stride* behind, and so on."""
    count = end - begin
    whole = count - count % 8
    for i in range(source.shape[0]):
        place, at = source.shape[1] * i + begin, column + stride * i
        for k in range(0, whole, 8):
            put_eight(source, place + k, out, first, at + k)
        for k in range(whole, count):
            scatter(out, first, at + k, load(source, i, begin + k))
