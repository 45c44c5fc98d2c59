"""Messages about compiling, on standard error; ``MOBOD_QUIET`` suppresses them."""

from __future__ import annotations

import functools
import os
import sys
import time
import warnings


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


class Progress:
    """How far compiling is: on a terminal a line that changes, elsewhere a line now and then.

    Parameters
    ----------
    total : int
        How many kernels are compiled.
    folder : str
        Where they are kept.
    """

    def __init__(self, total: int, folder: str) -> None:
        self._total, self._number, self._said = total, 0, time.monotonic()
        self._quiet, self._terminal = bool(os.environ.get("MOBOD_QUIET")), sys.stderr.isatty()
        announce(folder)

    def __enter__(self) -> Progress:
        return self

    def at(self, name: str) -> None:
        """The next kernel is *name*."""
        self._number += 1
        text = f"mobod: compiling {self._number} of {self._total}: {name}"
        if self._quiet:
            return
        if self._terminal:
            print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._said > 3.0:
            self._said = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._terminal and not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


_warned: list[str] = []


def warn_of_folder(message: str) -> None:
    """Warn of a problem with the folder of compiled code, once a process and not for every kernel."""
    if not _warned:
        _warned.append(message)
        warnings.warn(f"{message}; set MOBOD_CACHE_DIR to a writable folder, or every run compiles anew", stacklevel=2)


def warn_of_file(message: str) -> None:
    """Warn of a damaged file of compiled code, which is then made anew."""
    warnings.warn(message, stacklevel=2)
