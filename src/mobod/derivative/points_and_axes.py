"""Derivatives of constraints between points and axes fixed to two bodies, in closed form, of all lanes.

A row has a force n at the point C of body 2, along an axis of a frame of body F, or a torque n = f x b of body 2's axis f and
body 1's b; off the manifold, too, the force on body 1 is at C. With k = 2 w_F x n and w = w_2 - w_1

    aerr = n.(a_2 - a_1) + k.(v_2 - v_1) at C
    aerr = n.(alpha_2 - alpha_1 + w x w_1) + w.((w x f) x b)

Body 2 moves by (t; s) about the base's origin, its motion carried along, and C by y = s + t x C. If it moves faster by (a; b),
its acceleration at C changes by 2 a x v_2, beside c of `sweep`, which the row of G takes:

    d(aerr) = t.(a_2' x n + v_2 x k) + y.Y        a' = a - g        Y = alpha_1 x n - w_1 x (w_1 x n) + w_1 x k
    d(aerr) = 2 a.(v_2 x n) + (b + a x C).k
    d(n; f) on body 2 = y x f; (t x f) x b

A distance d is held by a force along the line from a point of body 1 to C, of whose relative motion p = d n, v and a it is

    aerr = n.a + v_n^2 / d        v_n = v - n (n.v)        k = 2 v_n / d, by v
    Y = (a - n (n.a)) / d - (2 (n.v) v_n + n v_n^2) / d^2        df = f.n (y - n (n.y)) / d

Body 1 does the opposite with its own a' and v; n and C stay where they are, as C is body 2's. Where F is body 1 only 2 moves,
where it is body 2 only 1 does, and beside Ground the other one; else both, relative to F, the last body on the way to both.
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, load_spatial, store3
from ..algebra.scalar import load, store, where
from ..compiling import apart, generic
from ..constraint import access
from ..constraint.ball import Ball
from ..constraint.constant_angle import ConstantAngle
from ..constraint.constant_orientation import ConstantOrientation
from ..constraint.point_in_plane import PointInPlane
from ..constraint.point_on_line import PointOnLine
from ..constraint.point_on_plane_contact import PointOnPlaneContact
from ..constraint.rod import Rod
from ..constraint.sphere_on_plane_contact import SphereOnPlaneContact
from ..constraint.sphere_on_sphere_contact import SphereOnSphereContact
from ..constraint.weld import Weld
from ..state.fields import Record
from ..tree import constraints
from .local import BOTH, OF_WRENCH, add_errors_of_row
from .sweep import FORCE

#: Columns of the table: the constraint; body F; which one moves, 0 or 1 of the constraint's; the last body on the way to both;
#: BOTH, ONE, 0 where the other is Ground, or APART where it is of another base; the block of a crossing, or of the body; and of
#: its kind, see `KINDS`.
WHICH, FRAME, MOVED, COMMON, BETWEEN, BLOCK, POINT, FIRST_FORCE, AXES, STEP = range(10)
#: Bodies of two bases, whose origins differ: each moves by itself, and pushes the other.
APART = 3
#: Of each kind by its routine: whether F is the Ancestor, else it is body 1, and how many rows there are; and the number where
#: the point's station begins, and the first row of a force; where the axes begin, of a pair of vectors or of rotations, and how
#: far the second is behind, as much as one takes; or where the other point's station does, and `DISTANCE`. -1 for none.
DISTANCE = -1
KINDS = {
    Ball.routine: (True, 3, (3, 0, -1, 0)),
    Weld.routine: (True, 6, (3, 3, 6, 9)),
    PointInPlane.routine: (False, 1, (4, 0, -1, 0)),
    PointOnLine.routine: (False, 2, (12, 0, -1, 0)),
    PointOnPlaneContact.routine: (False, 3, (12, 0, -1, 0)),
    SphereOnPlaneContact.routine: (False, 1, (12, 0, -1, 0)),  # without rolling, as are two spheres: held at their centers
    SphereOnSphereContact.routine: (False, 1, (4, 0, 0, DISTANCE)),
    Rod.routine: (False, 1, (3, 0, 0, DISTANCE)),
    ConstantAngle.routine: (False, 1, (-1, 1, 0, 3)),
    ConstantOrientation.routine: (False, 3, (-1, 3, 0, 9)),
}


@generic
def _motion_at(model: Record, b: int, bodies: Any, A: Any, arm: Any) -> Any:
    """Of body b, at *arm* from its origin: w; v; alpha; a'."""
    (w, v), (alpha, a) = load_spatial(model.V_GB, b), load_spatial(A, b)
    turned = vec3.cross(w, arm)
    at_C = vec3.add(vec3.sub(a, load3(bodies, 0, FORCE)), vec3.add(vec3.cross(alpha, arm), vec3.cross(w, turned)))
    return w, vec3.add(v, turned), alpha, at_C


@generic
def _of_axis(n: Any, w_F: Any, one: Any) -> Any:
    """k and Y of a force along an axis."""
    w, _, alpha, _ = one
    k = vec3.scale(2.0, vec3.cross(w_F, n))
    return k, vec3.add(vec3.sub(vec3.cross(alpha, n), vec3.cross(w, vec3.cross(w, n))), vec3.cross(w, k))


@generic
def _across(n: Any, x: Any) -> Any:
    return vec3.add_scaled(x, -vec3.dot(n, x), n)


@generic
def _of_distance(n: Any, inverse: Any, one: Any, two: Any) -> Any:
    """k and Y of a force along a line, *inverse* to whose length they are."""
    v, a = vec3.sub(two[1], one[1]), vec3.sub(two[3], one[3])
    across = _across(n, v)
    k = vec3.scale(2.0 * inverse, across)
    turned = vec3.sub(_across(n, a), vec3.scale(vec3.dot(n, v), k))
    return k, vec3.scale(inverse, vec3.add_scaled(turned, -inverse * vec3.dot(across, across), n))


@generic
def _of_force(n: Any, k: Any, y: Any, C: Any, own: Any) -> Any:
    """Errors of a row of a force as body 2 moves, then as it does so faster: in both by (t; s). Body 1 does the opposite."""
    _, v, _, a = own
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


# fmt: off
@generic
def _put_block(
    block: int, alone: bool, second: bool, turns: bool, r: Any, C: Any, place: Any, f: Any, torque: Any, K: Any, N: Any,
    blocks: Any,
) -> None:
    # fmt: on
    """K of the wrench on the body that is pushed, at its *place*, and that itself: of the other one, or of the one that moves.

    *f* and *torque* are on body 2; *K* is by what the torque changes as body 2 turns, *N* the force as C moves; *r* is the
    origin of the one that moves, the *second* or the first, with which forces on a body *alone* move as they are, see
    `stiffness.follow`. If it *turns*, forces do so with body 1.
    """
    sign, o = -1.0, 0.0 * f[0]
    if second == alone:
        sign = 1.0
    for d in range(6):
        t = o + 1.0 * (d == 0), o + 1.0 * (d == 1), o + 1.0 * (d == 2)
        s = o + 1.0 * (d == 3), o + 1.0 * (d == 4), o + 1.0 * (d == 5)
        y = vec3.add(s, vec3.cross(t, C))
        dn, df = mat33.mul_vec(K, t), mat33.mul_vec(N, y)
        if second:
            dn = vec3.add(dn, vec3.cross(y, f))
        else:  # a turn of both turns all of it
            dn, df = vec3.sub(vec3.cross(t, torque), dn), vec3.neg(df)
            if turns:
                df = vec3.add(df, vec3.cross(t, f))
        if alone:
            dn = vec3.sub(dn, vec3.cross(vec3.add(s, vec3.cross(t, r)), f))
        dn = vec3.add(dn, vec3.cross(place, df))
        for i in range(3):
            k = 6 * i + d
            store(blocks, block, k, sign * dn[i] + (load(blocks, block, k) if alone else o))
            store(blocks, block, 18 + k, sign * df[i] + (load(blocks, block, 18 + k) if alone else o))
    if not alone:
        store3(blocks, block, OF_WRENCH, vec3.scale(sign, vec3.add(torque, vec3.cross(C, f))))
        store3(blocks, block, OF_WRENCH + 3, vec3.scale(sign, f))


@generic
def _plus_outer(K: Any, a: Any, b: Any, d: Any) -> Any:
    """K + a b^T + d times the identity."""
    x, y, z = vec3.scale(a[0], b), vec3.scale(a[1], b), vec3.scale(a[2], b)
    return mat33.add(K, (x[0] + d, x[1], x[2], y[0], y[1] + d, y[2], z[0], z[1], z[2] + d))


@apart
def add(model: Record, table: Any, way: Any, row_of: Any, A: Any, bodies: Any, columns: Any, blocks: Any, E: Any) -> None:
    """Blocks of forces at given multipliers, and errors along the columns that carry what moves."""
    for e in range(table.shape[0]):
        c, last, second, step = table[e, WHICH], table[e, COMMON], table[e, MOVED] == 1, table[e, STEP]
        b1, b2 = access.body(model, c, 0), access.body(model, c, 1)
        r, w_F = load3(bodies, access.body(model, c, table[e, MOVED]), 0), load3(model.V_GB, table[e, FRAME], 0)
        o = 0.0 * r[0]
        f = torque = arm2 = o, o, o
        K = N = o, o, o, o, o, o, o, o, o
        if table[e, POINT] >= 0:
            arm2 = access.from_origin(model, b2, access.vector(model, c, table[e, POINT]))
        arm1 = vec3.add(arm2, vec3.sub(load3(model.p_GB, b2, 0), load3(model.p_GB, b1, 0)))
        at, line = arm1, (o, o, o)
        if step == DISTANCE:
            at = access.from_origin(model, b1, access.vector(model, c, table[e, AXES]))
            line = vec3.sub(arm1, at)
        one, two = _motion_at(model, b1, bodies, A, at), _motion_at(model, b2, bodies, A, arm2)
        C, place = vec3.add(r, arm1), vec3.add(load3(bodies, b2, 0), arm2)
        if second:
            C, place = vec3.add(r, arm2), vec3.add(load3(bodies, b1, 0), arm1)
        own, b, sign, other, turns = one, b1, -1.0, b2, table[e, FRAME] == b1
        if second:
            b, sign, other = b2, 1.0, b1
        if second or turns:
            own = two
        for row in range(constraints.num_rows(model, c)):
            x = load(model.multiplier, model.first_row[c] + row, 0)
            if row >= table[e, FIRST_FORCE]:
                n = load_spatial(model.wrenches, model.first_wrench[c] + 2 * row + 1)[1]
                f = vec3.add_scaled(f, -x, n)
                if step == DISTANCE:
                    distance = vec3.dot(n, line)
                    inverse = where(distance > 0.0, 1.0 / where(distance > 0.0, distance, o + 1.0), o)
                    k, y = _of_distance(n, inverse, one, two)
                    N = _plus_outer(N, vec3.scale(x * inverse, n), n, -x * inverse)
                else:
                    k, y = _of_axis(n, w_F, one)
                moved, faster = _of_force(n, k, y, C, own)
            else:
                axis, base = _axes(model, c, row, table[e, AXES], step)
                torque = vec3.add_scaled(torque, -x, vec3.cross(axis, base))
                moved, faster = _of_torque(axis, base, one, two)
                K = _plus_outer(K, vec3.scale(-x, axis), base, x * vec3.dot(axis, base))  # f (b.t) - t (f.b)
            add_errors_of_row(model, way, c, row, b, last, sign, moved, faster, row_of, bodies, columns, E)
            if table[e, BETWEEN] == BOTH:
                add_errors_of_row(model, way, c, row, other, last, -sign, moved, faster, row_of, bodies, columns, E)
        between = table[e, BETWEEN]
        if between == 0 or between == APART:
            _put_block(b, True, second, turns, r, C, C, f, torque, K, N, blocks)
        if between != 0:
            _put_block(table[e, BLOCK], False, second, turns, r, C, place, f, torque, K, N, blocks)
