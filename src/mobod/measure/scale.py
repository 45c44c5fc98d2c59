"""Scale: a multiple of a measure.

m = f o   m' = f o'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..stage import Stage
from ..value import _checked
from .base import Measure, check_measure, fewest

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem


class Scale(Measure):
    """A number times a measure; ``factor * operand`` makes it too.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    factor : float
    operand : Measure
        Of the same system.

    Raises
    ------
    ModelError
        If the factor is not finite.
    TopologyError
        If the operand is of another system.
    """

    def __init__(self, subsystem: Subsystem | None, factor: float, operand: Measure, *, name: str | None = None) -> None:
        self._factor = _checked.number(factor, "the factor of a Scale")
        self._operand = check_measure("Scale", operand)
        super().__init__(subsystem, operand._shape, name=name)

    def get_operand_measure(self) -> Measure:
        """What is multiplied."""
        operand: Measure = self._operand
        return operand

    def get_scale_factor(self) -> float:
        """The number."""
        return self._factor

    def set_scale_factor(self, factor: float) -> None:
        """Change the number: a topological change; `ModelError` where it is not finite."""
        self._factor = _checked.number(factor, f"the factor of {self!r}")
        self._invalidate_topology()

    def _operands(self) -> tuple[Measure, ...]:
        return (self._operand,)

    def _calc(self, state: State, deriv_order: int) -> Any:
        return self._factor * self._operand.get_value(state, deriv_order)

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        return fewest(self._operands(), seen)

    def _depends_on(self, deriv_order: int) -> Stage:
        stage: Stage = self._operand._depends_on(deriv_order)
        return stage
