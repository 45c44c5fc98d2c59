"""Statically indeterminate contacts: by how much the best of all forces that do the same are within the law.

Rows B of what is closed are redundant where a block rests on its four corners, say: forces lambda + Z s do the same whatever s
is, where B^T Z = 0. That of a contact that slides is the normal's and its friction's together. The margin is

    max over s of min over contacts of    mu_s N - |f|  where it sticks,    N  where it slides or has no friction

It is concave in s, and where it is below zero no forces are within the law. Newton's method finds it, with logarithmic barriers
of the cones, whose weight falls until the sign is sure: from the same start at each state, so that the bits do not depend on
what was before.

Source: Boyd and Vandenberghe 2004, Convex Optimization, 11.3 and 11.6.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import compiled, generic
from ..tree.sliding import add_friction_to_rows
from ._rows import SIGN
from .problem import contact_table

if TYPE_CHECKING:
    from ..state.state import State

#: The least part of the largest eigenvalue by which rows are independent, and of a share that contacts have a part in.
REDUNDANT, _SHARED = 1e-10, 1e-6
#: Of the forces' size: what is out of the law by no more is within; and so many times that is what others may have.
_HELD, _MOST = 1e-7, 1000.0
#: By what the weight of barriers falls at once, and where it ends; Newton's decrement at which it falls, and the most steps,
#: and the least part of one.
_FALL, _LEAST_WEIGHT, _DECREMENT, _MOST_STEPS, _SHORTEST = 0.05, 1e-10, 1e-3, 50, 1e-6
#: The part of a pivot that is rounding.
_ROUNDING = 1e-14


def find_margin(state: State) -> float:
    """The margin of all contacts that are closed. Needs ACCELERATION."""
    table, matter, fields = contact_table(state), state.system.get_matter_subsystem(), state.tree.fields
    G, which, enabled = matter.explicit_g(state), np.flatnonzero(table.closed(state)), state.field("constraint_enabled") != 0
    if state.slides:
        add_friction_to_rows(state.block, G)
    own = np.where(enabled[table.other[which]], table.other[which], table.normal[which])
    enabled[own], n = False, len(own)
    constraints = np.concatenate([own, np.flatnonzero(enabled)])
    sizes = np.array([fields[name] for name in ("num_p", "num_v", "num_a")]).sum(axis=0)[constraints]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.repeat(np.array(fields["first_row"])[constraints] - starts[:-1], sizes) + np.arange(starts[-1])
    W, scale = G[rows] @ matter.calc_m_inv(state) @ G[rows].T, np.full(starts[-1], -1.0)
    mu = [table.contacts[k].get_static_friction() if size > 1 else 1.0 for k, size in zip(which, sizes, strict=False)]
    scale[starts[:n]] = -table.integers[which, SIGN] * mu
    forces, islands = scale * state.record.multiplier[rows, 0], find_islands(W, starts)
    margins = []
    for island in np.unique(islands[:n]):
        blocks = np.flatnonzero(islands == island)
        places, count = np.flatnonzero(np.repeat(islands == island, sizes)), int(np.count_nonzero(blocks < n))
        ends = np.concatenate([[0], np.cumsum(sizes[blocks[:count]])])
        margins.append(_margin_of(W[np.ix_(places, places)], forces[places], scale[places], ends))
    return min(margins)


def find_islands(W: Array, starts: Any) -> Any:
    """Of each block of rows a number that those share whose impulses change each other's velocities, through others, too."""
    coupled = W != 0.0
    for axis in (0, 1):
        coupled = np.logical_or.reduceat(coupled, starts[:-1], axis=axis)
    np.fill_diagonal(coupled, True)
    islands, before = np.arange(len(coupled)), None
    while before is None or (islands != before).any():
        islands, before = np.where(coupled, islands, len(coupled)).min(axis=1), islands
    return islands


def _margin_of(W: Array, forces: Array, scale: Array, starts: Any) -> float:
    """The margin of contacts that are coupled, of which rows are scaled: the first ones, up to the last of *starts*.

    That of the forces as they are, where these are within the law.
    """
    contacts, squares = int(starts[-1]), forces * forces
    squares[starts[:-1]] = 0.0
    left = float((forces[starts[:-1]] - np.sqrt(np.add.reduceat(squares[:contacts], starts[:-1]))).min())
    if left > 0.0:
        return left
    values, vectors = np.linalg.eigh(W)
    Z = vectors[:contacts, values <= REDUNDANT * values[-1]]
    if contacts < len(W):  # what only others share is of no interest
        found, shares, _ = np.linalg.svd(Z, full_matrices=False)
        Z = found[:, shares > _SHARED]
    size, n = float(np.linalg.norm(forces[:contacts])), Z.shape[1] + 1
    if not size > 0.0:
        return 0.0
    given = np.ascontiguousarray(scale[:contacts, None] * Z), forces[:contacts] / size, starts
    return size * float(raise_least(*given, np.zeros((5, n)), np.zeros((n, n))))


@generic
def _left_of(Z: Any, b: Any, x: Any, i: int) -> float:
    """A row of forces, where shares are x."""
    total: float = b[i]
    for j in range(Z.shape[1]):
        total += Z[i, j] * x[j]
    return total


@generic
def _value(Z: Any, b: Any, starts: Any, x: Any, weight: float) -> float:
    """The margin, over the weight, and the barriers, whose sum is to be small; infinite outside of these."""
    r, q = Z.shape[1], _MOST * _MOST
    for j in range(r):
        q -= x[j] * x[j]
    if not (q > 0.0 and x[r] < 1.0):
        return math.inf
    total = -x[r] / weight - math.log(q) - math.log(1.0 - x[r])
    for k in range(starts.shape[0] - 1):
        s = _left_of(Z, b, x, starts[k]) - x[r]
        q = s * s
        for i in range(starts[k] + 1, starts[k + 1]):
            q -= _left_of(Z, b, x, i) ** 2
        if not (q > 0.0 and s > 0.0):
            return math.inf
        total -= math.log(q)
    return total


@generic
def _add(gradient: Any, hessian: Any, slope: Any, q: float) -> None:
    """Add the derivatives of -log q, of which *slope* has those of q, without its second ones."""
    for i in range(slope.shape[0]):
        gradient[i] -= slope[i] / q
        for j in range(i + 1):
            hessian[i, j] += (slope[i] / q) * (slope[j] / q)


@generic
def _differentiate(Z: Any, b: Any, starts: Any, x: Any, weight: float, slope: Any, gradient: Any, hessian: Any) -> None:
    """Gradient of `_value`, and the lower half of its second derivatives."""
    r, q = Z.shape[1], _MOST * _MOST
    gradient[:], hessian[:] = 0.0, 0.0
    for j in range(r):
        q -= x[j] * x[j]
        slope[j] = -2.0 * x[j]
    slope[r] = 0.0
    _add(gradient, hessian, slope, q)
    for j in range(r):
        hessian[j, j] += 2.0 / q
    gradient[r] += 1.0 / (1.0 - x[r]) - 1.0 / weight
    hessian[r, r] += 1.0 / (1.0 - x[r]) ** 2
    for k in range(starts.shape[0] - 1):
        first, q = starts[k], 0.0
        slope[:] = 0.0
        for i in range(first, starts[k + 1]):
            sign, s = (1.0, _left_of(Z, b, x, i) - x[r]) if i == first else (-1.0, _left_of(Z, b, x, i))
            q += sign * s * s
            for j in range(r):
                slope[j] += 2.0 * sign * s * Z[i, j]
            slope[r] -= s + sign * s
        _add(gradient, hessian, slope, q)
        for i in range(first, starts[k + 1]):
            twice = 2.0 / q if i == first else -2.0 / q
            for j in range(r):
                for l in range(j + 1):
                    hessian[j, l] -= twice * Z[i, j] * Z[i, l]
        for j in range(r):
            hessian[r, j] += 2.0 / q * Z[first, j]
        hessian[r, r] -= 2.0 / q


@generic
def _find_step(gradient: Any, hessian: Any, step: Any) -> float:
    """Newton's step, by Cholesky's factor, which takes the place of the lower half; and the decrement.

    There is none along what rounding leaves unknown.
    """
    n, square = gradient.shape[0], 0.0
    for j in range(n):
        least = _ROUNDING * hessian[j, j]
        for i in range(j, n):
            total = hessian[i, j]
            for k in range(j):
                total -= hessian[i, k] * hessian[j, k]
            hessian[i, j] = (math.sqrt(total) if total > least else 1e100) if i == j else total / hessian[j, j]
    for i in range(n):
        total = -gradient[i]
        for k in range(i):
            total -= hessian[i, k] * step[k]
        step[i] = total / hessian[i, i]
        square += step[i] * step[i]
    for i in range(n - 1, -1, -1):
        total = step[i]
        for k in range(i + 1, n):
            total -= hessian[k, i] * step[k]
        step[i] = total / hessian[i, i]
    return math.sqrt(square)


@compiled
def raise_least(Z: Any, b: Any, starts: Any, vectors: Any, hessian: Any) -> float:
    """The margin of forces b + Z s, of size 1, the first of each contact times its coefficient of friction; or half of it."""
    x, slope, gradient, step, there = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    r, weight, kept_off = Z.shape[1], 1.0, 2.0 * starts.shape[0] + 1.0
    for k in range(starts.shape[0] - 1):
        square = 0.0
        for i in range(starts[k] + 1, starts[k + 1]):
            square += b[i] * b[i]
        x[r] = min(x[r], b[starts[k]] - math.sqrt(square) - 1.0)
    while True:
        for _ in range(_MOST_STEPS):
            _differentiate(Z, b, starts, x, weight, slope, gradient, hessian)
            decrement, part = _find_step(gradient, hessian, step), 1.0
            # of small steps the gain is rounding
            most = _value(Z, b, starts, x, weight) if decrement > 0.25 else 1e300
            while part > _SHORTEST:
                for j in range(r + 1):
                    there[j] = x[j] + part * step[j]
                if _value(Z, b, starts, there, weight) <= most - 1e-4 * part * decrement**2:
                    for j in range(r + 1):
                        x[j] = there[j]
                    break
                part *= 0.5
            if decrement < _DECREMENT or not part > _SHORTEST:
                break
        # the margin is no less, and larger by no more than what the barriers keep it off
        if x[r] > kept_off * weight or weight < _LEAST_WEIGHT:
            return x[r] + _HELD
        if x[r] < -2.0 * kept_off * weight:
            return x[r] + kept_off * weight
        weight *= _FALL
