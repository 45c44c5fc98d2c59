"""Decorations: what a body looks like. They have no mass and touch nothing; they are there to be drawn.

A decoration is plain data: its dimensions in a frame D of its own, a placement `X` of D in the frame that it is
attached to, and how it is drawn. `calc_mesh` and `calc_lines` turn it into triangles and lines for whoever draws it;
nothing here knows of a drawing library. Shapes, their frames and their defaults are Simbody's (DecorativeGeometry.h).
"""

from __future__ import annotations

import copy
import math
import operator
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.arrays import Array, Indices
from ..errors import ModelError
from ..value import checks
from ..value.attributes import Sealed
from ..value.frames import frame_or_none
from ..value.transform import Transform
from .collada_file import Part
from .mesh_file import joined, read_parts, triangulate

Rgb: TypeAlias = tuple[float, float, float]
T = TypeVar("T")
S = TypeVar("S")

COLORS: dict[str, Rgb] = {
    "black": (0.0, 0.0, 0.0),
    "gray": (0.5, 0.5, 0.5),
    "red": (1.0, 0.0, 0.0),
    "green": (0.0, 1.0, 0.0),
    "blue": (0.0, 0.0, 1.0),
    "yellow": (1.0, 1.0, 0.0),
    "orange": (1.0, 0.5, 0.0),
    "magenta": (1.0, 0.0, 1.0),
    "purple": (0.5, 0.0, 0.5),
    "cyan": (0.0, 1.0, 1.0),
    "white": (1.0, 1.0, 1.0),
}
"""Colours that go by name: Simbody's."""

REPRESENTATIONS = ("surface", "wireframe", "hidden")


class Field(Generic[S, T]):
    """A field of a dataclass that takes an S and keeps a T: what is assigned, at any time, is checked and converted."""

    def __init__(self, convert: Callable[[str, Any], T], default: Any = ...) -> None:
        self._convert = convert
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> T:
        if instance is not None:
            return cast(T, instance.__dict__[self._name])
        if self._default is ...:  # dataclasses ask the class for a field's default
            raise AttributeError(self._name)
        return cast(T, self._default)

    def __set__(self, instance: object, value: S) -> None:
        kept = self._convert(f"{type(instance).__name__}.{self._name}", value)
        cast("Decoration", instance).accept(self._name, kept)
        instance.__dict__[self._name] = kept


def _positive_or_none(name: str, value: Any) -> float | None:
    return None if value is None else checks.positive(name, value)


def _fraction(name: str, value: Any) -> float:
    return checks.between(name, value, 0.0, 1.0)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _vector(name: str, value: Any) -> Array:
    return _read_only(checks.vector(name, value))


def _direction(name: str, value: Any) -> Array:
    return _read_only(checks.unit(name, value))


def _lengths(name: str, value: Any) -> Array:
    lengths = _vector(name, value)
    if (lengths <= 0.0).any():
        raise ModelError(f"{name} has to be positive, got {value!r}")
    return lengths


def _scale(name: str, value: Any) -> Array:
    factors = checks.numbers(name, value)
    factors = _vector(name, np.full(3, factors) if factors.shape == () else factors)
    if (factors == 0.0).any():
        raise ModelError(f"{name} must not be zero, got {checks.shown(value)}")
    return factors


def _color(name: str, value: Any) -> Rgb | None:
    return None if value is None else as_color(name, value)


def as_color(name: str, value: Any) -> Rgb:
    """Red, green and blue of what users call a colour; or raise a ValueError."""
    if not isinstance(value, str):
        red, green, blue = (_fraction(name, part) for part in checks.vector(name, value).tolist())
        return red, green, blue
    if (word := value.lower().replace("grey", "gray")) in COLORS:
        return COLORS[word]
    try:
        if len(word) == 7 and word[0] == "#":
            red, green, blue = (part / 255.0 for part in bytes.fromhex(word[1:]))
            return red, green, blue
    except ValueError:
        pass
    raise ValueError(
        f"{name} must be red, green and blue from 0 to 1, '#rrggbb', or one of {', '.join(COLORS)}; it is {value!r}"
    )


def _representation(name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in REPRESENTATIONS:
        raise ValueError(f"{name} must be one of {', '.join(REPRESENTATIONS)}; it is {value!r}")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {value!r}")
    return value


def _path(name: str, value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)) or not str(value):
        raise TypeError(f"{name} must be the path of a file, not {value!r}")
    return Path(value)


def _points(name: str, value: Any) -> Array:
    points = np.array(checks.numbers(name, value))
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"{name} must have the shape (n, 3); it has the shape {points.shape}")
    if not np.isfinite(points).all():
        raise ModelError(f"{name} has to be finite; row {int(np.argmin(np.isfinite(points).all(axis=1)))} is not")
    return _read_only(points)


def _faces(name: str, value: Any) -> tuple[tuple[int, ...], ...]:
    try:
        faces = tuple(tuple(operator.index(vertex) for vertex in face) for face in value)
    except TypeError:
        raise TypeError(f"{name} must be a sequence of faces, each of three or more integers; it is {value!r}") from None
    for number, face in enumerate(faces):
        if len(face) < 3:
            raise ValueError(f"{name} must have three vertices or more each; face {number} has {len(face)}")
    return faces


@dataclass(eq=False, kw_only=True)
class Decoration(Sealed):
    """Base class of all that can be drawn on a body; not created by itself.

    A new kind is a dataclass that derives from this one and provides

    1. its dimensions, as fields that check what is assigned to them;
    2. `_calc_mesh`, `_calc_lines` or both, in its own frame D.

    Parameters
    ----------
    color : str or array_like (3,), optional
        A name (``"red"``), ``"#rrggbb"``, or red, green and blue from 0 to 1. None leaves it to whoever draws.
    opacity : float, default 1
        From 0, invisible, to 1.
    line_width : float, optional
        Width of lines, in points. None leaves it to whoever draws.
    X : Transform, optional
        Placement of D in the frame that the decoration is attached to; identity by default.
    scale : float or array_like (3,), default 1
        Factors along the axes of D.
    representation : {"surface", "wireframe", "hidden"}
        Faces filled, faces drawn by their edges, or nothing.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Sphere(0.1, color="red", opacity=0.5)
    >>> isinstance(shape, mb.decoration.Decoration), shape.opacity
    (True, 0.5)
    """

    color: Field[ArrayLike | str | None, Rgb | None] = Field(_color, None)
    opacity: Field[float, float] = Field(_fraction, 1.0)
    line_width: Field[float | None, float | None] = Field(_positive_or_none, None)
    X: Field[Transform | ArrayLike | None, Transform] = Field(frame_or_none, None)
    scale: Field[ArrayLike, Array] = Field(_scale, 1.0)
    representation: Field[str, str] = Field(_representation, "surface")

    def __post_init__(self) -> None:
        if type(self) is Decoration:
            raise TypeError("Decoration is not created by itself; use one of its kinds, such as decoration.Sphere")

    def accept(self, name: str, value: Any) -> None:
        """Raise an error if a field cannot have this value beside the others; it is about to be kept."""

    def calc_mesh(self, resolution: float = 1.0) -> tuple[Array, Indices]:
        """Calculate the surface.

        Parameters
        ----------
        resolution : float, default 1
            More, and smaller, triangles for larger numbers; shapes with plane faces do not change.

        Returns
        -------
        vertices : (nv, 3) array
            In the frame that the decoration is attached to: `scale` and `X` are applied; length.
        triangles : (nt, 3) array of int
            Indices of vertices, counter-clockwise seen from outside. None if the decoration has no surface.
        """
        vertices, triangles = self._calc_mesh(checks.positive("resolution", resolution, ValueError))
        if np.prod(self.scale) < 0.0:
            triangles = triangles[:, ::-1]  # a mirror turns the shape inside out
        return self.X @ (vertices * self.scale), triangles

    def calc_lines(self, resolution: float = 1.0) -> list[Array]:
        """Calculate the lines.

        Parameters
        ----------
        resolution : float, default 1
            More, and shorter, segments of curves for larger numbers.

        Returns
        -------
        list of (n, 3) array
            Points to join, one array a line, in the frame that the decoration is attached to; length.
        """
        return [
            self.X @ (line * self.scale) for line in self._calc_lines(checks.positive("resolution", resolution, ValueError))
        ]

    def calc_colors(self, resolution: float = 1.0) -> Array | None:
        """Calculate the colours that triangles have of their own, where `color` is None.

        Parameters
        ----------
        resolution : float, default 1
            The same as for `calc_mesh`.

        Returns
        -------
        (nt, 4) array or None
            Red, green, blue and opacity of each triangle, NaN where one has none; None where no triangle has any.
        """
        return None

    @property
    def is_closed(self) -> bool:
        """True if the surface encloses a volume, so that the inside of its faces is never seen."""
        return True

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)

    def _calc_lines(self, resolution: float) -> list[Array]:
        return []


def own_copy(geometry: Any) -> Decoration:
    """A copy for one body to keep, whose changes are seen on no other."""
    checks.instance("what decorates a body", geometry, Decoration, "mobod.decoration.Sphere(0.1)")
    return copy.copy(geometry)


@dataclass(eq=False)
class Point(Decoration):
    """A point of interest, drawn as a dot.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Point((1, 2, 3))
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.point
    array([1., 2., 3.])
    """

    point: Field[ArrayLike, Array] = Field(_vector, (0.0, 0.0, 0.0))

    def _calc_lines(self, resolution: float) -> list[Array]:
        return [np.array([self.point])]


@dataclass(eq=False)
class Line(Decoration):
    """A straight line between two points.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Line((0, 0, 0), (1, 0, 0), line_width=3)
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.line_width
    3.0
    """

    point1: Field[ArrayLike, Array] = Field(_vector, (0.0, 0.0, 0.0))
    point2: Field[ArrayLike, Array] = Field(_vector, (1.0, 1.0, 1.0))

    def _calc_lines(self, resolution: float) -> list[Array]:
        return [np.array([self.point1, self.point2])]


@dataclass(eq=False)
class Circle(Decoration):
    """A circle in the x-y plane, centred at the origin.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Circle(0.5)
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.radius
    0.5
    """

    radius: Field[float, float] = Field(checks.positive, 0.5)

    def _calc_lines(self, resolution: float) -> list[Array]:
        return [_ring(_count(32, resolution), self.radius, closed=True)]


@dataclass(eq=False)
class Sphere(Decoration):
    """A sphere centred at the origin.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Sphere(0.1, color='gray')
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.radius
    0.1
    """

    radius: Field[float, float] = Field(checks.positive, 0.5)

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        vertices, triangles = _unit_sphere(resolution)
        return self.radius * vertices, triangles


@dataclass(eq=False)
class Ellipsoid(Decoration):
    """An ellipsoid centred at the origin, its axes those of the frame.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Ellipsoid((0.1, 0.2, 0.3))
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.radii
    array([0.1, 0.2, 0.3])
    """

    radii: Field[ArrayLike, Array] = Field(_lengths, (1 / 2, 1 / 3, 1 / 4))

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        vertices, triangles = _unit_sphere(resolution)
        return self.radii * vertices, triangles


@dataclass(eq=False)
class Brick(Decoration):
    """A box centred at the origin, its edges along the axes.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Brick((0.1, 0.2, 0.3), color='#4477aa')
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.half_lengths
    array([0.1, 0.2, 0.3])
    """

    half_lengths: Field[ArrayLike, Array] = Field(_lengths, (0.5, 0.5, 0.5))

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        corners = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return self.half_lengths * corners, triangulate(quads)


@dataclass(eq=False)
class Plane(Decoration):
    """The x-y plane of its frame, without end: a picture shows it as far as it goes, and is made no larger by it.

    `half_length` is half the side of the square that stands for it where something has to end.
    """

    half_length: Field[float, float] = Field(checks.positive, 5.0)

    @property
    def is_closed(self) -> bool:
        """False: it has two sides."""
        return False

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        h = self.half_length
        return np.array([(-h, -h, 0.0), (h, -h, 0.0), (h, h, 0.0), (-h, h, 0.0)]), triangulate([(0, 1, 2, 3)])


@dataclass(eq=False)
class Cylinder(Decoration):
    """A cylinder centred at the origin, its axis along y.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Cylinder(0.1, 0.5, opacity=0.5)
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.opacity
    0.5
    """

    radius: Field[float, float] = Field(checks.positive, 0.5)
    half_height: Field[float, float] = Field(checks.positive, 0.5)

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        r, h = self.radius, self.half_height
        return _revolve([(0.0, -h), (r, -h), (r, h), (0.0, h)], _count(16, resolution), _ALONG_Y)


@dataclass(eq=False)
class Cone(Decoration):
    """A cone: the centre of its base at a point, its apex at a height along a direction.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Cone((0, 0, 0), (0, 0, 1), 1.0, 0.2)
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.height
    1.0
    """

    origin: Field[ArrayLike, Array] = Field(_vector, (0.0, 0.0, 0.0))
    direction: Field[ArrayLike, Array] = Field(_direction, (1.0, 1.0, 1.0))
    height: Field[float, float] = Field(checks.positive, 1.0)
    base_radius: Field[float, float] = Field(checks.positive, 0.5)

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        profile = [(0.0, 0.0), (self.base_radius, 0.0), (0.0, self.height)]
        vertices, triangles = _revolve(profile, _count(16, resolution), _axes_along(self.direction))
        return vertices + self.origin, triangles


@dataclass(eq=False)
class Torus(Decoration):
    """A ring centred at the origin, about the z axis.

    `torus_radius` is that of the circle in the middle of the tube, `tube_radius` that of the tube's cross-section.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Torus(1.0, 0.1)
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.tube_radius
    0.1
    """

    torus_radius: Field[float, float] = Field(checks.positive, 1.0)
    tube_radius: Field[float, float] = Field(checks.positive, 0.1)

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        circle = _ring(_count(9, resolution), self.tube_radius, closed=True)
        profile = [(self.torus_radius + x, y) for x, y, _ in circle.tolist()]
        return _revolve(profile, _count(22, resolution), np.eye(3))


@dataclass(eq=False)
class Arrow(Decoration):
    """An arrow from one point to another; `tip_length` is that of its head.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Arrow((0, 0, 0), (0, 0, 1), color='red')
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.color
    (1.0, 0.0, 0.0)
    """

    start_point: Field[ArrayLike, Array] = Field(_vector, (0.0, 0.0, 0.0))
    end_point: Field[ArrayLike, Array] = Field(_vector, (1.0, 1.0, 1.0))
    tip_length: Field[float, float] = Field(checks.positive, 0.35)

    def __post_init__(self) -> None:
        if np.array_equal(self.start_point, self.end_point):
            raise ValueError(f"Arrow needs two different points; both are {self.start_point.tolist()}")

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        along = self.end_point - self.start_point
        length = float(np.linalg.norm(along))
        if length == 0.0:
            return super()._calc_mesh(resolution)
        tip = min(self.tip_length, length)
        profile = [(0.0, length - tip), (0.3 * tip, length - tip), (0.0, length)]
        vertices, triangles = _revolve(profile, _count(12, resolution), _axes_along(along / length))
        return vertices + self.start_point, triangles

    def _calc_lines(self, resolution: float) -> list[Array]:
        return [np.array([self.start_point, self.end_point])]


@dataclass(eq=False)
class Frame(Decoration):
    """Three axes from the origin: x red, y green, z blue, unless a colour is given for all.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Frame(0.2)
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.axis_length
    0.2
    """

    axis_length: Field[float, float] = Field(checks.positive, 1.0)

    def _calc_lines(self, resolution: float) -> list[Array]:
        return [np.array([np.zeros(3), axis]) for axis in self.axis_length * np.eye(3)]


@dataclass(eq=False)
class Text(Decoration):
    """A short text that starts at the origin, and faces whoever looks; letters have one size, whatever `scale` is.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> shape = mb.decoration.Text('tip')
    >>> number = system.matter.bodies["lower"].add_body_decoration(shape, mb.Transform((0, 0.5, 0)))
    >>> shape.text
    'tip'
    """

    text: Field[str, str] = Field(_text, "")


@dataclass(eq=False)
class Mesh(Decoration):
    """A surface given by its vertices and faces.

    Parameters
    ----------
    vertices : array_like (nv, 3)
        In the mesh's frame; length.
    faces : sequence of sequences of int
        Convex polygons: three or more indices into `vertices`, counter-clockwise seen from outside.
    scale, X, color, opacity, line_width, representation
        As for every kind, see `mobod.decoration.Decoration`.

    Examples
    --------
    >>> import mobod as mb
    >>> shape = mb.decoration.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], color="#4477aa")
    >>> shape.vertices.shape
    (3, 3)
    """

    vertices: Field[ArrayLike, Array] = Field(_points)
    faces: Field[Iterable[Iterable[int]], tuple[tuple[int, ...], ...]] = Field(_faces)

    def accept(self, name: str, value: Any) -> None:
        vertices, faces = (value if name == one else self.__dict__.get(one) for one in ("vertices", "faces"))
        if vertices is None or faces is None:
            return
        count = len(vertices)
        for number, face in enumerate(faces):
            if min(face) < 0 or max(face) >= count:
                raise ValueError(f"Mesh.faces must index the {count} vertices; face {number} is {face}")

    @property
    def is_closed(self) -> bool:
        """True if every edge has a face on either side."""
        return _is_closed(triangulate(self.faces))

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        return self.vertices, triangulate(self.faces)


@dataclass(eq=False)
class MeshFile(Decoration):
    r"""A surface in a file, read when it is first drawn: STL, OBJ, VTP and DAE; others, such as PLY, need the package trimesh.

    Unless it is given a color, parts of a DAE file are drawn in their own.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import mobod as mb
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "triangle.obj"
    >>> written = path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    >>> shape = mb.decoration.MeshFile(path, color="#4477aa")
    >>> vertices, triangles = shape.calc_mesh()
    >>> vertices.shape, triangles.shape
    ((3, 3), (1, 3))
    """

    path: Field[str | Path, Path] = Field(_path)

    def accept(self, name: str, value: Any) -> None:
        if name == "path":
            self._parts: list[Part] | None = None

    @property
    def is_closed(self) -> bool:
        """False: nothing is known of the file's faces."""
        return False

    def _calc_mesh(self, resolution: float) -> tuple[Array, Indices]:
        return joined(self._read())

    def calc_colors(self, resolution: float = 1.0) -> Array | None:
        counts = [len(part.triangles) for part in self._read()]
        colors = [part.rgba or (math.nan,) * 4 for part in self._read()]
        return None if all(part.rgba is None for part in self._read()) else np.repeat(colors, counts, axis=0)

    def _read(self) -> list[Part]:
        if self._parts is None:
            self._parts = read_parts(self.path)
        return self._parts


# Columns are the directions of a profile's radius and of its axis, and the third that makes them right-handed
_ALONG_Y = np.array([(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]).T


def _count(count: int, resolution: float) -> int:
    return max(3, round(count * resolution))


def _ring(count: int, radius: float, closed: bool = False) -> Array:
    """Points on a circle in the x-y plane; the first again at the end if closed."""
    angle = np.linspace(0.0, 2.0 * np.pi, count + 1)[: count + closed]
    return radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)])


def _axes_along(direction: Array) -> Array:
    """Find a rotation whose z axis is a unit vector."""
    x = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(direction, x), direction])


def _revolve(profile: list[tuple[float, float]], count: int, axes: Array) -> tuple[Array, Indices]:
    """Turn a profile of (radius, height), read counter-clockwise, about the third of some axes."""
    ring = _ring(count, 1.0)
    points = np.array([radius * ring + (0.0, 0.0, height) for radius, height in profile]).reshape(-1, 3)
    here = np.arange(count)
    there = (here + 1) % count
    triangles: list[Indices] = []
    for level, ((radius1, _), (radius2, _)) in enumerate(pairwise(profile)):
        low, high = level * count, (level + 1) * count
        if radius1 != 0.0:  # negative: a torus whose tube is wider than its ring
            triangles.append(np.column_stack([low + here, low + there, high + here]))
        if radius2 != 0.0:
            triangles.append(np.column_stack([low + there, high + there, high + here]))
    return points @ axes.T, np.concatenate(triangles)


def _unit_sphere(resolution: float) -> tuple[Array, Indices]:
    angle = np.linspace(-np.pi / 2, np.pi / 2, _count(8, resolution) + 1)
    radius, height = np.cos(angle), np.sin(angle)
    radius[[0, -1]] = 0.0  # cos(pi/2) is not quite
    return _revolve(list(zip(radius.tolist(), height.tolist(), strict=True)), _count(16, resolution), np.eye(3))


def _is_closed(triangles: Indices) -> bool:
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    one_way = {(a, b) for a, b in edges.tolist()}
    return len(one_way) == len(edges) and all((b, a) in one_way for a, b in one_way)
