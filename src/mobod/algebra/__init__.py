"""Scalars and tuples of scalars: the arithmetic of every kernel. Imports nothing above it.

Users' own compiled functions (`mobod.mobilizer.Custom`) are written in it too: numbers with ``+ - * / **`` and comparisons, the
functions below, `where` in place of ``if``, and the modules `vec3`, `mat33`, `rotation` and `quaternion` for vectors, matrices
of nine numbers by rows, and rotations. They work on float64, on lanes (eight states at once) and on dual numbers.
"""

from . import _numba, dual, euler_xyz, mat33, quaternion, rotation, vec3  # noqa: F401
from .dual import Dual
from .scalar import (
    absolute as abs,
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    exp,
    floor,
    log,
    maximum,
    minimum,
    one,
    power,
    sin,
    sincos,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
    zero,
)

__all__ = [
    "Dual",
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "cosh",
    "dual",
    "euler_xyz",
    "exp",
    "floor",
    "log",
    "mat33",
    "maximum",
    "minimum",
    "one",
    "power",
    "quaternion",
    "rotation",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "vec3",
    "where",
    "zero",
]
