"""Agenda: the handlers, reporters and hooks of events in one system, and what is due next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError
from ..state.cause import Cause
from ..state.trigger_info import TriggerInfo
from ..value.stage import MODEL
from .handler import EventHandler
from .impact_when import ImpactWhen
from .periodic import Periodic
from .reporter import EventReporter
from .scheduled import Scheduled
from .triggered import Triggered
from .watched import Watched, of_triggered

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import MultibodySystem

_NEVER = float("inf")
#: So many sets of witnesses that change sign at once are remembered, with whom they call.
_MOST_CALLS = 1000
#: A call for an event: its owner, and the function of the state.
Call = tuple[Any, Callable[["State"], Any]]


class Agenda:
    """The handlers and reporters that a system has now, and its subsystems' hooks.

    Parameters
    ----------
    system : MultibodySystem
    base : type
        `Subsystem`, whose hooks are those not overridden.
    accuracy : float
        The integrator's, for handlers.
    """

    def __init__(self, system: MultibodySystem, base: type, accuracy: float) -> None:
        self.system, self.accuracy = system, accuracy
        handlers, reporters = system.event_handlers, system.event_reporters
        self._handlers = [one for one in handlers if isinstance(one, Scheduled)]
        self._reporters = [one for one in reporters if isinstance(one, Scheduled)]
        self._triggered = [of_triggered(one) for one in (*reporters, *handlers) if isinstance(one, Triggered)]
        #: Whether some have methods for what they watch, and are asked each time.
        self._tell_their_own_way = any(one.tells_its_own_way for one in self._triggered)
        #: Handlers of impacts, which are told what flights the integrator resolves.
        self.impacts = [one for one in handlers if isinstance(one, ImpactWhen)]

        def overriding(hook: str) -> list[Any]:
            return [one for one in system.subsystems if getattr(type(one), hook) is not getattr(base, hook)]

        #: The calls for witnesses that change sign at once.
        self._calls: dict[tuple[Watched, ...], tuple[list[Call], list[Call]]] = {}
        #: The witnesses that were watched last, how many settings of any had been set by then, and what those of these were.
        self._watched: tuple[int, list[Watched], list[Any]] | None = None
        #: What watches contacts, where they run by events: the time stepper sets it.
        self.contacts: Any = None
        self._with_events = overriding("calc_time_of_next_scheduled_event")
        self._with_reports = overriding("calc_time_of_next_scheduled_report")
        self._handling, self._reporting = overriding("handle_events"), overriding("report_events")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_calls": {}, "_watched": None}

    @property
    def is_empty(self) -> bool:
        """True if there are no handlers, reporters or hooks but triggers of subsystems."""
        return not (self.has_schedule or self._triggered or self._handling)

    @property
    def has_scheduled_events(self) -> bool:
        """True if there are handlers or hooks of events at given times."""
        return bool(self._handlers or self._with_events)

    @property
    def has_schedule(self) -> bool:
        """True if anybody is asked for a time, though that may be infinite until an event."""
        return bool(self._handlers or self._reporters or self._with_events or self._with_reports)

    @property
    def has_hooks(self) -> bool:
        """True if subsystems take part."""
        return bool(self._with_events or self._with_reports or self._handling or self._reporting)

    def periodic(self) -> list[Any]:
        """The handlers, if all that can happen is events of periodic ones, and of witnesses; else none."""
        handlers = self._handlers
        if not handlers or self._reporters or self.contacts is not None:
            return []
        if self._with_events or self._with_reports or self._handling or self.system.has_time_advanced_events():
            return []
        return handlers if all(_is_periodic(one) for one in handlers) else []

    def asked(self, state: State, handled: bool, reported: bool) -> tuple[float, list[Any], list[Any]] | None:
        """The time of the next event of a kind that asks nobody, and what tells the others' times: of handlers, of reporters.

        *handled* and *reported* say that those of the state's time have been. None where subsystems have hooks of events.
        """
        if self.has_hooks:
            return None
        due, asked = np.inf, []
        for owners, done in ((self._handlers, handled), (self._reporters, reported)):
            asked.append([one.get_next_event_time for one in owners if not _is_periodic(one)])
            known = [one.get_next_event_time(state, not done) for one in owners if _is_periodic(one)]
            due = min([due, *known])
        return due, asked[0], asked[1]

    # ------------------------------------------------------------------------------------------ schedules

    def next_event(self, state: State, include_now: bool) -> tuple[float, list[Call]]:
        """The time of the next scheduled events, and the calls that handle them."""
        if not (self._handlers or self._with_events):
            return _NEVER, []
        return self._next(state, include_now, self._handlers, self._with_events, False)

    def next_report(self, state: State, include_now: bool) -> tuple[float, list[Call]]:
        """The time of the next scheduled reports, and the calls that make them."""
        if not (self._reporters or self._with_reports):
            return _NEVER, []
        return self._next(state, include_now, self._reporters, self._with_reports, True)

    def _next(
        self, state: State, include_now: bool, scheduled: list[Any], subsystems: list[Any], reports: bool
    ) -> tuple[float, list[Call]]:
        now, first, chosen = state.time, _NEVER, []
        for one in scheduled:
            time = one.get_next_event_time(state, include_now)
            if time is None or not time > now:
                time = _checked(time, now, include_now, one, "get_next_event_time")
            if time < first:
                first, chosen = time, [one]
            elif time == first:
                chosen.append(one)
        if not subsystems:
            return float(first), [self._call_of(one, reports) for one in chosen] if first < _NEVER else []
        due = [(first, self._call_of(one, reports)) for one in chosen]
        kind = "report" if reports else "event"
        for subsystem in subsystems:
            hook = f"calc_time_of_next_scheduled_{kind}"
            answer, ids = getattr(subsystem, hook)(state, include_now)
            time = _checked(answer, now, include_now, subsystem, hook)
            due.append((time, self._call_of_subsystem(subsystem, Cause.SCHEDULED, list(ids), reports)))
            first = min(first, time)
        return first, [call for time, call in due if time == first < np.inf]

    # ------------------------------------------------------------------------------------------ triggers

    def watched(self, state: State) -> list[Watched]:
        """All witnesses, of reporters, of handlers and of subsystems, that make an event when they rise or fall."""
        resources, known = state.resources, self._watched
        if known is None or self._may_differ(known[0]):
            for k, one in enumerate(self._triggered):
                if one.read(one.owner) != one.settings:
                    self._triggered[k], known = of_triggered(one.owner), None
        if known is not None and known[0] == TriggerInfo.changes and self.contacts is None and resources is None:
            return known[1]  # as after most events
        found = self._triggered[:]
        if self.contacts is not None:
            found += self.contacts.watched(state)
        if resources is not None:
            for index, subsystem in enumerate(self.system.subsystems):
                found += self._triggers_of(state, resources, index, subsystem)
        found = [one for one in found if one.info.rising or one.info.falling]
        self._watched = TriggerInfo.changes, found, self._settings()
        return found

    def is_set_anew(self) -> bool:
        """True if what triggered handlers and reporters watch, or its changes of sign, was set since `watched` was asked."""
        known = self._watched
        if known is None or not self._may_differ(known[0]):
            return False
        if self._settings() != known[2]:
            return True
        self._watched = TriggerInfo.changes, *known[1:]
        return False

    def _may_differ(self, changes: int) -> bool:
        return changes != TriggerInfo.changes or self._tell_their_own_way

    def _settings(self) -> list[Any]:
        """The settings of the owners of triggers."""
        settings = [one.read(one.owner) for one in self._triggered]
        return [(one, *vars(one[1]).values()) for one in settings]

    def _triggers_of(self, state: State, resources: Any, index: int, subsystem: Any) -> list[Watched]:
        places = []
        for stage in sorted(name for name in resources.slot_places if not isinstance(name, str)):
            start, n = resources.slot_places[stage].get(index, (0, 0))
            places += [(stage, i) for i in range(start, start + n)]
        if not places:
            return []
        infos = list(subsystem.calc_event_trigger_info(state))
        if len(infos) != len(places):
            raise ValueError(
                f"calc_event_trigger_info of {subsystem!r} gave {len(infos)} entries for {len(places)} event triggers; "
                "give one for each"
            )
        least = type(state.stage).TIME
        return [
            Watched(
                subsystem,
                info.get_event_id(),
                max(type(least)(stage), least),
                partial(_slot, stage, i),
                None,
                info,
                label=f"event {info.get_event_id()}",
            )
            for (stage, i), info in zip(places, infos, strict=True)
        ]

    def calls_for(self, which: list[Watched]) -> tuple[list[Call], list[Call]]:
        """The calls for witnesses that have changed sign, of reporters and of handlers; a subsystem once for all of its own."""
        key = tuple(which)
        if key not in self._calls:
            if len(self._calls) == _MOST_CALLS:
                self._calls.clear()
            self._calls[key] = self._find_calls(which, True), self._find_calls(which, False)
        return self._calls[key]

    def _find_calls(self, which: list[Watched], reports: bool) -> list[Call]:
        calls: list[Call] = []
        ids: dict[int, list[int]] = {}
        wanted = EventReporter if reports else EventHandler
        for one in which:
            if one.form is wanted:
                if not calls or all(one.owner is not other for other, _ in calls):  # contacts have many witnesses
                    calls.append(self._call_of(one.owner, reports))
            elif one.form is None:
                known = id(one.owner) in ids
                ids.setdefault(id(one.owner), []).append(one.event_id)
                if not known and one.owner in (self._reporting if reports else self._handling):
                    calls.append(self._call_of_subsystem(one.owner, Cause.TRIGGERED, ids[id(one.owner)], reports))
        return calls

    def calls_of_subsystems(self, cause: Cause) -> list[Call]:
        """The `handle_events` of all subsystems that have one, for a cause without numbers."""
        return [self._call_of_subsystem(one, cause, [], False) for one in self._handling]

    def calls_for_contacts(self) -> list[Call]:
        """The call that finds out what contacts do, where they run by events."""
        return [] if self.contacts is None else [self._call_of(self.contacts, False)]

    # ------------------------------------------------------------------------------------------ calls

    def _call_of(self, one: Any, reports: bool) -> Call:
        return one, one.handle_event if reports else partial(_handle, one, self.accuracy)

    def _call_of_subsystem(self, one: Any, cause: Cause, ids: list[int], reports: bool) -> Call:
        if reports:
            return one, partial(_let_report, one, cause, ids)
        return one, partial(_let_handle, one, cause, ids, self.accuracy)


def _is_periodic(one: Scheduled) -> bool:
    """True if its events come at multiples of an interval, and its class has not changed that."""
    return type(one).get_next_event_time is Periodic.get_next_event_time


def let_handle(
    system: MultibodySystem, state: State, calls: Iterable[Call], now: float, after: Callable[[Any], None] | None = None
) -> Any:
    """Call handlers with a state of time *now*, one after the other; returns the one that ends the run, or None.

    *after* is called after each, with its owner, and the state realized.

    Raises
    ------
    TypeError, ModelError
        If one answers something else than a handler does, changes the time, or leaves what cannot be realized.
    """
    ends = None
    for owner, call in calls:
        answer = call(state)
        if answer is not None and not isinstance(answer, (bool, np.bool_)):
            raise TypeError(f"{owner!r} returned {answer!r}; a handler returns True to end the simulation, or False")
        if state.time != now:
            raise ModelError(
                f"{owner!r} has changed the state's time from {now:.9g} to {state.time:.9g}; "
                "a handler may change all but the time"
            )
        if state.stage_number < MODEL:
            system.realize_model(state)
        system.realize(state)
        if after is not None:
            after(owner)
        if answer and ends is None:
            ends = owner
    return ends


def changed_by_reporter(owner: Any, time: float) -> ModelError:
    """The error of a reporter that has changed the state."""
    return ModelError(
        f"{owner!r} reports, and has changed the state at time {time:.9g}; a reporter only looks: copy the "
        "state to try something out, or make it an event handler"
    )


# what is due stays with the stepper, and goes into checkpoints: functions of a module can be pickled


def _handle(handler: EventHandler, accuracy: float, state: State) -> Any:
    return handler.handle_event(state, accuracy)


def _let_handle(subsystem: Any, cause: Cause, ids: list[int], accuracy: float, state: State) -> Any:
    return subsystem.handle_events(state, cause, ids, accuracy)


def _let_report(subsystem: Any, cause: Cause, ids: list[int], state: State) -> Any:
    return subsystem.report_events(state, cause, ids)


def _slot(stage: int, i: int, state: Any) -> float:
    """The value of an event trigger."""
    value: float = state.resources.slots[stage].item(i)
    return value


def _checked(time: float, now: float, include_now: bool, owner: Any, asked: str) -> float:
    """The time of an event that is still to come; `ValueError` for one that cannot."""
    if time is None:
        raise TypeError(f"{asked} of {owner!r} gave None; give a time, or math.inf where there is none to come")
    if time > now or (time == now and include_now):
        return float(time)
    raise ValueError(
        f"{asked} of {owner!r} gave {time}, {'before' if include_now else 'not after'} the state's time {now}; "
        "give the next one, or math.inf where there is none to come"
    )
