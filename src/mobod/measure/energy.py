"""Energy: kinetic and potential energy of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..stage import Stage
from .base import Measure

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem


class Energy(Measure):
    """Kinetic and potential energy of the whole system, mass*length^2/time^2. Needs DYNAMICS.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    """

    def __init__(self, subsystem: Subsystem | None, *, name: str | None = None) -> None:
        super().__init__(subsystem, name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        return float(state._system.calc_energy(state))

    def _depends_on(self, deriv_order: int) -> Stage:
        return Stage.DYNAMICS
