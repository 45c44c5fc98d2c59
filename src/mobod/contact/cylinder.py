"""Cylinder: all points near an axis, between two planes or between none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from .. import decoration
from ..value import checks
from ..value.rotation import Rotation
from ..value.transform import Transform
from .shape import CYLINDER, Box, Shape

#: Half the length at which an infinite one is drawn, in radii.
_DRAWN = 20.0


@dataclass(frozen=True, eq=False, slots=True)
class Cylinder(Shape):
    """A cylinder about z.

    Parameters
    ----------
    radius : float
        Above zero; length.
    half_length : float
        From the origin to either end, above zero; length. ``inf`` makes it endless.

    Raises
    ------
    TypeError, ModelError
        If one of them is no number, or not above zero; if the radius is not finite.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.Cylinder(0.1, 0.3)
    >>> shape.radius, shape.half_length
    (0.1, 0.3)
    """

    KIND: ClassVar[int] = CYLINDER
    radius: float
    half_length: float

    def __init__(self, radius: float, half_length: float) -> None:
        object.__setattr__(self, "radius", checks.positive("radius", radius))
        half = checks.number("half_length", half_length)
        object.__setattr__(self, "half_length", half if half == math.inf else checks.positive("half_length", half_length))

    @property
    def is_unbounded(self) -> bool:
        """True if it is endless."""
        return self.half_length == math.inf

    def dimensions(self) -> list[float]:
        """The radius, the half length or 0, and whether it is endless."""
        return [self.radius, 0.0, 1.0] if self.is_unbounded else [self.radius, self.half_length, 0.0]

    def bounds(self) -> Box:
        """The box around it."""
        return Box((0.0, 0.0, 0.0), (self.radius, self.radius, self.half_length))

    def decorations(self) -> list[tuple[Any, Transform]]:
        """Itself, or as much of it as can be drawn."""
        half = _DRAWN * self.radius if self.is_unbounded else self.half_length
        upright = Rotation.about_axis(math.pi / 2, "x")  # a drawn cylinder is along y
        return [(decoration.Cylinder(self.radius, half), Transform(upright))]
