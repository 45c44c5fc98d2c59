"""Measures that integrate or remember, as a list of operations on numbers: what takes part in each step without Python.

`mobod.measure` writes the list, where all that is needed can be written so. An operation is a row of three integers: its
routine, as a place in `measure_calls`, the place of its own integers in `measure_code`, and that of its results in
`measure_values`. Operations come in three runs, which end at the places in `measure_runs`: those of rates that forces may
depend on, those of rates that need accelerations, and those of what is remembered of a step's end.

What is remembered is a run of `measure_memory`, which begins with 1 where there is something to remember. Within a step it is
that of the beginning; `measure_next` is what it becomes when the next begins. So a try in vain, and a report between the ends
of a step, disturb nothing.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store, where
from ..compiling import compiled, generic, routine

#: Integers of an operation.
WIDTH = 3


@routine
def measures(model: Any, first: int, end: int) -> int:
    """Operations *first* to *end* - 1."""
    for k in range(WIDTH * first, WIDTH * end, WIDTH):
        call_routine(model.measure_calls[model.measure_code[k]], model, model.measure_code[k + 1], model.measure_code[k + 2])
    return 0


@generic
def apply(model: Any) -> None:
    """The next step begins: what was made at the end of the last is what is remembered."""
    for i in range(model.measure_memory_size):
        store(model.measure_memory, i, 0, load(model.measure_next, i, 0))


@generic
def keep_next(model: Any, kept: Any) -> None:
    """Copy what is to be remembered into *kept*."""
    for i in range(model.measure_memory_size):
        store(kept, i, 0, load(model.measure_next, i, 0))


@generic
def give_back_next(model: Any, mark: Any, kept: Any) -> None:
    """Undo a change of what is to be remembered, of states that are not marked."""
    for i in range(model.measure_memory_size):
        store(model.measure_next, i, 0, where(mark > 0.0, load(model.measure_next, i, 0), load(kept, i, 0)))


@compiled
def begin_step(block: Any) -> int:
    """The next step begins; called from Python."""
    apply(attach(block))
    return 0
