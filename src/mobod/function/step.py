"""Step: from one level to another, smoothly.

With s = (x - x0) / (x1 - x0), kept between 0 and 1:

    f = y0 + (y1 - y0) s^3 (10 - 15 s + 6 s^2)   f' ~ 30 s^2 (1 - s)^2   f'' ~ 60 s (1 - s) (1 - 2 s)

the polynomial of least degree whose first two derivatives vanish at both ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.scalar import load, one, where, zero
from ..compiling import generic
from ..errors import ModelError
from ..value import checks
from .base import Univariate
from .routines import of_one_argument

#: s^3 (10 - 15 s + 6 s^2), and its derivatives, as coefficients of powers.
SHAPE = ([6, -15, 10, 0, 0, 0], [30, -60, 30, 0, 0], [120, -180, 60, 0], [360, -360, 60])


@generic
def jet(integers: Any, i: int, numbers: Any, n: int, x: Any) -> Any:
    """f, f', f''. Numbers: y0, y1 - y0, x0, 1 / (x1 - x0)."""
    o = zero(x)
    rise, steepness = load(numbers, n + 1, 0), load(numbers, n + 3, 0)
    s = (x - load(numbers, n + 2, 0)) * steepness
    s = where(s < 0.0, o, where(s > 1.0, one(x), s))
    r = 1.0 - s
    f = load(numbers, n, 0) + rise * (s * s * s * (10.0 + s * (6.0 * s - 15.0)))
    slope = rise * steepness
    return f, slope * (30.0 * (s * s) * (r * r)), slope * steepness * (60.0 * (s * r) * (r - s))


class Step(Univariate):
    """From one level to another, with continuous first and second derivatives.

    Parameters
    ----------
    y0, y1 : float
        The value before *x0* and after *x1*.
    x0, x1 : float
        Where it leaves the one and reaches the other. With x0 above x1 it goes from right to left.

    Notes
    -----
    Between, it is a polynomial of degree five. Derivatives are exact: zero outside, at the ends too; the third one jumps there.

    Examples
    --------
    >>> f = Step(1, 3, 0, 10)
    >>> f.calc_value([[-1], [5], [12]])
    array([1., 2., 3.])
    """

    routine = of_one_argument(jet)
    _names = ("y0", "y1", "x0", "x1")
    _y0: float
    _y1: float
    _x0: float
    _x1: float

    def __init__(self, y0: float, y1: float, x0: float, x1: float) -> None:
        values = {"y0": y0, "y1": y1, "x0": x0, "x1": x1}
        self._keep(**{name: checks.finite(f"{name} of a Step", value) for name, value in values.items()})
        if not np.isfinite(1.0 / (self._x1 - self._x0) if self._x1 != self._x0 else np.inf):
            raise ModelError(f"the two ends of a Step must differ; x0 is {x0!r} and x1 is {x1!r}")

    def get_max_derivative_order(self) -> int:
        """Three: the third derivative is the last that is bounded everywhere."""
        return 3

    def _at(self, order: int, x: Any) -> Any:
        steepness = 1.0 / (self._x1 - self._x0)
        s = (x - self._x0) * steepness
        s = min(max(s, 0.0), 1.0) if isinstance(s, float) else np.clip(s, 0.0, 1.0)  # NaN stays NaN in both
        f = 0.0 * s
        for c in SHAPE[order]:
            f = f * s + c
        if order == 3:
            f = f * ((s > 0.0) & (s < 1.0))
        rise = (self._y1 - self._y0) * steepness**order * f
        return rise if order else np.where(s == 1.0, self._y1, self._y0 + rise)

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [], [self._y0, self._y1 - self._y0, self._x0, 1.0 / (self._x1 - self._x0)]
