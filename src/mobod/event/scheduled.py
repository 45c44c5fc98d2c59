"""Scheduled: the form of events whose time is known beforehand."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from ..value.attributes import Sealed
from .handler import EventHandler
from .reporter import EventReporter

if TYPE_CHECKING:
    from ..state.state import State


class Scheduled(Sealed, abc.ABC):
    """Events whose next time can be computed from the state."""

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
    """An `EventHandler` called at the times of `get_next_event_time`; no step goes beyond them."""


class ScheduledReporter(Scheduled, EventReporter):
    """An `EventReporter` called at the times of `get_next_event_time`."""
