"""Looks of links: decorations of bodies from the shapes of a file's visuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import body, decoration
from ...value import Rotation, Transform
from ..mesh_files import MeshFinder
from ..parts import rotation_taking
from .description import Mechanism, Visual
from .shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere

#: Cylinders of files are along z, decorations' along y.
_ALONG_Z = Transform(Rotation(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])))


class Looks:
    """Draws visuals; a size of zero is not drawn, and meshes whose files are not there are remembered."""

    def __init__(self, finder: MeshFinder) -> None:
        self.finder = finder
        self._missing: dict[str, list[str]] = {}

    def decorate(self, part: body.Body, visual: Visual) -> None:
        """Add what there is to draw to a body."""
        color, opacity = (None, 1.0) if visual.rgba is None else (visual.rgba[:3], visual.rgba[3])
        looks: dict[str, Any] = {"color": color, "opacity": opacity}
        X = visual.X
        match visual.geometry:
            case Box(size) if min(size) > 0.0:
                part.add_decoration(decoration.Brick([0.5 * length for length in size], **looks), X)
            case Sphere(radius) if radius > 0.0:
                part.add_decoration(decoration.Sphere(radius, **looks), X)
            case Ellipsoid(radii) if min(radii) > 0.0:
                part.add_decoration(decoration.Ellipsoid(radii, **looks), X)
            case Cylinder(radius, length) | Capsule(radius, length) if min(radius, length) > 0.0:
                part.add_decoration(decoration.Cylinder(radius, 0.5 * length, **looks), X @ _ALONG_Z)
                if isinstance(visual.geometry, Capsule):
                    for end in (-0.5 * length, 0.5 * length):
                        part.add_decoration(decoration.Sphere(radius, **looks), X @ Transform((0.0, 0.0, end)))
            case Cone(radius, length) if min(radius, length) > 0.0:
                part.add_decoration(decoration.Cone((0.0, 0.0, -0.5 * length), (0.0, 0.0, 1.0), length, radius, **looks), X)
            case Plane(normal, size) if any(normal) and min(size) > 0.0:
                turned = Rotation(rotation_taking(2, np.array(normal) / np.linalg.norm(normal)))
                part.add_decoration(decoration.geometry.Plane(0.5 * max(size), **looks), X @ Transform(turned))
            case Mesh(filename, scale) if all(scale):
                found = self.finder.find(filename)
                if found is None:
                    self._missing.setdefault(filename, []).append(visual.place)
                else:
                    part.add_decoration(decoration.MeshFile(found, scale=scale, **looks), X)

    def report(self, mechanism: Mechanism, strict: bool) -> None:
        """Say which meshes are not there, once each.

        Raises
        ------
        ModelError
            For the first, if it is to be *strict*.
        """
        for name, places in self._missing.items():
            what = f"there is no mesh file {name!r}"
            if strict:
                raise mechanism.fail(places[0], f"{what}; package_dirs says where packages and models are")
            times = f" ({len(places)} times)" if len(places) > 1 else ""
            mechanism.report.append(f"{places[0]}: {what}; it is not drawn{times}")
