"""Functions that `jvp` differentiates, on a record of Duals: equations of motion, constraints' errors, and measures.

    residual = M udot + inertial forces - applied forces + G^T lambda          aerr = G udot + offset

with friction of rigid contacts that slide, mu times the normal force that lambda says, among the applied forces; at udot and
lambda held, along up to eight directions of q, u, z and time: what mobilizers, forces, motions and constraints of every kind
that is compiled contribute, exactly. No inertia is factored here. Measures read all that is there: kinematics, forces, and
accelerations of bodies and of q by the udot that is given with its tangents.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load_spatial, store_spatial
from ..algebra.record import attach, call_routine
from ..compiling import compiled, routine
from ..constraint.protocol import SLIDE_AT
from ..mobilizer import q_rates
from ..state.fields import Record
from ..state.validity import FORCES, KINEMATICS
from ..tree import constraint_operators, inverse_dynamics, prescribe
from ..tree.realize import DONE


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
        if model.num_slips > 0:
            call_routine(model.constrain[SLIDE_AT], model, 0, 0)
    inverse_dynamics.calc_residual_force(model, model.mobility_forces, model.body_forces, model.u_dot, model.work_u)
    if constrained != 0:
        for b in range(1, model.nb):
            w, v = load_spatial(model.work_A, b)
            w0, v0 = load_spatial(model.coriolis, b)
            store_spatial(model.work_A, b, vec3.add(w, w0), vec3.add(v, v0))
        constraint_operators.calc_acceleration_errors(model, model.work_A, model.u_dot, model.row_work)
    return DONE


@compiled
def calc_measures(block: Any, address: int, first: int, end: int) -> int:
    """The operations for rates, and those from *first* to *end*, of the udot in `u_dot`; the status.

    `realize.advance` is at *address*.
    """
    model = attach(block)
    status = call_routine(address, model, 0, KINEMATICS | FORCES)
    if status == DONE:
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, model.u_dot, model.A_GB)
        for b in range(1, model.nb):
            q_rates.find_q_dot_dot(model, b)
        call_routine(model.measures[0], model, 0, model.measure_runs[1])
        call_routine(model.measures[0], model, first, end)
    return status
