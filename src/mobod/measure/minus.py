"""Minus: the difference of two measures.

m = l - r   m' = l' - r'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .plus import Plus

if TYPE_CHECKING:
    from ..state import State


class Minus(Plus):
    """The first of two measures less the second; ``left - right`` makes it too. Otherwise as `Plus`."""

    def _calc(self, state: State, deriv_order: int) -> Any:
        return self._left.get_value(state, deriv_order) - self._right.get_value(state, deriv_order)
