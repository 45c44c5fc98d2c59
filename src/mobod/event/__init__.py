"""Events: what happens at a time, or where a witness function changes sign, while a `TimeStepper` goes on.

A handler changes the state, a reporter looks at it. Both come in three forms: `Scheduled`, `Periodic` and `Triggered`. Ready to
use are `StopWhen`, `LockWhen` and `ImpactWhen`, which watch a `Witness`, and `RecordEvery`.
"""

from ..state.cause import Cause
from ..state.trigger_info import TriggerInfo
from ..value.attributes import explain_names
from .coordinate import Coordinate
from .gap import Gap
from .handler import EventHandler
from .impact_when import ImpactWhen
from .lock_when import LockWhen
from .periodic import Periodic, PeriodicHandler, PeriodicReporter
from .plane_distance import PlaneDistance
from .record_every import RecordEvery
from .reporter import EventReporter
from .scheduled import Scheduled, ScheduledHandler, ScheduledReporter
from .speed import Speed
from .stop_when import StopWhen
from .termination import Termination, TerminationReason
from .triggered import Triggered, TriggeredHandler, TriggeredReporter
from .when import When
from .witness import FunctionWitness, Witness

#: The names that Simbody's users know.
ScheduledEventHandler, ScheduledEventReporter = ScheduledHandler, ScheduledReporter
PeriodicEventHandler, PeriodicEventReporter = PeriodicHandler, PeriodicReporter
TriggeredEventHandler, TriggeredEventReporter = TriggeredHandler, TriggeredReporter
EventTriggerInfo = TriggerInfo

__all__ = [
    "Cause",
    "Coordinate",
    "EventHandler",
    "EventReporter",
    "EventTriggerInfo",
    "FunctionWitness",
    "Gap",
    "ImpactWhen",
    "LockWhen",
    "Periodic",
    "PeriodicEventHandler",
    "PeriodicEventReporter",
    "PeriodicHandler",
    "PeriodicReporter",
    "PlaneDistance",
    "RecordEvery",
    "Scheduled",
    "ScheduledEventHandler",
    "ScheduledEventReporter",
    "ScheduledHandler",
    "ScheduledReporter",
    "Speed",
    "StopWhen",
    "Termination",
    "TerminationReason",
    "TriggerInfo",
    "Triggered",
    "TriggeredEventHandler",
    "TriggeredEventReporter",
    "TriggeredHandler",
    "TriggeredReporter",
    "When",
    "Witness",
]

explain_names(__name__)
