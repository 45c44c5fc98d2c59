"""TRC: files of marker locations, as motion-capture systems and OpenSim write them.

Five lines of header: what the file is; names of settings; their values (rates, numbers of frames and markers, the unit of
length); ``Frame#``, ``Time`` and the markers' names, one every three columns; ``X1 Y1 Z1`` and so on. Then a row a frame.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..algebra.arrays import Array
from ..value import checks
from ..value.files import as_path, written
from ._rows import parse, read_text, without_repeats
from .labels import distinct
from .table import Table
from .units import UNITS

#: What programs call the column of times.
TIME = ("time", "times")


def read_trc(path: str | os.PathLike[str]) -> Table:
    """Read marker locations from a TRC file.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    Table
        One column ``(nt, 3)`` a marker, in metres, in the file's axes; NaN where a marker was not seen.

    Raises
    ------
    ValueError
        If the file is torn or its unit unknown; the message has file and line.

    Notes
    -----
    Empty fields and ``NaN`` in any writing are gaps. A marker's name that comes twice gets ``_2`` and so on; `Table.report`
    says so, and where the header's numbers of frames and markers are not those of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.trc"
    >>> table = mb.Table(np.array([0.0, 0.5]), {"heel": np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.3]])})
    >>> mb.write_trc(path, table)
    >>> mb.read_trc(path)["heel"]
    array([[0.1, 0.2, 0.3],
           [0.2, 0.2, 0.3]])
    """
    path = as_path("path", path)
    lines = read_text(path).split("\n")
    if len(lines) < 5 or not lines[0].lstrip().startswith("PathFileType"):
        raise ValueError(f"{path}, line 1: a TRC file begins with PathFileType; this one with {lines[0][:40]!r}")
    keys, values = lines[1].split(), lines[2].split()
    settings = dict(zip(keys, values, strict=False))
    unit = settings.get("Units", "")
    if unit.lower() not in UNITS:
        raise ValueError(f"{path}, line 3: the unit of length {unit!r} is unknown; known are {', '.join(sorted(UNITS))}")
    header = lines[3].rstrip("\n")
    fields = [field.strip() for field in (header.split("\t") if "\t" in header else header.split())]
    if len(fields) > 1 and fields[1].lower() not in TIME:  # a tab after Frame#, and blanks between the rest
        fields = header.split()
    if len(fields) < 2 or fields[0].lower() not in ("frame#", "frame") or fields[1].lower() not in TIME:
        raise ValueError(f"{path}, line 4: the columns begin with Frame# and Time, not with {fields[:2]}")
    names = [field for field in fields[2:] if field]
    if not names:
        raise ValueError(f"{path}, line 4: no marker is named")
    report: list[str] = []
    labels = distinct(names, report)
    rows = parse(path, "\n".join(lines[5:]), 2 + 3 * len(names), 6, f"a frame of {len(names)} markers")
    whole, rows = len(rows), without_repeats(rows, 1, report)
    for key, count in (("NumMarkers", len(names)), ("NumFrames", whole)):
        if key in settings and settings[key].isdigit() and int(settings[key]) != count:
            report.append(f"the header's {key} is {settings[key]}; there are {count}.")
    scale = UNITS[unit.lower()]
    points = scale * rows[:, 2:].reshape(len(rows), len(names), 3)
    metadata = {**settings, "Units": "m"}
    try:
        columns = {label: points[:, k] for k, label in enumerate(labels)}
        return Table(rows[:, 1], columns, name=path.stem, metadata=metadata, report=report)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def write_trc(path: str | os.PathLike[str], table: Table, *, units: str = "mm") -> None:
    """Write marker locations to a TRC file.

    Parameters
    ----------
    path : path
        Of the file; it takes the place of an old one when it is complete.
    table : Table
        Its columns of vectors are written, those of single numbers are refused.
    units : str
        Of length in the file: ``"mm"`` or ``"m"``, say.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.trc"
    >>> table = mb.Table(np.array([0.0, 0.5]), {"heel": np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.3]])})
    >>> mb.write_trc(path, table)
    >>> mb.read_trc(path)["heel"]
    array([[0.1, 0.2, 0.3],
           [0.2, 0.2, 0.3]])
    """
    checks.instance("table of write_trc", table, Table, "mobod.read_trc gives")
    if units not in UNITS:
        raise ValueError(f"the unit of length {units!r} is unknown; known are {', '.join(sorted(UNITS))}")
    for label in table.labels:
        if table[label].shape[1:] != (3,):
            raise ValueError(f"the column {label!r} is no marker: it has the shape {table[label].shape}, not (nt, 3)")
    path = as_path("path", path)
    rate = f"{table.rate:.10g}" if len(table) > 1 else "0"
    n = len(table.labels)
    keys = ("DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units", "OrigDataRate", "OrigDataStartFrame", "OrigNumFrames")
    values = (rate, rate, len(table), n, units, rate, 1, len(table))
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "\t".join(keys),
        "\t".join(map(str, values)),
        "Frame#\tTime\t" + "".join(f"{label}\t\t\t" for label in table.labels),
        "\t\t" + "\t".join(f"{axis}{k}" for k in range(1, n + 1) for axis in "XYZ"),
        "",
    ]
    points: Array = np.hstack([table[label] / UNITS[units] for label in table.labels]) if n else np.zeros((len(table), 0))
    for k, (time, row) in enumerate(zip(table.time.tolist(), points.tolist(), strict=True), 1):
        lines.append(f"{k}\t{time!r}\t" + "\t".join("" if x != x else repr(x) for x in row))
    with written(path, synced=False) as beside:
        Path(beside).write_text("\n".join(lines) + "\n", encoding="utf-8")
