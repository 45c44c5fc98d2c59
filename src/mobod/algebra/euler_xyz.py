"""Body-fixed angles about x, y, z, and their rates for an angular velocity expressed in the outer frame (F).

    omega = N^-1 q_dot,   N^-1 = [x, Rx(q0) y, Rx(q0) Ry(q1) z],   NDot = -N (N^-1)Dot N

N is singular where cos(q1) = 0, N^-1 nowhere: where speeds are the angles' rates, its columns are the hinge's.
Source: Kane, Likins and Levinson 1983, appendix II, body-three 1-2-3.
"""

from typing import Any

from ..compiling import generic
from . import vec3
from .scalar import one, sincos, zero


@generic
def rate_columns(q: Any) -> Any:
    """The columns of N^-1: the axes that the angles turn about, in F."""
    o, i = zero(q[0]), one(q[0])
    s0, c0 = sincos(q[0])
    s1, c1 = sincos(q[1])
    return (i, o, o), (o, c0, s0), (s1, -s0 * c1, c0 * c1)


@generic
def rates_of_columns(q_dot: Any, y: Any, z: Any) -> Any:
    """(N^-1)Dot q_dot in F, of the second and the third column: each axis turns with the angles before it."""
    a, b = q_dot[0], q_dot[1]
    w = vec3.scale(q_dot[2], (a, b * y[1], b * y[2]))
    x = vec3.cross(w, z)
    ab = a * b
    return x[0], x[1] - ab * y[2], x[2] + ab * y[1]


@generic
def multiply_by_n_inv(q: Any, q_dot: Any) -> Any:
    """omega in F, of angle rates."""
    s0, c0 = sincos(q[0])
    s1, c1 = sincos(q[1])
    return (
        q_dot[0] + s1 * q_dot[2],
        c0 * q_dot[1] - s0 * c1 * q_dot[2],
        s0 * q_dot[1] + c0 * c1 * q_dot[2],
    )


@generic
def multiply_by_n_inv_transpose(q: Any, v: Any) -> Any:
    """(N^-1)^T v."""
    s0, c0 = sincos(q[0])
    s1, c1 = sincos(q[1])
    return v[0], c0 * v[1] + s0 * v[2], s1 * v[0] + c1 * (c0 * v[2] - s0 * v[1])


@generic
def multiply_by_n(q: Any, v: Any) -> Any:
    """Angle rates, of omega in F."""
    s0, c0 = sincos(q[0])
    s1, c1 = sincos(q[1])
    third = (c0 * v[2] - s0 * v[1]) / c1
    return v[0] - s1 * third, c0 * v[1] + s0 * v[2], third


@generic
def multiply_by_n_transpose(q: Any, p: Any) -> Any:
    """N^T p."""
    s0, c0 = sincos(q[0])
    s1, c1 = sincos(q[1])
    third = (p[2] - s1 * p[0]) / c1
    return p[0], c0 * p[1] - s0 * third, s0 * p[1] + c0 * third


@generic
def multiply_by_n_inv_dot(q: Any, q_dot: Any, r: Any) -> Any:
    """d/dt (N^-1) r."""
    s0, c0 = sincos(q[0])
    s1, c1 = sincos(q[1])
    a, b = q_dot[0], q_dot[1]
    return (
        c1 * b * r[2],
        -s0 * a * r[1] + (s0 * s1 * b - c0 * c1 * a) * r[2],
        c0 * a * r[1] - (s0 * c1 * a + c0 * s1 * b) * r[2],
    )


@generic
def multiply_by_n_inv_dot_transpose(q: Any, q_dot: Any, v: Any) -> Any:
    """(d/dt N^-1)^T v."""
    s0, c0 = sincos(q[0])
    s1, c1 = sincos(q[1])
    a, b = q_dot[0], q_dot[1]
    return (
        0.0 * v[0],
        c0 * a * v[2] - s0 * a * v[1],
        c1 * b * v[0] + (s0 * s1 * b - c0 * c1 * a) * v[1] - (s0 * c1 * a + c0 * s1 * b) * v[2],
    )


@generic
def multiply_by_n_dot(q: Any, q_dot: Any, v: Any) -> Any:
    """NDot v."""
    p = multiply_by_n(q, multiply_by_n_inv_dot(q, q_dot, multiply_by_n(q, v)))
    return -p[0], -p[1], -p[2]


@generic
def multiply_by_n_dot_transpose(q: Any, q_dot: Any, p: Any) -> Any:
    """NDot^T p."""
    v = multiply_by_n_transpose(q, multiply_by_n_inv_dot_transpose(q, q_dot, multiply_by_n_transpose(q, p)))
    return -v[0], -v[1], -v[2]
