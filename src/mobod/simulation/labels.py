"""Names of the numbers of recorded quantities, in tables and files: ``reactions.crank.fx`` in place of ``reactions[2,1,0]``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..force import BrushTyre, MagicFormulaTyre
from ..system.system import MultibodySystem

XYZ = "x", "y", "z"
WRENCH = tuple(f"{what}{axis}" for what in "mf" for axis in XYZ)
GROUND = "ground"
GIVEN = "numbers of "
"""Before the name that a user has given to one of `FORMS`, or to a part of one, among the names of rows: its numbers' names."""
FORCE_FIRST = WRENCH[3:] + WRENCH[:3]
SPATIAL = tuple(f"{what}.{axis}" for what in ("angular", "linear") for axis in XYZ)


class Form(NamedTuple):
    """A quantity's form: what its rows are of, if several (``body``, ``speed``, ...), their numbers' names, a row's shape."""

    rows: str | None
    names: tuple[str, ...]
    shape: tuple[int, ...]


FORMS = {
    **dict.fromkeys(("reactions", "contact_wrenches"), Form("body", WRENCH, (2, 3))),
    "constraint_forces": Form("constraint", WRENCH, (2, 3)),
    "tyre_forces": Form("tyre", FORCE_FIRST, (2, 3)),
    "centers_of_pressure": Form("body", XYZ, (3,)),
    **dict.fromkeys(("mass_center", "mass_center_velocity"), Form(None, XYZ, (3,))),
    **dict.fromkeys(("momentum", "central_momentum"), Form(None, SPATIAL, (2, 3))),
    **dict.fromkeys(("u_dot", "mobility_forces", "motion_forces"), Form("speed", (), ())),
}
"""Those quantities of `quantities.KNOWN` that are arrays."""


_SCALARS = {"motion_power": "power", "kinetic_energy": "energy", "potential_energy": "energy"}
_LOADS = {"m": "moment", "f": "force"}
_PLACES = {"mass_center": "length", "centers_of_pressure": "length", "mass_center_velocity": "speed"}
_MOMENTA = {"angular": "angular momentum", "linear": "momentum"}


def kind_of(column: str, speeds: Mapping[str, str]) -> str | None:
    """The kind of a number of a recorded quantity, in a word; None where that is not known.

    Parameters
    ----------
    column : str
        As tables name it: ``reactions.crank.fx``.
    speeds : mapping of str to str
        The kind of each speed by its name: ``"speed"`` or ``"angular speed"``.
    """
    name, _, rest = column.partition(".")
    form, last = FORMS.get(name), rest.rpartition(".")[2]
    if form is None:
        return "force" if name == "contacts" and last in ("normal", "friction") else _SCALARS.get(column)
    if form.rows == "speed":
        if rest not in speeds:
            return None
        words = ("angular acceleration", "acceleration") if name == "u_dot" else ("moment", "force")
        return words[0 if speeds[rest] == "angular speed" else 1]
    if form.names == SPATIAL:
        return _MOMENTA.get(rest.partition(".")[0])
    if last not in form.names:
        return None  # counted: a quantity of a user's own under this name
    return _LOADS[last[0]] if len(last) == 2 else _PLACES[name]


def labels(name: str, shape: Sequence[int], rows: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Labels of the numbers of a quantity of this *shape*, in their order; None where they are counted.

    *rows* has the names of ``body``, ``speed``, ``constraint`` and ``tyre``, as far as they are known.
    """
    given = rows.get(f"{GIVEN}{name}")
    if given is not None:
        return list(given) if len(given) == int(np.prod(shape, dtype=int)) else None
    whole, _, part = name.partition(".")
    if part:
        own = labels(whole, whole_shape(whole, rows), rows) or []
        found = [own[k].removeprefix(f"{part}.") for k in numbers_of(part, own, parts_of(whole, rows))]
        return found if len(found) == int(np.prod(shape, dtype=int)) else None
    form = FORMS.get(name)
    if form is None:
        return None
    parts = None if form.rows is None else rows.get(form.rows, ())
    if tuple(shape) != ((*form.shape,) if parts is None else (len(parts), *form.shape)):
        return None  # a quantity of a user's own under this name, or of who knows which bodies
    if parts is None:
        return list(form.names)
    return [f"{part}.{one}" for part in parts for one in form.names] if form.names else list(parts)


def whole_shape(name: str, rows: Mapping[str, Sequence[str]]) -> tuple[int, ...]:
    """The shape of a row of a quantity of `FORMS`, with as many parts as *rows* has names."""
    form = FORMS.get(name, Form(None, (), ()))
    return form.shape if form.rows is None else (len(rows.get(form.rows, ())), *form.shape)


def parts_of(name: str, rows: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The names of all bodies, or the like, that a quantity of `FORMS` has a row each of; none where it has but one row."""
    return rows.get(FORMS[name].rows or "", ()) if name in FORMS else ()


def numbers_of(part: str, own: Sequence[str], parts: Sequence[str]) -> list[int]:
    """The places among the labels *own* of a part of a quantity: a number, ``crank.fx``, one of *parts*, ``crank``, or a group.

    A number goes before a body that is called as it, and a body, ``arm``, before all whose names begin so, ``arm.001``.
    """
    if part in own:
        return [own.index(part)]
    if part in parts:
        size = len(own) // len(parts)
        return list(range(size * parts.index(part), size * (parts.index(part) + 1)))
    return [k for k, label in enumerate(own) if label.startswith(f"{part}.")]


def row_names(system: MultibodySystem) -> dict[str, list[str]]:
    """The names by which rows of quantities are called, but for the speeds'."""
    matter = system.matter
    parts: dict[str, Iterable[Any]] = {"body": matter.body_list, "constraint": matter.constraints, "tyre": tyres_of(system)}
    return {what: [one.name for one in each] for what, each in parts.items()}


def tyres_of(system: MultibodySystem) -> list[BrushTyre | MagicFormulaTyre]:
    """Its tyres, in their order."""
    return [one for one in system.all_forces() if isinstance(one, BrushTyre | MagicFormulaTyre)]


def rows_of_columns(columns: Iterable[str], prefix: str, quantities: Iterable[str]) -> dict[str, list[str]]:
    """The same out of the names of a table's columns, of the quantities that `labelled` has found."""
    rows = {}
    for name in quantities:
        form, begin = FORMS[name], f"{prefix}{name}."
        if form.rows is not None:
            parts = [column[len(begin) :] for column in columns if column.startswith(begin)]
            ending = f".{form.names[0]}" if form.names else ""
            rows[form.rows] = [part.removesuffix(ending) for part in parts[:: int(np.prod(form.shape, dtype=int))]]
    return rows


def labelled(columns: Mapping[str, Array], prefix: str, known: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    """Take the quantities whose numbers have names out of the columns of a table, by the columns' order.

    Those of some bodies, constraints or tyres alone stay the numbers that they are.

    Parameters
    ----------
    columns : mapping
        Those that begin with *prefix* are of quantities.
    prefix : str
    known : mapping of str to sequence of str
        The names of all rows, as far as they are known, as `labels` takes them.

    Returns
    -------
    dict of array
        By the quantity's name.
    """
    found = {}
    for name, form in FORMS.items():
        begin = f"{prefix}{name}."
        parts = {column[len(begin) :]: values for column, values in columns.items() if column.startswith(begin)}
        size = int(np.prod(form.shape, dtype=int))
        endings = [parts_name.endswith(form.names[k % size]) for k, parts_name in enumerate(parts)] if form.names else []
        if not parts or len(parts) % size or not all(endings) or (form.rows is None and len(parts) != size):
            continue
        kind = form.rows or ""
        own = rows_of_columns(columns, prefix, [name]).get(kind, [])
        if kind in known and own != list(known[kind]):
            continue
        if form.rows == "body" and (own[0] != GROUND or len(own) == 1):  # a part where all names are not known
            continue
        rows = np.column_stack(list(parts.values()))
        found[name] = rows.reshape(len(rows), *(() if form.rows is None else (-1,)), *form.shape)
    return found
