"""Results of derivatives of forward and inverse dynamics."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
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


def in_block(block: Array, n: int, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """Parts of a row a state, one behind the other, of the first *n* states ``(n, *shape)``: views."""
    ends = list(accumulate(map(math.prod, shapes), initial=0))
    return [block[:n, ends[i] : ends[i + 1]].reshape(n, *shape) for i, shape in enumerate(shapes)]


def results(rows: int, n: int, kind: Any, shapes: Sequence[tuple[int, ...]], into: Any) -> tuple[Array, Any]:
    """A block that kernels write, *rows* of a state each, and its parts: those of *into* if they are such, else new ones."""
    size = sum(map(math.prod, shapes))
    if into is not None:
        block = into[0].base
        if isinstance(block, np.ndarray) and block.dtype == np.float64 and block.flags.carray and block.shape == (rows, size):
            if all(map(_is_same, into, in_block(block, n, shapes))):
                return block, into
    block = np.empty((rows, size))
    return block, kind(*in_block(block, n, shapes))


def block_of(parts: Sequence[Array]) -> Array:
    """The parts of a result one behind the other, a row a state: the block that they are views of, or a new one."""
    n, size, block = len(parts[0]), sum(part[0].size for part in parts), parts[0].base
    if isinstance(block, np.ndarray) and block.ndim == 2 and block.shape[1] == size and block.flags.carray:
        return block
    return np.hstack([part.reshape(n, -1) for part in parts])


def _is_same(one: Array, other: Array) -> bool:
    """True if both are one memory, by the same strides; of empty ones it does not matter."""
    return not one.size or (one.ctypes.data == other.ctypes.data and one.strides == other.strides)


def put(parts: Sequence[Array], into: Any) -> Any:
    """Parts of a result into the caller's arrays, which are returned; the parts if there are none, or they are these."""
    if into is None or parts is into:
        return parts
    for target, part in zip(into, parts, strict=True):
        target[...] = part
    return into
