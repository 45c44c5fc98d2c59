"""The guess of a plan unless one is given: a straight line from start to end, at rest, within constraints."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, MobodError
from ..linear import manifold
from ..muscle.base import Muscle
from ..state.state import State
from ..value.stage import Stage

if TYPE_CHECKING:
    from .part import Part

#: Steps of Newton's method to the constraints, and how far they may be missed.
_STEPS, _MISSED = 20, 1e-8


def straight(part: Part) -> Array:
    """A straight line of q and z from start to end, at rest: y of all nodes. It is sought once."""
    if part.line is None:
        part.line = _straight(part)
    return part.line.copy()


def _straight(part: Part) -> Array:
    phase, nx = part.phase, part.phase.nx
    ends = []
    for low, high in ((phase.start_low, phase.start_high), (phase.end_low, phase.end_high)):
        low, high = np.maximum(low, phase.low[:nx]), np.minimum(high, phase.high[:nx])
        known = np.isfinite(low) & np.isfinite(high)
        with np.errstate(invalid="ignore"):
            ends.append(np.where(known, 0.5 * (low + high), np.nan))
    x = np.concatenate([phase.state.q_view, phase.state.u_view, phase.state.z_view])
    first = np.where(np.isnan(ends[0]), np.where(np.isnan(ends[1]), x, ends[1]), ends[0])
    last = np.where(np.isnan(ends[1]), first, ends[1])
    y = np.zeros((len(part.mesh), phase.ny))
    y[:, :nx] = first + part.mesh.times[:, None] * (last - first)
    for at in manifold.quaternions(phase.state):
        y[:, at : at + 4] = _turning(first[at : at + 4], last[at : at + 4], part.mesh.times)
    y[:, nx:] = phase.control_origin
    _close(part, y, np.isfinite(ends[1][: phase.dynamics.nq]))
    return y


def _turning(first: Array, last: Array, times: Array) -> Array:
    """Quaternions ``(n, 4)`` along the great circle from one to another; through some turn where they are opposite."""
    first, last = (one / max(float(np.linalg.norm(one)), 1e-30) for one in (first, last))
    across = last - (last @ first) * first
    sine = float(np.linalg.norm(across))
    angle = times[:, None] * np.arctan2(sine, float(last @ first))
    # where it is the same orientation: no turn, or a whole one about some axis
    across = across / sine if sine > 1e-6 else np.linalg.svd(first[None])[2][1]
    return np.cos(angle) * first + np.sin(angle) * across


def _close(part: Part, y: Array, held: Any) -> None:
    """Move q onto position constraints, node after node, without those that are *held*; as far as that goes."""
    phase, d = part.phase, part.phase.dynamics
    if not (phase.state.is_constrained and phase.state.tree.counts["nc"]) or phase.longest <= 0.0:
        return
    movable = ~held if d.nq == d.nu and not held.all() else np.ones(d.nu, bool)
    line, state = y[:, : d.nq].copy(), phase.state.copy()
    for k in range(len(y)):
        start = y[k, : d.nq] if k == 0 else y[k - 1, : d.nq] + line[k] - line[k - 1]
        found = onto(state, float(phase.state.time + part.mesh.times[k] * phase.longest), start, movable)
        if found is None:
            return
        y[k, : d.nq] = found


def onto(state: State, time: float, q: Array, movable: Any) -> Array | None:
    """q moved along some mobilities to where position constraints are kept; None where they cannot be."""
    nq = len(q)
    state.time, state.q, state.u = time, q, np.zeros(len(state.u_view))
    with contextlib.suppress(MobodError, np.linalg.LinAlgError):
        for _ in range(_STEPS):
            state.system.realize(state, Stage.VELOCITY)
            rows = manifold.of_positions(state)
            off = manifold.missed(state)[: len(rows)]
            if np.abs(off).max(initial=0.0) < _MISSED:
                return np.array(state.q_view[:nq])
            if not np.isfinite(off).all():
                return None
            change = np.zeros(rows.shape[1])
            of = np.append(np.flatnonzero(movable), np.arange(len(movable), rows.shape[1]))
            change[of] = -np.linalg.pinv(rows[:, of], rcond=1e-6) @ off
            state.q = manifold.moved(state, change).q_view
    return None


def balance_fibers(part: Part, y: Array) -> None:
    """Give z of muscles whose tendons stretch the values at which they pull as their fibers do, where there is such a one."""
    phase, d = part.phase, part.phase.dynamics
    muscles = [one for one in phase.system.all_forces() if isinstance(one, Muscle) and one.state_variables[1:]]
    if not muscles:
        return
    state = phase.state.copy()
    for row in y[1:]:
        d.put(state, phase.state.time, row)
        phase.system.realize(state, Stage.POSITION)
        for one in muscles:
            with contextlib.suppress(ConvergenceError):
                one.equilibrate(state)
        row[d.nq + d.nu : phase.nx] = state.z_view
