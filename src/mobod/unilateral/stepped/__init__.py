"""Coulomb's law between all that touches, at the level of velocities: surfaces that are stepped, and rows of any kind.

| file | what |
| --- | --- |
| `space` | the arrays that a run works in |
| `points` | what touches, with the coefficients of its law |
| `rows` | the velocities of points by the speeds of two trees, and the trees' mass matrices |
| `equations` | those of constraints, and gaps that are open |
| `given_rows` | rows that are given: those of events, and of steps that Python takes |
| `block_factor` | a sparse factor, with a block each tree |
| `solve` | the impulses |
"""

from .rigid_surfaces import RigidSurfaces, refuse_stepped
from .stepped import STEPPED_POINT, Stepped

__all__ = ["STEPPED_POINT", "RigidSurfaces", "Stepped", "refuse_stepped"]
