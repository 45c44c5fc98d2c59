"""Derivatives of the dynamics of many states with all that acts: every compiled kind of force, mobilizer and constraint.

What elements, constraints and motions contribute is differentiated of one state after the other, eight columns at a time, see
`derivative.elements`: a Dual of one state fills a register, and one of eight would take eight times as long. All else is done
of eight states at a time: realizing them, the rigid sweep, M^-1, G, the factor of G M^-1 G^T, and products, see
`derivative.solve`.
"""

from typing import Any

from ..algebra.eights import put_rows
from ..algebra.memory import store3
from ..algebra.record import attach
from ..algebra.scalar import load, load_lane, store, store_lane, zero
from ..compiling import compiled, generic
from ..derivative.elements import CONSTRAINED, differentiate, find_bends, find_displacements, find_wrenches
from ..derivative.of_state import gravity
from ..derivative.solve import add_products, constrain
from ..state.fields import Record
from ..state.validity import ARTICULATED, EVERYTHING, FORCES, KINEMATICS
from ..tree import explicit_mass_matrix, inverse_dynamics, inverse_dynamics_derivatives, inverse_mass_matrix
from ..tree.inverse_dynamics_derivatives import FORCE, NUMBERS_A_MOBILITY
from ..tree.realize import nothing_of
from .batch import realize_eight
from .batch_operators import take
from .chunks import shared


# fmt: off
@generic
def _find(
    model: Record, first: int, of_one: Any, of_tree: Any, own: Any, own_of_each: Any, rows: Any, driven: Any, asked: int,
    end: int, u_dot: Any, A: Any, unit: Any, N: Any, bends: Any, F: Any, bodies: Any, speeds: Any, columns: Any, D: Any,
    R: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """The residual's derivatives by columns up to *end* of eight states, errors', and those of udot that is *driven*.

    *of_one* are a block of Duals, the addresses of `contribute` and `sweep_kinematics` for it and its arrays of `FIELDS`; then
    scratch of one state. *own* is what it has of a state's own parameters, *own_of_each* the rows of all.
    """
    slopes, bent, carrier, body_of = of_tree
    (block, contributing, sweeping, dual), seeds, more, flat_E, flat_K = of_one
    numbers, flat_seeds, sums, R_of_one, flat_R, E_of_one, K_of_one = more
    n, g = model.nu, gravity(model, asked)
    find_displacements(model, unit, unit[n:], N)
    find_wrenches(model, g, asked & CONSTRAINED != 0, F, unit)
    for lane in range(8 if bends.shape[0] > 0 else 0):
        for i in range(own.shape[0]):
            own[i] = own_of_each[first + lane, i]
        find_bends(model, lane, (block, sweeping, dual), bent, N, seeds, bends)
    Dq, Du = D[:n], D[n : 2 * n]
    inverse_dynamics_derivatives.sweep(
        model, A, u_dot, g, bends, bent, slopes, carrier, F, bodies, speeds, columns, Dq, Du
    )
    store3(bodies, 0, FORCE, g)
    given, trees = (block, contributing, dual), (carrier, body_of)
    for lane in range(8):
        for i in range(own.shape[0]):
            own[i] = own_of_each[first + lane, i]
        for k in range(n):
            for j in range(NUMBERS_A_MOBILITY):
                numbers[k, j] = load_lane(speeds, k, j, lane)
        differentiate(
            model, lane, given, u_dot, A, asked, end, trees, N, F, bodies, numbers, flat_seeds, seeds, sums, R_of_one,
            E_of_one, K_of_one,
        )
        for j in range(end):
            for i in range(n):
                store_lane(R, i, j, lane, flat_R[i, j])
            for k in range(rows.shape[0]):
                store_lane(E, k, j, lane, flat_E[rows[k], j])
            for k in range(driven.shape[0]):
                store_lane(K, driven[k], j, lane, flat_K[driven[k], j])
    for i in range(n):
        for j in range(n):
            store(R, i, j, load(R, i, j) + load(Dq, i, j))
            store(R, i, n + j, load(R, i, n + j) + load(Du, i, j))


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, of_one: Any, own: Any, own_of_each: Any, of_tree: Any, rows: Any,
    driven: Any, asked: int, unit: Any, N: Any, bends: Any, F: Any, bodies: Any, speeds: Any, of_columns: Any, rigid: Any,
    R: Any, E: Any, K: Any, M: Any, G: Any, P: Any, x: Any, W: Any, L: Any, work: Any, M_inv: Any, D: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q, u, z, time and forces on the mobilities, side by side; see `_find`."""
    model = attach(block)
    n, columns = model.nu, R.shape[1]
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, EVERYTHING, first, states)
        sound = nothing_of(model.u_dot, n, zero(load(model.time, 0, 0)))
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
        _find(
            model, first, of_one, of_tree, own, own_of_each, rows, driven, asked, columns, model.u_dot, model.A_GB, unit, N,
            bends, F, bodies, speeds, of_columns, rigid, R, E, K,
        )
        for i in range(n):
            for j in range(columns):
                store(D, i, j, sound)
            for j in range(n):
                store(D, i, columns + j, load(M_inv, i, j) + sound)
        if driven.shape[0] > 0:
            explicit_mass_matrix.calc_m(model, False, work, work, M)
            add_products(M, n, K, n, columns, 1.0, R)
            for k in range(driven.shape[0]):
                for j in range(columns):
                    store(D, driven[k], j, load(D, driven[k], j) + load(K, driven[k], j))
        add_products(M_inv, n, R, n, columns, -1.0, D)
        if rows.shape[0] > 0:
            constrain(model, rows, columns, M_inv, E, G, P, x, W, L, D)
        put_rows(D, 0, n, out, first, 0)


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, of_one: Any, own: Any, own_of_each: Any, of_tree: Any, none: Any,
    asked: int, udot: Any, udot8: Any, A: Any, unit: Any, N: Any, bends: Any, F: Any, bodies: Any, speeds: Any,
    of_columns: Any, rigid: Any, R: Any, work: Any, M: Any, D: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of what is missing for udot, by q and u, then M, side by side."""
    model = attach(block)
    n = model.nu
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, KINEMATICS | FORCES, first, states)
        take(udot, first, udot8)
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, udot8, A)
        sound = nothing_of(model.u, n, nothing_of(model.q, model.nq, zero(load(model.time, 0, 0))))
        _find(
            model, first, of_one, of_tree, own, own_of_each, none, none, asked, 2 * n, udot8, A, unit, N,
            bends, F, bodies, speeds, of_columns, rigid, R, R, R,
        )
        explicit_mass_matrix.calc_m(model, False, work, work, M)
        for i in range(n):
            for j in range(2 * n):
                store(D, i, j, load(R, i, j) + sound)
            for j in range(n):
                store(D, i, 2 * n + j, load(M, i, j))
        put_rows(D, 0, n, out, first, 0)
