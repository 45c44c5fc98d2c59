"""Shapes of bodies: their decorations, or sticks for bodies that have none.

A body without decorations is a stick from its own joint to each joint that it carries and to each point by which a
constraint holds it, or to its mass center at the end of a branch, with a ball for its mass. Where there is no stick to
draw, as for one free body, it is the ellipsoid that has its mass and inertia.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import decoration
from ..algebra.arrays import Array, Indices
from ..decoration.geometry import Plane as PlaneDecoration
from ..value.callers import callers_level

Rgb: TypeAlias = tuple[float, float, float]

PALETTE: tuple[Rgb, ...] = (
    (0.30, 0.47, 0.66),
    (0.95, 0.56, 0.17),
    (0.35, 0.63, 0.31),
    (0.88, 0.34, 0.35),
    (0.69, 0.48, 0.63),
    (0.61, 0.46, 0.37),
    (0.46, 0.72, 0.70),
    (0.93, 0.79, 0.28),
)
"""Colours of bodies that have none of their own, in turn."""

FEW = 17
"""Up to so many bodies, neighbours differ in colour; beyond, colours change slowly along the tree."""

MANY = 150
"""With more bodies than this, balls for joints and masses are left out."""

DOT = 5.0
"""Diameter of a point of interest that has no line width, in points."""

COARSE = 0.4
"""The lowest resolution of a shape."""

FINE = 20_000
"""A surface of more triangles than this is drawn with fewer."""

MESHES = 1.5
"""The most detail that meshes have; what is round by a formula may have more."""

CELLS = 64
"""Into how many parts its extent is divided then: finer than what a picture of some hundred dots shows."""

_MARK = 0.05
"""The largest radius of a mark of a constraint, in parts of the mechanism's size."""

JOINT: Rgb = (0.25, 0.25, 0.28)
GROUND: Rgb = (0.55, 0.55, 0.55)
AXES: tuple[Rgb, ...] = ((0.80, 0.20, 0.20), (0.20, 0.60, 0.20), (0.20, 0.30, 0.80))


@dataclass
class Link:
    """One body as the picture needs it.

    Parameters
    ----------
    name : str
        Of the body.
    parent : int
        Index of its parent; -1 for Ground.
    nu : int
        Number of speeds of its mobilizer.
    X_PF, X_BM : (4, 4) array
        The mobilizer's frames on the parent and on the body.
    mass : float
        Of the body.
    com : (3,) array
        Mass center, in B.
    inertia : (3, 3) array, optional
        About the mass center, in B.
    decorations : list of (decoration, (4, 4) array)
        What the body looks like, each with its placement in B.
    marks : list of decoration
        What else is drawn on it, in B, and says nothing of what the body looks like: constraints.
    held : list of (3,) array
        Stations, in B, by which constraints hold it; a stick goes to each.
    """

    name: str
    parent: int
    nu: int
    X_PF: Array = field(default_factory=lambda: np.eye(4))
    X_BM: Array = field(default_factory=lambda: np.eye(4))
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array | None = None
    decorations: list[tuple[decoration.Decoration, Array]] = field(default_factory=list)
    marks: list[decoration.Decoration] = field(default_factory=list)
    held: list[Array] = field(default_factory=list)


class Surface(NamedTuple):
    """A surface of one body, in its frame: vertices (nv, 3) and triangles (nt, 3), counter-clockwise seen from outside."""

    body: int
    vertices: Array
    triangles: Indices
    color: Rgb
    opacity: float = 1.0
    closed: bool = True

    @property
    def points(self) -> Array:
        """The corners of all triangles, (nt, 3, 3)."""
        return self.vertices[self.triangles]


class Label(NamedTuple):
    """A text that starts at a station of a body; red, green, blue and opacity."""

    body: int
    station: Array
    text: str
    color: tuple[float, ...]


class Plane(NamedTuple):
    """A plane without end, through a point, in the frame of a body."""

    body: int
    point: Array
    normal: Array
    color: Rgb
    opacity: float = 1.0


class Segment(NamedTuple):
    """A line (2, 3); its ends are in the frames of two bodies, as a rule the same."""

    bodies: tuple[int, int]
    points: Array
    color: Rgb
    width: float = 1.5
    opacity: float = 1.0


class ShapeMaker:
    """Makes the shapes of all bodies.

    Parameters
    ----------
    links : sequence of Link
        Ground, and the bodies, each after its parent.
    X_GB : (nb, 4, 4) array
        A typical pose; it decides how thick sticks are.
    sticks : bool, default True
        Whether bodies without decorations are drawn.
    ties : sequence of Segment
        Lines from one body to another that are drawn too.
    detail : float, default 1
        Factor on the number of triangles along curves; that of pictures is 1.

    Attributes
    ----------
    surfaces : list of Surface
    segments : list of Segment
    texts : list of Label
    planes : list of Plane
        They have no part in the size.
    size : float
        Extent of the whole; length.
    """

    def __init__(
        self, links: Sequence[Link], X_GB: Array, sticks: bool = True, ties: Sequence[Segment] = (), detail: float = 1.0
    ) -> None:
        self.surfaces: list[Surface]
        self.segments: list[Segment]
        self.texts: list[Label]
        self.planes: list[Plane]
        self._links = links
        self._many = len(links) > MANY
        shapes = sum(max(1, len(link.decorations)) for link in links)
        self._resolution = detail * float(np.clip(np.sqrt(50.0 / shapes), COARSE, 1.0))
        of_meshes = min(detail, MESHES)
        self._finest = int(FINE * of_meshes**2)
        self._cells = int(CELLS * of_meshes)
        self._joints: list[list[Array]] = [[] for _ in links]  # those that a body carries
        for link in links[1:]:
            self._joints[link.parent].append(link.X_PF[:3, 3])

        self.size = 0.0
        self._unreadable: dict[int, str] = {}  # decorations by their identity
        self._decorate_all(lambda mesh: COARSE)
        self._decorated = {part.body for part in self.surfaces} | {part.bodies[0] for part in self.segments}
        self._decorated |= {part.body for part in self.planes}
        self.size = self._calc_size(X_GB)
        self._decorate_all(self._choose_resolution)
        self._radius = self._choose_radius()
        for body, link in enumerate(links[1:] if sticks else [], start=1):
            self._draw_joint(body, link)
            if body not in self._decorated:
                self._draw_body(body, link)
        for body, link in enumerate(links):  # last: they neither size the picture's parts nor replace a body's stick
            for geometry in link.marks:
                if isinstance(geometry, decoration.Sphere):  # of a default size, perhaps, that would hide a small mechanism
                    geometry = replace(geometry, radius=min(geometry.radius, _MARK * self.size))
                self._decorate(body, geometry, np.eye(4), self._choose_resolution)
        self.segments += ties
        if self._unreadable:
            first, *rest = self._unreadable.values()
            more = f"; so are {len(rest)} more" if rest else ""
            warnings.warn(f"a decoration of {first}. It is left out of the picture{more}", stacklevel=callers_level())

    def _decorate_all(self, choose_resolution: Callable[[Array], float]) -> None:
        self.surfaces, self.segments, self.texts, self.planes = [], [], [], []
        for body, link in enumerate(self._links):
            for geometry, X_BD in link.decorations:
                if geometry.representation != "hidden":
                    self._decorate(body, geometry, X_BD, choose_resolution)

    def _choose_resolution(self, vertices: Array) -> float:
        """Choose it by how large a shape is on the picture, and how many there are."""
        extent = float(np.linalg.norm(np.ptp(vertices, axis=0))) if len(vertices) else 0.0
        return max(COARSE, self._resolution * min(math.sqrt(extent / (0.15 * self.size)), 1.0))

    def _decorate(
        self, body: int, geometry: decoration.Decoration, X_BD: Array, choose_resolution: Callable[[Array], float]
    ) -> None:
        color = geometry.color or self._color(body)
        if isinstance(geometry, PlaneDecoration):
            X = X_BD @ np.asarray(geometry.X)
            self.planes.append(Plane(body, X[:3, 3], X[:3, 2], color, geometry.opacity))
            return
        if isinstance(geometry, decoration.Text):
            of_text = (*(geometry.color or JOINT), geometry.opacity)
            self.texts.append(Label(body, _move(X_BD, geometry.X.p), geometry.text, of_text))
        if id(geometry) in self._unreadable:
            return
        try:
            outline = [geometry.calc_mesh(COARSE)[0], *geometry.calc_lines(COARSE)]
            resolution = choose_resolution(np.concatenate(outline))
            vertices, triangles = geometry.calc_mesh(resolution)
        except (ImportError, OSError, ValueError) as error:  # a mesh file that cannot be read: the body is drawn as a stick
            self._unreadable[id(geometry)] = f"{self._links[body].name!r} cannot be read: {error}"
            return
        colors = geometry.calc_colors(resolution) if geometry.color is None else None
        if colors is not None and geometry.representation == "surface":
            self._add_colored(body, geometry, _move(X_BD, vertices), triangles, colors, color)
            return
        if len(triangles) > self._finest:
            vertices, triangles = _coarsen(vertices, triangles, self._cells)
        points = _move(X_BD, vertices)
        lines = [_move(X_BD, line) for line in geometry.calc_lines(resolution)]
        if geometry.representation == "wireframe":
            lines += _find_edges(points, triangles)
        elif len(triangles):
            self.surfaces.append(Surface(body, points, triangles, color, geometry.opacity, geometry.is_closed))
        axes = isinstance(geometry, decoration.Frame) and geometry.color is None
        for number, line in enumerate(lines):
            if len(line) > 1:
                ends = np.stack([line[:-1], line[1:]], axis=1)
            else:  # a dot is a line with round ends; of no length at all, Matplotlib would leave it out
                ends = line[None, [0, 0]] + [[0.0, 0.0, 0.0], [0.002 * self.size, 0.0, 0.0]]
            width = geometry.line_width or (DOT if isinstance(geometry, decoration.Point) else 1.5)
            style = AXES[number] if axes else color, width, geometry.opacity
            self.segments += [Segment((body, body), pair, *style) for pair in ends]

    def _add_colored(
        self, body: int, geometry: decoration.Decoration, points: Array, triangles: Indices, colors: Array, otherwise: Rgb
    ) -> None:
        """Add faces that have colours of their own, those of one colour together."""
        kinds, which = np.unique(np.nan_to_num(colors, nan=-1.0), axis=0, return_inverse=True)
        for number, (red, green, blue, opacity) in enumerate(kinds.tolist()):
            used, index = np.unique(triangles[which.ravel() == number], return_inverse=True)
            own, faces = points[used], np.asarray(index, np.int64).reshape(-1, 3)
            if len(faces) > self._finest:
                own, faces = _coarsen(own, faces, self._cells)
            color, seen = (otherwise, 1.0) if red < 0.0 else ((red, green, blue), opacity)
            self.surfaces.append(Surface(body, own, faces, color, seen * geometry.opacity, geometry.is_closed))

    def _draw_joint(self, body: int, link: Link) -> None:
        if not 1 <= link.nu <= 3:
            return
        r = self._radius
        if link.parent == 0 and 0 not in self._decorated:
            half = min(2.4 * r, 0.1 * self._calc_extent(body)) if body in self._decorated else 2.4 * r
            self._add(0, decoration.Brick((half, half, half)), link.X_PF, GROUND)
        if body not in self._decorated and not self._many:
            self._add(body, decoration.Sphere(1.7 * r), link.X_BM, JOINT)
        if link.nu <= 2 and body not in self._decorated:  # the rail of a slider; of no length as long as nothing slides
            ends = np.stack([link.X_PF[:3, 3], link.X_BM[:3, 3]])
            self.segments.append(Segment((link.parent, body), ends, GROUND))

    def _calc_extent(self, body: int) -> float:
        """Calculate how large the shape of a decorated body is, so that nothing hides it."""
        points = [part.vertices for part in self.surfaces if part.body == body]
        points += [part.points for part in self.segments if part.bodies == (body, body)]
        return float(np.linalg.norm(np.ptp(np.concatenate(points), axis=0)))

    def _draw_body(self, body: int, link: Link) -> None:
        start = link.X_BM[:3, 3]
        ends = [end for end in self._find_ends(body) if np.linalg.norm(end - start) > 1e-3 * self.size]
        for end in ends:
            cylinder, X = _between(start, end, self._radius)
            self._add(body, cylinder, X, self._color(body))
        if link.mass > 0.0 and ends and not self._many:
            typical = float(np.median([other.mass for other in self._links if other.mass > 0.0]))
            radius = self._radius * float(np.clip(2.4 * np.cbrt(link.mass / typical), 1.4, 5.0))
            self._add(body, decoration.Sphere(radius), _at(link.com), self._color(body))
        elif link.mass > 0.0 and not ends:
            self._draw_ellipsoid(body, link)

    def _find_ends(self, body: int) -> list[Array]:
        """Find where a body's sticks go from its own joint."""
        link = self._links[body]
        ends = list(self._joints[body])
        for station in link.held:  # several constraints may hold it there, or a joint and a constraint
            if all(np.linalg.norm(station - end) > 1e-3 * self.size for end in ends):
                ends.append(station)
        start = link.X_BM[:3, 3]
        # what carries no joint is held by a stick to its mass center too, unless another passes there
        if not self._joints[body] and all(_calc_distance(link.com, start, end) > 1e-3 * self.size for end in ends):
            ends.append(link.com)
        return ends

    def _draw_ellipsoid(self, body: int, link: Link) -> None:
        X, radii = _at(link.com), np.zeros(3)
        if link.inertia is not None:
            moments, axes = np.linalg.eigh(link.inertia)
            # I_x = m (b^2 + c^2) / 5, and so on round, solved for a, b and c
            radii = np.sqrt(np.maximum(2.5 * (moments.sum() - 2.0 * moments) / link.mass, 0.0))
            X[:3, :3] = axes * np.linalg.det(axes)
            alone = link.parent == 0 and not self._joints[body] and not len(link.held)
            radii *= min(1.0, (0.6 if alone else 0.05) * self.size / max(float(radii.max()), 1e-300))
        ellipsoid = decoration.Ellipsoid(np.maximum(radii, 1.5 * self._radius))
        self._add(body, ellipsoid, X, self._color(body), self._choose_resolution(ellipsoid.calc_mesh(COARSE)[0]))

    def _add(self, body: int, geometry: decoration.Decoration, X: Array, color: Rgb, finest: float = 0.7) -> None:
        vertices, triangles = geometry.calc_mesh(min(self._resolution, max(finest, 0.5 * self._resolution)))
        self.surfaces.append(Surface(body, _move(X, vertices), triangles, color))

    def _color(self, body: int) -> Rgb:
        if body == 0:
            return GROUND
        if len(self._links) <= FEW:
            return PALETTE[(body - 1) % len(PALETTE)]
        place = 4.0 * (body - 1) / (len(self._links) - 2)
        low = min(int(place), 3)
        red, green, blue = (1.0 - place + low) * np.array(PALETTE[low]) + (place - low) * np.array(PALETTE[low + 1])
        return float(red), float(green), float(blue)

    def _calc_size(self, X_GB: Array) -> float:
        points = [_move(X_GB[part.body], part.vertices) for part in self.surfaces]
        points += [_move(X_GB[part.bodies[0]], part.points) for part in self.segments]
        gyration = 0.0
        for body, link in enumerate(self._links):
            stations = [*self._joints[body], link.X_BM[:3, 3], link.com] if body else self._fixed_joints()
            if body not in self._decorated:
                stations += link.held
            points.append(_move(X_GB[body], np.reshape(stations, (-1, 3))))
            if link.inertia is not None and link.mass > 0.0:
                gyration = max(gyration, float(np.sqrt(np.trace(link.inertia) / link.mass)))
        everything = np.concatenate(points)
        extent = float(np.linalg.norm(np.ptp(everything, axis=0))) if len(everything) else 0.0
        return extent if extent > 1e-6 * gyration else 3.0 * gyration or 1.0

    def _fixed_joints(self) -> list[Array]:
        return [link.X_PF[:3, 3] for link in self._links[1:] if link.parent == 0 and link.nu <= 3]

    def _choose_radius(self) -> float:
        lengths = [
            float(np.linalg.norm(end - link.X_BM[:3, 3]))
            for body, link in enumerate(self._links)
            for end in self._find_ends(body)
            if body
        ]
        lengths = [length for length in lengths if length > 1e-3 * self.size]
        typical = float(np.median(lengths)) if lengths else self.size
        return float(np.clip(0.12 * typical, 0.0015 * self.size, 0.012 * self.size))


def _move(X: Array, points: Array) -> Array:
    """Measure points (..., 3) in the frame that X (4, 4) is given in."""
    return np.asarray(points @ X[:3, :3].T + X[:3, 3])


def _calc_distance(point: Array, start: Array, end: Array) -> float:
    """Calculate how far a point is from the line between two others."""
    along = end - start
    part = np.clip((point - start) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
    return float(np.linalg.norm(point - start - part * along))


def _at(p: Array) -> Array:
    X = np.eye(4)
    X[:3, 3] = p
    return X


def _between(start: Array, end: Array, radius: float) -> tuple[decoration.Cylinder, Array]:
    """Make a cylinder, and its placement, from one point to another."""
    along = end - start
    length = float(np.linalg.norm(along))
    y = along / length
    z = np.cross(np.eye(3)[np.argmin(np.abs(y))], y)
    z /= np.linalg.norm(z)
    X = _at((start + end) / 2.0)
    X[:3, :3] = np.column_stack([np.cross(y, z), y, z])
    return decoration.Cylinder(radius, length / 2.0), X


def _coarsen(vertices: Array, triangles: NDArray[np.int64], divisions: int) -> tuple[Array, NDArray[np.int64]]:
    """Merge the vertices that share a cell of a grid into their mean (Rossignac and Borrel 1993)."""
    low, extent = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    cells = np.minimum((vertices - low) * (divisions / (extent or 1.0)), divisions - 1).astype(np.int64)
    _, merged, counts = np.unique(cells @ (divisions**2, divisions, 1), return_inverse=True, return_counts=True)
    means = np.column_stack([np.bincount(merged, column) for column in vertices.T]) / counts[:, None]
    corners = merged[triangles]
    first = np.argmin(corners, axis=1)[:, None]  # the same triangle by the same three, whichever was its first
    corners = np.take_along_axis(corners, (first + np.arange(3)) % 3, axis=1)
    a, b, c = corners.T
    _, once = np.unique((a * len(means) + b) * len(means) + c, return_index=True)
    flat = (a == b) | (b == c) | (c == a)
    return means, corners[once[~flat[once]]]


def _find_edges(points: Array, triangles: NDArray[np.int64]) -> list[Array]:
    """Find the edges of a surface that are not inside a plane face."""
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    sides: dict[tuple[int, int], list[int]] = {}
    for number, (a, b, c) in enumerate(triangles.tolist()):
        for edge in ((a, b), (b, c), (c, a)):
            sides.setdefault((min(edge), max(edge)), []).append(number)
    # 1e-9: two halves of a plane face differ by rounding alone
    flat = [len(pair) == 2 and normals[pair[0]] @ normals[pair[1]] > 1.0 - 1e-9 for pair in sides.values()]
    return [points[list(edge)] for edge, inside in zip(sides, flat, strict=True) if not inside]
