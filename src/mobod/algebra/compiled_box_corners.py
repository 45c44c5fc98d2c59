"""`box_corners` compiled: eight corners as lanes where a record holds one state."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import overload

from ..compiling.engine import OPTIONS
from . import box_corners
from .compiled_primitive import primitive
from .lanes import VECTOR, WIDTH, Lanes, lanes

_I32 = ir.IntType(32)


def _signs_along(axis: Any) -> Any:
    """The eight corners' signs along an axis."""


def _sum_of_lanes(value: Any) -> Any:
    """The sum of eight lanes."""


@primitive(_signs_along, types.IntegerLiteral, result=lanes)
def _lower_signs(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    values = [1.0 if corner >> sig.args[0].literal_value & 1 else -1.0 for corner in range(WIDTH)]
    return ir.Constant(VECTOR, [ir.Constant(ir.DoubleType(), value) for value in values])


@primitive(_sum_of_lanes, Lanes, result=types.float64)
def _lower_sum(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    x, n = args[0], WIDTH
    while n > 1:  # halves, in an order that is the same on every processor
        n //= 2
        low, high = (ir.Constant(ir.VectorType(_I32, n), list(range(k, k + n))) for k in (0, n))
        x = builder.fadd(builder.shuffle_vector(x, x, low), builder.shuffle_vector(x, x, high))
    return builder.extract_element(x, ir.Constant(_I32, 0))


@overload(box_corners.num_turns, jit_options=OPTIONS, strict=False)
def _num_turns(x: Any) -> Any:
    return (lambda x: 1) if isinstance(x, types.Float) else (lambda x: 8)


@overload(box_corners.signs, jit_options=OPTIONS, strict=False)
def _compiled_signs(turn: Any, x: Any) -> Any:
    if isinstance(x, types.Float):
        return lambda turn, x: (_signs_along(0), _signs_along(1), _signs_along(2))

    def implementation(turn: Any, x: Any) -> Any:
        along, across = 1.0 if turn & 1 else -1.0, 1.0 if turn & 2 else -1.0
        return along, across, 1.0 if turn & 4 else -1.0

    return implementation


@overload(box_corners.together, jit_options=OPTIONS, strict=False)
def _together(value: Any, x: Any) -> Any:
    if isinstance(x, types.Float):
        return lambda value, x: _sum_of_lanes(value)
    return lambda value, x: value
