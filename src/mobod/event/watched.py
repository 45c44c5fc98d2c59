"""Watched: a witness, or another number that may change sign, and what it belongs to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import attrgetter
from typing import Any

from ..state.trigger_info import TriggerInfo
from ..value.overriding import agrees, holds_for
from ..value.stage import Stage
from .handler import EventHandler
from .reporter import EventReporter
from .triggered import Triggered
from .when import When
from .witness import Witness

#: How intervals begin by the witnesses of contacts, see `Watched.near`: those of gaps; of forces that keep contacts closed; and
#: of slip.
GAP, CLOSED, SLIPS = 1, 2, 3


def _ask(owner: Any) -> tuple[Any, ...]:
    """The settings of an owner whose class tells them its own way."""
    return owner.get_required_stage(), owner.get_trigger_info(), getattr(owner, "witness", None)


# of others
_read_plain, _read = attrgetter("_required_stage", "info"), attrgetter("_required_stage", "info", "witness")


@dataclass(eq=False)
class Watched:
    """One witness, and what it belongs to: a handler, a reporter, or a subsystem with the number of its event.

    Attributes
    ----------
    witness : Witness or None
        What kernels look at in place of *value* and *rate*; None where only Python can.
    """

    owner: Any
    event_id: int
    stage: Stage
    value: Callable[[Any], float]
    rate: Callable[[Any], float] | None
    info: TriggerInfo
    witness: Witness | None = None
    #: What the event is of, where that is not the owner, and the name of the witness where it is not that of the owner's.
    called: str = ""
    label: str = ""
    #: Of a quantity that bends anywhere, as a table's does from knot to knot: a number that rises or falls by one from one knot
    #: to the next. Steps are then searched knot by knot, however long they are, unless its lower bound excludes a crossing.
    knots: Callable[[Any], float] | None = None
    #: That bound and its rate, which kernels look at in its place; no number where it is not above zero.
    bound: Callable[[Any], tuple[float, float]] | None = None
    #: Of a triggered owner what this was made of: the stage, changes of sign and witness, which it may set otherwise between
    #: events; and what reads them of it.
    settings: tuple[Any, ...] = ()
    read: Callable[[Any], tuple[Any, ...]] = _ask
    #: What it is of a contact, or 0: a GAP that begins overrun, as an event is found, is watched from there; and a force of
    #: what is CLOSED, or slip of what SLIPS, that begins at zero or a little below, and may hold, from many times that.
    #: `stepping.witnesses` raises them.
    near: int = 0
    #: The window of time in which its events are found, as it was set last.
    window: float = 0.0

    #: What the owner is of: `EventReporter`, `EventHandler`, or None of a subsystem.
    form: type | None = None

    @property
    def tells_its_own_way(self) -> bool:
        """True if its owner's class has methods for its settings, so that what was set does not tell them."""
        return self.read is _ask

    @functools.cached_property
    def what(self) -> str:
        """The quantity that changes sign, in words: only when asked for, as writing arrays takes as long as many steps."""
        return self.label or (repr(self.owner.witness) if isinstance(self.owner, When) else "")

    def __post_init__(self) -> None:
        self.form = next((form for form in (EventReporter, EventHandler) if isinstance(self.owner, form)), None)

    def set_window(self, accuracy: float, time_scale: float) -> None:
        """Set the window of time for a run of this accuracy."""
        self.window = self.info.calc_window(accuracy, time_scale)

    @functools.cached_property
    def name(self) -> str:
        """For messages."""
        return self.called or str(getattr(self.owner, "name", None) or self.owner.get_name())


@dataclass
class Found:
    """Events in a window of time."""

    low: float
    high: float
    which: list[Watched]
    #: Of each, whether its witness has risen.
    rising: list[bool]


def found_of(low: float, high: float, watched: Sequence[Watched], crossed: Sequence[float]) -> Found:
    """The events of those that have risen, 1 in *crossed*, or fallen, -1, in a window of time."""
    return Found(low, high, [*compress(watched, crossed)], [sign > 0.0 for sign in filter(None, crossed)])


def is_compiled(owner: Any) -> bool:
    """True if a handler's witness is just what kernels look at, and no user's class derived from it."""
    if not isinstance(owner, When) or type(owner).get_value is not When.get_value:
        return False
    kind = type(owner.get_witness())
    return kind.routine is not None and holds_for(kind, "routine")


def of_triggered(one: Triggered) -> Watched:
    """A triggered handler or reporter as something to watch."""
    witness = one.witness if isinstance(one, When) else None
    value, rate = one.get_value, None
    if witness is not None and type(one).get_value is When.get_value:
        value = witness.calc_value
        if witness.has_rate and agrees(type(witness), "calc_rate", "calc_value"):
            rate = witness.calc_rate
    own = any(getattr(type(one), name) is not getattr(Triggered, name) for name in ("get_required_stage", "get_trigger_info"))
    read = _ask if own else _read_plain if witness is None else _read
    settings = stage, info, *_ = read(one)
    in_kernels = witness if is_compiled(one) else None
    return Watched(one, 0, stage, value, rate, info, in_kernels, settings=settings, read=read)
