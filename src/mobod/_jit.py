"""The only file with Numba's decorators: which functions are compiled, how, and where the result is kept.

Its decorators do not import Numba, which alone takes 0.3 s that `import mobod` must not pay:

- ``generic`` marks a function of scalars and tuples that kernels call. Called from Python it stays plain Python.
- ``compiled`` marks an entry point: it is called from Python with NumPy arrays, and Numba compiles it, or loads it from
  the disk, at its first call. What it was made from stays at hand as ``.python``. ``routine`` is its form for large ones.

Why the cache on disk is our own: Numba's looks at the file of the entry point alone, so that an edit in another file
goes unnoticed, and two processes that compile at once can mix up its numbered data files. Here the folder is named by a
hash of every source that kernels are made from, and a file by a hash of its signature and of the processor.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent
#: Folders that may hold kernels; the cache is named by a hash of all that is in them, and of this file.
KERNEL_FOLDERS = ("algebra", "function", "mobilizer", "force", "motion", "constraint", "tree", "integrator")
#: Only multiply and add may be fused; nothing else of IEEE arithmetic is relaxed. Worth 15 to 20 % for one state.
OPTIONS: dict[str, Any] = {"fastmath": {"contract"}, "error_model": "numpy", "_nrt": False}

_pending: list[Callable[..., Any]] = []
_generic: set[Callable[..., Any]] = set()
_substitutes: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
_lock = threading.RLock()
_home_checked: set[str] = set()


def _check_home(function: Callable[..., Any]) -> None:
    """Refuse a kernel outside the hashed folders: an edit there would run a stale compiled version."""
    file = function.__code__.co_filename
    if file in _home_checked:
        return
    inside = [PACKAGE / folder for folder in KERNEL_FOLDERS]
    if not any(folder in Path(file).resolve().parents for folder in inside):
        raise RuntimeError(
            f"{function.__qualname__} in {file} is marked as a kernel, but kernels live in "
            f"{', '.join(KERNEL_FOLDERS)}: only these are hashed for the cache of compiled code"
        )
    _home_checked.add(file)


def generic(function: F) -> F:
    """Let kernels call *function*; from Python it remains what it is."""
    _check_home(function)
    _pending.append(function)
    _generic.add(function)
    return function


def is_generic(function: Callable[..., Any]) -> bool:
    """Whether kernels can call *function*, of the package."""
    return function in _generic


class Kernel:
    """A compiled entry point, compiled or loaded when it is first needed.

    The attribute ``dispatcher`` is Numba's own object, which hot paths fetch once to save a Python call; ``code`` what the
    hottest call in its place, once `code_for` has been asked for it; ``python`` is the function as written.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        _check_home(function)
        self.python = function
        self.code: Callable[..., Any] | None = None
        functools.update_wrapper(self, function)

    @functools.cached_property
    def dispatcher(self) -> Callable[..., Any]:
        with _lock:
            numba = _numba()
            dispatcher = numba.njit(nogil=True, **OPTIONS)(self.python)
            dispatcher._cache = _DiskCache(self.python)
            dispatcher.compile = _compiling(dispatcher.compile)
            return dispatcher

    def code_for(self, *like: Any) -> Callable[..., Any]:
        """The compiled code for arguments of the types of these, which is ``code`` from now on.

        A dispatcher looks at the type of every argument, which takes 0.1 to 0.2 us a call. The code does not, and crashes
        when it is called with others: it is for calls that know theirs.
        """
        with _lock:
            dispatcher: Any = self.dispatcher
            types = tuple(map(_numba().typeof, like))
            dispatcher.compile(types)
            self.code = dispatcher.get_overload(types)
            return self.code

    def __call__(self, first: Any, *args: Any) -> Any:
        return self.dispatcher(getattr(first, "block", first), *args)

    def __repr__(self) -> str:
        return f"<Kernel {self.python.__module__}.{self.python.__qualname__}>"


class Routine:
    """A large kernel ``f(model, i, k) -> int`` that is compiled once for each scalar and called by its address.

    Numba links the code of a kernel into each one that calls it, and LLVM then works through it anew: for the
    realization of a state that took three times as long as compiling it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        _check_home(function)
        self.python = function
        self._addresses: dict[str, int] = {}
        self._kept: list[Any] = []  # what the addresses point at
        generic(function)

    def address(self, in_lanes: bool = False, with_tangents: bool = False, own_parameters: bool = False) -> int:
        """Where the compiled code for a record's scalar is, compiled or loaded when it is first asked for."""
        scalar = "varied" if own_parameters else "lanes" if in_lanes else "duals" if with_tangents else "state"
        address = self._addresses.get(scalar)
        if address is None:
            with _lock:
                _numba()
                from numba.core import types
                from numba.core.ccallback import CFunc

                from .algebra import record

                # no closure over anything but functions: the name tells the cache which of them it is
                attach, function = getattr(record, f"attach_{scalar}"), self.python

                def entry(pointer: Any, i: int, k: int) -> Any:
                    return function(attach(pointer), i, k)

                entry.__qualname__ = f"{function.__qualname__}.{scalar}"
                entry.__module__ = function.__module__
                signature = types.int64(types.voidptr, types.int64, types.int64)
                callback: Any = CFunc(
                    entry, (signature.args, signature.return_type), locals={}, options=dict(OPTIONS, nopython=True)
                )
                self._keep_on_disk(callback, entry, scalar)
                _compiling(callback.compile)()
                self._kept.append(callback)
                address = self._addresses[scalar] = int(callback.address)
                record.interpreted[address] = function
        return address

    def _keep_on_disk(self, callback: Any, entry: Callable[..., Any], scalar: str) -> None:
        callback._cache = _DiskCache(entry)


class UsersRoutine(Routine):
    """A `Routine` that calls users' functions, which live outside the hashed folders.

    Parameters
    ----------
    function : callable
        The kernel, of the package.
    parts : sequence of function
        The users' functions, frozen: see `_frozen`.
    fingerprint : str or None
        What names the compiled code on disk, beside the hash of the package's kernels; None if it cannot be kept.
    explain : callable
        ``explain(scalar, error) -> Exception`` turns an error of Numba's into what is raised; *scalar* is what `Routine`
        was being compiled for: "state", "lanes" or "duals".
    """

    def __init__(
        self,
        function: Callable[..., Any],
        parts: Sequence[Callable[..., Any]],
        fingerprint: str | None,
        explain: Callable[[str, Exception], Exception],
    ) -> None:
        super().__init__(function)
        _pending.extend(parts)
        self._fingerprint, self._explain = fingerprint, explain

    def address(self, in_lanes: bool = False, with_tangents: bool = False, own_parameters: bool = False) -> int:
        """Where the compiled code is; what Numba cannot compile is an error of the user's function, in plain words."""
        try:
            return super().address(in_lanes, with_tangents, own_parameters)
        except OSError:
            raise
        except Exception as error:  # Numba's own, and what it meets in places where it does not expect a user's function
            scalar = "lanes" if in_lanes else "duals" if with_tangents else "state"
            raise self._explain(scalar, error) from None

    def _keep_on_disk(self, callback: Any, entry: Callable[..., Any], scalar: str) -> None:
        if self._fingerprint is not None:
            callback._cache = _DiskCache(entry, f"users.{self._fingerprint}.{scalar}")

    def __deepcopy__(self, memo: Any) -> UsersRoutine:
        return self


def why_not(function: Callable[..., Any], lengths: Sequence[int], scalar: str) -> str | None:
    """What keeps Numba from compiling *function* of tuples of so many numbers; None if nothing does."""
    with _lock:
        numba = _numba()
        from numba.core import types

        from .algebra.compiled_dual import dual8
        from .algebra.lanes import lanes

        number = {"state": types.float64, "lanes": lanes, "duals": dual8}[scalar]
        arguments = tuple(types.UniTuple(number, n) for n in lengths)

        def of_two(a: Any, b: Any) -> Any:
            return function(a, b)

        def of_three(a: Any, b: Any, c: Any) -> Any:
            return function(a, b, c)

        alone = of_two if len(lengths) == 2 else of_three
        try:
            numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(alone).compile(arguments)
        except Exception as error:
            return str(error)
        return None


def routine(function: Callable[..., Any]) -> Routine:
    """Mark a large kernel that is called by address; see `Routine`."""
    return Routine(function)


def compiled(function: Callable[..., Any]) -> Kernel:
    """Mark an entry point that is called from Python with a block (or what has one), arrays and numbers.

    Other kernels can call it too, with their record in place of the block.
    """
    return Kernel(function)


def compiled_form_of(interpreted: Callable[..., Any]) -> Callable[[F], F]:
    """Let kernels call the decorated function where their source says *interpreted*, which serves Python."""

    def register(function: F) -> F:
        _check_home(function)
        _substitutes.append((interpreted, function))
        return function

    return register


class _Compiling(threading.local):
    """Whether this thread compiles a kernel now."""

    active = False


_now = _Compiling()


def _compiling(compile_it: Callable[..., Any]) -> Callable[..., Any]:
    """*compile_it*, with `_optimize_once` in force."""

    @functools.wraps(compile_it)
    def compile_ours(*args: Any) -> Any:
        before, _now.active = _now.active, True
        try:
            return compile_it(*args)
        finally:
            _now.active = before

    return compile_ours


def _optimize_once() -> None:
    """Let LLVM optimize a kernel with all that is inlined into it, and not each of the inlined functions before that.

    Numba puts every function through all of LLVM's passes by itself; a function of ours then goes through them again in each
    caller, and in the callers of these. Left out, that saves an eighth of the time a kernel takes to compile, and the code is
    the same.
    """
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.targetconfig import ConfigStack

    optimize = getattr(CPUCodeLibrary, "_optimize_final_module", None)
    if optimize is None:  # another version of Numba: compile as it does
        return

    def optimize_unless_inlined(library: Any) -> None:
        flags = ConfigStack.top_or_none() if _now.active else None
        if flags is None or not flags.forceinline:
            optimize(library)

    cast(Any, CPUCodeLibrary)._optimize_final_module = optimize_unless_inlined


@functools.cache
def _numba_module() -> Any:
    import numba
    from numba.extending import typeof_impl

    _optimize_once()

    from .algebra import compiled_angles, compiled_record  # noqa: F401  (registers the scalar types with Numba)

    @typeof_impl.register(Kernel)
    def _typeof_kernel(kernel: Kernel, context: Any) -> Any:
        return numba.typeof(kernel.dispatcher)

    return numba


def _numba() -> Any:
    """Numba, with every function marked so far registered."""
    numba = _numba_module()
    from numba.extending import overload, register_jitable

    while _substitutes:
        interpreted, function = _substitutes.pop()
        as_compiled = overload(interpreted, jit_options=cast(Any, OPTIONS), strict=False)
        as_compiled(_giving(function))
    while _pending:
        register_jitable(forceinline=True, no_cfunc_wrapper=True, **OPTIONS)(_pending.pop())
    return numba


def _giving(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function


@functools.cache
def cache_folder() -> Path:
    """Where compiled kernels are kept: ``MOBOD_CACHE_DIR``, or the user's cache folder; one folder for each version."""
    import llvmlite
    import numba
    import platformdirs

    digest = hashlib.blake2b(digest_size=12)
    digest.update(f"{sys.version} {numba.__version__} {llvmlite.__version__}".encode())
    files = [Path(__file__)]
    for folder in KERNEL_FOLDERS:
        files += sorted((PACKAGE / folder).rglob("*.py"))
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    root = Path(os.environ.get("MOBOD_CACHE_DIR") or platformdirs.user_cache_dir("mobod"))
    return root / digest.hexdigest()


def clear_cache() -> None:
    """Remove every compiled kernel of every version from the disk."""
    import shutil

    shutil.rmtree(cache_folder().parent, ignore_errors=True)


class _DiskCache:
    """What Numba's dispatcher asks of a cache: load a compiled signature, or save it. *stem* begins a file's name."""

    def __init__(self, function: Callable[..., Any], stem: str | None = None) -> None:
        module = function.__module__.removeprefix("mobod.")
        self._stem = stem or f"{module}.{function.__qualname__}"
        self._enabled = True
        self._started = 0.0

    @property
    def cache_path(self) -> str:
        return str(cache_folder())

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        for file in cache_folder().glob(f"{self._stem}-*.bin"):
            file.unlink(missing_ok=True)

    def _file(self, signature: Any, codegen: Any) -> Path:
        key = repr((signature, codegen.magic_tuple())).encode()
        return cache_folder() / f"{self._stem}-{hashlib.blake2b(key, digest_size=8).hexdigest()}.bin"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        import pickle

        from numba.core.compiler import CompileResult

        target_context.refresh()
        if self._enabled:
            try:
                data = self._file(signature, target_context.codegen()).read_bytes()
                return CompileResult._rebuild(target_context, *pickle.loads(data))
            except FileNotFoundError:
                pass
            except OSError as error:
                warnings.warn(f"the cache of compiled code cannot be read: {error}", stacklevel=2)
            except Exception as error:  # a truncated or foreign file: compile anew, and replace it
                warnings.warn(f"a file of the cache of compiled code is unusable: {error!r}", stacklevel=2)
        _announce()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        from numba.core.serialize import dumps

        if not self._enabled:
            return
        file = self._file(signature, result.codegen)
        try:
            if not file.parent.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                _remove_old_versions(file.parent)
            handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
            with os.fdopen(handle, "wb") as stream:
                stream.write(dumps(result._reduce()))
            os.replace(name, file)  # atomic: another process sees all of it or nothing
        except OSError as error:
            self._enabled = False
            warnings.warn(
                f"compiled code cannot be kept in {file.parent} ({error}); set MOBOD_CACHE_DIR to a "
                "writable folder, or every run compiles anew",
                stacklevel=2,
            )


def _remove_old_versions(folder: Path, days: float = 60.0) -> None:
    """Compiled code of sources that nobody has used for two months goes."""
    import shutil

    horizon = time.time() - days * 86400.0
    for other in folder.parent.iterdir():
        if other != folder and len(other.name) == 24 and other.stat().st_mtime < horizon:
            shutil.rmtree(other, ignore_errors=True)


@functools.cache
def _announce() -> None:
    """Say once a process that it compiles what no run before it has needed, and that later ones will not."""
    if not os.environ.get("MOBOD_QUIET"):
        print(
            "mobod: compiling what this model needs for the first time on this machine (seconds to half a minute for each new "
            f"kind of part; kept in {cache_folder().parent})",
            file=sys.stderr,
            flush=True,
        )
