"""When: base class of the ready-made handlers that watch a witness."""

from __future__ import annotations

from typing import Any

from ..state.state import State
from ..state.trigger_info import TriggerInfo
from .triggered import TriggeredHandler
from .witness import Witness, as_witness


class When(TriggeredHandler):
    """A handler that watches a witness.

    Parameters
    ----------
    witness : Witness, Measure or callable
        One of `mobod.event`'s, what has ``get_value(state)``, or a function of the state realized to ACCELERATION.
    **settings
        As `event.Triggered` takes them: ``rising``, ``falling``, ``window``, ``absolute_window``, ``name``.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> level = mb.event.StopWhen(mb.event.Coordinate(system.matter.bodies["lower"], 0, 0.0))
    >>> system.add_event_handler(level)
    >>> motion = mb.simulate(system, state, 5.0)
    >>> bool(abs(motion.q[-1, 1]) < 1e-3)
    True
    """

    def __init__(self, witness: Any, **settings: Any) -> None:
        self.witness = witness
        super().__init__(self.witness.required_stage, **settings)

    @property
    def witness(self) -> Witness:
        """Its witness; what is set may be all that the constructor takes."""
        return self._witness

    @witness.setter
    def witness(self, witness: Any) -> None:
        self._witness = as_witness(witness)
        self._required_stage = self._witness.required_stage
        TriggerInfo.changes += 1

    def get_witness(self) -> Witness:
        """Its witness."""
        return self.witness

    def get_value(self, state: State) -> float:
        """Compute the witness."""
        return self.witness.calc_value(state)
