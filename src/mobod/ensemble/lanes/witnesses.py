"""Witnesses of events in lanes: whether one may have changed sign within a step."""

from __future__ import annotations

from typing import Any

from ...algebra.record import call_routine
from ...algebra.scalar import load, load_lane, store, where
from ...compiling import generic
from ...stepping import witnesses as watching
from ...stepping.record import Y

#: After the columns of `stepping.witnesses`: the place in `witness_numbers` of a time, or below 0. A run begins alone where the
#: witness may come to zero within it, or is there already.
NEAR = watching.WIDTH
COLUMNS = NEAR + 1
#: Of positions of size 1: what is no more above zero is there, as rounding leaves it.
_ROUNDING = 1e-10


@generic
def look(model: Any, watched: Any, seen: Any, mark: Any, again: bool) -> None:
    """Values and rates of all witnesses of lanes that are marked, of a record that is realized; those before are kept.

    *Again* where rates have changed since, as by a sample: of those that Python does not compute.
    """
    for w in range(watched.shape[0]):
        if again and watched[w, watching.DIFFERS] != 0:
            continue
        call_routine(watched[w, watching.ROUTINE], model, watched[w, watching.FIRST_INTEGER], watched[w, watching.FIRST_NUMBER])
        for k in range(2):
            new, now, before = load(model.witness_values, 0, k), 4 * w + 2 * k + 1, 4 * w + 2 * k
            old = load(seen, now, 0)
            store(seen, before, 0, where(mark > 0.0, old, load(seen, before, 0)))
            store(seen, now, 0, where(mark > 0.0, new, old))


@generic
def is_suspect(lane: int, watched: Any, seen: Any, h: float) -> bool:
    """True if a witness may have changed sign in a lane's last step."""
    suspect = False
    for w in range(watched.shape[0]):
        before, end = (seen[4 * w, 0, lane], seen[4 * w + 2, 0, lane]), (seen[4 * w + 1, 0, lane], seen[4 * w + 3, 0, lane])
        signs = watched[w, watching.RISING], watched[w, watching.FALLING]
        suspect = suspect or watching.may_cross(before, end, h, *signs)
    return suspect


@generic
def is_near(model: Any, lane: int, watched: Any, seen: Any, work: Any) -> bool:
    """True if one of the witnesses for which that counts is near zero in a lane that begins."""
    near, size = False, 1.0
    if watched.shape[0] == 0:
        return near
    for i in range(model.nq):
        size = max(size, abs(work[Y, i, lane]))
    for w in range(watched.shape[0]):
        if watched[w, NEAR] >= 0:
            time = load_lane(model.witness_numbers, watched[w, NEAR], 0, lane)
            # nor where it is no number: it is not known there
            near = near or not seen[4 * w + 1, 0, lane] > time * abs(seen[4 * w + 3, 0, lane]) + _ROUNDING * size
    return near
