"""Derivatives of both dynamics of one state, with all that acts: the rigid sweep, then elements and constraints."""

from typing import Any

from ..algebra.memory import store3
from ..algebra.record import attach
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic
from ..state.fields import Record
from ..state.validity import EVERYTHING
from ..tree import explicit_mass_matrix, inverse_dynamics_derivatives, inverse_mass_matrix
from ..tree.inverse_dynamics_derivatives import FIRST_NUMBER, FORCE, NUMBERS_A_MOBILITY
from .elements import CONSTRAINED, PULLED, Z, differentiate, find_bends, find_displacements, find_wrenches
from .solve import constrain


@generic
def gravity(model: Record, asked: int) -> Any:
    """The field that the rigid sweep has as an acceleration of Ground; none if gravity is an element as any other."""
    g = inverse_dynamics_derivatives.gravity(model)
    if asked & PULLED != 0:
        o = zero(load(model.time, 0, 0))
        g = o, o, o
    return g


@generic
def _load_columns(model: Record, flat: Any, columns: Any) -> None:
    """S, a, c by q and c by u by mobility, of those by place among eight."""
    for place in range(model.nu):
        k, row, column = model.mobility_at[place], place >> 3, place & 7
        for j in range(NUMBERS_A_MOBILITY):
            columns[k, j] = flat[row, 8 * (FIRST_NUMBER + j) + column]


@generic
def _find(model: Record, duals: Any, u_dot: Any, A: Any, asked: int, end: int, of_tree: Any, work: Any, more: Any) -> None:
    """The residual's derivatives in vectors of eight columns, errors' and known udot's likewise."""
    slopes, bent, carrier, body_of = of_tree
    bodies, flat, wide, D, _ = work
    N, bends, unit, F, columns, flat_seeds, seeds, sums, R, flat_R, E, K = more
    block, contributing, sweeping, dual = duals
    n, g, constrained = model.nu, gravity(model, asked), asked & CONSTRAINED != 0
    find_displacements(model, unit, unit[n:], N)
    if sweeping != 0:
        find_bends(model, 0, (block, sweeping, dual), bent, N, seeds, bends)
    find_wrenches(model, g, constrained, F, unit)
    Dq, Du = D[:n], D[n:]
    inverse_dynamics_derivatives.sweep_state(model, A, u_dot, g, bends, bent, slopes, carrier, F, bodies, flat, wide, Dq, Du)
    store3(bodies, 0, FORCE, g)
    _load_columns(model, flat, columns)
    trees, given = (carrier, body_of), (block, contributing, dual)
    differentiate(model, 0, given, u_dot, A, asked, end, trees, N, F, bodies, columns, flat_seeds, seeds, sums, R, E, K)
    for i in range(n):
        for j in range(n):
            flat_R[i, j] += D[i, j]
            flat_R[i, n + j] += D[n + i, j]


@generic
def _multiply(M_inv: Any, R: Any, D: Any) -> None:
    """-M^-1 R, a vector of eight columns at a time."""
    n = M_inv.shape[0]
    for j in range(R.shape[1]):
        o = zero(load(R, 0, j))
        for i in range(0, n, 4):
            i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            x0, x1, x2, x3 = o, o, o, o
            for k in range(n):
                y = load(R, k, j)
                x0, x1 = x0 - load(M_inv, i, k) * y, x1 - load(M_inv, i1, k) * y
                x2, x3 = x2 - load(M_inv, i2, k) * y, x3 - load(M_inv, i3, k) * y
            store(D, i, j, x0)
            store(D, i1, j, x1)
            store(D, i2, j, x2)
            store(D, i3, j, x3)


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, duals: Any, asked: int, of_tree: Any, rows: Any, driven: Any, flat_inv: Any, wide_inv: Any, work: Any,
    more: Any, solving: Any, by_q: Any, by_u: Any, by_z: Any, by_forces: Any, by_time: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q, u, z, mobility forces and time of a state at ACCELERATION."""
    model = attach(block)
    n, nz = model.nu, duals[3][Z].shape[0]
    end = 2 * n + nz + 1
    _find(model, duals, model.u_dot, model.A_GB, asked, end, of_tree, work, more)
    R, flat_R = more[8], more[9]
    M, G, P, x, W, errors, L, D, wide_D, flat_E, flat_K = solving
    inverse_mass_matrix.calc_m_inv(model, 0, EVERYTHING, flat_inv, wide_inv, by_forces)
    if driven.shape[0] > 0:
        explicit_mass_matrix.calc_m(model, False, flat_inv, wide_inv, M)
        for i in range(n):
            for k in range(driven.shape[0]):
                for j in range(end):
                    flat_R[i, j] += M[i, driven[k]] * flat_K[driven[k], j]
    _multiply(by_forces, R, wide_D)
    for k in range(driven.shape[0]):
        for j in range(end):
            D[driven[k], j] += flat_K[driven[k], j]
    if rows.shape[0] > 0:
        for i in range(n):
            for j in range(n):
                D[i, end + j] = by_forces[i, j]
        for k in range(rows.shape[0]):
            for j in range(end):
                errors[k, j] = flat_E[rows[k], j]
        constrain(model, rows, end, by_forces, errors, G, P, x, W, L, D)
        for i in range(n):
            for j in range(n):
                by_forces[i, j] = D[i, end + j]
    for i in range(n):
        for j in range(n):
            by_q[i, j], by_u[i, j] = D[i, j], D[i, n + j]
        for j in range(nz):
            by_z[i, j] = D[i, 2 * n + j]
        by_time[i] = D[i, end - 1]


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, duals: Any, asked: int, of_tree: Any, work: Any, more: Any, u_dot: Any, A: Any, by_q: Any, by_u: Any
) -> None:
    # fmt: on
    """Derivatives by q and u of what is missing for *u_dot*, at which bodies have accelerations *A*."""
    model = attach(block)
    n = model.nu
    _find(model, duals, u_dot, A, asked, 2 * n, of_tree, work, more)
    flat_R = more[9]
    for i in range(n):
        for j in range(n):
            by_q[i, j], by_u[i, j] = flat_R[i, j], flat_R[i, n + j]
