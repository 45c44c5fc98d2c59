"""Plus: the sum of two measures.

m = l + r   m' = l' + r'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..stage import Stage
from .base import Measure, fewest, same_shape

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem


class Plus(Measure):
    """The sum of two measures of one size; ``left + right`` makes it too.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    left, right : Measure
        Of the same system.

    Raises
    ------
    ValueError
        If they have not one size.
    TopologyError
        If one is of another system.

    Notes
    -----
    It has as many derivatives as both operands have, and needs the higher of their stages.
    """

    def __init__(self, subsystem: Subsystem | None, left: Measure, right: Measure, *, name: str | None = None) -> None:
        shape = same_shape(type(self).__name__, left, right)
        self._left, self._right = left, right
        super().__init__(subsystem, shape, name=name)

    def _operands(self) -> tuple[Measure, ...]:
        return self._left, self._right

    def _calc(self, state: State, deriv_order: int) -> Any:
        return self._left.get_value(state, deriv_order) + self._right.get_value(state, deriv_order)

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        return fewest(self._operands(), seen)

    def _depends_on(self, deriv_order: int) -> Stage:
        return max(self._left._depends_on(deriv_order), self._right._depends_on(deriv_order))
