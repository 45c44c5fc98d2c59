"""Rotations about coordinate axes, and by body-fixed angles about x, y, z."""

from typing import Any

from ..compiling import generic
from .scalar import one, sincos, zero


@generic
def identity(x: Any) -> Any:
    """The identity, of the scalar type of x."""
    o, i = zero(x), one(x)
    return i, o, o, o, i, o, o, o, i


@generic
def about_x(angle: Any) -> Any:
    """Rx(angle)."""
    s, c = sincos(angle)
    o, i = zero(angle), one(angle)
    return i, o, o, o, c, -s, o, s, c


@generic
def about_y(angle: Any) -> Any:
    """Ry(angle)."""
    s, c = sincos(angle)
    o, i = zero(angle), one(angle)
    return c, o, s, o, i, o, -s, o, c


@generic
def about_z(angle: Any) -> Any:
    """Rz(angle)."""
    s, c = sincos(angle)
    o, i = zero(angle), one(angle)
    return c, -s, o, s, c, o, o, o, i


@generic
def about_x_then_y(a: Any, b: Any) -> Any:
    """Rx(a) Ry(b): about x, then about the y axis that this has turned."""
    sa, ca = sincos(a)
    sb, cb = sincos(b)
    return cb, zero(a), sb, sa * sb, ca, -sa * cb, -ca * sb, sa, ca * cb


@generic
def about_z_then_y(a: Any, b: Any) -> Any:
    """Rz(a) Ry(b): about z, then about the y axis that this has turned."""
    sa, ca = sincos(a)
    sb, cb = sincos(b)
    return ca * cb, -sa, ca * sb, sa * cb, ca, sa * sb, -sb, zero(a), cb


@generic
def body_fixed_xyz(a: Any, b: Any, c: Any) -> Any:
    """Rx(a) Ry(b) Rz(c)."""
    sa, ca = sincos(a)
    sb, cb = sincos(b)
    sc, cc = sincos(c)
    # fmt: off
    return (cb * cc,                 -cb * sc,                sb,
            ca * sc + sa * sb * cc,  ca * cc - sa * sb * sc,  -sa * cb,
            sa * sc - ca * sb * cc,  sa * cc + ca * sb * sc,  ca * cb)
    # fmt: on
