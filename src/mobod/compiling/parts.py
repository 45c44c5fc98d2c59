"""Parts of kernels on disk: functions that become part of the kernels that call them, as LLVM's code.

A kernel is made of some hundred functions, most of which other kernels are made of, too, and half of the time that compiling
takes is Numba's, which finds the types in each and writes its code. Here a part is named by a hash of all that it reaches, of
the types of its arguments and of Numba's options. Beside each kernel that a process has compiled, it writes a file with the
parts that were new; other processes take them from there, as does a kernel after an edit of another of its functions. LLVM
still optimizes each kernel as a whole.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import os
import pickle
import time
import weakref
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import numba_patches, store
from .fingerprint import NotHashable, environment, fingerprint, reached
from .numba_overhead import Patch

#: Parts that are made of such modules' functions alone are kept: those of users' functions depend on whatever these call.
_MODULES = ("mobod.", "numba.")
_DIGEST = 16


class _Place(NamedTuple):
    """A part's bytes in a file."""

    file: str
    begin: int
    length: int


#: Parts on disk by key, and the files that they are in.
_places: dict[str, _Place] = {}
_files: set[str] = set()
#: Parts compiled since the last file was written.
_new: dict[str, bytes] = {}
#: Numba's libraries of the parts that this process has compiled or loaded, and their keys.
_libraries: dict[str, Any] = {}
_keys: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
#: In place of the key of Numba's runtime, which each library names.
_RUNTIME = "runtime"


@functools.cache
def _made_of(function: Callable[..., Any]) -> str | None:
    """The hash of a function; None where there is none, or where a user's function is reached."""
    try:
        if all((one.__module__ or "").startswith(_MODULES) for one in reached(function)):
            return fingerprint(function)
    except NotHashable:
        pass
    return None


def number_of(function: Callable[..., Any]) -> int | None:
    """A number for a function's name in code, of what it is made of; None where there is none.

    Numba counts its functions, so that equal parts would have different names in different processes, and different ones equal
    names.
    """
    found = _made_of(function)
    return None if found is None else int(found[:15], 16)


def key_of(compiler: Any, types: Any) -> str | None:
    """The name of a part; None if it is not kept.

    Parameters
    ----------
    compiler : _FunctionCompiler
        Numba's, of the function.
    types : tuple
        Numba's types of arguments and result.
    """
    from numba.core.compiler import Flags

    function, described = compiler.py_func, compiler.targetdescr
    made_of = _made_of(function)
    if made_of is None or _names_objects(types):
        return None
    flags = Flags()
    described.options.parse_as_flags(flags, compiler.targetoptions)
    names = function.__module__, function.__qualname__
    processor = described.target_context.codegen().magic_tuple()
    whole = repr((made_of, names, types, flags.summary(), environment(), processor))
    return hashlib.blake2b(whole.encode(), digest_size=_DIGEST).hexdigest()


def _names_objects(types: Any) -> bool:
    """True if types name functions or generators of this process: what these are made of, they do not tell."""
    text = repr(types)
    return "<" in text or " at 0x" in text


def load(key: str, target_context: Any) -> Any:
    """Numba's result for a part, as `Dispatcher.compile` makes it; None if no process has compiled it."""
    from numba.core.compiler import CompileResult
    from numba.core.environment import Environment

    try:
        function, signature, *code = pickle.loads(_read(key))
        library = _library(key, code, target_context.codegen())
    except Exception:  # removed meanwhile, damaged, or of types that another version has: compiled as if it were not there
        return None
    constants = Environment.from_fndesc(function)
    entry = numba_patches.identity_of(library, function, constants)
    target_context.insert_user_function(entry, function, [library])
    known = {
        **dict.fromkeys(CompileResult._fields),
        **{"target_context": target_context, "typing_context": target_context.typing_context, "signature": signature},
        **{"library": library, "environment": constants, "entry_point": entry, "fndesc": function, "type_annotation": ""},
        **{"objectmode": False, "lifted": (), "reload_init": (), "referenced_envs": ()},
    }
    return CompileResult(**known)


def _library(key: str, code: Any, codegen: Any) -> Any:
    """Numba's library of a part, with those that it calls."""
    found = _libraries.get(key)
    if found is None:
        name, bitcode, called = code
        others = [_called(other, codegen) for other in called]
        found = _libraries[key] = numba_patches.part_of(codegen, name, bitcode, others)
        _keys[found] = key
    return found


def _called(key: str, codegen: Any) -> Any:
    """Numba's library of a part that another one calls."""
    if key == _RUNTIME:
        return _runtime()
    return _library(key, () if key in _libraries else pickle.loads(_read(key))[2:], codegen)


def _runtime() -> Any:
    runtime: Any = importlib.import_module("numba.core.runtime")
    return runtime.rtsys.library


def keep(key: str, result: Any) -> None:
    """Remember a part for the next file.

    Not one that has constants of Python's or calls what is not kept: that stays with the process.
    """
    library, function = result.library, result.fndesc
    if _names_objects(result.signature):
        return
    called = [_RUNTIME if one is _runtime() else _keys.get(one) for one in library._linking_libraries]
    if None in called or library.has_dynamic_globals or function.global_dict is not None or result.lifted or result.reload_init:
        return
    if any(one.consts for one in result._find_referenced_environments()):
        return
    function.typemap = function.calltypes = None  # which nobody asks for any more
    code = library.name, numba_patches.own_module(library).as_bitcode(), called
    try:
        _new[key] = pickle.dumps((function, result.signature, *code))
    except (pickle.PicklingError, TypeError, AttributeError):  # types that NumPy's functions make within functions
        return
    _libraries[key], _keys[library] = library, key


def _read(key: str) -> bytes:
    """The bytes of a part.

    Raises
    ------
    KeyError, OSError, ValueError, zlib.error
        If there are none, or they are damaged.
    """
    if key in _new:
        return _new[key]
    place = _places[key]
    with open(store.cache_folder() / place.file, "rb") as stream:
        stream.seek(place.begin)
        data = stream.read(place.length)
    if _checksum(data[_DIGEST:]) != data[:_DIGEST]:
        raise ValueError(f"{place.file} is damaged")
    return zlib.decompress(data[_DIGEST:])


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


def look() -> None:
    """Find out what other processes have written."""
    folder = store.cache_folder()
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(store.PARTS) and name not in _files:
                _files.add(name)
                with contextlib.suppress(OSError, ValueError, EOFError, pickle.UnpicklingError):
                    _list(name, folder / name)


def _list(name: str, file: os.PathLike[str]) -> None:
    """Read the list of a file's parts."""
    with open(file, "rb") as stream:
        stream.seek(store.HEAD)
        digest, length = stream.read(_DIGEST), int.from_bytes(stream.read(8), "little")
        data = stream.read(length)
        if _checksum(data) != digest:
            raise ValueError(f"{name} is damaged")
        at = stream.tell()
        for key, size in pickle.loads(data):
            _places[key] = _Place(name, at, size)
            at += size
        if time.time() - os.fstat(stream.fileno()).st_mtime > store.DAY:  # it is still in use
            os.utime(file)


def write() -> None:
    """Write those that are new to a file of their own."""
    if not _new:
        return
    packed = {key: zlib.compress(data, 1) for key, data in _new.items()}
    content = pickle.dumps([(key, _DIGEST + len(data)) for key, data in packed.items()])
    head = _checksum(content), len(content).to_bytes(8, "little"), content
    data = b"".join([*head, *(part for one in packed.values() for part in (_checksum(one), one))])
    store.write(f"parts-{hashlib.blake2b(data, digest_size=16).hexdigest()}{store.PARTS}", data, is_kernel=False)
    _new.clear()
    look()


def _keep_parts() -> Iterator[Patch]:
    """Compiling of a part, which is loaded where a process has compiled it already, and the names in its code."""
    from numba.core.bytecode import FunctionIdentity

    compiler: Any = vars(importlib.import_module("numba.core.dispatcher"))["_FunctionCompiler"]
    identity: Any = FunctionIdentity
    compile_core, begin = compiler._compile_core, identity.from_function.__func__

    @functools.wraps(compile_core)
    def compile_or_load(self: Any, args: Any, result: Any) -> Any:
        key = key_of(self, (args, result)) if self.targetoptions.get("no_cpython_wrapper") else None
        if key is None:
            return compile_core(self, args, result)
        found = load(key, self.targetdescr.target_context)
        if found is None:
            found = compile_core(self, args, result)
            keep(key, found)
        return found

    def from_function(cls: Any, function: Any) -> Any:
        made = begin(cls, function)
        number = number_of(made.func)
        if number is not None:
            made.unique_id, made.unique_name = number, f"{made.func_qualname}${number}"
        return made

    yield Patch(compiler, "_compile_core", compile_or_load)
    yield Patch(identity, "from_function", classmethod(from_function))


numba_patches.extend(_keep_parts)
