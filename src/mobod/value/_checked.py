"""Numbers and vectors as users give them: checked, and copied so that nobody else can change them.

Each function takes the name by which the message speaks of the value. What is not a number is a TypeError, the wrong
shape a ValueError, and a NaN or an infinity a ModelError (which is a ValueError too).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ModelError
from ._immutable import Array

_LETTERS = {"x": 0, "y": 1, "z": 2}


def floats(value: ArrayLike, name: str) -> Array:
    """Make a float64 array of any shape, a copy."""
    try:
        raw = np.asarray(value)
    except ValueError:  # NumPy's message on ragged lists does not say whose
        raise ValueError(f"{name} must be an array of numbers; {value!r} has rows of different lengths") from None
    if raw.dtype.kind not in "iufO":  # objects may be fractions, or numbers of another library
        raise TypeError(f"{name} must be numbers, not {value!r}")
    try:
        return np.array(raw, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, not {value!r}") from None


def array(value: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    """Make a finite float64 array of the given shape, a copy."""
    result = floats(value, name)
    if result.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}; {value!r} has the shape {result.shape}")
    if not np.isfinite(result).all():
        raise ModelError(f"{name} must be finite; it is {value!r}")
    return result


def vector(value: ArrayLike, name: str) -> Array:
    """Make a finite (3,) array, a copy."""
    return array(value, (3,), name)


def number(value: object, name: str) -> float:
    """Make a finite float."""
    if type(value) is not float:
        result = floats(value, name)  # type: ignore[arg-type]
        if result.shape != ():
            raise ValueError(f"{name} must be one number; {value!r} has the shape {result.shape}")
        value = float(result)
    if not math.isfinite(value):
        raise ModelError(f"{name} must be finite; it is {value!r}")
    return value


def size(value: object, name: str) -> float:
    """Make a length, a radius: a finite float that is not negative."""
    result = number(value, name)
    if result < 0.0:
        raise ModelError(f"{name} must not be negative; it is {value!r}")
    return result


def unit(value: ArrayLike, name: str) -> Array:
    """Make a unit vector (3,) of a vector of any length but zero."""
    v = vector(value, name)
    largest = float(np.abs(v).max())
    if largest == 0.0:
        raise ModelError(f"{name} must have a direction; it is zero: {value!r}")
    v /= largest  # so that neither overflow nor underflow can come of the squares
    return np.asarray(v / math.sqrt(v @ v))


def axis_index(value: object, name: str) -> int:
    """Read a coordinate axis: "x", "y", "z" or 0, 1, 2."""
    if isinstance(value, str) and value.lower() in _LETTERS:
        return _LETTERS[value.lower()]
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value <= 2:
        return int(value)
    raise ValueError(f'{name} must be "x", "y" or "z", or 0, 1 or 2; it is {value!r}')


def vectors(value: ArrayLike, name: str) -> Array:
    """Read vectors (3,) or (..., 3) that are about to be multiplied; NaN passes through."""
    v = value if type(value) is np.ndarray and value.dtype == np.float64 else floats(value, name)
    if v.ndim == 0 or v.shape[-1] != 3:
        raise ValueError(f"{name} must be a vector (3,) or vectors (n, 3); it has the shape {v.shape}")
    return v
