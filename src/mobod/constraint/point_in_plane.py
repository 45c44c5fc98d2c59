"""PointInPlane: a point of one body stays in a plane of another: one equation of positions.

    perr = n.p - height     verr = n.v     aerr = n.a

with p, v and a of the follower point as the plane's body sees them, and n constant there. A positive multiplier is a force -n
on the follower, at its point. Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra import vec3
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import Rotation, Transform
from ..value.checks import finite
from . import _relative, access
from ._parameters import Mark, OneEquation, WithFollowerPoint, WithPlane, across, index_of
from .base import AnyBody


@generic
def _geometry(model: Any, c: int) -> Any:
    """The normal, and the point from either body's origin."""
    base, follower = access.body(model, c, 0), access.body(model, c, 1)
    n = access.from_origin(model, base, access.vector(model, c, 0))
    arm = access.from_origin(model, follower, access.vector(model, c, 4))
    return n, _relative.place(model, base, follower, arm), arm


@generic
def positions(model: Any, c: int) -> None:
    """perr, and forces along the normal. Parameters: normal, height, station."""
    n, arm1, arm2 = _geometry(model, c)
    access.put_position_error(model, c, 0, vec3.dot(n, arm1) - access.number(model, c, 3))
    access.put_force(model, c, 0, 0, arm1, vec3.neg(n))
    access.put_force(model, c, 0, 1, arm2, n)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    n, arm1, arm2 = _geometry(model, c)
    base, follower = access.body(model, c, 0), access.body(model, c, 1)
    v = _relative.velocity(model, base, follower, arm1, arm2)
    access.put_acceleration_offset(model, c, 0, vec3.dot(n, _relative.offset(model, base, follower, arm1, arm2, v)))


class PointInPlane(WithPlane, WithFollowerPoint, OneEquation):
    """Keeps a point of one body in a plane of another: one equation of positions.

    Parameters
    ----------
    plane_body : MobilizedBody, int or str
        The body that the plane is fixed to.
    plane_normal : (3,) array_like
        The plane's normal in that body's frame, of any length but zero.
    plane_height : float
        Distance of the plane from that body's origin along the normal; length.
    follower_body : MobilizedBody, int or str
        Another body of the same system. One of the two may be given by its index or name.
    follower_station : (3,) array_like
        The point, from that body's origin and in its frame; length.

    Notes
    -----
    The error is the point's distance from the plane; the multiplier is minus the force on it along the normal.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.PointInPlane(matter.ground, (0, 1, 0), 0.5, one, (0, 0, 0))
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (0.2, 0.9, 0.3))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_body_origin_location(state).round(3)
    array([0.2, 0.5, 0.3])
    """

    routine = access.by_address(positions, velocities)

    def __init__(
        self,
        plane_body: AnyBody,
        plane_normal: npt.ArrayLike,
        plane_height: float,
        follower_body: AnyBody,
        follower_station: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self.default_numbers = self.declared(
            name, plane_normal=plane_normal, plane_height=plane_height, follower_station=follower_station
        )
        super().__init__([plane_body, follower_body], equations=(1, 0, 0), disabled_by_default=disabled_by_default, name=name)

    get_plane_mobilized_body_index = index_of("plane", 0, "what the plane is fixed to")
    get_default_plane_normal, set_default_plane_normal, get_plane_normal, set_plane_normal = parameters.direction(
        "plane_normal", "the plane's normal"
    ).accessors()
    get_default_plane_height, set_default_plane_height, get_plane_height, set_plane_height = parameters.scalar(
        "plane_height", "length", finite, "the distance of the plane along the normal"
    ).accessors()
    get_default_follower_station, set_default_follower_station, get_follower_station, set_follower_station = parameters.vector(
        "follower_station", "length", "the point on the follower, from its origin and in its frame"
    ).accessors()

    def get_force_on_follower_point(self, state: State) -> float:
        """The force on the follower's point along the normal. Needs ACCELERATION."""
        return -self.get_multiplier(state)

    def marks(self, state: State) -> list[Mark]:
        n = self.get_plane_normal(state)
        X = Transform(Rotation.from_two_axes(n, "z", across(n), "x"), self.get_plane_height(state) * n)
        return self.mark_of_plane(X) + self.mark_of_follower(state)
