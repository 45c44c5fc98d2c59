"""Millard2012Equilibrium: a fiber with active force and damping, in series with an elastic or a rigid tendon.

n = l / lopt, v = l' / (vmax lopt), fal, fpe, fse, fv curves       F = Fiso (a fal(n) fv(v) + fpe(n) + beta v)
elastic   T = Fiso fse(lT / lts), lT = lMT - l cos phi             F cos phi = T gives v: it is the rate of the variable l
rigid     lT = lts, l and l' follow from the path                  T = F cos phi, F zero at least

Of a damped fiber v is where a fal fv + beta v meets fse / cos phi - fpe. Both grow, and on a piece of the curve both are
polynomials of the same u, so that one equation gives v. Without damping v is the inverse curve's value; curves must then have
no flat ends. A fiber at its shortest that would shorten stands still. Source: Millard, Uchida, Seth and Delp 2013, J. Biomech.
Eng. 135, 021005.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.beside import eight_rows_at, lies_beside
from ..algebra.masks import either, in_any
from ..algebra.scalar import bare, load, num_lanes, one, where, zero
from ..compiling import generic
from ..errors import ModelError
from ..force.pools import number
from ..force.subsystem import GeneralForceSubsystem
from ..force.transmission.base import Transmission
from ..state import parameters
from ..value import checks
from . import _bezier, _fiber
from ._bezier import PIECE, SLOPES
from ._fiber import CHOICE, FIBER, OWN, SHORTEST, SLACK, SPEED, STRENGTH, STRETCHES, cosine, fiber_behind, larger
from .base import Functions, Muscle
from .curves import ActiveForceLengthCurve, FiberForceLengthCurve, ForceVelocityCurve, TendonForceLengthCurve

#: Pieces of each curve, and where its numbers are.
OF_ACTIVE, OF_PASSIVE, OF_TENDON, OF_VELOCITY = 5, 2, 2, 4
DAMPING = OWN
ACTIVE = DAMPING + 1
PASSIVE = ACTIVE + PIECE * OF_ACTIVE + SLOPES
TENDON = PASSIVE + PIECE * OF_PASSIVE + SLOPES
VELOCITY = TENDON + PIECE * OF_TENDON + SLOPES
INVERSE = VELOCITY + PIECE * OF_VELOCITY + SLOPES
END = INVERSE + PIECE * OF_VELOCITY + SLOPES
#: Below that damping counts as none, as in OpenSim.
LEAST_DAMPING = 0.001


@generic
def active(model: Any, x: int, n: Any) -> Any:
    """fal."""
    return _bezier.value(model, x + ACTIVE, OF_ACTIVE, n)


@generic
def passive(model: Any, x: int, n: Any) -> Any:
    """fpe."""
    return _bezier.value(model, x + PASSIVE, OF_PASSIVE, n)


@generic
def tendon(model: Any, x: int, n: Any) -> Any:
    """fse."""
    return _bezier.value(model, x + TENDON, OF_TENDON, n)


@generic
def by_velocity(model: Any, x: int, v: Any) -> Any:
    """fv."""
    return _bezier.value(model, x + VELOCITY, OF_VELOCITY, v)


@generic
def damped_velocity(model: Any, x: int, strength: Any, damping: Any, force: Any) -> Any:
    """v at which strength fv(v) + damping v is a force."""
    n = x + VELOCITY
    low, high, before, behind = _bezier.ends(model, n, OF_VELOCITY)
    p = _piece_of(model, n, strength, damping, force)
    least = strength * number(model, n + 4) + damping * low
    last = n + PIECE * (OF_VELOCITY - 1)
    most = strength * (number(model, last + 4) + number(model, last + 7)) + damping * high
    within = _bezier.between(force, least, most)
    m0, m1, d = strength * p[5] + damping * p[1], strength * p[6] + damping * p[2], strength * p[7] + damping * p[3]
    u = _bezier.meet(m0, m1, d, within - (strength * p[4] + damping * p[0]))
    v = p[0] + _bezier.rise(p[1], p[2], p[3], u)
    if in_any(either(force < least, force > most)):
        slope = where(force < least, before + zero(force), behind + zero(force))
        v = v + (force - within) / (strength * slope + damping)
    return v


@generic
def _piece_of(model: Any, n: int, strength: Any, damping: Any, force: Any) -> Any:
    """The numbers of the piece of fv in which strength fv + damping v is a force."""
    if num_lanes(bare(force)) == 1:
        k = 0
        for piece in range(1, OF_VELOCITY):
            k = piece if in_any(force >= _start_of(model, n + PIECE * piece, strength, damping)) else k
        return _bezier.load8(model, n + PIECE * k)
    if lies_beside(model.force_numbers):
        place = zero(force)
        for piece in range(1, OF_VELOCITY):
            place = where(force >= _start_of(model, n + PIECE * piece, strength, damping), 1.0 * PIECE * piece, place)
        return eight_rows_at(model.force_numbers, n, bare(place))
    p = _bezier.load8(model, n)
    for k in range(1, OF_VELOCITY):
        begun = force >= _start_of(model, n + PIECE * k, strength, damping)
        p = _bezier.pick8(begun, _bezier.load8(model, n + PIECE * k), p)
    return p


@generic
def _start_of(model: Any, n: int, strength: Any, damping: Any) -> Any:
    return strength * number(model, n + 4) + damping * number(model, n)


@generic
def contract(model: Any, i: int, x: int, z: int, a: Any, length: Any, speed: Any) -> Any:
    """See `base.Functions`."""
    strength, lopt, slack = number(model, x + STRENGTH), number(model, x + FIBER), number(model, x + SLACK)
    fastest, damping = number(model, x + SPEED) * lopt, number(model, x + DAMPING)
    o, whole = zero(length), one(length)
    shortest = larger(number(model, x + SHORTEST), number(model, x + ACTIVE) * lopt) + o
    if model.force_integers[i + STRETCHES] != 0:
        l = larger(load(model.z, z + model.force_integers[i], 0) + o, shortest)
        cos = cosine(model, x, l)
        part = 1.0 / (lopt * slack)
        n = l * (slack * part)
        of_tendon = x + TENDON, OF_TENDON, (length - l * cos) * (lopt * part)
        fal, fpe, fse = _bezier.three_values(model, (x + ACTIVE, OF_ACTIVE, n), (x + PASSIVE, OF_PASSIVE, n), of_tendon)
        rest = fse / cos - fpe
        if model.force_integers[i + CHOICE] != 0:
            v = damped_velocity(model, x, a * fal, damping + o, rest)
            of_active = rest - damping * v
        else:
            v = _bezier.value(model, x + INVERSE, OF_VELOCITY, rest / (a * fal))
            of_active = a * fal * by_velocity(model, x, v)
        stands = where(l <= shortest, where(v <= 0.0, whole, o), o)
        v = where(stands > 0.0, o, v)
        force = strength * fse
        moves = strength * where(stands > 0.0, o, whole)
        rate = v * fastest
        found = l, cos, rate, force, moves * of_active, moves * fpe, moves * damping * v, rate / cos, rate
    else:
        l = larger(fiber_behind(model, x, length - slack), shortest)
        cos = cosine(model, x, l)
        per_velocity = 1.0 / fastest
        n = l * (number(model, x + SPEED) * per_velocity)
        slackened = length - l * cos < slack - 1e-14 * length  # by more than is rounded, of a tendon of no length too
        rate = where(slackened, o, speed * cos)
        v = rate * per_velocity
        of_velocity = x + VELOCITY, OF_VELOCITY, v
        fal, fpe, fv = _bezier.three_values(model, (x + ACTIVE, OF_ACTIVE, n), (x + PASSIVE, OF_PASSIVE, n), of_velocity)
        of_fiber = a * fal * fv + fpe
        drag = damping * v
        drag = where(of_fiber + drag < 0.0, -of_fiber, drag)
        moves = strength * where(l <= shortest, where(v <= 0.0, o, whole), whole)
        force = moves * (of_fiber + drag) * cos
        found = l, cos, rate, force, moves * a * fal * fv, moves * fpe, moves * drag, speed + o, o
    return found


@generic
def stored(model: Any, i: int, x: int, z: int, length: Any) -> Any:
    """The elastic energy by the largest isometric force."""
    lopt, slack = number(model, x + FIBER), number(model, x + SLACK)
    o = zero(length)
    shortest = larger(number(model, x + SHORTEST), number(model, x + ACTIVE) * lopt) + o
    of_tendon = o
    if model.force_integers[i + STRETCHES] != 0:
        l = larger(load(model.z, z + model.force_integers[i], 0) + o, shortest)
        of_tendon = slack * _bezier.area(model, x + TENDON, OF_TENDON, (length - l * cosine(model, x, l)) / slack)
    else:
        l = larger(fiber_behind(model, x, length - slack), shortest)
    return of_tendon + lopt * _bezier.area(model, x + PASSIVE, OF_PASSIVE, l / lopt)


def _damping(what: str, value: Any) -> float:
    """A number, 0.001 or more."""
    found = checks.finite(what, value)
    if found < LEAST_DAMPING:
        raise ModelError(
            f"{what} has to be {LEAST_DAMPING} or more, got {found:g}; a muscle without damping is made with fiber_damping=0"
        )
    return found


Curves = tuple[ActiveForceLengthCurve, FiberForceLengthCurve, TendonForceLengthCurve, ForceVelocityCurve]


def _curves(*given: Any) -> Curves:
    """The curves that were given, or those of the defaults."""
    names = "active_force_length", "passive_force_length", "tendon_force_length", "force_velocity"
    kinds = ActiveForceLengthCurve, FiberForceLengthCurve, TendonForceLengthCurve, ForceVelocityCurve
    found: Any = tuple(
        kind() if one is None else checks.instance(name, one, kind, f"a mobod.muscle.{kind.__name__}()")
        for name, kind, one in zip(names, kinds, given, strict=True)
    )
    return found


def _adapted(
    active: ActiveForceLengthCurve,
    passive: FiberForceLengthCurve,
    tendon: TendonForceLengthCurve,
    velocity: ForceVelocityCurve,
    flat: bool,
) -> Curves:
    """The curves as the equations need them: with flat ends at zero, or with neither."""
    own = active.parameters
    own["minimum_value"] = 0.0 if flat else max(0.1, active.minimum_value)
    if flat:
        ends = dict.fromkeys(("concentric_slope_at_vmax", "eccentric_slope_at_vmax"), 0.0)
        velocity = ForceVelocityCurve(**{**velocity.parameters, **ends})
    else:
        velocity = velocity.invertible()
    return ActiveForceLengthCurve(**own), passive, tendon, velocity


class Millard2012Equilibrium(Muscle):
    """The muscle of Millard and others 2013: damped or undamped fiber, elastic or rigid tendon.

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
    fiber_damping : float
        By the largest isometric force and velocity; below 0.001 there is none, and the fiber's velocity comes from the inverse
        of the curve.
    ignore_tendon_compliance, ignore_activation_dynamics : bool
        Whether the tendon is rigid, and whether activation is the excitation itself.
    activation_time_constant, deactivation_time_constant : float
        Time.
    minimum_activation : float
        Below 1.
    default_excitation, default_activation, default_fiber_length : float
        In a default state; the fiber has its optimal length unless given.
    active_force_length, passive_force_length, tendon_force_length, force_velocity : Curve, optional
        Those of OpenSim's defaults unless given.

    Raises
    ------
    TypeError, ValueError, ModelError
        If the path is none, or a number out of its range.
    TopologyError
        If the path is made of bodies of another system.

    Notes
    -----
    As in OpenSim, curves are changed where the equations ask for it: of a damped fiber, or with a rigid tendon, the active
    force ends at zero and force by velocity in flat ends; of an undamped fiber with an elastic tendon the active force is 0.1
    at least, and ends of force by velocity have half the slope near them at least.

    Examples
    --------
    A weight that hangs on a muscle:

    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> gravity = mb.force.Gravity(forces, matter, (0, 0, -9.8))
    >>> weight = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(20.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))),
    ...     X_PF=mb.Transform(mb.Rotation.about_axis(0.5 * 3.141592653589793, (0, 1, 0))))
    >>> path = mb.force.transmission.StraightPath(forces, [([(matter.ground, (0, 0, 0)), (weight, (0, 0, 0))], 1.0)])
    >>> muscle = mb.muscle.Millard2012Equilibrium(forces, path, 1000.0, 0.1, 0.2, default_activation=0.2)
    >>> state = system.realize_topology()
    >>> weight.set_length(state, 0.3)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> muscle.equilibrate(state)
    >>> system.realize(state)
    >>> round(muscle.get_tendon_force(state), 6), round(muscle.get_state_variable(state, "fiber_length"), 9)
    (199.851464, 0.096682141)
    """

    FUNCTIONS = Functions(active, passive, tendon, contract, stored, _fiber.activation_rate, by_velocity, END)

    get_default_fiber_damping, set_default_fiber_damping, get_fiber_damping, set_fiber_damping = parameters.scalar(
        "fiber_damping", "", _damping, "the damping of a damped fiber, by the largest isometric force and velocity"
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
        fiber_damping: float = 0.1,
        ignore_tendon_compliance: bool = False,
        ignore_activation_dynamics: bool = False,
        activation_time_constant: float = 0.010,
        deactivation_time_constant: float = 0.040,
        minimum_activation: float = 0.01,
        default_excitation: float = 0.0,
        default_activation: float = 0.05,
        default_fiber_length: float | None = None,
        active_force_length: ActiveForceLengthCurve | None = None,
        passive_force_length: FiberForceLengthCurve | None = None,
        tendon_force_length: TendonForceLengthCurve | None = None,
        force_velocity: ForceVelocityCurve | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        given = dict(locals())
        is_damped = checks.not_negative("fiber_damping", fiber_damping) >= LEAST_DAMPING
        if not is_damped:
            del given["fiber_damping"]
        numbers = self.numbers_of(given)
        curves = _curves(active_force_length, passive_force_length, tendon_force_length, force_velocity)
        self.curves = _adapted(*curves, flat=bool(is_damped or ignore_tendon_compliance))
        for curve in self.curves:
            numbers += curve.numbers
        numbers += curves[3].invertible().numbers_of_inverse
        super().__init__(given, numbers, int(is_damped))

    @staticmethod
    def _shortest(numbers: Any) -> Any:
        return np.maximum(numbers[SHORTEST], numbers[ACTIVE] * numbers[FIBER])
