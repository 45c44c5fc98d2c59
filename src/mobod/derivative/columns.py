"""Derivatives of what may depend on the whole tree: elements, constraints, z and time, eight columns at a time by Duals.

What names its bodies and mobilizers is differentiated by the motion of these alone, see `local`; the motion of a body along
a column is found here for both.

The rigid part is `sweep`, by one sweep. There a displacement along a hinge column S_k carries all
that is outboard of k as one rigid body, forces included, and beyond that velocities and accelerations change by

    by q   V' = a_k,  A' = c_k - V x a_k        by u   V' = S_k,  A' = c_k - V x S_k

So the motion of each body along a column is known without a sweep: it is what the body's record of Duals is filled with, as
tangents. The elements' own routines, and those of constraints, then give how their forces change, dF, and

    d tau = J^T (dF - S_k x* F)        the last term where the body is carried along

is what the rigid sweep has not, which carries all applied forces F along. Constant forces have dF = 0. Where parts need more
than the poses, velocities and accelerations of bodies, q, u, z and time, there is a sweep of the kinematics by Duals.

All of this is of one state; many are taken one after the other, since a Dual of eight states would take eight times as long.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load3, load_spatial, load_tangents3, store_spatial, store_tangents3
from ..algebra.record import call_routine
from ..algebra.scalar import (
    load,
    load_lane,
    load_tangent,
    load_tangents,
    one,
    store,
    store_lane,
    store_tangent,
    store_tangents,
    where,
    zero,
)
from ..compiling import apart, generic, routine
from ..constraint import protocol
from ..force import dispatch
from ..force.routines import FORCES
from ..mobilizer import dispatch as mobilizers, q_rates
from ..state.fields import Record
from ..state.validity import KINEMATICS
from ..tree import constraint_operators, prescribe
from .sweep import BEND, BEND_BY_U, FORCE

#: What `contribute` is asked for: constraints, a sweep of the kinematics; what reads z and time. Of a plan also whether gravity
#: is a force as any other.
CONSTRAINED, SWEPT, PULLED, REST = 1, 2, 4, 8
#: Numbers of a mobility that columns are made of: S, a, c by q, c by u.
NUMBERS_OF_COLUMN = 24
#: Rows of the eight columns that are on their way: displacement, change of velocity and of acceleration; the places carried.
MOVED, _FASTER, _FASTER_STILL, _BEGIN, _END, NUMBERS_OF_EIGHT = 0, 6, 12, 18, 19, 20


@routine
def contribute(model: Record, asked: int, unused: int) -> int:
    """Forces on bodies and mobilities, errors of constraints' accelerations in `row_work`, what motions prescribe.

    Of a record of Duals that knows how bodies move, or q and u alone, where it is SWEPT. Runs of elements without a routine
    are left out; those whose address is below zero are for the REST.
    """
    if asked & SWEPT != 0:
        call_routine(model.kinematics_sweep[0], model, 0, KINEMATICS)
    dispatch.clear(model)
    for r in range(model.nr):
        address = model.run_routine[r]
        if asked & REST != 0:
            address = abs(address)
        if address > 0:
            call_routine(address, model, model.run_first[r], model.run_end[r], FORCES)
    if asked & CONSTRAINED != 0:
        call_routine(model.constrain[0], model, protocol.POSITIONS, 0)
        call_routine(model.constrain[0], model, protocol.VELOCITIES, 0)
        constraint_operators.add_forces(model, model.multiplier, model.body_forces, model.mobility_forces, -1.0)
        constraint_operators.calc_acceleration_errors(model, model.work_A, model.u_dot, model.row_work)
    prescribe.sweep(model)
    return 0


@routine
def find_hinge(model: Record, b: int, unused: int) -> int:
    """Hinge columns of body b in F, and their rates times its speeds."""
    mobilizers.position(model, b, b)
    if model.has_hinge_dot[b] == 1:
        mobilizers.velocity(model, b, b)
    return 0


@generic
def find_wrenches(model: Record, acted: Any, g: Any, constrained: bool, F: Any, f: Any) -> None:
    """Applied wrenches on the bodies *acted* on, without those of the gravity *g*, and with the constraints'.

    *f* is scratch, a number a mobility.
    """
    for at in range(acted.shape[0]):
        b = acted[at]
        m = load(model.mass, b, 0)
        weight = vec3.scale(m, g)
        torque, force = load_spatial(model.body_forces, b)
        torque = vec3.sub(torque, vec3.cross(load3(model.com_G, b, 0), weight))
        store_spatial(F, b, torque, vec3.sub(force, weight))
    if constrained:
        constraint_operators.add_forces(model, model.multiplier, F, f, -1.0)


@generic
def constants(source: Any, lane: int, first: int, end: int, columns: int, target: Any) -> None:
    """Rows of one state, without tangents."""
    for i in range(first, end):
        for j in range(columns):
            store(target, i, j, load_lane(source, i, j, lane))


@generic
def fill_rest(model: Record, lane: int, asked: int, dual: Record) -> None:
    """Time, z, particles and multipliers of a record of Duals at one state."""
    constants(model.time, lane, 0, 1, 1, dual.time)
    constants(model.z, lane, 0, dual.forces_nz, 1, dual.z)
    constants(model.particle_location, lane, 0, model.particle_size, 1, dual.particle_location)
    constants(model.particle_velocity, lane, 0, model.particle_size, 1, dual.particle_velocity)
    if asked & CONSTRAINED != 0:
        constants(model.multiplier, lane, 0, model.num_rows, 1, dual.multiplier)


@generic
def fill(model: Record, lane: int, u_dot: Any, A: Any, asked: int, dual: Record) -> None:
    """The coordinates of a record of Duals at one state; bodies have accelerations *A* with *u_dot*."""
    fill_rest(model, lane, asked, dual)
    constants(model.q, lane, 0, model.nq, 1, dual.q)
    constants(model.u, lane, 0, model.nu, 1, dual.u)
    if asked & CONSTRAINED != 0:
        constants(u_dot, lane, 0, model.nu, 1, dual.u_dot)


@generic
def fill_pose(model: Record, lane: int, b: int, dual: Record) -> None:
    """The pose of body b, in a record of Duals at one state."""
    constants(model.R_GB, lane, b, b + 1, 9, dual.R_GB)
    constants(model.p_GB, lane, b, b + 1, 3, dual.p_GB)


@apart
def fill_body(model: Record, lane: int, b: int, A: Any, asked: int, dual: Record) -> None:
    """Its motion."""
    fill_pose(model, lane, b, dual)
    constants(model.V_GB, lane, b, b + 1, 6, dual.V_GB)
    constants(model.com_G, lane, b, b + 1, 3, dual.com_G)
    if asked & CONSTRAINED != 0:
        constants(A, lane, b, b + 1, 6, dual.work_A)


# fmt: off
@generic
def _begin_eight(
    model: Record, lane: int, first: int, last: int, body_of: Any, N: Any, columns: Any, flat: Any, seeds: Any, dual: Record
) -> None:
    # fmt: on
    """The seeds of the columns from *first* to before *last*: by q, u, z, time."""
    nu, nz = model.nu, dual.forces_nz
    o = zero(load(seeds, 0, 0))
    for i in range(NUMBERS_OF_EIGHT):
        store(seeds, i, 0, o)
    store_tangents(dual.time, 0, 0, o)
    for i in range(model.nq):
        store_tangents(dual.q, i, 0, o)
    for i in range(nu):
        store_tangents(dual.u, i, 0, o)
    for i in range(nz):
        store_tangents(dual.z, i, 0, o)
    for t in range(last - first):
        c = first + t
        if c < 2 * nu:
            k = c
            if c < nu:
                b = body_of[k]
                put_column(model, lane, k, body_of, columns, flat, t)
                for j in range(6):
                    flat[_FASTER_STILL + j, t] = load_lane(columns, k, 12 + j, lane)
                for i in range(model.first_q[b], model.first_q[b] + model.num_q[b]):
                    store_tangent(dual.q, i, 0, t, load_lane(N, i, k - model.first_u[b], lane))
            else:
                k = c - nu
                for j in range(6):
                    flat[_FASTER + j, t] = load_lane(columns, k, j, lane)
                    flat[_FASTER_STILL + j, t] = load_lane(columns, k, 18 + j, lane)
                store_tangent(dual.u, k, 0, t, 1.0)
                _put_places(model, body_of[k], flat, t)
        elif c < 2 * nu + nz:
            store_tangent(dual.z, c - 2 * nu, 0, t, 1.0)
        else:
            store_tangent(dual.time, 0, 0, t, 1.0)


@generic
def _put_places(model: Record, b: int, flat: Any, t: int) -> None:
    """Let column t carry body b, and all that is outboard of it."""
    flat[_BEGIN, t] = model.first_place[b]
    flat[_END, t] = model.end_place[b]


@generic
def put_column(model: Record, lane: int, k: int, body_of: Any, columns: Any, flat: Any, t: int) -> None:
    """Displacement and change of velocity of column t of eight: those by the coordinate of mobility k."""
    for j in range(12):
        flat[MOVED + j, t] = load_lane(columns, k, j, lane)
    _put_places(model, body_of[k], flat, t)


@generic
def turning(keep: Any, seeds: Any) -> Any:
    """The turns of a body along eight columns, if it *keeps* them."""
    return vec3.scale(keep, load3(seeds, MOVED, 0))


@generic
def load3_lane(rows: Any, row: int, column: int, lane: int) -> Any:
    """Three numbers of one lane."""
    return load_lane(rows, row, column, lane), load_lane(rows, row, column + 1, lane), load_lane(rows, row, column + 2, lane)


@generic
def carried(model: Record, b: int, carrier: Any, seeds: Any) -> Any:
    """1 in the columns that carry body b along, else 0."""
    begin = load(seeds, _BEGIN, 0)
    keep = zero(begin)
    if carrier[b] > 0:
        place = 1.0 * model.first_place[carrier[b]]
        keep = where(begin <= place, where(place < load(seeds, _END, 0), one(begin), keep), keep)
    return keep


@apart
def move(model: Record, lane: int, b: int, bodies: Any, asked: int, A: Any, keep: Any, seeds: Any, dual: Record) -> None:
    """Motion of body b along eight columns, if it *keeps* them; spatial vectors are about its base's origin, which is fixed."""
    r = load3_lane(bodies, b, 0, lane)
    turn, shift = turning(keep, seeds), vec3.scale(keep, load3(seeds, MOVED + 3, 0))
    moved = vec3.add(shift, vec3.cross(turn, r))
    store_tangents3(dual.p_GB, b, 0, moved)
    store_tangents3(dual.com_G, b, 0, vec3.cross(turn, load3_lane(model.com_G, b, 0, lane)))
    for j in range(3):
        axis = load_lane(model.R_GB, b, j, lane), load_lane(model.R_GB, b, 3 + j, lane), load_lane(model.R_GB, b, 6 + j, lane)
        x = vec3.cross(turn, axis)
        for i in range(3):
            store_tangents(dual.R_GB, b, 3 * i + j, x[i])
    w, v = load3_lane(model.V_GB, b, 0, lane), load3_lane(model.V_GB, b, 3, lane)
    v0 = vec3.sub(v, vec3.cross(w, r))
    fw, fv = vec3.scale(keep, load3(seeds, _FASTER, 0)), vec3.scale(keep, load3(seeds, _FASTER + 3, 0))
    dw = vec3.add(vec3.cross(turn, w), fw)
    dv0 = vec3.add(vec3.add(vec3.cross(turn, v0), vec3.cross(shift, w)), fv)
    dv = vec3.add(vec3.add(dv0, vec3.cross(dw, r)), vec3.cross(w, moved))
    store_tangents3(dual.V_GB, b, 0, dw)
    store_tangents3(dual.V_GB, b, 3, dv)
    if asked & CONSTRAINED != 0:
        g, aw, av = load3_lane(bodies, 0, FORCE, lane), load3_lane(A, b, 0, lane), load3_lane(A, b, 3, lane)
        a0 = vec3.sub(vec3.sub(av, vec3.cross(w, v)), vec3.add(vec3.cross(aw, r), g))
        sw = vec3.sub(vec3.scale(keep, load3(seeds, _FASTER_STILL, 0)), vec3.cross(w, fw))
        sv = vec3.scale(keep, load3(seeds, _FASTER_STILL + 3, 0))
        sv = vec3.sub(sv, vec3.add(vec3.cross(w, fv), vec3.cross(v0, fw)))
        daw = vec3.add(vec3.cross(turn, aw), sw)
        da = vec3.add(vec3.add(vec3.cross(turn, a0), vec3.cross(shift, aw)), sv)
        da = vec3.add(da, vec3.add(vec3.cross(daw, r), vec3.cross(aw, moved)))
        store_tangents3(dual.work_A, b, 0, daw)
        store_tangents3(dual.work_A, b, 3, vec3.add(da, vec3.add(vec3.cross(dw, v), vec3.cross(w, dv))))


# fmt: off
@generic
def _gather(
    model: Record, lane: int, first: int, last: int, bodies: Any, columns: Any, seeds: Any, flat: Any, sums: Any, dual: Record,
    D: Any, T: Any,
) -> None:
    # fmt: on
    """The columns from *first* to before *last* of minus J^T dF - df, added to *D*, or *T* behind u."""
    nu, o = model.nu, zero(load(seeds, 0, 0))
    for b in range(model.nb):
        store_spatial(sums, b, (o, o, o), (o, o, o))
    for b in range(model.nb - 1, 0, -1):
        r, n, f = load3_lane(bodies, b, 0, lane), load_tangents3(dual.body_forces, b, 0), load_tangents3(dual.body_forces, b, 3)
        tn, tf = load_spatial(sums, b)
        tn, tf = vec3.add(tn, vec3.add(n, vec3.cross(r, f))), vec3.add(tf, f)
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            total = vec3.dot(load3_lane(columns, i, 0, lane), tn) + vec3.dot(load3_lane(columns, i, 3, lane), tf)
            store(seeds, 0, 0, total + load_tangents(dual.mobility_forces, i, 0))
            for t in range(last - first):
                c = first + t
                if c < 2 * nu:
                    add_lane(D, i + nu * (c // nu), c % nu, lane, -flat[0, t])
                else:
                    add_lane(T, i, c - 2 * nu, lane, -flat[0, t])
        p = model.parent[b]
        if p > 0:
            pn, pf = load_spatial(sums, p)
            store_spatial(sums, p, vec3.add(pn, tn), vec3.add(pf, tf))


@generic
def add_lane(rows: Any, i: int, j: int, lane: int, x: float) -> None:
    """x added to a number of one lane."""
    store_lane(rows, i, j, lane, load_lane(rows, i, j, lane) + x)


# fmt: off
@generic
def differentiate(
    model: Record, lane: int, duals: Any, A: Any, asked: int, first: int, end: int, of_tree: Any, N: Any, bodies: Any,
    columns: Any, seeding: Any, sums: Any, D: Any, T: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """Derivatives by q, u, z and time, columns from *first* to before *end*, of one state, added to what is there.

    Parameters
    ----------
    duals
        A record of Duals that is filled, and the address of `contribute` for it.
    A
        Accelerations of bodies.
    of_tree
        Of each body the next one inboard that has mobilities, or itself; of each mobility its body; and of each equation its
        row of *E*, or -1, with where its columns by u begin, and those by z and time.
    N
        Rows by q, a column for each of a mobilizer's own speeds.
    bodies, columns
        Of the rigid sweep: where bodies are, and gravity in Ground's row; S, a, c by q, c by u of each mobility.
    seeding
        Scratch by two names, a column at a time and eight.
    D, T, E, K
        Less what is applied, by q and below that by u, then by z and time; errors of constraints; udot that motions prescribe.
    """
    dual, address = duals
    carrier, body_of, row_of = of_tree
    flat, seeds = seeding
    for begin in range(first, end, 8):
        last = min(begin + 8, end)
        _begin_eight(model, lane, begin, last, body_of, N, columns, flat, seeds, dual)
        for b in range(1, model.nb if begin < 2 * model.nu else 1):  # by z and time none moves
            move(model, lane, b, bodies, asked, A, carried(model, b, carrier, seeds), seeds, dual)
        call_routine(address, dual, asked, 0)
        _gather(model, lane, begin, last, bodies, columns, seeds, flat, sums, dual, D, T)
        if asked & CONSTRAINED != 0:
            for r in range(model.num_rows):
                if row_of[0][r] >= 0:
                    for t in range(last - begin):
                        c = begin + t
                        if c >= 2 * model.nu:
                            c += row_of[2] - 2 * model.nu
                        elif c >= model.nu:
                            c += row_of[1] - model.nu
                        add_lane(E, row_of[0][r], c, lane, load_tangent(dual.row_work, r, 0, t))
        if model.nm > 0 and K.shape[0] > 0:
            for i in range(model.nu):
                for t in range(last - begin):
                    add_lane(K, i, begin + t, lane, load_tangent(dual.known_u_dot, i, 0, t))


@generic
def find_displacements(model: Record, b: int, unit: Any, q_dot: Any, N: Any) -> None:
    """N of mobilizer b: rows by q, a column for each of its own speeds."""
    first, first_q, o = model.first_u[b], model.first_q[b], zero(load(model.time, 0, 0))
    for j in range(model.num_u[b]):
        for i in range(model.num_u[b]):
            store(unit, first + i, 0, o + 1.0 * (i == j))
        q_rates.n_times(model, b, unit, first, q_dot, first_q)
        for i in range(first_q, first_q + model.num_q[b]):
            store(N, i, j, load(q_dot, i, 0))


@apart
def find_bends(model: Record, lane: int, duals: Any, bent: Any, N: Any, seeds: Any, bends: Any) -> None:
    """Derivatives by q of the hinge columns of bodies that are *bent*, see `sweep`: of each by itself, by Duals.

    *duals* are a record of Duals and the address of `find_hinge`. Coordinates move along the body's own speeds, then these
    change.
    """
    dual, address = duals
    o = zero(load(seeds, 0, 0))
    for b in range(1, model.nb):
        if bent[b] != 1:
            continue
        first, n, first_q, end_q = model.first_u[b], model.num_u[b], model.first_q[b], model.first_q[b] + model.num_q[b]
        constants(model.q, lane, first_q, end_q, 1, dual.q)
        constants(model.u, lane, first, first + n, 1, dual.u)
        for k in range(n):
            for i in range(first_q, end_q):
                store_tangent(dual.q, i, 0, k, load_lane(N, i, k, lane))
        call_routine(address, dual, b, 0)
        for k in range(n):
            for c in range(6):
                for j in range(n):
                    store_lane(bends, first + k, 6 * j + c, lane, load_tangent(dual.H_FM, first + j, c, k))
                store_lane(bends, first + k, BEND + c, lane, load_tangent(dual.bias_FM, b, c, k))
        for i in range(first_q, end_q):
            store_tangents(dual.q, i, 0, o)
        for k in range(n):
            store_tangent(dual.u, first + k, 0, k, 1.0)
        call_routine(address, dual, b, 0)
        for k in range(n):
            for c in range(6):
                store_lane(bends, first + k, BEND_BY_U + c, lane, load_tangent(dual.bias_FM, b, c, k))
