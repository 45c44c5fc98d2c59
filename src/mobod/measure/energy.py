"""Energy: kinetic and potential energy of the system."""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import store
from ..compiling import generic
from ..force import dispatch as forces
from ..state.state import State
from ..tree import momentum
from ..value.stage import Stage
from .base import Joined, Measure, NotCompiled
from .program import Program
from .routines import by_address


@generic
def operate(model: Any, i: int, out: int) -> None:
    """It has no integers."""
    store(model.measure_values, out, 0, momentum.kinetic_energy(model) + forces.total_potential_energy(model))


operation = by_address(operate)


class Energy(Measure):
    """Kinetic and potential energy of the whole system, mass*length^2/time^2. Needs DYNAMICS.

    Parameters
    ----------
    subsystem : Subsystem or MultibodySystem
        Of the system whose energy it is.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.measure.Energy(system.matter)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> round(float(part.get_value(state)), 3)
    -17.964
    """

    def __init__(self, subsystem: Joined, *, name: str | None = None) -> None:
        super().__init__(subsystem, name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        return float(state.system.calc_energy(state))

    def depends_on(self, deriv_order: int) -> Stage:
        return Stage.DYNAMICS

    def write_value(self, program: Program, order: int) -> int:
        if order:
            raise NotCompiled
        return program.call(operation, results=1)
