"""Graphs beside a motion: coordinates, speeds, energy, and recorded quantities number by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array
from ..shapes.coordinate_kinds import check_units, described, kinds_of_coordinates, kinds_of_speeds

if TYPE_CHECKING:
    from ..value.annotations import Trajectory


def find_curves(trajectory: Trajectory) -> dict[str, Array]:
    """Each curve by its name, a number a time; those with numbers that are not finite are left out.

    Energy comes first, then coordinates, recorded quantities by the names that tables have for them, such as
    ``reactions.crank.fx``, and speeds.
    """
    found = {"energy": np.asarray(trajectory.energy)}
    found |= _columns(trajectory.coordinate_names, np.asarray(trajectory.q))
    for name, values in trajectory.quantity_columns().items():
        found.setdefault(name, values)
    found |= _columns([f"speed of {name}" for name in trajectory.speed_names], np.asarray(trajectory.u))
    return {name: values for name, values in found.items() if np.isfinite(values).all()}


#: What curves are called in place of what tables put before a name.
_AS_IN_TABLES = {"q.": "", "u.": "speed of ", "quantity.": ""}


def name_of_curve(asked: str) -> str:
    """The name of a curve that is asked for as tables have it: ``u.crank``."""
    for before, called in _AS_IN_TABLES.items():
        if asked.startswith(before):
            return called + asked.removeprefix(before)
    return asked


def find_titles(trajectory: Trajectory, units: Sequence[str] | None) -> dict[str, str]:
    """Titles of the graphs, by the names of the curves: with their kind and its unit, as far as these are known."""
    check_units(units)
    kinds = kinds_of_coordinates(trajectory) | trajectory.quantity_kinds()
    kinds |= {f"speed of {name}": kind for name, kind in kinds_of_speeds(trajectory).items()}
    named = {name: f"{name}: {described(kind, units)}" for name, kind in kinds.items()}
    return {name: named.get(name, name) for name in find_curves(trajectory)} | {"energy": described("energy", units)}


def _columns(names: Sequence[str], rows: Array) -> dict[str, Array]:
    return {name: rows[:, i] for i, name in enumerate(names)}
