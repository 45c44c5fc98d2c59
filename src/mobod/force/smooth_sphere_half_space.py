"""SmoothSphereHalfSpace: a sphere and a half-space that push and rub each other, without a corner; for optimization.

n the half-space's outward normal   h = (p - p_H) . n of the sphere's center p   x = R - h the depth
v of the sphere's body from the half-space's, at p - (R - x/2) n   x_dot = -v . n   v_t = v + x_dot n

S(y) = (1 + tanh y) / 2   k = E^(2/3) / 2
f_H = 4/3 k sqrt(R k) (x^2 + c_f)^(3/4) S(b_d x)
f   = f_H (1 + 3/2 c x_dot) S(b_v (x_dot + 2 / (3 c)))
s   = sqrt(v_t . v_t + c_f)   r = s / v_t0
mu  = min(r, 1) (mu_d + 2 (mu_s - mu_d) / (1 + r^2)) + mu_v s
F   = f n - f mu v_t / s on the sphere, at that point; the opposite on the half-space
PE  = 2/5 f_H x   power dissipated = -F . v - d PE/dt

Source: Serrancoli, Falisse et al. 2019, IEEE TNSRE 27, 1580, as it is in Simbody 3.7, whose half-space is solid at x > 0 of
its frame. The friction is that of Hollars. The energy is not the integral of the force, nor is the force zero before they
touch.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.memory import add_spatial, load3, load9, load_spatial
from ..algebra.scalar import exp, one, sqrt, where
from ..compiling import generic
from ..contact.material import Material
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.of_each import Present, Rows, numbers_at, of_each
from ..state.state import State
from ..value import Transform, checks, rows
from .base import Force, body_index
from .pools import number, numbers3
from .routines import by_address
from .subsystem import GeneralForceSubsystem

#: Where the numbers begin: center and radius of the sphere, the frame of the half-space (rotation by rows, then origin).
CENTER, RADIUS, FRAME = 0, 3, 4
STIFFNESS, DISSIPATION, STATIC, DYNAMIC, VISCOUS = 16, 17, 18, 19, 20
TRANSITION, CONSTANT, HERTZ, HUNT_CROSSLEY = 21, 22, 23, 24


@generic
def smooth_step(y: Any) -> Any:
    """S, whose exponential is of a number below zero: no y is too large for it."""
    e = exp(where(y > 0.0, -2.0 * y, 2.0 * y))
    return where(y > 0.0, one(e), e) / (1.0 + e)


@generic
def geometry(model: Any, integers: int, numbers: int) -> Any:
    """The two bodies, n, x, and the point of application from the origin of each body; in Ground."""
    b1, b2 = model.force_integers[integers], model.force_integers[integers + 1]
    R1, R2 = load9(model.R_GB, b1, 0), load9(model.R_GB, b2, 0)
    H = numbers + FRAME
    n = mat33.mul_vec(R2, (number(model, H + 2), number(model, H + 5), number(model, H + 8)))
    s1 = mat33.mul_vec(R1, numbers3(model, numbers + CENTER))
    s2 = mat33.mul_vec(R2, numbers3(model, H + 9))
    apart = vec3.sub(load3(model.p_GB, b1, 0), load3(model.p_GB, b2, 0))
    R = number(model, numbers + RADIUS)
    x = R - vec3.dot(vec3.sub(vec3.add(apart, s1), s2), n)
    arm1 = vec3.add_scaled(s1, 0.5 * x - R, n)
    return b1, b2, n, x, arm1, vec3.add(apart, arm1)


@generic
def hertz(model: Any, numbers: int, x: Any) -> Any:
    """f_H and its slope by x."""
    b = number(model, numbers + HERTZ)
    y = x * x + number(model, numbers + CONSTANT)
    root = sqrt(y)
    k = number(model, numbers + STIFFNESS) * sqrt(number(model, numbers + RADIUS))
    f = 0.47140452079103168 * k * root * sqrt(root)  # 4/3 (1/2)^(3/2)
    S = smooth_step(b * x)
    return f * S, f * (1.5 * x / y * S + 2.0 * b * S * (1.0 - S))


@generic
def contact(model: Any, integers: int, numbers: int) -> Any:
    """The two bodies, the arms, F on the sphere, v, x and x_dot."""
    b1, b2, n, x, arm1, arm2 = geometry(model, integers, numbers)
    w1, v1 = load_spatial(model.V_GB, b1)
    w2, v2 = load_spatial(model.V_GB, b2)
    v = vec3.sub(vec3.add(v1, vec3.cross(w1, arm1)), vec3.add(v2, vec3.cross(w2, arm2)))
    x_dot = -vec3.dot(v, n)
    c = number(model, numbers + DISSIPATION)
    loses = c > 0.0
    S = smooth_step(number(model, numbers + HUNT_CROSSLEY) * (x_dot + 2.0 / (3.0 * where(loses, c, one(c)))))
    f = hertz(model, numbers, x)[0] * (1.0 + 1.5 * c * x_dot) * where(loses, S, one(S))
    across = vec3.add_scaled(v, x_dot, n)
    s = sqrt(vec3.dot(across, across) + number(model, numbers + CONSTANT))
    rub = f * friction(model, numbers, s) / s
    F = vec3.add_scaled(vec3.scale(f, n), -rub, across)
    return b1, b2, arm1, arm2, F, v, x, x_dot


@generic
def friction(model: Any, numbers: int, s: Any) -> Any:
    """The coefficient mu at a sliding speed s."""
    r = s / number(model, numbers + TRANSITION)
    static, dynamic = number(model, numbers + STATIC), number(model, numbers + DYNAMIC)
    dry = where(r < 1.0, r, one(r)) * (dynamic + 2.0 * (static - dynamic) / (1.0 + r * r))
    return dry + number(model, numbers + VISCOUS) * s


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """F on the sphere, and the opposite on the half-space."""
    b1, b2, arm1, arm2, F, _, _, _ = contact(model, integers, numbers)
    add_spatial(model.body_forces, b1, vec3.cross(arm1, F), F)
    G = vec3.neg(F)
    add_spatial(model.body_forces, b2, vec3.cross(arm2, G), G)


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """2/5 f_H x."""
    x = geometry(model, integers, numbers)[3]
    return 0.4 * hertz(model, numbers, x)[0] * x


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """-F . v - d PE/dt."""
    _, _, _, _, F, v, x, x_dot = contact(model, integers, numbers)
    f, slope = hertz(model, numbers, x)
    return -vec3.dot(F, v) - 0.4 * (f + slope * x) * x_dot


def _materials_of_each(element: Any, template: State, values: Any, present: Present) -> Rows | None:
    """Of materials, or of their five numbers in the order of `Material`."""
    if not isinstance(values, np.ndarray) and all(isinstance(one, Material) for one in values):
        values = [list(_five(one, None).values()) for one in values]
    array = rows.as_array(values)
    if array is None or array.shape[1:] != (5,) or rows.not_negative(array) is None:
        return None
    if not (array[:, 0] > 0.0).all() or (array[:, 3] > array[:, 2]).any():
        return None
    field, first, _ = element.number_place(template, "set_material")
    return numbers_at(field, first + STIFFNESS, array, 5)


def _by_five(setter: Any, state: State, value: Any) -> None:
    setter(state, Material(*value) if isinstance(value, np.ndarray) else value)


class SmoothSphereHalfSpace(Force):
    """A sphere on one body and a half-space on another, by a law of contact that is smooth everywhere but at one sliding speed.

    Parameters
    ----------
    sphere_body : MobilizedBody
        The body of the sphere.
    center : (3,) array_like
        The sphere's center in its body; length.
    radius : float
        Above zero; length.
    half_space_body : MobilizedBody
        The body of the half-space, which may be Ground.
    X_BH : Transform
        The half-space's frame H in its body: what is solid is below the plane z = 0 of H.
    material : mobod.contact.Material
        That of both; of two equal materials E the law makes E/sqrt(8), as the reference does.
    transition_velocity : float
        The sliding speed from which on friction is that of sliding; above zero.
    constant_contact_force : float
        c_f, which is added to the squares of depth and sliding speed to keep derivatives finite; above zero.
    hertz_smoothing : float
        b_d, one over the depth over which the force sets in; above zero.
    hunt_crossley_smoothing : float
        b_v, one over the speed over which a parting sphere's force ends; above zero.

    Raises
    ------
    TypeError, ValueError
        If a body, frame or material is none, or a number not finite or out of its range.
    TopologyError
        If a body belongs to another system.

    Notes
    -----
    The force acts at the middle of the overlap. It is not zero before they touch (at a depth -x it is about exp(-2 b_d x) of
    what it would be at x), and the potential energy is the formula of the reference, not the integral of the force: below zero
    there, and by some percent of f_H x off within a few 1/b_d of touching. What it dissipates is the power that it takes less
    the change of that energy, so that accounts of energy close; it can therefore be below zero by the error of the formula.
    Below the transition velocity friction is that of a damper: what should stick creeps.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> mass = mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))
    >>> ball = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mass))
    >>> rubber = mb.contact.Material(1e6, 0.5, static_friction=0.9)
    >>> floor = mb.Transform()
    >>> contact = mb.force.SmoothSphereHalfSpace(forces, ball, (0, 0, 0), 0.1, matter.ground, floor, rubber)
    >>> state = system.realize_topology()
    >>> ball.set_translation(state, (0, 0, 0.09))
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> body_forces, _, _ = contact.calc_force_contribution(state)
    >>> bool(body_forces[1, 1, 2] > 100.0)
    True
    """

    acts_between = True
    routine = by_address(add, energy, power)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        sphere_body: MobilizedBody,
        center: npt.ArrayLike,
        radius: float,
        half_space_body: MobilizedBody,
        X_BH: Transform | npt.ArrayLike,
        material: Material,
        *,
        transition_velocity: float = 0.01,
        constant_contact_force: float = 1e-5,
        hertz_smoothing: float = 300.0,
        hunt_crossley_smoothing: float = 50.0,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        bodies = [body_index(forces, "sphere_body", sphere_body), body_index(forces, "half_space_body", half_space_body)]
        numbers = self.declared(
            name,
            center=center,
            radius=radius,
            X_BH=X_BH,
            **_five(material, name),
            transition_velocity=transition_velocity,
            constant_contact_force=constant_contact_force,
            hertz_smoothing=hertz_smoothing,
            hunt_crossley_smoothing=hunt_crossley_smoothing,
        )
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = bodies, numbers

    def reach(self) -> tuple[list[int], list[int]]:
        return self.default_integers[:2], []

    def get_body_sphere(self) -> MobilizedBody:
        """The body of the sphere."""
        return self._body(0)

    def get_body_half_space(self) -> MobilizedBody:
        """The body of the half-space."""
        return self._body(1)

    get_default_center, set_default_center, get_center, set_center = parameters.vector(
        "center", "length", "the sphere's center, in its body"
    ).accessors()
    get_default_radius, set_default_radius, get_radius, set_radius = parameters.scalar(
        "radius", "length", checks.positive, "the sphere's radius"
    ).accessors()
    (
        get_default_contact_half_space_frame,
        set_default_contact_half_space_frame,
        get_contact_half_space_frame,
        set_contact_half_space_frame,
    ) = parameters.frame("contact_half_space_frame", "the half-space's frame, in its body", argument="X_BH").accessors()
    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.scalar(
        "stiffness", "pressure by strain", checks.positive, "the material's stiffness"
    ).accessors()
    get_default_dissipation, set_default_dissipation, get_dissipation, set_dissipation = parameters.scalar(
        "dissipation", "1/velocity", checks.not_negative, "the material's dissipation"
    ).accessors()
    get_default_static_friction, set_default_static_friction, get_static_friction, set_static_friction = parameters.scalar(
        "static_friction", "", checks.not_negative, "the coefficient of friction at the onset of sliding"
    ).accessors()
    get_default_dynamic_friction, set_default_dynamic_friction, get_dynamic_friction, set_dynamic_friction = parameters.scalar(
        "dynamic_friction", "", checks.not_negative, "the coefficient of friction while sliding"
    ).accessors()
    get_default_viscous_friction, set_default_viscous_friction, get_viscous_friction, set_viscous_friction = parameters.scalar(
        "viscous_friction", "1/velocity", checks.not_negative, "the coefficient of friction that grows with speed"
    ).accessors()
    get_default_transition_velocity, set_default_transition_velocity, get_transition_velocity, set_transition_velocity = (
        parameters.scalar(
            "transition_velocity", "velocity", checks.positive, "the speed from which on friction is that of sliding"
        ).accessors()
    )
    (
        get_default_constant_contact_force,
        set_default_constant_contact_force,
        get_constant_contact_force,
        set_constant_contact_force,
    ) = parameters.scalar(
        "constant_contact_force", "", checks.positive, "what is added to the squares of depth and sliding speed"
    ).accessors()
    get_default_hertz_smoothing, set_default_hertz_smoothing, get_hertz_smoothing, set_hertz_smoothing = parameters.scalar(
        "hertz_smoothing", "1/length", checks.positive, "how steeply the force sets in with depth"
    ).accessors()
    (
        get_default_hunt_crossley_smoothing,
        set_default_hunt_crossley_smoothing,
        get_hunt_crossley_smoothing,
        set_hunt_crossley_smoothing,
    ) = parameters.scalar(
        "hunt_crossley_smoothing", "1/velocity", checks.positive, "how steeply the force of a parting sphere ends"
    ).accessors()

    @staticmethod
    def settle(whose: str, numbers: list[float]) -> None:
        static, dynamic = numbers[STATIC], numbers[DYNAMIC]
        if not checks.hold(dynamic <= static):
            raise ModelError(
                f"dynamic_friction of {whose} has to be from zero to its static_friction, which is {static:g}; got "
                f"{dynamic:g}; set_material changes both at once"
            )

    def get_default_material(self) -> Material:
        """The material, in a default state."""
        return Material(*self.default_numbers[STIFFNESS : VISCOUS + 1])

    def set_default_material(self, material: Material) -> Self:
        """Change the material. A topological change. Returns the force."""
        self.default_numbers[STIFFNESS : VISCOUS + 1] = _five(material, self._name).values()
        self.defaults_changed()
        return self

    def get_material(self, state: State) -> Material:
        """The material, in this state; needs MODEL."""
        return Material(*self.number_run(state, "get_material")[STIFFNESS : VISCOUS + 1].tolist())

    @of_each(_materials_of_each, alone=_by_five)
    def set_material(self, state: State, material: Material) -> None:
        """Change the material in this state, which falls to MODEL at most."""
        five = list(_five(material, self._name).values())
        self.number_run(state, "set_material", True)[STIFFNESS : VISCOUS + 1] = five


def _five(material: Any, name: str | None) -> dict[str, float]:
    """A material's numbers by name, in the order of the places."""
    if not isinstance(material, Material):
        whose = "a SmoothSphereHalfSpace" if name is None else repr(name)
        raise TypeError(f"material of {whose} has to be a mobod.contact.Material, not {material!r}")
    names = ("stiffness", "dissipation", "static_friction", "dynamic_friction", "viscous_friction")
    return {one: getattr(material, one) for one in names}
