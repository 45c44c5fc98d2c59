"""Displacements and speeds that constraints, locks and motions leave free."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.coordinates import displacements, lines, turns
from ..derivative.differences import columns
from ..derivative.equations import of_errors
from ..derivative.motions import of_prescribed_speeds
from ..motion.protocol import POSITION, VELOCITY
from ..state.state import State
from ..value.stage import Stage

#: Parts of a matrix's largest entry, or singular value, below which rows count as dependent.
_RANK = 1e-9


def moved(state: State, change: Array, h: float = 1.0) -> State:
    """A copy of the state at q displaced by h *change* ``(nu,)``, or ``(nv,)`` with turns of lines; quaternions normalized."""
    other = state.copy()
    q = np.array(state.q_view)
    q[: state.tree.nq] += h * (displacements_and_turns(state)[:, : len(change)] @ change)
    other.q = q
    state.system.normalize_quaternions(other)
    return other


def displaced(state: State, k: int, h: float, num_displacements: int) -> State:
    """A copy of the state with variable k of its linear models moved by h: displacements, u, z, and turns of lines at last."""
    nu, nz = state.tree.nu, len(state.z_view)
    if k < nu or k >= 2 * nu + nz:
        return moved(state, np.eye(num_displacements)[k if k < nu else k - nu - nz], h)
    other = state.copy()
    name, i = ("u", k - nu) if k < 2 * nu else ("z", k - 2 * nu)
    numbers = np.array(getattr(state, f"{name}_view"))
    numbers[i] += h
    setattr(other, name, numbers)
    return other


def at_rest(system: Any, state: State) -> State:
    """The state with no speeds but prescribed ones, projected and realized."""
    state.u = np.zeros(len(state.u_view))
    system.realize(state, Stage.TIME)
    system.project(state, 1e-12)
    system.realize(state)
    return state


def displacements_and_turns(state: State) -> Array:
    """[N T] ``(nq, nv)``: how q changes with displacements, then with turns of lines about themselves."""
    return np.hstack([displacements(state), turns(state)])


def of_positions(state: State) -> Array:
    """Rows ``(m, nv)`` times a displacement and turns that have to be zero: of position errors, and of prescribed q."""
    matter, nu, of = state.system.get_matter_subsystem(), state.tree.nu, lines(state)
    known = np.eye(nu + len(of))[_known(state, "q")]
    if not state.tree.counts["nc"]:
        return known
    P, T = matter.calc_p(state), turns(state)
    if T.shape[1]:
        P = np.hstack([P, of_errors(state, T)[0][matter.rows_in_use(state)[: len(P)]]])
    return np.vstack([P, known])


def of_speeds(state: State) -> tuple[Array, Array]:
    """Rows of velocity errors and prescribed u: times a displacement and turns, plus rows times a change of u, are zero."""
    matter, nu, num_turns = state.system.get_matter_subsystem(), state.tree.nu, len(lines(state))
    system, which = state.system, _known(state, "u")
    which = which[which < nu]
    known, by_q = np.eye(nu)[which], np.zeros((len(which), nu + num_turns))
    by_q[:, :nu] = -of_prescribed_speeds(system, state)[which]
    if not state.tree.counts["nc"]:
        return by_q, known
    mp, mv, _ = matter.num_equations(state)
    G = matter.calc_g(state)[: mp + mv]
    if not system.calls_python:
        turned = of_errors(state, displacements_and_turns(state))[1][matter.rows_in_use(state)[: mp + mv]]
        return np.vstack([turned, by_q]), np.vstack([G, known])

    def errors(k: int, h: float) -> Array:
        other = moved(state, np.eye(nu + num_turns)[k], h)
        system.realize(other, Stage.VELOCITY)
        return np.array(other.u_err)[: mp + mv]

    return np.vstack([columns(errors, nu + num_turns, mp + mv), by_q]), np.vstack([G, known])


def missed(state: State) -> Array:
    """By how much the state misses what rows of `of_positions` and `of_speeds` keep: errors, and changes of prescribed q, u."""
    system, nu = state.system, state.tree.nu
    if not (state.is_constrained or state.has_known):
        return np.zeros(0)
    other = state.copy()
    system.realize(other, Stage.VELOCITY)
    mp, mv, _ = system.get_matter_subsystem().num_equations(other)
    there, of_u = other.copy(), _known(state, "u")
    system.prescribe(there)
    change: Any = np.linalg.pinv(displacements_and_turns(other)) @ (other.q_view - there.q_view)[: state.tree.nq]
    return np.concatenate(
        [
            np.array(other.q_err)[:mp],
            change[_known(state, "q")],
            np.array(other.u_err)[: mp + mv],
            (other.u_view - there.u_view)[of_u[of_u < nu]],
        ]
    )


def quaternions(state: State) -> list[int]:
    """The first place of each quaternion among q."""
    return [int(state.tree.first_q[b]) for b in state.tree.quaternions]


def prescribed(state: State) -> tuple[Any, Any]:
    """Masks of q, and of u, that locks and motions prescribe."""
    level, tree = state.field("prescribed_level"), state.tree
    has_q, has_u = level == POSITION, (level == POSITION) | (level == VELOCITY)
    return np.flatnonzero(np.repeat(has_q, tree.num_q)), np.flatnonzero(np.repeat(has_u, tree.num_u))


def _known(state: State, which: str) -> Any:
    """Mobilities whose q, or u, is prescribed; then turns, by nu and their number."""
    each = state.field("prescribed_level")
    level = np.concatenate([np.repeat(each, state.tree.num_u), each[lines(state)]])
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
