"""Polynomial: powers of one argument.

f = c0 x^m + c1 x^(m-1) + ... + c_m
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..algebra.arrays import Array, ArrayLike
from ..algebra.scalar import load, zero
from ..compiling import generic
from .base import Univariate, coefficients as read
from .routines import of_one_argument


@generic
def jet(integers: Any, i: int, numbers: Any, n: int, x: Any) -> Any:
    """f, f', f'' by Horner's scheme: each is carried along with the one before. Integers: how many coefficients."""
    f, slope, half_bend = zero(x), zero(x), zero(x)
    for j in range(integers[i]):
        half_bend = half_bend * x + slope
        slope = slope * x + f
        f = f * x + load(numbers, n + j, 0)
    return f, slope, 2.0 * half_bend


class Polynomial(Univariate):
    """A polynomial of one argument.

    Parameters
    ----------
    coefficients : array_like
        From that of the highest power down to the constant term, as `numpy.polyval` takes them.

    Examples
    --------
    >>> f = Polynomial([1, 0, -2])  # x^2 - 2
    >>> f.calc_value(3), f.calc_derivative([0], 3), f.calc_derivative([0, 0], 3)
    (7.0, 6.0, 2.0)
    """

    routine = of_one_argument(jet)
    _names = ("coefficients",)
    _coefficients: Array

    def __init__(self, coefficients: ArrayLike) -> None:
        self._keep(coefficients=read(coefficients, "the coefficients of a Polynomial, that of the highest power first,"))

    def _at(self, order: int, x: Any) -> Any:
        f = 0.0 * x
        for power, c in zip(range(len(self._coefficients) - 1, order - 1, -1), self._coefficients.tolist(), strict=False):
            f = f * x + math.perm(power, order) * c
        return f

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [len(self._coefficients)], self._coefficients.tolist()
