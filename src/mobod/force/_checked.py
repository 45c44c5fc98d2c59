"""Checks of what constructors and setters of forces are given: errors name the thing, the value and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def finite(what: str, value: Any) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what} has to be a number, got {value!r}") from None
    if not np.isfinite(number):
        raise ValueError(f"{what} has to be finite, got {value}")
    return number


def not_negative(what: str, value: Any) -> float:
    """A finite number, zero or more."""
    number = finite(what, value)
    if number < 0.0:
        raise ValueError(f"{what} has to be zero or more, got {value}")
    return number


def positive(what: str, value: Any) -> float:
    """A finite number above zero."""
    number = finite(what, value)
    if not number > 0.0:
        raise ValueError(f"{what} has to be above zero, got {value}")
    return number


def numbers(what: str, value: Any, shape: tuple[int, ...]) -> Array:
    """An array of finite numbers."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} has to be numbers of shape {shape}, got {value!r}") from None
    if array.shape != shape:
        raise ValueError(f"{what} has to have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} has to be finite, got {value!r}")
    return array


def vector(what: str, value: Any) -> list[float]:
    """Three finite numbers."""
    return numbers(what, value, (3,)).tolist()


def six_not_negative(what: str, value: Any) -> list[float]:
    """Six finite numbers, zero or more."""
    array = numbers(what, value, (6,))
    if (array < 0.0).any():
        raise ValueError(f"{what} has to be six numbers, all zero or more, got {value!r}")
    return array.tolist()


def integer(what: str, value: Any, least: int, most: int) -> int:
    """An integer in a range."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} has to be an integer, not {value!r}")
    number: int = value.__index__()
    if not least <= number <= most:
        raise ValueError(f"{what} has to be from {least} to {most}, got {value}")
    return number


def frame(what: str, value: Any) -> list[float]:
    """A frame's rotation by rows and its origin: twelve numbers."""
    if not (hasattr(value, "R") and hasattr(value, "p")):
        raise TypeError(f"{what} has to be a mobod.Transform, not {value!r}")
    return [*np.asarray(value.R).ravel().tolist(), *np.asarray(value.p).tolist()]
