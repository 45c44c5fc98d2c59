"""Users' functions that are compiled without being asked: of which it is sure that they go on to compute what they do now.

Python looks up what a function finds outside itself each time it is called; compiled code has it as it was. So a function
is taken only if what it refers to does not change: other functions, modules, and numbers in its defaults or closure.
Functions of `math` and NumPy that know floats only are replaced by those of `mobod.algebra` of the same name.
"""

from __future__ import annotations

import dis
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...algebra import scalar
from ...errors import ModelError
from ..base import Function
from .frozen import Frozen, is_ours
from .trial import try_out

#: Of `math` and NumPy, by the package's name for them.
_NAMES = {
    **{name: (name,) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "floor")},
    **{"asin": ("asin", "arcsin"), "acos": ("acos", "arccos"), "atan": ("atan", "arctan"), "atan2": ("atan2", "arctan2")},
    **{"absolute": ("fabs", "absolute"), "power": ("pow", "power", "float_power")},
    **{"minimum": ("minimum",), "maximum": ("maximum",)},
}
#: What stands in for a function that knows floats only.
STAND_INS = {
    id(getattr(module, name)): getattr(scalar, ours)
    for ours, names in _NAMES.items()
    for name in names
    for module in (math, np)
    if hasattr(module, name)
}


def compilable(function: Any, name: str, places: Sequence[Mapping[str, Any]], shape: str) -> tuple[Frozen | None, str]:
    """A function frozen for compilation, if that can be done without being asked; and if not, why.

    Parameters
    ----------
    function : callable
    name : str
        What it is to the part that has it.
    places : sequence of mapping
        Arguments by name, at which it is tried out.
    shape : str
        What it is to return, in words.

    Returns
    -------
    Frozen or None
    str
        Where and why not: ``line 12 of cam.py: a dict``.
    """
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        return None, f"{_said(plain)}, no plain function"
    try:
        why = next(_changeable(plain, set()), "")
        if why:
            return None, why
        frozen = Frozen(plain, name, stand_ins=STAND_INS)
        if frozen.fingerprint is None:
            return None, f"{_place(plain)}: what it refers to"
        try_out(frozen, places, shape, _number)
    except (ModelError, TypeError, RecursionError) as error:
        return None, f"{_place(plain)}: {str(error).removeprefix(f'{name} ({_qualified(plain)}) ')}"
    return frozen, ""


def _number(value: Any, _: Any) -> None:
    if not isinstance(value, (int, float, np.floating, np.integer)):
        raise ModelError(f"it returns {value!r}, no number")


def _changeable(function: FunctionType, seen: set[int]) -> Iterator[str]:
    """Values that a function refers to and that may change, or of which that is not known."""
    if id(function) in seen or is_ours(function):
        return
    seen.add(id(function))
    for name in _global_names(function.__code__):
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if isinstance(value, FunctionType):
            yield from _changeable(value, seen)
        elif not isinstance(value, (ModuleType, BuiltinFunctionType, np.ufunc, Function)):
            yield f"{_place(function)}: {name}, {_said(value)} that may change; as a default argument it would not"
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name, cell in cells.items():
        try:
            value = cell.cell_contents
        except ValueError:
            yield f"{_place(function)}: {name}, which is not there yet"
            continue
        yield from _of_value(function, value, seen)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield from _of_value(function, value, seen)


def _of_value(function: FunctionType, value: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(value, FunctionType):
        yield from _changeable(value, seen)
    elif isinstance(value, tuple):
        for one in value:
            yield from _of_value(function, one, seen)
    elif not (
        value is None
        or isinstance(value, (bool, int, float, str, np.generic, ModuleType, BuiltinFunctionType, np.ufunc, Function))
    ):
        yield f"{_place(function)}: {_said(value)}"


def _global_names(code: CodeType) -> set[str]:
    names = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_global_names(one) for one in code.co_consts if isinstance(one, CodeType)))


def _said(value: Any) -> str:
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def _place(function: FunctionType) -> str:
    code = function.__code__
    return f"line {code.co_firstlineno} of {Path(code.co_filename).name}"


def _qualified(function: FunctionType) -> str:
    code = function.__code__
    return f"{function.__qualname__}, {Path(code.co_filename).name}:{code.co_firstlineno}"
