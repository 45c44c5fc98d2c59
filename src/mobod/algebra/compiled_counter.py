"""`counter` compiled: to the processor's atomic instructions."""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, overload

from ..compiling.engine import OPTIONS
from . import counter

#: LLVM's name for what waits politely, by processor: it saves power and makes room for the other thread of a core.
_PAUSES = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}


def _element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = context.make_array(sig.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]], inbounds=True)


def _add(typing_context: Any, counters: Any, place: Any, amount: Any) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _element(context, builder, sig, args), args[2], "acq_rel")

    return types.int64(counters, types.int64, types.int64), lower


def _value(typing_context: Any, counters: Any, place: Any) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load_atomic(_element(context, builder, sig, args), "acquire", 8)

    return types.int64(counters, types.int64), lower


def _pause(typing_context: Any) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        name = _PAUSES.get(platform.machine())
        if name is not None:
            function: Any = get_or_insert_function  # without types in Numba
            builder.call(function(builder.module, ir.FunctionType(ir.VoidType(), []), name), [])
        return context.get_dummy_value()

    return types.void(), lower


_atomic_add: Any = intrinsic(_add)
_atomic_value: Any = intrinsic(_value)
_wait: Any = intrinsic(_pause)


@overload(counter.add, jit_options=OPTIONS, strict=False)
def _compiled_add(counters: Any, place: Any, amount: Any) -> Any:
    return lambda counters, place, amount: _atomic_add(counters, place, amount)


@overload(counter.value, jit_options=OPTIONS, strict=False)
def _compiled_value(counters: Any, place: Any) -> Any:
    return lambda counters, place: _atomic_value(counters, place)


@overload(counter.pause, jit_options=OPTIONS, strict=False)
def _compiled_pause() -> Any:
    return lambda: _wait()
