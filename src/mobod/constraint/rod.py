"""Rod: two points at a given distance, as though a massless rod with ball joints connected them.

    p = p_2 - p_1, u = p / |p|     perr = |p| - length     verr = u.(v_2 - v_1)
    aerr = u.(a_2 - a_1) + (|v_2 - v_1|^2 - (u.(v_2 - v_1))^2) / |p|

A positive multiplier is a tension: forces +u on body 1 and -u on body 2 (G^T lambda is on the side of M udot). Where the points
coincide, u is taken along x. The error is a length, not a length squared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from .._jit import generic
from ..algebra import vec3
from ..algebra.memory import load3
from ..algebra.scalar import one, sqrt, where, zero
from . import _access
from .base import Constraint, finite, station

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State


@generic
def _geometry(model: Any, c: int) -> Any:
    """The points from the bodies' origins, the unit vector from the first to the second, and the distance."""
    b1, b2 = _access.body(model, c, 0), _access.body(model, c, 1)
    r1 = _access.from_origin(model, b1, _access.vector(model, c, 0))
    r2 = _access.from_origin(model, b2, _access.vector(model, c, 3))
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
    _access.put_position_error(model, c, 0, distance - _access.number(model, c, 6))
    _access.put_force(model, c, 0, 0, r1, vec3.neg(u))
    _access.put_force(model, c, 0, 1, r2, u)


@generic
def velocities(model: Any, c: int) -> None:
    """What aerr has beside G udot."""
    r1, r2, u, distance = _geometry(model, c)
    b1, b2 = _access.body(model, c, 0), _access.body(model, c, 1)
    dv = vec3.sub(_access.velocity_at(model, b2, r2), _access.velocity_at(model, b1, r1))
    da = vec3.sub(_access.centripetal(model, b2, r2), _access.centripetal(model, b1, r1))
    along = vec3.dot(u, dv)
    across = vec3.dot(dv, dv) - along * along
    turning = where(distance > 0.0, across / where(distance > 0.0, distance, one(distance)), zero(distance))
    _access.put_acceleration_offset(model, c, 0, vec3.dot(u, da) + turning)


class Rod(Constraint):
    """Keeps two points at a distance: one equation of positions.

    Parameters
    ----------
    body1, body2 : MobilizedBody
        Two bodies of one system, one of which may be Ground.
    station1, station2 : (3,) array_like
        The points, from each body's origin and in its frame; length.
    length : float
        Their distance, positive; length.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.

    Notes
    -----
    The multiplier is the tension; force. A distance of zero takes three equations: use `Ball`.
    """

    routine = _access.by_address(positions, velocities)

    def __init__(
        self,
        body1: MobilizedBody,
        station1: npt.ArrayLike,
        body2: MobilizedBody,
        station2: npt.ArrayLike,
        length: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._station1, self._station2 = station("station1", station1), station("station2", station2)
        self._length = _length(length)
        super().__init__([body1, body2], equations=(1, 0, 0), disabled_by_default=disabled_by_default, name=name)

    def get_length(self, state: State) -> float:
        """The length in this state. Needs MODEL."""
        return float(self._number_run(state, "get_length")[6])

    def set_length(self, state: State, length: float) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._change_numbers(state, "set_length", 6, [_length(length)])

    def _numbers(self) -> list[float]:
        return [*self._station1, *self._station2, self._length]


def _length(value: float) -> float:
    number = finite("length", value)
    if number <= 0.0:
        raise ValueError(f"the length of a rod has to be positive, got {value}; two points that coincide are a constraint.Ball")
    return number
