"""An attempt of a Runge-Kutta method, which is its table.

    stage s   y_s = y_0 + h sum a_sj k_j,  k_s = f(t_0 + c_s h, y_s)         step   y_1 = y_0 + h sum b_j k_j
    error     h sum e_j k_j of each variable

Prescribed q and u are set at every stage, before the rates are evaluated. Source: Hairer, Norsett and Wanner 1993, II.1, II.4.
"""

from __future__ import annotations

from typing import Any

from ...algebra.record import attach
from ...algebra.scalar import any_not_finite, load, num_lanes, store, zero
from ...compiling import compiled, generic
from ..evaluate import evaluate
from ..record import ENDS_AT_STAGE, EVALUATED, FIRST_STAGE, FIXED_STEP, Y
from ..rows import keep_rate


@compiled
def add_rates(block: Any, work: Any, table: Any, s: int) -> None:
    """The stages' rates, weighted by row *s* of the table, summed into the row of errors, in plain loops."""
    model = attach(block)
    sums = work.shape[0] - 3
    for i in range(model.ny):
        store(work, sums, i, 0.0)
    for j in range(table.shape[1] - 1):
        a = table[s, 1 + j]
        if a != 0.0:
            for i in range(model.ny):
                store(work, sums, i, load(work, sums, i) + a * load(work, FIRST_STAGE + j, i))


@compiled
def set_stage(block: Any, work: Any, table: Any, s: int, time: Any, h: Any) -> None:
    """y and time of stage *s*; of the step's end if *s* is the number of stages."""
    model = attach(block)
    store(model.time, 0, 0, time + table[s, 0] * h)
    sums = work.shape[0] - 3  # the errors' row, which is written after the last stage
    add_rates(block, work, table, s)
    for i in range(model.ny):
        store(model.y, i, 0, load(work, Y, i) + h * load(work, sums, i))


@compiled
def set_error(block: Any, work: Any, table: Any, h: Any) -> None:
    """The error of each variable, by the stages' rates."""
    model = attach(block)
    errors = work.shape[0] - 3
    add_rates(block, work, table, table.shape[1])
    for i in range(model.ny):
        store(work, errors, i, h * load(work, errors, i))


@generic
def attempt(model: Any, run: Any, time: Any, h: Any) -> Any:
    """One attempt."""
    work, table = run.work, run.table
    stages, sound = table.shape[1] - 1, zero(h)
    for s in range(1, stages):
        set_stage(model, work, table, s, time, h)
        sound = sound + evaluate(model, run.plan, run.held)
        store(run.control, EVALUATED, 0, float(s))
        if num_lanes(h) == 1 and any_not_finite(sound):
            return sound
        keep_rate(model, work, FIRST_STAGE + s)
    if run.plan[ENDS_AT_STAGE] == 0:
        set_stage(model, work, table, stages, time, h)
    if run.settings[FIXED_STEP] == 0.0:
        set_error(model, work, table, h)
    return sound
