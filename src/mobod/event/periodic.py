"""Periodic: the form of events that come at all multiples of an interval."""

from __future__ import annotations

import math

from ..state.state import State
from ..value.checks import positive
from .handler import EventHandler
from .reporter import EventReporter
from .scheduled import Scheduled


class Periodic(Scheduled):
    """Events at every time that is a multiple of an interval, the initial one included.

    Parameters
    ----------
    event_interval : float
        Time between events.
    name : str, optional
        For messages; the class's name unless given.

    Raises
    ------
    ValueError
        If the interval is not positive and finite.

    Examples
    --------
    >>> import mobod as mb
    >>> class Kick(mb.event.PeriodicHandler):  # a handler of the kind
    ...     def handle_event(self, state, accuracy):
    ...         state.u = state.u + 0.1
    >>> isinstance(Kick(0.5), mb.event.Periodic)
    True
    """

    #: Its ``__init__`` goes on to that of the handler or reporter, and so comes before it among the bases of a class.
    _comes_first = True

    def __init__(self, event_interval: float, *, name: str | None = None) -> None:
        super().__init__(name=name)  # type: ignore[call-arg]
        self.set_event_interval(event_interval)

    def get_event_interval(self) -> float:
        """Time between events."""
        return self._event_interval

    def set_event_interval(self, event_interval: float) -> None:
        """Change the time between events; positive. It holds from the next event on."""
        self._event_interval = positive("event_interval", event_interval, ValueError)

    def get_next_event_time(self, state: State, include_current_time: bool) -> float:
        """The next multiple of the interval."""
        time, interval = state.time, self._event_interval
        k = math.floor(time / interval) - 1.0  # the quotient may be a rounding too large
        while k * interval < time or (k * interval == time and not include_current_time):
            k += 1.0
        return k * interval


class PeriodicHandler(Periodic, EventHandler):
    """An `EventHandler` called at every multiple of *event_interval*.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> class Kick(mb.event.PeriodicHandler):
    ...     def handle_event(self, state, accuracy):
    ...         state.u = state.u + (0.1, 0.0)
    >>> system.add_event_handler(Kick(0.5))
    >>> motion = mb.simulate(system, state, 2.0)
    >>> float(motion.time[-1])
    2.0
    """


class PeriodicReporter(Periodic, EventReporter):
    """An `EventReporter` called at every multiple of *event_interval*.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> class Print(mb.event.PeriodicReporter):
    ...     def handle_event(self, state):
    ...         print(round(state.time, 3))
    >>> system.add_event_reporter(Print(0.5))
    >>> motion = mb.simulate(system, state, 1.0)
    0.0
    0.5
    1.0
    """
