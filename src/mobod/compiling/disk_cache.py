"""Compiled code on disk, with the interface of Numba's dispatchers.

Why not Numba's own cache: it looks at the file of the entry point alone, so that an edit in another file goes unnoticed, and
two processes that compile at once can mix up its numbered data files. Here a file is named by the `fingerprint` of the kernel,
its signature and the processor; `store` keeps the files. What comes with the package is in a `bundle`, under the same names.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import pickle
import re
from collections.abc import Callable
from typing import Any

from . import bundle, engine, notice, parts, store
from .fingerprint import NotHashable, environment, fingerprint
from .numba_overhead import in_one_chunk
from .numba_patches import CODE, quickly, why_unpatched


class DiskCache:
    """The compiled code of one kernel.

    Parameters
    ----------
    function : function
        The kernel as it is written.
    stem : str, optional
        The beginning of file names; the kernel's name unless given.
    more : str, optional
        A hash of other things that the code depends on.
    keep : bool
        Whether it is kept at all.
    """

    def __init__(
        self, function: Callable[..., Any], stem: str | None = None, more: str | None = None, keep: bool = True
    ) -> None:
        name = stem or f"{function.__module__.removeprefix('mobod.')}.{function.__qualname__}"
        self._stem = re.sub(r"[^\w.]+", "_", name)[-100:]
        self._function, self._more, self._enabled = function, more, keep
        self._claims: dict[str, store.Claim] = {}
        self._notices = contextlib.ExitStack()  # of what is being compiled

    def serve(self, compiler: Any) -> None:
        """Attach the cache to *compiler*, a dispatcher of Numba's or a CFunc, whose code is loaded from here or saved here."""
        compiler._cache = self
        compile_it = compiler.compile

        @functools.wraps(compile_it)
        def compile_or_load(*args: Any) -> Any:
            with engine.compiling(), quickly(compiler), contextlib.ExitStack() as self._notices:
                try:
                    return in_one_chunk(compile_it, args)
                finally:
                    if not engine.is_part_of_another():
                        parts.write()
                    for claim in self._claims.values():
                        claim.release()
                    self._claims.clear()

        compiler.compile = compile_or_load

    def _key(self, signature: Any) -> tuple[Any, ...] | None:
        """All that the code for a signature depends on; None if it is not kept, like code inlined into a caller."""
        if not self._enabled or engine.is_part_of_another():
            return None
        try:
            return fingerprint(self._function), self._more, environment(), signature
        except NotHashable:
            self._enabled = False
            return None

    def _name(self, key: tuple[Any, ...], processor: Any) -> str:
        """The name of the file with the code of a key for a processor."""
        return f"{self._stem}-{hashlib.blake2b(repr((*key, processor)).encode(), digest_size=16).hexdigest()}.bin"

    def _bundled(self, key: tuple[Any, ...], codegen: Any) -> tuple[str, bundle.Bundle] | None:
        """The name of the code that comes with the package, and the bundle that has it."""
        for one in bundle.bundles():
            name = self._name(key, bundle.processor_of(one.level, codegen))
            if name in one.names:
                return name, one
        return None

    def has(self, signature: Any) -> bool:
        """True if there is a file for a signature."""
        from numba.core.registry import cpu_target

        codegen, key = cpu_target.target_context.codegen(), self._key(signature)
        if key is None:
            return False
        return self._bundled(key, codegen) is not None or store.has(self._name(key, codegen.magic_tuple()))

    # ------------------------------------------------------------------------------------------ what Numba calls

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(store.cache_folder())

    def enable(self) -> None:
        """Keep compiled code."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor keep."""
        self._enabled = False

    def flush(self) -> None:
        """Nothing: a file's name says what it was made of, so that none is ever out of date."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The code for a signature; None, with the task of compiling claimed, if there is none yet."""
        # no target_context.refresh(), as in Numba's own cache: it imports all of Numba's NumPy, and SciPy's BLAS, which code
        # that is there already does not need; what compiles does it by itself
        codegen, key = target_context.codegen(), self._key(signature)
        if key is None:
            notice.announce(str(store.cache_folder()))
            return None
        bundled = self._bundled(key, codegen)
        found = bundled and _rebuilt(*bundled, target_context)
        if found:
            return found
        name = self._name(key, codegen.magic_tuple())
        found = _rebuilt(name, None, target_context)
        if found is None:
            notice.announce(str(store.cache_folder()))
            self._notices.enter_context(notice.one_kernel(self._stem, engine.seconds_spent()))
            self._claims[name] = store.Claim(name)  # which may take as long as another process compiles the same
            parts.look()
            found = _rebuilt(name, None, target_context)
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the code for a signature."""
        from numba.core.serialize import dumps

        key = self._key(signature)
        if key is not None:
            store.write(self._name(key, result.codegen.magic_tuple()), dumps(_without_modules(_needed_again(result))))


class _Constants:
    """In place of an Environment of Numba's, which has the globals of a function's module besides.

    Compiled code reads constants of it alone; by the module, code would be lost when a function moves to another one.
    """

    def __init__(self, environment: Any) -> None:
        self._kept = environment.consts, environment.env_name

    def __reduce__(self) -> tuple[Any, ...]:
        from numba.core.environment import _rebuild_env

        return _rebuild_env, (__package__, *self._kept)


#: Begins the list of what a kernel's code defines.
_DEFINES = "defines"


def _needed_again(result: Any) -> tuple[Any, ...]:
    """The parts of a result of Numba's that a later process needs.

    What its code defines stands in place of the types as text, so that the code is loaded without a look at what it was made
    of. Of the functions in it that have no constants, code asks for none.
    """
    library, *others, _, begin, environments = result._reduce()
    module = result.library._get_module_for_linking()
    defined = [one.name for one in (*module.functions, *module.global_variables) if not one.is_declaration]
    return library, *others, "\n".join([_DEFINES, *defined]), begin, tuple(one for one in environments if one.consts)


def _to_load(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Such parts for `numba_patches`, where these are in place and the file is of no earlier version."""
    (name, _, data), *others, text, begin, environments = parts
    mark, *defined = text.split("\n")
    if why_unpatched() or mark != _DEFINES:
        return parts
    return (name, CODE, (*data, defined)), *others, "", begin, environments


def _without_modules(part: Any) -> Any:
    """The parts of a result of Numba's, as they are pickled."""
    from numba.core.environment import Environment

    if type(part) is tuple:
        return tuple(map(_without_modules, part))
    return _Constants(part) if isinstance(part, Environment) else part


class _Unpickler(pickle.Unpickler):
    """Of files of earlier versions too, which name modules."""

    def find_class(self, module: str, name: str) -> Any:
        """The global of this name."""
        found = super().find_class(module, name)
        return found if name != "_rebuild_env" else lambda module, *kept: found(__package__, *kept)


def _rebuilt(name: str, where: bundle.Bundle | None, target_context: Any) -> Any:
    """The code of a name, out of a bundle or the cache; None if there is none, or it is of no use."""
    from numba.core.compiler import CompileResult

    data = store.read(name) if where is None else bundle.read(name, where)
    if data is None:
        return None
    try:
        return CompileResult._rebuild(target_context, *_to_load(_Unpickler(io.BytesIO(data)).load()))
    except Exception as error:  # whole as it was written, and yet of no use
        place = "in the cache of compiled code" if where is None else "compiled code that came with mobod"
        notice.warn_of_file(f"{name}, {place}, is unusable: {error!r}; it is compiled anew")
        if where is None:
            store.drop(name)
        return None
