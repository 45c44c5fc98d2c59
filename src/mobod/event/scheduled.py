"""Scheduled: the form of events whose time is known beforehand."""

from __future__ import annotations

import abc

from ..state.state import State
from ..value.abstract import Abstract
from ..value.attributes import Sealed
from .handler import EventHandler
from .reporter import EventReporter


class Scheduled(Sealed, Abstract):
    """Events whose next time can be computed from the state.

    Examples
    --------
    >>> import mobod as mb
    >>> class Once(mb.event.ScheduledHandler):  # a handler of the kind
    ...     def get_next_event_time(self, state, include_current_time):
    ...         return 0.5 if state.time < 0.5 or (include_current_time and state.time == 0.5) else float("inf")
    ...     def handle_event(self, state, accuracy):
    ...         state.u = 0.0 * state.u
    >>> isinstance(Once(), mb.event.Scheduled)
    True
    """

    @abc.abstractmethod
    def get_next_event_time(self, state: State, include_current_time: bool) -> float:
        """The time of the next event; infinity where there is none to come.

        It is called again after each event and each report, since the time may depend on what they changed.

        Parameters
        ----------
        state : State
            Realized to ACCELERATION; not to be changed.
        include_current_time : bool
            Whether the state's own time is an answer: False once that time's events have been dealt with.
        """


class ScheduledHandler(Scheduled, EventHandler):
    """An `EventHandler` called at the times of `get_next_event_time`; no step goes beyond them.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> class Stop(mb.event.ScheduledHandler):
    ...     def get_next_event_time(self, state, include_current_time):
    ...         return 0.5 if state.time < 0.5 or (include_current_time and state.time == 0.5) else float("inf")
    ...     def handle_event(self, state, accuracy):
    ...         state.u = 0.0, 0.0
    >>> system.add_event_handler(Stop())
    >>> motion = mb.simulate(system, state, 0.5, report_interval=0.25)
    >>> len(motion.time)
    3
    """


class ScheduledReporter(Scheduled, EventReporter):
    """An `EventReporter` called at the times of `get_next_event_time`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> class Once(mb.event.ScheduledReporter):
    ...     def get_next_event_time(self, state, include_current_time):
    ...         return 0.5 if state.time < 0.5 or (include_current_time and state.time == 0.5) else float("inf")
    ...     def handle_event(self, state):
    ...         print("half a second:", state.time)
    >>> system.add_event_reporter(Once())
    >>> motion = mb.simulate(system, state, 1.0)
    half a second: 0.5
    """
