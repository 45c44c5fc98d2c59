"""Points along the bends of a path over surfaces, for pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...algebra.arrays import Array
from . import _over_torus
from ._geodesic import TOLERANCE, form_of, shoot
from ._over_ellipsoid import _plane
from ._segments import CYLINDER, ELLIPSOID, SPHERE

#: Straight lines of a bend.
LINES = 12


def bend(kind: int, sizes: Array, ends: Sequence[Array], over: float) -> Array:
    """Points between the two in the middle of *ends*, in the frame of the surface; *over* is the length along the bend.

    The first and the last of *ends* are the stops before and behind.
    """
    part = np.linspace(0.0, 1.0, LINES + 1)[1:-1, None]
    before, first, last, behind = (np.asarray(end, float) for end in ends)
    if kind == SPHERE:
        axis = np.cross(first, last)
        axis /= max(float(np.linalg.norm(axis)), 1e-300)
        angle = part * over / sizes[0]
        return np.asarray(np.cos(angle) * first + np.sin(angle) * np.cross(axis, first))
    if kind == CYLINDER:
        return _helix(first, last, over, sizes[0], part)
    if kind == ELLIPSOID:
        return _section(before, first, last, behind, over, sizes, part)
    _, c, s = _over_torus.place(tuple(before), tuple(behind), float(sizes[1]), 0, 0)
    one, other = (np.array(_over_torus.turned(tuple(end), c, s, float(sizes[1]))) for end in (first, last))
    turned = _helix(one, other, over, sizes[0], part)
    return np.array([_over_torus.turned_back(tuple(point), c, s, float(sizes[1])) for point in turned]).reshape(-1, 3)


def geodesic(kind: int, sizes: Array, first: Array, way: Array, over: float, count: int = LINES) -> Array:
    """Points that part a geodesic from *first* in the direction *way* into *count* pieces, in the frame of the surface."""
    form, x, t, found = form_of(kind, tuple(sizes[:3])), tuple(first), tuple(way), []
    for _ in range(1, count):  # short series are found sooner than long ones
        x, t, _ = shoot(kind, form, x, t, over / count, TOLERANCE)
        found.append(x)
    return np.array(found, float).reshape(-1, 3)


def _helix(first: Array, last: Array, over: float, radius: float, part: Array) -> Array:
    """Round the axis from one point to the other, by the way whose length is *over*.

    As OpenSim leaves them, the ends of a bend that is on the wrong side of half a torus are not on it: between them the
    distance from the axis goes over evenly.
    """
    rise = last[2] - first[2]
    least = math.atan2(first[0] * last[1] - first[1] * last[0], first[0] * last[0] + first[1] * last[1])
    ways = (least, least - math.copysign(2.0 * math.pi, least))
    turns = part * min(ways, key=lambda angle: abs(math.hypot(radius * angle, rise) - over))
    ends = [float(np.hypot(end[0], end[1])) for end in (first, last)]
    scale = 1.0 + part * (ends[1] / max(ends[0], 1e-300) - 1.0)
    c, s = scale * np.cos(turns), scale * np.sin(turns)
    return np.hstack([c * first[0] - s * first[1], s * first[0] + c * first[1], first[2] + part * rise])


def _section(before: Array, first: Array, last: Array, behind: Array, over: float, radii: Array, part: Array) -> Array:
    normal = np.cross(before - first, behind - first)
    size = float(np.linalg.norm(normal))
    if size < 1e-12:
        return np.asarray(first + part * (last - first))
    normal /= size
    plane: Any = _plane(tuple(first), tuple(last), tuple(normal), float(normal @ first))
    center, x, y = (np.array(one) for one in plane[:3])
    found = []
    for angle in (float(plane[3]), float(plane[3]) - 2.0 * math.pi):
        ways = np.cos(part * angle) * x + np.sin(part * angle) * y
        out = _outward(center, ways, radii)
        # as on a torus, OpenSim's ends need not be on the surface
        sizes = [float(np.linalg.norm(end - center)) for end in (first, last)]
        rays = np.array([first - center, last - center]) / np.array(sizes)[:, None]
        off = sizes / _outward(center, rays, radii)
        points = center + (out[:, None] * (off[0] + part * (off[1] - off[0]))) * ways
        length = float(np.linalg.norm(np.diff(np.vstack([first, points, last]), axis=0), axis=1).sum())
        found.append((abs(length - over), points))
    return np.asarray(min(found, key=lambda one: one[0])[1])


def _outward(center: Array, ways: Array, radii: Array) -> Array:
    """The distance of the surface of an ellipsoid from a center in it, in the directions *ways*."""
    f, g = ways / radii, center / radii
    aa, bb, cc = (f * f).sum(axis=1), f @ g, float(g @ g) - 1.0
    return np.asarray((-bb + np.sqrt(np.maximum(bb * bb - aa * cc, 0.0))) / aa)
