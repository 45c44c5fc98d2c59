"""Beginnings and ends of runs of single states in an ensemble: between are the integrator's own loops, state by state.

Chunks of states, arrays and outcomes are those of `lanes`; a state's steps are those that it takes alone, to the bit.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load
from ..compiling import compiled, generic
from ..stepping import beginning, record as rk
from ..stepping.evaluate import evaluate, prescribe, project
from ..stepping.rows import set_row, set_y
from ..stepping.witnesses import is_near_event, look
from ..tree import sampling
from .batch_memory import begin_measures
from .chunks import finish
from .lanes.layout import FIRST_ROW, LAST_SIZE, NEXT, STOP
from .lanes.states import load_state, put_number_of_y, put_outcome, refill

#: A place in `queue` in place of that of how many have ended: the state that is on its way, -1 for none.
CURRENT = 4


@generic
def _put(model: Any, s: int, data: Any, own: Any, remembered: Any, work: Any, control: Any, counts: Any) -> int:
    """Put the variables and parameters of state *s* into the record, and project them: REACHED or NOT_PROJECTED."""
    load_state(model, rk.run_of(work, work, control, counts), 0, s, data)
    set_row(model, work, rk.Y, data.time[s, 0])
    for i in range(own.shape[0]):
        own[i] = data.own_of_each[s, i]
    prescribe(model, counts)
    if project(model, counts, 1.0, 0, control[rk.TOLERANCE]) < 0.0:
        return rk.NOT_PROJECTED
    if remembered.shape[0] > 0 and evaluate(model, counts) == 0:
        control[rk.TAKEN] = 1.0
        begin_measures(model, remembered, control, rk.TAKEN)
    sampling.begin_sampling(model)
    return rk.REACHED


@compiled
def take(
    block: Any, worker: int, chunks: Any, queue: Any, data: Any, own: Any, remembered: Any, work: Any, control: Any, counts: Any
) -> int:
    """Take the next state, which is CURRENT from then on, and begin its run: REACHED, or why it ends there."""
    model = attach(block)
    if queue[NEXT] == queue[STOP]:
        refill(queue, chunks, worker)
    if queue[NEXT] >= queue[STOP]:
        return rk.REACHED
    s = queue[CURRENT] = queue[NEXT]
    queue[NEXT] += 1
    status = _put(model, s, data, own, remembered, work, control, counts)
    if status == rk.REACHED:
        status = beginning.start(model, work, control, counts)
    if status == rk.REACHED and counts[rk.WATCHES] > 0:
        set_y(model, control[rk.TIME], work[rk.Y])
        evaluate(model, counts)
        n = counts[rk.WATCHES]
        look(model, n, False, False)
        if is_near_event(model, model.witness_integers, n, model.witness_numbers, work, 0):
            status = rk.SUSPECT
    if status != rk.REACHED:  # where it begins is where it ends
        for i in range(model.ny):
            work[rk.Y, i] = load(model.y, i, 0)
    return status


@compiled
def retire(block: Any, status: int, chunks: Any, queue: Any, data: Any, work: Any, control: Any, counts: Any) -> None:
    """The run of the CURRENT state has ended: at the last report or, where it could not go on, at the end of the last step."""
    model, s = attach(block), queue[CURRENT]
    last, times = data.times.shape[1] - 1, data.times[s if data.times.shape[0] > 1 else 0]
    time = times[last] if status == rk.REACHED else control[rk.TIME]
    data.reached[s, LAST_SIZE] = control[rk.LAST_STEP]
    y = data.results[s - queue[FIRST_ROW], last] if status == rk.REACHED else work[rk.Y]
    for i in range(model.ny):
        put_number_of_y(model, data, s, i, y[i])
    put_outcome(model, rk.run_of(work, work, control, counts), 0, data, s, status, time)
    queue[CURRENT] = -1
    finish(chunks, 1)
