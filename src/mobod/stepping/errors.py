"""Error norms of steps, and how fast y changes: numbers that the sizes of steps are chosen by."""

from __future__ import annotations

from typing import Any

from ..algebra.order import larger, larger_or_nan, size_of
from ..algebra.record import attach
from ..algebra.scalar import load, sqrt, zero
from ..compiling import compiled
from .record import RATE, Y


@compiled
def error_norm(block: Any, work: Any, weights: Any, mean: int) -> Any:
    """The largest error of any variable times its weight, relative where this exceeds 1; or the root of their mean square.

    The default is the largest: in a mechanism of many coordinates a mean would hide a single wrong one.
    """
    model = attach(block)
    worst = total = zero(load(model.time, 0, 0))
    errors = work.shape[0] - 3
    for i in range(model.ny):
        weight = weights[i]
        scale = larger(1.0 + zero(worst), weight * size_of(load(work, Y, i)))
        scale = larger(scale, weight * size_of(load(model.y, i, 0)))
        size = weight * size_of(load(work, errors, i)) / scale
        worst = larger_or_nan(worst, size)
        total = total + size * size
    if mean != 0:
        worst = sqrt(total / max(1, model.ny))
    return worst


@compiled
def surprise(block: Any, work: Any, weights: Any, row: int, h: Any) -> Any:
    """The largest change, in a step, by rates that differ from those in a row; weighted as errors are, by y at the beginning.

    A method may have met a contact in a stage that has no part in its estimate, been thrown off, and missed it in all others.
    """
    model = attach(block)
    worst = zero(h)
    for i in range(model.ny):
        weight = weights[i]
        scale = larger(1.0 + zero(h), weight * size_of(load(work, Y, i)))
        size = weight * h * size_of(load(model.y_dot, i, 0) - load(work, row, i)) / scale
        worst = larger_or_nan(worst, size)
    return worst


@compiled
def norms(block: Any, work: Any, weights: Any) -> Any:
    """Root mean squares of y, of its rate at RATE, and of that less the present rate; scaled as in `error_norm`."""
    model = attach(block)
    a = b = c = zero(load(model.time, 0, 0))
    for i in range(model.ny):
        y, rate = load(work, Y, i), load(work, RATE, i)
        scale = larger(1.0 / max(weights[i], 1e-300) + zero(y), size_of(y))
        p, v, d = y / scale, rate / scale, (rate - load(model.y_dot, i, 0)) / scale
        a, b, c = a + p * p, b + v * v, c + d * d
    n = max(1, model.ny)
    return sqrt(a / n), sqrt(b / n), sqrt(c / n)
