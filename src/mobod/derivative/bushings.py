"""Derivatives of bushings between two bodies, in closed form, of all lanes at once: blocks of `couplings`, which have no calls.

M moves by t, and its place m by y = s + t x m, as body 2 does by (t; s) about the base's origin, its velocities carried along:
with R of F in Ground, q, N and f as of `force.linear_bushing`,

    dq = (N R^T t; R^T y)    dw = R^T (t x w_2)    dv = R^T (t x v_M - w_1 x y)    dq' = (dN w + N dw; dv)    df = -k dq - c dq'
    d(moment) = dN^T f + N^T df    on body 1, about the base's origin,   d(n; f) = -(R d(moment) + y x f + m x R df; R df)

and by its velocities (a; b) by dw = R^T a, dv = R^T (b + a x m).
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load_spatial, store3
from ..algebra.scalar import store
from ..compiling import apart, generic
from ..force.linear_bushing import DAMPING, STIFFNESS, forces, moment, motion, rates, velocity
from ..force.pools import number
from ..state.fields import Record
from .local import OF_WRENCH

#: Columns of the table: where an element's integers and numbers begin, and its block.
INTEGERS, NUMBERS, BLOCK = range(3)


@generic
def _turned(angles: Any, dq: Any) -> Any:
    """Changes of the sines and cosines of two angles."""
    s0, c0, s1, c1 = angles
    return c0 * dq[0], -s0 * dq[0], c1 * dq[1], -s1 * dq[1]


@generic
def _rates_change(angles: Any, turned: Any, w: Any, dw: Any) -> Any:
    """dN w + N dw."""
    (s0, c0, s1, c1), (ds0, dc0, ds1, dc1) = angles, turned
    third = (c0 * w[2] - s0 * w[1]) / c1
    change = (dc0 * w[2] + c0 * dw[2] - ds0 * w[1] - s0 * dw[1] - third * dc1) / c1
    return dw[0] - ds1 * third - s1 * change, dc0 * w[1] + c0 * dw[1] + ds0 * w[2] + s0 * dw[2], change


@generic
def _moment_change(angles: Any, turned: Any, f: Any, df: Any) -> Any:
    """dN^T f + N^T df."""
    (s0, c0, s1, c1), (ds0, dc0, ds1, dc1) = angles, turned
    third = (f[2] - s1 * f[0]) / c1
    change = (df[2] - ds1 * f[0] - s1 * df[0] - third * dc1) / c1
    return df[0], dc0 * f[1] + c0 * df[1] - ds0 * third - s0 * change, ds0 * f[1] + s0 * df[1] + dc0 * third + c0 * change


@generic
def _softened(model: Record, at: int, dx: Any) -> Any:
    """Minus three constants times three numbers."""
    return -number(model, at) * dx[0], -number(model, at + 1) * dx[1], -number(model, at + 2) * dx[2]


@generic
def _put(C: Any, block: int, at: int, R: Any, m: Any, y: Any, f: Any, dmoment: Any, df: Any) -> None:
    """A column of K or D: changes of the wrench on body 1."""
    force = mat33.mul_vec(R, df)
    n = vec3.add(mat33.mul_vec(R, dmoment), vec3.add(vec3.cross(y, f), vec3.cross(m, force)))
    for i in range(3):
        store(C, block, at + 6 * i, -n[i])
        store(C, block, at + 18 + 6 * i, -force[i])


@apart
def settle(model: Record, table: Any, bodies: Any, C: Any) -> None:
    """K, D and the wrench on body 1 of each, in its block."""
    for e in range(table.shape[0]):
        x, block = table[e, NUMBERS], table[e, BLOCK]
        k, c = x + STIFFNESS, x + DAMPING
        q, q_dot, (b1, b2, R, s1, s2, r, angles) = motion(model, table[e, INTEGERS], x)
        turning, moving = forces(model, x, q, q_dot)
        w1, (w2, v2) = load_spatial(model.V_GB, b1)[0], load_spatial(model.V_GB, b2)
        w, v_M = velocity(model, b1, b2, R, s1, s2, r)[0], vec3.add(v2, vec3.cross(w2, s2))
        m, f = vec3.add(load3(bodies, b2, 0), s2), mat33.mul_vec(R, moving)
        torque = mat33.mul_vec(R, moment(angles, turning))
        store3(C, block, OF_WRENCH, vec3.neg(vec3.add(torque, vec3.cross(m, f))))
        store3(C, block, OF_WRENCH + 3, vec3.neg(f))
        o = 0.0 * q[0]
        none = o, o, o
        for d in range(6):
            t = o + 1.0 * (d == 0), o + 1.0 * (d == 1), o + 1.0 * (d == 2)
            s = o + 1.0 * (d == 3), o + 1.0 * (d == 4), o + 1.0 * (d == 5)
            y = vec3.add(s, vec3.cross(t, m))
            dw, dv = vec3.cross(t, w2), vec3.sub(vec3.cross(t, v_M), vec3.cross(w1, y))
            a, b = mat33.transpose_mul_vec(R, t), mat33.transpose_mul_vec(R, y)
            by_speed = rates(angles, a, b)
            faster = by_speed[0], by_speed[1], by_speed[2]
            turned = _turned(angles, faster)
            dw, dv = mat33.transpose_mul_vec(R, dw), mat33.transpose_mul_vec(R, dv)
            df = vec3.add(_softened(model, k, faster), _softened(model, c, _rates_change(angles, turned, w, dw)))
            dg = vec3.add(_softened(model, k + 3, b), _softened(model, c + 3, dv))
            _put(C, block, d, R, m, y, f, _moment_change(angles, turned, turning, df), dg)
            dh, dg = _softened(model, c, faster), _softened(model, c + 3, b)
            _put(C, block, 36 + d, R, m, none, f, moment(angles, dh), dg)
