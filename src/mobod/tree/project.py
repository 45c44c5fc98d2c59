"""Projection: the least change of q, or of u, after which constraints hold.

    q    du = -A P^T (P A P^T)^+ perr,             q += N du, quaternions to length 1, again until the errors are small
    u    du = -W^-2 G^T (G W^-2 G^T)^+ verr,       u += du: once where the equations are linear in u

with P the rows of position equations in G, W the weights of u, and A = (N W)^+ (N W)^+^T, which is W^-2 where q_dot is u:
|N W du| is least, with weights of one |dq|, as in Simbody. Prescribed q and u are not changed. The error is the largest of all
equations, each times its weight; an equation that moves nothing but for rounding of axes (`gram_solve`) has none, but where it
is off by more than rounding explains, or moves by itself. Newton's method, with steps halved while they make it larger.
Compiled equations of coordinates whose rates are u need no poses: where all are such, bodies are realized once, at the end.
Source: Eich 1993; Sherman, Seth and Delp 2011, section 4.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import any_not_finite, load, num_lanes, one, store, where, zero
from ..compiling import compiled, generic, routine
from ..constraint.protocol import AS_Q, POSITIONS as POSITION_ROWS, PROJECT_Q, VELOCITIES as VELOCITY_ROWS
from ..mobilizer import q_rates
from ..mobilizer.access import copy, put4, vector4
from ..state.fields import Record
from ..state.validity import POSITIONS, UNCHECKED, VELOCITIES
from . import constraint_paths, constraints

#: Rows of the field `projection`: the error to reach, the least number of iterations; the error and iterations reached.
TOLERANCE, LEAST, ERROR, ITERATIONS = 0, 1, 2, 3
#: The most Newton steps, halvings included.
MOST_ITERATIONS = 40
#: The least `prescribed_level` at which q, or u, is prescribed.
_KNOWN_Q, _KNOWN_U = 3, 2


@compiled
def largest_error(block: Any, what: int) -> Any:
    """The largest weighted error of position equations, or of all velocity errors."""
    model = attach(block)
    worst = zero(load(model.time, 0, 0))
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            rows = model.num_p[c]
            if what != PROJECT_Q:
                rows = rows + model.num_v[c]
            for k in range(rows):
                r = model.first_row[c] + k
                rounding = load(model.rounding, r, 0)
                if what == PROJECT_Q:
                    error = load(model.position_error, r, 0)
                    error = where(error < 0.0, -error, error)
                    error = where(rounding > 0.0, where(error > rounding, error, zero(error)), error)
                    error = error * load(model.position_weight, r, 0)
                else:
                    error = where(rounding > 0.0, zero(rounding), constraints.row_times(model, c, k, model.V_GB, model.u))
                    error = (error + load(model.velocity_offset, r, 0)) * load(model.velocity_weight, r, 0)
                error = where(error < 0.0, -error, error)
                larger = where(error <= worst, worst, error)  # also if the error is NaN
                worst = where(worst == worst, larger, worst)  # and NaN stays
    return worst


@compiled
def set_weights(block: Any, what: int) -> None:
    """1 / weight^2 of each u into `projection_weight`; zero where prescribed. No row is known to be rounding yet."""
    model = attach(block)
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            for r in range(model.first_row[c], model.first_row[c] + constraints.num_rows(model, c)):
                store(model.rounding, r, 0, zero(load(model.time, 0, 0)))
    known = _KNOWN_Q
    if what != PROJECT_Q:
        known = _KNOWN_U
    for b in range(1, model.nb):
        level = model.prescribed_level[b]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            w = load(model.speed_weight, i, 0) + zero(load(model.time, 0, 0))
            free = 1.0 / (w * w)
            if level >= known or -level >= known:
                free = zero(w)
            store(model.projection_weight, i, 0, free)


@compiled
def newton_step(block: Any, what: int, kept: float) -> None:
    """du into `projection_step`, zero off all paths. Lanes whose *kept* is above 0 keep theirs."""
    model = attach(block)
    o = zero(load(model.time, 0, 0))
    for i in range(model.nu):
        store(model.projection_step, i, 0, where(kept > 0.0, load(model.projection_step, i, 0), o))
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            constraint_paths.weighted_effects(model, c, what)
            for k in range(constraints.num_rows(model, c)):
                r = model.first_row[c] + k
                error = o
                if k < model.num_p[c] and what == PROJECT_Q:
                    error = load(model.position_error, r, 0)
                elif what != PROJECT_Q and k < model.num_p[c] + model.num_v[c]:
                    error = constraints.row_times(model, c, k, model.V_GB, model.u) + load(model.velocity_offset, r, 0)
                store(model.row_work, model.row_place[r], 0, error)
        constraints.solve_group(model, g)
        n, m = model.group_num_speeds[g], model.group_num_rows[g]
        first_effect, first_row = model.group_effect[g], model.group_first_row[g]
        for at in range(model.group_first_body[g], model.group_end_body[g]):
            b = model.group_bodies[at]
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                place, du = first_effect + model.effect_place[i], o
                for r in range(m):
                    du = du - load(model.own_effect, place + r * n, 0) * load(model.row_work, first_row + r, 0)
                store(model.projection_step, i, 0, where(kept > 0.0, load(model.projection_step, i, 0), du))


@compiled
def take_step(block: Any, what: int, part: float) -> None:
    """Set q, or u, to that before plus *part* of `projection_step`, and normalize quaternions. Lanes whose *part* is 0 stay."""
    model = attach(block)
    if what != PROJECT_Q:
        for i in range(model.nu):
            u = load(model.u_before, i, 0)
            store(model.u, i, 0, where(part > 0.0, u + part * load(model.projection_step, i, 0), u))
        return
    for i in range(model.nq):
        store(model.q, i, 0, load(model.q_before, i, 0))
    for b in range(1, model.nb):
        if model.rates[b] == q_rates.SAME:
            copy(model.projection_step, model.first_u[b], model.work_q, model.first_q[b], model.num_u[b])
        else:
            call_routine(model.constrain[AS_Q], model, b, -1)
    for i in range(model.nq):
        q = load(model.q_before, i, 0)
        store(model.q, i, 0, where(part > 0.0, q + part * load(model.work_q, i, 0), q))
    for b in range(1, model.nb):
        if num_lanes(part) == 1:
            q_rates.normalize(model, b)
        elif model.has_quaternion[b] == 1:  # of lanes that take the step
            i = model.first_q[b]
            w, x, y, z = vector4(model.q, i)
            q_rates.normalize(model, b)
            u = vector4(model.q, i)
            moves = part > 0.0
            put4(model.q, i, (where(moves, u[0], w), where(moves, u[1], x), where(moves, u[2], y), where(moves, u[3], z)))


@compiled
def remember(block: Any, what: int, kept: float) -> None:
    """Save q, or u, before a step; lanes whose *kept* is above 0 keep what they saved last."""
    model = attach(block)
    if what == PROJECT_Q:
        for i in range(model.nq):
            store(model.q_before, i, 0, where(kept > 0.0, load(model.q_before, i, 0), load(model.q, i, 0)))
    else:
        for i in range(model.nu):
            store(model.u_before, i, 0, where(kept > 0.0, load(model.u_before, i, 0), load(model.u, i, 0)))


@compiled
def tolerance(block: Any) -> float:
    """The error to reach."""
    model = attach(block)
    return load(model.projection, TOLERANCE, 0)


@compiled
def least_iterations(block: Any) -> float:
    """The least number of iterations, made even where the error is small enough."""
    model = attach(block)
    return load(model.projection, LEAST, 0)


@compiled
def begin_projection(block: Any, tolerance: float, least: int) -> None:
    """Set the error that `project` is to reach for one state, and the least number of iterations."""
    model = attach(block)
    store(model.projection, TOLERANCE, 0, tolerance)
    store(model.projection, LEAST, 0, float(least))


@compiled
def keep_outcome(block: Any, error: float, iterations: int) -> None:
    """Store the error reached and the number of iterations."""
    model = attach(block)
    store(model.projection, ERROR, 0, error)
    store(model.projection, ITERATIONS, 0, zero(error) + iterations)


@generic
def realize(model: Any, what: int, address: int) -> None:
    """Realize positions, or velocities after positions, by `realize.advance` at *address*."""
    # unchecked: a lane that is not finite must not stop the others, and shows in its error
    if what == PROJECT_Q:
        call_routine(address, model, 0, POSITIONS | UNCHECKED)
    else:
        call_routine(address, model, POSITIONS, VELOCITIES | UNCHECKED)


@generic
def reads_coordinates_only(model: Any) -> bool:
    """True where compiled equations of coordinates whose rates are u are all there are: nothing of bodies is in any."""
    for g in range(model.num_groups[0]):
        for at in range(model.group_first[g], model.group_end[g]):
            c = model.group_constraints[at]
            if model.num_constrained_bodies[c] > 0 or model.constraint_routine[c] == 0:
                return False
            for k in range(model.first_mobilizer[c], model.first_mobilizer[c] + model.num_mobilizers[c]):
                if model.rates[model.constrained_mobilizers[k]] != q_rates.SAME:
                    return False
    return True


@generic
def find_errors(model: Any, what: int, address: int, bare: bool) -> None:
    """The rows and errors of the present q, or u: of *bare* equations without poses and velocities, else by `realize`."""
    if bare:
        call_routine(model.constrain[0], model, POSITION_ROWS if what == PROJECT_Q else VELOCITY_ROWS, 0)
    else:
        realize(model, what, address)


@generic
def any_positive(x: Any) -> bool:
    """True if *x* or one of its lanes is positive, or not a number."""
    return any_not_finite(where(x <= 0.0, zero(x), 1e308 + zero(x)) * 1e308)


@routine
def project(model: Record, what: int, address: int) -> int:
    """Project q, or u, which needs positions; 0 if all errors are within the tolerance afterwards.

    *address* is that of `realize.advance`, or of what does it. Each lane halves its step where its error has grown, takes the
    next where not, and stays where it is done or not finite.
    """
    bare = reads_coordinates_only(model)
    set_weights(model, what)
    find_errors(model, what, address, bare)
    least, error, iterations = tolerance(model), largest_error(model, what), 0
    before, kept = error, zero(error)
    wished = where(least_iterations(model) > 0.0, one(error), zero(error))
    part = where(error > least, one(error), where(error <= least, wished, zero(error)))
    remember(model, what, kept)
    while any_positive(part) and iterations < MOST_ITERATIONS:
        if any_positive(part - kept):  # a lane takes a new step
            newton_step(model, what, kept)
        take_step(model, what, part)
        find_errors(model, what, address, bare)
        error = largest_error(model, what)
        iterations += 1
        worse = where(error <= where(before < least, least, before), zero(error), one(error))
        kept = where(part > 0.0, worse, zero(error))
        before = where(kept > 0.0, before, error)
        moving = where(kept > 0.0, 0.5 * part, one(error))
        part = where(part > 0.0, where(error <= least, zero(error), moving), zero(error))
        remember(model, what, kept)
    if bare:
        realize(model, what, address)
    keep_outcome(model, error, iterations)
    if any_positive(error - least):
        return 1
    return 0


@compiled
def call(block: Any, address: int, what: int, advance: int) -> int:
    """`project`, at *address*, called from Python."""
    return call_routine(address, attach(block), what, advance)
