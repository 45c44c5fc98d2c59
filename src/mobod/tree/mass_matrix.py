"""Products with the mass matrix and its inverse, in O(n). Need positions.

    M a = J^T M_B J a + R a   an outward and an inward sweep; R has the rotor inertias
    M^-1 f                    the passes of `acceleration` at rest, of the free mobilities

The matrices themselves are in `explicit_mass_matrix` and `inverse_mass_matrix`.
"""

from typing import Any

from ..algebra import object_access as objects, spatial
from ..algebra.memory import add_spatial, load3, load_spatial, store_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import any_not_finite, load, zero
from ..compiling import compiled, generic
from ..state.fields import Record
from ..state.validity import ARTICULATED
from . import acceleration, jacobian_sweeps
from .block_elimination import NONE
from .realize import BAD_U_DOT, DONE, NOT_PLAIN, takes_long


@compiled
def multiply_by_m(block: Any, a: Any, f: Any) -> None:
    """f = M a."""
    model = attach(block)
    jacobian_sweeps.outward(model, a, model.work_A)
    jacobian_sweeps.clear(model.work_F, 1)
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, b)
        torque, force = jacobian_sweeps.inertia_times(model, b, w, v)
        store_spatial(model.work_F, b, torque, force)
    jacobian_sweeps.inward(model, model.work_F, f)
    jacobian_sweeps.add_rotors(model, a, f)


@generic
def solve(model: Record, f: Any, a: Any) -> None:
    """a = M^-1 f, M that of the free mobilities; a is zero at prescribed ones, where f is not read."""
    jacobian_sweeps.clear(model.work_F, model.nb)
    for b in range(model.nb - 1, 0, -1):
        zw, zv = load_spatial(model.work_F, b)
        zw, zv = acceleration.absorb(model, b, f, zw, zv, False)
        zw, zv = spatial.shift_force(zw, zv, load3(model.p_PB_G, b, 0))
        add_spatial(model.work_F, model.parent[b], zw, zv)
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(model.work_A, 0, (o, o, o), (o, o, o))
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        w, v = acceleration.release(model, b, w, v, a, False)
        store_spatial(model.work_A, b, w, v)


@generic
def _articulate(model: Record, valid: int) -> int:
    """The articulated inertias; BAD_U_DOT where a free mobility moves no inertia."""
    status = call_routine(model.dynamics_sweep[0], model, valid, ARTICULATED)
    total = zero(load(model.p_GB, 0, 0))
    for b in range(1, model.nb):
        if model.elimination[b] != NONE:
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                total = total + 0.0 * load(model.d_inverse, i, 0)
    if status == DONE and any_not_finite(total):
        status = BAD_U_DOT
    return status


@objects.compiled_for_callers
def multiply_by_m_inv(block: Any, valid: Any, own_u: Any, f: Any) -> Any:
    """a = M^-1 f as a new array, after the articulated inertias, unless these are *valid*; or a status.

    f is as a caller has given it.
    """
    model, status = objects.record_of(block), DONE
    if not objects.is_row(f, own_u, model.nu):
        return objects.as_object(NOT_PLAIN)
    a = objects.new_row(model.nu)
    if objects.is_nothing(a):
        return a
    known = objects.number(valid)
    released = objects.release_gil(takes_long(model))
    if known & ARTICULATED == 0:
        status = _articulate(model, known)
    if status == DONE:
        solve(model, objects.numbers(f), objects.numbers(a))
    objects.acquire_gil(released)
    if status == DONE:
        return a
    objects.drop(a)
    return objects.as_object(status)
