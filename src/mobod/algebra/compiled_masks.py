"""`masks` compiled: truth values are those of Numba, or a vector of bits."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import signature

from . import masks
from .compiled_dual import DualType
from .compiled_primitive import primitive, same
from .compiled_record import _FIELD, _lane_pointer, _lower_load, _lower_store, _scalar_of, _scalar_of_one
from .lanes import BOOLS, I64, INTS, VECTOR, WIDTH, Lanes, Mask, lanes, mask

_BITS = ir.IntType(WIDTH)


def _as_mask(builder: Any, typ: Any, value: Any) -> Any:
    """A truth value as one of each lane."""
    if isinstance(typ, Mask):
        return value
    first = builder.insert_element(ir.Constant(BOOLS, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, ir.Constant(BOOLS, ir.Undefined), zeros)


def _define_of_two(function: Any, instruction: str) -> None:
    kinds = Mask, types.Boolean

    @primitive(function, kinds, kinds, result=lambda *args: mask if mask in args else types.boolean)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if not isinstance(sig.return_type, Mask):
            return getattr(builder, instruction)(*args)
        a, b = (_as_mask(builder, t, v) for t, v in zip(sig.args, args, strict=True))
        return getattr(builder, instruction)(a, b)


_define_of_two(masks.both, "and_")
_define_of_two(masks.either, "or_")


@primitive(masks.no, (Mask, types.Boolean), result=same)
def _lower_no(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.not_(args[0])


@primitive(masks.in_any, types.Boolean, result=types.boolean)
def _lower_same(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@primitive(masks.in_any, Mask, result=types.boolean)
def _lower_in_any(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.icmp_unsigned("!=", builder.bitcast(args[0], _BITS), ir.Constant(_BITS, 0))


# ---------------------------------------------------------------------------------------------- rows of each lane


def _places(builder: Any, places: Any) -> tuple[Any, Any]:
    """The places as integers, and whether all lanes have the same one."""
    numbers = builder.fptosi(places, INTS)
    first = builder.extract_element(numbers, ir.Constant(ir.IntType(32), 0))
    undefined = ir.Constant(INTS, ir.Undefined)
    one = builder.insert_element(undefined, first, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    differ = builder.icmp_signed("!=", numbers, builder.shuffle_vector(one, undefined, zeros))
    same = builder.icmp_unsigned("==", builder.bitcast(differ, _BITS), ir.Constant(_BITS, 0))
    return numbers, same


def _row(builder: Any, numbers: Any, lane: int, first: Any) -> Any:
    return builder.add(builder.extract_element(numbers, ir.Constant(ir.IntType(32), lane)), first)


@primitive(
    masks.load_at,
    *(_FIELD, types.Integer, types.Float),
    result=_scalar_of_one,
)
def _load_of_one(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    field, first, place = args
    row = builder.add(builder.fptosi(place, I64), first)
    inner = signature(sig.return_type, sig.args[0], types.int64, types.int64)
    return _lower_load(context, builder, inner, [field, row, ir.Constant(I64, 0)])


@primitive(
    masks.load_at,
    *(_FIELD, types.Integer, Lanes),
    result=lambda rows, first, places: lanes if _scalar_of(rows) == lanes else None,
)
def _load_of_lanes(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """All lanes at once where they want the same row, as they mostly do."""
    field, first, places = args
    column = ir.Constant(I64, 0)
    numbers, same = _places(builder, places)
    with builder.if_else(same, likely=True) as (together, apart):
        with together:
            inner = signature(lanes, sig.args[0], types.int64, types.int64)
            whole = _lower_load(context, builder, inner, [field, _row(builder, numbers, 0, first), column])
            end_of_whole = builder.block
        with apart:
            out = ir.Constant(VECTOR, ir.Undefined)
            for k in range(WIDTH):
                lane = ir.Constant(I64, k)
                pointer = _lane_pointer(context, builder, sig.args[0], [field, _row(builder, numbers, k, first), column, lane])
                out = builder.insert_element(out, builder.load(pointer), ir.Constant(ir.IntType(32), k))
            end_of_each = builder.block
    result = builder.phi(VECTOR)
    result.add_incoming(whole, end_of_whole)
    result.add_incoming(out, end_of_each)
    return result


@primitive(
    masks.store_at,
    *(_FIELD, types.Integer, types.Float, types.Boolean, (types.Float, DualType)),
    result=lambda rows, *others: types.void if _scalar_of_one(rows) else None,
)
def _store_of_one(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    field, first, place, there, value = args
    with builder.if_then(there):
        row = builder.add(builder.fptosi(place, I64), first)
        inner = signature(types.void, sig.args[0], types.int64, types.int64, sig.args[4])
        _lower_store(context, builder, inner, [field, row, ir.Constant(I64, 0), value])
    return context.get_dummy_value()


@primitive(
    masks.store_at,
    *(_FIELD, types.Integer, Lanes, Mask, Lanes),
    result=lambda rows, *others: types.void if _scalar_of(rows) == lanes else None,
)
def _store_of_lanes(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """As `_load_of_lanes`; a lane in which the mask does not hold writes what was there, at *first*."""
    field, first, places, there, value = args
    column = ir.Constant(I64, 0)
    numbers, same = _places(builder, builder.select(there, places, ir.Constant(VECTOR, [0.0] * WIDTH)))
    with builder.if_else(same, likely=True) as (together, apart):
        with together:
            at = [field, _row(builder, numbers, 0, first), column]
            old = _lower_load(context, builder, signature(lanes, sig.args[0], types.int64, types.int64), at)
            inner = signature(types.void, sig.args[0], types.int64, types.int64, lanes)
            _lower_store(context, builder, inner, [*at, builder.select(there, value, old)])
        with apart:
            for k in range(WIDTH):
                lane = ir.Constant(I64, k)
                pointer = _lane_pointer(context, builder, sig.args[0], [field, _row(builder, numbers, k, first), column, lane])
                place = ir.Constant(ir.IntType(32), k)
                new = builder.extract_element(value, place)
                builder.store(builder.select(builder.extract_element(there, place), new, builder.load(pointer)), pointer)
    return context.get_dummy_value()
