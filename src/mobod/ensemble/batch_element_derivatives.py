"""Derivatives of the dynamics of many states with all that acts: every compiled kind of force, mobilizer and constraint.

What elements, constraints and motions contribute is differentiated of one state after the other, see `derivative.residual`. All
else is done of eight states at a time: realizing them, the rigid sweep, sums of blocks, M^-1, G, the factor of G M^-1 G^T, and
products, see `derivative.solve`.
"""

import math
from typing import Any

from ..algebra.eights import put_columns, put_rows, whole_lines
from ..algebra.memory import store3
from ..algebra.record import attach
from ..algebra.scalar import any_not_finite, load, scatter, store, store_lane, zero
from ..compiling import apart, compiled, generic
from ..derivative import couplings, regressor, sweep
from ..derivative.by_numbers import differentiate
from ..derivative.entry import put_accelerations
from ..derivative.residual import (
    ACTED,
    BETWEEN,
    TABLES,
    add_stiffness,
    add_terms,
    clear_beyond,
    find_what_is_swept,
    gravity,
)
from ..derivative.solve import (
    add_given,
    add_turns,
    contradict,
    copy_rows,
    exchange,
    find_left,
    project,
    put_both_products,
    put_given,
    put_products,
)
from ..derivative.sweep import FORCE
from ..force.contact.at_once import some_touch
from ..state.fields import Record
from ..state.validity import ARTICULATED, EVERYTHING, FORCES, KINEMATICS, NO_RATES
from ..tree import explicit_mass_matrix, inverse_dynamics, inverse_mass_matrix
from ..tree.matrix_sweep import clear
from ..tree.realize import nothing_of
from .batch import realize_eight
from .batch_operators import take
from .chunks import shared


# fmt: off
@apart
def _find(
    model: Record, first: int, of_one: Any, of_tree: Any, own: Any, own_of_each: Any, plan: Any, end: int, u_dot: Any, A: Any,
    total: Any, totals: Any, unit: Any, N: Any, bends: Any, F: Any, bodies: Any, speeds: Any, columns: Any, stiffness: Any,
    C: Any, carried: Any, of_pairs: Any, beyond: Any, D: Any, T: Any, E: Any, K: Any, driven: Any, M: Any,
) -> None:
    # fmt: on
    """The residual's derivatives by columns up to *end* of eight states, errors', those of udot that is driven, and M.

    *of_one* are what `derivative.residual.add_parts` has of Duals, and scratch of one state. *own* is what it has of a state's
    own parameters, *own_of_each* the rows of all. *D* is as it was left, or zero at first: nothing else is written beside what
    is *beyond* the tree's.
    """
    slopes, bent, carrier, body_of, row_of = of_tree
    (block, addresses), scratch = of_one
    duals, owns = (attach(block), addresses), (own, own_of_each, first)
    n, g = model.nu, gravity(model, plan)
    faster, of_bodies = find_what_is_swept(
        model, 8, owns, duals, plan, g, bent, u_dot, A, total, totals, unit, N, scratch[1][1], bends, F
    )
    clear_beyond(beyond, zero(load(model.time, 0, 0)), D)
    sweep.sweep(
        model, of_bodies, faster, g, bends, bent, slopes, plan[ACTED][0], carrier, F, bodies, speeds, columns, D[:n], D[n:]
    )
    store3(bodies, 0, FORCE, g)
    if M.shape[0] > 0:
        every = plan[ACTED][5].shape[0] > 0 or T.shape[1] == 0
        sweep.put_mass(model, every, driven, body_of, speeds, columns, 0, 0, M)
    trees, L = (carrier, body_of, (row_of, n, 2 * n)), of_pairs[0]
    add_terms(model, 8, owns, duals, plan, u_dot, A, end, trees, N, bodies, speeds, scratch, L, M, total, F, C, D, T, E, K)
    if plan[BETWEEN][1].shape[0] > 0:
        couplings.add(model, C, plan[BETWEEN], plan[TABLES][3], bodies, speeds, carried[1], of_pairs, F, D, T)
    add_stiffness(model, plan, F, bodies, speeds, C, stiffness, stiffness, 0, D)


@generic
def _make_unsound(M_inv: Any, sound: Any) -> None:
    """Nothing that it is a factor of is finite where *sound*, zero or no number, is not."""
    for i in range(M_inv.shape[0] if any_not_finite(sound) else 0):
        for j in range(M_inv.shape[1]):
            store(M_inv, i, j, load(M_inv, i, j) + sound)


# fmt: off
@compiled
def calc_derivatives(
    block: Any, address: int, share: Any, states: Any, of_one: Any, own: Any, picked: Any, own_of_each: Any, num_z: int,
    beyond: Any, both: bool, groups: tuple[Any, Any], of_rest: tuple[Any, Any], carried: Any, of_tree: Any, rows: Any,
    driven: Any, plan: Any, given: Any, udot: Any, A: Any, total: Any, totals: Any, unit: Any, N: Any,
    bends: Any, F: Any, bodies: Any, speeds: Any, of_columns: Any, stiffness: Any, C: Any, of_pairs: Any, of_lines: Any,
    rigid: Any, T: Any, E: Any, K: Any, M: Any, left: Any, G: Any, P: Any, S: Any, Q: Any, work: Any, M_inv: Any,
    rest: Any, D: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by q, u, z, in rows of *num_z*, forces on the mobilities, and time, one behind the other.

    Where there are udot *given*, those of what is missing for them by q and u, then M. It is one kernel because both find the
    same, which takes most of the time to compile.
    """
    model, inverse = attach(block), given.shape[0] > 0
    n, columns, size = model.nu, 2 * model.nu + T.shape[1], whole_lines(model.nu * model.nu)
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, NO_RATES | (KINEMATICS | FORCES if inverse else EVERYTHING), first, states)
        o = zero(load(model.time, 0, 0))
        if inverse:
            sound = nothing_of(model.u, n, nothing_of(model.q, model.nq, o))
            take(given, first, udot)
        else:
            sound = nothing_of(model.u_dot, n, o)
            inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
        put_accelerations(model, inverse, udot, udot, A)
        m, scale, turns = rows.shape[0], o, 0
        if m > 0:
            scale = find_left(model, A, udot, left)
            turns = int(some_touch(scale))
        for turned in range(turns, -1, -1):
            if turned == 1:
                exchange(model, left)
            _find(
                model, first, of_one, of_tree, own, own_of_each, plan, columns, udot, A, total, totals, unit, N, bends, F,
                bodies, speeds, of_columns, stiffness, C, carried, (of_lines, of_pairs), beyond, rigid, T, E, K, driven, M,
            )
            if turned == 1:
                exchange(model, left)
                copy_rows(rigid, D)
                copy_rows(T, rest)
        if inverse:
            for i in range(n):
                for j in range(n):
                    store(rigid, i, j, load(rigid, i, j) + sound)
                    store(rigid, n + i, j, load(rigid, n + i, j) + sound)
            for half in range(2):
                put_rows(rigid, half * n, n, out, first, half * size)
            put_rows(M, 0, n, out, first, 2 * size)
        else:
            _make_unsound(M_inv, sound)
            if m > 0:
                project(model, model.num_slips == 0, of_tree[4], M_inv, G, P, S, S, Q, picked)
            if turns > 0:
                for half in range(2):
                    add_turns(scale, S, n, m, D, rigid, half * n, E, half * n)
                add_turns(scale, S, n, m, rest, T, 0, E, 2 * n)
            add_given(M, n, driven, K, 0, n, rigid[:n], 0)
            add_given(M, n, driven, K, n, 2 * n, rigid[n:], 0)
            add_given(M, n, driven, K, 2 * n, columns, T, 0)
            add_given(G, m, driven, K, 0, columns, E, 0)
            if both:
                put_both_products(M_inv, n, Q, m, E, rigid, *groups, picked, True, D)
            for half in range(2):
                if not both:
                    put_products(M_inv, n, Q, m, E, half * n, rigid, half * n, *groups, picked, D)
                put_given(driven, K, half * n, half * n + n, D, half * n)
            put_products(M_inv, n, Q, m, E, 2 * n, T, 0, *of_rest, picked, rest)
            put_given(driven, K, 2 * n, columns, rest, 0)
            last = 2 * size + whole_lines(n * num_z)
            for half in range(2):
                put_rows(D, half * n, n, out, first, half * size)
            put_columns(rest, 0, T.shape[1] - 1, out, first, 2 * size, num_z)
            put_rows(M_inv, 0, n, out, first, last)
            put_columns(rest, T.shape[1] - 1, T.shape[1], out, first, last + size, 1)
        if any_not_finite(sound):  # what is not a number must not stay for other states
            clear(rigid)


# fmt: off
@compiled
def calc_parameter_derivatives(
    block: Any, address: int, share: Any, states: Any, of_one: Any, own_of_each: Any, groups: tuple[Any, Any], row_of: Any,
    rows: Any, driven: Any, contradicting: Any, R: Any, E: Any, K: Any, M: Any, G: Any, P: Any, S: Any, Q: Any,
    work: Any, M_inv: Any, D: Any, out: Any,
) -> None:
    # fmt: on
    """Derivatives of udot by numbers of the model.

    *of_one* are a record of Duals with its numbers, where each state's own ones are, scratch, and seeds of one
    state or of each.
    """
    model = attach(block)
    n, columns = model.nu, R.shape[1]
    duals, addresses, numbers, own_places, picked, seeds, rates = of_one
    dual = attach(duals)
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, EVERYTHING | NO_RATES, first, states)
        o = zero(load(model.time, 0, 0))
        sound = nothing_of(model.u_dot, n, o)
        inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
        clear(E)
        for lane in range(8):
            s = min(first + lane, seeds.shape[0] - 1)
            for i in range(own_places.shape[0]):
                numbers[own_places[i]] = own_of_each[first + lane, i]
            if not differentiate(
                model, lane, dual, addresses, numbers, seeds[s], rates[s], rows.shape[0] > 0, row_of, R, E, K
            ):
                for j in range(columns):
                    store_lane(R, 0, j, lane, math.nan)
        if driven.shape[0] > 0:
            explicit_mass_matrix.calc_m(model, False, work, work, M)
        _make_unsound(M_inv, sound)
        m = rows.shape[0]
        if m > 0:
            project(model, model.num_slips == 0, row_of, M_inv, G, P, S, S, Q, picked)
            scatter(contradicting, first, 0, contradict(model, model.A_GB, model.u_dot))
        add_given(M, n, driven, K, 0, columns, R, 0)
        add_given(G, m, driven, K, 0, columns, E, 0)
        put_products(M_inv, n, Q, m, E, 0, R, 0, *groups, picked, D)
        put_given(driven, K, 0, columns, D, 0)
        put_rows(D, 0, n, out, first, 0)


# fmt: off
@compiled
def calc_regressor(
    block: Any, address: int, share: Any, states: Any, udot: Any, udot8: Any, A: Any, Y: Any, out: Any
) -> None:
    # fmt: on
    """The regressor of inertial parameters."""
    model = attach(block)
    for g in shared(share):
        realize_eight(model, address, KINEMATICS, 8 * g, states)
        take(udot, 8 * g, udot8)
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, udot8, A)
        clear(Y)
        regressor.fill(model, A, Y)
        put_rows(Y, 0, model.nu, out, 8 * g, 0)
