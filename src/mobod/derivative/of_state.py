"""Derivatives of both dynamics of one state, with all that acts: the rigid sweep, then elements and constraints."""

from typing import Any

from ..algebra import object_access as objects
from ..algebra.memory import store3
from ..algebra.record import call_routine
from ..algebra.scalar import load, store
from ..compiling import generic
from ..state.fields import Record
from ..state.validity import EVERYTHING, KEPT_FORCES
from ..tree import inverse_dynamics, inverse_mass_matrix
from ..tree.realize import DONE, NOT_PLAIN, advance_with, all_finite, takes_long
from . import contacts, couplings, sweep, thermostats, two_points
from .columns import find_bends
from .local import add_errors
from .residual import add_parts, add_stiffness, clear, clear_blocks, find_carried, find_displacements, gravity
from .solve import add_column, add_given, contradict, multiply, project
from .sweep import FIRST_NUMBER, FORCE, NUMBERS_A_MOBILITY

#: Where what a kernel takes is in a tuple: of Duals and the plan; of the tree; of the rigid sweep; of parts; of one state's
#: Duals; of the linear systems; what their products do not pass over; of couplings.
PLAN, TREE, RIGID, PARTS, OF_ONE, SOLVING, GROUPS, MANY = 0, 17, 24, 29, 37, 47, 61, 63
#: Where the plan's flags are, and behind them whether equations contradict each other, see `solve.contradict`.
FLAGS, CONTRADICTING = 15, 8


@generic
def _load_columns(model: Record, places: Any, flat: Any, columns: Any) -> None:
    """S, a, c by q and c by u by mobility, of those by place among eight; none where *places* are 0, which nothing reads."""
    for place in range(model.nu):
        if places[place] == 0:
            continue
        k, row, column = model.mobility_at[place], place >> 3, place & 7
        for j in range(NUMBERS_A_MOBILITY):
            columns[k, j] = flat[row, 8 * (FIRST_NUMBER + j) + column]


# fmt: off
@generic
def _find(
    model: Record, duals: Any, plan: Any, u_dot: Any, A: Any, end: int, of_tree: Any, work: Any, more: Any, of_one: Any,
    of_many: Any, T: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """The residual's derivatives by q and below that by u, by z and time into *T*, errors' and known udot's."""
    slopes, bent, carrier, body_of, row_of = of_tree
    bodies, flat, wide, D = work
    N, bends, unit, F, numbers, C, flat_stiffness, stiffness = more
    dual, addresses = duals
    n, g = model.nu, gravity(model, plan[4][0])
    find_displacements(model, plan, addresses[1] != 0, unit, unit[n:], N)
    if addresses[1] != 0:
        find_bends(model, 0, (dual, addresses[1]), bent, N, of_one[1][1], bends)
    find_carried(model, plan, g, F, unit)
    carried, columns, scratch, wide_D, driven, M, total, totals = of_many
    thermostat, faster, of_bodies = plan[4][6], u_dot, A
    if thermostat >= 0:
        faster, of_bodies = total, totals
        thermostats.put_motion(model, thermostat, u_dot, A, total, totals)
    sweep.sweep_state(
        model, of_bodies, faster, g, bends, bent, slopes, plan[5][0], carrier, F, bodies, flat, wide, D[:n], D[n:]
    )
    if M.shape[0] > 0:
        sweep.put_mass(model, thermostat >= 0, driven, body_of, flat, flat, sweep.FIRST_COLUMN, 3, M)
    store3(bodies, 0, FORCE, g)
    _load_columns(model, plan[5][1], flat, numbers)
    clear_blocks(plan, 0.0, C)
    clear(T, 0.0)
    if thermostat >= 0:
        thermostats.differentiate(model, thermostat, M, numbers, D, T, total)
    start = 8 * wide.shape[0]
    trees = carrier, body_of, (row_of, start, 2 * start)
    if plan[4][7] != 0:
        add_parts(model, 0, duals, plan, u_dot, A, end, trees, N, bodies, numbers, of_one, F, C, D, T, E, K)
        add_errors(model, plan[0][:4], trees[2], bodies, numbers, C, E)
    if plan[3].shape[0] > 0:
        contacts.add(model, plan[3], bodies, numbers, plan[0][3], C, D)
    many = plan[1].shape[0] >= couplings.MANY
    if plan[6].shape[0] > 0:
        two_points.add_eights(model, plan[6], plan[0][3], bodies, numbers, carried, columns, scratch[0], F, wide_D)
    if many:  # before the blocks of bodies are summed up
        couplings.add(model, C, plan[1], bodies, numbers, carried, columns, scratch, wide_D)
    add_stiffness(model, plan, F, bodies, numbers, C, many, flat_stiffness, stiffness, 3, D)


@generic
def _plan_of(whole: Any) -> Any:
    """Addresses and a plan."""
    tables = (
        objects.table(objects.item(whole, 2)),
        objects.table(objects.item(whole, 3)),
        objects.table(objects.item(whole, 4)),
        objects.integers(objects.item(whole, 5)),
        objects.table(objects.item(whole, 6)),
        objects.integers(objects.item(whole, 7)),
    )
    asked = objects.integers(objects.item(whole, FLAGS))
    return (
        objects.integers(objects.item(whole, 1)),
        (
            tables,
            objects.table(objects.item(whole, 8)),
            objects.integers(objects.item(whole, 9)),
            objects.integers(objects.item(whole, 10)),
            (asked[0], asked[1], asked[2], asked[3], asked[4], asked[5], asked[6], asked[7]),
            (
                objects.integers(objects.item(whole, 11)),
                objects.integers(objects.item(whole, 12)),
                objects.integers(objects.item(whole, 13)),
                objects.integers(objects.item(whole, 14)),
            ),
            objects.table(objects.item(whole, FLAGS + 1)),
        ),
    )


@generic
def _tree_of(whole: Any) -> Any:
    """Slopes, bent ones, carriers, bodies of mobilities, rows of equations."""
    return (
        objects.table(objects.item(whole, TREE)),
        objects.integers(objects.item(whole, TREE + 1)),
        objects.integers(objects.item(whole, TREE + 2)),
        objects.integers(objects.item(whole, TREE + 3)),
        objects.integers(objects.item(whole, TREE + 4)),
    )


@generic
def _scratch_of(whole: Any) -> Any:
    """Of the rigid sweep, of parts, and of one state's Duals."""
    rigid = (
        objects.matrix(objects.item(whole, RIGID)),
        objects.matrix(objects.item(whole, RIGID + 1)),
        objects.blocks(objects.item(whole, RIGID + 2)),
        objects.matrix(objects.item(whole, RIGID + 3)),
    )
    parts = (
        objects.matrix(objects.item(whole, PARTS)),
        objects.matrix(objects.item(whole, PARTS + 1)),
        objects.matrix(objects.item(whole, PARTS + 2)),
        objects.matrix(objects.item(whole, PARTS + 3)),
        objects.matrix(objects.item(whole, PARTS + 4)),
        objects.matrix(objects.item(whole, PARTS + 5)),
        objects.matrix(objects.item(whole, PARTS + 6)),
        objects.blocks(objects.item(whole, PARTS + 7)),
    )
    of_one = (
        (objects.blocks(objects.item(whole, OF_ONE)), objects.blocks(objects.item(whole, OF_ONE + 1))),
        (objects.matrix(objects.item(whole, OF_ONE + 2)), objects.blocks(objects.item(whole, OF_ONE + 3))),
        (objects.matrix(objects.item(whole, OF_ONE + 4)), objects.blocks(objects.item(whole, OF_ONE + 5))),
        (objects.matrix(objects.item(whole, OF_ONE + 6)), objects.blocks(objects.item(whole, OF_ONE + 7))),
        objects.blocks(objects.item(whole, OF_ONE + 8)),
    )
    return rigid, parts, of_one


@generic
def _many_of(whole: Any) -> Any:
    """Arguments of `couplings`; the residual's derivatives, eight columns a number; who is driven; M; `thermostats`'."""
    return (
        (objects.table(objects.item(whole, MANY)), objects.blocks(objects.item(whole, MANY + 1))),
        objects.matrix(objects.item(whole, MANY + 2)),
        (objects.blocks(objects.item(whole, MANY + 3)), objects.blocks(objects.item(whole, MANY + 4))),
        objects.blocks(objects.item(whole, RIGID + 4)),
        objects.integers(objects.item(whole, TREE + 5)),
        objects.matrix(objects.item(whole, SOLVING)),
        objects.matrix(objects.item(whole, MANY + 7)),
        objects.matrix(objects.item(whole, MANY + 8)),
    )


@generic
def _solve(model: Record, whole: Any, constrained: bool, T: Any, K: Any, M_inv: Any) -> None:
    """Derivatives of udot by q and u side by side; *M_inv* becomes those by forces. *T* and errors get what motions add."""
    n, driven = model.nu, objects.integers(objects.item(whole, TREE + 5))
    R, wide_R = objects.matrix(objects.item(whole, RIGID + 3)), objects.blocks(objects.item(whole, RIGID + 4))
    D, wide_D = objects.matrix(objects.item(whole, SOLVING + 2)), objects.blocks(objects.item(whole, SOLVING + 3))
    E, wide_E = objects.matrix(objects.item(whole, SOLVING + 4)), objects.blocks(objects.item(whole, SOLVING + 5))
    G, Q = objects.matrix(objects.item(whole, SOLVING + 7)), objects.matrix(objects.item(whole, SOLVING + 10))
    eights, width, m = wide_R.shape[1], T.shape[1], 0
    start = 8 * eights
    if constrained:
        m = G.shape[0]
        rows, row_of = objects.matrix(objects.item(whole, SOLVING + 6)), objects.integers(objects.item(whole, TREE + 4))
        P, W = objects.matrix(objects.item(whole, SOLVING + 8)), objects.matrix(objects.item(whole, SOLVING + 9))
        project(model, row_of, M_inv, rows, G, P, W, Q)
        objects.integers(objects.item(whole, FLAGS))[CONTRADICTING] = contradict(model, model.A_GB, model.u_dot) > 0.0
    if driven.shape[0] > 0:
        M = objects.matrix(objects.item(whole, SOLVING))
        for half in range(2):
            add_given(M, n, driven, K, half * n, half * n + n, R[half * n : half * n + n], 0)
            add_given(G, m, driven, K, half * n, half * n + n, E, half * start)
        add_given(M, n, driven, K, 2 * n, 2 * n + width, T, 0)
        add_given(G, m, driven, K, 2 * n, 2 * n + width, E, 2 * start)
    groups, rows_of_groups = objects.table(objects.item(whole, GROUPS)), objects.integers(objects.item(whole, GROUPS + 1))
    pack = objects.blocks(objects.item(whole, SOLVING + 11))
    multiply(M_inv, n, Q, m, wide_E, eights, wide_R, groups, rows_of_groups, wide_D, eights, pack)
    for d in range(driven.shape[0]):
        k = driven[d]
        for j in range(n):
            D[k, j] += K[k, j]
            D[k, start + j] += K[k, n + j]


@generic
def _put(n: int, whole: Any, m: int, T: Any, K: Any, M_inv: Any, by_q: Any, by_u: Any, by_z: Any, by_time: Any) -> None:
    """The solution of `_solve`, put where it belongs; those by z and time, with *m* equations."""
    D, start = objects.matrix(objects.item(whole, SOLVING + 2)), objects.blocks(objects.item(whole, RIGID + 4)).shape[1] * 8
    E, Q = objects.matrix(objects.item(whole, SOLVING + 4)), objects.matrix(objects.item(whole, SOLVING + 10))
    last = T.shape[1] - 1
    for i in range(n):
        for j in range(n):
            by_q[i, j] = D[i, j]
        for j in range(n):
            by_u[i, j] = D[i, start + j]
    for j in range(last + 1):
        for i in range(n):
            D[0, i] = 0.0
        for k in range(n):
            add_column(M_inv, n, k, T[k, j], D, 0, -1.0)
        for i in range(n):
            total = D[0, i]
            if K.shape[0] > 0:
                total += K[i, 2 * n + j]
            for k in range(m):
                total -= Q[i, k] * E[k, 2 * start + j]
            if j < last:
                by_z[i, j] = total
            else:
                store(by_time, i, 0, total)


@generic
def _put_accelerations(model: Record, given: bool, u_dot: Any, udot: Any, A: Any) -> None:
    """The *u_dot* that is given, or the state's own, and the accelerations of bodies with it."""
    for i in range(model.nu):
        if given:
            store(udot, i, 0, load(u_dot, i, 0))
        else:
            store(udot, i, 0, load(model.u_dot, i, 0))
    if given:
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, udot, A)
    else:
        for b in range(model.nb):
            for i in range(6):
                store(A, b, i, load(model.A_GB, b, i))


@objects.compiled_for_callers
def calc_derivatives(
    block: Any, routine: Any, valid: Any, own_q: Any, own_u: Any, q: Any, u: Any, forces: Any, u_dot: Any, whole: Any,
    kind: Any, by_z: Any,
) -> Any:
    """As `sweep.calc_accelerations_derivatives`, with all that acts; by z into *by_z*.

    Where there are *u_dot*, those by q and u of what is missing for them, of a state whose forces are *valid*. It is one kernel
    because both find the same, which takes most of the time to compile.

    *whole* is a tuple of what does not change from call to call, see `PLAN` and those behind it.
    """
    if not (objects.is_like(q, own_q) and objects.is_like(u, own_u)):
        return objects.as_object(NOT_PLAIN)
    known = objects.number(valid)
    model, status, more = objects.record_of(block), DONE, not objects.is_row(forces, own_u, 0)
    n, inverse = model.nu, not objects.is_row(u_dot, own_u, 0)
    if more:
        if not objects.is_row(forces, own_u, n):
            return objects.as_object(NOT_PLAIN)
        if not all_finite(objects.numbers(forces), n):
            return objects.as_object(NOT_PLAIN)
    objects.copy(q, own_q)
    objects.copy(u, own_u)
    by_q, by_u, by_forces, by_time = objects.new_matrix(n), objects.new_matrix(n), objects.new_matrix(n), objects.new_row(n)
    found = objects.new_tuple(kind, (by_q, by_u, objects.keep(by_z), by_forces, by_time))
    if objects.is_nothing(found):
        return found
    released = objects.release_gil(takes_long(model))
    if more:
        status = advance_with(model, objects.integer(routine), known, EVERYTHING | KEPT_FORCES, objects.numbers(forces))
    elif known & EVERYTHING != EVERYTHING:
        status = call_routine(objects.integer(routine), model, known, EVERYTHING | KEPT_FORCES)
    if status == DONE:
        duals = objects.duals_of(objects.item(whole, PLAN))
        addresses, plan = _plan_of(whole)
        rigid, parts, of_one = _scratch_of(whole)
        T, K = objects.matrix(objects.item(whole, OF_ONE + 9)), objects.matrix(objects.item(whole, SOLVING + 1))
        E, end, constrained = objects.matrix(objects.item(whole, SOLVING + 4)), 2 * n + T.shape[1], plan[4][5] != 0
        clear(E, 0.0)
        clear(K, 0.0)
        scratch = _tree_of(whole), rigid, parts, of_one, _many_of(whole)
        udot, A = objects.matrix(objects.item(whole, MANY + 5)), objects.matrix(objects.item(whole, MANY + 6))
        _put_accelerations(model, inverse, objects.numbers(u_dot), udot, A)
        if inverse:
            end = 2 * n
        _find(model, (duals, addresses), plan, udot, A, end, *scratch, T, E, K)
        M_inv, Dq, Du = objects.matrix(by_forces), objects.matrix(by_q), objects.matrix(by_u)
        if inverse:
            for i in range(n):
                for j in range(n):
                    Dq[i, j], Du[i, j] = rigid[3][i, j], rigid[3][n + i, j]
        else:
            flat_inv = objects.matrix(objects.item(whole, SOLVING + 12))
            wide_inv = objects.blocks(objects.item(whole, SOLVING + 13))
            inverse_mass_matrix.calc_m_inv(model, 0, EVERYTHING, flat_inv, wide_inv, M_inv)
            _solve(model, whole, constrained, T, K, M_inv)
            m = E.shape[0] if constrained else 0
            _put(n, whole, m, T, K, M_inv, Dq, Du, objects.matrix(by_z), objects.numbers(by_time))
    objects.acquire_gil(released)
    if status == DONE:
        return found
    objects.drop(found)
    return objects.as_object(status)
