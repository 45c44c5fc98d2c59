"""EventHandler: what changes a state when an event happens."""

from __future__ import annotations

import abc

from ..state.state import State
from .called import Called


class EventHandler(Called):
    """Changes the state when something happens. Derive from one of its forms in `mobod.event`.

    1. The form says when: `event.ScheduledHandler`, `event.PeriodicHandler`, `event.TriggeredHandler`.
    2. `handle_event` says what happens.
    3. ``system.add_event_handler(handler)`` makes it part of a system; a `TimeStepper` that is initialized then calls it.

    Parameters
    ----------
    name : str, optional
        For messages; the class's name unless given.

    Examples
    --------
    A kick every half unit of time:

    >>> import mobod as mb
    >>> class Kick(mb.event.PeriodicHandler):
    ...     def handle_event(self, state, accuracy):
    ...         state.u = state.u + 1.0
    >>> system, state = mb.examples.double_pendulum.build()
    >>> system.add_event_handler(Kick(0.5))
    >>> trajectory = mb.simulate(system, state, 1.0)
    """

    _ROLE = "Handler"

    @abc.abstractmethod
    def handle_event(self, state: State, accuracy: float) -> bool | None:
        """Change *state* as the event does.

        Parameters
        ----------
        state : State
            At the event, realized to ACCELERATION. It may be changed in everything but its time; when this returns prescribed
            values are set, quaternions are normalized, and it is realized again. If this raises, the state is what it was
            before the event, and `TimeStepper.step_to` raises the same.
        accuracy : float
            The integrator's accuracy, for problems that the handler itself solves.

        Returns
        -------
        bool or None
            True ends the simulation.
        """
