"""Runs begin: the first rates, and the first step. Source: Hairer, Norsett and Wanner 1993, II.4 (starting step size)."""

from __future__ import annotations

from typing import Any

from ..algebra.order import larger
from ..algebra.record import attach
from ..algebra.scalar import load, load_lane, num_lanes, one, store, store_lane, where, zero
from ..compiling import compiled, generic
from ..tree.project import any_positive
from . import record as rk
from .errors import norms
from .evaluate import evaluate
from .loop import begin_here
from .record import run_of


@compiled
def euler_step(block: Any, work: Any, time: Any, h: Any) -> None:
    """y a step of Euler's method from its row, to find out how fast the rate changes."""
    model = attach(block)
    store(model.time, 0, 0, time + h)
    for i in range(model.ny):
        store(model.y, i, 0, load(work, rk.Y, i) + h * load(work, rk.RATE, i))


@generic
def choose_first_step(model: Any, run: Any, mark: Any) -> bool:
    """The first step of states that are marked, unless its size is known, by rates at its beginning and a little later.

    True if it was not known of some: the record has been moved.
    """
    work, control, most = run.work, run.control, run.settings[rk.MAX_STEP]
    mark = where(load(control, rk.STEP, 0) > 0.0, zero(mark), mark)
    if not any_positive(mark):
        return False
    a, b, c = norms(model, work, run.weights)
    h0 = where(a > 1e-5, where(b > 1e-5, 0.01 * a / where(b > 1e-5, b, one(b)), 1e-6 + zero(a)), 1e-6 + zero(a))
    h0 = where(h0 < most, h0, most + zero(h0))
    euler_step(model, work, load(control, rk.TIME, 0), h0)
    sound = zero(h0) + evaluate(model, run.plan, run.held)
    a, b, c = norms(model, work, run.weights)
    store(control, rk.SIZE, 0, where(mark > 0.0, h0, zero(h0)))
    store(control, rk.ARRIVAL, 0, where(sound == 0.0, larger(b, c / h0), -one(h0)))
    for lane in range(num_lanes(h0)):
        h, rate = load_lane(control, rk.SIZE, 0, lane), load_lane(control, rk.ARRIVAL, 0, lane)
        if h > 0.0:
            h1 = max(1e-6, 1e-3 * h)
            if rate > 1e-15:
                h1 = (run.settings[rk.ACCURACY] / rate) ** (1.0 / (run.plan[rk.ERROR_ORDER] + 1.0))
            # where the rates are not finite, as far as was tried
            store_lane(control, rk.STEP, 0, lane, h if rate < 0.0 else min(100.0 * h, h1, most))
    return True


@compiled
def start(block: Any, work: Any, control: Any, counts: Any) -> int:
    """The rates at the initial y of one state, and a first step."""
    model = attach(block)
    status = begin_here(model, work, control, counts, counts[rk.PROJECTED] == 0, 0)
    counts[rk.PROJECTED] = 0
    if status == rk.REACHED and choose_first_step(model, run_of(work, work, control, counts), 1.0):
        counts[rk.EVALUATIONS] += 1
    return int(status)
