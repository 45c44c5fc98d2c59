"""Muscles' variables over a window of time in which the model moves as it is wanted: one compiled loop.

Source of the method: Dormand and Prince 1980, J. Comput. Appl. Math. 6, 19; steps as in Hairer, Norsett and Wanner 1993, II.4.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, sqrt, store
from ..compiling import compiled, generic
from ..tree.realize import DONE

#: Times, weights of the rates before, and weights of the error, of the method's stages.
_TIMES = (0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0)
_WEIGHTS = (
    *(0.2,),
    *(3.0 / 40.0, 9.0 / 40.0),
    *(44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0),
    *(19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0),
    *(9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0),
    *(35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0),
)
_ERRORS = (71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0)
#: The method's rates; and rows of the work of `reach`: these, then the variables that are tried.
_RATES, ROWS = 7, 8
_LEAST_STEP = 1e-14


@generic
def _move(model: Any, breaks: Any, q: Any, u: Any, offset_q: Any, offset_u: Any, t: float, at: float, still: bool) -> None:
    """Put the model where it is wanted at time *at*, and beside that; t is the time that it has."""
    piece = 0
    while piece + 2 < len(breaks) and breaks[piece + 1] <= at:
        piece += 1
    s = at - breaks[piece]
    store(model.time, 0, 0, t)
    for k in range(model.nq):
        x = 0.0
        for c in range(q.shape[0]):
            x = x * s + q[c, piece, k]
        store(model.q, k, 0, x + offset_q[k])
    for k in range(model.nu):
        x = 0.0
        for c in range(u.shape[0]):
            x = x * s + u[c, piece, k]
        store(model.u, k, 0, 0.0 if still else x + offset_u[k])


@compiled
def reach(
    block: Any, address: int, wanted: int, breaks: Any, q: Any, u: Any, offset_q: Any, offset_u: Any, times: Any, still: bool,
    tolerance: float, z: Any, work: Any,
) -> int:  # fmt: skip
    """Take z from the first to the second of *times*; 0 if steps become too short.

    *q* and *u* have the coefficients of polynomials (6, pieces, n) from *breaks* on. The third of *times* is the first step.
    *work* is ``(ROWS, nz)``.
    """
    model = attach(block)
    t, end, h = times[0], times[1], times[2]
    n, held, fresh = len(z), False, True
    while t < end:
        h = min(h, end - t)
        if h < _LEAST_STEP * max(1.0, abs(t)):
            return 0
        sound, at = True, 0
        for stage in range(_RATES):
            for k in range(n):
                x = 0.0
                for before in range(stage):
                    x += _WEIGHTS[at + before] * work[before, k]
                work[_RATES, k] = z[k] + h * x
            at += stage
            if sound and (stage > 0 or fresh):
                now = times[0] if still else t + _TIMES[stage] * h
                _move(model, breaks, q, u, offset_q, offset_u, now, now, still)
                for k in range(n):
                    store(model.z, k, 0, work[_RATES, k])
                sound = call_routine(address, model, 0, wanted) == DONE
                for k in range(n):
                    work[stage, k] = load(model.z_dot, k, 0)
        fresh = False
        total = 0.0
        for k in range(n):
            x = 0.0
            for stage in range(_RATES):
                x += _ERRORS[stage] * work[stage, k]
            x *= h / (tolerance * (1.0 + max(abs(z[k]), abs(work[_RATES, k]))))
            total += x * x
        error = sqrt(total / max(n, 1))
        if sound and error < 1.0:
            t = end if h == end - t else t + h
            for k in range(n):
                z[k], work[0, k] = work[_RATES, k], work[_RATES - 1, k]
            grows = 10.0 if error == 0.0 else min(10.0, 0.9 * error**-0.2)
            h *= min(1.0, grows) if held else grows
            held = False
        else:
            h *= max(0.2, 0.9 * error**-0.2) if sound and error < 1e300 else 0.2
            held = True
    return 1
