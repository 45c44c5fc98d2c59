"""The shapes of visuals and collisions in model files, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Vector3: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A box centred at its frame's origin; `size` is the three full lengths."""

    size: Vector3


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A cylinder centred at its frame's origin, its axis along z."""

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Sphere:
    """A sphere centred at its frame's origin."""

    radius: float


@dataclass(frozen=True, slots=True)
class Capsule:
    """A cylinder along z with half a sphere at each end, centred at its frame's origin; `length` is without these."""

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Mesh:
    """A mesh by the name in the file (often a `package://` address); it is not opened."""

    filename: str
    scale: Vector3 = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """An ellipsoid centred at its frame's origin, its axes those of the frame."""

    radii: Vector3


@dataclass(frozen=True, slots=True)
class Cone:
    """A cone along z, its apex up, the middle of its height at its frame's origin."""

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Plane:
    """A plane through its frame's origin; what is drawn of it has the two lengths."""

    normal: Vector3
    size: tuple[float, float]


Geometry: TypeAlias = Box | Capsule | Cylinder | Sphere | Mesh | Ellipsoid | Cone | Plane
