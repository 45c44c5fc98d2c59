"""Forces on one coordinate: limits with smooth transitions, springs, formulas, and an actuator's effort.

With q the coordinate, u the speed of the same number, and f the force on that mobility, as OpenSim has them:

    limit       f = -k_u s_u (q - q_u) + k_l s_l (q_l - q) - c (s_u + s_l) u,  s_u = S((q - q_u) / w), s_l = S((q_l - q) / w)
    spring      f = -k (q - q_0) - c u
    formula     f(q, u)
    effort      f as a state says

where S(x) = 6 x^5 - 15 x^4 + 10 x^3 between 0 and 1, 0 below and 1 above. A limit stores k w^2 x^5 (2 - 5/2 x + 6/7 x^2) for
x below 1, and k w^2 (x^2 / 2 - 1/7) beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....algebra.scalar import load, one, store, where, zero
from ....compiling import Routine, generic
from ....force.base import Force, mobility
from ....force.pools import number
from ....force.routines import by_address
from ....force.subsystem import GeneralForceSubsystem
from ....force.transmission import Coordinates
from ....function import Function, routines
from ....mobilizer.base import MobilizedBody
from ....state import parameters
from ....value.checks import finite
from ....value.stage import Stage
from .driven import EffortDriven, driven


@generic
def coordinate(model: Any, integers: int) -> Any:
    """Coordinate and speed. Integers: the body, and which of its coordinates, angles in the place of quaternions."""
    b, which = model.force_integers[integers], model.force_integers[integers + 1]
    return load(model.q, model.first_q[b] + which, 0), load(model.u, model.first_u[b] + which, 0)


@generic
def push(model: Any, integers: int, f: Any) -> None:
    """A force on the mobility."""
    i = model.first_u[model.force_integers[integers]] + model.force_integers[integers + 1]
    store(model.mobility_forces, i, 0, load(model.mobility_forces, i, 0) + f)


@generic
def _length(model: Any, i: int, x: int) -> Any:
    """Integers and numbers as of `transmission.Coordinates`, which has one term here."""
    return coordinate(model, i + 1)[0]


@generic
def _speed(model: Any, i: int, x: int) -> Any:
    """The speed u."""
    return coordinate(model, i + 1)[1]


@generic
def _apply(model: Any, i: int, x: int, f: Any) -> None:
    """A force on the mobility."""
    push(model, i + 1, f)


class OnMobility(Coordinates):
    """A coordinate whose force acts on the mobility of its number, as OpenSim's does where q_dot is not u."""

    FUNCTIONS = (_length, _speed, _apply)


@generic
def smooth_step(x: Any) -> Any:
    """S(x)."""
    o, i = zero(x), one(x)
    s = where(x > 0.0, where(x < 1.0, x, i), o)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


class OfCoordinate(Force):
    """A force on one coordinate; the base of the kinds here."""

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which: int,
        *numbers: float,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        place = mobility(forces, mobod, which, "which_u")
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = list(place), [float(x) for x in numbers]

    def get_mobilized_body(self) -> MobilizedBody:
        """The body whose mobilizer's coordinate it acts on."""
        return self._body(0)

    def get_which_q(self) -> int:
        """The number of the coordinate among the mobilizer's."""
        return self.default_integers[1]


# ---------------------------------------------------------------------------------------------- limit


@generic
def _limit(model: Any, integers: int, numbers: int) -> Any:
    """The forces of springs, and what the damping is multiplied by. Numbers: k_u, q_u, k_l, q_l, c, w."""
    q, u = coordinate(model, integers)
    w = number(model, numbers + 5)
    above, below = q - number(model, numbers + 1), number(model, numbers + 3) - q
    s_u, s_l = smooth_step(above / w), smooth_step(below / w)
    f = number(model, numbers + 2) * s_l * below - number(model, numbers) * s_u * above
    return f, number(model, numbers + 4) * (s_u + s_l) * u, u


@generic
def add_limit(model: Any, integers: int, numbers: int) -> None:
    """f."""
    f, drag, _ = _limit(model, integers, numbers)
    push(model, integers, f - drag)


@generic
def _stored(w: Any, beyond: Any) -> Any:
    """The integral of S(y / w) y from 0 on, for a stiffness of 1."""
    x = beyond / w
    s = where(x > 0.0, where(x < 1.0, x, one(x)), zero(x))
    more = where(x > 1.0, x, one(x))
    return w * w * (s * s * s * s * s * (2.0 + s * (6.0 / 7.0 * s - 2.5)) + 0.5 * (more * more - 1.0))


@generic
def limit_energy(model: Any, integers: int, numbers: int) -> Any:
    """Of the springs, whose stiffness depends on the coordinate alone."""
    q, w = coordinate(model, integers)[0], number(model, numbers + 5)
    above, below = q - number(model, numbers + 1), number(model, numbers + 3) - q
    return number(model, numbers) * _stored(w, above) + number(model, numbers + 2) * _stored(w, below)


@generic
def limit_power(model: Any, integers: int, numbers: int) -> Any:
    """The power that the damping dissipates."""
    _, drag, u = _limit(model, integers, numbers)
    return drag * u


limit = by_address(add_limit, limit_energy, limit_power)


class CoordinateLimit(OfCoordinate):
    """Pushes a coordinate back that leaves its range: OpenSim's CoordinateLimitForce.

    Parameters
    ----------
    forces, mobod, which
        What it joins, and the coordinate.
    upper_stiffness, upper_limit, lower_stiffness, lower_limit : float
        Of the coordinate's own units: radians.
    damping : float
        Force*time/angle, or of a length.
    transition : float
        Over how much of the coordinate stiffness and damping rise from nothing.
    """

    routine: Routine | None = limit


# ---------------------------------------------------------------------------------------------- spring


@generic
def add_spring(model: Any, integers: int, numbers: int) -> None:
    """Numbers: k, q_0, c."""
    q, u = coordinate(model, integers)
    push(model, integers, number(model, numbers) * (number(model, numbers + 1) - q) - number(model, numbers + 2) * u)


@generic
def spring_energy(model: Any, integers: int, numbers: int) -> Any:
    """1/2 k (q - q_0)^2."""
    stretch = coordinate(model, integers)[0] - number(model, numbers + 1)
    return 0.5 * number(model, numbers) * stretch * stretch


@generic
def spring_power(model: Any, integers: int, numbers: int) -> Any:
    """c u^2."""
    u = coordinate(model, integers)[1]
    return number(model, numbers + 2) * u * u


class CoordinateSpring(OfCoordinate):
    """A spring and a damper of one coordinate: OpenSim's SpringGeneralizedForce, with stiffness, rest value and viscosity."""

    routine: Routine | None = by_address(add_spring, spring_energy, spring_power)


# ---------------------------------------------------------------------------------------------- formula


@generic
def add_formula(model: Any, integers: int, numbers: int) -> None:
    """Integers: after the coordinate, the number of the function, which is of q and u."""
    q, u = coordinate(model, integers)
    store(model.arguments, 0, 0, q)
    store(model.arguments, 1, 0, u)
    push(model, integers, routines.value(model, model.force_integers[integers + 2], model.arguments, 0))


class CoordinateFormula(OfCoordinate):
    """A force that is a function of a coordinate and its speed: OpenSim's ExpressionBasedCoordinateForce."""

    routine: Routine | None = by_address(add_formula)

    def __init__(
        self, forces: GeneralForceSubsystem, mobod: MobilizedBody, which: int, function: Function, **options: Any
    ) -> None:
        super().__init__(forces, mobod, which, **options)
        self.used_functions = [(function, [0, 1])]


# ---------------------------------------------------------------------------------------------- effort


@generic
def add_effort(model: Any, integers: int, numbers: int) -> None:
    """Integers: after the coordinate, the function of time. Numbers: f, and its rate."""
    push(model, integers, driven(model, integers + 2, numbers))


def effort() -> tuple[Callable[..., Any], ...]:
    """The accessors of what an actuator applies at time 0, zero unless a state says otherwise."""
    what = "what it applies: a control times the optimal force; at time 0, where it has a rate"
    return parameters.scalar("effort", "force, or force*length", finite, what, invalidates=Stage.DYNAMICS).accessors()


def effort_rate() -> tuple[Callable[..., Any], ...]:
    """The accessors of what that grows by, zero unless a state says otherwise; they come behind those of the effort."""
    unit, what = "force/time, or force*length/time", "what it applies more for each unit of time since 0"
    return parameters.scalar("effort_rate", unit, finite, what, invalidates=Stage.DYNAMICS).accessors()


class CoordinateActuator(EffortDriven, OfCoordinate):
    """Pushes one coordinate as a state says: OpenSim's CoordinateActuator.

    `optimal_force` is what a control of 1 stands for; `set_effort` takes the force itself.
    """

    routine: Routine | None = by_address(add_effort)
    optimal_force: float = 1.0
    FLAG = 2

    def __init__(
        self, forces: GeneralForceSubsystem, mobod: MobilizedBody, which: int, optimal_force: float, **options: Any
    ) -> None:
        super().__init__(forces, mobod, which, *self.declared(options.get("name"), effort=0.0), **options)
        self.default_integers.append(-1)
        self.optimal_force = optimal_force

    get_default_effort, set_default_effort, get_effort, set_effort = effort()
    get_default_effort_rate, set_default_effort_rate, get_effort_rate, set_effort_rate = effort_rate()
