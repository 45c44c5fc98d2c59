"""TriggerInfo: which changes of sign of a witness are events, and how closely they are localized."""

from __future__ import annotations

from typing import ClassVar

from ..value.checks import flag, integer, positive


class TriggerInfo:
    """The changes of sign of a witness function that are events, and the window of time in which they are localized.

    Parameters
    ----------
    event_id : int
        The number that a subsystem is told the event by; of no use elsewhere.
    rising, falling : bool
        Whether a change from negative to positive, and from positive to negative, is an event. One from zero is none.
    window : float
        Largest error of the event's time, in units of the integrator's accuracy times the system's time scale
        (`MultibodySystem.get_default_time_scale`).
    absolute_window : float, optional
        Largest error of the event's time, in place of that; time.

    Raises
    ------
    ValueError
        If a window is not positive and finite.

    Examples
    --------
    >>> import mobod as mb
    >>> info = mb.event.TriggerInfo(rising=True, falling=False)
    >>> info.falling
    False
    """

    #: How often something of any of them has been set: while that stays, all are as they were.
    changes: ClassVar[int] = 0

    def __setattr__(self, name: str, value: object) -> None:
        TriggerInfo.changes += 1
        object.__setattr__(self, name, value)

    def __init__(
        self,
        event_id: int = 0,
        *,
        rising: bool = True,
        falling: bool = True,
        window: float = 0.1,
        absolute_window: float | None = None,
    ) -> None:
        self._event_id, self.rising, self.falling = (
            integer("event_id", event_id),
            flag("rising", rising),
            flag("falling", falling),
        )
        self._window = _window(window)
        self._absolute = (
            None if absolute_window is None else positive("the localization absolute_window", absolute_window, ValueError)
        )

    def __repr__(self) -> str:
        window = f"window {self._window:g}" if self._absolute is None else f"absolute window {self._absolute:g}"
        return f"<TriggerInfo {self._event_id}, rising {self.rising}, falling {self.falling}, {window}>"

    def get_event_id(self) -> int:
        """The event's number."""
        return self._event_id

    def set_event_id(self, event_id: int) -> None:
        """Give the event a number."""
        self._event_id = integer("event_id", event_id)

    def should_trigger_on_rising_sign_transition(self) -> bool:
        """True if a change from negative to positive, or to zero, is an event."""
        return self.rising

    def set_trigger_on_rising_sign_transition(self, should_trigger: bool) -> None:
        """Say whether a change from negative to positive, or to zero, is an event."""
        self.rising = flag("should_trigger", should_trigger)

    def should_trigger_on_falling_sign_transition(self) -> bool:
        """True if a change from positive to negative, or to zero, is an event."""
        return self.falling

    def set_trigger_on_falling_sign_transition(self, should_trigger: bool) -> None:
        """Say whether a change from positive to negative, or to zero, is an event."""
        self.falling = flag("should_trigger", should_trigger)

    def get_required_localization_time_window(self) -> float:
        """Largest error of the event's time, in units of accuracy times time scale."""
        return self._window

    def set_required_localization_time_window(self, window: float) -> None:
        """Set the largest error of the event's time, in units of accuracy times time scale; positive."""
        self._window, self._absolute = _window(window), None

    def calc_window(self, accuracy: float, time_scale: float) -> float:
        """Largest error of the event's time; time."""
        return self._window * accuracy * time_scale if self._absolute is None else self._absolute


def _window(window: float, name: str = "window") -> float:
    return positive(f"the localization {name}", window, ValueError)
