"""Inverse dynamics: forces from accelerations, in O(n). Needs velocities.

    residual = M udot + J^T (F0 - F) - f       F0 see `velocity`; F and f applied forces

Source: Featherstone 2008, section 5; Luh, Walker and Paul 1980.
"""

from typing import Any

from ..algebra import object_access as objects, spatial, vec3
from ..algebra.memory import load3, load_spatial, store_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic
from ..state.fields import Record
from ..state.validity import FORCES, KEPT_FORCES, KINEMATICS
from . import jacobian_sweeps, sliding
from .realize import DONE, NOT_PLAIN, takes_long

#: What the missing force follows from.
NEEDED = KINEMATICS | FORCES
#: Whose forces are applied: nobody's, a caller's, or the record's own.
NONE, GIVEN, OWN = 0, 1, 2


@generic
def _residual(model: Record, applied: int, f: Any, F: Any, udot: Any, residual: Any) -> None:
    """`calc_residual_force`; f and F are read unless NONE are *applied*."""
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(model.work_A, 0, (o, o, o), (o, o, o))
    jacobian_sweeps.clear(model.work_F, 1)
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        w, v = jacobian_sweeps.across(model, b, udot, w, v)
        store_spatial(model.work_A, b, w, v)
        torque, force = jacobian_sweeps.inertia_times(model, b, w, v)
        torque0, force0 = load_spatial(model.centrifugal, b)
        torque, force = vec3.add(torque, torque0), vec3.add(force, force0)
        if applied != NONE:
            applied_torque, applied_force = load_spatial(F, b)
            torque, force = vec3.sub(torque, applied_torque), vec3.sub(force, applied_force)
        store_spatial(model.work_F, b, torque, force)
    if applied == OWN and model.num_slips > 0 and model.num_groups[0] > 0:  # friction is a force of the constraints
        sliding.add_friction(model, model.work_F, 1.0)
    jacobian_sweeps.inward(model, model.work_F, residual)
    jacobian_sweeps.add_rotors(model, udot, residual)
    if applied != NONE:
        for i in range(model.nu):
            store(residual, i, 0, load(residual, i, 0) - load(f, i, 0))


@compiled
def calc_residual_force(block: Any, f: Any, F: Any, udot: Any, residual: Any) -> None:
    """residual = M udot + J^T (F0 - F) - f."""
    _residual(attach(block), GIVEN, f, F, udot, residual)


@compiled
def calc_whole_force(block: Any, udot: Any, residual: Any) -> None:
    """residual = M udot + J^T F0: no applied forces, and no zeros to pass for them."""
    model = attach(block)
    _residual(model, False, model.own_u_dot, model.work_A, udot, residual)


@generic
def find_missing_force(model: Record, udot: Any, residual: Any) -> None:
    """residual = M udot + J^T (F0 - F) - f of the elements' forces, which are known.

    Friction of contacts that slide, which the bodies' forces have once accelerations are known, is none of these.
    """
    _residual(model, OWN, model.mobility_forces, model.body_forces, udot, residual)


@objects.compiled_for_callers
def calc_missing_force(block: Any, routine: Any, valid: Any, own_q: Any, own_u: Any, q: Any, u: Any, udot: Any) -> Any:
    """`find_missing_force` as a new array; or a status. What it needs and is not *valid* *routine* computes.

    That is `realize.advance`, by its address. q, u and udot are as a caller has given them: the first two become the state's
    own, unless they are these.
    """
    model, known = objects.record_of(block), objects.number(valid)
    if not (objects.is_like(q, own_q) and objects.is_like(u, own_u) and objects.is_row(udot, own_u, model.nu)):
        return objects.as_object(NOT_PLAIN)
    objects.copy(q, own_q)
    objects.copy(u, own_u)
    residual = objects.new_row(model.nu)
    if objects.is_nothing(residual):
        return residual
    status = DONE
    released = objects.release_gil(takes_long(model))
    if known & NEEDED != NEEDED:
        status = call_routine(objects.integer(routine), model, known, NEEDED | KEPT_FORCES)
    if status == DONE:
        find_missing_force(model, objects.numbers(udot), objects.numbers(residual))
    objects.acquire_gil(released)
    if status == DONE:
        return residual
    objects.drop(residual)
    return objects.as_object(status)


@compiled
def calc_body_acceleration_from_u_dot(block: Any, udot: Any, A: Any) -> None:
    """A_GB = J udot + Jdot u."""
    model = attach(block)
    jacobian_sweeps.outward(model, udot, A)
    for b in range(1, model.nb):
        w, v = load_spatial(A, b)
        w0, v0 = load_spatial(model.coriolis, b)
        store_spatial(A, b, vec3.add(w, w0), vec3.add(v, v0))


@compiled
def calc_tree_equivalent_mobility_forces(block: Any, F: Any, f: Any) -> None:
    """f = J^T (F - F0): generalized forces equivalent to body forces F and the velocity-dependent forces."""
    model = attach(block)
    jacobian_sweeps.clear(model.work_F, 1)
    for b in range(1, model.nb):
        torque, force = load_spatial(F, b)
        torque0, force0 = load_spatial(model.centrifugal, b)
        store_spatial(model.work_F, b, vec3.sub(torque, torque0), vec3.sub(force, force0))
    jacobian_sweeps.inward(model, model.work_F, f)
