"""Callbacks: Python functions that kernels call by address, as they call a `Routine`.

A kernel has let go of Python's lock; the callback takes it for as long as Python computes. What Python raises cannot pass
through compiled code, so that it is kept, thread by thread, until the kernel has returned, and `raise_kept` raises it then.
Until then no callback is called again. A `ModelError` says that there is no result at this point; kernels see that by what the
callback leaves in place of results, and may go on elsewhere.

A signal that comes while a kernel computes is handled when Python next does anything: where a callback begins, before its first
line, so that nothing there can catch what the handler raises, KeyboardInterrupt for one. Python would tell of that by
`sys.unraisablehook`, and go on with whatever results there were before; there it is kept.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeVar

from ..errors import ModelError
from . import routines

_T = TypeVar("_T")
#: What a callback returns where it has no results.
NO_RESULT = 1


class _Kept(threading.local):
    raised: BaseException | None = None
    refusal: Exception | None = None
    of_many: bool = False
    #: Called when something is raised: the kernel goes on for a while, and changes what it has been told.
    note: Callable[[], None] | None = None


_kept = _Kept()

#: What lends the states in the lanes of a record, by the address of its block: see `mobod.ensemble.lanes.lending`.
_lenders: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
lender_at = _lenders.get


def lend_lanes(pointer: int, lender: Any) -> None:
    """Lend callbacks the states in the lanes of the record whose block is at an address, as long as *lender* is there."""
    _lenders[pointer] = lender


def _keep(error: BaseException) -> None:
    _kept.raised = error
    if _kept.note is not None:
        _kept.note()


def _keep_what_signals_raise() -> None:
    """Let what cannot be caught in callbacks be kept; somebody may have set another hook since the last time."""
    tell: Any = sys.unraisablehook
    if isinstance(tell, FunctionType) and vars(tell).get("keeps"):
        return

    @functools.wraps(tell)
    def keep_or_tell(about: Any) -> None:
        fail = vars(about.object).get("fail") if isinstance(about.object, FunctionType) else None
        if fail is None or about.exc_value is None or about.exc_traceback is None:
            tell(about)
            return
        if _kept.raised is None:
            _keep(about.exc_value)
        given = about.exc_traceback.tb_frame.f_locals  # of the callback
        fail(given["scalar"], given["pointer"], *given["integers"])

    vars(keep_or_tell)["keeps"] = True
    sys.unraisablehook = keep_or_tell


class Callback:
    """The stand-in of a `Routine` where Python computes.

    Parameters
    ----------
    compute : callable
        ``compute(scalar, pointer, *integers)`` with the scalar of a record, as `Routine` names them, the address of its block,
        and what the kernel asks for.
    fail : callable
        ``fail(scalar, pointer, *integers)`` leaves what is not a number in place of results.
    refuses : tuple of exception types, optional
        What says that there is no result at this point.
    num_integers : int
        How many integers kernels call it with.
    """

    def __init__(
        self,
        compute: Callable[..., None],
        fail: Callable[..., None],
        refuses: tuple[type[Exception], ...] = (ModelError,),
        num_integers: int = 2,
    ) -> None:
        self._signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * num_integers)
        self._compute, self._fail, self._refuses = compute, fail, refuses
        self._entries: dict[str, tuple[Any, int]] = {}

    def address(
        self, in_lanes: bool = False, with_tangents: bool = False, own_parameters: bool = False, twice: bool = False
    ) -> int:
        """The address that kernels call for a record's scalar."""
        _keep_what_signals_raise()
        scalar = routines.scalar_of(in_lanes, with_tangents, own_parameters, twice)
        if scalar not in self._entries:
            compute, fail, refuses = self._compute, self._fail, self._refuses

            def entry(pointer: int, *integers: int) -> int:
                if _kept.raised is None:
                    try:
                        compute(scalar, pointer, *integers)
                        return 0
                    except refuses as error:
                        _kept.refusal = error
                    except BaseException as error:
                        if _kept.of_many and isinstance(error, Exception):
                            _kept.refusal = error
                        else:
                            _keep(error)
                fail(scalar, pointer, *integers)
                return NO_RESULT

            vars(entry)["fail"] = fail
            callback = self._signature(entry)
            address = ctypes.cast(callback, ctypes.c_void_p).value or 0
            routines.interpreted[address] = lambda model, *integers: entry(model.pointer, *integers)
            weakref.finalize(self, routines.interpreted.pop, address, None)
            self._entries[scalar] = callback, address
        return self._entries[scalar][1]

    def is_compiled_for(self, *scalar: bool) -> bool:
        """True if there is nothing to compile: always."""
        return True


@contextlib.contextmanager
def among_many() -> Iterator[None]:
    """While a kernel runs one state after the other: an error is of one of them, and the next go on."""
    before, _kept.of_many = _kept.of_many, True
    try:
        yield
    finally:
        _kept.of_many, _kept.refusal = before, None
    raise_kept()


def run_noting(note: Callable[[], None], kernel: Callable[..., _T], *given: Any) -> tuple[_T, Exception | None]:
    """`with_refusals_apart` of a kernel that none is around; *note* is called as soon as a callback of it raises an error."""
    kept = _kept
    before, kept.note, kept.refusal = kept.note, note, None
    try:
        result = kernel(*given)
        if kept.raised is not None:
            raise_kept()
        return result, kept.refusal
    finally:
        kept.note, kept.refusal = before, None


def raise_kept() -> None:
    """Raise what a callback has raised in the kernel that this thread has called last."""
    raised = _kept.raised
    if raised is not None:
        _kept.raised = None
        raise raised


def keep_refusal(error: Exception) -> None:
    """Keep why a part of what a kernel has asked for, one lane say, has no result; the callback leaves what is not a number."""
    _kept.refusal = error


def with_refusals_apart(kernel: Callable[..., _T], *given: Any) -> tuple[_T, Exception | None]:
    """The result of a kernel, in a callback of another perhaps; and why a callback of it has had no result.

    What a callback of it has raised is raised where it ends. Refusals that the kernel around it has met stay kept for that.
    """
    before, _kept.refusal = _kept.refusal, None
    try:
        result = kernel(*given)
        if _kept.raised is not None:
            raise_kept()
        return result, _kept.refusal
    finally:
        _kept.refusal = before
