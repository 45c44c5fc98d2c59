"""Numbers as users pass them, made what kernels take."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_FLOAT64 = np.dtype(np.float64)


def numbers(what: str, value: Any) -> Array:
    """*value* as float64, not copied where it is that; what is no real number is refused by the name of *what* it is for.

    np.asarray would take None for NaN, and drop imaginary parts and units.
    """
    if type(value) is np.ndarray and value.dtype is _FLOAT64:  # as nearly all come
        return value
    try:
        given = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{what} has to be real numbers, got {reprlib.repr(value)}: {error}") from None
    if given.dtype == np.float64:
        return given
    if given.dtype.kind in "fiub" or (given.dtype.kind == "O" and None not in given.ravel().tolist()):
        try:
            return given.astype(np.float64)
        except (TypeError, ValueError):
            pass  # below says it
    raise TypeError(f"{what} has to be real numbers, got {reprlib.repr(value)}")


_REALS = (float, int, np.floating, np.integer)  # a union would be made anew at each call


def number(what: str, value: Any) -> float:
    """One real number."""
    if isinstance(value, _REALS):
        return float(value)
    if np.ndim(value) == 0 and not isinstance(value, str | bytes) and not np.iscomplexobj(value):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass  # below says it better
    raise TypeError(f"{what} has to be a number, got {value!r}")


def behaved(array: Array) -> Array:
    """*array*, or a copy where it is strided, unaligned or read-only: for each such form Numba would compile a kernel anew."""
    return array if array.flags.carray else array.copy()
