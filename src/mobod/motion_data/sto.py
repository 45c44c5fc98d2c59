"""STO and MOT: OpenSim's files of columns over time.

A header of lines, most of them ``key=value``, up to ``endheader``; a row of labels, ``time`` first; rows of numbers. Version 3
knows elements of several numbers, ``DataType=Vec3``, separated by commas. SIMM's old header has ``datacolumns 5`` and the like.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..value import checks
from ..value.files import as_path, written
from ._rows import parse, read_text, without_repeats
from .labels import coordinates_of, distinct, is_angle
from .table import Table
from .units import UNITS

#: What the elements of each type are: how many numbers in the file, and the shape in a table.
TYPES: dict[str, tuple[int, tuple[int, ...]]] = {
    "double": (1, ()),
    "vec3": (3, (3,)),
    "unitvec3": (3, (3,)),
    "quaternion": (4, (4,)),
    "vec6": (6, (2, 3)),
    "spatialvec": (6, (2, 3)),
}
NAMES = {(): "double", (3,): "Vec3", (4,): "Quaternion", (2, 3): "SpatialVec"}
#: What may stand between the labels of an empty header and those of the next.
_BETWEEN = re.compile(r"\s*((end)?header\s*)?(?=time\s)", re.IGNORECASE)


def read_sto(path: str | os.PathLike[str], *, model: Any = None, degrees: bool | None = None) -> Table:
    """Read a storage file, ``.sto`` or ``.mot``: coordinates, speeds, forces, orientations.

    Parameters
    ----------
    path : path
        Of the file.
    model : Model, optional
        Says which columns are angles, where the file is in degrees: those of its `angles`. Without one, all are but those
        whose labels look like translations, forces, moments or points: ``*_tx``, ``*_vx``, ``*_px``, ``*force*``, ...
    degrees : bool, optional
        Whether angles are in degrees in the file. Unless given, its header says so; see the notes.

    Returns
    -------
    Table
        Angles in radians. Columns ``(nt,)``; of the types Vec3, Quaternion and SpatialVec ``(nt, 3)``, ``(nt, 4)``,
        ``(nt, 2, 3)``. Vec3 are places, in metres whatever the header's ``Units``.

    Raises
    ------
    ValueError
        If ``endheader`` or the labels are missing, a row is torn, or the unit of places is unknown; the message has file and
        line.

    Notes
    -----
    A label that comes twice (files of several force plates have such) gets ``_2`` and so on; `Table.report` says so.

    A file is in degrees if its header has ``inDegrees=yes``. One without a ``version`` and without ``inDegrees``, as SIMM and
    early OpenSim wrote them, is in degrees too, as for OpenSim, if it says so in a line of its own, *Angles are in degrees.*,
    or if it is a ``.mot`` file that does not say *Angles are in radians.*: `Table.report` then says what was taken.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.sto"
    >>> table = mb.Table(np.array([0.0, 0.5]), {"knee": np.array([0.1, 0.2])})
    >>> mb.write_sto(path, table)
    >>> mb.read_sto(path)["knee"]
    array([0.1, 0.2])
    """
    path = as_path("path", path)
    if degrees is not None:
        checks.flag("degrees of read_sto", degrees)
    angles, known = coordinates_of(model)
    text = read_text(path)
    header, labels_at, start = _header(path, text)
    keys = {key.lower(): value for key, value in header.items()}
    kind = keys.get("datatype", "double").lower()
    if kind not in TYPES:
        raise ValueError(f"{path}: the DataType {header.get('DataType', kind)!r} is unknown; known are {', '.join(TYPES)}")
    line = text.count("\n", 0, labels_at) + 1
    labels = _split(text[labels_at:start].rstrip("\n"))
    if not labels or labels[0].lower() != "time":
        raise ValueError(f"{path}, line {line}: the first column is time, not {(labels or [''])[0]!r}")
    width, shape = TYPES[kind]
    report: list[str] = []
    if "" in labels and len(_split(text[start:].lstrip("\n").split("\n", 1)[0])) == len(labels) - labels.count(""):
        labels = [label for label in labels if label]
        report.append(f"line {line}: there are tabs between the labels that no column belongs to.")
    rows = without_repeats(_rows(path, text[start:], width, len(labels) - 1, line + 1), 0, report)
    for key in ("nrows", "datarows"):
        if keys.get(key, "").isdigit() and int(keys[key]) != len(rows) and not report:
            report.append(f"the header says that there are {keys[key]} rows; there are {len(rows)}.")
    names = distinct(labels[1:], report)
    if width == 1:  # turned over at once: a column by itself would fetch all rows from memory
        columns = dict(zip(names, np.ascontiguousarray(rows.T)[1:], strict=True))
    else:
        columns = {
            name: rows[:, 1 + width * k : 1 + width * (k + 1)].reshape(len(rows), *shape) for k, name in enumerate(names)
        }
    unit = keys.get("units", "m").lower()
    if kind == "vec3" and unit not in UNITS:
        raise ValueError(f"{path}: the unit of length {unit!r} is unknown; known are {', '.join(sorted(UNITS))}")
    if kind == "vec3":  # of places; numbers of other types may be anything
        columns = {name: UNITS[unit] * column for name, column in columns.items()}
    elif UNITS.get(unit) != 1.0:
        report.append(f"the header says that units are {unit}; columns of type {kind} are left as they are.")
    if in_degrees(path, text, text[:labels_at], header, report) if degrees is None else degrees:
        columns = {n: np.deg2rad(c) if is_angle(n, angles, known) else c for n, c in columns.items()}
    try:
        return Table(rows[:, 0], columns, name=header.get("name", path.stem), metadata=header, report=report)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _header(path: Path, text: str) -> tuple[dict[str, str], int, int]:
    """Entries of the header, where the row of labels begins, and where the numbers do."""
    header: dict[str, str] = {}
    at, line = 0, 0
    while True:
        end = text.find("\n", at)
        if end < 0 and not text[at:].strip():
            raise ValueError(f"{path}, line {line or 1}: endheader is missing: the header has no end")
        row = text[at : end if end >= 0 else len(text)].strip()
        at, line = (end + 1 if end >= 0 else len(text)), line + 1
        word = row.split(None, 1)
        if row.lower() == "endheader":
            break
        if "=" in row:
            key, _, value = row.partition("=")
            header[key.strip()] = value.strip()
        elif word and word[0].lower() in ("name", "datacolumns", "datarows", "range", "otherdata"):
            header[word[0]] = word[1] if len(word) > 1 else ""
        elif line == 1:
            header["name"] = row
        elif word and word[0].lower() == "time":
            raise ValueError(f"{path}, line {line}: endheader is missing before the labels")
    while True:  # blank lines before the labels
        end = text.find("\n", at)
        if end < 0:
            raise ValueError(f"{path}, line {line + 1}: the labels of the columns are missing after endheader")
        row = text[at:end].strip().lower()
        again = _BETWEEN.match(text, end + 1) if row == "time" else None
        if again is not None:  # OpenSim's CMC and RRA begin files of states with a header of no columns
            at, line = again.end(), line + text.count("\n", at, again.end())
            continue
        if row:
            return header, at, end + 1
        at, line = end + 1, line + 1


def in_degrees(path: Path, text: str, above: str, header: dict[str, str], report: list[str]) -> bool:
    """True if angles are in degrees: the header says so, or else what kind of file it is; *above* is the header's text.

    A file with a version that does not say it is in radians. What is taken without such a word, or against what the header
    says besides, is in the *report*.
    """
    key = next((key for key in header if key.lower() == "indegrees"), "")
    word = header.get(key, "").lower()
    if word in ("yes", "true", "1", "y"):
        return True
    if word not in ("no", "false", "0", "n", ""):
        line = next((k for k, row in enumerate(text.split("\n"), 1) if row.strip().startswith(key)), 1)
        raise ValueError(f"{path}, line {line}: {key} is yes or no, not {header[key]!r}")
    said = re.search(r"^[ \t]*angles are in (degrees|radians)\.?[ \t]*$", above, re.IGNORECASE | re.MULTILINE)
    in_words = said[1].lower() if said else ""
    if word or _version(header) >= 1.0:
        if in_words == "degrees":
            why = f"{key}={header[key]}" if word else "a version, and no inDegrees=yes"
            report.append(f"the header says that angles are in degrees, and {why}: they are read as radians, as OpenSim does.")
        return False
    if in_words:
        report.append(f"the header has no version; angles are in {in_words}, as it says in words.")
        return in_words == "degrees"
    if path.suffix.lower() != ".mot":
        return False
    report.append(
        "the header has no version and no inDegrees, as SIMM writes .mot files: angles are in degrees, as for OpenSim; "
        "read_sto(path, degrees=False) reads them as they are."
    )
    return True


def _version(header: dict[str, str]) -> float:
    """The version of the format; 0 in a header that has none."""
    word = next((value for key, value in header.items() if key.lower() == "version"), "0")
    try:
        return float(word)
    except ValueError:
        return 0.0


def _split(row: str) -> list[str]:
    fields = [field.strip() for field in (row.split("\t") if "\t" in row else row.split())]
    while fields and not fields[-1]:
        fields.pop()
    return fields


def _rows(path: Path, text: str, width: int, columns: int, first_line: int) -> Array:
    """Numbers (rows, 1 + width columns)."""
    what = f"a row of time and {columns} columns"
    if width == 1:
        return parse(path, text, 1 + columns, first_line, what)
    for line, row in enumerate(text.split("\n"), first_line):
        commas = row.count(",")
        if row.strip() and commas != columns * (width - 1):
            raise ValueError(
                f"{path}, line {line}: {what} of {width} numbers each has {columns * (width - 1)} commas, this one {commas}: "
                "the row is torn"
            )
    return parse(path, text.replace(",", "\t"), 1 + width * columns, first_line, what)


def write_sto(
    path: str | os.PathLike[str], table: Table, *, degrees: bool | Collection[str] = False, model: Any = None
) -> None:
    """Write a table to a storage file, ``.sto`` or ``.mot``.

    Parameters
    ----------
    path : path
        Of the file; it takes the place of an old one when it is complete.
    table : Table
        Of columns of one type.
    degrees : bool or collection of str
        Whether angles are written in degrees: the columns that `read_sto` would take for such, or those with these labels.
    model : Model, optional
        Says which they are.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.sto"
    >>> table = mb.Table(np.array([0.0, 0.5]), {"knee": np.array([0.1, 0.2])})
    >>> mb.write_sto(path, table)
    >>> mb.read_sto(path)["knee"]
    array([0.1, 0.2])
    """
    path = as_path("path", path)
    checks.instance("table of write_sto", table, Table, "mobod.read_sto gives")
    angles, known = coordinates_of(model) if isinstance(degrees, bool) else (degrees, degrees)
    shapes = {table[label].shape[1:] for label in table.labels} or {()}
    if len(shapes) > 1:
        raise ValueError(
            f"a storage file has columns of one type; these have {', '.join(sorted(NAMES[s] for s in shapes))}: "
            "write them one by one, table.only(labels)"
        )
    (shape,) = shapes
    n = len(table.labels)
    columns = [
        np.rad2deg(table[label]) if degrees and shape == () and is_angle(label, angles, known) else table[label]
        for label in table.labels
    ]
    kind = NAMES[shape]
    lines = [table.name or path.stem]
    lines += ["version=1", f"nRows={len(table)}", f"nColumns={n + 1}"] if shape == () else [f"DataType={kind}", "version=3"]
    lines += [f"inDegrees={'yes' if degrees else 'no'}", "endheader", "\t".join(["time", *table.labels])]
    if shape == ():
        lines.append(_text(np.stack([table.time, *columns], axis=1)))
    else:
        numbers = np.stack(columns, axis=1).reshape(len(table), n, -1)
        for time, row in zip(table.time.tolist(), numbers.tolist(), strict=True):
            lines.append("\t".join([repr(time), *(",".join(map(repr, element)) for element in row)]))
    with written(path, synced=False) as beside:
        Path(beside).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _text(rows: Array) -> str:
    """Rows of numbers, separated by tabs, in the fewest digits that read back the same: the text of a list, signs replaced."""
    try:
        import orjson  # an extra: it writes numbers ten times as fast as Python
    except ImportError:
        return repr(rows.tolist())[2:-2].replace("], [", "\n").replace(", ", "\t")
    if not np.isfinite(rows).all():  # which JSON has no words for
        return "\n".join("\t".join(map(repr, row)) for row in rows.tolist())
    whole = orjson.dumps(np.ascontiguousarray(rows), option=orjson.OPT_SERIALIZE_NUMPY).decode()
    return whole[2:-2].replace("],[", "\n").replace(",", "\t")
