"""Derivatives of many states of one tree, eight at a time in lanes; see `batch_operators`."""

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load, scatter, zero
from ..compiling import compiled, generic
from ..state.validity import ARTICULATED, EVERYTHING, KINEMATICS
from ..tree import explicit_mass_matrix, inverse_dynamics, inverse_dynamics_derivatives, inverse_mass_matrix
from .batch_operators import put, realize, take
from .chunks import shared

#: Up to so many mobilities eight states' matrices fit into the cache, and are multiplied side by side.
SMALL = 16


@generic
def _products(n: int, first: int, found: Any, matrices: Any, rows: Any, out: Any) -> None:
    """M^-1 and its negative products with both D, the parts of *found*, of eight states, into their rows of *out*."""
    for i in range(n):
        for k in range(n):
            scatter(out, first, (2 * n + i) * n + k, load(found, 2 * n + i, k))
    if n <= SMALL:
        _products_side_by_side(n, first, found, out)
    else:
        _products_of_each(n, first, found, matrices, rows, out)


@generic
def _products_side_by_side(n: int, first: int, found: Any, out: Any) -> None:
    """Four rows of both products at once."""
    for i in range(0, n, 4):
        i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for j in range(n):
            o = zero(load(found, 0, 0))
            q0, q1, q2, q3 = o, o, o, o
            u0, u1, u2, u3 = o, o, o, o
            for k in range(n):
                x, y, row = load(found, k, j), load(found, n + k, j), 2 * n
                m0, m1 = load(found, row + i, k), load(found, row + i1, k)
                m2, m3 = load(found, row + i2, k), load(found, row + i3, k)
                q0, q1, q2, q3 = q0 - m0 * x, q1 - m1 * x, q2 - m2 * x, q3 - m3 * x
                u0, u1, u2, u3 = u0 - m0 * y, u1 - m1 * y, u2 - m2 * y, u3 - m3 * y
            for r, x in enumerate((q0, q1, q2, q3)):
                if i + r < n:
                    scatter(out, first, (i + r) * n + j, x)
            for r, x in enumerate((u0, u1, u2, u3)):
                if i + r < n:
                    scatter(out, first, (n + i + r) * n + j, x)


@generic
def _products_of_each(n: int, first: int, found: Any, matrices: Any, rows: Any, out: Any) -> None:
    """State by state, and eight columns in a register: one state's matrices stay in the cache, where eight states' do not."""
    columns = matrices.shape[1]
    of_state = matrices.reshape((8, 2 * n * columns))
    for i in range(2 * n):
        for k in range(n):
            scatter(of_state, 0, i * columns + k, load(found, i, k))
    D, flat, wide = matrices.reshape((8, 2, n, columns // 8, 8)), rows.reshape((1, 64)), rows.reshape((1, 8, 8))
    for state in range(8):
        whole = out[first + state].reshape((3, n, n))
        inverse_dynamics_derivatives.negative_products(whole[2], D[state, 0], D[state, 1], flat, wide, whole[0], whole[1])


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, slopes: Any,
    bodies: Any, speeds: Any, columns: Any, matrices: Any, rows: Any, work: Any, found: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q and u, then M^-1, one below the other."""
    model = attach(block)
    n = model.nu
    for g in shared(share):
        realize(model, address, EVERYTHING, 8 * g, states)
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, found[2 * n :])
        inverse_dynamics_derivatives.sweep(
            model, model.A_GB, model.u_dot, slopes, bodies, speeds, columns, found[:n], found[n : 2 * n]
        )
        _products(n, 8 * g, found, matrices, rows, out)


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, slopes: Any,
    udot: Any, udot8: Any, A: Any, bodies: Any, speeds: Any, columns: Any, work: Any, found: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of what is missing for udot, by q and u, then M, one below the other."""
    model = attach(block)
    n = model.nu
    for g in shared(share):
        realize(model, address, KINEMATICS, 8 * g, states)
        take(udot, 8 * g, udot8)
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, udot8, A)
        inverse_dynamics_derivatives.sweep(
            model, A, udot8, slopes, bodies, speeds, columns, found[:n], found[n : 2 * n]
        )
        explicit_mass_matrix.calc_m(model, False, work, work, found[2 * n :])
        put(found, 8 * g, out)
