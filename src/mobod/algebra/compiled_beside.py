"""`beside` compiled."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from . import beside
from .lanes import VECTOR, Lanes, lanes

_I32 = ir.IntType(32)


@infer_global(beside.three_beside)
class _BesideTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        kind = lanes if lanes in args else types.float64
        return signature(lanes, kind, kind, kind) if len(args) == 3 else None


@lower_builtin(beside.three_beside, types.Float, types.Float, types.Float)
def _lower_beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    found = ir.Constant(VECTOR, ir.Undefined)
    for k, number in enumerate(args):
        found = builder.insert_element(found, number, ir.Constant(_I32, k))
    places = ir.Constant(ir.VectorType(_I32, 8), [0, 1, 2, 2, 0, 1, 2, 2])
    return builder.shuffle_vector(found, ir.Constant(VECTOR, ir.Undefined), places)


@lower_builtin(beside.three_beside, Lanes, Lanes, Lanes)
def _lower_first(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@infer_global(beside.taken)
class _TakenTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        like = lanes if args[2] == lanes else types.float64
        return signature(like, lanes, types.int64, like) if args[0] == lanes else None


@lower_builtin(beside.taken, Lanes, types.Integer, types.Float)
def _lower_taken(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_element(args[0], args[1])


@lower_builtin(beside.taken, Lanes, types.Integer, Lanes)
def _lower_whole(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]
