"""Numba made quicker, with the same code as its result.

Numba looks at the same things again and again: which variables an instruction names, for each of its passes; where variables
live, after each pass that might change it; what a product of two numbers is, for each product, by asking thirty templates in
turn; and it puts functions that a module only names through LLVM's passes. The answers are found faster here, or not asked for.
What is compiled is not changed, so that nothing here is part of its `fingerprint`.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from . import engine


class _Ours(threading.local):
    """The kernel of ours that this thread compiles now: what others compile is left alone."""

    now: Any = None


_ours = _Ours()


@contextmanager
def quickly(compiler: Any) -> Iterator[None]:
    """The context in which *compiler*, a dispatcher of Numba's or a CFunc, compiles quickly."""
    before, _ours.now = _ours.now, compiler
    try:
        yield
    finally:
        _ours.now = before


#: Versions of Numba, the first and the last one, whose functions have been read: what is replaced is the same in all of them.
KNOWN_VERSIONS = (0, 62), (0, 68)


@functools.cache
def quicken_numba() -> None:
    """Replace parts of Numba, once in a process; of a version that nobody has looked at, next to nothing."""
    import numba

    _list_variables_quickly()
    _remember_operators_of_numbers()
    first, last = KNOWN_VERSIONS
    if not first <= numba.version_info.short <= last:
        return
    _remember_signatures()
    _find_lifetimes_when_needed()
    _pass_over_definitions_only()
    _look_at_whole_kernels_only()
    _remember_sizes()
    _import_less()
    _lock_llvm_quietly()


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


def _remember_signatures() -> None:
    """`inspect.signature` of implementations, which Numba asks for each time that one is called."""
    from numba.core import utils

    ask: Any = vars(utils)["pysignature"]
    known: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @functools.wraps(ask)
    def signature_of(function: Any, *args: Any, **more: Any) -> Any:
        if type(function) is not FunctionType or args or more or _ours.now is None:
            return ask(function, *args, **more)
        signature = known.get(function)
        if signature is None:
            signature = known[function] = ask(function)
        return signature

    vars(utils)["pysignature"] = signature_of


def _find_lifetimes_when_needed() -> None:
    """Where variables live, and which are there when a block begins: the last pass alone asks where they end."""
    from numba.core import postproc, transforms

    processor: Any = postproc.PostProcessor
    run = processor.run

    @functools.wraps(run)
    def run_or_wait(self: Any, emit_dels: bool = False, *args: Any, **more: Any) -> None:
        function = self.func_ir
        if emit_dels or function.is_generator or _ours.now is None:
            run(self, emit_dels, *args, **more)
            return
        function.blocks = transforms.canonicalize_cfg(function.blocks)
        function.variable_lifetime = postproc.VariableLifetime(function.blocks)
        function.generator_info = None

    processor.run = run_or_wait


def _pass_over_definitions_only() -> None:
    """LLVM's passes over single functions: not over those that a module names and another one defines."""
    from numba.core.codegen import CPUCodeLibrary

    library: Any = CPUCodeLibrary
    optimize = library._optimize_functions

    class Definitions:
        """A module whose functions are those that it defines."""

        module: Any

        def __init__(self, module: Any) -> None:
            self.__dict__["module"] = module

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(self.module, name, value)

        @property
        def functions(self) -> Iterator[Any]:
            return (function for function in self.module.functions if not function.is_declaration)

    @functools.wraps(optimize)
    def optimize_definitions(self: Any, module: Any) -> None:
        optimize(self, Definitions(module) if _ours.now is not None else module)

    library._optimize_functions = optimize_definitions


def _look_at_whole_kernels_only() -> None:
    """What Numba does for each library of functions: for a part of a kernel, the kernel's own library is enough."""
    from numba.core.codegen import CPUCodegen, CPUCodeLibrary
    from numba.core.cpu import CPUContext

    def unless(owner: Any, name: str, needless: Callable[..., bool]) -> None:
        do = getattr(owner, name)

        @functools.wraps(do)
        def do_unless(self: Any, *args: Any, **more: Any) -> None:
            if _ours.now is None or not needless(*args):
                do(self, *args, **more)

        setattr(owner, name, do_unless)

    unless(CPUCodegen, "_check_llvm_bugs", _is_part)
    unless(CPUCodeLibrary, "_finalize_dynamic_globals", _is_part)
    unless(CPUCodeLibrary, "_verify_declare_only_symbols", _is_part)
    unless(CPUContext, "create_cpython_wrapper", _is_part)
    unless(CPUContext, "create_cfunc_wrapper", _is_kernel)


def _is_part(*args: Any) -> bool:
    """Whether what is compiled now becomes part of a kernel."""
    from numba.core.targetconfig import ConfigStack

    flags: Any = ConfigStack.top_or_none()
    return engine.is_part_of_another() or (flags is not None and bool(flags.forceinline))


def _is_kernel(library: Any, descriptor: Any, *args: Any) -> bool:
    """Whether a function is a kernel itself, which nobody passes on as a callback."""
    function = getattr(_ours.now, "py_func", None)
    return function is not None and (descriptor.modname, descriptor.qualname) == (function.__module__, function.__qualname__)


def _remember_sizes() -> None:
    """How many bytes a type takes, for which Numba has LLVM parse a module with a variable of the type."""
    from numba.core.cpu import CPUContext

    context: Any = CPUContext
    ask = context.get_abi_sizeof
    known: dict[str, int] = {}

    @functools.wraps(ask)
    def size_of(self: Any, kind: Any) -> int:
        name = str(kind)
        if "%" in name or _ours.now is None:  # a type of a module's own
            return int(ask(self, kind))
        size = known.get(name)
        if size is None:
            size = known[name] = ask(self, kind)
        return size

    context.get_abi_sizeof = size_of


def _import_less() -> None:
    """Before it compiles, Numba imports SciPy's linear algebra to see whether it is there: being installed is enough."""
    from numba.core.cpu import CPUContext

    context: Any = CPUContext
    load = context.load_additional_registries

    @functools.wraps(load)
    def load_less(self: Any) -> None:
        if find_spec("scipy") is not None and "numba.np.arraymath" not in sys.modules:
            linalg: Any = importlib.import_module("numba.np.linalg")
            look, linalg.ensure_blas = linalg.ensure_blas, lambda: None
            try:
                vars(importlib.import_module("numba.np.arraymath"))["ensure_blas"] = look  # for when it is used
            finally:
                linalg.ensure_blas = look
        load(self)

    context.load_additional_registries = load_less


def _lock_llvm_quietly() -> None:
    """The lock around each call of LLVM's: without two events for each, of which there are some 60,000 in a first run."""
    from llvmlite.binding import ffi

    lib: Any = ffi.lib
    callbacks: list[Any] = lib._lock._cblist

    def unless_ours(call: Any) -> Any:
        @functools.wraps(call)
        def called() -> None:
            if _ours.now is None:
                call()

        return called

    callbacks[:] = [
        tuple(unless_ours(one) if one.__module__ == "numba.core.base" else one for one in pair) for pair in callbacks
    ]
