"""`given` compiled: NumPy's arrays read where they lie, by the layout that its C interface promises."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model
from numba.np.arrayobj import populate_array
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

from . import given
from .compiled_dual import dual8
from .compiled_record import RecordType, Rows
from .compiled_record import _align_stack as align_stack
from .lanes import I64

#: Where PyArrayObject has what, in bytes; the first is what every object has, whose last word is its type.
_DATA = object.__basicsize__
_TYPE, _NUMBER_OF_DIMENSIONS, _LENGTHS, _STRIDES, _DESCRIPTION = _DATA - 8, _DATA + 8, _DATA + 16, _DATA + 24, _DATA + 40


#: What compiled code finds by name: `PyArray_New`, whose place in the table of NumPy's interface in C never changes, and the
#: type of arrays.
_NEW_ARRAY, _OF_ARRAY, _PLACE_OF_NEW = "mobod_PyArray_New", "mobod_PyArray_Type", 93


def _name_what_makes_arrays() -> None:
    get_pointer: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    table = get_pointer(("PyCapsule_GetPointer", ctypes.pythonapi))(_multiarray_umath._ARRAY_API, None)  # noqa: SLF001
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_PLACE_OF_NEW]
    llvm.add_symbol(_NEW_ARRAY, address)
    llvm.add_symbol(_OF_ARRAY, id(np.ndarray))


_name_what_makes_arrays()


class Object(types.Type):
    """Any object of Python, which lives as long as the call."""

    def __init__(self) -> None:
        super().__init__(name="Object")


_object = Object()


@register_model(Object)
class _ObjectModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, I64)


def _read(builder: Any, address: Any, offset: int, kind: Any = I64) -> Any:
    place = builder.inttoptr(builder.add(address, ir.Constant(I64, offset)), kind.as_pointer())
    return builder.load(place)


def _call(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """Call a function of Python's by its name; objects are addresses."""
    of_name = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, of_name, name), arguments)


def _define(function: Any, result: Any, *arguments: Any) -> Any:
    """Register the types of a primitive; what is decorated is its form in LLVM."""

    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(result, *arguments) if len(args) == len(arguments) else None

    return lower_builtin(function, *arguments)


def _is_row(builder: Any, one: Any, plain: Any, length: Any) -> Any:
    """One test at a time: an object of another type is shorter, and one of other dimensions has other lengths."""
    result = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), 0))
    with builder.if_then(builder.icmp_signed("==", _read(builder, one, _TYPE), _read(builder, plain, _TYPE))):
        dimensions = _read(builder, one, _NUMBER_OF_DIMENSIONS, ir.IntType(32))
        row = builder.icmp_signed("==", dimensions, ir.Constant(ir.IntType(32), 1))
        same = builder.icmp_signed("==", _read(builder, one, _DESCRIPTION), _read(builder, plain, _DESCRIPTION))
        with builder.if_then(builder.and_(row, same)):
            own, stride = (_read(builder, _read(builder, one, at), 0) for at in (_LENGTHS, _STRIDES))
            fits = builder.icmp_signed("==", own, length)
            # an empty array has any stride
            empty = builder.icmp_signed("==", own, ir.Constant(I64, 0))
            touching = builder.or_(empty, builder.icmp_signed("==", stride, ir.Constant(I64, 8)))
            odd = builder.and_(_read(builder, one, _DATA), ir.Constant(I64, 7))
            aligned = builder.icmp_signed("==", odd, ir.Constant(I64, 0))
            builder.store(builder.and_(fits, builder.and_(touching, aligned)), result)
    return builder.load(result)


@_define(given.is_row, types.boolean, _object, _object, types.int64)
def _lower_is_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _is_row(builder, *args)


@_define(given.is_like, types.boolean, _object, _object)
def _lower_is_like(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    one, other = args
    result = cgutils.alloca_once_value(builder, builder.icmp_signed("==", one, other))
    with builder.if_then(builder.not_(builder.load(result))):
        builder.store(_is_row(builder, one, other, _read(builder, _read(builder, other, _LENGTHS), 0)), result)
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


@_define(given.duals_of, RecordType(dual8), _object)
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
        builder.store(_call(builder, "PyEval_SaveThread", I64), thread)
    return builder.load(thread)


@_define(given.acquire_gil, types.void, types.int64)
def _lower_acquire(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    with builder.if_then(builder.icmp_signed("!=", args[0], ir.Constant(I64, 0))):
        _call(builder, "PyEval_RestoreThread", ir.VoidType(), args[0])
    return context.get_dummy_value()


@infer_global(given.each)
class _EachTyping(AbstractTemplate):
    """How many there are is known when the kernel is compiled."""

    def generic(self, args: Any, kws: Any) -> Any:
        count = getattr(args[1], "literal_value", None)
        return None if count is None else signature(types.UniTuple(_object, count), *args)


@lower_builtin(given.each, types.int64, types.IntegerLiteral)
def _lower_each(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    objects = [_read(builder, args[0], 8 * k) for k in range(sig.return_type.count)]
    return context.make_tuple(builder, sig.return_type, objects)


def _define_new(function: Any, dimensions: int) -> None:
    """`PyArray_New(type, nd, dims, type_num, strides, data, itemsize, flags, obj)`, of lengths that are all the same."""

    @_define(function, _object, types.int64)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        integer, nothing, zero = ir.IntType(32), ir.Constant(I64, 0), ir.Constant(ir.IntType(32), 0)
        lengths = cgutils.alloca_once(builder, ir.ArrayType(I64, dimensions))
        builder.store(cgutils.pack_array(builder, dimensions * [args[0]]), lengths)
        of_array = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I64, []), _OF_ARRAY)
        kind = builder.ptrtoint(of_array, I64)
        first, double = builder.ptrtoint(lengths, I64), ir.Constant(integer, np.dtype(np.float64).num)
        count = ir.Constant(integer, dimensions)
        return _call(builder, _NEW_ARRAY, I64, kind, count, first, double, nothing, nothing, zero, zero, nothing)


_define_new(given.new_row, 1)
_define_new(given.new_matrix, 2)


@_define(given.keep, _object, _object)
def _lower_keep(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _call(builder, "Py_IncRef", ir.VoidType(), args[0])
    return args[0]


@infer_global(given.new_tuple)
class _NewTupleTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(_object, *args)


@lower_builtin(given.new_tuple, _object, types.UniTuple)
def _lower_new_tuple(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """`PyType_GenericAlloc`; the tuple's places are empty before."""
    objects, nothing = cgutils.unpack_tuple(builder, args[1]), ir.Constant(I64, 0)
    result = cgutils.alloca_once_value(builder, nothing)
    there = cgutils.true_bit
    for one in objects:
        there = builder.and_(there, builder.icmp_signed("!=", one, nothing))
    with builder.if_then(there):
        builder.store(_call(builder, "PyType_GenericAlloc", I64, args[0], ir.Constant(I64, len(objects))), result)
    made = builder.load(result)
    with builder.if_else(builder.icmp_signed("!=", made, nothing)) as (then, otherwise):
        with then:
            # between the length and the objects, from Python 3.14 on, is the hash, or -1
            numbers = (tuple.__basicsize__ - _DATA - 8) // 8 * [ir.Constant(I64, -1)]
            for k, one in enumerate([*numbers, *objects]):
                place = builder.add(made, ir.Constant(I64, _DATA + 8 + 8 * k))
                builder.store(one, builder.inttoptr(place, I64.as_pointer()))
        with otherwise:
            for one in objects:
                _call(builder, "Py_DecRef", ir.VoidType(), one)
    return made


@_define(given.is_nothing, types.boolean, _object)
def _lower_is_nothing(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.icmp_signed("==", args[0], ir.Constant(I64, 0))


@_define(given.drop, types.void, _object)
def _lower_drop(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _call(builder, "Py_DecRef", ir.VoidType(), args[0])
    return context.get_dummy_value()


@_define(given.address, types.int64, _object)
def _lower_address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@_define(given.number, types.int64, _object)
def _lower_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _call(builder, "PyLong_AsLongLong", I64, args[0])


@_define(given.as_object, _object, types.int64)
def _lower_as_object(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _call(builder, "PyLong_FromLongLong", I64, args[0])
