"""Results of derivatives of forward and inverse dynamics."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..algebra.eights import whole_lines
from ..algebra.record import LANES, address_of, in_lines
from ..value.checks import writable


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of ``u_dot``: by q in its tangent, u, z, generalized forces on the mobilities, and time."""

    q: Array
    u: Array
    z: Array
    mobility_forces: Array
    time: Array


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of `MultibodySystem.calc_inverse_dynamics`: by q in its tangent, u, and u_dot, which is M."""

    q: Array
    u: Array
    u_dot: Array


def targets(out: Any, kind: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
    """The caller's arrays as a named tuple of that *kind*, or None."""
    if out is None:
        return None
    if not isinstance(out, (tuple, list)) or len(out) != len(shapes):
        raise TypeError(
            f"out has to be what an earlier call gave, {kind.__name__}, or {len(shapes)} arrays; got {reprlib.repr(out)}"
        )
    for name, array, shape in zip(kind._fields, out, shapes, strict=True):
        writable(f"{name} of out", array, shape)
    return out if isinstance(out, kind) else kind(*out)


@cache
def begins_of(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Where parts of these shapes begin in a state's row, and the row's length: each fills whole cache lines."""
    return tuple(accumulate((whole_lines(math.prod(shape)) for shape in shapes), initial=0))


def results(rows: int, n: int, kind: Any, shapes: tuple[tuple[int, ...], ...], into: Any) -> tuple[Array, Any]:
    """A block that kernels write, *rows* of a state each, and its parts: those of *into* if they are such, else new ones.

    Rows begin at cache lines, as their parts do: where blocks of eight numbers of eight states are lines, each is written once,
    in half the time.
    """
    *begins, size = begins_of(shapes)
    # as many numbers more as rows are no state's: of memory with others, these may be results of somebody else
    numbers = rows * size + LANES + rows - n
    if into is not None:
        block = _block_with(into, rows, begins, size)
        if block is not None and into[0].base.size == numbers:
            return block, into
    block = in_lines(np.empty(numbers), rows, size)
    parts = zip(begins, shapes, strict=True)
    return block, kind(*(block[:n, begin : begin + math.prod(shape)].reshape(n, *shape) for begin, shape in parts))


def block_of(parts: Sequence[Array]) -> Array:
    """A block that *parts* are those of, of as many rows: the one that they are views of, or a new one."""
    n, shapes = len(parts[0]), tuple(part.shape[1:] for part in parts)
    *begins, size = begins_of(shapes)
    block = _block_with(parts, n, begins, size)
    if block is None:
        block, into = results(n, n, type(parts), shapes, None)
        put(parts, into)
    return block


def _block_with(parts: Sequence[Array], rows: int, begins: Sequence[int], size: int) -> Array | None:
    """The block, of at least so many *rows*, that *parts* of the right shapes are views of; None if they are others."""
    memory = parts[0].base
    if not isinstance(memory, np.ndarray) or memory.dtype != np.float64 or memory.ndim != 1:
        return None
    if memory.size < rows * size + LANES:
        return None
    block = in_lines(memory, rows, size)
    at = address_of(block)
    for part, begin in zip(parts, begins, strict=True):
        if part.size and (part.ctypes.data != at + 8 * begin or part.strides != _strides(size, part.shape)):
            return None
    return block


def _strides(size: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Of a part of that shape, in a block of rows of *size* numbers."""
    return (8 * size, 8 * shape[2], 8) if len(shape) == 3 else (8 * size, 8)


def put(parts: Sequence[Array], into: Any) -> Any:
    """Parts of a result into the caller's arrays, which are returned; the parts if there are none, or they are these."""
    if into is None or parts is into:
        return parts
    for target, part in zip(into, parts, strict=True):
        target[...] = part
    return into
