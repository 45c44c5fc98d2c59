"""Coordinates: a weighted sum of coordinates. A joint's own actuator, or a tendon that couples joints.

l = sum of c q   its speed is that of l   a force f pushes each coordinate with c f
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...algebra.scalar import load, zero
from ...compiling import generic
from ...mobilizer.base import MobilizedBody
from ...value import checks
from .. import one_coordinate
from ..base import mobility
from ..pools import number
from ..subsystem import GeneralForceSubsystem
from .base import Transmission


@generic
def length(model: Any, i: int, x: int) -> Any:
    """Integers: how many, then body and number of each. Numbers: the coefficients."""
    total = zero(load(model.time, 0, 0))
    for k in range(model.force_integers[i]):
        total = total + number(model, x + k) * one_coordinate.coordinate(model, i + 1 + 2 * k)
    return total


@generic
def speed(model: Any, i: int, x: int) -> Any:
    """The rate of the length."""
    total = zero(load(model.time, 0, 0))
    for k in range(model.force_integers[i]):
        total = total + number(model, x + k) * one_coordinate.coordinate_rate(model, i + 1 + 2 * k)
    return total


@generic
def apply(model: Any, i: int, x: int, f: Any) -> None:
    """Each coordinate's share."""
    for k in range(model.force_integers[i]):
        one_coordinate.push(model, i + 1 + 2 * k, number(model, x + k) * f)


class Coordinates(Transmission):
    """A weighted sum of coordinates: its length is the sum of c q.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose mobilizers it names.
    terms : iterable of (MobilizedBody, int, float)
        The mobilizer, the number of the coordinate among its own, and the coefficient c of each.
    ratio : float
        Length, speed and generalized force are multiplied by it.

    Raises
    ------
    TypeError, ValueError, IndexError, TopologyError
        If a body is none, or of another system, has no such coordinate, or a coefficient is not finite.
    """

    FUNCTIONS = (length, speed, apply)
    is_linear = True

    def __init__(
        self, forces: GeneralForceSubsystem, terms: Iterable[tuple[MobilizedBody, int, float]], *, ratio: float = 1.0
    ) -> None:
        integers, numbers = [0], []
        for mobod, which_q, coefficient in terms:
            integers += mobility(forces, mobod, which_q, "which_q")
            numbers.append(checks.finite("a coefficient of Coordinates", coefficient))
            integers[0] += 1
        super().__init__(forces, integers, numbers, ratio)

    def reach(self) -> tuple[list[int], list[int]]:
        return [], self.integers[1::2]
