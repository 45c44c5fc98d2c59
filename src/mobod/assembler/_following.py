"""Markers followed through a recording in one compiled loop, where they alone decide: no requirements, nothing in Python.

    (H + mu D) x = -g        H = J^T W J,  g = J^T W e

Levenberg's and Marquardt's steps, from where the last two frames point to. What needs more, a limit or a restart, is left to
`_solve`: the loop stops in front of that frame. Source: Nocedal and Wright 2006, section 10.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, sqrt, store
from ..compiling import compiled, generic
from ..state import validity
from ..tree import normal_equations, realize
from ..tree.realize import DONE
from ..value.stage import Stage
from ._problem import Problem
from ._reaching import solve
from .markers import Markers

#: The damping that a search starts with, that below which it stays as it is, and that at which the search is left to others.
_START, _LEAST, _MOST = 1e-7, 1e-9, 1e2
#: Steps of a frame before it is left to others, and the largest change of a coordinate in one.
_STEPS, _FAR = 60, 1.0


@generic
def _solve(H: Any, g: Any, x: Any, mu: float) -> bool:
    """x = -(H + mu D)^-1 g by Cholesky's factors, which take the place of the lower half of H; False if it is not positive.

    The diagonal is kept above the matrix's own, in the last row of H.
    """
    n = len(x)
    top = 0.0
    for i in range(n):
        top = max(top, H[n, i])
    if not top > 0.0:
        return False
    for i in range(n):
        for j in range(i + 1):
            total = H[j, i]
            if i == j:
                total = H[n, i] * (1.0 + mu) + (1e-3 * mu + 1e-12) * top
            for k in range(j):
                total -= H[i, k] * H[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                H[i, i] = sqrt(total)
            else:
                H[i, j] = total / H[j, j]
    for i in range(n):
        x[i] = -g[i]
    solve(H, x, n)
    return True


# fmt: off
@compiled
def follow(
    block: Any, address: int, wanted: int, begin: int, end: int, accuracy: float, time: Any, ahead: Any,
    bodies: Any, stations: Any, targets: Any, weights: Any, places: Any, ranges: Any,
    inertias: Any, forces: Any, all_H: Any, all_g: Any, H: Any, g: Any, x: Any, q: Any, goals: Any,
) -> int:
    # fmt: on
    """Frames *begin* to *end*, each from the ones before it.

    Parameters
    ----------
    block : block of a State
        At INSTANCE; its time and q are changed.
    address, wanted : int
        How to realize it, to positions.
    begin, end : int
    accuracy : float
        See `Search`.
    time : (nt,) array
    ahead : (nt,) array
        What part of the change between the last two frames a search starts ahead of the last; zero for none.
    bodies : (n,) array of int64
    stations : (n, 3) array
    targets : (nt, n, 3) array
        In Ground; anything finite where the weight is zero.
    weights : (nt, n) array
        The goal is half the sum of these times the squares.
    places : (m, 2) array of int64
        Of each coordinate that is free, itself and its speed.
    ranges : (m, 2) array
        Of these.
    inertias, forces, all_H, all_g : (nb, 10), (nb, 6), (nu, nu), (nu,) arrays
        Space for the normal equations.
    H, g, x : (m + 1, m), (m,), (m,) arrays
        Space for those of the free coordinates.
    q : (nt, nq) array
        The results; the row before *begin* is the start.
    goals : (nt,) array

    Returns
    -------
    int
        The frames that are done: below *end*, the next one is for others.
    """
    model = attach(block)
    m = len(places)
    for i in range(begin, end):
        store(model.time, 0, 0, time[i])
        for k in range(model.nq):
            q[i, k] = q[i - 1, k]
            store(model.q, k, 0, q[i, k])
        if call_routine(address, model, 0, wanted) != DONE:
            return i
        if ahead[i] > 0.0:  # to where the last two frames point, if that is nearer
            here = normal_equations.sum_of_squares(model, bodies, stations, targets[i], weights[i])
            for a in range(m):
                k = places[a, 0]
                store(model.q, k, 0, min(max(q[i, k] + ahead[i] * (q[i - 1, k] - q[i - 2, k]), ranges[a, 0]), ranges[a, 1]))
            if call_routine(address, model, 0, wanted) != DONE:
                return i
            if normal_equations.sum_of_squares(model, bodies, stations, targets[i], weights[i]) < here:
                for a in range(m):
                    q[i, places[a, 0]] = load(model.q, places[a, 0], 0)
            elif not _at(model, address, wanted, q[i], places):
                return i
        mu, done = _START, False
        f = _equations(model, bodies, stations, targets[i], weights[i], inertias, forces, all_H, all_g, places, H, g)
        for _ in range(_STEPS):
            if not _solve(H, g, x, mu):
                return i
            gain = 0.0
            for a in range(m):
                gain -= 0.5 * g[a] * x[a]
                there = q[i, places[a, 0]] + x[a]
                if not abs(x[a]) <= _FAR or there < ranges[a, 0] or there > ranges[a, 1]:
                    return i
            small = accuracy * accuracy * f
            if gain <= 1e-4 * small:
                done = True
                break
            for a in range(m):
                store(model.q, places[a, 0], 0, q[i, places[a, 0]] + x[a])
            if call_routine(address, model, 0, wanted) != DONE:
                return i
            then = _equations(model, bodies, stations, targets[i], weights[i], inertias, forces, all_H, all_g, places, H, g)
            if f - then > 1e-4 * gain or (gain <= small and then <= f):
                f = then
                for a in range(m):
                    q[i, places[a, 0]] += x[a]
                mu = max(_LEAST, 0.1 * mu)
            elif gain > small:
                mu = max(10.0 * mu, 1e-5)
                if mu > _MOST or not _at(model, address, wanted, q[i], places):
                    return i
                f = _equations(model, bodies, stations, targets[i], weights[i], inertias, forces, all_H, all_g, places, H, g)
            if gain <= small:
                done = True
                break
        if not done:
            return i
        goals[i] = f
    return end


@generic
def _at(model: Any, address: int, wanted: int, q: Any, places: Any) -> bool:
    """Positions at the free coordinates of q."""
    for a in range(len(places)):
        store(model.q, places[a, 0], 0, q[places[a, 0]])
    return call_routine(address, model, 0, wanted) == DONE


@generic
def _equations(
    model: Any, bodies: Any, stations: Any, targets: Any, weights: Any, inertias: Any, forces: Any, all_H: Any, all_g: Any,
    places: Any, H: Any, g: Any
) -> float:  # fmt: skip
    """The goal, and the normal equations of the free coordinates."""
    normal_equations.clear(model, inertias, forces)
    f = normal_equations.add_stations(model, bodies, stations, targets, weights, inertias, forces)
    normal_equations.form(model, inertias, forces, all_H, all_g)
    m = len(places)
    for a in range(m):
        g[a] = all_g[places[a, 1]]
        for b in range(a, m):
            H[a, b] = all_H[places[a, 1], places[b, 1]]
        H[m, a] = H[a, a]
    return f


class Following:
    """The arrays that the compiled loop needs, of an Assembler's problem and a recording.

    Parameters
    ----------
    problem : Problem
        For which `can_follow` says so.
    accuracy : float
        See `Search`.
    time : (nt,) array or None
        None: the frames are evenly spaced, and the state's time is kept.
    observations : (nt, num_observations, 3) array
        NaN where a marker is missing.
    """

    def __init__(self, problem: Problem, accuracy: float, time: Array | None, observations: Array) -> None:
        ((markers, weight),) = problem.spatial
        assert isinstance(markers, Markers)
        self._state, variables = problem.state, problem.variables
        tree = self._state.tree
        bodies, stations, places, weights = markers.in_use()
        seen = observations[:, places]
        there = np.isfinite(seen.sum(axis=2))
        weights = np.where(there, weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        weights = weight * weights / np.where(total > 0.0, total, 1.0)
        m = variables.n
        ranges = np.full((m, 2), np.inf) * (-1.0, 1.0)
        if variables.lower is not None and variables.upper is not None:
            ranges = np.stack([variables.lower, variables.upper], axis=1)
        nt = len(observations)
        self._time, self._ahead = np.full(nt, self._state.time), np.ones(nt)
        if time is not None:
            self._time[:] = time
            step = np.diff(self._time)
            self._ahead[2:] = np.clip(step[1:] / np.where(step[:-1] > 0.0, step[:-1], np.inf), 0.0, 2.0)
        self._ahead[:2] = 0.0
        self._given = (
            bodies,
            stations,
            np.ascontiguousarray(np.where(there[:, :, None], seen, 0.0)),
            np.ascontiguousarray(weights),
            np.stack([variables.q_of_x, variables.u_of_x], axis=1),
            ranges,
        )
        spaces = (tree.nb, 10), (tree.nb, 6), (tree.nu, tree.nu), (tree.nu,), (m + 1, m), (m,), (m,)
        self._space = [np.zeros(shape) for shape in spaces]
        self._accuracy, self._any = accuracy, np.asarray(total)[:, 0] > 0.0

    def run(self, begin: int, end: int, q: Array, goals: Array) -> int:
        """Fill in the rows from *begin* on, at least 1, as far as they go: the first that is for others, or *end*.

        The state is left at the last row that is done.
        """
        state = self._state
        blind = np.flatnonzero(~self._any[begin:end])
        end = begin + int(blind[0]) if len(blind) else end
        wanted = validity.WANTED[Stage.POSITION]
        at = int(
            follow(
                state, realize.advance.address(), wanted, begin, end, self._accuracy, self._time, self._ahead, *self._given,
                *self._space, q, goals,
            )
        )  # fmt: skip
        state.time = float(self._time[at - 1])
        state.q = q[at - 1]
        return at


def can_follow(problem: Problem) -> bool:
    """True if the loop finds what `_solve` does: markers are the only goal, and each coordinate has a speed of its own."""
    state, system, variables = problem.state, problem.system, problem.variables
    return bool(
        len(problem.spatial) == 1
        and isinstance(problem.spatial[0][0], Markers)
        and not (problem.squares or problem.general or problem.requirements)
        and variables.n
        and not (len(variables.tangent) or variables.mixed)
        and not (system.calls_python or state.has_known)
        and len(state.q_values) == state.tree.nq
        and not any(body.is_of_users_functions for body in system.get_matter_subsystem().body_list)
    )
