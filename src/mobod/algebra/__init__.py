"""Scalars and tuples of scalars: the arithmetic of every kernel. Imports nothing above it.

Users' own compiled functions (`mobod.mobilizer.Custom`) are written in it too: numbers with ``+ - * / **`` and comparisons, the
functions below, `where` in place of ``if``, and the modules `vec3`, `mat33`, `rotation` and `quaternion` for vectors, matrices
of nine numbers by rows, and rotations. They work on float64, on lanes (eight states at once) and on dual numbers.
"""

from . import _numba, dual, euler_xyz, mat33, quaternion, rotation, vec3  # noqa: F401
from .dual import Dual
from .scalar import atan2, cos, exp, log, one, power, sin, sincos, sqrt, tan, where, zero

__all__ = [
    "Dual",
    "atan2",
    "cos",
    "dual",
    "euler_xyz",
    "exp",
    "log",
    "mat33",
    "one",
    "power",
    "quaternion",
    "rotation",
    "sin",
    "sincos",
    "sqrt",
    "tan",
    "vec3",
    "where",
    "zero",
]
