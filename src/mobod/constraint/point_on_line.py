"""PointOnLine: a point of one body stays on a line of another: two equations of positions.

    perr = x.p, y.p     verr = x.v, y.v     aerr = x.a, y.a

with x and y across the line, p the follower point from the point on the line, and its motion as the line's body sees it. x is
the direction times that axis of the body's frame of which it has least, y the direction times x: Simbody 3.7's choice. A
positive multiplier is a force along -x, or -y, on the follower, at its point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from .._jit import generic
from ..algebra import vec3
from ..value import Transform
from . import _access, _relative
from ._parameters import FIRST, SECOND, Equations, Mark, across, display_size
from .base import direction, station

if TYPE_CHECKING:
    from ..state import State
    from .base import AnyBody

Array = npt.NDArray[np.float64]


@generic
def _geometry(model: Any, c: int) -> Any:
    """x, y, and the point from either body's origin."""
    base, follower = _access.body(model, c, 0), _access.body(model, c, 1)
    x = _access.from_origin(model, base, _access.vector(model, c, 0))
    y = _access.from_origin(model, base, _access.vector(model, c, 3))
    arm = _access.from_origin(model, follower, _access.vector(model, c, 12))
    return x, y, _relative.place(model, base, follower, arm), arm


@generic
def positions(model: Any, c: int) -> None:
    """perr, and forces across the line. Parameters: x, y, the direction, the point on the line, the follower's point."""
    x, y, arm1, arm2 = _geometry(model, c)
    p = vec3.sub(arm1, _access.from_origin(model, _access.body(model, c, 0), _access.vector(model, c, 9)))
    _access.put_position_error(model, c, 0, vec3.dot(x, p))
    _access.put_position_error(model, c, 1, vec3.dot(y, p))
    _access.put_force(model, c, 0, 0, arm1, vec3.neg(x))
    _access.put_force(model, c, 0, 1, arm2, x)
    _access.put_force(model, c, 1, 0, arm1, vec3.neg(y))
    _access.put_force(model, c, 1, 1, arm2, y)


@generic
def velocities(model: Any, c: int) -> None:
    """What aerr has beside G udot."""
    x, y, arm1, arm2 = _geometry(model, c)
    base, follower = _access.body(model, c, 0), _access.body(model, c, 1)
    v = _relative.velocity(model, base, follower, arm1, arm2)
    a = _relative.offset(model, base, follower, arm1, arm2, v)
    _access.put_acceleration_offset(model, c, 0, vec3.dot(x, a))
    _access.put_acceleration_offset(model, c, 1, vec3.dot(y, a))


class PointOnLine(Equations):
    """Keeps a point of one body on a line of another: two equations of positions.

    Parameters
    ----------
    line_body : MobilizedBody, int or str
        The body that the line is fixed to.
    line_direction : (3,) array_like
        Along the line, in that body's frame, of any length but zero.
    point_on_line : (3,) array_like
        A point of the line, from that body's origin and in its frame; length.
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
    The errors are lengths along two directions across the line; multipliers are minus the forces on the follower along these.
    """

    routine = _access.by_address(positions, velocities)
    _line_display_half_length = 1.0
    _point_display_radius = 0.05

    def __init__(
        self,
        line_body: AnyBody,
        line_direction: npt.ArrayLike,
        point_on_line: npt.ArrayLike,
        follower_body: AnyBody,
        follower_station: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        point = station("point_on_line", point_on_line)
        self._values = [*_line(line_direction), *point, *station("follower_station", follower_station)]
        super().__init__([line_body, follower_body], equations=(2, 0, 0), disabled_by_default=disabled_by_default, name=name)

    def get_line_mobilized_body_index(self) -> int:
        """Index of the body that the line is fixed to."""
        return self._bodies[0].get_mobilized_body_index()

    def get_follower_mobilized_body_index(self) -> int:
        """Index of the follower."""
        return self._bodies[1].get_mobilized_body_index()

    def get_default_line_direction(self) -> Array:
        """The direction of the line, of length 1, that states start with ``(3,)``."""
        return self._default(6, 3)

    def set_default_line_direction(self, line_direction: npt.ArrayLike) -> PointOnLine:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(0, _line(line_direction))
        return self

    def get_line_direction(self, state: State) -> Array:
        """The direction of the line, of length 1, in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_line_direction", 6, 3)

    def get_default_point_on_line(self) -> Array:
        """The point on the line that states start with ``(3,)``."""
        return self._default(9, 3)

    def set_default_point_on_line(self, point_on_line: npt.ArrayLike) -> PointOnLine:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(9, station("point_on_line", point_on_line))
        return self

    def get_point_on_line(self, state: State) -> Array:
        """The point on the line in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_point_on_line", 9, 3)

    def get_default_follower_point(self) -> Array:
        """The point on the follower that states start with ``(3,)``."""
        return self._default(12, 3)

    def set_default_follower_point(self, follower_station: npt.ArrayLike) -> PointOnLine:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(12, station("follower_station", follower_station))
        return self

    def get_follower_point(self, state: State) -> Array:
        """The point on the follower in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_follower_point", 12, 3)

    def get_force_on_follower_point(self, state: State) -> Array:
        """The forces on the follower's point along the two directions across the line ``(2,)``. Needs ACCELERATION."""
        self._need_enabled(state, "get_force_on_follower_point")
        return 0.0 - self.get_multipliers(state)

    def get_line_display_half_length(self) -> float:
        """Half the length of the line that pictures show; length. For drawing only."""
        return self._line_display_half_length

    def set_line_display_half_length(self, half_length: float) -> PointOnLine:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._line_display_half_length = display_size("half_length", half_length)
        return self

    def get_point_display_radius(self) -> float:
        """The radius of the point that pictures show; length. For drawing only."""
        return self._point_display_radius

    def set_point_display_radius(self, radius: float) -> PointOnLine:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._point_display_radius = display_size("radius", radius)
        return self

    def _marks(self, state: State) -> list[Mark]:
        marks: list[Mark] = []
        if self._line_display_half_length > 0.0:
            p, half = self.get_point_on_line(state), self._line_display_half_length * self.get_line_direction(state)
            marks.append((self._bodies[0], decoration.Line(p - half, p + half, color=FIRST)))
        if self._point_display_radius > 0.0:
            X = Transform(self.get_follower_point(state))
            marks.append((self._bodies[1], decoration.Sphere(self._point_display_radius, X=X, color=SECOND)))
        return marks


def _line(value: npt.ArrayLike) -> list[float]:
    """x, y, and the direction of a line."""
    along = np.array(direction("line_direction", value))
    x = across(along)
    return [*x.tolist(), *np.cross(along, x).tolist(), *along.tolist()]
