"""Forces along the line between two points: a formula of distance and rate, and an actuator's effort.

f = f(d, d_dot) pulls the points together;  an effort f pushes A and B apart: f d_BA on A
"""

from __future__ import annotations

from typing import Any

from ....algebra import vec3
from ....algebra.arrays import ArrayLike
from ....algebra.scalar import sqrt, store, where, zero
from ....compiling import Routine, generic
from ....force.routines import by_address
from ....force.subsystem import GeneralForceSubsystem
from ....force.two_points import OWN, TwoPoints, arms, pull, rate, square
from ....function import Function, routines
from ....mobilizer.base import MobilizedBody
from .driven import EffortDriven, driven
from .of_coordinate import effort, effort_rate


@generic
def add_formula(model: Any, integers: int, numbers: int) -> None:
    """Integers: after the bodies, the number of the function, which is of d and its rate."""
    b1, b2, s1, s2, r = arms(model, integers, numbers)
    apart, dd = square(r)
    d = sqrt(dd)
    store(model.arguments, 0, 0, d)
    store(model.arguments, 1, 0, rate(model, b1, b2, s1, s2, r) / d)
    f = routines.value(model, model.force_integers[integers + 2], model.arguments, 0) / d
    pull(model, b1, b2, s1, s2, vec3.scale(where(apart, f, zero(f)), r))


class PointToPointFormula(TwoPoints):
    """Pulls two points together by a function of distance and rate: OpenSim's ExpressionBasedPointToPointForce."""

    routine: Routine | None = by_address(add_formula)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body1: MobilizedBody,
        station1: ArrayLike,
        body2: MobilizedBody,
        station2: ArrayLike,
        function: Function,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(forces, body1, station1, body2, station2, disabled_by_default, name)
        self.used_functions = [(function, [0, 1])]


@generic
def add_effort(model: Any, integers: int, numbers: int) -> None:
    """f r / d on point 2, the opposite on point 1. Integers: after the bodies, the function of time."""
    b1, b2, s1, s2, r = arms(model, integers, numbers)
    apart, dd = square(r)
    f = driven(model, integers + 2, numbers + OWN) / sqrt(dd)
    pull(model, b1, b2, s1, s2, vec3.scale(where(apart, -1.0 * f, zero(f)), r))


class PointToPointActuator(TwoPoints, EffortDriven):
    """Pushes two points apart as a state says: OpenSim's PointToPointActuator."""

    routine: Routine | None = by_address(add_effort)
    optimal_force: float = 1.0
    FLAG = 2

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body_a: MobilizedBody,
        point_a: ArrayLike,
        body_b: MobilizedBody,
        point_b: ArrayLike,
        optimal_force: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._connect(forces, body_a, point_a, body_b, point_b, disabled_by_default, name, effort=0.0)
        self.default_integers.append(-1)
        self.optimal_force = optimal_force

    get_default_effort, set_default_effort, get_effort, set_effort = effort()
    get_default_effort_rate, set_default_effort_rate, get_effort_rate, set_effort_rate = effort_rate()
