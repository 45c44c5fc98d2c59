"""Functions made of pieces, each a polynomial: what splines and piecewise functions share.

In the piece that starts at s_j: f = c0 (x - s_j)^k + ... + ck. A first piece is left of all points and counts from the first.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..algebra.beside import lies_beside
from ..algebra.scalar import bare, load, lookup, num_lanes, where, zero
from ..compiling import generic
from ..errors import ModelError
from ..value import checks
from .base import Univariate
from .routines import of_one_argument

#: Pieces among which x is compared with each.
FEW = 24


@generic
def piece_of(numbers: Any, breaks: int, pieces: int, x: Any) -> Any:
    """The piece that x, without tangents, is in: the last one that starts at or before it, else the first.

    By halving, where each look-up waits for the one before; among a few, compared with each.
    """
    piece, left = zero(x), pieces
    if (num_lanes(x) == 1 or not lies_beside(numbers)) and pieces <= FEW:
        for k in range(1, pieces):
            piece = where(x >= load(numbers, breaks + k, 0), 1.0 * k, piece)
    else:
        while left > 1:
            half = left // 2
            piece = where(x >= lookup(numbers, breaks, piece + 1.0 * half), piece + 1.0 * half, piece)
            left -= half
    return piece


@generic
def jet(integers: Any, i: int, numbers: Any, n: int, x: Any) -> Any:
    """f, f', f''. Integers: coefficients of a piece, how many pieces.

    Numbers: where each piece starts (the first one's end), then the pieces' coefficients, power by power.
    """
    size, pieces = integers[i], integers[i + 1]
    piece = piece_of(numbers, n, pieces, bare(x))
    t = x - (zero(x) + lookup(numbers, n, piece))
    f, slope, half_bend = zero(x), zero(x), zero(x)
    for j in range(size):
        half_bend = half_bend * t + slope
        slope = slope * t + f
        f = f * t + (zero(x) + lookup(numbers, n + (j + 1) * pieces, piece))
    return f, slope, 2.0 * half_bend


class Piecewise(Univariate):
    """A kind that is made of polynomials; its constructor keeps x, y, where the pieces start, and their table."""

    routine = of_one_argument(jet)
    _x: Array
    _y: Array
    _starts: Array  # of the pieces; the first one, which is left of all points, counts from the first point
    _table: Array  # (degree + 1, pieces), the highest power first

    def get_max_derivative_order(self) -> int:
        """The degree of the pieces; the derivative of that order jumps at the points."""
        return len(self._table) - 1

    def _at(self, order: int, x: Any) -> Any:
        # the first piece ends where the second starts
        piece = (
            bisect.bisect_right(self._starts[1:], x) if isinstance(x, float) else np.searchsorted(self._starts[1:], x, "right")
        )
        t = x - self._starts[piece]
        f = 0.0 * t
        for power, c in zip(range(len(self._table) - 1, order - 1, -1), self._table, strict=False):
            f = f * t + math.perm(power, order) * c[piece]
        return f

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [len(self._table), len(self._starts)], [*self._starts.tolist(), *self._table.ravel().tolist()]


def read_points(
    kind: str,
    x: ArrayLike,
    y: ArrayLike,
    least: int,
    *,
    of: str = "",
    may_repeat: bool = False,
    called: tuple[str, str] = ("x", "y"),
) -> tuple[Array, Array]:
    """The points of a *kind*, copies: at least *least*, x increasing, or where it *may_repeat*, not decreasing."""
    name, other = called
    points = checks.numbers(f"{name} of a {kind}", x)
    if points.ndim != 1 or len(points) < least:
        raise ValueError(f"{name} of a {kind}{of} must be a list of {least} or more numbers; it has the shape {points.shape}")
    points = checks.array(f"{name} of a {kind}", points, points.shape)
    values = checks.array(f"{other} of a {kind}, one for each of {name},", y, points.shape)
    steps = np.diff(points)
    backward = np.flatnonzero(steps < 0.0 if may_repeat else steps <= 0.0)
    if len(backward):
        j = int(backward[0])
        advice = "sort the points" if may_repeat else "sort the points, and leave out those that come twice"
        raise ModelError(
            f"{name} of a {kind} must {'not decrease' if may_repeat else 'increase'}; {name}[{j}] is {float(points[j])!r} and "
            f"{name}[{j + 1}] is {float(points[j + 1])!r}: {advice}"
        )
    return points, values
