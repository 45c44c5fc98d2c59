"""Contact surfaces in the record: those of all elements one after the other, in the order of the elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...algebra.arrays import Array
from ...compiling import Routine
from ...contact.shape import BRICK, CONVEX_HULL, CYLINDER
from ...contact.surface import Surface
from ...value.transform import Transform


class Placed(NamedTuple):
    """A surface on a body."""

    body: int
    X_BS: Transform
    surface: Surface
    name: str
    #: Its place among those of its body.
    ordinal: int = 0

    @property
    def identity(self) -> tuple[int, int]:
        """Its key in `rigid_pairs`."""
        return self.body, self.ordinal


class Fields(NamedTuple):
    """Fields of an element with surfaces in the record."""

    surfaces: Sequence[Placed]
    #: The lists and the table.
    integers: Sequence[int]
    #: Of pairs that occur, and of the law.
    routines: Sequence[Routine]
    #: Where each surface's numbers begin among the element's.
    first_numbers: Sequence[int]
    #: Of each table of points in which friction that sticks remembers them.
    bristle_rows: int = 0


def number_surfaces(forces: Sequence[Any]) -> None:
    """Tell elements with surfaces, in the order of the record, where theirs begin among all."""
    surface = table = routine_number = 0
    for force in forces:
        if hasattr(force, "find_surfaces"):
            force.first_surface, force.first_table, force.first_routine = surface, table, routine_number
            found = force.find_surfaces()
            surface, table = surface + len(found.surfaces), table + len(found.integers)
            routine_number += len(found.routines)


def fields_of(entries: Sequence[Any]) -> tuple[dict[str, Any], list[Routine], dict[str, int]]:
    """The record's fields of all elements' surfaces, their routines, and the counts of the fields."""
    integers: list[int] = [i for entry in entries if entry.contact for i in entry.contact.integers]
    routines = [one for entry in entries if entry.contact for one in entry.contact.routines]
    constants: list[Array] = []
    body, kind, number, first_integer, first_constant, points, beside = [], [], [], [], [], [0, 0], [0, 0]
    length, at = 0, 0
    for entry in entries:
        if entry.contact:
            for one, first in zip(entry.contact.surfaces, entry.contact.first_numbers, strict=True):
                shape = one.surface.geometry
                body.append(one.body)
                kind.append(shape.KIND)
                number.append(at + first)
                first_integer.append(len(integers))
                first_constant.append(length)
                integers.extend(shape.integers())
                constants.append(np.asarray(shape.constants(), np.float64).ravel())
                length += len(constants[-1])
                points.append(shape.max_points())
                if shape.KIND in (CYLINDER, BRICK, CONVEX_HULL):  # their faces may bear beside each other
                    beside.append(points[-1])
        at += len(entry.numbers)
    elements = [e for e, entry in enumerate(entries) if entry.contact and entry.contact.surfaces]
    fields = {
        "contact_elements": elements,
        "surface_body": body,
        "surface_kind": kind,
        "surface_first_number": number,
        "surface_first_integer": first_integer,
        "surface_first_constant": first_constant,
        "contact_integers": integers,
        "contact_routines": [0] * len(routines),
        "contact_constants": np.concatenate(constants) if constants else np.zeros(0),
    }
    counts = {
        "num_surfaces": len(body),
        "num_contact_routines": len(routines),
        "contact_integers_size": len(integers),
        "contact_constants_size": length,
        "contact_points_size": sum(sorted(points)[-2:]) + sum(sorted(beside)[-2:]),
        "num_contact_elements": len(elements),
        "contact_rows": int(bool(body)),
        "bristle_rows": max([entry.contact.bristle_rows for entry in entries if entry.contact], default=0),
    }
    return fields, routines, counts
