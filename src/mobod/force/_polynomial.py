"""Springs and dampers of three coefficients: k(x) = k0 + k1 x + k2 x^2, of MuJoCo 4's `stiffness` and `damping`."""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from .pools import numbers3


@generic
def stiffness(model: Any, numbers: int, x: Any) -> Any:
    """k(x)."""
    a, b, c = numbers3(model, numbers)
    return a + x * (b + c * x)


@generic
def slope(model: Any, numbers: int, x: Any) -> Any:
    """k'(x)."""
    _, b, c = numbers3(model, numbers)
    return b + 2.0 * c * x


@generic
def energy_at(model: Any, numbers: int, x: Any) -> Any:
    """The integral of k(x) x from 0 to x."""
    a, b, c = numbers3(model, numbers)
    return x * x * (0.5 * a + x * (b * (1.0 / 3.0) + x * (0.25 * c)))
