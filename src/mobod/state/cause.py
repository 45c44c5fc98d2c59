"""Cause: why a subsystem's event hooks are called."""

import enum

from ..value.attributes import NamedMembers


class Cause(enum.Enum, metaclass=NamedMembers):
    """The cause of a call of `Subsystem.handle_events` and `Subsystem.report_events`.

    Examples
    --------
    >>> import mobod as mb
    >>> [cause.name for cause in mb.event.Cause]
    ['INITIALIZATION', 'TRIGGERED', 'SCHEDULED', 'TIME_ADVANCED', 'SIGNALED', 'TERMINATION']
    """

    #: Once, when a time stepper starts; no event numbers.
    INITIALIZATION = 1
    #: Event triggers of the subsystem have changed sign.
    TRIGGERED = 2
    #: The time of a scheduled event of the subsystem has been reached.
    SCHEDULED = 3
    #: A step has ended, in systems that ask for it; no event numbers.
    TIME_ADVANCED = 4
    #: A direct call; the time stepper never makes one.
    SIGNALED = 5
    #: Once, at the end of the simulation; no event numbers.
    TERMINATION = 6
