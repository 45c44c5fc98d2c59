"""StraightPath: straight lines from point to point, in one or several branches, each divided by the gain of a pulley.

l = sum over segments of |r| / g   r from the segment's first point to its second   f pulls them together with f / g
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...algebra import mat33, vec3
from ...algebra.arrays import ArrayLike
from ...algebra.memory import add_spatial, load3, load9, load_spatial
from ...algebra.scalar import load, one, sqrt, where, zero
from ...compiling import generic
from ...decoration.rubber_band_line import Line
from ...errors import ModelError
from ...mobilizer.base import MobilizedBody
from ...state.state import State
from ...value import checks
from ..base import body_index
from ..pools import number, numbers3
from ..subsystem import GeneralForceSubsystem
from .base import Span, Transmission

#: Integers and numbers of a segment: two bodies; two stations, and one over the divisor.
INTEGERS, NUMBERS = 2, 7


@generic
def ends(model: Any, i: int, x: int) -> Any:
    """The stations from their bodies' origins in Ground, and r."""
    b1, b2 = model.force_integers[i], model.force_integers[i + 1]
    s1 = mat33.mul_vec(load9(model.R_GB, b1, 0), numbers3(model, x))
    s2 = mat33.mul_vec(load9(model.R_GB, b2, 0), numbers3(model, x + 3))
    r = vec3.sub(vec3.add(load3(model.p_GB, b2, 0), s2), vec3.add(load3(model.p_GB, b1, 0), s1))
    return s1, s2, r


@generic
def direction(r: Any) -> Any:
    """r / |r|; zero where the points coincide."""
    rr = vec3.dot(r, r)
    size = sqrt(where(rr > 0.0, rr, one(rr)))
    return vec3.scale(1.0 / size, r)


@generic
def length(model: Any, i: int, x: int) -> Any:
    """Integers: how many segments, then two bodies each. Numbers of each: two stations, and one over the divisor."""
    total = zero(load(model.time, 0, 0))
    for k in range(model.force_integers[i]):
        j, n = i + 1 + INTEGERS * k, x + NUMBERS * k
        r = ends(model, j, n)[2]
        total = total + number(model, n + 6) * vec3.dot(direction(r), r)
    return total


@generic
def speed(model: Any, i: int, x: int) -> Any:
    """The rate of the length."""
    total = zero(load(model.time, 0, 0))
    for k in range(model.force_integers[i]):
        j, n = i + 1 + INTEGERS * k, x + NUMBERS * k
        if model.force_integers[j] != model.force_integers[j + 1]:
            s1, s2, r = ends(model, j, n)
            w1, v1 = load_spatial(model.V_GB, model.force_integers[j])
            w2, v2 = load_spatial(model.V_GB, model.force_integers[j + 1])
            v = vec3.sub(vec3.add(v2, vec3.cross(w2, s2)), vec3.add(v1, vec3.cross(w1, s1)))
            total = total + number(model, n + 6) * vec3.dot(direction(r), v)
    return total


@generic
def apply(model: Any, i: int, x: int, f: Any) -> None:
    """f along the direction on the second point of each segment, -f on the first."""
    for k in range(model.force_integers[i]):
        j, n = i + 1 + INTEGERS * k, x + NUMBERS * k
        if model.force_integers[j] != model.force_integers[j + 1]:
            s1, s2, r = ends(model, j, n)
            push = vec3.scale(f * number(model, n + 6), direction(r))
            pull = vec3.neg(push)
            add_spatial(model.body_forces, model.force_integers[j], vec3.cross(s1, pull), pull)
            add_spatial(model.body_forces, model.force_integers[j + 1], vec3.cross(s2, push), push)


class StraightPath(Transmission):
    """Straight lines from point to point: a rope through eyelets, over pulleys of no size.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    branches : iterable of (sequence of (MobilizedBody, (3,) array_like), float)
        The points of each branch, in order, each a station of a body, and what the branch's length is divided by: behind a
        pulley that doubles, 2.
    ratio : float
        Length, speed and generalized force are multiplied by it.

    Raises
    ------
    ModelError
        If a branch has fewer than two points, or a divisor is not above zero.
    TypeError, ValueError, TopologyError
        If a body is none, or of another system, or a station no vector.

    Notes
    -----
    A force above zero lengthens the path; a rope pulls with forces below zero. Segments within one body have a length, and no
    force to pass on. Where two points of different bodies coincide there is no direction, and no force.
    """

    FUNCTIONS = (length, speed, apply)
    is_linear = True
    is_between = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        branches: Iterable[tuple[Sequence[tuple[MobilizedBody, ArrayLike]], float]],
        *,
        ratio: float = 1.0,
    ) -> None:
        integers: list[int] = [0]
        numbers: list[float] = []
        for points, divisor in branches:
            if len(points) < 2:
                raise ModelError(f"a branch of a StraightPath has two points or more, got {len(points)}")
            part = 1.0 / checks.positive("the divisor of a branch", divisor)
            placed = [
                (body_index(forces, "body of a point", body), checks.vector("a point of a StraightPath", station).tolist())
                for body, station in points
            ]
            for (b1, s1), (b2, s2) in pairwise(placed):
                integers += [b1, b2]
                numbers += [*s1, *s2, part]
                integers[0] += 1
        super().__init__(forces, integers, numbers, ratio)

    def reach(self) -> tuple[list[int], list[int]]:
        return self.integers[1:], []

    def spans(self) -> list[Span] | None:
        """Its segments."""
        if type(self).FUNCTIONS is not StraightPath.FUNCTIONS:
            return None
        bodies = self.integers[1:]
        pairs = zip(bodies[::INTEGERS], bodies[1::INTEGERS], range(0, NUMBERS * self.integers[0], NUMBERS), strict=True)
        return [Span((one, other, -1), (x, x + 3), x + 6) for one, other, x in pairs]

    def calc_lines(self, state: State) -> list[Line]:
        """Its segments."""
        bodies = np.array(self.integers[1:]).reshape(-1, INTEGERS).tolist()
        stations = np.array(self.numbers[1:]).reshape(-1, NUMBERS)[:, :6].reshape(-1, 2, 3)
        return [((b1, s1), (b2, s2)) for (b1, b2), (s1, s2) in zip(bodies, stations, strict=True)]
