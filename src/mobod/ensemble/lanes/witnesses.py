"""Witnesses of events in lanes: whether one may have changed sign within a step."""

from __future__ import annotations

from typing import Any

from ...algebra.record import call_routine
from ...algebra.scalar import load, store, where
from ...compiling import generic
from ...stepping import witnesses as watching


@generic
def look(model: Any, watched: Any, seen: Any, mark: Any) -> None:
    """Values and rates of all witnesses of lanes that are marked, of a record that is realized; those before are kept."""
    for w in range(watched.shape[0]):
        call_routine(watched[w, watching.ROUTINE], model, watched[w, watching.FIRST_INTEGER], watched[w, watching.FIRST_NUMBER])
        for k in range(2):
            new, now, before = load(model.witness_values, 0, k), 4 * w + 2 * k + 1, 4 * w + 2 * k
            old = load(seen, now, 0)
            store(seen, before, 0, where(mark > 0.0, old, load(seen, before, 0)))
            store(seen, now, 0, where(mark > 0.0, new, old))


@generic
def is_suspect(lane: int, watched: Any, seen: Any, h: float) -> bool:
    """Whether a witness may have changed sign in a lane's last step: the test of `stepping.witnesses.suspects`."""
    suspect = False
    for w in range(watched.shape[0]):
        g0, g1 = seen[4 * w, 0, lane], seen[4 * w + 1, 0, lane]
        r0, r1 = seen[4 * w + 2, 0, lane], seen[4 * w + 3, 0, lane]
        if not (abs(g1) < 1e300 and abs(r1) < 1e300):
            suspect = True
        if g0 > 0.0 and g1 <= 0.0 and watched[w, watching.FALLING] != 0:
            suspect = True
        if g0 < 0.0 and g1 >= 0.0 and watched[w, watching.RISING] != 0:
            suspect = True
        if g1 * r1 > 0.0 and g0 * g1 >= 0.0 and r0 * g1 < 0.0 and (g0 + r0 * ((g1 - g0 - r1 * h) / (r0 - r1))) * g1 < 0.0:
            suspect = True
    return suspect
