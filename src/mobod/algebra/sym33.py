"""Symmetric 3 x 3 matrices: tuples of six numbers, xx yy zz xy xz yz."""

from typing import Any

from ..compiling import generic
from . import vec3


@generic
def mul_vec(S: Any, v: Any) -> Any:
    """S v."""
    return (
        S[0] * v[0] + S[3] * v[1] + S[4] * v[2],
        S[3] * v[0] + S[1] * v[1] + S[5] * v[2],
        S[4] * v[0] + S[5] * v[1] + S[2] * v[2],
    )


@generic
def add(S: Any, T: Any) -> Any:
    """S + T."""
    return S[0] + T[0], S[1] + T[1], S[2] + T[2], S[3] + T[3], S[4] + T[4], S[5] + T[5]


@generic
def sub(S: Any, T: Any) -> Any:
    """S - T."""
    return S[0] - T[0], S[1] - T[1], S[2] - T[2], S[3] - T[3], S[4] - T[4], S[5] - T[5]


@generic
def inverse(S: Any) -> Any:
    """The inverse, by cofactors, and 1 / det S: one division in all, where a factorisation has three in a row."""
    xx, yy, zz = S[1] * S[2] - S[5] * S[5], S[0] * S[2] - S[4] * S[4], S[0] * S[1] - S[3] * S[3]
    xy, xz, yz = S[4] * S[5] - S[3] * S[2], S[3] * S[5] - S[4] * S[1], S[3] * S[4] - S[0] * S[5]
    d = 1.0 / (S[0] * xx + S[3] * xy + S[4] * xz)
    return (d * xx, d * yy, d * zz, d * xy, d * xz, d * yz), d


@generic
def mul_mat(S: Any, A: Any) -> Any:
    """S A."""
    x, y, z = mul_vec(S, (A[0], A[3], A[6])), mul_vec(S, (A[1], A[4], A[7])), mul_vec(S, (A[2], A[5], A[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@generic
def of_product(A: Any, B: Any) -> Any:
    """A^T B, where that is symmetric."""
    a0, a1, a2 = (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])
    b0, b1, b2 = (B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8])
    return vec3.dot(a0, b0), vec3.dot(a1, b1), vec3.dot(a2, b2), vec3.dot(a0, b1), vec3.dot(a0, b2), vec3.dot(a1, b2)


@generic
def rotate(R: Any, S: Any) -> Any:
    """R S R^T: S, given in B, expressed in A, for R = R_AB."""
    x, y, z = (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])
    Sx, Sy, Sz = mul_vec(S, x), mul_vec(S, y), mul_vec(S, z)
    return vec3.dot(x, Sx), vec3.dot(y, Sy), vec3.dot(z, Sz), vec3.dot(x, Sy), vec3.dot(x, Sz), vec3.dot(y, Sz)


@generic
def point_mass(m: Any, r: Any) -> Any:
    """Inertia of a point of mass m at r about the origin: m (r.r 1 - r r^T)."""
    x, y, z = m * r[0], m * r[1], m * r[2]
    xx, yy, zz = x * r[0], y * r[1], z * r[2]
    return yy + zz, xx + zz, xx + yy, -x * r[1], -x * r[2], -y * r[2]
