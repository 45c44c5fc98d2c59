"""BrushTyre: a tyre as a row of bristles, in closed form: few numbers, and the right shape.

With the slips of the road's adhesion s_x = kappa / (1 + kappa), s_y = tan(alpha) / (1 + kappa), by 1 - kappa and with the other
sign of M_z where it rolls backwards, of a patch of half length a under parabolic pressure, bristles as stiff as C_kappa and
C_alpha have it,

    s = (C_kappa s_x, C_alpha s_y) / (mu F_z)   t = |s| / 3
    F = mu F_z (3 t - 3 t^2 + t^3) for t < 1, else mu F_z, along s: ahead by s_x, against s_y
    M_z = a mu F_z t (1 - t)^3 s_y's part of s for t < 1, else 0, which turns the wheel towards where it goes

The relaxation lengths are a, of both. M_y is that of rolling resistance, f F_z R_0. Source: Pacejka 2012, Tire and Vehicle
Dynamics, 3rd edition, 3.2, with stiffnesses that may differ along and across.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra.scalar import sqrt, where
from ..compiling import generic
from ..contact.height_field import HeightField
from ..function.base import Function
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value import Transform, checks
from ._tyre import GRIP, IN_GROUND, OWN, RADIUS, Tyre, adding, direction, leaving, slips
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem

FRICTION, LONGITUDINAL, CORNERING, HALF_LENGTH, ROLLING = range(OWN, OWN + 5)


@generic
def evaluate(model: Any, x: int, Fz: Any, kappa: Any, tangent: Any, way: Any) -> Any:
    """F_x, F_y, M_z, of the slips and the direction in which it rolls."""
    o = 0.0 * Fz
    most = number(model, x + FRICTION) * number(model, x + GRIP) * Fz
    up = most <= 0.0
    ratio = 1.0 + way * kappa  # of the speeds of rim and hub
    ratio = where(ratio < 0.05, 0.05 + o, ratio)
    sx, sy = kappa / ratio, tangent / ratio
    per = 1.0 / where(up, 1.0 + o, most)
    sx, sy = number(model, x + LONGITUDINAL) * sx * per, number(model, x + CORNERING) * sy * per
    square = sx * sx + sy * sy
    still = square <= 1e-24
    size = sqrt(where(still, 1.0 + o, square))
    t = size / 3.0
    slides = t >= 1.0
    force = where(slides, 1.0 + o, t * (3.0 - t * (3.0 - t)))
    rest = 1.0 - t
    arm = where(slides, o, t * rest * rest * rest)
    # at rest 1 / size is no number, and the force by the slips themselves
    fx, fy = where(still, sx, force * sx / size), where(still, sy, force * sy / size)
    mz = where(still, sy / 3.0, arm * sy / size) * number(model, x + HALF_LENGTH) * way
    return where(up, o, most * fx), where(up, o, -most * fy), where(up, o, most * mz)


@generic
def law(model: Any, x: int, bent: Any, rho: Any, camber: Any, Vx: Any, Vsy: Any, spin: Any, Fz: Any) -> Any:
    """Forces and moments, and the rates of the deflections."""
    rho = where(rho < 0.0, 0.0 * rho, rho)
    R0, a = number(model, x + RADIUS), number(model, x + HALF_LENGTH)
    Vsx = Vx - spin * (R0 - rho / 3.0)
    kappa, tangent, e_rate, s_rate = slips(bent, Vx, Vsx, Vsy, a, a)
    fx, fy, mz = evaluate(model, x, Fz, kappa, tangent, direction(Vx))
    up = Fz <= 0.0
    my = -number(model, x + ROLLING) * R0 * Fz * Vx / sqrt(Vx * Vx + 0.01)
    o = 0.0 * Fz
    e, s = bent
    return (fx, fy, Fz), (o, my, mz), where(up, -e / 0.01, e_rate), where(up, -s / 0.01, s_rate)


class BrushTyre(Tyre):
    """A tyre as a row of bristles, by five numbers.

    Parameters
    ----------
    wheel : MobilizedBody
        The body that turns.
    radius : float
        Without load, above zero; length.
    stiffness : float
        Vertical, above zero; force/length.
    damping : float
        Vertical, zero or more; force*time/length.
    friction : float
        The coefficient of friction, above zero.
    longitudinal_stiffness : float
        The force ahead by a small longitudinal slip kappa, above zero; force.
    cornering_stiffness : float
        The force to the side by a small slip angle, above zero; force/angle.
    half_length : float
        Of the contact patch, and its relaxation length, above zero; length.
    rolling_resistance : float
        The coefficient, zero or more: 0.01 of a car's tyre on asphalt.
    center, axis : (3,) array_like
        The wheel's center and its spin axis, to the left, in the wheel's frame.
    road : HeightField or Function, optional
        The road's height by x and y of its frame; a plane unless given.
    road_frame : Transform or array_like, optional
        The road's frame in Ground, whose z is up; Ground's unless given.
    grip : float
        What friction is multiplied by.

    Raises
    ------
    TypeError, ModelError
        If the body, the road or a number is none, or a number out of its range.
    TopologyError
        If the wheel belongs to another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> rim = mb.body.Rigid(mb.MassProperties(8.0, (0, 0, 0), mb.UnitInertia(0.05, 0.1, 0.05)))
    >>> wheel = mb.mobilizer.Free(matter.ground, rim)
    >>> tyre = mb.force.BrushTyre(forces, wheel, 0.3, 2e5, longitudinal_stiffness=6e4, cornering_stiffness=4e4)
    >>> state = system.realize_topology()
    >>> wheel.set_q_to_fit_translation(state, (0, 0, 0.29))
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> float(tyre.calc_forces(state)[0, 2].round(6))
    2000.0
    """

    routine, wrench_routine = by_address(adding(law), with_z=True), leaving(law)

    (get_default_friction, set_default_friction, get_friction, set_friction) = parameters.scalar(
        "friction", "", checks.positive, "the coefficient of friction"
    ).accessors()
    (
        get_default_longitudinal_stiffness,
        set_default_longitudinal_stiffness,
        get_longitudinal_stiffness,
        set_longitudinal_stiffness,
    ) = parameters.scalar("longitudinal_stiffness", "force", checks.positive, "the force ahead by a small slip").accessors()
    get_default_cornering_stiffness, set_default_cornering_stiffness, get_cornering_stiffness, set_cornering_stiffness = (
        parameters.scalar("cornering_stiffness", "force/angle", checks.positive, "the force aside by a small angle").accessors()
    )
    get_default_half_length, set_default_half_length, get_half_length, set_half_length = parameters.scalar(
        "half_length", "length", checks.positive, "half the length of the contact patch"
    ).accessors()
    get_default_rolling_resistance, set_default_rolling_resistance, get_rolling_resistance, set_rolling_resistance = (
        parameters.scalar("rolling_resistance", "", checks.not_negative, "the coefficient of rolling resistance").accessors()
    )

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        wheel: MobilizedBody,
        radius: float,
        stiffness: float,
        damping: float = 0.0,
        *,
        longitudinal_stiffness: float,
        cornering_stiffness: float,
        friction: float = 1.0,
        half_length: float = 0.06,
        rolling_resistance: float = 0.0,
        center: npt.ArrayLike = (0.0, 0.0, 0.0),
        axis: npt.ArrayLike = (0.0, 1.0, 0.0),
        road: HeightField | Function | None = None,
        road_frame: Transform | npt.ArrayLike = IN_GROUND,
        grip: float = 1.0,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        numbers = self.declared(
            name,
            center=center,
            axis=axis,
            road_frame=road_frame,
            grip=grip,
            radius=radius,
            stiffness=stiffness,
            damping=damping,
            friction=friction,
            longitudinal_stiffness=longitudinal_stiffness,
            cornering_stiffness=cornering_stiffness,
            half_length=half_length,
            rolling_resistance=rolling_resistance,
        )
        self._begin(forces, wheel, road, disabled_by_default, name)
        self.default_numbers = numbers
