"""Users' functions of floats called with dual numbers: those of `math` and NumPy that know floats only are replaced.

The copy sees what the function sees outside itself at the moment, as Python does.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ...compiling.fingerprint import names
from .frozen import is_ours
from .unasked import STAND_INS


def _stand_in(module: ModuleType) -> ModuleType:
    made = ModuleType(module.__name__)
    vars(made).update({name: STAND_INS.get(id(value), value) for name, value in vars(module).items()})
    return made


_MODULES = {id(module): _stand_in(module) for module in (math, np)}


class Lifted:
    """A plain function that is called with numbers of any scalar.

    Parameters
    ----------
    function : function
    """

    def __init__(self, function: FunctionType) -> None:
        #: Of each copy: its globals, those of the original, and the names in them that may mean something else later.
        self._outside: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = []
        self._copies: dict[int, FunctionType] = {}
        self._function = self._copy(function)

    def __call__(self, *arguments: Any) -> Any:
        for own, original, changing in self._outside:
            for name in changing:
                if name in original:
                    own[name] = original[name]
        return self._function(*arguments)

    def _copy(self, function: FunctionType) -> Callable[..., Any]:
        if id(function) in self._copies:
            return self._copies[id(function)]
        own: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
        copy = FunctionType(function.__code__, own, function.__name__, function.__defaults__, function.__closure__)
        copy.__kwdefaults__ = function.__kwdefaults__
        self._copies[id(function)] = copy
        changing = []
        for name in names(function.__code__):
            if name not in function.__globals__:
                continue
            value = own[name] = function.__globals__[name]
            if id(value) in _MODULES or id(value) in STAND_INS:
                own[name] = _MODULES.get(id(value)) or STAND_INS[id(value)]
            elif isinstance(value, FunctionType) and not is_ours(value):
                own[name] = self._copy(value)
            else:
                changing.append(name)
        self._outside.append((own, function.__globals__, changing))
        return copy


def lifted(function: Any) -> Any:
    """A function of floats as one of any scalar; what is no plain function as it is."""
    return Lifted(function) if isinstance(function, FunctionType) and not is_ours(function) else function
