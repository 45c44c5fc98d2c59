"""Torus: all points near a circle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .. import decoration
from ..errors import ModelError
from ..value import checks
from ..value.transform import Transform
from .shape import TORUS, Box, Shape


@dataclass(frozen=True, eq=False, slots=True)
class Torus(Shape):
    """A ring about z.

    Parameters
    ----------
    torus_radius : float
        Of the circle in the middle of the tube, about the origin, in the plane of x and y; length.
    tube_radius : float
        Of the tube, above zero, and less than that of the circle; length.

    Raises
    ------
    TypeError, ModelError
        If one of them is no number, or not above zero and finite; if the tube has no hole.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.Torus(1.0, 0.1)
    >>> shape.torus_radius, shape.tube_radius
    (1.0, 0.1)
    """

    KIND: ClassVar[int] = TORUS
    torus_radius: float
    tube_radius: float

    def __init__(self, torus_radius: float, tube_radius: float) -> None:
        ring, tube = checks.positive("torus_radius", torus_radius), checks.positive("tube_radius", tube_radius)
        if tube >= ring:
            raise ModelError(f"tube_radius has to be less than torus_radius, {ring:g}, got {tube_radius!r}")
        object.__setattr__(self, "torus_radius", ring)
        object.__setattr__(self, "tube_radius", tube)

    def dimensions(self) -> list[float]:
        """Both radii, and a number that is not used."""
        return [self.torus_radius, self.tube_radius, 0.0]

    def bounds(self) -> Box:
        """The box around it."""
        outer = self.torus_radius + self.tube_radius
        return Box((0.0, 0.0, 0.0), (outer, outer, self.tube_radius))

    def decorations(self) -> list[tuple[Any, Transform]]:
        """Itself."""
        return [(decoration.Torus(self.torus_radius, self.tube_radius), Transform())]
