"""Products with the constraints' matrix G, its rows one by one, and solutions with G M^-1 G^T.

Rows are in the kernels' order: constraint by constraint, those of disabled ones left alone. `mobod.system.matter_constraints`
puts them into the order of a state's multipliers.
"""

import math
from typing import Any

from ..algebra import spatial, vec3
from ..algebra.memory import add_spatial, load3, load_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import any_not_finite, load, store, where, zero
from ..compiling import compiled, generic
from ..constraint.protocol import SOLVE_ROWS
from ..state.fields import Record
from . import acceleration, constraint_paths, constraints, gram_solve, jacobian_sweeps


@compiled
def calc_velocity_errors(block: Any, out: Any) -> None:
    """G u + offset of position and velocity equations. Needs velocities."""
    model = attach(block)
    for at in range(last(model)):
        c = model.group_constraints[at]
        for k in range(model.num_p[c] + model.num_v[c]):
            r = model.first_row[c] + k
            error = constraints.row_times(model, c, k, model.V_GB, model.u) + load(model.velocity_offset, r, 0)
            store(out, r, 0, error)


@compiled
def calc_acceleration_errors(block: Any, A: Any, udot: Any, out: Any) -> None:
    """G udot + offset for accelerations *udot*, at which bodies have *A* in Ground. Needs velocities."""
    model = attach(block)
    for at in range(last(model)):
        put_acceleration_errors(model, model.group_constraints[at], A, udot, out)


@generic
def put_acceleration_errors(model: Record, c: int, A: Any, udot: Any, out: Any) -> None:
    """Those of constraint c."""
    for k in range(constraints.num_rows(model, c)):
        r = model.first_row[c] + k
        store(out, r, 0, constraints.row_times(model, c, k, A, udot) + load(model.acceleration_offset, r, 0))


@compiled
def multiply_by_g(block: Any, u: Any, out: Any) -> None:
    """G u. Needs positions, and velocities where rows depend on u."""
    model = attach(block)
    jacobian_sweeps.outward(model, u, model.work_A)
    for at in range(last(model)):
        c = model.group_constraints[at]
        for k in range(constraints.num_rows(model, c)):
            store(out, model.first_row[c] + k, 0, constraints.row_times(model, c, k, model.work_A, u))


@compiled
def calc_forces(block: Any, multipliers: Any, F: Any, f: Any) -> None:
    """G^T lambda as wrenches on bodies and generalized forces, added to *F* and *f*."""
    model = attach(block)
    add_forces(model, multipliers, F, f, 1.0)


@compiled
def add_forces(block: Any, multipliers: Any, F: Any, f: Any, factor: float) -> None:
    """G^T lambda times *factor*, added to *F* and *f*."""
    model = attach(block)
    for at in range(last(model)):
        add_forces_of(model, model.group_constraints[at], multipliers, F, f, factor)


@generic
def add_forces_of(model: Record, c: int, multipliers: Any, F: Any, f: Any, factor: float) -> None:
    """Those of constraint c."""
    n = model.num_constrained_bodies[c]
    for k in range(constraints.num_rows(model, c)):
        x = factor * load(multipliers, model.first_row[c] + k, 0)
        for i in range(n):
            b = model.constrained_bodies[model.first_constrained_body[c] + i]
            tw, tv = load_spatial(model.wrenches, model.first_wrench[c] + k * n + i)
            add_spatial(F, b, vec3.scale(x, tw), vec3.scale(x, tv))
        coefficient = model.first_speed[c] + k * model.num_speeds[c]
        for place in range(model.first_mobilizer[c], model.first_mobilizer[c] + model.num_mobilizers[c]):
            b = model.constrained_mobilizers[place]
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                total = load(f, i, 0) + x * load(model.speed_coefficients, coefficient, 0)
                store(f, i, 0, total)
                coefficient += 1


@compiled
def calc_g_transpose_products(block: Any, F: Any, f: Any) -> None:
    """f += J^T F; *F* is overwritten."""
    model = attach(block)
    for b in range(model.nb - 1, 0, -1):
        t, s = load_spatial(F, b)
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            total = load(f, i, 0) + (vec3.dot(load3(model.H, i, 0), t) + vec3.dot(load3(model.H, i, 3), s))
            store(f, i, 0, total)
        t, s = spatial.shift_force(t, s, load3(model.p_PB_G, b, 0))
        add_spatial(F, model.parent[b], t, s)


@compiled
def calc_g(block: Any, G: Any) -> None:
    """G, row by row along each constraint's path; entries off the path are left alone."""
    model = attach(block)
    for at in range(last(model)):
        c = model.group_constraints[at]
        put_rows(model, c, G, model.first_row[c])


@generic
def put_rows(model: Record, c: int, G: Any, first: int) -> None:
    """The rows of G of constraint c into those of *G* from *first* on."""
    rows = constraints.num_rows(model, c)
    constraint_paths.begin(model, c, rows)
    for place in range(model.path_length[c]):
        here = model.first_path[c] + place
        b, up, own = model.path[here], model.path_parent[here], model.path_mobilizer[here]
        for k in range(rows):
            zw, zv = load_spatial(model.path_forces, place * rows + k)
            for j in range(model.num_u[b]):
                i = model.first_u[b] + j
                g = -(vec3.dot(load3(model.H, i, 0), zw) + vec3.dot(load3(model.H, i, 3), zv))
                if own >= 0:
                    g = g + load(model.speed_coefficients, model.first_speed[c] + k * model.num_speeds[c] + own + j, 0)
                store(G, first + k, i, g)
            constraint_paths.transmit(model, up, b, rows, k, zw, zv)


@compiled
def solve(block: Any, x: Any) -> None:
    """*x*, a number a row, becomes (G M^-1 G^T)^+ x. Needs articulated inertias."""
    model = attach(block)
    for g in range(model.num_groups[0]):
        _load_group(model, g, x)
        constraints.solve_group(model, g)
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            for r in range(model.first_row[c], model.first_row[c] + constraints.num_rows(model, c)):
                store(x, r, 0, load(model.row_work, model.row_place[r], 0))


@generic
def _dropped(model: Record, g: int) -> Any:
    """1 where the factor of group g has dropped rows, else 0."""
    o = zero(load(model.time, 0, 0))
    dropped = o
    for i in range(model.group_num_rows[g]):
        kept = load(model.gram_inverse, model.group_first_row[g] + i, 0) > 0.0
        dropped = where(kept, dropped, o + 1.0)
    return dropped


@generic
def _any_is(mask: Any) -> bool:
    """True if a number is 1, of 0 and 1, in any state."""
    some: bool = any_not_finite(where(mask > 0.0, zero(mask) + math.inf, zero(mask)))
    return some


@generic
def solve_columns(model: Record, fresh: bool, P: Any, S: Any) -> None:
    """S = (G M^-1 G^T)^+ P, of rows by `row_place`, for many columns; S has scratch in as many rows behind.

    The factor that accelerations have been found with is at hand if it is *fresh*, unless some lanes drop rows and others none.
    """
    last = P.shape[1] - 1
    for g in range(model.num_groups[0]):
        first, m, rows = model.group_gram[g], model.group_num_rows[g], model.group_first_row[g]
        dropped = _dropped(model, g)
        anew = not fresh or (_any_is(dropped) and _any_is(1.0 - dropped))
        if anew:
            for c in range(model.group_first[g], model.group_end[g]):  # the factor has taken the place of the rows' scales
                constraint_paths.effects(model, model.group_constraints[c])
            call_routine(model.constrain[SOLVE_ROWS], model, g, gram_solve.FACTOR)
            dropped = _dropped(model, g)
        if _any_is(1.0 - dropped):
            for j in range(0, last + 1, 4):
                at = j, min(j + 1, last), min(j + 2, last), min(j + 3, last)
                gram_solve.solve_columns(model, first, m, rows, P, at, S)
        if _any_is(dropped):
            if anew:
                call_routine(model.constrain[SOLVE_ROWS], model, g, gram_solve.ORTHOGONALIZE)
            for j in range(0, last + 1, 4):
                at = j, min(j + 1, last), min(j + 2, last), min(j + 3, last)
                gram_solve.solve_redundant_columns(model, first, m, rows, P, at, dropped, P.shape[0], S)


@compiled
def calc_projected_m_inv(block: Any, W: Any) -> None:
    """G M^-1 G^T; entries between groups, which are zero, are left alone. Needs articulated inertias."""
    model = attach(block)
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            constraint_paths.effects(model, model.group_constraints[at])
        constraint_paths.form_gram(model, g)
        m, first, first_row = model.group_num_rows[g], model.group_gram[g], model.group_first_row[g]
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            for r in range(model.first_row[c], model.first_row[c] + constraints.num_rows(model, c)):
                for other in range(model.group_first[g], at + 1):
                    d = model.group_constraints[other]
                    for s in range(model.first_row[d], model.first_row[d] + constraints.num_rows(model, d)):
                        i, j = model.row_place[r] - first_row, model.row_place[s] - first_row
                        if j <= i:
                            W[r, s] = load(model.gram, first + i * m + j, 0)
                            W[s, r] = W[r, s]


@compiled
def calc_squares_of_angles(block: Any, out: Any) -> None:
    """Of each row that of its angle to what moves, see `constraint_paths.square_of_angle`. Needs articulated inertias."""
    model = attach(block)
    for at in range(last(model)):
        c = model.group_constraints[at]
        constraint_paths.effects(model, c)
        for k in range(constraints.num_rows(model, c)):
            square, _ = constraint_paths.square_of_angle(model, c, k)
            store(out, model.first_row[c] + k, 0, square)


@compiled
def gather_residuals(block: Any) -> None:
    """The inward pass of `acceleration`, with the constraints' forces added to the applied ones."""
    model = attach(block)
    for b in range(model.nb - 1, 0, -1):
        acceleration.inward_step(model, b)


@generic
def last(model: Record) -> int:
    """The number of enabled constraints, which come first in group_constraints."""
    n = 0
    if model.num_groups[0] > 0:
        n = model.group_end[model.num_groups[0] - 1]
    return n


@generic
def _load_group(model: Record, g: int, x: Any) -> None:
    """The right sides of group g into `row_work`, and its effects."""
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        for r in range(model.first_row[c], model.first_row[c] + constraints.num_rows(model, c)):
            store(model.row_work, model.row_place[r], 0, load(x, r, 0))
        constraint_paths.effects(model, c)
