"""Frames, vectors and arrays as users pass them to a body's methods; errors name what each is for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._numbers import numbers
from ..errors import ModelError
from ..value import Rotation, Transform

Array = npt.NDArray[np.float64]
ArrayLike = npt.ArrayLike


def frame_or_none(what: str, X: Any) -> Transform:
    """A frame that may be left out: the identity then."""
    return Transform() if X is None else frame(what, X)


def frame(what: str, X: Any) -> Transform:
    if isinstance(X, Transform):
        return X
    if isinstance(X, Rotation):
        return Transform(X)
    try:
        array = np.asarray(X, dtype=np.float64)
        return Transform.from_matrix(array) if array.shape == (4, 4) else Transform(array)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} has to be a Transform, got {X!r}: {error}") from None


def vector(what: str, v: ArrayLike) -> Array:
    array = numbers(what, v)
    if array.shape != (3,):
        raise ValueError(f"{what} is a vector (3,), got shape {array.shape}")
    return array


def stations(what: str, points: ArrayLike) -> Array:
    """One vector ``(3,)``, or several ``(n, 3)``, also none."""
    array = numbers(what, points)
    if array.shape == (0,):
        return array.reshape(0, 3)
    if array.shape[-1:] != (3,) or array.ndim > 2:
        raise ValueError(f"{what} is a vector (3,), or several are (n, 3); got shape {array.shape}")
    return array


def like(array: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    value = numbers(what, array)
    if value.shape != shape:
        raise ValueError(f"{what} has to have shape {shape}, got {value.shape}")
    return value


def writable(array: Any, shape: tuple[int, ...], what: str) -> Array:
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        got = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise TypeError(f"{what} is changed in place, so it has to be a float64 array, not {got}")
    if array.shape != shape:
        raise ValueError(f"{what} has to have shape {shape}, got {array.shape}")
    if not array.flags.writeable:
        raise ValueError(f"{what} is changed in place, and the array given is read-only; give a copy of it, and use that")
    return array


#: Which of xx yy zz xy xz yz is where in a symmetric 3 x 3 matrix.
_PLACES_OF_SIX = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])


def full(six: Sequence[float] | Array) -> Array:
    """3 x 3 from xx yy zz xy xz yz."""
    matrix: Array = np.asarray(six)[_PLACES_OF_SIX]
    return matrix


def cross_by(w: Array) -> Array:
    """The matrix W with r @ W = w x r, for one r or for rows of several; np.cross takes ten times as long."""
    x, y, z = w.tolist()
    return np.array(((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0)))
