"""Files of motions: what is written of a trajectory and read again, as arrays (.npz, .h5) or as columns (.csv, .parquet)."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..value.checks import check_extension
from ..value.files import written
from .hdf5_file import FileRows, import_h5py, read_recording
from .labels import labelled, rows_of_columns
from .quantities import POSES, QUANTITY
from .table import part_of

if TYPE_CHECKING:
    from .trajectory import Trajectory

FORMATS = (".npz", ".csv", ".parquet", ".h5", ".hdf5")
"""Formats that `Trajectory.save` can write, by the file's extension."""

LOCATIONS, VELOCITIES = "particle_locations", "particle_velocities"

EXTRAS = {"pandas": "table", "pyarrow": "table", "matplotlib": "plot"}
"""Which of mobod's extras brings a package."""

_OTHERS = "It was whole when it was written: take another copy, or run again"
_BLOCK = 4096  # rows written to a file at a time
_INDEXED = re.compile(r"(quantity|pose)\.(.*?)(?:\[(\d+(?:,\d+)*)\])?")


def save_motion(motion: Trajectory, path: Path) -> None:
    """Write a file, whole or not at all: see `Trajectory.save`."""
    extension = check_extension(path, FORMATS)
    if motion.has_contacts and extension in (".csv", ".parquet"):
        warnings.warn(
            f"{path.name} has one row a time, and holds no contacts: save them beside it, by "
            "trajectory.contacts_dataframe(), or save an .npz or .h5",
            stacklevel=3,
        )
    if extension == ".parquet":
        pa, parquet = import_extra("pyarrow", "a .parquet file"), import_extra("pyarrow.parquet", "a .parquet file")
    elif extension in (".h5", ".hdf5"):
        import_h5py()
    with written(path) as beside:
        if extension in (".h5", ".hdf5"):
            rows, arrays = FileRows(beside, about_of(motion)), arrays_of(motion)
            try:
                for start in range(0, max(1, len(motion)), _BLOCK):
                    rows.append(part_of(arrays, start, start + _BLOCK))
            finally:
                rows.close()
        elif extension == ".npz":
            arrays = {name: np.asarray(array) for name, array in arrays_of(motion).items()}
            with beside.open("wb") as file:  # given a name, NumPy would append to a capital .NPZ
                np.savez_compressed(file, about=np.array(json.dumps(about_of(motion))), **arrays)  # type: ignore[arg-type]
        elif extension == ".csv":
            columns = columns_of(motion)
            with beside.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        else:
            events = {"events": motion.events.rows.tolist()} if len(motion.events) else {}
            columns, text = columns_of(motion), json.dumps({**about_of(motion), **events}).encode()
            table = pa.table({name: pa.array(column) for name, column in columns.items()})
            about = {**(table.schema.metadata or {}), b"mobod": text, b"mobod.crc32": _checksum(columns, text)}
            parquet.write_table(table.replace_schema_metadata(about), beside)


def load_motion(path: Path, salvage: bool, make: Callable[[dict[str, Any], dict[str, Any]], Trajectory]) -> Trajectory:
    """Make a trajectory of a file's arrays, and of what it says of them: see `Trajectory.load`."""
    extension = check_extension(path, FORMATS)
    if not path.is_file():
        raise FileNotFoundError(2, "no such file", os.fspath(path))
    if extension in (".h5", ".hdf5"):
        arrays, about = read_recording(path, salvage)
        about.pop("shapes")
        return make(arrays, about)
    try:
        return make(*_read(path, extension, salvage))
    except (ImportError, OSError) as error:
        # what the machine says, not what is in the file; but a damaged file may send its reader to nowhere, EINVAL
        if isinstance(error, ImportError) or error.errno not in (None, errno.EINVAL):
            raise
        raise ModelError(f"{path} is not a trajectory, or is damaged: {error}. {_OTHERS}") from error
    except ModelError:
        raise
    except Exception as error:  # whatever others' readers make of bytes that are not what they were
        what = f"{type(error).__name__}: {error}"
        raise ModelError(f"{path} is not a trajectory, or is damaged: {what}. {_OTHERS}") from error


def _read(path: Path, extension: str, salvage: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    about: dict[str, Any] = {}
    if extension == ".npz":
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            if "about" not in file.files:
                raise ModelError(f"{path} is not a trajectory: it holds {', '.join(file.files) or 'nothing'}")
            about = json.loads(str(file["about"]))
            arrays = {name: file[name] for name in file.files if name != "about"}
        return arrays, about
    if extension == ".csv":
        columns = _read_csv(path)
    else:
        table = import_extra("pyarrow.parquet", "a .parquet file").read_table(path)
        found = table.schema.metadata or {}
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        text = found.get(b"mobod", b"{}")
        if found.get(b"mobod.crc32") != _checksum(columns, text) and not salvage:
            has = "its content does not fit its checksum" if b"mobod.crc32" in found else "it has no checksum"
            raise ModelError(
                f"{path} is damaged, or not of this version of mobod: {has}. "
                f"Trajectory.load({os.fspath(path)!r}, salvage=True) reads it as it is"
            )
        about = json.loads(text)
    return _of_columns(columns, about, path)


def arrays_of(motion: Trajectory) -> dict[str, Array]:
    """The columns as they are recorded."""
    arrays = {"time": motion.time, "q": motion.q, "u": motion.u, "z": motion.z, "energy": motion.energy}
    arrays |= {LOCATIONS: motion.particle_locations, VELOCITIES: motion.particle_velocities, POSES: motion.body_poses}
    if motion.has_contacts:
        arrays |= motion.contact_arrays()
    if len(motion.events) and len(motion):
        counts = np.bincount(np.minimum(motion.event_rows, len(motion) - 1), minlength=len(motion))
        arrays |= {"events": motion.events.rows, "event_counts": counts.astype(np.float64)}
    return arrays | {f"{QUANTITY}{name}": array for name, array in motion.quantities.items()}


def _of_columns(columns: Mapping[str, Array], about: dict[str, Any], path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    if "time" not in columns or "energy" not in columns:
        raise ModelError(f"{path} is not a trajectory: it has no columns time and energy")
    nt = len(columns["time"])
    parts = {prefix: [name for name in columns if name.startswith(f"{prefix}.")] for prefix in "quz"}
    arrays: dict[str, Any] = {
        p: np.column_stack([columns[name] for name in names] or [np.zeros((nt, 0))]) for p, names in parts.items()
    }
    for name, what in (("location", LOCATIONS), ("velocity", VELOCITIES)):
        number = sum(column.startswith(f"{name}.") for column in columns) // 3
        found = [columns[f"{name}.{p}.{axis}"] for p in range(number) for axis in "xyz"]
        arrays[what] = np.column_stack(found or [np.zeros((nt, 0))]).reshape(nt, -1, 3)
    about.setdefault("coordinate_names", [name[2:] for name in parts["q"]])
    about.setdefault("speed_names", [name[2:] for name in parts["u"]])
    about.setdefault("auxiliary_names", [name[2:] for name in parts["z"]])
    arrays.update(time=columns["time"], energy=columns["energy"])
    recorded = _unflattened(columns)
    about.setdefault("body_names", list(recorded["pose"]))
    if recorded["pose"]:
        arrays[POSES] = np.stack(list(recorded["pose"].values()), axis=1)
    named = labelled(columns, QUANTITY, {**about.get("row_names", {}), "speed": about["speed_names"]})
    plain = {name: one for name, one in recorded["quantity"].items() if name.partition(".")[0] not in named}
    arrays |= {f"{QUANTITY}{name}": array for name, array in (plain | named).items()}
    about.setdefault("row_names", rows_of_columns(columns, QUANTITY, named))
    return arrays, about


def columns_of(motion: Trajectory) -> dict[str, Array]:
    """Make the table, column by column."""
    columns = {"time": np.asarray(motion.time), **motion.variable_columns()}
    columns["energy"] = np.asarray(motion.energy)
    for name, rows in (("location", motion.particle_locations), ("velocity", motion.particle_velocities)):
        rows = np.asarray(rows)
        columns.update((f"{name}.{p}.{axis}", rows[:, p, k]) for p in range(rows.shape[1]) for k, axis in enumerate("xyz"))
    columns.update((f"{QUANTITY}{name}", column) for name, column in motion.quantity_columns().items())
    poses = np.asarray(motion.body_poses)
    for b, name in enumerate(motion.body_names):
        columns.update(flattened(f"pose.{name}", poses[:, b]))
    return columns


def about_of(motion: Trajectory) -> dict[str, Any]:
    """Collect what is not a column, as JSON can hold it."""
    return {
        "coordinate_names": list(motion.coordinate_names),
        "speed_names": list(motion.speed_names),
        "auxiliary_names": list(motion.auxiliary_names),
        "body_names": list(motion.body_names),
        "surface_names": list(motion.surface_names),
        "row_names": motion.named_rows(),
        "model_variables": plain(motion.model_variables),
        "statistics": plain(motion.statistics),
        "event_labels": [list(one) for one in motion.events.labels],
    }


def flattened(name: str, array: Array, called: Sequence[str] | None = None) -> dict[str, Array]:
    """A column a number: of an array `name[i,j]`, or as its numbers are *called*."""
    if array.ndim == 1:
        return {name: array}
    flat = array.reshape(len(array), int(np.prod(array.shape[1:])))
    if called is not None:
        return {f"{name}.{one}": flat[:, k] for k, one in enumerate(called)}
    return {f"{name}[{','.join(map(str, place))}]": flat[:, k] for k, place in enumerate(np.ndindex(array.shape[1:]))}


def _unflattened(columns: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
    """Quantities and poses by name, from the columns that `_flattened` makes."""
    found: dict[str, dict[str, dict[tuple[int, ...], Array]]] = {"quantity": {}, "pose": {}}
    for column, values in columns.items():
        match = _INDEXED.fullmatch(column)
        if match is not None:
            what, name, place = match.groups()
            found[what].setdefault(name, {})[tuple(map(int, place.split(","))) if place else ()] = values
    return {what: {name: _assembled(parts) for name, parts in names.items()} for what, names in found.items()}


def _assembled(parts: Mapping[tuple[int, ...], Array]) -> Array:
    """An array from its numbers' columns by their places, which are in order."""
    columns = np.column_stack(list(parts.values()))
    shape = [1 + max(axis) for axis in zip(*parts, strict=True)]
    return columns.reshape(len(columns), *shape)


def import_extra(name: str, purpose: str) -> Any:
    """A package that an extra brings; `ImportError`, with the command that installs it, where it is not there."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{purpose} needs {package}: pip install 'mobod[{EXTRAS[package]}]'") from error


def _read_csv(path: Path) -> dict[str, Array]:
    text = path.read_text(encoding="utf-8")
    rows = csv.reader(text.splitlines(keepends=True))
    header = next(rows, [])
    try:
        table = np.array([[float(entry) for entry in row] for row in rows], dtype=np.float64).reshape(-1, len(header))
        if not text.endswith("\n"):
            raise ValueError("its last line is cut short")
    except ValueError as error:
        raise ModelError(
            f"{path} is not a table of numbers, or is damaged: {error}. Lines before that can be read by any editor"
        ) from None
    return dict(zip(header, table.T, strict=True))


def _checksum(columns: Mapping[str, Array], about: bytes) -> bytes:
    """Of a table and of what it says about itself."""
    value = zlib.crc32(about)
    for name, column in columns.items():
        value = zlib.crc32(np.ascontiguousarray(column, dtype=np.float64).tobytes(), zlib.crc32(name.encode(), value))
    return str(value).encode()


def plain(value: Any) -> Any:
    """Make of NumPy's numbers and arrays what JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
