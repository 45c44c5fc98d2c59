"""Operators of many states of one tree, eight at a time in lanes: from rows of q, u and arguments to rows of results.

Each argument, and each result, is an array of one row a state, with a field of lanes (f with f8) that holds eight states of it.
"""

from typing import Any

from ..algebra.eights import put_rows
from ..algebra.record import attach
from ..algebra.scalar import gather, store
from ..compiling import compiled, generic
from ..state.fields import Record
from ..state.validity import ARTICULATED, FORCES, NO_RATES, POSITIONS, VELOCITIES
from ..tree import explicit_mass_matrix, inverse_dynamics, inverse_mass_matrix, jacobian, mass_matrix
from .batch import realize_eight
from .chunks import shared


@generic
def realize(model: Record, address: int, wanted: int, first: int, states: Any) -> None:
    """Load and realize states *first* to *first* + 7."""
    realize_eight(model, address, wanted | NO_RATES, first, states)


@generic
def take(source: Any, first: int, rows: Any) -> None:
    """Gather eight rows of an argument, flat, into a field of lanes."""
    columns = rows.shape[1]
    for i in range(rows.shape[0]):
        for k in range(columns):
            store(rows, i, k, gather(source, first, columns * i + k))


@generic
def put(rows: Any, first: int, target: Any) -> None:
    """A field of lanes into eight rows of a result, flat."""
    put_rows(rows, 0, rows.shape[0], target, first, 0)


@compiled
def calc_m(block: Any, address: int, share: Any, states: Any, work: Any, M: Any, out: Any) -> None:
    """M of those groups that it gets of all that threads share."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS, 8 * g, states)
        explicit_mass_matrix.calc_m(model, False, work, work, M)
        put(M, 8 * g, out)


@compiled
def calc_m_inv(block: Any, address: int, share: Any, states: Any, work: Any, M: Any, out: Any) -> None:
    """M^-1."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS | ARTICULATED, 8 * g, states)
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M)
        put(M, 8 * g, out)


@compiled
def multiply_by_m(block: Any, address: int, share: Any, states: Any, a: Any, a8: Any, f8: Any, f: Any) -> None:
    """f = M a."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS, 8 * g, states)
        take(a, 8 * g, a8)
        mass_matrix.multiply_by_m(model, a8, f8)
        put(f8, 8 * g, f)


@compiled
def multiply_by_m_inv(block: Any, address: int, share: Any, states: Any, f: Any, f8: Any, a8: Any, a: Any) -> None:
    """a = M^-1 f."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS | ARTICULATED, 8 * g, states)
        take(f, 8 * g, f8)
        mass_matrix.solve(model, f8, a8)
        put(a8, 8 * g, a)


@compiled
def calc_residual_force(
    block: Any,
    address: int,
    share: Any,
    states: Any,
    f: Any,
    F: Any,
    udot: Any,
    f8: Any,
    F8: Any,
    udot8: Any,
    residual8: Any,
    residual: Any,
) -> None:
    """residual = M udot + J^T (F0 - F) - f."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS | VELOCITIES, 8 * g, states)
        take(f, 8 * g, f8)
        take(F, 8 * g, F8)
        take(udot, 8 * g, udot8)
        inverse_dynamics.calc_residual_force(model, f8, F8, udot8, residual8)
        put(residual8, 8 * g, residual)


@compiled
def calc_inverse_dynamics(
    block: Any, address: int, share: Any, states: Any, udot: Any, udot8: Any, missing8: Any, missing: Any
) -> None:
    """Generalized forces missing for udot, with the forces of all elements."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS | VELOCITIES | FORCES, 8 * g, states)
        take(udot, 8 * g, udot8)
        inverse_dynamics.find_missing_force(model, udot8, missing8)
        put(missing8, 8 * g, missing)


@compiled
def multiply_by_frame_jacobian(
    block: Any, address: int, share: Any, states: Any, bodies: Any, stations: Any, v: Any, v8: Any, V8: Any, V: Any
) -> None:
    """V[t] = (w; v_S) of each task for speeds v; stations are in lanes, all alike."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS, 8 * g, states)
        take(v, 8 * g, v8)
        jacobian.multiply_by_frame_jacobian(model, bodies, stations, v8, V8)
        put(V8, 8 * g, V)


@compiled
def calc_frame_jacobian(
    block: Any, address: int, share: Any, states: Any, bodies: Any, stations: Any, rows: int, J8: Any, J: Any
) -> None:
    """The Jacobian of each task, *rows* a task; J8 has to be zero at first."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS, 8 * g, states)
        jacobian.calc_frame_jacobian(model, bodies, stations, rows, J8)
        put(J8, 8 * g, J)


@compiled
def calc_bias_for_frame_jacobian(
    block: Any, address: int, share: Any, states: Any, bodies: Any, stations: Any, bias8: Any, bias: Any
) -> None:
    """Jdot u of each task."""
    model = attach(block)
    for g in shared(share):
        realize(model, address, POSITIONS | VELOCITIES, 8 * g, states)
        jacobian.calc_bias_for_frame_jacobian(model, bodies, stations, bias8)
        put(bias8, 8 * g, bias)
