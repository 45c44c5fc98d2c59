"""Derivatives of both dynamics of one state, with all that acts: the rigid sweep, then elements and constraints."""

from typing import Any

from ..algebra import given
from ..algebra.memory import store3
from ..algebra.record import attach, call_routine
from ..algebra.scalar import store
from ..compiling import compiled, generic
from ..state.fields import Record
from ..state.validity import EVERYTHING, KEPT_FORCES
from ..tree import explicit_mass_matrix, inverse_dynamics_derivatives, inverse_mass_matrix
from ..tree.inverse_dynamics_derivatives import FIRST_NUMBER, FORCE, NUMBERS_A_MOBILITY
from ..tree.realize import DONE, NOT_PLAIN, advance_with, all_finite, takes_long
from .columns import find_bends, find_displacements, find_wrenches
from .residual import add_parts, add_stiffness, gravity
from .solve import add_products, constrain

#: Where what a kernel takes is in a tuple: of Duals and the plan; of the tree; of the rigid sweep; of parts; of one state's
#: Duals; of the linear systems.
PLAN, TREE, RIGID, PARTS, OF_ONE, SOLVING = 0, 9, 16, 21, 29, 38


@generic
def _load_columns(model: Record, flat: Any, columns: Any) -> None:
    """S, a, c by q and c by u by mobility, of those by place among eight."""
    for place in range(model.nu):
        k, row, column = model.mobility_at[place], place >> 3, place & 7
        for j in range(NUMBERS_A_MOBILITY):
            columns[k, j] = flat[row, 8 * (FIRST_NUMBER + j) + column]


@generic
def _find(
    model: Record,
    duals: Any,
    plan: Any,
    u_dot: Any,
    A: Any,
    end: int,
    of_tree: Any,
    work: Any,
    more: Any,
    of_one: Any,
    R: Any,
    E: Any,
    K: Any,
) -> None:
    """The residual's derivatives, errors' and known udot's."""
    slopes, bent, carrier, body_of, row_of = of_tree
    bodies, flat, wide, D = work
    N, bends, unit, F, numbers, C, flat_stiffness, stiffness = more
    dual, addresses = duals
    n, g = model.nu, gravity(model, plan[4][0])
    find_displacements(model, unit, unit[n:], N)
    if addresses[1] != 0:
        find_bends(model, 0, (dual, addresses[1]), bent, N, of_one[1][1], bends)
    find_wrenches(model, g, plan[4][5] != 0, F, unit)
    Dq, Du = D[:n], D[n:]
    inverse_dynamics_derivatives.sweep_state(model, A, u_dot, g, bends, bent, slopes, carrier, F, bodies, flat, wide, Dq, Du)
    store3(bodies, 0, FORCE, g)
    _load_columns(model, flat, numbers)
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = 0.0
    for i in range(n):
        for j in range(R.shape[1]):
            R[i, j] = 0.0
    trees = carrier, body_of, row_of
    add_parts(model, 0, duals, plan, u_dot, A, end, trees, N, bodies, numbers, of_one, C, R, E, K, Dq, Du)
    add_stiffness(model, plan, F, bodies, numbers, C, flat_stiffness, stiffness, 3, Dq, Du)
    for i in range(n):
        for j in range(n):
            R[i, j] += D[i, j]
            R[i, n + j] += D[n + i, j]


@generic
def _plan_of(whole: Any) -> Any:
    """Addresses and a plan."""
    tables = given.table(given.item(whole, 2)), given.table(given.item(whole, 3)), given.table(given.item(whole, 4))
    asked = given.integers(given.item(whole, 8))
    return (
        given.integers(given.item(whole, 1)),
        (
            tables,
            given.table(given.item(whole, 5)),
            given.integers(given.item(whole, 6)),
            given.integers(given.item(whole, 7)),
            (asked[0], asked[1], asked[2], asked[3], asked[4], asked[5]),
        ),
    )


@generic
def _tree_of(whole: Any) -> Any:
    """Slopes, bent ones, carriers, bodies of mobilities, rows of equations."""
    return (
        given.table(given.item(whole, TREE)),
        given.integers(given.item(whole, TREE + 1)),
        given.integers(given.item(whole, TREE + 2)),
        given.integers(given.item(whole, TREE + 3)),
        given.integers(given.item(whole, TREE + 4)),
    )


@generic
def _scratch_of(whole: Any) -> Any:
    """Of the rigid sweep, of parts, and of one state's Duals."""
    rigid = (
        given.matrix(given.item(whole, RIGID)),
        given.matrix(given.item(whole, RIGID + 1)),
        given.blocks(given.item(whole, RIGID + 2)),
        given.matrix(given.item(whole, RIGID + 3)),
    )
    parts = (
        given.matrix(given.item(whole, PARTS)),
        given.matrix(given.item(whole, PARTS + 1)),
        given.matrix(given.item(whole, PARTS + 2)),
        given.matrix(given.item(whole, PARTS + 3)),
        given.matrix(given.item(whole, PARTS + 4)),
        given.matrix(given.item(whole, PARTS + 5)),
        given.matrix(given.item(whole, PARTS + 6)),
        given.blocks(given.item(whole, PARTS + 7)),
    )
    of_one = (
        (given.blocks(given.item(whole, OF_ONE)), given.blocks(given.item(whole, OF_ONE + 1))),
        (given.matrix(given.item(whole, OF_ONE + 2)), given.blocks(given.item(whole, OF_ONE + 3))),
        (given.matrix(given.item(whole, OF_ONE + 4)), given.blocks(given.item(whole, OF_ONE + 5))),
        given.blocks(given.item(whole, OF_ONE + 6)),
    )
    return rigid, parts, of_one


@generic
def _solve(model: Record, whole: Any, constrained: bool, end: int, wide_R: Any, R: Any, K: Any, by_forces: Any) -> None:
    """Derivatives of udot into D, and what generalized forces do."""
    n, driven = model.nu, given.integers(given.item(whole, TREE + 5))
    D, wide_D = given.matrix(given.item(whole, SOLVING + 2)), given.blocks(given.item(whole, SOLVING + 3))
    flat_inv, wide_inv = given.matrix(given.item(whole, SOLVING + 12)), given.blocks(given.item(whole, SOLVING + 13))
    pack = given.blocks(given.item(whole, SOLVING + 11))
    for i in range(n):
        for j in range(D.shape[1]):
            D[i, j] = 0.0
    inverse_mass_matrix.calc_m_inv(model, 0, EVERYTHING, flat_inv, wide_inv, by_forces)
    if driven.shape[0] > 0:
        M = given.matrix(given.item(whole, SOLVING))
        explicit_mass_matrix.calc_m(model, False, flat_inv, wide_inv, M)
        for i in range(n):
            for k in range(driven.shape[0]):
                for j in range(end):
                    R[i, j] += M[i, driven[k]] * K[driven[k], j]
    add_products(by_forces, n, wide_R, n, wide_R.shape[1], -1.0, wide_D, pack)
    for k in range(driven.shape[0]):
        for j in range(end):
            D[driven[k], j] += K[driven[k], j]
    if constrained:
        start = 8 * wide_R.shape[1]
        for i in range(n):
            for j in range(n):
                D[i, start + j] = by_forces[i, j]
        E, wide_E = given.matrix(given.item(whole, SOLVING + 4)), given.blocks(given.item(whole, SOLVING + 5))
        L, G = given.blocks(given.item(whole, SOLVING + 6)), given.matrix(given.item(whole, SOLVING + 7))
        rows_of_g, P = given.matrix(given.item(whole, SOLVING + 8)), given.matrix(given.item(whole, SOLVING + 9))
        W, row_of = given.matrix(given.item(whole, SOLVING + 10)), given.integers(given.item(whole, TREE + 4))
        constrain(model, row_of, E, wide_E, start, wide_D.shape[1], G, rows_of_g, P, W, L, wide_D, pack)
        for i in range(n):
            for j in range(n):
                by_forces[i, j] = D[i, start + j]


@given.compiled_for_callers
def calc_accelerations_derivatives(
    block: Any, routine: Any, valid: Any, own_q: Any, own_u: Any, q: Any, u: Any, forces: Any, whole: Any, kind: Any, by_z: Any
) -> Any:
    """As `tree.inverse_dynamics_derivatives.calc_accelerations_derivatives`, with all that acts; by z into *by_z*.

    *whole* is a tuple of what does not change from call to call, see `PLAN` and those behind it.
    """
    if not (given.is_like(q, own_q) and given.is_like(u, own_u)):
        return given.as_object(NOT_PLAIN)
    known = given.number(valid)
    model, status, more = given.record_of(block), DONE, not given.is_row(forces, own_u, 0)
    n = model.nu
    if more:
        if not given.is_row(forces, own_u, n):
            return given.as_object(NOT_PLAIN)
        if not all_finite(given.numbers(forces), n):
            return given.as_object(NOT_PLAIN)
    given.copy(q, own_q)
    given.copy(u, own_u)
    by_q, by_u, by_forces, by_time = given.new_matrix(n), given.new_matrix(n), given.new_matrix(n), given.new_row(n)
    found = given.new_tuple(kind, (by_q, by_u, given.keep(by_z), by_forces, by_time))
    if given.is_nothing(found):
        return found
    released = given.release_gil(takes_long(model))
    if more:
        status = advance_with(model, given.integer(routine), known, EVERYTHING | KEPT_FORCES, given.numbers(forces))
    elif known & EVERYTHING != EVERYTHING:
        status = call_routine(given.integer(routine), model, known, EVERYTHING | KEPT_FORCES)
    if status == DONE:
        duals = given.duals_of(given.item(whole, PLAN))
        addresses, plan = _plan_of(whole)
        rigid, parts, of_one = _scratch_of(whole)
        wide_R, R = given.blocks(given.item(whole, OF_ONE + 7)), given.matrix(given.item(whole, OF_ONE + 8))
        K, D = given.matrix(given.item(whole, SOLVING + 1)), given.matrix(given.item(whole, SOLVING + 2))
        E, numbers_z = given.matrix(given.item(whole, SOLVING + 4)), given.matrix(by_z)
        nz = duals.forces_nz
        end = 2 * n + nz + 1
        for i in range(E.shape[0]):
            for j in range(E.shape[1]):
                E[i, j] = 0.0
        for i in range(n):
            for j in range(end):
                K[i, j] = 0.0
        _find(model, (duals, addresses), plan, model.u_dot, model.A_GB, end, _tree_of(whole), rigid, parts, of_one, R, E, K)
        M_inv, Dq, Du = given.matrix(by_forces), given.matrix(by_q), given.matrix(by_u)
        _solve(model, whole, plan[4][5] != 0, end, wide_R, R, K, M_inv)
        for i in range(n):
            for j in range(n):
                Dq[i, j], Du[i, j] = D[i, j], D[i, n + j]
            for j in range(nz):
                numbers_z[i, j] = D[i, 2 * n + j]
            store(given.numbers(by_time), i, 0, D[i, end - 1])
    given.acquire_gil(released)
    if status == DONE:
        return found
    given.drop(found)
    return given.as_object(status)


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, of_duals: Any, addresses: Any, plan: Any, of_tree: Any, work: Any, more: Any, of_one: Any, R: Any, u_dot: Any,
    A: Any, none: Any, by_q: Any, by_u: Any,
) -> None:
    # fmt: on
    """Derivatives by q and u of what is missing for *u_dot*, at which bodies have accelerations *A*."""
    model = attach(block)
    n, duals = model.nu, (attach(of_duals), addresses)
    _find(model, duals, plan, u_dot, A, 2 * n, of_tree, work, more, of_one, R, none, none)
    for i in range(n):
        for j in range(n):
            by_q[i, j], by_u[i, j] = R[i, j], R[i, n + j]
