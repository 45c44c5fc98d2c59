"""Mass and inertia of a link from its collision shapes, as SDF's ``<inertial auto="true">`` asks for.

Of bodies of uniform density; of several, the sum about their common mass centre (the parallel axis theorem).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...algebra.arrays import Array
from ..mechanism.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Sphere
from .document import ShapeElement


def calc_inertia(shapes: Sequence[tuple[ShapeElement, float]]) -> tuple[float, Array, Array] | None:
    """Calculate mass, mass centre and inertia about it of shapes with their densities; None where one has no known volume."""
    parts = []
    for shape, density in shapes:
        of_one = _volume_and_moments(shape.geometry)
        if of_one is None or shape.pose.relative_to:
            return None
        volume, moments = of_one
        R = shape.pose.X.R.matrix
        parts.append((density * volume, shape.pose.X @ _centre(shape.geometry), density * volume * (R * moments) @ R.T))
    mass = sum(part[0] for part in parts)
    if not mass > 0.0:
        return None
    com = np.sum([m * p for m, p, _ in parts], axis=0) / mass
    tensor = np.zeros((3, 3))
    for m, p, own in parts:
        d = p - com
        tensor += own + m * ((d @ d) * np.eye(3) - np.outer(d, d))
    return mass, com, 0.5 * (tensor + tensor.T)


def _centre(geometry: Geometry) -> Array:
    """The mass centre in the shape's frame."""
    return np.array([0.0, 0.0, -0.25 * geometry.length if isinstance(geometry, Cone) else 0.0])


def _volume_and_moments(geometry: Geometry) -> tuple[float, Array] | None:
    """The volume, and principal moments for each unit of mass."""
    match geometry:
        case Box((x, y, z)):
            return x * y * z, np.array([y * y + z * z, x * x + z * z, x * x + y * y]) / 12.0
        case Sphere(r):
            return 4.0 / 3.0 * math.pi * r**3, np.full(3, 0.4 * r * r)
        case Ellipsoid((a, b, c)):
            return 4.0 / 3.0 * math.pi * a * b * c, np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 5.0
        case Cylinder(r, h):
            across = (3.0 * r * r + h * h) / 12.0
            return math.pi * r * r * h, np.array([across, across, 0.5 * r * r])
        case Cone(r, h):
            across = 0.15 * r * r + 0.0375 * h * h
            return math.pi * r * r * h / 3.0, np.array([across, across, 0.3 * r * r])
        case Capsule(r, h):
            middle, ends = math.pi * r * r * h, 4.0 / 3.0 * math.pi * r**3
            volume = middle + ends
            along = (middle * 0.5 * r * r + ends * 0.4 * r * r) / volume
            # two halves of a ball, each 3/8 r beyond the cylinder's end
            of_ends = 0.4 * r * r + 0.25 * h * h + 0.375 * r * h
            across = (middle * (3.0 * r * r + h * h) / 12.0 + ends * of_ends) / volume
            return volume, np.array([across, across, along])
        case _:
            return None
