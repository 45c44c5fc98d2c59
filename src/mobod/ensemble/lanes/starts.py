"""Start of runs in lanes: projection, first rates, first step."""

from __future__ import annotations

from typing import Any

from ...algebra.order import smaller
from ...algebra.scalar import load, one, store, where, zero
from ...compiling import apart
from ...stepping.beginning import choose_first_step
from ...stepping.evaluate import ALWAYS, evaluate, finish_step, project
from ...stepping.limits import limit_steps
from ...stepping.record import FIXED_STEP, LIMITER, SOUND, TIME, TOLERANCE, Y
from ...stepping.rows import set_row, shift
from ..batch_memory import begin_measures
from .events import look
from .layout import FRESH


@apart
def begin(model: Any, crew: Any) -> None:
    """The rates where fresh lanes begin, and their first step."""
    run, marks, remembered, kept = crew.run, crew.marks, crew.remembered, crew.kept
    plan, settings, work, control, held = run.plan, run.settings, run.work, run.control, run.held
    fresh = load(marks, FRESH, 0)
    set_row(model, work, Y, load(control, TIME, 0))
    missed = smaller(project(model, plan, fresh, 0, settings[TOLERANCE]), zero(fresh))
    missed = smaller(project(model, plan, fresh, ALWAYS, settings[TOLERANCE]), missed)
    sound = evaluate(model, plan, held)
    if remembered.shape[0] > 0 and begin_measures(model, remembered, marks, FRESH, kept):
        sound = evaluate(model, plan, held)  # on which rates may depend
    finish_step(model, plan, fresh, kept)
    sound = where(missed < 0.0, one(missed), where(sound == 0.0, zero(sound), 2.0 + zero(sound)))
    store(control, SOUND, 0, sound)
    look(model, crew, fresh, True, False)
    able = where(sound == 0.0, fresh, zero(fresh))  # the others are left as they were
    shift(model, work, able)
    shift(model, work, able)
    if settings[FIXED_STEP] > 0.0:
        return
    if choose_first_step(model, run, fresh):
        if plan[LIMITER] == 0:
            return
        set_row(model, work, Y, load(control, TIME, 0))
        evaluate(model, plan, held)
    limit_steps(model, run, fresh)
