"""Accumulation: when the events of a run came, and whether they follow each other closer and closer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import ConvergenceError
from ..event import ImpactWhen
from ..event.watched import Found

#: Events in a row that are no more than a localization window apart.
_MOST_IN_A_ROW = 1000
#: Intervals between events of a kind that shrink, and are below so many windows, are taken to accumulate; or below that part
#: of the time since the first of them, where flights of bodies are soon lower than their positions are rounded.
_ACCUMULATED, _SHORT = 100.0, 1e-6


class Accumulation:
    """The last times of the events of a run, by what they are of."""

    __slots__ = "_in_a_row", "_last_event", "_times_of"

    def __init__(self) -> None:
        self._times_of: dict[Any, list[float]] = {}
        self._last_event, self._in_a_row = -np.inf, 0

    def add(self, found: Found) -> None:
        """These events are to be handled: an error, if they accumulate, as they would never end, or be missed in the end."""
        now, known = found.high, self._times_of
        self._in_a_row = self._in_a_row + 1 if now - self._last_event <= found.which[0].window else 0
        self._last_event, too_many = now, self._in_a_row > _MOST_IN_A_ROW
        for one in found.which:
            times = known.get(one.owner, ())
            if not too_many:
                if len(times) < 3:
                    continue
                gap = now - times[-1]
                if gap >= _ACCUMULATED * one.window and gap >= _SHORT * (now - times[0]):
                    continue
                last, before = times[-1] - times[-2], times[-2] - times[-3]
                # by more than they are found to: those that chatter are apart by a few windows, give or take one
                shrinking = gap < last < before and before - gap > one.window
                if not shrinking or _settles(one.owner):  # the ready-made impact knows when it has come to rest
                    continue
            between = [b - a for a, b in pairwise([*times[-3:], now])]
            raise ConvergenceError(
                f"events of {one.name!r} accumulate at time {now:.9g}: the last ones came after "
                f"{', '.join(f'{gap:.3g}' for gap in between)}, and they are localized to {one.window:.3g}. Let its "
                "handler end the simulation or lock what has come to rest, as mobod.event.ImpactWhen does"
            )
        for one in found.which:
            times = known.setdefault(one.owner, [])
            times.append(now)
            if len(times) > 5:
                del times[1]  # the first stays

    def take_back(self, found: Found) -> None:
        """Handling them has failed, and may be tried once more."""
        for one in found.which:
            self._times_of[one.owner].pop()


def _settles(owner: Any) -> bool:
    """True if bounces that an owner of events handles come to rest by themselves."""
    return isinstance(owner, ImpactWhen) or getattr(owner, "settles_accumulation", False)
