"""Termination: why a simulation has ended."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ..value.attributes import NamedMembers


class TerminationReason(enum.Enum, metaclass=NamedMembers):
    """What ended a simulation."""

    #: The integrator's final time.
    REACHED_FINAL_TIME = 1
    #: An event handler, or a subsystem's `handle_events`, asked for it.
    EVENT_HANDLER_REQUESTED_TERMINATION = 3


@dataclass(frozen=True)
class Termination:
    """Why and when a simulation has ended.

    Attributes
    ----------
    reason : TerminationReason
    time : float
    handler : EventHandler or Subsystem or None
        What asked for it; the first that did, where several did at once.
    message : str
        The same in words.
    """

    reason: TerminationReason
    time: float
    handler: Any
    message: str
