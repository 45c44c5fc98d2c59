"""SphereOnSphereContact: a sphere of one body touches a sphere of another; they may be made to roll on each other.

With p from the first center to the second, d = |p| and k = r_1 / (r_1 + r_2), the equations are those of `_contact` with

    z = p / d     C = S_1 + k p     separation = d - r_1 - r_2     C' = k s, s the velocity of S_2 in the first body

    z' = (s - z (z.s)) / d     x' = -z (z'.x)     y' = -z (z'.y)

x is z times the axis of the Ancestor body along which z has its smallest component, y is z times x. Where the centers coincide,
z is the Ancestor's z axis and does not turn. Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from ..algebra import mat33, vec3
from ..algebra.arrays import Array
from ..algebra.memory import load9
from ..algebra.scalar import one, sqrt, where, zero
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import Rotation, Transform
from ..value.checks import flag, positive
from . import _contact, _relative, access
from ._parameters import FIRST, SECOND, Mark, across, body_of
from .base import AnyBody


@generic
def _across(z: Any) -> Any:
    """A unit vector normal to z: z times the axis of its smallest component, the first where two are equal."""
    o = zero(z[0])
    a0, a1, a2 = where(z[0] < 0.0, -z[0], z[0]), where(z[1] < 0.0, -z[1], z[1]), where(z[2] < 0.0, -z[2], z[2])
    least = where(a0 <= a1, a0, a1)
    second = where(a0 <= a1, z[2], -z[2]), where(a0 <= a1, o, z[0])
    # z x e_0 = (0, z_2, -z_1), z x e_1 = (-z_2, 0, z_0), z x e_2 = (z_1, -z_0, 0)
    x = (
        where(least <= a2, where(a0 <= a1, o, second[0]), z[1]),
        where(least <= a2, where(a0 <= a1, second[0], o), -z[0]),
        where(least <= a2, where(a0 <= a1, -z[1], second[1]), o),
    )
    return vec3.scale(1.0 / sqrt(vec3.dot(x, x)), x)


@generic
def _geometry(model: Any, c: int) -> Any:
    """x, y, z, the distance, and C from both bodies' origins. Parameters: center and radius, of one and the other."""
    b1, b2, A = access.body(model, c, 0), access.body(model, c, 1), access.integer(model, c, 1)
    R_GA = load9(model.R_GB, A, 0)
    one_center = access.from_origin(model, b1, access.vector(model, c, 0))
    p = vec3.sub(_relative.place(model, b1, b2, access.from_origin(model, b2, access.vector(model, c, 4))), one_center)
    square, o = vec3.dot(p, p), zero(p[0])
    apart = square > 0.0
    distance = sqrt(where(apart, square, one(square)))
    in_A = mat33.transpose_mul_vec(R_GA, p)
    z_A = (
        where(apart, in_A[0] / distance, o),
        where(apart, in_A[1] / distance, o),
        where(apart, in_A[2] / distance, one(square)),
    )
    x_A = _across(z_A)
    x, y, z = mat33.mul_vec(R_GA, x_A), mat33.mul_vec(R_GA, vec3.cross(z_A, x_A)), mat33.mul_vec(R_GA, z_A)
    r1, r2 = access.number(model, c, 3), access.number(model, c, 7)
    k = r1 / (r1 + r2)
    arm1 = vec3.add_scaled(one_center, k, p)
    return x, y, z, where(apart, distance, o), k, arm1, _relative.place(model, b2, b1, arm1)


@generic
def positions(model: Any, c: int) -> None:
    """perr and forces."""
    x, y, z, distance, _, arm1, arm2 = _geometry(model, c)
    error = distance - (access.number(model, c, 3) + access.number(model, c, 7))
    access.put_position_error(model, c, 0, error)
    _contact.write_rows(model, c, access.integer(model, c, 0), arm1, arm2, x, y, z)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    x, y, z, distance, k, arm1, arm2 = _geometry(model, c)
    b1, b2 = access.body(model, c, 0), access.body(model, c, 1)
    v, w = _relative.velocity(model, b1, b2, arm1, arm2), _relative.angular_velocity(model, b1, b2)
    s = vec3.add(v, vec3.cross(w, vec3.scale((1.0 - k) * distance, z)))
    apart = distance > 0.0
    rate = where(apart, 1.0 / where(apart, distance, one(distance)), zero(distance))
    z_dot = vec3.scale(rate, vec3.add_scaled(s, -vec3.dot(z, s), z))
    a = _relative.offset(model, b1, b2, arm1, arm2, v)
    a = vec3.add(a, vec3.cross(w, vec3.sub(vec3.scale(k, s), v)))
    _contact.write_offset(model, c, 0, z, z_dot, v, a)
    if access.integer(model, c, 0):
        _contact.write_offset(model, c, 1, x, vec3.scale(-vec3.dot(z_dot, x), z), v, a)
        _contact.write_offset(model, c, 2, y, vec3.scale(-vec3.dot(z_dot, y), z), v, a)


class SphereOnSphereContact(_contact.Contact):
    """Keeps two spheres in touch: one equation of positions, and two of velocities where they roll.

    Parameters
    ----------
    body1, body2 : MobilizedBody, int or str
        Two bodies of one system, one of which may be Ground; one of them may be given by its index or name.
    center1, center2 : (3,) array_like
        The spheres' centers, from each body's origin and in its frame; length.
    radius1, radius2 : float
        Their radii, positive; length.
    enforce_rolling : bool
        Whether slip is forbidden.

    Notes
    -----
    In method names F is the first body, B the second. Where the spheres are not in touch, contact is at the point that divides
    the line of centers as the radii do. Contact and friction are of any size and sign: switching these on and off is the
    user's business.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.SphereOnSphereContact(matter.ground, (0, 0, 0), 1.0, one, (0, 0, 0), 0.5, True)
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (0.0, 0.0, 1.6))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_body_origin_location(state).round(3)
    array([0. , 0. , 1.5])
    """

    routine = access.by_address(positions, velocities)

    def __init__(
        self,
        body1: AnyBody,
        center1: npt.ArrayLike,
        radius1: float,
        body2: AnyBody,
        center2: npt.ArrayLike,
        radius2: float,
        enforce_rolling: bool,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._rolling = flag("enforce_rolling", enforce_rolling)
        self.default_numbers = self.declared(name, center1=center1, radius1=radius1, center2=center2, radius2=radius2)
        super().__init__([body1, body2], disabled_by_default=disabled_by_default, name=name)

    get_mobilized_body_f = body_of("mobilized_body_f", 0, "the first one")
    get_mobilized_body_b = body_of("mobilized_body_b", 1, "the second one")
    get_default_center1, set_default_center1, get_center1, set_center1 = parameters.vector(
        "center1", "length", "the center on the first body"
    ).accessors()
    get_default_radius1, set_default_radius1, get_radius1, set_radius1 = parameters.scalar(
        "radius1", "length", positive, "the radius on the first body"
    ).accessors()
    get_default_center2, set_default_center2, get_center2, set_center2 = parameters.vector(
        "center2", "length", "the center on the second body"
    ).accessors()
    get_default_radius2, set_default_radius2, get_radius2, set_radius2 = parameters.scalar(
        "radius2", "length", positive, "the radius on the second body"
    ).accessors()

    def find_force_on_sphere_b_in_g(self, state: State) -> Array:
        """The force on the second sphere, at the contact point, in Ground ``(3,)``; zero where disabled. Needs ACCELERATION."""
        return self._applied(state, 1)[1]

    def find_contact_frame_in_g(self, state: State) -> Transform:
        """The contact frame in Ground, whether enabled or not: z from center to center. Needs POSITION."""
        start, p = self._between_centers(state)
        R_GA = np.asarray(self.get_ancestor_mobilized_body().get_body_transform(state).R)
        distance = float(np.linalg.norm(p))
        z = R_GA.T @ p / distance if distance > 0.0 else np.array([0.0, 0.0, 1.0])
        x = across(z)
        r1, r2 = self.get_radius1(state), self.get_radius2(state)
        return Transform(Rotation(R_GA @ np.column_stack([x, np.cross(z, x), z])), start + r1 / (r1 + r2) * p)

    def find_separation(self, state: State) -> float:
        """Distance of the spheres, negative where they penetrate, whether enabled or not. Needs POSITION."""
        _, p = self._between_centers(state)
        return float(np.linalg.norm(p)) - self.get_radius1(state) - self.get_radius2(state)

    def _between_centers(self, state: State) -> tuple[Array, Array]:
        """The first center in Ground, and the way from it to the second."""
        start, end = (
            body.find_station_location_in_ground(state, center)
            for body, center in zip(self.constrained_bodies, (self.get_center1(state), self.get_center2(state)), strict=True)
        )
        return start, end - start

    def marks(self, state: State) -> list[Mark]:
        centers = self.get_center1(state), self.get_center2(state)
        radii = self.get_radius1(state), self.get_radius2(state)
        return [
            (body, decoration.Sphere(radius, X=Transform(center), color=color, opacity=0.5))
            for body, center, radius, color in zip(self.constrained_bodies, centers, radii, (FIRST, SECOND), strict=True)
        ]
