"""Tension along a path: springs, ligaments, actuators.

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
from typing import Any

import numpy as np

from ....algebra.scalar import load, store, where, zero
from ....compiling import Routine, generic
from ....force.pools import number
from ....force.routines import by_address
from ....force.subsystem import GeneralForceSubsystem
from ....force.through_transmission import OnTransmission
from ....force.transmission import FunctionBasedPath, Path, path as _path
from ....function import Function, routines
from ....function.routines import Use
from ....state import parameters
from ....state.state import State
from ....value.checks import finite
from ....value.stage import Stage
from .driven import EffortDriven, driven, plus_function
from .of_coordinate import effort, effort_rate

#: Controls of a clutch above which it is closed: SimTK::SignificantReal.
_ENGAGED = float(np.finfo(float).eps ** 0.875)


@generic
def length_of(model: Any, integers: int) -> Any:
    """The length of the path. Integers: the function that drives it, or -1; how many the path has, the first's number."""
    return _path.length(model, integers + 2, 0)


@generic
def rate_of(model: Any, integers: int) -> Any:
    """Its rate, once its length is known."""
    return _path.speed(model, integers + 2, 0)


@generic
def pull(model: Any, integers: int, tension: Any) -> None:
    """Apply a tension, once the length is known."""
    _path.apply(model, integers + 2, 0, -tension)


@generic
def own_function(model: Any, integers: int) -> int:
    """The number of the function that a kind has, after those of its path."""
    return model.force_integers[integers + 1] + model.force_integers[integers + 2]


@generic
def add_spring(model: Any, integers: int, numbers: int) -> None:
    """Numbers: l_0, k, c."""
    stretch = length_of(model, integers) - number(model, numbers)
    stretch = where(stretch > 0.0, stretch, zero(stretch))
    tension = number(model, numbers + 1) * stretch * (1.0 + number(model, numbers + 2) * rate_of(model, integers))
    pull(model, integers, tension)


@generic
def spring_energy(model: Any, integers: int, numbers: int) -> Any:
    """1/2 k times the square of the stretch."""
    stretch = length_of(model, integers) - number(model, numbers)
    stretch = where(stretch > 0.0, stretch, zero(stretch))
    return 0.5 * number(model, numbers + 1) * stretch * stretch


@generic
def spring_power(model: Any, integers: int, numbers: int) -> Any:
    """k c times stretch and the square of the rate."""
    stretch = length_of(model, integers) - number(model, numbers)
    stretch = where(stretch > 0.0, stretch, zero(stretch))
    rate = rate_of(model, integers)
    return number(model, numbers + 1) * number(model, numbers + 2) * stretch * rate * rate


class AlongPath(OnTransmission):
    """A tension along a path; the base of the kinds here."""

    _transmission: Path | FunctionBasedPath

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        path: Path | FunctionBasedPath,
        *own: float,
        functions: Sequence[Use] = (),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._transmission = path
        self.used_functions = list(functions)
        path.serve(self)
        self.default_integers = [-1, len(path.used_functions)]
        self.default_numbers = [float(x) for x in own]

    def get_path(self) -> Path | FunctionBasedPath:
        """Along which it pulls."""
        return self._transmission


class PathSpring(AlongPath):
    """A spring along a path, slack where it is shorter than its resting length: OpenSim's PathSpring."""

    routine: Routine | None = by_address(add_spring, spring_energy, spring_power)


@generic
def add_ligament(model: Any, integers: int, numbers: int) -> None:
    """Numbers: l_0, F."""
    stretched = length_of(model, integers) / number(model, numbers)
    f = routines.jet(model, own_function(model, integers), stretched)[0]
    pull(model, integers, number(model, numbers + 1) * where(stretched > 1.0, f, zero(f)))


class Ligament(AlongPath):
    """A ligament along a path, whose tension is a function of its length over the resting length: OpenSim's Ligament."""

    routine: Routine | None = by_address(add_ligament)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        path: Path | FunctionBasedPath,
        rest: float,
        force: float,
        function: Function,
        **options: Any,
    ) -> None:
        super().__init__(forces, path, rest, force, functions=[(function, [0])], **options)


class DrivenAlongPath(EffortDriven, AlongPath):
    """A tension along a path that a function of time may drive."""

    FLAG = 0

    def set_effort_function(self, function: Function | None) -> None:
        """See `EffortDriven.set_effort_function`."""
        self._drive_by("effort", function, self._transmission.used_functions)


@generic
def add_effort(model: Any, integers: int, numbers: int) -> None:
    """Numbers: T, and its rate."""
    tension = driven(model, integers, numbers)
    length_of(model, integers)
    pull(model, integers, tension)


class PathActuator(DrivenAlongPath):
    """Pulls along a path as a state says: OpenSim's PathActuator."""

    routine: Routine | None = by_address(add_effort)
    optimal_force: float = 1.0

    def __init__(
        self, forces: GeneralForceSubsystem, path: Path | FunctionBasedPath, optimal_force: float, **options: Any
    ) -> None:
        super().__init__(forces, path, *self.declared(options.get("name"), effort=0.0), **options)
        self.optimal_force = optimal_force

    get_default_effort, set_default_effort, get_effort, set_effort = effort()
    get_default_effort_rate, set_default_effort_rate, get_effort_rate, set_effort_rate = effort_rate()


def _control() -> tuple[Callable[..., Any], ...]:
    """The accessors of an actuator's control, zero unless a state says otherwise."""
    what = "the control: of a clutch from 0, open, to 1; of a McKibben actuator the pressure"
    return parameters.scalar("control", "1, or pressure", finite, what, invalidates=Stage.DYNAMICS).accessors()


@generic
def _driven_control(model: Any, integers: int, numbers: int) -> Any:
    """The first number, and what a function of time adds to it."""
    return plus_function(model, integers, number(model, numbers) + zero(load(model.time, 0, 0)))


@generic
def add_clutched(model: Any, integers: int, numbers: int, z: int) -> None:
    """Numbers: a, k, c, t."""
    a, stretch = _driven_control(model, integers, numbers), load(model.z, z, 0)
    length_of(model, integers)
    rate = rate_of(model, integers)
    engaged = where(a < 1.0, where(a > 0.0, a, zero(a)), zero(a) + 1.0)
    pull(model, integers, engaged * number(model, numbers + 1) * stretch * (1.0 + number(model, numbers + 2) * rate))
    relaxing = -stretch / number(model, numbers + 3)
    store(model.z_dot, z, 0, where(a > _ENGAGED, rate, relaxing))


class ClutchedPathSpring(DrivenAlongPath):
    """A spring that a clutch joins to a path: OpenSim's ClutchedPathSpring. Its stretch is a z.

    Parameters
    ----------
    forces, path
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
        path: Path | FunctionBasedPath,
        stiffness: float,
        dissipation: float,
        time_constant: float,
        initial_stretch: float,
        **options: Any,
    ) -> None:
        own = *self.declared(options.get("name"), control=0.0), stiffness, dissipation, time_constant
        super().__init__(forces, path, *own, **options)
        self._stretch = float(initial_stretch)

    get_default_control, set_default_control, get_control, set_control = _control()

    #: The names of its variables among z, in order.
    state_variables = ("stretch",)

    def _initial_z(self) -> list[float]:
        return [self._stretch]

    def get_stretch(self, state: State) -> float:
        """The stretch. Needs MODEL."""
        self._check(state, "get_stretch")
        return float(state.z_values[self.first_z])


@generic
def add_mckibben(model: Any, integers: int, numbers: int) -> None:
    """Numbers: a, b, 1 / (4 pi n^2), l_c."""
    a = _driven_control(model, integers, numbers)
    b = number(model, numbers + 1)
    length = length_of(model, integers) - number(model, numbers + 3)
    pull(model, integers, a * number(model, numbers + 2) * (3.0 * length * length - b * b))


class McKibbenActuator(DrivenAlongPath):
    """A pneumatic muscle along a path, driven by its pressure: OpenSim's McKibbenActuator.

    Parameters
    ----------
    forces, path
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
        path: Path | FunctionBasedPath,
        thread: float,
        turns: float,
        cord: float,
        **options: Any,
    ) -> None:
        own = *self.declared(options.get("name"), control=0.0), thread, 1.0 / (4.0 * math.pi * turns * turns), cord
        super().__init__(forces, path, *own, **options)

    get_default_control, set_default_control, get_control, set_control = _control()


@generic
def blankevoort(model: Any, integers: int, numbers: int) -> Any:
    """Strain, and spring force. Numbers: l_0, k, e_t, c."""
    k, e_t = number(model, numbers + 1), number(model, numbers + 2)
    strain = length_of(model, integers) / number(model, numbers) - 1.0
    bent = 0.5 * k / e_t * strain * strain
    f = where(strain < e_t, bent, k * (strain - 0.5 * e_t))
    return strain, where(strain > 0.0, f, zero(f))


@generic
def damping_of(model: Any, integers: int, numbers: int, strain: Any) -> Any:
    """c times the step, and the rate of strain, where both are above zero."""
    c = number(model, numbers + 3)
    rate = rate_of(model, integers) / number(model, numbers)
    u = where(strain < 0.01, strain / 0.01, zero(strain) + 1.0)
    faded = c * (u * u * u * (10.0 + u * (6.0 * u - 15.0)))
    acts = where(strain > 0.0, rate, zero(rate))
    return faded, where(acts > 0.0, acts, zero(acts))


@generic
def add_blankevoort(model: Any, integers: int, numbers: int) -> None:
    """Spring and damper."""
    strain, f = blankevoort(model, integers, numbers)
    c, rate = damping_of(model, integers, numbers, strain)
    pull(model, integers, f + c * rate)


@generic
def blankevoort_energy(model: Any, integers: int, numbers: int) -> Any:
    """The integral of the spring force over the length."""
    k, e_t = number(model, numbers + 1), number(model, numbers + 2)
    strain = length_of(model, integers) / number(model, numbers) - 1.0
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


class BlankevoortLigament(AlongPath):
    """A ligament along a path, quadratic up to a strain and linear beyond: OpenSim's Blankevoort1991Ligament.

    Parameters
    ----------
    forces, path
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


@generic
def add_formula(model: Any, integers: int, numbers: int) -> None:
    """Numbers: l_0, and whether it is slack below."""
    stretch, rate = length_of(model, integers) - number(model, numbers), rate_of(model, integers)
    slack = where(stretch > 0.0, stretch, zero(stretch))
    store(model.arguments, 0, 0, where(number(model, numbers + 1) > 0.5, slack, stretch))
    store(model.arguments, 1, 0, rate)
    pull(model, integers, routines.value(model, own_function(model, integers), model.arguments, 0))


class PathFormula(AlongPath):
    """A tension along a path that is a function of its stretch and rate: OpenSim's ExpressionBasedPathForce.

    Parameters
    ----------
    forces, path
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
        path: Path | FunctionBasedPath,
        rest: float,
        function: Function,
        *,
        clamped: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(forces, path, rest, float(clamped), functions=[(function, [0, 1])], **options)
