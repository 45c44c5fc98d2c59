"""Hertz's contact of surfaces whose curvatures differ: how much more force than between spheres.

A = k_min / 2, B = k_max / 2, the relative curvatures; the contact is an ellipse of which b = minor / major
semi-axis, m = 1 - b^2:

    A / B = b^2 (K - E) / (E - b^2 K)        e = pi sqrt(E) / (2 b K^(3/2))        f = 4/3 e E* sqrt(R) d^(3/2), R = 1 / (A + B)

with the complete elliptic integrals K(m) and E(m). By the arithmetic-geometric mean of 1 and b, which tends to a, with
c_n half the difference of its n-th two numbers,

    K = pi / (2 a)    E = K (1 - m (1 + t) / 2)    m t = 2 sum of 2^(n-1) c_n^2, n = 1, 2, ...

both sides divided by m, so that nothing cancels where the ellipse is a circle:

    A / B = b^2 (1 + t) / (1 - t)            e = a sqrt(1 - m (1 + t) / 2) / b

The first is solved for b by Newton's method, from an approximation good to 1e-5 (Antoine, Visa, Sauvey and Abba 2006, J.
Tribology 128, 660), at which the reference stops: two steps reach rounding. Sources: Johnson 1985, Contact Mechanics, section
4.2; Abramowitz and Stegun, 17.6; Dyson, Evans and Snidle 1992, J. Mech. Eng. Sci. 206, 139, for the slope.
"""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import bare, exp, log, one, sqrt, zero
from ...compiling import generic

#: The flattest ellipse: A / B is no less. Of a line of contact, for which A = 0, Hertz's force is not defined.
FLATTEST = 1e-6


@generic
def means(b: Any) -> Any:
    """The arithmetic-geometric mean of 1 and b, and t."""
    x, y = 0.5 * (1.0 + b), sqrt(b)
    c = 0.5 * (1.0 - b)
    square = c * c
    t = 0.5 * (1.0 - b) / (1.0 + b)  # of c_1^2 / m = (1 - b) / (4 (1 + b))
    share = t  # 2^n c_n^2 / m
    for _ in range(12):
        # the next c is c^2 / (4 x): beyond this it is below rounding, tangents too
        if bare(square) < 1e-18:
            break
        following = 0.5 * (x + y)
        share = share * 0.125 * square / (following * following)
        t = t + share
        c = square / (4.0 * following)
        square = c * c
        x, y = following, sqrt(x * y)
    return x, t


@generic
def axis_ratio(ratio: Any) -> Any:
    """The ratio b of the ellipse's semi-axes, of A / B between 0 and 1."""
    L = log(ratio)
    q = 0.18861169701161387 * L * L  # log10 squared
    n = 1.0 + q * (0.40227436 + q * (3.7491752e-2 + q * (7.4855761e-4 + q * 2.1667028e-6)))
    d = 1.0 + q * (0.42678878 + q * (4.2605401e-2 + q * (9.0786922e-4 + q * 2.7868927e-6)))
    b = exp(2.0 * n * L / (3.0 * d))
    for _ in range(2):
        _, t = means(b)
        bb = b * b
        m = 1.0 - bb
        found = bb * (1.0 + t) / (1.0 - t)
        slope = 1.5 + zero(m)  # of log(A / B) by log b; the quotient below has no digits near a circle
        if m > 1e-4:
            slope = (found * found + 2.0 * m * found - bb) / (m * found)
        b = b * (1.0 - (found - ratio) / (found * slope))
        if b > 1.0:
            b = one(b)
    return b


@generic
def correction(k_max: Any, k_min: Any) -> Any:
    """The factor e, 1 of a circle."""
    ratio = k_min / k_max
    if ratio < FLATTEST:
        ratio = zero(ratio) + FLATTEST
    if ratio >= 1.0 - 1e-9:  # e is 1 + O((1 - ratio)^2)
        return one(ratio)
    b = axis_ratio(ratio)
    a, t = means(b)
    return a * sqrt(1.0 - 0.5 * (1.0 - b * b) * (1.0 + t)) / b
