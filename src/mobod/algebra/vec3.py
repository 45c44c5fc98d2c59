"""Vectors: tuples of three numbers."""

from typing import Any

from ..compiling import generic
from .scalar import one, zero


@generic
def add(a: Any, b: Any) -> Any:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@generic
def sub(a: Any, b: Any) -> Any:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@generic
def neg(a: Any) -> Any:
    """-a."""
    return -a[0], -a[1], -a[2]


@generic
def scale(s: Any, a: Any) -> Any:
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@generic
def add_scaled(a: Any, s: Any, b: Any) -> Any:
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@generic
def dot(a: Any, b: Any) -> Any:
    """The inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@generic
def add_dot(x: Any, a: Any, b: Any) -> Any:
    """x + a.b, as three fused multiply-adds, which take no longer than a.b."""
    return x + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@generic
def cross(a: Any, b: Any) -> Any:
    """The cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@generic
def unit(x: Any, k: int) -> Any:
    """The unit vector along axis k, of numbers as *x* is; zeros where there is no such axis."""
    o, i = zero(x), one(x)
    return i if k == 0 else o, i if k == 1 else o, i if k == 2 else o
