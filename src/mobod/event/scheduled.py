"""Scheduled: the form of events whose time is known beforehand."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from .handler import EventHandler
from .reporter import EventReporter

if TYPE_CHECKING:
    from ..state import State


class Scheduled(abc.ABC):
    """Events whose next time can be told from the state."""

    @abc.abstractmethod
    def get_next_event_time(self, state: State, include_current_time: bool) -> float:
        """Tell when the next event is; infinity where there is none to come.

        It is asked anew after each event and each report, since the answer may depend on what they changed.

        Parameters
        ----------
        state : State
            Realized to ACCELERATION; not to be changed.
        include_current_time : bool
            Whether the state's own time is an answer: False once that time's events have been dealt with.
        """


class ScheduledHandler(Scheduled, EventHandler):
    """An `EventHandler` called at times that `get_next_event_time` tells; no step goes beyond them."""


class ScheduledReporter(Scheduled, EventReporter):
    """An `EventReporter` called at times that `get_next_event_time` tells."""
