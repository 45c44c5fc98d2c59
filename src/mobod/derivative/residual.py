"""Derivatives of what is missing to balance the forces: the rigid sweep's, with all that acts beside; of lanes or of one state.

What is local, contacts, and what may depend on the whole tree are differentiated of one state after the other: a Dual of one
state fills a register, and one of eight would take eight times as long. All else is done of all lanes at once.
"""

from typing import Any

from ..algebra.scalar import absolute, load, store, zero
from ..compiling import apart, generic
from ..force.contact.at_once import some_touch
from ..state.fields import Record
from ..tree.matrix_sweep import clear
from . import along, central, columns, contacts, lines, local, points_and_axes, stiffness, sweep, thermostats, wrenches
from .columns import PULLED, REST, find_wrenches

#: What kernels take of a plan, see `plan.Plan.for_kernels`.
TABLES, USED, CONTACTS, ASKED, ACTED, BETWEEN, CENTRAL = range(7)


@generic
def gravity(model: Record, plan: Any) -> Any:
    """The field that the rigid sweep has as an acceleration of Ground; none if gravity is an element as any other."""
    g = sweep.gravity(model)
    if plan[ASKED][2] & PULLED != 0:
        o = zero(load(model.time, 0, 0))
        g = o, o, o
    return g


@generic
def _find_displacements(model: Record, plan: Any, bends: bool, unit: Any, q_dot: Any, N: Any) -> None:
    """N of mobilizers that are named; of all for paths, for columns, and where hinge columns bend."""
    nodes = plan[TABLES][0]
    if bends or plan[ASKED][0] >= 0 or plan[ASKED][1] >= 0 or plan[TABLES][4].shape[0] > 0:
        for b in range(1, model.nb):
            columns.find_displacements(model, b, unit, q_dot, N)
    else:
        for node in range(nodes.shape[0]):
            if nodes[node, local.KIND] == local.MOBILIZER:
                columns.find_displacements(model, nodes[node, local.WHOSE], unit, q_dot, N)


# fmt: off
@generic
def find_what_is_swept(
    model: Record, lanes: int, owns: Any, duals: Any, plan: Any, g: Any, bent: Any, u_dot: Any, A: Any, total: Any, totals: Any,
    unit: Any, N: Any, seeds: Any, bends: Any, F: Any,
) -> Any:
    # fmt: on
    """N, bends, and wrenches F that the rigid sweep carries along, which it takes beside a state; the udot and A that it is at.

    The latter are *total* and *totals* beside thermostats. *unit* and *seeds* are scratch; the others as of `add_terms`.
    """
    dual, addresses = duals
    own, own_of_each, first = owns
    _find_displacements(model, plan, addresses[1] != 0, unit, unit[model.nu :], N)
    for lane in range(lanes if addresses[1] != 0 else 0):
        for i in range(own.shape[0]):
            own[i] = own_of_each[first + lane, i]
        columns.find_bends(model, lane, (dual, addresses[1]), bent, N, seeds, bends)
    find_wrenches(model, plan[ACTED][0], g, plan[ASKED][5] != 0, F, unit)
    if plan[ACTED][5].shape[0] > 0:
        thermostats.put_motion(model, plan[ACTED][5], u_dot, A, total, totals)
        u_dot, A = total, totals
    return u_dot, A


@generic
def _clear_blocks(plan: Any, o: Any, C: Any) -> None:
    """No stiffness of bodies that something acts on; others' blocks are not read, and D only if something is damped."""
    acted = plan[ACTED][2]
    for at in range(acted.shape[0]):
        for j in range(72 if plan[ASKED][3] != 0 else 36):
            store(C, acted[at], j, o)


@generic
def clear_beyond(beyond: Any, o: Any, D: Any) -> None:
    """Zeros where elements may put something that the rigid sweep does not: see `pattern.Pattern.beyond_tree`."""
    for k in range(beyond.shape[0]):
        store(D, beyond[k, 0], beyond[k, 1], o)


# fmt: off
@generic
def add_terms(
    model: Record, lanes: int, owns: Any, duals: Any, plan: Any, u_dot: Any, A: Any, end: int, of_tree: Any, N: Any, bodies:
    Any, numbers: Any, scratch: Any, L: Any, M: Any, total: Any, F: Any, C: Any, D: Any, T: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """All that is beside the rigid sweep but `couplings` and `add_stiffness`: to *D*, and anew into *T*, *E* and *K*.

    Parameters
    ----------
    M, total
        The mass matrix and scratch, for thermostats.
    lanes, owns, duals, plan, u_dot, A, end, of_tree, N, bodies, numbers, scratch, L, F, C, D, T, E, K
        As of `add_parts`.
    """
    o, way = zero(load(model.time, 0, 0)), plan[TABLES][3]
    _clear_blocks(plan, o, C)
    clear(T)
    clear(E)
    clear(K)
    if plan[ACTED][5].shape[0] > 0:
        thermostats.differentiate(model, plan[ACTED][5], M, numbers, D, T, total)
    if plan[BETWEEN][3].shape[0] > 0:
        lines.measure(model, plan[BETWEEN][3], bodies, L)
    if plan[ASKED][6] != 0:
        add_parts(model, lanes, owns, duals, plan, u_dot, A, end, of_tree, N, bodies, numbers, scratch, L, F, C, D, T, E, K)
        local.add_errors(model, plan[TABLES][:4], of_tree[2], bodies, numbers, C, E)
    if plan[BETWEEN][6].shape[0] > 0:
        points_and_axes.add(model, plan[BETWEEN][6], way, of_tree[2], A, bodies, numbers, C, E)
    if plan[ACTED][6].shape[0] > 0:
        wrenches.add(model, plan[ACTED][6], way, bodies, numbers, F, C, T)
    if plan[CONTACTS].shape[0] > 0:
        contacts.add(model, plan[CONTACTS], bodies, numbers, way, C, D)
    if plan[CENTRAL][0].shape[0] > 0:
        central.add(model, plan[CENTRAL], plan[ACTED][2], bodies, numbers, L, F, C, D)


# fmt: off
@apart
def add_parts(
    model: Record, lanes: int, owns: Any, duals: Any, plan: Any, u_dot: Any, A: Any, end: int, of_tree: Any, N: Any, bodies:
    Any, numbers: Any, scratch: Any, L: Any, F: Any, C: Any, D: Any, T: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """Terms of elements, constraints and motions, of one state after the other.

    *owns* are scratch for a state's own parameters, those of all, and the first state;
    *duals* are a record of Duals and the addresses of `columns.contribute`, `columns.find_hinge` and
    `contacts.contribute_pair` for it; *plan* what `plan` says; *of_tree* of each body the next one
    inboard that has mobilities, or itself, of each mobility its body, and of each equation its row of *E*, or -1,
    with where its columns by u begin, and those by z and time; *scratch*
    units, seeds, wrenches, and what `along` takes, by two names each, and sums of forces; *numbers* S, a, c by q, c by u of
    each mobility; *L* what `lines` has measured; *F* wrenches that the sweep carries, of which `add_stiffness` takes back what
    is left.
    """
    own, own_of_each, first = owns
    for lane in range(lanes):
        for i in range(own.shape[0]):
            own[i] = own_of_each[first + lane, i]
        _add_parts_of(model, lane, duals, plan, u_dot, A, end, of_tree, N, bodies, numbers, scratch, L, F, C, D, T, E, K)


# fmt: off
@generic
def _add_parts_of(
    model: Record, lane: int, duals: Any, plan: Any, u_dot: Any, A: Any, end: int, of_tree: Any, N: Any, bodies: Any,
    numbers: Any, scratch: Any, L: Any, F: Any, C: Any, D: Any, T: Any, E: Any, K: Any,
) -> None:
    # fmt: on
    """Those of one state."""
    dual, addresses = duals
    tables, used, elements, (by_columns, by_rest, by_parts) = plan[TABLES], plan[USED], plan[CONTACTS], plan[ASKED][:3]
    carrier, body_of, row_of = of_tree
    units, seeding, pushing, acting, sums = scratch
    nu = model.nu
    asked = by_parts
    if by_columns >= 0:
        asked = asked | by_columns
    if by_rest >= 0 and end > 2 * nu:
        asked = asked | by_rest
    if by_columns >= 0 or by_rest >= 0 or tables[4].shape[0] > 0:
        columns.fill(model, lane, u_dot, A, asked, dual)
    else:
        local.fill(model, lane, tables[0], u_dot, asked, dual)
    for at in range(used.shape[0]):
        if used[at] < 0:
            columns.fill_pose(model, lane, -used[at], dual)
        else:
            columns.fill_body(model, lane, used[at], A, asked, dual)
    if plan[BETWEEN][2].shape[0] > 0:
        lines.find_laws(lane, dual, plan[BETWEEN][2], plan[BETWEEN][3], L)
    if tables[4].shape[0] > 0:
        along.differentiate(
            model, lane, dual, A, asked, end > 2 * nu, tables[4], tables[5], tables[3], of_tree, N, bodies, numbers, seeding,
            acting, D, T, F,
        )
    if tables[0].shape[0] > 0:
        local.differentiate(
            model, lane, dual, addresses[1], A, asked, tables[:4], units, row_of, N, bodies, numbers, pushing, C, D, T, E, K
        )
    if elements.shape[0] > 0:
        contacts.differentiate(
            model, lane, elements, dual, addresses[2], A, asked, units, bodies, numbers, pushing, tables[3], C, D
        )
    of_motions = K
    for at in range(tables[1].shape[0]):
        if tables[1][at, local.KIND] == local.MOTION:  # they are local
            of_motions = K[:0]
    for rest in range(2):
        first, last, what = 0, 2 * nu, by_columns
        if rest == 1:
            first, last, what = 2 * nu, end, by_rest
        if what >= 0 and first < last:
            if by_columns >= 0:  # else those that are read have been filled, and nothing moves
                for b in range(model.nb):  # a sweep finds all but accelerations
                    columns.fill_body(model, lane, b, A, asked, dual)
            columns.differentiate(
                model, lane, (dual, addresses[0]), A, what | (REST * rest), first, last, (carrier, body_of, row_of), N,
                bodies, numbers, seeding, sums, D, T, E, of_motions,
            )


@generic
def _any_acts(plan: Any, F: Any) -> bool:
    """True if there are blocks, or wrenches, in any lane: of forces that are set from outside there often are none."""
    pushed, found = plan[TABLES][2], plan[CONTACTS].shape[0] + plan[ACTED][6].shape[0] + plan[CENTRAL][0].shape[0] > 0
    for at in range(pushed.shape[0]):
        found = found or (pushed[at, local.BLOCK] >= 0 and pushed[at, local.WRENCH] == 0)
    if not found:
        total = zero(load(F, 0, 0))
        for at in range(plan[ACTED][2].shape[0]):
            for i in range(6):
                total = total + absolute(load(F, plan[ACTED][2][at], i))
        found = some_touch(total)
    return found


# fmt: off
@generic
def add_stiffness(
    model: Record, plan: Any, F: Any, bodies: Any, numbers: Any, C: Any, flat: Any, wide: Any, shift: int, D: Any
) -> None:
    # fmt: on
    """Add blocks of single bodies, and forces that do not follow them, to *D*."""
    if plan[ASKED][4] != 0 and _any_acts(plan, F):
        stiffness.hang(model, plan[ASKED][2] & PULLED != 0, plan[ACTED], F, bodies, C)
        stiffness.follow(plan[ACTED][2], F, bodies, C)
        stiffness.sweep(model, plan[ACTED][2:4], numbers, C, plan[ASKED][3] != 0, flat, wide, shift, D)
