"""Parts of Numba replaced while it compiles a kernel of ours: quicker, with code as fast as its result.

Numba looks at the same things again and again: which variables an instruction names, for each of its passes; where variables
live, after each pass that might change it; what a product of two numbers is, for each product, by asking thirty templates in
turn; and it puts each function through LLVM's passes, the whole through all of them twice, and functions that are inlined into
others into machine code. What it does beside compiling is in `numba_overhead`. The answers are found faster here, or not asked
for.
Passes alone make a difference to the code, and to last digits: which are taken is part of its `fingerprint`.

All of it is done with versions of Numba whose functions have been read, and only between the beginning and the end of a
compilation of ours, under Numba's lock: what others compile finds Numba as it is.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from . import engine
from .numba_overhead import Patch, leaner


class _Ours(threading.local):
    """The kernel of ours that this thread compiles now: what others compile is left alone."""

    now: Any = None
    #: Whether it links what a kernel is made of.
    links = False


_ours = _Ours()


@contextmanager
def quickly(compiler: Any) -> Iterator[None]:
    """The context in which *compiler*, a dispatcher of Numba's or a CFunc, compiles quickly. Numba's lock has to be held."""
    before, _ours.now = _ours.now, compiler
    replaced = [] if before is not None else [Patch(one.owner, one.name, vars(one.owner).get(one.name)) for one in patches()]
    try:
        if replaced:
            for one in patches():
                setattr(*one)
        yield
    finally:
        _ours.now = before
        for one in replaced:
            if one.replacement is None:  # a method that is inherited
                delattr(one.owner, one.name)
            else:
                setattr(*one)


#: Versions of Numba, the first and the last one, whose functions have been read: what is replaced is the same in all of them.
KNOWN_VERSIONS = (0, 62), (0, 68)


@functools.cache
def why_unpatched() -> str:
    """Why Numba is left as it is, for `mobod doctor`; empty if it is not."""
    import numba

    first, last = KNOWN_VERSIONS
    if os.environ.get("MOBOD_NUMBA_PATCHES") == "0":
        return "MOBOD_NUMBA_PATCHES=0"
    if not first <= numba.version_info.short <= last:
        versions = " to ".join(".".join(map(str, one)) for one in KNOWN_VERSIONS)
        return f"Numba {numba.__version__} is none of those that have been looked at, {versions}: compiling takes longer"
    return ""


#: Modules' own, which need what is here.
_more: list[Callable[[], Iterator[Patch]]] = []


def extend(more: Callable[[], Iterator[Patch]]) -> None:
    """Replace what *more* gives, too, from the first compilation on."""
    _more.append(more)


@functools.cache
def patches() -> tuple[Patch, ...]:
    """The functions that are replaced; none of a version that nobody has looked at."""
    if why_unpatched():
        return ()
    _lock_llvm_quietly()
    made = (
        *_list_variables_quickly(),
        *_remember_operators_of_numbers(),
        *_remember_signatures(),
        *_find_lifetimes_when_needed(),
        *_optimize_when_whole(),
        *_look_at_whole_kernels_only(),
        *_remember_sizes(),
        *_import_less(),
        *_make_code_once(),
        *_keep_apart(),
        *_align_wrappers(),
        *_link_once(),
        *_load_code(),
        *(one for more in _more for one in more()),
        *leaner(),
    )
    assert len({(one.owner, one.name) for one in made}) == len(made)
    return made


def _list_variables_quickly() -> Iterator[Patch]:
    """`list_vars` of Numba's instructions: by the type of each thing in them, most of which hold no variable."""
    from numba.core import ir

    variable: Any = ir.Var
    instruction: Any = ir.Inst
    assignment: Any = ir.Assign
    expression: Any = ir.Expr
    without_any = {str, int, float, bool, complex, type(None), ir.Loc, ir.Const, ir.Global, ir.FreeVar, ir.Arg}
    whatever = instruction._rec_list_vars

    @functools.wraps(whatever)
    def list_within(self: Any, value: Any) -> list[Any]:
        kind = type(value)
        if kind is variable:
            return [value]
        if kind in without_any:
            return []
        if kind is expression:
            value = value._kws
            kind = dict
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

    yield Patch(instruction, "_rec_list_vars", list_within)
    yield Patch(assignment, "list_vars", list_of_assignment)


def _remember_operators_of_numbers() -> Iterator[Patch]:
    """The types of ``a * b`` and the like: of numbers, and of scalars of rooms above, they are always the same."""
    from numba.core import types

    ours = {type(kind) for one in engine.extensions() for kind in one.scalars.values()}
    numbers: Any = (types.Number, types.Boolean, *ours)

    function: Any = types.functions.BaseFunction
    ask = function.get_call_type
    known: dict[tuple[Any, ...], Any] = {}

    @functools.wraps(ask)
    def get_call_type(self: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        key = self.typing_key
        # operators alone: what other functions are depends on more than their arguments
        if kws or not (key is bool or getattr(key, "__module__", None) == "_operator"):
            return ask(self, context, args, kws)
        for one in args:
            if not isinstance(one, numbers):
                return ask(self, context, args, kws)
        # with the context, of which there is one for each target, and Numba's function, which is another once it can do more
        place = context, self, tuple(args)
        signature = known.get(place)
        if signature is None:
            signature = known[place] = ask(self, context, args, kws)
        return signature

    yield Patch(function, "get_call_type", get_call_type)


def _remember_signatures() -> Iterator[Patch]:
    """`inspect.signature` of implementations, which Numba asks for each time that one is called."""
    from numba.core import utils

    ask: Any = vars(utils)["pysignature"]
    known: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @functools.wraps(ask)
    def signature_of(function: Any, *args: Any, **more: Any) -> Any:
        if type(function) is not FunctionType or args or more:
            return ask(function, *args, **more)
        signature = known.get(function)
        if signature is None:
            signature = known[function] = ask(function)
        return signature

    yield Patch(utils, "pysignature", signature_of)


def _find_lifetimes_when_needed() -> Iterator[Patch]:
    """Live variables, and those that are there when a block begins: the last pass alone asks where they end."""
    from numba.core import postproc, transforms

    processor: Any = postproc.PostProcessor
    run = processor.run

    @functools.wraps(run)
    def run_or_wait(self: Any, emit_dels: bool = False, *args: Any, **more: Any) -> None:
        function = self.func_ir
        if emit_dels or function.is_generator:
            run(self, emit_dels, *args, **more)
            return
        function.blocks = transforms.canonicalize_cfg(function.blocks)
        function.variable_lifetime = postproc.VariableLifetime(function.blocks)
        function.generator_info = None

    yield Patch(processor, "run", run_or_wait)


def _counts_references(module: Any) -> bool:
    """True if code of LLVM's counts the references to arrays that it makes: Numba takes out what it need not count."""
    return any(function.name.startswith("NRT_") for function in module.functions)


def _optimize_when_whole() -> Iterator[Patch]:
    """LLVM's passes over single functions: these are parts, and what they are parts of goes through all passes.

    One is worth it for a part, which becomes part of several kernels: variables become values, of which there are fewer.
    """
    from llvmlite.binding import newpassmanagers
    from numba.core.codegen import CPUCodeLibrary

    library: Any = CPUCodeLibrary
    optimize = library._optimize_functions
    passes = newpassmanagers.create_new_module_pass_manager()
    passes.add_sroa_pass()
    builders: dict[Any, Any] = {}

    @functools.wraps(optimize)
    def optimize_what_counts(self: Any, module: Any) -> None:
        if _counts_references(module) and not _is_inlined():
            optimize(self, module)
            return
        codegen = self._codegen
        module.data_layout = codegen._data_layout
        if _is_inlined():
            if codegen not in builders:
                builders[codegen] = codegen._pass_builder()
            passes.run(module, builders[codegen])

    yield Patch(library, "_optimize_functions", optimize_what_counts)


def _look_at_whole_kernels_only() -> Iterator[Patch]:
    """Numba's step after each library of functions: for a part of a kernel, the kernel's own library is enough."""
    from numba.core.codegen import CPUCodegen, CPUCodeLibrary
    from numba.core.cpu import CPUContext

    def unless(owner: Any, name: str, needless: Callable[..., bool]) -> Patch:
        do = getattr(owner, name)

        @functools.wraps(do)
        def do_unless(self: Any, *args: Any, **more: Any) -> None:
            if not needless(self, *args):
                do(self, *args, **more)

        return Patch(owner, name, do_unless)

    yield unless(CPUCodegen, "_check_llvm_bugs", lambda codegen: engine.is_part_of_another() or _is_inlined())
    yield unless(CPUCodeLibrary, "_finalize_dynamic_globals", _is_part)
    yield unless(CPUCodeLibrary, "_verify_declare_only_symbols", _is_part)
    yield unless(CPUContext, "create_cpython_wrapper", lambda context, library, *args: _is_part(library))
    yield unless(CPUContext, "create_cfunc_wrapper", lambda context, library, descriptor, *args: _is_kernel(descriptor))


def _flags() -> Any:
    """The flags for Numba, of the function that it compiles now."""
    from numba.core.targetconfig import ConfigStack

    return ConfigStack.top_or_none()


def _is_inlined() -> bool:
    """True if what is compiled now becomes part of its callers' code alone, as Python cannot call it.

    That is a function of ours, see `engine.numba`, or of Numba's own, as those are that do NumPy's work in users' laws; not one
    that a user has given to Numba.
    """
    flags = _flags()
    return flags is not None and bool(flags.no_cpython_wrapper)


def _is_part(library: Any) -> bool:
    """True if what is compiled now, to a library of Numba's, becomes part of a kernel, and is called by nobody else.

    That is what Python cannot call and, while a kernel is compiled that another one calls, the kernel itself: not a function
    that a user has given to Numba, which is compiled on this occasion and called from Python afterwards.
    """
    if _is_inlined():
        return True
    kernel = getattr(_ours.now, "py_func", None)
    return engine.is_part_of_another() and kernel is not None and library.name == kernel.__qualname__


def _is_kernel(descriptor: Any) -> bool:
    """True if a function is a kernel itself, which nobody passes on as a callback."""
    function = getattr(_ours.now, "py_func", None)
    return function is not None and (descriptor.modname, descriptor.qualname) == (function.__module__, function.__qualname__)


def _remember_sizes() -> Iterator[Patch]:
    """Number of bytes that a type takes, for which Numba has LLVM parse a module with a variable of the type."""
    from numba.core.cpu import CPUContext

    context: Any = CPUContext
    ask = context.get_abi_sizeof
    known: dict[str, int] = {}

    @functools.wraps(ask)
    def size_of(self: Any, kind: Any) -> int:
        name = str(kind)
        if "%" in name:  # a type of a module's own
            return int(ask(self, kind))
        size = known.get(name)
        if size is None:
            size = known[name] = ask(self, kind)
        return size

    yield Patch(context, "get_abi_sizeof", size_of)


def _import_less() -> Iterator[Patch]:
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

    yield Patch(context, "load_additional_registries", load_less)


def _make_code_once() -> Iterator[Patch]:
    """Optimize a kernel by LLVM together with what is inlined into it, and make machine code of that alone.

    Numba puts every function through all of LLVM's passes by itself, and makes machine code of it; one of ours then goes
    through that again in each caller, and in the callers of these. Left out, that saves a quarter of the time a kernel takes to
    compile. Nor does the kernel go through them twice, which is for counts of references.
    """
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.cpu import CPUContext

    replaced: Any = CPUCodeLibrary
    context: Any = CPUContext
    optimize, finalize, executable = replaced._optimize_final_module, replaced._finalize_final_module, context.get_executable

    @functools.wraps(optimize)
    def optimize_unless_part(library: Any) -> None:
        if _is_part(library):
            return
        if _counts_references(library._final_module):
            optimize(library)
        else:
            passes, builder = library._codegen._module_pass_manager()
            passes.run(library._final_module, builder)

    @functools.wraps(finalize)
    def finalize_unless_part(library: Any) -> None:
        if not _is_part(library):
            finalize(library)
            return
        library._finalize_dynamic_globals()
        library._verify_declare_only_symbols()
        library._finalized = True

    @functools.wraps(executable)
    def executable_unless_part(context: Any, library: Any, fndesc: Any, env: Any) -> Any:
        if not _is_part(library):
            return executable(context, library, fndesc, env)
        library._ensure_finalized()
        return identity_of(library, fndesc, env)

    yield Patch(replaced, "_optimize_final_module", optimize_unless_part)
    yield Patch(replaced, "_finalize_final_module", finalize_unless_part)
    yield Patch(context, "get_executable", executable_unless_part)


def identity_of(library: Any, fndesc: Any, env: Any) -> Any:
    """The function by which Numba identifies a part; it is never called."""
    from numba import _dynfunc  # type: ignore[attr-defined]

    return _dynfunc.make_function(
        fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "part of a kernel", 0, env, (library,)
    )


def _keep_apart() -> Iterator[Patch]:
    """Functions that are to be functions of their own within kernels: LLVM inlines some ten thousand instructions otherwise."""
    from numba.core.lowering import BaseLower

    lower: Any = BaseLower
    begin = lower.setup_function

    @functools.wraps(begin)
    def begin_apart(self: Any, *args: Any) -> None:
        begin(self, *args)
        attributes = self.function.attributes
        if self.func_ir.func_id.func in engine.kept_apart:
            attributes.discard("alwaysinline")  # of its caller, from which it has what it was not given itself
            attributes.add("noinline")
        if "alwaysinline" not in attributes:
            _align_stack(attributes)

    yield Patch(lower, "setup_function", begin_apart)


def _align_wrappers() -> Iterator[Patch]:
    """The same of the functions that Python calls, into which LLVM may put the whole kernel."""
    from numba.core.callwrapper import PyCallWrapper

    wrapper: Any = PyCallWrapper
    build = wrapper.build_wrapper

    @functools.wraps(build)
    def build_aligned(self: Any, api: Any, builder: Any, *args: Any) -> None:
        _align_stack(builder.function.attributes)
        build(self, api, builder, *args)

    yield Patch(wrapper, "build_wrapper", build_aligned)


def _align_stack(attributes: Any) -> None:
    """Let vectors of eight numbers that a function keeps on the stack begin at cache lines, which they fill.

    LLVM would align a stack for variables only, not for what registers had no room for. A vector across two pages costs some
    hundred cycles each time: 2 to 4 % of the time of kernels of lanes on the average, 10 % where a stack began at a bad place.
    """
    attributes.alignstack = 64
    attributes.add("nonlazybind")  # which changes nothing: llvmlite leaves an alignment out that is alone


#: Libraries of functions that have not been given those that they call.
_parts: weakref.WeakSet[Any] = weakref.WeakSet()


def _with_theirs(libraries: list[Any]) -> list[Any]:
    """Libraries and those that they need, each behind all that call it: LLVM links what has been asked for by then."""
    found: dict[Any, None] = {}
    left, begun = [(one, False) for one in libraries], set()
    while left:
        one, done = left.pop()
        if done:
            found[one] = None
        elif one not in begun:
            begun.add(one)
            left.append((one, True))
            if one in _parts:
                left += [(other, False) for other in one._linking_libraries]
    return list(found)[::-1]


def _link_once() -> Iterator[Patch]:
    """Link each function that a kernel calls into it once.

    Numba copies into each function the functions that it calls, with all that was copied into these: those at the bottom of a
    kernel some hundred times. Parts of kernels keep a list of theirs instead; the kernel takes each that it is made of.
    """
    from numba.core.codegen import CPUCodeLibrary

    library: Any = CPUCodeLibrary
    finalize, own_module = library.finalize, library._get_module_for_linking

    @functools.wraps(finalize)
    def finalize_once(self: Any) -> None:
        if _is_part(self):
            self._raise_if_finalized()
            _parts.add(self)
            self._get_module_for_linking = functools.partial(_module_of_part, self, functools.partial(own_module, self))
            self._finalize_final_module()
            return
        self._linking_libraries = _with_theirs(self._linking_libraries)
        with _linking():
            finalize(self)

    yield Patch(library, "finalize", finalize_once)


def _module_of_part(library: Any, own: Callable[[], Any]) -> Any:
    """Its own functions, for a kernel; with all that these need where somebody else's function calls it."""
    if _ours.links:
        return own()
    whole = own().clone()
    _give(whole, library)
    return whole


@contextmanager
def _linking() -> Iterator[None]:
    """The context in which parts give their own functions alone."""
    before, _ours.links = _ours.links, True
    try:
        yield
    finally:
        _ours.links = before


def _give(module: Any, library: Any) -> None:
    """Link into the *module* of a part all that it needs."""
    with _linking():
        for one in _with_theirs(library._linking_libraries):
            module.link_in(one._get_module_for_linking(), preserve=True)


def text_of(library: Any) -> str:
    """The code of a library of functions that has been compiled as a part of a kernel, with all that it calls."""
    if library not in _parts:
        return str(library._final_module)
    whole = library._get_module_for_linking()
    for function in own_module(library).functions:
        if not function.is_declaration:
            whole.get_function(function.name).linkage = "external"  # which others may leave out otherwise
    return str(whole)


#: Of a library of functions that is loaded: its code, what that was made of, and the names that it defines.
CODE = "code"


def _load_code() -> Iterator[Patch]:
    """Load a kernel's code without what it was made of, which LLVM would read for half of the time that loading takes.

    Another kernel that calls it has it read.
    """
    from numba.core.codegen import CPUCodeLibrary

    owner: Any = CPUCodeLibrary
    load = vars(owner)["_unserialize"].__func__

    def load_code(cls: Any, codegen: Any, state: tuple[str, str, Any]) -> Any:
        name, kind, data = state
        if kind != CODE:
            return load(cls, codegen, state)
        code, bitcode, defined = data
        library = codegen.create_library(name)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._get_module_for_linking = functools.partial(_module_read, library, bitcode)
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(defined)
        return library

    yield Patch(owner, "_unserialize", classmethod(load_code))


def _module_read(library: Any, bitcode: bytes) -> Any:
    """The module that the code of a library has been made of, which was loaded without it."""
    if library._shared_module is None:
        library._shared_module = importlib.import_module("llvmlite.binding").parse_bitcode(bitcode)
    return library._shared_module


def part_of(codegen: Any, name: str, bitcode: bytes, called: list[Any]) -> Any:
    """A library of functions that is a part of kernels, of its code and of the libraries that it calls."""
    library = codegen.create_library(name)
    library._linking_libraries, library._finalized = called, True
    read = functools.partial(_module_read, library, bitcode)
    library._get_module_for_linking = functools.partial(_module_of_part, library, read)
    _parts.add(library)
    return library


def own_module(library: Any) -> Any:
    """The functions of a part, without those that it calls."""
    with _linking():
        return library._get_module_for_linking()


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
