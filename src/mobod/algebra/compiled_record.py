"""Numba's view of a record: where its fields are, and how a number of each scalar type is loaded and stored.

Imported with `lanes`, when the first kernel is compiled or loaded. Two Numba types are defined here: ``Rows``, one field of a
record, a bare pointer with a number of columns that is part of the type, so that an address is a multiplication by a
constant; and ``RecordType``, the record itself, a block of such pointers. `record` says how they lie in memory.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate, infer_getattr, signature
from numba.extending import lower_getattr_generic
from numba.np.arrayobj import populate_array

from . import record, scalar
from .compiled_dual import DualType, dual8, gathered, join, lift, split, tangent, tangents_type, twice8
from .compiled_primitive import held_as, primitive, same
from .lanes import I64, VECTOR, WIDTH, Lanes, lanes


class Rows(types.Type):
    """One field of a record: *what* is ``index``, ``parameter`` (shared) or ``state`` (of each state)."""

    def __init__(self, what: str, columns: int, scalar_type: Any) -> None:
        self.what, self.columns, self.scalar = what, columns, scalar_type
        super().__init__(name=f"Rows({what}, {columns}, {scalar_type})")


class RecordType(types.Type):
    """A record, by the address of its block of pointers. Its parameters are shared unless each lane has its *own*."""

    def __init__(self, scalar_type: Any, own: bool = False) -> None:
        self.scalar, self.own = scalar_type, own
        super().__init__(name=f"Record({scalar_type}{', own' if own else ''})")


held_as(Rows, lambda rows: (I64 if rows.what == "index" else ir.DoubleType()).as_pointer())
held_as(RecordType, I64.as_pointer())
#: The type of a record by the dimensions of its block, but for 2, of routines alone, and the scalar of an array by its own.
_OF_BLOCK = {
    1: RecordType(types.float64),
    2: RecordType(lanes),
    3: RecordType(dual8),
    4: RecordType(lanes, own=True),
    5: RecordType(dual8, own=True),
    6: RecordType(twice8),
}
_OF_ARRAY = {1: types.float64, 2: types.float64, 3: lanes, 4: dual8}
_FIELD, _NUMBER = (Rows, types.Array), (types.Float, Lanes, DualType)


def never_changes(builder: Any, load: Any) -> Any:
    """Tell LLVM that no store of the kernel changes what was loaded: it is loaded once."""
    load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


# the dimensions of a block say what the record holds
@primitive(record.attach, types.Array, result=lambda a: _OF_BLOCK.get(a.ndim) if a.dtype == types.int64 else None)
def _lower_attach(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.make_array(sig.args[0])(context, builder, args[0]).data


@primitive(record.attach, RecordType, result=same)  # one kernel called by another
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


def _define_attach(function: Any, record_type: Any) -> None:
    @primitive(function, (types.voidptr, types.int64), result=record_type)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if record_type.scalar != types.float64:
            _align_stack(builder)
        to_pointer = builder.inttoptr if sig.args[0] == types.int64 else builder.bitcast
        return to_pointer(args[0], I64.as_pointer())


for _ndim, _scalar in enumerate(("state", "lanes", "duals", "varied", "seeded", "twice"), 1):
    _define_attach(getattr(record, f"attach_{_scalar}"), _OF_BLOCK[_ndim])


@primitive(record.point_field, RecordType, types.Integer, types.Integer, result=types.void)
def _lower_point(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    block, place, address = args
    builder.store(address, builder.gep(block, [place], inbounds=True))
    return context.get_dummy_value()


@primitive(record.call_routine, types.Integer, RecordType, types.VarArg(types.Integer), result=types.int64)
def _lower_call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    address, block, *integers = args
    if sig.args[1].own and sig.args[1].scalar == lanes:  # whose routines may be those of lanes that share parameters
        last = builder.gep(block, [ir.Constant(I64, len(record.layout.places))], inbounds=True)
        block = builder.inttoptr(never_changes(builder, builder.load(last)), block.type)
    return _call(builder, address, block, integers)


@primitive(record.call_for_own, types.Integer, RecordType, types.VarArg(types.Integer), result=types.int64)
def _lower_call_for_own(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    address, block, *integers = args
    return _call(builder, address, block, integers)


def _call(builder: Any, address: Any, block: Any, integers: list[Any]) -> Any:
    """Call the code at an address with a block and integers."""
    byte_pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(I64, [byte_pointer, *[I64] * len(integers)])
    return builder.call(builder.inttoptr(address, kind.as_pointer()), [builder.bitcast(block, byte_pointer), *integers])


@primitive(record.address_of, (types.Array, types.BaseNamedTuple), result=types.int64)
def _lower_address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if not isinstance(sig.args[0], types.Array):
        return ir.Constant(I64, 0)
    return builder.ptrtoint(context.make_array(sig.args[0])(context, builder, args[0]).data, I64)


def _define_array(function: Any, array: Any) -> None:
    @primitive(function, *[types.Integer] * (1 + array.ndim), result=array)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        made, size = context.make_array(array)(context, builder), ir.Constant(I64, 8)
        shape = list(args[1:])
        strides = [builder.mul(columns, size) for columns in shape[1:]] + [size]
        data = builder.inttoptr(args[0], made.data.type)
        populate_array(made, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return made._getvalue()  # noqa: SLF001  (as Numba's own do)


_define_array(record.numbers_at, types.Array(types.float64, 2, "C"))
_define_array(record.row_at, types.Array(types.float64, 1, "C"))
_define_array(record.integers_at, types.Array(types.int64, 1, "C"))


@primitive(record.field_at, Rows, types.Integer, types.Integer, result=lambda field, *at: field)
def _lower_field_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.inttoptr(args[1], args[0].type)


@infer_getattr
class _RecordFields(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, owner: Any, name: str) -> Any:  # type: ignore[override]
        if name in record.layout.counts:
            return types.int64
        field = record.layout.fields.get(name)
        if field is None:
            return None
        what = "parameter" if field.what == "constant" else field.what  # the same, but that no lane has its own
        return Rows("state" if field.what == "parameter" and owner.own else what, field.columns, owner.scalar)


@lower_getattr_generic(RecordType)
def _lower_field(context: Any, builder: Any, typ: Any, value: Any, name: str) -> Any:
    place = builder.gep(value, [ir.Constant(I64, record.layout.places[name])], inbounds=True)
    word = never_changes(builder, builder.load(place))
    if name in record.layout.counts:
        return word
    index = record.layout.fields[name].what == "index"
    return builder.inttoptr(word, I64.as_pointer() if index else ir.DoubleType().as_pointer())


@primitive(operator.getitem, Rows, types.Integer, result=lambda rows, i: types.int64 if rows.what == "index" else None)
def _lower_index(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return never_changes(builder, builder.load(builder.gep(args[0], [args[1]], inbounds=True)))


def _scalar_of(typ: Any) -> Any:
    """The scalar of a field, or of an array as a field; None of anything else."""
    if isinstance(typ, Rows):
        return typ.scalar
    return (
        _OF_ARRAY.get(typ.ndim) if isinstance(typ, types.Array) and typ.dtype == types.float64 and typ.layout == "C" else None
    )


def _scalar_of_one(rows: Any, *others: Any) -> Any:
    """The same where the field holds no lanes."""
    kind = _scalar_of(rows)
    return None if kind == lanes else kind


def _shape(context: Any, builder: Any, typ: Any, field: Any) -> tuple[Any, Any, Any, int]:
    """Of a field: its data, the length of a row in float64, where in a row tangents begin, and the alignment of vectors."""

    def number(n: int) -> Any:
        return ir.Constant(I64, n)

    scalar_type = _scalar_of(typ)
    if isinstance(typ, Rows):
        if typ.what == "parameter" or scalar_type == types.float64:
            return field, number(typ.columns), None, 8
        if scalar_type == lanes:
            return field, number(WIDTH * typ.columns), None, 64
        if scalar_type == twice8:
            return field, number(_OF_TWICE * typ.columns), None, 8
        blocks = record.value_blocks(typ.columns)
        return field, number(WIDTH * (blocks + typ.columns)), number(WIDTH * blocks), 64
    array = context.make_array(typ)(context, builder, field)
    shape = cgutils.unpack_tuple(builder, array.shape)
    if scalar_type == dual8:
        # of the blocks of a row one in nine holds values, rounded up
        blocks = builder.udiv(builder.add(shape[2], number(WIDTH)), number(WIDTH + 1))
        return array.data, builder.mul(shape[2], number(WIDTH)), builder.mul(blocks, number(WIDTH)), 8
    columns = shape[1] if typ.ndim > 1 else number(1)
    return array.data, builder.mul(columns, number(WIDTH)) if scalar_type == lanes else columns, None, 8


#: Numbers of a Dual, and of a Dual of Duals, in memory.
_OF_DUAL = 1 + WIDTH
_OF_TWICE = 2 * _OF_DUAL


def _pointers(context: Any, builder: Any, typ: Any, field: Any, row: Any, column: Any) -> list[tuple[Any, int]]:
    """Pointers to the parts of the number at *row*, *column*, each with its alignment."""
    data, length, tangents, align = _shape(context, builder, typ, field)
    start = builder.mul(row, length)
    wide = builder.mul(column, ir.Constant(I64, WIDTH))
    vector = VECTOR.as_pointer()
    if _scalar_of(typ) == twice8 and not _is_parameter(typ):
        first = builder.add(start, builder.mul(column, ir.Constant(I64, _OF_TWICE)))
        pointers = []
        for half in (0, _OF_DUAL):
            value = builder.gep(data, [builder.add(first, ir.Constant(I64, half))], inbounds=True)
            rest = builder.gep(data, [builder.add(first, ir.Constant(I64, half + 1))], inbounds=True)
            pointers += [(value, 8), (builder.bitcast(rest, vector), 8)]
        return pointers
    if tangents is not None:
        value = builder.gep(data, [builder.add(start, column)], inbounds=True)
        place = builder.gep(data, [builder.add(builder.add(start, tangents), wide)], inbounds=True)
        return [(value, 8), (builder.bitcast(place, tangents_type(types.float64, WIDTH).as_pointer()), align)]
    if _scalar_of(typ) == lanes and not _is_parameter(typ):
        return [(builder.bitcast(builder.gep(data, [builder.add(start, wide)], inbounds=True), vector), align)]
    return [(builder.gep(data, [builder.add(start, column)], inbounds=True), 8)]


def _is_parameter(typ: Any) -> bool:
    """True if a field's numbers are float64 in this record: parameters that lanes share, without tangents."""
    return isinstance(typ, Rows) and typ.what == "parameter"


@primitive(scalar.load, _FIELD, types.Integer, types.Integer, result=lambda rows, *at: _scalar_of(rows))
def _lower_load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    parts = []
    for pointer, align in _pointers(context, builder, sig.args[0], *args):
        part = builder.load(pointer)
        part.align = align
        parts.append(part)
    if _is_parameter(sig.args[0]):
        return lift(builder, never_changes(builder, parts[0]), types.float64, sig.return_type)
    if len(parts) == 4:
        value, rate = join(builder, dual8, *parts[:2]), join(builder, dual8, *parts[2:])
        return join(builder, twice8, value, gathered(builder, twice8, [rate]))
    return join(builder, sig.return_type, *parts) if len(parts) == 2 else parts[0]


def _of_stored(rows: Any, row: Any, column: Any, number: Any) -> Any:
    kind = _scalar_of(rows)
    return types.void if kind and number in (types.float64, kind) else None


@primitive(scalar.store, _FIELD, types.Integer, types.Integer, (types.Float, Lanes, DualType), result=_of_stored)
def _lower_store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    field, row, column, value = args
    places = _pointers(context, builder, sig.args[0], field, row, column)
    parts = [value]
    if not _is_parameter(sig.args[0]):
        value = lift(builder, value, sig.args[3], _scalar_of(sig.args[0]))
        parts = list(split(builder, value)) if len(places) > 1 else [value]
    if len(places) == 4:
        parts = [*split(builder, parts[0]), *split(builder, tangent(builder, twice8, parts[1], 0))]
    for (pointer, align), part in zip(places, parts, strict=True):
        builder.store(part, pointer).align = align
    return context.get_dummy_value()


def _define_part(function: Any, result: Any, *more: Any) -> Any:
    """A function of a number of a record of Duals: of a field, a row, a column, and *more*."""

    def of_duals(rows: Any, *others: Any) -> Any:
        return result if rows.scalar == dual8 and not _is_parameter(rows) else None

    return primitive(function, Rows, types.Integer, types.Integer, *more, result=of_duals)


def _tangents_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _pointers(context, builder, sig.args[0], *args[:3])[1][0]


def _tangent_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    first = builder.bitcast(_tangents_at(context, builder, sig, args), ir.DoubleType().as_pointer())
    return builder.gep(first, [args[3]], inbounds=True)


@_define_part(scalar.load_tangents, lanes)
def _lower_load_tangents(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    found = builder.load(_tangents_at(context, builder, sig, args))
    found.align = 64
    return found


@_define_part(scalar.store_tangents, types.void, lanes)
def _lower_store_tangents(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[3], _tangents_at(context, builder, sig, args)).align = 64
    return context.get_dummy_value()


@_define_part(scalar.load_tangent, types.float64, types.int64)
def _lower_load_tangent(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_tangent_at(context, builder, sig, args))


@_define_part(scalar.store_tangent, types.void, types.int64, types.float64)
def _lower_store_tangent(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[4], _tangent_at(context, builder, sig, args))
    return context.get_dummy_value()


@_define_part(scalar.store_value, types.void, types.float64)
def _lower_store_value(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[3], _pointers(context, builder, sig.args[0], *args[:3])[0][0])
    return context.get_dummy_value()


@primitive(
    scalar.scratch,
    *(types.IntegerLiteral, types.IntegerLiteral),
    result=lambda rows, columns: Rows(f"scratch {rows.literal_value}", columns.literal_value, types.float64),
)
def _lower_scratch(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    rows, columns = (one.literal_value for one in sig.args)
    return cgutils.alloca_once(builder, ir.DoubleType(), size=ir.Constant(I64, rows * columns))


@primitive(
    scalar.scratch_like,
    *((types.Float, Lanes, DualType), types.IntegerLiteral, types.IntegerLiteral),
    result=lambda x, rows, columns: Rows(f"scratch {rows.literal_value}", columns.literal_value, x),
)
def _lower_scratch_like(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _, length, _, align = _shape(context, builder, sig.return_type, None)
    field = cgutils.alloca_once(builder, ir.DoubleType(), size=ir.Constant(I64, sig.args[1].literal_value * length.constant))
    field.align = align
    return field


def _lane_pointer(context: Any, builder: Any, typ: Any, args: Any) -> Any:
    """The address of one lane of the number at a row and a column; None where the field holds no lanes."""
    field, row, column, lane = args[:4]
    if _scalar_of(typ) != lanes or _is_parameter(typ):
        return None
    ((vector, _),) = _pointers(context, builder, typ, field, row, column)
    return builder.gep(builder.bitcast(vector, ir.DoubleType().as_pointer()), [lane], inbounds=True)


@primitive(
    scalar.load_lane,
    *(_FIELD, types.Integer, types.Integer, types.Integer),
    result=lambda rows, *others: types.float64 if _scalar_of(rows) == lanes else _scalar_of(rows),
)
def _lower_load_lane(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer = _lane_pointer(context, builder, sig.args[0], args)
    if pointer is None:
        return _lower_load(context, builder, signature(sig.return_type, *sig.args[:3]), args[:3])
    return builder.load(pointer)


@primitive(
    scalar.store_lane,
    *(_FIELD, types.Integer, types.Integer, types.Integer, (types.Float, DualType)),
    result=lambda rows, *others: types.void if _scalar_of(rows) else None,
)
def _lower_store_lane(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer = _lane_pointer(context, builder, sig.args[0], args)
    if pointer is None:
        inner = signature(types.void, *sig.args[:3], sig.args[4])
        return _lower_store(context, builder, inner, [*args[:3], args[4]])
    builder.store(args[4], pointer)
    return context.get_dummy_value()


@primitive(scalar.num_lanes, _NUMBER, result=types.int64)
def _lower_num_lanes(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return ir.Constant(I64, WIDTH if sig.args[0] == lanes else 1)


@primitive(scalar.order_of_tangents, _NUMBER, result=types.int64)
def _lower_order(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    order, typ = 0, sig.args[0]
    while isinstance(typ, DualType):
        order, typ = order + 1, typ.component
    return ir.Constant(I64, order)


@primitive(scalar.is_float, _NUMBER, result=types.boolean)
def _lower_is_float(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return ir.Constant(ir.IntType(1), int(isinstance(sig.args[0], types.Float)))


@primitive(
    scalar.lookup,
    *(_FIELD, types.Integer, types.Float),
    result=_scalar_of_one,
)
def _lower_lookup(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    field, first, place = args
    column = ir.Constant(I64, 0)
    row = builder.add(builder.fptosi(place, I64), first)
    return _lower_load(
        context, builder, signature(sig.return_type, sig.args[0], types.int64, types.int64), [field, row, column]
    )


@primitive(
    scalar.lookup,
    *(_FIELD, types.Integer, Lanes),
    result=lambda rows, first, place: lanes if _scalar_of(rows) in (lanes, types.float64) else None,
)
def _lower_lookup_of_lanes(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    field, first, places = args
    column, out = ir.Constant(I64, 0), ir.Constant(VECTOR, ir.Undefined)
    for k in range(WIDTH):
        lane = ir.Constant(I64, k)
        row = builder.add(builder.fptosi(builder.extract_element(places, lane), I64), first)
        pointer = _lane_pointer(context, builder, sig.args[0], [field, row, column, lane])
        if pointer is None:
            ((pointer, _),) = _pointers(context, builder, sig.args[0], field, row, column)
        out = builder.insert_element(out, builder.load(pointer), lane)
    return out


def _has_rows(array: Any) -> bool:
    return array.ndim == 2 and _scalar_of(array) is not None


def _lane_pointers(context: Any, builder: Any, typ: Any, array: Any, first: Any, column: Any) -> tuple[list[Any], Any]:
    """Pointers to one column of eight rows, and whether these are adjacent."""
    view = context.make_array(typ)(context, builder, array)
    columns = cgutils.unpack_tuple(builder, view.shape)[1]
    place = builder.add(builder.mul(first, columns), column)
    pointers = []
    for _ in range(WIDTH):
        pointers.append(builder.gep(view.data, [place], inbounds=True))
        place = builder.add(place, columns)
    return pointers, builder.icmp_signed("==", columns, ir.Constant(I64, 1))


@primitive(
    scalar.gather, types.Array, types.Integer, types.Integer, result=lambda array, *places: lanes if _has_rows(array) else None
)
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


@primitive(
    scalar.scatter,
    types.Array,
    types.Integer,
    types.Integer,
    Lanes,
    result=lambda array, *others: types.void if _has_rows(array) else None,
)
def _lower_scatter(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointers, touching = _lane_pointers(context, builder, sig.args[0], *args[:3])
    with builder.if_else(touching) as (one_store, eight_stores):
        with one_store:
            builder.store(args[3], builder.bitcast(pointers[0], VECTOR.as_pointer()), align=8)
        with eight_stores:
            for lane, pointer in enumerate(pointers):
                builder.store(builder.extract_element(args[3], ir.Constant(ir.IntType(32), lane)), pointer)
    return context.get_dummy_value()
