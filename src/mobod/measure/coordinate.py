"""Coordinate: one generalized coordinate of a mobilizer.

m = q_i   m' = q_dot_i   m'' = q_dot_dot_i
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..stage import Stage
from .base import Measure

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State
    from ..subsystem import Subsystem

_STAGES = (Stage.MODEL, Stage.VELOCITY, Stage.ACCELERATION)


class Coordinate(Measure):
    """A coordinate q of a mobilizer, with its two derivatives. Needs MODEL; q_dot VELOCITY, q_dot_dot ACCELERATION.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    mobod : MobilizedBody
        Whose coordinate.
    which : int
        Which of its coordinates, from 0 on.

    Raises
    ------
    TypeError
        If *mobod* is no mobilized body.
    """

    def __init__(self, subsystem: Subsystem | None, mobod: MobilizedBody, which: int = 0, *, name: str | None = None) -> None:
        self._mobod, self._which = _checked_body("Coordinate", mobod), int(which)
        if self._which < 0:
            raise IndexError(f"coordinates of {mobod.name!r} are counted from 0, got {which}")
        super().__init__(subsystem, name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        mobod, which = self._mobod, self._which
        tree = state._tree_of(mobod, "get_value")
        b = mobod._index
        first, n = int(tree.first_q[b]), int(tree.num_q[b])
        if which >= n:
            raise IndexError(f"{self!r} asks for coordinate {which} of {mobod.name!r}, which has {n} in this state")
        return float((state._q, state._q_dot_view, state._q_dot_dot_view)[deriv_order][first + which])

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        return 2

    def _depends_on(self, deriv_order: int) -> Stage:
        return _STAGES[deriv_order]


def _checked_body(kind: str, mobod: Any) -> Any:
    if not hasattr(mobod, "find_station_location_in_ground"):
        raise TypeError(f"a {kind} measure is of a MobilizedBody, not of {mobod!r}")
    return mobod
