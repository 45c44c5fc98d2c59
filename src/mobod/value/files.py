"""Atomic replacement: files are written beside their place, and moved there when complete and, mostly, synced to the disk."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def as_path(what: str, value: Any) -> Path:
    """The path that the argument *what* is, or a TypeError that names it."""
    try:
        path = os.fspath(value)
    except TypeError:
        raise TypeError(f"{what} is the name of a file, not {value!r}") from None
    if isinstance(path, bytes) or "\0" in path or not path:
        raise TypeError(f"{what} is the name of a file, not {value!r}")
    return Path(path)


def check_writable(what: str, path: Path) -> None:
    """Find out before there is anything to lose whether the argument *what* can be written; errors name it."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(21, f"{what} is a folder, not a file", os.fspath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(2, f"{what} is in a folder that is not there; make it first", os.fspath(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(13, f"{what} cannot be written over", os.fspath(path))
    try:
        handle, beside = open_beside(target)
        os.close(handle)
        os.unlink(beside)
    except OSError as error:
        raise of_path(error, path, f"{what} cannot be written: ") from error


def open_beside(target: Path) -> tuple[int, Path]:
    """A new file beside *target*, open, with its ending and its rights, or those that any new file has."""
    beside = target.with_name(f".{target.stem[:80]}-{secrets.token_hex(4)}.part{target.suffix}")
    handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with contextlib.suppress(OSError):
        os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
    return handle, beside


def put_in_place(beside: Path, target: Path, *, synced: bool = True) -> None:
    """Replace *target* by the file *beside*, which is on the disk."""
    os.replace(beside, target)
    if synced and hasattr(os, "O_DIRECTORY"):  # the folder's entry, too
        with contextlib.suppress(OSError):
            folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


@contextlib.contextmanager
def written(path: str | os.PathLike[str], *, synced: bool = True) -> Iterator[Path]:
    """A file to write, which takes the place of *path* when the block has ended; if that fails, *path* stays as it was.

    Parameters
    ----------
    path : path
    synced : bool
        Whether to wait until the disk has it, so that it outlasts a power failure: 5 to 10 ms, longer than a table takes.

    Raises
    ------
    OSError
        That names *path* and the cause, if it cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():  # a device or a pipe
        yield target
        return
    beside = None
    try:
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        handle, beside = open_beside(target)
        os.close(handle)
        yield beside
        if synced:
            with open(beside, "r+b") as file:
                os.fsync(file.fileno())
        put_in_place(beside, target, synced=synced)
        beside = None
    except OSError as error:
        raise of_path(error, path) from error
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def of_path(error: OSError, path: str | os.PathLike[str], before: str = "") -> OSError:
    """The same error, of the file that the user knows."""
    number, cause = error.errno, os.strerror(error.errno) if error.errno else str(error)
    if isinstance(error, IsADirectoryError | FileNotFoundError) and error.filename is None:
        cause = error.strerror or cause
    return OSError(number or 5, f"{before}{cause}", os.fspath(path))


@contextlib.contextmanager
def held_interrupts() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block, which is short."""
    handler = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(handler):
        yield
        return
    came: list[Any] = []
    signal.signal(signal.SIGINT, lambda *signal_and_frame: came.append(signal_and_frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])
