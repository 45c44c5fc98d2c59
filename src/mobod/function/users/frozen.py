"""Frozen copies of users' functions for compilation, with a fingerprint of all that they are made of.

Numba takes what a function finds outside itself (numbers, other functions) as constants when it first compiles it. So that the
time of compilation does not matter, a function is copied when it is given, with all the functions that it calls and the present
numbers; the copy is what is compiled, or run by Python. The fingerprint is a hash of bytecodes, constants, defaults, closures
and of what the globals refer to: it names the compiled code on disk, so that the next process finds it, and an edited function
does not. What cannot be hashed, an object of a user's own class say, makes it None: such a function is compiled in every
process.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...compiling import is_generic
from ...compiling.fingerprint import code_facts, names
from ...errors import ModelError
from ..base import Function

#: Modules whose functions know floats only.
FLOATS_ONLY = ("math", "cmath", "numpy", "scipy")
#: Modules that are taken as they are.
_AS_THEY_ARE = (*FLOATS_ONLY, "numba", "mobod", "builtins")
_SAME = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "floor", "where")
_OTHER = {
    **{"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "copysign": "where", "sign": "where"},
    **{"pow": "power", "power": "power", "float_power": "power", "fabs": "abs", "abs": "abs", "absolute": "abs"},
    **{"fmin": "minimum", "fmax": "maximum", "minimum": "minimum", "maximum": "maximum"},
}
_INSTEAD = {
    **{name: f"algebra.{name}" for name in _SAME},
    **{name: f"algebra.{instead}" for name, instead in _OTHER.items()},
    "interp": "function.Table, which it may call",
}


class Frozen:
    """A user's function, copied with all that it refers to.

    Parameters
    ----------
    function : function
        A plain one, by ``def`` or ``lambda``; of one that Numba has compiled the Python function is taken.
    what : str
        What messages call it.
    of_floats : bool
        Whether it is called with floats, and arrays of these, alone, and may use NumPy.
    stand_ins : mapping, optional
        What takes the place of functions that know floats only, by their ``id``.

    Attributes
    ----------
    function : function
        The copy.
    parts : list of function
        It, and the copies of what it calls.
    fingerprint : str or None

    Raises
    ------
    TypeError
        If it is no plain function.
    ModelError
        If it uses functions that know floats only, such as `math.sin`.
    """

    def __init__(
        self, function: Any, what: str, of_floats: bool = False, stand_ins: Mapping[int, Callable[..., Any]] | None = None
    ) -> None:
        plain = getattr(function, "py_func", function)
        if not isinstance(plain, FunctionType) or inspect.iscoroutinefunction(plain) or inspect.isgeneratorfunction(plain):
            raise TypeError(
                f"{what} has to be a plain function, by def or lambda, not {function!r}: parts of objects are handed "
                "over as parameters"
            )
        self.what = f"{what} ({_place(plain)})"
        self.parts: list[FunctionType] = []
        self._copies: dict[int, FunctionType] = {}
        self._modules: dict[int, ModuleType] = {}
        self._kept_alive: list[Any] = []
        self._digest: Any = hashlib.blake2b(digest_size=16)
        self._hashable, self._of_floats, self._stand_ins = True, of_floats, stand_ins or {}
        self.function = self._copy(plain)

    @property
    def fingerprint(self) -> str | None:
        """A hash of all that the function is made of; None if that cannot be hashed."""
        return self._digest.hexdigest() if self._hashable else None

    def _note(self, *items: Any) -> None:
        self._digest.update(repr(items).encode() + b"\0")

    # ------------------------------------------------------------------------------------------ functions

    def _copy(self, function: FunctionType) -> FunctionType:
        """The copy of a function; each is copied once, so that functions may call one another in circles."""
        if id(function) in self._copies:
            copy = self._copies[id(function)]
            self._note("again", self.parts.index(copy))
            return copy
        if not self._of_floats:
            _refuse_functions_of_floats(function, self.what, self._stand_ins)
        code = function.__code__
        cells = tuple(CellType() for _ in function.__closure__ or ())
        # compiled code on disk names the module of each function in it: one that every process has
        namespace: dict[str, Any] = {"__builtins__": builtins, "__name__": __name__}
        copy = FunctionType(code, namespace, function.__name__, None, cells)
        copy.__qualname__, copy.__doc__ = function.__qualname__, function.__doc__
        self._copies[id(function)] = copy
        self._kept_alive.append(function)
        self.parts.append(copy)
        self._note("function", *code_facts(code))
        if function.__defaults__ is not None:
            copy.__defaults__ = self._value(function.__defaults__, code)
        if function.__kwdefaults__ is not None:
            copy.__kwdefaults__ = {name: self._value(x, code) for name, x in sorted(function.__kwdefaults__.items())}
        for name, new, old in zip(code.co_freevars, cells, function.__closure__ or (), strict=True):
            try:
                contents = old.cell_contents
            except ValueError:  # not filled yet: the function fails when it comes there, as it would have
                continue
            self._note("closure", name)
            new.cell_contents = self._value(contents, code)
        for name in names(code):
            if name in function.__globals__:
                self._note("global", name)
                namespace[name] = self._value(function.__globals__[name], code)
        return copy

    def _value(self, value: Any, code: CodeType) -> Any:
        """The value that a function finds under a name, frozen."""
        value = self._stand_ins.get(id(value), getattr(value, "py_func", value))
        if isinstance(value, FunctionType):
            if is_ours(value):
                self._note("mobod", value.__module__, value.__qualname__)
                return value
            return self._copy(value)
        if isinstance(value, ModuleType):
            return self._module(value, code)
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self._note(type(value).__name__, value.hex() if isinstance(value, float) else value)
            return value
        if isinstance(value, np.generic) and value.dtype.hasobject is False:
            self._note("numpy", value.dtype.str, value.tobytes())
            return value
        if type(value) is tuple:
            self._note("tuple", len(value))
            return tuple(self._value(x, code) for x in value)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._note("array", value.dtype.str, value.shape, value.tobytes())
            array = value.copy()
            array.flags.writeable = False
            return array
        if isinstance(value, Function):
            from .._in_kernels import as_plain_function  # which is made of what users' functions are made of

            plain = as_plain_function(value)
            if plain is None:
                raise ModelError(
                    f"{self.what} calls a function.{type(value).__name__}, which only Python can evaluate; call the Python "
                    "function itself, or a function of another kind"
                )
            return self._value(plain, code)
        is_known_class = isinstance(value, type) and value.__module__.partition(".")[0] in _AS_THEY_ARE
        if is_known_class or isinstance(value, BuiltinFunctionType):
            self._note("builtin", value.__module__, value.__qualname__)
            return value
        self._hashable = False
        return value

    def _module(self, module: ModuleType, code: CodeType) -> ModuleType:
        """A module: a user's own is copied, so that what is found in it is frozen too."""
        self._note("module", module.__name__)
        as_it_is = module.__name__.partition(".")[0] in _AS_THEY_ARE
        if as_it_is and not any(id(vars(module).get(name)) in self._stand_ins for name in names(code)):
            return module
        stand_in = self._modules.get(id(module))
        if stand_in is None:
            stand_in = self._modules[id(module)] = ModuleType(module.__name__)
            vars(stand_in).update(vars(module))
            self._kept_alive.append(module)
        for name in names(code):
            if name in vars(module):
                self._note("attribute", name)
                setattr(stand_in, name, self._value(vars(module)[name], code))
        return stand_in


def freeze(function: Any, name: str, arguments: Sequence[str]) -> Frozen:
    """A copy of *function*, called *name* in messages, which has to take these arguments."""
    frozen = Frozen(function, name)
    try:
        inspect.signature(frozen.function).bind(*arguments)
    except TypeError as error:
        raise ModelError(f"{frozen.what} has to take ({', '.join(arguments)}): {error}") from None
    return frozen


def _place(function: FunctionType) -> str:
    return f"{function.__qualname__}, {Path(function.__code__.co_filename).name}:{function.__code__.co_firstlineno}"


def is_ours(function: FunctionType) -> bool:
    """True if a function is one of the package's kernels, which the folder's name on disk stands for."""
    return is_generic(function) or (function.__module__ or "").startswith("mobod.algebra.")


# ---------------------------------------------------------------------------------------------- functions of floats


def _refuse_functions_of_floats(function: FunctionType, what: str, but: Mapping[int, Any]) -> None:
    for value in _values_used(function, function.__code__):
        if id(value) in but:
            continue
        module = (getattr(value, "__module__", None) or type(value).__module__ or "").partition(".")[0]
        is_ufunc = isinstance(value, np.ufunc)
        if is_ufunc or (module in FLOATS_ONLY and callable(value)):
            module = "numpy" if is_ufunc else module
            name = getattr(value, "__name__", repr(value))
            instead = _INSTEAD.get(name)
            remedy = f"mobod.{instead}" if instead else "+ - * / and the functions of mobod.algebra"
            where = "" if _place(function) in what else f" (in {_place(function)})"
            raise ModelError(
                f"{what} uses {module}.{name}{where}, which knows floats only; the function is called with eight states at a "
                f"time and with dual numbers too. Use {remedy}"
            )


def _values_used(function: FunctionType, code: CodeType) -> Iterator[Callable[..., Any]]:
    """The values that the function finds under global names and closures, ``module.name`` followed."""
    nonlocals = inspect.getclosurevars(function).nonlocals
    value: Any = None
    for instruction in dis.get_instructions(code):
        operation = instruction.opname
        if operation == "LOAD_GLOBAL":
            value = function.__globals__.get(instruction.argval)
        elif operation == "LOAD_DEREF":
            value = nonlocals.get(instruction.argval)
        elif operation in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            value = getattr(value, instruction.argval, None)
        else:
            value = None
        if value is not None and not isinstance(value, ModuleType):
            yield value
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _values_used(function, constant)
