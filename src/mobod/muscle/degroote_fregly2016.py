"""DeGrooteFregly2016: smooth curves throughout, with the tendon's force or nothing as its variable; made for optimisers.

n = l / lopt, v = l' / (vmax lopt), f = tendon force / Fiso
fal(n) = sum over i of b1 exp(-(m - b2)^2 / (2 (b3 + b4 m)^2)), m = (n - 1) / scale + 1
fv(v)  = d1 asinh(d2 v + d3) + d4           fpe(n) = (exp(4 (n - 1) / e0) - k) / (exp(4) - k), k = exp(4 (0.2 - 1) / e0)
fT(t)  = exp(kT (t - 1)) / 5 - 1/5, t = lT / lts, kT = ln 6 / eT
cos phi = (path length - lT) / l, l^2 = (path length - lT)^2 + (lopt sin alpha0)^2: phi has no bound, as other kinds have one
elastic   f is the variable: lT from fT's inverse, l from the path, fv = (f / cos phi - fpe) / (a fal), f' = fT'(t) lT' / lts
rigid     lT = lts, l and l' from the path, T = Fiso (a fal fv + fpe + beta v) cos phi
a' = ((g + 1/2) / (tau_a y) + (1/2 - g) y / tau_d) (e - a), g = tanh(b (e - a)) / 2, y = 1/2 + 3/2 a

With an elastic tendon damping has no part, as in OpenSim's explicit form. Source: De Groote, Kinney, Rao and Fregly 2016, Ann.
Biomed. Eng. 44, 2922; constants are those of OpenSim's class of this name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..algebra.scalar import exp, load, log, one, sqrt, where, zero
from ..compiling import generic
from ..force.pools import number
from ..force.subsystem import GeneralForceSubsystem
from ..force.transmission.base import Transmission
from ..state import parameters
from ..value import checks
from . import _fiber
from ._fiber import FALL, FIBER, HEIGHT, OWN, RISE, SLACK, SPEED, STRENGTH, STRETCHES, cosine
from .base import Functions, Muscle

#: Its own numbers.
SCALE, FIBER_STRAIN, TENDON_STRAIN, DAMPING, SMOOTHING, PASSIVE = range(OWN, OWN + 6)
END = OWN + 6
_BUMPS = (
    (0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
    (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
    (0.1, 1.0, 0.353553390593274, 0.0),
)
_D1, _D2, _D3, _D4 = -0.3211346127989808, -8.149, -0.374, 0.8825327733249912
#: fT's factor, which is its offset too, and kT eT: fT is 1 at a strain of eT.
_C = 0.2
_STEEPNESS = math.log((1.0 + _C) / _C)
#: Exponents beyond which numbers overflow.
_MOST = 700.0
_LEAST_LENGTH = 0.2  # of the passive curve's zero


@generic
def active(model: Any, x: int, n: Any) -> Any:
    """fal."""
    m = (n - 1.0) / number(model, x + SCALE) + 1.0
    total = zero(m)
    for b1, b2, b3, b4 in _BUMPS:
        part = (m - b2) / (b3 + b4 * m)
        total = total + b1 * exp(-0.5 * part * part)
    return total


@generic
def passive(model: Any, x: int, n: Any) -> Any:
    """fpe."""
    by = 4.0 / number(model, x + FIBER_STRAIN)
    k = exp(by * (_LEAST_LENGTH - 1.0))
    return number(model, x + PASSIVE) * (exp(by * (n - 1.0)) - k) / (math.exp(4.0) - k)


@generic
def tendon(model: Any, x: int, n: Any) -> Any:
    """fT."""
    return _C * exp(_STEEPNESS / number(model, x + TENDON_STRAIN) * (n - 1.0)) - _C


@generic
def by_velocity(model: Any, x: int, v: Any) -> Any:
    """fv, whatever the parameters."""
    z = _D2 * v + _D3
    size = where(z < 0.0, -z, z)
    found = log(size + sqrt(size * size + 1.0))
    return _D1 * where(z < 0.0, -found, found) + _D4


@generic
def velocity_of(fv: Any) -> Any:
    """v."""
    x = (fv - _D4) / _D1
    e = exp(where(x > _MOST, _MOST + zero(x), where(x < -_MOST, -_MOST + zero(x), x)))
    return (0.5 * (e - 1.0 / e) - _D3) / _D2


@generic
def approach(model: Any, x: int, a: Any, e: Any) -> Any:
    """a' of an activation and an excitation."""
    d = number(model, x + SMOOTHING) * (e - a)
    size = where(d < 0.0, -d, d)
    shrunk = exp(-2.0 * size)
    g = 0.5 * (1.0 - shrunk) / (1.0 + shrunk)
    g = where(d < 0.0, -g, g)
    y = 0.5 + 1.5 * a
    return ((g + 0.5) / (number(model, x + RISE) * y) + (0.5 - g) * y / number(model, x + FALL)) * (e - a)


@generic
def activation_rate(model: Any, i: int, x: int, z: int) -> Any:
    """a'."""
    e = _fiber.excitation(model, i, x)
    return approach(model, x, load(model.z, z, 0) + zero(e), e)


@generic
def tendon_length(model: Any, x: int, force: Any) -> Any:
    """t."""
    least = where(force > -0.99 * _C, force, -0.99 * _C + zero(force))
    return 1.0 + number(model, x + TENDON_STRAIN) / _STEEPNESS * log((least + _C) / _C)


@generic
def fiber_of(model: Any, x: int, along: Any) -> tuple[Any, Any]:
    """Length and cos phi of a fiber that reaches *along* the tendon's line, phi up to a right angle and beyond."""
    height, least = number(model, x + HEIGHT), 1e-9 * number(model, x + FIBER)
    square = along * along + height * height
    l = sqrt(where(square > least * least, square, least * least + zero(square)))
    cos = along / l
    return l, where(cos * cos > 1e-18, cos, 1e-9 + zero(cos))  # where all else divides by it


@generic
def missed(model: Any, x: int, a: Any, force: Any, force_rate: Any, length: Any, speed: Any) -> Any:
    """f - (a fal fv + fpe) cos phi of a known f and f': zero where fiber and tendon balance, without fv's inverse."""
    lopt, slack = number(model, x + FIBER), number(model, x + SLACK)
    l, cos = fiber_of(model, x, length - slack * tendon_length(model, x, force))
    stretching = _STEEPNESS / number(model, x + TENDON_STRAIN) * (force + _C)
    v = (speed - slack * force_rate / stretching) * cos / (number(model, x + SPEED) * lopt)
    n = l / lopt
    return force - (a * active(model, x, n) * by_velocity(model, x, v) + passive(model, x, n)) * cos


@generic
def contract(model: Any, i: int, x: int, z: int, a: Any, length: Any, speed: Any) -> Any:
    """See `base.Functions`."""
    strength, lopt, slack = number(model, x + STRENGTH), number(model, x + FIBER), number(model, x + SLACK)
    fastest = number(model, x + SPEED) * lopt
    o = zero(length)
    if model.force_integers[i + STRETCHES] != 0:
        force = load(model.z, z + model.force_integers[i], 0) + o
        t = tendon_length(model, x, force)
        l, cos = fiber_of(model, x, length - slack * t)
        n = l / lopt
        fal, fpe = active(model, x, n), passive(model, x, n)
        fv = (force / cos - fpe) / (a * fal)
        rate = velocity_of(fv) * fastest
        stretching = _STEEPNESS / number(model, x + TENDON_STRAIN) * (force + _C)
        found = (
            l,
            cos,
            rate,
            strength * force,
            strength * a * fal * fv,
            strength * fpe,
            o,
            rate / cos,
            stretching * (speed - rate / cos) / slack,
        )
    else:
        along = length - slack
        l, cos = fiber_of(model, x, where(along > 0.0, along, o))
        n = l / lopt
        rate = where(along > 0.0, speed * cos, o)  # a slack tendon leaves the fiber at its shortest, across it
        v = rate / fastest
        held, fpe, drag = (
            a * active(model, x, n) * by_velocity(model, x, v),
            passive(model, x, n),
            number(model, x + DAMPING) * v,
        )
        found = (
            l,
            cos,
            rate,
            strength * (held + fpe + drag) * cos,
            strength * held,
            strength * fpe,
            strength * drag,
            speed + o,
            o,
        )
    return found


@generic
def stored(model: Any, i: int, x: int, z: int, length: Any) -> Any:
    """The elastic energy by the largest isometric force."""
    lopt, slack = number(model, x + FIBER), number(model, x + SLACK)
    o = zero(length)
    of_tendon, t = o, one(length)
    if model.force_integers[i + STRETCHES] != 0:
        force = load(model.z, z + model.force_integers[i], 0) + o
        t = tendon_length(model, x, force)
        of_tendon = slack * (force * number(model, x + TENDON_STRAIN) / _STEEPNESS - _C * (t - 1.0))
        l, _ = fiber_of(model, x, length - slack * t)
    else:
        l, _ = fiber_of(model, x, where(length > slack, length - slack, o))
    by = 4.0 / number(model, x + FIBER_STRAIN)
    k = exp(by * (_LEAST_LENGTH - 1.0))
    stretch = l / lopt - 1.0
    of_fiber = ((exp(by * stretch) - 1.0) / by - k * stretch) / (math.exp(4.0) - k)
    return of_tendon + lopt * number(model, x + PASSIVE) * of_fiber


class DeGrooteFregly2016(Muscle):
    """The muscle of De Groote and others 2016, smooth throughout; its tendon's force is its variable, or the tendon is rigid.

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
        Optimal fiber lengths by time.
    active_force_width_scale : float
        By how much the active force by length is wider than the source's; 1 or more.
    fiber_damping : float
        By the largest isometric force and velocity; of a rigid tendon only.
    passive_fiber_strain_at_one_norm_force, tendon_strain_at_one_norm_force : float
        e0 and eT.
    ignore_passive_fiber_force, ignore_tendon_compliance, ignore_activation_dynamics : bool
        Whether there is no fpe, whether the tendon is rigid, whether activation is the excitation itself.
    activation_time_constant, deactivation_time_constant : float
        Time.
    activation_dynamics_smoothing : float
        b; 10 is recommended, OpenSim's default is 0.1.
    default_excitation, default_activation, default_normalized_tendon_force : float
        In a default state.

    Raises
    ------
    TypeError, ValueError, ModelError
        If the path is none, or a number out of its range.
    TopologyError
        If the path is made of bodies of another system.

    Notes
    -----
    Its potential energy is that of fpe and fT from n = 1 and t = 1 on; both curves go below zero before.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> bodies = system.matter.bodies
    >>> points = [(bodies[0], (0.2, 0, 0)), (bodies[1], (0, -0.5, 0))]
    >>> path = mb.force.transmission.StraightPath(system.forces, [(points, 1.0)])
    >>> muscle = mb.muscle.DeGrooteFregly2016(system.forces, path, 1000.0, 0.1, 0.4)
    >>> muscle.state_variables, round(muscle.tendon_force_length(1.049), 9)
    (('activation', 'normalized_tendon_force'), 1.0)
    """

    FUNCTIONS = Functions(active, passive, tendon, contract, stored, activation_rate, by_velocity, END)
    _VARIABLE = "normalized_tendon_force"

    (
        get_default_active_force_width_scale,
        set_default_active_force_width_scale,
        get_active_force_width_scale,
        set_active_force_width_scale,
    ) = parameters.scalar(
        "active_force_width_scale", "", checks.one_or_more, "the width of the active force by length, by the source's"
    ).accessors()
    (
        get_default_passive_fiber_strain_at_one_norm_force,
        set_default_passive_fiber_strain_at_one_norm_force,
        get_passive_fiber_strain_at_one_norm_force,
        set_passive_fiber_strain_at_one_norm_force,
    ) = parameters.scalar(
        "passive_fiber_strain_at_one_norm_force",
        "",
        checks.positive,
        "the passive fiber's strain under the largest isometric force",
    ).accessors()
    (
        get_default_tendon_strain_at_one_norm_force,
        set_default_tendon_strain_at_one_norm_force,
        get_tendon_strain_at_one_norm_force,
        set_tendon_strain_at_one_norm_force,
    ) = parameters.scalar(
        "tendon_strain_at_one_norm_force", "", checks.positive, "the tendon's strain under the largest isometric force"
    ).accessors()
    get_default_fiber_damping, set_default_fiber_damping, get_fiber_damping, set_fiber_damping = parameters.scalar(
        "fiber_damping", "", checks.not_negative, "the fiber's damping, by the largest isometric force and velocity"
    ).accessors()
    (
        get_default_activation_dynamics_smoothing,
        set_default_activation_dynamics_smoothing,
        get_activation_dynamics_smoothing,
        set_activation_dynamics_smoothing,
    ) = parameters.scalar(
        "activation_dynamics_smoothing", "", checks.positive, "how sharply activation and deactivation go over into each other"
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
        active_force_width_scale: float = 1.0,
        fiber_damping: float = 0.0,
        passive_fiber_strain_at_one_norm_force: float = 0.6,
        tendon_strain_at_one_norm_force: float = 0.049,
        ignore_passive_fiber_force: bool = False,
        ignore_tendon_compliance: bool = False,
        ignore_activation_dynamics: bool = False,
        activation_time_constant: float = 0.015,
        deactivation_time_constant: float = 0.060,
        activation_dynamics_smoothing: float = 0.1,
        default_excitation: float = 0.0,
        default_activation: float = 0.5,
        default_normalized_tendon_force: float = 0.5,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        given = dict(locals())
        numbers = self.numbers_of(given)
        numbers.append(0.0 if checks.flag("ignore_passive_fiber_force", ignore_passive_fiber_force) else 1.0)
        super().__init__(given, numbers)

    @classmethod
    def _behind(cls, pool: Any, along: Any) -> tuple[Any, Any]:
        own = pool.force_numbers[:, 0]
        ahead = np.maximum(along, 0.0)
        fiber = np.maximum(np.hypot(ahead, own[HEIGHT]), 1e-9 * own[FIBER])
        return fiber, ahead / fiber

    @staticmethod
    def _first(given: Mapping[str, Any]) -> float:
        return checks.finite("default_normalized_tendon_force", given["default_normalized_tendon_force"])

    def _variable_at(self, record: Any, x: int, length: float, fiber: float) -> float:
        taut = (length - fiber * float(cosine(record, x, fiber))) / float(number(record, x + SLACK))
        return float(tendon(record, x, taut))

    def _while_moving(self, record: Any, x: int, a: float, length: float, fiber: Any, speed: float) -> tuple[Any, Any]:
        """Of a fiber that has the path's speed: OpenSim takes the tendon's force as constant."""
        v = speed * cosine(record, x, fiber) / (number(record, x + SPEED) * number(record, x + FIBER))
        return by_velocity(record, x, v), number(record, x + DAMPING) * v
