"""ExponentialSpring: a point of a body above a plane of Ground, pushed off by a force that grows as an exponential function.

In the plane's frame P, whose z is its normal: height h and velocity v_z, position p and velocity v in the plane.
z of the element: e (2), the elastic anchor from the point; s, how far the point slides

f_e = d1 exp(-d2 (h - d0))   f_n = min(max(f_e (1 - c_z v_z), 0), f_max)
mu  = mu_s - s (mu_s - mu_k)   limit = mu f_n   |f| > limit is scaled down to it:
f_1 = [-c v]   f_2 = a (k e - c v), a = min(1, limit / |k e - c v|)
f   = s f_1 + (1 - s) f_2

b   = 1 - a (1 - s), the part in which the anchor is let go   w = b (v - e / t), the anchor's velocity
e'  = w - v   s' = (S(|w| / v_s) - s) / t   S(y) = y^3 (10 - 15 y + 6 y^2) up to y = 1, then 1

PE  = integral of min(f_e, f_max) + 1/2 k e.e
power dissipated = (min(f_e, f_max) - f_n) v_z + (1 - b) c v.v - s f_1 . v + b k e.e / t, every term zero or more

Sources: Anderson and Pandy 1999, Comput. Methods Biomech. Biomed. Engin. 2, 201, and the documentation of
ExponentialSpringForce in Simbody 3.8. There anchor and s are set anew after each step, to what a step of length t makes of
them; here they are integrated, so that neither motion nor energy depends on the steps. The rates of e and s are ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.arrays import Array
from ..algebra.memory import add_spatial, load3, load9, load_spatial
from ..algebra.order import smaller
from ..algebra.scalar import exp, load, log, one, sqrt, store, where, zero
from ..compiling import generic
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.state import State
from ..value import Transform, checks
from ..value.stage import Stage
from .base import Force, body_index
from .pools import number, numbers3, numbers9
from .routines import by_address
from .subsystem import GeneralForceSubsystem

#: Where the numbers begin: the plane's frame (rotation by rows, then origin), the station, d0 d1 d2, and one each.
FRAME, STATION, SHAPE = 0, 12, 15
NORMAL_VISCOSITY, LIMIT, ELASTICITY, VISCOSITY, SETTLE, TIME, STATIC, KINETIC = 18, 19, 20, 21, 22, 23, 24, 25
#: Exponents beyond this, at heights far below any at which the force is not limited, count as this: nothing overflows.
STEEPEST = 300.0


@generic
def place(model: Any, integers: int, numbers: int) -> Any:
    """The body, R_GP, the station from the body's origin in Ground, its place in Ground, and its place in P."""
    b = model.force_integers[integers]
    R = numbers9(model, numbers + FRAME)
    arm = mat33.mul_vec(load9(model.R_GB, b, 0), numbers3(model, numbers + STATION))
    at = vec3.add(load3(model.p_GB, b, 0), arm)
    return b, R, arm, at, mat33.transpose_mul_vec(R, vec3.sub(at, numbers3(model, numbers + FRAME + 9)))


@generic
def elastic(model: Any, numbers: int, h: Any) -> Any:
    """f_e at a height, and its exponent."""
    d0, d1, d2 = numbers3(model, numbers + SHAPE)
    y = -d2 * (h - d0)
    y = where(y < STEEPEST, y, zero(y) + STEEPEST)
    return d1 * exp(y), y


@generic
def normal_force(model: Any, numbers: int, h: Any, v: Any) -> Any:
    """f_n and min(f_e, f_max)."""
    f_e = elastic(model, numbers, h)[0]
    most = number(model, numbers + LIMIT)
    f = f_e * (1.0 - number(model, numbers + NORMAL_VISCOSITY) * v)
    return smaller(where(f > 0.0, f, zero(f)), most), smaller(f_e, most)


@generic
def scaled(x: Any, y: Any, limit: Any) -> Any:
    """min(1, limit / |(x, y)|), for a limit that is zero or more."""
    xx = x * x + y * y
    too_much = xx > limit * limit
    return where(too_much, limit / sqrt(where(too_much, xx, one(xx))), one(xx))


@generic
def sliding(model: Any, z: int) -> Any:
    """s, held between 0 and 1."""
    s = load(model.z, z + 2, 0)
    return where(s > 0.0, smaller(s, one(s)), zero(s))


@generic
def friction(model: Any, numbers: int, z: int, f_n: Any, u: Any, v: Any) -> Any:
    """Of a velocity (u, v) in the plane: a; f_1; f_2's elastic and viscous parts; e; s; limit."""
    k, c = number(model, numbers + ELASTICITY), number(model, numbers + VISCOSITY)
    static, kinetic = number(model, numbers + STATIC), number(model, numbers + KINETIC)
    s = sliding(model, z)
    limit = (static - s * (static - kinetic)) * f_n
    e = load(model.z, z, 0), load(model.z, z + 1, 0)
    held = scaled(c * u, c * v, limit)
    f_1 = -held * c * u, -held * c * v
    a = scaled(k * e[0] - c * u, k * e[1] - c * v, limit)
    return a, f_1, (a * k * e[0], a * k * e[1]), (-a * c * u, -a * c * v), e, s, limit


@generic
def motion(model: Any, integers: int, numbers: int) -> Any:
    """The body, R_GP, arm, place in Ground, place in P and velocity in P of the station."""
    b, R, arm, at, p = place(model, integers, numbers)
    w, v = load_spatial(model.V_GB, b)
    return b, R, arm, at, p, mat33.transpose_mul_vec(R, vec3.add(v, vec3.cross(w, arm)))


@generic
def blend(s: Any, f_1: Any, f_2: Any, f_3: Any) -> Any:
    """s f_1 + (1 - s)(f_2 + f_3), for two components."""
    kept = 1.0 - s
    return s * f_1[0] + kept * (f_2[0] + f_3[0]), s * f_1[1] + kept * (f_2[1] + f_3[1])


@generic
def add(model: Any, integers: int, numbers: int, z: int) -> None:
    """The force on the body and on Ground, and the rates of e and s."""
    b, R, arm, at, p, v = motion(model, integers, numbers)
    f_n, _ = normal_force(model, numbers, p[2], v[2])
    a, f_1, f_2, f_3, e, s, _ = friction(model, numbers, z, f_n, v[0], v[1])
    f = blend(s, f_1, f_2, f_3)
    F = mat33.mul_vec(R, (f[0], f[1], f_n))
    add_spatial(model.body_forces, b, vec3.cross(arm, F), F)
    G = vec3.neg(F)
    add_spatial(model.body_forces, 0, vec3.cross(at, G), G)
    t, speed = number(model, numbers + TIME), number(model, numbers + SETTLE)
    go = 1.0 - a * (1.0 - s)
    w = go * (v[0] - e[0] / t), go * (v[1] - e[1] / t)
    store(model.z_dot, z, 0, w[0] - v[0])
    store(model.z_dot, z + 1, 0, w[1] - v[1])
    yy = (w[0] * w[0] + w[1] * w[1]) / (speed * speed)
    slow = yy < 1.0
    inside = where(yy > 0.0, where(slow, yy, one(yy)), one(yy))  # the root has no slope at zero
    y = sqrt(inside)
    S = where(slow, where(yy > 0.0, inside * y * (10.0 - 15.0 * y + 6.0 * inside), zero(y)), one(y))
    store(model.z_dot, z + 2, 0, (S - load(model.z, z + 2, 0)) / t)


@generic
def energy(model: Any, integers: int, numbers: int, z: int) -> Any:
    """The integral of min(f_e, f_max) from the height up, and 1/2 k e.e."""
    h = place(model, integers, numbers)[4][2]
    f, _ = elastic(model, numbers, h)
    d2, most = number(model, numbers + SHAPE + 2), number(model, numbers + LIMIT)
    limited = f > most
    below = h - number(model, numbers + SHAPE)  # from d0, where f_e is d1
    yield_at = -log(most / number(model, numbers + SHAPE + 1)) / d2
    deep = most / d2 + most * (yield_at - below)
    e = load(model.z, z, 0), load(model.z, z + 1, 0)
    return where(limited, deep, f / d2) + 0.5 * number(model, numbers + ELASTICITY) * (e[0] * e[0] + e[1] * e[1])


@generic
def power(model: Any, integers: int, numbers: int, z: int) -> Any:
    """Power that viscosity, sliding and the anchor that is let go turn into heat."""
    _, _, _, _, p, v = motion(model, integers, numbers)
    f_n, f_e = normal_force(model, numbers, p[2], v[2])
    a, f_1, _, _, e, s, _ = friction(model, numbers, z, f_n, v[0], v[1])
    kept = a * (1.0 - s)
    viscous = kept * number(model, numbers + VISCOSITY) * (v[0] * v[0] + v[1] * v[1]) - s * (f_1[0] * v[0] + f_1[1] * v[1])
    let_go = (1.0 - kept) * number(model, numbers + ELASTICITY) * (e[0] * e[0] + e[1] * e[1]) / number(model, numbers + TIME)
    return (f_e - f_n) * v[2] + viscous + let_go


class ExponentialSpring(Force):
    """Contact of one point of a body with a plane of Ground, which sticks where it does not slide.

    Parameters
    ----------
    X_GP : Transform
        The plane's frame P in Ground: its x and y axes lie in the plane, z points out of what is solid.
    body : MobilizedBody
        The body of the point.
    station : (3,) array_like
        The point, in the body; length.
    static_friction, kinetic_friction : float
        Coefficients of friction at rest and while sliding, the second not above the first; zero or more.
    shape_parameters : (3,) array_like
        d0, length; d1, force, above zero; d2, 1/length, above zero: the force is d1 at the height d0, and e times that 1/d2
        below.
    normal_viscosity : float
        c_z, 1/velocity; zero or more.
    max_normal_force : float
        Above zero; force. Where it acts, the point yields.
    friction_elasticity : float
        k, of the spring to the anchor, above zero; force/length.
    friction_viscosity : float
        c, of the damper beside it, zero or more; force/velocity.
    settle_velocity : float
        v_s, the speed of the anchor from which on the point slides wholly; above zero.
    relaxation_time : float
        t, in which an anchor that is let go, and s, follow; above zero, time.

    Raises
    ------
    TypeError, ValueError
        If the body or the frame is none, or a number not finite or out of its range.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    The force is never zero, and never looks for contact: with the defaults, which are Simbody's and in newtons, metres and
    seconds, it is 0.01 N at a height of 1 cm. A point that rests under a force below static friction does not drift: anchor
    and point stay where they are. One that slides is held by viscosity alone, up to kinetic friction, and comes to rest where
    the load on it is below c v_s.

    Its three z are named after it: the anchor's place from the point along the plane's x and y, which begin at zero (the
    anchor is where the point is), and s, which begins at 0, as of a point that does not slide. All methods that give forces
    count them as they act on the body, in Ground unless told otherwise.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> mass = mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))
    >>> foot = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mass))
    >>> spring = mb.force.ExponentialSpring(forces, mb.Transform(), foot, (0, 0, 0), static_friction=0.9)
    >>> state = system.realize_topology()
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> bool(spring.get_normal_force_elastic_part(state)[2] > 1000.0)
    True
    """

    routine = by_address(add, energy, power, with_z=True)
    reads_z = True
    num_z = 3

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        X_GP: Transform | npt.ArrayLike,
        body: MobilizedBody,
        station: npt.ArrayLike,
        *,
        static_friction: float = 0.7,
        kinetic_friction: float = 0.5,
        shape_parameters: npt.ArrayLike = (0.0065905, 0.5336, 1150.0),
        normal_viscosity: float = 0.5,
        max_normal_force: float = 100_000.0,
        friction_elasticity: float = 20_000.0,
        friction_viscosity: float = 282.842712474619,
        settle_velocity: float = 0.01,
        relaxation_time: float = 0.005,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        bodies = [body_index(forces, "body", body)]
        numbers = self.declared(
            name,
            X_GP=X_GP,
            station=station,
            shape_parameters=shape_parameters,
            normal_viscosity=normal_viscosity,
            max_normal_force=max_normal_force,
            friction_elasticity=friction_elasticity,
            friction_viscosity=friction_viscosity,
            settle_velocity=settle_velocity,
            relaxation_time=relaxation_time,
            static_friction=static_friction,
            kinetic_friction=kinetic_friction,
        )
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = bodies, numbers

    def reach(self) -> tuple[list[int], list[int]]:
        return [0, *self.default_integers[:1]], []

    def get_body(self) -> MobilizedBody:
        """The body of the point."""
        return self._body(0)

    (
        get_default_contact_plane_transform,
        set_default_contact_plane_transform,
        get_contact_plane_transform,
        set_contact_plane_transform,
    ) = parameters.frame("contact_plane_transform", "the plane's frame, in Ground", argument="X_GP").accessors()
    get_default_station, set_default_station, get_station, set_station = parameters.vector(
        "station", "length", "the point, in its body"
    ).accessors()
    get_default_shape_parameters, set_default_shape_parameters, get_shape_parameters, set_shape_parameters = parameters.vector(
        "shape_parameters", "", "d0, d1 and d2 of the exponential function"
    ).accessors()
    get_default_normal_viscosity, set_default_normal_viscosity, get_normal_viscosity, set_normal_viscosity = parameters.scalar(
        "normal_viscosity", "1/velocity", checks.not_negative, "the viscosity of the normal force"
    ).accessors()
    get_default_max_normal_force, set_default_max_normal_force, get_max_normal_force, set_max_normal_force = parameters.scalar(
        "max_normal_force", "force", checks.positive, "the largest normal force"
    ).accessors()
    get_default_friction_elasticity, set_default_friction_elasticity, get_friction_elasticity, set_friction_elasticity = (
        parameters.scalar(
            "friction_elasticity", "force/length", checks.positive, "the elasticity of the friction spring"
        ).accessors()
    )
    get_default_friction_viscosity, set_default_friction_viscosity, get_friction_viscosity, set_friction_viscosity = (
        parameters.scalar(
            "friction_viscosity", "force/velocity", checks.not_negative, "the viscosity of the friction spring"
        ).accessors()
    )
    get_default_settle_velocity, set_default_settle_velocity, get_settle_velocity, set_settle_velocity = parameters.scalar(
        "settle_velocity", "velocity", checks.positive, "the anchor's speed from which on the point slides wholly"
    ).accessors()
    get_default_relaxation_time, set_default_relaxation_time, get_relaxation_time, set_relaxation_time = parameters.scalar(
        "relaxation_time", "time", checks.positive, "the time in which anchor and sliding follow"
    ).accessors()
    get_default_static_friction, set_default_static_friction, get_static_friction, set_static_friction = parameters.scalar(
        "static_friction", "", checks.not_negative, "the coefficient of friction at rest"
    ).accessors()
    get_default_kinetic_friction, set_default_kinetic_friction, get_kinetic_friction, set_kinetic_friction = parameters.scalar(
        "kinetic_friction", "", checks.not_negative, "the coefficient of friction while sliding"
    ).accessors()

    @staticmethod
    def settle(whose: str, numbers: list[float]) -> None:
        d1, d2 = numbers[SHAPE + 1 : SHAPE + 3]
        if not checks.hold((d1 > 0.0) & (d2 > 0.0)):
            raise ModelError(f"d1 and d2 of shape_parameters of {whose} have to be positive, got {d1:g} and {d2:g}")
        if not checks.hold(numbers[KINETIC] <= numbers[STATIC]):
            raise ModelError(
                f"kinetic_friction of {whose} has to be from zero to its static_friction, which is {numbers[STATIC]:g}; "
                f"got {numbers[KINETIC]:g}"
            )

    # ------------------------------------------------------------------------------------------ anchor and sliding

    def get_sliding(self, state: State) -> float:
        """Sliding of the point, from 0, it sticks, to 1; needs MODEL."""
        return float(np.clip(self._own_z(state, "get_sliding")[2], 0.0, 1.0))

    def set_sliding(self, state: State, sliding: float) -> None:
        """Change how far the point slides; the state falls to VELOCITY at most."""
        s = checks.between(f"sliding of {self._name!r}", sliding, 0.0, 1.0)
        e = self._own_z(state, "set_sliding")[:2]
        state.upd_z()[self.first_z : self.first_z + 3] = [*e, s]

    def reset_anchor_point(self, state: State) -> None:
        """Put the anchor where the point is, so that the spring is not stretched; the state falls to VELOCITY at most."""
        self._own_z(state, "reset_anchor_point")
        state.upd_z()[self.first_z : self.first_z + 2] = 0.0

    def get_anchor_point_position(self, state: State, in_ground: bool = True) -> Array:
        """Location of the anchor in the plane, ``(3,)``, length; in Ground, or in the plane's frame. Needs POSITION."""
        p = self._at(state, "get_anchor_point_position")[4]
        e = self._own_z(state, "get_anchor_point_position")
        anchor = np.array([p[0] + e[0], p[1] + e[1], 0.0])
        return np.asarray(self.get_contact_plane_transform(state) @ anchor) if in_ground else anchor

    def _own_z(self, state: State, asked: str) -> Array:
        self._check(state, asked)
        return state.z[self.first_z : self.first_z + 3]

    # ------------------------------------------------------------------------------------------ what it is made of

    def get_normal_force_elastic_part(self, state: State, in_ground: bool = True) -> Array:
        """The normal force less its viscous part, ``(3,)``. Needs VELOCITY."""
        _, f_e, f = self._normal(state, "get_normal_force_elastic_part")
        most = self.get_max_normal_force(state)
        return self._turned(state, (0.0, 0.0, most - (f - f_e) if f > most else f_e), in_ground)

    def get_normal_force_damping_part(self, state: State, in_ground: bool = True) -> Array:
        """The normal force's viscous part, ``(3,)``; no more than would make the force a pull. Needs VELOCITY."""
        _, f_e, f = self._normal(state, "get_normal_force_damping_part")
        return self._turned(state, (0.0, 0.0, max(f, 0.0) - f_e), in_ground)

    def get_normal_force(self, state: State, in_ground: bool = True) -> Array:
        """The normal force, ``(3,)``. Needs VELOCITY."""
        return self._turned(state, (0.0, 0.0, self._normal(state, "get_normal_force")[0]), in_ground)

    def get_mu(self, state: State) -> float:
        """The coefficient of friction between that of rest and that of sliding; needs MODEL."""
        static = self.get_static_friction(state)
        return static - self.get_sliding(state) * (static - self.get_kinetic_friction(state))

    def get_friction_force_limit(self, state: State) -> float:
        """The largest friction that there can be. Needs VELOCITY."""
        return self.get_mu(state) * self._normal(state, "get_friction_force_limit")[0]

    def get_friction_force_elastic_part(self, state: State, in_ground: bool = True) -> Array:
        """Elastic part of the friction force, of the spring to the anchor ``(3,)``. Needs VELOCITY."""
        _, _, f_2, _, _, s, _ = self._friction(state, "get_friction_force_elastic_part")
        return self._turned(state, ((1.0 - s) * f_2[0], (1.0 - s) * f_2[1], 0.0), in_ground)

    def get_friction_force_damping_part(self, state: State, in_ground: bool = True) -> Array:
        """Viscous part of the friction force ``(3,)``. Needs VELOCITY."""
        _, f_1, _, f_3, _, s, _ = self._friction(state, "get_friction_force_damping_part")
        return self._turned(state, (*blend(s, f_1, (0.0, 0.0), f_3), 0.0), in_ground)

    def get_friction_force(self, state: State, in_ground: bool = True) -> Array:
        """The friction, ``(3,)``. Needs VELOCITY."""
        _, f_1, f_2, f_3, _, s, _ = self._friction(state, "get_friction_force")
        return self._turned(state, (*blend(s, f_1, f_2, f_3), 0.0), in_ground)

    def get_force(self, state: State, in_ground: bool = True) -> Array:
        """The whole force on the body, ``(3,)``. Needs VELOCITY."""
        return self.get_normal_force(state, in_ground) + self.get_friction_force(state, in_ground)

    def get_station_position(self, state: State, in_ground: bool = True) -> Array:
        """Location of the point, ``(3,)``, length; in Ground, or in the plane's frame. Needs POSITION."""
        _, _, _, at, p = self._at(state, "get_station_position")
        return np.array(at if in_ground else p)

    def get_station_velocity(self, state: State, in_ground: bool = True) -> Array:
        """The point's velocity, ``(3,)``. Needs VELOCITY."""
        return self._turned(state, self._moving(state, "get_station_velocity")[5], in_ground)

    def _at(self, state: State, asked: str) -> Any:
        self._check(state, asked)
        state.need_positions(self.get_body(), asked)
        i, _, x, _ = self.span
        return place(state.record, i, x)

    def _moving(self, state: State, asked: str) -> Any:
        self._check(state, asked)
        if state.stage_number < Stage.VELOCITY:
            state.refuse(asked, Stage.VELOCITY)
        i, _, x, _ = self.span
        return motion(state.record, i, x)

    def _normal(self, state: State, asked: str) -> tuple[float, float, float]:
        """f_n, f_e, and the force before it is limited."""
        _, _, _, _, p, v = self._moving(state, asked)
        x = self.span[2]
        f_e = float(elastic(state.record, x, p[2])[0])
        return float(normal_force(state.record, x, p[2], v[2])[0]), f_e, f_e * (1.0 - self.get_normal_viscosity(state) * v[2])

    def _friction(self, state: State, asked: str) -> Any:
        _, _, _, _, p, v = self._moving(state, asked)
        record, x = state.record, self.span[2]
        return friction(record, x, self.first_z, normal_force(record, x, p[2], v[2])[0], v[0], v[1])

    def _turned(self, state: State, v: Any, in_ground: bool) -> Array:
        """A vector of the plane's frame, there or in Ground."""
        found = np.array([float(x) for x in v])
        return np.asarray(self.get_contact_plane_transform(state).R @ found) if in_ground else found
