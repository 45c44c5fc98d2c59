"""Bodies: mass properties, and what is drawn of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ... import decoration
from ...errors import ModelError
from ...mobilizer.base import MobilizedBody
from ...value import MassProperties
from ..report import Report
from .document import Item
from .frames import FRAMES, Components


def read_mass(item: Item, report: Report, strict: bool) -> tuple[float, MassProperties]:
    """Read the mass properties of a body; an inertia that no body can have is kept as it is, and reported.

    Raises
    ------
    ModelError
        The mass is missing or negative; or *strict*, and no body can have the inertia.
    """
    mass = item.number("mass", np.nan)
    if not 0.0 <= mass < np.inf:
        item.refuse(f"body {item.name!r} needs a <mass>, zero or more; it is {mass}")
    com = item.finite("mass_center", (0.0, 0.0, 0.0))
    xx, yy, zz, xy, xz, yz = item.finite("inertia", (0.0,) * 6).tolist()
    central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if mass == 0.0:
        if np.any(central):
            report.append(item.note(f"body {item.name!r} has no mass: its inertia is left out, as OpenSim does"))
        return 0.0, MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    about_origin = central + mass * (com @ com * np.eye(3) - np.outer(com, com))
    try:
        return mass, MassProperties(mass, com, about_origin)
    except ModelError as error:
        if strict:
            item.refuse(f"body {item.name!r}: {error}")
        report.depart(item.note(f"body {item.name!r} has an inertia that no body can have, kept as it is: {error}"))
        return mass, MassProperties.trusted(mass, com, about_origin)


def share(properties: MassProperties, parts: int) -> MassProperties:
    """An equal share of the mass, for each of the parts that a body is cut into."""
    if parts == 1:
        return properties
    return MassProperties.trusted(properties.mass / parts, properties.com.copy(), np.asarray(properties.inertia) / parts)


# ---------------------------------------------------------------------------------------------- what is drawn


class Drawings:
    """Puts geometries on bodies, and keeps account of those that cannot be drawn."""

    def __init__(self, components: Components, path: str, folders: Sequence[str | os.PathLike[str]], report: Report) -> None:
        self.components = components
        self.report = report
        here = Path(path).resolve().parent
        self.folders = [here, here / "Geometry", *map(Path, folders), *(Path(one) / "Geometry" for one in folders)]
        self.missing: dict[str, Item] = {}

    def draw(self, parts: dict[int, MobilizedBody]) -> None:
        """Decorate bodies, by the identity of their items; Ground is among them where it can be drawn on."""
        for frame in self.components.all(*FRAMES):
            base, X_BF = self.components.place(frame)
            part = parts.get(id(base))
            for item in self._geometries(frame):
                item.is_read = True
                X = X_BF
                if item.text("socket_frame") not in ("", ".."):
                    other = self.components.look_up(frame, item.text("socket_frame"), FRAMES)
                    if other is not None and other is not frame:
                        item_base, X = self.components.place(other)
                        part = parts.get(id(item_base))
                shape = self._shape(item)
                if shape is not None and part is not None:
                    part.add_body_decoration(shape, X)
        if self.missing:
            first = next(iter(self.missing.values()))
            names = ", ".join(sorted(self.missing))
            self.report.append(
                first.note(
                    f"{len(self.missing)} mesh file(s) are not beside the model nor in its folder Geometry, and not "
                    f"drawn: {names}"
                )
            )

    def _geometries(self, frame: Item) -> Iterator[Item]:
        yield from frame.objects("attached_geometry")
        yield from (item for item in frame.objects("components") if item.tag in GEOMETRIES or item.tag in ("Mesh", "Geometry"))

    def _shape(self, item: Item) -> decoration.Decoration | None:
        scale = item.vector("scale_factors", (1.0, 1.0, 1.0))
        look = item.find("Appearance")
        looks: dict[str, Any] = {}
        if look is not None:
            look.read_all()
            if not look.flag("visible", True):
                return None
            looks = {
                "color": np.clip(look.vector("color", (1.0, 1.0, 1.0)), 0.0, 1.0),
                "opacity": min(max(look.number("opacity", 1.0), 0.0), 1.0),
            }
        try:
            if item.tag == "Mesh":
                return self._mesh(item, scale, looks)
            maker = GEOMETRIES.get(item.tag)
            if maker is None:
                self.report.append(
                    item.note(f"a geometry of kind {item.tag} is not drawn; known are Mesh, {', '.join(GEOMETRIES)}")
                )
                item.read_all()
                return None
            return maker(item, {"scale": scale, **looks} if np.all(scale != 0.0) else looks)
        except (ValueError, TypeError) as error:
            self.report.append(item.note(f"{item.tag} {item.name!r} is not drawn: {error}"))
            return None

    def _mesh(self, item: Item, scale: np.ndarray, looks: dict[str, Any]) -> decoration.Decoration | None:
        name = item.text("mesh_file")
        if not name:
            return None
        for folder in self.folders:
            if (folder / name).is_file():
                return decoration.MeshFile(folder / name, scale=scale, **looks)
        self.missing.setdefault(name, item)
        return None


Maker = Callable[[Item, dict[str, Any]], decoration.Decoration]


def _of(kind: Callable[..., decoration.Decoration], **usual: float | tuple[float, ...]) -> Maker:
    """A maker of a shape of the numbers and vectors that the file says, in this order, or of these."""

    def make(item: Item, looks: dict[str, Any]) -> decoration.Decoration:
        said = (item.number(tag, one) if isinstance(one, float) else item.vector(tag, one) for tag, one in usual.items())
        return kind(*said, **looks)

    return make


def _arrow(start: Any, direction: Any, length: float, **looks: Any) -> decoration.Decoration:
    return decoration.Arrow(start, start + length * direction, **looks)


_O, _X, _ONES = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0)
#: What is drawn of each kind of geometry.
GEOMETRIES: dict[str, Maker] = {
    "Sphere": _of(decoration.Sphere, radius=1.0),
    "Ellipsoid": _of(decoration.Ellipsoid, radii=_ONES),
    "Cylinder": _of(decoration.Cylinder, radius=1.0, half_height=1.0),
    "Cone": _of(decoration.Cone, origin=_O, direction=_X, height=1.0, base_radius=1.0),
    "Torus": _of(decoration.Torus, ring_radius=1.0, cross_section=1.0),
    "Brick": _of(decoration.Brick, half_lengths=_ONES),
    "LineGeometry": _of(decoration.Line, start_point=_O, end_point=_ONES),
    "Arrow": _of(_arrow, start_point=_O, direction=_X, length=1.0),
    "ArrowGeometry": _of(_arrow, start_point=_O, direction=_X, length=1.0),
    "FrameGeometry": lambda item, looks: decoration.Frame(item.number("display_radius", 0.0) or 0.2),
    "PointGeometry": lambda item, looks: decoration.Point(),
}
