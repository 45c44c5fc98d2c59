"""HeightField: ground, solid below a smooth surface through heights on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import decoration
from ..algebra.arrays import Array
from ..errors import ModelError
from ..function.table import Table
from ..value import checks
from ..value.transform import Transform
from .shape import HEIGHT_FIELD, Box, Shape

#: It is drawn with so many points along its longer side, or more.
_DRAWN = 100
#: A grid whose steps differ by less, as part of a step, is even: a cell is found by a division.
_EVEN = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class HeightField(Shape):
    """Ground of varying height: solid below a surface z(x, y) that is smooth, and nothing outside its grid.

    Parameters
    ----------
    x, y : (nx,) and (ny,) array_like
        Where the heights are, in the surface's frame, ascending, two or more each; length.
    z : (nx, ny) array_like
        The height at each x and y; length.

    Raises
    ------
    TypeError, ValueError
        If these are not numbers, or not of these shapes.
    ModelError
        If they are not finite, or x or y does not ascend.

    Notes
    -----
    The surface is the bicubic spline through the heights (de Boor 2001, A Practical Guide to Splines, chapter 17,
    "not-a-knot" at the borders): slopes and curvatures are continuous. It swings a little beyond the heights beside a step;
    to keep a step sharp, put points close together on both sides of it, or use a `TriangleMesh`.

    Spheres, capsules, ellipsoids, tori and the sides of cylinders touch it where the overlap is locally deepest, in a hollow in
    several places, by Hertz's law with the surface's curvature there. Where the hollow is as narrow as the body, so that they
    fit, the relative curvature is taken to be a twentieth of the body's at least. Of bricks and hulls the corners touch it,
    of cylinders points of the rims, of meshes the faces: a peak between a brick's corners is not seen. What is farther below
    its lowest point than the field is wide is not seen either.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> x = np.linspace(-1, 1, 9)
    >>> shape = mb.contact.HeightField(x, x, 0.1 * np.outer(x**2, np.ones(9)))
    >>> shape.z.shape
    (9, 9)
    """

    KIND: ClassVar[int] = HEIGHT_FIELD
    x: Array
    y: Array
    z: Array
    #: Of each point of the grid its height, dz/dx, dz/dy and d2z/dxdy, (nx, ny, 4).
    _nodes: Array
    #: Of each cell, then of blocks of 2 x 2, 4 x 4 ... cells, (m, n, 2): the greatest height, and a bound of upward curvature.
    _blocks: tuple[Array, ...]
    _lowest: float

    def __init__(self, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike) -> None:
        along_x, along_y = _ascending("x", x), _ascending("y", y)
        heights = checks.array("z", z, (len(along_x), len(along_y)))
        nodes = _spline(along_x, along_y, heights)
        lowest, cells = _bounds_of_cells(along_x, along_y, nodes)
        for array in (along_x, along_y, heights, nodes):
            array.flags.writeable = False
        values = (along_x, along_y, heights, nodes, _blocks_of(cells), lowest)
        for name, value in zip(("x", "y", "z", "_nodes", "_blocks", "_lowest"), values, strict=True):
            object.__setattr__(self, name, value)

    def calc_height(self, x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
        """The height at points (x, y) of the surface's frame, arrays of one shape; NaN outside the grid."""
        a, b = np.broadcast_arrays(checks.numbers("x", x), checks.numbers("y", y))
        i, u, h = _cell(self.x, a)
        j, v, k = _cell(self.y, b)
        result: Array = np.zeros(a.shape)
        for di, (p, q) in enumerate(_hermite(u, h)):
            for dj, (r, s) in enumerate(_hermite(v, k)):
                node = self._nodes[i + di, j + dj]
                result = result + p * (r * node[..., 0] + s * node[..., 2]) + q * (r * node[..., 1] + s * node[..., 3])
        within = (a >= self.x[0]) & (a <= self.x[-1]) & (b >= self.y[0]) & (b <= self.y[-1])
        return np.where(within, result, np.nan)

    def as_table(self) -> Table:
        """The height as a function of x and y, which forces of one's own can call in compiled code, and tyres roll on.

        The same surface to rounding; outside the grid it goes on straight.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> x = np.linspace(-1, 1, 9)
        >>> road = mb.contact.HeightField(x, x, 0.1 * np.outer(x**2, np.ones(9))).as_table()
        >>> round(float(road.calc_value([0.5, 0.0])), 6)
        0.025
        """
        return Table((self.x, self.y), self.z, interpolation="not-a-knot")

    def dimensions(self) -> list[float]:
        """None: it is all in integers and constants."""
        return [0.0, 0.0, 0.0]

    def integers(self) -> Sequence[int]:
        """As `height_surface` reads them."""
        nx, ny = self.z.shape
        at = nx + ny + 4 * nx * ny
        out = [nx, ny, _is_even(self.x), _is_even(self.y), len(self._blocks)]
        for block in self._blocks:
            out += [at, block.shape[1]]
            at += block.size
        return out

    def constants(self) -> Array:
        """The grid, its points, and the blocks."""
        return np.concatenate([self.x, self.y, self._nodes.ravel(), *(block.ravel() for block in self._blocks)])

    def bounds(self) -> Box:
        """The box around it, as deep as it is wide below the lowest point."""
        deep = max(float(np.ptp(self.x)), float(np.ptp(self.y)))
        low = np.array([self.x[0], self.y[0], self._lowest - deep])
        high = np.array([self.x[-1], self.y[-1], self._blocks[-1][..., 0].max()])
        return Box((0.5 * (low + high)).tolist(), (0.5 * (high - low)).tolist())

    def max_points(self) -> int:
        """Of what touches it most, a capsule in a hollow."""
        return 32

    def decorations(self) -> list[tuple[Any, Transform]]:
        """The surface."""
        parts = max(1, round(_DRAWN / max(self.z.shape)))
        x, y = _refined(self.x, parts), _refined(self.y, parts)
        a, b = np.meshgrid(x, y, indexing="ij")
        points = np.column_stack([a.ravel(), b.ravel(), self.calc_height(a, b).ravel()])
        corner = (np.arange(len(x) - 1)[:, None] * len(y) + np.arange(len(y) - 1)).ravel()
        right, across, up = corner + len(y), corner + len(y) + 1, corner + 1
        faces = np.concatenate([np.column_stack([corner, right, across]), np.column_stack([corner, across, up])])
        return [(decoration.Mesh(points, faces.tolist()), Transform())]


def _ascending(name: str, value: npt.ArrayLike) -> Array:
    given = checks.numbers(name, value)
    if given.ndim != 1 or len(given) < 2:
        raise ValueError(f"{name} of a HeightField has to be a list of two numbers or more, got shape {given.shape}")
    along = checks.array(name, given, given.shape)
    if (np.diff(along) <= 0.0).any():
        i = int(np.flatnonzero(np.diff(along) <= 0.0)[0])
        raise ModelError(f"{name} of a HeightField has to ascend, got {along[i]:g}, {along[i + 1]:g} in places {i} and {i + 1}")
    return along


def _is_even(along: Array) -> int:
    step = (along[-1] - along[0]) / (len(along) - 1)
    return int(np.abs(along - (along[0] + step * np.arange(len(along)))).max() <= _EVEN * step)


def _refined(along: Array, parts: int) -> Array:
    between = along[:-1, None] + np.diff(along)[:, None] * np.arange(parts) / parts
    return np.append(between.ravel(), along[-1])


def _cell(along: Array, x: Array) -> tuple[Any, Array, Array]:
    """The cell of each x, where in it, from 0 to 1, and how wide it is."""
    i = np.clip(np.searchsorted(along, x, side="right") - 1, 0, len(along) - 2)
    width = along[i + 1] - along[i]
    return i, (x - along[i]) / width, width


def _hermite(u: Array, h: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Weights of value and slope at the beginning of a step h, and at its end."""
    w = 1.0 - u
    return (w * w * (1.0 + 2.0 * u), h * u * w * w), (u * u * (3.0 - 2.0 * u), -h * u * u * w)


def _spline(x: Array, y: Array, z: Array) -> Array:
    """Heights, slopes and twists of the bicubic spline at the points of the grid."""
    from scipy.interpolate import CubicSpline

    z_x = CubicSpline(x, z, axis=0)(x, 1)
    return np.stack([z, z_x, CubicSpline(y, z, axis=1)(y, 1), CubicSpline(y, z_x, axis=1)(y, 1)], axis=-1)


def _bounds_of_cells(x: Array, y: Array, nodes: Array) -> tuple[float, Array]:
    """The least height of all, and of each cell the greatest and a bound of upward curvature, (nx - 1, ny - 1, 2).

    A polynomial is between the least and greatest of its Bezier coefficients; those of its derivatives are their differences.
    """
    h, k = np.diff(x)[:, None], np.diff(y)[None, :]

    def along_x(value: Array, slope: Array) -> list[Array]:
        return [
            value[:-1],
            value[:-1] + h * slope[:-1] / 3.0,
            value[1:] - h * slope[1:] / 3.0,
            value[1:],
        ]

    z, z_x, z_y, z_xy = np.moveaxis(nodes, -1, 0)
    rows = []
    for value, slope in zip(along_x(z, z_x), along_x(z_y, z_xy), strict=True):
        rows.append(
            [
                value[:, :-1],
                value[:, :-1] + k * slope[:, :-1] / 3.0,
                value[:, 1:] - k * slope[:, 1:] / 3.0,
                value[:, 1:],
            ]
        )
    b = np.array(rows)  # (4, 4, nx - 1, ny - 1)
    along, across, twist = np.diff(b, 2, axis=0), np.diff(b, 2, axis=1), np.diff(np.diff(b, axis=0), axis=1)
    bent = np.maximum(6.0 * along.max(axis=(0, 1)) / h**2, 6.0 * across.max(axis=(0, 1)) / k**2)
    bent = np.maximum(bent, 0.0) + 9.0 * np.abs(twist).max(axis=(0, 1)) / (h * k)
    return float(b.min()), np.stack([b.max(axis=(0, 1)), bent], axis=-1)


def _blocks_of(cells: Array) -> tuple[Array, ...]:
    """The greatest of each 2 x 2, again and again until there are 2 x 2 left at most."""
    levels = [cells]
    while max(levels[-1].shape[:2]) > 2:
        last = levels[-1]
        padded = np.pad(last, [(0, last.shape[0] % 2), (0, last.shape[1] % 2), (0, 0)], mode="edge")
        m, n = padded.shape[0] // 2, padded.shape[1] // 2
        levels.append(padded.reshape(m, 2, n, 2, 2).max(axis=(1, 3)))
    return tuple(levels)
