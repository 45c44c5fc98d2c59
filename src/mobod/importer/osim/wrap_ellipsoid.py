"""How OpenSim wraps a segment of a path over an ellipsoid: along the section of a plane, not along a geodesic.

The plane goes through both ends and a point c of the surface near the segment. By the method "axial" c is nearest to where the
segment crosses the plane of the axes that it is most square to; by "midpoint" to its middle; by "hybrid" it is where the mean
of the shortest ways to the surface points to (the fan), or the axial one, or between both, as the segment is oblique or along
an axis. All this in units in which the mean radius is one. Points of touch are exact here, and found by iteration to 1e-4 of
the radius there: lengths of paths agree to about 1e-5. Source: OpenSim 4.6, WrapEllipsoid; nearest points: Hart 1994, Graphics
Gems IV.
"""

from __future__ import annotations

import math

import numpy as np

from ...algebra.arrays import Array
from .wrap_surfaces import ROUNDING, Contact, Wrap, crossings, on_side, unit

#: Cosines to the nearest axis below which the fan alone counts, and above which the axis does.
FAN, AXIAL = 0.7073, 0.9
#: Blades of the fan, and the part of the segment at whose ends the axis counts less.
BLADES, FADE = 300, 0.3
#: Longest piece, in metres, of the section; most of them.
PIECE, MOST = 0.001, 499
ON_SURFACE = 1e-4


def over_ellipsoid(a: Array, b: Array, radii: Array, side: tuple[int, int], method: str) -> Wrap:
    """An ellipsoid about the origin."""
    scale = 3.0 / float(radii.sum())
    a, b, radii = a * scale, b * scale, radii * scale
    level_a, level_b = (float(((one / radii) ** 2).sum()) - 1.0 for one in (a, b))
    if level_a < -ON_SURFACE or level_b < -ON_SURFACE:
        return Wrap(Contact.INSIDE)
    through = crossings(a, b, radii)
    if abs(unit(a) @ unit(b) - 1.0) < 1e-4 or through is None:
        return Wrap(Contact.NONE)
    into, out = b + through[0] * (a - b), b + through[1] * (a - b)
    c, fan, beyond = _near(a, b, into, out, radii, method)
    axis, sign = side
    if sign and not on_side(c, side):
        c = c.copy()
        c[axis] = -c[axis]
        if fan > 0.0:
            c = c.copy()
            c[axis] *= 1.0 - fan
            c = _nearest(c, radii)
    normal = unit(np.cross(a - b, a - c))
    level = float(normal @ c)
    up = np.cross(normal, a - b)
    up = up if (up @ (c - a) > 0.0) != beyond else -up
    first = a if abs(level_a) < ON_SURFACE else _touch(a, up, radii, normal, level)
    last = b if abs(level_b) < ON_SURFACE else _touch(b, up, radii, normal, level)
    points = _section(first, last, radii, normal, level, scale, far=False)
    if sign and len(points) > 2:
        back = (unit(a - first) @ unit(points[1] - first), unit(b - last) @ unit(points[-2] - last))
        if max(back) > 0.0:
            points = _section(first, last, radii, normal, level, scale, far=True)
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    return Wrap(Contact.MANDATORY, first / scale, last / scale, length / scale)


def _near(a: Array, b: Array, into: Array, out: Array, radii: Array, method: str) -> tuple[Array, float, bool]:
    """The point c; what part of it is the fan's, below zero where there is none; whether the path touches on the other side."""
    along = np.abs(unit(a - b))
    k = int(np.argmax(along))
    middle, part = into + 0.5 * (out - into), -into[k] / (out - into)[k]
    if method == "midpoint":
        return _nearest(middle, radii), -1.0, False
    crossing = into + part * (out - into)
    if method == "axial":
        return _nearest(crossing, radii, k), -1.0, not 0.0 < part < 1.0
    close = along[k]
    if close > FAN:
        close = FAN + float(np.clip(min(part, 1.0 - part) / FADE, 0.0, 1.0)) * (close - FAN)
    axial = _nearest(crossing, radii, k) if close > FAN else None
    if close >= AXIAL and axial is not None:
        return axial, -1.0, False
    blades = np.zeros(3)
    for i in range(1, BLADES - 1):
        root = into + i / BLADES * (out - into)
        blades += unit(_nearest(root, radii) - root)
    c = _nearest(middle + unit(blades), radii)
    weight = 1.0
    if axial is not None:
        weight = 1.0 - (close - FAN) / (AXIAL - FAN)
        c = _nearest((1.0 - weight) * axial + weight * c, radii)
    return c, weight, False


def _touch(end: Array, up: Array, radii: Array, normal: Array, level: float) -> Array:
    """Where a line in a plane from *end* touches the ellipsoid, of both points the one further *up*.

    With y = x / radii this is the unit sphere, cut by the plane and by that of the points of touch, y . (end / radii) = 1.
    """
    n, p = normal * radii, end / radii
    foot = np.linalg.solve(np.array([[n @ n, n @ p], [n @ p, p @ p]]), np.array([level, 1.0])) @ np.array([n, p])
    along = unit(np.cross(n, p)) * math.sqrt(max(1.0 - float(foot @ foot), 0.0))
    two = (foot + along) * radii, (foot - along) * radii
    return max(two, key=lambda x: float(x @ up))


def _section(first: Array, last: Array, radii: Array, normal: Array, level: float, scale: float, *, far: bool) -> Array:
    """Points of the section from one to the other, at even angles about where the plane's steepest axis goes through it."""
    apart = float(np.linalg.norm(last - first)) / scale
    if apart < PIECE:
        return np.array([first, last])
    pieces = min(int(apart / PIECE), MOST)
    k = int(np.argmax(np.abs(normal)))
    center = np.zeros(3)
    center[k] = level / normal[k]
    x, other = unit(first - center), unit(last - center)
    y = np.cross(unit(np.cross(x, other)), x)
    angle = math.acos(float(np.clip(x @ other, -1.0, 1.0)))
    angles = (angle - 2.0 * math.pi if far else angle) * np.arange(1, pieces) / pieces
    ways = np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * y
    f, g = ways / radii, center / radii
    aa, bb, cc = (f * f).sum(axis=1), f @ g, float(g @ g) - 1.0
    out = (-bb + np.sqrt(bb * bb - aa * cc)) / aa
    return np.vstack([first, center + out[:, None] * ways, last])


def _nearest(point: Array, radii: Array, axis: int = -1) -> Array:
    """The nearest point of the surface: of the section at *axis*, or at an axis on whose plane the point is, the narrowest."""
    flat = [k for k in range(3) if abs(point[k]) <= ROUNDING]
    if axis < 0 and flat:
        axis = max(flat, key=lambda k: (radii[k], -k))
    if axis < 0:
        return _solved(point, radii)
    found = point.copy()
    others = [(axis + 1) % 3, (axis + 2) % 3]
    found[others] = _nearest_of_ellipse(point[others], radii[others])
    return found


def _nearest_of_ellipse(point: Array, radii: Array) -> Array:
    zero = np.abs(point) <= ROUNDING
    if zero.all():
        k = 0 if radii[0] < radii[1] else 1
    elif not zero.any():
        return _solved(point, radii)
    else:
        k = int(zero[0])  # the axis that the point is on
        long, short = radii[k], radii[1 - k]
        if not (short >= long or abs(point[k]) >= long - short**2 / long):
            at = long**2 * point[k] / (long**2 - short**2)
            found = np.full(2, short * math.sqrt(abs(1.0 - (at / long) ** 2)))
            found[k] = at
            return found
    found = point.copy()
    found[k] = -radii[k] if point[k] < 0.0 else radii[k]
    return found


def _solved(point: Array, radii: Array) -> Array:
    """By Newton's method for t, the greatest root of sum (r x / (t + r^2))^2 = 1, all multiplied by the denominators."""
    squares = radii**2
    weights = squares * point**2
    t = 0.0 if float((weights / squares**2).sum()) < 1.0 else float(radii.max() * np.linalg.norm(point))
    for _ in range(64):
        P = t + squares
        product = float((P * P).prod())
        rest = product / (P * P)
        f = product - float(weights @ rest)
        if abs(f) < 1e-9:
            break
        each = 2.0 / P
        t -= f / (product * float(each.sum()) - float(weights @ (rest * (each.sum() - each))))
    return np.asarray(squares * point / (t + squares))
