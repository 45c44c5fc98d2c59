"""Memory of states, one or eight at a time: of controllers, of measures, and where surfaces stick to each other.

A row of *memory* is a state's: what controllers hold and remember; what measures remember as of the last step's beginning, and
what they will when the next begins; the points of friction that sticks, as of the last step's beginning; how rigid contacts
slide; samples of the past, in rings. Lanes are told where their state's rings are, and use them there; for a record of one
state those samples are copied that are there. As for one state
(`stepping.evaluate`), what is remembered changes when a step begins, to what was there when the last one ended: so attempts
in vain, reports, and whatever happens to other lanes disturb nothing.
"""

from __future__ import annotations

from typing import Any

from ..algebra.pointers import number_at
from ..algebra.record import call_routine
from ..algebra.scalar import gather, load, load_lane, num_lanes, one, store, store_lane, where, zero
from ..compiling import apart, generic
from ..force.contact.bristle import begin_bristles
from ..measure.samples import MEMORY_AT, NOWHERE, RINGS_AT, home_of
from ..tree import measures
from ..tree.project import any_positive

#: What a row has of a record, in this order.
IN_ROWS = "control_memory", "measure_memory", "measure_next", "bristle_memory", "slip_memory", "measure_history"
#: Of a point that sticks: columns of its row, and that of its number, which is zero after the last one, all that counts there.
_COLUMNS, _KEY = 16, 0
#: Columns of a contact that may slide.
_SLIP = 7
#: Integers of a ring: where the counts of its samples are, its first row, for how many it has room, the numbers of each.
_RING = 4
#: Of a ring's counts: its oldest sample, and the one after its newest.
_OLDEST, _END = 1, 2


@generic
def _first_of_rings(model: Any) -> int:
    """The first places of rings in a row of *memory*."""
    first: int = _first_of_slips(model) + _SLIP * model.num_slips
    return first


@generic
def _first_of_slips(model: Any) -> int:
    """The first place in a row of *memory* of how contacts slide."""
    first: int = model.control_size + 2 * model.measure_memory_size + _COLUMNS * model.bristle_rows
    return first


@generic
def _ring_of(model: Any, memory: Any, s: int, ring: int) -> Any:
    """A ring's first row, capacity and width; and the first and end of the samples state *s* has, by counts at two places."""
    at = model.control_size + model.measure_rings[ring]
    after = at + model.measure_memory_size
    first, end = min(memory[s, at + _OLDEST], memory[s, after + _OLDEST]), max(memory[s, at + _END], memory[s, after + _END])
    return model.measure_rings[ring + 1], model.measure_rings[ring + 2], model.measure_rings[ring + 3], int(first), int(end)


@generic
def _move_rings(model: Any, memory: Any, s: int, put: bool) -> None:
    """Copy the samples of state *s* to a record of one state; or *put* them into its row: it has their counts."""
    base = _first_of_rings(model)
    for ring in range(0, model.measure_rings_size, _RING):
        row, capacity, width, first, end = _ring_of(model, memory, s, ring)
        for sample in range(first, end):
            place = row + width * (sample % capacity)
            for c in range(width):
                if put:
                    memory[s, base + place + c] = load_lane(model.measure_history, place + c, 0, 0)
                else:
                    store_lane(model.measure_history, place + c, 0, 0, memory[s, base + place + c])


@apart
def _take_rings(model: Any, lane: int, memory: Any, s: int) -> None:
    """Tell a lane where the samples of state *s* are, and their counts; or copy them to a record of one state."""
    if num_lanes(load(model.time, 0, 0)) > 1:
        row = memory.ctypes.data + 8 * s * memory.shape[1]
        store_lane(model.measure_history, RINGS_AT, 0, lane, float(row + 8 * _first_of_rings(model)))
        store_lane(model.measure_history, MEMORY_AT, 0, lane, float(row + 8 * model.control_size))
    else:
        _move_rings(model, memory, s, False)


@generic
def leave_rings(model: Any, lane: int) -> None:
    """A lane's state has left it: samples that come, of what the lane computes without one, are no state's."""
    if model.measure_rings_size > 0:
        for row in (RINGS_AT, MEMORY_AT):
            store_lane(model.measure_history, row, 0, lane, load_lane(model.measure_history, NOWHERE + row, 0, lane))


@generic
def lend_rings(model: Any, lane: int, memory: Any, s: int) -> None:
    """Copy a lane's samples to the row of state *s* of another array, which has their counts."""
    base, home = _first_of_rings(model), home_of(model, RINGS_AT, lane)
    for ring in range(0, model.measure_rings_size, _RING):
        row, capacity, width, first, end = _ring_of(model, memory, s, ring)
        for sample in range(first, end):
            place = row + width * (sample % capacity)
            for c in range(width):
                memory[s, base + place + c] = number_at(home, place + c)


@generic
def fill_memory(model: Any, first: int, memory: Any) -> None:
    """Load what states *first* to *first* + 7 remember."""
    for i in range(model.control_size):
        store(model.control_memory, i, 0, gather(memory, first, i))
    at, n = model.control_size, model.measure_memory_size
    for i in range(n):
        store(model.measure_memory, i, 0, gather(memory, first, at + i))
        store(model.measure_next, i, 0, gather(memory, first, at + n + i))
    at, left = at + 2 * n, one(load(model.time, 0, 0))
    for row in range(model.bristle_rows):
        left = where(gather(memory, first, at + _COLUMNS * row + _KEY) == 0.0, zero(left), left)
        for c in range(_COLUMNS if any_positive(left) else _KEY + 1):
            store(model.bristle_memory, row, c, gather(memory, first, at + _COLUMNS * row + c))
        if not any_positive(left):
            break
    at = _first_of_slips(model)
    for row in range(model.num_slips):
        for c in range(_SLIP):
            store(model.slip_memory, row, c, gather(memory, first, at + _SLIP * row + c))
    if model.measure_rings_size > 0:
        for lane in range(8):
            _take_rings(model, lane, memory, first + lane)


@generic
def take_memory(model: Any, lane: int, memory: Any, s: int) -> None:
    """Load the memory of state *s* into a lane, or with lane 0 into a record of one state."""
    for i in range(model.control_size):
        store_lane(model.control_memory, i, 0, lane, memory[s, i])
    at, n = model.control_size, model.measure_memory_size
    for i in range(n):
        store_lane(model.measure_memory, i, 0, lane, memory[s, at + i])
        store_lane(model.measure_next, i, 0, lane, memory[s, at + n + i])
    at += 2 * n
    for row in range(model.bristle_rows):
        is_last = memory[s, at + _COLUMNS * row + _KEY] == 0.0
        for c in range(_KEY + 1 if is_last else _COLUMNS):
            store_lane(model.bristle_memory, row, c, lane, memory[s, at + _COLUMNS * row + c])
            store_lane(model.bristle_next, row, c, lane, memory[s, at + _COLUMNS * row + c])
        if is_last:
            break
    at = _first_of_slips(model)
    for row in range(model.num_slips):
        for c in range(_SLIP):
            store_lane(model.slip_memory, row, c, lane, memory[s, at + _SLIP * row + c])
    if model.measure_rings_size > 0:
        _take_rings(model, lane, memory, s)


@generic
def put_memory(model: Any, lane: int, memory: Any, s: int) -> None:
    """Store a lane's memory, or with lane 0 that of a record of one state, as that of state *s*."""
    for i in range(model.control_size):
        memory[s, i] = load_lane(model.control_memory, i, 0, lane)
    at, n = model.control_size, model.measure_memory_size
    for i in range(n):
        memory[s, at + i] = load_lane(model.measure_memory, i, 0, lane)
        memory[s, at + n + i] = load_lane(model.measure_next, i, 0, lane)
    at += 2 * n
    for row in range(model.bristle_rows):
        is_last = load_lane(model.bristle_memory, row, _KEY, lane) == 0.0
        for c in range(_KEY + 1 if is_last else _COLUMNS):
            memory[s, at + _COLUMNS * row + c] = load_lane(model.bristle_memory, row, c, lane)
        if is_last:
            break
    at = _first_of_slips(model)
    for row in range(model.num_slips):
        for c in range(_SLIP):
            memory[s, at + _SLIP * row + c] = load_lane(model.slip_memory, row, c, lane)
    if num_lanes(load(model.time, 0, 0)) == 1:
        _move_rings(model, memory, s, True)


@generic
def begin_measures(model: Any, remembered: Any, marks: Any, mark: int, kept: Any = None) -> bool:
    """Initialize measures that remember nothing yet in states that are marked, one after the other; True if any did.

    The record is realized to ACCELERATION; *remembered* has where each one's memory begins, and its size; *kept* is as of
    `finish_step`.
    """
    marked, found = load(marks, mark, 0), False
    if kept is not None:
        measures.keep_next(model, kept)
    for m in range(remembered.shape[0]):
        first, waiting = remembered[m, 0], False
        for lane in range(num_lanes(marked)):
            marked_here = load_lane(marks, mark, 0, lane) > 0.0
            waiting = waiting or (marked_here and load_lane(model.measure_memory, first, 0, lane) == 0.0)
        if waiting:
            found = True
            call_routine(model.measures[0], model, model.measure_runs[1], model.measure_runs[2])
            for lane in range(num_lanes(marked)):
                if load_lane(marks, mark, 0, lane) > 0.0 and load_lane(model.measure_memory, first, 0, lane) == 0.0:
                    store_lane(model.measure_memory, first, 0, lane, 1.0)
                    store_lane(model.measure_next, first, 0, lane, 1.0)
                    for i in range(first + 1, first + remembered[m, 1]):
                        store_lane(model.measure_memory, i, 0, lane, load_lane(model.measure_next, i, 0, lane))
    if kept is not None:
        measures.give_back_next(model, marked, kept)
    return found


@generic
def begin_steps(model: Any, marks: Any, mark: int, kept: Any) -> None:
    """Attempts begin: what was there when the last steps ended is what is remembered.

    *kept* keeps, behind the room of `finish_step`, what was remembered before, of lanes that are marked: their last steps have
    ended here. See `undo_beginning`.
    """
    ended_here, n = load(marks, mark, 0), model.measure_memory_size
    for i in range(n):
        store(kept, n + i, 0, where(ended_here > 0.0, load(model.measure_memory, i, 0), load(kept, n + i, 0)))
    measures.apply(model)
    if model.bristle_rows > 0:
        begin_bristles(model)


@generic
def undo_beginning(model: Any, lane: int, kept: Any) -> None:
    """A lane leaves without the step that was tried: what measures remember is as of the last step's end, where it goes on."""
    n = model.measure_memory_size
    for i in range(n):
        store_lane(model.measure_memory, i, 0, lane, load_lane(kept, n + i, 0, lane))
