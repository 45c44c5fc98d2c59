"""Numbers of one state or of several, compared."""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import where
from ..compiling import generic


@generic
def size_of(x: Any) -> Any:
    """The absolute value."""
    return where(x < 0.0, -x, x)


@generic
def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers."""
    return where(a > b, a, b)
