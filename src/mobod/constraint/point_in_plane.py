"""PointInPlane: a point of one body stays in a plane of another: one equation of positions.

    perr = n.p - height     verr = n.v     aerr = n.a

with p, v and a of the follower point as the plane's body sees them, and n constant there. A positive multiplier is a force -n
on the follower, at its point. Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from .._jit import generic
from ..algebra import vec3
from ..value import Rotation, Transform
from . import _access, _relative
from ._parameters import SECOND, Mark, OneEquation, across, display_size, plane
from .base import direction, finite, station

if TYPE_CHECKING:
    from ..state import State
    from .base import AnyBody

Array = npt.NDArray[np.float64]


@generic
def _geometry(model: Any, c: int) -> Any:
    """The normal, and the point from either body's origin."""
    base, follower = _access.body(model, c, 0), _access.body(model, c, 1)
    n = _access.from_origin(model, base, _access.vector(model, c, 0))
    arm = _access.from_origin(model, follower, _access.vector(model, c, 4))
    return n, _relative.place(model, base, follower, arm), arm


@generic
def positions(model: Any, c: int) -> None:
    """perr, and forces along the normal. Parameters: normal, height, station."""
    n, arm1, arm2 = _geometry(model, c)
    _access.put_position_error(model, c, 0, vec3.dot(n, arm1) - _access.number(model, c, 3))
    _access.put_force(model, c, 0, 0, arm1, vec3.neg(n))
    _access.put_force(model, c, 0, 1, arm2, n)


@generic
def velocities(model: Any, c: int) -> None:
    """What aerr has beside G udot."""
    n, arm1, arm2 = _geometry(model, c)
    base, follower = _access.body(model, c, 0), _access.body(model, c, 1)
    v = _relative.velocity(model, base, follower, arm1, arm2)
    _access.put_acceleration_offset(model, c, 0, vec3.dot(n, _relative.offset(model, base, follower, arm1, arm2, v)))


class PointInPlane(OneEquation):
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
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.

    Notes
    -----
    The error is the point's distance from the plane; the multiplier is minus the force on it along the normal.
    """

    routine = _access.by_address(positions, velocities)
    _plane_display_half_width = 1.0
    _point_display_radius = 0.05

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
        normal, height = direction("plane_normal", plane_normal), finite("plane_height", plane_height)
        self._values = [*normal, height, *station("follower_station", follower_station)]
        super().__init__([plane_body, follower_body], equations=(1, 0, 0), disabled_by_default=disabled_by_default, name=name)

    def get_plane_mobilized_body_index(self) -> int:
        """Index of the body that the plane is fixed to."""
        return self._bodies[0].get_mobilized_body_index()

    def get_follower_mobilized_body_index(self) -> int:
        """Index of the follower."""
        return self._bodies[1].get_mobilized_body_index()

    def get_default_plane_normal(self) -> Array:
        """The normal, of length 1, that states start with ``(3,)``."""
        return self._default(0, 3)

    def set_default_plane_normal(self, plane_normal: npt.ArrayLike) -> PointInPlane:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(0, direction("plane_normal", plane_normal))
        return self

    def get_plane_normal(self, state: State) -> Array:
        """The normal, of length 1, in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_plane_normal", 0, 3)

    def get_default_plane_height(self) -> float:
        """The height that states start with."""
        return float(self._default(3, 1)[0])

    def set_default_plane_height(self, plane_height: float) -> PointInPlane:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(3, [finite("plane_height", plane_height)])
        return self

    def get_plane_height(self, state: State) -> float:
        """The height in this state. Needs MODEL."""
        return float(self._own(state, "get_plane_height", 3, 1)[0])

    def get_default_follower_point(self) -> Array:
        """The point on the follower that states start with ``(3,)``."""
        return self._default(4, 3)

    def set_default_follower_point(self, follower_station: npt.ArrayLike) -> PointInPlane:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(4, station("follower_station", follower_station))
        return self

    def get_follower_point(self, state: State) -> Array:
        """The point on the follower in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_follower_point", 4, 3)

    def get_force_on_follower_point(self, state: State) -> float:
        """The force on the follower's point along the normal. Needs ACCELERATION."""
        return -self.get_multiplier(state)

    def get_plane_display_half_width(self) -> float:
        """Half the width of the plane that pictures show; length. For drawing only."""
        return self._plane_display_half_width

    def set_plane_display_half_width(self, half_width: float) -> PointInPlane:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._plane_display_half_width = display_size("half_width", half_width)
        return self

    def get_point_display_radius(self) -> float:
        """The radius of the point that pictures show; length. For drawing only."""
        return self._point_display_radius

    def set_point_display_radius(self, radius: float) -> PointInPlane:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._point_display_radius = display_size("radius", radius)
        return self

    def _marks(self, state: State) -> list[Mark]:
        marks: list[Mark] = []
        if self._plane_display_half_width > 0.0:
            n = self.get_plane_normal(state)
            X = Transform(Rotation.from_two_axes(n, "z", across(n), "x"), self.get_plane_height(state) * n)
            marks.append((self._bodies[0], plane(self._plane_display_half_width, X)))
        if self._point_display_radius > 0.0:
            X = Transform(self.get_follower_point(state))
            marks.append((self._bodies[1], decoration.Sphere(self._point_display_radius, X=X, color=SECOND)))
        return marks
