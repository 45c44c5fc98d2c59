"""Geoms as decorations, with their colours; those of the groups that MuJoCo's viewer hides are hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ... import decoration
from ...algebra.arrays import Array
from ...value import Transform
from .bodies import Tree
from .source import Source, plural, rotation_of

#: The groups of geoms that MuJoCo's viewer shows unless told.
SHOWN = 3
# MuJoCo's cylinders are along z, decorations' along y
_Y_TO_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
_FILES = (".stl", ".obj")


def geom_frame(source: Source, g: int) -> Transform:
    """The frame of a geom on its body."""
    return Transform.trusted(rotation_of(source.m.geom_quat[g]), np.array(source.m.geom_pos[g]))


def color_of(source: Source, g: int) -> dict[str, Any]:
    """Of the material, where it has one and its own is the default."""
    m = source.m
    rgba = np.array(m.geom_rgba[g], float)
    if m.geom_matid[g] >= 0 and np.allclose(rgba, (0.5, 0.5, 0.5, 1.0)):
        rgba = np.array(m.mat_rgba[m.geom_matid[g]], float)
    rgba = np.clip(rgba, 0.0, 1.0)
    return {"color": rgba[:3].tolist(), "opacity": float(rgba[3])}


def add_decorations(source: Source, tree: Tree) -> None:
    """Of all geoms, those of the world on Ground."""
    m = source.m
    bodies, groups = m.geom_bodyid.tolist(), m.geom_group.tolist()
    meshes: dict[int, tuple[decoration.Decoration, Transform]] = {}
    left = 0
    for g in range(m.ngeom):
        if source.stand_ins and source.geoms[g] in source.stand_ins:
            continue
        looks = color_of(source, g)
        if groups[g] >= SHOWN:
            looks["representation"] = "hidden"
        X, any_shape = geom_frame(source, g), False
        for shape, X_GD in _shapes(source, g, looks, meshes):
            any_shape = True
            if bodies[g] == 0:
                tree.matter.ground.add_body_decoration(shape, X @ X_GD)
            else:
                tree.bodies[bodies[g]].add_body_decoration(shape, X @ X_GD)
        left += not any_shape
    if left:
        source.note(f"{plural(left, 'geom')} of kinds that are not drawn: left out of pictures")


@dataclass(eq=False)
class MeshArrays(decoration.Decoration):
    """A surface of MuJoCo's, as arrays that need no check: `decoration.Mesh` would take a second for a large one."""

    vertices: Any = None
    faces: Any = None

    def __init__(self, vertices: Array, faces: Any, **looks: Any) -> None:
        self.vertices, self.faces = vertices, faces
        super().__init__(**looks)

    @property
    def is_closed(self) -> bool:
        """False: nothing is known of it."""
        return False

    def _calc_mesh(self, resolution: float) -> tuple[Array, Any]:
        return self.vertices, self.faces


def _shapes(
    source: Source, g: int, looks: dict[str, Any], meshes: dict[int, tuple[decoration.Decoration, Transform]]
) -> Iterator[tuple[decoration.Decoration, Transform]]:
    """Shapes to draw, each with its place in the geom's frame."""
    m, kinds = source.m, source.mujoco.mjtGeom
    kind, size = int(m.geom_type[g]), [float(x) for x in m.geom_size[g]]
    here, upright = Transform(), Transform.trusted(_Y_TO_Z, np.zeros(3))
    if kind == kinds.mjGEOM_SPHERE:
        yield decoration.Sphere(size[0], **looks), here
    elif kind == kinds.mjGEOM_ELLIPSOID:
        yield decoration.Ellipsoid(size, **looks), here
    elif kind == kinds.mjGEOM_BOX:
        yield decoration.Brick(size, **looks), here
    elif kind == kinds.mjGEOM_CYLINDER:
        yield decoration.Cylinder(size[0], size[1], **looks), upright
    elif kind == kinds.mjGEOM_CAPSULE:
        yield decoration.Cylinder(size[0], size[1], **looks), upright
        for end in (-size[1], size[1]):
            yield decoration.Sphere(size[0], **looks), Transform((0.0, 0.0, end))
    elif kind == kinds.mjGEOM_PLANE:
        half = max((x for x in size[:2] if x > 0.0), default=5.0)
        from ...decoration.geometry import Plane

        yield Plane(half, **looks), here
    elif kind in (kinds.mjGEOM_MESH, kinds.mjGEOM_SDF) and m.geom_dataid[g] >= 0:
        yield _mesh(source, int(m.geom_dataid[g]), looks)


def mesh_arrays(source: Source, mesh: int) -> tuple[Array, Any]:
    """Vertices in the geom's frame, and triangles."""
    m = source.m
    v, n = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
    f, k = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
    return np.array(m.mesh_vert[v : v + n], float), np.array(m.mesh_face[f : f + k])


def _mesh(source: Source, mesh: int, looks: dict[str, Any]) -> tuple[decoration.Decoration, Transform]:
    """The file, where it can be read when it is drawn; else the vertices and faces."""
    m = source.m
    path, asset = _file(source, mesh)
    if path is not None:
        # MuJoCo moves a mesh to the frame of its inertia: back from there
        X = Transform.trusted(rotation_of(m.mesh_quat[mesh]), np.array(m.mesh_pos[mesh], float))
        return decoration.MeshFile(path, scale=np.array(asset.scale, float), **looks), ~X
    vertices, faces = mesh_arrays(source, mesh)
    return MeshArrays(vertices, faces, **looks), Transform()


def _file(source: Source, mesh: int) -> tuple[Path | None, Any]:
    asset = source.spec.meshes[mesh] if mesh < len(source.spec.meshes) else None
    if asset is None or not asset.file or np.any(np.array(asset.scale) <= 0.0):
        return None, None
    if np.any(np.array(asset.refpos)) or not np.allclose(np.array(asset.refquat), (1.0, 0.0, 0.0, 0.0)):
        return None, None
    base = Path(source.spec.modelfiledir or Path(source.path).parent)
    for place in (base / source.spec.meshdir / asset.file, base / asset.file):
        if place.is_file() and place.suffix.lower() in _FILES:
            return place, asset
    return None, None
