"""Curves of cubic pieces among a muscle's numbers: values and areas, of any scalar.

Numbers of a curve with room for n pieces: where each piece starts, n; four rows of coefficients, the highest power first; the
area from where it counts to each piece's start. In the piece that starts at s: f = c0 (x - s)^3 + ... + c3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.scalar import bare, lookup, zero
from ..compiling import generic
from ..errors import ModelError
from ..function.piecewise import Piecewise, piece_of

#: Rows of a curve.
ROWS = 6


@generic
def value(model: Any, n: int, pieces: int, x: Any) -> Any:
    """The curve at x."""
    piece, o = piece_of(model.force_numbers, n, pieces, bare(x)), zero(x)
    t, f = x - (o + lookup(model.force_numbers, n, piece)), o
    for k in range(1, ROWS - 1):
        f = f * t + (o + lookup(model.force_numbers, n + k * pieces, piece))
    return f


@generic
def area(model: Any, n: int, pieces: int, x: Any) -> Any:
    """Its area from where that counts."""
    piece, o = piece_of(model.force_numbers, n, pieces, bare(x)), zero(x)
    t, f = x - (o + lookup(model.force_numbers, n, piece)), o
    for k in range(1, ROWS - 1):
        f = f * t + (o + lookup(model.force_numbers, n + k * pieces, piece)) / (5.0 - k)
    return f * t + (o + lookup(model.force_numbers, n + (ROWS - 1) * pieces, piece))


def numbers_of(what: str, curve: Any, pieces: int, counts_from: float) -> list[float]:
    """Those of a curve of `mobod.function` that is made of cubics or less: a spline, or straight pieces."""
    if not isinstance(curve, Piecewise) or curve.get_max_derivative_order() > 3:
        raise TypeError(
            f"{what} is a curve of cubic or straight pieces, such as mobod.function.SimmSpline(x, y), not {curve!r}"
        )
    (size, n), packed = curve.pack()
    starts, table = np.array(packed[:n]), np.array(packed[n:]).reshape(size, n)
    if n > pieces:
        raise ModelError(f"{what} has {n - 1} points; there is room for {pieces - 1}")
    cubic = np.zeros((4, n))
    cubic[4 - len(table) :] = table
    areas = np.zeros(n)  # from the first point, before which the first piece goes on backward
    for k in range(2, n):
        areas[k] = areas[k - 1] + _integral(cubic[:, k - 1], starts[k] - starts[k - 1])
    place = int(np.searchsorted(starts[1:], counts_from, "right"))
    areas -= areas[place] + _integral(cubic[:, place], counts_from - starts[place])
    rows = np.zeros((ROWS, pieces))
    rows[0] = np.inf
    rows[:, :n] = np.vstack([starts, cubic, areas])
    return [float(one) for one in rows.ravel()]


def _integral(coefficients: Any, t: float) -> float:
    return float(np.polyval([*(coefficients / (4.0, 3.0, 2.0, 1.0)), 0.0], t))
