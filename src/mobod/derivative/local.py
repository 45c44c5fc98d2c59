"""Derivatives of what names its bodies and mobilizers: by the motion of these alone, by dual numbers.

A body moves in twelve directions: six of its pose, which carry its velocity and acceleration along, six of its velocity; a
mobilizer by its own coordinates and speeds. With the pose, or the coordinates, go time and a z of an element, or two. Each
moves alone; what names it is called by its routine, once for six directions. What is pushed then changes by matrices 6 by 6,
of wrenches and motions about the base's origin,

    dF_a = K_ab e_b + D_ab v_b        and along column j, which carries b,   e_b = S_j   v_b = a_j by q, S_j by u

see `stiffness`, which adds them up over subtrees, and `couplings`; of two bodies that something acts between, one moves.
Errors of constraints likewise, with G c_j of accelerations beside; forces on mobilities, and by coordinates, are few, and are
put in place here.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load3, load_spatial, load_tangents3, store3
from ..algebra.record import call_routine
from ..algebra.scalar import (
    bare,
    load,
    load_lane,
    load_tangent,
    load_tangents,
    one,
    store,
    store_lane,
    store_tangent,
    store_tangents,
    zero,
)
from ..compiling import apart, generic, routine
from ..constraint.protocol import POSITIONS, VELOCITIES
from ..force.routines import FORCES
from ..mobilizer import q_rates
from ..motion.protocol import SET_U_DOT
from ..state.fields import Record
from ..tree import constraint_operators, constraints
from .columns import CONSTRAINED, add_lane, constants, fill_body, fill_rest, load3_lane, move
from .sweep import times_columns

#: Kinds of nodes, of which the first two are also what they push: bodies, mobilizers, and the z of one element with time, where
#: these do not go with any of its parts. Columns of a table of nodes; whose is of the last kind the element.
BODY, MOBILIZER, REST = 0, 1, 2
KIND, WHOSE, FIRST_CALL, FIRST_FAST, END_CALL, FIRST_PUSHED, END_PUSHED = range(7)
#: Kinds of calls; columns of a table of them, and of what is pushed.
FORCE, CONSTRAINT, MOTION = 0, 1, 2
ADDRESS, WHICH, END, OWN_Z, TIMED = 1, 2, 3, 4, 5
BLOCK, WRENCH = 2, 3
#: Kinds of what is between two bodies: by the motion of both relative to each other; of one, relative to what carries both.
BOTH, ONE = 1, 2
#: The tangents by an element's z and by time, behind those by six directions, or by a mobilizer's own speeds.
Z, TIME = 6, 7
#: How many z an element may have that move by themselves: `OWN_Z` of its call.
MOST_Z = 7
#: Numbers of a block: K, then D, row by row; the wrench on the body that is pushed, where that is asked for.
OF_WRENCH, NUMBERS_OF_BLOCK = 72, 78
#: Rows of a constraint whose derivatives by the motion of a body fill a block.
ROWS_OF_BLOCK = 6


@routine
def contribute_constraint(model: Record, c: int, faster: int) -> int:
    """Minus G^T lambda of constraint c, added to forces, and its acceleration errors in `row_work`.

    Where only velocities of bodies have changed since, which move *faster*, the forces and the rows of G, which are those of
    position equations, are what they were; errors are then made of the offsets, see `_faster_errors`.
    """
    if faster == 1:
        constraints.write_rows(model, c, VELOCITIES)
        return 0
    constraints.write_rows(model, c, POSITIONS)
    constraints.write_rows(model, c, VELOCITIES)
    constraint_operators.add_forces_of(model, c, model.multiplier, model.body_forces, model.mobility_forces, -1.0)
    constraint_operators.put_acceleration_errors(model, c, model.work_A, model.u_dot, model.row_work)
    return 0


@generic
def _rows_keep(model: Record, c: int) -> bool:
    """True if no row of constraint c depends on velocities, or on coordinates."""
    others = model.num_v[c] + model.num_a[c] + model.num_mobilizers[c]
    keep: bool = others == 0
    return keep


@generic
def _call(calls: Any, at: int, fast: int, dual: Record) -> None:
    kind, first = calls[at, KIND], calls[at, WHICH]
    if kind == FORCE:
        call_routine(calls[at, ADDRESS], dual, first, calls[at, END], FORCES)
    elif kind == CONSTRAINT:
        call_routine(calls[at, ADDRESS], dual, first, fast if _rows_keep(dual, first) else 0)
    else:
        call_routine(calls[at, ADDRESS], dual, first, SET_U_DOT)


@generic
def _seed_rest(calls: Any, at: int, dual: Record, x: float) -> None:
    """The element's z, and time, go on by *x*, if this call is the one that differentiates by them."""
    if calls[at, TIMED] != 0:
        store_tangent(dual.time, 0, 0, TIME, x)
    if calls[at, OWN_Z] >= 0:
        store_tangent(dual.z, calls[at, OWN_Z], 0, Z, x)


@apart
def _put_rest(
    model: Record, lane: int, tables: Any, node: int, slot: int, column: int, bodies: Any, columns: Any, dual: Record, T: Any
) -> None:
    """Changes of what is pushed by a z or by time, whose tangents are in a *slot*, to a *column* of T."""
    nodes, _, pushed, way = tables
    for at in range(nodes[node, FIRST_PUSHED], nodes[node, END_PUSHED]):
        a = pushed[at, WHOSE]
        if pushed[at, KIND] == MOBILIZER:
            for i in range(model.first_u[a], model.first_u[a] + model.num_u[a]):
                add_lane(T, i, column, lane, -load_tangent(dual.mobility_forces, i, 0, slot))
        elif a > 0:
            F = dual.body_forces
            n = load_tangent(F, a, 0, slot), load_tangent(F, a, 1, slot), load_tangent(F, a, 2, slot)
            f = load_tangent(F, a, 3, slot), load_tangent(F, a, 4, slot), load_tangent(F, a, 5, slot)
            n = vec3.add(n, vec3.cross(load3_lane(bodies, a, 0, lane), f))
            for place in range(way[a], way[a + 1]):
                i = way[place]
                total = vec3.dot(load3_lane(columns, i, 0, lane), n) + vec3.dot(load3_lane(columns, i, 3, lane), f)
                add_lane(T, i, column, lane, -total)


@generic
def _read_rest(model: Record, lane: int, tables: Any, node: int, bodies: Any, columns: Any, dual: Record, T: Any) -> None:
    """Derivatives of forces by time, and by the z of the one element of a node that has one."""
    nodes, calls, _, _ = tables
    timed = False
    for at in range(nodes[node, FIRST_CALL], nodes[node, END_CALL]):
        if calls[at, KIND] == FORCE:
            timed = timed or calls[at, TIMED] != 0
            if calls[at, OWN_Z] >= 0:
                _put_rest(model, lane, tables, node, Z, calls[at, OWN_Z], bodies, columns, dual, T)
    if timed:
        _put_rest(model, lane, tables, node, TIME, T.shape[1] - 1, bodies, columns, dual, T)


@generic
def _differentiate_rest(
    model: Record, lane: int, tables: Any, node: int, bodies: Any, columns: Any, dual: Record, T: Any
) -> None:
    """Derivatives of an element's forces by its z, and by time if it depends on that."""
    nodes, calls, pushed, _ = tables
    at = nodes[node, FIRST_CALL]
    z = model.force_first_z[calls[at, WHICH]]
    n, timed = calls[at, OWN_Z], calls[at, TIMED] != 0
    for way in range(2):
        for k in range(n):
            store_tangent(dual.z, z + k, 0, k, 1.0 - way)
        if timed:
            store_tangent(dual.time, 0, 0, TIME, 1.0 - way)
        if way == 0:
            _clear(model, pushed, nodes[node, FIRST_PUSHED], nodes[node, END_PUSHED], dual)
            _call(calls, at, 0, dual)
    for k in range(n):
        _put_rest(model, lane, tables, node, k, z + k, bodies, columns, dual, T)
    if timed:
        _put_rest(model, lane, tables, node, TIME, T.shape[1] - 1, bodies, columns, dual, T)


@generic
def clear_body(b: int, dual: Record) -> None:
    """No wrench on body b."""
    for i in range(6):
        store(dual.body_forces, b, i, 0.0)


@generic
def clear_mobilizer(model: Record, b: int, dual: Record) -> None:
    """No force on the mobilities of body b."""
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        store(dual.mobility_forces, i, 0, 0.0)


@generic
def _clear(model: Record, pushed: Any, first: int, end: int, dual: Record) -> None:
    """No force on what is pushed."""
    for at in range(first, end):
        if pushed[at, KIND] == BODY:
            clear_body(pushed[at, WHOSE], dual)
        else:
            clear_mobilizer(model, pushed[at, WHOSE], dual)


@generic
def fill(model: Record, lane: int, nodes: Any, u_dot: Any, asked: int, dual: Record) -> None:
    """As `columns.fill`, of the coordinates of what moves alone."""
    fill_rest(model, lane, asked, dual)
    for node in range(nodes.shape[0]):
        if nodes[node, KIND] == MOBILIZER:
            b = nodes[node, WHOSE]
            first, end = model.first_u[b], model.first_u[b] + model.num_u[b]
            constants(model.q, lane, model.first_q[b], model.first_q[b] + model.num_q[b], 1, dual.q)
            constants(model.u, lane, first, end, 1, dual.u)
            if asked & CONSTRAINED != 0:
                constants(u_dot, lane, first, end, 1, dual.u_dot)


@generic
def _seed_coordinates(model: Record, lane: int, b: int, fast: int, N: Any, hinge: int, dual: Record, o: Any) -> None:
    """Mobilizer b moves along its own speeds; or they change; or neither, where *fast* is 2."""
    first, n = model.first_u[b], model.num_u[b]
    for i in range(model.first_q[b], model.first_q[b] + model.num_q[b]):
        store_tangents(dual.q, i, 0, o)
        if fast == 0:
            for k in range(n):
                store_tangent(dual.q, i, 0, k, load_lane(N, i, k, lane))
    for k in range(n):
        store_tangents(dual.u, first + k, 0, o)
        if fast == 1:
            store_tangent(dual.u, first + k, 0, k, 1.0)
    if hinge != 0 and q_rates.is_kept(model, b):
        call_routine(hinge, dual, b, 0)


@generic
def put_block(a: int, block: int, fast: int, lane: int, bodies: Any, flat: Any, wide: Any, dual: Record, C: Any) -> None:
    """The wrench on body a, about its base's origin, as half of a block, which is added to what is there of a body's own."""
    f = load_tangents3(dual.body_forces, a, 3)
    store3(wide, 0, 0, vec3.add(load_tangents3(dual.body_forces, a, 0), vec3.cross(load3_lane(bodies, a, 0, lane), f)))
    store3(wide, 0, 3, f)
    for i in range(6):
        for j in range(6):
            at, x = 36 * fast + 6 * i + j, flat[0, 8 * i + j]
            if block == a:
                x += load_lane(C, block, at, lane)
            store_lane(C, block, at, lane, x)


@generic
def put_wrench(a: int, block: int, lane: int, bodies: Any, dual: Record, C: Any) -> None:
    """The wrench on body a, about its base's origin, behind a block."""
    F = dual.body_forces
    fx, fy, fz = bare(load(F, a, 3)), bare(load(F, a, 4)), bare(load(F, a, 5))
    x, y, z = vec3.cross(load3_lane(bodies, a, 0, lane), (fx, fy, fz))
    six = bare(load(F, a, 0)) + x, bare(load(F, a, 1)) + y, bare(load(F, a, 2)) + z, fx, fy, fz
    for k, number in enumerate(six):
        store_lane(C, block, OF_WRENCH + k, lane, number)


@generic
def _along(rows: Any, row: int, columns: Any, j: int, first: int, lane: int) -> float:
    """Six tangents of a number times six numbers of column j."""
    total = 0.0
    for t in range(6):
        total = total + load_tangent(rows, row, 0, t) * load_lane(columns, j, first + t, lane)
    return total


@generic
def _spread(model: Record, lane: int, way: Any, b: int, fast: int, field: Any, row: int, columns: Any, D: Any) -> None:
    """The derivative of the force on mobility *row* by the motion of body b, to the columns that carry b."""
    for place in range(way[b], way[b + 1]):
        j = way[place]
        if fast == 0:
            add_lane(D, row, j, lane, -_along(field, row, columns, j, 0, lane))
        else:
            add_lane(D, row, j, lane, -_along(field, row, columns, j, 6, lane))
            add_lane(D, model.nu + row, j, lane, -_along(field, row, columns, j, 0, lane))


@generic
def _push_of_coordinates(
    model: Record, lane: int, way: Any, b: int, a: int, fast: int, bodies: Any, columns: Any, seeding: Any, dual: Record, D: Any
) -> None:
    """Wrenches on body a as mobilizer b moves, by its own columns."""
    flat, wide = seeding
    f = load_tangents3(dual.body_forces, a, 3)
    store3(wide, 0, 0, vec3.add(load_tangents3(dual.body_forces, a, 0), vec3.cross(load3_lane(bodies, a, 0, lane), f)))
    store3(wide, 0, 3, f)
    first = model.first_u[b]
    for place in range(way[a], way[a + 1]):
        i = way[place]
        for t in range(model.num_u[b]):
            total = 0.0
            for k in range(6):
                total = total + load_lane(columns, i, k, lane) * flat[0, 8 * k + t]
            add_lane(D, i + fast * model.nu, first + t, lane, -total)


@generic
def _faster_errors(model: Record, c: int, k: int, b: int, dual: Record) -> None:
    """Changes of the errors of equation k as body b moves faster, in `row_work`: offsets, and its row times accelerations."""
    r, n = model.first_row[c] + k, model.num_constrained_bodies[c]
    total = load_tangents(dual.acceleration_offset, r, 0)
    for i in range(n):
        if model.constrained_bodies[model.first_constrained_body[c] + i] == b:
            for j in range(6):
                x = bare(load(dual.wrenches, model.first_wrench[c] + k * n + i, j))
                total = total + x * load_tangents(dual.work_A, b, j)
    store_tangents(dual.row_work, r, 0, total)


# fmt: off
@generic
def _errors(
    model: Record, lane: int, c: int, kind: int, b: int, fast: int, row_of: Any, block: int, dual: Record, C: Any, E: Any
) -> None:
    """Errors of constraint c as mobilizer b moves; as body b does, into blocks from *block* on, twelve numbers a row."""
    for k in range(constraints.num_rows(model, c)):
        r = model.first_row[c] + k
        if fast == 1 and kind == BODY and _rows_keep(model, c):
            _faster_errors(model, c, k, b, dual)
        if kind == BODY:
            for t in range(6):
                at = 12 * (k % ROWS_OF_BLOCK) + 6 * fast + t
                store_lane(C, block + k // ROWS_OF_BLOCK, at, lane, load_tangent(dual.row_work, r, 0, t))
        elif row_of[0][r] >= 0:
            for t in range(model.num_u[b]):
                x = load_tangent(dual.row_work, r, 0, t)
                add_lane(E, row_of[0][r], model.first_u[b] + t + fast * row_of[1], lane, x)


@generic
def add_errors(model: Record, tables: Any, row_of: Any, bodies: Any, columns: Any, C: Any, E: Any) -> None:
    """Errors of constraints along the columns that carry their bodies, with what accelerations change by; of all lanes.

    Where something is between two bodies, no error changes along columns that carry both, and of two of which one moves, see
    `couplings`, the other's motion does the opposite.
    """
    nodes, calls, pushed, way = tables
    for node in range(nodes.shape[0]):
        if nodes[node, KIND] == BODY:
            b = nodes[node, WHOSE]
            for at in range(nodes[node, FIRST_CALL], nodes[node, END_CALL]):
                if calls[at, KIND] == CONSTRAINT:
                    c, block, other = calls[at, WHICH], calls[at, END], -1
                    for k in range(nodes[node, FIRST_PUSHED], nodes[node, END_PUSHED]):
                        if pushed[k, WRENCH] != 0 and _names(model, c, pushed[k, WHOSE]):
                            other = k
                    a, last = b, 0
                    if other >= 0:
                        a = pushed[other, WHOSE]
                        last = common_body(model, a, b)
                    _add_errors_of(model, way, c, b, last, block, 1.0, row_of, bodies, columns, C, E)
                    if other >= 0 and pushed[other, WRENCH] == BOTH:
                        _add_errors_of(model, way, c, a, last, block, -1.0, row_of, bodies, columns, C, E)


@generic
def common_body(model: Record, a: int, b: int) -> int:
    """The last body on the way from Ground to both."""
    while a != b:
        if a > b:
            a = model.parent[a]
        else:
            b = model.parent[b]
    return a


@generic
def _names(model: Record, c: int, b: int) -> bool:
    """True if body b is one of those of constraint c."""
    found = False
    for i in range(model.first_constrained_body[c], model.first_constrained_body[c] + model.num_constrained_bodies[c]):
        found = found or model.constrained_bodies[i] == b
    return found


# fmt: off
@generic
def _add_errors_of(
    model: Record, way: Any, c: int, b: int, last: int, block: int, sign: float, row_of: Any, bodies: Any, columns: Any, C: Any,
    E: Any,
) -> None:
    # fmt: on
    """Along columns that carry b and not the *last* body."""
    for k in range(constraints.num_rows(model, c)):
        at, first = block + k // ROWS_OF_BLOCK, 12 * (k % ROWS_OF_BLOCK)
        moved = load3(C, at, first), load3(C, at, first + 3)
        faster = load3(C, at, first + 6), load3(C, at, first + 9)
        add_errors_of_row(model, way, c, k, b, last, sign, moved, faster, row_of, bodies, columns, E)


# fmt: off
@generic
def add_errors_of_row(
    model: Record, way: Any, c: int, k: int, b: int, last: int, sign: float, moved: Any, faster: Any, row_of: Any, bodies: Any,
    columns: Any, E: Any,
) -> None:
    # fmt: on
    """Those of row k of constraint c, which change so as b is *moved*, and as it is *faster*; or by the opposite."""
    row, n, r = row_of[0][model.first_row[c] + k], model.num_constrained_bodies[c], load3(bodies, b, 0)
    o = 0.0 * r[0]
    t, f = (o, o, o), (o, o, o)  # the row's wrench on the body, which multiplies its acceleration
    for i in range(n):
        if model.constrained_bodies[model.first_constrained_body[c] + i] == b:
            own_t, own_f = load_spatial(model.wrenches, model.first_wrench[c] + k * n + i)
            t, f = vec3.add(t, vec3.add(own_t, vec3.cross(r, own_f))), vec3.add(f, own_f)
    moved = vec3.scale(sign, moved[0]), vec3.scale(sign, moved[1])
    faster = vec3.scale(sign, faster[0]), vec3.scale(sign, faster[1])
    for place in range(way[b], way[b + 1] - (way[last + 1] - way[last]) if row >= 0 else way[b]):
        j = way[place]
        x = times_columns(columns, j, 0, moved) + times_columns(columns, j, 6, faster)
        store(E, row, j, load(E, row, j) + x + times_columns(columns, j, 12, (t, f)))
        x = times_columns(columns, j, 0, faster) + times_columns(columns, j, 18, (t, f))
        store(E, row, j + row_of[1], load(E, row, j + row_of[1]) + x)


# fmt: off
@generic
def _read(
    model: Record, lane: int, tables: Any, node: int, fast: int, row_of: Any, bodies: Any, columns: Any, seeding: Any,
    dual: Record, C: Any, D: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """Derivatives of a node, by its pose or its velocities."""
    nodes, calls, pushed, way = tables
    flat, wide = seeding
    kind, b, pulls = nodes[node, KIND], nodes[node, WHOSE], fast == 0
    for at in range(nodes[node, FIRST_FAST], nodes[node, END_CALL]):  # at given multipliers, wrenches depend on no velocity
        pulls = pulls or calls[at, KIND] == FORCE
    for at in range(nodes[node, FIRST_PUSHED], nodes[node, END_PUSHED]):
        a = pushed[at, WHOSE]
        if pushed[at, KIND] == BODY:
            if kind == BODY and (pushed[at, BLOCK] < 0 or not pulls):
                continue
            if kind == BODY:
                put_block(a, pushed[at, BLOCK], fast, lane, bodies, flat, wide, dual, C)
                if fast == 0 and pushed[at, WRENCH] != 0:
                    put_wrench(a, pushed[at, BLOCK], lane, bodies, dual, C)
            elif a > 0:
                _push_of_coordinates(model, lane, way, b, a, fast, bodies, columns, seeding, dual, D)
        else:
            for i in range(model.first_u[a], model.first_u[a] + model.num_u[a]):
                if kind == BODY:
                    _spread(model, lane, way, b, fast, dual.mobility_forces, i, columns, D)
                else:
                    for t in range(model.num_u[b]):
                        push = load_tangent(dual.mobility_forces, i, 0, t)
                        add_lane(D, i + fast * model.nu, model.first_u[b] + t, lane, -push)
    for at in range(nodes[node, FIRST_CALL + fast], nodes[node, END_CALL]):
        if calls[at, KIND] == CONSTRAINT:
            _errors(model, lane, calls[at, WHICH], kind, b, fast, row_of, calls[at, END], dual, C, E)
        elif calls[at, KIND] == MOTION:
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                if fast == 0:
                    add_lane(K, i, 2 * model.nu + dual.forces_nz, lane, load_tangent(dual.known_u_dot, i, 0, TIME))
                for t in range(model.num_u[b]):
                    add_lane(K, i, model.first_u[b] + t + fast * model.nu, lane, load_tangent(dual.known_u_dot, i, 0, t))


# fmt: off
@generic
def differentiate(
    model: Record, lane: int, dual: Record, hinge: int, A: Any, asked: int, tables: Any, units: Any, row_of: Any, N: Any,
    bodies: Any, columns: Any, seeding: Any, C: Any, D: Any, T: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """Derivatives by the motion of each node, and by z and time of what has those, of one state, added to what is there.

    Parameters
    ----------
    dual
        A record of Duals that is filled.
    hinge
        The address of `columns.find_hinge` for it, or 0.
    tables
        Nodes, calls and what is pushed, see `plan`; and of each body where the mobilities on the way to it are listed behind.
    units
        Six directions of a pose, and of a velocity, as what is on its way in `columns.move`.
    row_of
        Of each equation its row of *E*, or -1; where its columns by u begin, and those by z and time.
    N, bodies, columns, D, T, E, K
        As of `columns.differentiate`.
    C
        Blocks of K and D, of each body and then of each crossing.
    """
    nodes, calls, pushed, _ = tables
    o = zero(load(units[0], 0, 0))
    keep = one(o)
    for node in range(nodes.shape[0] if hinge != 0 else 0):
        if nodes[node, KIND] == MOBILIZER:
            _seed_coordinates(model, lane, nodes[node, WHOSE], 2, N, hinge, dual, o)
    for node in range(nodes.shape[0]):
        b, end = nodes[node, WHOSE], nodes[node, END_CALL]
        moved = False
        if nodes[node, KIND] == REST:
            if T.shape[1] > 0:
                _differentiate_rest(model, lane, tables, node, bodies, columns, dual, T)
            continue
        for fast in range(2):
            begin = nodes[node, FIRST_CALL + fast]
            if begin < end:
                moved = True
                if nodes[node, KIND] == MOBILIZER:
                    _seed_coordinates(model, lane, b, fast, N, hinge, dual, o)
                else:
                    move(model, lane, b, bodies, asked, A, keep, units[fast], dual)
                _clear(model, pushed, nodes[node, FIRST_PUSHED], nodes[node, END_PUSHED], dual)
                for at in range(begin, end):
                    if fast == 0:
                        _seed_rest(calls, at, dual, 1.0)
                    _call(calls, at, fast, dual)
                    if fast == 0:
                        _seed_rest(calls, at, dual, 0.0)
                _read(model, lane, tables, node, fast, row_of, bodies, columns, seeding, dual, C, D, E, K)
                if fast == 0 and T.shape[1] > 0:
                    _read_rest(model, lane, tables, node, bodies, columns, dual, T)
        if moved and nodes[node, KIND] == MOBILIZER:
            _seed_coordinates(model, lane, b, 2, N, hinge, dual, o)
        elif moved:
            fill_body(model, lane, b, A, asked, dual)
