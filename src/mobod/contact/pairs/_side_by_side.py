"""Cylinders, and a capsule and a cylinder, side by side touch along a line: two corners, at both ends of what they share of it.

The way across from the first axis to the second, at t along the first, is w(t) = w_0 + t delta; depth = r1 + r2 - |w|. Where
the axes cross at an angle, the middle much deeper than the ends, the one point of the crossing is for others to find.

Each end is a corner, of a capsule the sphere of its end by HERTZ; both together bear as the ends of a segment do on a face, see
`_clip`, l being what they share over the length of the shorter one, whose gradient pushes along the axes.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import generic
from ..access import CORNER, HERTZ, Pair, put_point
from ._clip import MOST_LEAN, NO_SHARE, ends_shares, lean
from ._curvature import goes_over

#: Axes are side by side up to the first square of a sine between them, and less so up to the second: there the other's section
#: is a circle to 2e-4.
_ALONG, _ASKEW = 2.5e-5, 4e-4


@generic
def side_by_side(model: Any, pair: Pair, A: Any, B: Any, Ra: Any, pa: Any, Rb: Any, pb: Any) -> Any:
    """Rows of the points of two such cores A and B, and the part of the contact that they are: 0 where they touch otherwise.

    It falls as the axes turn from each other, as the middle gets deeper than the ends, and where the way out along the axes is
    as short.
    """
    u, v, d = (Ra[2], Ra[5], Ra[8]), (Rb[2], Rb[5], Rb[8]), vec3.sub(pb, pa)
    c = vec3.dot(u, v)
    none, across = 0.0 * c, vec3.cross(u, v)
    weight = 1.0 - goes_over((vec3.dot(across, across) - _ALONG) / (_ASKEW - _ALONG))
    if weight <= NO_SHARE:
        return 0, none
    along = vec3.dot(u, d)
    delta = vec3.sub(vec3.scale(1.0 / c, v), u)
    start = vec3.add_scaled(vec3.sub(d, vec3.scale(along, u)), -along, delta)
    half = B[5] * (c if bare(c) > 0.0 else -c)
    low, high = along - half, along + half
    if low < -A[5]:
        low = 0.0 * along - A[5]
    if high > A[5]:
        high = 0.0 * along + A[5]
    first = A[3] + A[6]
    reach = first + B[3]
    x = reach - _length(start, delta, low), reach - _length(start, delta, high)
    deepest = x[0] if x[0] > x[1] else x[1]
    # from the side only where that is the shortest way out
    if deepest <= 0.0 or deepest >= high - low or deepest >= min(first, B[3]):
        return 0, none
    weight = weight * goes_over(2.0 * (1.0 - deepest / (high - low)))
    turning = vec3.dot(delta, delta)
    if turning > 1e-24:
        middle = -vec3.dot(start, delta) / turning
        if low < middle < high:
            weight = weight * goes_over(2.0 - (reach - _length(start, delta, middle)) / deepest)
    if weight <= NO_SHARE:
        return 0, none
    shorter = half if bare(half) < A[5] else 0.0 * half + A[5]
    common = 0.5 * (high - low) / shorter
    if bare(common) > 1.0:
        common = 0.0 * common + 1.0
    away, round_one = 1.0 if bare(along) > 0.0 else -1.0, A[6] > 0.0
    part_a, part_b, rise_a, rise_b = ends_shares(x[0], x[1], common, 2.5 if round_one else 2.0)
    count = 0
    for end in range(2):
        t = low if end == 0 else high
        w = vec3.add_scaled(start, t, delta)
        distance = sqrt(vec3.dot(w, w))
        depth = reach - distance
        if depth > 0.0:
            n = vec3.scale(1.0 / distance, w)
            point = vec3.add_scaled(vec3.add_scaled(pa, t, u), first - 0.5 * depth, n)
            # a way apart takes as much from the part that is shared, at one of the ends
            g = lean(
                n,
                part_a if end == 0 else part_b,
                vec3.scale((rise_a if end == 0 else rise_b) * 0.25 * away / shorter, u),
                MOST_LEAN,
            )
            its = sqrt(vec3.dot(g, g))
            leaning = vec3.scale(1.0 / its, g)
            its = its * weight
            if round_one:
                k = 1.0 / (its * its)
                put_point(model, pair, count, point, leaning, depth, HERTZ, k * (1.0 / A[6] + 1.0 / B[3]), k / A[6], end)
            else:
                put_point(model, pair, count, point, leaning, depth, CORNER, 0.0, its, end)
            count += 1
    return count, weight


@generic
def _length(start: Any, delta: Any, t: Any) -> Any:
    w = vec3.add_scaled(start, t, delta)
    return sqrt(vec3.dot(w, w))
