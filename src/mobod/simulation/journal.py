"""A file that goes from one complete content to the next, even if its writer is killed in between.

Changes are gathered in memory. Bytes beyond the file's old end are written first, where no reader looks; bytes that replace
old ones go into the journal beside the file, and only then to their place. The next process that opens the file applies a
complete journal and ignores an incomplete one. So a full disk is an error before the file changes.
The journal exists while the file has a writer, and is locked, so that there is only one.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: nobody is kept from writing the same file
    fcntl = None  # type: ignore[assignment]

_MAGIC = b"mobod journal 1\n"
_HEAD, _ENTRY = struct.Struct("<16sQQI"), struct.Struct("<QI")
#: Bytes that are kept or not kept in memory together.
_PAGE = 4096


def journal_of(path: str | os.PathLike[str]) -> Path:
    """The journal of a file."""
    return Path(f"{os.path.realpath(path)}.journal")


class Image:
    """A file's new content: like a file whose writes stay in memory until `commit`.

    Parameters
    ----------
    handle : int
        A file descriptor, which belongs to the image from now on.
    size : int, optional
        How long it is to seem; zeros follow what there is.
    """

    def __init__(self, handle: int, size: int | None = None) -> None:
        self.handle = handle
        self.old_size = os.fstat(handle).st_size
        self._size = self.old_size if size is None else size
        self._pages: dict[int, bytearray] = {}
        self._at = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """As a file's."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        """As a file's."""
        return self._at

    def flush(self) -> None:
        """Nothing: `commit` writes."""

    def truncate(self, size: int | None = None) -> int:
        """As a file's."""
        self._size = self._at if size is None else size
        return self._size

    def read(self, count: int = -1) -> bytes:
        """As a file's."""
        count = max(0, self._size - self._at) if count < 0 else count
        data = bytearray(count)
        return bytes(data[: self.readinto(data)])

    def readinto(self, buffer: Any) -> int:
        """As a file's."""
        view, at = memoryview(buffer).cast("B"), self._at
        count = max(0, min(len(view), self._size - at))
        self._fill(view[:count], at)
        self._at = at + count
        return count

    def _fill(self, view: memoryview, at: int) -> None:
        done = 0
        while done < len(view):
            part = _read_at(self.handle, len(view) - done, at + done)
            if not part:
                view[done:] = bytes(len(view) - done)
                break
            view[done : done + len(part)] = part
            done += len(part)
        if self._pages:
            end = at + len(view)
            for number in range(at // _PAGE, -(-end // _PAGE)):
                page = self._pages.get(number)
                if page is not None:
                    first, last = max(at, number * _PAGE), min(end, (number + 1) * _PAGE)
                    view[first - at : last - at] = page[first - number * _PAGE : last - number * _PAGE]

    def write(self, data: Any) -> int:
        """As a file's, in memory."""
        view, at = memoryview(data).cast("B"), self._at
        end = at + len(view)
        for number in range(at // _PAGE, -(-end // _PAGE)):
            begin = number * _PAGE
            page = self._pages.get(number)
            if page is None:
                page = bytearray(_PAGE)
                if (at > begin or end < begin + _PAGE) and begin < self.old_size:
                    self._fill(memoryview(page), begin)
                self._pages[number] = page
            first, last = max(at, begin), min(end, begin + _PAGE)
            page[first - begin : last - begin] = view[first - at : last - at]
        self._at = end
        self._size = max(self._size, end)
        return len(view)

    def commit(self, journal: int | None) -> None:
        """Write the changes in memory to the file: all of them, or if an OSError is raised none that a reader would see.

        *journal* is a file descriptor; None for a new file that has no readers yet.
        """
        old, new = self.old_size, self._size
        inside: list[tuple[int, memoryview]] = []
        beyond: list[tuple[int, memoryview]] = []
        for number in sorted(self._pages):
            begin = number * _PAGE
            page = memoryview(self._pages[number])[: max(0, new - begin)]
            split = max(0, min(len(page), old - begin))
            inside += [(begin, page[:split])] if split else []
            beyond += [(begin + split, page[split:])] if split < len(page) else []
        try:
            for at, data in beyond:
                _write_at(self.handle, data, at)
            if new > old:
                os.ftruncate(self.handle, new)
            if inside and journal is not None:
                os.fsync(self.handle)
                _write_journal(journal, old, new, inside)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self.handle, old)
            if journal is not None:
                with contextlib.suppress(OSError):
                    os.ftruncate(journal, 0)
            raise
        for at, data in inside:
            _write_at(self.handle, data, at)
        os.ftruncate(self.handle, new)
        os.fsync(self.handle)
        if journal is not None:
            os.ftruncate(journal, 0)
        self.forget()

    def forget(self) -> None:
        """Discard the changes in memory."""
        self.old_size = self._size = os.fstat(self.handle).st_size
        self._pages.clear()

    def take(self, journal: bytes) -> bool:
        """Take over the changes in a journal; False if it is incomplete."""
        entries = _read_journal(journal, self.old_size)
        if entries is None:
            return False
        size, parts = entries
        self._size = size
        for at, data in parts:
            self.seek(at)
            self.write(data)
        self.truncate(size)
        self.seek(0)
        return True

    def close(self) -> None:
        """Close the file."""
        if self.handle >= 0:
            handle, self.handle = self.handle, -1
            os.close(handle)


def _write_journal(handle: int, old: int, new: int, parts: list[tuple[int, memoryview]]) -> None:
    content = b"".join(
        [_HEAD.pack(_MAGIC, old, new, len(parts)), *(part for at, data in parts for part in (_ENTRY.pack(at, len(data)), data))]
    )
    _write_at(handle, content + struct.pack("<I", zlib.crc32(content)), 0)
    os.fsync(handle)


def _read_journal(content: bytes, size: int) -> tuple[int, list[tuple[int, bytes]]] | None:
    """The new size and the changes of a file of *size*; None if the journal is incomplete, or of another file."""
    if len(content) < _HEAD.size + 4 or zlib.crc32(content[:-4]) != struct.unpack("<I", content[-4:])[0]:
        return None
    magic, old, new, count = _HEAD.unpack_from(content)
    if magic != _MAGIC or size < min(old, new):
        return None
    parts, at = [], _HEAD.size
    for _ in range(count):
        place, length = _ENTRY.unpack_from(content, at)
        at += _ENTRY.size
        parts.append((place, content[at : at + length]))
        at += length
    return new, parts


def lock_journal(path: str | os.PathLike[str]) -> int:
    """Open the journal of *path* for its only writer.

    Raises
    ------
    BlockingIOError
        If there is a writer already.
    """
    place = journal_of(path)
    while True:
        handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        if fcntl is None:
            return handle
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise BlockingIOError(11, "another run is recording to this file; give each its own", os.fspath(path)) from None
        except OSError:
            return handle  # a file system without locks
        try:
            if os.path.samestat(os.fstat(handle), os.stat(place)):
                return handle
        except FileNotFoundError:
            pass
        os.close(handle)  # another writer has just ended, and taken it away


def release_journal(path: str | os.PathLike[str], handle: int) -> None:
    """Remove the journal and its lock: the file is complete and has no writer any more."""
    empty = not os.fstat(handle).st_size
    if fcntl is None:  # Windows removes no open file, and there is no lock to be kept until it is gone
        os.close(handle)
    with contextlib.suppress(OSError):
        if empty:
            journal_of(path).unlink(missing_ok=True)
    if fcntl is not None:
        os.close(handle)


def read_journal(path: str | os.PathLike[str]) -> bytes | None:
    """The content of a file's journal; None where there is none."""
    try:
        return journal_of(path).read_bytes()
    except OSError:
        return None


def _read_at(handle: int, count: int, at: int) -> bytes:
    if hasattr(os, "pread"):  # a process that was forked shares the place in the file, and not this
        return os.pread(handle, count, at)
    os.lseek(handle, at, os.SEEK_SET)
    return os.read(handle, count)


def _write_at(handle: int, data: bytes | memoryview, at: int) -> None:
    view = memoryview(data)
    while len(view):
        if hasattr(os, "pwrite"):
            done = os.pwrite(handle, view, at)
        else:
            os.lseek(handle, at, os.SEEK_SET)
            done = os.write(handle, view)
        view, at = view[done:], at + done
