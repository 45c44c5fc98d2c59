"""Table: values at points of one argument, or of two on a grid, and what lies between.

Along an axis each piece is a polynomial in the distance t from its start: f = c0 t^k + ... + ck. Of two arguments it is the
product of both axes: the coefficients along the second axis are interpolated along the first (a tensor product, de Boor, A
Practical Guide to Splines, chapter XVII). A periodic argument is brought into the first period by
x - period floor((x - start) / period).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..algebra.scalar import bare, floor, load, lookup, zero
from ..compiling import Routine, generic
from ..errors import ModelError
from ..value import checks
from ._table_file import read_table
from .base import UNLIMITED, FunctionKind
from .piecewise import jet as piecewise_jet, piece_of, read_points
from .routines import of_arguments, of_one_argument
from .spline import natural_pieces

INTERPOLATIONS = "smooth", "not-a-knot", "linear", "monotone"
OUTSIDE = "extend", "hold"
_CALLED = "points", "values"


# ---------------------------------------------------------------------------------------------- in kernels


@generic
def _into_period(numbers: Any, n: int, x: Any) -> Any:
    """X in the first period; numbers: where that begins, and its length."""
    start, period = load(numbers, n, 0), load(numbers, n + 1, 0)
    return x - period * floor((x - start) / period)


@generic
def jet_of_one(integers: Any, i: int, numbers: Any, n: int, x: Any) -> Any:
    """f, f', f''. Integers: whether it is periodic, then those of `piecewise.jet`; numbers: start and period, then its."""
    if integers[i] == 1:
        x = _into_period(numbers, n, x)
    return piecewise_jet(integers, i + 1, numbers, n + 2, x)


@generic
def _distance(integers: Any, i: int, numbers: Any, n: int, breaks: int, x: Any) -> Any:
    """The piece along an axis that x is in, and the distance from its start."""
    if integers[i] == 1:
        x = _into_period(numbers, n, x)
    piece = piece_of(numbers, breaks, integers[i + 2], bare(x))
    return piece, x - (zero(x) + lookup(numbers, breaks, piece))


@generic
def jet_of_two(integers: Any, i: int, numbers: Any, n: int, x: Any, rates: Any) -> Any:
    """f, its gradient g, and H v.

    Integers, of either axis: whether it is periodic, coefficients of a piece, pieces. Numbers: start and period of both, where
    the pieces of the first and of the second start, then coefficients, by power and piece of the first, then of the second.
    """
    size, pieces, other_size, other_pieces = integers[i + 1], integers[i + 2], integers[i + 4], integers[i + 5]
    breaks = n + 4
    p, t = _distance(integers, i, numbers, n, breaks, x[0])
    q, s = _distance(integers, i + 3, numbers, n + 2, breaks + pieces, x[1])
    o = zero(x[0]) + zero(x[1])
    first = breaks + pieces + other_pieces
    f, fx, fy, half_fxx, fxy, half_fyy = o, o, o, o, o, o
    for a in range(size):
        c, slope, half_bend = o, o, o  # of the second argument: a coefficient of the first, with two derivatives
        for b in range(other_size):
            place = (1.0 * a * pieces + p) * (other_size * other_pieces) + 1.0 * b * other_pieces + q
            half_bend = half_bend * s + slope
            slope = slope * s + c
            c = c * s + (o + lookup(numbers, first, place))
        half_fxx = half_fxx * t + fx
        fx = fx * t + f
        f = f * t + c
        fxy = fxy * t + fy
        fy = fy * t + slope
        half_fyy = half_fyy * t + half_bend
    vx, vy = rates
    return f, (fx, fy), (2.0 * half_fxx * vx + fxy * vy, fxy * vx + 2.0 * half_fyy * vy)


_of_one, _of_two = of_one_argument(jet_of_one), of_arguments(2, jet_of_two)


# ---------------------------------------------------------------------------------------------- for users


class Table(FunctionKind):
    """Values at points of one argument, or on a grid of two, interpolated: an engine's torque, a cam's lift.

    Parameters
    ----------
    points : (n,) array_like, or pair of array_like (n,), (m,)
        Where the values are, increasing, two or more along an axis; a pair for two arguments.
    values : (n,) or (n, m) array_like
        The values there.
    interpolation : {"smooth", "not-a-knot", "linear", "monotone"}
        What lies between: cubic pieces with continuous second derivatives, which are natural splines or have continuous third
        ones at the first and last inner point; straight lines, of two arguments with the product of both; or, of one
        argument, cubic pieces that rise and fall only where the values do (Fritsch and Butland's), with continuous first
        derivatives.
    outside : {"extend", "hold"}
        Beyond the ends it goes on straight, or with the value at the end.
    periodic : bool or pair of bool
        Whether it repeats itself, along each axis: the last value is then that of the first point, and there is no outside.

    Raises
    ------
    ModelError
        If points do not increase, or the last value of a periodic table is not its first one.
    ValueError
        If shapes do not fit, or there is no such interpolation.

    See Also
    --------
    from_csv : reads one from a file.
    Spline : one argument, of degree 1 to 7.

    Notes
    -----
    It runs compiled, and can be called in functions of your own that are compiled, such as those of
    `mobod.force.CompiledFunctions`: ``torque(speed)``, ``torque((speed, throttle))``.

    Examples
    --------
    >>> import mobod as mb
    >>> torque = mb.function.Table([0.0, 100.0, 200.0], [2.0, 1.5, 0.0], "linear", "hold")
    >>> torque([[50.0], [300.0]])
    array([1.75, 0.  ])
    >>> map = mb.function.Table(([0, 1], [0, 10, 20]), [[0, 1, 2], [0, 2, 4]], "linear")
    >>> map([0.5, 15.0])
    2.25
    """

    _names = ("points", "values", "interpolation", "outside", "periodic")
    _axes: tuple[Array, ...]
    _starts: tuple[Array, ...]
    _table: Array  # (size, pieces) or (size, pieces, other size, other pieces), the highest power first
    _periods: tuple[bool, ...]
    _interpolation: str

    def __init__(
        self,
        points: Any,
        values: ArrayLike,
        interpolation: str = "smooth",
        outside: str = "extend",
        periodic: bool | Sequence[bool] = False,
    ) -> None:
        for what, given, known in (("interpolation", interpolation, INTERPOLATIONS), ("outside", outside, OUTSIDE)):
            checks.among(f"{what} of a Table", given, known)
        axes, rows = _read(points, values)
        periods = _flags(periodic, len(axes))
        if interpolation == "monotone" and len(axes) > 1:
            raise ValueError('interpolation="monotone" is for one argument; of two take "smooth" or "linear"')
        table = rows
        starts: list[Array] = []
        for k, (axis, wraps) in reversed(list(enumerate(zip(axes, periods, strict=True)))):
            pieces = _pieces(axis, interpolation, outside == "hold", wraps)
            if wraps:
                _check_period(axis, np.moveaxis(rows, k, 0))
            # the axis of values becomes two, of powers and of pieces
            found = np.apply_along_axis(lambda y: pieces(y).ravel(), k, table)  # noqa: B023
            count = len(axis) - 1 if wraps else len(axis) + 1
            table = found.reshape(*table.shape[:k], -1, count, *table.shape[k + 1 :])
            starts.insert(0, axis[:-1] if wraps else np.concatenate([axis[:1], axis]))
        self._keep(
            points=axes[0] if len(axes) == 1 else tuple(axes),
            values=rows,
            interpolation=interpolation,
            outside=outside,
            periodic=periods[0] if len(axes) == 1 else periods,
            axes=tuple(axes),
            starts=tuple(starts),
            table=np.ascontiguousarray(table),
            periods=periods,
        )

    @classmethod
    def from_csv(
        cls,
        file: str | os.PathLike[str],
        columns: Sequence[str | int] | None = None,
        interpolation: str = "smooth",
        outside: str = "extend",
        periodic: bool | Sequence[bool] = False,
    ) -> Self:
        """Read a table from a text file of numbers between commas, semicolons, tabs or blanks.

        Parameters
        ----------
        file : path
            Its lines; those that are empty or begin with ``#`` are passed over. The first may have names of columns. One whose
            first line has a word, or nothing, and then numbers is a grid: these are the second argument, the first column is
            the first argument.
        columns : sequence of two or three names or indices, optional
            The argument's column and the values'; or those of both arguments and of the values, with a line for each point of
            a grid in any order. The first two columns unless given, or all three of three.
        interpolation, outside, periodic
            As of the constructor.

        Returns
        -------
        Table

        Raises
        ------
        ModelError
            If a line cannot be read, a column is missing or a grid has gaps: with the file, the line and what is wrong.
        """
        points, values = read_table(file, columns)
        return cls(points, values, interpolation, outside, periodic)

    @property
    def routine(self) -> Routine:  # type: ignore[override]
        """Its routine."""
        return _of_one if len(self._axes) == 1 else _of_two

    def get_argument_size(self) -> int:
        """One or two."""
        return len(self._axes)

    def get_max_derivative_order(self) -> int:
        """Three of cubic pieces; of straight ones without limit, since higher derivatives are zero or constant."""
        return UNLIMITED if self._interpolation == "linear" else 3

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        integers: list[int] = []
        numbers: list[float] = []
        for k, (axis, starts, wraps) in enumerate(zip(self._axes, self._starts, self._periods, strict=True)):
            integers += [int(wraps), self._table.shape[2 * k], len(starts)]
            numbers += [float(axis[0]), float(axis[-1] - axis[0])]
        return integers, [*numbers, *np.concatenate(self._starts).tolist(), *self._table.ravel().tolist()]

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        result = self._table
        for k, (axis, starts, wraps) in enumerate(zip(self._axes, self._starts, self._periods, strict=True)):
            at = np.atleast_1d(np.asarray(x[k], dtype=np.float64))
            if wraps:
                period = axis[-1] - axis[0]
                at = at - period * np.floor((at - axis[0]) / period)
            piece = np.searchsorted(starts[1:], at, "right")
            t, order, size = at - starts[piece], components.count(k), result.shape[1 if k else 0]
            # of the first axis (size, pieces, ...) becomes (points, ...), which the second has in front
            chosen = np.moveaxis(result[:, piece], 1, 0) if k == 0 else result[np.arange(len(at)), :, piece]
            shape = (-1,) + (1,) * (chosen.ndim - 2)
            f = np.zeros((len(at), *chosen.shape[2:])) * t.reshape(shape)
            for power in range(size - 1, order - 1, -1):
                f = f * t.reshape(shape) + math.perm(power, order) * chosen[:, size - 1 - power]
            result = f
        return result if isinstance(x[0], np.ndarray) else result[0]


def _read(points: Any, values: ArrayLike) -> tuple[list[Array], Array]:
    """The axes and the values, checked."""
    try:
        is_pair = len(points) == 2 and all(np.ndim(axis) == 1 for axis in points)
    except TypeError:
        is_pair = False
    if not is_pair:
        axis, row = read_points("Table", points, values, 2, called=_CALLED)
        return [axis], row
    rows = checks.numbers("the values of a Table", values)
    shape = tuple(len(axis) for axis in points)
    if rows.shape != shape:
        raise ValueError(
            f"the values of a Table of two arguments have a row for each point of the first, a column for each of the second, "
            f"{shape}; they have the shape {rows.shape}"
        )
    axes = [read_points("Table", axis, np.zeros(len(axis)), 2, called=_CALLED)[0] for axis in points]
    return axes, checks.array("the values of a Table", rows, shape)


def _flags(periodic: Any, count: int) -> tuple[bool, ...]:
    given = (periodic,) * count if np.ndim(periodic) == 0 else tuple(periodic)
    if len(given) != count:
        raise ValueError(
            f"periodic of a Table of {count} argument{'s' * (count > 1)} is True, False or one of these each: {periodic!r}"
        )
    return tuple(checks.flag("periodic", one) for one in given)


def _check_period(axis: Array, values: Array) -> None:
    """Refuse a periodic table that does not end as it begins, but for rounding."""
    gap = float(np.abs(values[-1] - values[0]).max())
    if gap > 1e-9 * float(np.abs(values).max()):
        raise ModelError(
            f"a periodic Table ends with the value of its first point; at {float(axis[0])!r} and at {float(axis[-1])!r} the "
            f"values differ by {gap:g}: add the point where it begins anew"
        )


def _pieces(x: Array, interpolation: str, hold: bool, wraps: bool) -> Callable[[Array], Array]:
    """Values at *x* to the coefficients (size, pieces) of all pieces, those outside included."""
    from scipy.interpolate import CubicSpline, PchipInterpolator

    def lines(y: Array) -> Array:
        return np.array([np.diff(y) / np.diff(x), y[:-1]])

    def periodic(y: Array) -> Array:
        closed = np.append(y[:-1], y[0])
        if interpolation == "linear" or len(x) < 3:
            return lines(closed)
        if interpolation in ("smooth", "not-a-knot"):
            return np.asarray(CubicSpline(x, closed, bc_type="periodic").c)
        # three times round, so that the slopes at the seam know both sides
        span = x[-1] - x[0]
        around = np.concatenate([x[:-1] - span, x[:-1], x + span])
        return np.asarray(PchipInterpolator(around, np.concatenate([closed[:-1], closed[:-1], closed])).c)[
            :, len(x) - 1 : 2 * len(x) - 2
        ]

    def open_ended(y: Array) -> Array:
        if interpolation == "smooth":
            table = natural_pieces(3, x, y)
        else:
            spline = CubicSpline if interpolation == "not-a-knot" else PchipInterpolator
            inner = lines(y) if interpolation == "linear" else np.asarray(spline(x, y).c)
            table = np.zeros((len(inner), len(x) + 1))
            table[:, 1:-1] = inner
            table[-1, 0], table[-1, -1] = y[0], y[-1]
            last = np.polyval(np.polyder(inner[:, -1]), x[-1] - x[-2])
            table[-2, 0], table[-2, -1] = inner[-2, 0], last
        if hold:
            table[:-1, 0] = table[:-1, -1] = 0.0
        return table

    return periodic if wraps else open_ended
