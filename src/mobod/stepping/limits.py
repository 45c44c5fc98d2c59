"""Limits of steps where surfaces come near: none is to carry them far into each other before errors show it."""

from __future__ import annotations

from typing import Any

from ..algebra.order import larger
from ..algebra.record import attach
from ..algebra.scalar import load, load_lane, num_lanes, store, where, zero
from ..compiling import compiled, generic
from ..force.contact.step_limit import permitted_step
from ..tree.project import any_positive
from .evaluate import evaluate
from .record import FIXED_STEP, LIMITER, MAX_STEP, MIN_STEP, PASSES, PERMITTED_STEP, STEP, SURPRISE as SURPRISED, TIME, Y, place
from .rows import set_y

#: Longer than any step.
LONGEST = 1e30
#: The part of the smaller of two surfaces by which a step may carry them deeper into each other before error control
#: looks, and that beyond which a step that cannot be shortened may have missed that they touched.
DEEPER, MISSED = 0.25, 1.0
#: How many times the accuracy the rates at the end of a step may differ from those foreseen, by what they do in a step; and
#: the largest accuracy for which that says anything.
SURPRISE, COARSEST = 100.0, 1e-3


@generic
def limit_steps(model: Any, run: Any, mark: Any) -> None:
    """Find out how long the next steps may be, of states that are marked and realized where these begin.

    One that cannot be so short is counted, where it may miss a contact.
    """
    plan, settings, control, fixed = run.plan, run.settings, run.control, run.settings[FIXED_STEP]
    if plan[LIMITER] == 0:
        return
    least, found = fixed + zero(mark), zero(mark)
    if fixed == 0.0:
        planned, least = load(control, STEP, 0), load(control, MIN_STEP, 0)
        planned = larger(where(planned < settings[MAX_STEP], planned, settings[MAX_STEP] + zero(mark)), least)
        # what cannot meet within the step that is planned does not limit it; none is asked for the others
        found = permitted_step(model, plan[LIMITER], DEEPER, where(mark > 0.0, planned, zero(mark)))
    store(control, PERMITTED_STEP, 0, where(mark > 0.0, larger(found, least), load(control, PERMITTED_STEP, 0)))
    short = where(mark > 0.0, where(found < least, least, zero(mark)), zero(mark))
    if any_positive(short):
        store(control, SURPRISED, 0, short - permitted_step(model, plan[LIMITER], MISSED, short))
        for lane in range(num_lanes(mark)):
            passes = place(run, PASSES, lane)
            if run.counts[passes] == 0 and load_lane(control, SURPRISED, 0, lane) > 0.0:
                run.counts[passes] = 1


@compiled
def permit(block: Any, work: Any, control: Any, counts: Any) -> int:
    """Find out how long the step from the last one's end may be, however long is planned: for steps taken from Python."""
    model = attach(block)
    set_y(model, control[TIME], work[Y])
    status = evaluate(model, counts)
    control[PERMITTED_STEP] = max(permitted_step(model, counts[LIMITER], DEEPER, LONGEST), control[MIN_STEP])
    return 0 if status == 0 else 1
