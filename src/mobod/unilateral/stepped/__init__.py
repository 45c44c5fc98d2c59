"""Surfaces that touch, stepped: a problem at the level of velocities for all points that the narrow phase finds.

| file | what |
| --- | --- |
| `space` | the arrays that a run works in |
| `points` | what touches, with the coefficients of its law |
| `rows` | the velocities of points by the speeds of two trees, and the trees' mass matrices |
| `block_factor` | a sparse factor, with a block each tree |
| `solve` | the impulses |
"""

from .rigid_surfaces import RigidSurfaces, refuse_stepped
from .stepped import STEPPED_POINT, Stepped

__all__ = ["STEPPED_POINT", "RigidSurfaces", "Stepped", "refuse_stepped"]
