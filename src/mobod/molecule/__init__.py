"""Molecules with torsion angles for coordinates: rigid clusters of atoms on pins, from PDB files or built from a sequence.

`load_pdb` and `build_peptide` make a `Molecule`; a `ForceField` says what residues are made of and how atoms act on each other.
Lengths are nm, times ps, masses u (dalton), energies kJ/mol, charges elementary ones.
"""

from ..value.attributes import explain_names
from .atoms import Atoms, read_pdb
from .force_field import ForceField
from .molecule import Molecule, load_pdb
from .peptide import build_peptide

__all__ = ["Atoms", "ForceField", "Molecule", "build_peptide", "load_pdb", "read_pdb"]

explain_names(__name__)
