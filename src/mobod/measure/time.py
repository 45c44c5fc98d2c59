"""Time: the state's time.

m = t   m' = 1   m'' = 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..function.base import UNLIMITED
from ..stage import Stage
from .base import Measure

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem


class Time(Measure):
    """The state's time. Needs TIME.

    Parameters
    ----------
    subsystem : Subsystem, optional
        What it joins.
    """

    def __init__(self, subsystem: Subsystem | None = None, *, name: str | None = None) -> None:
        super().__init__(subsystem, name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        return state.time if deriv_order == 0 else float(deriv_order == 1)

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        return UNLIMITED

    def _depends_on(self, deriv_order: int) -> Stage:
        return Stage.EMPTY if deriv_order else Stage.TIME
