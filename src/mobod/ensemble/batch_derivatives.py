"""Derivatives of many states of one tree, eight at a time in lanes; see `batch_operators`."""

from typing import Any

from ..algebra.record import attach
from ..compiling import compiled
from ..state.validity import ARTICULATED, EVERYTHING, KINEMATICS
from ..tree import explicit_mass_matrix, inverse_dynamics, inverse_dynamics_derivatives, inverse_mass_matrix
from .batch_operators import put, realize, take


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, address: int, begin: int, end: int, states: Any, slopes: Any,
    bodies: Any, speeds: Any, columns: Any, D: Any, work: Any, found: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q and u, then M^-1, one below the other."""
    model = attach(block)
    n = model.nu
    for g in range(begin, end):
        realize(model, address, EVERYTHING, 8 * g, states)
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, found[2 * n :])
        inverse_dynamics_derivatives.sweep(
            model, model.A_GB, model.u_dot, slopes, bodies, speeds, columns, D[:n], D[n:]
        )
        inverse_dynamics_derivatives.negative_product(found[2 * n :], D[:n], found[:n])
        inverse_dynamics_derivatives.negative_product(found[2 * n :], D[n:], found[n : 2 * n])
        put(found, 8 * g, out)


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, address: int, begin: int, end: int, states: Any, slopes: Any,
    udot: Any, udot8: Any, A: Any, bodies: Any, speeds: Any, columns: Any, work: Any, found: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of what is missing for udot, by q and u, then M, one below the other."""
    model = attach(block)
    n = model.nu
    for g in range(begin, end):
        realize(model, address, KINEMATICS, 8 * g, states)
        take(udot, 8 * g, udot8)
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, udot8, A)
        inverse_dynamics_derivatives.sweep(
            model, A, udot8, slopes, bodies, speeds, columns, found[:n], found[n : 2 * n]
        )
        explicit_mass_matrix.calc_m(model, False, work, work, found[2 * n :])
        put(found, 8 * g, out)
