"""Derivatives of hinge columns of mobilizers in Python, by differences: all move their own q at once, or their u."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from ..value.stage import Stage
from .parts_in_python import Moving
from .sweep import BEND, BEND_BY_U


def put_bends(state: State, bodies: Sequence[int], bends: Array) -> None:
    """Write those that `columns.find_bends` leaves out. Needs velocities."""
    tree, other = state.tree, state.copy()
    for k in range(max(tree.num_u[b] for b in bodies)):
        having = [b for b in bodies if tree.num_u[b] > k]
        chosen = np.array([tree.first_u[b] + k for b in having])
        for name in ("q", "u"):
            moving = Moving(state, name, chosen)
            rows = []
            for sign in (1.0, -1.0):
                moving.put(other, sign * moving.steps)
                state.system.realize(other, Stage.VELOCITY)
                rows.append((other.record.H_FM[: tree.nu].copy(), other.record.bias_FM[: tree.nb].copy()))
            moving.put(other, moving.none)
            for b, i, h in zip(having, chosen, moving.steps, strict=True):
                of_bias = (rows[0][1][b] - rows[1][1][b]) / (2.0 * h)
                if name == "u":
                    bends[i, BEND_BY_U : BEND_BY_U + 6] = of_bias
                    continue
                own = slice(tree.first_u[b], tree.first_u[b] + tree.num_u[b])
                of_columns = (rows[0][0][own] - rows[1][0][own]) / (2.0 * h)
                bends[i, : of_columns.size] = of_columns.ravel()
                bends[i, BEND : BEND + 6] = of_bias
