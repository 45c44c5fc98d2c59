"""Triggered: the form of events that happen where a witness function changes sign."""

from __future__ import annotations

import abc

from ..state.state import State
from ..state.trigger_info import TriggerInfo
from ..value.abstract import Abstract
from ..value.attributes import Sealed
from ..value.stage import Stage
from .handler import EventHandler
from .reporter import EventReporter


class Triggered(Sealed, Abstract):
    """Events where a witness function of the state changes sign.

    Parameters
    ----------
    required_stage : Stage
        How far the state has to be realized for `get_value`: the lower, the cheaper the search.
    rising, falling : bool
        Whether a change from negative to positive, and from positive to negative, is an event.
    window : float
        Largest error of the event's time, in units of the integrator's accuracy times the system's time scale.
    absolute_window : float, optional
        Largest error of the event's time, in place of that; time.
    name : str, optional
        For messages; the class's name unless given.

    Notes
    -----
    A change away from zero is no event, so that one that has happened does not happen again. After each step the signs at
    both ends are compared, and where the slopes say that the witness went over to the other side and back in between, that
    is found too; several extrema within one step are not (`max_step_size` helps). The event is then localized on the
    interpolated motion, and `handle_event` sees the later end of the window: the witness has changed sign.

    What a handler sets of `info`, or of a ready-made handler's `witness`, holds from there on; in an `Ensemble`, whose states
    have their handlers in common, from the next run on.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> class Straight(mb.event.TriggeredHandler):  # a handler of the kind
    ...     def get_value(self, state):
    ...         return system.matter.bodies["lower"].get_angle(state)
    ...     def handle_event(self, state, accuracy):
    ...         state.u = 0.0, 0.0
    >>> handler = Straight(mb.Stage.POSITION)
    >>> isinstance(handler, mb.event.Triggered)
    True
    """

    #: Its ``__init__`` goes on to that of the handler or reporter, and so comes before it among the bases of a class.
    _comes_first = True

    def __init__(
        self,
        required_stage: Stage = Stage.ACCELERATION,
        *,
        rising: bool = True,
        falling: bool = True,
        window: float = 0.1,
        absolute_window: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)  # type: ignore[call-arg]
        if not isinstance(required_stage, Stage) or required_stage < Stage.TIME:
            raise ValueError(f"required_stage has to be Stage.TIME or one above, got {required_stage!r}")
        self._required_stage = required_stage
        self.info = TriggerInfo(rising=rising, falling=falling, window=window, absolute_window=absolute_window)

    def get_required_stage(self) -> Stage:
        """Stage to which a state has to be realized for `get_value`."""
        return self._required_stage

    def get_trigger_info(self) -> TriggerInfo:
        """The changes of sign that are events, and the window in which they are localized; live."""
        return self.info

    @property
    def info(self) -> TriggerInfo:
        """The changes of sign that are events, and the window in which they are localized; live."""
        return self._info

    @info.setter
    def info(self, info: TriggerInfo) -> None:
        self._info = info
        TriggerInfo.changes += 1

    @abc.abstractmethod
    def get_value(self, state: State) -> float:
        """Compute the witness at *state*, which is not to be changed: continuous between events, with zeros where they are."""


class TriggeredHandler(Triggered, EventHandler):
    """An `EventHandler` called where `get_value` changes sign.

    Examples
    --------
    >>> import mobod as mb
    >>> class TurnBack(mb.event.TriggeredHandler):
    ...     def get_value(self, state):
    ...         return 1.5 - abs(state.q[0])
    ...
    ...     def handle_event(self, state, accuracy):
    ...         state.u = -state.u
    >>> system, state = mb.examples.double_pendulum.build()
    >>> system.add_event_handler(TurnBack(mb.Stage.POSITION, rising=False))
    """


class TriggeredReporter(Triggered, EventReporter):
    """An `EventReporter` called where `get_value` changes sign.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> class Level(mb.event.TriggeredReporter):
    ...     def get_value(self, state):
    ...         return system.matter.bodies["lower"].get_angle(state)
    ...     def handle_event(self, state):
    ...         print("straight at", round(state.time, 2))
    >>> system.add_event_reporter(Level(mb.Stage.POSITION))
    >>> motion = mb.simulate(system, state, 1.0)
    straight at 0.79
    """
