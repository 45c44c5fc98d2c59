"""Numba's view of `Dual`: a value and one to eight tangents, over float64, `Lanes` or another Dual, with every primitive.

Imported with `lanes`, when the first kernel is compiled or loaded. The tangents of a float64 are one LLVM vector, which for
eight of them is the register that `Lanes` has; those of anything else are an array of the component.

Arithmetic is written here as LLVM instructions, one recursion over the levels of the type: as functions of Numba's, whose
calls are inlined later, it would be the larger part of a kernel's compile time. What is not arithmetic comes from the rules
of `dual`, which plain Python follows too.

Tangents are computed with the flags ``nnan nsz``: LLVM then drops the products with tangents that it knows to be zero,
those of a tree's parameters and of constants (without: a third more compile time, and a few per cent of run time). So zero
times an infinite number is zero where the zero is a constant's tangent, and nothing may depend on a tangent being a NaN.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import lower_builtin, lower_getattr, models, overload, register_model

from ..compiling.engine import OPTIONS
from . import dual, scalar
from .compiled_primitive import held_as, primitive, same
from .lanes import COMPARISONS, VECTOR, WIDTH, Lanes, Mask, as_number, lanes, lower_any_not_finite, mask, splat

MOST = 8  # tangents
EXACT = ("contract",)
#: Of tangents: see above.
FREE = ("nnan", "nsz", "contract")


class DualType(types.Type):
    """A value of type *component*, and *n* tangents."""

    def __init__(self, component: Any, n: int) -> None:
        self.component, self.n = component, n
        super().__init__(name=f"Dual({component}, {n})")


class Tangents(types.Type):
    """The tangents of a `DualType`, as they lie in registers."""

    def __init__(self, component: Any, n: int) -> None:
        self.component, self.n = component, n
        super().__init__(name=f"Tangents({component}, {n})")


held_as(Tangents, lambda tangents: tangents_type(tangents.component, tangents.n))


@register_model(DualType)
class _DualModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("value", fe_type.component), ("tangents", Tangents(fe_type.component, fe_type.n))]
        super().__init__(dmm, fe_type, members)


#: What a record with tangents holds, and one of Duals of Duals.
dual8 = DualType(types.float64, MOST)
twice8 = DualType(dual8, 1)


def llvm_type(typ: Any) -> Any:
    """A scalar type in LLVM's terms."""
    if isinstance(typ, DualType):
        return ir.LiteralStructType([llvm_type(typ.component), tangents_type(typ.component, typ.n)])
    return VECTOR if isinstance(typ, Lanes) else ir.DoubleType()


def tangents_type(component: Any, n: int) -> Any:
    """The tangents of a Dual of *component*: one vector where that is a float64, else an array."""
    kind = llvm_type(component)
    return ir.VectorType(kind, n) if isinstance(component, types.Float) else ir.ArrayType(kind, n)


def _number(typ: Any) -> Any:
    """The type as which an argument enters arithmetic; None for what is no number."""
    return typ if isinstance(typ, DualType) else as_number(typ)


def _levels(typ: Any) -> list[Any]:
    """The type, its component, the component of that, and so on."""
    return [typ, *_levels(typ.component)] if isinstance(typ, DualType) else [typ]


def _common(args: Any) -> Any:
    """The Dual that numbers of these types make together; None where there is no Dual, or where two do not fit."""
    numbers = [_number(typ) for typ in args]
    if None in numbers or not any(isinstance(typ, DualType) for typ in numbers):
        return None
    highest = max(numbers, key=lambda typ: len(_levels(typ)))
    fits = all(typ in _levels(highest) or isinstance(typ, types.Float) for typ in numbers)
    return highest if fits else None


# ---------------------------------------------------------------------------------------------- pieces


def constant(typ: Any, number: float) -> Any:
    """A number that is the same in all lanes, and whose tangents are zero."""
    if isinstance(typ, DualType):
        kind = llvm_type(typ)
        return ir.Constant(kind, [constant(typ.component, number), ir.Constant(kind.elements[1], None)])
    one = ir.Constant(ir.DoubleType(), number)
    return ir.Constant(VECTOR, [one] * WIDTH) if isinstance(typ, Lanes) else one


def lift(builder: Any, value: Any, given: Any, typ: Any) -> Any:
    """*value*, of the type *given*, as a *typ*: a constant, where it is of a lower level."""
    if given == typ:
        return value
    if isinstance(typ, DualType):
        return join(builder, typ, lift(builder, value, given, typ.component), ir.Constant(llvm_type(typ).elements[1], None))
    return splat(builder, value) if isinstance(typ, Lanes) else value


def join(builder: Any, typ: Any, value: Any, tangents: Any) -> Any:
    """A Dual of its two parts."""
    if isinstance(value, ir.Constant) and isinstance(tangents, ir.Constant):
        return ir.Constant(llvm_type(typ), [value, tangents])
    empty = ir.Constant(llvm_type(typ), ir.Undefined)
    return builder.insert_value(builder.insert_value(empty, value, 0), tangents, 1)


def split(builder: Any, x: Any) -> tuple[Any, Any]:
    """Value and tangents."""
    return builder.extract_value(x, 0), builder.extract_value(x, 1)


def _is_vector(typ: Any) -> bool:
    """True if the tangents of a Dual are one vector."""
    return isinstance(typ.component, types.Float)


def tangent(builder: Any, typ: Any, tangents: Any, k: int) -> Any:
    """One of the tangents."""
    if _is_vector(typ):
        return builder.extract_element(tangents, ir.Constant(ir.IntType(32), k))
    return builder.extract_value(tangents, k)


def gathered(builder: Any, typ: Any, parts: list[Any]) -> Any:
    """Tangents, of one component each."""
    out = ir.Constant(tangents_type(typ.component, typ.n), ir.Undefined)
    for k, part in enumerate(parts):
        if _is_vector(typ):
            out = builder.insert_element(out, part, ir.Constant(ir.IntType(32), k))
        else:
            out = builder.insert_value(out, part, k)
    return out


def _each(builder: Any, typ: Any, of_vector: Any, of_component: Any, *operands: Any) -> Any:
    """Tangents from tangents, one by one where they are no vector."""
    if _is_vector(typ):
        return of_vector(*operands)
    taken = ([tangent(builder, typ, x, k) for x in operands] for k in range(typ.n))
    return gathered(builder, typ, [of_component(*parts) for parts in taken])


# ---------------------------------------------------------------------------------------------- arithmetic


def linear(builder: Any, typ: Any, name: str, x: Any, y: Any, flags: Any = EXACT) -> Any:
    """x + y or x - y: *name* is ``fadd`` or ``fsub``."""
    if not isinstance(typ, DualType):
        return getattr(builder, name)(x, y, flags=flags)
    (a, s), (b, t) = split(builder, x), split(builder, y)
    return join(builder, typ, linear(builder, typ.component, name, a, b, flags), linear_tangents(builder, typ, name, s, t))


def linear_tangents(builder: Any, typ: Any, name: str, s: Any, t: Any) -> Any:
    """The same of tangents."""
    return _each(
        builder,
        typ,
        lambda a, b: getattr(builder, name)(a, b, flags=FREE),
        lambda a, b: linear(builder, typ.component, name, a, b, FREE),
        s,
        t,
    )


def negative(builder: Any, typ: Any, x: Any) -> Any:
    """-x."""
    if not isinstance(typ, DualType):
        return builder.fneg(x)
    a, s = split(builder, x)
    return join(builder, typ, negative(builder, typ.component, a), negative_tangents(builder, typ, s))


def negative_tangents(builder: Any, typ: Any, s: Any) -> Any:
    """The same of tangents."""
    return _each(builder, typ, builder.fneg, lambda part: negative(builder, typ.component, part), s)


def scaled(builder: Any, typ: Any, factor: Any, s: Any) -> Any:
    """A component times tangents."""
    return _each(
        builder,
        typ,
        lambda part: builder.fmul(spread(builder, factor, typ.n), part, flags=FREE),
        lambda part: product(builder, typ.component, factor, part, FREE),
        s,
    )


def spread(builder: Any, x: Any, n: int) -> Any:
    """A vector of n numbers, all *x*."""
    kind = ir.VectorType(ir.DoubleType(), n)
    if isinstance(x, ir.Constant):
        return ir.Constant(kind, [x] * n)
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, x, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), n), [0] * n))


def product(builder: Any, typ: Any, x: Any, y: Any, flags: Any = EXACT) -> Any:
    """X y, with the tangents y x' + x y'."""
    if not isinstance(typ, DualType):
        return builder.fmul(x, y, flags=flags)
    (a, s), (b, t) = split(builder, x), split(builder, y)
    value = product(builder, typ.component, a, b, flags)
    tangents = linear_tangents(builder, typ, "fadd", scaled(builder, typ, b, s), scaled(builder, typ, a, t))
    return join(builder, typ, value, tangents)


def quotient(builder: Any, typ: Any, x: Any, y: Any, flags: Any = EXACT) -> Any:
    """X / y, with the tangents (x' - (x / y) y') / y."""
    if not isinstance(typ, DualType):
        return builder.fdiv(x, y, flags=flags)
    (a, s), (b, t) = split(builder, x), split(builder, y)
    value = quotient(builder, typ.component, a, b, flags)
    rest = linear_tangents(builder, typ, "fsub", s, scaled(builder, typ, value, t))
    return join(builder, typ, value, scaled(builder, typ, reciprocal(builder, typ.component, b), rest))


def reciprocal(builder: Any, typ: Any, x: Any) -> Any:
    """1 / x."""
    return quotient(builder, typ, constant(typ, 1.0), x)


def _sum(name: str) -> Any:
    def lower(builder: Any, typ: Any, x: Any, y: Any) -> Any:
        return linear(builder, typ, name, x, y)

    return lower


def _define_binary(function: Any, lower: Any) -> None:
    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            common = _common(args) if len(args) == 2 else None
            return signature(common, *map(_number, args)) if common else None

    # a constant is lifted: LLVM drops what its tangents, which are zero, would add
    def lowered(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x, y = (lift(builder, v, t, sig.return_type) for v, t in zip(args, sig.args, strict=True))
        return lower(builder, sig.return_type, x, y)

    _for_pairs(function, lowered)


def _for_pairs(function: Any, lowered: Any) -> None:
    for kinds in (
        (DualType, DualType),
        (DualType, Lanes),
        (Lanes, DualType),
        (DualType, types.Float),
        (types.Float, DualType),
    ):
        lower_builtin(function, *kinds)(lowered)


_define_binary(operator.add, _sum("fadd"))
_define_binary(operator.sub, _sum("fsub"))
_define_binary(operator.mul, product)
_define_binary(operator.truediv, quotient)


@primitive(operator.neg, DualType, result=same)
def _lower_neg(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return negative(builder, sig.return_type, args[0])


def bare(builder: Any, typ: Any, x: Any) -> Any:
    """The number or the lanes at the bottom of *x*."""
    while isinstance(typ, DualType):
        x, typ = builder.extract_value(x, 0), typ.component
    return x


@primitive(scalar.bare, (types.Float, Lanes, DualType), result=lambda x: _levels(x)[-1])
def _lower_bare(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return bare(builder, sig.args[0], args[0])


def _define_comparison(function: Any, symbol: str) -> None:
    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            common = _common(args) if len(args) == 2 else None
            if not common:
                return None
            result = mask if isinstance(_levels(common)[-1], Lanes) else types.boolean
            return signature(result, *map(_number, args))

    def lowered(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bottom = lanes if sig.return_type == mask else types.float64
        a, b = (lift(builder, bare(builder, t, v), _levels(t)[-1], bottom) for v, t in zip(args, sig.args, strict=True))
        return (builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered)(symbol, a, b)

    _for_pairs(function, lowered)


for _operator, _symbol in COMPARISONS.items():
    _define_comparison(_operator, _symbol)


# ---------------------------------------------------------------------------------------------- making and reading one


@infer_global(dual.Dual)
class _DualTyping(AbstractTemplate):
    """``Dual(value, tangents)`` in a kernel."""

    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) != 2 or not isinstance(args[1], types.BaseTuple):
            return None
        tangents: Any = args[1]
        parts = [args[0], *tangents]
        numbers = [_number(typ) for typ in parts]
        if None in numbers:
            return None
        if not 1 <= len(numbers) - 1 <= MOST:
            raise TypingError(f"a compiled Dual has 1 to {MOST} tangents, got {len(numbers) - 1}")
        component = _common(parts) or (lanes if lanes in numbers else types.float64)
        if not all(typ in _levels(component) or isinstance(typ, types.Float) for typ in numbers):
            return None
        return signature(DualType(component, len(numbers) - 1), numbers[0], types.Tuple(numbers[1:]))


@lower_builtin(dual.Dual, types.Any, types.BaseTuple)
def _lower_dual(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    typ = sig.return_type
    value = lift(builder, args[0], sig.args[0], typ.component)
    parts = zip(cgutils.unpack_tuple(builder, args[1]), sig.args[1], strict=True)
    return join(builder, typ, value, gathered(builder, typ, [lift(builder, v, t, typ.component) for v, t in parts]))


@infer_getattr
class _DualFields(AttributeTemplate):
    key = DualType

    def resolve_value(self, typ: Any) -> Any:
        return typ.component

    def resolve_tangents(self, typ: Any) -> Any:
        return types.UniTuple(typ.component, typ.n)


@lower_getattr(DualType, "value")
def _lower_value(context: Any, builder: Any, typ: Any, x: Any) -> Any:
    return builder.extract_value(x, 0)


@lower_getattr(DualType, "tangents")
def _lower_tangents(context: Any, builder: Any, typ: Any, x: Any) -> Any:
    tangents = builder.extract_value(x, 1)
    parts = [tangent(builder, typ, tangents, k) for k in range(typ.n)]
    return context.make_tuple(builder, types.UniTuple(typ.component, typ.n), parts)


@infer_global(dual.chain)
class _ChainTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], DualType) and all(_number(typ) in _levels(args[0].component) for typ in args[1:]):
            return signature(args[0], args[0], args[0].component, args[0].component)
        return None


@lower_builtin(dual.chain, DualType, types.Any, types.Any)
def _lower_chain(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    x, f, df = args
    return join(builder, sig.return_type, f, scaled(builder, sig.return_type, df, builder.extract_value(x, 1)))


# ---------------------------------------------------------------------------------------------- primitives


def _define_constant(function: Any, number: float) -> None:
    @primitive(function, DualType, result=same)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return constant(sig.return_type, number)


_define_constant(scalar.zero, 0.0)
_define_constant(scalar.one, 1.0)


@infer_global(scalar.where)
class _WhereTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        common = _common(args[1:]) if len(args) == 3 else None
        if not common:
            return None
        in_lanes = isinstance(_levels(common)[-1], Lanes)
        if isinstance(args[0], Mask) if in_lanes else isinstance(args[0], types.Boolean):
            return signature(common, args[0], *map(_number, args[1:]))
        return None


def chosen(builder: Any, typ: Any, condition: Any, x: Any, y: Any) -> Any:
    """x or y, part by part."""
    if not isinstance(typ, DualType):
        return builder.select(condition, x, y)
    (a, s), (b, t) = split(builder, x), split(builder, y)
    value = chosen(builder, typ.component, condition, a, b)
    tangents = _each(
        builder,
        typ,
        lambda p, q: builder.select(condition, p, q),
        lambda p, q: chosen(builder, typ.component, condition, p, q),
        s,
        t,
    )
    return join(builder, typ, value, tangents)


def _lower_where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    typ = sig.return_type
    x, y = (lift(builder, v, t, typ) for v, t in zip(args[1:], sig.args[1:], strict=True))
    return chosen(builder, typ, args[0], x, y)


for _condition in (types.Boolean, Mask):
    for _kinds in ((DualType, types.Any), (types.Any, DualType), (DualType, DualType)):
        lower_builtin(scalar.where, _condition, *_kinds)(_lower_where)


@primitive(scalar.any_not_finite, DualType, result=types.boolean)
def _lower_not_finite(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    bottom = _levels(sig.args[0])[-1]
    return lower_any_not_finite(builder, bottom == lanes, bare(builder, sig.args[0], args[0]))


# ---------------------------------------------------------------------------------------------- by the rules of `dual`


def _define_by_rule(function: Any, rule: Any) -> None:
    @overload(function, jit_options=OPTIONS, strict=False)
    def _by_rule(x: Any) -> Any:
        return rule if isinstance(x, DualType) else None


_define_by_rule(scalar.sqrt, dual.sqrt_rule)
_define_by_rule(scalar.sincos, dual.sincos_rule)
_define_by_rule(scalar.exp, dual.exp_rule)
_define_by_rule(scalar.log, dual.log_rule)


@overload(scalar.constant, jit_options=OPTIONS, strict=False)
def _constant(x: Any) -> Any:
    return (lambda x: scalar.zero(x) + scalar.constant(x.value)) if isinstance(x, DualType) else lambda x: x


@overload(scalar.floor, jit_options=OPTIONS, strict=False)
def _floor(x: Any) -> Any:
    return (lambda x: scalar.zero(x) + scalar.floor(x.value)) if isinstance(x, DualType) else None


@overload(abs, jit_options=OPTIONS, strict=False)
def _abs(x: Any) -> Any:
    return (lambda x: scalar.absolute(x)) if isinstance(x, DualType) else None


@overload(scalar.power, jit_options=OPTIONS, strict=False)
def _power(x: Any, n: Any) -> Any:
    return dual.power_rule if isinstance(x, DualType) and isinstance(n, types.Float) else None


@overload(operator.pow, jit_options=OPTIONS, strict=False)
def _operator_power(x: Any, n: Any) -> Any:
    return (lambda x, n: scalar.power(x, n)) if isinstance(x, DualType) else None


@overload(scalar.atan2, jit_options=OPTIONS, strict=False)
def _atan2(y: Any, x: Any) -> Any:
    if not _common((y, x)):
        return None
    if y == x:
        return dual.atan2_rule
    return lambda y, x: dual.atan2_rule(y * scalar.one(x), x * scalar.one(y))


@overload(scalar.fused, jit_options=OPTIONS, strict=False)
def _fused(a: Any, b: Any, c: Any) -> Any:
    if not _common((a, b, c)):
        return None
    if a == b == c:
        return dual.fused_rule
    one = scalar.one
    return lambda a, b, c: dual.fused_rule(a * one(b) * one(c), b * one(a) * one(c), c * one(a) * one(b))


# ---------------------------------------------------------------------------------------------- functions of `math`


def _refuse(function: Any, instead: str) -> None:
    """Say what to use in place of a function that knows floats only."""

    @overload(function, strict=False)
    def _refused(*args: Any) -> Any:
        if any(isinstance(typ, (Lanes, DualType)) for typ in args):
            raise TypingError(
                f"{function.__name__} of math or NumPy knows floats only, and this runs on {args[0]} too; "
                f"use {instead} of mobod.algebra.scalar"
            )


for _name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "floor"):
    _refuse(getattr(math, _name), _name)
    _refuse(getattr(np, _name), _name)
for _name in ("asin", "acos", "atan"):
    _refuse(getattr(math, _name), _name)
    _refuse(getattr(np, f"arc{_name[1:]}"), _name)
for _function, _instead in ((math.atan2, "atan2"), (np.arctan2, "atan2"), (math.pow, "power"), (np.power, "power")):
    _refuse(_function, _instead)
