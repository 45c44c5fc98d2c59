"""PointOnPlaneContact: a point of one body stays on a plane of another and does not slip there.

The equations are those of `_contact`, rolling, with C the follower's point, which is fixed on its body, and the axes of the
plane's frame, which are fixed on the other: one equation of positions, two of velocities. Source: Simbody 3.7's conventions.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.arrays import Array
from ..algebra.memory import load9
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import Transform
from . import _contact, _relative, access
from ._parameters import Mark, WithFollowerPoint, WithPlane, index_of
from .base import AnyBody


@generic
def _geometry(model: Any, c: int) -> Any:
    """The axes of the plane's frame, as columns, and the point from either body's origin."""
    base, follower = access.body(model, c, 0), access.body(model, c, 1)
    R = mat33.mul(load9(model.R_GB, base, 0), access.matrix(model, c, 0))
    arm = access.from_origin(model, follower, access.vector(model, c, 12))
    return R, _relative.place(model, base, follower, arm), arm


@generic
def positions(model: Any, c: int) -> None:
    """perr and forces. Parameters: the plane's frame, then the point."""
    R, arm1, arm2 = _geometry(model, c)
    z = R[2], R[5], R[8]
    on_plane = access.from_origin(model, access.body(model, c, 0), access.vector(model, c, 9))
    access.put_position_error(model, c, 0, vec3.dot(z, vec3.sub(arm1, on_plane)))
    _contact.write_rows(model, c, 1, arm1, arm2, (R[0], R[3], R[6]), (R[1], R[4], R[7]), z)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    R, arm1, arm2 = _geometry(model, c)
    base, follower = access.body(model, c, 0), access.body(model, c, 1)
    v = _relative.velocity(model, base, follower, arm1, arm2)
    a = _relative.offset(model, base, follower, arm1, arm2, v)
    access.put_acceleration_offset(model, c, 0, vec3.dot((R[2], R[5], R[8]), a))
    access.put_acceleration_offset(model, c, 1, vec3.dot((R[0], R[3], R[6]), a))
    access.put_acceleration_offset(model, c, 2, vec3.dot((R[1], R[4], R[7]), a))


class PointOnPlaneContact(WithPlane, WithFollowerPoint, _contact.Contact):
    """Keeps a point of one body on a plane of another without slip: one equation of positions, two of velocities.

    Parameters
    ----------
    plane_body : MobilizedBody, int or str
        The body that the plane is fixed to.
    plane_frame : Transform
        A frame on that body, whose z axis is the plane's normal, and whose origin is in the plane.
    follower_body : MobilizedBody, int or str
        Another body of the same system. One of the two may be given by its index or name.
    follower_station : (3,) array_like
        The point, from that body's origin and in its frame; length.

    Notes
    -----
    Forces of contact and friction have any size and sign: the user switches the constraint on and off.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.PointOnPlaneContact(matter.ground, mb.Transform(), one, (0, 0, 0))
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (1.0, 2.0, 0.1))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_body_origin_location(state).round(3)
    array([1., 2., 0.])
    """

    routine = access.by_address(positions, velocities)
    _rolling = True

    def __init__(
        self,
        plane_body: AnyBody,
        plane_frame: Transform,
        follower_body: AnyBody,
        follower_station: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self.default_numbers = self.declared(name, plane_frame=plane_frame, follower_station=follower_station)
        super().__init__([plane_body, follower_body], disabled_by_default=disabled_by_default, name=name)

    get_plane_mobilized_body_index = index_of("plane", 0, "what the plane is fixed to")
    get_default_plane_frame, set_default_plane_frame, get_plane_frame, set_plane_frame = parameters.frame(
        "plane_frame", "the frame of the plane, whose z axis is the normal"
    ).accessors()
    get_default_follower_station, set_default_follower_station, get_follower_station, set_follower_station = parameters.vector(
        "follower_station", "length", "the point on the follower, from its origin and in its frame"
    ).accessors()

    def get_force_on_follower_point(self, state: State) -> Array:
        """The force on the follower's point, along the axes of the plane's frame ``(3,)``. Needs ACCELERATION."""
        return 0.0 - self.get_multipliers(state)

    def marks(self, state: State) -> list[Mark]:
        return self.mark_of_plane(self.get_plane_frame(state)) + self.mark_of_follower(state)
