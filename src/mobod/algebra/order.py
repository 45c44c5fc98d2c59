"""Numbers of one state or of several, compared."""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from .scalar import where


@generic
def size_of(x: Any) -> Any:
    """The absolute value."""
    return where(x < 0.0, -x, x)


@generic
def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers."""
    return where(a > b, a, b)


@generic
def larger_or_nan(a: Any, b: Any) -> Any:
    """The larger of two numbers; no number where one of them is none."""
    return where(a >= b, a, where(b >= a, b, a + b))


@generic
def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers."""
    return where(a < b, a, b)
