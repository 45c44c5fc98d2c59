"""Cause: why a subsystem is told of events."""

import enum


class Cause(enum.Enum):
    """What `Subsystem.handle_events` and `Subsystem.report_events` are called for."""

    #: Once, when a time stepper starts; no event numbers.
    INITIALIZATION = 1
    #: Event triggers of the subsystem have changed sign.
    TRIGGERED = 2
    #: The time that the subsystem named has come.
    SCHEDULED = 3
    #: A step has ended, in systems that ask for it; no event numbers.
    TIME_ADVANCED = 4
    #: Someone called for it; the time stepper never does.
    SIGNALED = 5
    #: Once, at the end of the simulation; no event numbers.
    TERMINATION = 6
