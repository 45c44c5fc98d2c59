"""The sizes of steps: of the next attempt, after one that is taken, and after one in vain; of one state at a time.

    error of order p    the next step is h min(5, 0.8 r^(1 / p)), r = accuracy / error, after a failed attempt at least h / 10
    where z relax       h min(5, (0.8^p r)^(0.3 / p) (r / r_before)^(0.4 / p)): both rest at errors of 0.8^p of the accuracy

Sources: Hairer, Norsett and Wanner 1993, II.4; Gustafsson 1991, ACM Trans. Math. Softw. 17, 533; Hairer and Wanner 1996, IV.2.
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load_lane, store_lane
from ..compiling import generic
from . import record as rk

#: When steps have shrunk to this part of their size, the cause is looked for.
COLLAPSE_RATIO = 1e-3
#: The stiffness counter: a failed attempt adds this much, a step takes away 1; and from which on steps are taken to be bounded
#: by stability: one attempt of three fails then, for a hundred attempts; in a bounce, one of five.
STRAIN_OF_FAILURE, MOST_STRAIN = 8.0, 200.0


@generic
def propose(model: Any, run: Any, lane: int, end: float) -> None:
    """The size of the next attempt, which ends at *end* at the latest; one that leaves only a sliver is stretched to it."""
    control = run.control
    h = run.settings[rk.FIXED_STEP]
    if h == 0.0:
        h = min(load_lane(control, rk.STEP, 0, lane), run.settings[rk.MAX_STEP])
    limited = 0.0
    if run.plan[rk.LIMITER] != 0 and h > load_lane(control, rk.PERMITTED_STEP, 0, lane):
        h, limited = load_lane(control, rk.PERMITTED_STEP, 0, lane), 1.0
    set_size(run, lane, h, end, limited)


@generic
def set_size(run: Any, lane: int, h: float, end: float, limited: float) -> None:
    """The next attempt is of size *h*, or ends at *end* if that leaves less than a sliver; *limited* by surfaces if above 0."""
    control, time = run.control, load_lane(run.control, rk.TIME, 0, lane)
    arrival, clipped = time + h, 0.0
    if h > 0.999 * (end - time):
        h, arrival, clipped = end - time, end, 1.0
    store_lane(control, rk.SIZE, 0, lane, h)
    store_lane(control, rk.ARRIVAL, 0, lane, arrival)
    store_lane(control, rk.CLIPPED, 0, lane, clipped)
    store_lane(control, rk.LIMITED, 0, lane, limited)


@generic
def accept(model: Any, run: Any, lane: int, error: float, controlled: bool) -> None:
    """The attempt is a step: its time, and where steps are controlled by their errors, the size of the next."""
    control, h = run.control, load_lane(run.control, rk.SIZE, 0, lane)
    limited, strain = load_lane(control, rk.LIMITED, 0, lane) > 0.0, load_lane(control, rk.STRAIN, 0, lane)
    store_lane(control, rk.PREVIOUS_TIME, 0, lane, load_lane(control, rk.TIME, 0, lane))
    store_lane(control, rk.TIME, 0, lane, load_lane(control, rk.ARRIVAL, 0, lane))
    store_lane(control, rk.LAST_STEP, 0, lane, h)
    if limited:
        store_lane(control, rk.STRAIN, 0, lane, 0.0)
    elif 0.0 < strain <= MOST_STRAIN:
        strain = strain - 1.0
        store_lane(control, rk.STRAIN, 0, lane, strain)
    if not controlled:
        return
    growth = 5.0
    if error > 0.0:
        part, last = error / run.settings[rk.ACCURACY], load_lane(control, rk.LAST_ERROR, 0, lane)
        power, touches = 1.0 / run.plan[rk.ERROR_ORDER], run.plan[rk.LIMITER] != 0
        growth = 0.8 * (run.settings[rk.ACCURACY] / error) ** power
        # by the change of errors too, steps that stability bounds come to their length and stay there, else they grow until
        # they fail and begin anew; what touches bounces first, and then oscillates: it is calm at smaller errors
        oscillates = touches and strain > MOST_STRAIN
        if last > 0.0 and not limited and (oscillates or (run.plan[rk.RELAXES] != 0 and not touches)):
            calm, least = (0.8, 0.0) if touches else (0.8**0.3, 0.1)
            growth = calm * (max(last, least) ** 0.4 / part**0.7) ** power
        growth = min(5.0, growth)
        store_lane(control, rk.LAST_ERROR, 0, lane, part)
    # small changes of the step are skipped; a step clipped by the end, or by what is near, says nothing about the next
    cut = limited or load_lane(control, rk.CLIPPED, 0, lane) > 0.0
    if (growth > 1.1 or growth < 1.0) and (not cut or growth * h > load_lane(control, rk.STEP, 0, lane)):
        store_lane(control, rk.STEP, 0, lane, max(load_lane(control, rk.MIN_STEP, 0, lane), growth * h))


@generic
def refuse(model: Any, run: Any, lane: int, error: float, failure: int) -> int:
    """The attempt was in vain: REACHED where a smaller one is to be tried, else why none can be."""
    control, time, h = run.control, load_lane(run.control, rk.TIME, 0, lane), load_lane(run.control, rk.SIZE, 0, lane)
    least = load_lane(control, rk.MIN_STEP, 0, lane)
    if run.settings[rk.FIXED_STEP] > 0.0 or h <= least or time + 0.1 * h == time:
        return why_none(failure)
    shrink = 0.1
    if failure == rk.CONVERGENCE_FAILURES:
        shrink = 0.5
    elif failure == rk.ERROR_FAILURES and error < 1e299:
        shrink = max(0.1, min(0.9, 0.8 * (run.settings[rk.ACCURACY] / error) ** (1.0 / run.plan[rk.ERROR_ORDER])))
    store_lane(control, rk.STEP, 0, lane, max(least, shrink * h))
    store_lane(control, rk.LAST_ERROR, 0, lane, 0.0)
    store_lane(control, rk.STRAIN, 0, lane, load_lane(control, rk.STRAIN, 0, lane) + STRAIN_OF_FAILURE)
    return rk.REACHED


@generic
def why_none(failure: int) -> int:
    """Status of a failed attempt that could not be shorter."""
    if failure == rk.REALIZATION_FAILURES:
        return rk.NOT_FINITE
    return rk.NOT_PROJECTED if failure == rk.PROJECTION_FAILURES else rk.STEP_TOO_SMALL
