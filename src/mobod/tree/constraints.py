"""Constraints: their equations at each stage, their multipliers, and the accelerations that satisfy them.

A constraint c has equations, rows r, which its kind (a file of `constraint`) writes:

    position error        position_error, of the first num_p rows
    velocity error        G u + velocity_offset
    acceleration error    G udot + offset

A row of G is kept as the forces of a unit multiplier: a wrench on each constrained body, at its origin, in Ground, and
generalized forces on the constrained mobilizers. The offset is acceleration_offset and the wrenches' products with A0. With
M^-1 = (1 - H^T psi K)^T D^-1 (1 - H^T psi K) (Jain 2011, section 7, whose H is the transpose of ours), and
E = (1 - H^T psi K) G^T, which an inward pass on unit multipliers leaves at the mobilities,

    G M^-1 G^T = E^T D^-1 E        lambda = (G M^-1 G^T)^+ (G udot_0 + offset)        udot = udot_0 - M^-1 G^T lambda

and G udot_0 is E^T `own_u_dot`; prescribed mobilities have udot in place of `own_u_dot`. So neither G nor M is formed, each
equation costs one inward pass along its own path, and lambda changes `own_u_dot` before the one outward pass. Constraints whose
paths share no mobility do not interact: they are solved group by group.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load_spatial
from ..algebra.record import call_routine
from ..algebra.scalar import load, store, zero
from ..compiling import generic, routine
from ..constraint.protocol import ACCELERATIONS, POSITIONS, SLIDE, SOLVE_ROWS, THROUGH_COORDINATES, VELOCITIES
from ..mobilizer import q_rates
from ..state.fields import Record
from . import constraint_paths, gram_solve

#: Asks `through_coordinates` for q_dot, beside POSITIONS and VELOCITIES.
_BEFORE_VELOCITIES = 2


@routine
def constrain(model: Record, what: int, _: int) -> int:
    """The constraints' part of POSITIONS, VELOCITIES or ACCELERATIONS."""
    if what == ACCELERATIONS:
        solve(model)
        return 0
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            write_rows(model, c, what)
            if model.num_slips > 0 and model.friction_rows[c] >= 0:
                write_rows(model, model.friction_rows[c], what)
    return 0


@generic
def write_rows(model: Record, c: int, what: int) -> None:
    """Rows, errors and offsets of constraint c, as far as POSITIONS or VELOCITIES have them."""
    if what == VELOCITIES and model.num_mobilizers[c] > 0:
        call_routine(model.constrain[THROUGH_COORDINATES], model, c, _BEFORE_VELOCITIES)
    if model.constraint_routine[c] != 0:  # else Python has written its rows
        call_routine(model.constraint_routine[c], model, c, what)
    complete(model, c, what)


@generic
def complete(model: Record, c: int, what: int) -> None:
    """Coefficients of u and offsets that follow from the rows that the kind of constraint c, or Python, has written."""
    if model.num_mobilizers[c] > 0:
        call_routine(model.constrain[THROUGH_COORDINATES], model, c, what)


@routine
def through_coordinates(model: Record, c: int, what: int) -> int:
    """The part of mobilizers' matrices N in constraints on their coordinates: coefficients of u, biases, q_dot."""
    if what == POSITIONS:
        _coefficients_of_speeds(model, c)
    elif what == VELOCITIES:
        _offset_of_rates(model, c)
    else:
        _q_dot_of_mobilizers(model, c)
    return 0


@generic
def _coefficients_of_speeds(model: Record, c: int) -> None:
    """Of the position rows: the coefficients of u are N^T times those of q."""
    for k in range(model.num_p[c]):
        q = model.first_coordinate[c] + k * model.num_coordinates[c]
        u = model.first_speed[c] + k * model.num_speeds[c]
        for at in range(model.first_mobilizer[c], model.first_mobilizer[c] + model.num_mobilizers[c]):
            b = model.constrained_mobilizers[at]
            q_rates.n_transpose_times(model, b, model.coordinate_coefficients, q, model.speed_coefficients, u)
            q += model.num_q[b]
            u += model.num_u[b]


@generic
def _q_dot_of_mobilizers(model: Record, c: int) -> None:
    """q_dot of the constrained mobilizers, which a sweep without rates has left out."""
    for at in range(model.first_mobilizer[c], model.first_mobilizer[c] + model.num_mobilizers[c]):
        b = model.constrained_mobilizers[at]
        q_rates.n_times(model, b, model.u, model.first_u[b], model.q_dot, model.first_q[b])


@generic
def _offset_of_rates(model: Record, c: int) -> None:
    """Of the position rows: coefficients of q times NDot u, added to the acceleration offset that the kind has written."""
    for at in range(model.first_mobilizer[c], model.first_mobilizer[c] + model.num_mobilizers[c]):
        b = model.constrained_mobilizers[at]
        if model.rates[b] != q_rates.SAME:
            q_rates.n_dot_times(model, b, model.u, model.first_u[b], model.work_q, model.first_q[b])
    for k in range(model.num_p[c]):
        q = model.first_coordinate[c] + k * model.num_coordinates[c]
        r = model.first_row[c] + k
        total = load(model.acceleration_offset, r, 0)
        for at in range(model.first_mobilizer[c], model.first_mobilizer[c] + model.num_mobilizers[c]):
            b = model.constrained_mobilizers[at]
            if model.rates[b] != q_rates.SAME:
                for i in range(model.num_q[b]):
                    x = load(model.coordinate_coefficients, q + i, 0)
                    total = total + x * load(model.work_q, model.first_q[b] + i, 0)
            q += model.num_q[b]
        store(model.acceleration_offset, r, 0, total)


@generic
def row_times(model: Record, c: int, k: int, motions: Any, speeds: Any) -> Any:
    """Row k of constraint c of G: its wrenches times the rows of *motions*, and its coefficients times *speeds*."""
    total = wrenches_times(model, c, k, motions)
    at = model.first_speed[c] + k * model.num_speeds[c]
    for place in range(model.first_mobilizer[c], model.first_mobilizer[c] + model.num_mobilizers[c]):
        b = model.constrained_mobilizers[place]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            total = total + load(model.speed_coefficients, at, 0) * load(speeds, i, 0)
            at += 1
    return total


@generic
def wrenches_times(model: Record, c: int, k: int, motions: Any) -> Any:
    """The wrenches of row k of constraint c times the rows of *motions*."""
    total = zero(load(model.time, 0, 0))
    n = model.num_constrained_bodies[c]
    for i in range(n):
        b = model.constrained_bodies[model.first_constrained_body[c] + i]
        tw, tv = load_spatial(model.wrenches, model.first_wrench[c] + k * n + i)
        w, v = load_spatial(motions, b)
        total = total + (vec3.dot(tw, w) + vec3.dot(tv, v))
    return total


@generic
def num_rows(model: Record, c: int) -> int:
    """The number of equations of constraint c."""
    return model.num_p[c] + model.num_v[c] + model.num_a[c]


@generic
def solve(model: Record) -> None:
    """Multipliers, and -D^-1 E lambda into `own_u_dot`: between the inward and the outward pass of `acceleration`."""
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            constraint_paths.effects(model, c)
            if model.num_slips > 0 and model.friction_rows[c] >= 0:
                constraint_paths.effects(model, model.friction_rows[c])
        put_errors(model, g)
        again = solve_group(model, g)
        if model.num_slips > 0:
            call_routine(model.constrain[SLIDE], model, g, again)
        keep_multipliers(model, g)
        _relieve(model, g)


@generic
def put_errors(model: Record, g: int) -> None:
    """G udot_0 + offset of group g into `row_work`. Needs the effects."""
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        for k in range(num_rows(model, c)):
            r = model.first_row[c] + k
            error = wrenches_times(model, c, k, model.coriolis) + load(model.acceleration_offset, r, 0)
            store(model.row_work, model.row_place[r], 0, error + constraint_paths.rates_of_row(model, c, r))


@generic
def solve_group(model: Record, g: int) -> int:
    """`row_work` of group g becomes (G M^-1 G^T)^+ times itself; how others are solved. Needs the effects."""
    again: int = call_routine(model.constrain[SOLVE_ROWS], model, g, 0)
    return again


@routine
def solve_rows(model: Record, g: int, again: int) -> int:
    """`solve_group`, which accelerations, projections and operators share; how other right sides are solved *again*.

    Asked for FACTOR, or to ORTHOGONALIZE that, it solves nothing.
    """
    rows, m = model.group_first_row[g], model.group_num_rows[g]
    if again == gram_solve.ORTHOGONALIZE:
        gram_solve.orthogonalize(model, model.group_gram[g], m)
        return again
    if again == gram_solve.WHOLE or again == gram_solve.ORTHOGONAL:
        return gram_solve.solve_again(model, model.group_gram[g], m, rows, model.row_work, again)
    constraint_paths.form_gram(model, g)
    dropped = gram_solve.factor(model, g)
    if again == gram_solve.FACTOR:
        return again
    return gram_solve.solve(model, model.group_gram[g], m, rows, model.row_work, dropped)


@generic
def keep_multipliers(model: Record, g: int) -> None:
    """The solutions of `solve_group` into `multiplier`, by row."""
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        for r in range(model.first_row[c], model.first_row[c] + num_rows(model, c)):
            store(model.multiplier, r, 0, load(model.row_work, model.row_place[r], 0))


@generic
def _relieve(model: Record, g: int) -> None:
    """`own_u_dot` -= D^-1 E lambda of group g."""
    n = model.group_num_speeds[g]
    first_effect, first_row, m = model.group_effect[g], model.group_first_row[g], model.group_num_rows[g]
    for at in range(model.group_first_body[g], model.group_end_body[g]):
        b = model.group_bodies[at]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            e = load(model.own_u_dot, i, 0)
            place = first_effect + model.effect_place[i]
            for r in range(m):
                e = e - load(model.own_effect, place + r * n, 0) * load(model.row_work, first_row + r, 0)
            store(model.own_u_dot, i, 0, e)
