"""Looks of bodies: shapes with a placement, a color and a way to be drawn. `mb.decoration.Sphere` and others."""

from ..value.attributes import explain_names
from .geometry import (
    Arrow,
    Brick,
    Circle,
    Cone,
    Cylinder,
    Decoration,
    Ellipsoid,
    Frame,
    Line,
    Mesh,
    MeshFile,
    Point,
    Sphere,
    Text,
    Torus,
)

__all__ = [
    "Arrow",
    "Brick",
    "Circle",
    "Cone",
    "Cylinder",
    "Decoration",
    "Ellipsoid",
    "Frame",
    "Line",
    "Mesh",
    "MeshFile",
    "Point",
    "Sphere",
    "Text",
    "Torus",
]

explain_names(__name__)
