"""Friction of contacts that slide: it depends on the normal forces, and these on it.

Such a contact has its constraint of the normal enabled, with the multiplier lambda_n, and friction mu N against the slip, which
the tangential rows T of another constraint say (`friction_rows`), whether that is enabled or not. With N_0 and lambda_0 what
there would be without friction, d_j the direction in which contact j slips, and t_j = T_j d_j,

    lambda = lambda_0 - W^+ G M^-1 t^T mu N        N = N_0 + K mu N,     K_ij = s_i (W^+ G M^-1 t_j^T)_i,     W = G M^-1 G^T

where s is the sign with which lambda_n is minus the normal force, so that (1 - K mu) N = N_0. Where an eigenvalue of 1 - K mu
has no positive real part, there is no answer or more than one: friction presses a contact together more than it takes to hold
it, Painleve's paradox; accelerations are then no numbers. Whether they all have says Routh's scheme of the characteristic
polynomial, which Faddeev and Leverrier's recursion finds with the inverse: all lanes take one path.

Rows of contacts may be redundant, as of a brick's four corners, and the least multipliers pull where others push alone. The
contact that pulls most is then left out, as long as the others keep what it keeps, until none pulls.

Source: Glocker 2001, Set-Valued Force Laws, 8; Painleve 1895; Gantmacher 1959, IV.5 and XV.3.
"""

import math
from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, one, sqrt, store, where, zero
from ..compiling import compiled, generic, routine
from ..constraint.protocol import SOLVE_ROWS
from ..state.fields import Record
from . import constraint_paths, constraints, gram_solve
from .constraint_operators import put_rows
from .project import any_positive

#: The smallest part of the normal force without friction that it may be multiplied by, in 1 - K mu.
LEAST = 1e-9
#: Columns of `slip_memory`: the direction that a contact was let slide along, coefficients, sign, with how little slip that
#: falls has ended, and up to how much it has that direction whatever it is, as what it began with is unknown.
DIRECTION, DYNAMIC, VISCOUS, SIGN, LEAST_SLIP, UNKNOWN_SLIP = 0, 2, 3, 4, 5, 6
#: What is asked for in place of how other right sides are solved: to take friction out of the applied forces again.
TAKE_BACK = -1
#: Of a contact: numbers of `slip_work` beside its solutions and its row of three matrices: its direction and coefficient, N_0,
#: N, and 1 where it is left out.
_OWN = 6


def work_size(contacts: int, most_rows: int) -> int:
    """Numbers of `slip_work` where so many contacts may slide, in groups of so many rows at the most."""
    return contacts * (most_rows + 3 * contacts + _OWN) + 2 * most_rows + 4 * contacts + 6 if contacts else 0


@routine
def slide(model: Record, g: int, again: int) -> int:
    """Friction of the contacts of group g that slide, into `row_work`, `own_u_dot` and the applied forces.

    Between the solution for its multipliers and what follows from these. *again* is how other right sides are solved.
    """
    if again == TAKE_BACK:
        take_back(model)
        return 0
    k = _count(model, g)
    if k == 0:
        return 0
    first, m = model.group_first_row[g], model.group_num_rows[g]
    lambda_0 = k * (m + 3 * k + _OWN)
    for j in range(k):
        store(model.slip_work, _own(m, k, j) + 5, 0, zero(load(model.time, 0, 0)))
    rank = _rank(model, first, m)
    ok = _solve(model, g, k, again)
    pulls = one(ok)
    _keep(model, m, k, lambda_0, pulls)
    for _ in range(k - 1):
        pulls = _leave_out(model, m, k, where(_rank_is_less(rank, m), pulls, zero(pulls)))
        if not any_positive(pulls):
            break
        _load_left(model, g, k)
        call_routine(model.constrain[SOLVE_ROWS], model, g, gram_solve.ANEW)
        pulls = where(_rank(model, first, m) >= rank, pulls, zero(pulls))
        # where friction presses together what is left, the next may do without
        now = where(pulls > 0.0, _solve(model, g, k, gram_solve.ANEW), zero(pulls))
        _keep(model, m, k, lambda_0, now)
        ok = where(now > 0.0, now, ok)
    _take(model, m, k, lambda_0)
    for i in range(m):
        store(model.row_work, first + i, 0, load(model.slip_work, lambda_0 + i, 0))
    _apply(model, g, k, ok)
    return 0


@generic
def _solve(model: Record, g: int, k: int, again: int) -> Any:
    """lambda and the normal forces with friction, of `row_work` without it; above zero where there is one answer."""
    first, m = model.group_first_row[g], model.group_num_rows[g]
    lambda_0 = k * (m + 3 * k + _OWN)
    for i in range(m):
        store(model.slip_work, lambda_0 + i, 0, load(model.row_work, first + i, 0))
    _find_responses(model, g, k, again)
    return _find_normal_forces(model, g, k, lambda_0)


@generic
def _rank(model: Record, first: int, m: int) -> Any:
    """The number of a group's rows that its factor has not dropped, nor left out."""
    rank = zero(load(model.time, 0, 0))
    for i in range(m):
        rank = rank + where(load(model.gram_inverse, first + i, 0) > 0.0, one(rank), zero(rank))
    return rank


@generic
def _rank_is_less(rank: Any, m: int) -> Any:
    """True where rows are redundant."""
    return rank < float(m)


@generic
def _leave_out(model: Record, m: int, k: int, redundant: Any) -> Any:
    """Mark the contact that pulls most, where rows are *redundant*; above zero where there is one."""
    o = zero(redundant)
    least, most, who = o, o, o - 1.0
    for j in range(k):
        N = load(model.slip_work, _own(m, k, j) + 4, 0)
        most = where(N > most, N, most)
        who = where(N < least, o + float(j), who)
        least = where(N < least, N, least)
    pulls = where(least < -LEAST * most, redundant, o)
    for j in range(k):
        own = _own(m, k, j) + 5
        mine = where(who == float(j), pulls, o)
        store(model.slip_work, own, 0, where(mine > 0.0, one(o), load(model.slip_work, own, 0)))
    return pulls


@generic
def _keep(model: Record, m: int, k: int, lambda_0: int, new: Any) -> None:
    """Keep lambda and the normal forces, behind all else, where they are *new*."""
    kept = lambda_0 + m + 3 * k + 6
    for i in range(m):
        x = where(new > 0.0, load(model.slip_work, lambda_0 + i, 0), load(model.slip_work, kept + i, 0))
        store(model.slip_work, kept + i, 0, x)
    for j in range(k):
        x = where(new > 0.0, load(model.slip_work, _own(m, k, j) + 4, 0), load(model.slip_work, kept + m + j, 0))
        store(model.slip_work, kept + m + j, 0, x)


@generic
def _take(model: Record, m: int, k: int, lambda_0: int) -> None:
    """Lambda and the normal forces become what was kept."""
    kept = lambda_0 + m + 3 * k + 6
    for i in range(m):
        store(model.slip_work, lambda_0 + i, 0, load(model.slip_work, kept + i, 0))
    for j in range(k):
        store(model.slip_work, _own(m, k, j) + 4, 0, load(model.slip_work, kept + m + j, 0))


@generic
def _load_left(model: Record, g: int, k: int) -> None:
    """The right sides of a group, and the scales of its rows, those of contacts that are left out below zero."""
    constraints.put_errors(model, g)
    _put_scales(model, g, k)


@generic
def _put_scales(model: Record, g: int, k: int) -> None:
    """Effects and scales of a group's rows, whose place its factor has taken; none of contacts that are left out."""
    n, j = model.group_num_speeds[g], 0
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        constraint_paths.effects(model, c)
        if model.friction_rows[c] >= 0:
            r = model.first_row[c]
            left, scale = (
                load(model.slip_work, _own(model.group_num_rows[g], k, j) + 5, 0),
                load(model.gram_inverse, model.row_place[r], 0),
            )
            store(model.gram_inverse, model.row_place[r], 0, where(left > 0.0, zero(left) - 1.0, scale))
            for e in range(model.row_effect[r], model.row_effect[r] + n):
                store(model.effect, e, 0, where(left > 0.0, zero(left), load(model.effect, e, 0)))
                store(model.own_effect, e, 0, where(left > 0.0, zero(left), load(model.own_effect, e, 0)))
            j += 1


@generic
def _count(model: Record, g: int) -> int:
    """The number of contacts of a group that slide."""
    k = 0
    for at in range(model.group_first[g], model.group_end[g]):
        if model.friction_rows[model.group_constraints[at]] >= 0:
            k += 1
    return k


@generic
def _own(m: int, k: int, j: int) -> int:
    """The place in `slip_work` of the numbers of contact j of k: direction, coefficient, N_0, N; behind its solutions."""
    return j * (m + _OWN) + m


@generic
def _matrix(m: int, k: int, which: int) -> int:
    """The place in `slip_work` of one of three matrices of k contacts."""
    return k * (m + _OWN) + which * k * k


@generic
def take_back(model: Record) -> None:
    """Take friction out of the applied forces of bodies, which are those of the elements again."""
    add_friction(model, model.body_forces, -1.0)
    forget(model)


@generic
def add_friction(model: Record, bodies: Any, sign: float) -> None:
    """Add friction that the applied forces of bodies have, times *sign*, to forces on *bodies*."""
    for c in range(model.nc):
        if model.friction_rows[c] >= 0:
            _add_wrenches(model, bodies, c, sign * load(model.slip_forces, c, 0), sign * load(model.slip_forces, c, 1))


@generic
def _add_friction_of(model: Record, c: int, N: Any, bodies: Any) -> None:
    """The friction of contact c at a normal force N, added to forces on *bodies*."""
    _find_direction(model, c, 0)
    force = load(model.slip_work, 2, 0) * N
    _add_wrenches(model, bodies, c, -(force * load(model.slip_work, 0, 0)), -(force * load(model.slip_work, 1, 0)))


@routine
def slide_at(model: Record, unused: int, unused_too: int) -> int:
    """Friction at the normal forces that multipliers say, added to the applied forces of bodies."""
    for c in range(model.nc):
        if model.friction_rows[c] >= 0:
            N = -(load(model.slip_memory, c, SIGN) * load(model.multiplier, model.first_row[c], 0))
            _add_friction_of(model, c, N, model.body_forces)
    return 0


@compiled
def add_friction_by_multiplier(block: Any, c: int, F: Any) -> None:
    """The friction of contact c that a multiplier of 1 stands for, added to forces F on bodies. Needs velocities."""
    model = attach(block)
    _add_friction_of(model, c, -load(model.slip_memory, c, SIGN), F)


@compiled
def leave_out_friction(block: Any, F: Any) -> None:
    """Take friction out of forces F on bodies that are a copy of the applied ones."""
    add_friction(attach(block), F, -1.0)


@compiled
def add_friction_to_rows(block: Any, G: Any) -> None:
    """G, made row by row, becomes the rows along which multipliers act, as friction of what slides goes with its normal's.

    Rows of the constraints that say its directions are written, too, if these are disabled. Needs velocities.
    """
    model = attach(block)
    for c in range(model.nc):
        r = model.friction_rows[c]
        if r >= 0:
            own, first = model.first_row[c], model.first_row[r]
            put_rows(model, r, G, first)
            _find_direction(model, c, 0)
            drag = load(model.slip_work, 2, 0) * load(model.slip_memory, c, SIGN)
            x, y = drag * load(model.slip_work, 0, 0), drag * load(model.slip_work, 1, 0)
            for i in range(model.nu):
                store(G, own, i, load(G, own, i) - (x * load(G, first + 1, i) + y * load(G, first + 2, i)))


@generic
def forget(model: Record) -> None:
    """The applied forces are found anew."""
    for c in range(model.num_slips):
        store(model.slip_forces, c, 0, zero(load(model.time, 0, 0)))
        store(model.slip_forces, c, 1, zero(load(model.time, 0, 0)))


@generic
def _add_wrenches(model: Record, bodies: Any, c: int, x: Any, y: Any) -> None:
    """Forces x and y along the tangential rows of a contact, to those on *bodies*."""
    r = model.friction_rows[c]
    n = model.num_constrained_bodies[r]
    for i in range(n):
        b, at = model.constrained_bodies[model.first_constrained_body[r] + i], model.first_wrench[r] + n + i
        tw, tv = load_spatial(model.wrenches, at)
        sw, sv = load_spatial(model.wrenches, at + n)
        w, v = vec3.add_scaled(vec3.scale(x, tw), y, sw), vec3.add_scaled(vec3.scale(x, tv), y, sv)
        add_spatial(bodies, b, w, v)


@generic
def _find_direction(model: Record, c: int, own: int) -> None:
    """The direction in which contact c slips, that given where it hardly does or turns back, and its coefficient."""
    r = model.friction_rows[c]
    n, first = model.num_constrained_bodies[r], model.first_constrained_body[r]
    x, y = zero(load(model.time, 0, 0)), zero(load(model.time, 0, 0))
    for i in range(n):
        w, v = load_spatial(model.V_GB, model.constrained_bodies[first + i])
        tw, tv = load_spatial(model.wrenches, model.first_wrench[r] + n + i)
        sw, sv = load_spatial(model.wrenches, model.first_wrench[r] + 2 * n + i)
        x, y = x + (vec3.dot(tw, w) + vec3.dot(tv, v)), y + (vec3.dot(sw, w) + vec3.dot(sv, v))
    dx, dy = load(model.slip_memory, c, DIRECTION), load(model.slip_memory, c, DIRECTION + 1)
    speed, o = sqrt(x * x + y * y), zero(x)
    along, across = where(speed > 0.0, x * dx + y * dy, o), where(speed > 0.0, x * dy - y * dx, o)
    # what passes the given direction's normal goes on to turn: at that event friction has no jump
    along = along + where(across < 0.0, -across, across)
    known = where(speed > load(model.slip_memory, c, UNKNOWN_SLIP), along, o)
    size = where(known > 0.0, speed, 1.0 + o)
    store(model.slip_work, own, 0, where(known > 0.0, x / size, dx))
    store(model.slip_work, own + 1, 0, where(known > 0.0, y / size, dy))
    mu = load(model.slip_memory, c, DYNAMIC) + load(model.slip_memory, c, VISCOUS) * speed
    store(model.slip_work, own + 2, 0, mu)


@generic
def _find_responses(model: Record, g: int, k: int, again: int) -> None:
    """Of each contact that slides W^+ G M^-1 t^T into `slip_work`, and its direction and coefficient."""
    first, m, n = model.group_first_row[g], model.group_num_rows[g], model.group_num_speeds[g]
    j, how = 0, again
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        r = model.friction_rows[c]
        if r < 0:
            continue
        own = _own(m, k, j)
        _find_direction(model, c, own)
        dx, dy = load(model.slip_work, own, 0), load(model.slip_work, own + 1, 0)
        e = model.row_effect[model.first_row[r] + 1]
        for i in range(m):
            total, row = zero(dx), model.group_effect[g] + i * n
            for p in range(n):
                of_unit = dx * load(model.effect, e + p, 0) + dy * load(model.effect, e + n + p, 0)
                total = total + load(model.own_effect, row + p, 0) * of_unit
            store(model.row_work, first + i, 0, total)
        if how == gram_solve.ANEW:
            _put_scales(model, g, k)
        how = call_routine(model.constrain[SOLVE_ROWS], model, g, how)
        for i in range(m):
            store(model.slip_work, own - m + i, 0, load(model.row_work, first + i, 0))
        j += 1


@generic
def _find_normal_forces(model: Record, g: int, k: int, lambda_0: int) -> Any:
    """The normal forces with friction, behind N_0, and lambda in place of lambda_0; above zero where there is one answer."""
    first, m = model.group_first_row[g], model.group_num_rows[g]
    A, i = _matrix(m, k, 0), 0
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        if model.friction_rows[c] < 0:
            continue
        row, sign = model.row_place[model.first_row[c]] - first, load(model.slip_memory, c, SIGN)
        store(model.slip_work, _own(m, k, i) + 3, 0, -sign * load(model.slip_work, lambda_0 + row, 0))
        for j in range(k):
            own = _own(m, k, j)
            x = -sign * load(model.slip_work, own - m + row, 0) * load(model.slip_work, own + 2, 0)
            store(model.slip_work, A + i * k + j, 0, 1.0 + x if i == j else x)
        i += 1
    ok = _invert(model, m, k)
    inverse = _matrix(m, k, 1)
    for i in range(k):
        total = zero(ok)
        for j in range(k):
            total = total + load(model.slip_work, inverse + i * k + j, 0) * load(model.slip_work, _own(m, k, j) + 3, 0)
        store(model.slip_work, _own(m, k, i) + 4, 0, total)
    for j in range(k):
        own = _own(m, k, j)
        force = load(model.slip_work, own + 2, 0) * load(model.slip_work, own + 4, 0)
        for i in range(m):
            x = load(model.slip_work, lambda_0 + i, 0) - load(model.slip_work, own - m + i, 0) * force
            store(model.slip_work, lambda_0 + i, 0, x)
    return ok


@generic
def _invert(model: Record, m: int, k: int) -> Any:
    """The inverse of the first matrix into the second; above zero if all eigenvalues less LEAST have positive real parts.

    M_1 = 1, c_k = 1;  A M_i, c_(k-i) = -tr(A M_i) / i, M_(i+1) = A M_i + c_(k-i) 1;  A^-1 = -M_k / c_0.
    """
    A, M, P = _matrix(m, k, 0), _matrix(m, k, 1), _matrix(m, k, 2)
    c = k * (m + 3 * k + _OWN) + m  # behind lambda_0
    o = zero(load(model.time, 0, 0))
    for i in range(k):
        for j in range(k):
            store(model.slip_work, M + i * k + j, 0, o + 1.0 if i == j else o)
    store(model.slip_work, c + k, 0, o + 1.0)
    for step in range(1, k + 1):
        trace = o
        for i in range(k):
            for j in range(k):
                total = o
                for p in range(k):
                    total = total + load(model.slip_work, A + i * k + p, 0) * load(model.slip_work, M + p * k + j, 0)
                store(model.slip_work, P + i * k + j, 0, total)
            trace = trace + load(model.slip_work, P + i * k + i, 0)
        coefficient = -trace / step
        store(model.slip_work, c + k - step, 0, coefficient)
        if step < k:
            for i in range(k):
                for j in range(k):
                    x = load(model.slip_work, P + i * k + j, 0)
                    store(model.slip_work, M + i * k + j, 0, x + coefficient if i == j else x)
    last = load(model.slip_work, c, 0)
    for i in range(k * k):
        store(model.slip_work, M + i, 0, -load(model.slip_work, M + i, 0) / where(last != 0.0, last, 1.0 + o))
    return _are_positive(model, c, k)


@generic
def _are_positive(model: Record, c: int, k: int) -> Any:
    """Above zero if the zeros of a polynomial, of these coefficients, less LEAST, all have positive real parts.

    That is so where those of p(LEAST - x) have negative ones, which Routh's scheme says: its first column has one sign.
    """
    for i in range(k):  # Horner's shift to LEAST
        for j in range(k - 1, i - 1, -1):
            x = load(model.slip_work, c + j, 0) + LEAST * load(model.slip_work, c + j + 1, 0)
            store(model.slip_work, c + j, 0, x)
    sign, unit = 1.0, one(load(model.time, 0, 0))
    for i in range(k, -1, -1):  # the highest positive
        store(model.slip_work, c + i, 0, sign * load(model.slip_work, c + i, 0))
        sign = -sign
    upper, lower, rows = c + k + 1, c + 2 * k + 3, k // 2 + 1
    for i in range(rows):
        store(model.slip_work, upper + i, 0, load(model.slip_work, c + k - 2 * i, 0))
        odd = k - 2 * i - 1
        store(model.slip_work, lower + i, 0, load(model.slip_work, c + odd, 0) if odd >= 0 else zero(unit))
    ok = unit
    for _ in range(k):
        head = load(model.slip_work, lower, 0)
        ok = where(head > 0.0, ok, zero(unit))
        factor = load(model.slip_work, upper, 0) / where(head > 0.0, head, unit)
        for i in range(rows):
            after = load(model.slip_work, lower + i + 1, 0) if i + 1 < rows else zero(unit)
            above = load(model.slip_work, upper + i + 1, 0) if i + 1 < rows else zero(unit)
            x = above - factor * after
            store(model.slip_work, upper + i, 0, load(model.slip_work, lower + i, 0))
            store(model.slip_work, lower + i, 0, x)
    return ok


@generic
def _apply(model: Record, g: int, k: int, ok: Any) -> None:
    """The friction of a group's contacts, in `own_u_dot` and the applied forces; no numbers where there is not one answer."""
    m, n, j = model.group_num_rows[g], model.group_num_speeds[g], 0
    for at in range(model.group_first[g], model.group_end[g]):
        c = model.group_constraints[at]
        r = model.friction_rows[c]
        if r < 0:
            continue
        own = _own(m, k, j)
        force = load(model.slip_work, own + 2, 0) * load(model.slip_work, own + 4, 0)
        force = where(ok > 0.0, force, zero(ok) + math.nan)
        x, y = force * load(model.slip_work, own, 0), force * load(model.slip_work, own + 1, 0)
        e = model.row_effect[model.first_row[r] + 1]
        for place in range(model.group_first_body[g], model.group_end_body[g]):
            b = model.group_bodies[place]
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                p = e + model.effect_place[i]
                of_unit = x * load(model.own_effect, p, 0) + y * load(model.own_effect, p + n, 0)
                store(model.own_u_dot, i, 0, load(model.own_u_dot, i, 0) - of_unit)
        store(model.slip_forces, c, 0, -x)
        store(model.slip_forces, c, 1, -y)
        _add_wrenches(model, model.body_forces, c, -x, -y)
        j += 1
