"""Ellipsoid: a sphere that is stretched along three axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from .. import decoration
from ..algebra.arrays import Array
from ..value import checks
from ..value.transform import Transform
from .shape import ELLIPSOID, Box, Shape


@dataclass(frozen=True, eq=False, slots=True)
class Ellipsoid(Shape):
    """An ellipsoid about the origin of its frame, its axes those of the frame.

    Parameters
    ----------
    radii : (3,) array_like
        Along x, y and z, above zero; length.

    Raises
    ------
    TypeError, ValueError
        If they are not three numbers.
    ModelError
        If one of them is not above zero and finite.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.Ellipsoid((0.1, 0.2, 0.3))
    >>> shape.radii
    array([0.1, 0.2, 0.3])
    """

    KIND: ClassVar[int] = ELLIPSOID
    radii: Array

    def __init__(self, radii: npt.ArrayLike) -> None:
        lengths = checks.positive_vector("radii", radii)
        lengths.flags.writeable = False
        object.__setattr__(self, "radii", lengths)

    def dimensions(self) -> list[float]:
        """Its radii."""
        return self.radii.tolist()

    def bounds(self) -> Box:
        """The box around it."""
        return Box((0.0, 0.0, 0.0), self.radii.tolist())

    def decorations(self) -> list[tuple[Any, Transform]]:
        """Itself."""
        return [(decoration.Ellipsoid(self.radii), Transform())]
