"""Linear: a weighted sum of the arguments, and a constant.

f = c0 x0 + c1 x1 + ... + c_n
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.arrays import Array, ArrayLike
from .base import FunctionKind, coefficients


class Linear(FunctionKind):
    """A weighted sum of the arguments, and a constant.

    Parameters
    ----------
    coefficients : (argument_size + 1,) array_like
        One for each argument, then the constant term.

    Examples
    --------
    >>> f = Linear([2, 3, 10])
    >>> f.calc_value([1, 1]), f.calc_derivative([1], [1, 1])
    (15.0, 3.0)
    """

    is_affine = True
    _names = ("coefficients",)
    _coefficients: Array

    def __init__(self, coefficients: ArrayLike) -> None:
        self._keep(coefficients=_coefficients(coefficients))

    def get_argument_size(self) -> int:
        """The number of arguments: one less than that of coefficients."""
        return len(self._coefficients) - 1

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        *weights, constant = self._coefficients.tolist()
        if not components:
            return sum((c * x_k for c, x_k in zip(weights, x, strict=True)), constant)
        return weights[components[0]] if len(components) == 1 else 0.0

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [], self._coefficients.tolist()


def _coefficients(value: ArrayLike) -> Array:
    return coefficients(value, "the coefficients of a Linear, its constant term last,")
