"""`exp`, `log` and `atan2` compiled, of one number and of lanes by one source, so that both give the same bits.

The C library takes a number a call: in lanes that is eight calls. Exponentials and logarithms are within one unit in the last
place of its own, angles within two.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import overload

from ..compiling.engine import OPTIONS
from . import scalar
from .compiled_primitive import primitive
from .lanes import I64, INTS, VECTOR, WIDTH, Lanes, as_number, as_vector, define_unary, lanes, rint, vector_intrinsic
from .masks import both

#: Added to a whole number k, the float64 has k + 1023, the exponent of 2^k, in its lowest bits: three halves of 2^52, and 1023.
_TO_EXPONENT = 6755399441055744.0 + 1023.0
_INFINITE, _NOT_A_NUMBER = float("inf"), float("nan")


def two_to(k: Any) -> Any:
    """2^k of a whole number between -1022 and 1023; of others anything, of what is not finite too."""


def exponent_of(x: Any) -> Any:
    """k of *x* = 2^k m, 1 <= m < 2, which is above zero and normal; of others anything."""


def mantissa_of(x: Any) -> Any:
    """This m."""


def sign_of(x: Any, y: Any) -> Any:
    """*x*, not negative, with the sign of *y*, that of a zero too."""


def _lower_two_to(builder: Any, vector: bool, k: Any) -> Any:
    kind, number = (INTS, VECTOR) if vector else (I64, ir.DoubleType())
    bias, shift = (ir.Constant(ir.DoubleType(), _TO_EXPONENT), ir.Constant(I64, 52))
    if vector:
        bias, shift = ir.Constant(VECTOR, [bias] * WIDTH), ir.Constant(INTS, [shift] * WIDTH)
    return builder.bitcast(builder.shl(builder.bitcast(builder.fadd(k, bias), kind), shift), number)


def _bits(builder: Any, vector: bool, x: Any) -> tuple[Any, Any, Any]:
    """The bits of *x*, the type of float64, and what makes a constant of as many bits."""
    kind, number = (INTS, VECTOR) if vector else (I64, ir.DoubleType())

    def constant(bits: int) -> Any:
        one = ir.Constant(I64, bits)
        return ir.Constant(INTS, [one] * WIDTH) if vector else one

    return builder.bitcast(x, kind), number, constant


def _lower_exponent(builder: Any, vector: bool, x: Any) -> Any:
    bits, number, constant = _bits(builder, vector, x)
    # the number 2^52 + k + 1023
    whole = builder.bitcast(builder.or_(builder.lshr(bits, constant(52)), constant(0x433 << 52)), number)
    bias = ir.Constant(ir.DoubleType(), 2.0**52 + 1023.0)
    return builder.fsub(whole, ir.Constant(VECTOR, [bias] * WIDTH) if vector else bias)


def _lower_mantissa(builder: Any, vector: bool, x: Any) -> Any:
    bits, number, constant = _bits(builder, vector, x)
    return builder.bitcast(builder.or_(builder.and_(bits, constant((1 << 52) - 1)), constant(0x3FF << 52)), number)


define_unary(two_to, _lower_two_to)
define_unary(exponent_of, _lower_exponent)
define_unary(mantissa_of, _lower_mantissa)


@primitive(sign_of, (types.Float, Lanes), (types.Float, Lanes), result=lambda *args: lanes if lanes in args else types.float64)
def _lower_sign(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if sig.return_type == lanes:
        return vector_intrinsic(builder, "copysign", [as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True)])
    number = ir.DoubleType()
    kind = ir.FunctionType(number, [number, number])
    return builder.call(builder.module.declare_intrinsic("llvm.copysign", [number], kind), args)


@overload(scalar.exp, jit_options=OPTIONS, strict=False)
def _exp(x: Any) -> Any:
    """2^k times the series of e^r, with x = k ln 2 + r in two parts (Cody and Waite 1980), whose first is exact times any k."""
    if isinstance(x, types.Integer):
        return lambda x: scalar.exp(1.0 * x)
    if as_number(x) is None:
        return None

    def implementation(x: Any) -> Any:
        x = scalar.where(x > 710.0, 710.0, scalar.where(x < -746.0, -746.0, x))  # infinite, and zero
        k = rint(x * 1.4426950408889634)
        r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
        s = 1.0 / 5040.0 + r * (
            1.0 / 40320.0
            + r
            * (
                1.0 / 362880.0
                + r * (1.0 / 3628800.0 + r * (1.0 / 39916800.0 + r * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))))
            )
        )
        s = 0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * s))))
        half = scalar.floor(0.5 * k)
        return ((1.0 + (r + r * r * s)) * two_to(half)) * two_to(k - half)

    return implementation


@overload(scalar.log, jit_options=OPTIONS, strict=False)
def _log(x: Any) -> Any:
    """k ln 2 and the log of 1 + f, from sqrt(1/2) to sqrt(2): f less the small rest 2 atanh s - f, s = f / (2 + f), by z = s^2.

    The polynomial is the series of 2 atanh s / s - 2 by z, at Chebyshev's nodes.
    """
    if isinstance(x, types.Integer):
        return lambda x: scalar.log(1.0 * x)
    if as_number(x) is None:
        return None

    def implementation(x: Any) -> Any:
        is_tiny = x < 2.2250738585072014e-308
        normal = scalar.where(is_tiny, 18014398509481984.0 * x, x)  # times 2^54
        k, m = exponent_of(normal), mantissa_of(normal)
        is_large = m > 1.4142135623730951
        k = scalar.where(is_large, k + 1.0, k)
        k = scalar.where(is_tiny, k - 54.0, k)
        f = scalar.where(is_large, 0.5 * m, m) - 1.0
        s = f / (2.0 + f)
        z = s * s
        p = 0.22222211130560726 + z * (0.18182889433757515 + z * (0.15331711346672997 + z * 0.14616576421644387))
        p = z * (0.666666666666667 + z * (0.3999999999989945 + z * (0.28571428626001427 + z * p)))
        half = 0.5 * f * f
        rest = half - (s * (half + p) + k * 1.90821492927058770002e-10)
        found = k * 6.93147180369123816490e-01 - (rest - f)
        of_rest = scalar.where(x == 0.0, -_INFINITE, _NOT_A_NUMBER)
        return scalar.where(x > 0.0, scalar.where(x < _INFINITE, found, x), of_rest)

    return implementation


@overload(scalar.atan2, jit_options=OPTIONS, strict=False)
def _atan2(y: Any, x: Any) -> Any:
    """The angle to the nearer axis or diagonal, up to pi/8, by the polynomial that is the series at Chebyshev's nodes."""
    if as_number(x) is None or as_number(y) is None:
        return None
    if x != y or isinstance(x, types.Integer):
        return lambda y, x: scalar.atan2(scalar.one(x) * y, scalar.one(y) * x)

    def implementation(y: Any, x: Any) -> Any:
        b, a = scalar.absolute(x), scalar.absolute(y)
        is_steep = a > b
        most, least = scalar.where(is_steep, a, b), scalar.where(is_steep, b, a)
        by_diagonal = both(least >= 0.41421356237309503 * most, least > 0.0)
        above = scalar.where(by_diagonal, scalar.where(least == most, 0.0, least - most), least)
        below = scalar.where(by_diagonal, least + most, most)
        t = above / scalar.where(below == 0.0, 1.0, below)
        z = t * t
        p = -0.06664509603255386 + z * (
            0.05858132894427922 + z * (-0.05085365922344248 + z * (0.03922923713835943 + z * -0.01917392228554793))
        )
        p = 0.11111111015117626 + z * (-0.09090904572487347 + z * (0.07692183059894114 + z * p))
        p = -0.3333333333333333 + z * (0.19999999999995513 + z * (-0.1428571428466482 + z * p))
        found = t + t * (z * p)
        # pi in two parts, by quarters
        found = scalar.where(by_diagonal, 0.7853981633974483 + (found + 3.061616997868383e-17), found)
        is_behind = sign_of(1.0, x) < 0.0
        from_y = 1.5707963267948966 - (scalar.where(is_behind, -found, found) - 6.123233995736766e-17)
        from_x = scalar.where(is_behind, 3.141592653589793 - (found - 1.2246467991473532e-16), found)
        return sign_of(scalar.where(is_steep, from_y, from_x), y)

    return implementation
