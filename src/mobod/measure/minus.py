"""Minus: the difference of two measures.

m = l - r   m' = l' - r'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .plus import Plus

if TYPE_CHECKING:
    from ..state.state import State
    from .program import Program


class Minus(Plus):
    """The first of two measures less the second; ``left - right`` makes it too. Otherwise as `Plus`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.Minus(system.matter, angle, mb.measure.One(system.matter))
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> round(float(part.get_value(state)), 6)
    -0.6
    """

    def _calc(self, state: State, deriv_order: int) -> Any:
        return self.left.get_value(state, deriv_order) - self.right.get_value(state, deriv_order)

    def write_value(self, program: Program, order: int) -> int:
        return self._written(program, order, -1.0)
