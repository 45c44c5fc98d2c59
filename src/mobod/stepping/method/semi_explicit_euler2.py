"""An attempt of the symplectic Euler method in two half steps, whose difference from a whole one is the estimate of the error.

Source: Hairer, Norsett and Wanner 1993, II.4 (step doubling).
"""

from __future__ import annotations

from typing import Any

from ...algebra.record import attach
from ...algebra.scalar import any_not_finite, load, num_lanes, store
from ...compiling import compiled, generic
from ..evaluate import evaluate
from ..record import EVALUATED, FIRST_STAGE, RATE, Y
from ..rows import keep
from .semi_explicit_euler import step

#: Where the first half step's y and rates are, then the whole step's y.
BETWEEN = FIRST_STAGE + 1


@compiled
def set_difference(block: Any, work: Any, row: int) -> None:
    """The errors: y less what is in a row."""
    model = attach(block)
    errors = work.shape[0] - 3
    for i in range(model.ny):
        store(work, errors, i, load(model.y, i, 0) - load(work, row, i))


@generic
def attempt(model: Any, run: Any, time: Any, h: Any) -> Any:
    """One attempt, the whole step first."""
    half = 0.5 * h
    store(run.control, EVALUATED, 0, 0.0)
    sound = step(model, run, Y, RATE, time, h)
    keep(model, run.work, BETWEEN + 2)
    sound = sound + step(model, run, Y, RATE, time, half)
    if num_lanes(h) == 1 and any_not_finite(sound):
        return sound
    sound = sound + evaluate(model, run.plan, run.held)
    store(run.control, EVALUATED, 0, 1.0)
    if num_lanes(h) == 1 and any_not_finite(sound):
        return sound
    keep(model, run.work, BETWEEN)
    sound = sound + step(model, run, BETWEEN, BETWEEN + 1, time + half, half)
    set_difference(model, run.work, BETWEEN + 2)
    return sound
