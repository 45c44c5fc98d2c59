"""Rows of numbers in text, quickly: the whole text in one go where every row is whole, else row by row, to say which is not."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np

from ..algebra.arrays import Array
from ..value.checks import reads_as_number
from ._numbers import at_hand, read_plain

TAB, NEWLINE = 9, 10
#: Characters from which on the compiled reader pays: it may have to be compiled first.
LONG = 1 << 16


def read_text(path: Path) -> str:
    """The text of a file: bytes that are no UTF-8 as Latin-1, a mark at its beginning dropped, lines ending in newlines."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse(path: Path, text: str, width: int, first_line: int, what: str) -> Array:
    """Rows of *width* numbers each; a field that is empty between tabs, or ``NaN`` in any writing, is NaN.

    Parameters
    ----------
    path : Path
        For messages.
    text : str
        The rows; blank lines and those that begin with # do not count.
    width : int
    first_line : int
        The number, from 1, that the first line of *text* has in its file.
    what : str
        What a row is, for messages.
    """
    found = read_plain(text, width) if len(text) >= LONG or at_hand() else None
    if found is None:
        found = _at_once(text, width)
    return _row_by_row(path, text, width, first_line, what) if found is None else found


def without_repeats(rows: Array, column: int, report: list[str]) -> Array:
    """Rows whose time is that of the next one dropped, as OpenSim does: it writes the last time of a run twice."""
    again = np.flatnonzero(np.diff(rows[:, column]) == 0.0)
    if not len(again):
        return rows
    times = ", ".join(f"{t:g}" for t in rows[again[:3], column]) + (", ..." if len(again) > 3 else "")
    report.append(f"rows are dropped where the next one has the same time, {len(again)} of them: {times}.")
    return np.delete(rows, again, axis=0)


def _at_once(text: str, width: int) -> Array | None:
    """All rows, if each has so many fields and all are numbers."""
    if "\t\t" in text or "#" in text or "\t\n" in text:
        return None
    data = np.frombuffer(text.strip("\n").encode(), np.uint8)
    ends = np.flatnonzero(data == NEWLINE)
    tabs = np.flatnonzero(data == TAB)
    if len(tabs):
        bounds = np.concatenate([[-1], ends, [len(data)]])
        counts = np.diff(np.searchsorted(tabs, bounds))
        if not (counts == width - 1).all():
            return None
    elif width > 1:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            flat = np.fromstring(text, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return flat.reshape(-1, width) if flat.size == (len(ends) + 1) * width else None


#: What ends a row: not the # in a number such as 1.#QNAN.
_COMMENT = re.compile(r"(?:^|(?<=\s))#")
#: How a compiler of that name prints what is no number.
_MICROSOFT_NAN = re.compile(r"[+-]?\d\.#(QNAN|SNAN|IND)\d*", re.IGNORECASE)


def _number(field: str) -> float:
    return np.nan if not field or _MICROSOFT_NAN.fullmatch(field) else float(field)


def _row_by_row(path: Path, text: str, width: int, first_line: int, what: str) -> Array:
    rows = []
    for line, row in enumerate(text.split("\n"), first_line):
        content = _COMMENT.split(row, maxsplit=1)[0].strip(" \n")
        if not content.strip():
            continue
        fields = [field.strip() for field in content.split("\t")] if "\t" in content else content.split()
        while len(fields) > width and not fields[-1]:
            fields.pop()
        if len(fields) == width + 1 and not fields[0]:
            del fields[0]
        if len(fields) != width and "\t" in content and len(content.split()) == width:
            fields = content.split()  # tabs and spaces mixed
        if len(fields) != width:
            raise ValueError(f"{path}, line {line}: {what} has {width} numbers, this one {len(fields)}: the row is torn")
        try:
            rows.append([_number(field) for field in fields])
        except ValueError:
            bad = next(field for field in fields if field and not reads_as_number(field))
            raise ValueError(f"{path}, line {line}: {bad!r} is no number") from None
    return np.array(rows).reshape(len(rows), width)
