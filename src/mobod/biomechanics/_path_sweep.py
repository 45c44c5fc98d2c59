"""Lengths, speeds and moment arms of many paths over the rows of a motion, in one compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.memory import store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, store
from ..compiling import compiled
from ..force.transmission import path
from ..state import validity
from ..tree import jacobian_sweeps, realize
from ..value.stage import Stage
from ._sweep import realize_row


@compiled
def sweep(
    block: Any, address: int, wanted: int, time: Any, q: Any, u: Any, places: Any, lengths: Any, speeds: Any, arms: Any
) -> int:
    """Rows of a motion until one cannot be realized; how many are done.

    *places* has where the integers of each path are; *lengths* and *speeds* are ``(nt, n)``, *arms* ``(nt, n, nu)``: the
    generalized force of a unit tension.
    """
    model = attach(block)
    for i in range(len(time)):
        if not realize_row(model, address, wanted, time[i], q[i], u[i]):
            return i
        for j in range(len(places)):
            for b in range(model.nb):
                store_spatial(model.body_forces, b, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            for k in range(model.nu):
                store(model.mobility_forces, k, 0, 0.0)
            lengths[i, j] = path.length(model, places[j], 0)
            speeds[i, j] = path.speed(model, places[j], 0)
            path.apply(model, places[j], 0, -1.0)
            jacobian_sweeps.copy_rows(model.body_forces, model.work_F, model.nb)
            jacobian_sweeps.inward(model, model.work_F, arms[i, j])
            for k in range(model.nu):
                arms[i, j, k] += load(model.mobility_forces, k, 0)
    return len(time)


def paths_over(system: Any, state: Any, muscles: Any, time: Array, q: Array, u: Array) -> tuple[Array, Array, Array]:
    """Lengths and speeds ``(nt, n)`` and moment arms ``(nt, n, nu)`` of muscles; the state is nobody else's."""
    n, nt, nu = len(muscles), len(time), u.shape[1]
    lengths, speeds, arms = np.empty((nt, n)), np.empty((nt, n)), np.empty((nt, n, nu))
    done = 0
    if all(one.get_path().FUNCTIONS is path.Path.FUNCTIONS and one.get_path().numbers[0] == 1.0 for one in muscles):
        places = np.array([one.span[1] - 1 for one in muscles], np.int64)
        columns = (np.ascontiguousarray(rows) for rows in (time, q, u))
        address, wanted = realize.advance.address(), validity.WANTED[Stage.VELOCITY]
        done = sweep(state, address, wanted, *columns, places, lengths, speeds, arms)
    for i in range(done, nt):
        state.time, state.q, state.u = float(time[i]), q[i], u[i]
        system.realize(state, Stage.VELOCITY)
        for j, one in enumerate(muscles):
            lengths[i, j], speeds[i, j] = one.get_length(state), one.get_lengthening_speed(state)
            arms[i, j] = one.calc_moment_arms(state)
    return lengths, speeds, arms
