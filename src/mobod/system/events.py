"""The event handlers and reporters of a system, and the time scale of event localization."""

from __future__ import annotations

from typing import Any

from ..event import EventHandler, EventReporter, Scheduled, Triggered
from ..value.checks import flag, positive
from .parts import HasParts


class HasEvents(HasParts):
    """The part of `MultibodySystem` that has its events."""

    event_handlers: list[EventHandler]
    event_reporters: list[EventReporter]
    _time_scale: float
    _has_time_advanced_events: bool

    def add_event_handler(self, handler: EventHandler) -> None:
        """Add a *handler*, which changes states in a `TimeStepper`'s runs, from the next `initialize` on. States stay valid.

        Handlers of the same time are called in the order in which they were added, triggered ones before scheduled ones.

        Raises
        ------
        TypeError
            If it is of none of the forms in `mobod.event`.
        ValueError
            If it has been added before.
        """
        self._check_event("handler", handler, EventHandler, self.event_handlers)
        self.event_handlers.append(handler)

    def add_event_reporter(self, reporter: EventReporter) -> None:
        """Add a *reporter*, which looks at states while a `TimeStepper` goes on; as `add_event_handler`."""
        self._check_event("reporter", reporter, EventReporter, self.event_reporters)
        self.event_reporters.append(reporter)

    @staticmethod
    def _check_event(what: str, one: Any, kind: type, present: list[Any]) -> None:
        if not isinstance(one, kind) or not isinstance(one, (Scheduled, Triggered)):
            raise TypeError(
                f"an event {what} has to be of a class derived from mobod.event.Scheduled{what.capitalize()}, "
                f"Periodic{what.capitalize()} or Triggered{what.capitalize()}, not {one!r}"
            )
        needed = "info" if isinstance(one, Triggered) else "_event_interval" if hasattr(one, "set_event_interval") else ""
        if needed and not hasattr(one, needed):
            raise TypeError(f"{type(one).__name__}.__init__ has to call super().__init__(...) of its form in mobod.event")
        if any(other is one for other in present):
            raise ValueError(f"{one!r} is one of the system's already")

    def get_event_handlers(self) -> list[EventHandler]:
        """The handlers that were added, in order."""
        return list(self.event_handlers)

    def get_event_reporters(self) -> list[EventReporter]:
        """The reporters that were added, in order."""
        return list(self.event_reporters)

    def remove_event_handler(self, handler: EventHandler) -> None:
        """Remove a handler; `ValueError` where it was not added."""
        self._remove_event("handler", handler, self.event_handlers)

    def remove_event_reporter(self, reporter: EventReporter) -> None:
        """Remove a reporter; `ValueError` where it was not added."""
        self._remove_event("reporter", reporter, self.event_reporters)

    @staticmethod
    def _remove_event(what: str, one: Any, present: list[Any]) -> None:
        if not any(other is one for other in present):
            raise ValueError(f"{one!r} is no event {what} of the system")
        present[:] = [other for other in present if other is not one]

    def set_default_time_scale(self, time_scale: float) -> None:
        """Set the time scale, 0.1 unless set: event windows are a tenth of accuracy times that, unless an event has its own.

        Raises
        ------
        ValueError
            If it is not positive and finite.
        """
        self._time_scale = positive("the time scale", time_scale, ValueError)

    def get_default_time_scale(self) -> float:
        """The time scale that sets the width of event windows; time."""
        return self._time_scale

    def set_has_time_advanced_events(self, has_time_advanced_events: bool) -> None:
        """Say whether subsystems' `handle_events` are to be called after each step, with `event.Cause.TIME_ADVANCED`."""
        self._has_time_advanced_events = flag("has_time_advanced_events", has_time_advanced_events)

    def has_time_advanced_events(self) -> bool:
        """True if subsystems' `handle_events` are called after each step."""
        return self._has_time_advanced_events
