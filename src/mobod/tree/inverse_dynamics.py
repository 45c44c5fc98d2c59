"""Inverse dynamics: forces from accelerations, in O(n). Needs velocities.

    residual = M udot + J^T (F0 - F) - f       F0 the force of the velocities (`velocity`), F and f what is applied

Source: Featherstone 2008, section 5; Luh, Walker and Paul 1980.
"""

from typing import Any

from .._jit import compiled
from ..algebra import spatial, vec3
from ..algebra.memory import load3, load_spatial, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, store, zero
from . import passes


@compiled
def calc_residual_force(block: Any, f: Any, F: Any, udot: Any, residual: Any) -> None:
    """residual = M udot + J^T (F0 - F) - f."""
    model = attach(block)
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(model.work_A, 0, (o, o, o), (o, o, o))
    passes.clear(model.work_F, 1)
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        w, v = passes.across(model, b, udot, w, v)
        store_spatial(model.work_A, b, w, v)
        torque, force = passes.inertia_times(model, b, w, v)
        torque0, force0 = load_spatial(model.centrifugal, b)
        applied_torque, applied_force = load_spatial(F, b)
        store_spatial(
            model.work_F,
            b,
            vec3.add(torque, vec3.sub(torque0, applied_torque)),
            vec3.add(force, vec3.sub(force0, applied_force)),
        )
    passes.inward(model, model.work_F, residual)
    for i in range(model.nu):
        store(residual, i, 0, load(residual, i, 0) - load(f, i, 0))


@compiled
def calc_body_acceleration_from_u_dot(block: Any, udot: Any, A: Any) -> None:
    """A_GB = J udot + Jdot u."""
    model = attach(block)
    passes.outward(model, udot, A)
    for b in range(1, model.nb):
        w, v = load_spatial(A, b)
        w0, v0 = load_spatial(model.coriolis, b)
        store_spatial(A, b, vec3.add(w, w0), vec3.add(v, v0))


@compiled
def calc_tree_equivalent_mobility_forces(block: Any, F: Any, f: Any) -> None:
    """f = J^T (F - F0): what on the mobilities replaces body forces and the forces of the velocities."""
    model = attach(block)
    passes.clear(model.work_F, 1)
    for b in range(1, model.nb):
        torque, force = load_spatial(F, b)
        torque0, force0 = load_spatial(model.centrifugal, b)
        store_spatial(model.work_F, b, vec3.sub(torque, torque0), vec3.sub(force, force0))
    passes.inward(model, model.work_F, f)
