"""The package's functions as plain functions of any scalar, for users' own compiled functions that call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.scalar import zero
from .base import Function, FunctionKind
from .custom import Custom
from .expression import Expression
from .multiplier import Multiplier
from .routines import is_compiled, jet_of
from .users.unrolled import listed, unrolled


def as_plain_function(function: Function) -> Callable[..., Any] | None:
    """``f(x)``, x a number, or a tuple for several arguments; None for what only Python can evaluate."""
    core, scale = function.core() if isinstance(function, Multiplier) else (function, 1.0)
    if not isinstance(core, FunctionKind) or not is_compiled(core) or core.get_argument_size() == 0:
        return None
    inner = _of_kind(core)
    if core is function:
        return inner

    def multiple(x: Any) -> Any:
        return scale * inner(x)

    return multiple


def _of_kind(function: FunctionKind) -> Callable[..., Any]:
    size = function.get_argument_size()
    own_integers, own_numbers = function.pack()
    if function.is_affine:
        places = ["x"] if size == 1 else [f"x[{k}]" for k in range(size)]
        terms = [f"{float(c)!r} * {place}" for c, place in zip(own_numbers, places, strict=False)]
        return unrolled("x", f"return {' + '.join([*terms, repr(float(own_numbers[size]))])}")
    if isinstance(function, Expression):
        of_tuple = function.of_scalars
        return of_tuple if size > 1 else lambda x: of_tuple((x,))
    if isinstance(function, Custom):
        return function.frozen
    jet = jet_of(function.routine)
    integers, numbers = np.array(own_integers, np.int64), np.array(own_numbers, np.float64)
    if size == 1:

        def of_one(x: Any) -> Any:
            return jet(integers, 0, numbers, 0, x)[0]

        return of_one
    still = unrolled("x", f"return {listed(['zero(x[0])'] * size)}", zero=zero)

    def of_several(x: Any) -> Any:
        return jet(integers, 0, numbers, 0, x, still(x))[0]

    return of_several
