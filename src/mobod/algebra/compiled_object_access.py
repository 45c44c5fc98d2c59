"""`object_access` compiled: NumPy's arrays read where they lie, by the layout that its C interface promises."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding as llvm, ir
from numba.core import cgutils, types
from numba.np.arrayobj import populate_array

from . import mirrors, object_access, object_layout
from .compiled_dual import dual8
from .compiled_primitive import held_as, primitive
from .compiled_record import RecordType, Rows, _align_stack as align_stack
from .lanes import I64
from .object_layout import DATA, DESCRIPTION, ITEMS, LENGTHS, LISTED, NUMBER_OF_DIMENSIONS, STRIDES, TYPE

#: What compiled code finds by name: what makes arrays, tuples without objects, one more reference to an object and one less,
#: which are Python's and NumPy's own unless `mirrors` serves, and types.
_NEW_ARRAY, _NEW_TUPLE, _KEEP, _DROP = "mobod_new_array", "mobod_new_tuple", "mobod_keep_object", "mobod_drop_object"
_TYPES: dict[str, type] = {
    "arrays": np.ndarray, "numbers": np.float64, "floats": float, "integers": int, "lists": list, "tuples": tuple,
}  # fmt: skip
_ARRAYS, _NUMBERS, _FLOATS, _INTEGERS, _LISTS, _TUPLES = (f"mobod_type_of_{one}" for one in _TYPES)


def _name_functions() -> None:
    why_plain = object_layout.why_plain()
    if why_plain:
        addresses = mirrors.functions()
        if not why_plain.startswith("MOBOD_"):
            warnings.warn(f"{why_plain}: each call of mobod from Python takes some 30 us longer", RuntimeWarning, stacklevel=2)
    else:
        make, keep, drop = map(_of_python, ("PyType_GenericAlloc", "Py_IncRef", "Py_DecRef"))
        addresses = object_layout.new_array_function(), make, keep, drop
    for name, address in zip((_NEW_ARRAY, _NEW_TUPLE, _KEEP, _DROP), addresses, strict=True):
        llvm.add_symbol(name, address)
    for name, kind in _TYPES.items():
        llvm.add_symbol(f"mobod_type_of_{name}", id(kind))


def _of_python(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


_name_functions()


class Object(types.Type):
    """Any object of Python, which lives as long as the call."""

    def __init__(self) -> None:
        super().__init__(name="Object")


_object = Object()


held_as(Object, I64)


def _read(builder: Any, address: Any, offset: int, kind: Any = I64) -> Any:
    place = builder.inttoptr(builder.add(address, ir.Constant(I64, offset)), kind.as_pointer())
    return builder.load(place)


def _call(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """Call a function of Python's by its name; objects are addresses."""
    of_name = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, of_name, name), arguments)


def _named(builder: Any, name: str) -> Any:
    """The address that has this name."""
    return builder.ptrtoint(cgutils.get_or_insert_function(builder.module, ir.FunctionType(I64, []), name), I64)


def _is_of_shape(builder: Any, one: Any, plain: Any, count: Any, length: Callable[[Any], Any]) -> Any:
    """One test at a time: an object of another type is shorter, and one of other dimensions has other lengths."""
    result = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), 0))
    with builder.if_then(builder.icmp_signed("==", _read(builder, one, TYPE), _read(builder, plain, TYPE))):
        dimensions = builder.zext(_read(builder, one, NUMBER_OF_DIMENSIONS, ir.IntType(32)), I64)
        as_many = builder.icmp_signed("==", dimensions, count)
        same = builder.icmp_signed("==", _read(builder, one, DESCRIPTION), _read(builder, plain, DESCRIPTION))
        with builder.if_then(builder.and_(as_many, same)):
            odd = builder.and_(_read(builder, one, DATA), ir.Constant(I64, 7))
            builder.store(builder.icmp_signed("==", odd, ir.Constant(I64, 0)), result)
            width = cgutils.alloca_once_value(builder, ir.Constant(I64, 8))
            with cgutils.for_range(builder, count) as loop:  # the last dimension first
                k = builder.sub(builder.sub(count, ir.Constant(I64, 1)), loop.index)
                at = builder.mul(k, ir.Constant(I64, 8))
                own, stride = (_read(builder, builder.add(_read(builder, one, of), at), 0) for of in (LENGTHS, STRIDES))
                # an empty array has any stride
                empty = builder.icmp_signed("==", own, ir.Constant(I64, 0))
                touching = builder.or_(empty, builder.icmp_signed("==", stride, builder.load(width)))
                fits = builder.and_(builder.icmp_signed("==", own, length(k)), touching)
                builder.store(builder.and_(fits, builder.load(result)), result)
                builder.store(builder.mul(own, builder.load(width)), width)
    return builder.load(result)


def _is_row(builder: Any, one: Any, plain: Any, length: Any) -> Any:
    return _is_of_shape(builder, one, plain, ir.Constant(I64, 1), lambda k: length)


@primitive(object_access.is_row, _object, _object, types.int64, result=types.boolean)
def _lower_is_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _is_row(builder, *args)


@primitive(object_access.is_of_shape, _object, _object, _object, result=types.boolean)
def _lower_is_of_shape(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    one, plain, shape = args

    def length(k: Any) -> Any:
        return _call(builder, "PyLong_AsLongLong", I64, _lower_item(context, builder, sig, (shape, k)))

    return _is_of_shape(builder, one, plain, _read(builder, shape, DATA), length)


def _is_of(builder: Any, one: Any, *names: str) -> Any:
    """True if the type of an object has one of these names."""
    result, kind = cgutils.false_bit, _read(builder, one, TYPE)
    for name in names:
        result = builder.or_(result, builder.icmp_signed("==", kind, _named(builder, name)))
    return result


@primitive(object_access.length, _object, result=types.int64)
def _lower_length(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read(builder, _read(builder, args[0], LENGTHS), 0)


@primitive(object_access.is_listed, _object, result=types.boolean)
def _lower_is_listed(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _is_of(builder, args[0], _LISTS, _TUPLES)


@primitive(object_access.part, _object, types.int64, result=_object)
def _lower_part(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    one, k = args
    begin = builder.select(_is_of(builder, one, _LISTS), _read(builder, one, LISTED), builder.add(one, ir.Constant(I64, ITEMS)))
    return _read(builder, builder.add(begin, builder.mul(k, ir.Constant(I64, 8))), 0)


@primitive(object_access.real_or_nan, _object, result=types.float64)
def _lower_real_or_nan(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    double = ir.DoubleType()
    result = cgutils.alloca_once_value(builder, ir.Constant(double, float("nan")))
    with builder.if_then(_is_of(builder, args[0], _FLOATS, _NUMBERS)):
        builder.store(_read(builder, args[0], DATA, double), result)
    with builder.if_then(_is_of(builder, args[0], _INTEGERS)):
        found = _call(builder, "PyLong_AsDouble", double, args[0])
        # of one that is too large, with an error of Python's
        with builder.if_else(builder.fcmp_ordered("==", found, ir.Constant(double, -1.0))) as (then, otherwise):
            with then:
                _call(builder, "PyErr_Clear", ir.VoidType())
            with otherwise:
                builder.store(found, result)
    return builder.load(result)


@primitive(object_access.real, _object, result=types.float64)
def _lower_real(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read(builder, args[0], DATA, ir.DoubleType())


@primitive(object_access.num_items, _object, result=types.int64)
def _lower_num_items(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read(builder, args[0], DATA)


@primitive(object_access.is_like, _object, _object, result=types.boolean)
def _lower_is_like(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    one, other = args
    result = cgutils.alloca_once_value(builder, builder.icmp_signed("==", one, other))
    with builder.if_then(builder.not_(builder.load(result))):
        builder.store(_is_row(builder, one, other, _read(builder, _read(builder, other, LENGTHS), 0)), result)
    return builder.load(result)


@primitive(object_access.copy, _object, _object, result=types.void)
def _lower_copy(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    source, target = (builder.inttoptr(_read(builder, one, DATA), ir.DoubleType().as_pointer()) for one in args)
    length = _read(builder, _read(builder, args[0], LENGTHS), 0)
    cgutils.raw_memmove(builder, target, source, length, 8)
    return context.get_dummy_value()


@primitive(object_access.numbers, _object, result=Rows("state", 1, types.float64))
def _lower_numbers(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.inttoptr(_read(builder, args[0], DATA), ir.DoubleType().as_pointer())


@primitive(object_access.duals_of, _object, result=RecordType(dual8))
@primitive(object_access.record_of, _object, result=RecordType(types.float64))
def _lower_record(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    align_stack(builder)
    return builder.inttoptr(_read(builder, args[0], DATA), I64.as_pointer())


@primitive(object_access.item, _object, types.int64, result=_object)
def _lower_item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    place = builder.add(args[0], builder.mul(args[1], ir.Constant(I64, 8)))
    return _read(builder, place, ITEMS)


def _array(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """A plain array of Numba's, which neither counts references nor asks Python."""
    array = context.make_array(sig.return_type)(context, builder)
    lengths, strides = (
        [_read(builder, _read(builder, args[0], at), 8 * k) for k in range(sig.return_type.ndim)] for at in (LENGTHS, STRIDES)
    )
    data = builder.inttoptr(_read(builder, args[0], DATA), array.data.type)
    populate_array(array, data, lengths, strides, ir.Constant(I64, 8), None)
    return array._getvalue()  # noqa: SLF001  (Numba's own name for it)


primitive(object_access.integers, _object, result=types.Array(types.int64, 1, "C"))(_array)
primitive(object_access.table, _object, result=types.Array(types.int64, 2, "C"))(_array)
primitive(object_access.matrix, _object, result=types.Array(types.float64, 2, "C"))(_array)
primitive(object_access.blocks, _object, result=types.Array(types.float64, 3, "C"))(_array)


@primitive(object_access.integer, _object, result=types.int64)
def _lower_integer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read(builder, _read(builder, args[0], DATA), 0)


@primitive(object_access.release_gil, types.boolean, result=types.int64)
def _lower_release(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    thread = cgutils.alloca_once_value(builder, ir.Constant(I64, 0))
    with builder.if_then(args[0]):
        builder.store(_call(builder, "PyEval_SaveThread", I64), thread)
    return builder.load(thread)


@primitive(object_access.acquire_gil, types.int64, result=types.void)
def _lower_acquire(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    with builder.if_then(builder.icmp_signed("!=", args[0], ir.Constant(I64, 0))):
        _call(builder, "PyEval_RestoreThread", ir.VoidType(), args[0])
    return context.get_dummy_value()


# the number of items is known when the kernel is compiled
@primitive(
    object_access.each,
    *(types.int64, types.IntegerLiteral),
    result=lambda arguments, count: types.UniTuple(_object, count.literal_value),
)
def _lower_each(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    objects = [_read(builder, args[0], 8 * k) for k in range(sig.return_type.count)]
    return context.make_tuple(builder, sig.return_type, objects)


def _define_new(function: Any, dimensions: int) -> None:
    """`PyArray_New(type, nd, dims, type_num, strides, data, itemsize, flags, obj)`, of lengths that are all the same."""

    @primitive(function, types.int64, result=_object)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        integer, nothing, zero = ir.IntType(32), ir.Constant(I64, 0), ir.Constant(ir.IntType(32), 0)
        lengths = cgutils.alloca_once(builder, ir.ArrayType(I64, dimensions))
        builder.store(cgutils.pack_array(builder, dimensions * [args[0]]), lengths)
        kind = _named(builder, _ARRAYS)
        first, double = builder.ptrtoint(lengths, I64), ir.Constant(integer, np.dtype(np.float64).num)
        count = ir.Constant(integer, dimensions)
        return _call(builder, _NEW_ARRAY, I64, kind, count, first, double, nothing, nothing, zero, zero, nothing)


_define_new(object_access.new_row, 1)
_define_new(object_access.new_matrix, 2)


@primitive(object_access.keep, _object, result=_object)
def _lower_keep(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _call(builder, _KEEP, ir.VoidType(), args[0])
    return args[0]


@primitive(object_access.new_tuple, _object, types.UniTuple, result=_object)
def _lower_new_tuple(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """`PyType_GenericAlloc`; the tuple's places are empty before."""
    objects, nothing = cgutils.unpack_tuple(builder, args[1]), ir.Constant(I64, 0)
    result = cgutils.alloca_once_value(builder, nothing)
    there = cgutils.true_bit
    for one in objects:
        there = builder.and_(there, builder.icmp_signed("!=", one, nothing))
    with builder.if_then(there):
        builder.store(_call(builder, _NEW_TUPLE, I64, args[0], ir.Constant(I64, len(objects))), result)
    made = builder.load(result)
    with builder.if_else(builder.icmp_signed("!=", made, nothing)) as (then, otherwise):
        with then:
            between = object_layout.words_before_items() * [ir.Constant(I64, -1)]
            for k, one in enumerate([*between, *objects]):
                place = builder.add(made, ir.Constant(I64, DATA + 8 + 8 * k))
                builder.store(one, builder.inttoptr(place, I64.as_pointer()))
        with otherwise:
            for one in objects:
                _call(builder, _DROP, ir.VoidType(), one)
    return made


@primitive(object_access.is_nothing, _object, result=types.boolean)
def _lower_is_nothing(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.icmp_signed("==", args[0], ir.Constant(I64, 0))


@primitive(object_access.drop, _object, result=types.void)
def _lower_drop(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _call(builder, _DROP, ir.VoidType(), args[0])
    return context.get_dummy_value()


@primitive(object_access.wrong_call, result=types.int64)
def _lower_wrong_call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _call(builder, "PyErr_BadArgument", ir.IntType(32))
    return ir.Constant(I64, 0)


@primitive(object_access.address, _object, result=types.int64)
def _lower_address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@primitive(object_access.number, _object, result=types.int64)
def _lower_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _call(builder, "PyLong_AsLongLong", I64, args[0])


@primitive(object_access.as_object, types.int64, result=_object)
def _lower_as_object(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _call(builder, "PyLong_FromLongLong", I64, args[0])
