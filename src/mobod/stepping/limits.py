"""Limits of steps where surfaces come near: none is to carry them far into each other before errors show it."""

from __future__ import annotations

from typing import Any

from ..algebra.order import larger
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store, where, zero
from ..compiling import compiled, generic
from ..force.contact.step_limit import PART, STEP as LIMITED_STEP
from .evaluate import evaluate, permitted_step
from .record import FIXED_STEP, LIMITER, MAX_STEP, MIN_STEP, PASSES, PERMITTED_STEP, STEP, TIME, Y
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
def find_permitted_step(model: Any, control: Any, counts: Any) -> None:
    """Find out how long the next step may be, of a record realized where it begins; count one that cannot be so short."""
    least = control[FIXED_STEP]
    if least == 0.0:
        least = control[MIN_STEP]
        h = max(min(control[STEP], control[MAX_STEP]), least)
        control[PERMITTED_STEP] = permitted_step(model, counts[LIMITER], DEEPER, h)
    if control[FIXED_STEP] > 0.0 or control[PERMITTED_STEP] < least:
        control[PERMITTED_STEP] = least
        if counts[PASSES] == 0 and permitted_step(model, counts[LIMITER], MISSED, least) < least:
            counts[PASSES] = 1


@generic
def limit_steps(model: Any, run: Any, mark: Any) -> None:
    """`find_permitted_step`, of the states that are marked, and without counting."""
    plan, settings, control = run.plan, run.settings, run.control
    if plan[LIMITER] != 0:
        planned, least = load(control, STEP, 0), load(control, MIN_STEP, 0)
        planned = larger(where(planned < settings[MAX_STEP], planned, settings[MAX_STEP]), least)
        store(model.contact_sum, 0, PART, DEEPER + zero(mark))
        # what cannot meet within the step that is planned does not limit it; none is asked for the others
        store(model.contact_sum, 0, LIMITED_STEP, where(mark > 0.0, planned, zero(mark)))
        call_routine(plan[LIMITER], model, 0, model.num_contact_elements)
        found = larger(load(model.contact_sum, 0, LIMITED_STEP), least)
        store(control, PERMITTED_STEP, 0, where(mark > 0.0, found, load(control, PERMITTED_STEP, 0)))


@compiled
def permit(block: Any, work: Any, control: Any, counts: Any) -> int:
    """Find out how long the step from the last one's end may be, however long is planned: for steps taken from Python."""
    model = attach(block)
    set_y(model, control[TIME], work[Y])
    status = evaluate(model, counts)
    control[PERMITTED_STEP] = max(permitted_step(model, counts[LIMITER], DEEPER, LONGEST), control[MIN_STEP])
    return 0 if status == 0 else 1
