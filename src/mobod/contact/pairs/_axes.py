"""The directions in which two bricks can overlap least: of the fifteen that can separate them, all tried.

These are the normals of the faces of both, and the common normals of an edge of each (Gottschalk, Lin and Manocha 1996,
OBBTree, Proc. SIGGRAPH, section 5). In numbers without tangents, in the first brick's frame.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import sqrt
from ...compiling import generic
from ._rivals import note

#: The square of the sine between two edges whose common normal is nothing that their faces' are not.
_PARALLEL = 1e-12


@generic
def are_bricks(A: Any, B: Any) -> bool:
    """True if two cores of kind BRICK have a volume each, and no margin."""
    return A[6] + B[6] == 0.0 and A[3] * A[4] * A[5] > 0.0 and B[3] * B[4] * B[5] > 0.0


@generic
def find_axes(A: Any, B: Any, R: Any, p: Any, rivals: Any) -> int:
    """The directions from A to B, in rows of *rivals*; how many, 0 where they are apart. *R* and *p* place B in A's frame."""
    a, b = (A[3], A[4], A[5]), (B[3], B[4], B[5])
    S = abs(R[0]), abs(R[1]), abs(R[2]), abs(R[3]), abs(R[4]), abs(R[5]), abs(R[6]), abs(R[7]), abs(R[8])
    reach, across = mat33.mul_vec(S, b), mat33.transpose_mul_vec(S, a)
    q = mat33.transpose_mul_vec(R, p)
    x = a[0] + reach[0] - abs(p[0]), a[1] + reach[1] - abs(p[1]), a[2] + reach[2] - abs(p[2])
    y = b[0] + across[0] - abs(q[0]), b[1] + across[1] - abs(q[1]), b[2] + across[2] - abs(q[2])
    count = 0
    for k in range(3):
        count = _note(rivals, count, ((1.0, 0.0, 0.0)[k], (0.0, 1.0, 0.0)[k], (0.0, 0.0, 1.0)[k]), (x[0], x[1], x[2])[k], p)
        count = _note(rivals, count, (R[k], R[3 + k], R[6 + k]), (y[0], y[1], y[2])[k], p)
    if min(x[0], x[1], x[2], y[0], y[1], y[2]) <= 0.0:
        return 0
    for i in range(3):
        # of edge i of A the normal with any vector v is (v_k, -v_j) along the axes j and k that follow i
        j, k = (1, 2, 0)[i], (2, 0, 1)[i]
        for edge in range(3):
            u, v = R[3 * j + edge], R[3 * k + edge]
            square = u * u + v * v
            other, last = (1, 2, 0)[edge], (2, 0, 1)[edge]
            overlap = (
                a[j] * abs(v)
                + a[k] * abs(u)
                + b[other] * S[3 * i + last]
                + b[last] * S[3 * i + other]
                - abs(p[k] * u - p[j] * v)
            )
            if square > _PARALLEL:
                if overlap <= 0.0:
                    return 0
                sine = sqrt(square)
                w, z = -v / sine, u / sine
                n = (0.0, w, z) if i == 0 else (z, 0.0, w) if i == 1 else (w, z, 0.0)
                count = _note(rivals, count, n, overlap / sine, p)
    return count


@generic
def _note(rivals: Any, i: int, n: Any, overlap: float, p: Any) -> int:
    """Put an axis into a row, in the direction from A to B; the next row."""
    return note(rivals, i, n if vec3.dot(n, p) >= 0.0 else vec3.neg(n), overlap, 0, 0)
