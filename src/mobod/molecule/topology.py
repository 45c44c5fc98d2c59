"""From atoms and a force field to bonds, special pairs, and rigid clusters that turn about bonds.

A bond turns unless it is in a ring, ends in an atom that has no other bond, or joins two atoms whose neighbours lie in a plane:
a carbon of three bonds to another one, or to a nitrogen of three, as the peptide bond. Bridges of sulphur are no bonds here:
they would make rings of the main chain, and are rods.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..errors import ModelError
from .atoms import Atoms, element_of
from .force_field import ForceField

#: The largest distances at which atoms of neighbouring residues, and two of sulphur, are bonded; nm.
_BONDED, _BRIDGED = 0.2, 0.25


@dataclasses.dataclass
class Topology:
    """Atoms and the bonds between them.

    Attributes
    ----------
    kinds : list of str
        Types of the atoms.
    charges : list of float or None
        Of the templates.
    bonds : list of pairs of int
        Without bridges of sulphur.
    neighbours : list of list of int
        Of each atom, by those bonds.
    bridges : list of pairs of int
        Of sulphur.
    """

    kinds: list[str]
    charges: list[float | None]
    bonds: list[tuple[int, int]]
    neighbours: list[list[int]]
    bridges: list[tuple[int, int]]


def find_topology(atoms: Atoms, field: ForceField) -> Topology:
    """Match residues with templates and find all bonds."""
    members: list[dict[str, int]] = [{} for _ in atoms.residue_names]
    for a, (name, r) in enumerate(zip(atoms.names, atoms.residues, strict=True)):
        members[r][name] = a
    kinds = [""] * len(atoms)
    charges: list[float | None] = [None] * len(atoms)
    bonds: list[tuple[int, int]] = []
    external: list[list[int]] = []
    for r, (name, here) in enumerate(zip(atoms.residue_names, members, strict=True)):
        template, names = field.template(name, _with_hydrogens(atoms, here), atoms.labels[r])
        here = {atom: here[called] for atom, called in names.items()}
        for atom, kind in template.atoms.items():
            kinds[here[atom]], charges[here[atom]] = kind, template.charges.get(atom)
        bonds += [(here[one], here[other]) for one, other in template.bonds]
        external.append([here[one] for one in template.external])
    for r in range(len(members) - 1):
        if atoms.chains[r] == atoms.chains[r + 1]:
            pairs = [(a, b) for a in external[r] for b in external[r + 1]]
            pairs = [pair for pair in pairs if _distance(atoms, *pair) < _BONDED]
            bonds += sorted(pairs, key=lambda pair: _distance(atoms, *pair))[:1]
    sulphur = [a for of_residue in external for a in of_residue if element_of(atoms.names[a]) == "S"]
    bridges = [(a, b) for a in sulphur for b in sulphur if a < b and _distance(atoms, a, b) < _BRIDGED]
    neighbours: list[list[int]] = [[] for _ in kinds]
    for a, b in bonds:
        if _distance(atoms, a, b) > 2.0 * _BONDED:
            raise ModelError(f"{atoms.label(a)} and {atoms.label(b)} are bonded and {_distance(atoms, a, b):.3f} nm apart")
        neighbours[a].append(b)
        neighbours[b].append(a)
    return Topology(kinds, charges, bonds, neighbours, bridges)


def _with_hydrogens(atoms: Atoms, here: dict[str, int]) -> dict[str, list[str]]:
    """Names of a residue's atoms other than hydrogens, and of the hydrogens closest to each."""
    heavy = [name for name in here if element_of(name) != "H"] or list(here)
    found: dict[str, list[str]] = {name: [] for name in heavy}
    places = atoms.places[[here[name] for name in heavy]]
    for name in here.keys() - found.keys():
        found[heavy[int(np.argmin(np.linalg.norm(places - atoms.places[here[name]], axis=1)))]].append(name)
    return found


def _distance(atoms: Atoms, a: int, b: int) -> float:
    return float(np.linalg.norm(atoms.places[a] - atoms.places[b]))


def across_bridges(found: Topology) -> list[list[int]]:
    """Neighbours of each atom, also by bridges."""
    neighbours = [list(one) for one in found.neighbours]
    for a, b in found.bridges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours


def special_pairs(found: Topology) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs one or two bonds apart, and those three."""
    neighbours = across_bridges(found)
    near, third = set(), set()
    for a, first in enumerate(neighbours):
        for b in first:
            near.add((min(a, b), max(a, b)))
            for c in neighbours[b]:
                if c != a:
                    near.add((min(a, c), max(a, c)))
                for d in neighbours[c]:
                    if d not in (a, b) and c != a:
                        third.add((min(a, d), max(a, d)))
    return near, third - near


def turning_bonds(atoms: Atoms, found: Topology, hydrogens_turn: bool) -> list[tuple[int, int]]:
    """The bonds that turn; those to groups of one atom and hydrogens only if they are to."""
    ring = _in_rings(found)
    elements = [element_of(name) for name in atoms.names]

    def flat(a: int) -> bool:
        three = len(found.neighbours[a]) == 3
        of_carbon = any(elements[b] == "C" and len(found.neighbours[b]) == 3 for b in found.neighbours[a])
        return three and (elements[a] == "C" or (elements[a] == "N" and of_carbon))

    def small(a: int, b: int) -> bool:
        return all(elements[c] == "H" for c in found.neighbours[a] if c != b)

    turning = []
    for a, b in found.bonds:
        ends = min(len(found.neighbours[a]), len(found.neighbours[b])) > 1
        if ends and (min(a, b), max(a, b)) not in ring and not (flat(a) and flat(b)):
            if hydrogens_turn or not (small(a, b) or small(b, a)):
                turning.append((a, b))
    return turning


def _in_rings(found: Topology) -> set[tuple[int, int]]:
    """The bonds that are in some ring: on the way in a spanning tree from one end of another bond to its other end."""
    parent: dict[int, int] = {}
    depth: dict[int, int] = {}
    for start in range(len(found.neighbours)):
        if start in parent:
            continue
        parent[start], depth[start] = start, 0
        waiting = [start]
        for a in waiting:
            for b in found.neighbours[a]:
                if b not in parent:
                    parent[b], depth[b] = a, depth[a] + 1
                    waiting.append(b)
    ring = set()
    for a, b in found.bonds:
        if parent[a] != b and parent[b] != a:
            ring.add((min(a, b), max(a, b)))
            one, other = a, b
            while one != other:
                if depth[one] < depth[other]:
                    one, other = other, one
                ring.add((min(one, parent[one]), max(one, parent[one])))
                one = parent[one]
    return ring


def clusters(found: Topology, turning: Sequence[tuple[int, int]]) -> list[int]:
    """Of each atom the number of its cluster: what bonds that do not turn hold together."""
    cut = {(min(a, b), max(a, b)) for a, b in turning}
    number = [-1] * len(found.neighbours)
    count = 0
    for start in range(len(number)):
        if number[start] >= 0:
            continue
        number[start] = count
        waiting = [start]
        for a in waiting:
            for b in found.neighbours[a]:
                if number[b] < 0 and (min(a, b), max(a, b)) not in cut:
                    number[b] = count
                    waiting.append(b)
        count += 1
    return number
