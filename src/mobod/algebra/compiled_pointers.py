"""`pointers` compiled: arrays whose words are read where a block is."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np.arrayobj import populate_array

from . import pointers
from .compiled_primitive import primitive

_I64, _F64 = ir.IntType(64), ir.DoubleType()


def _define(function: Any, dtype: Any, dimensions: int) -> None:
    made = types.Array(dtype, dimensions, "C")

    @primitive(function, types.Integer, types.Integer, result=made)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        words = builder.inttoptr(args[0], _I64.as_pointer())
        first = builder.mul(args[1], ir.Constant(_I64, pointers.WORDS))

        def word(k: int) -> Any:
            return builder.load(builder.gep(words, [builder.add(first, ir.Constant(_I64, k))], inbounds=True))

        array = context.make_array(made)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(dtype))
        shape, step = [word(1 + d) for d in range(dimensions)], ir.Constant(_I64, size)
        strides: list[Any] = []
        for length in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, length)
        data = builder.inttoptr(word(0), array.data.type)
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=ir.Constant(_I64, size), meminfo=None)
        return array._getvalue()  # noqa: SLF001


for _function, _dtype, _dimensions in (
    (pointers.integers1, types.int64, 1),
    (pointers.integers2, types.int64, 2),
    (pointers.bytes1, types.uint8, 1),
    (pointers.bytes2, types.uint8, 2),
    (pointers.numbers1, types.float64, 1),
    (pointers.numbers2, types.float64, 2),
    (pointers.numbers3, types.float64, 3),
):
    _define(_function, _dtype, _dimensions)


def _place(builder: Any, address: Any, place: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _F64.as_pointer()), [place])


@primitive(pointers.number_at, types.Integer, types.Integer, result=types.float64)
def _lower_number_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_place(builder, *args))


@primitive(pointers.put_number_at, types.Integer, types.Integer, types.Float, result=types.none)
def _lower_put_number_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[2], _place(builder, args[0], args[1]))
    return context.get_dummy_value()
