"""Events: what happens at a time, or where a witness function changes sign, while a `TimeStepper` goes on.

A handler changes the state, a reporter looks at it. Both come in three forms: `Scheduled`, `Periodic` and `Triggered`. Ready to
use are `StopWhen`, `LockWhen` and `ImpactWhen`, which watch a `Witness`, and `RecordEvery`.
"""

from ..state.cause import Cause as Cause
from ..state.trigger_info import TriggerInfo as TriggerInfo
from ..value.attributes import explain_names
from .coordinate import Coordinate as Coordinate
from .gap import Gap as Gap
from .handler import EventHandler as EventHandler
from .impact_when import ImpactWhen as ImpactWhen
from .lock_when import LockWhen as LockWhen
from .periodic import Periodic as Periodic, PeriodicHandler as PeriodicHandler, PeriodicReporter as PeriodicReporter
from .plane_distance import PlaneDistance as PlaneDistance
from .record_every import RecordEvery as RecordEvery
from .reporter import EventReporter as EventReporter
from .scheduled import Scheduled as Scheduled, ScheduledHandler as ScheduledHandler, ScheduledReporter as ScheduledReporter
from .speed import Speed as Speed
from .stop_when import StopWhen as StopWhen
from .termination import Termination as Termination, TerminationReason as TerminationReason
from .triggered import Triggered as Triggered, TriggeredHandler as TriggeredHandler, TriggeredReporter as TriggeredReporter
from .when import When as When
from .witness import FunctionWitness as FunctionWitness, Witness as Witness

#: The names that Simbody's users know.
ScheduledEventHandler, ScheduledEventReporter = ScheduledHandler, ScheduledReporter
PeriodicEventHandler, PeriodicEventReporter = PeriodicHandler, PeriodicReporter
TriggeredEventHandler, TriggeredEventReporter = TriggeredHandler, TriggeredReporter
EventTriggerInfo = TriggerInfo


explain_names(__name__)
