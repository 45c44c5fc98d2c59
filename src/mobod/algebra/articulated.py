"""Articulated-body inertias: P = [J F; F^T M], J and M symmetric (six numbers each), F any 3 x 3 (nine).

Source: Featherstone 2008, section 7; Jain 2011, section 6. F is the upper right block: P (w; v) = (J w + F v; F^T w + M v).
"""

from typing import Any

from ..compiling import generic
from . import mat33, sym33, vec3
from .memory import load6, load9, store6, store9
from .scalar import zero


@generic
def load_articulated(rows: Any, row: int) -> Any:
    """J, F, M from the 21 numbers of a row."""
    return load6(rows, row, 0), load9(rows, row, 6), load6(rows, row, 15)


@generic
def store_articulated(rows: Any, row: int, J: Any, F: Any, M: Any) -> None:
    """J, F, M into the 21 numbers of a row."""
    store6(rows, row, 0, J)
    store9(rows, row, 6, F)
    store6(rows, row, 15, M)


@generic
def of_rigid_body(m: Any, mc: Any, inertia: Any) -> Any:
    """J, F, M of a rigid body of mass m, first moment mc = m c, and inertia about its origin."""
    o = zero(m)
    return inertia, (o, -mc[2], mc[1], mc[2], o, -mc[0], -mc[1], mc[0], o), (m, m, m, o, o, o)


@generic
def mul_vec(J: Any, F: Any, M: Any, w: Any, v: Any) -> Any:
    """P (w; v)."""
    return (
        vec3.add(sym33.mul_vec(J, w), mat33.mul_vec(F, v)),
        vec3.add(mat33.transpose_mul_vec(F, w), sym33.mul_vec(M, v)),
    )


@generic
def add(J: Any, F: Any, M: Any, J2: Any, F2: Any, M2: Any) -> Any:
    """The sum of two."""
    return sym33.add(J, J2), mat33.add(F, F2), sym33.add(M, M2)


# fmt: off
@generic
def eliminate(J: Any, F: Any, M: Any, hw: Any, hv: Any, rotor: Any) -> Any:
    """Eliminate one mobility h = (hw; hv): P - P h h^T P / d with d = h^T P h + rotor, then the gain P h / d, and 1 / d.

    n mobilities are eliminated one after the other, each from the P that the last has left: an LDL factorisation of D = H^T P
    H + rotors, column by column, without D or L. It takes 207 multiplications for three mobilities where a block factorisation
    takes 253. The outward pass goes through the mobilities in the opposite order.
    """
    pw, pv = mul_vec(J, F, M, hw, hv)
    d_inverse = 1.0 / (vec3.add_dot(rotor, hw, pw) + vec3.dot(hv, pv))
    gw, gv = vec3.scale(d_inverse, pw), vec3.scale(d_inverse, pv)
    J = (J[0] - gw[0] * pw[0], J[1] - gw[1] * pw[1], J[2] - gw[2] * pw[2],
         J[3] - gw[0] * pw[1], J[4] - gw[0] * pw[2], J[5] - gw[1] * pw[2])
    F = (F[0] - gw[0] * pv[0], F[1] - gw[0] * pv[1], F[2] - gw[0] * pv[2],
         F[3] - gw[1] * pv[0], F[4] - gw[1] * pv[1], F[5] - gw[1] * pv[2],
         F[6] - gw[2] * pv[0], F[7] - gw[2] * pv[1], F[8] - gw[2] * pv[2])
    M = (M[0] - gv[0] * pv[0], M[1] - gv[1] * pv[1], M[2] - gv[2] * pv[2],
         M[3] - gv[0] * pv[1], M[4] - gv[0] * pv[2], M[5] - gv[1] * pv[2])
    return J, F, M, gw, gv, d_inverse


@generic
def eliminate_two(J: Any, F: Any, M: Any, hw: Any, hv: Any, kw: Any, kv: Any, h_rotor: Any, k_rotor: Any) -> Any:
    """`eliminate` h and then k: the new P, then gain and 1 / d of h, then of k.

    In two thirds of the time, which is that of operations that wait for each other: both products with P and both divisions go
    side by side, since with d = h^T P h + rotor and e likewise that of k, e after h is eliminated is (d e - (h^T P k)^2) / d.
    """
    pw, pv = mul_vec(J, F, M, hw, hv)
    rw, rv = mul_vec(J, F, M, kw, kv)
    d, c = vec3.add_dot(h_rotor, hw, pw) + vec3.dot(hv, pv), vec3.dot(kw, pw) + vec3.dot(kv, pv)
    e = vec3.add_dot(k_rotor, kw, rw) + vec3.dot(kv, rv)
    d_inverse, e_inverse = 1.0 / d, d / (d * e - c * c)
    gw, gv = vec3.scale(d_inverse, pw), vec3.scale(d_inverse, pv)
    rw, rv = vec3.add_scaled(rw, -c, gw), vec3.add_scaled(rv, -c, gv)
    lw, lv = vec3.scale(e_inverse, rw), vec3.scale(e_inverse, rv)
    J = (J[0] - gw[0] * pw[0] - lw[0] * rw[0], J[1] - gw[1] * pw[1] - lw[1] * rw[1], J[2] - gw[2] * pw[2] - lw[2] * rw[2],
         J[3] - gw[0] * pw[1] - lw[0] * rw[1], J[4] - gw[0] * pw[2] - lw[0] * rw[2], J[5] - gw[1] * pw[2] - lw[1] * rw[2])
    F = (F[0] - gw[0] * pv[0] - lw[0] * rv[0], F[1] - gw[0] * pv[1] - lw[0] * rv[1], F[2] - gw[0] * pv[2] - lw[0] * rv[2],
         F[3] - gw[1] * pv[0] - lw[1] * rv[0], F[4] - gw[1] * pv[1] - lw[1] * rv[1], F[5] - gw[1] * pv[2] - lw[1] * rv[2],
         F[6] - gw[2] * pv[0] - lw[2] * rv[0], F[7] - gw[2] * pv[1] - lw[2] * rv[1], F[8] - gw[2] * pv[2] - lw[2] * rv[2])
    M = (M[0] - gv[0] * pv[0] - lv[0] * rv[0], M[1] - gv[1] * pv[1] - lv[1] * rv[1], M[2] - gv[2] * pv[2] - lv[2] * rv[2],
         M[3] - gv[0] * pv[1] - lv[0] * rv[1], M[4] - gv[0] * pv[2] - lv[0] * rv[2], M[5] - gv[1] * pv[2] - lv[1] * rv[2])
    return J, F, M, (gw, gv, d_inverse), (lw, lv, e_inverse)


@generic
def eliminate_slides(J: Any, F: Any, M: Any, x: Any, y: Any, z: Any) -> Any:
    """`eliminate` three translations that span space: the new J, and gain and 1 / d of each. The new F and M are zero.

    H^T P H of the three depends on M alone, and is factored as L D L^T.
    """
    xv, yv, zv = sym33.mul_vec(M, x), sym33.mul_vec(M, y), sym33.mul_vec(M, z)
    xw, yw, zw = mat33.mul_vec(F, x), mat33.mul_vec(F, y), mat33.mul_vec(F, z)
    xx, xy, xz = vec3.dot(x, xv), vec3.dot(y, xv), vec3.dot(z, xv)
    yy, yz, zz = vec3.dot(y, yv), vec3.dot(z, yv), vec3.dot(z, zv)
    x_inverse = 1.0 / xx
    yx, zx = xy * x_inverse, xz * x_inverse  # of L
    yz = yz - yx * xz
    y_inverse = xx / (xx * yy - xy * xy)
    zy = yz * y_inverse
    z_inverse = 1.0 / (zz - zx * xz - zy * yz)
    xgw, xgv = vec3.scale(x_inverse, xw), vec3.scale(x_inverse, xv)
    yw, yv = vec3.add_scaled(yw, -yx, xw), vec3.add_scaled(yv, -yx, xv)
    zw, zv = vec3.add_scaled(zw, -zx, xw), vec3.add_scaled(zv, -zx, xv)
    zw, zv = vec3.add_scaled(zw, -zy, yw), vec3.add_scaled(zv, -zy, yv)
    ygw, ygv = vec3.scale(y_inverse, yw), vec3.scale(y_inverse, yv)
    zgw, zgv = vec3.scale(z_inverse, zw), vec3.scale(z_inverse, zv)
    J = (J[0] - xgw[0] * xw[0] - ygw[0] * yw[0] - zgw[0] * zw[0], J[1] - xgw[1] * xw[1] - ygw[1] * yw[1] - zgw[1] * zw[1],
         J[2] - xgw[2] * xw[2] - ygw[2] * yw[2] - zgw[2] * zw[2], J[3] - xgw[0] * xw[1] - ygw[0] * yw[1] - zgw[0] * zw[1],
         J[4] - xgw[0] * xw[2] - ygw[0] * yw[2] - zgw[0] * zw[2], J[5] - xgw[1] * xw[2] - ygw[1] * yw[2] - zgw[1] * zw[2])
    return J, (xgw, xgv, x_inverse), (ygw, ygv, y_inverse), (zgw, zgv, z_inverse)


@generic
def shift_linear(M: Any, r: Any) -> Any:
    """`shift` of an inertia [0 0; 0 M]."""
    rM = (r[1] * M[4] - r[2] * M[3], r[1] * M[5] - r[2] * M[1], r[1] * M[2] - r[2] * M[5],
          r[2] * M[0] - r[0] * M[4], r[2] * M[3] - r[0] * M[5], r[2] * M[4] - r[0] * M[2],
          r[0] * M[3] - r[1] * M[0], r[0] * M[1] - r[1] * M[3], r[0] * M[5] - r[1] * M[4])
    x = vec3.cross(r, (rM[0], rM[1], rM[2]))
    y = vec3.cross(r, (rM[3], rM[4], rM[5]))
    z = vec3.cross(r, (rM[6], rM[7], rM[8]))
    return (x[0], y[1], z[2], x[1], x[2], y[2]), rM, M


@generic
def eliminate_rotations(J: Any, F: Any, M: Any) -> Any:
    """Eliminate all rotations about the point of P: M - F^T J^-1 F, then J^-1, K = J^-1 F, and 1 / det J.

    P+ = [0 0; 0 M - F^T J^-1 F] whatever the axes of the mobilities. It takes 78 multiplications where `eliminate` three times
    takes 207, and 27 in each pass of `acceleration` where that takes 54.
    """
    J_inverse, d_inverse = sym33.inverse(J)
    K = sym33.mul_mat(J_inverse, F)
    return sym33.sub(M, sym33.of_product(F, K)), J_inverse, K, d_inverse


@generic
def shift(J: Any, F: Any, M: Any, r: Any) -> Any:
    """phi(r) P phi(r)^T: P about a point from which its own lies at r.

    With r~ the cross product matrix: M' = M, F' = F + r~ M, J' = J + r~ F^T + (r~ F^T)^T + r~ M r~^T.
    """
    rM = (r[1] * M[4] - r[2] * M[3], r[1] * M[5] - r[2] * M[1], r[1] * M[2] - r[2] * M[5],
          r[2] * M[0] - r[0] * M[4], r[2] * M[3] - r[0] * M[5], r[2] * M[4] - r[0] * M[2],
          r[0] * M[3] - r[1] * M[0], r[0] * M[1] - r[1] * M[3], r[0] * M[5] - r[1] * M[4])
    a = vec3.cross(r, (F[0], F[1], F[2]))
    b = vec3.cross(r, (F[3], F[4], F[5]))
    c = vec3.cross(r, (F[6], F[7], F[8]))
    x = vec3.cross(r, (rM[0], rM[1], rM[2]))
    y = vec3.cross(r, (rM[3], rM[4], rM[5]))
    z = vec3.cross(r, (rM[6], rM[7], rM[8]))
    J = (J[0] + 2.0 * a[0] + x[0], J[1] + 2.0 * b[1] + y[1], J[2] + 2.0 * c[2] + z[2],
         J[3] + b[0] + a[1] + x[1], J[4] + c[0] + a[2] + x[2], J[5] + c[1] + b[2] + y[2])
    return J, mat33.add(F, rM), M
# fmt: on
