"""The decorators that say which functions are compiled, and how.

- ``generic`` marks a function of scalars and tuples that kernels call. Called from Python it stays plain Python.
- ``compiled`` marks an entry point: it is called from Python with NumPy arrays, and Numba compiles it, or loads it from
  the disk, at its first call. What it was made from stays at hand as ``.python``. ``routine`` is its form for large ones.

They do not import Numba.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from . import engine
from .disk_cache import DiskCache

F = TypeVar("F", bound=Callable[..., Any])

_generic: set[Callable[..., Any]] = set()
#: Every kernel and every routine: see `ahead`.
marked: weakref.WeakSet[Any] = weakref.WeakSet()


def generic(function: F) -> F:
    """Make *function* callable from kernels; in Python it remains what it is."""
    _generic.add(function)
    engine.make_jitable(function)
    return function


def apart(function: F) -> F:
    """Make *function* callable from kernels, not inlined; in Python it remains what it is.

    For what is large, called at several places of a kernel, and seldom: inlined at each, LLVM works through it at each.
    """
    _generic.add(function)
    engine.make_jitable_apart(function)
    return function


def of_arrays(function: F) -> F:
    """Make *function*, which may make arrays, callable from users' functions of arrays; in Python it remains what it is."""
    _generic.add(function)
    engine.make_jitable_with_arrays(function)
    return function


def is_generic(function: Callable[..., Any]) -> bool:
    """True if kernels can call *function*, of the package."""
    return function in _generic


class Kernel:
    """A compiled entry point, compiled or loaded when it is first needed.

    The attribute ``dispatcher`` is Numba's own object, which hot paths fetch once to save a Python call; ``code`` what the
    hottest call in its place, once `code_for` has been asked for it; ``python`` is the function as written.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        self.dispatcher: Any
        self.code: Callable[..., Any] | None = None
        self._parts: set[tuple[Any, ...]] = set()  # see engine.keep_parts_apart
        functools.update_wrapper(self, function)
        marked.add(self)

    def __getattr__(self, name: str) -> Any:
        # not functools.cached_property, which in Python 3.11 makes a fork wait for ever on a lock of its own
        if name != "dispatcher":
            raise AttributeError(f"a kernel has no attribute {name!r}")
        numba = engine.numba()
        with engine.lock():
            if "dispatcher" not in self.__dict__:
                dispatcher = numba.njit(nogil=True, **engine.OPTIONS)(self.python)
                DiskCache(self.python).serve(dispatcher)
                self._parts = engine.keep_parts_apart(dispatcher)
                self.dispatcher = dispatcher
        return self.dispatcher

    def code_for(self, *like: Any) -> Callable[..., Any]:
        """The compiled code for arguments of the types of these, which is ``code`` from now on.

        A dispatcher looks at the type of every argument, which takes 0.1 to 0.2 us a call. The code does not, and crashes
        when it is called with others: it is for calls that know theirs.
        """
        dispatcher = self.dispatcher
        types = tuple(map(engine.numba().typeof, like))
        dispatcher.compile(types)
        self.code = dispatcher.get_overload(types)
        return self.code

    def compile_for(self, types: tuple[Any, ...]) -> None:
        """Compile it, or load it, for arguments of Numba's *types*."""
        self.dispatcher.compile(types)

    def is_compiled_for(self, types: tuple[Any, ...]) -> bool:
        """True if that has been done, or there is a file to load."""
        here = types in self.dispatcher.overloads and types not in self._parts
        return here or DiskCache(self.python).has(types)

    @property
    def _numba_type_(self) -> Any:
        """Its type for Numba, in a kernel that calls it."""
        return self.dispatcher._numba_type_

    def __call__(self, first: Any, *args: Any) -> Any:
        """Call it with a block, or with what has one."""
        return self.dispatcher(getattr(first, "block", first), *args)

    def __repr__(self) -> str:
        return f"<Kernel {self.python.__module__}.{self.python.__qualname__}>"


def compiled(function: Callable[..., Any]) -> Kernel:
    """Mark an entry point that is called from Python with a block (or what has one), arrays and numbers.

    Other kernels can call it too, with their record in place of the block.
    """
    return Kernel(function)
