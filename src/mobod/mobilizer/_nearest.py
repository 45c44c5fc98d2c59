"""Nearest points, for the fits of an Ellipsoid: plain Python, called a few times a second at most."""

from __future__ import annotations

import math

import numpy as np

from ..algebra.arrays import Array


def on_ellipsoid(radii: Array, p: Array, start: Array) -> Array:
    """The unit vector n for which D n, D = diag(radii), is nearest to p; of several the one that *start* suggests.

    At the nearest point x, p - x is along the normal D^-2 x: x_i = r_i^2 p_i / (r_i^2 + t), and t is the root of
    sum (x_i / r_i)^2 = 1 beyond minus the smallest r^2, where the sum falls from infinity, or from what the other axes give if
    p has nothing along the smallest. Source: Eberly 2013, "Distance from a point to an ellipse, an ellipsoid, or a
    hyperellipsoid". With w = 1 + t / r_min^2 nothing cancels near the end of that range, and halving log(w) finds the root
    to rounding whatever the magnitudes.
    """
    least = float(radii.min())
    ratio = radii / least
    excess = (ratio - 1.0) * (ratio + 1.0)  # (r / r_min)^2 - 1: zero for the shortest radii
    pull = np.abs(p) / least * ratio  # of n_i = pull_i / (w + excess_i)
    short = excess == 0.0
    long_part = pull[~short] / excess[~short]
    rest = 1.0 - float(long_part @ long_part)
    nearest_axis = math.hypot(*pull[short])
    n = np.zeros(3)
    if nearest_axis == 0.0 and rest > 0.0:  # p is on the plane (or line, or point) whose nearest points are two or more
        n[~short] = long_part
        n[short] = math.sqrt(rest) * _direction(start[short])
        return np.where(short, n, np.copysign(n, p))
    low, high = max(nearest_axis, float((pull - excess).max())), math.hypot(*pull)
    for _ in range(100):
        w = math.sqrt(low) * math.sqrt(high) if low > 0.0 else 0.5 * high
        if not low < w < high:
            break
        n = pull / (w + excess)
        if math.hypot(*n) > 1.0:
            low = w
        else:
            high = w
    n = np.copysign(pull / (high + excess), p)
    return np.asarray(n / math.hypot(*n))


def on_mohrs_circles(radii: Array, along: float, across: float, start: Array) -> Array:
    """The unit vector n for which n.D n, and the length of the rest of D n, are nearest to *along* and *across*.

    These are the normal and the shear stress on a plane if D = diag(radii) is the stress: what they can be is the region
    between Mohr's three circles, over the differences of the radii as diameters, so that the nearest point follows directly.
    Signs, and directions left free where radii are equal, are those of *start*. Source: Mohr's circles in three dimensions, as
    in Timoshenko and Goodier 1951.
    """
    order = np.argsort(-radii)
    d1, d2, d3 = radii[order]
    x, y = float(along), abs(float(across))
    squares = np.zeros(3)
    pairs = ((0, 2, 1.0), (0, 1, -1.0), (1, 2, -1.0))
    for i, k, side in pairs:  # outside the largest circle, or inside one of the others: onto it
        center, radius = 0.5 * (radii[order[i]] + radii[order[k]]), 0.5 * (radii[order[i]] - radii[order[k]])
        if side * (math.hypot(x - center, y) - radius) > 0.0:
            angle = math.atan2(y, x - center)
            squares[i], squares[k] = math.cos(0.5 * angle) ** 2, math.sin(0.5 * angle) ** 2
            break
    else:
        # the point itself: x = sum m d, x^2 + y^2 = sum m d^2 for the squares m of n; the ones next to a small gap sum up well
        if d1 == d3:
            squares[0] = 1.0
        elif d1 - d2 < d2 - d3:
            squares[2] = ((d1 - x) * (d2 - x) + y * y) / ((d1 - d3) * (d2 - d3))
            squares[0] = ((x - d2) * (x - d3) + y * y) / ((d1 - d2) * (d1 - d3)) if d1 > d2 else 0.0
            squares[0] = min(max(squares[0], 0.0), 1.0 - squares[2])
            squares[1] = 1.0 - squares[0] - squares[2]
        else:
            squares[0] = ((x - d2) * (x - d3) + y * y) / ((d1 - d2) * (d1 - d3))
            squares[2] = ((d1 - x) * (d2 - x) + y * y) / ((d1 - d3) * (d2 - d3)) if d2 > d3 else 0.0
            squares[2] = min(max(squares[2], 0.0), 1.0 - squares[0])
            squares[1] = 1.0 - squares[0] - squares[2]
    n = np.zeros(3)
    n[order] = np.sqrt(np.maximum(squares, 0.0))
    n = np.copysign(n, start)
    for radius in set(radii.tolist()):  # equal radii leave a circle of solutions, or the whole sphere
        same = radii == radius
        if np.count_nonzero(same) > 1:
            n[same] = math.hypot(*n[same]) * _direction(start[same])
    return np.asarray(n / math.hypot(*n))


def turn_between(a: Array, b: Array, spare: Array) -> tuple[float, Array]:
    """Angle and axis of the least turn from unit vector a to unit vector b; half a turn is about *spare*, normal to a."""
    axis = np.cross(a, b)
    sine = math.hypot(*axis)
    return math.atan2(sine, float(a @ b)), axis / sine if sine > 0.0 else spare


def within(size: float, p: Array) -> Array:
    """p, or where its largest entry exceeds *size*, the vector along p whose largest entry is *size*."""
    if np.any(np.isnan(p)):
        raise ValueError(f"a place to fit has to be three numbers, got {p}")
    if np.any(np.isinf(p)):
        return size * np.where(np.isinf(p), np.sign(p), 0.0)
    largest = float(np.abs(p).max())
    return p if largest <= size else size * (p / largest)


def _direction(v: Array) -> Array:
    """v made a unit vector, and the first axis where it is zero."""
    length = math.hypot(*v)
    if length > 0.0:
        return np.asarray(v / length)
    axis = np.zeros(len(v))
    axis[0] = 1.0
    return axis
