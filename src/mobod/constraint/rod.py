"""Rod: two points at a given distance, as though a massless rod with ball joints connected them.

    p = p_2 - p_1, u = p / |p|     perr = |p| - length     verr = u.(v_2 - v_1)
    aerr = u.(a_2 - a_1) + (|v_2 - v_1|^2 - (u.(v_2 - v_1))^2) / |p|

A positive multiplier is a tension: forces +u on body 1 and -u on body 2 (G^T lambda is on the side of M udot). Where the points
coincide, u is taken along x. The error is a length, not a length squared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from ..algebra import vec3
from ..algebra.arrays import Array
from ..algebra.memory import load3
from ..algebra.scalar import one, sqrt, where, zero
from ..compiling import generic
from ..errors import ModelError
from ..state import parameters
from ..state.state import State
from ..value.checks import finite, shown
from ..value.rows import in_rows, positive
from . import access
from ._parameters import BETWEEN, FIRST, SECOND, Line, Mark, OneEquation, body_of, index_of
from .base import AnyBody


@generic
def _geometry(model: Any, c: int) -> Any:
    """The points from the bodies' origins, the unit vector from the first to the second, and the distance."""
    b1, b2 = access.body(model, c, 0), access.body(model, c, 1)
    r1 = access.from_origin(model, b1, access.vector(model, c, 0))
    r2 = access.from_origin(model, b2, access.vector(model, c, 3))
    p = vec3.sub(vec3.add(load3(model.p_GB, b2, 0), r2), vec3.add(load3(model.p_GB, b1, 0), r1))
    square = vec3.dot(p, p)
    apart = square > 0.0
    distance = sqrt(where(apart, square, one(square)))
    o = zero(square)
    u = where(apart, p[0] / distance, one(square)), where(apart, p[1] / distance, o), where(apart, p[2] / distance, o)
    return r1, r2, u, where(apart, distance, o)


@generic
def positions(model: Any, c: int) -> None:
    """perr, and a force along the rod on either body."""
    r1, r2, u, distance = _geometry(model, c)
    access.put_position_error(model, c, 0, distance - access.number(model, c, 6))
    access.put_force(model, c, 0, 0, r1, vec3.neg(u))
    access.put_force(model, c, 0, 1, r2, u)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    r1, r2, u, distance = _geometry(model, c)
    b1, b2 = access.body(model, c, 0), access.body(model, c, 1)
    dv = vec3.sub(access.velocity_at(model, b2, r2), access.velocity_at(model, b1, r1))
    da = vec3.sub(access.centripetal(model, b2, r2), access.centripetal(model, b1, r1))
    along = vec3.dot(u, dv)
    across = vec3.dot(dv, dv) - along * along
    turning = where(distance > 0.0, across / where(distance > 0.0, distance, one(distance)), zero(distance))
    access.put_acceleration_offset(model, c, 0, vec3.dot(u, da) + turning)


def _length(what: str, value: Any) -> float:
    """A finite number above zero."""
    length = finite(what, value)
    if length <= 0.0:
        raise ModelError(f"{what} has to be positive, got {shown(value)}; two points that coincide are a constraint.Ball")
    return length


in_rows(_length)(positive)


class Rod(OneEquation):
    """Keeps two points at a distance: one equation of positions.

    Parameters
    ----------
    body1, body2 : MobilizedBody, int or str
        Two bodies of one system, one of which may be Ground; one of them may be given by its index or name.
    station1, station2 : (3,) array_like
        The points, from each body's origin and in its frame; length.
    length : float
        Their distance, positive; length.

    Notes
    -----
    The multiplier is the tension; force. A distance of zero takes three equations: use `Ball`.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.Rod(matter.ground, (0, 0, 0), one, (0, 0, 0), 1.0)
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (0.2, 0.9, 0.3))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> float(np.linalg.norm(one.get_body_origin_location(state)).round(3))
    1.0
    """

    routine = access.by_address(positions, velocities)

    def __init__(
        self,
        body1: AnyBody,
        station1: npt.ArrayLike,
        body2: AnyBody,
        station2: npt.ArrayLike,
        length: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self.default_numbers = self.declared(name, station1=station1, station2=station2, length=length)
        super().__init__([body1, body2], equations=(1, 0, 0), disabled_by_default=disabled_by_default, name=name)

    get_mobilized_body1 = body_of("mobilized_body1", 0, "the first one")
    get_mobilized_body2 = body_of("mobilized_body2", 1, "the second one")
    get_body1_mobilized_body_index = index_of("body1", 0, "the first one")
    get_body2_mobilized_body_index = index_of("body2", 1, "the second one")
    get_default_station1, set_default_station1, get_station1, set_station1 = parameters.vector(
        "station1", "length", "the point on the first body, from its origin and in its frame"
    ).accessors()
    get_default_station2, set_default_station2, get_station2, set_station2 = parameters.vector(
        "station2", "length", "the point on the second body, likewise"
    ).accessors()
    get_default_length, set_default_length, get_length, set_length = parameters.scalar(
        "length", "length", _length, "the distance of the points"
    ).accessors()

    def get_rod_tension(self, state: State) -> float:
        """The force with which the rod pulls its ends together; zero where disabled. Needs ACCELERATION."""
        multipliers = self.get_multipliers_as_vector(state)
        return float(multipliers[0]) if len(multipliers) else 0.0

    def find_rod_orientation_in_g(self, state: State) -> Array:
        """The unit vector from the first point to the second in Ground ``(3,)``, x where they coincide. Needs POSITION."""
        p = self._from_first_to_second(state)
        distance = float(np.linalg.norm(p))
        return p / distance if distance > 0.0 else np.array([1.0, 0.0, 0.0])

    def find_length_violation(self, state: State) -> float:
        """The distance of the points less the length, whether enabled or not. Needs POSITION."""
        return float(np.linalg.norm(self._from_first_to_second(state))) - self.get_length(state)

    def _from_first_to_second(self, state: State) -> Array:
        points = self.get_station1(state), self.get_station2(state)
        one_end, other = (
            body.find_station_location_in_ground(state, point)
            for body, point in zip(self.constrained_bodies, points, strict=True)
        )
        return other - one_end

    def marks(self, state: State) -> list[Mark]:
        one_end, other = self.get_station1(state), self.get_station2(state)
        points = decoration.Point(one_end, color=FIRST), decoration.Point(other, color=SECOND)
        return list(zip(self.constrained_bodies, points, strict=True))

    def lines(self, state: State) -> list[Line]:
        body1, body2 = self.constrained_bodies
        return [(body1, self.get_station1(state), body2, self.get_station2(state), BETWEEN)]
