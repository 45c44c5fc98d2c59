"""Messages about compiling, on standard error; ``MOBOD_QUIET`` suppresses them."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator

#: Seconds between two lines where none can be written over; and before loading a package is told.
BETWEEN, PATIENCE = 10.0, 2.0


@functools.cache
def announce(folder: str) -> None:
    """Announce once a process that it compiles kernels which later runs will load."""
    if not os.environ.get("MOBOD_QUIET"):
        print(
            "mobod: compiling what this model needs for the first time on this machine (seconds to half a minute for each new "
            f"kind of part; kept in {folder})",
            file=sys.stderr,
            flush=True,
        )


class _Line:
    """The kernel compiled now: on a terminal a line that changes, elsewhere a line every `BETWEEN` seconds."""

    def __init__(self) -> None:
        self._said, self.is_listed, self.number = time.monotonic(), False, 0

    def say(self, text: str) -> None:
        """Show it in place of what is shown."""
        if os.environ.get("MOBOD_QUIET"):
            return
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._said > BETWEEN:
            self._said = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Show nothing."""
        if sys.stderr.isatty() and not os.environ.get("MOBOD_QUIET"):
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


_line = _Line()


@contextlib.contextmanager
def one_kernel(name: str, seconds: float) -> Iterator[None]:
    """While a kernel is compiled that is on no list: which, and for how many *seconds* there has been compiling."""
    if _line.is_listed:
        yield
        return
    _line.number += 1
    _line.say(f"mobod: compiling {name}, kernel {_line.number} of this run, {seconds:.0f} s so far")
    try:
        yield
    finally:
        _line.clear()


class Progress:
    """The progress of compiling a list.

    Parameters
    ----------
    total : int
        How many kernels are compiled.
    folder : str
        Where they are kept.
    """

    def __init__(self, total: int, folder: str) -> None:
        self._total, self._number = total, 0
        announce(folder)

    def __enter__(self) -> Progress:
        _line.is_listed = True
        return self

    def at(self, name: str) -> None:
        """The next kernel is *name*."""
        self._number += 1
        _line.say(f"mobod: compiling {self._number} of {self._total}: {name}")

    def __exit__(self, *_: object) -> None:
        _line.is_listed = False
        _line.clear()


@contextlib.contextmanager
def loading(package: str) -> Iterator[None]:
    """While a large package is loaded, tell it where that takes more than `PATIENCE`: a slow disk, or no bytecode kept."""
    if package.lower() in sys.modules or os.environ.get("MOBOD_QUIET"):
        yield
        return
    text = f"mobod: loading {package}{', anew each time, as Python is told to keep no bytecode' * sys.dont_write_bytecode}"
    timer = threading.Timer(PATIENCE, lambda: print(text, file=sys.stderr, flush=True))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # no thread is left beside a fork


_warned: list[str] = []


def warn_of_folder(message: str) -> None:
    """Warn of a problem with the folder of compiled code, once a process and not for every kernel."""
    if not _warned:
        _warned.append(message)
        warnings.warn(f"{message}; set MOBOD_CACHE_DIR to a writable folder, or every run compiles anew", stacklevel=2)


def warn_of_file(message: str) -> None:
    """Warn of a damaged file of compiled code, which is then made anew."""
    warnings.warn(message, stacklevel=2)
