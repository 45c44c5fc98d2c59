"""Derivatives of both dynamics of one state, with all that acts: the rigid sweep, then elements and constraints."""

from typing import Any

from ..algebra.memory import store3
from ..algebra.record import attach
from ..compiling import compiled, generic
from ..state.fields import Record
from ..state.validity import EVERYTHING
from ..tree import explicit_mass_matrix, inverse_dynamics_derivatives, inverse_mass_matrix
from ..tree.inverse_dynamics_derivatives import FIRST_NUMBER, FORCE, NUMBERS_A_MOBILITY
from .columns import Z, find_bends, find_displacements, find_wrenches
from .residual import add_parts, add_stiffness, gravity
from .solve import add_products, constrain


@generic
def _load_columns(model: Record, flat: Any, columns: Any) -> None:
    """S, a, c by q and c by u by mobility, of those by place among eight."""
    for place in range(model.nu):
        k, row, column = model.mobility_at[place], place >> 3, place & 7
        for j in range(NUMBERS_A_MOBILITY):
            columns[k, j] = flat[row, 8 * (FIRST_NUMBER + j) + column]


@generic
def _find(
    model: Record, duals: Any, plan: Any, u_dot: Any, A: Any, end: int, of_tree: Any, work: Any, more: Any, E: Any, K: Any
) -> None:
    """The residual's derivatives, errors' and known udot's."""
    slopes, bent, carrier, body_of, row_of = of_tree
    bodies, flat, wide, D, _ = work
    N, bends, unit, F, numbers, C, flat_stiffness, stiffness, scratch, _, R = more
    block, addresses, dual = duals
    n, g = model.nu, gravity(model, plan[4][0])
    find_displacements(model, unit, unit[n:], N)
    if addresses[1] != 0:
        find_bends(model, 0, (block, addresses[1], dual), bent, N, scratch[1][1], bends)
    find_wrenches(model, g, plan[4][5] != 0, F, unit)
    Dq, Du = D[:n], D[n:]
    inverse_dynamics_derivatives.sweep_state(model, A, u_dot, g, bends, bent, slopes, carrier, F, bodies, flat, wide, Dq, Du)
    store3(bodies, 0, FORCE, g)
    _load_columns(model, flat, numbers)
    C[:] = 0.0
    R[:] = 0.0
    trees = carrier, body_of, row_of
    add_parts(model, 0, duals, plan, u_dot, A, end, trees, N, bodies, numbers, scratch, C, R, E, K, Dq, Du)
    add_stiffness(model, plan, F, bodies, numbers, C, flat_stiffness, stiffness, 3, Dq, Du)
    for i in range(n):
        for j in range(n):
            R[i, j] += D[i, j]
            R[i, n + j] += D[n + i, j]


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, duals: Any, plan: Any, of_tree: Any, constrained: bool, driven: Any, flat_inv: Any, wide_inv: Any, work: Any,
    more: Any, solving: Any, by_q: Any, by_u: Any, by_z: Any, by_forces: Any, by_time: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q, u, z, mobility forces and time of a state at ACCELERATION."""
    model = attach(block)
    n, nz = model.nu, duals[2][Z].shape[0]
    end = 2 * n + nz + 1
    M, K, D, wide_D, E, wide_E, L, G, rows_of_g, P, W, pack = solving
    E[:] = 0.0
    K[:] = 0.0
    D[:] = 0.0
    _find(model, duals, plan, model.u_dot, model.A_GB, end, of_tree, work, more, E, K)
    wide_R, R = more[9], more[10]
    inverse_mass_matrix.calc_m_inv(model, 0, EVERYTHING, flat_inv, wide_inv, by_forces)
    if driven.shape[0] > 0:
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
        constrain(model, of_tree[4], E, wide_E, start, wide_D.shape[1], G, rows_of_g, P, W, L, wide_D, pack)
        for i in range(n):
            for j in range(n):
                by_forces[i, j] = D[i, start + j]
    for i in range(n):
        for j in range(n):
            by_q[i, j], by_u[i, j] = D[i, j], D[i, n + j]
        for j in range(nz):
            by_z[i, j] = D[i, 2 * n + j]
        by_time[i] = D[i, end - 1]


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, duals: Any, plan: Any, of_tree: Any, work: Any, more: Any, u_dot: Any, A: Any, none: Any, by_q: Any, by_u: Any
) -> None:
    # fmt: on
    """Derivatives by q and u of what is missing for *u_dot*, at which bodies have accelerations *A*."""
    model = attach(block)
    n = model.nu
    _find(model, duals, plan, u_dot, A, 2 * n, of_tree, work, more, none, none)
    R = more[10]
    for i in range(n):
        for j in range(n):
            by_q[i, j], by_u[i, j] = R[i, j], R[i, n + j]
