"""SpherePlane: a sphere of one body cannot go below a plane of another. gap = n . c - height - radius, c being the center."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..constraint import SphereOnPlaneContact
from ..constraint.base import AnyBody, Constraint
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import Rotation, Transform
from .between_bodies import BetweenBodies, frame_of_plane, plane_frame


class SpherePlane(BetweenBodies):
    """A sphere of a body over a plane of another; it rolls where friction is enough.

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
    center : (3,) array_like
        The sphere's center, in that body's frame; length.
    radius : float
        Positive; length.
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
    >>> part = mb.contact.SpherePlane(matter.ground, (0, 0, 1), 0.0, ball, (0, 0, 0), 0.1, 0.5, 0.8)
    >>> state = system.realize_topology()
    >>> ball.set_q(state, (0, 0, 0.5))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> round(float(part.calc_gap(state)), 6)
    0.4
    """

    def __init__(
        self,
        plane_body: AnyBody,
        normal: npt.ArrayLike,
        height: float,
        body: AnyBody,
        center: npt.ArrayLike,
        radius: float,
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
            return SphereOnPlaneContact(one, frame, other, center, radius, holds, disabled_by_default=True, name=name)

        super().__init__([plane_body, body], make, restitution, (static_friction, dynamic_friction, viscous_friction), name)

    def find_contact_frame_in_g(self, state: State) -> Transform:
        axes = frame_of_plane(self.get_first_body(), self._frame, state)
        assert isinstance(self.normal, SphereOnPlaneContact)
        return Transform(Rotation(axes), np.array(self.normal.find_contact_point_in_g(state)))
