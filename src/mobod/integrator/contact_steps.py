"""The compiled loop over steps of `TimeStepping`, for surfaces that touch and systems without parts in Python.

A step is that of `TimeStepping`, see `unilateral.stepped.step`: speeds by the problem of what touches where it begins,
coordinates by the new speeds. It is called by its address, as ensembles do.
"""

from __future__ import annotations

from typing import Any

from ..algebra.memory import load3
from ..algebra.record import call_routine
from ..compiling import NO_RESULT, generic
from ..force.contact import broad_phase
from ..force.contact.law import velocity_at
from ..force.contact.step_limit import NEVER, half_thickness, permitted_step
from ..stepping import controller, limits, loop, record as rk, rows
from ..stepping.evaluate import prescribe
from ..stepping.event_search import of_one_state
from ..stepping.interpolation import interpolate_linearly
from ..stepping.loop import stepping
from ..stepping.method.method import Method
from ..unilateral.stepped import space as names
from ..unilateral.stepped.space import CLOSES, NO_IMPULSES, NO_ROOM, address_in, space_at

#: Rows of `tries`: the end of a step, its middle, its end by two halves.
_WHOLE, _MIDDLE, _HALVES = range(3)


@generic
def _find_ends(model: Any, run: Any, time: float, h: float, controlled: bool, routine: int) -> int:
    """Ends of a step into `tries`, each by a routine as `step_one` is: DONE, or why there is none."""
    address = address_in(run.table)
    space = space_at(address)
    for row in range(_WHOLE if controlled else _HALVES, _HALVES + 1):
        space.measures[names.SIZE] = h * (0.5 if controlled and row != _WHOLE else 1.0)
        status = call_routine(routine, model, address, row)
        if status == rk.DONE and row == _MIDDLE:
            status = loop.arrive(model, run.control, run.plan, time + 0.5 * h, space.tries[_MIDDLE])
        if status != rk.DONE:
            return int(status)
    return rk.DONE


@generic
def attempt(model: Any, run: Any, time: float, h: float) -> float:
    """See `stepping.method`: by one step and, where errors are controlled, by two halves of it, whose end is taken.

    Where what closes has a restitution Python finds them, if it is there.
    """
    space, work, control, counts = space_at(address_in(run.table)), run.work, run.control, run.plan
    tries, before, newton = space.tries, space.counts[names.PROBLEMS], space.counts[names.NEWTON]
    controlled = control[rk.FIXED_STEP] == 0.0 and counts[rk.FORCED] == 0
    routine, python = run.table[run.table.shape[0] - names.ROUTINE], space.counts[names.BY_PYTHON]
    while True:
        status = _find_ends(model, run, time, h, controlled, routine)
        if status != CLOSES or python == 0:
            break
        loop.return_to_begin(model, run)
        routine = python
    space.counts[names.IS_PYTHONS] = 1 if routine == python else 0
    control[rk.APART] = float(NO_IMPULSES if status == NO_RESULT else status)
    control[rk.ITERATED] = 0.0 if status == NO_ROOM or status == CLOSES else float(space.counts[names.NEWTON] - newton)
    if status != rk.DONE:
        return 0.0
    rows.set_y(model, control[rk.ARRIVAL], tries[_HALVES])
    prescribe(model, counts)
    if controlled:
        errors, first = work.shape[0] - 3, model.whole_nq
        for i in range(model.ny):
            work[errors, i] = tries[_HALVES, i] - tries[_WHOLE, i]
        if space.counts[names.PROBLEMS] > before:  # speeds jump: what comes to touch has gap / h in one step, none in the next
            for i in range(first, first + model.nu):
                work[errors, i] *= min(1.0, h)
    return 0.0


@generic
def _is_fast(model: Any, space: Any, h: float) -> bool:
    """True if a surface moves so far in a step that it may pass another one unnoticed."""
    for k in range(space.elements.shape[0]):
        i = model.force_first_integer[space.elements[k, 0]]
        start = model.force_integers[i + broad_phase.FIRST_SURFACE]
        for s in range(start, start + model.force_integers[i + broad_phase.NUM_SURFACES]):
            b = model.surface_body[s]
            size = half_thickness(model, s, 0)
            if b > 0 and size < NEVER:
                v = velocity_at(model, b, load3(model.surface_frame, s, 9), 0)
                if (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5 * h > 0.5 * size:
                    return True
    return False


@generic
def plan(model: Any, run: Any, lane: int, end: float) -> None:
    """The size of the next attempt, from a record that is realized where it begins."""
    control, counts = run.control, run.plan
    h = control[rk.FIXED_STEP]
    if h == 0.0:
        h = min(control[rk.STEP], control[rk.MAX_STEP])
        if counts[rk.LIMITER] != 0:
            h = max(permitted_step(model, counts[rk.LIMITER], limits.DEEPER, h), control[rk.MIN_STEP])
    controller.set_size(run, lane, h, end, 0.0)


@generic
def accept(model: Any, run: Any, lane: int, error: float, controlled: bool) -> None:
    """The attempt is a step: its time, and the size of the next; or whether surfaces may have passed each other."""
    control, counts, h = run.control, run.plan, run.control[rk.SIZE]
    control[rk.PREVIOUS_TIME], control[rk.TIME], control[rk.LAST_STEP] = control[rk.TIME], control[rk.ARRIVAL], h
    if control[rk.FIXED_STEP] == 0.0:
        growth = 2.0
        if error > 0.0:
            growth = min(2.0, 0.8 * (control[rk.ACCURACY] / error) ** 0.5)
        if control[rk.CLIPPED] == 0.0 or growth * h > control[rk.STEP]:
            control[rk.STEP] = max(control[rk.MIN_STEP], growth * h)
    elif counts[rk.LIMITER] != 0 and counts[rk.PASSES] == 0 and _is_fast(model, space_at(address_in(run.table)), h):
        if permitted_step(model, counts[rk.LIMITER], limits.MISSED, h) < h:
            counts[rk.PASSES] = 1


@generic
def refuse(model: Any, run: Any, lane: int, error: float, failure: int) -> int:
    """The attempt was in vain: REACHED where a smaller one is to be tried, else why none can be; NO_ROOM or CLOSES."""
    control, counts, h = run.control, run.plan, run.control[rk.SIZE]
    status = controller.why_none(failure)
    if failure == rk.CONVERGENCE_FAILURES:
        status = int(control[rk.APART])
        if status != NO_IMPULSES:  # counted as what it is
            counts[rk.CONVERGENCE_FAILURES] -= 1
        if status == NO_ROOM or status == CLOSES:
            counts[rk.ATTEMPTS] -= 1
            return status
    if control[rk.FIXED_STEP] > 0.0 or h <= control[rk.MIN_STEP] or control[rk.TIME] + 0.1 * h == control[rk.TIME]:
        return status
    shrink = 0.25
    if failure == rk.ERROR_FAILURES and error < 1e299:
        shrink = max(0.1, 0.8 * (control[rk.ACCURACY] / error) ** 0.5)
    control[rk.STEP] = max(control[rk.MIN_STEP], shrink * h)
    return rk.REACHED


@generic
def interpolate(model: Any, run: Any, at: float) -> None:
    """y between the ends of the last step, linearly."""
    interpolate_linearly(model, run.work, run.control[rk.PREVIOUS_TIME], run.control[rk.TIME], at)


@generic
def limit(model: Any, run: Any, mark: float) -> None:
    """Surfaces limit steps as these are planned."""


find = of_one_state(interpolate, "contact")
#: NO_ROOM and CLOSES leave the run where the step begins, to be called again, or to be stepped by another solver. The words of
#: the space are where others have their table.
advance = stepping(
    Method(attempt, plan, accept=accept, refuse=refuse, interpolate=interpolate, limit=limit, from_realized=True), "contact"
)


__all__ = ["CLOSES", "NO_IMPULSES", "NO_ROOM", "advance", "find"]
