"""Samples of the past in kernels: a measure's values at the ends of past steps, and interpolation between them.

As `delay.History` in Python. A sample is a row of its time, its values and their rates. Samples are numbered from a run's
start on. The newest is in the measure's memory, behind the number of the oldest, its own, whether samples that may be asked
for had to go, and what is told of steps that are longer than the delay; the others lie in a ring of `measure_history`, sample
k being row k modulo the ring's capacity; those of lanes in the rings of their ensemble's rows, see `batch_memory`, so that no
sample is copied where a lane takes a state. A step adds a row that nobody looks at before the next begins, so that what is
remembered of its beginning stays as it is, whatever becomes of the step. `Delay` gives the integers that say where all this
is.
"""

from __future__ import annotations

from typing import Any

from ..algebra.pointers import number_at, put_number_at
from ..algebra.scalar import bare, load, load_lane, num_lanes, one, store_lane, zero
from ..compiling import apart, generic

#: Two samples of one time that differ by no more than this part are one: rounding is no jump.
ROUNDING = 1e-9
#: Samples are left out of polynomials that are nearer to others than this part of the step: rounding would count.
NEAREST = 1e-6
#: Nothing is extrapolated further than this many steps by more than the newest sample and its rate: rounding would count.
FURTHEST = 10.0
#: Samples that are kept in any case: as many as the cubic without rates takes.
FEWEST = 4
#: Of the parts of a ring's capacity, as which samples lie close together: two steps within one share a sample.
PARTS = 2.5
#: Numbers in memory: whether there are samples, the oldest, the newest, whether some are missing; the longest step of the run
#: that was longer than the delay, or 0, or -1 before the first; and whether a value beyond the newest sample was read; then
#: the newest sample.
OLDEST, NEWEST, MISSING, LONGEST, BEYOND, SAMPLE = 1, 2, 3, 4, 5, 6
#: Rows of lanes' `measure_history`, which has no samples: the addresses, as exact numbers, of a lane's rings in its row of the
#: ensemble, and of its memory there; and those two of a lane without a state, which computes along, and writes nowhere else.
RINGS_AT, MEMORY_AT, NOWHERE = range(3)
#: Integers of the operations: how many values; the places of values and rates, -1 for none; of the memory and of the ring; its
#: capacity; the place of the delay and of the shortest distance of samples; whether values are joined by straight lines;
#: whether the present value may be used; the places of the values before a run.
COUNT, VALUES, RATES, MEMORY, RING, CAPACITY, NUMBERS, LINEAR, LOOKS, BEFORE = range(10)


@generic
def _width(model: Any, i: int) -> int:
    """Number of values that a sample has."""
    n: int = model.measure_code[i + COUNT]
    return 1 + n if model.measure_code[i + RATES] < 0 else 1 + 2 * n


@generic
def _row(model: Any, i: int, k: int) -> int:
    """The first place of sample *k* in the ring."""
    capacity = model.measure_code[i + CAPACITY]
    if capacity & (capacity - 1) == 0:  # as by default: a division takes 5 ns, and a step some ten of them
        k = k & (capacity - 1)
    else:
        k = k % capacity
    row: int = model.measure_code[i + RING] + _width(model, i) * k
    return row


@generic
def home_of(model: Any, row: int, lane: int) -> int:
    """The address at which a lane's rings, or its memory, begin in its ensemble's row."""
    return int(bare(load_lane(model.measure_history, row, 0, lane)))


@generic
def _from_ring(model: Any, lane: int, place: int) -> Any:
    """A number of a ring."""
    if num_lanes(load(model.time, 0, 0)) > 1:
        return zero(load_lane(model.time, 0, 0, lane)) + number_at(home_of(model, RINGS_AT, lane), place)
    return load_lane(model.measure_history, place, 0, lane)


@generic
def _into_ring(model: Any, lane: int, place: int, number: Any) -> None:
    """Store a number of a ring."""
    if num_lanes(load(model.time, 0, 0)) > 1:
        put_number_at(home_of(model, RINGS_AT, lane), place, bare(number))
    else:
        store_lane(model.measure_history, place, 0, lane, number)


@generic
def _give_up(model: Any, i: int, lane: int, k: int) -> None:
    """Sample *k* goes into a lane's ring: one that was in its place is lost to the row, should the run be interrupted.

    The row's newest sample is not: it is in its memory.
    """
    if num_lanes(load(model.time, 0, 0)) > 1:
        home, first = home_of(model, MEMORY_AT, lane), k + 1 - model.measure_code[i + CAPACITY]
        for n in range(2):  # as of the step's beginning, and of its end
            at = n * model.measure_memory_size + model.measure_code[i + MEMORY]
            if number_at(home, at + OLDEST) < first:
                put_number_at(home, at + OLDEST, min(float(first), number_at(home, at + NEWEST)))
                put_number_at(home, at + MISSING, 1.0)


@generic
def _now(model: Any, i: int, lane: int, column: int) -> Any:
    """Time, a value or a rate of what is there now."""
    n = model.measure_code[i + COUNT]
    if column == 0:
        return load_lane(model.time, 0, 0, lane)
    if column <= n:
        return load_lane(model.measure_values, model.measure_code[i + VALUES] + column - 1, 0, lane)
    return load_lane(model.measure_values, model.measure_code[i + RATES] + column - 1 - n, 0, lane)


@generic
def _number(model: Any, i: int, lane: int, k: int, column: int, newest: int, present: int) -> Any:
    """Time, a value or a rate of sample *k*, where one is the *newest*, and one what is there now."""
    if k == present:
        return _now(model, i, lane, column)
    if k == newest:
        return load_lane(model.measure_memory, model.measure_code[i + MEMORY] + SAMPLE + column, 0, lane)
    return _from_ring(model, lane, _row(model, i, k) + column)


@generic
def _time(model: Any, i: int, lane: int, k: int, newest: int) -> float:
    """The time of a sample of the past."""
    time: float = bare(_number(model, i, lane, k, 0, newest, -1))
    return time


@generic
def _is_like(model: Any, i: int, lane: int, k: int, newest: int) -> bool:
    """True if sample *k* is what is there now, but for rounding."""
    alike = True
    for column in range(1, _width(model, i)):
        now = bare(_now(model, i, lane, column))
        difference = abs(bare(_number(model, i, lane, k, column, newest, -1)) - now)
        alike = alike and difference <= ROUNDING * (1.0 + abs(now))
    return alike


@generic
def _next_number(model: Any, i: int, lane: int, first: int, newest: int, time: float) -> int:
    """The number of a sample of what is there now: later ones go, and one that it takes the place of."""
    end = newest + 1
    while end > first and _time(model, i, lane, end - 1, newest) > time:
        end -= 1
    if end == first:
        return end
    last = _time(model, i, lane, end - 1, newest)
    before = last
    if end - first > 1:
        before = _time(model, i, lane, end - 2, newest)
    closest = bare(load_lane(model.measure_numbers, model.measure_code[i + NUMBERS] + 1, 0, lane))
    if last == time:
        if _is_like(model, i, lane, end - 1, newest) or (end - first > 1 and before == time):
            end -= 1  # what was there before a jump stays, and what is there now
    elif before < last and time - before < closest:
        end -= 1
    return end


@generic
def _keep(model: Any, i: int, lane: int, first: int, at: int, flags: Any) -> None:
    """Remember next, of a measure that has begun, the present value as sample number *at*; *flags*: MISSING and further."""
    memory = model.measure_code[i + MEMORY]
    store_lane(model.measure_next, memory, 0, lane, 1.0)
    store_lane(model.measure_next, memory + OLDEST, 0, lane, float(first))
    store_lane(model.measure_next, memory + NEWEST, 0, lane, float(at))
    for k in range(SAMPLE - MISSING):
        store_lane(model.measure_next, memory + MISSING + k, 0, lane, flags[k])
    for column in range(_width(model, i)):
        store_lane(model.measure_next, memory + SAMPLE + column, 0, lane, _now(model, i, lane, column))


@apart
def keep_sample(model: Any, i: int, lane: int) -> None:
    """Make the present value of one state its newest sample; those that are needed no more go."""
    memory, capacity = model.measure_code[i + MEMORY], model.measure_code[i + CAPACITY]
    time = bare(load_lane(model.time, 0, 0, lane))
    begun = bare(load_lane(model.measure_memory, memory, 0, lane))
    first, at, missing, longest, beyond = 0, 0, 0.0, 0.0, 0.0
    earliest = time - bare(load_lane(model.measure_numbers, model.measure_code[i + NUMBERS], 0, lane))
    if begun > 0.0:
        first = int(bare(load_lane(model.measure_memory, memory + OLDEST, 0, lane)))
        newest = int(bare(load_lane(model.measure_memory, memory + NEWEST, 0, lane)))
        missing = bare(load_lane(model.measure_memory, memory + MISSING, 0, lane))
        longest = bare(load_lane(model.measure_memory, memory + LONGEST, 0, lane))
        beyond = bare(load_lane(model.measure_memory, memory + BEYOND, 0, lane))
        last = _time(model, i, lane, newest, newest)
        longest = max(longest, time - last) if last < earliest and longest >= 0.0 else max(longest, 0.0)
        if last == time and _is_like(model, i, lane, newest, newest):
            _keep(
                model, i, lane, first, newest, (missing, longest, beyond)
            )  # as where a run goes on: the ring is not looked at
            return
        at = _next_number(model, i, lane, first, newest, time)
        if at == newest + 1:  # its place in memory is another's from now on
            _give_up(model, i, lane, newest)
            row = _row(model, i, newest)
            for column in range(_width(model, i)):
                _into_ring(model, lane, row + column, load_lane(model.measure_memory, memory + SAMPLE + column, 0, lane))
    while at + 1 - first > FEWEST and _time(model, i, lane, first + 2, -1) <= earliest:
        first += 1
    if at - first >= capacity:  # a row is free for the next
        first, missing = at + 1 - capacity, 1.0
    if at == first or _time(model, i, lane, first, -1) <= earliest:
        missing = 0.0
    _keep(model, i, lane, first, at, (missing, longest, beyond))
    store_lane(model.measure_next, memory, 0, lane, begun)


@apart
def find_value(model: Any, i: int, out: int, lane: int) -> None:
    """The value a delay ago, of one state, as results."""
    memory, n = model.measure_code[i + MEMORY], model.measure_code[i + COUNT]
    if not bare(load_lane(model.measure_memory, memory, 0, lane)) > 0.0:
        for k in range(n):
            value = load_lane(model.measure_values, model.measure_code[i + BEFORE] + k, 0, lane)
            store_lane(model.measure_values, out + k, 0, lane, value)
        return
    first = int(bare(load_lane(model.measure_memory, memory + OLDEST, 0, lane)))
    newest = int(bare(load_lane(model.measure_memory, memory + NEWEST, 0, lane)))
    missing = bare(load_lane(model.measure_memory, memory + MISSING, 0, lane)) > 0.0
    when = load_lane(model.time, 0, 0, lane) - load_lane(model.measure_numbers, model.measure_code[i + NUMBERS], 0, lane)
    present, end = -1, newest + 1
    if model.measure_code[i + LOOKS] != 0:
        present = _next_number(model, i, lane, first, newest, bare(load_lane(model.time, 0, 0, lane)))
        end = present + 1
    low, high = first, end  # the first sample after that time
    while low < high:
        middle = (low + high) // 2
        if bare(_number(model, i, lane, middle, 0, newest, present)) <= bare(when):
            low = middle + 1
        else:
            high = middle
    if low > newest and present < 0 and bare(when) > _time(model, i, lane, newest, newest):
        store_lane(model.measure_memory, memory + BEYOND, 0, lane, one(when))
        store_lane(model.measure_next, memory + BEYOND, 0, lane, one(when))
    for k in range(n):
        value = _value_at(model, i, lane, 1 + k, (first, low, end), (newest, present), when)
        if missing and low == first:
            value = value + float("nan")
        store_lane(model.measure_values, out + k, 0, lane, value)


@generic
def _value_at(model: Any, i: int, lane: int, column: int, run: Any, where: Any, when: Any) -> Any:
    """One number at a time, of a run: the first sample, the first that is later, and the end."""
    first, after, end = run
    newest, present = where
    n, linear = model.measure_code[i + COUNT], model.measure_code[i + LINEAR] != 0
    cubic = model.measure_code[i + RATES] >= 0 and not linear
    if after == first:
        return _number(model, i, lane, first, column, newest, present) + 0.0 * when
    at = min(after, end - 1)  # the step that ends with this sample
    tb = _number(model, i, lane, at, 0, newest, present)
    ta = tb
    if at > first:
        ta = _number(model, i, lane, at - 1, 0, newest, present)
    is_far = after == end and bare(when) - bare(tb) > FURTHEST * (bare(tb) - bare(ta))
    if is_far or bare(ta) == bare(tb):  # the newest stands alone
        value = _number(model, i, lane, end - 1, column, newest, present) + 0.0 * when
        if cubic:
            since = when - _number(model, i, lane, end - 1, 0, newest, present)
            value = value + since * _number(model, i, lane, end - 1, column + n, newest, present)
        return value
    a, b = _number(model, i, lane, at - 1, column, newest, present), _number(model, i, lane, at, column, newest, present)
    h = tb - ta
    s = (when - ta) / h
    if linear:
        return a + s * (b - a)
    if cubic:
        r, rate_a = 1.0 - s, _number(model, i, lane, at - 1, column + n, newest, present)
        rate_b = _number(model, i, lane, at, column + n, newest, present)
        return r * r * (1.0 + 2.0 * s) * a + s * s * (1.0 + 2.0 * r) * b + h * s * r * (r * rate_a - s * rate_b)
    return _through(model, i, lane, column, (first, at, end), where, when, after == end)


@generic
def _through(model: Any, i: int, lane: int, column: int, run: Any, where: Any, when: Any, beyond: bool) -> Any:
    """Lagrange's polynomial through up to two samples on either side of a time, as far as there is no jump."""
    first, at, end = run
    newest, present = where
    low, high, reach = at - 1, at + 1, 2
    ends = _number(model, i, lane, low, 0, newest, present), _number(model, i, lane, at, 0, newest, present)
    nearest = NEAREST * (bare(ends[1]) - bare(ends[0]))
    if beyond:
        reach = 3
    while low > first and low > at - reach and _differ(model, i, lane, low, where, nearest):
        low -= 1
    if high < end and _differ(model, i, lane, high, where, nearest):
        high += 1
    total = 0.0 * when
    for k in range(low, high):
        weight, tk = 1.0 + 0.0 * when, _number(model, i, lane, k, 0, newest, present)
        for j in range(low, high):
            if j != k:
                tj = _number(model, i, lane, j, 0, newest, present)
                weight = weight * ((when - tj) / (tk - tj))
        total = total + weight * _number(model, i, lane, k, column, newest, present)
    return total


@generic
def _differ(model: Any, i: int, lane: int, k: int, where: Any, nearest: float) -> bool:
    """True if the sample before sample *k* is of a time that is earlier by more than *nearest*."""
    newest, present = where
    before, there = _number(model, i, lane, k - 1, 0, newest, present), _number(model, i, lane, k, 0, newest, present)
    differ: bool = bare(there) - bare(before) > nearest
    return differ
