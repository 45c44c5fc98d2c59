"""StepStatus: why a time stepper stopped."""

import enum

from ..value.attributes import NamedMembers


class StepStatus(enum.Enum, metaclass=NamedMembers):
    """Why `TimeStepper.step_to` returned.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    >>> stepper.initialize(state)
    >>> stepper.step_to(0.1).name
    'REACHED_REPORT_TIME'
    """

    #: The time asked for; or where all significant states are reported, a scheduled report's.
    REACHED_REPORT_TIME = 1
    #: A witness has changed sign; the state is the one before handlers change it.
    REACHED_EVENT_TRIGGER = 2
    #: A scheduled event's time; the state is the one before handlers change it.
    REACHED_SCHEDULED_EVENT = 3
    #: A step has ended, in a system that has events for that.
    TIME_HAS_ADVANCED = 4
    #: The integrator's `internal_step_limit`.
    REACHED_STEP_LIMIT = 5
    #: The integrator's final time, or a handler has ended the simulation.
    END_OF_SIMULATION = 6
    #: The initial state, or the one that handlers have left.
    START_OF_CONTINUOUS_INTERVAL = 7
