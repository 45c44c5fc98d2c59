"""Changes of udot, q and u from those of residual and errors: routines of steps that carry variations.

    M d(udot) + G^T d(lambda) = -d(residual)        G d(udot) = -d(aerr)

with d(aerr) of equations that contradict each other as in `solve`. At a record that is realized; right sides and results are
in its scratch fields.
"""

from ..algebra.record import call_routine
from ..algebra.scalar import load, store
from ..compiling import routine
from ..constraint.protocol import AS_Q, PROJECT_Q
from ..mobilizer import q_rates
from ..mobilizer.access import copy
from ..state.fields import Record
from ..state.validity import KINEMATICS
from ..tree import constraint_operators, constraint_paths, constraints, jacobian_sweeps, mass_matrix, rates, sampling
from ..tree.realize import DONE
from .solve import contradict


@routine
def solve(model: Record, unused: int, unused_too: int) -> int:
    """`work_u` becomes M^-1 `work_u`."""
    mass_matrix.solve(model, model.work_u, model.work_u)
    return 0


@routine
def gather(model: Record, address: int, e: int) -> int:
    """Inputs of the law of the controller that is force element *e*, into `control_work`; the status.

    `realize.advance` is at *address*.
    """
    status = call_routine(address, model, 0, KINEMATICS)
    if status == DONE:
        sampling.gather(model, e)
    return status


@routine
def turn(model: Record, inverse: int, unused: int) -> int:
    """`work_q` becomes N `work_u`; or `work_u` N^-1 `work_q`, where *inverse* is 1."""
    if inverse == 1:
        rates.multiply_by_n_inv(model, False, model.work_q, model.work_u)
    else:
        rates.multiply_by_n(model, False, model.work_u, model.work_q)
    return 0


@routine
def constrain(model: Record, unused: int, unused_too: int) -> int:
    """`work_u`, d(udot) of the tree alone, becomes that of the constrained system, with d(aerr) at udot held in `row_work`.

    It writes over `position_error`.
    """
    jacobian_sweeps.outward(model, model.work_u, model.work_A)
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            for k in range(constraints.num_rows(model, c)):
                place = model.row_place[model.first_row[c] + k]
                error = load(model.row_work, place, 0) + constraints.row_times(model, c, k, model.work_A, model.work_u)
                store(model.row_work, place, 0, error)
            constraint_paths.effects(model, c)
        constraints.solve_group(model, g)
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            for r in range(model.first_row[c], model.first_row[c] + constraints.num_rows(model, c)):
                store(model.position_error, r, 0, load(model.row_work, model.row_place[r], 0))
    jacobian_sweeps.clear(model.work_F, model.nb)
    for i in range(model.nu):
        store(model.projection_step, i, 0, 0.0)
    constraint_operators.add_forces(model, model.position_error, model.work_F, model.projection_step, 1.0)
    constraint_operators.calc_g_transpose_products(model, model.work_F, model.projection_step)
    mass_matrix.solve(model, model.projection_step, model.projection_step)
    for i in range(model.nu):
        store(model.work_u, i, 0, load(model.work_u, i, 0) - load(model.projection_step, i, 0))
    return 0


@routine
def find_contradiction(model: Record, unused: int, unused_too: int) -> int:
    """1 where equations contradict each other: then `position_error` is what they leave of accelerations; else 0."""
    if contradict(model, model.A_GB, model.u_dot) == 0.0:
        return 0
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            constraint_operators.put_acceleration_errors(
                model, model.group_constraints[at], model.A_GB, model.u_dot, model.position_error
            )
    return 1


@routine
def find_least_change(model: Record, what: int, unused: int) -> int:
    """The least change of u, into `projection_step`, or q, into `work_q`, that takes away errors in `row_work`.

    As `project.newton_step`, with its weights, which are set.
    """
    for i in range(model.nu):
        store(model.projection_step, i, 0, 0.0)
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            constraint_paths.weighted_effects(model, c, what)
            taking_part = model.num_p[c]
            if what != PROJECT_Q:
                taking_part = taking_part + model.num_v[c]
            for k in range(taking_part, constraints.num_rows(model, c)):
                store(model.row_work, model.row_place[model.first_row[c] + k], 0, 0.0)
        constraints.solve_group(model, g)
        n = model.group_num_speeds[g]
        for at in range(model.group_first_body[g], model.group_end_body[g]):
            b = model.group_bodies[at]
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                own, du = model.group_effect[g] + model.effect_place[i], 0.0
                for r in range(model.group_num_rows[g]):
                    du = du - load(model.own_effect, own + r * n, 0) * load(model.row_work, model.group_first_row[g] + r, 0)
                store(model.projection_step, i, 0, du)
    if what == PROJECT_Q:
        for b in range(1, model.nb):
            if model.rates[b] == q_rates.SAME:
                copy(model.projection_step, model.first_u[b], model.work_q, model.first_q[b], model.num_u[b])
            else:
                call_routine(model.constrain[AS_Q], model, b, -1)
    return 0
