"""Tension along a path of straight lines from point to point, each fixed to a body: springs and ligaments.

With l the path's length and l_dot its rate:

    spring      T = k max(0, l - l_0) (1 + c l_dot)     energy 1/2 k max(0, l - l_0)^2
    ligament    T = F f(l / l_0) where l > l_0, else 0
    Blankevoort's, of strain e = l / l_0 - 1: k e^2 / (2 e_t) up to e_t, k (e - e_t / 2) beyond; with c e_dot where both are
                above zero, faded in by a quintic step up to a strain of 0.01. Source: Blankevoort and others 1991
    formula     T = f(stretch, l_dot)
    effort      T as a state says
    clutch      T = a k z (1 + c l_dot), a the control within 0 and 1; z' = l_dot while it is above zero, else -z / t
    McKibben's  T = a (3 (l - l_c)^2 - b^2) / (4 pi n^2), a the pressure, b the thread's length, n its turns, l_c the cord's
                length. Source: Chou and Hannaford 1996
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ....algebra import mat33, vec3
from ....algebra.arrays import Array
from ....algebra.memory import add_spatial, load3, load9, load_spatial
from ....algebra.scalar import load, sqrt, store, where, zero
from ....compiling import generic
from ....force._pools import number, numbers3
from ....force._routine import by_address
from ....force.base import Force, body_index
from ....function import Function, _routine
from ....state import parameters
from ....value.checks import finite
from ....value.stage import Stage
from .of_coordinate import effort

if TYPE_CHECKING:
    from ....compiling import Routine
    from ....decoration.rubber_band_line import Line
    from ....force.subsystem import GeneralForceSubsystem
    from ....mobilizer.base import MobilizedBody
    from ....state.state import State

#: How many numbers of its own each kind has, before the points' stations.
OWN = 3
_LEAST = 1e-300
#: Controls of a clutch above which it is closed: SimTK::SignificantReal.
_ENGAGED = float(np.finfo(float).eps ** 0.875)


@generic
def _point(model: Any, integers: int, numbers: int, k: int) -> Any:
    """Point k: its body, the arm from the body's origin, and its location. Integers: how many points, their bodies."""
    b = model.force_integers[integers + 1 + k]
    s = mat33.mul_vec(load9(model.R_GB, b, 0), numbers3(model, numbers + OWN + 3 * k))
    return b, s, vec3.add(load3(model.p_GB, b, 0), s)


@generic
def _segment(model: Any, integers: int, numbers: int, k: int) -> Any:
    """From point k to the next: both bodies and arms, the distance, and the direction, zero where they coincide."""
    b1, s1, p1 = _point(model, integers, numbers, k)
    b2, s2, p2 = _point(model, integers, numbers, k + 1)
    r = vec3.sub(p2, p1)
    rr = vec3.dot(r, r)
    apart = rr > _LEAST
    d = sqrt(where(apart, rr, zero(rr) + 1.0))
    return b1, s1, b2, s2, where(apart, d, zero(d)), vec3.scale(1.0 / d, r)


@generic
def length_of(model: Any, integers: int, numbers: int) -> Any:
    """The length of the path."""
    total = zero(load(model.time, 0, 0))
    for k in range(model.force_integers[integers] - 1):
        total = total + _segment(model, integers, numbers, k)[4]
    return total


@generic
def rate_of(model: Any, integers: int, numbers: int) -> Any:
    """Its rate."""
    total = zero(load(model.time, 0, 0))
    for k in range(model.force_integers[integers] - 1):
        b1, s1, b2, s2, _, e = _segment(model, integers, numbers, k)
        w1, v1 = load_spatial(model.V_GB, b1)
        w2, v2 = load_spatial(model.V_GB, b2)
        v = vec3.sub(vec3.add(v2, vec3.cross(w2, s2)), vec3.add(v1, vec3.cross(w1, s1)))
        total = total + vec3.dot(e, v)
    return total


@generic
def pull(model: Any, integers: int, numbers: int, tension: Any) -> None:
    """Apply a tension: each point is pulled towards its neighbours."""
    for k in range(model.force_integers[integers] - 1):
        b1, s1, b2, s2, _, e = _segment(model, integers, numbers, k)
        f = vec3.scale(tension, e)
        add_spatial(model.body_forces, b1, vec3.cross(s1, f), f)
        g = vec3.neg(f)
        add_spatial(model.body_forces, b2, vec3.cross(s2, g), g)


@generic
def add_spring(model: Any, integers: int, numbers: int) -> None:
    """Numbers: l_0, k, c."""
    stretch = length_of(model, integers, numbers) - number(model, numbers)
    stretch = where(stretch > 0.0, stretch, zero(stretch))
    tension = number(model, numbers + 1) * stretch * (1.0 + number(model, numbers + 2) * rate_of(model, integers, numbers))
    pull(model, integers, numbers, tension)


@generic
def spring_energy(model: Any, integers: int, numbers: int) -> Any:
    """1/2 k times the square of the stretch."""
    stretch = length_of(model, integers, numbers) - number(model, numbers)
    stretch = where(stretch > 0.0, stretch, zero(stretch))
    return 0.5 * number(model, numbers + 1) * stretch * stretch


@generic
def spring_power(model: Any, integers: int, numbers: int) -> Any:
    """k c times stretch and the square of the rate."""
    stretch = length_of(model, integers, numbers) - number(model, numbers)
    stretch = where(stretch > 0.0, stretch, zero(stretch))
    rate = rate_of(model, integers, numbers)
    return number(model, numbers + 1) * number(model, numbers + 2) * stretch * rate * rate


class Path(Force):
    """A tension along a path; the base of the kinds here."""

    def _span(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[tuple[MobilizedBody, Array]],
        own: Sequence[float],
        disabled: bool,
        name: str | None,
    ) -> None:
        super().__init__(forces, disabled_by_default=disabled, name=name)
        self.default_integers = [len(points), *(body_index(forces, "a body of the path", body) for body, _ in points)]
        stations = [float(x) for _, station in points for x in np.asarray(station).tolist()]
        self.default_numbers = [*(float(x) for x in own), *[0.0] * (OWN - len(own)), *stations]

    def calc_lines(self, state: State) -> list[Line]:
        """From each point to the next."""
        count, *rest = self.default_integers
        stations = np.array(self.default_numbers[OWN : OWN + 3 * count]).reshape(-1, 3)
        return list(pairwise(zip(rest[:count], stations, strict=True)))

    def calc_length(self, state: State) -> float:
        """The length of the path. Needs POSITION."""
        self._check(state, "calc_length")
        state.need_positions(self._forces.get_system().get_matter_subsystem().ground, "calc_length")
        i, _, x, _ = self.span
        return float(length_of(state.record, i, x))


class PathSpring(Path):
    """A spring along a path, slack where it is shorter than its resting length: OpenSim's PathSpring."""

    routine: Routine | None = by_address(add_spring, spring_energy, spring_power)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[tuple[MobilizedBody, Array]],
        resting_length: float,
        stiffness: float,
        dissipation: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._span(forces, points, (resting_length, stiffness, dissipation), disabled_by_default, name)


@generic
def add_ligament(model: Any, integers: int, numbers: int) -> None:
    """Numbers: l_0, F. Integers: after the points' bodies, the number of the function."""
    stretched = length_of(model, integers, numbers) / number(model, numbers)
    n = model.force_integers[integers]
    f = _routine.jet(model, model.force_integers[integers + 1 + n], stretched)[0]
    pull(model, integers, numbers, number(model, numbers + 1) * where(stretched > 1.0, f, zero(f)))


class Ligament(Path):
    """A ligament along a path, whose tension is a function of its length over the resting length: OpenSim's Ligament."""

    routine: Routine | None = by_address(add_ligament)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[tuple[MobilizedBody, Array]],
        resting_length: float,
        force: float,
        function: Function,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._span(forces, points, (resting_length, force), disabled_by_default, name)
        self.used_functions = [(function, [0])]


@generic
def add_effort(model: Any, integers: int, numbers: int) -> None:
    """Numbers: T."""
    pull(model, integers, numbers, number(model, numbers))


class PathActuator(Path):
    """Pulls along a path as a state says: OpenSim's PathActuator."""

    routine: Routine | None = by_address(add_effort)
    optimal_force: float = 1.0

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[tuple[MobilizedBody, Array]],
        optimal_force: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._span(forces, points, self.declared(name, effort=0.0), disabled_by_default, name)
        self.optimal_force = optimal_force

    get_default_effort, set_default_effort, get_effort, set_effort = effort()


def _control() -> tuple[Callable[..., Any], ...]:
    """The accessors of an actuator's control, zero unless a state says otherwise."""
    what = "the control: of a clutch from 0, open, to 1; of a McKibben actuator the pressure"
    return parameters.scalar("control", "1, or pressure", finite, what, invalidates=Stage.DYNAMICS).accessors()


@generic
def add_clutched(model: Any, integers: int, numbers: int, z: int) -> None:
    """Numbers: a, k, c, then, after the stations, t and the first z."""
    a, stretch = number(model, numbers), load(model.z, z, 0)
    rate = rate_of(model, integers, numbers)
    engaged = where(a < 1.0, where(a > 0.0, a, zero(a)), zero(a) + 1.0)
    pull(model, integers, numbers, engaged * number(model, numbers + 1) * stretch * (1.0 + number(model, numbers + 2) * rate))
    relaxing = -stretch / number(model, numbers + OWN + 3 * model.force_integers[integers])
    store(model.z_dot, z, 0, where(a > _ENGAGED, rate, relaxing))


class ClutchedPathSpring(Path):
    """A spring that a clutch joins to a path: OpenSim's ClutchedPathSpring. Its stretch is a z.

    Parameters
    ----------
    forces, points
        What it joins, and its path.
    stiffness, dissipation : float
        Force/length; time/length.
    time_constant : float
        In which the stretch relaxes while the control is zero; above zero.
    initial_stretch : float
    """

    routine: Routine | None = by_address(add_clutched, with_z=True)
    num_z = 1
    reads_z = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[tuple[MobilizedBody, Array]],
        stiffness: float,
        dissipation: float,
        time_constant: float,
        initial_stretch: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        own = [*self.declared(name, control=0.0), stiffness, dissipation]
        self._span(forces, points, own, disabled_by_default, name)
        self.default_numbers = [*self.default_numbers, float(time_constant)]
        self._stretch = float(initial_stretch)

    get_default_control, set_default_control, get_control, set_control = _control()

    def _initial_z(self) -> list[float]:
        return [self._stretch]

    def get_stretch(self, state: State) -> float:
        """The stretch. Needs MODEL."""
        self._check(state, "get_stretch")
        return float(state.z_values[self.first_z])


@generic
def add_mckibben(model: Any, integers: int, numbers: int) -> None:
    """Numbers: a, b, 1 / (4 pi n^2), then, after the stations, l_c."""
    b = number(model, numbers + 1)
    length = length_of(model, integers, numbers) - number(model, numbers + OWN + 3 * model.force_integers[integers])
    pull(model, integers, numbers, number(model, numbers) * number(model, numbers + 2) * (3.0 * length * length - b * b))


class McKibbenActuator(Path):
    """A pneumatic muscle along a path, driven by its pressure: OpenSim's McKibbenActuator.

    Parameters
    ----------
    forces, points
        What it joins, and its path.
    thread_length, turns : float
        Of the thread around it.
    cord_length : float
        Of the path, what is no muscle.
    """

    routine: Routine | None = by_address(add_mckibben)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[tuple[MobilizedBody, Array]],
        thread_length: float,
        turns: float,
        cord_length: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        own = [*self.declared(name, control=0.0), thread_length, 1.0 / (4.0 * math.pi * turns * turns)]
        self._span(forces, points, own, disabled_by_default, name)
        self.default_numbers = [*self.default_numbers, float(cord_length)]

    get_default_control, set_default_control, get_control, set_control = _control()


@generic
def blankevoort(model: Any, integers: int, numbers: int) -> Any:
    """Strain, and spring force. Numbers: l_0, k, e_t, then, after the stations, c."""
    k, e_t = number(model, numbers + 1), number(model, numbers + 2)
    strain = length_of(model, integers, numbers) / number(model, numbers) - 1.0
    bent = 0.5 * k / e_t * strain * strain
    f = where(strain < e_t, bent, k * (strain - 0.5 * e_t))
    return strain, where(strain > 0.0, f, zero(f))


@generic
def damping_of(model: Any, integers: int, numbers: int, strain: Any) -> Any:
    """c times the step, and the rate of strain, where both are above zero."""
    c = number(model, numbers + OWN + 3 * model.force_integers[integers])
    rate = rate_of(model, integers, numbers) / number(model, numbers)
    u = where(strain < 0.01, strain / 0.01, zero(strain) + 1.0)
    faded = c * (u * u * u * (10.0 + u * (6.0 * u - 15.0)))
    acts = where(strain > 0.0, rate, zero(rate))
    return faded, where(acts > 0.0, acts, zero(acts))


@generic
def add_blankevoort(model: Any, integers: int, numbers: int) -> None:
    """Spring and damper."""
    strain, f = blankevoort(model, integers, numbers)
    c, rate = damping_of(model, integers, numbers, strain)
    pull(model, integers, numbers, f + c * rate)


@generic
def blankevoort_energy(model: Any, integers: int, numbers: int) -> Any:
    """The integral of the spring force over the length."""
    k, e_t = number(model, numbers + 1), number(model, numbers + 2)
    strain = length_of(model, integers, numbers) / number(model, numbers) - 1.0
    bent = strain * strain * strain / (6.0 * e_t)
    beyond = e_t * e_t / 6.0 + 0.5 * strain * (strain - e_t)
    energy = k * number(model, numbers) * where(strain < e_t, bent, beyond)
    return where(strain > 0.0, energy, zero(energy))


@generic
def blankevoort_power(model: Any, integers: int, numbers: int) -> Any:
    """Of the damper."""
    strain, _ = blankevoort(model, integers, numbers)
    c, rate = damping_of(model, integers, numbers, strain)
    return c * rate * rate * number(model, numbers)


class BlankevoortLigament(Path):
    """A ligament along a path, quadratic up to a strain and linear beyond: OpenSim's Blankevoort1991Ligament.

    Parameters
    ----------
    forces, points
        What it joins, and its path.
    slack_length : float
        Above zero; length.
    stiffness : float
        Force a strain.
    transition_strain : float
        Above zero.
    damping : float
        Force*time a strain.
    """

    routine: Routine | None = by_address(add_blankevoort, blankevoort_energy, blankevoort_power)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[tuple[MobilizedBody, Array]],
        slack_length: float,
        stiffness: float,
        transition_strain: float,
        damping: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._span(forces, points, (slack_length, stiffness, transition_strain), disabled_by_default, name)
        self.default_numbers = [*self.default_numbers, float(damping)]


@generic
def add_formula(model: Any, integers: int, numbers: int) -> None:
    """Numbers: l_0, and whether it is slack below. Integers: after the points' bodies, the number of the function."""
    stretch = length_of(model, integers, numbers) - number(model, numbers)
    slack = where(stretch > 0.0, stretch, zero(stretch))
    store(model.arguments, 0, 0, where(number(model, numbers + 1) > 0.5, slack, stretch))
    store(model.arguments, 1, 0, rate_of(model, integers, numbers))
    n = model.force_integers[integers]
    pull(model, integers, numbers, _routine.value(model, model.force_integers[integers + 1 + n], model.arguments, 0))


class PathFormula(Path):
    """A tension along a path that is a function of its stretch and rate: OpenSim's ExpressionBasedPathForce.

    Parameters
    ----------
    forces, points
        What it joins, and its path.
    resting_length : float
    function : Function
        Of the stretch and of the path's rate.
    clamped : bool
        Whether the stretch is zero where the path is shorter than at rest.
    """

    routine: Routine | None = by_address(add_formula)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[tuple[MobilizedBody, Array]],
        resting_length: float,
        function: Function,
        *,
        clamped: bool = True,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._span(forces, points, (resting_length, float(clamped)), disabled_by_default, name)
        self.used_functions = [(function, [0, 1])]
