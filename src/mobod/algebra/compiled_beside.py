"""`beside` compiled."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import signature

from . import beside, scalar
from .compiled_eights import _turned
from .compiled_primitive import primitive
from .compiled_record import Rows, _lower_load
from .lanes import I64, INTS, VECTOR, WIDTH, Lanes, lanes

_I32 = ir.IntType(32)


@primitive(beside.three_beside, types.Float, types.Float, types.Float, result=lanes)
def _lower_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    found = ir.Constant(VECTOR, ir.Undefined)
    for k, number in enumerate(args):
        found = builder.insert_element(found, number, ir.Constant(_I32, k))
    places = ir.Constant(ir.VectorType(_I32, WIDTH), [0, 1, 2, 2, 0, 1, 2, 2])
    return builder.shuffle_vector(found, ir.Constant(VECTOR, ir.Undefined), places)


@primitive(beside.taken, Lanes, types.Integer, types.Float, result=types.float64)
def _lower_taken(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_element(args[0], args[1])


@primitive(beside.three_beside, Lanes, Lanes, Lanes, result=lanes)
@primitive(beside.taken, Lanes, types.Integer, Lanes, result=lanes)
def _lower_first(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


# ---------------------------------------------------------------------------------------------- rows of float64


def _is_plain(typ: Any) -> bool:
    return isinstance(typ, Rows) and typ.scalar == types.float64


def _vector_at(builder: Any, data: Any, number: Any) -> Any:
    return builder.bitcast(builder.gep(data, [number], inbounds=True), VECTOR.as_pointer())


@primitive(beside.row_beside, Rows, types.Integer, result=lambda rows, row: lanes if _is_plain(rows) else None)
def _lower_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    row = builder.mul(args[1], ir.Constant(I64, sig.args[0].columns))
    return builder.load(_vector_at(builder, args[0], row), align=8)


@primitive(beside.put_beside, Rows, types.Integer, Lanes, result=lambda rows, row, x: types.void if _is_plain(rows) else None)
def _lower_put(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    row = builder.mul(args[1], ir.Constant(I64, sig.args[0].columns))
    builder.store(args[2], _vector_at(builder, args[0], row), align=8)
    return context.get_dummy_value()


def _void_of_plain(*args: Any) -> Any:
    return types.void if _is_plain(args[0]) and _is_plain(args[3]) else None


@primitive(
    beside.add_scaled_row,
    *(Rows, types.Integer, types.Float, Rows, types.Integer, types.Integer),
    result=_void_of_plain,
)
def _lower_add_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Four of them at once, and two."""
    to, row, x, rows, k, column = args
    columns = ir.Constant(I64, sig.args[3].columns)
    first = builder.gep(to, [builder.mul(row, ir.Constant(I64, sig.args[0].columns))], inbounds=True)
    other = builder.gep(rows, [builder.add(builder.mul(k, columns), column)], inbounds=True)
    for place, count in ((0, 4), (4, 2)):
        kind = ir.VectorType(ir.DoubleType(), count)
        scale = ir.Constant(kind, ir.Undefined)
        for lane in range(count):
            scale = builder.insert_element(scale, x, ir.Constant(_I32, lane))
        at, of = (builder.bitcast(builder.gep(one, [ir.Constant(I64, place)]), kind.as_pointer()) for one in (first, other))
        product = builder.fmul(builder.load(of, align=8), scale, flags=("contract",))
        builder.store(builder.fadd(builder.load(at, align=8), product, flags=("contract",)), at, align=8)
    return context.get_dummy_value()


# ---------------------------------------------------------------------------------------------- lanes of one state

#: A field of lanes that is part of no record.
_LANES = Rows("beside", 1, lanes)


@primitive(beside.lanes_scratch, types.IntegerLiteral, result=_LANES)
def _lower_lanes_scratch(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    vectors = cgutils.alloca_once(builder, VECTOR, size=ir.Constant(I64, sig.args[0].literal_value))
    vectors.align = 64
    return builder.bitcast(vectors, ir.DoubleType().as_pointer())


@primitive(beside.address_of, Rows, result=lambda rows: types.int64 if rows.scalar == lanes else None)
def _lower_address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.ptrtoint(args[0], I64)


@primitive(beside.lanes_at, types.Integer, types.Integer, result=_LANES)
def _lower_lanes_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.inttoptr(args[0], ir.DoubleType().as_pointer())


# ---------------------------------------------------------------------------------------------- rows of eight elements


def _beside(typ: Any) -> bool:
    return isinstance(typ, types.NamedTuple) and typ.instance_class is beside.RowsBeside


@primitive(beside.lies_beside, types.Any, result=types.boolean)
def _lower_lies(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return ir.Constant(ir.IntType(1), int(_beside(sig.args[0])))


def _lanes_of_rows(rows: Any, *places: Any) -> Any:
    return lanes if _beside(rows) and _is_plain(rows[0]) else None


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


@primitive(scalar.load, types.BaseNamedTuple, types.Integer, types.Integer, result=_lanes_of_rows)
def _lower_load_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _gathered(builder, _pointers(builder, sig.args[0], *args))


def _gathered(builder: Any, pointers: list[Any]) -> Any:
    found = ir.Constant(VECTOR, ir.Undefined)
    for k, pointer in enumerate(pointers):
        found = builder.insert_element(found, builder.load(pointer), ir.Constant(_I32, k))
    return found


@primitive(scalar.lookup, types.BaseNamedTuple, types.Integer, Lanes, result=_lanes_of_rows)
def _lower_lookup_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    value, row, place = args
    return _gathered(builder, _pointers(builder, sig.args[0], value, row, ir.Constant(I64, 0), place))


@primitive(
    beside.eight_rows_at,
    *(types.BaseNamedTuple, types.Integer, Lanes),
    result=lambda rows, row, place: types.UniTuple(lanes, WIDTH) if _beside(rows) else None,
)
def _lower_eight_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    value, row, place = args
    pointers = _pointers(builder, sig.args[0], value, row, ir.Constant(I64, 0), place)
    rows = [builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8) for pointer in pointers]
    return context.make_tuple(builder, sig.return_type, _turned(builder, rows))


@primitive(
    beside.eight_rows_at,
    *(Rows, types.Integer, (types.Float, Lanes)),
    result=lambda rows, row, place: types.UniTuple(rows.scalar, WIDTH),
)
def _lower_eight(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    field, row, place = args
    if sig.args[2] == lanes:  # for typing alone: lanes of states have no such rows
        place = builder.extract_element(place, ir.Constant(_I32, 0))
    row = builder.add(row, builder.fptosi(place, I64))
    inner = signature(sig.args[0].scalar, sig.args[0], types.int64, types.int64)
    zero = ir.Constant(I64, 0)
    numbers = [_lower_load(context, builder, inner, [field, builder.add(row, ir.Constant(I64, k)), zero]) for k in range(WIDTH)]
    return context.make_tuple(builder, sig.return_type, numbers)
