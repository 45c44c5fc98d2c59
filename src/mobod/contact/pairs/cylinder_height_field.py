"""Cylinder and HeightField: four points of each rim, the lowest first, and the side where it lies on a rise between them.

The lowest point of a rim is along -n with n the surface's normal over the middle of the end; of an upright cylinder, whose
rim has none, the four carry alike whichever comes first. An endless cylinder ends where it leaves the field's box.
"""

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import generic
from ..access import DIMENSIONS, Pair, narrow_phase, number_of
from ..height_surface import limits, normal, surface
from ._core import bare3
from ._height_field import corner, pose_in_field, side
from ._inside import bounded


@generic
def _rim(model: Any, pair: Pair, count: int, c: Any, axis: Any, other: Any, radius: Any, feature: int) -> int:
    """Rows of four points of a rim about c; *other* is across the axis."""
    _, f, _ = pair
    _, z_x, z_y, _, _, _ = surface(model, f, c[0], c[1])
    n, _ = normal(z_x, z_y)
    down = vec3.sub(vec3.scale(vec3.dot(n, axis), axis), n)
    square = vec3.dot(down, down)
    down = vec3.scale(1.0 / sqrt(square), down) if square > 1e-12 else other
    across = vec3.cross(axis, down)
    for i in range(4):
        a = radius if i < 2 else -radius
        at = vec3.add_scaled(c, a, down) if i & 1 == 0 else vec3.add_scaled(c, a, across)
        count = corner(model, pair, count, at, feature + i)
    return count


@generic
def _ends(model: Any, f: int, lane: int, c: Any, axis: Any, radius: float) -> Any:
    """From where to where a line through c along an axis is in the field's box; the same twice where it is not."""
    x0, x1, y0, y1 = limits(model, f)
    center, half = bounded(model, f, lane)
    low, high = -1e300, 1e300
    for i in range(3):
        a, x, begin, end = axis[0], c[0], x0, x1
        if i == 1:
            a, x, begin, end = axis[1], c[1], y0, y1
        elif i == 2:
            a, x, begin, end = axis[2], c[2], center[2] - half[2], center[2] + half[2] + radius
        if abs(a) > 1e-9:
            u, v = (begin - x) / a, (end - x) / a
            low, high = max(low, min(u, v)), min(high, max(u, v))
        elif x < begin or x > end:
            high = low
    if high < low:
        high = low
    return low, high


@narrow_phase
def cylinder_height_field(model: Any, pair: Pair) -> int:
    """Rows of the rims, then of the side."""
    s, _, lane = pair
    radius, half = number_of(model, s, DIMENSIONS, lane), number_of(model, s, DIMENSIONS + 1, lane)
    R, c = pose_in_field(model, pair, s)
    axis, other = (R[2], R[5], R[8]), (R[0], R[3], R[6])
    if number_of(model, s, DIMENSIONS + 2, lane) == 1.0:
        low, high = _ends(model, pair[1], lane, bare3(c), bare3(axis), bare(radius))
        if not high > low:
            return 0
        c, half = vec3.add_scaled(c, 0.5 * (low + high), axis), half + 0.4999999 * (high - low)
    count = 0
    for end in range(2):
        reach = half
        if end == 1:
            reach = -half
        count = _rim(model, pair, count, vec3.add_scaled(c, reach, axis), axis, other, radius, 4 * end)
    return side(model, pair, count, c, axis, radius, half, 8)
