"""Relative curvature of two surfaces that touch, for Hertz's law.

A surface's shape operator S at a point, a symmetric 3 x 3 matrix whose null vector is the normal n, has its principal
curvatures as the other two eigenvalues, above zero where it is convex. What matters of two surfaces are the greater and the
smaller eigenvalue of the sum of both (Johnson 1985, Contact Mechanics, section 4.1).
"""

from __future__ import annotations

from typing import Any

from ...algebra import sym33, vec3
from ...algebra.scalar import sqrt
from ...compiling import generic

#: The smaller curvature is taken as this part of the greater one at least: a line of contact is as long as its bodies, not
#: endless.
LEAST = 1e-3
#: Next to its ends, over this part of its radius, the side of a capsule bends along its axis, too, as the ends do in the end.
_OVER = 0.3


@generic
def of_sphere(k: Any, n: Any) -> Any:
    """K (1 - n n^T)."""
    return (
        k * (1.0 - n[0] * n[0]), k * (1.0 - n[1] * n[1]), k * (1.0 - n[2] * n[2]),
        -k * n[0] * n[1], -k * n[0] * n[2], -k * n[1] * n[2],
    )  # fmt: skip


@generic
def of_line(k: Any, t: Any) -> Any:
    """K t t^T: curved along the unit vector t alone."""
    return k * t[0] * t[0], k * t[1] * t[1], k * t[2] * t[2], k * t[0] * t[1], k * t[0] * t[2], k * t[1] * t[2]


@generic
def goes_over(x: Any) -> Any:
    """From 0 to 1 as x does, level at both ends; 0 below, 1 above."""
    if x <= 0.0:
        return 0.0 * x
    if x >= 1.0:
        return 0.0 * x + 1.0
    return x * x * (3.0 - 2.0 * x)


@generic
def of_capsule(k: Any, axis: Any, n: Any, z: Any, half: Any) -> Any:
    """At z along a capsule's axis from its middle: a sphere's at the ends, to which what it is along the side goes over.

    It does so over a length of the capsule's, beside which depths are small: the force is the energy's derivative but for
    the depth over that length.
    """
    if z < 0.0:
        z = -z
    if z >= half:
        return of_sphere(k, n)
    along = k * goes_over((z - half) * k / _OVER + 1.0)
    return sym33.add(of_line(k, vec3.cross(axis, n)), of_line(along, axis))


@generic
def of_rim(k: Any, axis: Any, n: Any) -> Any:
    """Of the edge between a cylinder's side, of curvature k, and its end, along itself: k times n's part across the axis."""
    t = vec3.cross(axis, n)
    square = vec3.dot(t, t)
    if square <= 1e-24:
        o = 0.0 * square
        return o, o, o, o, o, o
    return of_line(k / sqrt(square), t)


@generic
def of_ellipsoid(squares: Any, R: Any, n: Any) -> Any:
    """|D n| P D^-2 P, P = 1 - n n^T, for radii whose *squares* these are, along the columns of R."""
    d = (
        R[0] * n[0] + R[3] * n[1] + R[6] * n[2],
        R[1] * n[0] + R[4] * n[1] + R[7] * n[2],
        R[2] * n[0] + R[5] * n[1] + R[8] * n[2],
    )
    length = sqrt(squares[0] * d[0] * d[0] + squares[1] * d[1] * d[1] + squares[2] * d[2] * d[2])
    m = (length / squares[0], length / squares[1], length / squares[2])
    md = (m[0] * d[0], m[1] * d[1], m[2] * d[2])
    dmd = vec3.dot(d, md)
    # P M P = M - d (M d)^T - (M d) d^T + (d M d) d d^T
    S = (
        m[0] - 2.0 * d[0] * md[0] + dmd * d[0] * d[0],
        m[1] - 2.0 * d[1] * md[1] + dmd * d[1] * d[1],
        m[2] - 2.0 * d[2] * md[2] + dmd * d[2] * d[2],
        dmd * d[0] * d[1] - d[0] * md[1] - d[1] * md[0],
        dmd * d[0] * d[2] - d[0] * md[2] - d[2] * md[0],
        dmd * d[1] * d[2] - d[1] * md[2] - d[2] * md[1],
    )
    return sym33.rotate(R, S)


@generic
def relative(S: Any) -> Any:
    """The greater and the smaller curvature of a sum of shape operators."""
    trace = S[0] + S[1] + S[2]
    product = S[0] * S[1] + S[0] * S[2] + S[1] * S[2] - S[3] * S[3] - S[4] * S[4] - S[5] * S[5]
    square = 0.25 * trace * trace - product
    half = 0.5 * trace
    if square > 1e-13 * trace * trace:
        root = sqrt(square)
    else:
        root = 0.0 * trace  # equal, but for rounding: the root has no derivative there
    greater, smaller = half + root, half - root
    if smaller < LEAST * greater:
        smaller = LEAST * greater
    return greater, smaller
