"""Quintic Bezier curves in pieces, as muscles' curves are made of: values, slopes and areas, of any scalar.

A piece is a corner with control points P0, M0, M0, M1, M1, P1 (one number each for x and for y):

    B(u) = P0 + (M0 - P0) [5 u (1-u)^4 + 10 u^2 (1-u)^3] + (M1 - P0) [10 u^3 (1-u)^2 + 5 u^4 (1-u)] + (P1 - P0) u^5
    B'(u) = 5 [(M0 - P0) (1-u)^4 + 6 (M1 - M0) u^2 (1-u)^2 + (P1 - M1) u^4]

and grows with u, so that x is met at one u. Outside all pieces a curve is straight. Source: Millard, Uchida, Seth and Delp
2013, J. Biomech. Eng. 135, 021005, appendix; OpenSim's curves are made of the same corners.
"""

from __future__ import annotations

from typing import Any

from ..algebra.masks import both, in_any
from ..algebra.scalar import bare, one, where, zero
from ..compiling import generic
from ..force.pools import number

#: Numbers of a piece: P0, M0, M1, P1 of x, then of y.
PIECE = 8
#: Changes of u below this are followed by two more steps of Newton's, which square what is missing, a part of it now.
_NEAR, _MOST = 1e-4, 60


@generic
def quintic(p0: Any, m0: Any, m1: Any, p1: Any, u: Any) -> Any:
    """B(u) and B'(u)."""
    v = 1.0 - u
    uu, vv = u * u, v * v
    value = p0 + (m0 - p0) * (5.0 * u * vv * vv + 10.0 * uu * vv * v) + (m1 - p0) * (10.0 * uu * u * vv + 5.0 * uu * uu * v)
    value = value + (p1 - p0) * uu * uu * u
    slope = 5.0 * ((m0 - p0) * vv * vv + 6.0 * (m1 - m0) * uu * vv + (p1 - m1) * uu * uu)
    return value, slope


@generic
def meet(p0: Any, m0: Any, m1: Any, p1: Any, b: Any) -> Any:
    """The u at which B(u) = b, for P0 <= b <= P1; 0 or 1 beyond.

    Newton's method within a bracket. Lanes that are near keep their u while others go on, so that no lane depends on its
    neighbours; the last two steps carry tangents, of first and second order.
    """
    a, c, d, e, t = bare(p0), bare(m0), bare(m1), bare(p1), bare(b)
    o, i = zero(a) + zero(t), one(a) + zero(t)
    whole = e - a
    u = _guess(a, c, d, e, t)
    within = both(t > a, t < e)  # a bracket of no width where b is beyond
    low, high = where(t >= e, i, o), where(t > a, i, o)
    u = where(within, u, low)
    going = both(within, whole > 0.0)
    for _ in range(_MOST):
        if not in_any(going):
            break
        value, slope = quintic(a, c, d, e, u)
        off = value - t
        low, high = where(off < 0.0, u, low), where(off > 0.0, u, high)
        grows = slope > 1e-300
        new, middle = u - off / where(grows, slope, i), 0.5 * (low + high)
        new = where(both(grows, both(new >= low, new <= high)), new, middle)
        change = where(new < u, u - new, new - u)
        u = where(going, new, u)
        going = both(going, change > _NEAR)
    found = zero(p0) + zero(b) + u + 0.0 * t  # of what is no number there is none
    for _ in range(2):
        value, slope = quintic(p0, m0, m1, p1, found)
        safe = bare(slope) > 1e-12 * bare(p1 - p0)
        step = (value - b) / where(safe, slope, one(slope))
        found = found - where(both(within, safe), step, zero(step))
    return found


@generic
def _guess(a: Any, c: Any, d: Any, e: Any, t: Any) -> Any:
    """The cubic of b with the ends of the inverse, and its slopes there as far as it still grows: within 0.05 mostly."""
    whole = where(e > a, e - a, one(a))
    s = (t - a) / whole
    first, last = where(15.0 * (c - a) > whole, c - a, whole / 15.0), where(15.0 * (e - d) > whole, e - d, whole / 15.0)
    r = 1.0 - s
    return s * s * (3.0 - 2.0 * s) + 0.2 * whole * s * r * (r / first - s / last)


@generic
def piece_at(model: Any, n: int, pieces: int, x: Any, first: int) -> Any:
    """The eight control numbers of the piece, or the nearest, that has x among its x (*first* 0) or its y (*first* 4)."""
    p = _load(model, n)
    for k in range(1, pieces):
        q = _load(model, n + PIECE * k)
        begins = x >= q[first]
        p = (
            where(begins, q[0], p[0]),
            where(begins, q[1], p[1]),
            where(begins, q[2], p[2]),
            where(begins, q[3], p[3]),
            where(begins, q[4], p[4]),
            where(begins, q[5], p[5]),
            where(begins, q[6], p[6]),
            where(begins, q[7], p[7]),
        )
    return p


@generic
def _load(model: Any, n: int) -> Any:
    return (
        number(model, n),
        number(model, n + 1),
        number(model, n + 2),
        number(model, n + 3),
        number(model, n + 4),
        number(model, n + 5),
        number(model, n + 6),
        number(model, n + 7),
    )


@generic
def ends(model: Any, n: int, pieces: int) -> Any:
    """The first and the last point of a curve, each with its slope: (x0, y0, s0), (x1, y1, s1)."""
    a, b = _load(model, n), _load(model, n + PIECE * (pieces - 1))
    return (a[0], a[4], (a[5] - a[4]) / (a[1] - a[0])), (b[3], b[7], (b[7] - b[6]) / (b[3] - b[2]))


@generic
def value(model: Any, n: int, pieces: int, x: Any) -> Any:
    """y at x of the curve whose numbers begin at n."""
    (x0, y0, s0), (x1, y1, s1) = ends(model, n, pieces)
    p = piece_at(model, n, pieces, x, 0)
    within = where(x < x0, x0 + zero(x), where(x > x1, x1 + zero(x), x))
    u = meet(p[0], p[1], p[2], p[3], within)
    y = quintic(p[4], p[5], p[6], p[7], u)[0]
    return where(x < x0, y0 + s0 * (x - x0), where(x > x1, y1 + s1 * (x - x1), y))


@generic
def inverse(model: Any, n: int, pieces: int, y: Any) -> Any:
    """x at y, of a curve that grows."""
    (x0, y0, s0), (x1, y1, s1) = ends(model, n, pieces)
    p = piece_at(model, n, pieces, y, 4)
    within = where(y < y0, y0 + zero(y), where(y > y1, y1 + zero(y), y))
    u = meet(p[4], p[5], p[6], p[7], within)
    x = quintic(p[0], p[1], p[2], p[3], u)[0]
    some0, some1 = where(s0 > 0.0, s0, one(s0)), where(s1 > 0.0, s1, one(s1))
    return where(y < y0, x0 + (y - y0) / some0, where(y > y1, x1 + (y - y1) / some1, x))


@generic
def area(model: Any, n: int, pieces: int, x: Any) -> Any:
    """The integral of y from where the curve begins up to x; what is before counts below zero.

    y dx/du is of degree nine in u, so that five points of Gauss and Legendre are exact.
    """
    (x0, y0, s0), (x1, y1, s1) = ends(model, n, pieces)
    total = zero(x)
    for k in range(pieces):
        p = _load(model, n + PIECE * k)
        within = where(x < p[0], p[0] + zero(x), where(x > p[3], p[3] + zero(x), x))
        total = total + _up_to(p, meet(p[0], p[1], p[2], p[3], within))
    d0, d1 = x - x0, x - x1
    total = total + where(x < x0, d0 * (y0 + 0.5 * s0 * d0), where(x > x1, d1 * (y1 + 0.5 * s1 * d1), zero(x)))
    return total


@generic
def _up_to(p: Any, u: Any) -> Any:
    """The integral of y dx over a piece from its beginning to u."""
    total = zero(u)
    total = total + 0.5688888888888889 * _height(p, 0.5 * u)
    for node, weight in ((0.5384693101056831, 0.4786286704993665), (0.906179845938664, 0.2369268850561891)):
        total = total + weight * (_height(p, 0.5 * (1.0 - node) * u) + _height(p, 0.5 * (1.0 + node) * u))
    return total * u


@generic
def _height(p: Any, u: Any) -> Any:
    """Half of y dx/du."""
    y, slope = quintic(p[4], p[5], p[6], p[7], u)[0], quintic(p[0], p[1], p[2], p[3], u)[1]
    return 0.5 * y * slope
