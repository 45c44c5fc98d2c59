"""Fits of q by search, for mobilizers whose transform is known only as a function.

The distance of two poses is |R - R'|^2 / 2 (Frobenius; for a small angle its square) + |p - p'|^2 / L^2, where L is the larger
distance of M from F at the start, so that units of length do not matter. It is minimized by the method of Levenberg and
Marquardt (Nocedal and Wright 2006, section 10.3) from the present q and, where that misses, from others. Where all miss, the
nearest is polished by Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from .base import MobilizedBody

#: R ``(3, 3)`` and p ``(3,)`` of M in F at any q.
Pose = Callable[[Array], tuple[Array, Array]]

#: A cost below this is a target reached: rounding of numbers of order one, squared.
REACHED = 1e-24
#: How many further starts there are where that from the present q misses.
STARTS = 24


def fit_q(body: MobilizedBody, state: State, R: Array | None, p: Array | None) -> Array:
    """The q of *body* at which the pose of M in F is nearest to R and p, or to the one that is given; the state is not changed.

    The search starts at the state's q. A q at which the body's transform fails, or is not finite, is passed over.
    """
    q = body.get_q_as_vector(state)
    pose = body.pose_in_f(state)
    has_quaternion = body.facts.has_quaternion and not state.use_euler_angles
    start = _safely(pose, q)
    size = max([float(np.linalg.norm(x)) for x in (p, None if start is None else start[1]) if x is not None], default=0.0)

    def misfit(x: Array) -> Array | None:
        found = _safely(pose, x)
        if found is None:
            return None
        parts = []
        if R is not None:
            parts.append((found[0] - R).ravel() * np.sqrt(0.5))
        if p is not None:
            parts.append((found[1] - p) / (size or 1.0))
        return np.concatenate(parts)

    best, cost = _descend(misfit, q)
    if cost > REACHED:
        for other in _starts(q, body, has_quaternion):
            x, c = _descend(misfit, other)
            if c < cost * (1.0 - 1e-6):
                best, cost = x, c
            if cost <= REACHED:
                break
    if not np.isfinite(cost):
        return q
    if cost > REACHED:
        best = _polished(misfit, best, cost)
    if has_quaternion:
        norm = np.linalg.norm(best[:4])
        best[:4] = q[:4] if norm == 0.0 else best[:4] / norm
    return best


def fit_translation(body: MobilizedBody, state: State, p: Array) -> Array:
    """The q at which M's origin is nearest to p in F: without turning M if possible."""
    pose = body.pose_in_f(state)
    now = _safely(pose, body.get_q_as_vector(state))
    other = fit_q(body, state, None, p)
    if now is None:
        return other
    still = fit_q(body, state, now[0], p)
    R_still, p_still = pose(still)
    miss, size = float(np.linalg.norm(p_still - p)), max(float(np.linalg.norm(p)), float(np.linalg.norm(p_still)), 1e-300)
    if np.abs(R_still - now[0]).max() < 1e-10 and miss < 1e-10 * size:  # tens of roundings, in squared costs
        return still
    nearest = _safely(pose, other)
    return other if nearest is not None and np.linalg.norm(nearest[1] - p) < miss else still


def _safely(pose: Pose, q: Array) -> tuple[Array, Array] | None:
    """The pose at q, or None where the function fails there: a trial of the search is not an error."""
    try:
        with np.errstate(all="ignore"):
            R, p = pose(q)
    except (ArithmeticError, ValueError):  # ModelError is a ValueError
        return None
    return (R, p) if np.isfinite(R).all() and np.isfinite(p).all() else None


def _starts(q: Array, body: MobilizedBody, has_quaternion: bool) -> list[Array]:
    """Further starts: the same ones at every call."""
    rng = np.random.default_rng(len(q))
    default = body.packed_default_q(not has_quaternion).copy()
    starts = [default]
    for i in range(STARTS):
        x = rng.uniform(-np.pi, np.pi, len(q)) if i % 2 else q + rng.normal(size=len(q))
        if has_quaternion:
            x[:4] = rng.normal(size=4)
        starts.append(x)
    return starts


def _descend(misfit: Callable[[Array], Array | None], start: Array) -> tuple[Array, float]:
    """The local minimum of |misfit|^2 below *start*, and its cost; infinite where there is no misfit at *start*."""
    q = start.copy()
    r = misfit(q)
    if r is None:
        return q, np.inf
    cost, damping, n = float(r @ r), 1e-3, len(q)
    for _ in range(100):
        if cost <= 1e-6 * REACHED:
            break
        J = _jacobian(misfit, q, r)
        slope = 2.0 * J.T @ r
        if not np.isfinite(slope).all() or np.abs(slope).max(initial=0.0) == 0.0:
            break
        improved = False
        while damping < 1e12:
            step = np.linalg.lstsq(np.vstack([J, np.sqrt(damping) * np.eye(n)]), np.append(-r, np.zeros(n)), rcond=None)[0]
            trial = misfit(q + step)
            if trial is not None and trial @ trial < cost:
                gain = cost - float(trial @ trial)
                q, r, improved = q + step, trial, True
                cost, damping = float(r @ r), max(0.1 * damping, 1e-16)
                break
            damping *= 10.0
        if not improved or gain < 1e-15 * cost:
            break
    return q, cost


def _polished(misfit: Callable[[Array], Array | None], q: Array, cost: float) -> Array:
    """Newton's method near a minimum that is not zero, where that of Levenberg and Marquardt can be slow."""
    for _ in range(5):
        slope, H = _slope(misfit, q), np.zeros((len(q), len(q)))
        for i, step in enumerate(1e-4 * np.maximum(1.0, np.abs(q)) * np.eye(len(q))):  # the fourth root of the rounding
            H[:, i] = (_slope(misfit, q + step) - _slope(misfit, q - step)) / (2.0 * step[i])
        if not (np.isfinite(H).all() and np.isfinite(slope).all()):
            break
        bends, ways = np.linalg.eigh(H + H.T)
        bends = 0.5 * np.abs(bends)
        down = -(ways.T @ slope) / np.where(bends > 1e-8 * bends.max(initial=0.0), bends, np.inf)  # not along a valley
        trial = misfit(q + ways @ down)
        if trial is None or trial @ trial >= cost:
            break
        q, cost = q + ways @ down, float(trial @ trial)
    return q


def _slope(misfit: Callable[[Array], Array | None], q: Array) -> Array:
    """The gradient of |misfit|^2; NaN where the misfit fails."""
    r = misfit(q)
    return np.full(len(q), np.nan) if r is None else 2.0 * _jacobian(misfit, q, r).T @ r


def _jacobian(misfit: Callable[[Array], Array | None], q: Array, r: Array) -> Array:
    """By central differences; zero where the misfit fails beside q."""
    J = np.zeros((len(r), len(q)))
    for i in range(len(q)):
        h = 6e-6 * max(1.0, abs(q[i]))  # the third root of the rounding
        forward, back = q.copy(), q.copy()
        forward[i] += h
        back[i] -= h
        ahead, behind = misfit(forward), misfit(back)
        if ahead is not None and behind is not None:
            J[:, i] = (ahead - behind) / (forward[i] - back[i])
    return J
