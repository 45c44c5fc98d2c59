"""Rows of `work`: y and its rates as they go from the record to a row and back.

*mark* is above 0 for the states that are concerned; the others keep what they had, so that nothing a lane computes depends on
its neighbours.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load, store, where
from ..compiling import compiled, generic
from .record import RATE, RATE_PREVIOUS, Y_PREVIOUS, Y


@compiled
def keep_rate(block: Any, work: Any, row: int) -> None:
    """Copy the rate of y into a row."""
    model = attach(block)
    for i in range(model.ny):
        store(work, row, i, load(model.y_dot, i, 0))


@compiled
def keep(block: Any, work: Any, row: int) -> None:
    """Copy y and its rate into a row and the next."""
    model = attach(block)
    for i in range(model.ny):
        store(work, row, i, load(model.y, i, 0))
        store(work, row + 1, i, load(model.y_dot, i, 0))


@compiled
def set_y(block: Any, time: float, y: Any) -> None:
    """Time and y, of one state."""
    model = attach(block)
    store(model.time, 0, 0, time)
    for i in range(model.ny):
        store(model.y, i, 0, y[i])


@generic
def set_row(model: Any, work: Any, row: int, time: Any) -> None:
    """y of a row, at *time*."""
    store(model.time, 0, 0, time)
    for i in range(model.ny):
        store(model.y, i, 0, load(work, row, i))


@generic
def shift(model: Any, work: Any, mark: Any) -> None:
    """The end of the last step becomes its beginning, and y with its rates the new end, of states that are marked."""
    last, taken = work.shape[0] - 1, mark > 0.0
    for i in range(model.ny):
        y, rate = load(work, Y, i), load(work, RATE, i)
        store(work, Y_PREVIOUS, i, where(taken, y, load(work, Y_PREVIOUS, i)))
        store(work, RATE_PREVIOUS, i, where(taken, rate, load(work, RATE_PREVIOUS, i)))
        store(work, Y, i, where(taken, load(model.y, i, 0), y))
        store(work, RATE, i, where(taken, load(model.y_dot, i, 0), rate))
    for i in range(model.nq):
        bent = load(work, last, i)
        store(work, last - 1, i, where(taken, bent, load(work, last - 1, i)))
        store(work, last, i, where(taken, load(model.q_dot_dot, i, 0), bent))


@compiled
def shift_step(block: Any, work: Any) -> None:
    """`shift`, of one state."""
    shift(attach(block), work, 1.0)


@compiled
def begin_at(block: Any, work: Any) -> None:
    """y with its rates, of a record that is realized, becomes both ends of the last step: where the next one begins."""
    model = attach(block)
    shift(model, work, 1.0)
    shift(model, work, 1.0)


@generic
def set_rates(model: Any, work: Any, mark: Any) -> None:
    """The rates at the last step's end, of states that are marked, realized there anew: forces have changed."""
    last, changed = work.shape[0] - 1, mark > 0.0
    for i in range(model.ny):
        store(work, RATE, i, where(changed, load(model.y_dot, i, 0), load(work, RATE, i)))
    for i in range(model.nq):
        store(work, last, i, where(changed, load(model.q_dot_dot, i, 0), load(work, last, i)))


@compiled
def set_rate(block: Any, work: Any) -> None:
    """`set_rates`, of one state."""
    set_rates(attach(block), work, 1.0)


@compiled
def report_row(block: Any, row: Any) -> None:
    """Copy y into a row of results."""
    model = attach(block)
    for i in range(model.ny):
        row[i] = load(model.y, i, 0)
