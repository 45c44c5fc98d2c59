"""Ctrl-C during compilation: raised between two passes of Numba, where it cannot be swallowed.

Raised wherever Python happens to be, the interrupt is lost in a callback of LLVM's or an object's ``__del__``, or leaves
Numba's tables half filled.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class _Pending:
    """Interrupts that have come since compiling began."""

    def __init__(self) -> None:
        self.came = False


_pending = _Pending()
_active = threading.local()


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if the user has asked for it: called where compiling can stop."""
    if _pending.came and getattr(_active, "here", False):
        raise KeyboardInterrupt


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """A context in which an interrupt is raised at the next `raise_if_interrupted`, or at the end; a second one at once."""
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if getattr(_active, "here", False) or not callable(before):
        yield
        return
    inherited = before

    def keep(number: int, frame: FrameType | None) -> Any:
        if _pending.came:
            return inherited(number, frame)
        _pending.came = True
        return None

    _pending.came, _active.here = False, True
    signal.signal(signal.SIGINT, keep)
    try:
        with _at_every_pass():
            yield
    finally:
        _active.here = False
        signal.signal(signal.SIGINT, inherited)
        came, _pending.came = _pending.came, False
        if came:
            inherited(signal.SIGINT, None)


def _at_every_pass() -> Any:
    from numba.core import event

    return event.install_listener("numba:run_pass", listener())


@functools.cache
def listener() -> Any:
    """The listener that Numba tells of every pass that begins."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            raise_if_interrupted()

        def on_end(self, event: Any) -> None:
            pass

    return Listener()
