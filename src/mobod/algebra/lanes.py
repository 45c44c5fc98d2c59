"""Numba's view of the scalars: the type `Lanes`, eight float64 in one vector register, and every primitive compiled.

Imported when the first kernel is compiled or loaded, never before. Three Numba types are defined here:

- ``Lanes``, an LLVM ``<8 x double>``, with ``+ - * /``, negation and comparisons (which give a ``Mask``);
- ``Mask``, an LLVM ``<8 x i1>``, for ``where``;
- ``Rows``, one field of a record: a bare pointer and a number of columns that is part of the type, so that an address is
  a multiplication by a constant; and ``RecordType``, the record itself, a block of such pointers.

A lane never looks at another lane: eight states are computed as though each were alone.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import lower_builtin, lower_getattr_generic, models, overload, register_model

from . import record, scalar

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


class Rows(types.Type):
    """One field of a record: ``what`` is ``index``, ``parameter`` (shared) or ``state`` (one a state)."""

    def __init__(self, what: str, columns: int, in_lanes: bool) -> None:
        self.what, self.columns, self.in_lanes = what, columns, in_lanes
        super().__init__(name=f"Rows({what}, {columns}, {in_lanes})")


class RecordType(types.Type):
    """A record of fields, by the address of its block of pointers."""

    def __init__(self, in_lanes: bool) -> None:
        self.in_lanes = in_lanes
        super().__init__(name=f"Record({in_lanes})")


lanes, mask = Lanes(), Mask()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, VECTOR)


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, BOOLS)


@register_model(Rows)
class _RowsModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, I64.as_pointer() if fe_type.what == "index" else ir.DoubleType().as_pointer())


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, I64.as_pointer())


# ---------------------------------------------------------------------------------------------- small builders


def _splat(builder: Any, x: Any) -> Any:
    """All lanes equal to *x*."""
    if isinstance(x, ir.Constant):
        return ir.Constant(VECTOR, [x] * WIDTH)
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, x, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, undefined, zeros)


def _as_vector(builder: Any, typ: Any, value: Any) -> Any:
    return value if isinstance(typ, Lanes) else _splat(builder, value)


def _vector_intrinsic(builder: Any, name: str, args: list[Any]) -> Any:
    """An LLVM intrinsic of vectors; llvmlite has no names for these."""
    kind = ir.FunctionType(VECTOR, [VECTOR] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f64"), args)


def _is_number(typ: Any) -> bool:
    return isinstance(typ, (Lanes, types.Float))


# ---------------------------------------------------------------------------------------------- arithmetic


def _define_binary(function: Any, instruction: str) -> None:
    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and all(map(_is_number, args)) and any(isinstance(a, Lanes) for a in args):
                return signature(lanes, *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (_as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True))
        return getattr(builder, instruction)(a, b, flags=("contract",))

    for kinds in ((Lanes, Lanes), (Lanes, types.Float), (types.Float, Lanes)):
        lower_builtin(function, *kinds)(lower)


for _operator, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_binary(_operator, _instruction)


def _define_comparison(function: Any, symbol: str) -> None:
    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and all(map(_is_number, args)) and any(isinstance(a, Lanes) for a in args):
                return signature(mask, *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (_as_vector(builder, t, v) for t, v in zip(sig.args, args, strict=True))
        return builder.fcmp_ordered(symbol, a, b)

    for kinds in ((Lanes, Lanes), (Lanes, types.Float), (types.Float, Lanes)):
        lower_builtin(function, *kinds)(lower)


for _operator, _symbol in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    _define_comparison(_operator, _symbol)


@infer_global(operator.neg)
class _NegTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(lanes, lanes) if args == (lanes,) else None


@lower_builtin(operator.neg, Lanes)
def _lower_neg(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


# ---------------------------------------------------------------------------------------------- primitives of one number


def _define_unary(function: Any, lower: Any, result: Any = None) -> None:
    """*function* of one float64 or Lanes; *lower* gets the builder, whether it is a vector, and the value."""

    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 1 and _is_number(args[0]):
                return signature(result or args[0], args[0])
            return None

    def scalar_form(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return lower(builder, False, args[0])

    def vector_form(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return lower(builder, True, args[0])

    lower_builtin(function, types.Float)(scalar_form)
    lower_builtin(function, Lanes)(vector_form)


def _constant(value: float) -> Any:
    def lower(builder: Any, vector: bool, x: Any) -> Any:
        number = ir.Constant(ir.DoubleType(), value)
        return ir.Constant(VECTOR, [number] * WIDTH) if vector else number

    return lower


def _llvm(name: str) -> Any:
    def lower(builder: Any, vector: bool, x: Any) -> Any:
        if vector:
            return _vector_intrinsic(builder, name, [x])
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [ir.DoubleType()]), [x])

    return lower


def _lower_any_not_finite(builder: Any, vector: bool, x: Any) -> Any:
    """x - x is 0 for a finite number and NaN for the others."""
    difference = builder.fsub(x, x)
    if not vector:
        return builder.fcmp_unordered("uno", difference, difference)
    bits = builder.bitcast(builder.fcmp_unordered("uno", difference, difference), ir.IntType(WIDTH))
    return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(WIDTH), 0))


def rint(x: Any) -> Any:
    """The nearest integer, as a float."""
    return round(x)


_define_unary(scalar.zero, _constant(0.0))
_define_unary(scalar.one, _constant(1.0))
_define_unary(scalar.sqrt, _llvm("sqrt"))
_define_unary(rint, _llvm("rint"))
_define_unary(scalar.any_not_finite, _lower_any_not_finite, types.boolean)


@infer_global(scalar.where)
class _WhereTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) != 3 or not all(map(_is_number, args[1:])):
            return None
        if isinstance(args[0], Mask):
            return signature(lanes, *args)
        if isinstance(args[0], types.Boolean) and not any(isinstance(a, Lanes) for a in args[1:]):
            return signature(types.float64, types.boolean, types.float64, types.float64)
        return None


def _lower_where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if isinstance(sig.args[0], Mask):
        return builder.select(args[0], _as_vector(builder, sig.args[1], args[1]), _as_vector(builder, sig.args[2], args[2]))
    return builder.select(args[0], args[1], args[2])


for _kinds in (
    (types.Boolean, types.Float, types.Float),
    (Mask, Lanes, Lanes),
    (Mask, Lanes, types.Float),
    (Mask, types.Float, Lanes),
):
    lower_builtin(scalar.where, *_kinds)(_lower_where)


# ---------------------------------------------------------------------------------------------- sine and cosine


def quadrant_swap(k: Any, even: Any, odd: Any) -> Any:
    """*even* where the integer *k* is even, else *odd*."""


def quadrant_sign(k: Any, x: Any) -> Any:
    """*x*, negated where bit 1 of the integer *k* is set."""


def any_above(x: Any, limit: float) -> Any:
    """Whether the size of *x*, or of one of its lanes, exceeds *limit* (or is not a number)."""


def libm_sincos(x: Any) -> Any:
    """Sine and cosine by the C library, lane by lane."""


@infer_global(quadrant_swap)
class _SwapTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0], args[0], args[0])


@infer_global(quadrant_sign)
class _SignTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0], args[0])


@infer_global(any_above)
class _AnyAboveTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.boolean, args[0], types.float64)


@infer_global(libm_sincos)
class _LibmTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.UniTuple(args[0], 2), args[0])


def _integer(builder: Any, typ: Any, k: Any) -> tuple[Any, Any]:
    """*k* as an integer, and the type that holds it."""
    kind = INTS if isinstance(typ, Lanes) else I64
    return builder.fptosi(k, kind), kind


def _integer_constant(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * WIDTH if kind is INTS else value)


def _lower_swap(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    k, kind = _integer(builder, sig.args[0], args[0])
    even = builder.icmp_signed("==", builder.and_(k, _integer_constant(kind, 1)), _integer_constant(kind, 0))
    return builder.select(even, args[1], args[2])


def _lower_sign(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    k, kind = _integer(builder, sig.args[0], args[0])
    sign = builder.shl(builder.and_(k, _integer_constant(kind, 2)), _integer_constant(kind, 62))
    return builder.bitcast(builder.xor(builder.bitcast(args[1], kind), sign), args[1].type)


def _lower_any_above(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    x, limit = args
    if isinstance(sig.args[0], Lanes):
        size = _vector_intrinsic(builder, "fabs", [x])
        above = builder.fcmp_unordered(">", size, _splat(builder, limit))
        return builder.icmp_unsigned("!=", builder.bitcast(above, ir.IntType(WIDTH)), ir.Constant(ir.IntType(WIDTH), 0))
    size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [ir.DoubleType()]), [x])
    return builder.fcmp_unordered(">", size, limit)


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


for _number in (types.Float, Lanes):
    lower_builtin(quadrant_swap, _number, _number, _number)(_lower_swap)
    lower_builtin(quadrant_sign, _number, _number)(_lower_sign)
    lower_builtin(any_above, _number, types.Float)(_lower_any_above)
    lower_builtin(libm_sincos, _number)(_lower_libm)


_OPTIONS: Any = {"fastmath": {"contract"}, "error_model": "numpy", "_nrt": False}  # those of _jit, which imports this


@overload(scalar.sincos, jit_options=_OPTIONS)
def _sincos(x: Any) -> Any:
    """Reduction by pi/2 in three parts (Cody and Waite 1980), then the minimax polynomials of Moshier's Cephes.

    One source for one state and for lanes, so that both give the same bits. The parts of pi/2 have 33 bits, exact times
    any k below 2^20; beyond that the C library serves.
    """
    if not _is_number(x):
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


# ---------------------------------------------------------------------------------------------- memory


def _never_changes(builder: Any, load: Any) -> Any:
    """Tell LLVM that no store of this kernel touches what was loaded, so that it is loaded once."""
    load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


@infer_global(record.attach)
class _AttachTyping(AbstractTemplate):
    """A 1-D block of pointers is a record of float64, a 2-D one a record of lanes."""

    def generic(self, args: Any, kws: Any) -> Any:
        (block,) = args
        if isinstance(block, RecordType):  # one kernel called by another
            return signature(block, block)
        if isinstance(block, types.Array) and block.dtype == types.int64:
            return signature(RecordType(block.ndim == 2), block)
        return None


@lower_builtin(record.attach, types.Array)
def _lower_attach(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.make_array(sig.args[0])(context, builder, args[0]).data


@lower_builtin(record.attach, RecordType)
def _lower_attached(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


def _align_stack(builder: Any) -> None:
    """Make the function begin by aligning its stack to a vector.

    LLVM does that for an aligned variable, but not for the registers that it spills: without this each spill of eight
    lanes straddles two cache lines. The empty assembly keeps the variable from being optimized away.
    """
    variable = cgutils.alloca_once(builder, VECTOR)
    variable.align = 64
    keep = ir.FunctionType(ir.VoidType(), [variable.type])
    builder.asm(keep, "", "r", [variable], True)


def _define_attach(function: Any, in_lanes: bool) -> None:
    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(RecordType(in_lanes), types.voidptr) if args == (types.voidptr,) else None

    @lower_builtin(function, types.voidptr)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if in_lanes:
            _align_stack(builder)
        return builder.bitcast(args[0], I64.as_pointer())


_define_attach(record.attach_state, False)
_define_attach(record.attach_lanes, True)


@infer_global(record.call_routine)
class _CallTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[1], RecordType):
            return signature(types.int64, types.int64, args[1], types.int64, types.int64)
        return None


@lower_builtin(record.call_routine, types.Integer, RecordType, types.Integer, types.Integer)
def _lower_call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    address, block, i, k = args
    byte_pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(I64, [byte_pointer, I64, I64])
    return builder.call(builder.inttoptr(address, kind.as_pointer()), [builder.bitcast(block, byte_pointer), i, k])


@infer_getattr
class _RecordFields(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, owner: Any, name: str) -> Any:  # type: ignore[override]
        if name in record.layout.counts:
            return types.int64
        field = record.layout.fields.get(name)
        return Rows(field.what, field.columns, owner.in_lanes) if field else None


@lower_getattr_generic(RecordType)
def _lower_field(context: Any, builder: Any, typ: Any, value: Any, name: str) -> Any:
    place = builder.gep(value, [ir.Constant(I64, record.layout.places[name])], inbounds=True)
    word = _never_changes(builder, builder.load(place))
    if name in record.layout.counts:
        return word
    index = record.layout.fields[name].what == "index"
    return builder.inttoptr(word, I64.as_pointer() if index else ir.DoubleType().as_pointer())


@infer_global(operator.getitem)
class _IndexTyping(AbstractTemplate):
    """``model.parent[b]``: an integer of the tree."""

    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], Rows) and args[0].what == "index" and isinstance(args[1], types.Integer):
            return signature(types.int64, args[0], types.int64)
        return None


@lower_builtin(operator.getitem, Rows, types.Integer)
def _lower_index(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _never_changes(builder, builder.load(builder.gep(args[0], [args[1]], inbounds=True)))


def _array_in_lanes(array: Any) -> bool:
    return bool(array.ndim == 3)


def _is_field(typ: Any) -> bool:
    return isinstance(typ, Rows) or (isinstance(typ, types.Array) and typ.dtype == types.float64 and typ.layout == "C")


@infer_global(scalar.load)
class _LoadTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if not _is_field(args[0]):
            return None
        in_lanes = args[0].in_lanes if isinstance(args[0], Rows) else _array_in_lanes(args[0])
        return signature(lanes if in_lanes else types.float64, args[0], types.int64, types.int64)


@infer_global(scalar.store)
class _StoreTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if not _is_field(args[0]) or not _is_number(args[3]):
            return None
        in_lanes = args[0].in_lanes if isinstance(args[0], Rows) else _array_in_lanes(args[0])
        if isinstance(args[3], Lanes) and not in_lanes:
            return None
        return signature(types.void, args[0], types.int64, types.int64, args[3])


def _address(context: Any, builder: Any, typ: Any, field: Any, row: Any, column: Any) -> tuple[Any, bool, int]:
    """Pointer to the number or the lanes at *row*, *column*; whether it is lanes; and its alignment."""
    if isinstance(typ, Rows):
        # the parameters of a tree are shared by all lanes
        wide = typ.in_lanes and typ.what == "state"
        data, columns, align = field, ir.Constant(I64, typ.columns), 64 if wide else 8
    else:
        array = context.make_array(typ)(context, builder, field)
        wide, data, align = _array_in_lanes(typ), array.data, 8
        shape = cgutils.unpack_tuple(builder, array.shape)
        columns = shape[1] if typ.ndim > 1 else ir.Constant(I64, 1)
    place = builder.add(builder.mul(row, columns), column)
    if not wide:
        return builder.gep(data, [place], inbounds=True), False, 8
    pointer = builder.gep(data, [builder.mul(place, ir.Constant(I64, WIDTH))], inbounds=True)
    return builder.bitcast(pointer, VECTOR.as_pointer()), True, align


def _lower_load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer, wide, align = _address(context, builder, sig.args[0], *args)
    value = builder.load(pointer)
    value.align = align
    if isinstance(sig.args[0], Rows) and sig.args[0].what == "parameter":
        _never_changes(builder, value)
    return _splat(builder, value) if isinstance(sig.return_type, Lanes) and not wide else value


def _lower_store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    field, row, column, value = args
    pointer, wide, align = _address(context, builder, sig.args[0], field, row, column)
    stored = builder.store(_as_vector(builder, sig.args[3], value) if wide else value, pointer)
    stored.align = align
    return context.get_dummy_value()


for _field in (Rows, types.Array):
    lower_builtin(scalar.load, _field, types.Integer, types.Integer)(_lower_load)
    for _number in (types.Float, Lanes):
        lower_builtin(scalar.store, _field, types.Integer, types.Integer, _number)(_lower_store)


@infer_global(scalar.gather)
class _GatherTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if _is_field(args[0]) and isinstance(args[0], types.Array) and args[0].ndim == 2:
            return signature(lanes, args[0], types.int64, types.int64)
        return None


@infer_global(scalar.scatter)
class _ScatterTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if _is_field(args[0]) and isinstance(args[0], types.Array) and args[0].ndim == 2:
            return signature(types.void, args[0], types.int64, types.int64, lanes)
        return None


def _lane_pointers(context: Any, builder: Any, typ: Any, array: Any, first: Any, column: Any) -> tuple[list[Any], Any]:
    """Pointers to one column of eight rows, and whether these touch."""
    view = context.make_array(typ)(context, builder, array)
    columns = cgutils.unpack_tuple(builder, view.shape)[1]
    place = builder.add(builder.mul(first, columns), column)
    pointers = []
    for _ in range(WIDTH):
        pointers.append(builder.gep(view.data, [place], inbounds=True))
        place = builder.add(place, columns)
    return pointers, builder.icmp_signed("==", columns, ir.Constant(I64, 1))


@lower_builtin(scalar.gather, types.Array, types.Integer, types.Integer)
def _lower_gather(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointers, touching = _lane_pointers(context, builder, sig.args[0], *args)
    with builder.if_else(touching) as (one_load, eight_loads):
        with one_load:
            whole = builder.load(builder.bitcast(pointers[0], VECTOR.as_pointer()), align=8)
            end_of_one = builder.block
        with eight_loads:
            out = ir.Constant(VECTOR, ir.Undefined)
            for lane, pointer in enumerate(pointers):
                out = builder.insert_element(out, builder.load(pointer), ir.Constant(ir.IntType(32), lane))
            end_of_eight = builder.block
    result = builder.phi(VECTOR)
    result.add_incoming(whole, end_of_one)
    result.add_incoming(out, end_of_eight)
    return result


@lower_builtin(scalar.scatter, types.Array, types.Integer, types.Integer, Lanes)
def _lower_scatter(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointers, touching = _lane_pointers(context, builder, sig.args[0], *args[:3])
    with builder.if_else(touching) as (one_store, eight_stores):
        with one_store:
            builder.store(args[3], builder.bitcast(pointers[0], VECTOR.as_pointer()), align=8)
        with eight_stores:
            for lane, pointer in enumerate(pointers):
                builder.store(builder.extract_element(args[3], ir.Constant(ir.IntType(32), lane)), pointer)
    return context.get_dummy_value()
