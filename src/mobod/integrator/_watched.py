"""Steps with an eye on simple witnesses: compiled, until one of them may have changed sign.

What a witness is, is said by a row of numbers that `mobod.event` writes: a coordinate, a speed, a point's height over a plane,
the distance of two points. After each step its value and rate there are compared with those at the step's beginning, and
whatever is not certainly harmless goes to Python, which localizes it: see `mobod.event._watch`.
"""

from __future__ import annotations

from typing import Any

from .._jit import compiled, generic
from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9
from ..algebra.record import attach
from ..algebra.scalar import load
from ._runge_kutta import LIMIT, PAUSED, TIME, advance

# kinds, in the first of a witness's integers; the others are the number of the coordinate or speed, or of the bodies
COORDINATE, SPEED, PLANE_DISTANCE, GAP = range(4)
#: Integers and numbers of one witness, as `advance_watching` reads them.
NUM_INTEGERS, NUM_NUMBERS = 5, 8
# rows of `seen`
VALUE_BEFORE, VALUE, RATE_BEFORE, RATE = range(4)


@generic
def _station(model: Any, b: int, numbers: Any, w: int, first: int) -> Any:
    """Location and velocity in Ground of the point of body b that three numbers give."""
    s = numbers[w, first], numbers[w, first + 1], numbers[w, first + 2]
    r = mat33.mul_vec(load9(model.R_GB, b, 0), s)
    p = vec3.add(load3(model.p_GB, b, 0), r)
    v = vec3.add(load3(model.V_GB, b, 3), vec3.cross(load3(model.V_GB, b, 0), r))
    return p, v


@compiled
def look(block: Any, integers: Any, numbers: Any, seen: Any) -> None:
    """Values and rates of all witnesses, of a record that is realized."""
    model = attach(block)
    for w in range(integers.shape[0]):
        kind, i = integers[w, 0], integers[w, 1]
        seen[VALUE_BEFORE, w], seen[RATE_BEFORE, w] = seen[VALUE, w], seen[RATE, w]
        if kind == COORDINATE:
            sign = numbers[w, 0]
            seen[VALUE, w] = sign * (load(model.q, i, 0) - numbers[w, 1])
            seen[RATE, w] = sign * load(model.q_dot, i, 0)
        elif kind == SPEED:
            seen[VALUE, w] = load(model.u, i, 0) - numbers[w, 1]
            seen[RATE, w] = load(model.u_dot, i, 0)
        elif kind == PLANE_DISTANCE:
            p, v = _station(model, i, numbers, w, 0)
            n = numbers[w, 3], numbers[w, 4], numbers[w, 5]
            seen[VALUE, w] = vec3.dot(n, p) - numbers[w, 6]
            seen[RATE, w] = vec3.dot(n, v)
        else:
            p1, v1 = _station(model, i, numbers, w, 0)
            p2, v2 = _station(model, integers[w, 2], numbers, w, 3)
            d = vec3.sub(p2, p1)
            length = vec3.dot(d, d) ** 0.5
            seen[VALUE, w] = length - numbers[w, 6]
            seen[RATE, w] = vec3.dot(d, vec3.sub(v2, v1)) / max(length, 1e-300)


@compiled
def advance_watching(
    block: Any,
    work: Any,
    table: Any,
    control: Any,
    counts: Any,
    times: Any,
    results: Any,
    energies: Any,
    integers: Any,
    numbers: Any,
    seen: Any,
    wanted: float,
) -> int:
    """`advance`, but for no more than ``counts[LIMIT]`` steps, and no further than *wanted* or where a witness needs a look.

    PAUSED comes back in all of these cases.
    """
    model = attach(block)
    for _ in range(counts[LIMIT]):
        begin = control[TIME]
        counts[LIMIT] = 1
        status = advance(model, work, table, control, counts, times, results, energies)
        if status != PAUSED:
            return status
        look(model, integers, numbers, seen)
        h = control[TIME] - begin
        suspect = control[TIME] >= wanted
        for w in range(integers.shape[0]):
            g0, g1, r0, r1 = seen[VALUE_BEFORE, w], seen[VALUE, w], seen[RATE_BEFORE, w], seen[RATE, w]
            if not (abs(g1) < 1e300 and abs(r1) < 1e300):
                suspect = True
            if (g0 > 0.0 and g1 <= 0.0 and integers[w, 4] != 0) or (g0 < 0.0 and g1 >= 0.0 and integers[w, 3] != 0):
                suspect = True
            # over to the other side and back, unless the height at which the tangents meet forbids it
            if g1 * r1 > 0.0 and g0 * g1 >= 0.0 and r0 * g1 < 0.0 and (g0 + r0 * ((g1 - g0 - r1 * h) / (r0 - r1))) * g1 < 0.0:
                suspect = True
        if suspect:
            return PAUSED
    return PAUSED
