"""`beside` compiled."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from . import beside, scalar
from .compiled_eights import _turned
from .compiled_record import Rows, _lower_load
from .lanes import I64, INTS, VECTOR, WIDTH, Lanes, lanes

_I32 = ir.IntType(32)


@infer_global(beside.three_beside)
class _BesideTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        kind = lanes if lanes in args else types.float64
        return signature(lanes, kind, kind, kind) if len(args) == 3 else None


@lower_builtin(beside.three_beside, types.Float, types.Float, types.Float)
def _lower_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    found = ir.Constant(VECTOR, ir.Undefined)
    for k, number in enumerate(args):
        found = builder.insert_element(found, number, ir.Constant(_I32, k))
    places = ir.Constant(ir.VectorType(_I32, WIDTH), [0, 1, 2, 2, 0, 1, 2, 2])
    return builder.shuffle_vector(found, ir.Constant(VECTOR, ir.Undefined), places)


@infer_global(beside.taken)
class _TakenTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        like = lanes if args[2] == lanes else types.float64
        return signature(like, lanes, types.int64, like) if args[0] == lanes else None


@lower_builtin(beside.taken, Lanes, types.Integer, types.Float)
def _lower_taken(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_element(args[0], args[1])


@lower_builtin(beside.three_beside, Lanes, Lanes, Lanes)
@lower_builtin(beside.taken, Lanes, types.Integer, Lanes)
def _lower_first(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


# ---------------------------------------------------------------------------------------------- rows of float64


def _is_plain(typ: Any) -> bool:
    return isinstance(typ, Rows) and typ.scalar == types.float64


def _vector_at(builder: Any, data: Any, number: Any) -> Any:
    return builder.bitcast(builder.gep(data, [number], inbounds=True), VECTOR.as_pointer())


@infer_global(beside.row_beside)
class _RowTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(lanes, args[0], types.int64) if _is_plain(args[0]) else None


@lower_builtin(beside.row_beside, Rows, types.Integer)
def _lower_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    row = builder.mul(args[1], ir.Constant(I64, sig.args[0].columns))
    return builder.load(_vector_at(builder, args[0], row), align=8)


@infer_global(beside.put_beside)
class _PutTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.void, args[0], types.int64, lanes) if _is_plain(args[0]) else None


@lower_builtin(beside.put_beside, Rows, types.Integer, Lanes)
def _lower_put(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    row = builder.mul(args[1], ir.Constant(I64, sig.args[0].columns))
    builder.store(args[2], _vector_at(builder, args[0], row), align=8)
    return context.get_dummy_value()


# ---------------------------------------------------------------------------------------------- lanes of one state

#: A field of lanes that is part of no record.
_LANES = Rows("beside", 1, lanes)


@infer_global(beside.lanes_scratch)
class _ScratchTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(_LANES, *args) if isinstance(args[0], types.IntegerLiteral) else None


@lower_builtin(beside.lanes_scratch, types.IntegerLiteral)
def _lower_lanes_scratch(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    vectors = cgutils.alloca_once(builder, VECTOR, size=ir.Constant(I64, sig.args[0].literal_value))
    vectors.align = 64
    return builder.bitcast(vectors, ir.DoubleType().as_pointer())


@infer_global(beside.address_of)
class _AddressTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.int64, args[0]) if isinstance(args[0], Rows) and args[0].scalar == lanes else None


@lower_builtin(beside.address_of, Rows)
def _lower_address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.ptrtoint(args[0], I64)


@infer_global(beside.lanes_at)
class _LanesAtTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(_LANES, types.int64, types.int64)


@lower_builtin(beside.lanes_at, types.Integer, types.Integer)
def _lower_lanes_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.inttoptr(args[0], ir.DoubleType().as_pointer())


# ---------------------------------------------------------------------------------------------- rows of eight elements


def _beside(typ: Any) -> bool:
    return isinstance(typ, types.NamedTuple) and typ.instance_class is beside.RowsBeside


@infer_global(beside.lies_beside)
class _LiesTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.boolean, args[0])


@lower_builtin(beside.lies_beside, types.Any)
def _lower_lies(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return ir.Constant(ir.IntType(1), int(_beside(sig.args[0])))


def _pointers(builder: Any, typ: Any, value: Any, row: Any, column: Any, place: Any = None) -> list[Any]:
    """Of each element, to the number at *row*, *column*; *place* rows behind in each its own."""
    data, first = builder.extract_value(value, 0), builder.extract_value(value, 1)
    rows = builder.fptosi(first if place is None else builder.fadd(first, place), INTS)
    columns = ir.Constant(I64, typ[0].columns)
    base = builder.gep(data, [builder.add(builder.mul(row, columns), column)], inbounds=True)
    found = []
    for k in range(WIDTH):
        found.append(builder.gep(base, [builder.mul(builder.extract_element(rows, ir.Constant(_I32, k)), columns)]))
    return found


@infer_global(scalar.load)
class _LoadTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(lanes, args[0], types.int64, types.int64) if _beside(args[0]) and _is_plain(args[0][0]) else None


@lower_builtin(scalar.load, types.BaseNamedTuple, types.Integer, types.Integer)
def _lower_load_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _gathered(builder, _pointers(builder, sig.args[0], *args))


def _gathered(builder: Any, pointers: list[Any]) -> Any:
    found = ir.Constant(VECTOR, ir.Undefined)
    for k, pointer in enumerate(pointers):
        found = builder.insert_element(found, builder.load(pointer), ir.Constant(_I32, k))
    return found


@infer_global(scalar.lookup)
class _LookupTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        is_known = _beside(args[0]) and _is_plain(args[0][0]) and args[2] == lanes
        return signature(lanes, args[0], types.int64, lanes) if is_known else None


@lower_builtin(scalar.lookup, types.BaseNamedTuple, types.Integer, Lanes)
def _lower_lookup_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    value, row, place = args
    return _gathered(builder, _pointers(builder, sig.args[0], value, row, ir.Constant(I64, 0), place))


@infer_global(beside.eight_rows_at)
class _EightTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if _beside(args[0]):
            return signature(types.UniTuple(lanes, WIDTH), args[0], types.int64, lanes)
        place = lanes if args[2] == lanes else types.float64
        return (
            signature(types.UniTuple(args[0].scalar, WIDTH), args[0], types.int64, place) if isinstance(args[0], Rows) else None
        )


@lower_builtin(beside.eight_rows_at, types.BaseNamedTuple, types.Integer, Lanes)
def _lower_eight_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    value, row, place = args
    pointers = _pointers(builder, sig.args[0], value, row, ir.Constant(I64, 0), place)
    rows = [builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8) for pointer in pointers]
    return context.make_tuple(builder, sig.return_type, _turned(builder, rows))


@lower_builtin(beside.eight_rows_at, Rows, types.Integer, types.Float)
@lower_builtin(beside.eight_rows_at, Rows, types.Integer, Lanes)
def _lower_eight(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    field, row, place = args
    if sig.args[2] == lanes:  # for typing alone: lanes of states have no such rows
        place = builder.extract_element(place, ir.Constant(_I32, 0))
    row = builder.add(row, builder.fptosi(place, I64))
    inner = signature(sig.args[0].scalar, sig.args[0], types.int64, types.int64)
    zero = ir.Constant(I64, 0)
    numbers = [_lower_load(context, builder, inner, [field, builder.add(row, ir.Constant(I64, k)), zero]) for k in range(WIDTH)]
    return context.make_tuple(builder, sig.return_type, numbers)
