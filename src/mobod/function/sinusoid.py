"""Sinusoid: a harmonic wave.

f = a sin(w x + p)   f' = a w cos(w x + p)   f'' = -w^2 f
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.scalar import load, sincos
from ..compiling import generic
from ..value import checks
from .base import Univariate
from .routines import of_one_argument


@generic
def jet(integers: Any, i: int, numbers: Any, n: int, x: Any) -> Any:
    """f, f', f''."""
    a, w = load(numbers, n, 0), load(numbers, n + 1, 0)
    s, c = sincos(w * x + load(numbers, n + 2, 0))
    return a * s, a * w * c, -(a * w * w * s)


class Sinusoid(Univariate):
    """A harmonic wave, ``amplitude * sin(frequency * x + phase)``.

    Parameters
    ----------
    amplitude : float
        Half the way from trough to crest.
    frequency : float
        Angular frequency: radians for each unit of the argument.
    phase : float
        Angle where the argument is zero; radians.

    Examples
    --------
    >>> Sinusoid(2, 3.14159265358979).calc_value(0.5)
    2.0
    """

    routine = of_one_argument(jet)
    _names = ("amplitude", "frequency", "phase")
    _amplitude: float
    _frequency: float
    _phase: float

    def __init__(self, amplitude: float, frequency: float, phase: float = 0.0) -> None:
        self._keep(
            amplitude=checks.finite("the amplitude of a Sinusoid", amplitude),
            frequency=checks.finite("the frequency of a Sinusoid", frequency),
            phase=checks.finite("the phase of a Sinusoid", phase),
        )

    def _at(self, order: int, x: Any) -> Any:
        angle = self._frequency * x + self._phase
        wave = np.cos(angle) if order % 2 else np.sin(angle)
        size = self._amplitude * self._frequency**order
        return (-size if order % 4 in (2, 3) else size) * wave

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [], [self._amplitude, self._frequency, self._phase]
