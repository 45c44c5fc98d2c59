"""Tables of numbers in text files: columns, or a grid."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..value import checks


def read_table(file: str | os.PathLike[str], columns: Sequence[str | int] | None) -> tuple[Any, Array]:
    """The points and the values of the table in a file, as `Table` takes them."""
    path = Path(file)
    lines = [(k, line.strip()) for k, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1)]
    rows = [(k, _cells(line)) for k, line in lines if line and not line.startswith("#")]
    if not rows:
        raise ModelError(f"{path} has no numbers")
    header = None if all(checks.reads_as_number(cell) for cell in rows[0][1]) else rows[0][1]
    numbers = [_numbers(path, k, cells, len(rows[0][1])) for k, cells in rows[header is not None :]]
    if not numbers:
        raise ModelError(f"{path} has names of columns, and no numbers")
    table = np.array(numbers)
    if header is not None and columns is None and len(header) > 2 and all(checks.reads_as_number(cell) for cell in header[1:]):
        return (table[:, 0], np.array([float(cell) for cell in header[1:]])), table[:, 1:]
    places = _places(path, header, table.shape[1], columns)
    if len(places) == 2:
        return table[:, places[0]], table[:, places[1]]
    return _grid(path, *(table[:, place] for place in places))


def _cells(line: str) -> list[str]:
    separator = next((one for one in ("\t", ";", ",") if one in line), None)
    return [cell.strip().strip('"') for cell in (re.split(r"\s+", line) if separator is None else line.split(separator))]


def _numbers(path: Path, line: int, cells: list[str], count: int) -> list[float]:
    if len(cells) != count:
        raise ModelError(f"line {line} of {path} has {len(cells)} columns, the first one has {count}")
    for cell in cells:
        if not checks.reads_as_number(cell):
            raise ModelError(f"line {line} of {path} has {cell!r}, which is no number")
    return [float(cell) for cell in cells]


def _places(path: Path, header: list[str] | None, count: int, columns: Sequence[str | int] | None) -> list[int]:
    """The columns meant, by number."""
    if columns is None:
        if count < 2:
            raise ModelError(f"{path} has one column; a table has two or more")
        return [0, 1, 2] if count == 3 else [0, 1]
    if isinstance(columns, str) or len(columns) not in (2, 3):
        raise ValueError(f"columns of a table are two, or three for two arguments; got {columns!r}")
    places = []
    for column in columns:
        if isinstance(column, str):
            if column not in (header or ()):
                names = checks.suggest(column, header) if header else "its first line has no names"
                raise ModelError(f"{path} has no column {column!r}; {names}")
            places.append((header or []).index(column))
        else:
            places.append(checks.integer("a column", column, 0, count - 1))
    return places


def _grid(path: Path, x: Array, y: Array, values: Array) -> tuple[Any, Array]:
    """Points of a grid, a line each, in any order."""
    axes = np.unique(x), np.unique(y)
    rows = np.full((len(axes[0]), len(axes[1])), np.nan)
    rows[np.searchsorted(axes[0], x), np.searchsorted(axes[1], y)] = values
    missing = np.argwhere(np.isnan(rows))
    if len(missing):
        i, j = missing[0]
        raise ModelError(
            f"{path} has no value at ({axes[0][i]:g}, {axes[1][j]:g}); of two arguments each combination of their "
            f"{len(axes[0])} and {len(axes[1])} values has a line"
        )
    if len(values) != rows.size:
        raise ModelError(f"{path} has {len(values)} lines for {rows.size} points of its grid: one comes twice")
    return axes, rows
