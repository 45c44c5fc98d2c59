"""Tangents of the equations of motion, on a record of Duals: of what is missing for udot, and of the constraints' errors.

    residual = M udot + inertial forces - applied forces + G^T lambda          aerr = G udot + offset

at udot and lambda held, along up to eight directions of q, u, z and time: what mobilizers, forces, motions and constraints of
every compiled kind contribute, exactly. No inertia is factored here. Both are routines, which kernels call too.
"""

from ..algebra import vec3
from ..algebra.memory import load_spatial, store_spatial
from ..algebra.record import call_routine
from ..compiling import routine
from ..state.fields import Record
from ..state.validity import FORCES, KINEMATICS
from . import constraint_operators, inverse_dynamics, prescribe
from .realize import DONE


@routine
def calc_errors(model: Record, address: int, unused: int) -> int:
    """Position errors, and velocity errors into `row_work`; the status. `realize.advance` is at *address*."""
    status = call_routine(address, model, 0, KINEMATICS)
    if status == DONE:
        constraint_operators.calc_velocity_errors(model, model.row_work)
    return status


@routine
def calc_residual(model: Record, address: int, constrained: int) -> int:
    """Residual into `work_u` and aerr into `row_work`, of udot in `u_dot` and lambda in `multiplier`; the status.

    `realize.advance` is at *address*. `known_u_dot` is evaluated, too.
    """
    status = call_routine(address, model, 0, KINEMATICS | FORCES)
    if status != DONE:
        return status
    prescribe.sweep(model)
    if constrained != 0:
        constraint_operators.add_forces(model, model.multiplier, model.body_forces, model.mobility_forces, -1.0)
    inverse_dynamics.calc_residual_force(model, model.mobility_forces, model.body_forces, model.u_dot, model.work_u)
    if constrained != 0:
        for b in range(1, model.nb):
            w, v = load_spatial(model.work_A, b)
            w0, v0 = load_spatial(model.coriolis, b)
            store_spatial(model.work_A, b, vec3.add(w, w0), vec3.add(v, v0))
        constraint_operators.calc_acceleration_errors(model, model.work_A, model.u_dot, model.row_work)
    return DONE
