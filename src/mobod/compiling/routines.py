"""Large kernels that are compiled once and called by their address."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from . import engine
from .disk_cache import DiskCache
from .kernels import generic, marked

#: How a routine's entry makes a record of the pointer that it gets, for each scalar: filled by who defines records.
attachments: dict[str, Callable[..., Any]] = {}
#: The compiled code at each address, for calls from uncompiled kernels.
interpreted: dict[int, Callable[..., int]] = {}


class Routine:
    """A large kernel ``f(model, ...) -> int`` of up to six integers, compiled once for each scalar and called by its address.

    Numba links the code of a kernel into each one that calls it, and LLVM then works through it anew: for the
    realization of a state that took three times as long as compiling it.
    """

    def __init__(self, function: Callable[..., Any], makes_arrays: bool = False) -> None:
        self.python = function
        self._addresses: dict[str, int] = {}
        self._on_disk: set[str] = set()
        self._makes_arrays = makes_arrays
        self._kept: list[Any] = []  # what the addresses point at
        (engine.make_jitable_with_arrays if makes_arrays else generic)(function)
        marked.add(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Routine:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """By the name of its function in its module."""
        return _named, (self.python.__module__, self.python.__qualname__)

    def address(
        self, in_lanes: bool = False, with_tangents: bool = False, own_parameters: bool = False, twice: bool = False
    ) -> int:
        """The address of the compiled code for a record's scalar, compiled or loaded when it is first asked for."""
        scalar = scalar_of(in_lanes, with_tangents, own_parameters, twice)
        address = self._addresses.get(scalar)
        return self._made(scalar) if address is None else address

    def is_compiled_for(
        self, in_lanes: bool = False, with_tangents: bool = False, own_parameters: bool = False, twice: bool = False
    ) -> bool:
        """True if there is such an address, or a file to load the code from."""
        scalar = scalar_of(in_lanes, with_tangents, own_parameters, twice)
        if scalar in self._addresses or scalar in self._on_disk:
            return True
        if self._cache(self._entry(scalar), scalar).has(self._signature()):
            self._on_disk.add(scalar)  # looking there takes half a millisecond
        return scalar in self._on_disk

    def _entry(self, scalar: str) -> Callable[..., Any]:
        """The compiled function: it makes the record of its address."""
        attach, function = attachments[scalar], self.python
        entry: Any = entry_of(function, attach, num_integers(function))
        entry.__qualname__ = f"{function.__qualname__}.{scalar}"
        entry.__module__ = function.__module__
        return entry

    def _made(self, scalar: str) -> int:
        engine.numba()
        from numba.core.ccallback import CFunc

        with engine.lock():
            if scalar in self._addresses:  # by another thread, meanwhile
                return self._addresses[scalar]
            entry, signature = self._entry(scalar), self._signature()
            if self._makes_arrays:
                engine.begin_arrays()
            options = {**engine.OPTIONS, "nopython": True, "_nrt": self._makes_arrays}
            callback: Any = CFunc(entry, (signature.args, signature.return_type), locals={}, options=options)
            self._cache(entry, scalar).serve(callback)
            callback.compile()
            self._kept.append(callback)
            interpreted[int(callback.address)] = self.python
            self._addresses[scalar] = int(callback.address)
            return self._addresses[scalar]

    def _cache(self, entry: Callable[..., Any], scalar: str) -> DiskCache:
        return DiskCache(entry)

    def _signature(self) -> Any:
        """Of the entry: the address of a record's block, and the integers."""
        from numba.core import types

        return types.int64(types.voidptr, *[types.int64] * num_integers(self.python))


class RoutineWithOneApart(Routine):
    """A routine that for one state of float64 is another one, with the same results to rounding.

    In Python, where numbers may be those of formulas, both are the first.
    """

    def __init__(self, function: Callable[..., Any], of_one: Callable[..., Any]) -> None:
        super().__init__(function)
        self._of_one = Routine(of_one)

    def address(
        self, in_lanes: bool = False, with_tangents: bool = False, own_parameters: bool = False, twice: bool = False
    ) -> int:
        """As `Routine.address`."""
        if in_lanes or with_tangents or own_parameters or twice:
            return super().address(in_lanes, with_tangents, own_parameters, twice)
        address = self._of_one.address()
        interpreted[address] = self.python
        return address

    def is_compiled_for(
        self, in_lanes: bool = False, with_tangents: bool = False, own_parameters: bool = False, twice: bool = False
    ) -> bool:
        """As `Routine.is_compiled_for`."""
        if in_lanes or with_tangents or own_parameters or twice:
            return super().is_compiled_for(in_lanes, with_tangents, own_parameters, twice)
        return self._of_one.is_compiled_for()


def _named(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def scalar_of(in_lanes: bool, with_tangents: bool, own_parameters: bool, twice: bool) -> str:
    """The name of a record's scalar."""
    if with_tangents:
        return "twice" if twice else "seeded" if own_parameters else "duals"
    return "varied" if own_parameters else "lanes" if in_lanes else "state"


def num_integers(function: Callable[..., Any]) -> int:
    """The number of integers that a routine takes."""
    return function.__code__.co_argcount - 1


def entry_of(function: Callable[..., Any], attach: Callable[[Any], Any], count: int) -> Callable[..., Any]:
    """A function of the address of a record's block and so many integers that calls *function* of the record."""

    def of_two(pointer: Any, i: int, k: int) -> Any:
        return function(attach(pointer), i, k)

    def of_three(pointer: Any, i: int, j: int, k: int) -> Any:
        return function(attach(pointer), i, j, k)

    def of_six(pointer: Any, a: int, b: int, c: int, i: int, j: int, k: int) -> Any:
        return function(attach(pointer), a, b, c, i, j, k)

    entries: dict[int, Callable[..., Any]] = {2: of_two, 3: of_three, 6: of_six}
    return entries[count]


class UsersRoutine(Routine):
    """A `Routine` that calls users' functions.

    Parameters
    ----------
    function : callable
        The kernel, of the package.
    parts : sequence of function
        The users' functions, frozen: see `function.users.frozen`.
    fingerprint : str or None
        A hash of these, which becomes part of what names the compiled code on disk; None if it cannot be kept.
    explain : callable
        ``explain(scalar, error) -> Exception`` turns an error of Numba's into what is raised; *scalar* is what `Routine`
        was being compiled for: "state", "lanes" or "duals", parameters' and second ones among these.
    makes_arrays : bool
        Whether they may make arrays, and call what NumPy's functions of these are compiled to.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        parts: Sequence[Callable[..., Any]],
        fingerprint: str | None,
        explain: Callable[[str, Exception], Exception],
        makes_arrays: bool = False,
    ) -> None:
        super().__init__(function, makes_arrays)
        for part in parts:
            (engine.make_jitable_with_arrays if makes_arrays else engine.make_jitable)(part)
        self._fingerprint, self._explain = fingerprint, explain

    def address(
        self, in_lanes: bool = False, with_tangents: bool = False, own_parameters: bool = False, twice: bool = False
    ) -> int:
        """The address of the compiled code; an error of Numba is explained as one of the user's function."""
        try:
            return super().address(in_lanes, with_tangents, own_parameters, twice)
        except OSError:
            raise
        except Exception as error:  # Numba's own errors, and others that a user's function causes inside it
            scalar = "lanes" if in_lanes else "duals" if with_tangents else "state"
            raise self._explain(scalar, error) from None

    def _cache(self, entry: Callable[..., Any], scalar: str) -> DiskCache:
        return DiskCache(entry, f"users.{scalar}", self._fingerprint, keep=self._fingerprint is not None)

    def __deepcopy__(self, memo: Any) -> UsersRoutine:
        return self


def routine(function: Callable[..., Any]) -> Routine:
    """Mark a large kernel that is called by address; see `Routine`."""
    return Routine(function)


def why_not(function: Callable[..., Any], lengths: Sequence[int], scalar: str) -> str | None:
    """Why Numba cannot compile *function* for tuples of these *lengths*; None if it can."""
    numba = engine.numba()
    from numba.core import types

    number = {name: of for one in engine.extensions() for name, of in one.scalars.items()}[scalar]
    arguments = tuple(types.UniTuple(number, n) for n in lengths)

    def of_two(a: Any, b: Any) -> Any:
        return function(a, b)

    def of_three(a: Any, b: Any, c: Any) -> Any:
        return function(a, b, c)

    alone = of_two if len(lengths) == 2 else of_three
    with engine.lock():
        try:
            numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **engine.OPTIONS)(alone).compile(arguments)
        except Exception as error:
            return str(error)
    return None
