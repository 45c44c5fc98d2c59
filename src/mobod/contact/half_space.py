"""HalfSpace: all points behind a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..decoration import Brick
from ..value import checks
from ..value.rotation import Rotation
from ..value.transform import Transform
from .shape import HALF_SPACE, Shape

#: Half the side and half the thickness of the plate by which it is drawn; length.
_DRAWN, _THICKNESS = 5.0, 0.01


@dataclass(frozen=True, eq=False, slots=True)
class HalfSpace(Shape):
    """A half-space, solid behind the plane through the origin of its frame.

    Parameters
    ----------
    normal : (3,) array_like
        Out of the solid, in the surface's frame; z unless given. (Simbody's half-space has (-1, 0, 0).)

    Raises
    ------
    TypeError, ValueError
        If the normal is not three finite numbers, or zero.
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
        """A plate, its upper face in the plane."""
        R = Rotation.from_one_axis(self.normal, "z")
        plate = Brick((_DRAWN, _DRAWN, _THICKNESS), color=(0.75, 0.75, 0.78), opacity=0.5)
        return [(plate, Transform(R, -_THICKNESS * np.asarray(self.normal)))]


__all__ = ["HalfSpace"]
