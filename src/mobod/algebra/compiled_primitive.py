"""Primitives: functions that kernels call, given to Numba by the kinds of their arguments and by what they are in LLVM."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

#: Arguments of these kinds are taken as one type of Numba's; those of others stay what they are.
_TAKEN_AS = {types.Integer: types.int64, types.Float: types.float64, types.Boolean: types.boolean}


def primitive(function: Any, *kinds: Any, result: Any) -> Callable[[Any], Any]:
    """Decorate the form in LLVM of a function that kernels call.

    Parameters
    ----------
    function : callable
        What the call is of in Python; it may be a primitive of arguments of other kinds, too.
    *kinds : Numba type, class of such, or tuple of these
        One an argument, of which there may be several; the last may be a ``VarArg``.
    result : Numba type or callable
        What it gives; or a function of the types of its arguments that says so, or None where they do not suit.
    """
    choices = [kind if isinstance(kind, tuple) else (kind,) for kind in kinds]
    rest = choices.pop()[0].dtype if kinds and isinstance(kinds[-1], types.VarArg) else None

    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            more = len(args) - len(choices)
            if more < 0 or (more > 0 and rest is None):
                return None
            taken = [_taken(*pair) for pair in zip(args, [*choices, *[(rest,)] * more], strict=True)]
            made = None if None in taken else result if isinstance(result, types.Type) else result(*taken)
            return None if made is None else signature(made, *taken)

    def register(lower: Any) -> Any:
        for each in product(*choices):
            lower_builtin(function, *each, *([] if rest is None else [kinds[-1]]))(lower)
        return lower

    return register


def _taken(given: Any, kinds: tuple[Any, ...]) -> Any:
    """The type of Numba's as which an argument is taken, by the first of *kinds* that has it; None where there is none."""
    for kind in kinds:
        becomes = _TAKEN_AS.get(kind, kind)
        if kind is types.Any or (not isinstance(becomes, types.Type) and isinstance(given, kind)):
            return given
        if given == becomes or (isinstance(given, (types.Integer, types.Float)) and isinstance(becomes, types.Number)):
            return becomes
    return None


def same(one: Any) -> Any:
    """The result of a primitive that has the type of its only argument."""
    return one


def held_as(kind: Any, llvm: Any) -> None:
    """Let values of a Numba type be of one type of LLVM, or of the one that *llvm* gives for it."""

    @register_model(kind)
    class _Model(models.PrimitiveModel):
        def __init__(self, dmm: Any, fe_type: Any) -> None:
            super().__init__(dmm, fe_type, llvm if isinstance(llvm, ir.Type) else llvm(fe_type))
