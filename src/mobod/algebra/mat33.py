"""3 x 3 matrices, rotations among them: tuples of nine numbers, by rows."""

from typing import Any

from ..compiling import generic


# fmt: off
@generic
def mul_vec(A: Any, v: Any) -> Any:
    """A v."""
    return (A[0] * v[0] + A[1] * v[1] + A[2] * v[2],
            A[3] * v[0] + A[4] * v[1] + A[5] * v[2],
            A[6] * v[0] + A[7] * v[1] + A[8] * v[2])


@generic
def transpose_mul_vec(A: Any, v: Any) -> Any:
    """A^T v."""
    return (A[0] * v[0] + A[3] * v[1] + A[6] * v[2],
            A[1] * v[0] + A[4] * v[1] + A[7] * v[2],
            A[2] * v[0] + A[5] * v[1] + A[8] * v[2])


@generic
def mul(A: Any, B: Any) -> Any:
    """A B."""
    return (A[0] * B[0] + A[1] * B[3] + A[2] * B[6], A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
            A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
            A[3] * B[0] + A[4] * B[3] + A[5] * B[6], A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
            A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
            A[6] * B[0] + A[7] * B[3] + A[8] * B[6], A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
            A[6] * B[2] + A[7] * B[5] + A[8] * B[8])


@generic
def mul_about_z(A: Any, c: Any, s: Any) -> Any:
    """A times the rotation about z whose cosine and sine these are."""
    return (c * A[0] + s * A[1], c * A[1] - s * A[0], A[2],
            c * A[3] + s * A[4], c * A[4] - s * A[3], A[5],
            c * A[6] + s * A[7], c * A[7] - s * A[6], A[8])


@generic
def mul_transpose(A: Any, B: Any) -> Any:
    """A B^T."""
    return (A[0] * B[0] + A[1] * B[1] + A[2] * B[2], A[0] * B[3] + A[1] * B[4] + A[2] * B[5],
            A[0] * B[6] + A[1] * B[7] + A[2] * B[8],
            A[3] * B[0] + A[4] * B[1] + A[5] * B[2], A[3] * B[3] + A[4] * B[4] + A[5] * B[5],
            A[3] * B[6] + A[4] * B[7] + A[5] * B[8],
            A[6] * B[0] + A[7] * B[1] + A[8] * B[2], A[6] * B[3] + A[7] * B[4] + A[8] * B[5],
            A[6] * B[6] + A[7] * B[7] + A[8] * B[8])


@generic
def column(R: Any, k: int) -> Any:
    """Column 0, 1 or 2: of an orientation, its axis x, y or z."""
    axis = R[0], R[3], R[6]
    if k == 1:
        axis = R[1], R[4], R[7]
    elif k == 2:
        axis = R[2], R[5], R[8]
    return axis


@generic
def transpose(A: Any) -> Any:
    """A^T."""
    return (A[0], A[3], A[6],
            A[1], A[4], A[7],
            A[2], A[5], A[8])


@generic
def add(A: Any, B: Any) -> Any:
    """A + B."""
    return (A[0] + B[0], A[1] + B[1], A[2] + B[2],
            A[3] + B[3], A[4] + B[4], A[5] + B[5],
            A[6] + B[6], A[7] + B[7], A[8] + B[8])
# fmt: on
