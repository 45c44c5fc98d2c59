"""Scale: a multiple of a measure.

m = f o   m' = f o'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra.scalar import store
from ..compiling import generic
from ..value import checks
from ..value.stage import Stage
from .base import Joined, Measure, check_measure, fewest
from .routines import by_address, number, result

if TYPE_CHECKING:
    from ..state.state import State
    from .program import Program


@generic
def operate(model: Any, i: int, out: int) -> None:
    """Integers: how many numbers, where the operand is, the place of the factor."""
    n, operand, factor = model.measure_code[i], model.measure_code[i + 1], number(model, model.measure_code[i + 2])
    for k in range(n):
        store(model.measure_values, out + k, 0, factor * result(model, operand + k))


operation = by_address(operate)


class Scale(Measure):
    """A number times a measure; ``factor * operand`` makes it too.

    Parameters
    ----------
    factor : float
    operand : Measure
        Of the same system.

    Raises
    ------
    ModelError
        If the factor is not finite.
    TopologyError
        If the operand is of another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> angle = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> part = mb.measure.Scale(system.matter, 10.0, angle)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> float(part.get_value(state))
    4.0
    """

    def __init__(self, subsystem: Joined, factor: float, operand: Measure, *, name: str | None = None) -> None:
        self.factor = checks.finite("the factor of a Scale", factor)
        self.operand = check_measure("Scale", operand)
        super().__init__(subsystem, operand.shape, name=name)

    def get_operand_measure(self) -> Measure:
        """The measure that is multiplied."""
        return self.operand

    def get_scale_factor(self) -> float:
        """The number."""
        return self.factor

    def set_scale_factor(self, factor: float) -> None:
        """Change the number: a topological change; `ModelError` where it is not finite."""
        self.factor = checks.finite(f"the factor of {self!r}", factor)
        self.invalidate_topology()

    def operands(self) -> tuple[Measure, ...]:
        return (self.operand,)

    def _calc(self, state: State, deriv_order: int) -> Any:
        return self.factor * self.operand.get_value(state, deriv_order)

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return fewest(self.operands(), seen)

    def depends_on(self, deriv_order: int) -> Stage:
        return self.operand.depends_on(deriv_order)

    def write_value(self, program: Program, order: int) -> int:
        n, operand = self.default.size, program.value_of(self.operand, order)
        return program.call(operation, n, operand, program.keep(self.factor), results=n)
