"""Kernels that call users' functions, as routines: compiled for each scalar when a model first needs them, kept on the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...compiling import Routine, UsersRoutine, is_generic, routine
from ...errors import ModelError
from ...value.checks import finite
from .explanation import explained
from .frozen import Frozen

Function = Callable[..., Any]

#: How many parameters compiled functions can have: each is an argument that Numba has to type.
MOST_PARAMETERS = 32
#: The routines made so far, by fingerprint: a system's copies, and parts made of equal functions, share them.
_made: dict[str, UsersRoutine] = {}


def routine_of(
    family: str,
    functions: Mapping[str, Frozen],
    shape: Any,
    make: Callable[[], Function],
    lengths: Mapping[str, Sequence[int]] | None = None,
    makes_arrays: bool = False,
) -> UsersRoutine:
    """The routine of a kernel that calls users' functions.

    Parameters
    ----------
    family : str
        Tells kernels of one family from another's.
    functions : mapping of str to Frozen
        By name; messages are about the first where it is unknown which one fails.
    shape : object
        What else the kernel is made for, such as numbers of coordinates; its repr is hashed.
    make : callable
        Makes the kernel, where no equal one has been made.
    lengths : mapping of str to sequence of int, optional
        See `explained`.
    makes_arrays : bool
        Whether the kernel makes arrays.
    """
    prints = {name: f.fingerprint for name, f in functions.items()}
    fingerprint = None
    if None not in prints.values():
        fingerprint = hashlib.blake2b(repr((family, shape, prints)).encode(), digest_size=16).hexdigest()
        if fingerprint in _made:
            return _made[fingerprint]

    def explain(scalar: str, error: Exception) -> Exception:
        return explained(functions, scalar, error, lengths)

    parts = [part for f in functions.values() for part in f.parts]
    made = UsersRoutine(make(), parts, fingerprint, explain, makes_arrays)
    if fingerprint is not None:
        _made[fingerprint] = made
    return made


def routine_of_kind(make: Function, *functions: Function | None, shape: Any = ()) -> Routine:
    """The routine of a kind, whose kernel is ``make(*functions)``; None stands for a function that it does not have.

    The functions may be the package's own, or stand in any other file: they are frozen then as users' functions are. *shape* is
    what else *make* makes the kernel for.
    """
    if all(f is None or is_generic(f) for f in functions):
        kernel, first = make(*functions), next(f for f in functions if f is not None)
        # the name of its file in the cache
        kernel.__module__, kernel.__qualname__ = first.__module__, f"{first.__qualname__}.{kernel.__name__}"
        return routine(kernel)
    frozen = {str(i): Frozen(f, f.__name__) for i, f in enumerate(functions) if f is not None and not is_generic(f)}
    ours = [f and (f.__module__, f.__qualname__) for i, f in enumerate(functions) if str(i) not in frozen]
    taken = [frozen[str(i)].function if str(i) in frozen else f for i, f in enumerate(functions)]
    maker: Any = getattr(make, "func", make)
    return routine_of("kind", frozen, (maker.__module__, maker.__qualname__, ours, shape), lambda: make(*taken))


def check_parameters(parameters: Any) -> list[float]:
    """Finite numbers, not too many; `ModelError` or `ValueError` otherwise."""
    if isinstance(parameters, str) or np.ndim(parameters) != 1:
        raise ValueError(f"parameters have to be a sequence of numbers, got {parameters!r}")
    numbers = [finite("a parameter", x, ValueError) for x in parameters]
    check_number_of_parameters(len(numbers))
    return numbers


def check_number_of_parameters(n: int) -> None:
    """Refuse too many."""
    if n > MOST_PARAMETERS:
        raise ModelError(f"compiled functions take {MOST_PARAMETERS} parameters at most, got {n}")
