"""Time: the state's time.

m = t   m' = 1   m'' = 0
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, store
from ..compiling import generic
from ..function.base import UNLIMITED
from ..state.state import State
from ..value.stage import Stage
from .base import Joined, Measure
from .program import Program
from .routines import by_address


@generic
def operate(model: Any, i: int, out: int) -> None:
    """It has no integers."""
    store(model.measure_values, out, 0, load(model.time, 0, 0))


operation = by_address(operate)


class Time(Measure):
    """The state's time. Needs TIME.

    Parameters
    ----------
    subsystem : Subsystem, optional
        What it joins.
    name : str, optional
        For messages; its kind and its index unless given.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.measure.Time(system.matter)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> float(part.get_value(state))
    0.0
    """

    def __init__(self, subsystem: Joined = None, *, name: str | None = None) -> None:
        super().__init__(subsystem, name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        return state.time if deriv_order == 0 else float(deriv_order == 1)

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return UNLIMITED

    def depends_on(self, deriv_order: int) -> Stage:
        return Stage.EMPTY if deriv_order else Stage.TIME

    def write_value(self, program: Program, order: int) -> int:
        return program.constant(float(order == 1), 1) if order else program.call(operation, results=1)
