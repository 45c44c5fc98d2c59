"""Measures that integrate or remember, as a list of operations on numbers: what takes part in each step without Python.

`mobod.measure` writes the list, where all that is needed is of kinds that are here. An operation is a row of six integers: its
code, the place in `measure_values` where its result starts, how many numbers that has, two places that it reads from, and the
place of its own numbers in `measure_numbers`, or a choice. Operations come in four runs, which end at the places in
`measure_runs`: those of rates that forces may depend on, those of rates that need accelerations, those of what is to be
remembered of a step's end, and the last, which keep that.

What is remembered is a run of `measure_memory`, which begins with 1 where there is something to remember. Within a step it is
that of the beginning; `measure_next` is what it becomes when the next begins. So a try in vain, and a report between the ends
of a step, disturb nothing.
"""

from __future__ import annotations

from typing import Any

from .._jit import compiled, generic, routine
from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, one, sincos, store, where, zero
from ..force import _switch as forces
from . import momentum

# codes, and what the two places and the last integer are
CONSTANT = 0  # -, -, numbers
TIME = 1
SINUSOID = 2  # derivative, -, amplitudes with signs and powers, then frequencies, then phases
COORDINATE = 3  # derivative, place of q
STATION = 4  # derivative, body, the station
ENERGY = 5
SUM = 6  # left, right, factor of the right
SCALE = 7  # operand, -, factor
VARIABLE = 8  # -, place of the first z
EXTREME = 9  # operand, memory, which: the value, then its time
SAMPLE = 10  # what holds before a run has begun, memory
SLOPE = 11  # operand, memory: time, value, rate, and whether that is known
RATE = 12  # value, place of the first z
KEEP = 13  # value, memory
KEEP_SAMPLE = 14  # value, memory, period
CALL = 15  # which of the users' routines, place of its integers
#: Integers of an operation.
WIDTH = 6
#: Choices of EXTREME, as `Extreme.Operation` numbers them.
MAX_ABS, MAXIMUM, MIN_ABS, MINIMUM = range(4)
#: Times that are closer to a multiple of a period, as a part of it, are at it.
ROUNDING = 1e-9


@generic
def _number(model: Any, x: int) -> Any:
    """A number of the list's, as the record's scalar."""
    return load(model.measure_numbers, x, 0) + zero(load(model.time, 0, 0))


@generic
def _value(model: Any, i: int) -> Any:
    return load(model.measure_values, i, 0)


@generic
def _station(model: Any, order: int, b: int, x: int) -> Any:
    """Location, velocity or acceleration in Ground of a point of body b."""
    s = _number(model, x), _number(model, x + 1), _number(model, x + 2)
    r = mat33.mul_vec(load9(model.R_GB, b, 0), s)
    found = vec3.add(load3(model.p_GB, b, 0), r)
    if order > 0:
        w = load3(model.V_GB, b, 0)
        turned = vec3.cross(w, r)
        found = vec3.add(load3(model.V_GB, b, 3), turned)
        if order > 1:
            found = vec3.add(load3(model.A_GB, b, 3), vec3.cross(load3(model.A_GB, b, 0), r))
            found = vec3.add(found, vec3.cross(w, turned))
    return found


@generic
def _magnitude(x: Any) -> Any:
    return where(x < zero(x), -x, x)


@generic
def _extreme(model: Any, which: int, now: Any, memory: int, n: int, i: int) -> Any:
    """The extreme after *now*, and its time; *i* is the component, of n."""
    value, time = load(model.measure_memory, memory + 1 + i, 0), load(model.measure_memory, memory + 1 + n + i, 0)
    a, b = now, value
    if which == MAX_ABS or which == MIN_ABS:
        a, b = _magnitude(now), _magnitude(value)
    if which == MIN_ABS or which == MINIMUM:
        a, b = b, a
    present, o = load(model.time, 0, 0), zero(now)
    begun = load(model.measure_memory, memory, 0) > o
    found = where(begun, where(a > b, now, value), now)
    when = where(begun, where(a > b, present, time), present)
    return found, when


@generic
def _slope(model: Any, now: Any, memory: int, n: int, i: int) -> Any:
    """The derivative after *now*, by the parabola through the last value with its rate; the component is i of n."""
    f0, rate0 = load(model.measure_memory, memory + 2 + i, 0), load(model.measure_memory, memory + 2 + n + i, 0)
    o, unit = zero(now), one(now)
    h = load(model.time, 0, 0) - load(model.measure_memory, memory + 1, 0)
    moved = h * h > o
    slope = (now - f0) / where(moved, h, unit)
    known = load(model.measure_memory, memory + 2 + 2 * n, 0) > o
    found = where(moved, where(known, 2.0 * slope - rate0, slope), rate0)
    return where(load(model.measure_memory, memory, 0) > o, found, o)


@generic
def operate(model: Any, k: int) -> None:
    """Operation k of the list, of those that compute."""
    code, out, n = model.measure_code[k], model.measure_code[k + 1], model.measure_code[k + 2]
    a, b, x = model.measure_code[k + 3], model.measure_code[k + 4], model.measure_code[k + 5]
    values, memory, time = model.measure_values, model.measure_memory, load(model.time, 0, 0)
    if code == STATION:
        p = _station(model, a, b, x)
        store(values, out, 0, p[0])
        store(values, out + 1, 0, p[1])
        store(values, out + 2, 0, p[2])
    elif code == CALL:
        call_routine(model.measure_calls[a], model, b, out)
    elif code == ENERGY:
        store(values, out, 0, momentum.kinetic_energy(model) + forces.total_potential_energy(model))
    else:
        for i in range(n):
            y = time
            if code == CONSTANT:
                y = _number(model, x + i)
            elif code == SINUSOID:
                s, c = sincos(_number(model, x + n + i) * time + _number(model, x + 2 * n + i))
                wave = s
                if a % 2 == 1:
                    wave = c
                y = _number(model, x + i) * wave
            elif code == COORDINATE:
                y = load(model.q, b, 0)
                if a == 1:
                    y = load(model.q_dot, b, 0)
                elif a == 2:
                    y = load(model.q_dot_dot, b, 0)
            elif code == SUM:
                y = _value(model, a + i) + _number(model, x) * _value(model, b + i)
            elif code == SCALE:
                y = _number(model, x) * _value(model, a + i)
            elif code == VARIABLE:
                y = load(model.z, b + i, 0)
            elif code == EXTREME:
                y, when = _extreme(model, x, _value(model, a + i), b, n, i)
                store(values, out + n + i, 0, when)
            elif code == SAMPLE:
                y = where(load(memory, b, 0) > zero(time), load(memory, b + 1 + i, 0), _value(model, a + i))
            elif code == SLOPE:
                now = _value(model, a + i)
                store(values, out, 0, time)
                store(values, out + 1 + i, 0, now)
                store(values, out + 1 + 2 * n, 0, one(time))
                y = _slope(model, now, b, n, i)
            if code == RATE:
                store(model.z_dot, b + i, 0, _value(model, a + i))
            elif code == SLOPE:
                store(values, out + 1 + n + i, 0, y)
            else:
                store(values, out + i, 0, y)


@routine
def measures(model: Any, first: int, end: int) -> int:
    """Operations *first* to *end* - 1."""
    for k in range(first, end):
        operate(model, WIDTH * k)
    return 0


@routine
def remember(model: Any, unused: int, what: int) -> int:
    """A step ends at the record: make what is remembered of it. Of numbers only, as steps are."""
    call_routine(model.measures[0], model, model.measure_runs[1], model.measure_runs[2])
    time = load(model.time, 0, 0)
    for k in range(model.measure_runs[2], model.measure_runs[3]):
        place = WIDTH * k
        code, n, a = model.measure_code[place], model.measure_code[place + 2], model.measure_code[place + 3]
        b, x = model.measure_code[place + 4], model.measure_code[place + 5]
        begun = load(model.measure_memory, b, 0)
        store(model.measure_next, b, 0, begun)
        taken = begun > 0.0
        if code == KEEP:
            # of a slope at the time of the last: whether that is known stays
            for i in range(n):
                store(model.measure_next, b + 1 + i, 0, load(model.measure_values, a + i, 0))
            if x > 0 and time == load(model.measure_memory, b + 1, 0):
                store(model.measure_next, b + n, 0, load(model.measure_memory, b + n, 0))
        else:
            period, before = load(model.measure_numbers, x, 0), load(model.measure_memory, b + 1 + n, 0)
            if period > 0.0:
                taken = taken and (time / period + ROUNDING) // 1.0 > (before / period + ROUNDING) // 1.0
            else:
                taken = False
            for i in range(n):
                value = load(model.measure_memory, b + 1 + i, 0)
                if taken:
                    value = load(model.measure_values, a + i, 0)
                store(model.measure_next, b + 1 + i, 0, value)
            if taken:
                before = time
            store(model.measure_next, b + 1 + n, 0, before)
    return 0


@generic
def apply(model: Any) -> None:
    """The next step begins: what was made at the end of the last is what is remembered."""
    for i in range(model.measure_memory_size):
        store(model.measure_memory, i, 0, load(model.measure_next, i, 0))


@compiled
def begin_step(block: Any) -> int:
    """The next step begins; called from Python."""
    apply(attach(block))
    return 0
