"""Runs of many states with variations, one after the other on each thread: `batch_state_runs`, of `integrator._variations`."""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from ..integrator import _variations as variational
from ..stepping import record as rk
from ..stepping import rows
from ..stepping.evaluate import evaluate
from .batch_state_runs import running


@generic
def begin(model: Any, s: int, own: Any, run: Any, prepared: Any) -> int:
    """Give the Duals the parameters of state *s*, and S its beginning: REACHED or NOT_FINITE."""
    own_places, seeds_of_each, rates_of_each, scales_of_each, of_start = prepared
    carried = run.table
    _, _, _, numbers, seeds, seed_rates = carried.duals
    scales, row = carried.scales, s if scales_of_each.shape[0] > 1 else 0
    for i in range(own_places.shape[0]):
        numbers[own_places[i]] = own[i]
    for i in range(seed_rates.shape[0]):
        seeds[i, 0], seeds[i, 1] = seeds_of_each[row, i, 0], seeds_of_each[row, i, 1]
        seed_rates[i] = rates_of_each[row, i]
    for i in range(scales.shape[0]):
        scales[i] = scales_of_each[row, i]
    rows.set_y(model, run.control[rk.TIME], run.work[rk.Y])  # choosing the first step has tried one
    if evaluate(model, run.plan) != 0:
        return rk.NOT_FINITE
    variational.begin(model, of_start, carried)
    return rk.REACHED


@generic
def with_rows(carried: Any, found: Any, row: int) -> Any:
    """The same with the rows of a state's results for S."""
    return variational.Carried(carried.table, carried.duals, carried.scales, carried.S, carried.K, carried.here, found[row])


run = running(variational.advance, "variations", begin, with_rows)
