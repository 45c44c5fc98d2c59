"""How a path bends around a circle, in its plane: tangent points and the arc between them.

Outside: of the two tangents from each end the pair is taken whose points are closer to a side, or else to each other, and whose
lines do not cross; there is no arc where the straight line misses the circle. Inside: the one point of the circle at which both
lines make the same angle with the normal. Both as MuJoCo's documentation of tendons describes them.

Flags are numbers, 1.0 or 0.0: lanes have no operations on masks.
"""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import atan2, one, sincos, sqrt, where, zero
from ...compiling import generic

#: What counts as nothing.
TINY = 1e-30
HALF_TURN = 3.141592653589793
#: Newton's method of the inside: where it begins, when it is done, and its most steps.
BEGIN, DONE, STEPS = 1.0 - 1e-7, 1e-6, 20


@generic
def size(x: Any) -> Any:
    """|x|."""
    return where(x < 0.0, -x, x)


@generic
def norm(x: Any, y: Any) -> Any:
    """Of a vector in the plane; 1 where that is zero, a safe divisor."""
    square = x * x + y * y
    return sqrt(where(square > TINY, square, one(square)))


@generic
def crossing(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Flag: whether the lines from a to b and from c to d cross."""
    o, i = zero(a[0]), one(a[0])
    det = (d[1] - c[1]) * (b[0] - a[0]) - (d[0] - c[0]) * (b[1] - a[1])
    some = size(det) > TINY
    safe = where(some, det, i)
    s = ((d[0] - c[0]) * (a[1] - c[1]) - (d[1] - c[1]) * (a[0] - c[0])) / safe
    t = ((b[0] - a[0]) * (a[1] - c[1]) - (b[1] - a[1]) * (a[0] - c[0])) / safe
    within = where(s >= 0.0, i, o) * where(s <= 1.0, i, o) * where(t >= 0.0, i, o) * where(t <= 1.0, i, o)
    return where(some, within, o)


@generic
def nearest(a: Any, b: Any) -> Any:
    """The point of the line from a to b that is nearest to the origin."""
    x, y = b[0] - a[0], b[1] - a[1]
    square = x * x + y * y
    t = -(x * a[0] + y * a[1]) / where(square > TINY, square, one(square))
    t = where(t < 0.0, zero(t), where(t > 1.0, one(t), t))
    return a[0] + t * x, a[1] + t * y


@generic
def tangents(a: Any, b: Any, r: Any, sign: float) -> Any:
    """The tangent points of both ends, of one of two senses."""
    aa, bb, rr = a[0] * a[0] + a[1] * a[1], b[0] * b[0] + b[1] * b[1], r * r
    i = one(aa)
    over_a, over_b = where(aa > rr, aa - rr, i), where(bb > rr, bb - rr, i)
    at, bt = sign * r * sqrt(over_a), sign * r * sqrt(over_b)
    safe_a, safe_b = where(aa > rr, aa, i), where(bb > rr, bb, i)
    s = (a[0] * rr + at * a[1]) / safe_a, (a[1] * rr - at * a[0]) / safe_a
    t = (b[0] * rr - bt * b[1]) / safe_b, (b[1] * rr + bt * b[0]) / safe_b
    return s, t


@generic
def goodness(a: Any, b: Any, s: Any, t: Any, has_side: int, side: Any) -> Any:
    """Of a pair of tangent points."""
    if has_side == 1:
        x, y = s[0] + t[0], s[1] + t[1]
        good = (x * side[0] + y * side[1]) / norm(x, y)
    else:
        x, y = s[0] - t[0], s[1] - t[1]
        good = -(x * x + y * y)
    return where(crossing(a, s, b, t) > 0.5, -10000.0 * one(good), good)


@generic
def outside(a: Any, b: Any, r: Any, has_side: int, side: Any) -> Any:
    """Flag whether it wraps, the two points, the arc. *side* is a point of the circle."""
    o, i = zero(a[0]), one(a[0])
    rr = r * r
    away = where(a[0] * a[0] + a[1] * a[1] < rr, o, i) * where(b[0] * b[0] + b[1] * b[1] < rr, o, i)
    p = nearest(a, b)
    free = where(p[0] * p[0] + p[1] * p[1] > rr, i, o)
    if has_side == 1:
        free = free * where(p[0] * side[0] + p[1] * side[1] >= 0.0, i, o)
    s0, t0 = tangents(a, b, r, 1.0)
    s1, t1 = tangents(a, b, r, -1.0)
    first = goodness(a, b, s0, t0, has_side, side) > goodness(a, b, s1, t1, has_side, side)
    s = where(first, s0[0], s1[0]), where(first, s0[1], s1[1])
    t = where(first, t0[0], t1[0]), where(first, t0[1], t1[1])
    wraps = away * (1.0 - free) * (1.0 - crossing(a, s, b, t))
    turn = s[1] * t[0] - s[0] * t[1]
    angle = atan2(size(turn), s[0] * t[0] + s[1] * t[1])
    long = where(first, where(turn < 0.0, i, o), where(turn > 0.0, i, o))
    angle = where(long > 0.5, 2.0 * HALF_TURN - angle, angle)
    return wraps, s, t, r * angle


@generic
def arcsine(x: Any) -> Any:
    """Of a number from 0 to 1."""
    rest = (1.0 - x) * (1.0 + x)
    return atan2(x, sqrt(where(rest > TINY, rest, TINY * one(rest))))


@generic
def slope(k: Any, z: Any) -> Any:
    """k / sqrt(1 - (k z)^2)."""
    rest = (1.0 - k * z) * (1.0 + k * z)
    return k / sqrt(where(rest > TINY, rest, TINY * one(rest)))


@generic
def mismatch(A: Any, B: Any, G: Any, z: Any) -> Any:
    """Zero where both lines make the angle of sine z with the normal."""
    return arcsine(A * z) + arcsine(B * z) - 2.0 * arcsine(z) + G


@generic
def inside(a: Any, b: Any, r: Any) -> Any:
    """Flag whether it bends, and the point at which it does."""
    o, i = zero(a[0]), one(a[0])
    la, lb = norm(a[0], a[1]), norm(b[0], b[1])
    away = where(la > r, i, o) * where(lb > r, i, o)
    p = nearest(a, b)
    meets = where(p[0] * p[0] + p[1] * p[1] <= r * r, i, o)
    middle_x, middle_y = a[0] + b[0], a[1] + b[1]
    out = r / norm(middle_x, middle_y)
    average = out * middle_x, out * middle_y
    turn, along = a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]
    A, B, G = where(la > r, r / la, i), where(lb > r, r / lb, i), atan2(size(turn), along)
    opposite = where(G > HALF_TURN - 1e-12, i, o)

    z = BEGIN * i
    f = mismatch(A, B, G, z)
    bad = where(f > 0.0, i, where(G < 1e-12, i, o))
    done = bad
    for _ in range(STEPS):
        done = where(size(f) <= DONE, i, done)
        rate = slope(A, z) + slope(B, z) - slope(i, z)  # of three terms: the last counts twice
        rate = rate - slope(i, z)
        new_bad = where(rate > -1e-15, i, o)
        step = f / where(rate > -1e-15, -i, rate)
        new_bad = where(step < 0.0, i, new_bad)
        going = (1.0 - done) * (1.0 - new_bad)
        bad = where((1.0 - done) * new_bad > 0.5, i, bad)
        done = where(new_bad > 0.5, i, done)
        z = where(going > 0.5, z - step, z)
        f = where(going > 0.5, mismatch(A, B, G, where(going > 0.5, z, BEGIN * i)), f)
        over = going * where(f > DONE, i, o)
        bad, done = where(over > 0.5, i, bad), where(over > 0.5, i, done)
    bad = where(size(f) <= DONE, bad, i)
    z = where(bad > 0.5, 0.5 * i, z)

    left = turn > 0.0
    x, y = where(left, a[0] / la, b[0] / lb), where(left, a[1] / la, b[1] / lb)
    angle = arcsine(z) - arcsine(where(left, A, B) * z)
    s, c = sincos(angle)
    found = r * (c * x - s * y), r * (s * x + c * y)
    point = where(bad > 0.5, average[0], found[0]), where(bad > 0.5, average[1], found[1])
    return away * (1.0 - meets) * (1.0 - opposite), point
