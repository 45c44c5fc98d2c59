"""HalfSpace: all points behind a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..decoration.geometry import Plane
from ..value import checks
from ..value.rotation import Rotation
from ..value.transform import Transform
from .shape import HALF_SPACE, Shape


@dataclass(frozen=True, eq=False, slots=True)
class HalfSpace(Shape):
    """A half-space, solid behind the plane through the origin of its frame.

    Parameters
    ----------
    normal : (3,) array_like
        Out of the solid, in the surface's frame; z unless given. Simbody's half-space has (-1, 0, 0).

    Raises
    ------
    TypeError, ValueError
        If the normal is not three finite numbers, or zero.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.HalfSpace()
    >>> shape.normal
    array([0., 0., 1.])
    """

    KIND: ClassVar[int] = HALF_SPACE
    normal: Array

    def __init__(self, normal: npt.ArrayLike = (0.0, 0.0, 1.0)) -> None:
        direction = checks.unit("normal", normal)
        direction.flags.writeable = False
        object.__setattr__(self, "normal", direction)

    @property
    def is_unbounded(self) -> bool:
        """It is."""
        return True

    def dimensions(self) -> list[float]:
        """The normal."""
        return self.normal.tolist()

    def decorations(self) -> list[tuple[Any, Transform]]:
        """The plane."""
        R = Rotation.from_one_axis(self.normal, "z")
        return [(Plane(color=(0.88, 0.88, 0.90), opacity=0.6), Transform(R, np.zeros(3)))]
