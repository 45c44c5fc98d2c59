"""Derivatives of bushings between two bodies, in closed form, of all lanes at once: blocks of `couplings`, which have no calls.

M moves by t, and its place m by y = s + t x m, as body 2 does by (t; s) about the base's origin, its velocities carried along.
With F's axes a, rows B of N R^T, and q and f = (g; h) as of `force.linear_bushing`, g turning, all in Ground, each i

    dg_i = -k_i B_i . t - c_i (B_i . (t x w_2) + dB_i . w)    dh_i = -k_i a_i . y - c_i a_i . (t x v_M - w_1 x y)
    on body 1, about the base's origin,   d(n; f) = -sum of (dB_i g_i + B_i dg_i + m x a_i dh_i; a_i dh_i) - (y x h; 0)

where N changes as the first two angles do, by B_0 . t and B_1 . t; and by velocities (a; b), with b + a x m in place of y,
dg_i = -c_i B_i . a, dh_i = -c_i a_i . (b + a x m).
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load_spatial, store3
from ..algebra.scalar import store
from ..compiling import apart, generic
from ..force.linear_bushing import DAMPING, STIFFNESS, forces, motion
from ..force.pools import numbers3
from ..state.fields import Record
from .local import OF_WRENCH

#: Columns of the table: where an element's integers and numbers begin, and its block.
INTEGERS, NUMBERS, BLOCK = range(3)


@generic
def _rates(angles: Any, axes: Any) -> Any:
    """The rows of N R^T."""
    (s0, c0, s1, c1), (x, y, z) = angles, axes
    third = vec3.scale(1.0 / c1, vec3.add_scaled(vec3.scale(c0, z), -s0, y))
    return vec3.add_scaled(x, -s1, third), vec3.add_scaled(vec3.scale(c0, y), s0, z), third


@generic
def _sum(x: Any, rows: Any) -> Any:
    """The sum of three rows, each times a number."""
    return vec3.add_scaled(vec3.add_scaled(vec3.scale(x[0], rows[0]), x[1], rows[1]), x[2], rows[2])


@generic
def _products(a: Any, b: Any) -> Any:
    """The sum of a_i b_i^T, as a matrix."""
    first, second = _sum((a[0][0], a[1][0], a[2][0]), b), _sum((a[0][1], a[1][1], a[2][1]), b)
    return *first, *second, *_sum((a[0][2], a[1][2], a[2][2]), b)


@generic
def _softened(k: Any, a: Any) -> Any:
    """Minus each of three constants times a vector of its own."""
    return vec3.scale(-k[0], a[0]), vec3.scale(-k[1], a[1]), vec3.scale(-k[2], a[2])


@generic
def _turning(k: Any, c: Any, angles: Any, q_dot: Any, g: Any, x: Any, torque: Any, w_2: Any, B: Any) -> Any:
    """Changes of the moment as body 2 turns."""
    (_, _, s1, c1), o, per = angles, 0.0 * angles[0], 1.0 / angles[3]
    # dB_i . w by the first and by the second angle
    one, two = (s1 * q_dot[1] * per, c1 * q_dot[2], -q_dot[1] * per), (-q_dot[2] * per, o, s1 * q_dot[2] * per)
    quicker = (
        vec3.add_scaled(vec3.add_scaled(vec3.cross(w_2, B[0]), one[0], B[0]), two[0], B[1]),
        vec3.add_scaled(vec3.add_scaled(vec3.cross(w_2, B[1]), one[1], B[0]), two[1], B[1]),
        vec3.add_scaled(vec3.add_scaled(vec3.cross(w_2, B[2]), one[2], B[0]), two[2], B[1]),
    )
    (u, v, w), (f, h, i) = _softened(k, B), _softened(c, quicker)
    # the sum of dB_i g_i by the first angle, which turns all but x about that, and by the second
    by_first, by_second = vec3.cross(x, torque), vec3.scale((g[2] - s1 * g[0]) * per * s1 - g[0] * c1, B[2])
    turned = _products(B, (vec3.add(u, f), vec3.add(v, h), vec3.add(w, i)))
    return mat33.add(turned, _products((by_first, by_second, (o, o, o)), (B[0], B[1], B[2])))


@generic
def _put(C: Any, block: int, at: int, m: Any, n: Any, f: Any) -> None:
    """A column of K or D: changes of the wrench on body 1, of the opposite at m."""
    n = vec3.add(n, vec3.cross(m, f))
    for i in range(3):
        store(C, block, at + 6 * i, -n[i])
        store(C, block, at + 18 + 6 * i, -f[i])


@generic
def _put_all(C: Any, block: int, at: int, m: Any, h: Any, turning: Any, axes: Any, moving: Any, turned: Any) -> None:
    """K, or D with *h* zero: by moments that turns change, and what dh_i changes by as M moves, and turns in its place."""
    by_turns = _products(
        axes,
        (
            vec3.add(turned[0], vec3.cross(m, moving[0])),
            vec3.add(turned[1], vec3.cross(m, moving[1])),
            vec3.add(turned[2], vec3.cross(m, moving[2])),
        ),
    )
    by_moves = _products(axes, moving)
    for d in range(3):
        e = vec3.unit(m[0], d)
        n = vec3.add(mat33.column(turning, d), vec3.cross(vec3.cross(e, m), h))
        _put(C, block, at + d, m, n, mat33.column(by_turns, d))
        _put(C, block, at + 3 + d, m, vec3.cross(e, h), mat33.column(by_moves, d))


@apart
def settle(model: Record, table: Any, bodies: Any, C: Any) -> None:
    """K, D and the wrench on body 1 of each, in its block."""
    for e in range(table.shape[0]):
        at, block = table[e, NUMBERS], table[e, BLOCK]
        k, c = numbers3(model, at + STIFFNESS), numbers3(model, at + DAMPING)
        q, q_dot, (b1, b2, R, _, s2, _, angles) = motion(model, table[e, INTEGERS], at)
        g, h = forces(model, at, q, q_dot)
        w1, (w2, v2) = load_spatial(model.V_GB, b1)[0], load_spatial(model.V_GB, b2)
        m, v = vec3.add(load3(bodies, b2, 0), s2), vec3.add(v2, vec3.cross(w2, s2))
        x, y, z = mat33.column(R, 0), mat33.column(R, 1), mat33.column(R, 2)
        axes, h, o = (x, y, z), mat33.mul_vec(R, h), 0.0 * h[0]
        B, none = _rates(angles, axes), (o, o, o)
        torque = _sum(g, B)
        store3(C, block, OF_WRENCH, vec3.neg(vec3.add(torque, vec3.cross(m, h))))
        store3(C, block, OF_WRENCH + 3, vec3.neg(h))
        turning = _turning(k, c, angles, q_dot, g, x, torque, w2, B)
        k, d = numbers3(model, at + STIFFNESS + 3), numbers3(model, at + DAMPING + 3)
        stiff, damped = _softened(k, axes), _softened(d, axes)
        turned = _softened(d, (vec3.cross(v, x), vec3.cross(v, y), vec3.cross(v, z)))
        r0, r1, r2 = _softened(d, (vec3.cross(w1, x), vec3.cross(w1, y), vec3.cross(w1, z)))
        moving = vec3.add(stiff[0], r0), vec3.add(stiff[1], r1), vec3.add(stiff[2], r2)
        _put_all(C, block, 0, m, h, turning, axes, moving, turned)
        _put_all(C, block, 36, m, none, _products(B, _softened(c, B)), axes, damped, (none, none, none))
