"""Force elements in the record, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..compiling import Callback, Routine
from ..function.routines import Use, number_functions
from .contact.fields import number_surfaces
from .routines import GRAVITY

if TYPE_CHECKING:
    from .base import Force


class Entry(NamedTuple):
    """Entry of a force element in the record, in a default state."""

    kind: int
    enabled: bool
    integers: Sequence[int]
    numbers: Sequence[float]
    #: The routine of its run; None for a gravity.
    routine: Routine | Callback | None = None
    reads_positions_only: bool = False
    reads_z: bool = False
    first_z: int = 0
    initial_z: Sequence[float] = ()
    #: What integrators weight the errors of its z by, unless a state says otherwise; 1 where it is empty.
    z_weights: Sequence[float] = ()
    functions: Sequence[Use] = ()
    #: What it has of surfaces, `contact.element.Fields`.
    contact: Any = None
    #: Of a controller: what kernels call for its law; and what it remembers at first.
    law: Routine | Callback | None = None
    memory: Sequence[float] = ()
    #: How much scratch it takes of `control_work`.
    work: int = 0
    #: What it asks of a nominal system of its own, `tree.nominal.Nominal`.
    nominal: Any = None


def entries(forces: Sequence[Any]) -> list[Entry]:
    """The entries of *forces* in the order of the record; each force is told its place there.

    Gravities come first, then elements whose forces depend on positions alone, then the others of the package, then those in
    Python. Elements with one routine follow each other, in the order in which they were made. The z are in that order
    throughout.
    """
    first_z = 0
    for force in forces:
        force.first_z = first_z
        first_z += force.num_z
    ranks: dict[Routine | Callback | None, int] = {}
    keys = [(_group(force), ranks.setdefault(force.routine, len(ranks))) for force in forces]
    order = sorted(range(len(forces)), key=keys.__getitem__)
    number_functions([forces[which] for which in order], 0)
    number_surfaces([forces[which] for which in order])
    found, i, x, memory, nominals = [], 0, 0, 0, 0
    for e, which in enumerate(order):
        force = forces[which]
        force.first_memory, force.nominal_number = memory, nominals
        entry = force.entry()
        nominals += entry.nominal is not None
        memory += len(entry.memory)
        force.element, force.span = e, (i, i + len(entry.integers), x, x + len(entry.numbers))
        i, x = force.span[1], force.span[3]
        found.append(entry)
    return found


def _group(force: Force) -> int:
    if force.KIND == GRAVITY:
        return 0
    if force.implementation is not None:
        return 3
    return 1 if force.reads_positions_only else 2


def runs_of(forces: Sequence[Entry]) -> list[tuple[int, int]]:
    """The first element and the one after the last of each run of elements with one routine."""
    runs: list[tuple[int, int]] = []
    for e, entry in enumerate(forces):
        if entry.routine is None:
            continue
        if runs and runs[-1][1] == e and forces[e - 1].routine is entry.routine:
            runs[-1] = runs[-1][0], e + 1
        else:
            runs.append((e, e + 1))
    return runs
