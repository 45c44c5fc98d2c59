"""Functions of the C library, which a GPU has not: sine and cosine of large angles, powers; exp, log and atan2 of users' code.

Compiled with the kernels and linked under the names by which these call them. Angles below a million radians need none of it:
`scalar.sincos` reduces those itself; nor do `scalar.exp`, `scalar.log` and `scalar.atan2` call a library. Source: Cody and
Waite 1980 (reductions). Powers, by logarithms, lose the digits that ``n log x`` has before the point.
"""

from __future__ import annotations

import math
from typing import Any

from ..algebra import scalar
from ..compiling import generic


@generic
def _reduced(x: float) -> Any:
    """*x* less the nearest multiple of pi/2, in three fused steps, and that multiple; exact enough below 2^50."""
    k = math.floor(x * 0.6366197723675814 + 0.5)
    r = scalar.fused(-k, 1.5707963267948966, x)
    r = scalar.fused(-k, 6.123233995736766e-17, r)
    r = scalar.fused(-k, -1.4973849048591833e-33, r)
    return r, k - 4.0 * math.floor(0.25 * k)


@generic
def _of_quadrant(r: float, quadrant: float) -> float:
    """The sine of r plus so many right angles."""
    sine, cosine = scalar.sincos(r)
    if quadrant == 0.0:
        return sine  # type: ignore[no-any-return]
    if quadrant == 1.0:
        return cosine  # type: ignore[no-any-return]
    if quadrant == 2.0:
        return -sine  # type: ignore[no-any-return]
    return -cosine  # type: ignore[no-any-return]


def sine(x: float) -> float:
    """The sine; NaN beyond 2^50, where an angle has no digits left."""
    if not abs(x) < 1.0e15:
        return math.nan
    r, quadrant = _reduced(x)
    return _of_quadrant(r, quadrant)  # type: ignore[no-any-return]


def cosine(x: float) -> float:
    """The cosine, likewise."""
    if not abs(x) < 1.0e15:
        return math.nan
    r, quadrant = _reduced(x)
    if quadrant == 3.0:
        quadrant = -1.0
    return _of_quadrant(r, quadrant + 1.0)  # type: ignore[no-any-return]


def angle_of(y: float, x: float) -> float:
    """The angle of the vector (x, y) from the x axis."""
    return scalar.atan2(y, x)  # type: ignore[no-any-return]


def real_power(x: float, n: float) -> float:
    """*x* to a power: of a negative number only to one that is whole."""
    if n == 0.0 or x == 1.0:
        return 1.0
    whole = math.floor(n) == n
    size = scalar.exp(n * scalar.log(abs(x)))
    if x >= 0.0:
        return size  # type: ignore[no-any-return]
    if not whole:
        return math.nan
    return -size if math.floor(0.5 * n) != 0.5 * n else size  # type: ignore[no-any-return]


def natural_exponential(x: float) -> float:
    """The exponential function."""
    return scalar.exp(x)  # type: ignore[no-any-return]


def natural_logarithm(x: float) -> float:
    """The natural logarithm."""
    return scalar.log(x)  # type: ignore[no-any-return]


#: Each by the names under which kernels call the C library's, and its number of arguments.
FUNCTIONS = {
    sine: (("llvm.sin.f64", "sin"), 1),
    cosine: (("llvm.cos.f64", "cos"), 1),
    natural_exponential: (("llvm.exp.f64", "exp"), 1),
    natural_logarithm: (("llvm.log.f64", "log"), 1),
    angle_of: (("atan2", "llvm.atan2.f64"), 2),
    real_power: (("llvm.pow.f64", "pow"), 2),
}
