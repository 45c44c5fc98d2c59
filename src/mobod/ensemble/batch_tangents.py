"""Derivatives of the dynamics of many states by dual numbers: of every compiled kind of force, mobilizer and constraint.

The derivatives of residual and errors at udot and lambda held are found of one state after the other, eight columns at a
time: a Dual of one state fills a register, and one of eight would take eight times as long. All else is done of eight states at
a time: realizing them, M^-1, G, the factor of G M^-1 G^T, and products. As in `system.tangents`,

    d(udot) = udot_R - P lambda    udot_R = -M^-1 d(residual)    lambda = (G P)^+ (G udot_R + d(errors))    P = M^-1 G^T

and where motions prescribe d(udot), udot_R = that - M^-1 (d(residual) + M that).
"""

from typing import Any

from ..algebra.eights import put_rows
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, load_lane, store, store_lane, zero
from ..compiling import compiled, generic
from ..mobilizer import _rates
from ..state.fields import Record
from ..state.validity import ARTICULATED, EVERYTHING, KINEMATICS
from ..tree import constraint_operators, explicit_mass_matrix, inverse_mass_matrix
from ..tree.realize import DONE
from .batch import realize_eight
from .batch_operators import take
from .chunks import shared

#: Fields of the record of Duals, as arrays, in the order in which kernels take them.
FIELDS = (
    *("time", "q", "u", "z", "particle_location", "particle_velocity", "u_dot", "multiplier"),
    *("work_u", "row_work", "known_u_dot"),
)
TIME, Q, U, Z, LOCATIONS, VELOCITIES, U_DOT, MULTIPLIER, RESIDUAL, ERRORS, KNOWN = range(len(FIELDS))


@generic
def _take(source: Any, lane: int, count: int, field: Any) -> None:
    """Values of one lane, without tangents."""
    for i in range(count):
        field[i, 0, 0, 0] = load_lane(source, i, 0, lane)
        for t in range(8):
            field[i, 0, 1, t] = 0.0


@generic
def _find_displacements(model: Record, unit: Any, q_dot: Any, N: Any) -> None:
    """N of every mobilizer: rows by q, a column for each of its own speeds."""
    for i in range(model.nu):
        store(unit, i, 0, 0.0)
    for b in range(1, model.nb):
        first, first_q = model.first_u[b], model.first_q[b]
        for j in range(model.num_u[b]):
            store(unit, first + j, 0, 1.0)
            _rates.n_times(model, b, unit, first, q_dot, first_q)
            store(unit, first + j, 0, 0.0)
            for i in range(first_q, first_q + model.num_q[b]):
                store(N, i, j, load(q_dot, i, 0))


@generic
def _seed(model: Record, lane: int, first: int, end: int, N: Any, body_of: Any, dual: Any) -> int:
    """Tangents of the columns from *first* on, and before *end*: q along N, u, z, time; how many there are."""
    nu, nz = model.nu, model.nz
    for field, rows in ((dual[TIME], 1), (dual[Q], model.nq), (dual[U], nu), (dual[Z], nz)):
        for i in range(rows):
            for t in range(8):
                field[i, 0, 1, t] = 0.0
    count = min(8, end - first)
    for t in range(count):
        c = first + t
        if c < nu:
            b = body_of[c]
            for i in range(model.first_q[b], model.first_q[b] + model.num_q[b]):
                dual[Q][i, 0, 1, t] = load_lane(N, i, c - model.first_u[b], lane)
        elif c < 2 * nu:
            dual[U][c - nu, 0, 1, t] = 1.0
        elif c < 2 * nu + nz:
            dual[Z][c - 2 * nu, 0, 1, t] = 1.0
        else:
            dual[TIME][0, 0, 1, t] = 1.0
    return count


# fmt: off
@generic
def _differentiate(
    model: Record, lane: int, duals: Any, u_dot: Any, rows: Any, driven: Any, N: Any, body_of: Any, end: int, R: Any, E: Any,
    K: Any,
) -> None:
    # fmt: on
    """One state's residual, errors, and udot of mobilities that are *driven*, by columns up to *end*; else not numbers."""
    block, routine, address, constrained, dual = duals
    of_duals = attach(block)
    _take(model.time, lane, 1, dual[TIME])
    _take(model.q, lane, model.nq, dual[Q])
    _take(model.u, lane, model.nu, dual[U])
    _take(model.z, lane, model.nz, dual[Z])
    _take(model.particle_location, lane, model.particle_size, dual[LOCATIONS])
    _take(model.particle_velocity, lane, model.particle_size, dual[VELOCITIES])
    _take(u_dot, lane, model.nu, dual[U_DOT])
    if constrained != 0:
        _take(model.multiplier, lane, model.num_rows, dual[MULTIPLIER])
    for first in range(0, end, 8):
        count = _seed(model, lane, first, end, N, body_of, dual)
        nothing = 0.0
        if call_routine(routine, of_duals, address, constrained) != DONE:
            nothing = 1e308 * 10.0
            nothing = nothing - nothing
        for t in range(count):
            for i in range(model.nu):
                store_lane(R, i, first + t, lane, dual[RESIDUAL][i, 0, 1, t] + nothing)
            for k in range(rows.shape[0]):
                store_lane(E, k, first + t, lane, dual[ERRORS][rows[k], 0, 1, t])
            for k in range(driven.shape[0]):
                store_lane(K, driven[k], first + t, lane, dual[KNOWN][driven[k], 0, 1, t])


@generic
def _add_products(A: Any, n: int, B: Any, m: int, end: int, factor: float, out: Any) -> None:
    """*factor* A B, added to *out*: n rows of m columns, m rows up to column *end*."""
    for i in range(0, n, 4):
        i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for j in range(end):
            o = zero(load(A, 0, 0))
            x0, x1, x2, x3 = o, o, o, o
            for k in range(m):
                b = load(B, k, j)
                x0, x1 = x0 + load(A, i, k) * b, x1 + load(A, i1, k) * b
                x2, x3 = x2 + load(A, i2, k) * b, x3 + load(A, i3, k) * b
            for r, x in enumerate((x0, x1, x2, x3)):
                if i + r < n:
                    store(out, i + r, j, load(out, i + r, j) + factor * x)


@generic
def _constrain(
    model: Record, rows: Any, columns: int, M_inv: Any, E: Any, G: Any, P: Any, x: Any, W: Any, L: Any, D: Any
) -> None:
    """The part of multipliers, of the equations in *rows* alone, whose errors are in E."""
    n, m = model.nu, rows.shape[0]
    G[:] = 0.0
    constraint_operators.calc_g(model, G)
    for k in range(m):
        for i in range(n):
            total = zero(load(x, 0, 0))
            for j in range(n):
                total = total + load(M_inv, i, j) * load(G, rows[k], j)
            store(P, i, k, total)
            store(E, k, columns + i, 0.0)
        for r in range(m):  # by the factor that accelerations are found with
            store(x, rows[r], 0, 0.0)
        store(x, rows[k], 0, 1.0)
        constraint_operators.solve(model, x)
        for r in range(m):
            store(W, r, k, load(x, rows[r], 0))
    for k in range(m):  # E becomes G udot_R + E
        for j in range(columns + n):
            total = load(E, k, j)
            for i in range(n):
                total = total + load(G, rows[k], i) * load(D, i, j)
            store(E, k, j, total)
    L[:] = 0.0
    _add_products(W, m, E, m, columns + n, 1.0, L)
    _add_products(P, n, L, m, columns + n, -1.0, D)


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, duals: Any, own: Any, own_of_each: Any, rows: Any, driven: Any,
    body_of: Any, unit: Any, q_dot: Any, N: Any, R: Any, E: Any, K: Any, M: Any, G: Any, P: Any, x: Any, W: Any, L: Any,
    work: Any, M_inv: Any, D: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q, u, z, time and forces on the mobilities, side by side.

    *duals* are a block of Duals; the addresses of `residual_tangents.calc_residual` and `realize.advance` for it; whether there
    are constraints; its arrays of `FIELDS`. *own* is what it has of a state's own parameters, *own_of_each* the rows of all.
    """
    model = attach(block)
    n, columns = model.nu, 2 * model.nu + model.nz + 1
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, EVERYTHING, first, states)
        sound = zero(load(model.time, 0, 0))
        for i in range(n):
            sound = sound + 0.0 * load(model.u_dot, i, 0)
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
        _find_displacements(model, unit, q_dot, N)
        for lane in range(8):
            for i in range(own.shape[0]):
                own[i] = own_of_each[first + lane, i]
            _differentiate(model, lane, duals, model.u_dot, rows, driven, N, body_of, columns, R, E, K)
        for i in range(n):
            for j in range(columns):
                store(D, i, j, sound)
            for j in range(n):
                store(D, i, columns + j, load(M_inv, i, j) + sound)
        if driven.shape[0] > 0:
            explicit_mass_matrix.calc_m(model, False, work, work, M)
            _add_products(M, n, K, n, columns, 1.0, R)
            for k in range(driven.shape[0]):
                for j in range(columns):
                    store(D, driven[k], j, load(D, driven[k], j) + load(K, driven[k], j))
        _add_products(M_inv, n, R, n, columns, -1.0, D)
        if rows.shape[0] > 0:
            _constrain(model, rows, columns, M_inv, E, G, P, x, W, L, D)
        put_rows(D, 0, n, out, first, 0)


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, duals: Any, own: Any, own_of_each: Any, none: Any, body_of: Any,
    udot: Any, udot8: Any, unit: Any, q_dot: Any, N: Any, R: Any, work: Any, M: Any, D: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of what is missing for udot, by q and u, then M, side by side."""
    model = attach(block)
    n = model.nu
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, KINEMATICS, first, states)
        take(udot, first, udot8)
        _find_displacements(model, unit, q_dot, N)
        for lane in range(8):
            for i in range(own.shape[0]):
                own[i] = own_of_each[first + lane, i]
            _differentiate(model, lane, duals, udot8, none, none, N, body_of, 2 * n, R, R, R)
        explicit_mass_matrix.calc_m(model, False, work, work, M)
        for i in range(n):
            for j in range(2 * n):
                store(D, i, j, load(R, i, j))
            for j in range(n):
                store(D, i, 2 * n + j, load(M, i, j))
        put_rows(D, 0, n, out, first, 0)
