"""Displacements and speeds that constraints, locks and motions leave free."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..motion._protocol import POSITION, VELOCITY
from ..state.state import State
from ..system.differences import along
from ..system.motion_tangents import of_prescribed_speeds
from ..system.tangents import displacements, of_velocity_errors
from ..value.stage import Stage

#: Parts of a matrix's largest entry, or singular value, below which rows count as dependent.
_RANK = 1e-9


def moved(state: State, change: Array, h: float = 1.0) -> State:
    """A copy of the state at q displaced by h *change* ``(nu,)``, quaternions normalized."""
    other = state.copy()
    q = np.array(state.q_view)
    q[: state.tree.nq] += h * (displacements(state) @ change)
    other.q = q
    state.system.normalize_quaternions(other)
    return other


def of_positions(state: State) -> Array:
    """Rows ``(m, nu)`` times a displacement that have to be zero: of position errors, and of prescribed q."""
    matter, nu = state.system.get_matter_subsystem(), state.tree.nu
    rows = [matter.calc_p(state)] if state.tree.counts["nc"] else []
    return np.vstack([*rows, np.eye(nu)[_known(state, "q")]])


def of_speeds(state: State) -> tuple[Array, Array]:
    """Rows of velocity errors and prescribed u: times a displacement, plus rows times a change of u, have to be zero."""
    matter, nu = state.system.get_matter_subsystem(), state.tree.nu
    system, which = state.system, _known(state, "u")
    known, by_q = np.eye(nu)[which], -of_prescribed_speeds(system, state)[which]
    if not state.tree.counts["nc"]:
        return by_q, known
    mp, mv, _ = matter.num_equations(state)
    G = matter.calc_g(state)[: mp + mv]
    if not system.is_interpreted:
        turned = of_velocity_errors(system, state)[matter.rows_in_use(state)[: mp + mv]]
        return np.vstack([turned, by_q]), np.vstack([G, known])

    def errors(k: int, h: float) -> Array:
        other = moved(state, np.eye(nu)[k], h)
        system.realize(other, Stage.VELOCITY)
        return np.array(other.u_err)[: mp + mv]

    turned = np.array([along(lambda h, k=k: errors(k, h)) for k in range(nu)]).T.reshape(mp + mv, nu)  # type: ignore[misc]
    return np.vstack([turned, by_q]), np.vstack([G, known])


def _known(state: State, which: str) -> Any:
    """Mobilities whose q, or u, is prescribed."""
    level = np.repeat(state.field("prescribed_level"), state.tree.num_u)
    return np.flatnonzero(level == POSITION if which == "q" else (level == POSITION) | (level == VELOCITY))


def split(rows: Array) -> tuple[Any, Array]:
    """Independent numbers x, as indices, and the matrix T of all of them, x = T x[independent], where *rows* x = 0."""
    from scipy.linalg import qr

    n = rows.shape[1]
    if not len(rows) or not np.abs(rows).max(initial=0.0):
        return np.arange(n), np.eye(n)
    _, R, order = qr(rows, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > _RANK * diagonal[0]))
    free = np.sort(order[rank:])
    T = np.zeros((n, n - rank))
    T[order[:rank]] = -np.linalg.solve(R[:rank, :rank], R[:rank, rank:])[:, np.argsort(order[rank:])]
    T[free] = np.eye(n - rank)
    return free, T


__all__ = ["moved", "of_positions", "of_speeds", "split"]
