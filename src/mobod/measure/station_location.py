"""StationLocation: where a point of a body is in Ground.

m = p_GS   m' = v_GS   m'' = a_GS
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..stage import Stage
from ..value import _checked
from .base import Measure
from .coordinate import _checked_body

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State
    from ..subsystem import Subsystem

_STAGES = (Stage.POSITION, Stage.VELOCITY, Stage.ACCELERATION)
_ASKED = ("find_station_location_in_ground", "find_station_velocity_in_ground", "find_station_acceleration_in_ground")


class StationLocation(Measure):
    """Where a point fixed on a body is in Ground ``(3,)``, with its velocity and acceleration. Needs POSITION.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    mobod : MobilizedBody
        Whose point.
    station : (3,) array_like
        The point, from the body's origin, in the body's frame; the origin unless given.

    Raises
    ------
    TypeError
        If *mobod* is no mobilized body.
    """

    def __init__(
        self,
        subsystem: Subsystem | None,
        mobod: MobilizedBody,
        station: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        name: str | None = None,
    ) -> None:
        self._mobod = _checked_body("StationLocation", mobod)
        self._station = _checked.vector(station, "the station of a StationLocation")
        super().__init__(subsystem, (3,), name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        return getattr(self._mobod, _ASKED[deriv_order])(state, self._station)

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        return 2

    def _depends_on(self, deriv_order: int) -> Stage:
        return _STAGES[deriv_order]
