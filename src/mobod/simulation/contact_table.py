"""Recorded contacts: a table with a row a contact, and wrenches and centers of pressure of bodies."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib import recfunctions

from ..algebra.arrays import Array
from ..errors import ModelError
from ..force.contact.force_plate import body_wrenches, centers_of_pressure, find_up
from ..force.contact.of_system import find_contacts
from ..force.contact.subsystem import CONTACT
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.checks import all_known

Table: TypeAlias = npt.NDArray[Any]


def calc_body_wrenches(system: MultibodySystem, state: State, rows: Table) -> Array:
    """Of all contacts of each body, ``(nb, 2, 3)``."""
    return body_wrenches(rows, state)


def calc_centers_of_pressure(system: MultibodySystem, state: State, rows: Table) -> Array:
    """Of each body, ``(nb, 3)``."""
    return centers_of_pressure(body_wrenches(rows, state), state, find_up(system, state), np.zeros(3))


def calc_rows(system: MultibodySystem, state: State, rows: Table) -> Array:
    """Contacts that touch, a row each, all columns of `get_contacts` as numbers."""
    return np.asarray(recfunctions.structured_to_unstructured(rows, np.float64))


def of_points(points: Table) -> Table:
    """Rows as of `get_contacts`, one each two surfaces, of the points of a step of `TimeStepping`.

    It knows neither the depth's rate nor a potential energy: NaN.
    """
    pairs, which = np.unique(np.stack([points["surface1"], points["surface2"]], axis=1), axis=0, return_inverse=True)
    rows = np.zeros(len(pairs), CONTACT)
    rows["depth_rate"] = rows["potential_energy"] = np.nan
    for k, row in enumerate(rows):
        own = points[which.ravel() == k]
        for name in ("surface1", "surface2", "body1", "body2"):
            row[name] = own[name][0]
        row["id"] = k
        load = np.maximum((own["force"] * own["normal"]).sum(axis=1), 0.0)
        share = load / load.sum() if load.any() else np.full(len(own), 1.0 / len(own))
        row["point"], row["depth"], row["slip"] = share @ own["point"], own["depth"].max(), share @ own["slip"]
        normal = share @ own["normal"]
        row["normal"] = normal / (np.linalg.norm(normal) or 1.0)
        row["force"] = own["force"].sum(axis=0)
        row["moment"] = (own["moment"] + np.cross(own["point"] - row["point"], own["force"])).sum(axis=0)
        row["power_dissipation"] = -(own["force"] * own["slip"]).sum()
    return rows


def structured(rows: Array, reports: npt.NDArray[np.int64], times: Array) -> npt.NDArray[Any]:
    """The table of rows as `calc_rows` gives, each with the number of its report, and the time.

    Raises
    ------
    ModelError
        If the rows are of another version of mobod.
    """
    width = sum(CONTACT[name].shape[0] if CONTACT[name].shape else 1 for name in CONTACT.names or ())
    if rows.shape[1] != width:
        raise ModelError(
            f"contacts were recorded with {rows.shape[1]} columns by another version of mobod; this one has {width}"
        )
    kind = np.dtype([("report", np.int64), ("time", np.float64), *CONTACT.descr])
    table = np.zeros(len(rows), kind)
    table["report"], table["time"] = reports, times
    plain = recfunctions.unstructured_to_structured(rows, CONTACT)
    for name in CONTACT.names or ():
        table[name] = plain[name]
    return table


def surface_names(system: MultibodySystem | None) -> list[str]:
    """The names of a system's surfaces, as tables say them; none of no system.

    Where several have one name, the number of each among all of the system's surfaces follows: ``ball[2]``.
    """
    contacts = None if system is None else find_contacts(system)
    given = [] if contacts is None else [one.name for one in contacts.surfaces]
    taken, names = {name for name in given if given.count(name) == 1}, []
    for i, name in enumerate(given):
        if given.count(name) > 1:
            name = f"{name}[{i}]"
            while name in taken:  # a surface may be called so
                name += "_"
            taken.add(name)
        names.append(name)
    return names


def loads(table: npt.NDArray[Any]) -> tuple[Array, Array]:
    """The normal force of each row, and the size of its friction force."""
    along = (table["force"] * table["normal"]).sum(axis=1)
    return along, np.linalg.norm(table["force"] - along[:, None] * table["normal"], axis=1)


def loads_by_pair(table: npt.NDArray[Any], count: int, names: Sequence[str]) -> dict[str, Array]:
    """Of each two surfaces that touched, loads over *count* times: ``contacts.floor.ball.normal``, and ``.friction``.

    That is the sum of the normal forces at all their points, and the size of the sum of the friction forces' vectors.
    """
    pairs, which = np.unique(np.stack([table["surface1"], table["surface2"]], axis=1), axis=0, return_inverse=True)
    columns: dict[str, Array] = {}
    for k, (one, other) in enumerate(pairs):
        rows = table[which.ravel() == k]
        along = (rows["force"] * rows["normal"]).sum(axis=1)
        normal, friction = np.zeros(count), np.zeros((count, 3))
        report = rows["report"] if "report" in (rows.dtype.names or ()) else np.zeros(len(rows), np.int64)
        np.add.at(normal, report, along)
        np.add.at(friction, report, rows["force"] - along[:, None] * rows["normal"])
        pair = f"contacts.{names[one]}.{names[other]}"
        columns |= {f"{pair}.normal": normal, f"{pair}.friction": np.linalg.norm(friction, axis=1)}
    return columns


def load_by_name(system: MultibodySystem, name: str) -> Callable[[Table], float]:
    """One of `loads_by_pair` as a function of rows of `get_contacts`, by its name, with the two surfaces in either order."""
    names = surface_names(system)
    known = {
        f"contacts.{names[i]}.{names[j]}.{load}": f"contacts.{names[min(i, j)]}.{names[max(i, j)]}.{load}"
        for load in ("normal", "friction")
        for i, j in itertools.permutations(range(len(names)), 2)
    }
    all_known("there is no quantity", [name], known)

    def load(rows: Table) -> float:
        loads = loads_by_pair(rows, 1, names)
        return float(loads[known[name]][0]) if known[name] in loads else 0.0

    return load


def flattened(table: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Its columns, three for each vector: ``force.x``."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for name in table.dtype.names or ():
        if table.dtype[name].shape:
            columns |= {f"{name}.{axis}": table[name][:, k] for k, axis in enumerate("xyz")}
        else:
            columns[name] = table[name]
    return columns
