"""EllipsoidDrag: drag, lift and inertial forces of a still or blowing fluid on a body, as though it were an ellipsoid.

Source: MuJoCo's documentation of its fluid forces.

w and v are angular and linear velocity, against the fluid, of a frame S on the body, in S; viscosity n, density r; coefficients
of drag (blunt, slender, angular) and lift (Kutta, Magnus), and virtual masses m and inertias J for a unit of density; V the
volume, A the area of the shadow along v, A_max its largest:
    f = r (m v) x w + r V c_M w x v + r c_K A cos (n x v) x v - (3 pi D n + r |v| (c_b A + c_s (A_max - A))) v
    t = r (m v) x v + r (J w) x w - (pi D^3 n + r |diag(c_a I + c_s (I_max - I)) w|) w
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import vec3
from ..algebra.arrays import ArrayLike
from ..algebra.scalar import one, sqrt, where
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..value import Transform, checks
from ._drag import OWN, PI, Drag, lengths, routine_of, wrench_routine_of
from .pools import number, numbers3
from .subsystem import GeneralForceSubsystem

#: Numbers: semi-axes, coefficients (blunt, slender, angular, Kutta, Magnus), virtual masses and inertias, A_max, I_max, I, D.
AXES, COEFFICIENTS, MASSES, INERTIAS, A_MAX, I_MAX, I, D = 0, 3, 8, 11, 14, 15, 16, 19


@generic
def norm(v: Any) -> Any:
    """|v|, with a derivative of zero at zero."""
    vv = vec3.dot(v, v)
    some = vv > 0.0
    return where(some, sqrt(where(some, vv, one(vv))), 0.0 * vv)


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


class EllipsoidDrag(Drag):
    """Drag, lift and the inertial forces of a fluid on a body, as though it were an ellipsoid.

    Parameters
    ----------
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

    Raises
    ------
    TypeError, ValueError, ModelError
        If the body is none, a number not finite, or one below zero that cannot be.
    TopologyError
        If the body belongs to another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.EllipsoidDrag(system.forces, system.matter.bodies["lower"], (0.1, 0.2, 0.3), density=1.2)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[0].shape
    (3, 2, 3)
    """

    routine, wrench_routine = routine_of(ellipsoid_wrench), wrench_routine_of(ellipsoid_wrench)

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
        a = lengths("radii", radii)
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
        self.connect(forces, body, frame, fluid, own, disabled_by_default, name)
