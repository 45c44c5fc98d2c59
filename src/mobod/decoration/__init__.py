"""Looks of bodies: shapes with a placement, a color and a way to be drawn. `mb.decoration.Sphere` and others."""

from ..value.attributes import explain_names
from .geometry import (
    Arrow as Arrow,
    Brick as Brick,
    Circle as Circle,
    Cone as Cone,
    Cylinder as Cylinder,
    Decoration as Decoration,
    Ellipsoid as Ellipsoid,
    Frame as Frame,
    Line as Line,
    Mesh as Mesh,
    MeshFile as MeshFile,
    Point as Point,
    Sphere as Sphere,
    Text as Text,
    Torus as Torus,
)

explain_names(__name__)
