"""Derivatives of what names its bodies and mobilizers: by the motion of these alone, by dual numbers.

A body moves in twelve directions: six of its pose, which carry its velocity and acceleration along, six of its velocity; a
mobilizer by its own coordinates and speeds. Each moves alone, and what names it is called by its own routine, once for six
directions. What is pushed then changes by matrices 6 by 6, of wrenches and motions about the base's origin,

    dF_a = K_ab e_b + D_ab v_b        and along column j, which carries b,   e_b = S_j   v_b = a_j by q, S_j by u

see `stiffness`, which adds them up over subtrees. Errors of constraints likewise, with G c_j of accelerations beside; forces on
mobilities, and by coordinates, are few, and are put in place here.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load3, store3
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, load_lane, one, store, zero
from ..compiling import generic, routine
from ..constraint._protocol import POSITIONS, VELOCITIES
from ..force._routine import FORCES
from ..motion._protocol import SET_U_DOT
from ..state.fields import Record
from ..tree import constraint_operators, constraints
from .columns import BODY_FORCES, ERRORS, KNOWN, OWN_FORCES, Q, U, add_lane, fill_body, load3_lane, move

#: Kinds of nodes, and of what they push; and columns of a table of nodes.
BODY, MOBILIZER = 0, 1
KIND, WHOSE, FIRST_CALL, FIRST_FAST, END_CALL, FIRST_PUSHED, END_PUSHED = range(7)
#: Kinds of calls; columns of a table of them, and of what is pushed.
FORCE, CONSTRAINT, MOTION = 0, 1, 2
ADDRESS, WHICH, END = 1, 2, 3
BLOCK = 2
#: Numbers of a block: K, then D, row by row.
NUMBERS_OF_BLOCK = 72


@routine
def contribute_constraint(model: Record, c: int, unused: int) -> int:
    """Minus G^T lambda of constraint c, added to forces, and its acceleration errors in `row_work`."""
    constraints.write_rows(model, c, POSITIONS)
    constraints.write_rows(model, c, VELOCITIES)
    constraint_operators.add_forces_of(model, c, model.multiplier, model.body_forces, model.mobility_forces, -1.0)
    constraint_operators.put_acceleration_errors(model, c, model.work_A, model.u_dot, model.row_work)
    return 0


@generic
def _call(calls: Any, at: int, of_duals: Any) -> None:
    kind, first = calls[at, KIND], calls[at, WHICH]
    if kind == FORCE:
        call_routine(calls[at, ADDRESS], of_duals, first, 4 * calls[at, END] + FORCES)
    elif kind == CONSTRAINT:
        call_routine(calls[at, ADDRESS], of_duals, first, 0)
    else:
        call_routine(calls[at, ADDRESS], of_duals, first, SET_U_DOT)


@generic
def clear_body(b: int, dual: Any, o: Any) -> None:
    """No wrench on body b."""
    for i in range(7):
        store(dual[BODY_FORCES], b, i, o)


@generic
def _clear(model: Record, pushed: Any, first: int, end: int, dual: Any, o: Any) -> None:
    """No force on what is pushed."""
    for at in range(first, end):
        b = pushed[at, WHOSE]
        if pushed[at, KIND] == BODY:
            clear_body(b, dual, o)
        else:
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                store(dual[OWN_FORCES], i, 0, o)
                store(dual[OWN_FORCES], i, 1, o)


@generic
def _seed_coordinates(model: Record, lane: int, b: int, fast: int, N: Any, dual: Any, o: Any) -> None:
    """Mobilizer b moves along its own speeds, or they change; or it does neither, where *fast* is 2."""
    first, n = model.first_u[b], model.num_u[b]
    for i in range(model.first_q[b], model.first_q[b] + model.num_q[b]):
        store(dual[Q], i, 1, o)
        if fast == 0:
            for k in range(n):
                dual[Q][i, 1, k] = load_lane(N, i, k, lane)
    for k in range(n):
        store(dual[U], first + k, 1, o)
        if fast == 1:
            dual[U][first + k, 1, k] = 1.0


@generic
def put_block(a: int, block: int, fast: int, lane: int, bodies: Any, flat: Any, wide: Any, dual: Any, C: Any) -> None:
    """The wrench on body a, about its base's origin, as half of a block that is added to what is there."""
    f = load3(dual[BODY_FORCES], a, 4)
    store3(wide, 0, 0, vec3.add(load3(dual[BODY_FORCES], a, 1), vec3.cross(load3_lane(bodies, a, 0, lane), f)))
    store3(wide, 0, 3, f)
    for i in range(6):
        for j in range(6):
            add_lane(C, block, 36 * fast + 6 * i + j, lane, flat[0, 8 * i + j])


@generic
def _along(rows: Any, row: int, block: int, columns: Any, j: int, first: int, lane: int) -> float:
    """Six tangents of a number times six numbers of column j."""
    total = 0.0
    for t in range(6):
        total = total + rows[row, block, t] * load_lane(columns, j, first + t, lane)
    return total


@generic
def _spread(
    model: Record, lane: int, b: int, fast: int, field: Any, row: int, columns: Any, out: Any, at: int, sign: float
) -> None:
    """What a number changes by as body b moves, to the columns that carry b, into row *at* of *out*."""
    nu = model.nu
    while b > 0:
        for j in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            if fast == 0:
                add_lane(out, at, j, lane, sign * _along(field, row, 1, columns, j, 0, lane))
            else:
                add_lane(out, at, j, lane, sign * _along(field, row, 1, columns, j, 6, lane))
                add_lane(out, at, nu + j, lane, sign * _along(field, row, 1, columns, j, 0, lane))
        b = model.parent[b]


@generic
def _push_of_coordinates(
    model: Record, lane: int, b: int, a: int, fast: int, bodies: Any, columns: Any, seeding: Any, dual: Any, R: Any
) -> None:
    """Wrenches on body a as mobilizer b moves, by its own columns."""
    flat, wide = seeding
    f = load3(dual[BODY_FORCES], a, 4)
    store3(wide, 0, 0, vec3.add(load3(dual[BODY_FORCES], a, 1), vec3.cross(load3_lane(bodies, a, 0, lane), f)))
    store3(wide, 0, 3, f)
    y, first = a, model.first_u[b]
    while y > 0:
        for i in range(model.first_u[y], model.first_u[y] + model.num_u[y]):
            for t in range(model.num_u[b]):
                total = 0.0
                for k in range(6):
                    total = total + load_lane(columns, i, k, lane) * flat[0, 8 * k + t]
                add_lane(R, i, first + t + fast * model.nu, lane, -total)
        y = model.parent[y]


@generic
def _errors(
    model: Record, lane: int, c: int, kind: int, b: int, fast: int, row_of: Any, columns: Any, dual: Any, E: Any
) -> None:
    """Errors of constraint c as body or mobilizer b moves, their accelerations aside."""
    for r in range(model.first_row[c], model.first_row[c] + constraints.num_rows(model, c)):
        k = row_of[r]
        if k < 0:
            continue
        if kind == BODY:
            _spread(model, lane, b, fast, dual[ERRORS], r, columns, E, k, 1.0)
        else:
            for t in range(model.num_u[b]):
                add_lane(E, k, model.first_u[b] + t + fast * model.nu, lane, dual[ERRORS][r, 1, t])


@generic
def _errors_of_accelerations(model: Record, lane: int, c: int, b: int, row_of: Any, bodies: Any, columns: Any, E: Any) -> None:
    """Wrenches of the rows of constraint c on body b times what its acceleration changes by along each column."""
    n, nu = model.num_constrained_bodies[c], model.nu
    r0 = load3_lane(bodies, b, 0, lane)
    for i in range(n):
        if model.constrained_bodies[model.first_constrained_body[c] + i] == b:
            for k in range(constraints.num_rows(model, c)):
                row, place = row_of[model.first_row[c] + k], model.first_wrench[c] + k * n + i
                if row < 0:
                    continue
                f = load3_lane(model.wrenches, place, 3, lane)
                t = vec3.add(load3_lane(model.wrenches, place, 0, lane), vec3.cross(r0, f))
                y = b
                while y > 0:
                    for j in range(model.first_u[y], model.first_u[y] + model.num_u[y]):
                        for by in range(2):
                            at = 12 + 6 * by
                            x = vec3.dot(t, load3_lane(columns, j, at, lane))
                            add_lane(E, row, j + by * nu, lane, x + vec3.dot(f, load3_lane(columns, j, at + 3, lane)))
                    y = model.parent[y]


# fmt: off
@generic
def _read(
    model: Record, lane: int, tables: Any, node: int, fast: int, row_of: Any, bodies: Any, columns: Any, seeding: Any,
    dual: Any, C: Any, R: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """What a node has changed as it moved, or as its velocities did."""
    nodes, calls, pushed = tables
    flat, wide = seeding
    kind, b = nodes[node, KIND], nodes[node, WHOSE]
    for at in range(nodes[node, FIRST_PUSHED], nodes[node, END_PUSHED]):
        a = pushed[at, WHOSE]
        if pushed[at, KIND] == BODY:
            if kind == BODY and a > 0:
                put_block(a, pushed[at, BLOCK], fast, lane, bodies, flat, wide, dual, C)
            elif a > 0:
                _push_of_coordinates(model, lane, b, a, fast, bodies, columns, seeding, dual, R)
        else:
            for i in range(model.first_u[a], model.first_u[a] + model.num_u[a]):
                if kind == BODY:
                    _spread(model, lane, b, fast, dual[OWN_FORCES], i, columns, R, i, -1.0)
                else:
                    for t in range(model.num_u[b]):
                        add_lane(R, i, model.first_u[b] + t + fast * model.nu, lane, -dual[OWN_FORCES][i, 1, t])
    for at in range(nodes[node, FIRST_CALL + fast], nodes[node, END_CALL]):
        if calls[at, KIND] == CONSTRAINT:
            c = calls[at, WHICH]
            _errors(model, lane, c, kind, b, fast, row_of, columns, dual, E)
            if kind == BODY and fast == 0:
                _errors_of_accelerations(model, lane, c, b, row_of, bodies, columns, E)
        elif calls[at, KIND] == MOTION:
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                for t in range(model.num_u[b]):
                    add_lane(K, i, model.first_u[b] + t + fast * model.nu, lane, dual[KNOWN][i, 1, t])


# fmt: off
@generic
def differentiate(
    model: Record, lane: int, block: Any, dual: Any, A: Any, asked: int, tables: Any, units: Any, row_of: Any, N: Any,
    bodies: Any, columns: Any, seeding: Any, C: Any, R: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """Derivatives by the motion of each node, of one state, added to what is there.

    Parameters
    ----------
    block, dual
        Of a record of Duals that is filled: its block and its arrays of `columns.FIELDS`.
    tables
        Nodes, calls and what is pushed, see `plan`.
    units
        Six directions of a pose, and of a velocity, as what is on its way in `columns.move`.
    row_of
        Of each equation its row of *E*, or -1.
    N, bodies, columns, R, E, K
        As of `columns.differentiate`.
    C
        Blocks of K and D, of each body and then of each crossing.
    """
    nodes, calls, pushed = tables
    of_duals = attach(block)
    o = zero(load(units[0], 0, 0))
    keep = one(o)
    for node in range(nodes.shape[0]):
        b, end = nodes[node, WHOSE], nodes[node, END_CALL]
        moved = False
        for fast in range(2):
            begin = nodes[node, FIRST_CALL + fast]
            if begin < end:
                moved = True
                if nodes[node, KIND] == MOBILIZER:
                    _seed_coordinates(model, lane, b, fast, N, dual, o)
                elif fast == 0:
                    move(model, lane, b, bodies, asked, A, keep, units[0], dual)
                else:
                    move(model, lane, b, bodies, asked, A, keep, units[1], dual)
                _clear(model, pushed, nodes[node, FIRST_PUSHED], nodes[node, END_PUSHED], dual, o)
                for at in range(begin, end):
                    _call(calls, at, of_duals)
                _read(model, lane, tables, node, fast, row_of, bodies, columns, seeding, dual, C, R, E, K)
        if moved and nodes[node, KIND] == MOBILIZER:
            _seed_coordinates(model, lane, b, 2, N, dual, o)
        elif moved:
            fill_body(model, lane, b, A, asked, dual, o)
