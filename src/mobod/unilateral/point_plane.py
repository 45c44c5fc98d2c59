"""PointPlane: a point of one body cannot go below a plane of another. gap = n . p - height, p from the plane body's origin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..constraint import PointInPlane, PointOnPlaneContact
from ..constraint.base import AnyBody, Constraint
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import Rotation, Transform
from .between_bodies import BetweenBodies, frame_of_plane, plane_frame


class PointPlane(BetweenBodies):
    """A point of a body over a plane of another.

    Parameters
    ----------
    plane_body : MobilizedBody, int or str
        Solid below the plane; it may be Ground.
    normal : (3,) array_like
        Out of the solid, in that body's frame; of any length but zero.
    height : float
        Distance of the plane from that body's origin, along the normal; length.
    body : MobilizedBody, int or str
        Another body. One of the two may be given by its index or name.
    point : (3,) array_like
        The point, in that body's frame; length.
    restitution : float
        From 0 to 1.
    static_friction, dynamic_friction, viscous_friction : float
        Coefficients, see `UnilateralContact`.
    name : str, optional

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> sphere = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> ball = mb.mobilizer.Translation(matter.ground, sphere)
    >>> part = mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, ball, (0, 0, 0), 0.5, 0.8)
    >>> state = system.realize_topology()
    >>> ball.set_q(state, (0, 0, 0.5))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> round(float(part.calc_gap(state)), 6)
    0.5
    """

    def __init__(
        self,
        plane_body: AnyBody,
        normal: npt.ArrayLike,
        height: float,
        body: AnyBody,
        point: npt.ArrayLike,
        restitution: float = 0.0,
        static_friction: float = 0.0,
        dynamic_friction: float | None = None,
        viscous_friction: float = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        frame = plane_frame(normal, height)
        self._frame = frame

        def make(bodies: list[MobilizedBody], holds: bool, name: str) -> Constraint:
            one, other = bodies
            if holds:
                return PointOnPlaneContact(one, frame, other, point, disabled_by_default=True, name=name)
            z = np.asarray(frame.R)[:, 2]
            return PointInPlane(one, z, float(z @ frame.p), other, point, disabled_by_default=True, name=name)

        super().__init__([plane_body, body], make, restitution, (static_friction, dynamic_friction, viscous_friction), name)

    def find_contact_frame_in_g(self, state: State) -> Transform:
        axes, body = frame_of_plane(self.get_first_body(), self._frame, state), self.get_second_body()
        assert isinstance(self.normal, PointInPlane)
        point = self.normal.get_follower_station(state)
        return Transform(Rotation(axes), body.find_station_location_in_ground(state, point))
