"""RigidTendon: a fiber behind a tendon that does not stretch; its activation is its excitation.

x = max(l - lts, 0)       l_fiber = sqrt(x^2 + h^2), cos phi = x / l_fiber       n = l_fiber / lopt, v = l' / (vmax lopt)
F = Fiso (a fal(n) fv(v) + min(max(fpe(n), 0), 10)) cos phi

v is the speed of the whole path, as OpenSim's class has it. Its curves are splines. Source: OpenSim's RigidTendonMuscle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..algebra.scalar import one, sqrt, where, zero
from ..compiling import generic
from ..force.pools import number
from ..force.subsystem import GeneralForceSubsystem
from ..force.transmission.base import Transmission
from ..function import Function, SimmSpline
from ..value import checks
from . import _fiber, _pieces
from ._fiber import FIBER, HEIGHT, OWN, SLACK, SPEED, STRENGTH, kept
from .base import Functions, Muscle

#: How many pieces there is room for in each curve, and where they are.
OF_ACTIVE, OF_PASSIVE, OF_VELOCITY = 32, 32, 64
ACTIVE = OWN
PASSIVE = ACTIVE + _pieces.ROWS * OF_ACTIVE
VELOCITY = PASSIVE + _pieces.ROWS * OF_PASSIVE
END = VELOCITY + _pieces.ROWS * OF_VELOCITY
#: The largest passive force, by the largest isometric one.
MOST = 10.0
#: Fibers narrower than that have no pennation, as in OpenSim.
_NARROW = float(np.sqrt(np.finfo(float).eps))
_ACTIVE_X = (-5.307692, -4.307692, -1.923077, -0.884615, -0.269231, 0.230769, 0.461538, 0.52725, 0.62875, 0.71875, 0.86125,
             1.045, 1.2175, 1.43875, 1.5, 1.615385, 2.0, 2.961538, 3.692308, 5.461538, 9.901902)  # fmt: skip
_ACTIVE_Y = (0.012188, 0.021899, 0.036466, 0.052493, 0.075312, 0.114158, 0.157859, 0.226667, 0.636667, 0.856667, 0.95,
             0.993333, 0.77, 0.246667, 0.193821, 0.133252, 0.072683, 0.044417, 0.036341, 0.021899, 0.007332)  # fmt: skip
_PASSIVE_X = (-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0)
_PASSIVE_Y = (0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0)
_VELOCITY_Y = (0.0, 0.0, 0.010417, 0.021739, 0.034091, 0.047619, 0.0625, 0.078947, 0.097222, 0.117647, 0.140625, 0.166667,
               0.196429, 0.230769, 0.270833, 0.318182, 0.375, 0.444444, 0.53125, 0.642857, 0.791667, 1.0, 1.482014, 1.601571,
               1.655791, 1.686739, 1.706751, 1.720753, 1.731099, 1.739055, 1.745365, 1.75049, 1.754736, 1.758312, 1.761364,
               1.763999, 1.766298, 1.768321, 1.770115, 1.771717, 1.773155, 1.774455)  # fmt: skip
_VELOCITY_X = (-1.001, *(round(-1.0 + 0.05 * k, 2) for k in range(41)))


def usual_active() -> Function:
    """OpenSim's active force by length of its older muscles."""
    return SimmSpline(_ACTIVE_X, _ACTIVE_Y)


def usual_passive() -> Function:
    """OpenSim's passive force by length of its older muscles."""
    return SimmSpline(_PASSIVE_X, _PASSIVE_Y)


@generic
def active(model: Any, x: int, n: Any) -> Any:
    """fal."""
    return _pieces.value(model, x + ACTIVE, OF_ACTIVE, n)


@generic
def passive(model: Any, x: int, n: Any) -> Any:
    """fpe, from 0 to 10."""
    o = zero(n)
    return kept(_pieces.value(model, x + PASSIVE, OF_PASSIVE, n), o, MOST * one(n))


@generic
def tendon(model: Any, x: int, n: Any) -> Any:
    """A tendon that does not stretch holds whatever pulls: beyond its slack length there is no force by length."""
    return where(n > 1.0, float("inf") * one(n), zero(n))


@generic
def by_velocity(model: Any, x: int, v: Any) -> Any:
    """fv."""
    return _pieces.value(model, x + VELOCITY, OF_VELOCITY, v)


@generic
def _behind(model: Any, x: int, length: Any) -> Any:
    """Length and cos phi of the fiber."""
    h, ahead = number(model, x + HEIGHT), length - number(model, x + SLACK)
    o, whole = zero(length), one(length)
    along = where(ahead > 0.0, ahead, o)
    square = along * along + h * h
    wide = where(h > _NARROW, whole, o)
    l = where(wide > 0.0, sqrt(where(square > 0.0, square, whole)), along)
    return l, where(wide > 0.0, along / where(l > 0.0, l, whole), whole)


@generic
def contract(model: Any, i: int, x: int, z: int, a: Any, length: Any, speed: Any) -> Any:
    """See `base.Functions`. What the limits take from the passive force counts as damping: it is no elastic force."""
    strength, lopt = number(model, x + STRENGTH), number(model, x + FIBER)
    o = zero(length)
    l, cos = _behind(model, x, length)
    n = l / lopt
    fpe = _pieces.value(model, x + PASSIVE, OF_PASSIVE, n)
    held = kept(fpe, o, MOST * one(length))
    force = a * active(model, x, n) * by_velocity(model, x, speed / (lopt * number(model, x + SPEED)))
    rate = where(length > number(model, x + SLACK), speed * cos, o)
    whole = strength * (force + held) * cos
    return l, cos, rate, whole, strength * force, strength * fpe, strength * (held - fpe), speed + o, o


@generic
def stored(model: Any, i: int, x: int, z: int, length: Any) -> Any:
    """The elastic energy by the largest isometric force."""
    lopt = number(model, x + FIBER)
    return lopt * _pieces.area(model, x + PASSIVE, OF_PASSIVE, _behind(model, x, length)[0] / lopt)


class RigidTendon(Muscle):
    """OpenSim's RigidTendonMuscle: no variables, three splines.

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
    default_excitation : float
        In a default state; from 0 to 1 it is the activation.
    active_force_length, passive_force_length, force_velocity : function.SimmSpline or the like, optional
        Of cubic or straight pieces, 31 points at most, 63 of the last; OpenSim's defaults unless given.

    Raises
    ------
    TypeError, ValueError, ModelError
        If the path is none, a number out of its range, or a curve not of such pieces.
    TopologyError
        If the path is made of bodies of another system.

    Notes
    -----
    Force by velocity is asked at the speed of the whole path, as in OpenSim, also of a pennate fiber; `get_fiber_velocity` is
    the rate of the fiber's length.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> bodies = system.matter.bodies
    >>> points = [(bodies[0], (0.2, 0, 0)), (bodies[1], (0, -0.5, 0))]
    >>> path = mb.force.transmission.StraightPath(system.forces, [(points, 1.0)])
    >>> muscle = mb.muscle.RigidTendon(system.forces, path, 1000.0, 0.1, 0.4)
    >>> muscle.state_variables, round(muscle.force_velocity(-0.5), 6)
    ((), 0.166667)
    """

    _IS_RIGID = True
    FUNCTIONS = Functions(active, passive, tendon, contract, stored, _fiber.activation_rate, by_velocity, END)

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
        default_excitation: float = 0.0,
        active_force_length: Function | None = None,
        passive_force_length: Function | None = None,
        force_velocity: Function | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        given = dict(locals())
        numbers = self.numbers_of(given)
        for what, curve, usual, pieces in (
            ("active_force_length", active_force_length, usual_active, OF_ACTIVE),
            ("passive_force_length", passive_force_length, usual_passive, OF_PASSIVE),
            ("force_velocity", force_velocity, lambda: SimmSpline(_VELOCITY_X, _VELOCITY_Y), OF_VELOCITY),
        ):
            numbers += _pieces.numbers_of(what, usual() if curve is None else curve, pieces, 1.0)
        super().__init__(given, numbers)

    def calc_rigid_tendon_forces(self, length: ArrayLike, speed: ArrayLike) -> tuple[Array, Array]:
        """See `Muscle.calc_rigid_tendon_forces`; force by velocity is that of the path."""
        lengths, speeds = np.broadcast_arrays(checks.numbers("length", length), checks.numbers("speed", speed))
        n = np.array(self.default_numbers)
        along = np.maximum(lengths - n[SLACK], 0.0)
        fiber = np.hypot(along, n[HEIGHT]) if n[HEIGHT] > _NARROW else along
        scale = n[STRENGTH] * np.divide(along, fiber, out=np.ones_like(fiber), where=fiber > 0.0)
        normal = fiber / n[FIBER]
        by_speed = self.force_velocity(speeds / (n[SPEED] * n[FIBER]))
        return scale * self.active_force_length(normal) * by_speed, scale * self.passive_force_length(normal)
