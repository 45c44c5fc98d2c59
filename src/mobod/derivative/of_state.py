"""Derivatives of both dynamics of one state, with all that acts: the rigid sweep, then elements and constraints."""

from typing import Any

from ..algebra.memory import store3
from ..algebra.object_access import blocks, duals_of, integers, item, matrix, table
from ..algebra.scalar import store
from ..compiling import generic
from ..state.fields import Record
from ..state.validity import EVERYTHING
from ..tree import inverse_mass_matrix
from ..tree.matrix_sweep import clear
from . import couplings, sweep
from .entry import both_in, kernel_of, put_accelerations
from .residual import ACTED, ASKED, BETWEEN, TABLES, add_stiffness, add_terms, find_what_is_swept, gravity
from .solve import (
    add_given,
    add_turns,
    copy_rows,
    exchange,
    find_left,
    project,
    put_both_products,
    put_given,
    put_products,
)
from .sweep import FIRST_NUMBER, FORCE, NUMBERS_A_MOBILITY

#: Where what a kernel takes is in a tuple: of Duals and the plan; of the tree; of the rigid sweep; of parts; of one state's
#: Duals; of the linear systems; what their products do not pass over; of couplings; of what is by z and time.
PLAN, TREE, RIGID, PARTS, OF_ONE, SOLVING, GROUPS, MANY, OF_REST = 0, 27, 34, 39, 47, 57, 74, 77, 88
#: Where the plan's flags are.
FLAGS = 18


@generic
def _load_columns(model: Record, places: Any, flat: Any, columns: Any, eights: Any) -> None:
    """S, a, c by q and c by u by mobility, of those by place among eight; none where *places* are 0, which nothing reads.

    S and a of eight mobilities are side by side in *eights*, unless that has no rows.
    """
    for place in range(model.nu):
        if places[place] == 0:
            continue
        k, row, column = model.mobility_at[place], place >> 3, place & 7
        for j in range(NUMBERS_A_MOBILITY):
            columns[k, j] = flat[row, 8 * (FIRST_NUMBER + j) + column]
        for j in range(couplings.NUMBERS_OF_MOTION if eights.shape[0] > 0 else 0):
            eights[k >> 3, 8 * j + (k & 7)] = columns[k, j]


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
    n, g = model.nu, gravity(model, plan)
    carried, eights, S, W, L, wide_D, driven, M, total, totals = of_many
    no_own = unit[:0, 0], T[:0], 0
    faster, of_bodies = find_what_is_swept(
        model, 1, no_own, duals, plan, g, bent, u_dot, A, total, totals, unit, N, of_one[1][1], bends, F
    )
    clear(D)
    sweep.sweep_state(
        model, of_bodies, faster, g, bends, bent, slopes, plan[ACTED][0], carrier, F, bodies, flat, wide, D[:n], D[n:]
    )
    if M.shape[0] > 0:
        sweep.put_mass(model, plan[ACTED][5].shape[0] > 0, driven, body_of, flat, flat, sweep.FIRST_COLUMN, 3, M)
    store3(bodies, 0, FORCE, g)
    _load_columns(model, plan[ACTED][1], flat, numbers, eights)
    start = 8 * wide.shape[0]
    trees = carrier, body_of, (row_of, start, 2 * start)
    add_terms(model, 1, no_own, duals, plan, u_dot, A, end, trees, N, bodies, numbers, of_one, L, M, total, F, C, D, T, E, K)
    if plan[BETWEEN][1].shape[0] > 0:
        couplings.add_to_one(model, C, plan[BETWEEN], plan[TABLES][3], bodies, numbers, carried, S, (L, W), F, wide_D, T)
    add_stiffness(model, plan, F, bodies, numbers, C, flat_stiffness, stiffness, 3, D)


@generic
def _plan_of(whole: Any) -> Any:
    """Addresses and a plan."""
    asked = integers(item(whole, FLAGS))
    calls = table(item(whole, 2)), table(item(whole, 3)), table(item(whole, 4)), integers(item(whole, 5))
    tables = *calls, table(item(whole, 6)), integers(item(whole, 7))
    acted = integers(item(whole, 11)), integers(item(whole, 12)), integers(item(whole, 13)), integers(item(whole, 14))
    acting = *acted, table(item(whole, 15)), integers(item(whole, 16)), table(item(whole, 17))
    flags = asked[0], asked[1], asked[2], asked[3], asked[4], asked[5], asked[6]
    of_lines = table(item(whole, FLAGS + 2)), table(item(whole, FLAGS + 3)), integers(item(whole, FLAGS + 4))
    closed = table(item(whole, FLAGS + 5)), table(item(whole, FLAGS + 6))
    between = table(item(whole, 8)), integers(item(whole, FLAGS + 1)), *of_lines, *closed
    central = table(item(whole, FLAGS + 7)), integers(item(whole, FLAGS + 8))
    plan = tables, integers(item(whole, 9)), integers(item(whole, 10)), flags, acting, between, central
    return integers(item(whole, 1)), plan


@generic
def _tree_of(whole: Any) -> Any:
    """Slopes, bent ones, carriers, bodies of mobilities, rows of equations."""
    bent, carriers = integers(item(whole, TREE + 1)), integers(item(whole, TREE + 2))
    return table(item(whole, TREE)), bent, carriers, integers(item(whole, TREE + 3)), integers(item(whole, TREE + 4))


@generic
def _scratch_of(whole: Any) -> Any:
    """Of the rigid sweep, of parts, and of one state's Duals."""
    rigid = matrix(item(whole, RIGID)), *both_in(whole, RIGID + 1), matrix(item(whole, RIGID + 3))
    of_mobilizers = matrix(item(whole, PARTS)), matrix(item(whole, PARTS + 1)), matrix(item(whole, PARTS + 2))
    of_bodies = matrix(item(whole, PARTS + 3)), matrix(item(whole, PARTS + 4)), matrix(item(whole, PARTS + 5))
    units = blocks(item(whole, OF_ONE)), blocks(item(whole, OF_ONE + 1))
    seeds, pushed, acting = both_in(whole, OF_ONE + 2), both_in(whole, OF_ONE + 4), both_in(whole, OF_ONE + 6)
    parts = *of_mobilizers, *of_bodies, *both_in(whole, PARTS + 6)
    return rigid, parts, (units, seeds, pushed, acting, blocks(item(whole, OF_ONE + 8)))


@generic
def _many_of(whole: Any) -> Any:
    """Arguments of `couplings`; the residual's derivatives, eight columns a number; who is driven; M; `thermostats`'."""
    carried = table(item(whole, MANY)), blocks(item(whole, MANY + 1))
    scratch = matrix(item(whole, MANY + 2)), blocks(item(whole, MANY + 3)), blocks(item(whole, MANY + 4))
    of_lines = matrix(item(whole, MANY + 9))
    solving = blocks(item(whole, RIGID + 4)), integers(item(whole, TREE + 5)), matrix(item(whole, SOLVING))
    of_thermostat = matrix(item(whole, MANY + 7)), matrix(item(whole, MANY + 8))
    return carried, *scratch, of_lines, *solving, *of_thermostat


@generic
def _solve(model: Record, fresh: bool, whole: Any, constrained: bool, scale: float, T: Any, K: Any, M_inv: Any) -> None:
    """Derivatives of udot by q and below that by u; *M_inv* becomes those by forces. *T* and errors get what motions add.

    *scale* is that of `solve.find_left`, with which the residual's derivatives are where its solution will be, and those by
    time beside. The factor of the Gram matrix may be *fresh*.
    """
    n, driven = model.nu, integers(item(whole, TREE + 5))
    (R, wide_R), (D, wide_D) = both_in(whole, RIGID + 3), both_in(whole, SOLVING + 2)
    E, wide_E = both_in(whole, SOLVING + 4)
    G, Q = matrix(item(whole, SOLVING + 7)), matrix(item(whole, SOLVING + 12))
    picked = integers(item(whole, GROUPS + 2))
    eights, width, m = wide_R.shape[1], T.shape[1], 0
    start = 8 * eights
    if constrained:
        m = G.shape[0]
        (flat_S, S), (flat, wide) = both_in(whole, SOLVING + 10), both_in(whole, SOLVING + 13)
        copy_rows(M_inv, flat)
        row_of, P = integers(item(whole, TREE + 4)), blocks(item(whole, SOLVING + 9))
        project(model, fresh and model.num_slips == 0, row_of, wide, G, P, S, flat_S, Q, picked)
        for i in range(n):
            for j in range(n):
                M_inv[i, j] = flat[i, j]
        if scale > 0.0:
            for half in range(2):
                add_turns(scale, flat_S, n, m, wide_D, wide_R, half * n, wide_E, half * eights)
            add_turns(scale, flat_S, n, m, matrix(item(whole, MANY + 10)), T, 0, E, 2 * start)
    if driven.shape[0] > 0:
        M = matrix(item(whole, SOLVING))
        for half in range(2):
            add_given(M, n, driven, K, half * n, half * n + n, R[half * n : half * n + n], 0)
            add_given(G, m, driven, K, half * n, half * n + n, E, half * start)
        add_given(M, n, driven, K, 2 * n, 2 * n + width, T, 0)
        add_given(G, m, driven, K, 2 * n, 2 * n + width, E, 2 * start)
    groups, rows_of_groups = table(item(whole, GROUPS)), integers(item(whole, GROUPS + 1))
    put_both_products(M_inv, n, Q, m, wide_E, wide_R, groups, rows_of_groups, picked, False, wide_D)
    for half in range(2):
        put_given(driven, K, half * n, half * n + n, D, half * n)


@generic
def _put(n: int, whole: Any, m: int, T: Any, K: Any, M_inv: Any, by_q: Any, by_u: Any, by_z: Any, by_time: Any) -> None:
    """The solution of `_solve`, put where it belongs, with *m* equations; *by_z* is zero as it is given."""
    D, start = matrix(item(whole, SOLVING + 2)), blocks(item(whole, RIGID + 4)).shape[1] * 8
    Q = matrix(item(whole, SOLVING + 12))
    (flat, wide_T), (rest, wide) = both_in(whole, OF_REST), both_in(whole, OF_REST + 2)
    last, picked, moves = T.shape[1] - 1, integers(item(whole, GROUPS + 2)), m + K.shape[0] > 0
    for i in range(n):
        for j in range(n):
            by_q[i, j] = D[i, j]
        for j in range(n):
            by_u[i, j] = D[n + i, j]
        for j in range(last + 1):
            flat[i, j] = T[i, j]
            moves = moves or T[i, j] != 0.0
        store(by_time, i, 0, 0.0)
    if not moves:  # no force reads z or time, as most
        return
    groups, rows = table(item(whole, OF_REST + 4)), integers(item(whole, OF_REST + 5))
    put_products(M_inv, n, Q, m, blocks(item(whole, SOLVING + 5)), start >> 2, wide_T, 0, groups, rows, picked, wide)
    put_given(integers(item(whole, TREE + 5)), K, 2 * n, 2 * n + last + 1, rest, 0)
    for i in range(n):
        for j in range(last):
            by_z[i, j] = rest[i, j]
        store(by_time, i, 0, rest[i, last])


# fmt: off
@generic
def _find_all(
    model: Record, fresh: bool, inverse: bool, u_dot: Any, whole: Any, by_q: Any, by_u: Any, by_z: Any, by_forces: Any,
    by_time: Any,
) -> None:
    # fmt: on
    """As `sweep.calc_derivatives`, with all that acts; *whole* is a tuple, see `PLAN` and those behind it."""
    n = model.nu
    duals = duals_of(item(whole, PLAN))
    addresses, plan = _plan_of(whole)
    rigid, parts, of_one = _scratch_of(whole)
    T, K = matrix(item(whole, OF_ONE + 9)), matrix(item(whole, SOLVING + 1))
    E, constrained = matrix(item(whole, SOLVING + 4)), plan[ASKED][5] != 0
    scratch = _tree_of(whole), rigid, parts, of_one, _many_of(whole)
    udot, A = matrix(item(whole, MANY + 5)), matrix(item(whole, MANY + 6))
    put_accelerations(model, inverse, u_dot, udot, A)
    end = 2 * n + (0 if inverse else T.shape[1])
    left, scale = matrix(item(whole, SOLVING + 6)), 0.0
    if constrained and not inverse:
        scale = find_left(model, A, udot, left)
    for turned in range(2 if scale > 0.0 else 1, 0, -1):
        if turned == 2:
            exchange(model, left)
        _find(model, (duals, addresses), plan, udot, A, end, *scratch, T, E, K)
        if turned == 2:
            exchange(model, left)
            copy_rows(rigid[3], matrix(item(whole, SOLVING + 2)))
            copy_rows(T, matrix(item(whole, MANY + 10)))
    if inverse:
        for i in range(n):
            for j in range(n):
                by_q[i, j], by_u[i, j] = rigid[3][i, j], rigid[3][n + i, j]
        return
    inverse_mass_matrix.calc_m_inv(model, 0, EVERYTHING, *both_in(whole, SOLVING + 15), by_forces)
    _solve(model, fresh, whole, constrained, scale, T, K, by_forces)
    _put(n, whole, E.shape[0] if constrained else 0, T, K, by_forces, by_q, by_u, by_z, by_time)


calc_derivatives = kernel_of(_find_all)
