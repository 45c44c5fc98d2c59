"""SphereOnPlaneContact: a sphere of one body touches a plane of another; it may be made to roll there.

The equations are those of `_contact`, with the axes of the plane's frame and C = S - r z the sphere's lowest point: the
separation is z.p - r, p being the sphere's center S from the frame's origin, and C' - V = r w x z.
Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from ..algebra import mat33, vec3
from ..algebra.arrays import Array
from ..algebra.memory import load9
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import Transform
from ..value.checks import flag, positive
from . import _contact, _relative, access
from ._parameters import SECOND, Mark, WithPlane, body_of
from .base import AnyBody


@generic
def _geometry(model: Any, c: int) -> Any:
    """The axes of the plane's frame, as columns, the radius, and C from either body's origin."""
    base, follower = access.body(model, c, 0), access.body(model, c, 1)
    R, r = mat33.mul(load9(model.R_GB, base, 0), access.matrix(model, c, 0)), access.number(model, c, 15)
    center = access.from_origin(model, follower, access.vector(model, c, 12))
    arm = vec3.add_scaled(center, -r, (R[2], R[5], R[8]))
    return R, r, _relative.place(model, base, follower, arm), arm


@generic
def positions(model: Any, c: int) -> None:
    """perr and forces. Parameters: the plane's frame, center, radius."""
    R, _, arm1, arm2 = _geometry(model, c)
    z = R[2], R[5], R[8]
    on_plane = access.from_origin(model, access.body(model, c, 0), access.vector(model, c, 9))
    access.put_position_error(model, c, 0, vec3.dot(z, vec3.sub(arm1, on_plane)))
    _contact.write_rows(model, c, access.integer(model, c, 0), arm1, arm2, (R[0], R[3], R[6]), (R[1], R[4], R[7]), z)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    R, r, arm1, arm2 = _geometry(model, c)
    base, follower, z = access.body(model, c, 0), access.body(model, c, 1), (R[2], R[5], R[8])
    v = _relative.velocity(model, base, follower, arm1, arm2)
    w = _relative.angular_velocity(model, base, follower)
    a = _relative.offset(model, base, follower, arm1, arm2, v)
    a = vec3.add_scaled(a, r, vec3.cross(w, vec3.cross(w, z)))
    access.put_acceleration_offset(model, c, 0, vec3.dot(z, a))
    if access.integer(model, c, 0):
        access.put_acceleration_offset(model, c, 1, vec3.dot((R[0], R[3], R[6]), a))
        access.put_acceleration_offset(model, c, 2, vec3.dot((R[1], R[4], R[7]), a))


class SphereOnPlaneContact(WithPlane, _contact.Contact):
    """Keeps a sphere of one body on a plane of another: one equation of positions, and two of velocities where it rolls.

    Parameters
    ----------
    plane_body : MobilizedBody, int or str
        The body that the plane is fixed to.
    plane_frame : Transform
        A frame on that body, whose z axis is the plane's normal, and whose origin is in the plane.
    sphere_body : MobilizedBody, int or str
        Another body of the same system. One of the two may be given by its index or name.
    sphere_center : (3,) array_like
        The sphere's center, from that body's origin and in its frame; length.
    radius : float
        Of the sphere, positive; length.
    enforce_rolling : bool
        Whether slip is forbidden.

    Notes
    -----
    Contact and friction of any size and sign: what switches it on and off is the user's.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.SphereOnPlaneContact(matter.ground, mb.Transform(), one, (0, 0, 0), 0.5, True)
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (1.0, 2.0, 0.6))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_body_origin_location(state).round(3)
    array([1. , 2. , 0.5])
    """

    routine = access.by_address(positions, velocities)

    def __init__(
        self,
        plane_body: AnyBody,
        plane_frame: Transform,
        sphere_body: AnyBody,
        sphere_center: npt.ArrayLike,
        radius: float,
        enforce_rolling: bool,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._rolling = flag("enforce_rolling", enforce_rolling)
        self.default_numbers = self.declared(name, plane_frame=plane_frame, sphere_center=sphere_center, radius=radius)
        super().__init__([plane_body, sphere_body], disabled_by_default=disabled_by_default, name=name)

    get_plane_mobilized_body = body_of("plane_mobilized_body", 0, "what the plane is fixed to")
    get_sphere_mobilized_body = body_of("sphere_mobilized_body", 1, "what the sphere is fixed to")
    get_default_plane_frame, set_default_plane_frame, get_plane_frame, set_plane_frame = parameters.frame(
        "plane_frame", "the frame of the plane, whose z axis is the normal"
    ).accessors()
    get_default_sphere_center, set_default_sphere_center, get_sphere_center, set_sphere_center = parameters.vector(
        "sphere_center", "length", "the center of the sphere, in its body"
    ).accessors()
    get_default_radius, set_default_radius, get_radius, set_radius = parameters.scalar(
        "radius", "length", positive, "the radius of the sphere"
    ).accessors()

    def find_force_on_sphere_in_g(self, state: State) -> Array:
        """The force on the sphere, at the contact point, in Ground ``(3,)``; zero where disabled. Needs ACCELERATION."""
        return self._applied(state, 1)[1]

    def find_contact_point_in_g(self, state: State) -> Array:
        """The sphere's lowest point over the plane, in Ground ``(3,)``, whether enabled or not. Needs POSITION."""
        base, follower = self.constrained_bodies
        n = np.asarray(base.get_body_transform(state).R) @ np.asarray(self.get_plane_frame(state).R)[:, 2]
        center = follower.find_station_location_in_ground(state, self.get_sphere_center(state))
        return center - self.get_radius(state) * n

    def find_separation(self, state: State) -> float:
        """Distance of that point from the plane, negative below, whether enabled or not. Needs POSITION."""
        X_GP = self.constrained_bodies[0].get_body_transform(state) @ self.get_plane_frame(state)
        return float((~X_GP @ self.find_contact_point_in_g(state))[2])

    def marks(self, state: State) -> list[Mark]:
        X = Transform(self.get_sphere_center(state))
        ball = decoration.Sphere(self.get_radius(state), X=X, color=SECOND, opacity=0.5)
        return [(self.constrained_bodies[1], ball), *self.mark_of_plane(self.get_plane_frame(state))]
