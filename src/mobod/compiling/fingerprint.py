"""A kernel's fingerprint: a hash of its bytecode and of that of all it reaches, which is what Numba compiles.

A function's docstring, comments, annotations, line numbers and name make no difference to it, nor does any function that the
kernel does not call. Constants count by value. Of functions that Numba knows by other means, such as ``load`` and ``sqrt``,
only the name counts: these are defined by the modules of `engine.Extension`, which `environment` hashes as a whole, with
Numba's version and options.
"""

from __future__ import annotations

import dis
import functools
import hashlib
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from . import engine, numba_patches

_CONSTANTS = frozenset(dis.hasconst)
#: Numba's settings that change what it makes, beside the processor, which names of files have for themselves.
_SETTINGS = (
    *("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "USING_SVML"),
    *("DISABLE_INTEL_SVML", "DISABLE_PERFORMANCE_WARNINGS", "LLVM_REFPRUNE_PASS", "USE_LLVMLITE_MEMORY_MANAGER"),
)


class NotHashable(Exception):
    """A value that compiled code may depend on and that cannot be hashed."""


def fingerprint(function: Callable[..., Any]) -> str:
    """A hash of the function and of all that it reaches.

    Raises
    ------
    NotHashable
        If it refers to an object that is no function, module, class or constant.
    """
    order = {one: number for number, one in enumerate(reached(function))}
    digest = hashlib.blake2b(digest_size=16)
    for one in order:
        facts, called = _facts(one)
        digest.update(facts)
        digest.update(repr([order[other] for other in called]).encode())
    return digest.hexdigest()


def reached(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The function and all functions that its compiled code goes through.

    Raises
    ------
    NotHashable
        As `fingerprint`.
    """
    found = {function: None}
    for one in (waiting := [function]):  # which grows while it is walked through
        new = [other for other in dict.fromkeys(_facts(one)[1]) if other not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return waiting


def size(function: Callable[..., Any]) -> int:
    """The amount of code to compile: the bytes of all that the function reaches."""
    return sum(len(one.__code__.co_code) for one in reached(function))


def environment() -> str:
    """A hash of what all compiled code depends on: versions, Numba's settings, scalar types, primitives, records' layout."""
    return f"{_versions()} {[one.facts() for one in engine.extensions()]}"


@functools.cache
def _versions() -> str:
    import llvmlite
    import numba
    from numba.core import config

    digest = hashlib.blake2b(digest_size=16)
    settings = {name: getattr(config, name, None) for name in _SETTINGS}
    settings["passes"] = "Numba's" if numba_patches.why_unpatched() else "of parts and of whole kernels, with aligned stacks"
    digest.update(repr((EXTENSION_SUFFIXES[0], numba.__version__, llvmlite.__version__, settings)).encode())
    own = [f"{__package__}.{name}" for name in ("engine", "kernels", "routines")]  # these import this one
    for name in (*own, *(module.__name__ for one in engine.extensions() for module in one.modules)):
        digest.update(_of_module(name))
    return digest.hexdigest()


def _of_module(name: str) -> bytes:
    """A hash of a module's whole code."""
    code = find_spec(name).loader.get_code(name)  # type: ignore[union-attr]
    return hashlib.blake2b(repr(code_facts(code)).encode(), digest_size=16).digest()


_of_function: dict[Any, tuple[bytes, list[Any]]] = {}


def _facts(function: Any) -> tuple[bytes, list[Any]]:
    """The hashed properties of a function itself, and the functions that it calls."""
    found = _of_function.get(function)
    if found is None:
        called: list[Any] = []
        facts = [code_facts(function.__code__)]
        for where, value in _values(function):
            facts.append((where, _value(value, function, called)))
        found = _of_function[function] = repr(facts).encode(), called
    return found


def _values(function: Any) -> Iterator[tuple[Any, Any]]:
    """The values that a function takes from outside: defaults, closure, globals, and attributes of modules."""
    code = function.__code__
    yield "defaults", (function.__defaults__, tuple(sorted((function.__kwdefaults__ or {}).items())))
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield ("closure", name), cell.cell_contents
        except ValueError:  # not filled yet
            continue
    used = names(code)
    for name in used:
        value = function.__globals__.get(name)
        if value is not None:
            yield name, value
        if isinstance(value, ModuleType):  # all attributes whose names appear in the code
            yield from (((name, other), vars(value)[other]) for other in used if other in vars(value))


def _value(value: Any, user: Any, called: list[Any]) -> Any:
    """The hashed form of a value; functions that compiled code goes through are added to *called*."""
    plain = getattr(value, "python", value)  # of a Kernel
    if not isinstance(plain, (type, BuiltinFunctionType, np.ufunc)) and callable(plain) and _is_numpys(plain):
        return "numpy", np.__version__, getattr(plain, "__qualname__", type(plain).__qualname__)
    if isinstance(plain, FunctionType):
        ours = (plain.__module__ or "").partition(".")[0] == __name__.partition(".")[0]
        if plain is not value or plain in engine.jitables or not ours:
            called.append(plain)
            return "apart" if plain in engine.kept_apart else "function"
        return "primitive", plain.__module__, plain.__qualname__
    if isinstance(value, tuple):
        return type(value).__qualname__, *_class(type(value)), [_value(one, user, called) for one in value]
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return type(value).__name__, value.hex() if isinstance(value, float) else repr(value)
    if isinstance(value, (np.generic, np.ndarray)) and not value.dtype.hasobject:
        return "array", value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, ModuleType):
        return "module", value.__name__
    if type(value).__name__ == "_Intrinsic" and value.__module__.startswith("numba."):
        return "intrinsic", value.__module__, value.__name__  # as Numba's own functions call
    if isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        return getattr(value, "__module__", None), value.__name__, *_class(value)
    raise NotHashable(f"{user.__qualname__} refers to {value!r}")


def _class(value: Any) -> list[str]:
    """Parts of a class that Numba compiles: a named tuple's fields and defaults, an enum's members."""
    members = {name: one.value for name, one in getattr(value, "__members__", {}).items()}
    return [repr(one) for one in (getattr(value, "_fields", ()), getattr(value, "_field_defaults", {}), members) if one]


def _is_numpys(function: Any) -> bool:
    """True if Numba has its own in place of what is written there, of which only the name counts.

    Beside a `load` of ours, `np.load` seems to be called too, and would read files of any kind.
    """
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"


# ---------------------------------------------------------------------------------------------- bytecode


def names(code: CodeType) -> list[str]:
    """The names that a function, and those that are written inside it, look up outside."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.update(names(constant))
    return sorted(found)


def code_facts(code: CodeType) -> tuple[Any, ...]:
    """All of a function's, or a module's, code that makes a difference to what it computes."""
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    variables = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return *counts, *variables, code.co_exceptiontable, _instructions(code)


def _instructions(code: CodeType) -> list[Any]:
    """The instructions, with constants in place of their numbers, which a docstring shifts; docstrings are left out."""
    text, out, start, extended = code.co_code, [], 0, 0
    for at in range(0, len(text), 2):
        operation, number = text[at], text[at + 1] | extended
        extended = number << 8 if operation == dis.EXTENDED_ARG else 0
        if operation not in _CONSTANTS:
            continue
        stored = at + 2 < len(text) and dis.opname[text[at + 2]] == "STORE_NAME" and code.co_names[text[at + 3]]
        if stored != "__doc__":
            out.append((text[start : at + 1], _constant(code.co_consts[number])))
        start = at + 2
    return [*out, text[start:]]


def _constant(x: Any) -> Any:
    """A constant of a function's code, so that what differs is written differently: 1 and 1.0 and True."""
    if isinstance(x, CodeType):
        return code_facts(x)
    if isinstance(x, tuple):
        return "tuple", [_constant(part) for part in x]
    if isinstance(x, frozenset):  # whose order differs from process to process
        return "frozenset", sorted(repr(_constant(part)) for part in x)
    return type(x).__name__, x.hex() if isinstance(x, float) else repr(x)
