"""Witnesses of events in lanes: what they are at both ends of a step, and whether one may have changed sign within."""

from __future__ import annotations

from typing import Any

from ...algebra.record import call_routine
from ...algebra.scalar import load, store, where, zero
from ...compiling import generic
from ...stepping import witnesses as watching
from ...stepping.record import Y
from ...stepping.witnesses import BEFORE, NOW, RATE_BEFORE, RATE_NOW, ROUNDING, SEEN, SHIFT, WINDOW
from .layout import LOOKS

#: After the columns of `stepping.witnesses`: 1 of contacts, of which a run begins alone where the witness may come to zero
#: within two of its windows, or is there already; and 1 where a run of one state finds the event, as the witness is a bound.
NEAR, IS_BOUND = watching.WIDTH, watching.WIDTH + 1
COLUMNS = IS_BOUND + 1
#: What a gap that begins overrun is raised to: rounding of positions of size 1.
_LEAST_GAP = 1e-11


@generic
def ask(model: Any, watched: Any, w: int) -> None:
    """Value and rate of a witness into `witness_values`, of a record that is realized."""
    call_routine(watched[w, watching.ROUTINE], model, watched[w, watching.FIRST_INTEGER], watched[w, watching.FIRST_NUMBER])


@generic
def look(model: Any, watched: Any, seen: Any, marks: Any, chosen: Any, begins: bool, again: bool) -> None:
    """Values and rates of all witnesses of lanes that are *chosen*, of a record that is realized; those before are kept.

    A run *begins*; *again* where rates have changed since, as by a sample: of those that Python does not compute.
    """
    store(marks, LOOKS, 0, where(chosen > 0.0, 2.0, 0.0 * chosen))
    for w in range(watched.shape[0]):
        if again and watched[w, watching.DIFFERS] != 0:
            continue
        ask(model, watched, w)
        shift = load(seen, SEEN * w + SHIFT, 0)
        if begins and watched[w, NEAR] != 0 and watched[w, IS_BOUND] == 0:
            gap = load(model.witness_values, 0, 0)
            shift = where(chosen > 0.0, where(gap < _LEAST_GAP, _LEAST_GAP - gap, zero(gap)), shift)
            store(seen, SEEN * w + SHIFT, 0, shift)
        for k in range(2):
            new, now, before = load(model.witness_values, 0, k), SEEN * w + NOW + 2 * k, SEEN * w + BEFORE + 2 * k
            if k == 0:
                new = new + shift
            old = load(seen, now, 0)
            store(seen, before, 0, where(chosen > 0.0, old, load(seen, before, 0)))
            store(seen, now, 0, where(chosen > 0.0, new, old))


@generic
def ends_of_step(seen: Any, w: int, lane: int) -> Any:
    """Value and rate of a witness at the beginning of a lane's last step, and at its end."""
    r = SEEN * w
    return (seen[r + BEFORE, 0, lane], seen[r + RATE_BEFORE, 0, lane]), (seen[r + NOW, 0, lane], seen[r + RATE_NOW, 0, lane])


@generic
def find_suspects(lane: int, watched: Any, seen: Any, h: float) -> Any:
    """True if a witness may have changed sign in a lane's last step; and if it takes a run of one state to find where."""
    suspect = alone = False
    for w in range(watched.shape[0]):
        before, end = ends_of_step(seen, w, lane)
        if watching.may_cross(before, end, h, watched[w, watching.RISING], watched[w, watching.FALLING]):
            suspect = True
            known = abs(before[0]) < 1e300 and abs(end[0]) < 1e300 and abs(end[1]) < 1e300
            alone = alone or not known or watched[w, IS_BOUND] != 0
    return suspect, alone


@generic
def is_near(model: Any, lane: int, watched: Any, seen: Any, work: Any) -> bool:
    """True if one of the witnesses for which that counts is near zero in a lane that begins."""
    near, size = False, 1.0
    if watched.shape[0] == 0:
        return near
    for i in range(model.nq):
        size = max(size, abs(work[Y, i, lane]))
    for w in range(watched.shape[0]):
        if watched[w, NEAR] != 0:
            time = 2.0 * seen[SEEN * w + WINDOW, 0, lane]
            value, rate = ends_of_step(seen, w, lane)[1]
            # nor where it is no number: it is not known there
            near = near or not value > time * abs(rate) + ROUNDING * size
    return near
