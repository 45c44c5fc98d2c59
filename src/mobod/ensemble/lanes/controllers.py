"""The record of one state into which lanes are put, one after the other, where their controllers are sampled."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load, load_lane, store, store_lane
from ...compiling import generic
from ...stepping.record import TIME, Y


@generic
def load_single(model: Any, single: Any, crew: Any, lane: int) -> None:
    """Time, y, what controllers remember and a lane's own parameters, into a record of one state."""
    for i in range(crew.own.shape[0]):
        crew.own_of_single[i] = crew.own[i, lane]
    store(single.time, 0, 0, crew.run.control[TIME, 0, lane])
    for i in range(model.ny):
        store(single.y, i, 0, crew.run.work[Y, i, lane])
    for i in range(model.control_size):
        store(single.control_memory, i, 0, load_lane(model.control_memory, i, 0, lane))


@generic
def keep_memory(model: Any, single: Any, lane: int) -> None:
    """Memory of controllers, back into the lane."""
    for i in range(model.control_size):
        store_lane(model.control_memory, i, 0, lane, load(single.control_memory, i, 0))
