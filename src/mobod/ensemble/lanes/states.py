"""Lanes take states and give them back: chunk by chunk, as they become free."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load_lane, store_lane
from ...compiling import apart, generic
from ...stepping import record as rk
from ..batch_memory import leave_rings, put_memory, take_memory
from ..chunks import ITEMS, end_of, take as next_chunk
from .contact import put_impulses, take_impulses
from .layout import (
    BEGAN,
    CALLED,
    CALLS,
    CONTACTS,
    END,
    ENDED,
    FIRST_ROW,
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
    NUM_STEPS,
    OUTCOMES,
    REACH,
    REACHED_TIME,
    REPORT_AT,
    REPORTER,
    ROWS,
    SEEKS,
    SETTLED,
    STATUS,
    STOP,
    STOP_AT,
    SUSPECT,
    TERMINATED,
    WAIT,
    WAITING,
)

#: The resolution of time, as a part of the run's end time.
RESOLUTION = 2.0**-52
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
def load_state(model: Any, run: Any, lane: int, s: int, data: Any) -> None:
    """Load time, y and memory of state *s* into a lane, or with lane 0 into the run of one state, which begins there."""
    work, control, u, z = run.work, run.control, model.nq, model.nq + model.nu
    for row in (rk.TIME, rk.PREVIOUS_TIME):
        store_lane(control, row, 0, lane, data.time[s, 0])
    store_lane(control, rk.MIN_STEP, 0, lane, max(run.settings[rk.MIN_STEP], RESOLUTION * abs(data.end[s])))
    take_memory(model, lane, data.memory, s)
    particles = z + model.nz
    for i in range(u):
        store_lane(work, rk.Y, i, lane, data.q[s, i])
    for i in range(model.nu):
        store_lane(work, rk.Y, u + i, lane, data.u[s, i])
    for i in range(model.nz):
        store_lane(work, rk.Y, z + i, lane, data.z[s, i])
    for i in range(2 * model.particle_size):
        store_lane(work, rk.Y, particles + i, lane, data.particles[s, i])


@generic
def put_number_of_y(model: Any, data: Any, s: int, i: int, y: float) -> None:
    """Number *i* of the y of state *s* is *y*."""
    u, z = model.nq, model.nq + model.nu
    particles = z + model.nz
    if i < u:
        data.q[s, i] = y
    elif i < z:
        data.u[s, i - u] = y
    elif i < particles:
        data.z[s, i - z] = y
    else:
        data.particles[s, i - particles] = y


@generic
def put_outcome(model: Any, run: Any, lane: int, data: Any, s: int, status: int, time: float) -> None:
    """Keep when and with which status the run of state *s* has ended, what has been counted of it, and what it remembers."""
    data.time[s, 0] = data.reached[s, REACHED_TIME] = time
    put_memory(model, lane, data.memory, s)
    data.outcome[s, STATUS] = status
    data.outcome[s, ROWS] = run.counts[rk.place(run, rk.REPORT, lane)]
    for k in range(OUTCOMES - NUM_STEPS):
        data.outcome[s, NUM_STEPS + k] = run.counts[rk.place(run, rk.STEPS + k, lane)]


@generic
def take(model: Any, lane: int, s: int, crew: Any, data: Any) -> float:
    """Load state *s* into a lane; where it goes *onward*, with its counts and step sizes.

    What is known of its contacts there: 0, SETTLED or JUST.
    """
    known = 0.0
    control, settings, lanes, onward = crew.run.control, crew.run.settings, crew.lanes, data.onward
    lanes[LEAVES, lane] = lanes[LEFT_AS, lane] = lanes[SEEKS, lane] = lanes[CALLS, lane] = 0
    for row in range(rk.PLAN_SIZE, rk.COUNTS_SIZE):
        lanes[row, lane] = 0
    lanes[rk.STATE, lane] = s
    load_state(model, crew.run, lane, s, data)
    control[rk.STEP, 0, lane] = settings[rk.STEP]
    control[rk.LAST_STEP, 0, lane] = control[rk.SIZE, 0, lane] = 0.0
    control[rk.EVENT, 0, lane] = _NEVER
    control[rk.LAST_ERROR, 0, lane] = control[rk.STRAIN, 0, lane] = 0.0
    control[WAIT, 0, lane] = control[REPORTER, 0, lane] = _NEVER
    if onward.shape[0] > 0:
        control[WAIT, 0, lane], control[REPORTER, 0, lane] = onward[s, STOP_AT], onward[s, REPORT_AT]
        if onward[s, LEFT_AT] == data.time[s, 0]:
            control[rk.STEP, 0, lane] = onward[s, NEXT_SIZE]
            control[rk.LAST_ERROR, 0, lane], control[rk.STRAIN, 0, lane] = onward[s, NEXT_PART], onward[s, NEXT_STRAIN]
            known = onward[s, CONTACTS]
            onward[s, CONTACTS] = min(known, SETTLED)
        else:
            onward[s, BEGAN], onward[s, REACH], onward[s, CONTACTS] = data.time[s, 0], 0.0, 0.0
        lanes[rk.REPORT, lane] = data.outcome[s, ROWS]
        for k in range(OUTCOMES - NUM_STEPS):
            lanes[rk.STEPS + k, lane] = data.outcome[s, NUM_STEPS + k]
    control[END, 0, lane] = data.end[s]
    if data.forces.shape[0] > s:
        for i in range(model.nu):
            crew.run.held[i, 0, lane] = data.forces[s, i]
    for i in range(data.own_of_each.shape[1]):
        crew.own[i, lane] = data.own_of_each[s, i]
    if crew.spaces.shape[0] > 0:
        take_impulses(crew, lane, s, data)
    return known


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
        if crew.lanes[rk.STATE, lane] >= 0 and crew.lanes[LEAVES, lane] > 0:
            _retire_one(model, lane, crew, data)


@generic
def _retire_one(model: Any, lane: int, crew: Any, data: Any) -> None:
    control, work, lanes, reached = crew.run.control, crew.run.work, crew.lanes, data.reached
    status, inside = lanes[LEFT_AS, lane], lanes[LEAVES, lane] == _INSIDE
    first = crew.queue[FIRST_ROW]
    s = lanes[rk.STATE, lane]
    at = control[rk.AT, 0, lane] if inside else control[rk.TIME, 0, lane]
    goes_on = status == SUSPECT or status == CALLED
    reached[s, LAST_SIZE] = control[rk.STEP if goes_on else rk.LAST_STEP, 0, lane]
    if goes_on:
        reached[s, LAST_PART], reached[s, LAST_STRAIN] = control[rk.LAST_ERROR, 0, lane], control[rk.STRAIN, 0, lane]
    if data.onward.shape[0] > 0:
        data.onward[s, LEFT_AT] = at if goes_on or status == rk.REACHED else _NOT_A_NUMBER
        data.onward[s, NEXT_SIZE] = control[rk.STEP, 0, lane]
        data.onward[s, NEXT_PART], data.onward[s, NEXT_STRAIN] = control[rk.LAST_ERROR, 0, lane], control[rk.STRAIN, 0, lane]
    for i in range(model.ny):
        y = work[rk.Y_PREVIOUS if status == SUSPECT else rk.Y, i, lane]
        if inside and (status == TERMINATED or status == CALLED):
            y = load_lane(model.y, i, 0, lane)
        elif inside:
            y = data.results[s - first, lanes[rk.REPORT, lane] - 1, i]
        put_number_of_y(model, data, s, i, y)
    put_outcome(model, crew.run, lane, data, s, status, at)
    if crew.spaces.shape[0] > 0:
        put_impulses(crew, lane, s, data)
    if status == CALLED:
        lanes[LEAVES, lane], lanes[CALLS, lane] = 0, WAITING
    else:
        crew.queue[ENDED] += 1
        lanes[rk.STATE, lane] = -1
        leave_rings(model, lane)
