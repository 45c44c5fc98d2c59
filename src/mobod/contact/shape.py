"""Shape: what every shape of a contact surface shares.

A new kind of shape is a file beside this one with its class, and its pairs with others in `pairs`.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ..algebra.arrays import Array
from ..value.abstract import Abstract
from ..value.transform import Transform

#: The kinds; of a pair of surfaces the one of lower kind comes first in its routine.
HALF_SPACE, SPHERE, CAPSULE, CYLINDER, BRICK, ELLIPSOID, TORUS, CONVEX_HULL, TRIANGLE_MESH, HEIGHT_FIELD = range(10)


class Box(NamedTuple):
    """A box, its sides along the axes of the surface's frame S, that contains a shape."""

    center: Sequence[float]
    half_lengths: Sequence[float]


@dataclass(frozen=True, eq=False, slots=True)
class Shape(Abstract):
    """The shape of a contact surface, in a frame S of its own. Base class of the kinds in `mobod.contact`; immutable.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.Sphere(0.1)
    >>> isinstance(shape, mb.contact.Shape)
    True
    """

    #: One of the numbers above.
    KIND: ClassVar[int]

    @property
    def is_unbounded(self) -> bool:
        """True if no box contains it: it is all of space on one side of a surface, or endless."""
        return False

    @abc.abstractmethod
    def dimensions(self) -> list[float]:
        """Lengths and directions, as kernels of pairs read them: from `access.DIMENSIONS` on of the surface's numbers."""

    def integers(self) -> Sequence[int]:
        """The integers that kernels read in contact_integers: numbers of vertices, faces, trees of boxes."""
        return ()

    def constants(self) -> Sequence[float] | Array:
        """The constants that kernels read in contact_constants: vertices, boxes, heights."""
        return ()

    def bounds(self) -> Box:
        """A box that contains it; not called of unbounded ones."""
        raise NotImplementedError

    def max_points(self) -> int:
        """The most points that it adds to a contact: for a mesh its faces."""
        return 18

    @abc.abstractmethod
    def decorations(self) -> list[tuple[Any, Transform]]:
        """Its looks: decorations, each with its pose in S."""
