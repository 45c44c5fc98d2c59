"""Plus: the sum of two measures.

m = l + r   m' = l' + r'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra.scalar import store
from ..compiling import generic
from ..value.stage import Stage
from .base import Joined, Measure, fewest, same_shape
from .routines import by_address, number, result

if TYPE_CHECKING:
    from ..state.state import State
    from .program import Program


@generic
def operate(model: Any, i: int, out: int) -> None:
    """Left and factor times right. Integers: how many numbers, where each operand is, the place of the factor."""
    n, left, right = model.measure_code[i], model.measure_code[i + 1], model.measure_code[i + 2]
    factor = number(model, model.measure_code[i + 3])
    for k in range(n):
        store(model.measure_values, out + k, 0, result(model, left + k) + factor * result(model, right + k))


operation = by_address(operate)


class Plus(Measure):
    """The sum of two measures of one size; ``left + right`` makes it too.

    Parameters
    ----------
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

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.Plus(system.matter, angle, mb.measure.One(system.matter))
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> float(part.get_value(state))
    1.4
    """

    def __init__(self, subsystem: Joined, left: Measure, right: Measure, *, name: str | None = None) -> None:
        shape = same_shape(type(self).__name__, left, right)
        self.left, self.right = left, right
        super().__init__(subsystem, shape, name=name)

    def operands(self) -> tuple[Measure, ...]:
        return self.left, self.right

    def _calc(self, state: State, deriv_order: int) -> Any:
        return self.left.get_value(state, deriv_order) + self.right.get_value(state, deriv_order)

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return fewest(self.operands(), seen)

    def depends_on(self, deriv_order: int) -> Stage:
        return max(self.left.depends_on(deriv_order), self.right.depends_on(deriv_order))

    def write_value(self, program: Program, order: int) -> int:
        return self._written(program, order, 1.0)

    def _written(self, program: Program, order: int, factor: float) -> int:
        n, left, right = self.default.size, program.value_of(self.left, order), program.value_of(self.right, order)
        return program.call(operation, n, left, right, program.keep(factor), results=n)
