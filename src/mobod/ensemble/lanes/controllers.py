"""Controllers of systems in lanes: they are sampled where they are due, one lane after the other."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load, load_lane, store, store_lane
from ...compiling import generic
from ...integrator import _runge_kutta as rk
from ...integrator._evaluate import evaluate
from ...integrator._runge_kutta import TIME, Y
from ...tree import sampling
from . import steps
from .layout import DUE, EVALUATIONS, SAMPLE, SINGLE_PRESCRIBER, SINGLE_ROUTINE, SOUND, STATE


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
    """What controllers remember, back into the lane."""
    for i in range(model.control_size):
        store_lane(model.control_memory, i, 0, lane, load(single.control_memory, i, 0))


@generic
def sample(
    model: Any, single: Any, plan: Any, work: Any, control: Any, lanes: Any, marks: Any, held: Any, own: Any, own_of_single: Any
) -> bool:
    """Sample the controllers that are due at lanes' times, one lane after the other; whether some were.

    DUE is 1 for the lanes whose forces are new, with new rates, and 1 less the status where that failed. Laws are of floats and
    arrays, for which lanes would not do; between samples their efforts are forces like others.
    """
    found = False
    store(control, SAMPLE, 0, sampling.next_sample(model))
    for lane in range(8):
        marks[DUE, 0, lane] = 0.0
        if lanes[STATE, lane] >= 0 and control[SAMPLE, 0, lane] <= control[TIME, 0, lane]:
            found = True
            load_single(model, single, lane, work, control, own, own_of_single)
            status = rk.REACHED
            if evaluate(single, plan[SINGLE_ROUTINE], plan[SINGLE_PRESCRIBER]) != 0:
                status = rk.NOT_FINITE
            elif sampling.sample_due(single, control[TIME, 0, lane]) != 0:
                status = rk.NOT_SAMPLED
            else:
                keep_memory(model, single, lane)
            lanes[EVALUATIONS, lane] += 1
            marks[DUE, 0, lane] = 1.0 - status
    if found:
        steps.set_y(model, work, Y, load(control, TIME, 0))
        steps.evaluate(model, plan, held)
        steps.set_rate(model, work, load(marks, DUE, 0))
        store(control, SOUND, 0, steps.soundness(model))
        for lane in range(8):
            if marks[DUE, 0, lane] > 0.0 and not control[SOUND, 0, lane] == 0.0:
                marks[DUE, 0, lane] = 1.0 - rk.NOT_FINITE
        store(control, SAMPLE, 0, sampling.next_sample(model))
    return found
