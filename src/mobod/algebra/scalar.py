"""The primitives of every scalar type: what a kernel may do with a number besides ``+ - * /`` and comparisons.

Called from Python these are ordinary functions of floats, of arrays of eight (lanes) or of any object with the arithmetic
(SymPy's symbols among them); compiled, `lanes` gives them their form for float64 and for `Lanes`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def load(rows: Any, row: int, column: int) -> Any:
    """The number at *row*, *column* of a field: float64, or eight lanes of it."""
    value = rows[row] if rows.ndim == 1 else rows[row, column]
    return value.copy() if isinstance(value, np.ndarray) else value  # lanes: not a view, which a later store would change


def store(rows: Any, row: int, column: int, value: Any) -> None:
    """Put *value* at *row*, *column* of a field."""
    if rows.ndim == 1:
        rows[row] = value
    else:
        rows[row, column] = value


def zero(x: Any) -> Any:
    """0, of the scalar type of *x*."""
    return 0.0 if isinstance(x, float) else 0.0 * x


def one(x: Any) -> Any:
    """1, of the scalar type of *x*."""
    return 1.0 if isinstance(x, float) else 0.0 * x + 1.0


def where(mask: Any, a: Any, b: Any) -> Any:
    """*a* where *mask* holds, else *b*; both are computed, and both must be finite."""
    if isinstance(mask, np.ndarray):
        return np.where(mask, a, b)
    return a if mask else b


def sqrt(x: Any) -> Any:
    """The square root."""
    if isinstance(x, float):
        return math.sqrt(x)
    return np.sqrt(x) if isinstance(x, np.ndarray) else x.sqrt()


def sincos(x: Any) -> Any:
    """``(sin x, cos x)``."""
    if isinstance(x, float):
        return math.sin(x), math.cos(x)
    return (np.sin(x), np.cos(x)) if isinstance(x, np.ndarray) else x.sincos()


def any_not_finite(x: Any) -> bool:
    """Whether *x*, or one of its lanes, is infinite or not a number."""
    return not bool(np.all(np.isfinite(x)))


def gather(array: Any, first: int, column: int) -> Any:
    """Eight lanes from one column of a 2-D array of float64: rows *first* to *first* + 7."""
    return array[first : first + 8, column]


def scatter(array: Any, first: int, column: int, value: Any) -> None:
    """Eight lanes into one column of a 2-D array of float64: rows *first* to *first* + 7."""
    array[first : first + 8, column] = value
