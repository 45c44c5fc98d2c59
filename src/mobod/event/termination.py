"""Termination: why a simulation has ended."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ..value.attributes import NamedMembers


class TerminationReason(enum.Enum, metaclass=NamedMembers):
    """Reason for which a simulation ended.

    Examples
    --------
    >>> import mobod as mb
    >>> [reason.name for reason in mb.event.TerminationReason]
    ['REACHED_FINAL_TIME', 'EVENT_HANDLER_REQUESTED_TERMINATION']
    """

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

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(system.matter.bodies["lower"], 0, 0.0)))
    >>> stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    >>> stepper.initialize(state)
    >>> status = stepper.step_to(5.0)
    >>> stepper.termination.reason.name, round(stepper.termination.time, 2)
    ('EVENT_HANDLER_REQUESTED_TERMINATION', 0.79)
    """

    reason: TerminationReason
    time: float
    handler: Any
    message: str
