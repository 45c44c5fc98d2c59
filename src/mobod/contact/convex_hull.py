"""ConvexHull: the smallest convex body that contains some points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import decoration
from ..algebra.arrays import Array
from ..errors import ModelError
from ..value import checks
from ..value.transform import Transform
from .shape import CONVEX_HULL, Box, Shape

#: Faces whose normals differ by less are one: of points that were rounded to single precision they differ by 1e-7 or so.
_COPLANAR = 1e-6
#: The number of vertices that contact_point has room for, of several hulls.
_MOST_VERTICES = 4096
#: Directions are those through the cells of a cube, so many along each edge; hulls of more vertices than the second are
#: climbed from what is farthest through the middle of the cell.
CELLS, FEW = 6, 12
#: A hull thinner than this part of its size has no inside.
_THIN = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class ConvexHull(Shape):
    """The convex hull of points, a polyhedron.

    Parameters
    ----------
    points : (n, 3) array_like
        Four or more, not all in one plane, in the surface's frame; length. Those inside the hull are left out.

    Raises
    ------
    TypeError, ValueError
        If they are not numbers, or not of that shape.
    ModelError
        If they are not finite; if they lie in one plane; if the hull has more than 4096 vertices.

    Notes
    -----
    Faces in one plane, but for rounding, are made one. Where the hull lies on a half-space, each vertex below is a point of
    the contact: hulls of a few hundred vertices or less are fastest.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.contact.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 0.1)])
    >>> len(shape.vertices)  # the last point is inside
    4
    """

    KIND: ClassVar[int] = CONVEX_HULL
    #: Its corners, (n, 3).
    vertices: Array
    #: Of each face the numbers of its vertices, counter-clockwise as seen from outside.
    faces: tuple[tuple[int, ...], ...]
    #: Of each face its outward normal, and the plane's distance from the origin along it, (m, 4).
    planes: Array

    def __init__(self, points: npt.ArrayLike) -> None:
        cloud = checks.stations("points", points)
        if len(cloud.shape) != 2 or not np.isfinite(cloud).all():
            raise ModelError(f"points of a ConvexHull have to be finite, (n, 3), got {points!r}")
        vertices, faces, planes = _hull(cloud)
        vertices.flags.writeable = planes.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)
        object.__setattr__(self, "planes", planes)

    def dimensions(self) -> list[float]:
        """None: it is all in integers and constants."""
        return [0.0, 0.0, 0.0]

    def integers(self) -> list[int]:
        """Numbers of vertices and faces; then three lists of lists, and `cells`.

        Of each vertex its neighbours, of each vertex its faces, of each face its vertices. Where these begin is in places
        2, 3 and 4, where the cells begin in place 5. A list of lists is where each list starts, and where the last one
        ends, then the lists; all places count from the first integer.
        """
        neighbours: list[set[int]] = [set() for _ in self.vertices]
        around: list[list[int]] = [[] for _ in self.vertices]
        for f, face in enumerate(self.faces):
            for i, v in enumerate(face):
                around[v].append(f)
                neighbours[v].update((face[i - 1], face[(i + 1) % len(face)]))
        out = [len(self.vertices), len(self.faces), 0, 0, 0, 0]
        for place, lists in enumerate(([sorted(one) for one in neighbours], around, [list(face) for face in self.faces]), 2):
            out[place] = len(out)
            at = len(out) + len(lists) + 1
            for one in lists:
                out.append(at)
                at += len(one)
            out.append(at)
            out.extend(i for one in lists for i in one)
        out[5] = len(out)
        return [*out, *cells(self.vertices)]

    def constants(self) -> Array:
        """The vertices, then the planes."""
        return np.concatenate([self.vertices.ravel(), self.planes.ravel()])

    def bounds(self) -> Box:
        """The box around it."""
        low, high = self.vertices.min(axis=0), self.vertices.max(axis=0)
        return Box((0.5 * (low + high)).tolist(), (0.5 * (high - low)).tolist())

    def max_points(self) -> int:
        """All vertices can be below a plane."""
        return max(18, len(self.vertices))

    def decorations(self) -> list[tuple[Any, Transform]]:
        """Itself."""
        return [(decoration.Mesh(self.vertices, self.faces), Transform())]


def cells(vertices: Array) -> list[int]:
    """The vertex that is farthest in the middle of each cell of a cube, side by side: those of -x and x, -y and y, -z and z.

    Along a side's rows and columns are the axes that follow in turn. Of a hull of few vertices none.
    """
    if len(vertices) <= FEW:
        return []
    middle = (2.0 * np.arange(CELLS) + 1.0) / CELLS - 1.0
    rows, columns = np.meshgrid(middle, middle, indexing="ij")
    side = np.stack([np.ones_like(rows), rows, columns], axis=-1).reshape(-1, 3)
    found = []
    for axis in range(3):
        for way in (-1.0, 1.0):
            found += np.argmax(np.roll(side * (way, 1.0, 1.0), axis, axis=1) @ vertices.T, axis=1).tolist()
    return found


def _hull(points: Array) -> tuple[Array, tuple[tuple[int, ...], ...], Array]:
    """Vertices, faces and planes."""
    from scipy.spatial import ConvexHull as Hull, QhullError

    flat = "points of a ConvexHull have to be four or more that do not lie in one plane"
    if len(points) < 4:
        raise ModelError(f"{flat}, got {len(points)}")
    middle = points.mean(axis=0)
    size = float(np.abs(points - middle).max())
    thickness = np.linalg.svd(points - middle, compute_uv=False)[-1] if size > 0.0 else 0.0
    if thickness <= _THIN * size:
        raise ModelError(f"{flat}; these are within {thickness:g} of a plane")
    try:
        hull = Hull((points - middle) / size)
    except QhullError as error:
        raise ModelError(f"{flat}: {str(error).splitlines()[0]}") from None
    groups = _coplanar(hull.equations[:, :3], hull.neighbors)
    faces, planes = [], []
    for group in groups:
        normal = hull.equations[group, :3].sum(axis=0)
        normal /= np.linalg.norm(normal)
        corners = _outline(hull.simplices[group], hull.equations[group, :3], hull.points)
        faces.append(corners)
        planes.append([*normal, max(float(points[i] @ normal) for i in corners)])
    used = sorted({i for face in faces for i in face})
    if len(used) > _MOST_VERTICES:
        raise ModelError(f"a ConvexHull may have {_MOST_VERTICES} vertices, these points have {len(used)}; leave some out")
    place = {v: i for i, v in enumerate(used)}
    return np.array(points[used]), tuple(tuple(place[i] for i in face) for face in faces), np.array(planes)


def _coplanar(normals: Array, neighbours: Any) -> list[list[int]]:
    """Groups of triangles that lie in one plane and hang together."""
    left, groups = set(range(len(normals))), []
    while left:
        first = min(left)
        left.remove(first)
        group = [first]
        for f in group:
            for g in neighbours[f].tolist():
                if g in left and np.linalg.norm(normals[g] - normals[first]) < _COPLANAR:
                    left.remove(g)
                    group.append(g)
        groups.append(group)
    return groups


def _outline(triangles: Any, normals: Array, points: Array) -> list[int]:
    """The vertices around triangles in one plane, counter-clockwise as seen from outside."""
    edges: set[tuple[int, int]] = set()
    for (a, b, c), normal in zip(triangles.tolist(), normals, strict=True):
        if np.cross(points[b] - points[a], points[c] - points[a]) @ normal < 0.0:
            b, c = c, b
        edges.update(((a, b), (b, c), (c, a)))
    following = {a: b for a, b in edges if (b, a) not in edges}
    first = min(following)
    loop = [first]
    while following[loop[-1]] != first:
        loop.append(following[loop[-1]])
    return loop
