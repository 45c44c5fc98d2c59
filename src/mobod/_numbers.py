"""Numbers as users pass them, made what kernels take."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def numbers(what: str, value: Any) -> Array:
    """*value* as float64, not copied where it is that; what is no real number is refused by the name of *what* it is for."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "cmMV":  # NumPy would drop an imaginary part, or a unit
        raise TypeError(f"{what} has to be real numbers, got an array of {value.dtype}")
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{what} has to be real numbers: {error}") from None


def behaved(array: Array) -> Array:
    """*array*, or a copy where it is strided, unaligned or read-only: for each such form Numba would compile a kernel anew."""
    return array if array.flags.carray else array.copy()
