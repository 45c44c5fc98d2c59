"""Sphere: all points near its center."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .. import decoration
from ..value import checks
from ..value.transform import Transform
from .shape import SPHERE, Box, Shape


@dataclass(frozen=True, eq=False, slots=True)
class Sphere(Shape):
    """A sphere about the origin of its frame.

    Parameters
    ----------
    radius : float
        Above zero; length.

    Raises
    ------
    TypeError, ModelError
        If the radius is no number, or not above zero and finite.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.Sphere(0.1)
    >>> shape.radius
    0.1
    """

    KIND: ClassVar[int] = SPHERE
    radius: float

    def __init__(self, radius: float) -> None:
        object.__setattr__(self, "radius", checks.positive("radius", radius))

    def dimensions(self) -> list[float]:
        """The radius."""
        return [self.radius]

    def bounds(self) -> Box:
        """The cube around it."""
        return Box((0.0, 0.0, 0.0), (self.radius,) * 3)

    def decorations(self) -> list[tuple[Any, Transform]]:
        """Itself."""
        return [(decoration.Sphere(self.radius), Transform())]
