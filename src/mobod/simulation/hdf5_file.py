"""Recordings on disk: an HDF5 file that grows row by row, can be read while it does, and after its writer was killed.

Every column is a dataset with one row a time (those of `table.TABLES` with any number), and `about` a line of JSON. HDF5 never
writes the file itself, since a full disk would leave an unreadable file or a crash. It works on an image in memory, and
`journal` takes the file from one complete content to the next, each of them a closed HDF5 file. Metadata and rows have
checksums.
"""

from __future__ import annotations

import contextlib
import json
import os
import time as _clock
import weakref
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..value.files import check_writable, held_interrupts, of_path, open_beside, put_in_place
from .journal import Image, journal_of, lock_journal, read_journal, release_journal
from .table import TABLES, Block, num_rows, part_of

EXTENSIONS = (".h5", ".hdf5")
"""Of recordings."""

_CHUNK_BYTES = 1 << 17
_READ_ROWS = 4096
#: Most numbers held in memory before they are written, however seldom `flush` is called.
_HELD = 1 << 18
#: The format version that has checksums of all metadata and is read by HDF5 1.10 and later.
_VERSION = ("v110", "v110")
#: How often, and how long apart, a file that someone is writing is read again where it seems to be damaged.
_TRIES, _WAIT = 20, 0.05


def import_h5py(purpose: str = "a recording on disk") -> Any:
    """The package h5py, or an ImportError that says which extra brings it."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"{purpose} needs h5py: pip install 'mobod[record]'") from error
    return h5py


class FileRows:
    """The same as `Rows`, in a file.

    Parameters
    ----------
    path : str or path
        Replaced, when the first rows are written, if it is there.
    about : mapping
        What is not a column, as JSON can hold it.

    Raises
    ------
    ImportError
        If h5py is not installed.
    OSError
        If the file cannot be written, or another run is recording to it.
    """

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any]) -> None:
        self.h5py = import_h5py()
        self.path = Path(path)
        self._about = dict(about)
        check_writable("the recording", self.path)
        self._journal: int | None = lock_journal(path)
        self._image: Image | None = None
        self._shapes: dict[str, list[int]] = {}
        self._written = 0
        self._in_tables = dict.fromkeys(TABLES, 0)  # rows written of each
        self._pending: list[dict[str, Array]] = []
        self._held = 0  # numbers in these
        self._says_more = False

    def __len__(self) -> int:
        return self._written + _count(self._pending)

    def append(self, block: Block) -> None:
        """Add the rows of *block*, which has the columns that the first one had."""
        if not self._shapes:
            self._shapes = {name: list(array.shape[1:]) for name, array in block.items()}
        width = sum(int(np.prod(shape, dtype=np.int64)) for shape in self._shapes.values())
        step = max(1, _HELD // max(1, width))
        for start in range(0, max(1, len(block["time"])), step):
            part = part_of(block, start, start + step)
            self._held += sum(int(array.size) for array in part.values())
            full = self._held >= _HELD
            # what is written at once need not be copied
            self._pending.append(part if full else {name: array.copy() for name, array in part.items()})
            if full:
                self.flush()

    def describe(self, **more: Any) -> None:
        """Add to what the file says about itself; it is written with the next rows."""
        self._about |= more
        self._says_more = True

    def flush(self) -> None:
        """Write all rows so far to the file, safe from a kill of this process.

        Raises
        ------
        OSError
            If they cannot be written, with the file and the cause; it then has the rows of the last flush.
        """
        if self._pending:
            self._write(self._about if self._says_more else None)
            self._says_more = False

    def _write(self, about: Mapping[str, Any] | None = None, rows: int | None = None) -> None:
        """Write what is pending, and *about* where it is given; *rows* cuts the file to so many before."""
        pending = list(self._pending)
        with held_interrupts():
            try:
                if self._image is None:
                    self._create(pending)
                else:
                    self._change(self._image, pending, about, rows)
                    self._image.commit(self._journal)
            except OSError as error:
                self._pending = [{name: array.copy() for name, array in block.items()} for block in self._pending]
                if self._image is not None:
                    self._image.forget()
                    self._image.take(read_journal(self.path) or b"")  # begun to be carried out: to be done again
                later = f"; {_count(pending)} rows more are in the run's trajectory only" if pending else ""
                where = of_path(error, self.path)
                raise OSError(
                    where.errno, f"{where.strerror}: the recording holds {self._written} rows{later}", where.filename
                ) from error
            self._written += _count(pending)
            for name in self._in_tables:
                self._in_tables[name] += sum(len(block[name]) for block in pending if name in block)
            del self._pending[: len(pending)]
            self._held = 0

    def _create(self, pending: list[dict[str, Array]]) -> None:
        """Make the file with its first rows, and put it in its place."""
        target = Path(os.path.realpath(self.path))
        handle, beside = open_beside(target)
        image = Image(handle)
        try:
            with self.h5py.File(image, "w", libver=_VERSION) as file:
                for name, shape in self._shapes.items():
                    width = int(np.prod(shape, dtype=np.int64))
                    if width:
                        chunks = (max(1, min(_READ_ROWS, _CHUNK_BYTES // (8 * width))), *shape)
                        size, largest = (0, *shape), (None, *shape)
                        file.create_dataset(
                            _dataset_name(name), size, "f8", maxshape=largest, chunks=chunks, fillvalue=np.nan, fletcher32=True
                        )
                self._tell(file, self._about)
            self._change(image, pending, None, None)
            image.commit(None)
            if self._journal is not None:
                os.ftruncate(self._journal, 0)
            put_in_place(beside, target)
        except BaseException:
            image.close()
            beside.unlink(missing_ok=True)
            raise
        self._image = image

    def _change(self, image: Image, pending: list[dict[str, Array]], about: Mapping[str, Any] | None, rows: int | None) -> None:
        """Give the image more rows."""
        image.seek(0)
        with self.h5py.File(image, "r+", libver=_VERSION) as file:
            first = self._written if rows is None else rows
            for name in self._shapes:
                place, start = _dataset_name(name), self._in_tables.get(name, first)
                if place in file:
                    parts = [block[name] for block in pending]
                    file[place].resize(start + sum(map(len, parts)), axis=0)
                    if any(map(len, parts)):
                        file[place][start:] = parts[0] if len(parts) == 1 else np.concatenate(parts)
            if about is not None:
                self._tell(file, about)

    def _tell(self, file: Any, about: Mapping[str, Any]) -> None:
        text = json.dumps({**about, "shapes": self._shapes}).encode()
        if "about" in file:
            del file["about"]
        file["about"] = np.bytes_(text)
        file["about"].attrs["crc32"] = zlib.crc32(text)

    def close(self, about: Mapping[str, Any] | None = None) -> None:
        """Finish the file; *about* replaces the description given at first.

        Raises
        ------
        OSError
            As `flush`. The file is finished all the same, with the rows that it has.
        """
        if self._journal is None:
            return
        try:
            self.flush()
            if about is not None and self._image is not None:
                self._write(about)
        finally:
            release_journal(self.path, self._journal)
            self._journal = None

    def __del__(self) -> None:
        journal, image = vars(self).get("_journal"), vars(self).get("_image")
        if journal is not None:
            release_journal(self.path, journal)
        if image is not None:
            image.close()

    @property
    def is_in_place(self) -> bool:
        """True if the file is still where it was made."""
        try:
            return self._image is None or os.path.samestat(os.fstat(self._image.handle), os.stat(self.path))
        except OSError:
            return False

    def columns(self) -> dict[str, Array]:
        """The columns as they are in the file, which has to be closed, and after them what could not be written."""
        later = {name: np.concatenate([b[name] for b in self._pending]) for name in self._shapes} if self._pending else {}
        if self._image is None:
            return later
        source = _Source(self.path, os.dup(self._image.handle))  # the very file, wherever it has gone
        columns = source.columns()[0]
        self._image.close()
        if not later:
            return columns
        for name, column in columns.items():
            if isinstance(column, DiskArray):
                column.later = later[name]
            else:
                columns[name] = np.concatenate([column, later[name]])
        return columns

    @classmethod
    def go_on(cls, path: str | os.PathLike[str], rows: int) -> FileRows:
        """Open a recording again after its first *rows*, and drop what comes after them.

        Raises
        ------
        ModelError
            If it has fewer rows, is damaged, or is no recording.
        OSError
            If it cannot be written.
        """
        new = cls(path, {})
        image = new._image = Image(os.open(os.path.realpath(path), os.O_RDWR | getattr(os, "O_BINARY", 0)))
        if image.take(read_journal(path) or b""):
            image.commit(None)  # again, should this not be the end of it: the journal is still there
        assert new._journal is not None
        os.ftruncate(new._journal, 0)
        columns, about = _Source(path, os.dup(image.handle)).columns()
        there = len(columns["time"])
        if there < rows:
            raise ModelError(f"{path} has {there} rows, and the checkpoint was written after {rows}: it is another recording")
        new._shapes, new._about = about.pop("shapes"), about
        for name, counts in TABLES.items():
            if name in columns:
                new._in_tables[name] = num_rows(columns[counts][:rows])
        new._write(rows=rows)
        new._written = rows
        return new


def _count(blocks: list[dict[str, Array]]) -> int:
    return sum(len(block["time"]) for block in blocks)


def _dataset_name(column: str) -> str:
    """A column's name, in which a slash would stand for a group."""
    return column.replace("%", "%25").replace("/", "%2F").replace("\0", "%00")


def read_recording(path: str | os.PathLike[str], salvage: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of a recording, complete or not, and what it says about itself.

    Parameters
    ----------
    path : str or path
    salvage : bool
        Of a damaged file, take the rows before the first that is not whole, as many as there may be.

    Returns
    -------
    columns : dict of str to array
        ``time`` is read; the others are `DiskArray`: read when, and as far as, they are asked for numbers.
    about : dict

    Raises
    ------
    ImportError
        If h5py is not installed.
    FileNotFoundError
        If there is no such file.
    ModelError
        If it is damaged, or no recording; it says how many rows are whole.
    """
    import_h5py()
    if not Path(path).is_file():
        raise FileNotFoundError(2, "no such file", os.fspath(path))
    if salvage:
        return _salvaged(path)
    return _Source(path).columns()


class _Source:
    """A recording that is read, and opened again where its writer has changed it meanwhile.

    Parameters
    ----------
    path : str or path
    handle : int, optional
        The open file, where that is not the one at *path*; it is the source's from now on.
    salvaging : bool
        Whether to take a file that is cut short for one that ends in zeros.
    """

    def __init__(self, path: str | os.PathLike[str], handle: int | None = None, salvaging: bool = False) -> None:
        self.path, self._salvaging = Path(path), salvaging
        self.h5py = import_h5py()
        self.file: Any = None
        self._close_file: weakref.finalize[..., _Source] | None = None
        #: The file and its journal when it was opened.
        self._seen: tuple[Any, ...] | None = None
        #: Whether nobody writes the file any more.
        self._final = handle is not None
        self._handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0)) if handle is None else handle

    def open(self) -> Any:
        """The file as it is now."""
        self.close()
        self._seen = self._look()
        image = Image(os.dup(self._handle))
        try:
            if not self._final:
                image.take(read_journal(self.path) or b"")
            if self._salvaging:
                head = image.read(48)
                if head[:8] == b"\x89HDF\r\n\x1a\n" and head[8] in (2, 3):
                    image.truncate(max(image.tell(), min(int.from_bytes(head[28:36], "little"), 1 << 50)))
                image.seek(0)
            self.file = self.h5py.File(image, "r")
        except BaseException:
            image.close()
            raise
        # At the interpreter's exit, too: HDF5's own is later, when there is no Python left for the image to run in.
        self._close_file = weakref.finalize(self, _close, self.file, image)
        return self.file

    def read(self, what: Any) -> Any:
        """The result of *what* on the open file; retried while the file is being written, else the file is damaged."""
        for attempt in range(_TRIES):
            try:
                return what(self.file or self.open())
            except ModelError:
                raise
            except Exception as error:  # the library raises anything on damaged bytes
                with contextlib.suppress(Exception):
                    self.close()
                if self._salvaging:
                    raise
                written = self._look()[0] or self._look() != self._seen  # now, or it was until a moment ago
                if attempt == _TRIES - 1 or self._final or not written:
                    raise ModelError(self._damage(error)) from error
                _clock.sleep(_WAIT)
        raise AssertionError

    def _look(self) -> tuple[Any, ...]:
        """True if the file has a writer, its size and the time of its last change."""
        status = os.fstat(self._handle)
        return journal_of(self.path).exists(), status.st_size, status.st_mtime_ns

    def columns(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """As `read_recording`."""
        return self.read(self._columns)

    def _columns(self, file: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        if "about" not in file or "time" not in file:
            raise ModelError(f"{self.path} is not a recording: it holds {', '.join(file) or 'nothing'}")
        about = _about_in(file)
        places = {name: _dataset_name(name) if _dataset_name(name) in file else name for name in about["shapes"]}
        rows = min(len(file[place]) for name, place in places.items() if place in file and name not in TABLES)
        time = np.asarray(file["time"][:rows])
        if np.isnan(time).any():  # of a writer of an earlier version that was killed
            time = time[: int(np.argmax(np.isnan(time)))]
        columns: dict[str, Any] = {"time": time}
        for name, shape in about["shapes"].items():
            if name != "time":
                here, length = places[name] in file, len(time)
                if name in TABLES:
                    length = num_rows(file[places[TABLES[name]]][: len(time)])
                columns[name] = DiskArray(self, places[name], (length, *shape)) if here else np.zeros((length, *shape))
        return columns, about

    def _damage(self, error: Exception) -> str:
        """A sentence on a file that cannot be read."""
        text = f"{self.path} is not a recording, or is damaged: {error}"
        if "already open for" in str(error):
            return f"{text}. An earlier version of mobod wrote it, and was killed: HDF5's h5clear -s {self.path} opens it again"
        try:
            columns = _salvaged(self.path)[0]
        except ModelError:
            return f"{text}. Nothing can be read from it"
        there = len(columns["time"])
        return f"{text}. Its first {there} rows are whole: Trajectory.load({os.fspath(self.path)!r}, salvage=True) reads these"

    def close(self) -> None:
        """Close the file."""
        self.file = None
        if self._close_file is not None:
            self._close_file()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            os.close(self._handle)


def _close(file: Any, image: Image) -> None:
    """Close a file, and what it is read from."""
    with contextlib.suppress(Exception):
        file.close()
    image.close()


def _about_in(file: Any) -> dict[str, Any]:
    """The description that a recording holds of itself."""
    text = bytes(file["about"][()])
    if zlib.crc32(text) != file["about"].attrs.get("crc32", zlib.crc32(text)):
        raise ValueError("what it says about itself does not fit its checksum")
    about: dict[str, Any] = json.loads(text)
    return about


def _salvaged(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The rows of a damaged recording before the first that is not whole."""
    source = _Source(path, salvaging=True)
    try:
        file = source.open()
        about = _about_in(file)
        found: dict[str, Any] = {}
        for name, shape in about["shapes"].items():
            place = _dataset_name(name)
            if int(np.prod(shape, dtype=np.int64)):
                found[name] = _whole_rows(file[place])
            else:
                found[name] = None
        rows = min(len(array) for name, array in found.items() if array is not None and name not in TABLES)
        for name, counts in TABLES.items():
            if name in found:
                rows = int(np.searchsorted(np.cumsum(found[counts][:rows]), len(found[name]), side="right"))
        time = found["time"][:rows]
        if np.isnan(time).any():
            rows = int(np.argmax(np.isnan(time)))
        whole = {name: np.zeros((rows, *about["shapes"][name])) if array is None else array for name, array in found.items()}
        return part_of(whole, 0, rows), about
    except Exception as error:
        raise ModelError(f"nothing can be read from {path}: {error}") from error
    finally:
        with contextlib.suppress(Exception):
            source.close()


def _whole_rows(dataset: Any) -> Array:
    """The rows before the first that cannot be read."""
    step, parts = dataset.chunks[0], []
    for start in range(0, len(dataset), step):
        try:
            parts.append(dataset[start : start + step])
        except Exception:  # whatever the library makes of it
            break
    return np.concatenate(parts) if parts else np.zeros((0, *dataset.shape[1:]))


class DiskArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in a file: indexing reads what it asks for, and arithmetic, NumPy's functions and methods read all of it.

    Parameters
    ----------
    source : _Source
        The file.
    place : str
        The dataset in it.
    shape : tuple of int
        How many of its rows there are, and how long they are.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, source: _Source, place: str, shape: tuple[int, ...]) -> None:
        self._source, self._place, self._shape = source, place, shape
        #: Rows after those in the file, which could not be written there.
        self.later: Array | None = None

    def _read(self, key: Any) -> Any:
        """Rows of the file."""
        return self._source.read(lambda file: file[self._place][key])

    @property
    def shape(self) -> tuple[int, ...]:
        """As an array's."""
        return (len(self), *self._shape[1:])

    @property
    def ndim(self) -> int:
        """As an array's."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """As an array's."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        return self._shape[0] + (0 if self.later is None else len(self.later))

    def __repr__(self) -> str:
        return f"<array {self.shape} in {os.fspath(self._source.path)!r}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        whole = self._read(slice(0, self._shape[0]))
        if self.later is not None:
            whole = np.concatenate([whole, self.later])
        return whole if dtype is None else whole.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        first, rest = (key[0], key[1:]) if isinstance(key, tuple) and key else (key, ())
        if self.later is not None:
            return np.asarray(self)[key]
        rows = self._shape[0]
        if isinstance(first, int | np.integer) and not isinstance(first, bool):
            i = int(first) + (rows if first < 0 else 0)
            if not 0 <= i < rows:
                raise IndexError(f"there are {rows} rows; no number {first}")
            part = self._read(i)
            return part[rest] if rest else part
        if isinstance(first, slice):
            start, stop, step = first.indices(rows)
            if step > 0:
                part = self._read(slice(start, max(start, stop), step))
                return part[(slice(None), *rest)] if rest else part
        return np.asarray(self)[key]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _READ_ROWS):
            yield from self[start : min(len(self), start + _READ_ROWS)]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        arrays = [np.asarray(one) if isinstance(one, DiskArray) else one for one in inputs]
        return getattr(ufunc, method)(*arrays, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __reduce__(self) -> Any:
        return np.array, (np.asarray(self),)

    def close(self) -> None:
        """Close the file, for all arrays in it, until one is asked for numbers."""
        self._source.close()
