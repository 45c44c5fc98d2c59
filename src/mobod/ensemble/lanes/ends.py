"""Times within the last steps of lanes at which functions that terminate runs become positive."""

from __future__ import annotations

from typing import Any

from ...algebra.record import call_routine
from ...algebra.scalar import load, store
from ...compiling import apart, generic
from ...stepping.evaluate import prescribe
from ...stepping.record import AT, PREVIOUS_TIME, TAKEN, TIME
from .layout import AT_HIGH, AT_LOW, DUE, HALT, HIGH, LOW, SIDE, TERMINATOR, VALUE, VALUE_BEFORE
from .reports import put

#: It is found to this part of the step.
_PRECISE = 1e-12


@generic
def terminator(model: Any, plan: Any, control: Any, row: int) -> None:
    """The value of what terminates runs, of the record as it is, into a row."""
    call_routine(plan[TERMINATOR], model, 0, 0)
    store(control, row, 0, load(model.witness_values, 0, 0))


@apart
def find_halts(model: Any, run: Any, marks: Any) -> None:
    """Find where what terminates runs has become positive within the last steps: the secant with Illinois' weights."""
    plan, control = run.plan, run.control
    any_left = False
    for lane in range(8):
        crossed = control[TAKEN, 0, lane] > 0.0 and control[VALUE, 0, lane] > 0.0
        marks[DUE, 0, lane] = 1.0 if crossed else 0.0
        if crossed:
            control[LOW, 0, lane], control[HIGH, 0, lane] = control[PREVIOUS_TIME, 0, lane], control[TIME, 0, lane]
            control[AT_LOW, 0, lane], control[AT_HIGH, 0, lane] = control[VALUE_BEFORE, 0, lane], control[VALUE, 0, lane]
            control[SIDE, 0, lane] = 0.0
            any_left = True
        elif control[TAKEN, 0, lane] > 0.0:
            control[VALUE_BEFORE, 0, lane] = control[VALUE, 0, lane]
    for number in range(100):
        if not any_left:
            break
        any_left = False
        for lane in range(8):
            control[AT, 0, lane] = control[TIME, 0, lane]
            if marks[DUE, 0, lane] > 0.0:
                low, high = control[LOW, 0, lane], control[HIGH, 0, lane]
                a, b = control[AT_LOW, 0, lane], control[AT_HIGH, 0, lane]
                window = _PRECISE * (control[TIME, 0, lane] - control[PREVIOUS_TIME, 0, lane])
                middle = low + (high - low) * a / (a - b)
                if number % 4 == 3 or not low < middle < high:
                    middle = 0.5 * (low + high)
                middle = min(max(middle, low + 0.1 * window), high - 0.1 * window)
                if high - low <= window or not low < middle < high:
                    marks[DUE, 0, lane] = 0.0
                    control[HALT, 0, lane] = high
                else:
                    control[AT, 0, lane] = middle
                    any_left = True
        if any_left:
            put(model, run, load(control, AT, 0))
            prescribe(model, plan)
            terminator(model, plan, control, VALUE)
            for lane in range(8):
                if marks[DUE, 0, lane] > 0.0:
                    if control[VALUE, 0, lane] > 0.0:
                        control[HIGH, 0, lane] = control[AT, 0, lane]
                        control[AT_HIGH, 0, lane] = control[VALUE, 0, lane]
                        if control[SIDE, 0, lane] > 0.0:
                            control[AT_LOW, 0, lane] *= 0.5
                        control[SIDE, 0, lane] = 1.0
                    else:
                        control[LOW, 0, lane] = control[AT, 0, lane]
                        control[AT_LOW, 0, lane] = control[VALUE, 0, lane]
                        if control[SIDE, 0, lane] < 0.0:
                            control[AT_HIGH, 0, lane] *= 0.5
                        control[SIDE, 0, lane] = -1.0
    for lane in range(8):
        if marks[DUE, 0, lane] > 0.0:
            control[HALT, 0, lane] = control[HIGH, 0, lane]
