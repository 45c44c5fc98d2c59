"""TriangleMesh: a body bounded by triangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import decoration
from ..algebra.arrays import Array, Indices
from ..decoration.mesh_file import read_mesh
from ..errors import ModelError
from ..value import checks
from ..value.transform import Transform
from . import mesh_tree
from .shape import TRIANGLE_MESH, Box, Shape

#: Twice the area of a triangle, as part of the square of its longest side, below which it has no direction.
_FLAT = 1e-12
#: How many faces or edges an error names.
_NAMED = 5


@dataclass(frozen=True, eq=False, slots=True)
class TriangleMesh(Shape):
    """A body bounded by triangles, convex or not.

    Parameters
    ----------
    vertices : (nv, 3) array_like
        In the surface's frame; length. Those at the very same place count as one.
    faces : (nf, 3) array_like of int
        Indices of each triangle's vertices, counter-clockwise as seen from outside.
    orient : bool
        Turn faces so that they agree with their neighbours, and each piece of the mesh so that it is solid inside.

    Raises
    ------
    TypeError, ValueError
        If these are not numbers, not integers, or not of that shape.
    IndexError
        If a face has a vertex that is not there.
    ModelError
        If a vertex is not finite, or a face without an area; if the mesh is not closed, or its faces do not agree which side is
        out; if it is inside out. The message names faces and edges, and what helps.

    Notes
    -----
    The mesh is an elastic foundation: a spring at the centroid of each face, so that faces should be small beside what the
    mesh touches, and all of about one size. What is thinner than the faces of another mesh can pass between their
    centroids. Cavities are faces that look inwards; *orient* would fill them. The material's layer
    is the `Surface`'s *thickness*.

    Examples
    --------
    >>> import mobod as mb
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> shape = mb.contact.TriangleMesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    >>> len(shape.faces)
    4
    """

    KIND: ClassVar[int] = TRIANGLE_MESH
    vertices: Array
    faces: Indices
    _integers: list[int]
    _constants: Array

    def __init__(self, vertices: npt.ArrayLike, faces: npt.ArrayLike, *, orient: bool = False) -> None:
        points = np.array(checks.vectors("vertices", vertices))
        corners = _faces(faces, len(points))
        bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
        if len(bad):
            raise ModelError(f"vertices have to be finite; {_named('vertex', 'vertices', bad)} of {len(points)} not")
        places, merged = np.unique(points, axis=0, return_inverse=True)
        merged = np.asarray(merged, np.int64).reshape(-1)
        _refuse_degenerate(places, merged[corners])
        if checks.flag("orient", orient):
            corners = _oriented(corners, merged, places)
        _check_closed(merged[corners])
        _check_outside(places, merged[corners])
        points.flags.writeable = corners.flags.writeable = False
        integers, constants = mesh_tree.build(places, merged[corners])
        for name, value in (("vertices", points), ("faces", corners), ("_integers", integers), ("_constants", constants)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_file(cls, path: str | Path, scale: float = 1.0, *, orient: bool = False, repair: bool = False) -> Self:
        """Read a mesh from a file.

        Parameters
        ----------
        path : str or Path
            STL, OBJ or VTP; other formats need the package trimesh, ``pip install mobod[mesh]``.
        scale : float
            What its numbers are multiplied by, above zero: 0.001 where they are millimetres.
        orient : bool
            As of the class.
        repair : bool
            Leave out faces without an area, close small holes and turn faces round, by trimesh.

        Raises
        ------
        OSError, ValueError, ImportError
            If the file cannot be read; if trimesh is needed and not installed.
        ModelError
            As of the class; the message says the file's name.
        """
        factor = checks.positive("scale", scale)
        file = Path(path)
        vertices, faces = read_mesh(file)
        if repair:
            vertices, faces = _repaired(file, vertices, faces)
        try:
            return cls(factor * vertices, faces, orient=orient or repair)
        except ModelError as error:
            raise ModelError(f"{file}: {error}") from None

    @property
    def num_faces(self) -> int:
        """Number of faces that it has."""
        return len(self.faces)

    @property
    def area(self) -> float:
        """Of all faces; length^2."""
        return float(mesh_tree.normals_and_areas(self.vertices[self.faces])[1].sum())

    @property
    def volume(self) -> float:
        """Inside; length^3."""
        corners = self.vertices[self.faces]
        return float(_six_volumes(corners - corners.mean(axis=(0, 1))).sum()) / 6.0

    @property
    def centroid(self) -> Array:
        """Of the volume, (3,), in the surface's frame; length."""
        corners = self.vertices[self.faces]
        tip = corners.mean(axis=(0, 1))  # of tetrahedra on the faces
        share = _six_volumes(corners - tip)
        return share @ (corners.sum(axis=1) + tip) / (4.0 * share.sum())

    def dimensions(self) -> list[float]:
        """None: it is all in integers and constants."""
        return [0.0, 0.0, 0.0]

    def integers(self) -> Sequence[int]:
        """As `mesh_tree` has them."""
        return self._integers

    def constants(self) -> Array:
        """As `mesh_tree` has them."""
        return self._constants

    def bounds(self) -> Box:
        """The box around it."""
        corners = self.vertices[self.faces]
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        return Box((0.5 * (low + high)).tolist(), (0.5 * (high - low)).tolist())

    def max_points(self) -> int:
        """All its faces."""
        return max(16, len(self.faces))

    def decorations(self) -> list[tuple[Any, Transform]]:
        """Itself."""
        return [(decoration.Mesh(self.vertices, self.faces.tolist()), Transform())]


# ---------------------------------------------------------------------------------------------- checks


def _named(one: str, many: str, which: Any) -> str:
    """``face 3 is``, or ``faces 3, 7, 9 and 12 others are``."""
    shown = ", ".join(str(i) for i in which[:_NAMED])
    if len(which) == 1:
        return f"{one} {shown} is"
    more = f" and {len(which) - _NAMED} others" if len(which) > _NAMED else ""
    return f"{many} {shown}{more} are"


def _faces(faces: npt.ArrayLike, count: int) -> Indices:
    """Faces as integers, in range."""
    try:
        given = np.asarray(faces)
    except ValueError:
        raise ValueError("faces have to be triangles, three indices each, got some of different lengths") from None
    if given.ndim != 2 or given.shape[1] != 3 or given.shape[0] == 0:
        raise ValueError(f"faces have to have shape (nf, 3), three indices of vertices each, got {given.shape}")
    if given.dtype.kind not in "iu":
        raise TypeError(f"faces have to be integers, indices of vertices, got {given.dtype}")
    corners: Indices = given.astype(np.int64)
    bad = np.flatnonzero(((corners < 0) | (corners >= count)).any(axis=1))
    if len(bad):
        raise IndexError(f"faces have to index the {count} vertices from 0 on; face {bad[0]} is {corners[bad[0]].tolist()}")
    return corners


def _refuse_degenerate(points: Array, faces: Indices) -> None:
    corners = points[faces]
    area = mesh_tree.normals_and_areas(corners)[1]
    longest = np.square(np.roll(corners, -1, axis=1) - corners).sum(axis=2).max(axis=1)
    bad = np.flatnonzero(2.0 * area <= _FLAT * longest)
    if len(bad):
        raise ModelError(
            f"faces need an area; {_named('face', 'faces', bad)} degenerate, a line or a point; leave such faces out and join "
            "what they divide, or read the file by TriangleMesh.from_file(path, repair=True)"
        )


def _half_edges(faces: Indices) -> tuple[Indices, Indices, Indices]:
    """From where to where each side of each face runs, and the face's number."""
    return faces.ravel(), np.roll(faces, -1, axis=1).ravel(), np.repeat(np.arange(len(faces)), 3)


def _check_closed(faces: Indices) -> None:
    a, b, face = _half_edges(faces)
    span = int(faces.max()) + 1
    _, inverse, counts = np.unique(np.minimum(a, b) * span + np.maximum(a, b), return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    shared = counts[inverse]
    if (shared == 1).any():
        alone = np.flatnonzero(shared == 1)
        raise ModelError(
            f"a mesh has to be closed; {len(alone)} edges have one face only, of {_faces_named(face[alone])}; close them, or "
            "read the file by TriangleMesh.from_file(path, repair=True)"
        )
    if (shared > 2).any():
        many = np.flatnonzero(shared > 2)
        raise ModelError(
            f"each edge has to have two faces; {len(np.unique(inverse[many]))} edges have more, of {_faces_named(face[many])}; "
            "leave out double faces and walls inside, and make pieces that share an edge meshes of their own"
        )
    up = np.bincount(inverse, a < b)
    if (up != 1).any():
        turned = np.flatnonzero(up[inverse] != 1)
        raise ModelError(
            f"faces have to be counter-clockwise as seen from outside; {_faces_named(face[turned])} and their neighbours do "
            "not agree; turn some round, or say orient=True"
        )


def _faces_named(faces: Indices) -> str:
    return _named("face", "faces", np.unique(faces)).rpartition(" ")[0]


def _six_volumes(corners: Array) -> Array:
    """Six times the volume of the tetrahedron of each face and the origin."""
    return np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))


def _pieces(faces: Indices) -> tuple[int, Indices]:
    """The number of connected pieces, and of each face its piece's number."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b, _ = _half_edges(faces)
    size = int(faces.max()) + 1
    _, of_vertices = connected_components(coo_matrix((np.ones(len(a)), (a, b)), (size, size)), directed=False)
    used, piece = np.unique(of_vertices[faces[:, 0]], return_inverse=True)
    return len(used), np.asarray(piece, np.int64).reshape(-1)


def _check_outside(points: Array, faces: Indices) -> None:
    """Refuse pieces that are inside out, but for the walls of cavities, which another piece surrounds."""
    corners = points[faces] - points.mean(axis=0)
    count, piece = _pieces(faces)
    six = np.bincount(piece, _six_volumes(corners), count)
    scale = float(np.ptp(corners.reshape(-1, 3), axis=0).max()) ** 3
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, piece, corners.min(axis=1))
    np.maximum.at(high, piece, corners.max(axis=1))
    for i in np.flatnonzero(six < 0.0):
        around = (six > 0.0) & (low < low[i]).all(axis=1) & (high > high[i]).all(axis=1)
        if not around.any():
            which = f"the piece of face {np.flatnonzero(piece == i)[0]}" if count > 1 else "the mesh"
            raise ModelError(
                f"{which} is inside out, of volume {six[i] / 6.0:g}; turn its faces round, faces[:, ::-1], or say orient=True"
            )
    if six.sum() <= 1e-15 * scale:
        raise ModelError(f"the mesh has to have a volume, got {six.sum() / 6.0:g}; its faces lie upon each other")


def _oriented(faces: Indices, merged: Indices, points: Array) -> Indices:
    """Faces turned so that neighbours agree, and each piece so that its volume is above zero."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b, face = _half_edges(merged[faces])
    key = np.minimum(a, b) * len(points) + np.maximum(a, b)
    order = np.argsort(key, kind="stable")
    pairs = np.flatnonzero(key[order][1:] == key[order][:-1])
    left, right = order[pairs], order[pairs + 1]
    f, g, differs, n = face[left], face[right], a[left] == a[right], len(faces)
    # each face is there twice, as it is and turned round; those that agree hang together
    h = g + n * differs
    ends = np.concatenate([f, f + n]), np.concatenate([h, (h + n) % (2 * n)])
    label = connected_components(coo_matrix((np.ones(len(ends[0])), ends), (2 * n, 2 * n)), directed=False)[1]
    if (label[:n] == label[n:]).any():
        raise ModelError("the faces cannot be turned so that all agree: the mesh has one side only, or walls inside")
    result = np.where((label[:n] > label[n:])[:, None], faces[:, ::-1], faces)
    count, piece = _pieces(merged[result])
    six = np.bincount(piece, _six_volumes(points[merged[result]] - points.mean(axis=0)), count)
    return np.where((six < 0.0)[piece][:, None], result[:, ::-1], result)


def _repaired(path: Path, vertices: Array, faces: Indices) -> tuple[Array, Indices]:
    try:
        import trimesh  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError(f"repairing the mesh {path} needs trimesh: pip install mobod[mesh]") from error
    mesh = trimesh.Trimesh(vertices, faces, process=True, validate=True)
    mesh.update_faces(mesh.nondegenerate_faces())
    mesh.update_faces(mesh.unique_faces())
    mesh.merge_vertices()
    trimesh.repair.fill_holes(mesh)
    mesh.remove_unreferenced_vertices()
    return np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.int64)
