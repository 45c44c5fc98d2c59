"""Recordings on disk: an HDF5 file that grows row by row, can be read while it does, and after its writer was killed.

Every column is a dataset with one row a time, and `about` a line of JSON. The file is written in HDF5's mode of a single writer
and many readers: what has been flushed is consistent at every moment. `time` is written last, so that a row of which it has a
number is complete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .rows import Array, Block

EXTENSIONS = (".h5", ".hdf5")
"""Of recordings."""

_CHUNK_BYTES = 1 << 17
_READ_ROWS = 4096


def import_h5py(purpose: str = "a recording on disk") -> Any:
    """The package h5py, or an ImportError that says which extra brings it."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"{purpose} needs h5py: pip install 'mobod[record]'") from error
    return h5py


class FileRows:
    """What `Rows` is, in a file.

    Parameters
    ----------
    path : str or path
        Written over if it is there.
    about : mapping
        What is not a column, as JSON can hold it.

    Raises
    ------
    ImportError
        If h5py is not installed.
    OSError
        If the file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any]) -> None:
        self._h5py = import_h5py()
        self.path = Path(path)
        self._about = dict(about)
        self._file = self._h5py.File(self.path, "w", libver="latest")
        self._started = False
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def append(self, block: Block) -> None:
        """Add the rows of *block*, which has the columns that the first one had."""
        if not self._started:
            self._make_datasets(block)
        needed = self._used + len(block["time"])
        # time at the end: it says which rows are whole
        for name in [*(name for name in block if name != "time"), "time"]:
            if name not in self._file:
                continue  # a column of no numbers
            dataset = self._file[name]
            dataset.resize(needed, axis=0)
            dataset[self._used :] = block[name]
            if name == "time":
                self._flush_all_but_time()
        self._used = needed

    def _make_datasets(self, block: Block) -> None:
        self._about["shapes"] = {name: list(array.shape[1:]) for name, array in block.items()}
        self._file["about"] = json.dumps(self._about)
        for name, array in block.items():
            width = int(np.prod(array.shape[1:], dtype=np.int64))
            if width:
                rows = max(1, min(_READ_ROWS, _CHUNK_BYTES // (8 * width)))
                shape, chunks = (0, *array.shape[1:]), (rows, *array.shape[1:])
                self._file.create_dataset(name, shape, "f8", maxshape=(None, *array.shape[1:]), chunks=chunks, fillvalue=np.nan)
        self._file.swmr_mode = True
        self._started = True

    def _flush_all_but_time(self) -> None:
        for name, dataset in self._file.items():
            if name not in ("time", "about"):
                dataset.flush()

    def flush(self) -> None:
        """See to it that all rows so far are in the file, whatever becomes of this process."""
        if self._started:
            self._file["time"].flush()

    def close(self, about: Mapping[str, Any] | None = None) -> None:
        """Finish the file; what else there is to say about it replaces what was said at first."""
        if not self._file:
            return
        self._file.close()
        if about is not None and self._started:
            with self._h5py.File(self.path, "r+", libver="latest") as file:
                shapes = json.loads(file["about"][()])["shapes"]
                del file["about"]
                file["about"] = json.dumps({**about, "shapes": shapes})

    def columns(self) -> dict[str, Array]:
        """The columns as they are in the file, which has to be closed; read when they are asked for numbers."""
        return read_recording(self.path)[0]

    @classmethod
    def go_on(cls, path: str | os.PathLike[str], rows: int) -> FileRows:
        """Open a recording again after its first *rows*, and drop what comes after them.

        The file is copied, and takes the old one's place when it is complete: one whose writer was killed cannot be written.

        Raises
        ------
        ValueError
            If it has fewer rows, or is no recording.
        """
        columns, about = read_recording(path)
        there = len(columns["time"])
        if there < rows:
            raise ValueError(f"{path} has {there} rows, and the checkpoint was written after {rows}: it is another recording")
        beside = Path(f"{os.fspath(path)}.part")
        shapes = about.pop("shapes")
        new = cls(beside, about)
        for start in range(0, rows, _READ_ROWS):
            stop = min(rows, start + _READ_ROWS)
            new.append({name: columns[name][start:stop] for name in shapes})
        if not rows:
            new._make_datasets({name: np.zeros((0, *shape)) for name, shape in shapes.items()})
        new.close()
        for column in columns.values():
            if isinstance(column, DiskArray):
                column.close()
        os.replace(beside, path)
        new.path, new._used = Path(path), rows
        new._file = new._h5py.File(new.path, "r+", libver="latest")
        new._file.swmr_mode = True
        return new


def read_recording(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of a recording, complete or not, and what it says about itself.

    Returns
    -------
    columns : dict of str to array
        ``time`` is read; the others are `DiskArray`: read when, and as far as, they are asked for numbers.
    about : dict

    Raises
    ------
    ImportError
        If h5py is not installed.
    ValueError
        If it is not a recording.
    """
    h5py = import_h5py()
    if not Path(path).is_file():
        raise FileNotFoundError(2, "no such file", os.fspath(path))
    try:
        file = h5py.File(path, "r", libver="latest", swmr=True)  # as it is without its writer, too, if that was killed
    except OSError as error:
        raise ValueError(f"{path} is not an HDF5 file, or its writer was killed before the first row: {error}") from error
    if "about" not in file or "time" not in file:
        raise ValueError(f"{path} is not a recording: it holds {', '.join(file) or 'nothing'}")
    about = json.loads(file["about"][()])
    shapes = about["shapes"]
    lengths = [len(file[name]) for name in shapes if name in file]
    time = np.asarray(file["time"][: min(lengths)])
    whole = int(np.argmax(np.isnan(time))) if np.isnan(time).any() else len(time)
    columns: dict[str, Any] = {"time": time[:whole]}
    for name, shape in shapes.items():
        if name != "time":
            columns[name] = DiskArray(file[name], whole) if name in file else np.zeros((whole, *shape))
    return columns, about


class DiskArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in a file: indexing reads what it asks for, and arithmetic, NumPy's functions and methods read all of it.

    Parameters
    ----------
    dataset : h5py.Dataset
    rows : int
        How many of its rows there are.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, dataset: Any, rows: int) -> None:
        self._dataset, self._rows = dataset, rows

    @property
    def shape(self) -> tuple[int, ...]:
        """As an array's."""
        return (self._rows, *self._dataset.shape[1:])

    @property
    def ndim(self) -> int:
        """As an array's."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """As an array's."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<array {self.shape} in {self._dataset.file.filename!r}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        whole = self._dataset[: self._rows]
        return whole if dtype is None else whole.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        first, rest = (key[0], key[1:]) if isinstance(key, tuple) and key else (key, ())
        if isinstance(first, int | np.integer):
            i = int(first) + (self._rows if first < 0 else 0)
            if not 0 <= i < self._rows:
                raise IndexError(f"there are {self._rows} rows; no number {first}")
            part = self._dataset[i]
            return part[rest] if rest else part
        if isinstance(first, slice):
            start, stop, step = first.indices(self._rows)
            if step > 0:
                part = self._dataset[start : max(start, stop) : step]
                return part[(slice(None), *rest)] if rest else part
        return np.asarray(self)[key]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, self._rows, _READ_ROWS):
            yield from self._dataset[start : min(self._rows, start + _READ_ROWS)]

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
        """Close the file, for all arrays in it."""
        if self._dataset:
            self._dataset.file.close()
