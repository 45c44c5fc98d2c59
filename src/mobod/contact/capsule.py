"""Capsule: all points near a line segment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .. import decoration
from ..value import checks
from ..value.rotation import Rotation
from ..value.transform import Transform
from .shape import CAPSULE, Box, Shape


@dataclass(frozen=True, eq=False, slots=True)
class Capsule(Shape):
    """A cylinder along z with half a sphere at each end.

    Parameters
    ----------
    radius : float
        Of the cylinder and of the spheres, above zero; length.
    half_length : float
        From the origin to the center of either sphere, above zero; length.

    Raises
    ------
    TypeError, ModelError
        If one of them is no number, or not above zero and finite.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.Capsule(0.1, 0.3)
    >>> shape.radius, shape.half_length
    (0.1, 0.3)
    """

    KIND: ClassVar[int] = CAPSULE
    radius: float
    half_length: float

    def __init__(self, radius: float, half_length: float) -> None:
        object.__setattr__(self, "radius", checks.positive("radius", radius))
        object.__setattr__(self, "half_length", checks.positive("half_length", half_length))

    def dimensions(self) -> list[float]:
        """The radius, the half length, and a number that is not used."""
        return [self.radius, self.half_length, 0.0]

    def bounds(self) -> Box:
        """The box around it."""
        return Box((0.0, 0.0, 0.0), (self.radius, self.radius, self.half_length + self.radius))

    def decorations(self) -> list[tuple[Any, Transform]]:
        """A cylinder and two spheres."""
        upright = Rotation.about_axis(1.5707963267948966, "x")  # a drawn cylinder is along y
        ball, h = decoration.Sphere(self.radius), self.half_length
        return [
            (decoration.Cylinder(self.radius, h), Transform(upright)),
            (ball, Transform((0.0, 0.0, h))),
            (ball, Transform((0.0, 0.0, -h))),
        ]
