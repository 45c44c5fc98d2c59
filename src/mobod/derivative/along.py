"""Derivatives of forces along paths: f(l, l', z, time) along one length, by dual numbers of the few columns that change it.

    h = force that a unit along the path is      d(f h) = h (f_l dl + f_v dl' + f_z dz + f_t dt) + f dh

A motion of all bodies of a path as one changes neither l nor l', and carries h along: only columns between the bodies are
taken, eight at a time, and only what h changes beyond being carried. The sweep carries all forces, and takes back what does not
follow, see `stiffness.follow`: these forces are not among that. By u, l' alone changes. Slopes of f are found once.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load3, load_spatial, load_tangents3
from ..algebra.record import call_routine
from ..algebra.scalar import bare, load, load_lane, load_tangent, load_tangents, store, store_tangent, store_tangents, zero
from ..compiling import apart, generic
from ..force.routines import GEOMETRY, LAW, RATE
from ..state.fields import Record
from .columns import MOVED, add_lane, carried, fill_body, load3_lane, move, put_column, turning
from .local import clear_body, clear_mobilizer

#: Columns of the table of groups: where their elements, bodies, mobilizers, columns and rows begin and end.
ELEMENTS, BODIES, MOBILIZERS, COLUMNS, ROWS, OF_GROUP = 0, 2, 4, 6, 8, 10
#: Of an element in the list of members: itself, its address, its first z, how many.
OF_ELEMENT = 4
#: Tangents of a law: by l, by l', by z, by time; so many z it may have.
_BY_LENGTH, _BY_SPEED, BY_Z, BY_TIME, MOST_Z = 0, 1, 2, 7, 5
#: Scratch: by mobility sums by q and u, how a unit changes, and the unit; behind these, changes of each body's velocity by q,
#: and by q and u.
TABLES = 4
OF_BODY = 12


@generic
def _clear(rows: Any, first: int, end: int, members: Any, n: int, o: Any) -> None:
    for at in range(first, end):
        store(rows, n + members[at], 0, o)


# fmt: off
@generic
def _seed(
    model: Record, lane: int, groups: Any, g: int, members: Any, first: int, last: int, body_of: Any, N: Any, columns: Any,
    flat: Any, seeds: Any, dual: Record,
) -> None:
    # fmt: on
    """Columns from *first* to before *last*, with the coordinates of mobilizers that the paths name."""
    o = zero(load(seeds, 0, 0))
    for i in range(seeds.shape[0]):
        store(seeds, i, 0, o)
    for t in range(last - first):
        put_column(model, lane, members[first + t], body_of, columns, flat, t)
    for at in range(groups[g, MOBILIZERS], groups[g, MOBILIZERS + 1]):
        b = members[at]
        for t in range(last - first):
            k = members[first + t] - model.first_u[b]
            if 0 <= k < model.num_u[b]:
                for i in range(model.first_q[b], model.first_q[b] + model.num_q[b]):
                    store_tangent(dual.q, i, 0, t, load_lane(N, i, k, lane))


# fmt: off
@generic
def _move(
    model: Record, lane: int, groups: Any, g: int, members: Any, bodies: Any, A: Any, carrier: Any, seeds: Any, nu: int,
    wide: Any, dual: Record,
) -> None:
    # fmt: on
    """Bodies move along the columns; what their velocities change by beside that, by u."""
    for at in range(groups[g, BODIES], groups[g, BODIES + 1]):
        b = members[at]
        keep, row = carried(model, b, carrier, seeds), TABLES * nu + OF_BODY * (at - groups[g, BODIES])
        move(model, lane, b, bodies, 0, A, keep, seeds, dual)
        w, v = vec3.scale(keep, load3(seeds, MOVED, 0)), vec3.scale(keep, load3(seeds, MOVED + 3, 0))
        v = vec3.add(v, vec3.cross(w, load3_lane(bodies, b, 0, lane)))
        for k in range(3):
            by_q = load_tangents(dual.V_GB, b, k), load_tangents(dual.V_GB, b, 3 + k)
            store(wide, row + k, 0, by_q[0])
            store(wide, row + 3 + k, 0, by_q[1])
            store(wide, row + 6 + k, 0, by_q[0] + w[k])
            store(wide, row + 9 + k, 0, by_q[1] + v[k])


@generic
def _unseed(model: Record, lane: int, groups: Any, g: int, members: Any, asked: int, A: Any, o: Any, dual: Record) -> None:
    for at in range(groups[g, BODIES], groups[g, BODIES + 1]):
        fill_body(model, lane, members[at], A, asked, dual)
    for at in range(groups[g, MOBILIZERS], groups[g, MOBILIZERS + 1]):
        b = members[at]
        for i in range(model.first_q[b], model.first_q[b] + model.num_q[b]):
            store_tangents(dual.q, i, 0, o)


@generic
def _clear_pushed(model: Record, groups: Any, g: int, members: Any, dual: Record) -> None:
    for at in range(groups[g, BODIES], groups[g, BODIES + 1]):
        clear_body(members[at], dual)
    for at in range(groups[g, MOBILIZERS], groups[g, MOBILIZERS + 1]):
        clear_mobilizer(model, members[at], dual)


# fmt: off
@generic
def _project(
    model: Record, lane: int, groups: Any, g: int, members: Any, way: Any, bodies: Any, columns: Any, seeds: Any, carrier:
    Any, nu: int, flat: Any, wide: Any, dual: Record,
) -> None:
    # fmt: on
    """The unit's force on each mobility, and what it changes by beyond being carried along."""
    o = zero(load(seeds, 0, 0))
    for at in range(groups[g, ROWS], groups[g, ROWS + 1]):
        i = members[at]
        store(wide, 2 * nu + i, 0, o)
        flat[3 * nu + i, 0] = 0.0
    for at in range(groups[g, MOBILIZERS], groups[g, MOBILIZERS + 1]):
        b = members[at]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            store(wide, 2 * nu + i, 0, load_tangents(dual.mobility_forces, i, 0))
            flat[3 * nu + i, 0] = bare(load(dual.mobility_forces, i, 0))
    for at in range(groups[g, BODIES], groups[g, BODIES + 1]):
        b = members[at]
        r, turn = load3_lane(bodies, b, 0, lane), turning(carried(model, b, carrier, seeds), seeds)
        n, f = _bare_spatial(dual.body_forces, b)
        dn = vec3.sub(load_tangents3(dual.body_forces, b, 0), vec3.cross(turn, n))
        df = vec3.sub(load_tangents3(dual.body_forces, b, 3), vec3.cross(turn, f))
        n, dn = vec3.add(n, vec3.cross(r, f)), vec3.add(dn, vec3.cross(r, df))
        for place in range(way[b], way[b + 1]):
            i = way[place]
            s, t = load3_lane(columns, i, 0, lane), load3_lane(columns, i, 3, lane)
            flat[3 * nu + i, 0] += vec3.dot(s, n) + vec3.dot(t, f)
            store(wide, 2 * nu + i, 0, load(wide, 2 * nu + i, 0) + vec3.dot(s, dn) + vec3.dot(t, df))


@generic
def _bare_spatial(rows: Any, b: int) -> Any:
    (a, c, d), (e, f, g) = load_spatial(rows, b)
    return (bare(a), bare(c), bare(d)), (bare(e), bare(f), bare(g))


@generic
def call_law(address: int, e: int, z: int, num_z: int, l: Any, v: Any, dual: Record) -> Any:
    """The force along the path, with its slopes, which stay in Ground's row; it and those by l and l'."""
    out, o = dual.body_forces, 0.0 * load_tangents(dual.time, 0, 0)
    store(out, 0, 0, l)
    store(out, 0, 1, v)
    store_tangents(out, 0, 0, o)
    store_tangents(out, 0, 1, o)
    store_tangent(out, 0, 0, _BY_LENGTH, 1.0)
    store_tangent(out, 0, 1, _BY_SPEED, 1.0)
    store_tangent(dual.time, 0, 0, BY_TIME, 1.0)
    for k in range(num_z):
        store_tangent(dual.z, z + k, 0, BY_Z + k, 1.0)
    call_routine(address, dual, e, LAW)
    for k in range(num_z):
        store_tangent(dual.z, z + k, 0, BY_Z + k, 0.0)
    store_tangent(dual.time, 0, 0, BY_TIME, 0.0)
    return bare(load(out, 0, 0)), load_tangent(out, 0, 0, _BY_LENGTH), load_tangent(out, 0, 0, _BY_SPEED)


# fmt: off
@generic
def _add_rest(
    lane: int, groups: Any, g: int, members: Any, whole: bool, z: int, num_z: int, force: float, nu: int, flat: Any, dual:
    Record, F: Any, T: Any,
) -> None:
    # fmt: on
    """By z and time where *whole*; and wrenches that follow."""
    out = dual.body_forces
    by_time = load_tangent(out, 0, 0, BY_TIME)
    for at in range(groups[g, ROWS], groups[g, ROWS + 1] if whole else 0):
        i = members[at]
        unit = flat[3 * nu + i, 0]
        for k in range(num_z):
            add_lane(T, i, z + k, lane, -unit * load_tangent(out, 0, 0, BY_Z + k))
        if by_time != 0.0:
            add_lane(T, i, T.shape[1] - 1, lane, -unit * by_time)
    for at in range(groups[g, BODIES], groups[g, BODIES + 1]):
        b = members[at]
        for k in range(6):
            add_lane(F, b, k, lane, -force * bare(load(out, b, k)))


@generic
def _quicken(
    model: Record, groups: Any, g: int, members: Any, by_u: int, first: int, last: int, wide: Any, dual: Record
) -> None:
    """Make velocities change *by_u*, too (1), or no more (0)."""
    for at in range(groups[g, BODIES], groups[g, BODIES + 1]):
        b, row = members[at], TABLES * model.nu + OF_BODY * (at - groups[g, BODIES]) + 6 * by_u
        for k in range(6):
            store_tangents(dual.V_GB, b, k, load(wide, row + k, 0))
    for at in range(groups[g, MOBILIZERS], groups[g, MOBILIZERS + 1]):
        b = members[at]
        for t in range(last - first):
            k = members[first + t] - model.first_u[b]
            if 0 <= k < model.num_u[b]:
                store_tangent(dual.u, model.first_u[b] + k, 0, t, 1.0 * by_u)


@generic
def _take(model: Record, lane: int, groups: Any, g: int, members: Any, first: int, last: int, flat: Any, D: Any) -> None:
    """Subtract the sums of a group from the residual's derivatives."""
    nu = model.nu
    for at in range(groups[g, ROWS], groups[g, ROWS + 1]):
        i = members[at]
        for t in range(last - first):
            j = members[first + t]
            add_lane(D, i, j, lane, -flat[i, t])
            add_lane(D, nu + i, j, lane, -flat[nu + i, t])


# fmt: off
@apart
def differentiate(
    model: Record, lane: int, dual: Record, A: Any, asked: int, whole: bool, groups: Any, members: Any, way: Any, of_tree: Any,
    N: Any, bodies: Any, columns: Any, seeding: Any, acting: Any, D: Any, T: Any, F: Any,
) -> None:
    # fmt: on
    """Derivatives of forces along paths, of one state, added to what is there; by z and time where *whole*.

    Parameters
    ----------
    dual
        A record of Duals that is filled.
    groups, members
        Elements whose paths name the same bodies and mobilizers, see `plan`.
    way
        Of each body where the mobilities on the way to it are listed behind.
    of_tree, N, bodies, columns, seeding, D, T
        As of `columns.differentiate`.
    acting
        Scratch by two names: `TABLES` numbers a mobility, and `OF_BODY` a body.
    F
        Applied wrenches that are carried along by the sweep and taken back: these are taken out.
    """
    nu, carrier, body_of = model.nu, of_tree[0], of_tree[1]
    flat_seeds, seeds = seeding
    flat, wide = acting
    o = zero(load(seeds, 0, 0))
    out = dual.body_forces
    for g in range(groups.shape[0]):
        end = groups[g, COLUMNS + 1]
        for first in range(groups[g, COLUMNS], max(end, groups[g, COLUMNS] + 1), 8):
            last = min(first + 8, end)
            _clear(wide, groups[g, ROWS], groups[g, ROWS + 1], members, 0, o)
            _clear(wide, groups[g, ROWS], groups[g, ROWS + 1], members, nu, o)
            _seed(model, lane, groups, g, members, first, last, body_of, N, columns, flat_seeds, seeds, dual)
            _move(model, lane, groups, g, members, bodies, A, carrier, seeds, nu, wide, dual)
            for at in range(groups[g, ELEMENTS], groups[g, ELEMENTS + 1], OF_ELEMENT):
                e, address, z, num_z = members[at], members[at + 1], members[at + 2], members[at + 3]
                _clear_pushed(model, groups, g, members, dual)
                call_routine(address, dual, e, GEOMETRY)
                by_q, l, v = load_tangents(out, 0, 1), bare(load(out, 0, 0)), bare(load(out, 0, 1))
                longer = load_tangents(out, 0, 0)
                _quicken(model, groups, g, members, 1, first, last, wide, dual)
                call_routine(address, dual, e, RATE)
                by_u = load_tangents(out, 0, 0) - by_q
                _quicken(model, groups, g, members, 0, first, last, wide, dual)
                _project(model, lane, groups, g, members, way, bodies, columns, seeds, carrier, nu, flat, wide, dual)
                force, by_length, by_speed = call_law(address, e, z, num_z, l, v, dual)
                if first == groups[g, COLUMNS]:
                    _add_rest(lane, groups, g, members, whole, z, num_z, force, nu, flat, dual, F, T)
                stronger, drag = by_length * longer + by_speed * by_q, by_speed * by_u
                for row in range(groups[g, ROWS], groups[g, ROWS + 1]):
                    i = members[row]
                    unit = flat[3 * nu + i, 0]
                    store(wide, i, 0, load(wide, i, 0) + unit * stronger + force * load(wide, 2 * nu + i, 0))
                    store(wide, nu + i, 0, load(wide, nu + i, 0) + unit * drag)
            _take(model, lane, groups, g, members, first, last, flat, D)
            _unseed(model, lane, groups, g, members, asked, A, o, dual)
