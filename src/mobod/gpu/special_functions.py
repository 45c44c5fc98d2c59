"""Functions of the C library, which a GPU has not: sine and cosine of large angles, log, powers; exp and atan2 of users' code.

Compiled with the kernels and linked under the names by which these call them. Angles below a million radians need none of it:
`scalar.sincos` reduces those itself; nor do `scalar.exp` and `scalar.atan2` call a library. Sources: Cody and Waite 1980
(reductions); the logarithm's polynomial is that of FreeBSD's msun (Sun Microsystems 1993), to below one unit in the last place;
powers, by logarithms, lose the digits that ``n log x`` has before the point.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ..algebra import scalar
from ..compiling import generic

_DOUBLE, _WORD = ir.DoubleType(), ir.IntType(64)


def _bits_of(typing_context: Any, x: Any) -> Any:
    return types.int64(types.float64), lambda context, builder, sig, args: builder.bitcast(args[0], _WORD)


def _of_bits(typing_context: Any, word: Any) -> Any:
    return types.float64(types.int64), lambda context, builder, sig, args: builder.bitcast(args[0], _DOUBLE)


def _fused(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), lower


bits_of: Any = intrinsic(_bits_of)
of_bits: Any = intrinsic(_of_bits)
#: a b + c, rounded once.
fused: Any = intrinsic(_fused)

_INFINITY = math.inf


@generic
def _reduced(x: float) -> Any:
    """*x* less the nearest multiple of pi/2, in three fused steps, and that multiple; exact enough below 2^50."""
    k = math.floor(x * 0.6366197723675814 + 0.5)
    r = fused(-k, 1.5707963267948966, x)
    r = fused(-k, 6.123233995736766e-17, r)
    r = fused(-k, -1.4973849048591833e-33, r)
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


@generic
def logarithm(x: float) -> float:
    """The natural logarithm."""
    if not x > 0.0:
        return -_INFINITY if x == 0.0 else math.nan
    if x == _INFINITY:
        return x
    shift = 0.0
    if x < 2.2250738585072014e-308:  # subnormal
        x, shift = x * 18014398509481984.0, -54.0
    word = bits_of(x)
    k = float((word >> 52) - 1023) + shift
    m = of_bits((word & 0xFFFFFFFFFFFFF) | (1023 << 52))
    if m > 1.4142135623730951:
        m, k = 0.5 * m, k + 1.0
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half_square = 0.5 * f * f
    rest = half_square - (s * (half_square + even + odd) + k * 1.90821492927058770002e-10)
    return k * 6.93147180369123816490e-01 - (rest - f)  # type: ignore[no-any-return]


def angle_of(y: float, x: float) -> float:
    """The angle of the vector (x, y) from the x axis."""
    return scalar.atan2(y, x)  # type: ignore[no-any-return]


def real_power(x: float, n: float) -> float:
    """*x* to a power: of a negative number only to one that is whole."""
    if n == 0.0 or x == 1.0:
        return 1.0
    whole = math.floor(n) == n
    size = scalar.exp(n * logarithm(abs(x)))
    if x >= 0.0:
        return size  # type: ignore[no-any-return]
    if not whole:
        return math.nan
    return -size if math.floor(0.5 * n) != 0.5 * n else size  # type: ignore[no-any-return]


def natural_exponential(x: float) -> float:
    """The exponential function."""
    return scalar.exp(x)  # type: ignore[no-any-return]


def natural_logarithm(x: float) -> float:
    """`logarithm`, likewise."""
    return logarithm(x)  # type: ignore[no-any-return]


#: Each by the names under which kernels call the C library's, and its number of arguments.
FUNCTIONS = {
    sine: (("llvm.sin.f64", "sin"), 1),
    cosine: (("llvm.cos.f64", "cos"), 1),
    natural_exponential: (("llvm.exp.f64", "exp"), 1),
    natural_logarithm: (("llvm.log.f64", "log"), 1),
    angle_of: (("atan2", "llvm.atan2.f64"), 2),
    real_power: (("llvm.pow.f64", "pow"), 2),
}
