"""Kernels as one module of LLVM's intermediate code, for a GPU or for the processor.

Each routine is compiled by Numba for a record of `threads`, without optimization for any processor, and numbered. What calls
a routine by its number goes through one function, a switch over all of them, so that every call is one that LLVM and the
GPU's assembler see. No code of Numba's runtime is left: what a kernel can call beyond the routines is in `special_functions`.
"""

from __future__ import annotations

import functools
import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from ..compiling import engine, numba_patches, store
from ..compiling.fingerprint import NotHashable, environment, fingerprint
from ..compiling.routines import UsersRoutine, entry_of, num_integers
from ..errors import ModelError

#: The oldest generation of GPUs that the code is for, and the version of its language: a driver compiles it for newer ones.
GENERATION, PTX_VERSION = "sm_70", "+ptx70"
TRIPLE = "nvptx64-nvidia-cuda"

#: What gives a thread its number and the number of threads: see `threads`.
_ON_GPU = """
@mobod_count = addrspace(4) externally_initialized global i64 0
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define i64 @mobod_thread() alwaysinline nounwind memory(none) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %n64 = zext i32 %n to i64
  %b64 = zext i32 %b to i64
  %first = mul i64 %n64, %b64
  %thread = add i64 %first, %t64
  ret i64 %thread
}
define i64 @mobod_threads() alwaysinline nounwind {
  %count = load i64, ptr addrspace(4) @mobod_count, !invariant.load !0
  ret i64 %count
}
!0 = !{}
"""
_ON_PROCESSOR = """
@mobod_now = internal global i64 0
@mobod_count = internal global i64 0
define i64 @mobod_thread() alwaysinline nounwind {
  %thread = load i64, ptr @mobod_now
  ret i64 %thread
}
define i64 @mobod_threads() alwaysinline nounwind {
  %count = load i64, ptr @mobod_count
  ret i64 %count
}
"""


class Compiled(NamedTuple):
    """Intermediate code of a function as text, and its name in there."""

    text: str
    symbol: str


class Program:
    """Routines linked into one module.

    Parameters
    ----------
    routines : sequence of Routine or function
        Each ``f(model, i, k) -> int``, or of up to six integers.

    Attributes
    ----------
    numbers : dict
        By which kernels call each; 0 is none.
    """

    def __init__(self, routines: Sequence[Any]) -> None:
        self.routines = tuple(dict.fromkeys(routines))
        self.numbers = {routine: number for number, routine in enumerate(self.routines, 1)}

    def ptx(self) -> str:
        """The code for a GPU, in NVIDIA's assembly language.

        Raises
        ------
        ModelError
            If a function of a user's own calls what a GPU has not.
        """
        return _kept("gpu.ptx", repr([piece.text for piece in self._pieces()]), self._ptx)

    def _ptx(self) -> str:
        _initialize()
        machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=GENERATION, features=PTX_VERSION, opt=3)
        module = self._linked(_ON_GPU + _KERNEL, TRIPLE, str(machine.target_data))
        _optimize(module, machine)
        return str(machine.emit_assembly(module))

    def for_processor(self) -> Any:
        """An execution engine of LLVM's whose function ``run`` goes through the threads one after the other."""
        _initialize()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=0, jit=True)  # it runs a test, or an example
        module = self._linked(_ON_PROCESSOR + _LOOP, llvm.get_process_triple(), str(machine.target_data))
        _optimize(module, machine, 1)
        run = llvm.create_mcjit_compiler(module, machine)
        run.finalize_object()
        return run

    def _pieces(self) -> list[Compiled]:
        return [compiled_for_threads(routine) for routine in self.routines]

    def _linked(self, more: str, triple: str, layout: str) -> Any:
        """All routines, what calls them, and *more*, in one module; only ``run`` can be called from outside."""
        pieces = self._pieces()
        whole = llvm.parse_assembly(_retarget("\n", triple, layout))
        for piece in pieces:
            part = llvm.parse_assembly(_retarget(piece.text, triple, layout))
            # Numba numbers names anew in each process: those of kept pieces may be the same and mean something else
            for one in (*part.functions, *part.global_variables):
                if not one.is_declaration and one.name != piece.symbol:
                    one.linkage = "internal"
            whole.link_in(part)
        whole.link_in(llvm.parse_assembly(_retarget(self._switch(pieces), triple, layout)))
        _supply_functions(whole, triple, layout)
        # last, as plain text: it calls what has been linked
        whole.link_in(llvm.parse_assembly(_retarget(_DECLARED + more, triple, layout)))
        for function in whole.functions:
            if not function.is_declaration and function.name != "run":
                function.linkage = "internal"
        for variable in whole.global_variables:
            if not variable.is_declaration and not variable.name.startswith("mobod_"):
                variable.linkage = "internal"
        _refuse_missing(whole)
        whole.verify()
        return whole

    def _switch(self, pieces: Sequence[Compiled]) -> str:
        """``mobod_call``: calls the routine of a number."""
        declared, cases, blocks = [], [], []
        for number, (piece, routine) in enumerate(zip(pieces, self.routines, strict=True), 1):
            count = num_integers(getattr(routine, "python", routine))
            integers = ", ".join(f"i64 %i{place}" for place in range(count))
            declared.append(f'declare i32 @"{piece.symbol}"(ptr, ptr, ptr{", i64" * count})')
            cases.append(f"    i64 {number}, label %r{number}")
            blocks.append(
                f'r{number}:\n  %s{number} = call i32 @"{piece.symbol}"(ptr %out, ptr %error, ptr %block, {integers})\n'
                f"  br label %end"
            )
        return "\n".join(
            [
                *declared,
                "define i64 @mobod_call(i64 %number, ptr %block, i64 %i0, i64 %i1, i64 %i2, i64 %i3, i64 %i4, i64 %i5) {",
                "entry:",
                "  %out = alloca i64",
                "  %error = alloca ptr",
                "  store i64 0, ptr %out",
                "  switch i64 %number, label %end [",
                *cases,
                "  ]",
                *blocks,
                "end:",
                "  %result = load i64, ptr %out",
                "  ret i64 %result",
                "}",
            ]
        )


_DECLARED = "declare i64 @mobod_call(i64, ptr, i64, i64, i64, i64, i64, i64)\n"
#: The one kernel: every thread below the number of threads calls one routine.
_KERNEL = """
define ptx_kernel void @run(i64 %number, ptr %block, i64 %i, i64 %k) {
entry:
  %thread = call i64 @mobod_thread()
  %count = call i64 @mobod_threads()
  %there = icmp ult i64 %thread, %count
  br i1 %there, label %work, label %end
work:
  %result = call i64 @mobod_call(i64 %number, ptr %block, i64 %i, i64 %k, i64 0, i64 0, i64 0, i64 0)
  br label %end
end:
  ret void
}
"""
_LOOP = """
define void @run(i64 %number, ptr %block, i64 %i, i64 %k, i64 %count) {
entry:
  store i64 %count, ptr @mobod_count
  br label %test
test:
  %thread = phi i64 [ 0, %entry ], [ %next, %work ]
  %there = icmp ult i64 %thread, %count
  br i1 %there, label %work, label %end
work:
  store i64 %thread, ptr @mobod_now
  %result = call i64 @mobod_call(i64 %number, ptr %block, i64 %i, i64 %k, i64 0, i64 0, i64 0, i64 0)
  %next = add i64 %thread, 1
  br label %test
end:
  ret void
}
"""


@functools.cache
def compiled_for_threads(routine: Any) -> Compiled:
    """A routine ``f(model, i, k)``, or the function itself, for a record of threads; kept on disk but for users' own."""
    engine.numba()
    from numba.core import types

    from . import special_functions, threads

    function, attach = getattr(routine, "python", routine), threads.attach_threads

    count = num_integers(function)

    def make() -> str:
        made = _compiled(entry_of(function, attach, count), (types.voidptr, *[types.int64] * count))
        symbol = f"mobod_entry_{secrets.token_hex(8)}"
        return symbol + "\n" + made.text.replace(made.symbol, symbol)

    try:
        own = [Path(str(module.__file__)).read_bytes() for module in (threads, special_functions)]
        key = None if isinstance(routine, UsersRoutine) else repr((fingerprint(function), environment(), own))
    except NotHashable:
        key = None
    symbol, _, text = (make() if key is None else _kept("gpu.pieces", key, make)).partition("\n")
    return Compiled(text, symbol)


def _kept(stem: str, key: str, make: Callable[[], str]) -> str:
    """The text of a *key*, from the folder of compiled code or made now."""
    name = f"{stem}-{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}.bin"
    found = store.read(name)
    if found is not None:
        return found.decode()
    text = make()
    store.write(name, text.encode())
    return text


@functools.cache
def _compiled_numbers(function: Callable[..., Any], arguments: int) -> Compiled:
    """A function of so many float64."""
    engine.numba()
    from numba.core import types

    return _compiled(function, (types.float64,) * arguments)


def _compiled(function: Callable[..., Any], types: tuple[Any, ...]) -> Compiled:
    """*function* compiled as though it were to be inlined: simplified, but neither optimized nor made machine code of."""
    numba = engine.numba()
    options: Any = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "nogil": True}
    dispatcher = numba.njit(**options, **engine.OPTIONS)(function)
    with engine.compiling(), numba_patches.quickly(dispatcher):
        if numba_patches.why_unpatched():
            raise ModelError(f"code for a GPU needs a Numba that is patched meanwhile; {numba_patches.why_unpatched()}")
        dispatcher.compile(types)
    (made,) = dispatcher.overloads.values()
    return Compiled(_simplified(numba_patches.text_of(made.library)), made.fndesc.llvm_func_name)


def _simplified(text: str) -> str:
    """Code after LLVM's passes over single functions: for the processor, they make instructions of calls such as ``floor``."""
    _initialize()
    module, machine = llvm.parse_assembly(text), llvm.Target.from_default_triple().create_target_machine()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    for function in module.functions:
        if not function.is_declaration:
            passes.getFunctionPassManager().run(function, passes)
    return str(module)


def _retarget(text: str, triple: str, layout: str) -> str:
    """Code for another machine. The kernels use no type whose size differs between the two."""
    text = re.sub(r"^target .*$| alignstack[(=]\d+\)?", "", text, flags=re.MULTILINE)
    text = _LIBRARY.sub(lambda found: f"@mobod_{_own_names()[found.group(1)]}(", text)
    return f'target datalayout = "{layout}"\ntarget triple = "{triple}"\n{text}'


#: A call or a declaration of a function of the C library.
_LIBRARY = re.compile(r"@((?:llvm\.)?(?:sin|cos|exp|log|atan2|pow)(?:\.f64)?)\(")


@functools.cache
def _own_names() -> dict[str, str]:
    """By the C library's name, that of the function of our own."""
    engine.numba()
    from . import special_functions

    return {name: function.__name__ for function, (names, _) in special_functions.FUNCTIONS.items() for name in names}


def _supply_functions(module: Any, triple: str, layout: str) -> None:
    """Link own functions in place of those of the C library that *module* calls."""
    from . import special_functions

    supplied: set[str] = set()
    while True:
        called = {function.name for function in module.functions if function.is_declaration} - supplied
        missing = [f for f in special_functions.FUNCTIONS if f"mobod_{f.__name__}" in called]
        if not missing:
            return
        for function in missing:
            arguments = special_functions.FUNCTIONS[function][1]
            piece = _compiled_numbers(function, arguments)
            given = ", ".join(f"double %x{i}" for i in range(arguments))
            wrapper = f"""
declare i32 @"{piece.symbol}"(ptr, ptr, {", ".join(["double"] * arguments)})
define double @mobod_{function.__name__}({given}) noinline {{
  %out = alloca double
  %error = alloca ptr
  %status = call i32 @"{piece.symbol}"(ptr %out, ptr %error, {given})
  %result = load double, ptr %out
  ret double %result
}}
"""
            for text in (piece.text, wrapper):
                module.link_in(llvm.parse_assembly(_retarget(text, triple, layout)))
            supplied.add(f"mobod_{function.__name__}")


def _refuse_missing(module: Any) -> None:
    """Raise ModelError where a function is called that is not there."""
    missing = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    if missing:
        raise ModelError(
            f"the model calls {', '.join(missing)}, which a GPU has not; users' functions can take theirs from mobod.sin, cos, "
            "sqrt, exp, log, atan2 and power"
        )


def _optimize(module: Any, machine: Any, level: int = 3) -> None:
    """LLVM's usual passes, for a machine; all of them, or those of a lower level."""
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level))
    passes.getModulePassManager().run(module, passes)


@functools.cache
def _initialize() -> None:
    """Make LLVM's back-ends known to llvmlite."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
