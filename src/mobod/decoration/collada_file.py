"""COLLADA files (``.dae``): the triangles of what their scenes show, in metres, with the colours of their materials.

Read are triangles, polygons (convex ones, split into fans), strips and fans; instances of geometry and of nodes, under
matrices, translations, rotations and scales; the diffuse colour of a material. The file's unit is applied, and its direction
up is not, as in ROS and Gazebo, whose models are made for that. Source: COLLADA 1.4.1 specification, Khronos Group.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from ..algebra.arrays import Array, Indices
from .safe_xml import parse_safely

Rgba: TypeAlias = tuple[float, float, float, float]
#: A scene may show a node many times; one that shows itself would never end.
_DEEPEST, _MOST = 50, 10_000


class Part(NamedTuple):
    """A piece of a surface: vertices (nv, 3), triangles (nt, 3), and the colour that its file gives it."""

    vertices: Array
    triangles: Indices
    rgba: Rgba | None


def read_collada(path: Path) -> list[Part]:
    """Read what the file's scene shows.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not what its name says.
    """
    root = parse_safely(path, "COLLADA")
    try:
        return _Scene(root).read()
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is not a COLLADA file that can be read: {error}") from None


class _Scene:
    """The parts of one file, by their identities."""

    def __init__(self, root: ET.Element) -> None:
        for element in root.iter():  # whatever version's namespace it is
            element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        self.root = root
        self.by_id = {element.get("id", ""): element for element in root.iter() if element.get("id")}
        self.pieces: dict[str, list[tuple[str, Array, Indices]]] = {}
        self.shown = 0

    def read(self) -> list[Part]:
        unit = self.root.find("asset/unit")
        metres = float(unit.get("meter", "1")) if unit is not None else 1.0
        X = np.diag([metres, metres, metres, 1.0])
        scene = self.root.find("scene/instance_visual_scene")
        top = self.of(scene) if scene is not None else self.root.find("library_visual_scenes/visual_scene")
        parts: list[Part] = []
        if top is None:  # no scene: all geometry as it is
            for geometry in self.root.iterfind("library_geometries/geometry"):
                parts += self.place(geometry, X, {})
            return parts
        for node in top.iterfind("node"):
            parts += self.show(node, X, 0)
        return parts

    def of(self, instance: ET.Element) -> ET.Element:
        address = instance.get("url", instance.get("target", ""))
        return self.by_id[address.removeprefix("#")]

    def show(self, node: ET.Element, X: Array, depth: int) -> Iterator[Part]:
        self.shown += 1
        if depth > _DEEPEST or self.shown > _MOST:
            raise ValueError("its nodes show each other without end")
        X = X @ _transform(node)
        for child in node:
            if child.tag == "node":
                yield from self.show(child, X, depth + 1)
            elif child.tag == "instance_node":
                yield from self.show(self.of(child), X, depth + 1)
            elif child.tag in ("instance_geometry", "instance_controller"):
                geometry = self.of(child)
                if geometry.tag == "controller":  # a skin, as it is at rest
                    skin = geometry.find("skin")
                    if skin is None:
                        continue
                    geometry = self.by_id[skin.get("source", "").removeprefix("#")]
                bound = child.iterfind("bind_material/technique_common/instance_material")
                yield from self.place(geometry, X, {one.get("symbol", ""): one for one in bound})

    def place(self, geometry: ET.Element, X: Array, materials: dict[str, ET.Element]) -> Iterator[Part]:
        name = geometry.get("id", "")
        if name not in self.pieces:
            mesh = geometry.find("mesh")
            self.pieces[name] = [] if mesh is None else list(self.triangles(mesh))
        for symbol, points, triangles in self.pieces[name]:
            placed = points @ X[:3, :3].T + X[:3, 3]
            if np.linalg.det(X[:3, :3]) < 0.0:
                triangles = triangles[:, ::-1]
            yield Part(placed, triangles, self.color(materials.get(symbol), symbol))

    def triangles(self, mesh: ET.Element) -> Iterator[tuple[str, Array, Indices]]:
        """The pieces of a mesh: the symbol of each one's material, points and triangles."""
        for element in mesh:
            if element.tag not in ("triangles", "polylist", "polygons", "tristrips", "trifans"):
                continue
            inputs = element.findall("input")
            vertex = next((one for one in inputs if one.get("semantic") == "VERTEX"), None)
            if vertex is None:
                continue
            offset = int(vertex.get("offset", "0"))
            stride = 1 + max(int(one.get("offset", "0")) for one in inputs)
            rows = [np.array((p.text or "").split(), dtype=np.int64)[offset::stride] for p in element.iterfind("p")]
            corners = _split(element, rows)
            if len(corners):
                points = self.positions(vertex)
                if not np.isfinite(points).all():
                    raise ValueError("it has vertices that are not finite")
                used, index = np.unique(corners, return_inverse=True)
                if used[0] < 0 or used[-1] >= len(points):
                    raise ValueError("it has a face with a vertex that is not there")
                yield element.get("material", ""), points[used], np.asarray(index, np.int64).reshape(-1, 3)

    def positions(self, vertex: ET.Element) -> Array:
        vertices = self.by_id[vertex.get("source", "").removeprefix("#")]
        position = next(one for one in vertices.findall("input") if one.get("semantic") == "POSITION")
        source = self.by_id[position.get("source", "").removeprefix("#")]
        array, accessor = source.find("float_array"), source.find("technique_common/accessor")
        if array is None:
            raise ValueError("it has vertices without numbers")
        stride = int(accessor.get("stride", "3")) if accessor is not None else 3
        numbers = np.array((array.text or "").split(), dtype=np.float64)
        return numbers[: len(numbers) // stride * stride].reshape(-1, stride)[:, :3]

    def color(self, instance: ET.Element | None, symbol: str) -> Rgba | None:
        material = self.by_id.get(instance.get("target", "").removeprefix("#") if instance is not None else symbol)
        effect = material.find("instance_effect") if material is not None else None
        shown = self.by_id.get(effect.get("url", "").removeprefix("#")) if effect is not None else None
        color = shown.find(".//diffuse/color") if shown is not None else None
        words = (color.text or "").split() if color is not None else []
        if len(words) < 3:
            return None
        red, green, blue, alpha = (min(max(float(word), 0.0), 1.0) for word in [*words, "1"][:4])
        return red, green, blue, alpha


def _split(element: ET.Element, rows: list[Indices]) -> Indices:
    """Triangles (nt, 3) of an element's rows of vertices."""
    if element.tag == "triangles":
        flat = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        return flat[: len(flat) // 3 * 3].reshape(-1, 3)
    if element.tag == "polylist":
        counts = np.array((element.findtext("vcount") or "").split(), dtype=np.int64)
        rows = np.split(rows[0], np.cumsum(counts)[:-1]) if rows and len(counts) else []
    if element.tag == "tristrips":
        fans = [(r[i + k], r[i + 1 - k], r[i + 2]) for r in rows for i in range(len(r) - 2) for k in (i % 2,)]
    else:
        fans = [(r[0], r[i], r[i + 1]) for r in rows for i in range(1, len(r) - 1)]
    return np.array(fans, dtype=np.int64).reshape(-1, 3)


def _transform(node: ET.Element) -> Array:
    """The product of a node's transforms, (4, 4)."""
    X = np.eye(4)
    for element in node:
        if element.tag not in ("matrix", "translate", "rotate", "scale"):
            continue
        numbers = np.nan_to_num(np.array((element.text or "").split(), dtype=np.float64))
        step = np.eye(4)
        if element.tag == "matrix":
            step = numbers.reshape(4, 4)
        elif element.tag == "translate":
            step[:3, 3] = numbers
        elif element.tag == "scale":
            step[:3, :3] = np.diag(numbers)
        else:
            step[:3, :3] = _about(numbers[:3], np.deg2rad(numbers[3]))
        X = X @ step
    return X


def _about(axis: Array, angle: float) -> Array:
    size = float(np.linalg.norm(axis))
    if size == 0.0:
        return np.eye(3)
    x, y, z = axis / size
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K))
