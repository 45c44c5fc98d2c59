"""StopWhen: ends the simulation when a witness changes sign."""

from __future__ import annotations

from ..state.state import State
from .when import When


class StopWhen(When):
    """Ends the simulation when *witness* changes sign. Parameters are those of `When`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> upper = system.matter.get_mobilized_body(1)
    >>> system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(upper, value=0.0)))
    >>> stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
    >>> stepper.initialize(state)
    >>> stepper.step_to(10.0)
    <StepStatus.END_OF_SIMULATION: 6>
    >>> stepper.termination.message
    'StopWhen ended the simulation'
    """

    def handle_event(self, state: State, accuracy: float) -> bool:
        """End the simulation."""
        return True
