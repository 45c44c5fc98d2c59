"""What LineOrientation and FreeLine share: any orientation of M in F, and no spin about M's z axis.

The speeds are the x and y components of w_FM, expressed in M. With x, y, z the axes of M, expressed in F (columns of R_FM):

    w_FM = u0 x + u1 y    H_FM = [x y]    HDot_FM = w_FM x [x y] = [-u1 z, u0 z]    (so that HDot_FM u = 0)

Quaternion: q_dot = 1/2 q (0, u0, u1, 0), the product of quaternions, linear in q. Of a quaternion of any length,

    N = 1/2 [q i, q j]    N^-1 = 4 N^T / q.q, which leaves out the spin about z that a q_dot may have    NDot = N(q_dot)

Angles (a, b, c), R_FM = Rx(a) Ry(b) Rz(c): with w_FM in M, solved for the rates, w.z = 0 put in,

    N = [cos c / cos b, -sin c / cos b; sin c, cos c; -sin b cos c / cos b, sin b sin c / cos b]
    N^-1 = [cos b cos c, sin c, 0; -cos b sin c, cos c, 0]

Both are N_F R_FM [1 0; 0 1; 0 0] with N_F that of a Ball, and have rank 2 wherever they are finite: angles are singular where
cos b = 0. That w_FM.z = 0 is not integrable: two speeds lead to every orientation, hence as many coordinates as a Ball has.
q and u of a reversed mobilizer are those of F in M, and N belongs to them whichever way the mobilizer points.
Source: Diebel 2006, sections 5 and 6, for N_F; the products derived here.
"""

from __future__ import annotations

from typing import Any

from .._jit import generic
from ..algebra import quaternion, vec3
from ..algebra.scalar import load, sincos, store, zero
from ._access import put3, put4, vector3, vector4


@generic
def axes(R: Any) -> Any:
    """The x and y axes of M, expressed in F: the angular part of H_FM."""
    return (R[0], R[3], R[6]), (R[1], R[4], R[7])


@generic
def axes_dot(R: Any, u: Any) -> Any:
    """Their rates, expressed in F."""
    z = R[2], R[5], R[8]
    return vec3.scale(-u[1], z), vec3.scale(u[0], z)


@generic
def n_quaternion(q: Any) -> Any:
    """The two columns of N for a quaternion. Linear in q, hence of q_dot those of NDot."""
    w, x, y, z = 0.5 * q[0], 0.5 * q[1], 0.5 * q[2], 0.5 * q[3]
    return (-x, w, z, -y), (-y, -z, w, x)


@generic
def q_dot_quaternion(q: Any, u: Any) -> Any:
    """N u for a quaternion."""
    x, y = n_quaternion(q)
    return (
        x[0] * u[0] + y[0] * u[1],
        x[1] * u[0] + y[1] * u[1],
        x[2] * u[0] + y[2] * u[1],
        x[3] * u[0] + y[3] * u[1],
    )


@generic
def n_inv_quaternion(q: Any) -> Any:
    """The two rows of N^-1 for a quaternion."""
    s = 4.0 / quaternion.norm_squared(q)
    return n_quaternion((s * q[0], s * q[1], s * q[2], s * q[3]))  # N is linear


@generic
def n_euler(q: Any) -> Any:
    """The two columns of N for angles."""
    sb, cb = sincos(q[1])
    sc, cc = sincos(q[2])
    x, y = cc / cb, -sc / cb
    return (x, sc, -sb * x), (y, cc, -sb * y)


@generic
def n_inv_euler(q: Any) -> Any:
    """The two rows of N^-1 for angles."""
    _, cb = sincos(q[1])
    sc, cc = sincos(q[2])
    o = zero(cb)
    return (cb * cc, sc, o), (-cb * sc, cc, o)


@generic
def n_dot_euler(q: Any, u: Any) -> Any:
    """The two columns of NDot for angles, at speeds u."""
    sb, cb = sincos(q[1])
    sc, cc = sincos(q[2])
    x, y = cc / cb, -sc / cb
    b_dot = sc * u[0] + cc * u[1]
    c_dot = -sb * (x * u[0] + y * u[1])
    r = b_dot * (sb / cb)
    x_dot, y_dot = c_dot * y + r * x, r * y - c_dot * x
    return (x_dot, cc * c_dot, -sb * x_dot - cb * b_dot * x), (y_dot, -sc * c_dot, -sb * y_dot - cb * b_dot * y)


@generic
def _put_pair(matrix: Any, at: int, x: Any, y: Any) -> None:
    store(matrix, at, 0, x)
    store(matrix, at + 1, 0, y)


@generic
def _put_columns3(matrix: Any, first: int, stride: int, x: Any, y: Any) -> None:
    """Two columns of three into a matrix kept row by row."""
    _put_pair(matrix, first, x[0], y[0])
    _put_pair(matrix, first + stride, x[1], y[1])
    _put_pair(matrix, first + 2 * stride, x[2], y[2])


@generic
def _put_columns4(matrix: Any, first: int, stride: int, x: Any, y: Any) -> None:
    """Two columns of four."""
    _put_columns3(matrix, first, stride, x, y)
    _put_pair(matrix, first + 3 * stride, x[3], y[3])


@generic
def keep_n(model: Any, b: int) -> None:
    """N and N^-1 of body b into the record: the orientation's upper left, 1 lower right, elsewhere zero as made."""
    i, n, nq, nu = model.first_q[b], model.first_n[b], model.num_q[b], model.num_u[b]
    if model.has_quaternion[b] == 1:
        wxyz = vector4(model.q, i)
        x, y = n_quaternion(wxyz)
        _put_columns4(model.N, n, nu, x, y)
        first, second = n_inv_quaternion(wxyz)
        put4(model.N_inv, n, first)
        put4(model.N_inv, n + nq, second)
    else:
        abc = vector3(model.q, i)
        a, c = n_euler(abc)
        _put_columns3(model.N, n, nu, a, c)
        upper, lower = n_inv_euler(abc)
        put3(model.N_inv, n, upper)
        put3(model.N_inv, n + nq, lower)
    turning = nq - nu + 2  # coordinates of the orientation
    for j in range(nu - 2):
        store(model.N, n + (turning + j) * nu + 2 + j, 0, 1.0)
        store(model.N_inv, n + (2 + j) * nq + turning + j, 0, 1.0)


@generic
def keep_n_dot(model: Any, b: int) -> None:
    """NDot of body b into the record: the rest of it stays zero as made."""
    i, k, n, nu = model.first_q[b], model.first_u[b], model.first_n[b], model.num_u[b]
    u = load(model.u, k, 0), load(model.u, k + 1, 0)
    if model.has_quaternion[b] == 1:
        x, y = n_quaternion(q_dot_quaternion(vector4(model.q, i), u))
        _put_columns4(model.N_dot, n, nu, x, y)
    else:
        a, c = n_dot_euler(vector3(model.q, i), u)
        _put_columns3(model.N_dot, n, nu, a, c)
