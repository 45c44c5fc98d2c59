"""Minus: the difference of two measures.

m = l - r   m' = l' - r'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .plus import Plus

if TYPE_CHECKING:
    from ..state.state import State
    from ._program import Program


class Minus(Plus):
    """The first of two measures less the second; ``left - right`` makes it too. Otherwise as `Plus`."""

    def _calc(self, state: State, deriv_order: int) -> Any:
        return self.left.get_value(state, deriv_order) - self.right.get_value(state, deriv_order)

    def write_value(self, program: Program, order: int) -> int:
        return self._written(program, order, -1.0)
