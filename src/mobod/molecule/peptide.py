"""Peptides of alanine and glycine with caps, built from ideal bond lengths and angles.

Each atom is placed by its distance from one, the angle with a second and the dihedral angle with a third one. Of the method:
Parsons and others 2005, Practical conversion from torsion space to Cartesian space; of lengths and angles: Engh and Huber 1991.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from .atoms import Atoms
from .molecule import Molecule

_LETTERS = {"A": "ALA", "G": "GLY"}
#: Length of a bond from nitrogen to hydrogen, nm.
_H = 0.101


def place(a: Array, b: Array, c: Array, length: float, angle: float, dihedral: float) -> Array:
    """The place of an atom that is *length* from c, at an *angle* with b, and a *dihedral* angle with a; degrees."""
    t, w = math.radians(angle), math.radians(dihedral)
    z = (c - b) / np.linalg.norm(c - b)
    y = np.cross(b - a, z)
    y /= np.linalg.norm(y)
    x = np.cross(y, z)
    along = np.array([math.sin(t) * math.cos(w), math.sin(t) * math.sin(w), -math.cos(t)])
    return np.asarray(c + length * (along[0] * x + along[1] * y + along[2] * z))


class _Chain:
    """Atoms that are being placed, by name, residue after residue."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.residues: list[int] = []
        self.residue_names: list[str] = []
        self.places: list[Array] = []
        self.here: dict[str, Array] = {}
        self.before: dict[str, Array] = {}

    def begin(self, name: str) -> None:
        """A new residue."""
        self.residue_names.append(name)
        self.before, self.here = self.here, {}

    def put(self, name: str, p: Array) -> None:
        """An atom at a place."""
        self.names.append(name)
        self.residues.append(len(self.residue_names) - 1)
        self.places.append(p)
        self.here[name] = p

    def add(self, name: str, a: str, b: str, c: str, length: float, angle: float, dihedral: float) -> None:
        """An atom by three others; those of the residue before have a minus."""
        self.put(name, place(self.at(a), self.at(b), self.at(c), length, angle, dihedral))

    def at(self, name: str) -> Array:
        """The place of an atom."""
        return self.before[name[1:]] if name[0] == "-" else self.here[name]


def build_peptide(
    sequence: str,
    phi: float | Sequence[float] = -57.0,
    psi: float | Sequence[float] = -47.0,
    *,
    settings: dict[str, Any] | None = None,
) -> Molecule:
    """A peptide of alanine and glycine between an acetyl and an N-methyl cap, from ideal lengths and angles.

    Parameters
    ----------
    sequence : str
        Of the letters A and G.
    phi, psi : float or sequence of float
        Dihedral angles of the main chain, one for all residues or one each; degrees, those of an alpha helix unless given.
    settings : dict, optional
        As `Molecule` takes them: ``{"cutoff": 1.2}``.

    Raises
    ------
    ModelError
        If the sequence has other letters, or none, or there are not as many angles as residues.

    Examples
    --------
    >>> from mobod.molecule import build_peptide
    >>> build_peptide("AAAA")
    <Molecule: 52 atoms of 6 residues in 9 clusters, 8 torsions>
    """
    return Molecule(peptide_atoms(sequence, phi, psi), **(settings or {}))


def peptide_atoms(sequence: str, phi: Any, psi: Any) -> Atoms:
    """The atoms of such a peptide."""
    if not isinstance(sequence, str):
        raise TypeError(f"a sequence is a str of the letters A and G, not {sequence!r}")
    if not sequence or set(sequence) - _LETTERS.keys():
        raise ModelError(f"a sequence has the letters A and G, got {sequence!r}; other residues are read from files")
    angles = []
    for what, given in (("phi", phi), ("psi", psi)):
        row = np.asarray(given, float)
        if row.shape not in ((), (len(sequence),)) or not np.isfinite(row).all():
            raise ModelError(f"{what} is a number, or {len(sequence)} of them, one a residue; got {given!r}")
        angles.append(np.broadcast_to(row, len(sequence)))
    chain = _Chain()
    chain.begin("ACE")
    chain.put("CH3", np.zeros(3))
    chain.put("C", np.array([0.1525, 0.0, 0.0]))
    chain.put("O", place(np.array([0.0, 0.1, 0.0]), np.zeros(3), chain.at("C"), 0.1231, 120.1, 0.0))
    for k, turn in enumerate((60.0, 180.0, -60.0)):
        chain.add(f"HH3{k + 1}", "O", "C", "CH3", 0.109, 109.5, turn)
    psi_before, alpha = None, "-CH3"
    for letter, f, p in zip(sequence, *angles, strict=True):
        _residue(chain, _LETTERS[letter], alpha, psi_before, float(f), float(p))
        psi_before, alpha = float(p), "-CA"
    _amide(chain, "NME", alpha, psi_before)
    chain.add("CH3", alpha, "-C", "N", 0.1458, 121.7, 180.0)
    for k, turn in enumerate((60.0, 180.0, -60.0)):
        chain.add(f"HH3{k + 1}", "-C", "N", "CH3", 0.109, 109.5, turn)
    labels = [f"{name} {r}" for r, name in enumerate(chain.residue_names)]
    return Atoms(chain.names, chain.residues, chain.residue_names, [0] * len(labels), np.array(chain.places), labels)


def _amide(chain: _Chain, name: str, alpha: str, psi_before: float | None) -> None:
    """N and H of a residue, in the plane of the peptide bond."""
    chain.begin(name)
    if psi_before is None:  # after the cap: opposite to O
        chain.put("N", place(chain.at("-O"), chain.at(alpha), chain.at("-C"), 0.1329, 116.2, 180.0))
    else:
        chain.put("N", place(chain.at("-N"), chain.at(alpha), chain.at("-C"), 0.1329, 116.2, psi_before))
    chain.add("H", "-O", "-C", "N", _H, 119.1, 180.0)


def _residue(chain: _Chain, name: str, alpha: str, psi_before: float | None, phi: float, psi: float) -> None:
    _amide(chain, name, alpha, psi_before)
    chain.add("CA", alpha, "-C", "N", 0.1458, 121.7, 180.0)  # omega
    chain.add("C", "-C", "N", "CA", 0.1525, 111.2, phi)
    side = "CB" if name == "ALA" else "HA3"
    chain.add("HA" if name == "ALA" else "HA2", "C", "N", "CA", 0.109, 108.8, 118.3)
    chain.add(side, "C", "N", "CA", 0.1521 if name == "ALA" else 0.109, 110.4, -122.6)
    if name == "ALA":
        for k, turn in enumerate((60.0, 180.0, -60.0)):
            chain.add(f"HB{k + 1}", "N", "CA", "CB", 0.109, 109.5, turn)
    chain.add("O", "N", "CA", "C", 0.1231, 120.1, psi + 180.0)
