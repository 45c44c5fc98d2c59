"""MobilityDryFriction: Coulomb friction of one mobility, which sticks.

y    deflection of a bristle over x, the largest      r = |u| / v_t
F_s  static friction, a multiple of dynamic friction F_d; between v_t and 3 v_t the one goes over to the other:
g    = 1 - (1 - F_d / F_s) S(r / 2 - 1/2)            S(t) = t^3 (10 - 15 t + 6 t^2), from 0 to 1, a quintic step
w(y) = y (15 - 10 y^2 + 3 y^4) / 8, and 1 beyond y = 1, -1 below y = -1

"bristle"    y' = s u / x                  s = 1 - S(4 (|y| - 1)) while y u > 0, else 1: how much of u bends the bristle
             f  = -F_s w(y) (1 - (1 - g)(1 - s)) - e(y, u) F_s u / v_t / (1 + r^2) - c u
             e  = 1 - w(y)^2 while y u > 0, else 1
             PE = F_s x W(y), W the integral of w          dissipated = F_s w u (1 - s) g + the rest of f times u

"stribeck"   f  = -F_s g w(u / v_t) - c u, dissipated -f u

Up to F_s the bristle is elastic and nothing slides: y' is u / x whatever the load, so that a load does not make it creep.
Beyond, the force is F_s g wholly, and y stays near 1. Every term of what is dissipated is zero or more.

An elasto-plastic law as that of Dupont, Hayward, Armstrong and Altpeter 2002, IEEE Trans. Autom. Control 47, 787, which is
Prandtl's at low speeds. Where theirs returns to the limit at a rate of |u| / x, so that fast sliding is stiff, y comes to rest
here; and damping (their sigma_1) is limited, so that a bristle hit at high speed gives no more than F_s.
"""

from __future__ import annotations

from typing import Any

from ..algebra.order import size_of
from ..algebra.scalar import load, one, store, where, zero
from ..compiling import Routine, generic
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.state import State
from ..value import checks
from ._mobility import OnMobility, place, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem

#: Where the numbers are.
DYNAMIC, RATIO, VISCOUS, DEFLECTION, TRANSITION = 0, 1, 2, 3, 4
#: 1 / the range of y in which bending ends, above 1.
SHARPNESS = 4.0


@generic
def step(t: Any) -> Any:
    """S(t), 0 below 0 and 1 above 1."""
    t = where(t > 0.0, where(t < 1.0, t, one(t)), zero(t))
    return t * t * t * (10.0 + t * (6.0 * t - 15.0))


@generic
def limited(y: Any) -> Any:
    """w(y)."""
    i = one(y)
    y = where(y > 1.0, i, where(y < -1.0, -i, y))
    return 0.125 * y * (15.0 + y * y * (3.0 * y * y - 10.0))


@generic
def static(model: Any, numbers: int) -> Any:
    """F_s."""
    return number(model, numbers + DYNAMIC) * number(model, numbers + RATIO)


@generic
def falling(model: Any, numbers: int, r: Any) -> Any:
    """g, of |u| / v_t."""
    return 1.0 - (1.0 - 1.0 / number(model, numbers + RATIO)) * step(0.5 * r - 0.5)


@generic
def bending(y: Any, u: Any) -> Any:
    """s."""
    return where(y * u > 0.0, 1.0 - step(SHARPNESS * (size_of(y) - 1.0)), one(y))


@generic
def damping(model: Any, numbers: int, y: Any, u: Any) -> Any:
    """e F_s u / v_t / (1 + r^2) + c u."""
    v, w = u / number(model, numbers + TRANSITION), limited(y)
    e = where(y * u > 0.0, 1.0 - w * w, one(w))
    return e * static(model, numbers) * v / (1.0 + v * v) + number(model, numbers + VISCOUS) * u


@generic
def add(model: Any, integers: int, numbers: int, z: int) -> None:
    """f on the mobility, and y'."""
    i = place(model, integers)
    u, y = load(model.u, i, 0), load(model.z, z, 0)
    s, g = bending(y, u), falling(model, numbers, size_of(u) / number(model, numbers + TRANSITION))
    f = static(model, numbers) * limited(y) * (1.0 - (1.0 - g) * (1.0 - s)) + damping(model, numbers, y, u)
    push(model, i, -f)
    store(model.z_dot, z, 0, s * u / number(model, numbers + DEFLECTION))


@generic
def energy(model: Any, integers: int, numbers: int, z: int) -> Any:
    """F_s x W(y)."""
    y = size_of(load(model.z, z, 0))
    low = where(y < 1.0, y, one(y))
    yy = low * low
    W = 0.0625 * yy * (15.0 + yy * (yy - 5.0)) + (y - low)
    return static(model, numbers) * number(model, numbers + DEFLECTION) * W


@generic
def power(model: Any, integers: int, numbers: int, z: int) -> Any:
    """F_s w u (1 - s) g, and what damping takes."""
    u, y = load(model.u, place(model, integers), 0), load(model.z, z, 0)
    s, g = bending(y, u), falling(model, numbers, size_of(u) / number(model, numbers + TRANSITION))
    return (static(model, numbers) * limited(y) * (1.0 - s) * g + damping(model, numbers, y, u)) * u


@generic
def drag(model: Any, integers: int, numbers: int) -> Any:
    """-f of "stribeck"."""
    u = load(model.u, place(model, integers), 0)
    v = u / number(model, numbers + TRANSITION)
    return static(model, numbers) * falling(model, numbers, size_of(v)) * limited(v) + number(model, numbers + VISCOUS) * u


@generic
def add_drag(model: Any, integers: int, numbers: int) -> None:
    """f of "stribeck" on the mobility."""
    push(model, place(model, integers), -drag(model, integers, numbers))


@generic
def power_of_drag(model: Any, integers: int, numbers: int) -> Any:
    """-f u."""
    return drag(model, integers, numbers) * load(model.u, place(model, integers), 0)


bristle = by_address(add, energy, power, with_z=True)
stribeck = by_address(add_drag, power=power_of_drag)


class MobilityDryFriction(OnMobility):
    """Dry friction of one mobility, as of a joint's bearing: it holds up to static friction, and slides at dynamic friction.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_u : int
        The number of the mobility among the mobilizer's, from 0.
    friction_force : float
        Dynamic (Coulomb) friction, zero or more: MJCF's ``frictionloss``, the ``friction`` of URDF's ``<dynamics>``. It is a
        torque where u is an angle's rate.
    static_friction_ratio : float
        Static friction over dynamic friction, 1 or more.
    viscous_friction : float
        Generalized force by generalized speed besides, zero or more.
    friction : {"bristle", "stribeck"}
        The law. Bristles stick: under a load below static friction the mobility gives by part of *deflection*, as a spring, and
        stays there. Stribeck's is a function of the speed, without memory: what should stick creeps, by up to half of
        *transition_velocity*.
    deflection : float
        How far the bristle gives before it slides, above zero; of the coordinate's own unit. The less, the shorter are steps
        while it sticks. Stribeck's law does without.
    transition_velocity : float
        The speed up to which friction is static; at three times as much it is dynamic. Above zero; the bristle's damping
        follows from it, too.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the mobility no integer, *friction* neither law, or a number not finite or out of its
        range.
    IndexError
        If the mobilizer has no such mobility.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    The bristle is one z of the state, its deflection over *deflection*, which begins at zero. Its energy, at most
    0.94 times static friction times *deflection*, is part of the potential energy. Integrators that choose their steps find by
    their error where it sticks and slides; with fixed steps a reversal comes late by what it slid in the step in which it
    began. A load that sets in at once bends the bristle by up to twice what it does in the end, so that more than half of
    static friction may start it.

    `contact.JointFriction` is for `integrator.TimeStepping`: rigid, of a normal force that may be a function of the state.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> block = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    >>> friction = mb.force.MobilityDryFriction(forces, block, 0, 10.0, deflection=1e-4)
    >>> state = system.realize_topology()
    >>> block.set_rate(state, 1.0)
    >>> trajectory = mb.simulate(system, state, 1.0, accuracy=1e-6)
    >>> f"{trajectory.q[-1, 0]:.2f}"  # m v^2 / (2 F)
    '0.10'
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_u: int,
        friction_force: float,
        *,
        static_friction_ratio: float = 1.0,
        viscous_friction: float = 0.0,
        friction: str = "bristle",
        deflection: float = 1e-3,
        transition_velocity: float = 0.05,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        checks.among("friction", friction, ("bristle", "stribeck"), ModelError)
        #: The law, ``"bristle"`` or ``"stribeck"``.
        self.friction = friction
        self.num_z, self.reads_z = (1, True) if friction == "bristle" else (0, False)
        self._connect(
            forces,
            mobod,
            which_u,
            disabled_by_default,
            name,
            friction_force=friction_force,
            static_friction_ratio=static_friction_ratio,
            viscous_friction=viscous_friction,
            deflection=deflection,
            transition_velocity=transition_velocity,
        )

    get_default_friction_force, set_default_friction_force, get_friction_force, set_friction_force = parameters.scalar(
        "friction_force", "generalized force", checks.not_negative, "the dynamic friction"
    ).accessors()
    (
        get_default_static_friction_ratio,
        set_default_static_friction_ratio,
        get_static_friction_ratio,
        set_static_friction_ratio,
    ) = parameters.scalar("static_friction_ratio", "", checks.one_or_more, "static friction over dynamic friction").accessors()
    get_default_viscous_friction, set_default_viscous_friction, get_viscous_friction, set_viscous_friction = parameters.scalar(
        "viscous_friction", "generalized force by generalized speed", checks.not_negative, "the viscous friction"
    ).accessors()
    get_default_deflection, set_default_deflection, get_deflection, set_deflection = parameters.scalar(
        "deflection", "coordinate", checks.positive, "the deflection at which it slides"
    ).accessors()
    get_default_transition_velocity, set_default_transition_velocity, get_transition_velocity, set_transition_velocity = (
        parameters.scalar(
            "transition_velocity", "generalized speed", checks.positive, "the speed up to which friction is static"
        ).accessors()
    )

    @property
    def routine(self) -> Routine:  # type: ignore[override]
        return bristle if self.num_z else stribeck

    def get_bristle_deflection(self, state: State) -> float:
        """Deflection of the bristle in this state, in the coordinate's unit; zero of Stribeck's law. Needs MODEL."""
        deflection = self.get_deflection(state)
        return deflection * float(state.z[self.first_z]) if self.num_z else 0.0

    def set_bristle_deflection(self, state: State, deflection: float) -> None:
        """Bend the bristle; the state falls to VELOCITY at most.

        Raises
        ------
        ModelError
            If it is not finite, or the law is Stribeck's, which has none.
        """
        bent = checks.finite(f"deflection of {self._name!r}", deflection) / self.get_deflection(state)
        if not self.num_z:
            raise ModelError(f"set_bristle_deflection: {self._name!r} has no bristle; its friction is 'stribeck'")
        state.upd_z()[self.first_z] = bent
