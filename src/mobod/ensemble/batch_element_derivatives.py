"""Derivatives of the dynamics of many states with all that acts: every compiled kind of force, mobilizer and constraint.

What elements, constraints and motions contribute is differentiated of one state after the other, see `derivative.residual`. All
else is done of eight states at a time: realizing them, the rigid sweep, sums of blocks, M^-1, G, the factor of G M^-1 G^T, and
products, see `derivative.solve`.
"""

from typing import Any

from ..algebra.eights import put_rows
from ..algebra.memory import store3
from ..algebra.record import attach
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic
from ..derivative import sweep
from ..derivative.columns import find_bends, find_displacements, find_wrenches
from ..derivative.residual import add_parts, add_stiffness, clear, gravity
from ..derivative.solve import add_products, constrain
from ..derivative.sweep import FORCE
from ..state.fields import Record
from ..state.validity import ARTICULATED, EVERYTHING, FORCES, KINEMATICS
from ..tree import explicit_mass_matrix, inverse_dynamics, inverse_mass_matrix
from ..tree.realize import nothing_of
from .batch import realize_eight
from .batch_operators import take
from .chunks import shared


# fmt: off
@generic
def _find(
    model: Record, first: int, of_one: Any, of_tree: Any, own: Any, own_of_each: Any, plan: Any, end: int, u_dot: Any, A: Any,
    unit: Any, N: Any, bends: Any, F: Any, bodies: Any, speeds: Any, columns: Any, stiffness: Any, C: Any, D: Any, T: Any,
    E: Any, K: Any,
) -> None:
    # fmt: on
    """The residual's derivatives by columns up to *end* of eight states, errors', and those of udot that is driven.

    *of_one* are what `derivative.residual.add_parts` has of Duals, and scratch of one state. *own* is what it has of a state's
    own parameters, *own_of_each* the rows of all.
    """
    slopes, bent, carrier, body_of, row_of = of_tree
    (block, addresses), scratch = of_one
    duals = attach(block), addresses
    n, g, o = model.nu, gravity(model, plan[4][0]), zero(load(model.time, 0, 0))
    find_displacements(model, unit, unit[n:], N)
    find_wrenches(model, g, plan[4][5] != 0, F, unit)
    for lane in range(8 if bends.shape[0] > 0 else 0):
        for i in range(own.shape[0]):
            own[i] = own_of_each[first + lane, i]
        find_bends(model, lane, (duals[0], addresses[1]), bent, N, scratch[1][1], bends)
    sweep.sweep(
        model, A, u_dot, g, bends, bent, slopes, carrier, F, bodies, speeds, columns, D[:n], D[n : 2 * n]
    )
    store3(bodies, 0, FORCE, g)
    clear(C, o)
    clear(T, o)
    clear(E, o)
    clear(K, o)
    trees = carrier, body_of, (row_of, n, 2 * n)
    for lane in range(8):
        for i in range(own.shape[0]):
            own[i] = own_of_each[first + lane, i]
        add_parts(model, lane, duals, plan, u_dot, A, end, trees, N, bodies, speeds, scratch, C, D, T, E, K)
    add_stiffness(model, plan, F, bodies, speeds, C, stiffness, stiffness, 0, D)


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, of_one: Any, own: Any, own_of_each: Any, of_tree: Any, rows: Any,
    driven: Any, plan: Any, unit: Any, N: Any, bends: Any, F: Any, bodies: Any, speeds: Any, of_columns: Any,
    stiffness: Any, C: Any, rigid: Any, T: Any, E: Any, K: Any, M: Any, G: Any, rows_of_g: Any, P: Any, W: Any, L: Any,
    pack: Any, work: Any, M_inv: Any, D: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q, u, z, time and forces on the mobilities, side by side; see `_find`."""
    model = attach(block)
    n, columns = model.nu, 2 * model.nu + T.shape[1]
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, EVERYTHING, first, states)
        sound = nothing_of(model.u_dot, n, zero(load(model.time, 0, 0)))
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
        _find(
            model, first, of_one, of_tree, own, own_of_each, plan, columns, model.u_dot, model.A_GB, unit, N, bends, F, bodies,
            speeds, of_columns, stiffness, C, rigid, T, E, K,
        )
        for i in range(n):
            for j in range(columns):
                store(D, i, j, sound)
            for j in range(n):
                store(D, i, columns + j, load(M_inv, i, j) + sound)
        if driven.shape[0] > 0:
            explicit_mass_matrix.calc_m(model, False, work, work, M)
            for part in range(2):
                R = rigid[part * n : part * n + n]
                add_products(M, n, K, n, part * n, part * n + n, 1.0, R, 0, pack)
            add_products(M, n, K, n, 2 * n, columns, 1.0, T, 0, pack)
            for k in range(driven.shape[0]):
                for j in range(columns):
                    store(D, driven[k], j, load(D, driven[k], j) + load(K, driven[k], j))
        add_products(M_inv, n, rigid[:n], n, 0, n, -1.0, D, 0, pack)
        add_products(M_inv, n, rigid[n:], n, 0, n, -1.0, D, n, pack)
        add_products(M_inv, n, T, n, 0, columns - 2 * n, -1.0, D, 2 * n, pack)
        if rows.shape[0] > 0:
            constrain(model, of_tree[4], E, E, columns, columns + n, G, rows_of_g, P, W, L, D, pack)
        put_rows(D, 0, n, out, first, 0)


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, of_one: Any, own: Any, own_of_each: Any, of_tree: Any, plan: Any,
    udot: Any, udot8: Any, A: Any, unit: Any, N: Any, bends: Any, F: Any, bodies: Any, speeds: Any, of_columns: Any,
    stiffness: Any, C: Any, rigid: Any, work: Any, M: Any, D: Any, out: Any,
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
            model, first, of_one, of_tree, own, own_of_each, plan, 2 * n, udot8, A, unit, N, bends, F, bodies, speeds,
            of_columns, stiffness, C, rigid, C[:0], C[:0], C[:0],
        )
        explicit_mass_matrix.calc_m(model, False, work, work, M)
        for i in range(n):
            for j in range(n):
                store(D, i, j, load(rigid, i, j) + sound)
                store(D, i, n + j, load(rigid, n + i, j) + sound)
                store(D, i, 2 * n + j, load(M, i, j))
        put_rows(D, 0, n, out, first, 0)
