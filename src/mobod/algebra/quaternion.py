"""Quaternions (w, x, y, z) and their rates for an angular velocity expressed in the outer frame (F).

    q_dot = N(q) omega = 1/2 (0, omega) q,   omega = 2 q_dot q^*,   q q the quaternion product

N is linear in q, so that NDot = N(q_dot). A quaternion off the unit sphere stands for the rotation of its direction.
Source: Diebel 2006, section 6, with the angular velocity in the outer frame.
"""

from typing import Any

from ..compiling import generic
from .scalar import atan2, one, sincos, sqrt, where


@generic
def from_body_fixed_xyz(a: Any, b: Any, c: Any) -> Any:
    """The quaternion of Rx(a) Ry(b) Rz(c): the product of those of the three."""
    sa, ca = sincos(0.5 * a)
    sb, cb = sincos(0.5 * b)
    sc, cc = sincos(0.5 * c)
    return (
        ca * cb * cc - sa * sb * sc,
        sa * cb * cc + ca * sb * sc,
        ca * sb * cc - sa * cb * sc,
        ca * cb * sc + sa * sb * cc,
    )


@generic
def to_rotation(q: Any) -> Any:
    """R_FM."""
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    wx, wy, wz = s * w * x, s * w * y, s * w * z
    xx, xy, xz = s * x * x, s * x * y, s * x * z
    yy, yz, zz = s * y * y, s * y * z, s * z * z
    # fmt: off
    return (1.0 - (yy + zz), xy - wz,         xz + wy,
            xy + wz,         1.0 - (xx + zz), yz - wx,
            xz - wy,         yz + wx,         1.0 - (xx + yy))
    # fmt: on


@generic
def multiply_by_n(q: Any, v: Any) -> Any:
    """N(q) v: four numbers from three."""
    w, x, y, z = 0.5 * q[0], 0.5 * q[1], 0.5 * q[2], 0.5 * q[3]
    return (
        -(x * v[0] + y * v[1] + z * v[2]),
        w * v[0] + z * v[1] - y * v[2],
        w * v[1] + x * v[2] - z * v[0],
        w * v[2] + y * v[0] - x * v[1],
    )


@generic
def multiply_by_n_transpose(q: Any, p: Any) -> Any:
    """N(q)^T p: three numbers from four."""
    w, x, y, z = 0.5 * q[0], 0.5 * q[1], 0.5 * q[2], 0.5 * q[3]
    return (
        w * p[1] - x * p[0] + y * p[3] - z * p[2],
        w * p[2] - y * p[0] + z * p[1] - x * p[3],
        w * p[3] - z * p[0] + x * p[2] - y * p[1],
    )


@generic
def norm_squared(q: Any) -> Any:
    """q.q."""
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]


@generic
def multiply_by_n_inv(q: Any, q_dot: Any) -> Any:
    """N^-1 q_dot, with N^-1 = 4 N^T / q.q the inverse on the rates that keep the norm."""
    s = 4.0 / norm_squared(q)
    v = multiply_by_n_transpose(q, q_dot)
    return s * v[0], s * v[1], s * v[2]


@generic
def multiply_by_n_inv_transpose(q: Any, v: Any) -> Any:
    """(N^-1)^T v: four numbers from three."""
    s = 4.0 / norm_squared(q)
    p = multiply_by_n(q, v)
    return s * p[0], s * p[1], s * p[2], s * p[3]


@generic
def normalize(q: Any) -> Any:
    """q / |q|."""
    s = 1.0 / sqrt(norm_squared(q))
    return s * q[0], s * q[1], s * q[2], s * q[3]


@generic
def from_rotation(R: Any) -> Any:
    """The quaternion of a rotation, with w zero or more.

    By the largest of its components, so that no digits are lost. Source: Shepperd 1978, J. Guidance and Control 1, 223.
    """
    a, b, c, d, e, f, g, h, k = R
    tt, xx, yy, zz = 1.0 + a + e + k, 1.0 + a - e - k, 1.0 - a + e - k, 1.0 - a - e + k  # four times the squares
    wx, wy, wz, xy, xz, yz = h - f, c - g, d - b, b + d, c + g, f + h  # four times the products
    upper, lower = where(tt > xx, tt, xx), where(yy > zz, yy, zz)
    first, third, lead = upper > lower, yy > zz, tt > xx
    w = where(first, where(lead, tt, wx), where(third, wy, wz))
    x = where(first, where(lead, wx, xx), where(third, xy, xz))
    y = where(first, where(lead, wy, xy), where(third, yy, yz))
    z = where(first, where(lead, wz, xz), where(third, yz, zz))
    s = where(w < 0.0, -one(w), one(w)) / sqrt(w * w + x * x + y * y + z * z)
    return s * w, s * x, s * y, s * z


@generic
def to_rotation_vector(q: Any) -> Any:
    """Axis times angle, which is at most pi, of a quaternion of length 1 with w zero or more."""
    w, x, y, z = q
    ss = x * x + y * y + z * z
    small = ss < 1e-6
    t = ss / where(small, w * w, one(w))
    s = sqrt(where(small, one(ss), ss))
    # the series of 2 atan(s / w) / s, whose next term is below a rounding
    a = where(small, 2.0 * (1.0 - t * (1.0 / 3.0 - t * (0.2 - t / 7.0))) / where(small, w, one(w)), 2.0 * atan2(s, w) / s)
    return a * x, a * y, a * z
