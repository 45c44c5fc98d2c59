"""A path around a circle, in its plane: tangent points and the arc between them.

Outside: the shortest line that turns about the origin by the angle from one end to the other, which with a side is the sum of
those to the side and from it, so that it can be more than half a turn. Of that angle the tangents from both ends take
acos(r / distance) each; the rest is the arc, and where nothing is left the line is straight. Inside: the one point of the
circle at which both lines make the same angle with the normal. Both as MuJoCo 4's documentation of tendons describes them.

Flags are numbers, 1.0 or 0.0: lanes have no operations on masks.
"""

from __future__ import annotations

from typing import Any

from ...algebra.order import size_of
from ...algebra.scalar import atan2, one, sincos, sqrt, where, zero
from ...compiling import generic

#: What counts as nothing.
TINY = 1e-30
HALF_TURN = 3.141592653589793
#: Of Newton's method of the inside. Five do mostly; ends at a millionth of the radius from the circle take 14.
STEPS = 16


@generic
def norm(x: Any, y: Any) -> Any:
    """Of a vector in the plane; 1 where that is zero, a safe divisor."""
    square = x * x + y * y
    return sqrt(where(square > TINY, square, one(square)))


@generic
def turn(a: Any, b: Any) -> Any:
    """The angle about the origin from a to b, from -pi to pi."""
    cross, dot = a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]
    some = cross * cross + dot * dot > TINY * TINY
    return atan2(cross, where(some, dot, one(dot)))


@generic
def nearest(a: Any, b: Any) -> Any:
    """The point of the line from a to b that is nearest to the origin."""
    x, y = b[0] - a[0], b[1] - a[1]
    square = x * x + y * y
    t = -(x * a[0] + y * a[1]) / where(square > TINY, square, one(square))
    t = where(t < 0.0, zero(t), where(t > 1.0, one(t), t))
    return a[0] + t * x, a[1] + t * y


@generic
def tangent(a: Any, r: Any, sense: Any) -> Any:
    """The point in which the line from a touches the circle before it goes on around it, and the angle between the two."""
    aa, rr = a[0] * a[0] + a[1] * a[1], r * r
    i = one(aa)
    out = sqrt(where(aa > rr, aa - rr, i))
    safe, across = where(aa > rr, aa, i), sense * r * out
    return ((a[0] * rr - across * a[1]) / safe, (a[1] * rr + across * a[0]) / safe), atan2(out, r)


@generic
def outside(a: Any, b: Any, r: Any, has_side: int, side: Any) -> Any:
    """Flag whether it wraps, the two points, the arc. *side* is a point of the circle."""
    o, i = zero(a[0]), one(a[0])
    rr = r * r
    away = where(a[0] * a[0] + a[1] * a[1] < rr, o, i) * where(b[0] * b[0] + b[1] * b[1] < rr, o, i)
    whole = turn(a, b)
    if has_side == 1:
        whole = turn(a, side) + turn(side, b)
    sense = where(whole < 0.0, -i, i)
    s, before = tangent(a, r, sense)
    t, behind = tangent(b, r, -sense)
    angle = size_of(whole) - before - behind
    return away * where(angle > 0.0, i, o), s, t, r * angle


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
def inside(a: Any, b: Any, r: Any) -> Any:
    """Flag whether it bends, and the point at which it does."""
    o, i = zero(a[0]), one(a[0])
    la, lb = norm(a[0], a[1]), norm(b[0], b[1])
    away = where(la > r, i, o) * where(lb > r, i, o)
    p = nearest(a, b)
    meets = where(p[0] * p[0] + p[1] * p[1] <= r * r, i, o)
    between = turn(a, b)
    A, B, G = where(la > r, r / la, i), where(lb > r, r / lb, i), size_of(between)
    opposite = where(G > HALF_TURN - 1e-12, i, o)

    # Both lines make the angle x with the normal where f = 0. f falls and is concave: from a right angle every step stays above
    # the root; where there is none, since the line grazes the circle, x stays a right angle.
    x = 0.5 * HALF_TURN * i
    for _ in range(STEPS):
        s, c = sincos(x)
        f = arcsine(A * s) + arcsine(B * s) - 2.0 * x + G
        rate = c * slope(A, s) + c * slope(B, s) - 2.0
        x = x - f / where(rate < -1e-15, rate, -i)
        x = where(x < 0.0, o, where(x > 0.5 * HALF_TURN, 0.5 * HALF_TURN * i, x))

    left = between > 0.0
    first_x, first_y = where(left, a[0] / la, b[0] / lb), where(left, a[1] / la, b[1] / lb)
    s, c = sincos(x - arcsine(where(left, A, B) * sincos(x)[0]))
    point = r * (c * first_x - s * first_y), r * (s * first_x + c * first_y)
    return away * (1.0 - meets) * (1.0 - opposite), point
