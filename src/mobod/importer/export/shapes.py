"""Shapes, drawn or touched, as formats know them: a kind, its half sizes, and its frame in the shape's own."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ... import contact, decoration
from ...value import Transform

#: From a cylinder along y, as it is drawn, to one along z.
_UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


class Shape(NamedTuple):
    """A box (half lengths), sphere (radius), ellipsoid (radii), cylinder or capsule (radius, half length; along z)."""

    kind: str
    sizes: tuple[float, ...]
    X: Transform = Transform()


def shape_of(given: Any) -> Shape | None:
    """The shape of a decoration or of a surface of contact; None for any other."""
    if isinstance(given, decoration.Decoration) and not np.array_equal(np.asarray(given.scale), np.ones(3)):
        return None
    if isinstance(given, decoration.Brick | contact.Brick):
        return Shape("box", tuple(np.asarray(given.half_lengths, float).tolist()))
    if isinstance(given, decoration.Sphere | contact.Sphere):
        return Shape("sphere", (float(given.radius),))
    if isinstance(given, decoration.Ellipsoid | contact.Ellipsoid):
        return Shape("ellipsoid", tuple(np.asarray(given.radii, float).tolist()))
    if isinstance(given, decoration.Cylinder):
        return Shape("cylinder", (float(given.radius), float(given.half_height)), Transform.trusted(_UPRIGHT, np.zeros(3)))
    if isinstance(given, contact.Capsule):
        return Shape("capsule", (float(given.radius), float(given.half_length)))
    if isinstance(given, contact.Cylinder) and math.isfinite(given.half_length):
        return Shape("cylinder", (float(given.radius), float(given.half_length)))
    return None
