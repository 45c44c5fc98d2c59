"""EventHandler: what changes a state when an event happens."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, Self

from ..value import checks
from ..value.abstract import Abstract
from ..value.attributes import Sealed

if TYPE_CHECKING:
    from ..state.state import State


class EventHandler(Sealed, Abstract):
    """Changes the state when something happens. Derive from one of its forms in `mobod.event`.

    1. The form says when: `event.ScheduledHandler`, `event.PeriodicHandler`, `event.TriggeredHandler`.
    2. `handle_event` says what happens.
    3. ``system.add_event_handler(handler)`` makes it part of a system; a `TimeStepper` that is initialized then calls it.

    Parameters
    ----------
    name : str, optional
        For messages; the class's name unless given.

    Examples
    --------
    A kick every half unit of time:

    >>> import mobod as mb
    >>> class Kick(mb.event.PeriodicHandler):
    ...     def handle_event(self, state, accuracy):
    ...         state.u = state.u + 1.0
    >>> system, state = mb.examples.double_pendulum.build()
    >>> system.add_event_handler(Kick(0.5))
    >>> trajectory = mb.simulate(system, state, 1.0)
    """

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Refuse a class that names its form after this one; a class may not refuse to be made, or `abc` loses track of it."""
        bases = cls.__mro__
        for form in bases[bases.index(EventHandler) + 1 :]:
            if vars(form).get("_comes_first"):  # its own __init__ would never be called
                raise TypeError(
                    f"{cls.__name__} has to name {form.__name__} before EventHandler: class {cls.__name__}({form.__name__}, "
                    f"EventHandler), or derive from {form.__name__}Handler"
                )
        return super().__new__(cls)

    def __init__(self, *, name: str | None = None) -> None:
        self._name = None if name is None else checks.name("handler", name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def name(self) -> str:
        """Its name, for messages."""
        return getattr(self, "_name", None) or type(self).__name__

    @abc.abstractmethod
    def handle_event(self, state: State, accuracy: float) -> bool | None:
        """Change *state* as the event does.

        Parameters
        ----------
        state : State
            At the event, realized to ACCELERATION. It may be changed in everything but its time; when this returns prescribed
            values are set, quaternions are normalized, and it is realized again. If this raises, the state is what it was
            before the event, and `TimeStepper.step_to` raises the same.
        accuracy : float
            The integrator's accuracy, for problems that the handler itself solves.

        Returns
        -------
        bool or None
            True ends the simulation.
        """
