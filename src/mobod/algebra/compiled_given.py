"""`given` compiled: NumPy's arrays read where they lie, by the layout that its C interface promises."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import NativeValue, lower_builtin, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import populate_array

from . import given
from .compiled_record import RecordType, Rows
from .compiled_record import _align_stack as align_stack
from .lanes import I64

#: Where PyArrayObject has what, in bytes; the first is what every object has, whose last word is its type.
_DATA = object.__basicsize__
_TYPE, _NUMBER_OF_DIMENSIONS, _LENGTHS, _STRIDES, _DESCRIPTION = _DATA - 8, _DATA + 8, _DATA + 16, _DATA + 24, _DATA + 40


class Object(types.Type):
    """Any object of Python, which lives as long as the call."""

    def __init__(self) -> None:
        super().__init__(name="Object")


_object = Object()


@typeof_impl.register(given.Given)
def _typeof(value: Any, context: Any) -> Any:
    return _object


@register_model(Object)
class _ObjectModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, I64)


@unbox(Object)
def _unbox(typ: Any, value: Any, c: Any) -> Any:
    return NativeValue(c.builder.ptrtoint(value, I64))


def _read(builder: Any, address: Any, offset: int, kind: Any = I64) -> Any:
    place = builder.inttoptr(builder.add(address, ir.Constant(I64, offset)), kind.as_pointer())
    return builder.load(place)


def _define(function: Any, result: Any, *arguments: Any) -> Any:
    """Register the types of a primitive; what is decorated is its form in LLVM."""

    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(result, *arguments) if len(args) == len(arguments) else None

    return lower_builtin(function, *arguments)


@_define(given.is_like, types.boolean, _object, _object)
def _lower_is_like(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """One test at a time: an object of another type is shorter, and one of other dimensions has other lengths."""
    one, other = args
    result = cgutils.alloca_once_value(builder, builder.icmp_signed("==", one, other))
    same_type = builder.icmp_signed("==", _read(builder, one, _TYPE), _read(builder, other, _TYPE))
    with builder.if_then(builder.and_(same_type, builder.not_(builder.load(result)))):
        dimensions = _read(builder, one, _NUMBER_OF_DIMENSIONS, ir.IntType(32))
        row = builder.icmp_signed("==", dimensions, ir.Constant(ir.IntType(32), 1))
        same = builder.icmp_signed("==", _read(builder, one, _DESCRIPTION), _read(builder, other, _DESCRIPTION))
        with builder.if_then(builder.and_(row, same)):
            length, stride = (_read(builder, _read(builder, one, at), 0) for at in (_LENGTHS, _STRIDES))
            fits = builder.icmp_signed("==", length, _read(builder, _read(builder, other, _LENGTHS), 0))
            touching = builder.icmp_signed("==", stride, ir.Constant(I64, 8))
            odd = builder.and_(_read(builder, one, _DATA), ir.Constant(I64, 7))
            aligned = builder.icmp_signed("==", odd, ir.Constant(I64, 0))
            builder.store(builder.and_(fits, builder.and_(touching, aligned)), result)
    return builder.load(result)


@_define(given.copy, types.void, _object, _object)
def _lower_copy(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    source, target = (builder.inttoptr(_read(builder, one, _DATA), ir.DoubleType().as_pointer()) for one in args)
    length = _read(builder, _read(builder, args[0], _LENGTHS), 0)
    cgutils.raw_memmove(builder, target, source, length, 8)
    return context.get_dummy_value()


@_define(given.numbers, Rows("state", 1, types.float64), _object)
def _lower_numbers(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.inttoptr(_read(builder, args[0], _DATA), ir.DoubleType().as_pointer())


@_define(given.record_of, RecordType(types.float64), _object)
def _lower_record(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    align_stack(builder)
    return builder.inttoptr(_read(builder, args[0], _DATA), I64.as_pointer())


@_define(given.item, _object, _object, types.int64)
def _lower_item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    place = builder.add(args[0], builder.mul(args[1], ir.Constant(I64, 8)))
    return _read(builder, place, tuple.__basicsize__)


def _array(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """A plain array of Numba's, which neither counts references nor asks Python."""
    array = context.make_array(sig.return_type)(context, builder)
    lengths, strides = (
        [_read(builder, _read(builder, args[0], at), 8 * k) for k in range(sig.return_type.ndim)] for at in (_LENGTHS, _STRIDES)
    )
    data = builder.inttoptr(_read(builder, args[0], _DATA), array.data.type)
    populate_array(array, data, lengths, strides, ir.Constant(I64, 8), None)
    return array._getvalue()  # noqa: SLF001  (Numba's own name for it)


_define(given.integers, types.Array(types.int64, 1, "C"), _object)(_array)
_define(given.table, types.Array(types.int64, 2, "C"), _object)(_array)
_define(given.matrix, types.Array(types.float64, 2, "C"), _object)(_array)
_define(given.blocks, types.Array(types.float64, 3, "C"), _object)(_array)


@_define(given.integer, types.int64, _object)
def _lower_integer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read(builder, _read(builder, args[0], _DATA), 0)


@_define(given.release_gil, types.int64, types.boolean)
def _lower_release(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    thread = cgutils.alloca_once_value(builder, ir.Constant(I64, 0))
    with builder.if_then(args[0]):
        save = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I64, []), "PyEval_SaveThread")
        builder.store(builder.call(save, []), thread)
    return builder.load(thread)


@_define(given.acquire_gil, types.void, types.int64)
def _lower_acquire(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    with builder.if_then(builder.icmp_signed("!=", args[0], ir.Constant(I64, 0))):
        restore = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [I64]), "PyEval_RestoreThread")
        builder.call(restore, [args[0]])
    return context.get_dummy_value()
