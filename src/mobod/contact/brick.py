"""Brick: a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from .. import decoration
from ..algebra.arrays import Array
from ..value import checks
from ..value.transform import Transform
from .shape import BRICK, Box, Shape


@dataclass(frozen=True, eq=False, slots=True)
class Brick(Shape):
    """A box about the origin of its frame, its edges along the axes.

    Parameters
    ----------
    half_lengths : (3,) array_like
        From the center to the faces, along x, y and z, above zero; length.

    Raises
    ------
    TypeError, ValueError
        If they are not three numbers.
    ModelError
        If one of them is not above zero and finite.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.Brick((0.1, 0.2, 0.3))
    >>> shape.half_lengths
    array([0.1, 0.2, 0.3])
    """

    KIND: ClassVar[int] = BRICK
    half_lengths: Array

    def __init__(self, half_lengths: npt.ArrayLike) -> None:
        lengths = checks.positive_vector("half_lengths", half_lengths)
        lengths.flags.writeable = False
        object.__setattr__(self, "half_lengths", lengths)

    def dimensions(self) -> list[float]:
        """Its half lengths."""
        return self.half_lengths.tolist()

    def bounds(self) -> Box:
        """The box around it."""
        return Box((0.0, 0.0, 0.0), self.half_lengths.tolist())

    def decorations(self) -> list[tuple[Any, Transform]]:
        """Itself."""
        return [(decoration.Brick(self.half_lengths), Transform())]
