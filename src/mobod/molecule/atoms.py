"""Atoms of a molecule as a file lists them: names, residues, places. PDB files.

Source: wwPDB, Protein Data Bank contents guide, version 3.3: columns of ATOM and HETATM records.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError


@dataclasses.dataclass(frozen=True)
class Atoms:
    """Atoms in the order of their file, residue by residue.

    Attributes
    ----------
    names : sequence of str
        Of each atom: ``"CA"``.
    residues : sequence of int
        Of each atom the number of its residue, from 0.
    residue_names : sequence of str
        Of each residue: ``"ALA"``.
    chains : sequence of int
        Of each residue the number of its chain.
    places : (n, 3) array
        nm.
    labels : sequence of str
        Of each residue, for messages: ``"ALA 5 of chain A"``.

    Examples
    --------
    >>> from mobod.molecule import build_peptide
    >>> atoms = build_peptide("A").atoms
    >>> len(atoms), atoms.label(8)
    (22, 'CA of ALA 1')
    """

    names: Sequence[str]
    residues: Sequence[int]
    residue_names: Sequence[str]
    chains: Sequence[int]
    places: Array
    labels: Sequence[str]

    def __len__(self) -> int:
        return len(self.names)

    def label(self, a: int) -> str:
        """An atom's name and residue, for messages and tables."""
        return f"{self.names[a]} of {self.labels[self.residues[a]]}"

    def write_pdb(self, path: str | os.PathLike[str], places: Array | None = None) -> None:
        """Write them to a PDB file, at other *places* ``(n, 3)`` or as models ``(m, n, 3)``; nm."""
        models = self.places[None] if places is None else np.asarray(places, float).reshape(-1, len(self), 3)
        lines = []
        for m, model in enumerate(models):
            lines += [f"MODEL     {m + 1:4d}"] if len(models) > 1 else []
            for a, (name, p) in enumerate(zip(self.names, model, strict=True)):
                r = self.residues[a]
                chain = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[self.chains[r] % 26]
                shown = name if len(name) > 3 else f" {name:<3}"
                x, y, z = 10.0 * p
                lines.append(
                    f"ATOM  {(a + 1) % 100000:5d} {shown:<4} {self.residue_names[r]:>3} {chain}{(r + 1) % 10000:4d}    "
                    f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00          {element_of(name):>2}"
                )
            lines += ["ENDMDL"] if len(models) > 1 else []
        Path(path).write_text("\n".join([*lines, "END", ""]))


def element_of(name: str) -> str:
    """The element of an atom by its name, as those of amino acids are named."""
    return name.lstrip("0123456789")[:1].upper()


def read_pdb(path: str | os.PathLike[str], *, leave_out: Sequence[str] = ("HOH", "WAT")) -> Atoms:
    """Read the first model of a PDB file; of alternative places the first one.

    Parameters
    ----------
    path : path
    leave_out : sequence of str
        Residues that are not wanted; water unless given.

    Raises
    ------
    TypeError
        If *leave_out* is one string.
    OSError
        If the file cannot be read.
    ModelError
        If it has no atoms, or a line of an atom makes no sense.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mobod.molecule import build_peptide, read_pdb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "peptide.pdb"
    ...     build_peptide("A").atoms.write_pdb(path)
    ...     atoms = read_pdb(path)
    >>> list(atoms.residue_names)
    ['ACE', 'ALA', 'NME']
    """
    if isinstance(leave_out, str):
        raise TypeError(f"leave_out is a sequence of residues' names, such as [{leave_out!r}], got {leave_out!r}")
    names, residues, places = [], [], []
    residue_names: list[str] = []
    labels: list[str] = []
    chains: list[int] = []
    last: tuple[str, ...] = ()
    chain, ended = -1, True
    seen: set[str] = set()
    last_chain = ""
    for number, line in enumerate(Path(path).read_text(errors="replace").splitlines(), 1):
        record = line[:6].strip()
        if record == "ENDMDL":
            break
        if record == "TER":
            ended = True
        if record not in ("ATOM", "HETATM") or line[17:20].strip() in leave_out:
            continue
        name, residue_name, letter, where = line[12:16].strip(), line[17:20].strip(), line[21:22], line[22:27].strip()
        try:
            place = [float(line[k : k + 8]) / 10.0 for k in (30, 38, 46)]
        except ValueError:
            raise ModelError(f"{os.fspath(path)}, line {number}: no coordinates in columns 31 to 54: {line!r}") from None
        if not np.isfinite(place).all():
            raise ModelError(f"{os.fspath(path)}, line {number}: coordinates that are not finite: {line!r}")
        key = letter, where, residue_name
        if key != last or ended:
            if ended or letter != last_chain:
                chain += 1
            last, last_chain, ended, seen = key, letter, False, set()
            residue_names.append(residue_name)
            chains.append(chain)
            labels.append(f"{residue_name} {where} of chain {letter}" if letter.strip() else f"{residue_name} {where}")
        if name in seen:
            continue  # an alternative place
        seen.add(name)
        names.append(name)
        residues.append(len(labels) - 1)
        places.append(place)
    if not names:
        raise ModelError(f"{os.fspath(path)} has no atoms: no lines ATOM or HETATM that are not left out")
    return Atoms(names, residues, residue_names, chains, np.array(places), labels)
