"""Runs of many states with variations, one after the other on each thread: `batch_state_runs`, of `integrator._variations`."""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load
from ..compiling import compiled, generic
from ..integrator import _variations as variational
from ..stepping import beginning, rows
from ..stepping import record as rk
from ..stepping.evaluate import evaluate
from .batch_state_runs import CURRENT, begin, retire
from .chunks import NONE, begin_work, finish, leave_work, next_call
from .lanes.layout import FINISHED, FIRST_ROW, LIMIT, NEXT, STOP, UNFINISHED
from .lanes.states import refill


@generic
def begin_variations(model: Any, s: int, own: Any, work: Any, control: Any, counts: Any, prepared: Any, variations: Any) -> int:
    """Give the Duals the parameters of state *s*, and S its beginning: REACHED or NOT_FINITE."""
    own_places, seeds_of_each, rates_of_each, scales_of_each, of_start = prepared
    _, _, _, numbers, seeds, seed_rates = variations[0]
    scales, row = variations[1], s if scales_of_each.shape[0] > 1 else 0
    for i in range(own_places.shape[0]):
        numbers[own_places[i]] = own[i]
    for i in range(seed_rates.shape[0]):
        seeds[i, 0], seeds[i, 1] = seeds_of_each[row, i, 0], seeds_of_each[row, i, 1]
        seed_rates[i] = rates_of_each[row, i]
    for i in range(scales.shape[0]):
        scales[i] = scales_of_each[row, i]
    rows.set_y(model, control[rk.TIME], work[rk.Y])  # choosing the first step has tried one
    if evaluate(model, counts) != 0:
        return rk.NOT_FINITE
    variational.begin(model, of_start, variations)
    return rk.REACHED


# fmt: off
@compiled
def run(
    block: Any, work: Any, table: Any, control: Any, counts: Any, settings: Any, choices: Any, norms: Any, remembered: Any,
    own: Any, queue: Any, prepared: Any, variations: Any, worker: int, chunks: Any, calls: Any,
    time: Any, q: Any, u: Any, z: Any, particles: Any, memory: Any, forces: Any, own_of_each: Any, end: Any, times: Any,
    results: Any, outcome: Any, reached: Any, found: Any,
) -> int:
    # fmt: on
    """Take states through their runs, chunk by chunk, with as many steps as the queue says: FINISHED or UNFINISHED."""
    call = begin_work(worker, chunks, calls)
    model = attach(block)
    given = time, q, u, z, particles, memory, own_of_each, own
    left = queue[LIMIT]
    while left > 0:
        status = rk.REACHED
        if queue[CURRENT] < 0:
            if queue[NEXT] == queue[STOP]:
                refill(queue, chunks, worker)
            if queue[NEXT] >= queue[STOP]:
                call = next_call(worker, chunks, calls, call)
                if call == NONE:
                    return FINISHED
                queue[NEXT] = queue[STOP] = 0
                continue
            s = queue[CURRENT] = queue[NEXT]
            queue[NEXT] += 1
            status = begin(model, s, given, end[s], settings, choices, remembered, control, counts)
            if status == rk.REACHED:
                status = beginning.start(model, work, control, counts)
            if status == rk.REACHED:
                status = begin_variations(model, s, own, work, control, counts, prepared, variations)
            if status != rk.REACHED:  # where it begins is where it ends
                for i in range(model.ny):
                    work[rk.Y, i] = load(model.y, i, 0)
        s = queue[CURRENT]
        reports = times[s if times.shape[0] > 1 else 0]
        rows = results[s - queue[FIRST_ROW]]
        if status == rk.REACHED:
            counts[rk.LIMIT], steps = left, counts[rk.STEPS]
            tangents = found[s - queue[FIRST_ROW]]
            status = variational.advance(model, work, table, control, counts, reports, rows, tangents, variations)
            left -= counts[rk.STEPS] - steps
            if status == rk.PAUSED:
                continue
        left -= 1
        retire(model, s, status, given, (reports, rows, outcome, reached), work, control, counts)
        queue[CURRENT] = -1
        finish(chunks, 1)
    leave_work(worker, chunks)
    return UNFINISHED
