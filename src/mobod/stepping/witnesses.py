"""Witnesses in the loop over steps: what may have changed sign within a step.

A witness is a routine with its integers and numbers, which `mobod.event` writes. After each step its value and rate are
compared with those at the step's beginning; unless a crossing is excluded, the loop returns to Python, which localizes it in
`mobod.event._watch`. The record has the table of n witnesses at the beginning of its pool `witness_integers`, five a row, and
what has been seen of them at that of `witness_numbers`, four a row.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store
from ..compiling import compiled, generic

# of a row of the table: where the witness's routine is, the places of its integers and numbers, which changes of sign count
ROUTINE, FIRST_INTEGER, FIRST_NUMBER, RISING, FALLING = range(5)
WIDTH = 5
# of a row of what has been seen: at the beginning of the last step, and at its end
VALUE_BEFORE, VALUE, RATE_BEFORE, RATE = range(4)
SEEN = 4


@generic
def _look(model: Any, n: int) -> None:
    """Values and rates of all witnesses, of a record that is realized; those before are kept."""
    for w in range(n):
        at, row = SEEN * w, WIDTH * w
        for k in range(VALUE_BEFORE, SEEN, 2):
            store(model.witness_numbers, at + k, 0, load(model.witness_numbers, at + k + 1, 0))
        integers, numbers = model.witness_integers[row + FIRST_INTEGER], model.witness_integers[row + FIRST_NUMBER]
        call_routine(model.witness_integers[row + ROUTINE], model, integers, numbers)
        for k in range(2):
            store(model.witness_numbers, at + 2 * k + 1, 0, load(model.witness_values, 0, k))


@compiled
def look(block: Any, n: int) -> None:
    """A step begins at the record, which is realized: n witnesses as they are there."""
    _look(attach(block), n)


@compiled
def suspects(block: Any, n: int, h: float) -> bool:
    """Whether one of n witnesses may have changed sign within a step of size h, at whose end the record is realized.

    Always, where n is below zero: there are witnesses that only Python knows.
    """
    if n < 0:
        return True
    model = attach(block)
    _look(model, n)
    for w in range(n):
        at, row = SEEN * w, WIDTH * w
        g0, g1 = load(model.witness_numbers, at + VALUE_BEFORE, 0), load(model.witness_numbers, at + VALUE, 0)
        r0, r1 = load(model.witness_numbers, at + RATE_BEFORE, 0), load(model.witness_numbers, at + RATE, 0)
        if not (abs(g1) < 1e300 and abs(r1) < 1e300):
            return True
        if g0 > 0.0 and g1 <= 0.0 and model.witness_integers[row + FALLING] != 0:
            return True
        if g0 < 0.0 and g1 >= 0.0 and model.witness_integers[row + RISING] != 0:
            return True
        # it may cross zero and return, unless the tangents at both ends meet on this side
        if g1 * r1 > 0.0 and g0 * g1 >= 0.0 and r0 * g1 < 0.0 and (g0 + r0 * ((g1 - g0 - r1 * h) / (r0 - r1))) * g1 < 0.0:
            return True
    return False
