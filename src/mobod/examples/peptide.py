"""Peptide: an alpha helix of ten alanines in a heat bath at 300 K, with torsion angles for coordinates.

Bonds and angles are rigid: 112 atoms are 21 clusters on pins, which turn by the torsions, Lennard-Jones and Coulomb forces of
Amber's force field; the thermostat is Nose and Hoover's. Units are nm, ps, u and kJ/mol.
"""

import mobod as mb
from mobod.molecule import build_peptide
from mobod.molecule.molecule import BOLTZMANN

TEMPERATURE = 300.0  # K
TIME = 4.0  # ps, that `mobod simulate peptide` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, as a helix with speeds of the bath's temperature."""
    helix = build_peptide("A" * 10)
    mb.force.Thermostat(helix.forces, helix.matter, BOLTZMANN, TEMPERATURE, 0.1, 0, name="bath")
    state = helix.default_state()
    helix.draw_speeds(state, TEMPERATURE, seed=1)
    return helix.system, state
