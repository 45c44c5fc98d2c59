"""Objects as callers have given them, for kernels that look at them themselves: from Python each look takes longer than a body.

A kernel's argument of this kind is an object of Python, passed by its address and whatever it is. `is_like` says whether it is
an array that can be read as another, which is known to be plain: float64, of one dimension, contiguous, of the same length.
Nothing else may be asked of one that is not; the caller then checks it as usual. Kernels that are in the cache know these
functions by name: one that is to do something else takes another name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiling.kernels import Kernel


class KernelForCallers(Kernel):
    """A kernel that keeps Python's lock but where it calls `release_gil`: to release it takes as long as a body's dynamics."""

    def __getattr__(self, name: str) -> Any:
        dispatcher = super().__getattr__(name)
        dispatcher.targetoptions["nogil"] = False  # before anything is compiled
        return dispatcher


def compiled_for_callers(function: Callable[..., Any]) -> KernelForCallers:
    """Mark a kernel whose arguments are the objects that a caller has given."""
    return KernelForCallers(function)


class Given:
    """What stands for any object where a kernel is compiled for the types of examples."""


GIVEN = Given()


def record_of(block: Any) -> Any:
    """`attach` of a state's block."""
    return block


def integer(array: Any) -> int:
    """The first element of an array of integers."""
    return int(array[0])


def release_gil(wanted: bool) -> int:
    """Let other threads of Python run meanwhile, if *wanted*. What it returns is for `acquire_gil`."""
    return 0


def acquire_gil(released: int) -> None:
    """Wait for Python's lock, if it was released."""


def is_like(given: Any, plain: Any) -> bool:
    """Whether *given* is a plain array of the length of *plain*, or this itself."""
    return given is plain or (
        type(given) is type(plain)
        and given.dtype is plain.dtype
        and given.shape == plain.shape
        and bool(given.flags.c_contiguous and given.flags.aligned)
    )


def copy(given: Any, plain: Any) -> None:
    """Copy the numbers of *given*, which is like it, to *plain*."""
    plain[:] = given


def item(arrays: Any, k: int) -> Any:
    """One of a tuple: each argument of a call takes as long as a small body, so what does not change comes together."""
    return arrays[k]


def integers(array: Any) -> Any:
    """An array of integers, of one dimension and contiguous, that the package has made; so are those below."""
    return array


def table(array: Any) -> Any:
    """One of two dimensions."""
    return array


def matrix(array: Any) -> Any:
    """An array of float64, of two dimensions."""
    return array


def blocks(array: Any) -> Any:
    """An array of float64, of three dimensions."""
    return array


def numbers(given: Any) -> Any:
    """The numbers of a plain array, a row each, for `load` and `store`."""
    return np.reshape(given, (-1, 1))
