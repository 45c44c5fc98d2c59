"""Rates of coordinates: N of mobilizers, turns of lines that no speed makes, and how displacements turn along a motion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..mobilizer import q_rates
from ..state.state import State
from ..tree import rates
from .jvp import jvp, kinematics


def has_rates(state: State) -> bool:
    """True if q_dot is not u, of some mobilizer."""
    return bool((state.tree.fields["rates"] != q_rates.SAME).any())


def displacements(state: State) -> Array:
    """N of the matter's mobilizers ``(nq, nu)``: column k is q_dot of a unit of speed k. Needs positions."""
    tree = state.tree
    if not has_rates(state):
        return np.eye(tree.nu)
    u, out = np.zeros(len(state.u_view)), np.zeros(len(state.q_view))

    def product(unit: Array) -> Array:
        u[: tree.nu] = unit
        rates.multiply_by_n(state.block, False, u, out)
        return out

    return columns_by_mobility(state, product)


def lines(state: State) -> list[int]:
    """Bodies whose mobilizers are of lines, which have an orientation and no speed about themselves."""
    tree = state.tree
    return [b for b in range(1, tree.nb) if tree.num_q[b] - (b in tree.quaternions) > tree.num_u[b] > 0]


def turns(state: State) -> Array:
    """Changes of q that no speed makes and that matter ``(nq, m)``: turns of lines about themselves, by one radian."""
    return turned_lines(state, state.q_view)


def turned_lines(state: State, q: Array) -> Array:
    """`turns` at q, in which they are linear: q k / 2 of a quaternion, k the line; the last of three angles."""
    tree, of = state.tree, lines(state)
    found = np.zeros((tree.nq, len(of)))
    for column, b in enumerate(of):
        first = tree.first_q[b]
        if b in tree.quaternions:
            w, x, y, z = q[first : first + 4]
            found[first : first + 4, column] = 0.5 * np.array([-z, y, -x, w])
        else:
            found[first + 2, column] = 1.0
    return found


def _of_blocks(rows: list[int], columns: list[int], column: Callable[[int], Array]) -> Array:
    """A matrix of a block a mobilizer, from ``column(k)``: those number k of all blocks, one below the other.

    *rows* and *columns* say how many there are of each block.
    """
    block, width = np.repeat(np.arange(len(rows)), rows), np.array(columns)
    first = np.cumsum(width) - width
    found = np.zeros((len(block), int(width.sum())))
    for k in range(max(columns, default=0)):
        has = np.flatnonzero(width[block] > k)
        found[has, first[block[has]] + k] = column(k)[has]
    return found


def columns_by_mobility(state: State, product: Callable[[Array], Array]) -> Array:
    """A matrix ``(nq, nu)``, a block a mobilizer, of its products: all mobilizers' columns of one number in each."""
    tree = state.tree
    return _of_blocks(tree.num_q, tree.num_u, lambda k: product(_units(state, k))[: tree.nq])


def _units(state: State, k: int) -> Array:
    """A unit of the speed of number k of every mobilizer that has one."""
    unit, num_u = np.zeros(state.tree.nu), np.array(state.tree.num_u)
    unit[np.array(state.tree.first_u)[num_u > k] + k] = 1.0
    return unit


def turning(state: State) -> Array:
    """W^+ (d(N u)/dq W - WDot) ``(nv, nv)``, W = [N T]: how displacements and `turns` turn as q changes. Needs velocities."""
    tree, matter, of_rates = state.tree, state.system.get_matter_subsystem(), rates_by_q(state)
    if of_rates is None:
        return np.zeros((tree.nu, tree.nu))
    W = np.hstack([displacements(state), turns(state)])
    N_dot = columns_by_mobility(state, lambda unit: matter.multiply_by_n_dot(state, False, unit))
    W_dot = np.hstack([N_dot, turned_lines(state, np.array(state.q_dot_view[: tree.nq]))])
    for column, b in enumerate(lines(state)):
        if b not in tree.quaternions:  # the last angle's unit stays
            W_dot[:, tree.nu + column] = 0.0
    return np.asarray(np.linalg.solve(W.T @ W, W.T @ (of_rates @ W - W_dot)), np.float64)


def rates_by_q(state: State) -> Array | None:
    """d(N u)/dq ``(nq, nq)`` by each number of q, quaternions' too; None where q_dot is u. Needs positions."""
    tree = state.tree
    if not has_rates(state):
        return None
    body: npt.NDArray[np.int64] = np.repeat(np.arange(tree.nb), tree.num_q)
    number = np.arange(tree.nq) - np.array(tree.first_q)[body]
    seeds = (number[:, None] == np.arange(max(tree.num_q))).astype(np.float64)
    found = jvp(state, {"q": seeds}, kinematics, {"q_dot": tree.nq})["q_dot"]
    return _of_blocks(tree.num_q, tree.num_q, lambda k: found[:, k])
