"""What the tree takes of a force element, and the order in which it takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._jit import Routine
from ._by_address import GRAVITY

if TYPE_CHECKING:
    from .base import Force


class Entry(NamedTuple):
    """What a force element keeps in the record, in a default state."""

    kind: int
    enabled: bool
    integers: Sequence[int]
    numbers: Sequence[float]
    #: What its run calls; None of a gravity, and of what Python computes.
    routine: Routine | None = None
    reads_positions_only: bool = False
    reads_z: bool = False
    first_z: int = 0
    initial_z: Sequence[float] = ()


def entries(forces: Sequence[Any]) -> list[Entry]:
    """The entries of *forces* in the order of the record; each force is told its place there.

    Gravities come first, then elements whose forces depend on positions alone, then the others of the package, then what
    Python computes. Elements with one routine follow each other, in the order in which they were made. The z are in that
    order throughout.
    """
    first_z = 0
    for force in forces:
        force._first_z = first_z
        first_z += force._num_z
    ranks: dict[Routine | None, int] = {}
    keys = [(_group(force), ranks.setdefault(force.routine, len(ranks))) for force in forces]
    order = sorted(range(len(forces)), key=keys.__getitem__)
    found, i, x = [], 0, 0
    for e, which in enumerate(order):
        force = forces[which]
        entry = force._entry()
        force._element, force._span = e, (i, i + len(entry.integers), x, x + len(entry.numbers))
        i, x = force._span[1], force._span[3]
        found.append(entry)
    return found


def _group(force: Force) -> int:
    if force.KIND == GRAVITY:
        return 0
    if force.routine is None:
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
