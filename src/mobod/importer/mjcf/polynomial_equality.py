"""PolynomialEquality: one argument less a polynomial of another, what MuJoCo's joint equality keeps at zero.

f(y, x) = y - P(x)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...algebra.arrays import Array, ArrayLike
from ...algebra.scalar import load, one, zero
from ...compiling import generic
from ...function.base import FunctionKind
from ...function.routines import of_arguments


@generic
def jet(integers: Any, i: int, numbers: Any, n: int, x: Any, rates: Any) -> Any:
    """Value, gradient and its rate, by Horner's scheme. Integers: how many coefficients; numbers: the highest power first."""
    y, at = x
    f, slope, half_bend = zero(at), zero(at), zero(at)
    for j in range(integers[i]):
        half_bend = half_bend * at + slope
        slope = slope * at + f
        f = f * at + load(numbers, n + j, 0)
    return y - f, (one(at), -slope), (zero(at), -2.0 * half_bend * rates[1])


class PolynomialEquality(FunctionKind):
    """The first argument less a polynomial of the second.

    Parameters
    ----------
    coefficients : array_like
        Of the polynomial, that of the highest power first.
    """

    routine = of_arguments(2, jet)
    _names = ("coefficients",)
    _coefficients: Array

    def __init__(self, coefficients: ArrayLike) -> None:
        self._keep(coefficients=np.array(coefficients, np.float64))

    def get_argument_size(self) -> int:
        """Two."""
        return 2

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        if 0 in components:
            return np.ones_like(x[0]) if len(components) == 1 else np.zeros_like(x[0])
        c = np.polyder(self._coefficients, len(components)) if components else self._coefficients
        return (0.0 if components else x[0]) - np.polyval(c, x[1])

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        """The number of coefficients, and these."""
        return [len(self._coefficients)], self._coefficients.tolist()
