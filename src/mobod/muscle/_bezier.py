"""Quintic Bezier curves in pieces, as muscles' curves are made of: values, slopes and areas, of any scalar.

A piece is a corner with control points P0, M0, M0, M1, M1, P1 (one number each for x and for y):

    B(u) = P0 + (M0 - P0) [5 u (1-u)^4 + 10 u^2 (1-u)^3] + (M1 - P0) [10 u^3 (1-u)^2 + 5 u^4 (1-u)] + (P1 - P0) u^5
    B'(u) = 5 [(M0 - P0) (1-u)^4 + 6 (M1 - M0) u^2 (1-u)^2 + (P1 - M1) u^4]

and grows with u, so that x is met at one u. Outside all pieces a curve is straight. Source: Millard, Uchida, Seth and Delp
2013, J. Biomech. Eng. 135, 021005, appendix; OpenSim's curves are made of the same corners.
"""

from __future__ import annotations

from typing import Any

from ..algebra.masks import both, either, in_any
from ..algebra.scalar import bare, num_lanes, one, order_of_tangents, where, zero
from ..compiling import generic
from ..force.pools import number

#: Numbers of a piece: P0, M0, M1, P1 of x, then of y.
PIECE = 8
#: Changes of u below this part of the shorter handle leave what one more step takes away.
_NEAR, _MOST = 0.05, 60


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
    """The u at which B(u) = b, for P0 <= b <= P1; 0 or 1 beyond. Two steps of Newton's carry tangents, of both orders."""
    a, e, t = bare(p0), bare(p1), bare(b)
    i, o = one(a) + zero(t), 0.0 * t  # of what is no number there is none
    within = both(both(t > a, t < e), e > a)
    u = where(t >= e, i, zero(i)) + o
    if in_any(within):
        whole = 1.0 / where(within, e - a, i)
        found = _meet((bare(m0) - a) * whole, (e - bare(m1)) * whole, where(within, (t - a) * whole, 0.5 * i), within)
        u = where(within, found, u)
    root = zero(p0) + zero(b) + u
    if order_of_tangents(root) > 0:
        for _ in range(2):
            value, slope = quintic(p0, m0, m1, p1, root)
            safe = bare(slope) > 1e-12 * bare(p1 - p0)
            step = (value - b) / where(safe, slope, one(slope))
            root = root - where(both(within, safe), step, zero(step))
    return root


@generic
def _meet(first: Any, last: Any, s: Any, going: Any) -> Any:
    """The u at which B(u) = s, of a curve from 0 to 1 that has M0 at *first* and M1 at 1 - *last*; by powers of u.

    Halley's method within a bracket. Lanes that are near keep their u while others go on, so that no lane depends on its
    neighbours.
    """
    i, u = one(s), _guess(first, last, s)
    low, high, near = zero(s), i, _NEAR * where(first < last, first, last)
    for _ in range(_MOST):
        value, slope, bend = _by_powers(first, last, u)
        off = value - s
        low, high = where(off < 0.0, u, low), where(off > 0.0, u, high)
        safe = slope * slope - 0.5 * off * bend
        grows = safe > 1e-300
        new = u - off * slope / where(grows, safe, i)
        new = where(both(grows, both(new >= low, new <= high)), new, 0.5 * (low + high))
        change = new - u
        u = where(going, new, u)
        going = both(going, either(change > near, change < -near))
        if not in_any(going):
            break
    value, slope, bend = _by_powers(first, last, u)
    off = value - s
    safe = slope * slope - 0.5 * off * bend
    grows = safe > 1e-24
    return where(grows, u - off * slope / where(grows, safe, i), u)


@generic
def _by_powers(first: Any, last: Any, u: Any) -> Any:
    """B, B' and B''."""
    c3, c4, c5 = 10.0 - 10.0 * last, 10.0 * first + 15.0 * last - 15.0, 6.0 - 5.0 * first - 5.0 * last
    uu = u * u
    value = u * (5.0 * first + u * (-10.0 * first + u * (c3 + u * (c4 + u * c5))))
    slope = (5.0 * first - 20.0 * first * u) + uu * ((3.0 * c3 + 4.0 * c4 * u) + 5.0 * c5 * uu)
    return value, slope, (6.0 * c3 * u - 20.0 * first) + uu * (12.0 * c4 + 20.0 * c5 * u)


@generic
def _guess(first: Any, last: Any, s: Any) -> Any:
    """The cubic with the ends of the inverse, and its slopes there as far as it still grows: within 0.05 mostly."""
    first, last = where(15.0 * first > 1.0, first, one(first) / 15.0), where(15.0 * last > 1.0, last, one(last) / 15.0)
    r = 1.0 - s
    return s * s * (3.0 - 2.0 * s) + 0.2 * s * r * (r * last - s * first) / (first * last)


@generic
def piece_at(model: Any, n: int, pieces: int, x: Any, first: int) -> Any:
    """The eight control numbers of the piece, or the nearest, that has x among its x (*first* 0) or its y (*first* 4)."""
    if num_lanes(bare(x)) == 1:
        k = 0
        for piece in range(1, pieces):
            k = piece if in_any(x >= number(model, n + PIECE * piece + first)) else k
        return _load(model, n + PIECE * k)
    p = _load(model, n)
    for k in range(1, pieces):
        p = pick8(x >= number(model, n + PIECE * k + first), _load(model, n + PIECE * k), p)
    return p


@generic
def pick8(mask: Any, q: Any, p: Any) -> Any:
    """Of two times eight numbers the first where *mask* holds, else the second."""
    return (
        where(mask, q[0], p[0]),
        where(mask, q[1], p[1]),
        where(mask, q[2], p[2]),
        where(mask, q[3], p[3]),
        where(mask, q[4], p[4]),
        where(mask, q[5], p[5]),
        where(mask, q[6], p[6]),
        where(mask, q[7], p[7]),
    )


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
