"""Numba's view of `Lanes`, eight float64 in one vector register, and every primitive of `scalar` compiled for it and float64.

Imported when the first kernel is compiled or loaded, never before. Two Numba types are defined here:

- ``Lanes``, an LLVM ``<8 x double>``, with ``+ - * /``, ``**``, negation and comparisons (which give a ``Mask``);
- ``Mask``, an LLVM ``<8 x i1>``, for ``where``.

A lane never looks at another lane: eight states are computed as though each were alone.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, overload

from ..compiling.engine import OPTIONS
from . import record, scalar
from .compiled_primitive import held_as, primitive, same

WIDTH = record.LANES
VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
BOOLS = ir.VectorType(ir.IntType(1), WIDTH)
INTS = ir.VectorType(ir.IntType(64), WIDTH)
I64 = ir.IntType(64)


class Lanes(types.Type):
    """Eight float64."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes{WIDTH}")


class Mask(types.Type):
    """Eight truth values."""

    def __init__(self) -> None:
        super().__init__(name=f"Mask{WIDTH}")


lanes, mask = Lanes(), Mask()
_NUMBER = types.Float, Lanes


held_as(Lanes, VECTOR)
held_as(Mask, BOOLS)
# ---------------------------------------------------------------------------------------------- small builders


def splat(builder: Any, x: Any) -> Any:
    """All lanes equal to *x*."""
    if isinstance(x, ir.Constant):
        return ir.Constant(VECTOR, [x] * WIDTH)
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, x, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, undefined, zeros)


def as_vector(builder: Any, typ: Any, value: Any) -> Any:
    """A number as lanes."""
    return value if isinstance(typ, Lanes) else splat(builder, value)


def vector_intrinsic(builder: Any, name: str, args: list[Any]) -> Any:
    """An LLVM intrinsic of vectors; llvmlite has no names for these."""
    kind = ir.FunctionType(VECTOR, [VECTOR] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f64"), args)


def as_number(typ: Any) -> Any:
    """The type as which an argument enters arithmetic with lanes: an integer becomes a float64; None for what is no number."""
    if isinstance(typ, types.Integer):
        return types.float64
    return typ if isinstance(typ, (Lanes, types.Float)) else None


def _common(args: Any) -> Any:
    """The arguments as numbers, and whether one of them is lanes; None where one is no number."""
    numbers = [as_number(typ) for typ in args]
    return None if None in numbers else (numbers, any(isinstance(typ, Lanes) for typ in numbers))


# ---------------------------------------------------------------------------------------------- arithmetic


def _define_of_two(function: Any, result: Any, operate: Any) -> None:
    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            common = _common(args)
            return signature(result, *common[0]) if common and common[1] and len(args) == 2 else None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return operate(builder, *(as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True)))

    for kinds in ((Lanes, Lanes), (Lanes, types.Float), (types.Float, Lanes)):
        lower_builtin(function, *kinds)(lower)


def _arithmetic(instruction: str) -> Any:
    return lambda builder, a, b: getattr(builder, instruction)(a, b, flags=("contract",))


def _comparison(symbol: str) -> Any:
    return lambda builder, a, b: (builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered)(symbol, a, b)


#: Operators of two numbers, and what they are called in LLVM.
ARITHMETIC = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"}
COMPARISONS = {
    **{operator.lt: "<", operator.le: "<=", operator.gt: ">"},
    **{operator.ge: ">=", operator.eq: "==", operator.ne: "!="},
}
for _operator, _instruction in ARITHMETIC.items():
    _define_of_two(_operator, lanes, _arithmetic(_instruction))
for _operator, _symbol in COMPARISONS.items():
    _define_of_two(_operator, mask, _comparison(_symbol))


@primitive(operator.neg, Lanes, result=lanes)
def _lower_neg(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


# ---------------------------------------------------------------------------------------------- primitives of one number


def define_unary(function: Any, lower: Any, result: Any = None) -> None:
    """*function* of one float64 or Lanes; *lower* gets the builder, whether it is a vector, and the value."""

    @primitive(function, _NUMBER, result=result or same)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return lower(builder, sig.args[0] == lanes, args[0])


def _constant(value: float) -> Any:
    def lower(builder: Any, vector: bool, x: Any) -> Any:
        number = ir.Constant(ir.DoubleType(), value)
        return ir.Constant(VECTOR, [number] * WIDTH) if vector else number

    return lower


def _llvm(name: str) -> Any:
    def lower(builder: Any, vector: bool, x: Any) -> Any:
        if vector:
            return vector_intrinsic(builder, name, [x])
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [ir.DoubleType()]), [x])

    return lower


def lower_any_not_finite(builder: Any, vector: bool, x: Any) -> Any:
    """x - x is 0 for a finite number and NaN for the others."""
    difference = builder.fsub(x, x)
    if not vector:
        return builder.fcmp_unordered("uno", difference, difference)
    bits = builder.bitcast(builder.fcmp_unordered("uno", difference, difference), ir.IntType(WIDTH))
    return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(WIDTH), 0))


def rint(x: Any) -> Any:
    """The nearest integer, as a float."""
    return round(x)


define_unary(scalar.zero, _constant(0.0))
define_unary(scalar.one, _constant(1.0))
define_unary(scalar.sqrt, _llvm("sqrt"))
define_unary(rint, _llvm("rint"))
define_unary(scalar.floor, _llvm("floor"))
define_unary(scalar.any_not_finite, lower_any_not_finite, types.boolean)


@primitive(scalar.fused, _NUMBER, _NUMBER, _NUMBER, result=lambda *args: lanes if lanes in args else types.float64)
def _lower_fused(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if sig.return_type == lanes:
        return vector_intrinsic(builder, "fma", [as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True)])
    return builder.fma(*args)


@infer_global(scalar.where)
class _WhereTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        common = _common(args[1:]) if len(args) == 3 else None
        if common and isinstance(args[0], Mask):
            return signature(lanes, args[0], *common[0])
        if common and isinstance(args[0], types.Boolean) and not common[1]:
            return signature(types.float64, types.boolean, types.float64, types.float64)
        return None


def _lower_where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if isinstance(sig.args[0], Mask):
        return builder.select(args[0], as_vector(builder, sig.args[1], args[1]), as_vector(builder, sig.args[2], args[2]))
    return builder.select(args[0], args[1], args[2])


for _kinds in (
    (types.Boolean, types.Float, types.Float),
    (Mask, Lanes, Lanes),
    (Mask, Lanes, types.Float),
    (Mask, types.Float, Lanes),
    (Mask, types.Float, types.Float),
):
    lower_builtin(scalar.where, *_kinds)(_lower_where)


# ---------------------------------------------------------------------------------------------- sine and cosine


def quadrant_swap(k: Any, even: Any, odd: Any) -> Any:
    """*even* where the integer *k* is even, else *odd*."""


def quadrant_sign(k: Any, x: Any) -> Any:
    """*x*, negated where bit 1 of the integer *k* is set."""


def any_above(x: Any, limit: float) -> Any:
    """True if the size of *x*, or of one of its lanes, exceeds *limit* (or is not a number)."""


def libm_sincos(x: Any) -> Any:
    """Sine and cosine by the C library, lane by lane."""


def _integer(builder: Any, typ: Any, k: Any) -> tuple[Any, Any]:
    """*k* as an integer, and the type that holds it."""
    kind = INTS if isinstance(typ, Lanes) else I64
    return builder.fptosi(k, kind), kind


def _integer_constant(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * WIDTH if kind is INTS else value)


@primitive(quadrant_swap, _NUMBER, _NUMBER, _NUMBER, result=lambda k, even, odd: k)
def _lower_swap(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    k, kind = _integer(builder, sig.args[0], args[0])
    even = builder.icmp_signed("==", builder.and_(k, _integer_constant(kind, 1)), _integer_constant(kind, 0))
    return builder.select(even, args[1], args[2])


@primitive(quadrant_sign, _NUMBER, _NUMBER, result=lambda k, x: x)
def _lower_sign(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    k, kind = _integer(builder, sig.args[0], args[0])
    sign = builder.shl(builder.and_(k, _integer_constant(kind, 2)), _integer_constant(kind, 62))
    return builder.bitcast(builder.xor(builder.bitcast(args[1], kind), sign), args[1].type)


@primitive(any_above, _NUMBER, types.Float, result=types.boolean)
def _lower_any_above(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    x, limit = args
    if isinstance(sig.args[0], Lanes):
        size = vector_intrinsic(builder, "fabs", [x])
        above = builder.fcmp_unordered(">", size, splat(builder, limit))
        return builder.icmp_unsigned("!=", builder.bitcast(above, ir.IntType(WIDTH)), ir.Constant(ir.IntType(WIDTH), 0))
    size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [ir.DoubleType()]), [x])
    return builder.fcmp_unordered(">", size, limit)


@primitive(libm_sincos, _NUMBER, result=lambda x: types.UniTuple(x, 2))
def _lower_libm(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """A call of a function of its own, so that the rare case does not lie in the way of the common one."""
    number = VECTOR if isinstance(sig.args[0], Lanes) else ir.DoubleType()
    pair = ir.LiteralStructType([number, number])
    name = f"mobod_libm_sincos_{WIDTH if number is VECTOR else 1}"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(pair, [number]), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        inner = ir.IRBuilder(function.append_basic_block())
        result = ir.Constant(pair, ir.Undefined)
        for place, primitive in enumerate(("llvm.sin", "llvm.cos")):
            of_one = builder.module.declare_intrinsic(primitive, [ir.DoubleType()])
            if number is not VECTOR:
                result = inner.insert_value(result, inner.call(of_one, function.args), place)
                continue
            out = ir.Constant(VECTOR, ir.Undefined)
            for lane in range(WIDTH):
                at = ir.Constant(ir.IntType(32), lane)
                out = inner.insert_element(out, inner.call(of_one, [inner.extract_element(function.args[0], at)]), at)
            result = inner.insert_value(result, out, place)
        inner.ret(result)
    both = builder.call(function, [args[0]])
    return context.make_tuple(builder, sig.return_type, [builder.extract_value(both, 0), builder.extract_value(both, 1)])


@overload(scalar.sincos, jit_options=OPTIONS, strict=False)
def _sincos(x: Any) -> Any:
    """Reduction by pi/2 in three parts (Cody and Waite 1980), then the minimax polynomials of Moshier's Cephes.

    One source for one state and for lanes, so that both give the same bits. The parts of pi/2 have 33 bits, exact times
    any k below 2^20; beyond that the C library serves.
    """
    if isinstance(x, types.Integer):
        return lambda x: scalar.sincos(float(x))
    if as_number(x) is None:
        return None

    def implementation(x: Any) -> Any:
        k = rint(x * 0.6366197723675814)
        r = ((x - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21
        z = r * r
        s = r + r * z * (
            (
                (
                    ((z * 1.58962301576546568060e-10 - 2.50507477628578072866e-8) * z + 2.75573136213857245213e-6) * z
                    - 1.98412698295895385996e-4
                )
                * z
                + 8.33333333332211858878e-3
            )
            * z
            - 1.66666666666666307295e-1
        )
        c = (1.0 - 0.5 * z) + z * z * (
            (
                (
                    ((z * -1.13585365213876817300e-11 + 2.08757008419747316778e-9) * z - 2.75573141792967388112e-7) * z
                    + 2.48015872888517045348e-5
                )
                * z
                - 1.38888888888730564116e-3
            )
            * z
            + 4.16666666666665929218e-2
        )
        sine, cosine = quadrant_sign(k, quadrant_swap(k, s, c)), quadrant_sign(k + 1.0, quadrant_swap(k, c, s))
        if any_above(x, 1.0e6):  # only the lanes concerned: no lane's bits depend on another
            far = x * x > 1.0e12
            far_sine, far_cosine = libm_sincos(x)
            sine, cosine = scalar.where(far, far_sine, sine), scalar.where(far, far_cosine, cosine)
        return sine, cosine

    return implementation


# ---------------------------------------------------------------------------------------------- functions of the C library


def real_power(x: Any, n: float) -> Any:
    """*x* to a power that is no integer."""


@primitive(real_power, _NUMBER, _NUMBER, result=lambda *args: lanes if lanes in args else types.float64)
def _lower_power(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lane by lane the C library's, so that one state and lanes give the same bits."""
    of_one = context.get_function(math.pow, signature(types.float64, types.float64, types.float64))
    if sig.return_type != lanes:
        return of_one(builder, args)
    name = f"mobod_pow_{WIDTH}"
    called = builder.module.globals.get(name)
    if called is None:  # a function of its own: eight calls at every place would be long
        called = ir.Function(builder.module, ir.FunctionType(VECTOR, [VECTOR, VECTOR]), name)
        called.linkage = "internal"
        called.attributes.add("noinline")
        inner = ir.IRBuilder(called.append_basic_block())
        out = ir.Constant(VECTOR, ir.Undefined)
        for lane in range(WIDTH):
            at = ir.Constant(ir.IntType(32), lane)
            of_lane = [inner.extract_element(argument, at) for argument in called.args]
            out = inner.insert_element(out, of_one(inner, of_lane), at)
        inner.ret(out)
    return builder.call(called, [as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True)])


@overload(scalar.power, jit_options=OPTIONS, strict=False)
def _power(x: Any, n: Any) -> Any:
    if isinstance(n, types.Integer):
        return lambda x, n: scalar.integer_power(x, n)
    if not isinstance(n, types.Float):
        raise TypingError(f"power(x, n) takes a constant number n, got {n}; for a variable exponent write exp(n * log(x))")
    return (lambda x, n: real_power(x, n)) if as_number(x) is not None else None


@overload(abs, jit_options=OPTIONS, strict=False)
def _abs(x: Any) -> Any:
    return (lambda x: scalar.absolute(x)) if isinstance(x, Lanes) else None


@overload(operator.pow, jit_options=OPTIONS, strict=False)
def _operator_power(x: Any, n: Any) -> Any:
    return (lambda x, n: scalar.power(x, n)) if isinstance(x, Lanes) else None
