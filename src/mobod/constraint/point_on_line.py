"""PointOnLine: a point of one body stays on a line of another: two equations of positions.

    perr = x.p, y.p     verr = x.v, y.v     aerr = x.a, y.a

with x and y across the line, p the follower point from the point on the line, and its motion as the line's body sees it. x is
the direction times the axis of the body's frame along which its component is smallest, y the direction times x: Simbody 3.7's
choice. A positive multiplier is a force along -x, or -y, on the follower, at its point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from ..algebra import vec3
from ..algebra.arrays import Array
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value.checks import unit
from ..value.rows import in_rows, unit as units
from . import _relative, access
from ._parameters import FIRST, Equations, Mark, WithFollowerPoint, across, displayed, index_of
from .base import AnyBody


@generic
def _geometry(model: Any, c: int) -> Any:
    """x, y, and the point from either body's origin."""
    base, follower = access.body(model, c, 0), access.body(model, c, 1)
    x = access.from_origin(model, base, access.vector(model, c, 0))
    y = access.from_origin(model, base, access.vector(model, c, 3))
    arm = access.from_origin(model, follower, access.vector(model, c, 12))
    return x, y, _relative.place(model, base, follower, arm), arm


@generic
def positions(model: Any, c: int) -> None:
    """perr, and forces across the line. Parameters: x, y, the direction, the point on the line, the follower's point."""
    x, y, arm1, arm2 = _geometry(model, c)
    p = vec3.sub(arm1, access.from_origin(model, access.body(model, c, 0), access.vector(model, c, 9)))
    access.put_position_error(model, c, 0, vec3.dot(x, p))
    access.put_position_error(model, c, 1, vec3.dot(y, p))
    access.put_force(model, c, 0, 0, arm1, vec3.neg(x))
    access.put_force(model, c, 0, 1, arm2, x)
    access.put_force(model, c, 1, 0, arm1, vec3.neg(y))
    access.put_force(model, c, 1, 1, arm2, y)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    x, y, arm1, arm2 = _geometry(model, c)
    base, follower = access.body(model, c, 0), access.body(model, c, 1)
    v = _relative.velocity(model, base, follower, arm1, arm2)
    a = _relative.offset(model, base, follower, arm1, arm2, v)
    access.put_acceleration_offset(model, c, 0, vec3.dot(x, a))
    access.put_acceleration_offset(model, c, 1, vec3.dot(y, a))


def _line(what: str, value: Any) -> list[float]:
    """Three finite numbers, not all zero."""
    along = unit(what, value)
    x = across(along)
    return [*x.tolist(), *np.cross(along, x).tolist(), *along.tolist()]


@in_rows(_line)
def _lines(values: Array) -> Array | None:
    along = units(values)
    if along is None:
        return None
    x = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=1)])
    x /= np.linalg.norm(x, axis=1)[:, None]
    return np.concatenate([x, np.cross(along, x), along], axis=1)


def _along(nine: Any) -> Array:
    return np.array(nine[6:])


class PointOnLine(WithFollowerPoint, Equations):
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

    Notes
    -----
    The errors are lengths along two directions across the line; multipliers are minus the forces on the follower along these.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.PointOnLine(matter.ground, (1, 0, 0), (0, 2, 3), one, (0, 0, 0))
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (0.2, 0.9, 0.3))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_body_origin_location(state).round(3)
    array([0.2, 2. , 3. ])
    """

    routine = access.by_address(positions, velocities)
    _line_display_half_length = 1.0

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
        self.default_numbers = self.declared(
            name, line_direction=line_direction, point_on_line=point_on_line, follower_station=follower_station
        )
        super().__init__([line_body, follower_body], equations=(2, 0, 0), disabled_by_default=disabled_by_default, name=name)

    get_line_mobilized_body_index = index_of("line", 0, "what the line is fixed to")
    get_default_line_direction, set_default_line_direction, get_line_direction, set_line_direction = parameters.Parameter[
        Array, npt.ArrayLike
    ](
        "line_direction", "", _line, "the direction of the line, of length 1 ``(3,)``", (3,), 9, _along, parameters.ARRAYS
    ).accessors()
    get_default_point_on_line, set_default_point_on_line, get_point_on_line, set_point_on_line = parameters.vector(
        "point_on_line", "length", "the point on the line, in its body"
    ).accessors()
    get_default_follower_station, set_default_follower_station, get_follower_station, set_follower_station = parameters.vector(
        "follower_station", "length", "the point on the follower, from its origin and in its frame"
    ).accessors()

    def get_force_on_follower_point(self, state: State) -> Array:
        """The forces on the follower's point along the two directions across the line ``(2,)``. Needs ACCELERATION."""
        self._need_enabled(state, "get_force_on_follower_point")
        return 0.0 - self.get_multipliers(state)

    get_line_display_half_length, set_line_display_half_length = displayed(
        "line_display_half_length", "half_length", "half the length of the line that pictures show; length"
    )

    def marks(self, state: State) -> list[Mark]:
        marks: list[Mark] = []
        if self._line_display_half_length > 0.0:
            p, half = self.get_point_on_line(state), self._line_display_half_length * self.get_line_direction(state)
            marks.append((self.constrained_bodies[0], decoration.Line(p - half, p + half, color=FIRST)))
        return marks + self.mark_of_follower(state)
