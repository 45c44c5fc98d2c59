"""Objects as callers have given them, for kernels that look at them themselves: from Python each look takes longer than a body.

A kernel's argument of this kind is an object of Python, passed by its address and whatever it is. `is_like` says whether it is
an array that can be read as another, which is known to be plain: float64, of one dimension, contiguous, of the same length.
Nothing else may be asked of one that is not; the caller then checks it as usual. What such a kernel returns is an object too.
Kernels that are in the cache know these functions by name: one that is to do something else takes another name.
`object_layout` looks whether objects are as they are taken to be; where they are not, `mirrors` stands between.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiling import engine
from ..compiling.built_in import address_of, built_in
from ..compiling.kernels import generic, marked
from . import mirrors, object_layout
from .scalar import load, store

_MOST = sys.float_info.max


class KernelForCallers:
    """A kernel of objects, which Python calls as a built-in function, keeping its lock meanwhile.

    Its ``code``, once it has been loaded, crashes when it is called with other objects than it was written for.
    """

    __slots__ = "__weakref__", "code", "place", "python"  # no dictionary, in which it takes 0.01 us to find the code

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python: Any = generic(function)
        self.code: Callable[..., Any] | None = None
        #: The address of its code.
        self.place = 0
        marked.add(self)

    def load(self) -> Callable[..., Any]:
        """The compiled code, compiled or loaded when it is first asked for; it is ``code`` from now on."""
        engine.numba()
        with engine.lock():
            if self.code is None:
                function, count = self.python, self.python.__code__.co_argcount

                def entry(this: Any, arguments: Any, n: Any) -> Any:
                    if n != count:
                        return wrong_call()
                    return address(function(*each(arguments, count)))

                self.place = address_of(entry, function)
                if object_layout.why_plain():
                    self.code = mirrors.Mirrored(self.place, function.__name__, count)
                else:
                    self.code = built_in(self.place, function.__name__, function.__module__)
        return self.code

    def __repr__(self) -> str:
        return f"<KernelForCallers {self.python.__module__}.{self.python.__qualname__}>"


def compiled_for_callers(function: Callable[..., Any]) -> KernelForCallers:
    """Mark a kernel whose arguments are objects that a caller has given, or others of Python, and which returns one."""
    return KernelForCallers(function)


def each(arguments: Any, count: int) -> Any:
    """The arguments of a built-in function, from where Python has put their addresses."""
    return tuple(arguments[:count])


def wrong_call() -> int:
    """The address of nothing, with an error of Python's set: for another number of arguments."""
    raise TypeError


def address(given: Any) -> int:
    """The address of an object."""
    return id(given)


def as_object(number: int) -> Any:
    """A number as an object of Python."""
    return number


def number(given: Any) -> int:
    """An object that is an integer, of 64 bits."""
    return int(given)


def drop(given: Any) -> None:
    """A new object that nobody gets after all."""


def record_of(block: Any) -> Any:
    """`attach` of a state's block."""
    return block


def duals_of(block: Any) -> Any:
    """`attach` of a block of Duals."""
    return block


def integer(array: Any) -> int:
    """The first element of an array of integers."""
    return int(array[0])


def release_gil(wanted: bool) -> int:
    """Release Python's global lock, if *wanted*. What it returns is for `acquire_gil`."""
    return 0


def acquire_gil(released: int) -> None:
    """Wait for Python's lock, if it was released."""


def is_like(given: Any, plain: Any) -> bool:
    """True if *given* is a plain array of the length of *plain*, or this itself."""
    return given is plain or is_row(given, plain, len(plain))


def is_row(given: Any, plain: Any, length: int) -> bool:
    """True if *given* is a plain array of this length, as *plain* is one of any."""
    return is_of_shape(given, plain, (length,))


def is_of_shape(given: Any, plain: Any, shape: Any) -> bool:
    """True if *given* is a plain array, as *plain* is one, of this *shape*, a tuple."""
    return (
        type(given) is type(plain)
        and given.dtype is plain.dtype
        and given.shape == shape
        and bool(given.flags.c_contiguous and given.flags.aligned)
    )


def real_or_nan(given: Any) -> float:
    """The number that a float is, of Python's or NumPy's, or an integer of Python's; not a number of anything else."""
    return float(given) if type(given) in (float, int, np.float64) else np.nan


def real(given: Any) -> float:
    """The number that a float of Python's is."""
    return float(given)


def num_items(given: Any) -> int:
    """The number of objects that a tuple has."""
    return len(given)


def length(plain: Any) -> int:
    """The length of a plain array."""
    return len(plain)


def is_listed(given: Any) -> bool:
    """True if it is a list, or a tuple, not a named one."""
    return type(given) in (list, tuple)


def part(given: Any, k: int) -> Any:
    """One of the objects of such a list or tuple."""
    return given[k]


def new_row(length: int) -> Any:
    """A new plain array, or nothing where there is no memory: from Python it takes as long as the dynamics of a body."""
    return np.empty(length)


def new_matrix(length: int) -> Any:
    """A new square array of float64, or nothing."""
    return np.empty((length, length))


def new_tuple(kind: Any, objects: Any) -> Any:
    """A new named tuple of new objects, or nothing where one of these is nothing; they are the tuple's from then on."""
    return kind(*objects)


def keep(given: Any) -> Any:
    """An object that there is already, to be one of such a tuple's."""
    return given


def is_nothing(given: Any) -> bool:
    """True if there was no memory for it. If a kernel returns it then, Python raises MemoryError."""
    return given is None


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


@generic
def take_listed(given: Any, low: float, target: Any, place: int) -> bool:
    """Store the numbers of a list or a tuple from a *place* on; False where one is none, not finite, or below *low*."""
    refused, count = 0, num_items(given)
    for i in range(count):
        refused += not low <= real_or_nan(part(given, i)) <= _MOST
    if refused:
        return False
    for i in range(count):
        store(target, place + i, 0, real_or_nan(part(given, i)))
    return True


@compiled_for_callers
def assign(own: Any, value: Any) -> Any:
    """Copy *value* to the plain array *own*, if it is like it, or a list or a tuple of as many; 1 if so, otherwise 0."""
    if is_like(value, own):
        copy(value, own)
        return as_object(1)
    if is_listed(value) and num_items(value) == length(own) and take_listed(value, -_MOST, numbers(own), 0):
        return as_object(1)
    return as_object(0)


@compiled_for_callers
def put(values: Any, own: Any, first: Any, shape: Any, least: Any) -> Any:
    """Copy finite *values* of this *shape*, *least* or more, to the place *first* of *own*, an array of one column.

    They are a plain array, or a list or a tuple of numbers, or a number where the shape is that of one; 1 is returned if so,
    otherwise 0.
    """
    target, place, low, count, refused = numbers(own), number(first), real(least), 1, 0
    if num_items(shape) == 0:
        x = real_or_nan(values)
        if not low <= x <= _MOST:
            return as_object(0)
        store(target, place, 0, x)
        return as_object(1)
    if is_listed(values):
        fits = num_items(shape) == 1 and number(item(shape, 0)) == num_items(values)
        if fits and take_listed(values, low, target, place):
            return as_object(1)
        return as_object(0)
    if not is_of_shape(values, own, shape):
        return as_object(0)
    for k in range(num_items(shape)):
        count = count * number(item(shape, k))
    source = numbers(values)
    for i in range(count):
        refused += not low <= load(source, i, 0) <= _MOST
    if refused:
        return as_object(0)
    for i in range(count):
        store(target, place + i, 0, load(source, i, 0))
    return as_object(1)
