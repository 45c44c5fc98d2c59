"""Rows of arrays that are not counted, for loops that hand them to users' functions.

A view that Numba makes holds its array by a counter, which threads share: up and down again costs 10 ns, and where the function
has a branch that is not optimized away. A loop over arrays that its caller holds need not count.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj


def _row(typing: Any, array: Any, i: Any) -> Any:
    # of other layouts a row has strides of its own
    result = array.copy(ndim=array.ndim - 1, layout="C" if array.layout == "C" else "A")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays: Any = arrayobj  # which have no types
        tools: Any = cgutils
        whole = context.make_array(signature.args[0])(context, builder, arguments[0])
        strides, shape = tools.unpack_tuple(builder, whole.strides), tools.unpack_tuple(builder, whole.shape)
        first = tools.pointer_add(builder, whole.data, builder.mul(strides[0], arguments[1]), return_type=whole.data.type)
        made = context.make_array(signature.return_type)(context, builder)
        arrays.populate_array(made, data=first, shape=shape[1:], strides=strides[1:], itemsize=whole.itemsize, meminfo=None)
        return made._getvalue()  # noqa: SLF001  (as Numba's own do)

    return result(array, types.intp), generate


#: ``row(array, i)`` in compiled code: ``array[i]`` of an array of two dimensions or more.
row: Any = intrinsic(_row)
