"""EventReporter: what looks at a state when an event happens."""

from __future__ import annotations

import abc

from ..state.state import State
from .called import Called


class EventReporter(Called):
    """Looks at the state when something happens. Derive from one of its forms in `mobod.event`.

    1. The form says when: `event.ScheduledReporter`, `event.PeriodicReporter`, `event.TriggeredReporter`.
    2. `handle_event` looks. It sees the state before handlers of the same time change it.
    3. ``system.add_event_reporter(reporter)`` makes it part of a system; a `TimeStepper` that is initialized then calls it.

    Reports change nothing about the steps that are taken: the state between two steps is interpolated.

    Parameters
    ----------
    name : str, optional
        For messages; the class's name unless given.

    Examples
    --------
    >>> import mobod as mb
    >>> class Tell(mb.event.PeriodicReporter):
    ...     def handle_event(self, state):
    ...         print(f"{state.time:.2f}")
    >>> system, state = mb.examples.double_pendulum.build()
    >>> system.add_event_reporter(Tell(0.25))
    >>> trajectory = mb.simulate(system, state, 0.6)
    0.00
    0.25
    0.50
    """

    _ROLE = "Reporter"

    @abc.abstractmethod
    def handle_event(self, state: State) -> None:
        """Look at *state*, which is realized to ACCELERATION.

        It may be realized further, but not changed: `ModelError` comes of that. It is the time stepper's own; ``state.copy()``
        is for keeping.
        """
