"""Derivatives of many states of one tree, eight at a time in lanes; see `batch_operators`."""

from typing import Any

from ..algebra.eights import put_rows, whole_lines
from ..algebra.record import attach
from ..compiling import compiled
from ..derivative import products, sweep
from ..state.validity import ARTICULATED, KINEMATICS
from ..tree import explicit_mass_matrix, inverse_dynamics, inverse_mass_matrix, matrix_sweep
from .batch_operators import realize, take
from .chunks import shared


# fmt: off
@compiled
def calc_forward_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, wanted: int, last: int, slopes: Any, blocks: Any, runs: Any,
    bodies: Any, work: Any, way: Any, outboard: Any, turns: Any, Dq: Any, Du: Any, kept: Any, results: Any, M_inv: Any,
    out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q and u, and M^-1 from number *last* on, after what is *wanted* of the states."""
    model = attach(block)
    n = model.nu
    for g in shared(share):
        realize(model, address, wanted, 8 * g, states)
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
        put_rows(M_inv, 0, n, out, 8 * g, last)
        products.find_parts(model, slopes, bodies, way, outboard, turns, Dq, Du)
        products.put_derivatives(model, M_inv, way, outboard, turns, Dq, Du, blocks, runs, kept, results, 8 * g, out)


# fmt: off
@compiled
def calc_inverse_dynamics_derivatives(
    block: Any, address: int, share: Any, states: Any, slopes: Any, bent: Any,
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
        pull, none = sweep.gravity(model), bodies[:0]
        matrix_sweep.clear(found)
        sweep.sweep(
            model, A, udot8, pull, none, bent, slopes, bent[:0], bent, none, bodies, speeds, columns,
            found[:n], found[n : 2 * n],
        )
        explicit_mass_matrix.calc_m(model, False, work, work, found[2 * n :])
        for part in range(3):
            put_rows(found, part * n, n, out, 8 * g, part * whole_lines(n * n))
