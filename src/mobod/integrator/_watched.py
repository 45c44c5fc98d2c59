"""Compiled steps that evaluate compiled witnesses, until one of them may have changed sign.

A witness is a routine with its integers and numbers, which `mobod.event` writes. After each step its value and rate are
compared with those at the step's beginning; unless a crossing is excluded, control returns to Python, which localizes it in
`mobod.event._watch`.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load
from ..compiling import compiled, generic
from ..stepping.loop import advance
from ..stepping.record import LIMIT, PAUSED, TIME

# columns of `watched`: where the witness's routine is, the places of its integers and numbers, which changes of sign count
ROUTINE, FIRST_INTEGER, FIRST_NUMBER, RISING, FALLING = range(5)
# rows of `seen`
VALUE_BEFORE, VALUE, RATE_BEFORE, RATE = range(4)


@generic
def _look(model: Any, watched: Any, seen: Any) -> None:
    """Values and rates of all witnesses, of a record that is realized."""
    for w in range(watched.shape[0]):
        seen[VALUE_BEFORE, w], seen[RATE_BEFORE, w] = seen[VALUE, w], seen[RATE, w]
        call_routine(watched[w, ROUTINE], model, watched[w, FIRST_INTEGER], watched[w, FIRST_NUMBER])
        seen[VALUE, w], seen[RATE, w] = load(model.witness_values, 0, 0), load(model.witness_values, 0, 1)


@compiled
def advance_watching(
    block: Any,
    work: Any,
    table: Any,
    control: Any,
    counts: Any,
    times: Any,
    results: Any,
    energies: Any,
    watched: Any,
    seen: Any,
    wanted: float,
) -> int:
    """`advance`, at most ``counts[LIMIT]`` steps, up to *wanted* or to a step in which a witness may have changed sign.

    It returns PAUSED in all of these cases.
    """
    model = attach(block)
    for _ in range(counts[LIMIT]):
        begin = control[TIME]
        counts[LIMIT] = 1
        status = advance(model, work, table, control, counts, times, results, energies)
        if status != PAUSED:
            return status
        _look(model, watched, seen)
        h = control[TIME] - begin
        suspect = control[TIME] >= wanted
        for w in range(watched.shape[0]):
            g0, g1, r0, r1 = seen[VALUE_BEFORE, w], seen[VALUE, w], seen[RATE_BEFORE, w], seen[RATE, w]
            if not (abs(g1) < 1e300 and abs(r1) < 1e300):
                suspect = True
            if (g0 > 0.0 and g1 <= 0.0 and watched[w, FALLING] != 0) or (g0 < 0.0 and g1 >= 0.0 and watched[w, RISING] != 0):
                suspect = True
            # it may cross zero and return, unless the tangents at both ends meet on this side
            if g1 * r1 > 0.0 and g0 * g1 >= 0.0 and r0 * g1 < 0.0 and (g0 + r0 * ((g1 - g0 - r1 * h) / (r0 - r1))) * g1 < 0.0:
                suspect = True
        if suspect:
            return PAUSED
    return PAUSED
