"""BoxDrag and EllipsoidDrag: what a still or blowing fluid does to a body, by two simple models.

Source: MuJoCo's documentation of its fluid forces.

w and v are angular and linear velocity, against the fluid, of a frame S on the body, in S; viscosity n, density r.

A box of sides s, D the mean of the sides:
    f_i = -3 pi D n v_i - r/2 s_j s_k |v_i| v_i     t_i = -pi D^3 n w_i - r/64 s_i (s_j^4 + s_k^4) |w_i| w_i

An ellipsoid of semi-axes a, with coefficients of drag (blunt, slender, angular) and lift (Kutta, Magnus), and virtual masses
m and inertias J for a unit of density, V its volume, A the area of its shadow along v, A_max its largest:
    f = r (m v) x w + r V c_M w x v + r c_K A cos (n x v) x v - (3 pi D n + r |v| (c_b A + c_s (A_max - A))) v
    t = r (m v) x v + r (J w) x w - (pi D^3 n + r |diag(c_a I + c_s (I_max - I)) w|) w
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import mat33, vec3
from ..algebra.arrays import ArrayLike
from ..algebra.memory import add_spatial, load9, load_spatial
from ..algebra.scalar import one, sqrt, where
from ..compiling import generic
from ..errors import ModelError
from ..state import parameters
from ..value import Transform, checks
from ..value.frames import frame_or_none
from ._pools import number, numbers3, numbers9
from ._routine import by_address
from .base import Force, body_index

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from .subsystem import GeneralForceSubsystem

PI = float(np.pi)
#: Numbers: viscosity, density, wind, then the frame S, then the kind's own.
FRAME, OWN = 5, 17
#: Those of an ellipsoid: semi-axes, coefficients (blunt, slender, angular, Kutta, Magnus), virtual masses and inertias, A_max,
#: I_max, I, D.
AXES, COEFFICIENTS, MASSES, INERTIAS, A_MAX, I_MAX, I, D = 0, 3, 8, 11, 14, 15, 16, 19


@generic
def local_velocity(model: Any, i: int, x: int) -> Any:
    """R_GS, the place of S from the body's origin in Ground, w and v."""
    b = model.force_integers[i]
    R_GB = load9(model.R_GB, b, 0)
    R_GS, s = mat33.mul(R_GB, numbers9(model, x + FRAME)), mat33.mul_vec(R_GB, numbers3(model, x + FRAME + 9))
    w, v = load_spatial(model.V_GB, b)
    v = vec3.sub(vec3.add(v, vec3.cross(w, s)), numbers3(model, x + 2))
    return R_GS, s, mat33.transpose_mul_vec(R_GS, w), mat33.transpose_mul_vec(R_GS, v)


@generic
def put(model: Any, i: int, R_GS: Any, s: Any, t: Any, f: Any) -> None:
    """A torque and a force in S on the body."""
    push = mat33.mul_vec(R_GS, f)
    add_spatial(model.body_forces, model.force_integers[i], vec3.add(mat33.mul_vec(R_GS, t), vec3.cross(s, push)), push)


@generic
def size(x: Any) -> Any:
    """|x|."""
    return where(x < 0.0, -x, x)


@generic
def norm(v: Any) -> Any:
    """|v|, with a derivative of zero at zero."""
    vv = vec3.dot(v, v)
    some = vv > 0.0
    return where(some, sqrt(where(some, vv, one(vv))), 0.0 * vv)


@generic
def box_wrench(model: Any, x: int, w: Any, v: Any) -> Any:
    """t and f."""
    n, r = number(model, x), number(model, x + 1)
    a, b, c = numbers3(model, x + OWN)
    mean = (a + b + c) / 3.0
    linear, angular = 3.0 * PI * mean * n, PI * mean * mean * mean * n
    a4, b4, c4 = a * a * a * a, b * b * b * b, c * c * c * c
    f = (
        -(linear + 0.5 * r * b * c * size(v[0])) * v[0],
        -(linear + 0.5 * r * a * c * size(v[1])) * v[1],
        -(linear + 0.5 * r * a * b * size(v[2])) * v[2],
    )
    t = (
        -(angular + r / 64.0 * a * (b4 + c4) * size(w[0])) * w[0],
        -(angular + r / 64.0 * b * (a4 + c4) * size(w[1])) * w[1],
        -(angular + r / 64.0 * c * (a4 + b4) * size(w[2])) * w[2],
    )
    return t, f


@generic
def scaled(a: Any, b: Any) -> Any:
    """Component by component."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@generic
def ellipsoid_wrench(model: Any, x: int, w: Any, v: Any) -> Any:
    """t and f."""
    n, r, y = number(model, x), number(model, x + 1), x + OWN
    a = numbers3(model, y + AXES)
    blunt, slender, angular = numbers3(model, y + COEFFICIENTS)
    kutta, magnus = number(model, y + COEFFICIENTS + 3), number(model, y + COEFFICIENTS + 4)
    momentum = vec3.scale(r, scaled(numbers3(model, y + MASSES), v))
    spin = vec3.scale(r, scaled(numbers3(model, y + INERTIAS), w))
    t = vec3.add(vec3.cross(momentum, v), vec3.cross(spin, w))
    f = vec3.cross(momentum, w)
    volume = 4.0 / 3.0 * PI * a[0] * a[1] * a[2]
    f = vec3.add_scaled(f, magnus * r * volume, vec3.cross(w, v))

    areas = (a[1] * a[2], a[2] * a[0], a[0] * a[1])
    squares = scaled(areas, areas)
    normal = scaled(squares, v)
    numerator, denominator = vec3.dot(normal, v), vec3.dot(normal, normal)
    some = numerator > 0.0
    safe = where(some, numerator, one(numerator))
    shadow = PI * norm_ratio(denominator, safe)
    speed = norm(v)
    weight = speed * denominator
    cosine = numerator / where(weight > 0.0, weight, one(weight))
    lift = vec3.scale(kutta * r * cosine * shadow, vec3.cross(normal, v))
    f = vec3.add(f, vec3.cross(lift, v))

    D_mean, A_max = number(model, y + D), number(model, y + A_MAX)
    drag = 3.0 * PI * D_mean * n + r * speed * (blunt * shadow + slender * (A_max - shadow))
    f = vec3.add_scaled(f, -drag, v)
    moments, I_max = numbers3(model, y + I), number(model, y + I_MAX)
    turned = (
        w[0] * (angular * moments[0] + slender * (I_max - moments[0])),
        w[1] * (angular * moments[1] + slender * (I_max - moments[1])),
        w[2] * (angular * moments[2] + slender * (I_max - moments[2])),
    )
    about = PI * D_mean * D_mean * D_mean * n + r * norm(turned)
    return vec3.add_scaled(t, -about, w), f


@generic
def norm_ratio(numerator: Any, denominator: Any) -> Any:
    """The root of a ratio, with a derivative of zero at zero."""
    some = numerator > 0.0
    return where(some, sqrt(where(some, numerator, one(numerator)) / denominator), 0.0 * numerator)


def _make(wrench: Any) -> tuple[Any, Any]:
    @generic
    def add(model: Any, i: int, x: int) -> None:
        R_GS, s, w, v = local_velocity(model, i, x)
        t, f = wrench(model, x, w, v)
        put(model, i, R_GS, s, t, f)

    @generic
    def power(model: Any, i: int, x: int) -> Any:
        R_GS, _, w, v = local_velocity(model, i, x)
        t, f = wrench(model, x, w, v)
        wind = mat33.transpose_mul_vec(R_GS, numbers3(model, x + 2))
        return -vec3.dot(t, w) - vec3.dot(f, vec3.add(v, wind))

    for made in (add, power):
        made.__qualname__ = f"{wrench.__name__}.{made.__name__}"
    return add, power


_box = _make(box_wrench)
_ellipsoid = _make(ellipsoid_wrench)
run_of_box = by_address(_box[0], power=_box[1])
run_of_ellipsoid = by_address(_ellipsoid[0], power=_ellipsoid[1])


class _Drag(Force):
    """What both models share: the fluid, and a frame on a body."""

    def _connect(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        frame: Transform | None,
        fluid: dict[str, Any],
        own: list[float],
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        numbers, b = self.declared(name, **fluid), body_index(forces, "body", body)
        X = frame_or_none("frame", frame)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers = [b]
        self.default_numbers = [*numbers, *np.asarray(X.R).ravel().tolist(), *np.asarray(X.p).tolist(), *own]

    def get_mobilized_body(self) -> MobilizedBody:
        """The body that it acts on."""
        return self._body(0)

    get_default_viscosity, set_default_viscosity, get_viscosity, set_viscosity = parameters.scalar(
        "viscosity", "mass/length/time", checks.not_negative, "the fluid's viscosity"
    ).accessors()
    get_default_density, set_default_density, get_density, set_density = parameters.scalar(
        "density", "mass/length^3", checks.not_negative, "the fluid's density"
    ).accessors()
    get_default_wind, set_default_wind, get_wind, set_wind = parameters.vector(
        "wind", "length/time", "the fluid's velocity, in Ground"
    ).accessors()


class BoxDrag(_Drag):
    """The drag of a fluid on a body, as though it were a box.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    body : MobilizedBody
        The body.
    sides : (3,) array_like
        Of the box, zero or more; length.
    frame : Transform, optional
        The box on the body: its middle, and its axes.
    viscosity, density : float
        Of the fluid, zero or more.
    wind : (3,) array_like
        The fluid's velocity, in Ground.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError, ModelError
        If the body is none, a number not finite, or one below zero that cannot be.
    TopologyError
        If the body belongs to another system.
    """

    routine = run_of_box

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        sides: ArrayLike,
        frame: Transform | None = None,
        *,
        viscosity: float = 0.0,
        density: float = 0.0,
        wind: ArrayLike = (0.0, 0.0, 0.0),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        own = _lengths("sides", sides)
        fluid = {"viscosity": viscosity, "density": density, "wind": wind}
        self._connect(forces, body, frame, fluid, own, disabled_by_default, name)


class EllipsoidDrag(_Drag):
    """Drag, lift and the inertial forces of a fluid on a body, as though it were an ellipsoid.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    body : MobilizedBody
        The body.
    radii : (3,) array_like
        The semi-axes, zero or more; length.
    frame : Transform, optional
        The ellipsoid on the body: its middle, and its axes.
    coefficients : (5,) array_like
        Of blunt drag, slender drag, angular drag, Kutta's lift and Magnus's lift.
    virtual_masses, virtual_inertias : (3,) array_like
        Of the fluid that moves along, for a unit of density; length^3 and length^5. The forces are those at constant velocity:
        what depends on accelerations is left out, as in MuJoCo.
    viscosity, density : float
        Of the fluid, zero or more.
    wind : (3,) array_like
        The fluid's velocity, in Ground.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError, ModelError
        If the body is none, a number not finite, or one below zero that cannot be.
    TopologyError
        If the body belongs to another system.
    """

    routine = run_of_ellipsoid

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        radii: ArrayLike,
        frame: Transform | None = None,
        *,
        coefficients: ArrayLike = (0.5, 0.25, 1.5, 1.0, 1.0),
        virtual_masses: ArrayLike = (0.0, 0.0, 0.0),
        virtual_inertias: ArrayLike = (0.0, 0.0, 0.0),
        viscosity: float = 0.0,
        density: float = 0.0,
        wind: ArrayLike = (0.0, 0.0, 0.0),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        a = _lengths("radii", radii)
        low, middle, high = sorted(a)
        moments = [8.0 / 15.0 * np.pi * a[k] * max(a[k - 1], a[k - 2]) ** 4 for k in range(3)]
        own = [
            *a,
            *checks.array("coefficients", coefficients, (5,)).tolist(),
            *checks.vector("virtual_masses", virtual_masses).tolist(),
            *checks.vector("virtual_inertias", virtual_inertias).tolist(),
            np.pi * high * middle,
            8.0 / 15.0 * np.pi * middle * high**4,
            *moments,
            2.0 / 3.0 * (low + middle + high),
        ]
        fluid = {"viscosity": viscosity, "density": density, "wind": wind}
        self._connect(forces, body, frame, fluid, own, disabled_by_default, name)


def _lengths(name: str, values: ArrayLike) -> list[float]:
    found: list[float] = checks.vector(name, values).tolist()
    if min(found) < 0.0:
        raise ModelError(f"{name} have to be zero or more, got {found}")
    return found


__all__ = ["BoxDrag", "EllipsoidDrag"]
