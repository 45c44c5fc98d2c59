"""ForceField: what residues are made of, and how their atoms act on each other; from files of OpenMM's format.

Of these files the residues' templates, the proper torsions and the Lennard-Jones and Coulomb parameters are read. Bonds and
angles are rigid here, and improper torsions constant. Source: OpenMM user guide, writing force fields (what the elements mean).
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ..errors import ModelError
from .atoms import element_of

#: The package's own, for peptides of alanine and glycine with caps.
OWN = Path(__file__).with_name("peptide.xml")
#: Names that files give residues whose templates are called otherwise.
_ALIASES = {
    "HIS": ("HIE", "HID", "HIP", "HSE", "HSD", "HSP"),
    "CYS": ("CYX", "CYM"),
    "ASP": ("ASH",),
    "GLU": ("GLH",),
    "LYS": ("LYN",),
}
#: CHARMM's names of ions whose elements they do not begin with, or not alone.
_IONS = {"CLA": "CL", "SOD": "NA", "POT": "K", "CAL": "CA", "CES": "CS", "LIT": "LI", "RUB": "RB"}
#: Names of other programs for atoms other than hydrogens.
_OTHER_NAMES = {"CD": "CD1", "OT": "OXT"} | {
    f"{one}{k}": ("O", "OXT")[k - 1] for one in ("O", "OT", "OC", "OCT") for k in (1, 2)
}


@dataclasses.dataclass(frozen=True)
class Residue:
    """A residue's template.

    Attributes
    ----------
    name : str
    atoms : dict of str to str
        Names to types.
    charges : dict of str to float
        Of atoms, where the template has them.
    bonds : list of pairs of str
    external : list of str
        Atoms with a bond to another residue.
    """

    name: str
    atoms: dict[str, str]
    charges: dict[str, float]
    bonds: list[tuple[str, str]]
    external: list[str]

    def names_of(self, atoms: Mapping[str, Sequence[str]]) -> dict[str, str] | None:
        """Names of the atoms in *atoms*, of hydrogens by the atom that has them; None if these do not fit.

        Hydrogens of one atom are named in any order, and so have to be alike.
        """
        own: dict[str, list[str]] = {atom: [] for atom in self.atoms if element_of(atom) != "H"}
        for one, other in [*self.bonds, *((b, a) for a, b in self.bonds)]:
            if one in own and element_of(other) == "H":
                own[one].append(other)
        called = {atom if atom in own else _OTHER_NAMES.get(atom, atom): atom for atom in atoms}
        if called.keys() != own.keys():
            return None
        names = dict(called)
        for heavy, hydrogens in own.items():
            found = atoms[called[heavy]]
            alike = len({(self.atoms[one], self.charges.get(one)) for one in hydrogens}) < 2
            if len(found) != len(hydrogens) or not (alike or set(found) == set(hydrogens)):
                return None
            names |= zip(sorted(hydrogens), sorted(found), strict=True)
        return names


class ForceField:
    """Templates of residues and parameters of atoms and torsions.

    Parameters
    ----------
    *paths : path
        Files of OpenMM's force field format, such as its ``amber99sb.xml``; the package's own small one unless given.

    Raises
    ------
    OSError
        If a file cannot be read.
    ModelError
        If one is no force field, or refers to types that there are not.

    Notes
    -----
    The package's own file has the residues ACE, ALA, GLY and NME: charges and Lennard-Jones parameters of Cornell and others
    1995, torsions of the main chain of Kollman and others 1997.

    Examples
    --------
    >>> from mobod.molecule import ForceField
    >>> ForceField()
    <ForceField: 4 residues, 15 types, 7 torsions>
    """

    def __init__(self, *paths: str | os.PathLike[str]) -> None:
        self.residues: dict[str, Residue] = {}
        #: Of types: class, mass.
        self.types: dict[str, tuple[str, float]] = {}
        #: Of types or classes: charge, sigma, epsilon.
        self._nonbonded: dict[str, tuple[float | None, float, float]] = {}
        #: Four types or classes, "" for any, and terms: periodicity, phase, k.
        self.torsions: list[tuple[tuple[str, ...], list[tuple[int, float, float]]]] = []
        self.scales = (0.5, 1.0 / 1.2)
        for path in paths or (OWN,):
            self._read(Path(path))

    def __repr__(self) -> str:
        return f"<ForceField: {len(self.residues)} residues, {len(self.types)} types, {len(self.torsions)} torsions>"

    def template(self, name: str, atoms: Mapping[str, Sequence[str]], label: str) -> tuple[Residue, dict[str, str]]:
        """The template of a residue, by its name and its atoms, and which of these each of the template's atoms is.

        Parameters
        ----------
        name : str
        atoms : dict
            Names of atoms other than hydrogens, and those of the hydrogens bonded to each. Where names are not the template's,
            as in files of other programs, atoms other than hydrogens, and how many hydrogens each has, decide.
        label : str
            The residue, in messages.

        Raises
        ------
        ModelError
            If there is none: it says which atoms the closest one has more, or less.
        """
        there = {*atoms, *itertools.chain.from_iterable(atoms.values())}
        candidates = [
            self.residues[prefix + one]
            for one in (name, *_ALIASES.get(name, ()))
            for prefix in ("", "N", "C")
            if prefix + one in self.residues
        ]
        if len(there) == 1:  # an ion
            for ion in self.residues.values():
                if len(ion.atoms) == 1 and _ion(ion.name) == _ion(name):
                    return ion, dict(zip(ion.atoms, there, strict=True))
        if not candidates:
            known = ", ".join(sorted(self.residues)[:40])
            raise ModelError(
                f"the force field has no residue {name!r}, of {label}: add a file that has it, or leave such residues out: "
                f"load_pdb(path, ..., leave_out={list(dict.fromkeys((name, 'HOH', 'WAT')))}). It has {known}"
            )
        for one in candidates:
            if there == one.atoms.keys():
                return one, {atom: atom for atom in there}
        for one in candidates:
            if names := one.names_of(atoms):
                return one, names
        nearest = min(candidates, key=lambda one: len(there ^ one.atoms.keys()))
        missing, more = sorted(nearest.atoms.keys() - there), sorted(there - nearest.atoms.keys())
        says = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has {', '.join(more)} beside them"] * bool(more)
        raise ModelError(
            f"{label} does not have the atoms of {nearest.name}: it {' and '.join(says)}. Files of experiments have no "
            "hydrogens: let a program such as PDBFixer or tleap add them"
        )

    def parameters(self, kind: str, charge: float | None) -> tuple[float, float, float, float]:
        """Mass, sigma, epsilon and charge of a type; the charge of the template, if it has one."""
        of_class, mass = self.types[kind]
        found = self._nonbonded.get(kind) or self._nonbonded.get("class " + of_class)
        if found is None:
            raise ModelError(f"the force field has no Lennard-Jones parameters of type {kind!r}, class {of_class!r}")
        own, sigma, epsilon = found
        used = own if own is not None else charge
        if used is None:
            raise ModelError(f"the force field has no charge of type {kind!r}")
        return mass, sigma, epsilon, used

    def torsion(self, kinds: tuple[str, str, str, str]) -> list[tuple[int, float, float]]:
        """Terms of a proper torsion of four types: periodicity, phase, k. What names more of them comes first."""
        best: list[tuple[int, float, float]] = []
        rank = -1
        names = [(kind, "class " + self.types[kind][0]) for kind in kinds]
        for pattern, terms in self.torsions:
            named = sum(one != "" for one in pattern)
            if named > rank and any(_fits(pattern, order) for order in (names, names[::-1])):
                best, rank = terms, named
        return best

    # ------------------------------------------------------------------------------------------ the file

    def _read(self, path: Path) -> None:
        text = path.read_bytes()
        if re.search(rb"<!DOCTYPE|<!ENTITY", text):
            raise ModelError(f"{path} has a document type, which force fields have not; it is not read")
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise ModelError(f"{path} is no XML: {error}") from None
        if root.tag != "ForceField":
            raise ModelError(f"{path} is no force field: its element is {root.tag!r}, not 'ForceField'")
        try:
            for one in root.findall("AtomTypes/Type"):
                self.types[one.attrib["name"]] = one.get("class", ""), float(one.attrib["mass"])
            for residue in root.findall("Residues/Residue"):
                self._read_residue(residue)
            for one in root.findall("PeriodicTorsionForce/Proper"):
                self._read_torsion(one)
            for force in root.findall("NonbondedForce"):
                self.scales = float(force.attrib["lj14scale"]), float(force.attrib["coulomb14scale"])
                for one in force.findall("Atom"):
                    kind = one.get("type") or "class " + one.attrib["class"]
                    charge = float(one.attrib["charge"]) if "charge" in one.attrib else None
                    self._nonbonded[kind] = charge, float(one.attrib["sigma"]), float(one.attrib["epsilon"])
        except (KeyError, ValueError, IndexError) as error:
            raise ModelError(f"{path}: an element lacks {error}, or has a number that is none") from None

    def _read_residue(self, residue: ElementTree.Element) -> None:
        atoms = {one.attrib["name"]: one.attrib["type"] for one in residue.findall("Atom")}
        unknown = [kind for kind in atoms.values() if kind not in self.types]
        if unknown:
            raise ModelError(
                f"residue {residue.get('name')!r} has atoms of type {unknown[0]!r}, of which the files say nothing"
            )
        charges = {one.attrib["name"]: float(one.attrib["charge"]) for one in residue.findall("Atom") if "charge" in one.attrib}
        listed = list(atoms)

        def end(one: ElementTree.Element, which: str, number: str) -> str:
            return one.get(which) or listed[int(one.attrib[number])]

        bonds = [(end(one, "atomName1", "from"), end(one, "atomName2", "to")) for one in residue.findall("Bond")]
        external = [end(one, "atomName", "from") for one in residue.findall("ExternalBond")]
        name = residue.attrib["name"]
        self.residues[name] = Residue(name, atoms, charges, bonds, external)

    def _read_torsion(self, one: ElementTree.Element) -> None:
        pattern = tuple(one.get(f"type{k}") or _of_class(one.get(f"class{k}", "")) for k in range(1, 5))
        terms: list[tuple[int, float, float]] = []
        while f"k{len(terms) + 1}" in one.attrib:
            k = len(terms) + 1
            terms.append((int(one.attrib[f"periodicity{k}"]), float(one.attrib[f"phase{k}"]), float(one.attrib[f"k{k}"])))
        if not np.isfinite([term[1:] for term in terms]).all():
            raise ModelError(f"the torsion {pattern} has a number that is not finite")
        self.torsions.append((pattern, terms))


def _ion(name: str) -> str:
    """The element of an ion by its residue's name: CL of Cl-, CL and CLA, MG of MG2."""
    letters = re.sub(r"[^A-Z]", "", name.upper())
    return _IONS.get(letters, letters)


def _of_class(name: str) -> str:
    return "class " + name if name else ""


def _fits(pattern: tuple[str, ...], names: list[tuple[str, str]]) -> bool:
    return all(one == "" or one in two for one, two in zip(pattern, names, strict=True))
