"""Molecules with torsion angles for coordinates: rigid clusters of atoms on pins, from PDB files or built from a sequence.

`load_pdb` and `build_peptide` make a `Molecule`; a `ForceField` says what residues are made of and how atoms act on each other.
Lengths are nm, times ps, masses u (dalton), energies kJ/mol, charges elementary ones.
"""

from ..value.attributes import explain_names
from .atoms import Atoms as Atoms, read_pdb as read_pdb
from .force_field import ForceField as ForceField
from .molecule import Molecule as Molecule, load_pdb as load_pdb
from .peptide import build_peptide as build_peptide

explain_names(__name__)
