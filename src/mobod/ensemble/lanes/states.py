"""Lanes take states and give them back: chunk by chunk, as they become free."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load_lane
from ...compiling import apart, generic
from ...stepping import record as rk
from ...stepping.record import AT, EVENT, LAST_ERROR, MIN_STEP, PREVIOUS_TIME, REACHED, STEP, STRAIN, TIME, Y
from ..batch_memory import put_memory, take_memory
from ..chunks import ITEMS, end_of, take as next_chunk
from .contact import put_impulses, take_impulses
from .layout import (
    BEGAN,
    CALLED,
    CALLS,
    END,
    ENDED,
    FIRST_ROW,
    HALT,
    LANE_ROWS,
    LAST_PART,
    LAST_SIZE,
    LAST_STRAIN,
    LEAVES,
    LEFT_AS,
    LEFT_AT,
    NEXT,
    NEXT_PART,
    NEXT_SIZE,
    NEXT_STRAIN,
    OUTCOMES,
    REACH,
    REACHED_TIME,
    REPORT,
    REPORT_AT,
    REPORTER,
    ROWS,
    STATE,
    STATUS,
    STOP,
    STOP_AT,
    SUSPECT,
    TERMINATED,
    WAIT,
    WAITING,
)

#: The resolution of time, as a part of the run's end time.
_RESOLUTION = 2.0**-52
#: A kernel that named NumPy here would not be cached: its fingerprint would meet `numpy.max`, which cannot be hashed.
_NEVER, _NOT_A_NUMBER = float("inf"), float("nan")


@generic
def refill(queue: Any, chunks: Any, worker: int) -> None:
    """Take the next chunk of states; where there is none, STOP is below NEXT from then on."""
    begin = next_chunk(chunks, worker)
    queue[NEXT], queue[STOP] = queue[FIRST_ROW] + begin, queue[FIRST_ROW] + end_of(chunks, begin)
    if begin >= chunks[ITEMS]:
        queue[STOP] = queue[NEXT] - 1


@generic
def take(model: Any, lane: int, s: int, crew: Any, data: Any) -> None:
    """Load state *s* into a lane; where it goes *onward*, with its counts and step sizes."""
    control, work, settings, lanes, onward = crew.run.control, crew.run.work, crew.run.settings, crew.lanes, data.onward
    for row in range(STATE, LANE_ROWS):
        lanes[row, lane] = 0
    lanes[STATE, lane] = s
    control[TIME, 0, lane] = control[PREVIOUS_TIME, 0, lane] = data.time[s, 0]
    control[STEP, 0, lane] = settings[STEP]
    control[rk.LAST_STEP, 0, lane] = control[rk.SIZE, 0, lane] = 0.0
    control[HALT, 0, lane] = control[EVENT, 0, lane] = _NEVER
    control[LAST_ERROR, 0, lane] = control[STRAIN, 0, lane] = 0.0
    control[WAIT, 0, lane] = control[REPORTER, 0, lane] = _NEVER
    if onward.shape[0] > 0:
        control[WAIT, 0, lane], control[REPORTER, 0, lane] = onward[s, STOP_AT], onward[s, REPORT_AT]
        if onward[s, LEFT_AT] == data.time[s, 0]:
            control[STEP, 0, lane] = onward[s, NEXT_SIZE]
            control[LAST_ERROR, 0, lane], control[STRAIN, 0, lane] = onward[s, NEXT_PART], onward[s, NEXT_STRAIN]
        else:
            onward[s, BEGAN], onward[s, REACH] = data.time[s, 0], 0.0
        for k in range(OUTCOMES - ROWS):
            lanes[REPORT + k, lane] = data.outcome[s, ROWS + k]
    control[END, 0, lane] = data.end[s]
    control[MIN_STEP, 0, lane] = max(settings[MIN_STEP], _RESOLUTION * abs(data.end[s]))
    for i in range(model.nq):
        work[Y, i, lane] = data.q[s, i]
    at = model.nq
    for i in range(model.nu):
        work[Y, at + i, lane] = data.u[s, i]
    at += model.nu
    for i in range(model.nz):
        work[Y, at + i, lane] = data.z[s, i]
    at += model.nz
    for i in range(2 * model.particle_size):
        work[Y, at + i, lane] = data.particles[s, i]
    if data.forces.shape[0] > s:
        for i in range(model.nu):
            crew.run.held[i, 0, lane] = data.forces[s, i]
    for i in range(data.own_of_each.shape[1]):
        crew.own[i, lane] = data.own_of_each[s, i]
    take_memory(model, lane, data.memory, s)
    if crew.spaces.shape[0] > 0:
        take_impulses(crew, lane, s, data)


#: What LEAVES says beside 0.
_AT_ITS_END, _INSIDE = 1, 2


@generic
def leave(lanes: Any, lane: int, status: int, inside: bool) -> None:
    """The run of a lane's state has ended: `retire` is to leave it there.

    That is at the end of its last step or, *inside* it, at the time AT, with y of the last report; of the record where it was
    terminated; where the next step is SUSPECT, at its beginning. One that is CALLED keeps its lane, and waits there.
    """
    lanes[LEAVES, lane], lanes[LEFT_AS, lane] = _INSIDE if inside else _AT_ITS_END, status


@apart
def retire(model: Any, crew: Any, data: Any) -> None:
    """Leave the states of lanes whose runs have ended: these lanes are free.

    All in one call: what it is given is some five hundred numbers, and putting those in their places took a seventh of the time
    of ensembles of short runs.
    """
    for lane in range(8):
        if crew.lanes[STATE, lane] >= 0 and crew.lanes[LEAVES, lane] > 0:
            _retire_one(model, lane, crew, data)


@generic
def _retire_one(model: Any, lane: int, crew: Any, data: Any) -> None:
    control, work, lanes, reached = crew.run.control, crew.run.work, crew.lanes, data.reached
    status, inside = lanes[LEFT_AS, lane], lanes[LEAVES, lane] == _INSIDE
    first = crew.queue[FIRST_ROW]
    s = lanes[STATE, lane]
    at = control[AT, 0, lane] if inside else control[TIME, 0, lane]
    data.time[s, 0] = reached[s, REACHED_TIME] = at
    goes_on = status == SUSPECT or status == CALLED
    reached[s, LAST_SIZE] = control[STEP if goes_on else rk.LAST_STEP, 0, lane]
    if goes_on:
        reached[s, LAST_PART], reached[s, LAST_STRAIN] = control[LAST_ERROR, 0, lane], control[STRAIN, 0, lane]
    if data.onward.shape[0] > 0:
        data.onward[s, LEFT_AT] = at if goes_on or status == REACHED else _NOT_A_NUMBER
        data.onward[s, NEXT_SIZE] = control[STEP, 0, lane]
        data.onward[s, NEXT_PART], data.onward[s, NEXT_STRAIN] = control[LAST_ERROR, 0, lane], control[STRAIN, 0, lane]
    n, m = model.nq, model.nq + model.nu
    for i in range(model.ny):
        y = work[rk.Y_PREVIOUS if status == SUSPECT else Y, i, lane]
        if inside and (status == TERMINATED or status == CALLED):
            y = load_lane(model.y, i, 0, lane)
        elif inside:
            y = data.results[s - first, lanes[REPORT, lane] - 1, i]
        if i < n:
            data.q[s, i] = y
        elif i < m:
            data.u[s, i - n] = y
        elif i < m + model.nz:
            data.z[s, i - m] = y
        else:
            data.particles[s, i - m - model.nz] = y
    put_memory(model, lane, data.memory, s)
    if crew.spaces.shape[0] > 0:
        put_impulses(crew, lane, s, data)
    data.outcome[s, STATUS] = status
    for k in range(OUTCOMES - ROWS):
        data.outcome[s, ROWS + k] = lanes[REPORT + k, lane]
    if status == CALLED:
        lanes[LEAVES, lane], lanes[CALLS, lane] = 0, WAITING
    else:
        crew.queue[ENDED] += 1
        lanes[STATE, lane] = -1
