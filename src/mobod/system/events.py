"""The subsystems that a system is made of, its event handlers and reporters, and the time scale of event localization."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import TopologyError
from ..event import EventHandler, EventReporter, Scheduled, Triggered
from ..force.subsystem import GeneralForceSubsystem
from ..state.state import State
from ..state.subsystem import Subsystem
from ..tree.tree import Tree
from ..value.attributes import Sealed
from ..value.checks import flag, instance, positive
from .matter import SimbodyMatterSubsystem


class HasEvents(Sealed):
    """The part of `MultibodySystem` that has its subsystems and events."""

    subsystems: list[Subsystem]
    force_subsystems: list[GeneralForceSubsystem]
    topology_version: int
    topology_token: object
    compiles_measures: bool
    lines_of_functions: list[str] | None
    _matter: SimbodyMatterSubsystem | None
    _topology_realized: bool
    _trees: dict[bool, Tree]
    _kernel: Any
    plain_routine: npt.NDArray[np.int64] | None
    _default_state: State | None

    def adopt_subsystem(self, subsystem: Subsystem) -> int:
        """Make *subsystem* part of the system; returns its index.

        Raises
        ------
        TopologyError
            If it is part of a system already, or a second matter subsystem.
        TypeError
            If it is no subsystem, or its class does not call ``super().__init__``.
        """
        from ..force.subsystem import GeneralForceSubsystem
        from .matter import SimbodyMatterSubsystem

        instance("what a system adopts", subsystem, Subsystem, "mobod.GeneralForceSubsystem(system)")
        if not hasattr(subsystem, "own_measures"):
            raise TypeError(f"{type(subsystem).__name__}.__init__ has to call super().__init__(system, name)")
        if subsystem.system is not None:
            raise TopologyError(f"{subsystem!r} is part of a system already")
        if isinstance(subsystem, SimbodyMatterSubsystem):
            if self._matter is not None:
                raise TopologyError(f"{self!r} has a matter subsystem already; a system has one")
            self._matter = subsystem
        if isinstance(subsystem, GeneralForceSubsystem):
            self.force_subsystems.append(subsystem)
        subsystem.system, subsystem.subsystem_index = self, len(self.subsystems)  # type: ignore[assignment]
        self.subsystems.append(subsystem)
        self.invalidate_topology()
        return subsystem.subsystem_index

    @property
    def matter(self) -> SimbodyMatterSubsystem:
        """The matter subsystem; `TopologyError` where there is none yet."""
        return self.get_matter_subsystem()

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter subsystem; `TopologyError` where there is none yet."""
        if self._matter is None:
            raise TopologyError(f"{self!r} has no matter; make one with mobod.SimbodyMatterSubsystem(system)")
        return self._matter

    @property
    def forces(self) -> GeneralForceSubsystem:
        """The first `GeneralForceSubsystem`, for systems with one; `TopologyError` where there is none yet."""
        if not self.force_subsystems:
            raise TopologyError(f"{self!r} has no forces; make them with mobod.GeneralForceSubsystem(system)")
        return self.force_subsystems[0]

    def get_num_subsystems(self) -> int:
        """Number of subsystems."""
        return len(self.subsystems)

    def get_subsystem(self, index: int) -> Subsystem:
        """One of them."""
        return self.subsystems[index]

    def all_forces(self) -> list[Any]:
        """The elements of all force subsystems, in order."""
        return [force for subsystem in self.force_subsystems for force in subsystem.elements]

    def invalidate_topology(self) -> None:
        """Invalidate all states made so far: the topology has changed."""
        self.topology_version += 1
        self.topology_token = object()
        if self._matter is not None:
            self._matter.token = self.topology_token
        self._topology_realized = False
        self._trees = {}
        self._kernel = self.plain_routine = None
        self._default_state = self.lines_of_functions = None
        self.compiles_measures = False

    def system_topology_has_been_realized(self) -> bool:
        """True if `realize_topology` was called and nothing topological has changed since."""
        return self._topology_realized

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
