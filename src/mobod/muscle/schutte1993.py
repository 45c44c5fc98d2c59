"""Schutte1993: a damped fiber in series with an elastic tendon; force by velocity as a quadratic equation.

n = l / lopt, v = l' T / lopt, T a time; h the width; cos phi = sqrt(1 - (h / l)^2), 0 where l <= h
fse a spline of the strain lT / lts - 1, 0 below zero; fal a spline, not below 0; fpe = exp(8 (n - 1)) / exp(4), or a spline
F = max(fse / cos phi - fpe, 0) = A f(v) + d v, A = a fal:
    f = kv (1 + v) / (kv - v) for v < 0, (1.4 v + k') / (v + k') else;   kv = 0.15, k' = 0.13 kv / (1 + kv)
a' = (e - a) (c1 e + c2) / T where e >= a, else (e - a) c2 / T

Where phi is a right angle the fiber waits until the tendon is taut, then follows the path as behind a rigid tendon. Sources:
Schutte, Rodgers, Zajac and Glaser 1993, IEEE Trans. Rehabil. Eng. 1, 109; OpenSim's Schutte1993Muscle_Deprecated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.scalar import exp, load, one, sqrt, where, zero
from ..compiling import generic
from ..force.pools import number
from ..force.subsystem import GeneralForceSubsystem
from ..force.transmission.base import Transmission
from ..function import Function, SimmSpline
from ..state import parameters
from ..value import checks
from . import _fiber, _pieces
from ._fiber import FIBER, HEIGHT, OWN, SLACK, SPEED, STRENGTH
from .base import Functions, Muscle, each_alone
from .rigid_tendon import usual_active

#: Its own numbers, then the curves: how many pieces there is room for, and where they are.
TIME, RISING, FALLING, DAMPING, EXPONENTIAL = range(OWN, OWN + 5)
ROOM = 32
ACTIVE = OWN + 5
PASSIVE = ACTIVE + _pieces.ROWS * ROOM
TENDON = PASSIVE + _pieces.ROWS * ROOM
END = TENDON + _pieces.ROWS * ROOM
KV, MOST = 0.15, 1.4
KL = 0.13 * KV / (1.0 + KV)
#: cos phi below which phi counts as a right angle.
_RIGHT = 1e-9
_TENDON_X = (-10.0, -0.002, -0.001, 0.0, 0.00131, 0.00281, 0.00431, 0.00581, 0.00731, 0.00881, 0.0103, 0.0118, 0.0123, 9.2,
             9.201, 9.202, 20.0)  # fmt: skip
_TENDON_Y = (0.0, 0.0, 0.0, 0.0, 0.0108, 0.0257, 0.0435, 0.0652, 0.0915, 0.123, 0.161, 0.208, 0.227, 345.0, 345.0, 345.0,
             345.0)  # fmt: skip


@generic
def active(model: Any, x: int, n: Any) -> Any:
    """fal."""
    f = _pieces.value(model, x + ACTIVE, ROOM, n)
    return where(f > 0.0, f, zero(n))


@generic
def passive(model: Any, x: int, n: Any) -> Any:
    """fpe."""
    is_given = number(model, x + EXPONENTIAL) < 0.5
    return where(is_given, _pieces.value(model, x + PASSIVE, ROOM, n), exp(8.0 * (n - 1.0) - 4.0))


@generic
def tendon(model: Any, x: int, n: Any) -> Any:
    """fse."""
    return where(n > 1.0, _pieces.value(model, x + TENDON, ROOM, n - 1.0), zero(n))


@generic
def by_own_velocity(v: Any) -> Any:
    """f at v, a velocity by lopt / T."""
    o = zero(v)
    below, above = where(v < 0.0, v, o), where(v > 0.0, v, o)
    return where(v < 0.0, KV * (1.0 + below) / (KV - below), (MOST * above + KL) / (above + KL))


@generic
def by_velocity(model: Any, x: int, v: Any) -> Any:
    """f at a velocity by vmax lopt."""
    return by_own_velocity(v * number(model, x + SPEED) * number(model, x + TIME))


@generic
def fiber_velocity(d: Any, strength: Any, force: Any) -> Any:
    """v at which a fiber that can hold *strength* at rest bears a force."""
    c = KV * (force - strength) / d
    b = -(force + KV * (strength + d)) / d
    square = b * b - 4.0 * c
    shortening = 0.5 * (-b - sqrt(where(force < strength, where(square > 0.0, square, one(square)), one(square))))
    c = -KL * (force - strength) / d
    b = -((force - MOST * strength) / d - KL)
    square = b * b - 4.0 * c
    lengthening = 0.5 * (-b + sqrt(where(square > 0.0, square, one(square))))
    return where(force < strength, shortening, where(square > 0.0, lengthening, -0.5 * b))


@generic
def _cosine(model: Any, x: int, l: Any) -> Any:
    """cos phi, down to 0."""
    s = number(model, x + HEIGHT) / where(l > 1e-12, l, 1e-12 * one(l))
    square = (1.0 - s) * (1.0 + s)
    return where(square > 0.0, sqrt(where(square > 0.0, square, one(square))), zero(l))


@generic
def contract(model: Any, i: int, x: int, z: int, a: Any, length: Any, speed: Any) -> Any:
    """See `base.Functions`."""
    strength, lopt, slack = number(model, x + STRENGTH), number(model, x + FIBER), number(model, x + SLACK)
    d, time = number(model, x + DAMPING), number(model, x + TIME)
    o, whole = zero(length), one(length)
    l = load(model.z, z + model.force_integers[i], 0) + o
    cos = _cosine(model, x, l)
    n = l / lopt
    fpe, fse = passive(model, x, n), tendon(model, x, (length - l * cos) / slack)
    leans = where(cos > _RIGHT, o, whole)  # at a right angle
    upright = where(leans > 0.0, whole, cos)
    force = fse / upright - fpe
    v = fiber_velocity(d, a * active(model, x, n), where(force > 0.0, force, o))
    ahead = where(length > slack, length - slack, o)
    square = ahead * ahead + number(model, x + HEIGHT) * number(model, x + HEIGHT)
    behind = where(square > 0.0, sqrt(where(square > 0.0, square, whole)), whole)
    follows = where(fse > 0.0, speed * ahead / behind, o)
    rate = where(leans > 0.0, follows, v * lopt / time)
    along = where(leans > 0.0, where(fse > 0.0, speed + o, o), rate / upright)
    return l, cos, rate, strength * fse, strength * (fse / upright - fpe), strength * fpe, o, along, rate


@generic
def stored(model: Any, i: int, x: int, z: int, length: Any) -> Any:
    """The elastic energy by the largest isometric force."""
    lopt, slack, o = number(model, x + FIBER), number(model, x + SLACK), zero(length)
    l = load(model.z, z + model.force_integers[i], 0) + o
    strain = (length - l * _cosine(model, x, l)) / slack - 1.0
    of_tendon = where(strain > 0.0, _pieces.area(model, x + TENDON, ROOM, strain), o)
    n = l / lopt
    is_given = number(model, x + EXPONENTIAL) < 0.5
    of_fiber = where(is_given, _pieces.area(model, x + PASSIVE, ROOM, n), exp(8.0 * (n - 1.0) - 4.0) / 8.0)
    return slack * of_tendon + lopt * of_fiber


@generic
def activation_rate(model: Any, i: int, x: int, z: int) -> Any:
    """a'."""
    e = _fiber.excitation(model, i, x)
    a = load(model.z, z, 0) + zero(e)
    scale = number(model, x + FALLING) + where(e >= a, number(model, x + RISING) * e, zero(e))
    return (e - a) * scale / number(model, x + TIME)


class Schutte1993(Muscle):
    """OpenSim's Schutte1993Muscle_Deprecated: activation and fiber length are its variables.

    Parameters
    ----------
    path : force.transmission.Transmission
        Along which it pulls.
    max_isometric_force : float
        Force.
    optimal_fiber_length, tendon_slack_length : float
        Length.
    pennation_angle_at_optimal : float
        Angle, below a right angle.
    max_contraction_velocity : float
        Optimal fiber lengths by time; of `force_velocity` alone: the fiber's velocities are by *time_scale*.
    time_scale : float
        Time: T, in which an unloaded fiber would shorten by its optimal length.
    activation_rise, activation_fall : float
        OpenSim's activation1 and activation2: c1 and c2.
    damping : float
        d, above zero.
    default_excitation, default_activation, default_fiber_length : float
        In a default state; the fiber has its optimal length unless given.
    active_force_length, passive_force_length, tendon_force_strain : function.SimmSpline or the like, optional
        Of cubic or straight pieces, 31 points at most; the passive force is an exponential unless given, others OpenSim's.

    Raises
    ------
    TypeError, ValueError, ModelError
        If the path is none, a number out of its range, or a curve not of such pieces.
    TopologyError
        If the path is made of bodies of another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> bodies = system.matter.bodies
    >>> points = [(bodies[0], (0.2, 0, 0)), (bodies[1], (0, -0.5, 0))]
    >>> path = mb.force.transmission.StraightPath(system.forces, [(points, 1.0)])
    >>> muscle = mb.muscle.Schutte1993(system.forces, path, 1000.0, 0.1, 0.4)
    >>> muscle.state_variables, round(muscle.passive_force_length(1.5), 9)
    (('activation', 'fiber_length'), 1.0)
    """

    FUNCTIONS = Functions(active, passive, tendon, contract, stored, activation_rate, by_velocity, END)

    get_default_time_scale, set_default_time_scale, get_time_scale, set_time_scale = parameters.scalar(
        "time_scale", "time", checks.positive, "T, in which an unloaded fiber would shorten by its optimal length"
    ).accessors()
    (get_default_activation_rise, set_default_activation_rise, get_activation_rise, set_activation_rise) = parameters.scalar(
        "activation_rise", "", checks.not_negative, "c1, how fast activation grows with excitation"
    ).accessors()
    (get_default_activation_fall, set_default_activation_fall, get_activation_fall, set_activation_fall) = parameters.scalar(
        "activation_fall", "", checks.not_negative, "c2, how fast activation follows"
    ).accessors()
    get_default_damping, set_default_damping, get_damping, set_damping = parameters.scalar(
        "damping", "", checks.positive, "d, the fiber's damping"
    ).accessors()

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        path: Transmission,
        max_isometric_force: float = 1000.0,
        optimal_fiber_length: float = 0.1,
        tendon_slack_length: float = 0.2,
        pennation_angle_at_optimal: float = 0.0,
        *,
        max_contraction_velocity: float = 10.0,
        time_scale: float = 0.1,
        activation_rise: float = 7.667,
        activation_fall: float = 1.459854,
        damping: float = 0.1,
        default_excitation: float = 0.0,
        default_activation: float = 0.05,
        default_fiber_length: float | None = None,
        active_force_length: Function | None = None,
        passive_force_length: Function | None = None,
        tendon_force_strain: Function | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        given = dict(locals())
        numbers = self.numbers_of(given)
        numbers.append(float(passive_force_length is None))
        for what, curve, counts_from in (
            ("active_force_length", active_force_length or usual_active(), 1.0),
            ("passive_force_length", passive_force_length or SimmSpline((0.0, 1.0), (0.0, 0.0)), 1.0),
            ("tendon_force_strain", tendon_force_strain or SimmSpline(_TENDON_X, _TENDON_Y), 0.0),
        ):
            numbers += _pieces.numbers_of(what, curve, ROOM, counts_from)
        super().__init__(given, numbers)

    @staticmethod
    def _shortest(numbers: Any) -> Any:
        return np.maximum(numbers[HEIGHT] * (1.0 + 1e-9), 0.01 * numbers[FIBER])

    @classmethod
    def rigid_tendon_forces_of(cls, muscles: Sequence[Muscle], lengths: Array, speeds: Array) -> tuple[Array, Array]:
        """See `Muscle.rigid_tendon_forces_of`."""
        return each_alone(muscles, lengths, speeds)
