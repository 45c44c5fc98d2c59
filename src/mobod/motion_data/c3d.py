"""C3D: a recording of markers, analog channels and force plates, read by ezc3d.

A plate's wrench is turned into Ground's axes, and acts at its centre of pressure: with the force F, and the moment M about the
centre O of the plate's surface, in the plane of the surface with normal n, the point is O + n x M / (n . F), and the torque
that remains there is along n.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..value import Rotation
from ..value.files import as_path
from .c3d_structure import find_fault
from .labels import distinct
from .table import Table
from .units import UNITS


@dataclasses.dataclass(frozen=True, eq=False)
class Recorded:
    """The content of a C3D file.

    Attributes
    ----------
    markers : Table
        One column ``(nt, 3)`` a marker, in metres; NaN where it was not seen.
    analog : Table
        One column a channel, in the units that the file gives it: ``analog.metadata`` has them by label.
    forces : Table
        Of force plate k, from 1: ``ground_force_k_v``, the force on what stands on it ``(nt, 3)``; ``ground_force_k_p``, the
        centre of pressure; ``ground_force_k_m``, the torque there. Newton, metres.
    corners : (n, 4, 3) ndarray
        Of each plate.
    """

    markers: Table
    analog: Table
    forces: Table
    corners: Array


def read_c3d(
    path: str | os.PathLike[str], *, rotation: npt.ArrayLike | Rotation | None = None, force_threshold: float = 10.0
) -> Recorded:
    """Read a C3D file.

    Parameters
    ----------
    path : path
        Of the file.
    rotation : Rotation or (3, 3) array_like, optional
        From the laboratory's axes to the model's: ``p_model = rotation @ p_laboratory``. For a laboratory with z up and a model
        with y up, ``Rotation.about_axis(-pi / 2, (1, 0, 0))``.
    force_threshold : float
        Below this force along a plate's normal there is nothing on it: point and torque are zero; mass*length/time^2.

    Returns
    -------
    Recorded

    Raises
    ------
    ImportError
        Without ezc3d: ``pip install mobod[c3d]``.
    ValueError
        If the file cannot be read, or its unit of length is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import ezc3d, numpy as np
    >>> import mobod as mb
    >>> path, file = pathlib.Path(tempfile.mkdtemp()) / "walk.c3d", ezc3d.c3d()
    >>> file["parameters"]["POINT"]["RATE"]["value"] = [100]
    >>> file["parameters"]["POINT"]["LABELS"]["value"] = ("knee",)
    >>> file["data"]["points"] = np.full((3, 1, 5), 1000.0)  # millimetres
    >>> file.write(str(path))
    >>> mb.read_c3d(path).markers["knee"][0]
    array([1., 1., 1.])
    """
    path = as_path("path", path)
    try:
        import ezc3d
    except ImportError:
        raise ImportError("read_c3d needs ezc3d: pip install 'mobod[c3d]'") from None
    if not path.is_file():
        raise FileNotFoundError(2, "there is no such file", os.fspath(path))
    R = np.eye(3) if rotation is None else np.asarray(Rotation(np.asarray(rotation)))
    fault = find_fault(path.read_bytes())
    if fault:
        raise ValueError(f"{path} is no C3D file that can be read: {fault}")
    content, notes = _read(ezc3d, path)
    point, header = content["parameters"]["POINT"], content["header"]
    report: list[str] = []
    unit = "".join(_texts(point, "UNITS")[:1]).strip().lower()
    if not unit:
        unit = "mm"
        report.append("the file gives no unit of length; millimetres are taken.")
    if unit not in UNITS:
        raise ValueError(f"{path}: the unit of length {unit!r} is unknown; known are {', '.join(sorted(UNITS))}")
    first, rate = header["points"]["first_frame"], float(header["points"]["frame_rate"])
    places = content["data"]["points"][:3]
    names = distinct(_all_texts(point, "LABELS")[: places.shape[1]], report)
    located = UNITS[unit] * np.einsum("ij,jnt->tni", R, places)
    time = (first + np.arange(places.shape[2])) / rate if rate > 0.0 else np.arange(0.0)
    markers = Table(
        time, {n: located[:, k] for k, n in enumerate(names)}, name=path.stem, metadata={"Units": "m"}, report=report
    )
    return Recorded(markers, *_analog(content, path.stem, time, R, force_threshold, notes))


def _read(ezc3d: Any, path: Path) -> tuple[Any, list[str]]:
    """The file's content; without force plates, where these cannot be understood."""
    try:
        return ezc3d.c3d(os.fspath(path), extract_forceplat_data=True), []
    except Exception as error:  # of the library's own kinds
        reason = error
    try:
        return ezc3d.c3d(os.fspath(path)), [f"the force plates cannot be read: {reason}."]
    except Exception as error:
        raise ValueError(f"{path}: ezc3d cannot read it: {error}") from None


def _analog(content: Any, name: str, time: Array, R: Array, threshold: float, notes: list[str]) -> tuple[Table, Table, Array]:
    """The channels, the plates, and the plates' corners."""
    values = content["data"]["analogs"][0]
    rate = float(content["header"]["analogs"]["frame_rate"])
    report: list[str] = []
    start = float(time[0]) if len(time) else 0.0
    at = start + np.arange(values.shape[1]) / rate if rate > 0.0 else np.zeros(0)
    group = content["parameters"].get("ANALOG", {})
    labels = distinct(_all_texts(group, "LABELS")[: len(values)], report)
    units = dict(zip(labels, _all_texts(group, "UNITS"), strict=False))
    analog = Table(at, dict(zip(labels, values, strict=False)), name=name, metadata=units, report=report)
    columns: dict[str, Array] = {}
    corners = []
    for k, plate in enumerate(content["data"].get("platform", []), 1):
        if plate["force"].shape[1] != len(at):
            notes.append(f"force plate {k} has {plate['force'].shape[1]} samples, not {len(at)}, and is left out.")
            continue
        length = UNITS.get(str(plate["unit_position"]).lower(), 1e-3)
        corner = length * np.asarray(plate["corners"])  # (3, 4), in laboratory axes
        origin = corner.mean(axis=1)
        unit = str(plate["unit_moment"]).lower()
        moment = (1e-3 if "mm" in unit else 1.0) * np.asarray(plate["moment"])
        normal = np.cross(corner[:, 0] - corner[:, 1], corner[:, 1] - corner[:, 2])
        normal = normal / np.linalg.norm(normal) if np.linalg.norm(normal) > 0.0 else np.array([0.0, 0.0, 1.0])
        force = np.asarray(plate["force"]).T
        along = force @ normal
        there = np.abs(along) >= threshold
        safe = np.where(there, along, 1.0)
        arm = np.cross(normal, moment.T) / safe[:, None]
        torque = ((moment.T - np.cross(arm, force)) @ normal)[:, None] * normal
        columns[f"ground_force_{k}_v"] = force @ R.T
        columns[f"ground_force_{k}_p"] = np.where(there[:, None], origin + arm, 0.0) @ R.T
        columns[f"ground_force_{k}_m"] = np.where(there[:, None], torque, 0.0) @ R.T
        corners.append((R @ corner).T)
    forces = Table(at, columns, name=name, report=notes)
    return analog, forces, np.array(corners).reshape(-1, 4, 3)


def _texts(group: Any, key: str) -> list[str]:
    return [str(value).strip() for value in group[key]["value"]] if key in group else []


def _all_texts(group: Any, key: str) -> list[str]:
    """A list that goes on in LABELS2 and so on, where it has more than 255 entries."""
    found, k = _texts(group, key), 2
    while more := _texts(group, f"{key}{k}"):
        found, k = found + more, k + 1
    return found
