"""Derivatives of many states of one tree, eight at a time in lanes; see `batch_operators`."""

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load, scatter, zero
from ..compiling import compiled, generic
from ..state.validity import ARTICULATED, EVERYTHING, KINEMATICS
from ..tree import explicit_mass_matrix, inverse_dynamics, inverse_dynamics_derivatives, inverse_mass_matrix
from ..tree import forward_dynamics_derivatives as rows
from .batch_operators import put, realize, take
from .chunks import shared

#: Up to so many mobilities products of matrices are quicker than sweeps of their rows.
SMALL = 40


@generic
def _put_products(n: int, first: int, found: Any, out: Any) -> None:
    """Negative products of M^-1 with both D, the parts of *found*, of eight states: four rows of both at once."""
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


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, slopes: Any, branch: Any,
    bodies: Any, speeds: Any, columns: Any, kept: Any, results: Any, work: Any, found: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q and u, then M^-1, one below the other."""
    model = attach(block)
    n = model.nu
    Dq, Du, M_inv = found[:n], found[n : 2 * n], found[2 * n :]
    for g in shared(share):
        realize(model, address, EVERYTHING, 8 * g, states)
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
        for i in range(n):
            for k in range(n):
                scatter(out, 8 * g, (2 * n + i) * n + k, load(M_inv, i, k))
        if n <= SMALL:
            inverse_dynamics_derivatives.sweep(
                model, model.A_GB, model.u_dot, slopes, bodies, speeds, columns, Dq, Du
            )
            _put_products(n, 8 * g, found, out)
        else:
            rows.find_parts(model, slopes, bodies, speeds, columns, Dq, Du)
            rows.put_derivatives(model, M_inv, speeds, columns, Dq, Du, branch, kept, results, 8 * g, out)


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
