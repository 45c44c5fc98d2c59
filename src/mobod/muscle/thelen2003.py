"""Thelen2003: a fiber without damping in series with an elastic tendon, of exponentials.

n = l / lopt, v = l' / (vmax lopt), e = lT / lts - 1
fal = exp(-(n - 1)^2 / gamma)       fpe = (exp(kPE (n - 1) / e0M) - 1) / (exp(kPE) - 1) where n > 1, else 0
fse = 0.33 (exp(3 e / e_toe) - 1) / (exp(3) - 1) where 0 < e <= e_toe, 0.33 + k (e - e_toe) beyond
      e_toe = 99 e0T exp(3) / (166 exp(3) - 67), k = 0.67 / (e0T - e_toe)
v   = (1/4 + 3/4 a) (F - a fal) / b, F = fse / cos phi - fpe: b = a fal + F / Af where F <= a fal, else
      b = (2 + 2 / Af) (a fal Flen - F) / (Flen - 1); straight on for F <= 0, and from a threshold of a fal Flen on

A fiber at its shortest that would shorten stands still, and has no force. Source: Thelen 2003, J. Biomech. Eng. 125, 70; the
straight parts are OpenSim's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra.dual import Dual
from ..algebra.scalar import exp, load, one, where, zero
from ..compiling import generic
from ..errors import ModelError
from ..force.pools import number
from ..force.subsystem import GeneralForceSubsystem
from ..force.transmission.base import Transmission
from ..state import parameters
from ..value import checks
from . import _fiber
from ._fiber import FIBER, OWN, SHORTEST, SLACK, SPEED, STRENGTH, cosine, larger
from .base import Functions, Muscle

#: Its own numbers.
TENDON_STRAIN, FIBER_STRAIN, WIDTH, STIFFNESS, AF, FLEN, THRESHOLD = range(OWN, OWN + 7)
END = OWN + 7
#: Of the tendon's toe: the force at its end, its shape, e_toe by e0T, and the slope behind times e0T.
TOE_FORCE, TOE_SHAPE = 0.33, 3.0
_TOE = 99.0 * math.exp(3.0) / (166.0 * math.exp(3.0) - 67.0)
_TOE_SCALE = TOE_FORCE / (math.exp(TOE_SHAPE) - 1.0)


@generic
def active(model: Any, x: int, n: Any) -> Any:
    """fal."""
    return exp(-(n - 1.0) * (n - 1.0) / number(model, x + WIDTH))


@generic
def passive(model: Any, x: int, n: Any) -> Any:
    """fpe."""
    k = number(model, x + STIFFNESS)
    stretch = where(n > 1.0, n - 1.0, zero(n))
    return (exp(k * stretch / number(model, x + FIBER_STRAIN)) - 1.0) / (exp(k) - 1.0)


@generic
def tendon(model: Any, x: int, n: Any) -> Any:
    """fse."""
    toe = _TOE * number(model, x + TENDON_STRAIN)
    slope = (1.0 - TOE_FORCE) / (number(model, x + TENDON_STRAIN) - toe)
    e = n - 1.0
    bent = where(e > 0.0, where(e < toe, e, toe), zero(e))
    return _TOE_SCALE * (exp(TOE_SHAPE * bent / toe) - 1.0) + where(e > toe, slope * (e - toe), zero(e))


@generic
def fiber_velocity(model: Any, x: int, a: Any, strength: Any, force: Any) -> Any:
    """v of a fiber that can hold *strength* at rest, under an active force."""
    af, flen, threshold = number(model, x + AF), number(model, x + FLEN), number(model, x + THRESHOLD)
    last = threshold * strength * flen
    at = where(force < 0.0, zero(force), where(force > last, last, force))
    shortens = at <= strength
    slope = where(shortens, 1.0 / af + zero(at), -(2.0 + 2.0 / af) / (flen - 1.0) + zero(at))
    b = where(shortens, strength + at / af, (2.0 + 2.0 / af) * (strength * flen - at) / (flen - 1.0))
    scale = 0.25 + 0.75 * a
    v = scale * (at - strength) / b
    return v + (force - at) * scale * (1.0 - (at - strength) * slope / b) / b


@generic
def by_velocity(model: Any, x: int, v: Any) -> Any:
    """The active force at full activation by that at rest: the inverse of `fiber_velocity`."""
    af, flen, threshold = number(model, x + AF), number(model, x + FLEN), number(model, x + THRESHOLD)
    c = (2.0 + 2.0 / af) / (flen - 1.0)
    last = threshold * flen
    v_last = (last - 1.0) / (c * (flen - last))
    slope = 1.0 / (c * (flen - last)) * (1.0 + (last - 1.0) / (flen - last))  # of v by the force, where that is last
    shortening = where(v < -1.0, zero(v), (1.0 + v) / (1.0 - where(v < 0.0, v, zero(v)) / af))
    at = where(v < 0.0, zero(v), where(v > v_last, v_last + zero(v), v))
    lengthening = (1.0 + c * flen * at) / (1.0 + c * at)
    beyond = lengthening + where(v > v_last, (v - v_last) / slope, zero(v))
    below = where(v < -1.0, (v + 1.0) / (1.0 + 1.0 / af), zero(v))  # along the tangent at the fastest shortening
    return where(v < 0.0, shortening + below, beyond)


@generic
def contract(model: Any, i: int, x: int, z: int, a: Any, length: Any, speed: Any) -> Any:
    """See `base.Functions`."""
    strength, lopt = number(model, x + STRENGTH), number(model, x + FIBER)
    o, whole = zero(length), one(length)
    shortest = number(model, x + SHORTEST) + o
    l = larger(load(model.z, z + model.force_integers[i], 0) + o, shortest)
    cos = cosine(model, x, l)
    n = l / lopt
    held, fpe = a * active(model, x, n), passive(model, x, n)
    fse = tendon(model, x, (length - l * cos) / number(model, x + SLACK))
    v = fiber_velocity(model, x, a, held, fse / cos - fpe)
    stands = where(l <= shortest, where(v <= 0.0, whole, o), o)
    rate = where(stands > 0.0, o, v * number(model, x + SPEED) * lopt)
    moves = strength * (1.0 - stands)
    return l, cos, rate, strength * fse, moves * (fse / cos - fpe), moves * fpe, o, rate / cos, rate


@generic
def stored(model: Any, i: int, x: int, z: int, length: Any) -> Any:
    """The elastic energy by the largest isometric force."""
    lopt, slack = number(model, x + FIBER), number(model, x + SLACK)
    o = zero(length)
    l = larger(load(model.z, z + model.force_integers[i], 0) + o, number(model, x + SHORTEST) + o)
    e = (length - l * cosine(model, x, l)) / slack - 1.0
    toe = _TOE * number(model, x + TENDON_STRAIN)
    slope = (1.0 - TOE_FORCE) / (number(model, x + TENDON_STRAIN) - toe)
    bent = where(e > 0.0, where(e < toe, e, toe), o)
    beyond = where(e > toe, e - toe, o)
    of_tendon = _TOE_SCALE * ((exp(TOE_SHAPE * bent / toe) - 1.0) * toe / TOE_SHAPE - bent)
    of_tendon = of_tendon + beyond * (TOE_FORCE + 0.5 * slope * beyond)
    k = number(model, x + STIFFNESS) / number(model, x + FIBER_STRAIN)
    stretch = where(l > lopt, l / lopt - 1.0, o)
    of_fiber = ((exp(k * stretch) - 1.0) / k - stretch) / (exp(number(model, x + STIFFNESS)) - 1.0)
    return slack * of_tendon + lopt * of_fiber


class Thelen2003(Muscle):
    """The muscle of Thelen 2003: activation and fiber length are its variables.

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
    tendon_strain_at_max_isometric_force, fiber_strain_at_max_isometric_force : float
        OpenSim's FmaxTendonStrain and FmaxMuscleStrain: e0T and e0M.
    active_width, passive_stiffness : float
        OpenSim's KshapeActive and KshapePassive: gamma and kPE.
    force_velocity_shape, max_lengthening_force : float
        OpenSim's Af and Flen, the latter above 1.
    force_velocity_threshold : float
        OpenSim's fv_linear_extrap_threshold, below 1.
    activation_time_constant, deactivation_time_constant : float
        Time.
    minimum_activation : float
        0.01 or more, as in OpenSim, since the velocity is a quotient by it; below 1.
    default_excitation, default_activation, default_fiber_length : float
        In a default state; the fiber has its optimal length unless given.

    Raises
    ------
    TypeError, ValueError, ModelError
        If the path is none, or a number out of its range.
    TopologyError
        If the path is made of bodies of another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> bodies = system.matter.bodies
    >>> points = [(bodies[0], (0.2, 0, 0)), (bodies[1], (0, -0.5, 0))]
    >>> path = mb.force.transmission.StraightPath(system.forces, [(points, 1.0)])
    >>> muscle = mb.muscle.Thelen2003(system.forces, path, 1000.0, 0.1, 0.4, default_activation=0.3)
    >>> muscle.state_variables
    ('activation', 'fiber_length')
    """

    FUNCTIONS = Functions(active, passive, tendon, contract, stored, _fiber.activation_rate, by_velocity, END)

    (
        get_default_tendon_strain_at_max_isometric_force,
        set_default_tendon_strain_at_max_isometric_force,
        get_tendon_strain_at_max_isometric_force,
        set_tendon_strain_at_max_isometric_force,
    ) = parameters.scalar(
        "tendon_strain_at_max_isometric_force", "", checks.positive, "the tendon's strain under the largest isometric force"
    ).accessors()
    (
        get_default_fiber_strain_at_max_isometric_force,
        set_default_fiber_strain_at_max_isometric_force,
        get_fiber_strain_at_max_isometric_force,
        set_fiber_strain_at_max_isometric_force,
    ) = parameters.scalar(
        "fiber_strain_at_max_isometric_force", "", checks.positive, "the passive fiber's strain under that force"
    ).accessors()
    get_default_active_width, set_default_active_width, get_active_width, set_active_width = parameters.scalar(
        "active_width", "", checks.positive, "gamma, the width of the active force by length"
    ).accessors()
    (get_default_passive_stiffness, set_default_passive_stiffness, get_passive_stiffness, set_passive_stiffness) = (
        parameters.scalar("passive_stiffness", "", checks.positive, "kPE, the shape of the passive force").accessors()
    )
    (get_default_force_velocity_shape, set_default_force_velocity_shape, get_force_velocity_shape, set_force_velocity_shape) = (
        parameters.scalar("force_velocity_shape", "", checks.positive, "Af, the shape of force by velocity").accessors()
    )
    (
        get_default_max_lengthening_force,
        set_default_max_lengthening_force,
        get_max_lengthening_force,
        set_max_lengthening_force,
    ) = parameters.scalar(
        "max_lengthening_force", "", checks.one_or_more, "Flen, the largest force of a fiber that is stretched"
    ).accessors()
    (
        get_default_force_velocity_threshold,
        set_default_force_velocity_threshold,
        get_force_velocity_threshold,
        set_force_velocity_threshold,
    ) = parameters.scalar(
        "force_velocity_threshold", "", checks.positive, "the part of Flen beyond which force by velocity is straight"
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
        tendon_strain_at_max_isometric_force: float = 0.04,
        fiber_strain_at_max_isometric_force: float = 0.6,
        active_width: float = 0.45,
        passive_stiffness: float = 5.0,
        force_velocity_shape: float = 0.25,
        max_lengthening_force: float = 1.4,
        force_velocity_threshold: float = 0.95,
        activation_time_constant: float = 0.015,
        deactivation_time_constant: float = 0.050,
        minimum_activation: float = 0.01,
        default_excitation: float = 0.0,
        default_activation: float = 0.05,
        default_fiber_length: float | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        given = dict(locals())
        numbers = self.numbers_of(given)
        super().__init__(given, numbers)

    @staticmethod
    def settle(whose: str, numbers: list[float]) -> None:
        """As of every muscle; and what would be divided by is not zero."""
        Muscle.settle(whose, numbers)
        if not (numbers[_fiber.LEAST] >= 0.01 and numbers[FLEN] > 1.0 and numbers[THRESHOLD] < 1.0):
            raise ModelError(
                f"of {whose} minimum_activation has to be 0.01 or more, max_lengthening_force above 1 and "
                f"force_velocity_threshold below 1; got {numbers[_fiber.LEAST]:g}, {numbers[FLEN]:g} and {numbers[THRESHOLD]:g}"
            )

    def _while_moving(self, record: Any, x: int, a: float, length: float, fiber: Any, speed: float) -> tuple[Any, Any]:
        """Of a fiber that shares the path's speed with the tendon by their stiffness at the force that balances it."""
        lopt, l = number(record, x + FIBER), Dual(fiber, (1.0,))
        cos, n = cosine(record, x, fiber), fiber / lopt
        held = self._pulls(record, x, a, length, l)[1]
        factor = np.maximum((held.value / cos - passive(record, x, n)) / (a * active(record, x, n)), 0.0)
        slope = self._pulls(record, x, a * factor, length, l)[0].tangents[0]
        both = slope - held.tangents[0]  # each is the stiffness along the tendon by cos phi
        share = np.where(both != 0.0, -held.tangents[0] / np.where(both != 0.0, both, 1.0), 0.0)
        v = share * speed * cos / (number(record, x + SPEED) * lopt)
        return np.maximum(by_velocity(record, x, v / (0.25 + 0.75 * a)), 0.0), 0.0
