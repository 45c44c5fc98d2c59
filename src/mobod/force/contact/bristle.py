"""Friction that sticks: an elastic bristle at each point of contact, which slides when it is bent too far.

    z   deflection: tangential displacement of the second surface from the first since they have stuck    s = v_t   slip
    k = f_e / x    d = min(mu_s f / v_t, k tau)    r = f (mu(s) + mu_v s)

    f_t = -(k z + d s)  if that is less than r: sticking;   else r along it, and z = (-f_t - d s) / k, at most mu(s) f / k long

mu(s) is mu_s up to the transition velocity v_t, and then Stribeck's. At rest z carries the load and nothing creeps. This is the
elasto-plastic law of Dupont, Hayward, Armstrong and Altpeter (2002, IEEE Trans. Autom. Control 47, 787), with a sharp
threshold, its differential equation solved exactly over a step in which all slip has one direction. tau, the time in which a
bent bristle straightens, bounds the damping where a small part of a heavy body is pressed on, a robot's foot as it lands:
without it d over the part's mass is the stiffest thing of all.

**What is remembered.** At the end of each accepted step: for each point, by its pair and feature, where it was on both bodies,
which way the normal pointed, how the bodies were turned from each other, and z. Where a surface has a velocity, places are
those of its material, which moves along. Within a step, z is that plus the displacement of these two places since: a function
of q, without any integration in time. With c_i the way of the point over body i, a chord, and phi_i the angle by which the
normal turned on it,

    z = z_0 + c_1 phi_1 / sin(phi_1) - c_2 phi_2 / sin(phi_2)   in the plane of contact

the arcs of spheres, so that what rolls is not braked. c_1 is fixed to the first body; c_2 is the mean of where the second body
has it now, and had it at the step's beginning: what goes round on its rim, Euler's disk, turns about the normal as it rolls,
and with c_2 as it is now would slip to the side by half of what it turns, an energy of the first order of the step.

While a point sticks, or while it slides, forces are smooth, and the integrator has its full order; a step in which it changes
from one to the other is of first order in the time of the change. A point that is new, or was gone at the end of a step, begins
with z = 0.

The energy of the bristles, at most mu_s^2 f x / 2, is not part of the potential energy: the power that friction takes counts as
dissipated, also what bristles give back. So the balance of energy closes, and that power may be below zero for a while.

Rows are in the order in which points were evaluated, up to the first whose key is zero; that order changes little from one
evaluation to the next, so that a point is looked for where the last one was found.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import any_not_finite, atan2, bare, load, load_lane, one, sqrt, store, store_lane, where, zero
from ...compiling import generic
from ...contact.access import NORMAL, Pair, key_of, load3_lane, store3_lane
from .. import routines
from .resistance import carried

#: Columns of a row: the point's number, its places on both bodies, the normal on the first, R_12 as `_turned`, z on the first.
_KEY, _PLACE1, _PLACE2, _NORMAL1, _TURN, _BENT = 0, 1, 4, 7, 10, 13
_COLUMNS = 16
#: Of states with rows that are left to copy.
_SOME = float("inf")
#: Rows of a table a surface, and at least; a table is enlarged by Python when it is full.
ROWS_A_SURFACE, LEAST_ROWS = 16, 64
#: Columns of contact_sum: how many points the present evaluation has noted, and where the next one is looked for.
_COUNT, _HINT = 28, 29


@generic
def clear_bristles(model: Any) -> None:
    """Forget the points of the last evaluation."""
    none = zero(load(model.time, 0, 0))
    store(model.bristle_now, 0, _KEY, none)
    store(model.contact_sum, 0, _COUNT, none)
    store(model.contact_sum, 0, _HINT, none)


@generic
def forget_bristles(model: Any) -> None:
    """Remember no points: steps in which other friction acts leave those of the last step behind, wherever bodies go."""
    none = zero(load(model.time, 0, 0))
    store(model.bristle_now, 0, _KEY, none)
    store(model.bristle_next, 0, _KEY, none)
    store(model.bristle_memory, 0, _KEY, none)


@generic
def finish_bristles(model: Any, mark: Any) -> None:
    """At the ends of steps, of states that are marked: what the evaluation there has found is to be remembered."""
    _copy(model.bristle_now, model.bristle_next, model.bristle_rows, mark)


@generic
def begin_bristles(model: Any) -> None:
    """Begin a run: the bristle is remembered from now on."""
    _copy(model.bristle_next, model.bristle_memory, model.bristle_rows, one(load(model.time, 0, 0)))


@generic
def _copy(source: Any, target: Any, size: int, mark: Any) -> None:
    left = where(mark > 0.0, _SOME + zero(mark), zero(mark))
    for row in range(size):
        left = where(load(source, row, _KEY) == 0.0, zero(mark), left)
        # of the first row without a point, and where surfaces are far that is the first, the key alone
        for column in range(_COLUMNS if any_not_finite(left) else _KEY + 1):
            store(target, row, column, where(mark > 0.0, load(source, row, column), load(target, row, column)))
        if not any_not_finite(left):
            break


@generic
def remember_as(model: Any, other: Any, lane: int) -> None:
    """A record of one state, of any scalar, remembers the points of a lane of the *other*."""
    for row in range(model.bristle_rows):
        is_last = bare(load_lane(other.bristle_memory, row, _KEY, lane)) == 0.0
        for column in range(_KEY + 1 if is_last else _COLUMNS):
            store_lane(model.bristle_memory, row, column, 0, bare(load_lane(other.bristle_memory, row, column, lane)))
        if is_last:
            break


@generic
def _row_of(model: Any, key: float, lane: int) -> int:
    """The row in which the point with a key is remembered, or -1; it is looked for after the one that was found last."""
    rows, size = model.bristle_memory, model.bristle_rows
    hint = int(bare(load_lane(model.contact_sum, 0, _HINT, lane)))
    for turn in range(2):
        row, end = (hint, size) if turn == 0 else (0, hint)
        while row < end:
            found = bare(load_lane(rows, row, _KEY, lane))
            if found == key:
                store_lane(model.contact_sum, 0, _HINT, lane, row + 1.0)
                return row
            if found == 0.0:
                break
            row += 1
    return -1


@generic
def _rotation(model: Any, body: int, lane: int) -> Any:
    a, b, c = load3_lane(model.R_GB, body, 0, lane)
    d, e, f = load3_lane(model.R_GB, body, 3, lane)
    g, h, k = load3_lane(model.R_GB, body, 6, lane)
    return a, b, c, d, e, f, g, h, k


@generic
def _turned(R: Any) -> Any:
    """A rotation as three numbers, its quaternion's vector over one more than its scalar part (Wiener 1962; Spurrier 1978)."""
    trace = R[0] + R[4] + R[8]
    if trace >= R[0] and trace >= R[4] and trace >= R[8]:
        w, x, y, z = 1.0 + trace, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif R[0] >= R[4] and R[0] >= R[8]:
        w, x, y, z = R[7] - R[5], 1.0 + 2.0 * R[0] - trace, R[1] + R[3], R[2] + R[6]
    elif R[4] >= R[8]:
        w, x, y, z = R[2] - R[6], R[1] + R[3], 1.0 + 2.0 * R[4] - trace, R[5] + R[7]
    else:
        w, x, y, z = R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 + 2.0 * R[8] - trace
    size = sqrt(w * w + x * x + y * y + z * z)
    if w < 0.0:
        size = -size
    k = 1.0 / (size + w)
    return k * x, k * y, k * z


@generic
def _turn(p: Any, side: float, v: Any) -> Any:
    """R v, of a rotation as `_turned` has it, or R^T v with *side* -1."""
    k = 1.0 / (1.0 + vec3.dot(p, p))
    a = vec3.scale(2.0 * k, p)
    once = vec3.cross(a, v)
    return vec3.add_scaled(vec3.add_scaled(v, side * (2.0 * k - 1.0) * 2.0, once), 2.0, vec3.cross(a, once))


@generic
def _carried_over(v: Any, before: Any, n: Any) -> Any:
    """V as it is turned by the least rotation that takes the unit vector *before* to n."""
    a, c = vec3.cross(before, n), vec3.dot(before, n)
    if c <= 0.0:
        return v
    once = vec3.cross(a, v)
    return vec3.add_scaled(vec3.add(v, once), 1.0 / (1.0 + c), vec3.cross(a, once))


@generic
def _in_plane(v: Any, n: Any) -> Any:
    return vec3.add_scaled(v, -vec3.dot(v, n), n)


@generic
def _arc(chord: Any, before: Any, n: Any) -> Any:
    """The way over a surface on which the normal turned from *before* to n: its chord in the plane, times phi / sin phi."""
    turned = vec3.cross(before, n)
    square = vec3.dot(turned, turned)
    flat = _in_plane(chord, n)
    if square > 1e-16 and vec3.dot(before, n) > 0.0:
        sine = sqrt(square)
        return vec3.scale(atan2(sine, vec3.dot(before, n)) / sine, flat)
    return flat


@generic
def bristle_force(
    model: Any,
    pair: Pair,
    row: int,
    p: Any,
    normal: Any,
    stiffness: Any,
    slip: Any,
    mu: Any,
    vt: Any,
    tau: Any,
    moves: bool,
    what: int,
) -> Any:
    """The force of friction on the second surface at the point p; with FORCES, what is to be remembered of it is noted."""
    a, b, lane = pair
    body1, body2 = model.surface_body[a], model.surface_body[b]
    n = load3_lane(model.contact_point, row, NORMAL, lane)
    R1, R2 = _rotation(model, body1, lane), _rotation(model, body2, lane)
    r1 = vec3.sub(p, load3_lane(model.p_GB, body1, 0, lane))
    r2 = vec3.sub(p, load3_lane(model.p_GB, body2, 0, lane))
    place1, place2 = mat33.transpose_mul_vec(R1, r1), mat33.transpose_mul_vec(R2, r2)
    if moves:  # of the material, which a belt carries along
        place1, place2 = vec3.sub(place1, carried(model, a, lane)), vec3.sub(place2, carried(model, b, lane))
    key = float(key_of(model, pair, row))
    o = zero(normal)
    z = o, o, o
    kept, rows = _row_of(model, key, lane), model.bristle_memory
    if kept >= 0:
        way1 = vec3.sub(place1, load3_lane(rows, kept, _PLACE1, lane))
        way2 = vec3.sub(place2, load3_lane(rows, kept, _PLACE2, lane))
        n1 = mat33.mul_vec(R1, load3_lane(rows, kept, _NORMAL1, lane))
        turn = load3_lane(rows, kept, _TURN, lane)
        n2 = mat33.mul_vec(R2, _turn(turn, -1.0, load3_lane(rows, kept, _NORMAL1, lane)))
        began = _carried_over(mat33.mul_vec(R1, _turn(turn, 1.0, way2)), n1, n)
        over2 = vec3.scale(0.5, vec3.add(mat33.mul_vec(R2, way2), began))
        moved = vec3.sub(_arc(mat33.mul_vec(R1, way1), n1, n), _arc(over2, n2, n))
        z = vec3.add(_in_plane(mat33.mul_vec(R1, load3_lane(rows, kept, _BENT, lane)), n), moved)
    us, ud, uv = mu
    square = vec3.dot(slip, slip)
    damping = us * normal / vt
    if damping > tau * stiffness:
        damping = tau * stiffness
    pull = vec3.add_scaled(vec3.scale(stiffness, z), damping, slip)
    size = vec3.dot(pull, pull)
    most, speed = us * normal, o
    if square > 0.0:
        speed = sqrt(square)
        most = normal * coefficient(us, ud, speed / vt)
    limit = most + normal * uv * speed
    if size > limit * limit:
        pull = vec3.scale(limit / sqrt(size), pull)
        bent = vec3.add_scaled(pull, -damping, slip)
        longest = vec3.dot(bent, bent)
        if longest > most * most:
            bent = vec3.scale(most / sqrt(longest), bent)
        z = vec3.scale(1.0 / stiffness, bent) if stiffness > 0.0 else (o, o, o)
    if what == routines.FORCES:
        now, rows = int(bare(load_lane(model.contact_sum, 0, _COUNT, lane))), model.bristle_now
        if now >= model.bristle_rows:
            return (o + float("nan"), o, o)
        store_lane(model.contact_sum, 0, _COUNT, lane, now + 1.0)
        store_lane(rows, now, _KEY, lane, key)
        if now + 1 < model.bristle_rows:
            store_lane(rows, now + 1, _KEY, lane, 0.0)
        store3_lane(rows, now, _PLACE1, lane, place1)
        store3_lane(rows, now, _PLACE2, lane, place2)
        store3_lane(rows, now, _NORMAL1, lane, mat33.transpose_mul_vec(R1, n))
        store3_lane(rows, now, _TURN, lane, _turned(mat33.mul(mat33.transpose(R1), R2)))
        store3_lane(rows, now, _BENT, lane, mat33.transpose_mul_vec(R1, z))
    return vec3.neg(pull)


@generic
def coefficient(us: Any, ud: Any, v: Any) -> Any:
    """mu at a slip of v transition velocities."""
    if v >= 3.0:
        return ud
    if v >= 1.0:
        y = 0.5 * (v - 1.0)
        return us - (us - ud) * y * y * y * (10.0 + y * (6.0 * y - 15.0))
    return us
