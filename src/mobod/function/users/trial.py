"""Calls users' functions in plain Python before Numba compiles them, for errors that name the function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...algebra.dual import Dual
from ...algebra.record import LANES
from ...errors import ModelError
from .frozen import Frozen
from .places import line_of_error

#: Arguments of a function by name: numbers, or tuples of tuples of them.
Arguments = Mapping[str, Any]


class OutOfReach(Exception):
    """A function has no value at a place, such as one out of a joint's reach; it may have one elsewhere."""


def try_out(
    f: Frozen, places: Sequence[Arguments], counts: str, check: Callable[[Any, Arguments], None], numbers_only: bool = False
) -> Any:
    """Call *f* with numbers, eight states at a time and dual numbers, at the first of *places* where it has a value.

    Parameters
    ----------
    f : Frozen
    places : sequence of mapping
        Arguments by name, in the order in which *f* takes them.
    counts : str
        How many of each argument there are, for the message where that is what *f* gets wrong.
    check : callable
        ``check(value, arguments)`` refuses what *f* must not return, or says by `OutOfReach` that this is no place for it.

    numbers_only : bool
        Whether plain numbers are enough, the same function having been tried out before.

    Returns
    -------
    object
        What *f* returned.

    Raises
    ------
    ModelError
        If *f* fails at one place or has values at none, or gives other values with other numbers.
    """
    said: OutOfReach | None = None
    for arguments in places:
        try:
            value = _value(f, arguments, counts)
            check(value, arguments)
            if not numbers_only:
                _try_other_numbers(f, arguments, value)
            return value
        except OutOfReach as out:
            said = out
    raise ModelError(f"{said}; and so it is at {len(places)} places that were tried, of which this is the last")


def _value(f: Frozen, arguments: Arguments, counts: str) -> Any:
    try:
        with np.errstate(all="ignore"):
            return f.function(*arguments.values())
    except (ArithmeticError, ValueError) as error:  # such as a root of a negative number
        raise OutOfReach(f"{f.what} fails at {tell(arguments)}{_at_line(f, error)}: {_said_by(error)}") from error
    except Exception as error:
        raise ModelError(f"{f.what} fails{_at_line(f, error)}: {_said_by(error)}. ({counts})") from error


def _eight(name: str, x: float) -> Any:
    return np.full(LANES, x)


def _dual(name: str, x: float) -> Any:
    return x if name == "parameters" else Dual(x, (1.0,))  # which have no tangents


def _try_other_numbers(f: Frozen, arguments: Arguments, expected: Any) -> None:
    """Call *f* with the other kinds of number: the values have to be the same as of floats."""
    for make, what in ((_eight, "eight states at a time"), (_dual, "dual numbers")):
        try:
            with np.errstate(all="ignore"):
                found = f.function(*(_each(make, name, value) for name, value in arguments.items()))
        except Exception as error:
            said, hint = _said_by(error), ""
            if "truth value" in said or "neither true nor false" in said:
                hint = "; for a choice by a number use mobod.algebra.where(condition, a, b), not if, and, or, min, max"
            elif isinstance(error, (ArithmeticError, ValueError)):  # such as the slope of a root at zero
                raise OutOfReach(f"{f.what} fails with {what} at {tell(arguments)}: {said}") from error
            raise ModelError(f"{f.what} fails with {what}, in which it is called too: {said}{hint}") from error
        if not _same(expected, found):
            raise ModelError(
                f"{f.what} gives other values with {what}, in which it is called too, than with floats: {found!r} "
                f"and {expected!r}"
            )


def _each(make: Callable[[str, float], Any], name: str, value: Any) -> Any:
    return tuple(_each(make, name, part) for part in value) if isinstance(value, tuple) else make(name, value)


def tell(arguments: Arguments) -> str:
    """Arguments, for a message."""
    return ", ".join(f"{name} = {value}" for name, value in arguments.items())


def _at_line(f: Frozen, error: BaseException) -> str:
    """The line of the user's file in which an error was raised, in words."""
    line = line_of_error(f.function, error)
    return f", at {line}" if line else ""


def _said_by(error: BaseException) -> str:
    return str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"


def check_tuples(said: str, value: Any, *shapes: Any) -> None:
    """Refuse what is not made of tuples and numbers, or has none of *shapes*; *said* begins the message.

    A shape is as of an array, or where tuples differ in length a list of the shapes of what a tuple holds.
    """
    if not any(_has_shape(value, shape) for shape in shapes):
        listed = "; lists and arrays are not taken, write tuples" if _has_others(value) else ""
        raise ModelError(f"{said}{listed}; it is {value!r}")


def _has_shape(value: Any, shape: Any) -> bool:
    if isinstance(shape, list):
        return isinstance(value, tuple) and len(value) == len(shape) and all(map(_has_shape, value, shape))
    if shape == ():
        return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    return isinstance(value, tuple) and len(value) == shape[0] and all(_has_shape(part, shape[1:]) for part in value)


def _has_others(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_others, value))
    return isinstance(value, (list, np.ndarray))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_same, one, other))
    while isinstance(other, Dual):
        other = other.value
    return bool(np.allclose(other, one, rtol=1e-9, atol=1e-12, equal_nan=True))
