"""E and D^-1 E of `constraints`: what unit multipliers leave at the mobilities along each constraint's path to Ground.

For accelerations they come of the inward pass of `acceleration` on unit multipliers, E = (1 - H^T psi K) G^T. For projections
E = G^T, and in place of D^-1 is 1 / weight^2 of each mobility, or for q, where q_dot is not u, a matrix of each mobilizer.

The scale of a row is what its square in E^T D^-1 E would be if no products cancelled: it tells a row that moves nothing from
one that moves little. With s_w and s_v the squares of its wrenches' torques and forces, and l^2 those of the levers to a
mobility, it is the sum over mobilities of d^-1 (|h_w|^2 (s_w + l^2 s_v) + |h_v|^2 s_v); only s_w and s_v differ between rows.
A light body on the path makes that large whether the row moves it or not, and so does a distant origin. What the scale suspects
is looked at once more, by the row's angle to what moves: the largest (h . t)^2 / (|h_w|^2 |t_w|^2 + |h_v|^2 |t_v|^2) of a
mobility, where t is the wrench that reaches it, about the mobilizer, and no mass counts.
"""

from typing import Any

from ..algebra import spatial, vec3
from ..algebra.memory import load3, load_spatial, store_spatial
from ..algebra.record import call_routine
from ..algebra.scalar import load, sqrt, store, where, zero
from ..compiling import generic, routine
from ..constraint.protocol import AS_Q, EFFECTS_OF_BLOCK, PROJECT_Q
from ..mobilizer import q_rates
from ..mobilizer.access import put3, vector3
from ..state.fields import Record
from . import block_elimination, prescribed_mobilities
from .block_elimination import BALL, NONE, ONE_BY_ONE
from .prescribed_mobilities import SOLVED, ZERO


@generic
def begin(model: Record, c: int, rows: int) -> None:
    """Z of unit multipliers on the path of constraint c: minus their wrenches. Levers become zero."""
    n = model.path_length[c]
    o = zero(load(model.time, 0, 0))
    for at in range(n * rows):
        store_spatial(model.path_forces, at, (o, o, o), (o, o, o))
    for at in range(n):
        store(model.path_levers, at, 0, o)
    bodies = model.num_constrained_bodies[c]
    for i in range(bodies):
        place = model.constrained_body_place[model.first_constrained_body[c] + i]
        if place >= 0:
            for k in range(rows):
                tw, tv = load_spatial(model.wrenches, model.first_wrench[c] + k * bodies + i)
                zw, zv = load_spatial(model.path_forces, place * rows + k)
                store_spatial(model.path_forces, place * rows + k, vec3.sub(zw, tw), vec3.sub(zv, tv))


@generic
def transmit(model: Record, parent_place: int, b: int, rows: int, k: int, zw: Any, zv: Any) -> None:
    """phi Z+ of row k at body b into its parent's sum."""
    if parent_place >= 0:
        zw, zv = spatial.shift_force(zw, zv, load3(model.p_PB_G, b, 0))
        pw, pv = load_spatial(model.path_forces, parent_place * rows + k)
        store_spatial(model.path_forces, parent_place * rows + k, vec3.add(pw, zw), vec3.add(pv, zv))


@generic
def _lengthen(model: Record, place: int, parent_place: int, b: int) -> None:
    """Squares of levers to the parent's origin."""
    if parent_place >= 0:
        r = load3(model.p_PB_G, b, 0)
        longer = load(model.path_levers, place, 0) + vec3.dot(r, r)
        store(model.path_levers, parent_place, 0, load(model.path_levers, parent_place, 0) + longer)


@generic
def effects(model: Record, c: int) -> None:
    """E and D^-1 E of the rows of constraint c, and their scales. Needs articulated inertias."""
    rows = model.num_p[c] + model.num_v[c] + model.num_a[c]
    begin(model, c, rows)
    row = model.first_row[c]
    n = model.row_stride[row]  # of this group
    base = model.row_effect[row]
    o = zero(load(model.time, 0, 0))
    of_torque, of_force = o, o
    for place in range(model.path_length[c]):
        at = model.first_path[c] + place
        b, up, own = model.path[at], model.path_parent[at], model.path_mobilizer[at]
        lever = load(model.path_levers, place, 0)
        i, num_u, elimination = model.first_u[b], model.num_u[b], model.elimination[b]
        if elimination == ONE_BY_ONE:
            for j in range(num_u):
                hw, hv = load_spatial(model.H, i + j)
                d = load(model.d_inverse, i + j, 0)
                w2 = d * vec3.dot(hw, hw)
                of_torque, of_force = of_torque + w2, of_force + (w2 * lever + d * vec3.dot(hv, hv))
        elif elimination >= BALL:
            J = model.gain
            w2 = load(J, i, 0) + load(J, i, 1) + load(J, i, 2)
            of_torque, of_force = of_torque + w2, of_force + w2 * lever
            if num_u == 6:
                of_force = of_force + (load(J, i + 3, 0) + load(J, i + 3, 1) + load(J, i + 3, 2))
            call_routine(model.constrain[EFFECTS_OF_BLOCK], model, c, place)
        for k in range(rows):
            zw, zv = load_spatial(model.path_forces, place * rows + k)
            e0 = base + k * n
            if num_u > 0:
                e0 = e0 + model.effect_place[i]
            f = model.first_speed[c] + k * model.num_speeds[c] + own
            if elimination == ONE_BY_ONE:
                for j in range(num_u):
                    hw, hv = load_spatial(model.H, i + j)
                    gw, gv = load_spatial(model.gain, i + j)
                    e = -(vec3.dot(hw, zw) + vec3.dot(hv, zv))
                    if own >= 0:
                        e = e + load(model.speed_coefficients, f + j, 0)
                    zw, zv = vec3.add_scaled(zw, e, gw), vec3.add_scaled(zv, e, gv)
                    store(model.effect, e0 + j, 0, e)
                    store(model.own_effect, e0 + j, 0, e * load(model.d_inverse, i + j, 0))
            elif elimination == NONE:  # prescribed: its udot acts on the row, and the row not on it
                for j in range(num_u):
                    hw, hv = load_spatial(model.H, i + j)
                    e = -(vec3.dot(hw, zw) + vec3.dot(hv, zv))
                    if own >= 0:
                        e = e + load(model.speed_coefficients, f + j, 0)
                    store(model.effect, e0 + j, 0, e)
                    store(model.own_effect, e0 + j, 0, o)
            transmit(model, up, b, rows, k, zw, zv)
        _lengthen(model, place, up, b)
    if model.row_place[row] >= 0:  # and no row that friction acts along
        _scales(model, c, rows, of_torque, of_force)


@generic
def rates_of_row(model: Record, c: int, r: int) -> Any:
    """Row r, of constraint c, of G udot_0: E times `own_u_dot`, or times prescribed udot."""
    total = zero(load(model.time, 0, 0))
    for at in range(model.first_path[c], model.first_path[c] + model.path_length[c]):
        b = model.path[at]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            e = load(model.effect, model.row_effect[r] + model.effect_place[i], 0)
            if model.prescribed[b] == SOLVED:
                total = total + e * load(model.own_u_dot, i, 0)
            elif model.prescribed[b] > ZERO:
                total = total + e * prescribed_mobilities.acceleration(model, b, i)
    return total


@routine
def effects_of_block(model: Record, c: int, place: int) -> int:
    """E, D^-1 E and Z+ of all rows at the body at *place* of the path, whose mobilities are eliminated as a block."""
    at = model.first_path[c] + place
    b, own = model.path[at], model.path_mobilizer[at]
    rows = model.num_p[c] + model.num_v[c] + model.num_a[c]
    row = model.first_row[c]
    e0 = model.row_effect[row] + model.effect_place[model.first_u[b]]
    f = model.first_speed[c] + own
    o = zero(load(model.time, 0, 0))
    for k in range(rows):
        zw, zv = load_spatial(model.path_forces, place * rows + k)
        tau, force = (o, o, o), (o, o, o)
        if own >= 0:
            f_v = tau
            if model.num_u[b] == 6:
                f_v = vector3(model.speed_coefficients, f + 3)
            tau, force = block_elimination.torque_and_force(model, b, vector3(model.speed_coefficients, f), f_v)
        rest_w, rest_v, own_w, own_v, zw, zv = block_elimination.absorb_with_rests(model, b, tau, force, zw, zv)
        put3(model.effect, e0, rest_w)
        put3(model.own_effect, e0, own_w)
        if model.num_u[b] == 6:
            put3(model.effect, e0 + 3, rest_v)
            put3(model.own_effect, e0 + 3, own_v)
        store_spatial(model.path_forces, place * rows + k, zw, zv)
        e0 += model.row_stride[row]
        f += model.num_speeds[c]
    return 0


@generic
def weighted_effects(model: Record, c: int, what: int) -> None:
    """E = G^T and G^T / weight^2 of the rows of constraint c, for a projection of q or u.

    Both are zero for rows that take no part in it, the second for prescribed mobilities.
    """
    rows, pushes = model.num_p[c] + model.num_v[c] + model.num_a[c], model.num_constrained_bodies[c] > 0
    taking_part = model.num_p[c]
    if what != PROJECT_Q:
        taking_part = taking_part + model.num_v[c]
    if pushes:
        begin(model, c, rows)
    row = model.first_row[c]
    n = model.row_stride[row]
    base = model.row_effect[row]
    o = zero(load(model.time, 0, 0))
    of_torque, of_force = o, o
    for place in range(model.path_length[c]):
        at = model.first_path[c] + place
        b, up, own = model.path[at], model.path_parent[at], model.path_mobilizer[at]
        i, num_u = model.first_u[b], model.num_u[b]
        if pushes:
            lever = load(model.path_levers, place, 0)
            for j in range(num_u):
                hw, hv = load_spatial(model.H, i + j)
                d = load(model.projection_weight, i + j, 0)
                w2 = d * vec3.dot(hw, hw)
                of_torque, of_force = of_torque + w2, of_force + (w2 * lever + d * vec3.dot(hv, hv))
        for k in range(rows):
            f = model.first_speed[c] + k * model.num_speeds[c] + own
            for j in range(num_u):
                e = o
                if pushes:
                    hw, hv = load_spatial(model.H, i + j)
                    zw, zv = load_spatial(model.path_forces, place * rows + k)
                    e = -(vec3.dot(hw, zw) + vec3.dot(hv, zv))
                if own >= 0:
                    e = e + load(model.speed_coefficients, f + j, 0)
                if k >= taking_part:
                    e = o
                e0 = base + k * n + model.effect_place[i] + j
                store(model.effect, e0, 0, e)
                store(model.own_effect, e0, 0, e * load(model.projection_weight, i + j, 0))
            if what == PROJECT_Q and model.rates[b] != q_rates.SAME and (pushes or own >= 0):
                call_routine(model.constrain[AS_Q], model, b, base + k * n + model.effect_place[i])
            if pushes:
                zw, zv = load_spatial(model.path_forces, place * rows + k)
                transmit(model, up, b, rows, k, zw, zv)
        if pushes:
            _lengthen(model, place, up, b)
    _scales(model, c, rows, of_torque, of_force)
    for k in range(taking_part, rows):  # left out, and not redundant
        store(model.gram_inverse, model.row_place[row + k], 0, o - 1.0)


@routine
def as_q(model: Record, b: int, e0: int) -> int:
    """N times `projection_step` into `work_q` for body b; if *e0* is not below 0, `_weigh_as_q`. Where q_dot is not u."""
    if e0 < 0:
        q_rates.n_times(model, b, model.projection_step, model.first_u[b], model.work_q, model.first_q[b])
    else:
        _weigh_as_q(model, b, e0)
    return 0


@generic
def _weigh_as_q(model: Record, b: int, e0: int) -> None:
    """W^-1 N^+ (W^-1 N^+)^T times the effect of a row on body b: its u are weighed by the q_dot that they make."""
    first = model.first_u[b]
    for j in range(model.num_u[b]):
        weight = sqrt(load(model.projection_weight, first + j, 0))
        store(model.projection_work, first + j, 0, weight * load(model.effect, e0 + j, 0))
    q_rates.n_inv_transpose_times(model, b, model.projection_work, first, model.work_q, model.first_q[b])
    q_rates.n_inv_times(model, b, model.work_q, model.first_q[b], model.projection_work, first)
    for j in range(model.num_u[b]):
        weight = sqrt(load(model.projection_weight, first + j, 0))
        store(model.own_effect, e0 + j, 0, weight * load(model.projection_work, first + j, 0))


@generic
def _scales(model: Record, c: int, rows: int, of_torque: Any, of_force: Any) -> None:
    """The scales of the rows of constraint c."""
    n = model.num_constrained_bodies[c]
    for k in range(rows):
        torque = zero(of_torque)
        force = zero(of_torque)
        for i in range(n):
            tw, tv = load_spatial(model.wrenches, model.first_wrench[c] + k * n + i)
            torque, force = torque + vec3.dot(tw, tw), force + vec3.dot(tv, tv)
        scale = torque * of_torque + force * of_force
        store(model.gram_inverse, model.row_place[model.first_row[c] + k], 0, scale)


@generic
def square_of_angle(model: Record, c: int, k: int) -> Any:
    """The square of the angle, up to 1, that row k of constraint c has to what moves, and the length that it acts by.

    Needs its effects.
    """
    n, row = model.num_constrained_bodies[c], model.first_row[c] + k
    o = zero(load(model.time, 0, 0))
    largest, reach = o, o
    for place in range(model.path_length[c]):
        store_spatial(model.path_forces, place, (o, o, o), (o, o, o))
    for i in range(n):
        place = model.constrained_body_place[model.first_constrained_body[c] + i]
        if place >= 0:
            tw, tv = load_spatial(model.wrenches, model.first_wrench[c] + k * n + i)
            zw, zv = load_spatial(model.path_forces, place)
            store_spatial(model.path_forces, place, vec3.add(zw, tw), vec3.add(zv, tv))
    for place in range(model.path_length[c]):
        at = model.first_path[c] + place
        b, own = model.path[at], model.path_mobilizer[at]
        zw, zv = load_spatial(model.path_forces, place)
        transmit(model, model.path_parent[at], b, 1, 0, zw, zv)
        if model.num_u[b] > 0:
            i, e0 = model.first_u[b], model.row_effect[row] + model.effect_place[model.first_u[b]]
            moved = o  # not where it is locked or driven
            for j in range(model.num_u[b]):
                moved = moved + load(model.own_effect, e0 + j, 0) * load(model.own_effect, e0 + j, 0)
            r = load3(model.p_BM_G, b, 0)
            torque = vec3.sub(zw, vec3.cross(r, zv))
            square = vec3.dot(torque, torque)
            reach = where(square > reach, square, reach)
            p = load3(model.p_PB_G, b, 0)
            slid = vec3.dot(p, p) * vec3.dot(zv, zv)
            reach = where(slid > reach, slid, reach)
            for j in range(model.num_u[b]):
                hw, hv = load_spatial(model.H, i + j)
                e = vec3.dot(hw, zw) + vec3.dot(hv, zv)
                if own >= 0:
                    e = e + load(model.speed_coefficients, model.first_speed[c] + k * model.num_speeds[c] + own + j, 0)
                hv = vec3.add(hv, vec3.cross(hw, r))
                whole = vec3.dot(hw, hw) * square + vec3.dot(hv, hv) * vec3.dot(zv, zv)
                part = where(whole > e * e, e * e / where(whole > e * e, whole, 1.0 + o), 1.0 + o)
                largest = where(moved > 0.0, where(part > largest, part, largest), largest)
    return largest, sqrt(reach)


@generic
def form_gram(model: Record, g: int) -> None:
    """The lower half of W = E^T D^-1 E of group g, each row summed over its own path."""
    n, m, first = model.group_num_speeds[g], model.group_num_rows[g], model.group_gram[g]
    effect = model.group_effect[g]
    i = 0
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        rows = model.num_p[c] + model.num_v[c] + model.num_a[c]
        for _ in range(rows):
            for j in range(i + 1):
                total = zero(load(model.time, 0, 0))
                for place in range(model.first_path[c], model.first_path[c] + model.path_length[c]):
                    b = model.path[place]
                    u = model.first_u[b]
                    for k in range(u, u + model.num_u[b]):
                        p = effect + model.effect_place[k]
                        total = total + load(model.own_effect, p + i * n, 0) * load(model.effect, p + j * n, 0)
                store(model.gram, first + i * m + j, 0, total)
            i += 1
