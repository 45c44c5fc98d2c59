"""Quintic Bezier curves in pieces, as muscles' curves are made of: values, slopes and areas, of any scalar.

A piece is a corner with control points P0, M0, M0, M1, M1, P1. With the ways m0 = M0 - P0, m1 = P1 - M1 and d = P1 - P0, one
number each for x and for y,

    B(u) - P0 = m0 [5 u (1-u)^4 + 10 u^2 (1-u)^3] + (d - m1) [10 u^3 (1-u)^2 + 5 u^4 (1-u)] + d u^5
    B'(u) = 5 [m0 (1-u)^4 + 6 (d - m0 - m1) u^2 (1-u)^2 + m1 u^4]

and grows with u, so that x is met at one u. Outside all pieces a curve is straight. Source: Millard, Uchida, Seth and Delp
2013, J. Biomech. Eng. 135, 021005, appendix; OpenSim's curves are made of the same corners.
"""

from __future__ import annotations

from typing import Any

from ..algebra.beside import eight_rows_at, lies_beside, taken, three_beside
from ..algebra.masks import both, in_any, no
from ..algebra.scalar import bare, is_float, num_lanes, one, order_of_tangents, where, zero
from ..compiling import apart, generic
from ..force.pools import number

#: Numbers of a piece: P0, m0, m1, d of x, then of y. Behind the pieces the slopes at both ends of the curve.
PIECE, SLOPES = 8, 2
#: A step by less than this part of the shorter way ends within roundings; the largest number of steps.
_NEAR, _MOST = 1e-3, 60
#: What is added to divisors, so that none is zero.
_NOTHING = 1e-300


@generic
def rise(m0: Any, m1: Any, d: Any, u: Any) -> Any:
    """B(u) - P0, by powers of u: few of which wait for others."""
    c4, c5, uu = 10.0 * m0 + 15.0 * m1 - 15.0 * d, 6.0 * d - 5.0 * (m0 + m1), u * u
    return (5.0 * m0 * u - 10.0 * m0 * uu) + uu * u * ((10.0 * (d - m1) + c4 * u) + c5 * uu)


@generic
def slope(m0: Any, m1: Any, d: Any, u: Any) -> Any:
    """B'(u), a sum without differences."""
    uu, vv = u * u, (1.0 - u) * (1.0 - u)
    return 5.0 * (m0 * vv * vv + 6.0 * (d - m0 - m1) * uu * vv + m1 * uu * uu)


@generic
def meet(m0: Any, m1: Any, d: Any, b: Any) -> Any:
    """The u at which B(u) - P0 = b, for 0 <= b <= d; 0 or 1 beyond."""
    return _with_tangents(m0, m1, d, b, _value_met(bare(m0), bare(m1), bare(d), bare(b)))


@generic
def _value_met(m0: Any, m1: Any, d: Any, b: Any) -> Any:
    i, o = one(d) + zero(b), 0.0 * b  # of what is no number there is none
    within = both(both(b > 0.0, b < d), d > 0.0)
    u = where(b >= d, i, zero(i)) + o
    if in_any(within):
        u = where(within, _meet(m0 + o, m1 + o, d + o, where(within, b, 0.5 * (d + o)), within), u)
    return u


@generic
def _with_tangents(m0: Any, m1: Any, d: Any, b: Any, u: Any) -> Any:
    """Two steps of Newton's carry tangents, of both orders."""
    root = zero(d) + zero(b) + u
    if order_of_tangents(root) > 0:
        e, t = bare(d), bare(b)
        within = both(both(t > 0.0, t < e), e > 0.0)
        for _ in range(2):
            rate = slope(m0, m1, d, root)
            safe = bare(rate) > 1e-12 * e
            step = (rise(m0, m1, d, root) - b) / where(safe, rate, one(rate))
            root = root - where(both(within, safe), step, zero(step))
    return root


@generic
def _beside(a: Any, b: Any, c: Any) -> Any:
    return three_beside(bare(a), bare(b), bare(c))


@apart
def _meet(m0: Any, m1: Any, d: Any, b: Any, going: Any) -> Any:
    """The u at which B(u) - P0 = b, between the ends.

    Two steps mostly do, without a choice at which a processor would have to wait. Lanes that are near keep their u while others
    go on, so that no lane depends on its neighbours.
    """
    u = _stepped(m0, m1, d, b, _guess(m0, m1, d, b))[0]
    new, _, rests = _stepped(m0, m1, d, b, u)
    going = both(going, no(rests))
    if in_any(going):
        new = _meet_slowly(m0, m1, d, b, going, new)
    return new


@apart
def _meet_slowly(m0: Any, m1: Any, d: Any, b: Any, going: Any, u: Any) -> Any:
    """The same within a bracket, where two steps do not do."""
    low, high, found = zero(b), one(b), u
    for _ in range(_MOST):
        u = where(both(u > low, u < high), u, 0.5 * (low + high))
        new, off, rests = _stepped(m0, m1, d, b, u)
        low, high = where(off < 0.0, u, low), where(off > 0.0, u, high)
        found = where(going, new, found)
        going = both(going, no(rests))
        if not in_any(going):
            break
        u = new
    return found


@generic
def _stepped(m0: Any, m1: Any, d: Any, b: Any, u: Any) -> Any:
    """u after a step of Householder's method of fourth order; what B is above b before it; true where the next changes nothing.

    B and its derivatives by powers of u, with factorials, by Horner's scheme of each scheme's sums.
    """
    c5 = 6.0 * d - 5.0 * (m0 + m1)
    c4, c3 = 10.0 * m0 + 15.0 * m1 - 15.0 * d + u * c5, 10.0 * (d - m1)
    c3 = c3 + u * c4
    c2 = -10.0 * m0 + u * c3
    c1 = 5.0 * m0 + u * c2
    off = u * c1 - b
    d4 = c4 + u * c5
    d3 = c3 + u * d4
    d2 = c2 + u * d3
    rate = c1 + u * d2
    e4 = d4 + u * c5
    e3 = d3 + u * e4
    bend = d2 + u * e3
    third = e3 + u * (e4 + u * c5)
    square, by_bend = rate * rate, off * bend
    below = rate * (square - 2.0 * by_bend) + (off * off * third + _NOTHING)
    change = off * (square - by_bend) / below
    near, size = _NEAR * where(m0 < m1, m0, m1), where(change < 0.0, -change, change) * d
    return u - change, off, both(below > 2.0 * _NOTHING, size <= near)


@generic
def _guess(m0: Any, m1: Any, d: Any, b: Any) -> Any:
    """Of the half of the curve in which b is, the fraction of squares with its ends and slopes: within 0.03 mostly."""
    middle, rate = 0.5 * d + 0.46875 * (m0 - m1), 1.875 * d - 1.5625 * (m0 + m1)
    before, o = b < middle, zero(b)
    first, last = where(before, 5.0 * m0, rate), where(before, rate, 5.0 * m1)
    size, a = where(before, middle, d - middle), b - where(before, o, middle)
    across, rates = a * (size - a), 0.5 * first * last
    below = (rates * size * size + _NOTHING) + (size * (first + last) - 2.0 * rates) * across
    above = 0.5 * (rates * a * a + across * size * last)
    return above / below + where(before, o, 0.5 * one(b))


@generic
def piece_at(model: Any, n: int, pieces: int, x: Any) -> Any:
    """The numbers of the piece that has x, or the nearest."""
    if num_lanes(bare(x)) == 1:
        k = 0
        for piece in range(1, pieces):
            k = piece if in_any(x >= number(model, n + PIECE * piece)) else k
        return load8(model, n + PIECE * k)
    if lies_beside(model.force_numbers):
        place = zero(bare(x))
        for piece in range(1, pieces):
            place = where(x >= number(model, n + PIECE * piece), 1.0 * PIECE * piece, place)
        return eight_rows_at(model.force_numbers, n, place)
    first, end = 0, pieces  # of pieces that a lane is in, and behind them: what many read in lanes is much to load
    for k in range(1, pieces):
        begun = x >= number(model, n + PIECE * k)
        if not in_any(no(begun)):
            first = k
        elif not in_any(begun):
            end = min(end, k)
    p = load8(model, n + PIECE * first)
    for k in range(first + 1, end):
        p = pick8(x >= number(model, n + PIECE * k), load8(model, n + PIECE * k), p)
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
def load8(model: Any, n: int) -> Any:
    """The numbers of a piece."""
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
    """The first and the last x of a curve, and its slopes there."""
    last = n + PIECE * (pieces - 1)
    return number(model, n), number(model, last) + number(model, last + 3), number(model, last + 8), number(model, last + 9)


@generic
def between(x: Any, low: Any, high: Any) -> Any:
    """x, or the end beyond which it is."""
    return where(x < low, low + zero(x), where(x > high, high + zero(x), x))


@generic
def value(model: Any, n: int, pieces: int, x: Any) -> Any:
    """y at x of the curve whose numbers begin at n."""
    p, b, straight = _begun(model, n, pieces, x)
    return p[4] + rise(p[5], p[6], p[7], meet(p[1], p[2], p[3], b)) + straight


@generic
def three_values(model: Any, first: Any, second: Any, third: Any) -> Any:
    """As `value`, of three curves, each ``(n, pieces, x)``.

    One state meets them side by side, as a vector of lanes takes hardly longer than a number.
    """
    if is_float(bare(first[2])):
        p, b, beyond_p = _begun(model, first[0], first[1], first[2])
        q, c, beyond_q = _begun(model, second[0], second[1], second[2])
        r, d, beyond_r = _begun(model, third[0], third[1], third[2])
        m0, m1 = _beside(p[1], q[1], r[1]), _beside(p[2], q[2], r[2])
        u = _value_met(m0, m1, _beside(p[3], q[3], r[3]), _beside(b, c, d))
        of_p = _with_tangents(p[1], p[2], p[3], b, taken(u, 0, bare(b)))
        of_q = _with_tangents(q[1], q[2], q[3], c, taken(u, 1, bare(b)))
        of_r = _with_tangents(r[1], r[2], r[3], d, taken(u, 2, bare(b)))
        y, z = p[4] + rise(p[5], p[6], p[7], of_p) + beyond_p, q[4] + rise(q[5], q[6], q[7], of_q) + beyond_q
        found = y, z, r[4] + rise(r[5], r[6], r[7], of_r) + beyond_r
    else:  # one after the other, so that no more numbers wait than those of one piece
        y, z = value(model, first[0], first[1], first[2]), value(model, second[0], second[1], second[2])
        found = y, z, value(model, third[0], third[1], third[2])
    return found


@generic
def _begun(model: Any, n: int, pieces: int, x: Any) -> Any:
    """The numbers of x's piece, how far x is in it, and what y grows beyond the ends."""
    low, high, before, behind = ends(model, n, pieces)
    p, within = piece_at(model, n, pieces, x), between(x, low, high)
    return p, within - p[0], (x - within) * where(x < low, before + zero(x), behind + zero(x))


@generic
def area(model: Any, n: int, pieces: int, x: Any) -> Any:
    """The integral of y from where the curve begins up to x; what is before counts below zero.

    y dx/du is of degree nine in u, so that five points of Gauss and Legendre are exact.
    """
    low, high, before, behind = ends(model, n, pieces)
    total = zero(x)
    for k in range(pieces):
        p = load8(model, n + PIECE * k)
        total = total + _up_to(p, meet(p[1], p[2], p[3], between(x - p[0], zero(p[3]), p[3])))
    beyond, last = x - between(x, low, high), load8(model, n + PIECE * (pieces - 1))
    at_end = where(x < low, number(model, n + 4) + zero(x), last[4] + last[7] + zero(x))
    return total + beyond * (at_end + 0.5 * beyond * where(x < low, before + zero(x), behind + zero(x)))


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
    return 0.5 * (p[4] + rise(p[5], p[6], p[7], u)) * slope(p[1], p[2], p[3], u)
