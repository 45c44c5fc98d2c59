"""Derivatives of constraints between a point of one body and axes of another, or axes of both, in closed form, of all lanes.

A row has a force n at the point C of body 2, along an axis of a frame of body F, or a torque n = f x b of body 2's axis f and
body 1's b; off the manifold, too, the force on body 1 is at C. With k = 2 w_F x n and w = w_2 - w_1

    aerr = n.(a_2 - a_1) + k.(v_1 - v_2) at C
    aerr = n.(alpha_2 - alpha_1 + w x w_1) + w.((w x f) x b)

Body 2 moves by (t; s) about the base's origin, its motion carried along, and C by y = s + t x C. If it moves faster by (a; b),
its acceleration at C changes by 2 a x v_2, beside c of `sweep`, which the row of G takes:

    d(aerr) = t.(a_2' x n + v_2 x k) + y.(alpha_1 x n - w_1 x (w_1 x n) + w_1 x k)        a' = a - g
    d(aerr) = 2 a.(v_2 x n) + (b + a x C).k
    d(n; f) on body 2 = y x f; (t x f) x b

Body 1 does the opposite with its own a' and v; n and C stay where they are, as C is body 2's. Where F is body 1 only 2 moves,
where it is body 2 only 1 does, and beside Ground the other one; else both, relative to F, the last body on the way to both.
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, load_spatial, store3
from ..algebra.scalar import load, store
from ..compiling import apart, generic
from ..constraint import access
from ..constraint.ball import Ball
from ..constraint.constant_angle import ConstantAngle
from ..constraint.constant_orientation import ConstantOrientation
from ..constraint.point_in_plane import PointInPlane
from ..constraint.point_on_line import PointOnLine
from ..constraint.weld import Weld
from ..state.fields import Record
from .local import BOTH, OF_WRENCH, add_errors_of_row
from .sweep import FORCE

#: Columns of the table: the constraint; body F; which one moves, 0 or 1 of the constraint's; the last body on the way to both;
#: BOTH, ONE, or 0 where the other is Ground; the block of a crossing, or of the body; and of its kind, see `KINDS`.
WHICH, FRAME, MOVED, COMMON, BETWEEN, BLOCK, POINT, FIRST_FORCE, AXES, STEP = range(10)
#: Of each kind by its routine: the number where the point's station begins, and the first row of a force along an axis; where
#: the axes begin, of a pair of vectors or of rotations, and how far the second is behind, as much as one takes. -1 for none.
KINDS = {
    Ball.routine: (3, 0, -1, 0),
    Weld.routine: (3, 3, 6, 9),
    PointInPlane.routine: (4, 0, -1, 0),
    PointOnLine.routine: (12, 0, -1, 0),
    ConstantAngle.routine: (-1, 1, 0, 3),
    ConstantOrientation.routine: (-1, 3, 0, 9),
}


@generic
def _motion_at(model: Record, b: int, bodies: Any, A: Any, C: Any) -> Any:
    """Of body b, where C is: w; v; alpha; a'."""
    r, (w, v), (alpha, a) = load3(bodies, b, 0), load_spatial(model.V_GB, b), load_spatial(A, b)
    arm = vec3.sub(C, r)
    turned = vec3.cross(w, arm)
    at_C = vec3.add(vec3.sub(a, load3(bodies, 0, FORCE)), vec3.add(vec3.cross(alpha, arm), vec3.cross(w, turned)))
    return w, vec3.add(v, turned), alpha, at_C


@generic
def _of_force(n: Any, C: Any, w_F: Any, one: Any, own: Any) -> Any:
    """Errors of a row of a force as body 2 moves, then as it does so faster: in both by (t; s). Body 1 does the opposite."""
    (w1, _, alpha1, _), (_, v, _, a) = one, own
    k = vec3.scale(2.0, vec3.cross(w_F, n))
    y = vec3.add(vec3.sub(vec3.cross(alpha1, n), vec3.cross(w1, vec3.cross(w1, n))), vec3.cross(w1, k))
    t = vec3.add(vec3.add(vec3.cross(a, n), vec3.cross(v, k)), vec3.cross(C, y))
    return (t, y), (vec3.add(vec3.scale(2.0, vec3.cross(v, n)), vec3.cross(C, k)), k)


@generic
def _of_torque(f: Any, b: Any, one: Any, two: Any) -> Any:
    """The same of a row of a torque."""
    (w1, _, alpha1, _), (w2, _, alpha2, _) = one, two
    n, w, o = vec3.cross(f, b), vec3.sub(w2, w1), 0.0 * f[0]
    z, turning = vec3.add(vec3.sub(alpha2, alpha1), vec3.cross(w, w1)), vec3.cross(b, w)
    by_w = vec3.add(vec3.cross(w1, n), vec3.add(vec3.cross(vec3.cross(w, f), b), vec3.cross(f, turning)))
    t = vec3.cross(f, vec3.add(vec3.cross(b, z), vec3.cross(turning, w)))
    t = vec3.add(t, vec3.add(vec3.cross(alpha2, n), vec3.cross(w2, by_w)))
    return (t, (o, o, o)), (vec3.add(vec3.cross(w2, n), by_w), (o, o, o))


@generic
def _axes(model: Record, c: int, k: int, at: int, step: int) -> Any:
    """f and b of row k: axes of body 2 and of body 1."""
    one, two = load9(model.R_GB, access.body(model, c, 0), 0), load9(model.R_GB, access.body(model, c, 1), 0)
    if step == 3:
        return mat33.mul_vec(two, access.vector(model, c, at + step)), mat33.mul_vec(one, access.vector(model, c, at))
    f, b = at + step + k, at + (k + 1) % 3  # columns
    own = access.number(model, c, f), access.number(model, c, f + 3), access.number(model, c, f + 6)
    other = access.number(model, c, b), access.number(model, c, b + 3), access.number(model, c, b + 6)
    return mat33.mul_vec(two, own), mat33.mul_vec(one, other)


@generic
def _put_block(table: Any, e: int, turns: bool, r: Any, C: Any, f: Any, torque: Any, K: Any, blocks: Any) -> None:
    """K of the wrench on the body that is pushed, and that itself: of the one that does not move, or of this, beside Ground.

    *f* and *torque* are on body 2; *K* is by what the torque changes as body 2 turns; *r* is the origin of the one that moves,
    with which forces on a single body move as they are, see `stiffness.follow`. If it *turns*, forces do so with body 1.
    """
    block, alone, second = table[e, BLOCK], table[e, BETWEEN] == 0, table[e, MOVED] == 1
    sign, o = -1.0, 0.0 * f[0]
    if second == alone:
        sign = 1.0
    for d in range(6):
        t = o + 1.0 * (d == 0), o + 1.0 * (d == 1), o + 1.0 * (d == 2)
        s = o + 1.0 * (d == 3), o + 1.0 * (d == 4), o + 1.0 * (d == 5)
        x, y, df = mat33.mul_vec(K, t), (o, o, o), (o, o, o)
        if second:
            y = vec3.add(s, vec3.cross(t, C))
        else:  # a turn of both turns all of it
            x = vec3.sub(vec3.cross(t, torque), x)
            if turns:
                df = vec3.cross(t, f)
                x = vec3.add(x, vec3.cross(C, df))
        if alone:
            y = vec3.sub(y, vec3.add(s, vec3.cross(t, r)))
        x = vec3.add(x, vec3.cross(y, f))
        for i in range(3):
            k = 6 * i + d
            store(blocks, block, k, sign * x[i] + (load(blocks, block, k) if alone else o))
            store(blocks, block, 18 + k, sign * df[i] + (load(blocks, block, 18 + k) if alone else o))
    if not alone:
        store3(blocks, block, OF_WRENCH, vec3.scale(sign, vec3.add(torque, vec3.cross(C, f))))
        store3(blocks, block, OF_WRENCH + 3, vec3.scale(sign, f))


@apart
def add(model: Record, table: Any, way: Any, row_of: Any, A: Any, bodies: Any, columns: Any, blocks: Any, E: Any) -> None:
    """Blocks of forces at given multipliers, and errors along the columns that carry what moves."""
    for e in range(table.shape[0]):
        c, last, second = table[e, WHICH], table[e, COMMON], table[e, MOVED] == 1
        b1, b2 = access.body(model, c, 0), access.body(model, c, 1)
        r, w_F = load3(bodies, access.body(model, c, table[e, MOVED]), 0), load3(model.V_GB, table[e, FRAME], 0)
        C = r
        o = 0.0 * C[0]
        f = torque = o, o, o
        K = o, o, o, o, o, o, o, o, o
        if table[e, POINT] >= 0:
            C = access.from_origin(model, b2, access.vector(model, c, table[e, POINT]))
            if not second:
                C = vec3.add(C, vec3.sub(load3(model.p_GB, b2, 0), load3(model.p_GB, b1, 0)))
            C = vec3.add(r, C)
        one, two = _motion_at(model, b1, bodies, A, C), _motion_at(model, b2, bodies, A, C)
        own, b, sign, other, turns = one, b1, -1.0, b2, table[e, FRAME] == b1
        if second:
            b, sign, other = b2, 1.0, b1
        if second or turns:
            own = two
        for k in range(model.num_p[c]):
            x = load(model.multiplier, model.first_row[c] + k, 0)
            if k >= table[e, FIRST_FORCE]:
                n = load_spatial(model.wrenches, model.first_wrench[c] + 2 * k + 1)[1]
                f = vec3.add_scaled(f, -x, n)
                moved, faster = _of_force(n, C, w_F, one, own)
            else:
                axis, base = _axes(model, c, k, table[e, AXES], table[e, STEP])
                torque = vec3.add_scaled(torque, -x, vec3.cross(axis, base))
                moved, faster = _of_torque(axis, base, one, two)
                along, d = vec3.scale(-x, axis), x * vec3.dot(axis, base)  # (t x f) x b = f (b.t) - t (f.b)
                r0, r1, r2 = vec3.scale(along[0], base), vec3.scale(along[1], base), vec3.scale(along[2], base)
                own_K = r0[0] + d, r0[1], r0[2], r1[0], r1[1] + d, r1[2], r2[0], r2[1], r2[2] + d
                K = mat33.add(K, own_K)
            add_errors_of_row(model, way, c, k, b, last, sign, moved, faster, row_of, bodies, columns, E)
            if table[e, BETWEEN] == BOTH:
                add_errors_of_row(model, way, c, k, other, last, -sign, moved, faster, row_of, bodies, columns, E)
        _put_block(table, e, turns, r, C, f, torque, K, blocks)
