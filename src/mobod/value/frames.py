"""Frames and rotations as users pass them: anything that a `Transform`, or a `Rotation`, can be made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import checks
from .rotation import Rotation
from .transform import Transform


def frame(what: str, value: Any) -> Transform:
    """A `Transform`, a `Rotation`, a homogeneous matrix (4, 4), a rotation matrix (3, 3) or a location (3,)."""
    if isinstance(value, Transform):
        return value
    if isinstance(value, Rotation):
        return Transform(value)
    accepted = f"{what} has to be a Transform, a Rotation, a matrix (4, 4) or (3, 3), or a location (3,)"
    try:
        array = checks.numbers(what, value)
    except TypeError:
        raise TypeError(f"{accepted}; got {value!r}") from None
    if array.shape not in ((4, 4), (3, 3), (3,)):
        raise ValueError(f"{accepted}; got {value!r} of shape {array.shape}")
    try:
        return Transform.from_matrix(array) if array.shape == (4, 4) else Transform(array)
    except ValueError as error:
        raise type(error)(f"{accepted}: {error}") from None


def frame_or_none(what: str, value: Any) -> Transform:
    """A frame that may be left out, which is the identity then."""
    return Transform() if value is None else frame(what, value)


def rotation(what: str, value: Any) -> Rotation:
    """A `Rotation`, or a rotation matrix (3, 3)."""
    if isinstance(value, Rotation):
        return value
    array = checks.shaped(what, value, (3, 3))
    try:
        return Rotation(array)
    except ValueError as error:
        raise type(error)(f"{what}: {error}") from None


def twelve(X: Transform) -> list[float]:
    """A frame as kernels read it: its rotation row by row, then its origin."""
    return [*np.asarray(X.R).ravel().tolist(), *np.asarray(X.p).tolist()]


def from_twelve(numbers: Any) -> Transform:
    """The `Transform` of these."""
    return Transform(Rotation(np.reshape(numbers[:9], (3, 3))), numbers[9:12])
