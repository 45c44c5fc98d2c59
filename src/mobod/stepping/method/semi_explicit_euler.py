"""An attempt of the symplectic Euler method, which has no estimate of its error.

    u_1 = u_0 + h udot(q_0, u_0)        q_1 = q_0 + h N(q_0) u_1

Source: Hairer, Lubich and Wanner 2006, I.1.2.
"""

from __future__ import annotations

from typing import Any

from ...algebra.record import attach
from ...algebra.scalar import load, store, zero
from ...compiling import compiled, generic
from ..evaluate import move
from ..record import EVALUATED, PLAIN_RATES, RATE, Y


@compiled
def set_speeds(block: Any, work: Any, row: int, rates: int, time: Any, h: Any) -> None:
    """u, z and the particles' velocities one step on from a row of y, by a row of rates; q and locations as in the row."""
    model = attach(block)
    store(model.time, 0, 0, time)
    n = model.particle_size
    first = model.ny - 2 * n
    for i in range(model.ny):
        value = load(work, row, i)
        if i >= model.whole_nq and (i < first or i >= first + n):
            value = value + h * load(work, rates, i)
        store(model.y, i, 0, value)


@compiled
def set_coordinates(block: Any, plain: int, time: Any, h: Any) -> None:
    """q and locations one step on, by the speeds there are and the q_dot of these, which *plain* says that they are."""
    model = attach(block)
    store(model.time, 0, 0, time + h)
    for i in range(model.whole_nq):
        rate = load(model.u, i, 0) if plain != 0 else load(model.q_dot, i, 0)
        store(model.q, i, 0, load(model.q, i, 0) + h * rate)
    for i in range(model.particle_size):
        store(model.particle_location, i, 0, load(model.particle_location, i, 0) + h * load(model.particle_velocity, i, 0))


@generic
def step(model: Any, run: Any, row: int, rates: int, time: Any, h: Any) -> Any:
    """A step from a row of y with a row of its rates; 0, or NaN where the new speeds are not finite."""
    set_speeds(model, run.work, row, rates, time, h)
    sound = zero(h)
    if run.plan[PLAIN_RATES] == 0:
        sound = sound + move(model, run.plan)
    set_coordinates(model, run.plan[PLAIN_RATES], time, h)
    return sound


@generic
def attempt(model: Any, run: Any, time: Any, h: Any) -> Any:
    """One attempt."""
    store(run.control, EVALUATED, 0, 0.0)
    return step(model, run, Y, RATE, time, h)
