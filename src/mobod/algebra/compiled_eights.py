"""`eights` compiled: a block of eight times eight numbers is turned by 24 shuffles of two registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from . import eights
from .compiled_primitive import primitive
from .lanes import I64, VECTOR, WIDTH

_I32 = ir.IntType(32)


def _mask(places: list[int]) -> Any:
    return ir.Constant(ir.VectorType(_I32, WIDTH), places)


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """The columns of eight vectors: blocks of 1, 2 and 4 numbers beside the diagonal change places."""
    for step in (1, 2, 4):
        kept = range(WIDTH)
        low = _mask([k if not k & step else WIDTH + k - step for k in kept])
        high = _mask([k + step if not k & step else WIDTH + k for k in kept])
        turned = list(rows)
        for k in kept:
            if not k & step:
                turned[k] = builder.shuffle_vector(rows[k], rows[k | step], low)
                turned[k | step] = builder.shuffle_vector(rows[k], rows[k | step], high)
        rows = turned
    return rows


@primitive(eights.put_eight, types.Array, types.Integer, types.Array, types.Integer, types.Integer, result=types.void)
def _lower_put_eight(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    def vector_at(data: Any, at: Any) -> Any:
        return builder.bitcast(builder.gep(data, [at], inbounds=True), VECTOR.as_pointer())

    numbers, target = (context.make_array(sig.args[k])(context, builder, args[k]) for k in (0, 2))
    width = ir.Constant(I64, WIDTH)
    at, rows = builder.mul(args[1], width), []
    for _ in range(WIDTH):
        rows.append(builder.load(vector_at(numbers.data, at), align=8))
        at = builder.add(at, width)
    columns = builder.extract_value(target.shape, 1)
    at = builder.add(builder.mul(args[3], columns), args[4])
    for row in _turned(builder, rows):
        builder.store(row, vector_at(target.data, at), align=8)
        at = builder.add(at, columns)
    return context.get_dummy_value()
