"""`counter` compiled: to the processor's atomic instructions."""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_or_insert_function

from . import counter
from .compiled_primitive import primitive

#: LLVM's name for what waits politely, by processor: it saves power and makes room for the other thread of a core.
_PAUSES = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}


def _element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = context.make_array(sig.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]], inbounds=True)


@primitive(counter.add, types.Array, types.Integer, types.Integer, result=types.int64)
def _lower_add(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.atomic_rmw("add", _element(context, builder, sig, args), args[2], "acq_rel")


@primitive(counter.value, types.Array, types.Integer, result=types.int64)
def _lower_value(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load_atomic(_element(context, builder, sig, args), "acquire", 8)


@primitive(counter.pause, result=types.void)
def _lower_pause(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    name = _PAUSES.get(platform.machine())
    if name is not None:
        function: Any = get_or_insert_function  # without types in Numba
        builder.call(function(builder.module, ir.FunctionType(ir.VoidType(), []), name), [])
    return context.get_dummy_value()
