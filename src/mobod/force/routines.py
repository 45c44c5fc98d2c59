"""Kinds of force called by address: a kind's functions made into one routine, compiled when a model first has the kind.

A routine takes the record, the first element of a run, the one after its last, and a request: FORCES adds
to body_forces, mobility_forces and particle_forces of the record, and writes z_dot; ENERGY and POWER write the potential
energies, or the powers dissipated, into `work_e`, which is zero before. One call serves a whole run of elements. Its return
value is unused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load3
from ..algebra.record import field_at, integers_at
from ..algebra.scalar import load, store, zero
from ..compiling import Routine, RoutineWithOneApart, generic
from ..function.users import routine_of_kind
from .pools import number

#: The requests to a routine.
FORCES, ENERGY, POWER = 0, 1, 2

#: The requests to the routine of a force along a path, see `along_path` and `along_spans`; the last one is of the first bend.
GEOMETRY, RATE, LAW, BEND = 0, 1, 2, 3

#: The `kind` of all force elements that are called by address, and of the one that is not.
BY_ADDRESS, GRAVITY = -1, 1


def by_address(
    add: Callable[..., Any],
    energy: Callable[..., Any] | None = None,
    power: Callable[..., Any] | None = None,
    *,
    with_z: bool = False,
    of_one: Callable[..., Any] | None = None,
) -> Routine:
    """The routine of a kind, of functions of the record and of the places where an element's integers and numbers start.

    ``add(model, integers, numbers)`` adds the forces. ``energy(model, integers, numbers)`` gives the potential energy and
    ``power(model, integers, numbers)`` the power dissipated; None where they are zero. With *with_z* each takes the place of
    the first z as a last argument, and *add* writes z_dot.

    ``of_one(model, first, end)`` adds the forces of a whole run of elements in one state of float64, in place of *add*.
    """
    if of_one is None or energy is None or power is None:
        return routine_of_kind(partial(kernel, with_z=with_z), add, energy, power, shape=with_z)
    whole, run = kernel(add, energy, power, with_z=with_z), _all_three(of_one, _storing_loop(energy), _storing_loop(power))
    for made, name in ((whole, "run"), (run, "run.of_one")):
        made.__module__, made.__qualname__ = add.__module__, f"{add.__qualname__}.{name}"
    return RoutineWithOneApart(whole, run)


def kernel(
    add: Callable[..., Any], energy: Callable[..., Any] | None, power: Callable[..., Any] | None, *, with_z: bool = False
) -> Callable[..., int]:
    """The function that `by_address` makes a routine of."""
    force, of_energy, of_power = (_with_z(f) if f is not None and not with_z else f for f in (add, energy, power))
    return _all_three(_loop(force), _storing_loop(of_energy), _storing_loop(of_power))


def _with_z(function: Callable[..., Any]) -> Callable[..., Any]:
    @generic
    def without_z(model: Any, integers: int, numbers: int, z: int) -> Any:
        return function(model, integers, numbers)

    return without_z


def _loop(function: Any) -> Any:
    @generic
    def apply(model: Any, first: int, end: int) -> None:
        for e in range(first, end):
            if model.force_enabled[e] == 1:
                function(model, model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e])

    return apply


@generic
def _nothing(model: Any, first: int, end: int) -> None:
    """Of what is zero nothing is stored."""


def _storing_loop(function: Any) -> Any:
    if function is None:
        return _nothing

    @generic
    def keep(model: Any, first: int, end: int) -> None:
        for e in range(first, end):
            if model.force_enabled[e] == 1:
                i, x, z = model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e]
                store(model.work_e, e, 0, function(model, i, x, z))

    return keep


def _all_three(forces: Any, energies: Any, powers: Any) -> Callable[..., int]:
    def run(model: Any, first: int, end: int, what: int) -> int:
        if what == FORCES:
            forces(model, first, end)
        elif what == ENERGY:
            energies(model, first, end)
        else:
            powers(model, first, end)
        return 0

    return run


def along_path(force: Callable[..., Any], path: Any, ratio: int, head: int) -> Routine:
    """The routine of a force that is a function of one length, its rate, the force's z and time, for derivatives.

    ``force(model, integers, numbers, z, length, speed)`` is its law, *path* the length, speed and apply of a transmission,
    whose ratio is number *ratio* of the force's, and whose integers are behind *head* ones. The routine leaves in the first
    numbers of Ground's wrench, which pushes nothing: of the GEOMETRY length and rate, and adds the forces of a unit along the
    path to bodies and mobilities; the RATE again, after the GEOMETRY at other velocities; the force along the path by its LAW,
    at the length and rate that stand there.
    """
    length, speed, apply = path

    @generic
    def act(model: Any, i: int, x: int, z: int, what: int) -> None:
        out, own, of_path, n = model.body_forces, number(model, x + ratio), i + head, x + ratio + 1
        if what == LAW:
            store(out, 0, 0, force(model, i, x, z, load(out, 0, 0), load(out, 0, 1)))
        elif what == RATE:
            store(out, 0, 0, own * speed(model, of_path, n))
        else:
            own_length = own * length(model, of_path, n)
            own_speed = own * speed(model, of_path, n)
            apply(model, of_path, n, own + zero(own_length))
            store(out, 0, 0, own_length)
            store(out, 0, 1, own_speed)

    act.__module__, act.__qualname__ = force.__module__, f"{force.__qualname__}.along.{length.__module__.rpartition('.')[2]}"
    return routine_of_kind(_along, act)


def along_spans(force: Callable[..., Any], bend: Callable[..., Any] | None, ratio: int, head: int) -> Routine:
    """The same of a force along a path whose spans are known, for Duals: its LAW; and from BEND on how spans bend.

    ``bend(model, integers, numbers, asks)`` of the transmission leaves the directions out of the first point and into the
    second, in Ground, in Ground's wrench, and in that of the next body the length between the points and which span bends, -1
    for none, see `transmission.base.Span`; None where none does. Tangents are by the places of both, in Ground.
    """

    @generic
    def act(model: Any, i: int, x: int, z: int, what: int) -> None:
        out = model.body_forces
        if what == LAW:
            store(out, 0, 0, force(model, i, x, z, load(out, 0, 0), load(out, 0, 1)))

    @generic
    def act_or_bend(model: Any, i: int, x: int, z: int, what: int) -> None:
        out = model.body_forces
        if what == LAW:
            store(out, 0, 0, force(model, i, x, z, load(out, 0, 0), load(out, 0, 1)))
        else:
            bend(model, i + head, x + ratio + 1, what - BEND)  # type: ignore[misc]

    made, of_bends = (act, "") if bend is None else (act_or_bend, f".{bend.__module__.rpartition('.')[2]}")
    made.__module__, made.__qualname__ = force.__module__, f"{force.__qualname__}.along_spans{of_bends}"
    return routine_of_kind(_along, made)


#: What a routine of `on_body` leaves in `control_work`: changes of a torque and a force at a point of the body, row by row, by
#: turns of the body and shifts of that point, beyond what turning along with the body changes them by, then by the body's
#: angular velocity and the point's velocity; these themselves; where their axes are in Ground, a column each; the point, from
#: the body's origin; changes by each z.
BY_MOTION, BY_VELOCITY, WRENCH, AXES, POINT, BY_Z = 0, 36, 72, 78, 87, 90
#: How many z it may have; numbers in all.
MOST_Z_ON_BODY, NUMBERS_ON_BODY = 2, 102


def on_body(leave: Callable[..., Any]) -> Routine:
    """The routine, for derivatives, of a force on one body that depends on that body's motion, and on z of its own.

    ``leave(model, integers, numbers, z, rows)`` leaves `NUMBERS_ON_BODY` numbers, all along the same axes.
    """
    return routine_of_kind(_on_body, leave)


def _on_body(leave: Any) -> Callable[..., int]:
    def run(model: Any, e: int, unused: int) -> int:
        i, x, z = model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e]
        leave(model, i, x, z, model.control_work)
        return 0

    return run


#: Numbers of a point of `stiffening`: the sum of its pairs' stiffness, that of their forces, and its place.
_FORCE, _PLACE, NUMBERS_OF_POINT = 6, 9, 12


def stiffening(add: Callable[..., None], place: Callable[..., Any]) -> Routine:
    """The routine, for derivatives, of forces along the lines between points of many bodies that depend on distances alone.

    ``add(model, integers, numbers, stiff)`` calls `add_stiffness` with *stiff* for each pair, of what `apart_of` says;
    ``place(model, integers, numbers, point)`` is a point's body, its arm from that one's origin and its place, in Ground, and
    the first integer says how many points there are. The routine takes an element; where rows of wrenches are, to which it adds
    all forces, its blocks, see `derivative.central`, and its list of bodies; how many have blocks, and how many there are.
    """

    def run(model: Any, e: int, F_at: int, blocks_at: int, listed_at: int, count: int, num_bodies: int) -> int:
        i, x = model.force_first_integer[e], model.force_first_number[e]
        listed, first = integers_at(listed_at, 3 * count + 1 + num_bodies), 18 * count * (count + 1)
        n, F = model.force_integers[i], field_at(model.body_forces, F_at, num_bodies)
        blocks = field_at(model.z, blocks_at, first + NUMBERS_OF_POINT * n)
        stiff, origin = (blocks, first, listed, 3 * count + 1), load3(model.p_GB, listed[count - 1], 0)
        for a in range(n):
            _, _, p = place(model, i, x, a)
            _add3(blocks, first + NUMBERS_OF_POINT * a + _PLACE, vec3.sub(p, origin))
        add(model, i, x, stiff)
        for a in range(n):
            b, arm, _ = place(model, i, x, a)
            f = _three(blocks, first + NUMBERS_OF_POINT * a + _FORCE)
            add_spatial(F, b, vec3.cross(arm, f), f)
            _add_own(stiff, a, listed[3 * count + 1 + b])
        return 0

    run.__module__, run.__qualname__ = add.__module__, f"{add.__qualname__}.run"
    return Routine(run, makes_arrays=True)


@generic
def apart_of(stiff: Any, a: int, b: int) -> Any:
    """From point b to point a."""
    blocks, first, _, _ = stiff
    p, q = first + NUMBERS_OF_POINT * a + _PLACE, first + NUMBERS_OF_POINT * b + _PLACE
    return vec3.sub(_three(blocks, p), _three(blocks, q))


@generic
def add_stiffness(stiff: Any, points: Any, bodies: Any, d: Any, rates: Any) -> None:
    """Add what the wrenches on two bodies change by as these move, all about one point of the element's.

    The first of both points is pushed by f d, with d from the second one, and df = g d.dd; *rates* are f and g.
    """
    blocks, first, listed, places = stiff
    (f, g), (a, b) = rates, (listed[places + bodies[0]], listed[places + bodies[1]])
    at, other = first + NUMBERS_OF_POINT * points[0], first + NUMBERS_OF_POINT * points[1]
    p, q, push = _three(blocks, at + _PLACE), _three(blocks, other + _PLACE), vec3.scale(f, d)
    K = vec3.scale(g * d[0], d), vec3.scale(g * d[1], d), vec3.scale(g * d[2], d)
    K = (f + K[0][0], K[0][1], K[0][2]), (K[1][0], f + K[1][1], K[1][2]), (K[2][0], K[2][1], f + K[2][2])
    for x, of in ((push, at), (vec3.neg(push), other)):
        _add3(blocks, of, K[0])
        _add3(blocks, of + 3, (K[1][1], K[1][2], K[2][2]))
        _add3(blocks, of + _FORCE, x)
    K = vec3.neg(K[0]), vec3.neg(K[1]), vec3.neg(K[2])
    if 0 < a <= b:
        _add_block(blocks, a, b, K, p, q)
    if 0 < b <= a:
        _add_block(blocks, b, a, K, q, p)


@generic
def _add_own(stiff: Any, a: int, b: int) -> None:
    """The same of point a by the motion of its own body, whose place is b: the symmetric part, see `derivative.central`."""
    blocks, at = stiff[0], stiff[1] + NUMBERS_OF_POINT * a
    if b > 0:
        x, (yy, yz, zz) = _three(blocks, at), _three(blocks, at + 3)
        f, p = _three(blocks, at + _FORCE), _three(blocks, at + _PLACE)
        _add_block(blocks, b, b, (x, (x[1], yy, yz), (x[2], yz, zz)), p, p)
        own, along, f = 18 * b * (b + 3), vec3.dot(p, f), vec3.scale(0.5, f)
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            _add3(blocks, own + 6 * i, vec3.add(vec3.scale(f[i], p), vec3.scale(p[i], f)))
            for to, number in ((7 * i, -along), (6 * i + 3 + j, f[k]), (6 * i + 3 + k, -f[j])):
                _add_number(blocks, own + to, number)
            for to, number in ((18 + 6 * i + j, -f[k]), (18 + 6 * i + k, f[j])):
                _add_number(blocks, own + to, number)


@generic
def _three(rows: Any, at: int) -> Any:
    return load(rows, at, 0), load(rows, at + 1, 0), load(rows, at + 2, 0)


@generic
def _add_number(rows: Any, at: int, x: Any) -> None:
    store(rows, at, 0, load(rows, at, 0) + x)


@generic
def _add3(rows: Any, at: int, v: Any) -> None:
    """Three numbers, added to rows of one."""
    for k in range(3):
        _add_number(rows, at + k, v[k])


@generic
def _add_block(blocks: Any, a: int, b: int, K: Any, p: Any, q: Any) -> None:
    """K, of the force at p by shifts of q, of the wrench by a motion: the block of bodies a and b, a not behind b."""
    at = 18 * b * (b + 1) + 36 * a
    by_turn = vec3.cross(q, K[0]), vec3.cross(q, K[1]), vec3.cross(q, K[2])
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        _add3(blocks, at + 6 * i, vec3.sub(vec3.scale(p[j], by_turn[k]), vec3.scale(p[k], by_turn[j])))
        _add3(blocks, at + 6 * i + 3, vec3.sub(vec3.scale(p[j], K[k]), vec3.scale(p[k], K[j])))
        _add3(blocks, at + 18 + 6 * i, by_turn[i])
        _add3(blocks, at + 21 + 6 * i, K[i])


@generic
def leave_row(rows: Any, k: int, value: Any, by_motion: Any, by_velocity: Any) -> None:
    """Number k of six of a wrench, and its changes, six by each."""
    store(rows, WRENCH + k, 0, value)
    for j, x in enumerate(by_motion):
        store(rows, BY_MOTION + 6 * k + j, 0, x)
    for j, x in enumerate(by_velocity):
        store(rows, BY_VELOCITY + 6 * k + j, 0, x)


@generic
def leave_place(rows: Any, R: Any, p: Any) -> None:
    """Axes and point."""
    for j, x in enumerate(R):
        store(rows, AXES + j, 0, x)
    for j, x in enumerate(p):
        store(rows, POINT + j, 0, x)


def _along(act: Any) -> Callable[..., int]:
    def run(model: Any, e: int, what: int) -> int:
        act(model, model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e], what)
        return 0

    return run
