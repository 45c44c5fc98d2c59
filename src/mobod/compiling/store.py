"""The folder of compiled code: files with a checksum, written atomically, by several processes and for several users.

It is a subfolder of the package's own, in ``MOBOD_CACHE_DIR`` or the user's cache folder. Only what the package has written is
ever removed: regular files with names of its own form in a folder that bears its mark, which is no link.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import secrets
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from . import notice
from .interrupts import raise_if_interrupted

#: The subfolder, and what marks it; archivers leave folders with such a tag out (bford.info/cachedir).
NAME, TAG = "mobod-compiled", "CACHEDIR.TAG"
MARK = b"Signature: 8a477f597d28d172789f06886806bc55\n# Compiled code of mobod: this folder can be removed at any time.\n"
HEADER = b"mobod compiled code 1\n"
_DIGEST = 32
#: The length of what is before a file's content.
HEAD = len(HEADER) + _DIGEST
#: The end of names of files with parts of kernels: see `parts`.
PARTS = ".parts"
_FILE = re.compile(r"[\w.]{1,100}-[0-9a-f]{32}\.(bin|parts)")
_BESIDE = re.compile(r"[\w.]{1,100}-[0-9a-f]{32}\.(bin|parts)\.([0-9a-f]{16}\.part|lock)")
#: Code unused for so long is removed, and incomplete files of killed processes sooner; in seconds.
DAY = 86400.0
UNUSED, ABANDONED = 60 * DAY, 3600.0
#: Longest wait for another process to compile a kernel.
PATIENCE = 600.0
#: The names that this process has read or written: what a bundle of its work has to have.
used: set[str] = set()


@functools.cache
def cache_folder() -> Path:
    """The folder of compiled kernels: a subfolder of ``MOBOD_CACHE_DIR``, or of the user's cache folder."""
    root = os.environ.get("MOBOD_CACHE_DIR")
    if not root:
        import platformdirs

        root = platformdirs.user_cache_dir("mobod")
    return Path(root).absolute() / NAME


def clear_cache() -> None:
    """Remove every compiled kernel from the disk; what else is in the folder stays."""
    folder = cache_folder()
    for entry in _own_files(folder):
        with contextlib.suppress(OSError):
            os.unlink(entry)
    if _is_ours(folder) and {file.name for file in folder.iterdir()} == {TAG}:
        with contextlib.suppress(OSError):
            os.unlink(folder / TAG)
            os.rmdir(folder)


def has(name: str) -> bool:
    """True if something was written under a name."""
    return (cache_folder() / name).is_file()


def has_any() -> bool:
    """True if anything is kept: false before a first run."""
    return next(_own_files(cache_folder()), None) is not None


def read(name: str) -> bytes | None:
    """The data written under a name; None if there is none or it is damaged."""
    file = cache_folder() / name
    try:
        with open(file, "rb") as stream:
            data = stream.read()
            age = time.time() - os.fstat(stream.fileno()).st_mtime
    except FileNotFoundError:
        return None
    except OSError as error:
        notice.warn_of_folder(f"the cache of compiled code cannot be read: {error}")
        return None
    _warn_of_strangers(str(file.parent))
    code = checked(data)
    if code is None:
        notice.warn_of_file(f"{file}, compiled code, is damaged; it is compiled anew")
        drop(name)
        return None
    if age > DAY:  # it is still in use
        with contextlib.suppress(OSError):
            os.utime(file)
    used.add(name)
    return code


@functools.cache
def _warn_of_strangers(folder: str) -> None:
    """Warn, once, of a folder in which anybody can put code that is then run: its checksum guards against accidents alone."""
    with contextlib.suppress(OSError):
        found = os.stat(folder)
        ours = not hasattr(os, "geteuid") or found.st_uid in (0, os.geteuid())
        if os.name == "posix" and (not ours or found.st_mode & stat.S_IWOTH):
            who = "every user" if ours else f"the user of number {found.st_uid}"
            notice.warn_of_file(
                f"{who} of this machine can put code into {folder}, the cache of compiled code, and that code is run; "
                "set MOBOD_CACHE_DIR to a folder of your own, or take the right to write from others (chmod o-w)"
            )


def checked(data: bytes) -> bytes | None:
    """The content that was written to a file with *data*; None if that is damaged."""
    return data[HEAD:] if data[:HEAD] == _head(data[HEAD:]) else None


def _head(data: bytes) -> bytes:
    """The header of a file with *data*: a mark and a checksum."""
    return HEADER + hashlib.blake2b(data, digest_size=_DIGEST).digest()


def drop(name: str) -> None:
    """Remove a useless file; one not written by the package stays until it is overwritten."""
    for entry in _own_files(cache_folder()):
        if entry.name == name:
            with contextlib.suppress(OSError):
                os.unlink(entry)


def write(name: str, data: bytes, is_kernel: bool = True) -> None:
    """Write *data* under a name; warns once if that is impossible."""
    folder = cache_folder()
    part = folder / f"{name}.{secrets.token_hex(8)}.part"
    try:
        _prepare(folder)
        try:
            # not by tempfile, whose files other users cannot read
            with open(part, "xb") as stream:
                stream.write(_head(data) + data)
                stream.flush()
                os.fsync(stream.fileno())
            try:
                os.replace(part, folder / name)  # another process sees all of it or nothing
            except PermissionError:  # Windows, where another process reads the same code, which it or a third has written
                if not has(name):
                    raise
        finally:
            with contextlib.suppress(OSError):
                os.unlink(part)
        if is_kernel:
            used.add(name)
    except OSError as error:
        notice.warn_of_folder(f"compiled code cannot be kept in {folder} ({error})")


class Busy(Exception):
    """Another process is compiling the kernel."""


class _Patience(threading.local):
    """Waiting of this thread while another process compiles a kernel."""

    waits = True


_patience = _Patience()
_claims: set[Claim] = set()


@contextlib.contextmanager
def not_waiting() -> Iterator[None]:
    """A context in which a kernel being compiled by another process raises `Busy`."""
    before, _patience.waits = _patience.waits, False
    try:
        yield
    finally:
        _patience.waits = before


def release_claims() -> None:
    """Release all claims of this process."""
    for claim in list(_claims):
        claim.release()


class Claim:
    """The right to compile the code of a name: another process that needs it waits for `release`, or for this one's end."""

    def __init__(self, name: str) -> None:
        self._file, self._descriptor = cache_folder() / f"{name}.lock", -1
        end = time.monotonic() + PATIENCE
        try:
            _prepare(cache_folder())
            while not self._taken():
                if not _patience.waits:
                    raise Busy
                if time.monotonic() > end:
                    return
                raise_if_interrupted()
                time.sleep(0.02)
            _claims.add(self)
        except OSError:  # nothing can be written, or the file system knows no locks: each compiles for itself
            self.release()

    def _taken(self) -> bool:
        self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666)
        if _lock(self._descriptor):
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._descriptor), os.stat(self._file)):
                    return True  # and the one who had it before has not removed the file
        os.close(self._descriptor)
        self._descriptor = -1
        return False

    def release(self) -> None:
        """Give up the claim."""
        _claims.discard(self)
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.unlink(self._file)
            os.close(self._descriptor)
            self._descriptor = -1


def _lock(descriptor: int) -> bool:
    """Lock an open file for this process, if no other has; the system takes it back when the process ends, however it does."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except PermissionError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# ---------------------------------------------------------------------------------------------- what is ours


def _is_ours(folder: Path) -> bool:
    """True if a folder is one that the package made: no link, and with its mark."""
    try:
        return stat.S_ISDIR(os.lstat(folder).st_mode) and (folder / TAG).read_bytes() == MARK
    except OSError:
        return False


def _own_files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The regular files in the folder that the package has written, by their names and what they begin with."""
    if not _is_ours(folder):
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and (_BESIDE.fullmatch(entry.name) or _is_code(entry)):
                yield entry


def _is_code(entry: os.DirEntry[str]) -> bool:
    if not _FILE.fullmatch(entry.name):
        return False
    try:
        with open(entry, "rb") as stream:
            return stream.read(len(HEADER)) == HEADER
    except OSError:
        return False


def _prepare(folder: Path) -> None:
    """Make the folder, with its mark; of one that is there already, remove once a day what has become old.

    Raises
    ------
    OSError
        If it cannot be made, or is somebody else's.
    """
    if not _is_ours(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = folder.with_name(f"{NAME}.{secrets.token_hex(8)}.part")
        made.mkdir()
        try:
            (made / TAG).write_bytes(MARK)
            with contextlib.suppress(OSError):
                os.rename(made, folder)  # another process never sees it without the mark
        finally:  # where the disk is full, or another process has been quicker
            with contextlib.suppress(OSError):
                (made / TAG).unlink(missing_ok=True)
                made.rmdir()
        if not _is_ours(folder):
            raise OSError("there is something else of this name, which mobod has not made")
        return
    now = time.time()
    with contextlib.suppress(OSError):
        if now - (folder / TAG).stat().st_mtime > DAY:
            os.utime(folder / TAG)
            for entry in _own_files(folder):
                limit = UNUSED if _FILE.fullmatch(entry.name) else ABANDONED
                if now - entry.stat(follow_symlinks=False).st_mtime > limit:
                    os.unlink(entry)
