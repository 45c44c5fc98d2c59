"""Controllers of systems in lanes: they are sampled where they are due, one lane after the other."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load, load_lane, store, store_lane
from ...compiling import apart, generic
from ...stepping import record as rk
from ...stepping.evaluate import evaluate
from ...stepping.record import EVALUATIONS, SOUND, STATE, TIME, Y
from ...stepping.rows import set_rates, set_row
from ...tree import sampling
from .layout import DUE, SAMPLE, SINGLE


@generic
def load_single(model: Any, single: Any, lane: int, work: Any, control: Any, own: Any, own_of_single: Any) -> None:
    """Time, y, what controllers remember and a lane's own parameters, into a record of one state."""
    for i in range(own.shape[0]):
        own_of_single[i] = own[i, lane]
    store(single.time, 0, 0, control[TIME, 0, lane])
    for i in range(model.ny):
        store(single.y, i, 0, work[Y, i, lane])
    for i in range(model.control_size):
        store(single.control_memory, i, 0, load_lane(model.control_memory, i, 0, lane))


@generic
def keep_memory(model: Any, single: Any, lane: int) -> None:
    """Memory of controllers, back into the lane."""
    for i in range(model.control_size):
        store_lane(model.control_memory, i, 0, lane, load(single.control_memory, i, 0))


@apart
def sample(model: Any, single: Any, run: Any, lanes: Any, marks: Any, own: Any, own_of_single: Any) -> bool:
    """Sample the controllers that are due at lanes' times, one lane after the other; whether some were.

    DUE is 1 for the lanes whose forces are new, with new rates, and 1 less the status where that failed. Laws are of floats and
    arrays, for which lanes would not do; between samples their efforts are forces like others.
    """
    plan, work, control = run.plan, run.work, run.control
    found = False
    store(control, SAMPLE, 0, sampling.next_sample(model))
    for lane in range(8):
        marks[DUE, 0, lane] = 0.0
        if lanes[STATE, lane] >= 0 and control[SAMPLE, 0, lane] <= control[TIME, 0, lane]:
            found = True
            load_single(model, single, lane, work, control, own, own_of_single)
            status = rk.REACHED
            if evaluate(single, plan[SINGLE:]) != 0:
                status = rk.NOT_FINITE
            elif sampling.sample_due(single, control[TIME, 0, lane]) != 0:
                status = rk.NOT_SAMPLED
            else:
                keep_memory(model, single, lane)
            lanes[EVALUATIONS, lane] += 1
            marks[DUE, 0, lane] = 1.0 - status
    if found:
        set_row(model, work, Y, load(control, TIME, 0))
        store(control, SOUND, 0, evaluate(model, plan, run.held))
        set_rates(model, work, load(marks, DUE, 0))
        for lane in range(8):
            if marks[DUE, 0, lane] > 0.0 and not control[SOUND, 0, lane] == 0.0:
                marks[DUE, 0, lane] = 1.0 - rk.NOT_FINITE
        store(control, SAMPLE, 0, sampling.next_sample(model))
    return found
