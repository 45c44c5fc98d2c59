"""Functions of the C library, which a GPU has not: sine and cosine of large angles, exp, log, atan2, powers.

Compiled with the kernels and linked under the names by which these call them. Angles below a million radians need none of it:
`scalar.sincos` reduces those itself. Sources: Cody and Waite 1980 (reductions); the polynomials are those of FreeBSD's msun
(Sun Microsystems 1993), of which each gives the function to below one unit in the last place; powers, by logarithms, lose the
digits that ``n log x`` has before the point.
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
def two_to(k: int) -> float:
    """2 to an integer power between -1022 and 1023."""
    return of_bits((k + 1023) << 52)  # type: ignore[no-any-return]


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
def exponential(x: float) -> float:
    """The exponential function."""
    if not abs(x) < 800.0:
        return 0.0 if x < 0.0 else x * _INFINITY
    k = math.floor(x * 1.4426950408889634 + 0.5)
    high = x - k * 6.93147180369123816490e-01
    low = k * 1.90821492927058770002e-10
    r = high - low
    t = r * r
    c = r - t * (
        1.66666666666666019037e-01
        + t
        * (
            -2.77777777770155933842e-03
            + t * (6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))
        )
    )
    y = 1.0 + (r * c / (2.0 - c) - low + high)
    half = int(k) // 2
    if k > 1023.0 or k < -1021.0:  # in two factors, so that neither overflows
        return y * two_to(half) * two_to(int(k) - half)  # type: ignore[no-any-return]
    return y * two_to(int(k))  # type: ignore[no-any-return]


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


@generic
def _arc_tangent(x: float) -> float:
    """The angle between -pi/2 and pi/2 whose tangent is x."""
    a = abs(x)
    if not a < 1.0e20:
        high, low, a = 1.5707963267948966, 6.123233995736766e-17, 0.0
    elif a < 0.4375:
        high, low = 0.0, 0.0
    elif a < 0.6875:
        high, low, a = 4.63647609000806093515e-01, 2.26987774529616870924e-17, (2.0 * a - 1.0) / (2.0 + a)
    elif a < 1.1875:
        high, low, a = 7.85398163397448278999e-01, 3.06161699786838301793e-17, (a - 1.0) / (a + 1.0)
    elif a < 2.4375:
        high, low, a = 9.82793723247329054082e-01, 1.39033110312309984516e-17, (a - 1.5) / (1.0 + 1.5 * a)
    else:
        high, low, a = 1.5707963267948966, 6.12323399573676603587e-17, -1.0 / a
    z = a * a
    w = z * z
    odd = z * (
        3.33333333333329318027e-01
        + w
        * (
            1.42857142725034663711e-01
            + w
            * (
                9.09088713343650656196e-02
                + w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02))
            )
        )
    )
    even = w * (
        -1.99999999998764832476e-01
        + w
        * (
            -1.11111104054623557880e-01
            + w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))
        )
    )
    angle = high - ((a * (odd + even) - low) - a)
    return -angle if x < 0.0 else angle


def angle_of(y: float, x: float) -> float:
    """The angle of the vector (x, y) from the x axis."""
    if not abs(x) + abs(y) >= 0.0:
        return math.nan
    if abs(x) == _INFINITY and abs(y) == _INFINITY:  # as the C library has it
        x, y = math.copysign(1.0, x), math.copysign(1.0, y)
    if x == 0.0 and y == 0.0:
        return math.copysign(math.pi if math.copysign(1.0, x) < 0.0 else 0.0, y)
    if x == 0.0:
        return math.copysign(0.5 * math.pi, y)
    acute = _arc_tangent(abs(y / x))
    if x < 0.0:
        acute = math.pi - (acute - 1.2246467991473532e-16)
    return math.copysign(acute, y)


def real_power(x: float, n: float) -> float:
    """*x* to a power: of a negative number only to one that is whole."""
    if n == 0.0 or x == 1.0:
        return 1.0
    whole = math.floor(n) == n
    size = exponential(n * logarithm(abs(x)))
    if x >= 0.0:
        return size  # type: ignore[no-any-return]
    if not whole:
        return math.nan
    return -size if math.floor(0.5 * n) != 0.5 * n else size  # type: ignore[no-any-return]


def natural_exponential(x: float) -> float:
    """`exponential` under a name of its own."""
    return exponential(x)  # type: ignore[no-any-return]


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
