"""Users' functions of numbers and tuples of them, that give a tuple of numbers: checked by calling them in plain Python."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._frozen import Frozen
from .._jit import UsersRoutine
from ..algebra.dual import Dual
from ..algebra.record import LANES
from ..errors import ModelError
from ._users_functions import _in_plain_words as in_plain_words
from ._users_trial import _Ambiguous as Ambiguous
from ._users_trial import _has_others as has_others
from ._users_trial import _said_by as said_by
from ._users_trial import _same as same
from ._users_trial import _shape as shape_of

Function = Callable[..., Any]
#: How many parameters there can be: each is an argument that Numba has to type.
MOST_PARAMETERS = 32


def frozen(function: Any, name: str, arguments: Sequence[str]) -> Frozen:
    """A copy of *function*, which has to take these arguments."""
    copy = Frozen(function, name)
    try:
        inspect.signature(copy.function).bind(*arguments)
    except TypeError as error:
        raise ModelError(f"{copy.what} has to take ({', '.join(arguments)}): {error}") from None
    return copy


def checked_parameters(parameters: Any) -> list[float]:
    """Finite numbers, not too many; `ModelError` or `ValueError` otherwise."""
    if isinstance(parameters, str) or np.ndim(parameters) != 1:
        raise ValueError(f"parameters have to be a sequence of numbers, got {parameters!r}")
    numbers = np.array(parameters, np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"a parameter has to be finite, got {parameters!r}")
    if len(numbers) > MOST_PARAMETERS:
        raise ModelError(f"compiled functions take {MOST_PARAMETERS} parameters at most, got {len(numbers)}")
    found: list[float] = numbers.tolist()
    return found


def try_out(f: Frozen, places: Iterable[Mapping[str, Any]], shape: tuple[int, ...]) -> None:
    """Call it at *places*, its arguments by name, until one is in its reach: with floats, eight states, and dual numbers."""
    out_of_reach = ""
    for arguments in places:
        try:
            value = f.function(*arguments.values())
        except (ArithmeticError, ValueError) as error:  # such as a root of a negative number: elsewhere there may be none
            out_of_reach = (
                f"{f.what} fails at {dict(arguments)}: {said_by(error)}; and so it is at other places that were tried"
            )
            continue
        except Exception as error:
            counts = ", ".join(f"{len(one)} {name}" for name, one in arguments.items() if isinstance(one, tuple))
            raise ModelError(f"{f.what} fails: {said_by(error)}. (It gets {counts})") from error
        if shape_of(value) != shape:
            listed = "; lists and arrays are not taken, write tuples" if has_others(value) else ""
            wanted = "a number" if shape == () else f"a tuple of {shape[0]} number{'s' if shape[0] > 1 else ''}"
            raise ModelError(f"{f.what} has to return {wanted}{listed}; it returned {value!r}")
        _try_other_numbers(f, arguments, value)
        return
    raise ModelError(out_of_reach)


def _try_other_numbers(f: Frozen, arguments: Mapping[str, Any], expected: Any) -> None:
    for make, what in (
        (lambda x: np.full(LANES, x), "eight states at a time"),
        (lambda x: Dual(x, (1.0,)), "dual numbers"),
    ):
        try:
            with np.errstate(all="ignore"):
                found = f.function(*(_each(make, one) for one in arguments.values()))
        except Exception as error:
            said, hint = said_by(error), ""
            if isinstance(error, Ambiguous) or "truth value" in said or "neither true nor false" in said:
                hint = "; for a choice by a number use mobod.algebra.where(condition, a, b), not if, and, or, min, max"
            raise ModelError(f"{f.what} fails with {what}, in which it is called too: {said}{hint}") from error
        if not same(expected, found):
            raise ModelError(
                f"{f.what} gives other values with {what}, in which it is called too, than with floats: {found!r} "
                f"and {expected!r}"
            )


def _each(make: Callable[[float], Any], value: Any) -> Any:
    return tuple(_each(make, part) for part in value) if isinstance(value, tuple) else make(value)


#: The routines made so far: equal functions share them.
_routines: dict[str, UsersRoutine] = {}


def routine_of(kernel: Function, functions: Sequence[Frozen], shape: Any) -> UsersRoutine:
    """The routine of a kernel that calls users' functions; *shape* is what it was made for."""
    prints = [f.fingerprint for f in functions]

    def explain(scalar: str, error: Exception) -> Exception:
        of_what = {"state": "numbers", "lanes": "eight states at a time", "duals": "dual numbers"}[scalar]
        f = next((f for f in functions if f.function.__name__ in str(error)), functions[0])
        return ModelError(f"{f.what} cannot be compiled for {of_what}: {in_plain_words(str(error), f)}")

    parts = [part for f in functions for part in f.parts]
    if None in prints:
        return UsersRoutine(kernel, parts, None, explain)
    fingerprint = hashlib.blake2b(repr((kernel.__qualname__, shape, prints)).encode(), digest_size=16).hexdigest()
    if fingerprint not in _routines:
        _routines[fingerprint] = UsersRoutine(kernel, parts, fingerprint, explain)
    return _routines[fingerprint]
