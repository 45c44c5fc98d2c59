"""Numba as mobod uses it: its options, the types that higher rooms add to it, and its lock.

Numba takes 0.3 s to import, which `import mobod` must not pay: it is imported when the first kernel is compiled or loaded.
"""

from __future__ import annotations

import functools
import logging  # noqa: F401  (before `_wait_before_forks`, which says why)
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

from .._garbage import not_collected
from .interrupts import heeding_interrupts
from .notice import loading

#: Only multiply and add may be fused; nothing else of IEEE arithmetic is relaxed. Worth 15 to 20 % for one state.
OPTIONS: Any = {"fastmath": {"contract"}, "error_model": "numpy", "_nrt": False}


class Extension(NamedTuple):
    """Additions to Numba by a room above."""

    #: The modules that define types and primitives: all that is compiled depends on them.
    modules: tuple[ModuleType, ...]
    #: Numba's types of what a `Routine` can be compiled for.
    scalars: Mapping[str, Any]
    #: Whatever else compiled code depends on, as text: asked for anew each time.
    facts: Callable[[], str]


#: Every function that compiled code can call.
jitables: set[Callable[..., Any]] = set()
#: Those of them that are functions of their own within a kernel's code.
kept_apart: set[Callable[..., Any]] = set()
_pending: list[Callable[..., Any]] = []
_pending_apart: list[Callable[..., Any]] = []
_pending_with_arrays: list[Callable[..., Any]] = []
_extensions: list[Callable[[], Extension]] = []
_loading = threading.RLock()
_loaded: list[ModuleType] = []


def extend(load: Callable[[], Extension]) -> None:
    """Call *load* when Numba is first needed; it may import Numba, and registers types with it."""
    _extensions.append(load)


@functools.cache
def extensions() -> tuple[Extension, ...]:
    """All additions to Numba."""
    return tuple(load() for load in _extensions)


def make_jitable(function: Callable[..., Any]) -> None:
    """Make *function* callable from compiled code, inlined."""
    jitables.add(function)
    _pending.append(function)


def make_jitable_apart(function: Callable[..., Any]) -> None:
    """Make *function* callable from compiled code, not inlined."""
    jitables.add(function)
    kept_apart.add(function)
    _pending_apart.append(function)


def make_jitable_with_arrays(function: Callable[..., Any]) -> None:
    """Make *function*, which may make arrays, callable from compiled code that may, too."""
    jitables.add(function)
    _pending_with_arrays.append(function)


def numba() -> Any:
    """Numba, with every function marked so far registered."""
    if not _loaded:
        with _loading:
            if not _loaded:
                with loading("Numba"):
                    import numba
                    import numba.extending
                    import numpy.ma  # noqa: F401  (or Numba imports it amid a call, where a fork would not wait for it)

                extensions()
                # made when first asked for, under locks of their own, for which a fork would not wait either
                target = numba.core.registry.cpu_target
                _ = target.typing_context, target.target_context
                _loaded.append(numba)
    numba = _loaded[0]
    if _pending or _pending_apart or _pending_with_arrays:
        with lock():
            while _pending:
                # that Python cannot call it says that it is a part of its callers alone: see `numba_patches`
                inlined = {"forceinline": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
                numba.extending.register_jitable(**inlined, **OPTIONS)(_pending.pop())
            while _pending_apart:
                parts = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
                numba.extending.register_jitable(**parts, **OPTIONS)(_pending_apart.pop())
            while _pending_with_arrays:
                parts = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
                numba.extending.register_jitable(**parts, **{**OPTIONS, "_nrt": True})(_pending_with_arrays.pop())
    return numba


def begin_arrays() -> None:
    """Initialize Numba's runtime, which code that makes arrays calls for their memory."""
    core = numba().core
    core.runtime.rtsys.initialize(core.registry.cpu_target.target_context)


def lock() -> Any:
    """Numba's own lock, which compiling holds anyway: with a second one, two threads could wait for each other."""
    from numba.core.compiler_lock import global_compiler_lock

    return global_compiler_lock


def _wait_before_forks() -> None:
    """Delay forks while another thread compiles or imports Numba: the child would have locks that are never released."""
    # that of `logging` takes a lock that Numba needs: hooks are called last one first, so ours has to be the later one
    held = []

    def before() -> None:
        held.append(_loading)
        _loading.acquire()
        if _loaded:
            held.append(lock())
            lock().acquire()

    def after() -> None:
        while held:
            held.pop().release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)


# not when Numba is first needed: a thread that is about to import it would have the lock before
_wait_before_forks()


class _Compiling(threading.local):
    """The depth of kernels that this thread compiles now, one being called by another."""

    depth = 0


_now = _Compiling()
_spent = [0.0]


def seconds_spent() -> float:
    """Seconds for which this process has compiled kernels, loaded their code, and waited for others that compile them."""
    return _spent[0]


@contextmanager
def compiling() -> Iterator[None]:
    """The context of compiling: holds the lock, and stops when the user interrupts."""
    with lock():
        if _now.depth > 0:
            _now.depth += 1
            try:
                yield
            finally:
                _now.depth -= 1
            return
        _now.depth, begin = 1, time.perf_counter()
        try:
            with not_collected(), heeding_interrupts():
                yield
        finally:
            _now.depth = 0
            _spent[0] += time.perf_counter() - begin


def is_part_of_another() -> bool:
    """True if what this thread compiles now becomes part of a kernel that calls it."""
    return _now.depth > 1


def keep_parts_apart(dispatcher: Any) -> set[tuple[Any, ...]]:
    """Hide from Python what *dispatcher* compiles as a part of other kernels, and return the types of the arguments of that.

    Such code cannot be called (see `numba_patches`): when Python calls it with the same types, it is compiled once more.
    """
    parts: set[tuple[Any, ...]] = set()
    add, compile_it = dispatcher.add_overload, dispatcher.compile

    @functools.wraps(add)
    def add_overload(result: Any) -> None:
        if is_part_of_another():
            types = tuple(result.signature.args)
            dispatcher.overloads[types] = result
            parts.add(types)
        else:
            add(result)

    @functools.wraps(compile_it)
    def compile_whole(types: Any) -> Any:
        with lock():
            if _now.depth == 0 and tuple(types) in parts:
                parts.remove(tuple(types))
                del dispatcher.overloads[tuple(types)]
            return compile_it(types)

    dispatcher.add_overload, dispatcher.compile = add_overload, compile_whole
    return parts
